"""What each layer made of one call, in a few words, read from that call's events. Pure.

Each reader takes the events of one call (mini_agent.drawing.which) and returns None for a layer
that the call did not reach.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mini_agent import errors
from mini_agent.drawing.canvas import BUSINESS, NEUTRAL, PROTOCOL, Look
from mini_agent.drawing.phrases import brief, ended, failure_mark, quoted
from mini_agent.trace import Event


@dataclass(frozen=True)
class Saw:
    """What one layer made of the call, in a few words, and which path that is.

    ``reached`` is False where this side cannot know whether the call came that far.
    """

    says: str
    more: str = ""
    look: Look = NEUTRAL
    reached: bool = True


def loop_saw(own: Sequence[Event]) -> Saw | None:
    """Approval and outcome, as the loop recorded them."""
    fact = last_facts(own, "loop", "denied")
    if fact is not None:
        return Saw("denied: nothing was executed", str(fact.get("reason")), BUSINESS)
    fact = last_facts(own, "loop", "failed")
    if fact is not None:
        return Saw(f"records {failure_mark(fact)}", "and raises the same exception again", PROTOCOL)
    fact = last_facts(own, "loop", "tool_result")
    if fact is not None and fact.get("is_error"):
        return Saw("records an error result", "and goes on", BUSINESS)
    if fact is not None:
        return Saw("records the result", "and goes on")
    return Saw("waits for the result") if any(e.layer == "loop" for e in own) else None


def adapter_saw(own: Sequence[Event]) -> Saw | None:
    """A result, a refusal of its own, a translation, or an exception that it lets pass."""
    for event in reversed([event for event in own if event.layer == "adapter"]):
        fact = event.facts.get
        match event.what:
            case "result" if fact("is_error"):
                return Saw("ToolResult(is_error=True)", "a business result", BUSINESS)
            case "result":
                return Saw("ToolResult", "the answer in the loop's shape")
            case "refused":
                return Saw("refuses the arguments: nothing is sent", str(fact("reason")), BUSINESS)
            case "gone":
                return Saw("ToolResult(is_error=True)", "the tool is no longer listed", BUSINESS)
            case "error":
                return Saw(f"lets {fact('error')} pass", "out of execute", PROTOCOL)
            case "call":
                return Saw("waits for the client")
    return None


def client_saw(own: Sequence[Event]) -> Saw | None:
    """The parsed result, or the exception that left the client."""
    fact = last_facts(own, "client", "error")
    if fact is not None:
        code = "" if fact.get("code") is None else f" {fact['code']}"
        if last_facts(own, "transport", "failed") is not None:
            return Saw(f"lets {fact.get('error')} pass", "adds server, method and tool", PROTOCOL)
        return Saw(f"raises {fact.get('error')}{code}", "with server, method and tool", PROTOCOL)
    fact = last_facts(own, "client", "response")
    if fact is not None and _answer(own).look is BUSINESS:
        return Saw("CallResult(is_error=True)", "a good answer that says no", BUSINESS)
    if fact is not None:
        called = fact.get("method") == "tools/call"
        return Saw("CallResult", "the answer in MCP's shape") if called else Saw("a good answer")
    return Saw("waits for the transport") if any(e.layer == "client" for e in own) else None


def transport_saw(own: Sequence[Event]) -> Saw | None:
    """Whether a message came back, or what happened instead."""
    fact = last_facts(own, "transport", "failed")
    if fact is not None:
        return Saw(f"raises {fact.get('error')}", _cause(own), PROTOCOL)
    if last_facts(own, "transport", "received") is not None:
        return Saw("carries one message back", "whatever it says", _answer(own).look)
    if any(event.layer == "transport" for event in own):
        return Saw("carried the request", "nothing came back in time")
    return None


def _cause(own: Sequence[Event]) -> str:
    """What made the transport fail, where the trace says: a process that ended, or junk."""
    closed = last_facts(own, "transport", "closed")
    failed = last_facts(own, "transport", "failed") or {}
    if last_facts(own, "transport", "junk") is not None:
        return "what came is no message"
    if closed is None or failed.get("error") != "TransportClosed":
        return ""
    return ended(closed.get("exit_code"))


def server_saw(own: Sequence[Event]) -> Saw | None:
    """What its answer shows; None when nothing was sent, or nothing can have arrived."""
    fault = last_facts(own, "transport", "failed") or last_facts(own, "client", "error") or {}
    kind = getattr(errors, str(fault.get("error")), None)
    sent = last_facts(own, "transport", "sent")
    if sent is None or kind is errors.ConnectFailed:
        return None
    if last_facts(own, "transport", "received") is not None:
        return _answer(own)
    junk = last_facts(own, "transport", "junk")
    if junk is not None and kind is errors.MalformedMessage:
        return Saw("writes what is no message", str(junk.get("excerpt")), PROTOCOL)
    if kind in (errors.HttpStatusError, errors.AuthorizationError):
        return Saw("answers with an HTTP status", "no MCP message in it", PROTOCOL)
    if kind in (None, errors.TransportClosed, errors.RequestTimeout):
        return Saw("gave no answer", "was it reached? the client cannot know", reached=False)
    may = getattr(kind, "may_have_acted", True)
    return Saw("gave no answer", "it may have acted" if may else "it has not acted")


def _answer(own: Sequence[Event]) -> Saw:
    """The last message that came back; on the protocol path when the client could not use it."""
    message = (last_facts(own, "transport", "received") or {}).get("message")
    match message:
        case {"error": {"code": code, **rest}}:
            return Saw(f"answers error {code}", str(rest.get("message", "")), PROTOCOL)
        case {"result": {"isError": True} as result}:
            return Saw("answers isError: true", _text(result), BUSINESS)
    fault = last_facts(own, "client", "error")
    look = PROTOCOL if fault else NEUTRAL
    match message:
        case {"result": {"resultType": "input_required"}}:
            return Saw("answers input_required", "it is not finished", look)
        case {"result": dict(result)}:
            return Saw("answers", _text(result), look)
    return Saw("answers what is no response", brief(message), look)


def _text(result: Mapping[str, Any]) -> str:
    """The result's first text in quotation marks, or else its structured content."""
    blocks = result.get("content")
    for block in blocks if isinstance(blocks, list) else []:
        if isinstance(block, dict) and isinstance(block.get("text"), str):
            return quoted(block["text"])
    structured = result.get("structuredContent")
    return "" if structured is None else brief(structured)


def last_facts(own: Sequence[Event], layer: str, what: str) -> Mapping[str, Any] | None:
    """The facts of the last event that is ``what`` in ``layer``; None when there is none."""
    hits = [event.facts for event in own if (event.layer, event.what) == (layer, what)]
    return hits[-1] if hits else None


READERS = {
    "server": server_saw,
    "transport": transport_saw,
    "client": client_saw,
    "adapter": adapter_saw,
    "loop": loop_saw,
}  # from the bottom up
