"""One call's way through the layers, read out of a trace. Pure; draws nothing.

``passage`` says what each layer saw, where an error began and where it stopped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mini_agent.drawing.canvas import BUSINESS, NEUTRAL, PROTOCOL
from mini_agent.drawing.phrases import failure_mark, quoted
from mini_agent.drawing.saw import READERS, Saw, last_facts
from mini_agent.drawing.which import about, events_of
from mini_agent.trace import Event

UPWARDS = tuple(READERS)


@dataclass(frozen=True)
class Passage:
    """``saw`` holds the layers that the call passed, ``end`` who got what in the end.

    ``began`` is the layer where an error began, ``stopped`` the one where it stopped ("caller":
    it left the chain); both "" when there was none.
    """

    name: str
    saw: Mapping[str, Saw] = field(default_factory=dict)
    end: Saw | None = None
    began: str = ""
    stopped: str = ""


def passage(events: Sequence[Event], call: str | None = None) -> Passage:
    """The way of ``call``, or of the last call that was not skipped.

    Raises: ValueError when ``call`` is not in the trace.
    """
    method, own = about(events_of(events, call))
    told = {name: read(own) for name, read in READERS.items()}
    saw = {name: layer for name, layer in told.items() if layer is not None}
    began = next((name for name, layer in saw.items() if layer.look is not NEUTRAL), "")
    return Passage(
        _name(own, method), saw, ending(own, saw), began, where_it_stopped(saw, began)
    )  # fmt: skip


def _name(own: Sequence[Event], method: str) -> str:
    """What was called: the tool's name as the topmost layer says it, or else the method."""
    for event in own:
        name = event.facts.get("name") or event.facts.get("tool")
        if name:
            return str(name)
        message = event.facts.get("message")
        if isinstance(message, dict) and isinstance(message.get("params"), dict):
            return str(message["params"].get("name") or method)
    return method


def ending(own: Sequence[Event], saw: Mapping[str, Saw]) -> Saw | None:
    """Who gets what in the end; None while the call is still on its way."""
    fact = last_facts(own, "loop", "tool_result")
    if fact is not None and fact.get("is_error"):
        return Saw("The model sees why", quoted(fact.get("content")), BUSINESS)
    if fact is not None:
        return Saw("The model sees the result", quoted(fact.get("content")))
    top = next((saw[name] for name in reversed(UPWARDS) if name in saw), Saw("waits"))
    if top.look is PROTOCOL:
        error = _error(own)
        more = f"the model sees only {failure_mark(error)}" if "loop" in saw else ""
        return Saw(f"The caller gets {error.get('error')}", more, PROTOCOL)
    if top.says.startswith(("waits", "carried")):
        return None
    return Saw(
        f"The caller gets the {'ToolResult' if 'adapter' in saw else 'result'}", "", top.look
    )


def _error(own: Sequence[Event]) -> Mapping[str, Any]:
    """The facts of the error as the topmost layer named it."""
    for layer, what in (("loop", "failed"), ("adapter", "error"), ("client", "error")):
        fact = last_facts(own, layer, what)
        if fact is not None:
            return fact
    return last_facts(own, "transport", "failed") or {}


def where_it_stopped(saw: Mapping[str, Saw], began: str) -> str:
    """The layer above which the error was no longer what it had been; "caller" when none."""
    if not began:
        return ""
    above = [name for name in UPWARDS[UPWARDS.index(began) :] if name in saw]
    for name in above:
        if saw[name].look is not saw[began].look:
            return name
    if saw[began].look is BUSINESS:
        return above[-1]
    return "caller"
