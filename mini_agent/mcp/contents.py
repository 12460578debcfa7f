"""What resources/read and prompts/get return: checked before anybody reads it, and kept as it came.

Revision 2026-07-28, server/resources and server/prompts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mini_agent.errors import MalformedMessage
from mini_agent.mcp.messages import excerpt
from mini_agent.mcp.shapes import parse_page
from mini_agent.types import JsonObject

ROLES = ("user", "assistant")


def parse_contents(result: JsonObject) -> list[JsonObject]:
    """The contents of a resource: each has its URI, and either text or base64.

    Raises: MalformedMessage for anything else.
    """
    contents, _ = parse_page(result, "contents")
    for content in contents:
        if not _is_content(content):
            text = "a content of a resource needs a uri, and either text or blob"
            raise MalformedMessage(text, excerpt=excerpt(content))
    return contents


def _is_content(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("uri"), str):
        return False
    held = [value[key] for key in ("text", "blob") if value.get(key) is not None]
    return len(held) == 1 and isinstance(held[0], str)


def parse_prompt(result: JsonObject) -> JsonObject:
    """A prompt that was filled in, whole: its messages are a user's or an assistant's, never more.

    Raises: MalformedMessage for another role, or a message without a typed block of content.
    """
    messages, _ = parse_page(result, "messages")
    for message in messages:
        if not _is_prompt_message(message):
            text = "a prompt's message needs the role user or assistant, and a block of content"
            raise MalformedMessage(text, excerpt=excerpt(message))
    return result


def _is_prompt_message(value: Any) -> bool:
    content = value.get("content") if isinstance(value, dict) else None
    typed = isinstance(content, dict) and isinstance(content.get("type"), str)
    return typed and value.get("role") in ROLES


def prompt_arguments(arguments: Mapping[str, str] | None) -> dict[str, str]:
    """The arguments of a prompt, which are strings.

    Raises: TypeError naming those that are not.
    """
    given = dict(arguments or {})
    if odd := sorted(name for name, value in given.items() if not isinstance(value, str)):
        raise TypeError(f"a prompt's arguments are strings; {', '.join(odd)} is not")
    return given
