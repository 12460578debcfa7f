"""McpClient as people break it. A test file that stays green on one of these has not looked."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from mini_agent.errors import McpError
from mini_agent.mcp.client import McpClient
from mini_agent.mcp.shapes import CallResult


def swallows(call: Any) -> Any:
    """A failed call becomes a tool error, so the model calls a dead connection again."""

    async def broken(*given: Any, **options: Any) -> CallResult:
        try:
            result: CallResult = await call(*given, **options)
        except McpError as error:
            return CallResult([{"type": "text", "text": str(error)}], is_error=True)
        return result

    return broken


def starts_anyway(connect: Any) -> Any:
    """A connection that failed becomes a server with no tools, so the loop begins."""

    async def broken(*given: Any, **options: Any) -> Any:
        try:
            return await connect(*given, **options)
        except McpError:
            return []

    return broken


def hides_the_no(call: Any) -> Any:
    """A result with isError is passed on as a good one, so the model takes a no for a yes."""

    async def broken(*given: Any, **options: Any) -> CallResult:
        result: CallResult = await call(*given, **options)
        return replace(result, is_error=False)

    return broken


WAYS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "the client swallows a broken call and makes a tool error of it": ("call", swallows),
    "the client swallows a failed connection": ("connect", starts_anyway),
    "the client drops isError": ("call", hides_the_no),
}
"""What is wrong, in words: the method, and what makes a broken one of it."""
AS_IT_IS = ""


@dataclass
class Run:
    """One run of pytest: its exit code, how many tests passed, and its last line."""

    code: int
    passed: int = 0
    said: str = ""


@contextlib.contextmanager
def broken(way: str) -> Iterator[None]:
    """While inside, every McpClient of this process is broken that ``way``."""
    method, breaks = WAYS[way]
    real = getattr(McpClient, method)
    setattr(McpClient, method, breaks(real))
    try:
        yield
    finally:
        setattr(McpClient, method, real)
