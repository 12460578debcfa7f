"""The events of Anthropic's streaming Messages API, built from a turn: pure functions.

The inverse of mini_agent.model_client.to_model_events.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mini_agent.types import Done, JsonObject, ModelEvent, Text, ToolCall

PIECE = 7
"""How many characters of a text or of a call's JSON travel in one delta."""


def raw_events(turn: Sequence[ModelEvent], model: str = "scripted") -> list[JsonObject]:
    """The turn as the service streams it, text and JSON in small pieces, with a ping between.

    Without a Done the stop_reason is "tool_use" after a ToolCall, else "end_turn".
    """
    message: JsonObject = {
        "id": "msg_scripted", "type": "message", "role": "assistant", "model": model,
        "content": [], "stop_reason": None, "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }  # fmt: skip
    blocks = [event for event in turn if not isinstance(event, Done)]
    events: list[JsonObject] = [{"type": "message_start", "message": message}, {"type": "ping"}]
    for index, event in enumerate(blocks):
        events += block_events(index, event)
    delta = {"stop_reason": stop_reason(turn), "stop_sequence": None}
    return [
        *events,
        {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]


def block_events(index: int, event: Text | ToolCall) -> Iterable[JsonObject]:
    """One content block: its start, its deltas, its stop."""
    if isinstance(event, Text):
        start: JsonObject = {"type": "text", "text": ""}
        deltas = [{"type": "text_delta", "text": piece} for piece in pieces(event.text)]
    else:
        start = {"type": "tool_use", "id": event.id, "name": event.name, "input": {}}
        text = json.dumps(event.input, ensure_ascii=False) if event.input else ""
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces(text)]
    yield {"type": "content_block_start", "index": index, "content_block": start}
    for delta in deltas:
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


def pieces(text: str) -> list[str]:
    """``text`` in pieces of PIECE characters."""
    return [text[at : at + PIECE] for at in range(0, len(text), PIECE)]


def stop_reason(turn: Sequence[ModelEvent]) -> str:
    """The turn's own, or the one that it implies."""
    for event in turn:
        if isinstance(event, Done):
            return event.stop_reason
    return "tool_use" if any(isinstance(event, ToolCall) for event in turn) else "end_turn"


def as_sse(event: Mapping[str, Any]) -> bytes:
    """One server-sent event. The ``event:`` line is needed: without it the package skips it."""
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


def error_body(kind: str, message: str) -> JsonObject:
    """The service's error object."""
    return {"type": "error", "error": {"type": kind, "message": message}}
