"""A trace's events as rows of a sequence: who said what to whom. Pure; draws nothing."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from mini_agent.calls import CANCELLED, FAILED, NOBODY_ASKED
from mini_agent.drawing.canvas import BUSINESS, NEUTRAL, PROTOCOL, Look
from mini_agent.trace import Event

CAST = ("approver", "model", "loop", "adapter", "client", "transport", "server")


@dataclass(frozen=True)
class Row:
    """An arrow along ``path`` (two or more of CAST), or a note when ``path`` names only one."""

    path: tuple[str, ...]
    text: str
    look: Look = NEUTRAL
    reply: bool = False


def rows(events: Iterable[Event]) -> list[Row]:
    """One row an event, in order; an event whose meaning the next one repeats has none."""
    events = list(events)
    layers = {event.layer for event in events}
    return [row for row in _rows(events, layers) if row is not None]


def _rows(events: list[Event], layers: set[str]) -> Iterator[Row | None]:
    inside: set[str] = set()  # calls that the adapter has handed down and not heard of yet
    for index, event in enumerate(events):
        match event.layer:
            case "loop":
                yield loop_row(event)
            case "adapter":
                (inside.add if event.what == "call" else inside.discard)(event.call)
                yield adapter_row(event, "loop" in layers)
            case "client":
                fails = _fails_next(events[index + 1 :], event)
                yield None if fails else client_row(event, event.call in inside)
            case "transport":
                yield transport_row(event, "client" in layers)


def _fails_next(later: list[Event], event: Event) -> bool:
    """True for a response that the client turns into an error at once: the error is the row."""
    mates = (e for e in later if e.layer == "client" and e.call == event.call)
    after = next(mates, None)
    return event.what == "response" and after is not None and after.what == "error"


def loop_row(event: Event) -> Row:
    """The loop talks to the model and the approver; the rest are notes on it."""
    fact = event.facts.get
    match event.what:
        case "model_request":
            return Row(("loop", "model"), f"turn {fact('turn')}")
        case "text":
            return Row(("model", "loop"), quoted(fact("text")), reply=True)
        case "tool_use":
            asked = f"{fact('name')}({brief(fact('input'))})"
            return Row(("model", "loop"), asked, reply=True)
        case "approved" if fact("reason") == NOBODY_ASKED.reason:
            return Row(("loop",), f"nobody asked about {fact('name')}")
        case "approved" | "denied" as verdict:
            text = f"{verdict} {fact('name')}" + (f": {fact('reason')}" if fact("reason") else "")
            look = NEUTRAL if verdict == "approved" else BUSINESS
            return Row(("approver", "loop"), text, look, reply=True)
        case "tool_result":
            look = BUSINESS if fact("is_error") else NEUTRAL
            told = "error result" if fact("is_error") else "result"
            return Row(("loop",), f"{told} recorded: {quoted(fact('content'))}", look)
        case "failed":
            text = f"recorded {failure_mark(event.facts)}; raises {fact('error')}"
            return Row(("loop",), text, PROTOCOL)
        case "skipped":
            return Row(("loop",), f"skipped {fact('name')}", PROTOCOL)
        case "done":
            return Row(("loop",), f"done: {fact('stop_reason')}")
        case "prompt":
            return Row(("loop",), f"prompt: {quoted(fact('text'))}")
    return Row(("loop",), told_plainly(event))


def failure_mark(facts: Mapping[str, Any]) -> str:
    """What the conversation says of a call that raised: the marker, never the details."""
    return f'"{CANCELLED if facts.get("error") == "CancelledError" else FAILED}"'


def adapter_row(event: Event, has_loop: bool) -> Row:
    """What the adapter is asked by the loop and answers it."""
    fact = event.facts.get
    back = ("adapter", "loop") if has_loop else ("adapter",)
    match event.what:
        case "call":
            return Row(back[::-1], f"execute {fact('tool')}")
        case "result" if fact("is_error"):
            return Row(back, "ToolResult(is_error=True)", BUSINESS, reply=True)
        case "result":
            return Row(back, "ToolResult", reply=True)
        case "refused":
            return Row(back, f"nothing sent: {fact('reason')}", BUSINESS, reply=True)
        case "gone":
            return Row(back, f"{fact('tool')} is no longer available", BUSINESS, reply=True)
        case "error":
            return Row(back, f"passes on {fact('error')}", PROTOCOL, reply=True)
    return Row(("adapter",), told_plainly(event))


def client_row(event: Event, inside: bool) -> Row:
    """What the client is asked and answers: by the adapter when ``inside`` one of its calls."""
    fact = event.facts.get
    back = ("client", "adapter") if inside else ("client",)
    match event.what:
        case "request":
            return Row(back[::-1], CALLS.get(str(fact("method")), str(fact("method"))))
        case "response":
            return Row(back, f"result of {fact('method')}", reply=True)
        case "error":
            code = "" if fact("code") is None else f" {fact('code')}"
            return Row(back, f"raises {fact('error')}{code}", PROTOCOL, reply=True)
        case "note":
            return Row(("client",), str(fact("text")))
    return Row(("client",), told_plainly(event))


CALLS = {"tools/call": "call", "tools/list": "list_tools"}


def transport_row(event: Event, has_client: bool) -> Row:
    """What went to the server and came from it, or why nothing did."""
    fact = event.facts.get
    down = ("client", "transport", "server") if has_client else ("transport", "server")
    match event.what:
        case "sent":
            return Row(down, named(fact("message")))
        case "received":
            text, look = answer(fact("message"))
            if fact("ignored"):
                text, look = f"ignored: {text}", NEUTRAL
            return Row(down[::-1], text, look, reply=True)
        case "junk":
            return Row(("server", "transport"), f"no message: {fact('excerpt')}", PROTOCOL)
        case "failed":
            back = ("transport", "client") if has_client else ("transport",)
            return Row(back, f"raises {fact('error')}", PROTOCOL, reply=True)
        case "closed":
            return Row(("transport",), ended(fact("exit_code")))
    return Row(("transport",), told_plainly(event))


def ended(exit_code: Any) -> str:
    """How a connection came to its end."""
    if not isinstance(exit_code, int):
        return "closed"
    how = f", exit code {exit_code}" if exit_code >= 0 else f" by signal {-exit_code}"
    return f"the process ended{how}"


def named(message: Any) -> str:
    """A request or notification by method, what it is about, and id."""
    if not isinstance(message, dict):
        return brief(message)
    params = message.get("params")
    about = params.get("name") or params.get("uri") if isinstance(params, dict) else None
    number = f"id {message['id']}" if "id" in message else ""
    return " ".join(str(part) for part in (message.get("method"), about, number) if part)


def answer(message: Any) -> tuple[str, Look]:
    """A message from the server in a few words, and which path it takes."""
    match message:
        case {"method": _}:
            return named(message), NEUTRAL
        case {"id": number, "error": {"code": code}}:
            return f"error {code} id {number}", PROTOCOL
        case {"id": number, "result": {"isError": True}}:
            return f"isError: true id {number}", BUSINESS
        case {"id": number, "result": {"resultType": "input_required"}}:
            return f"input_required id {number}", NEUTRAL
        case {"id": number, "result": _}:
            return f"result id {number}", NEUTRAL
    return brief(message), PROTOCOL


def quoted(text: Any) -> str:
    """Text on one line in quotation marks, so that it is seen where it ends."""
    return "“" + str(text).replace("\n", " ") + "”"


def short(text: str, most: int = 80) -> str:
    """At most ``most`` characters, cut visibly: for the words beside a drawing."""
    return text if len(text) <= most else text[: most - 1] + "…"


def brief(value: Any) -> str:
    """Any value as JSON; the outer braces of an object are left out."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text[1:-1] if isinstance(value, dict) else text


def told_plainly(event: Event) -> str:
    """An event that no row is made for, as it stands."""
    return f"{event.what} {brief(dict(event.facts))}"
