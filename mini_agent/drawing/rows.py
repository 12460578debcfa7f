"""A trace's events as rows of a sequence: who said what to whom. Pure; draws nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from mini_agent.calls import NOBODY_ASKED
from mini_agent.drawing.canvas import BUSINESS, NEUTRAL, PROTOCOL
from mini_agent.drawing.cast import DECIDES, HOST, Row
from mini_agent.drawing.phrases import (
    answer,
    brief,
    ended,
    failure_mark,
    quoted,
    told_plainly,
)
from mini_agent.drawing.which import message_of
from mini_agent.trace import Event


def rows(events: Iterable[Event]) -> list[Row]:
    """The events in order, a row each; one whose meaning a neighbour's row repeats has none.

    An approval has two: the loop's question, then the answer.
    """
    events = list(events)
    layers = {event.layer for event in events}
    return [row for row in _rows(events, layers) if row is not None]


def _rows(events: list[Event], layers: set[str]) -> Iterator[Row | None]:
    inside: set[str] = set()  # calls that the adapter has handed down and not heard of yet
    seen = {_passing(event) for event in events if event.layer == "transport"}
    for index, event in enumerate(events):
        match event.layer:
            case "loop":
                yield from loop_rows(event)
            case "host":
                yield None if _told_by_the_loop(events[index + 1 :], event) else host_row(event)
            case "adapter":
                (inside.add if event.what == "call" else inside.discard)(event.call)
                yield adapter_row(event, "loop" in layers)
            case "client":
                handed = event.call in inside
                repeats = not handed and (event.what, str(event.facts.get("id"))) in seen
                fails = _fails_next(events[index + 1 :], event)
                yield None if fails or repeats else client_row(event, handed)
            case "transport":
                row = transport_row(event, "client" in layers)
                stays = _stays(events[index + 1 :], event)
                yield replace(row, path=row.path[:-1]) if stays else row


def _passing(event: Event) -> tuple[str, str]:
    """What the client calls this message that passes its transport, and the message's id."""
    called = {"sent": "request", "received": "response"}
    return called.get(event.what, ""), str(message_of(event).get("id"))


def _fails_next(later: list[Event], event: Event) -> bool:
    """True for a response that the client turns into an error at once: the error is the row."""
    mates = (e for e in later if e.layer == "client" and e.call == event.call)
    after = next(mates, None)
    return event.what == "response" and after is not None and after.what == "error"


def _stays(later: list[Event], event: Event) -> bool:
    """True for a message that was sent and never left this side: there was no connection."""
    mates = (e for e in later if (e.layer, e.call) == ("transport", event.call))
    after = next(mates, None) if event.what == "sent" else None
    return after is not None and after.facts.get("error") == "ConnectFailed"


def _told_by_the_loop(later: list[Event], event: Event) -> bool:
    """True for a call that was decided on, which the loop says next, and for one that is sent."""
    mates = (e for e in later if e.layer == "loop" and e.call == event.call)
    after = next(mates, None)
    return event.what == "call" or (after is not None and after.what == event.what)


def host_row(event: Event) -> Row:
    """What the host decides by itself: a tool that changed, a call that it does not send."""
    fact = event.facts.get
    match event.what:
        case "approved" | "denied":
            look = NEUTRAL if event.what == "approved" else BUSINESS
            return Row((HOST,), f"{fact('tool')} {event.what}: {fact('reason')}", look)
        case "gone":
            return Row((HOST,), f"{fact('server')} no longer has {fact('tool')}", BUSINESS)
    return Row((HOST,), told_plainly(event))


def loop_rows(event: Event) -> list[Row]:
    """An approval as question and answer, unless there was no hook to ask; else one row."""
    verdict, reason = event.what, event.facts.get("reason")
    if verdict not in ("approved", "denied") or reason == NOBODY_ASKED.reason:
        return [loop_row(event)]
    text = str(reason or verdict)
    text = text if text.startswith(verdict) else f"{verdict}: {text}"
    look = NEUTRAL if verdict == "approved" else BUSINESS
    return [
        Row(("loop", DECIDES), f"may {event.facts.get('name')} run?"),
        Row((DECIDES, "loop"), text, look, reply=True),
    ]


def loop_row(event: Event) -> Row:
    """The loop talks to the model; the rest are notes on it."""
    fact = event.facts.get
    match event.what:
        case "model_request":
            return Row(("loop", "model"), f"turn {fact('turn')}")
        case "text":
            return Row(("model", "loop"), quoted(fact("text")), reply=True)
        case "tool_use":
            return Row(("model", "loop"), f"{fact('name')} {brief(fact('input'))}", reply=True)
        case "approved":
            return Row(("loop",), f"no hook: nobody is asked about {fact('name')}")
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
            told = "raises" if inside else "the caller gets"
            return Row(back, f"{told} {fact('error')}{code}", PROTOCOL, reply=True)
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
            text, _ = answer(fact("message"))
            return Row(down, text, reply=_answers(fact("message")))
        case "received":
            text, look = answer(fact("message"))
            if fact("ignored"):
                text, look = f"ignored: {text}", NEUTRAL
            return Row(down[::-1], text, look, reply=_answers(fact("message")))
        case "junk":
            return Row(("server", "transport"), f"no message: {fact('excerpt')}", PROTOCOL)
        case "failed":
            back = ("transport", "client") if has_client else ("transport",)
            return Row(back, f"raises {fact('error')}", PROTOCOL, reply=True)
        case "closed":
            return Row(("transport",), ended(fact("exit_code")))
    return Row(("transport",), told_plainly(event))


def _answers(message: Any) -> bool:
    """True for all but a request or a notification: either side may send those."""
    return not (isinstance(message, dict) and "method" in message)
