"""Which events of a trace are about one call. Pure."""

from __future__ import annotations

from collections.abc import Sequence
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
    """The events with that id, and what the transport's reader met while the call waited.

    The reader serves every call, so its events carry no call's id, or the wrong one.
    """
    own, waiting = [], False
    for event in events:
        if from_reader(event):
            mine = waiting
        else:
            mine = event.call == call
            if mine and event.layer == "transport":
                waiting = event.what == "sent" and "id" in message_of(event)
        if mine:
            own.append(event)
    return own


def last_call(events: Sequence[Event]) -> str:
    """The id of the last call that was not skipped; "" for one that no loop followed."""
    ends = {event.call: event.what for event in events if event.layer == "loop"}
    skipped = {call for call, what in ends.items() if what == "skipped"}
    ran = [
        event.call
        for event in events
        if is_ask(event) or (event.call and event.call not in skipped and not from_reader(event))
    ]
    return ran[-1] if ran else ""


def from_reader(event: Event) -> bool:
    """True for what a transport's reader notes, whichever call is waiting."""
    if event.layer != "transport":
        return False
    unasked = event.what == "received" and "method" in message_of(event)
    return event.what in ("junk", "closed") or unasked or bool(event.facts.get("ignored"))


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
    return method, [event for event in own if _belongs(event, method, ids)]


def _belongs(event: Event, method: str, ids: Sequence[Any]) -> bool:
    if event.layer == "client":
        return bool(event.facts.get("method", method) == method)
    message = message_of(event)
    if event.layer != "transport" or not ids or not message:
        return True
    return message.get("id") in ids and not event.facts.get("ignored")
