"""A list in pages, with cursors that mean nothing to the client (server/utilities/pagination)."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

from fake_servers.wire import INVALID_PARAMS, Message, Rejection


def page(method: str, key: str, items: Sequence[Message], cursor: Any, size: int | None) -> Message:
    """``{key: items of this page}``, with ``nextCursor`` when there are more.

    Raises: Rejection -32602 for a cursor that this list did not give.
    """
    start = _offset(method, cursor, len(items))
    end = len(items) if size is None else start + size
    result: Message = {key: list(items[start:end])}
    if end < len(items):
        result["nextCursor"] = _cursor(method, end)
    return result


def _cursor(method: str, offset: int) -> str:
    return base64.urlsafe_b64encode(f"{method}:{offset}".encode()).decode()


def _offset(method: str, cursor: Any, count: int) -> int:
    if cursor is None:
        return 0
    known = {_cursor(method, offset): offset for offset in range(1, count)}
    if not isinstance(cursor, str) or cursor not in known:
        raise Rejection(INVALID_PARAMS, "Invalid params: this list gave no such cursor")
    return known[cursor]
