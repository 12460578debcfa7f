"""Anthropic's message shape: the content blocks that a conversation is made of, built and read.

And what such a block can hold at all: ``json_fault`` and ``utf8_safe``.
"""

from __future__ import annotations

import copy
import json
from typing import Any, TypeAlias

from mini_agent.types import JsonObject, Message, ToolCall, ToolResult

Block: TypeAlias = JsonObject

DEEPEST = 200
"""How many levels of lists and objects a call's input may have."""


def text_block(text: str) -> Block:
    """A piece of text, of either side."""
    return {"type": "text", "text": text}


def tool_use_block(call: ToolCall) -> Block:
    """The call as the model's own message holds it."""
    return {
        "type": "tool_use",
        "id": call.id,
        "name": call.name,
        "input": copy.deepcopy(call.input),
    }


def result_block(call: ToolCall, result: ToolResult) -> Block:
    """The answer to a call, tied to it by its id."""
    return {
        "type": "tool_result",
        "tool_use_id": call.id,
        "content": result.content,
        "is_error": result.is_error,
    }


def add_text(content: list[Block], text: str) -> None:
    """Add a piece of text, to the last block where that is text."""
    if content and content[-1]["type"] == "text":
        content[-1]["text"] += text
    else:
        content.append(text_block(text))


def text_of(content: list[Block]) -> str:
    """The texts of one message."""
    return "\n".join(block["text"] for block in content if block["type"] == "text")


def tool_use_ids(message: Message) -> list[str]:
    """The ids of the calls in a message, in order."""
    return [block["id"] for block in message["content"] if block["type"] == "tool_use"]


def json_fault(value: Any, room: int = DEEPEST) -> str:
    """Why ``value`` cannot be kept as JSON, "" when it can.

    No JSON: a number that is not finite (``1e999`` is read as one), a key that is no string, an
    object of Python's. No UTF-8: a lone surrogate. And more than DEEPEST levels, which one parser
    reads and another does not.
    """
    if not isinstance(value, dict | list | tuple):
        return _scalar_fault(value)
    if not room:
        return f"it is nested deeper than {DEEPEST} levels"
    if isinstance(value, dict) and not all(isinstance(key, str) for key in value):
        return "it has a key that is no string"
    held = [*value, *value.values()] if isinstance(value, dict) else value
    return next(filter(None, (json_fault(inner, room - 1) for inner in held)), "")


def _scalar_fault(value: Any) -> str:
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except (TypeError, ValueError) as error:
        return str(error)
    return ""


def utf8_safe(value: Any) -> Any:
    r"""JSON data with each lone surrogate, which has no UTF-8, as its escape, ``\ud800``."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, dict):
        return {utf8_safe(key): utf8_safe(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [utf8_safe(inner) for inner in value]
    return value
