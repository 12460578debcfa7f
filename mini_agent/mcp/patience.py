"""The deadline of a request does not count while a person is being asked.

McpClient says ``timing(deadline)`` around what it waits for; whoever asks a person below it
says ``clock_stopped()``. Neither knows the other.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
from collections.abc import Iterator


class Clock:
    """The deadline of one request, for as long as that request is under way."""

    def __init__(self, deadline: asyncio.Timeout) -> None:
        self._deadline: asyncio.Timeout | None = deadline

    def stop(self) -> float | None:
        """The seconds that are left, and no deadline any more; None where there is none to stop."""
        if self._deadline is None or self._deadline.expired() or self._deadline.when() is None:
            return None
        left = (self._deadline.when() or 0.0) - asyncio.get_running_loop().time()
        self._deadline.reschedule(None)
        return left

    def go_on(self, left: float | None) -> None:
        """Count ``left`` seconds from now."""
        if left is not None and self._deadline is not None and not self._deadline.expired():
            self._deadline.reschedule(asyncio.get_running_loop().time() + left)

    def end(self) -> None:
        """The request is over: there is nothing left to stop."""
        self._deadline = None


_clock: contextvars.ContextVar[Clock | None] = contextvars.ContextVar(
    "mini_agent_clock", default=None
)


@contextlib.contextmanager
def timing(deadline: asyncio.Timeout) -> Iterator[None]:
    """While inside, ``clock_stopped`` can hold ``deadline`` off."""
    clock = Clock(deadline)
    token = _clock.set(clock)
    try:
        yield
    finally:
        clock.end()
        _clock.reset(token)


@contextlib.contextmanager
def clock_stopped() -> Iterator[None]:
    """While inside, the deadline of the request that this is done for waits."""
    clock = _clock.get()
    left = clock.stop() if clock is not None else None
    try:
        yield
    finally:
        if clock is not None:
            clock.go_on(left)
