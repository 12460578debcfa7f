"""Anthropic's message shape: the content blocks that a conversation is made of, built and read."""

from __future__ import annotations

import copy
from typing import TypeAlias

from mini_agent.types import JsonObject, Message, ToolCall, ToolResult

Block: TypeAlias = JsonObject


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
