"""``async with server:`` for whatever has a start and a stop, and an end of listening."""

from __future__ import annotations

import asyncio
import contextlib
from types import TracebackType
from typing import Self


class Started:
    """Started at the beginning of an ``async with``, stopped at its end, however that comes."""

    async def start(self) -> object:
        """Begin to serve."""
        raise NotImplementedError

    async def stop(self) -> None:
        """Serve no more. Idempotent."""
        raise NotImplementedError

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.stop()


TURNS = 4  # of the event loop, from an accepted connection to the task that serves it


async def stop_listening(*listeners: asyncio.Server) -> None:
    """Accept nobody more, let in who was accepted a moment ago, then close. Idempotent.

    A server that is closed in between loses that connection and, from Python 3.13 on, prints a
    traceback when it is collected (CPython, gh-109564).
    """
    loop = asyncio.get_running_loop()
    for listener in [each for server in listeners for each in server.sockets]:
        with contextlib.suppress(NotImplementedError):  # on Windows a closed server does no harm
            loop.remove_reader(listener.fileno())
    for _ in range(TURNS):
        await asyncio.sleep(0)
    for server in listeners:
        server.close()
