"""Work that many wait for and that is done once."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterator

from mini_agent.errors import McpError
from mini_agent.mcp.background import Background
from mini_agent.mcp.eras import fresh
from mini_agent.mcp.patience import clock_stopped
from mini_agent.mcp.transport import closed_error

TURNS = 5  # of the event loop, in which a cancelled waiter is certain to have left


class Shared:
    """One piece of work at a time. Who stops waiting for it does not end it; ``close`` may."""

    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None
        self._background = Background()
        self._waiting = 0  # callers in join
        self._asking = False  # the work waits for a person
        self._turned = asyncio.Event()  # set when that changes; a new one each time

    @property
    def busy(self) -> bool:
        """Whether something is under way."""
        return self._task is not None

    async def join(self, work: Callable[[], Awaitable[None]] | None = None) -> None:
        """Wait for what is under way, else for ``work``.

        The caller's own deadline is held off while the work is ``asking`` a person.

        Raises: what it raises, a fresh one of each McpError for each caller; TransportClosed when
        it is closed meanwhile.
        """
        if self._task is None and work is not None:
            self._task = self._background.start(_done(work))
            self._task.add_done_callback(self._over)  # also when it never takes a first step
        task = self._task
        if task is None:
            return
        self._waiting += 1
        try:
            await self._end_of(task)
        finally:
            self._waiting -= 1
        if task.cancelled():
            raise closed_error()
        if isinstance(error := task.exception(), McpError):
            raise fresh(error) from error
        task.result()

    async def _end_of(self, task: asyncio.Task[None]) -> None:
        while not task.done():
            turn = asyncio.create_task(self._turned.wait())
            try:
                with clock_stopped() if self._asking else contextlib.nullcontext():
                    await asyncio.wait({task, turn}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                turn.cancel()

    @contextlib.contextmanager
    def asking(self) -> Iterator[None]:
        """For the work: while inside, a person is asked, and no caller's deadline counts."""
        self._turn(True)
        try:
            yield
        finally:
            self._turn(False)

    def _turn(self, asking: bool) -> None:
        self._asking = asking
        self._turned.set()
        self._turned = asyncio.Event()

    def _over(self, task: asyncio.Task[None]) -> None:
        if self._task is task:
            self._task = None

    async def close(self) -> None:
        """Cancel what is under way, and wait for that, unless somebody still waits for it.

        Those who have just been told to leave no longer count. Idempotent.
        """
        for _ in range(TURNS):
            await asyncio.sleep(0)
        if not self._waiting:
            await self._background.close()


async def _done(work: Callable[[], Awaitable[None]]) -> None:
    await work()
