"""When a call is made again: within bounds, for tools that take no harm by it, and never else.

Twice is safe where the policy says that a tool only reads, or where the call carries a key. Then a
service's own word decides, and where no answer came, how the connection failed.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from mini_agent.mcp.retry import with_retries
from mini_agent.types import ToolResult


@dataclass(frozen=True)
class Bounds:
    """At most ``attempts`` in all; ``pause`` (seconds) before the second, doubled each time.

    A server that asks for a wait beyond ``longest`` (seconds) is not waited for.
    """

    attempts: int = 3
    pause: float = 0.5
    longest: float = 30.0
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep

    def __post_init__(self) -> None:
        """Raises: ValueError for fewer attempts than one."""
        if self.attempts < 1:
            raise ValueError(f"attempts must be at least 1, not {self.attempts}")


@dataclass(frozen=True)
class ServiceError:
    """What a service says of its own failure: a stable code, words, and whether to try again."""

    code: str
    message: str
    retryable: bool


def service_error(result: ToolResult) -> ServiceError | None:
    """The failure that a tool error's text states as ``{"error": {"code", "message", …}}``.

    None for any other text. Only a ``retryable`` of true is one.
    """
    match result:
        case ToolResult(str(text), True):
            stated = _json(text)
        case _:
            return None
    match stated:
        case {"error": {"code": str(code), **said}}:
            message = said.get("message")
            words = message if isinstance(message, str) else ""
            return ServiceError(code, words, said.get("retryable") is True)
    return None


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


async def within(
    bounds: Bounds, once: Callable[[], Awaitable[ToolResult]], *, safe: bool
) -> ToolResult:
    """What ``once()`` returns; where it is ``safe``, after as many attempts as are allowed.

    Raises: what the last one raised, with a note of how many there were.
    """
    return await with_retries(
        once,
        safe=safe,
        attempts=bounds.attempts if safe else 1,
        pause=bounds.pause,
        longest=bounds.longest,
        sleep=bounds.sleep,
        again=is_retryable,
    )


def is_retryable(result: ToolResult) -> bool:
    """Does the service say of its own failure that another try may help?"""
    failure = service_error(result)
    return failure is not None and failure.retryable
