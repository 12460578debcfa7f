"""From a provider's stream to ModelEvents: a pure function, nothing guessed.

The same pattern as the MCP adapter, in the other direction: somebody else's protocol in, the
loop's own words out. A stream that makes no sense is a ModelStreamError.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from mini_agent.blocks import json_fault, utf8_safe
from mini_agent.types import CUT_SHORT, Done, ModelEvent, Text, ToolCall


class ModelStreamError(Exception):
    """The model's service broke its own streaming protocol, or said that it failed.

    It stands outside the McpError tree: no MCP server is involved. The turn is lost; the request
    may be sent again, since no tool has run for it.
    """

    fault = "the model's service"


@dataclass
class Block:
    """A content block that has started: its ``kind``, and the pieces of JSON that came so far."""

    kind: str
    start: Mapping[str, Any]
    json_pieces: list[str] = field(default_factory=list)


@dataclass
class StreamState:
    """Where in a message the stream is. ``cut`` is a call whose JSON ended too early."""

    started: bool = False
    call_ids: set[str] = field(default_factory=set)
    blocks: dict[int, Block | None] = field(default_factory=dict)
    stop_reason: str | None = None
    cut: ModelStreamError | None = None
    over: bool = False


async def to_model_events(raw_events: AsyncIterable[Any]) -> AsyncIterator[ModelEvent]:
    """Anthropic's raw stream events (objects or dicts) of one message, as ModelEvents.

    Text comes piece by piece, a ToolCall when its block stops, Done last. Pings, thinking and
    event types of the future are passed over. A last call cut off by ``max_tokens`` is dropped:
    half a call is no call, and Done says why. A lone surrogate, which has no UTF-8, becomes its
    escape in a text (``\\ud800``, six characters); in a call it is refused: a call is as the model
    said it, or none.

    Raises: ModelStreamError for an event that is none or comes before message_start, a delta or
    stop without its start, a block, message or call id that comes twice, a call without id or
    name, input that is no JSON object or cannot be kept (blocks.json_fault), an error event, a
    message_stop with no stop_reason, and a stream that ends before message_stop.
    """
    state = StreamState()
    async for raw in raw_events:
        for event in on_raw_event(state, as_dict(raw)):
            yield event
    if not state.over:
        raise ModelStreamError("the model's stream ended before message_stop")


def on_raw_event(state: StreamState, raw: Mapping[str, Any]) -> Iterable[ModelEvent]:
    """Take one raw event into ``state``; give the ModelEvents that it completes.

    Raises: ModelStreamError, as each of the handlers below does.
    """
    kind = raw.get("type")
    if not isinstance(kind, str):
        raise ModelStreamError("an event came without a type")
    if kind not in HANDLERS:  # a ping, or something of the future
        return ()
    if state.over:
        raise ModelStreamError(f"{kind} came after message_stop")
    if not state.started and kind not in ("message_start", "error"):
        raise ModelStreamError(f"{kind} came before message_start")
    try:
        return HANDLERS[kind](state, raw)
    except (KeyError, TypeError, AttributeError) as cause:
        raise ModelStreamError(f"a {kind} event of the wrong shape: {cause!r}") from cause


def on_message_start(state: StreamState, raw: Mapping[str, Any]) -> Iterable[ModelEvent]:
    """A second start would mix two messages."""
    if state.started:
        raise ModelStreamError("message_start came twice")
    state.started = True
    return ()


def on_block_start(state: StreamState, raw: Mapping[str, Any]) -> Iterable[ModelEvent]:
    """Open a block. Its index is its own for the whole message."""
    index, start = raw["index"], raw["content_block"]
    if index in state.blocks:
        raise ModelStreamError(f"block {index} was started twice")
    if state.cut is not None:
        raise state.cut
    if start["type"] == "tool_use":
        check_call_start(state, start)
    state.blocks[index] = Block(start["type"], start)
    return text_event(start["text"]) if start["type"] == "text" else ()


def check_call_start(state: StreamState, start: Mapping[str, Any]) -> None:
    """A call is known by its id: its result is tied to it.

    Raises: ModelStreamError for an empty id or name, and for an id that another call has.
    """
    call_id, name = string(start["id"]), string(start["name"])
    if not call_id or not name:
        raise ModelStreamError("a call came without an id or without a name")
    if call_id in state.call_ids:
        raise ModelStreamError(f"two calls share the id {call_id}")
    state.call_ids.add(call_id)


def on_block_delta(state: StreamState, raw: Mapping[str, Any]) -> Iterable[ModelEvent]:
    """Text goes on at once; a call's JSON is collected until the block stops."""
    block, delta = open_block(state, raw), raw["delta"]
    match block.kind, delta["type"]:
        case "text", "text_delta":
            return text_event(delta["text"])
        case "tool_use", "input_json_delta":
            block.json_pieces.append(delta["partial_json"])
        case ("text", "input_json_delta") | ("tool_use", "text_delta"):
            raise ModelStreamError(f"a {delta['type']} came for a {block.kind} block")
    return ()


def on_block_stop(state: StreamState, raw: Mapping[str, Any]) -> Iterable[ModelEvent]:
    """Close a block; a call is complete now, unless the whole answer was cut here."""
    block = open_block(state, raw)
    state.blocks[raw["index"]] = None
    if block.kind != "tool_use":
        return ()
    try:
        return (finished_call(block),)
    except ModelStreamError as error:
        state.cut = error  # whether it is a fault, the stop_reason will say
        return ()


def on_message_delta(state: StreamState, raw: Mapping[str, Any]) -> Iterable[ModelEvent]:
    """The stop_reason comes shortly before the end."""
    reason = raw["delta"].get("stop_reason")
    if reason is not None:
        state.stop_reason = string(reason)
    return ()


def on_message_stop(state: StreamState, raw: Mapping[str, Any]) -> Iterable[ModelEvent]:
    """The end: every block must have stopped, and the reason must be known."""
    still_open = [index for index, block in state.blocks.items() if block is not None]
    if still_open:
        raise ModelStreamError(f"message_stop came while block {still_open[0]} was open")
    if not state.stop_reason:
        raise ModelStreamError("message_stop came without a stop_reason")
    if state.cut is not None and state.stop_reason not in CUT_SHORT:
        raise state.cut
    state.over = True
    return (Done(state.stop_reason),)


def on_error(state: StreamState, raw: Mapping[str, Any]) -> Iterable[ModelEvent]:
    """The service failed in the middle of its answer."""
    error = raw["error"]
    raise ModelStreamError(f"the model's service failed: {error['type']}: {error['message']}")


HANDLERS: dict[str, Callable[[StreamState, Mapping[str, Any]], Iterable[ModelEvent]]] = {
    "message_start": on_message_start,
    "content_block_start": on_block_start,
    "content_block_delta": on_block_delta,
    "content_block_stop": on_block_stop,
    "message_delta": on_message_delta,
    "message_stop": on_message_stop,
    "error": on_error,
}


def text_event(text: Any) -> Iterable[ModelEvent]:
    """A Text, or nothing where nothing was said."""
    return (Text(utf8_safe(text)),) if string(text) else ()


def open_block(state: StreamState, raw: Mapping[str, Any]) -> Block:
    """The block that a delta or stop belongs to.

    Raises: ModelStreamError when it never started, or has stopped already.
    """
    block = state.blocks.get(raw["index"])
    if block is None:
        raise ModelStreamError(f"{raw['type']} came for block {raw['index']}, which is not open")
    return block


def finished_call(block: Block) -> ToolCall:
    """The call that a stopped block holds. No JSON at all is what the start said: no arguments.

    Raises: ModelStreamError when its input is no JSON object or cannot be kept; NaN and Infinity
    are no JSON, a number as large as 1e999 would become one, and a lone surrogate has no UTF-8.
    """
    call_id, name = string(block.start["id"]), string(block.start["name"])
    text = "".join(block.json_pieces)
    try:
        value = json.loads(text, parse_constant=_refuse) if text else block.start["input"]
    except (ValueError, RecursionError) as cause:
        raise ModelStreamError(f"the input of a call to {name} is not JSON: {cause}") from cause
    if not isinstance(value, dict):
        raise ModelStreamError(f"the input of a call to {name} is no JSON object")
    if fault := json_fault(value) or json_fault([call_id, name]):
        raise ModelStreamError(f"a call to {name!r} cannot be kept: {fault}")
    return ToolCall(call_id, name, value)


def string(value: Any) -> str:
    """``value``, which the protocol says is a string.

    Raises: TypeError when it is not.
    """
    if not isinstance(value, str):
        raise TypeError(f"a string was expected, not {type(value).__name__}")
    return value


def as_dict(raw: Any) -> Mapping[str, Any]:
    """A raw event as plain data, whether it came as a dict or as one of the package's objects.

    Raises: ModelStreamError when it is neither.
    """
    if isinstance(raw, Mapping):
        return raw
    if not hasattr(raw, "model_dump"):
        raise ModelStreamError(f"an event came as {type(raw).__name__}")
    plain: dict[str, Any] = raw.model_dump(warnings=False)
    return plain


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON number")
