"""One record of what every layer saw; tables, drawings and audit all read it.

A layer reports with ``trace.add(layer, what, **facts)``. Inside ``following(id)`` every event
carries that call's id, so a drawing can follow one tool call through all layers.
"""

from __future__ import annotations

import contextlib
import contextvars
import json
import reprlib
import time
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mini_agent.visible import visible


@dataclass(frozen=True)
class Layer:
    """One storey of the chain: what it is called, where it lives, and all that it may know."""

    name: str
    title: str
    module: str
    knows: str


LAYERS = (
    Layer("loop", "run_agent", "mini_agent.agent", "knows only Tool and ToolSpec"),
    Layer(
        "adapter", "mcp_tool_to_tool", "mini_agent.mcp.adapter", "knows both shapes, nothing else"
    ),
    Layer("client", "McpClient", "mini_agent.mcp.client", "knows MCP, not the loop"),
    Layer(
        "transport",
        "McpTransport",
        "mini_agent.mcp.transport",
        "knows bytes and messages, not meaning",
    ),
    Layer("server", "MCP server", "somebody else's", "knows its own service"),
)
"""The storeys that a call passes. A trace may hold others: the "host" stands beside the loop."""


LONGEST_TEXT = 64 * 1024  # characters


@dataclass(frozen=True, eq=False)
class Followed:
    """One call while it is followed: no other is equal to it, not even one with the same id."""

    call: str


_OUTSIDE = Followed("")
_call = contextvars.ContextVar("mini_agent_call", default=_OUTSIDE)


@dataclass(frozen=True)
class Event:
    """``layer`` saw ``what``. ``at`` is seconds on the clock of time.time(), in no table."""

    at: float
    layer: str
    what: str
    call: str
    facts: Mapping[str, Any]


class Trace:
    """The last ``limit`` events, oldest first; ``dropped`` counts those that fell out.

    A text of more than LONGEST_TEXT characters is kept cut, with a mark that counts what is
    missing. Everything else is the very object that was seen: no copy is made of it.
    """

    def __init__(self, limit: int = 10_000) -> None:
        self._events: deque[Event] = deque(maxlen=limit)
        self.dropped = 0

    @property
    def events(self) -> list[Event]:
        """A snapshot, oldest first."""
        return list(self._events)

    def add(self, layer: str, what: str, **facts: Any) -> None:
        """Record one event. Never raises, never blocks."""
        if len(self._events) == self._events.maxlen:
            self.dropped += 1
        self._events.append(Event(time.time(), layer, what, followed(), _kept(facts)))

    def table(self) -> str:
        """One line an event, as aligned text: layer, what, facts. No times, no ids of this run.

        What others said in it cannot begin a line or move the cursor: it is made visible.
        """
        rows = [(visible(e.layer), visible(e.what), one_line(e.facts)) for e in self._events]
        wide = [max((len(row[i]) for row in rows), default=0) for i in (0, 1)]
        return "\n".join(f"{a:<{wide[0]}}  {b:<{wide[1]}}  {c}".rstrip() for a, b, c in rows)

    def to_jsonl(self, path: str | Path) -> None:
        """Write one JSON object a line to ``path``, times included (seconds since the epoch)."""
        lines = (
            _object({"at": e.at, "layer": e.layer, "what": e.what, "call": e.call, **e.facts})
            for e in self._events
        )
        # A lone surrogate has no UTF-8: backslashreplace writes it as the JSON escape that it is.
        text = "".join(line + "\n" for line in lines)
        Path(path).write_text(text, encoding="utf-8", errors="backslashreplace")


def _kept(facts: dict[str, Any]) -> dict[str, Any]:
    """``facts``, cut where a text in them is too long. What is nested too deeply to look through,
    or holds itself, stays as it is."""
    try:
        return _cut(facts) if _is_long(facts) else facts
    except RecursionError:
        return facts


def _is_long(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) > LONGEST_TEXT
    if isinstance(value, dict):
        return any(map(_is_long, value.values()))
    return isinstance(value, list) and any(map(_is_long, value))


def _cut(value: Any) -> Any:
    """``value`` with each text that is too long cut, visibly."""
    match value:
        case str() if len(value) > LONGEST_TEXT:
            more = len(value) - LONGEST_TEXT
            return f"{value[:LONGEST_TEXT]}… [{more:,} more characters are not in the trace]"
        case dict():
            return {name: _cut(item) for name, item in value.items()}
        case list():
            return [_cut(item) for item in value]
    return value


@contextlib.contextmanager
def following(call_id: str) -> Iterator[None]:
    """Every event added inside carries ``call_id``."""
    token = _call.set(Followed(call_id))
    try:
        yield
    finally:
        _call.reset(token)


def followed() -> str:
    """The call id of the innermost ``following``, "" outside of any."""
    return _call.get().call


def following_now() -> Followed:
    """The innermost ``following`` itself; outside of any it is always the same one."""
    return _call.get()


def one_line(facts: Mapping[str, Any], width: int = 100) -> str:
    """``name=value`` pairs on one line, cut at ``width`` characters with a visible mark.

    Controls and what hides on a screen are spelt out, as ``visible`` does.
    """
    text = visible(
        " ".join(
            f"{name}={_short(value)}"
            for name, value in facts.items()
            if not (value is None or (isinstance(value, str) and value == ""))
        )
    )
    return text if len(text) <= width else text[: width - 1] + "…"


def _short(value: Any) -> str:
    if isinstance(value, dict) and value.get("jsonrpc"):
        return in_brief(value)
    if isinstance(value, str):
        return value if value.isidentifier() else json.dumps(value, ensure_ascii=False)
    return _json(value)


def _object(facts: Mapping[str, Any]) -> str:
    pairs = (f"{json.dumps(name)}: {_json(value)}" for name, value in facts.items())
    return f"{{{', '.join(pairs)}}}"


def _json(value: Any) -> str:
    """JSON of any fact; of one that has none (it holds itself, a key is a tuple), its repr's."""
    try:
        return json.dumps(value, ensure_ascii=False, default=str, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return json.dumps(reprlib.repr(value), ensure_ascii=False)


def in_brief(message: Mapping[str, Any]) -> str:
    """A JSON-RPC message in a few words: what it is, its id, its method or how it ended."""
    held = {key: value for key, value in message.items() if isinstance(value, dict)}
    if "method" in message:
        kind = "request" if "id" in message else "notification"
        name = held.get("params", {}).get("name", "")
        words = [kind, message.get("id", ""), message["method"], name]
    elif "error" in message:
        words = ["error", message.get("id", ""), held.get("error", {}).get("code", "")]
    else:
        kind = held.get("result", {}).get("resultType", "complete")
        words = ["response", message.get("id", ""), "" if kind == "complete" else kind]
    return " ".join(str(word) for word in words if word != "")
