"""The rounds of one call: a tool is compared before each of them, not before the first only.

A server may ask for more input (basic/patterns/mrtr), and have another tool by when it is given.
"""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Awaitable, Callable, Iterator
from typing import TypeAlias

Check: TypeAlias = Callable[[], Awaitable[None]]

_check: contextvars.ContextVar[Check | None] = contextvars.ContextVar("mini_agent_round")


class ToolChanged(Exception):
    """The tool is not the one that was approved: what is left of its call is not sent."""


@contextlib.contextmanager
def checked(check: Check) -> Iterator[None]:
    """A call made inside is checked before each round after its first."""
    token = _check.set(check)
    try:
        yield
    finally:
        _check.reset(token)


async def before_round() -> None:
    """What a client of the host calls. Raises: what the check of the call raises."""
    check = _check.get(None)
    if check is not None:
        await check()
