"""Which events of a trace are about one call. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from mini_agent.trace import Event


def events_of(events: Sequence[Event], call: str | None) -> list[Event]:
    """The events of one call: by its id, or else of the last call that was not skipped.

    Raises: ValueError naming the ids that there are.
    """
    check_call(events, call)
    if call is None:
        call = last_call(events)
    own = [e for e in of_call(events, call) if call or e.layer != "loop"]
    return own[_start(own) :]


def of_call(events: Sequence[Event], call: str) -> list[Event]:
    """The call's own events, and what the transport's reader met while it waited.

    The reader serves every call, so its events carry no call's id, or the wrong one.
    """
    own, waiting = [], False
    for event, whose in zip(events, _whose(events), strict=True):
        reader = from_reader(event)
        if waiting if reader else whose == call:
            own.append(event)
            if not reader and event.layer in ("client", "transport"):
                waiting = is_request(event)
    return own


def _whose(events: Sequence[Event]) -> Iterator[str]:
    """Each event's call. A response's is the call whose request it answers, whoever noted it."""
    asked: dict[int | str, list[str]] = {}  # requests not answered yet, by their ids
    for event in events:
        number = message_of(event).get("id")
        waiting = asked.setdefault(number, []) if isinstance(number, int | str) else []
        whose = event.call
        if is_request(event):
            waiting.append(whose)
        elif is_response(event) and waiting:
            whose = whose if whose in waiting else waiting[-1]
            waiting.remove(whose)
        yield whose


def last_call(events: Sequence[Event]) -> str:
    """The id of the last call that was not skipped; "" for one that no loop followed."""
    ends = {event.call: event.what for event in events if event.layer == "loop"}
    skipped = {call for call, what in ends.items() if what == "skipped"}
    ran = [
        event.call
        for event in events
        if is_ask(event) or (event.call and event.call not in skipped and _acts(event))
    ]
    return ran[-1] if ran else ""


def from_reader(event: Event) -> bool:
    """True for what a transport's reader notes, whichever call is waiting."""
    if event.layer != "transport":
        return False
    unasked = event.what == "received" and "method" in message_of(event)
    return event.what in ("junk", "closed") or unasked or bool(event.facts.get("ignored"))


def _acts(event: Event) -> bool:
    """True where the id is the acting call's: what a transport hears may carry another's."""
    return event.layer != "transport" or is_request(event)


def is_request(event: Event) -> bool:
    """True where the transport sent a request, which waits for its answer."""
    sent = (event.layer, event.what) == ("transport", "sent")
    return sent and {"id", "method"} <= message_of(event).keys()


def is_response(event: Event) -> bool:
    """True where the transport was given the answer that somebody waited for."""
    heard = (event.layer, event.what) == ("transport", "received")
    return heard and not from_reader(event)


def message_of(event: Event) -> dict[str, Any]:
    """The message that the event is about, {} where there is none."""
    message = event.facts.get("message")
    return message if isinstance(message, dict) else {}


def check_call(events: Sequence[Event], call: str | None) -> None:
    """None is every call.

    Raises: ValueError naming the ids that there are, when ``call`` is not among them.
    """
    known = list(dict.fromkeys(event.call for event in events if event.call))
    if call is not None and call not in known:
        raise ValueError(f"no call {call!r} in this trace; it holds: {', '.join(known) or 'none'}")


def is_ask(event: Event) -> bool:
    """True where the adapter or the client, used without a loop, is asked for something."""
    asked = ("adapter", "call"), ("adapter", "refused"), ("client", "request")
    return not event.call and (event.layer, event.what) in asked


def _start(own: Sequence[Event]) -> int:
    """Where the last call begins among events that may hold several of one id, or of none."""

    def last(layer: str, what: str, method: object = None) -> int:
        hits = (
            index
            for index, event in enumerate(own)
            if (event.layer, event.what) == (layer, what)
            and method in (None, event.facts.get("method"))
        )
        return max(hits, default=-1)

    used = last("loop", "tool_use")
    if used >= 0:
        return used
    asked = last("client", "request", "tools/call")
    asked = asked if asked >= 0 else last("client", "request")
    handed = last("adapter", "call")
    between = {event.layer for event in own[handed + 1 : max(asked, 0)]}
    begun = handed if handed >= 0 and "adapter" not in between else asked
    return max(begun, last("adapter", "refused"), 0)


def about(own: Sequence[Event]) -> tuple[str, list[Event]]:
    """The method that the call asked for, and the events without those of other requests."""
    methods = [e.facts["method"] for e in own if (e.layer, e.what) == ("client", "request")]
    method = "tools/call" if "tools/call" in methods else (methods or [""])[-1]
    ids = [e.facts.get("id") for e in own if e.facts.get("method") == method and "id" in e.facts]
    return method, list(_without_others(own, method, ids))


def _without_others(own: Sequence[Event], method: str, ids: Sequence[Any]) -> Iterator[Event]:
    """What is about the requests with ``ids``; without a message: what came after one of them."""
    after = True
    for event in own:
        message = message_of(event)
        match event.layer:
            case "client":
                mine = event.facts.get("method", method) == method
                after = mine if event.what == "request" else after
            case "transport" if ids and message:
                mine = message.get("id") in ids and not event.facts.get("ignored")
            case "transport":
                mine = after
            case _:
                mine = True
        if mine:
            yield event
