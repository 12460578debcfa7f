"""Every page of a list (server/utilities/pagination). Cursors are opaque; "" is one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from mini_agent.errors import JsonRpcError, MalformedMessage
from mini_agent.mcp.messages import INVALID_PARAMS, excerpt
from mini_agent.mcp.shapes import parse_page, ttl_seconds
from mini_agent.types import JsonObject

MAX_PAGES = 1000


async def every_page(
    ask: Callable[[JsonObject], Awaitable[JsonObject]], key: str
) -> tuple[list[Any], float]:
    """All items, and for how many seconds they are fresh (the shortest of the pages).

    A cursor that the server no longer takes means that the list changed: everything is asked for
    once more from the start.

    Raises: MalformedMessage for a cursor that comes twice or a list without end, and what ``ask``
    raises.
    """
    try:
        return await _walk(ask, key)
    except _StaleCursor:
        try:
            return await _walk(ask, key)
        except _StaleCursor as again:
            raise again.refusal from None


async def _walk(
    ask: Callable[[JsonObject], Awaitable[JsonObject]], key: str
) -> tuple[list[Any], float]:
    items: list[Any] = []
    fresh = float("inf")
    seen: set[str] = set()
    cursor: str | None = None
    for _ in range(MAX_PAGES):
        result = await _page(ask, cursor)
        page, cursor = parse_page(result, key)
        items += page
        fresh = min(fresh, ttl_seconds(result))
        if cursor is None:
            return items, fresh
        if cursor in seen:
            raise MalformedMessage(f"the cursor {excerpt(cursor)} came twice: the list has no end")
        seen.add(cursor)
    raise MalformedMessage(f"the list has more than {MAX_PAGES} pages")


async def _page(
    ask: Callable[[JsonObject], Awaitable[JsonObject]], cursor: str | None
) -> JsonObject:
    if cursor is None:
        return await ask({})
    try:
        return await ask({"cursor": cursor})
    except JsonRpcError as refusal:
        if refusal.code != INVALID_PARAMS:
            raise
        raise _StaleCursor(refusal) from refusal


class _StaleCursor(Exception):
    def __init__(self, refusal: JsonRpcError) -> None:
        super().__init__(str(refusal))
        self.refusal = refusal
