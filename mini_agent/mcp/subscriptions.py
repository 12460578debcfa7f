"""Being told of changes: one ``subscriptions/listen``, opened, read, and opened again.

Its guarantee: a change is told once or, after a break, as "everything"; it is never lost unsaid.
Revision 2026-07-28, basic/patterns/subscriptions.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from typing import TypeAlias

from mini_agent.errors import (
    AuthorizationError,
    MalformedMessage,
    RequestTimeout,
    TransportClosed,
    TransportError,
)
from mini_agent.mcp.changes import (
    Change,
    change_of,
    not_granted,
    parse_acknowledgement,
)
from mini_agent.trace import following
from mini_agent.types import JsonObject

MOST_PENDING = 1000  # changes that nobody has read yet; beyond it they are one: "everything"
MOST_REOPENED = 5  # attempts in a row without an acknowledgement
FIRST_PAUSE = 0.1  # seconds before opening it again; doubled each time in a row

Hear: TypeAlias = Callable[[JsonObject], None]
Ask: TypeAlias = Callable[[JsonObject, Hear], Awaitable[object]]


class Subscription:
    """``async with`` opens it, ``async for`` gives each Change until the server ends it.

    Changes that are alike and not read yet are given once. A broken transport is opened again, at
    most MOST_REOPENED times in a row. ``ask(filter, hear)`` is one request, until its response, and
    ``timeout`` (seconds) bounds its acknowledgement; ``forget()`` is called when changes may have
    been missed, and errors learn in ``context()`` what they were about.

    Raises: McpError, out of ``async with`` when it cannot be opened, out of ``async for`` later.
    """

    def __init__(
        self,
        ask: Ask,
        wanted: JsonObject,
        *,
        timeout: float,
        forget: Callable[[], None],
        context: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self.granted: JsonObject = {}
        self._ask = ask
        self._wanted = wanted
        self._timeout = timeout
        self._forget = forget
        self._context = context
        self._pending: dict[Change, None] = {}  # in order, each once
        self._news = asyncio.Event()
        self._opened = asyncio.Event()
        self._acknowledged = 0  # times
        self._task: asyncio.Task[None] | None = None

    @property
    def not_granted(self) -> list[str]:
        """What was asked for and the server will not tell of: names of the filter, and URIs."""
        return not_granted(self._wanted, self.granted)

    async def __aenter__(self) -> Subscription:
        if self._task is not None:
            raise RuntimeError("this subscription was opened before; listen again for another")
        self._task = asyncio.create_task(self._run())
        self._task.add_done_callback(self._ended)
        try:
            await self._opened.wait()
            if self._task.cancelled():
                raise TransportClosed("the subscription was closed before it was open")
            if self._task.done():
                self._task.result()  # it ended before it was open: say why
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def __aiter__(self) -> Subscription:
        return self

    async def __anext__(self) -> Change:
        if self._task is None:
            raise RuntimeError("open the subscription first: async with client.listen(…)")
        while not self._pending:
            if self._task.cancelled():
                raise StopAsyncIteration
            if self._task.done():
                self._task.result()
                raise StopAsyncIteration
            self._news.clear()
            await self._news.wait()
        change = next(iter(self._pending))
        del self._pending[change]
        return change

    async def close(self) -> None:
        """Cancel the request, which tells the server. Idempotent, from any task."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    def _ended(self, _: object) -> None:
        self._opened.set()
        self._news.set()

    # -- one request after another ----------------------------------------------------------------

    async def _run(self) -> None:
        """Until the server ends it, or until it cannot be opened again."""
        failed = 0
        with following(""):  # what is heard here belongs to no one call
            while True:
                before = self._acknowledged
                try:
                    with self._context():
                        return await self._once()
                except TransportError as error:
                    failed = 0 if self._acknowledged > before else failed + 1
                    lasting = isinstance(error, AuthorizationError) or failed > MOST_REOPENED
                    if lasting or not self._acknowledged:
                        raise
                await asyncio.sleep(FIRST_PAUSE * 2**failed)

    async def _once(self) -> None:
        said: asyncio.Queue[JsonObject | None] = asyncio.Queue()
        request = asyncio.ensure_future(self._ask(self._wanted, said.put_nowait))
        request.add_done_callback(lambda _: said.put_nowait(None))
        try:
            first = await self._first_of(said)
            if first is None:
                await request  # raises, where it was refused or broke
                raise MalformedMessage("the server ended the subscription before it opened it")
            self._acknowledge(first)
            while (message := await said.get()) is not None:
                self._add(change_of(message))
            await request
        finally:
            request.cancel()
            await asyncio.wait([request])

    async def _first_of(self, said: asyncio.Queue[JsonObject | None]) -> JsonObject | None:
        try:
            async with asyncio.timeout(self._timeout):
                return await said.get()
        except TimeoutError as cause:
            text = f"the subscription was not acknowledged within {self._timeout:g} s"
            raise RequestTimeout(text, seconds=self._timeout) from cause

    def _acknowledge(self, message: JsonObject) -> None:
        self.granted = parse_acknowledgement(message)
        self._acknowledged += 1
        if self._acknowledged > 1:
            self._forget()
            self._add(Change("everything"))
        self._opened.set()

    def _add(self, change: Change | None) -> None:
        if change is None:
            return
        if len(self._pending) >= MOST_PENDING:
            self._pending = {}
            change = Change("everything")
        self._pending[change] = None
        self._news.set()
