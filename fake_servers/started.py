"""``async with server:`` for whatever has a start and a stop."""

from __future__ import annotations

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
