"""Work that many wait for and that is done once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from mini_agent.errors import McpError
from mini_agent.mcp.background import Background
from mini_agent.mcp.eras import fresh
from mini_agent.mcp.patience import clock_stopped
from mini_agent.mcp.transport import closed_error


class Shared:
    """One piece of work at a time. Who stops waiting for it does not end it; ``close`` does."""

    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None
        self._background = Background()

    @property
    def busy(self) -> bool:
        """Whether something is under way."""
        return self._task is not None

    async def join(self, work: Callable[[], Awaitable[None]] | None = None) -> None:
        """Wait for what is under way, else for ``work``. The caller's own deadline waits as well.

        Raises: what it raises, a fresh one of each McpError for each caller; TransportClosed when
        it is closed meanwhile.
        """
        if self._task is None and work is not None:
            self._task = self._background.start(self._do(work))
        task = self._task
        if task is None:
            return
        with clock_stopped():
            await asyncio.wait({task})
        if task.cancelled():
            raise closed_error()
        if isinstance(error := task.exception(), McpError):
            raise fresh(error) from error
        task.result()

    async def _do(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        finally:
            self._task = None

    async def close(self) -> None:
        """Cancel what is under way, and wait for that. Idempotent."""
        await self._background.close()
