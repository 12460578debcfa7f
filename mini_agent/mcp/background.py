"""Work that goes on when whoever asked for it has left.

Guarantee: nothing that was started here outlives ``close``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from mini_agent.errors import RequestTimeout

T = TypeVar("T")


class Background:
    """A set of tasks. What they raise is for who waits for them; if nobody does, it is dropped."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def __len__(self) -> int:
        return len(self._tasks)

    def start(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Begin ``work``."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # looked at: no complaint about one that nobody waits for

    async def within(
        self, seconds: float, work: Coroutine[Any, Any, T], *, hang_up: bool = False
    ) -> T:
        """What ``work`` returns. Who stops waiting, or waits too long, does not cancel it.

        With ``hang_up`` it is cancelled after ``seconds``.

        Raises: RequestTimeout; what ``work`` raises.
        """
        task = self.start(work)
        done, _ = await asyncio.wait({task}, timeout=seconds)
        if not done:
            if hang_up:
                task.cancel()
            raise RequestTimeout(f"no answer within {seconds:g} s", seconds=seconds)
        return task.result()

    async def settle(self, seconds: float) -> None:
        """Let it come to its end, for ``seconds`` at most."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=seconds)

    async def close(self) -> None:
        """Cancel what is still going on, and wait for that."""
        for task in self._tasks:
            task.cancel()
        while self._tasks:
            await asyncio.wait(self._tasks)
