"""A conversation on disk, one JSON line a message: what loads is whole, what is saved is whole.

``load_session`` accepts only what a model's service would accept: the messages' shapes, and each
``tool_use`` answered by one ``tool_result`` in the message after it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from mini_agent.blocks import tool_use_ids
from mini_agent.files import may_write, replace_file
from mini_agent.types import JsonObject, Message

BLOCKS: dict[str, dict[str, dict[str, type]]] = {
    "user": {
        "text": {"text": str},
        "tool_result": {"tool_use_id": str, "content": str, "is_error": bool},
    },
    "assistant": {
        "text": {"text": str},
        "tool_use": {"id": str, "name": str, "input": dict},
    },
}
"""Who may say which block, and what each block holds."""


class SessionError(Exception):
    """The conversation file cannot be used. ``line`` is counted from 1, 0 for the whole file."""

    def __init__(self, path: Path, line: int, what: str) -> None:
        super().__init__(path, line, what)
        self.path = path
        self.line = line
        self.what = what

    def __str__(self) -> str:
        where = f"line {self.line} of session {self.path}" if self.line else f"session {self.path}"
        return f"{where}: {self.what}; mend the file, or start with a new one"


def load_session(path: str | Path) -> list[Message]:
    """The messages in ``path``, oldest first; a file that is not there is a new conversation.

    Raises: SessionError naming file and line for a line that is no JSON, has a wrong shape, or
    breaks the pairing of calls and results; naming the file when it cannot be read.
    """
    path = Path(path)
    messages: list[Message] = []
    for number, raw in enumerate(_lines(path), start=1):
        try:
            message = _parse(raw)
            check_message(message, after=messages[-1] if messages else None)
        except ValueError as cause:
            raise SessionError(path, number, str(cause)) from cause
        messages.append(message)
    if messages and tool_use_ids(messages[-1]):
        raise SessionError(path, len(messages), "its tool_use has no tool_result after it")
    return messages


def save_session(path: str | Path, messages: Iterable[Message]) -> None:
    """Replace ``path`` by ``messages`` in one step, readable by its owner only (0600).

    A reader, or a crash at any moment, finds the old conversation or the new one, never half.
    One run at a time: of two that share a file, the last to save wins.

    Raises: SessionError when it is read-only or cannot be written; ValueError for what JSON cannot
    say.
    """
    target = Path(os.path.realpath(path))
    body = b"".join(_line(message) for message in messages)
    try:
        if target.exists() and not may_write(target):  # to replace it, its folder's mode would do
            raise SessionError(Path(path), 0, "is read-only")
        replace_file(target, body)
    except OSError as cause:
        raise SessionError(Path(path), 0, f"cannot be written ({cause.strerror})") from cause


def check_message(message: Any, *, after: Message | None) -> None:
    """Check one message's shape, and that it answers the calls of the message before it.

    Raises: ValueError saying what is wrong.
    """
    role = message.get("role") if isinstance(message, dict) else None
    if not isinstance(role, str) or role not in BLOCKS:
        raise ValueError('a message is {"role": "user" or "assistant", "content": [blocks]}')
    content = message.get("content")
    if after is None and role != "user":
        raise ValueError("a conversation begins with the user")
    if not isinstance(content, list) or not content:
        raise ValueError('"content" must be a list of at least one block')
    for block in content:
        _check_block(block, BLOCKS[role], role)
    asked = tool_use_ids(after) if after else []
    answered = [block["tool_use_id"] for block in content if block["type"] == "tool_result"]
    if asked != answered:
        raise ValueError(f"the calls before it are {asked}, but it holds results for {answered}")


def _check_block(block: Any, known: dict[str, dict[str, type]], role: str) -> None:
    kind = block.get("type") if isinstance(block, dict) else None
    if not isinstance(kind, str) or kind not in known:
        raise ValueError(f"a block of the {role} is one of {', '.join(known)}, not {kind!r}")
    for name, wanted in known[kind].items():
        if not isinstance(block.get(name), wanted):
            raise ValueError(f'"{name}" of a {kind} block must be of type {wanted.__name__}')


def _lines(path: Path) -> Sequence[bytes]:
    try:
        if os.path.lexists(path) and not path.is_file():
            raise SessionError(path, 0, "is not a file")
        body = path.read_bytes()
    except FileNotFoundError:
        return []
    except OSError as cause:
        raise SessionError(path, 0, f"cannot be read ({cause.strerror})") from cause
    # Split on the byte alone: str.splitlines would also split on U+2028 inside a string.
    return body.removesuffix(b"\n").split(b"\n") if body else []


def _parse(raw: bytes) -> Any:
    try:
        return json.loads(raw.decode("utf-8"), parse_constant=_refuse)
    except UnicodeDecodeError as cause:
        raise ValueError("not UTF-8") from cause
    except (json.JSONDecodeError, RecursionError) as cause:
        raise ValueError(f"not JSON ({cause})") from cause


def _refuse(constant: str) -> None:
    raise ValueError(f"not JSON ({constant} is no JSON number)")


def _line(message: JsonObject) -> bytes:
    text = json.dumps(message, ensure_ascii=False, allow_nan=False)
    # A lone surrogate has no UTF-8: backslashreplace writes it as the JSON escape that it is.
    return text.encode("utf-8", "backslashreplace") + b"\n"
