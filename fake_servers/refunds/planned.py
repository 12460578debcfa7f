"""A fault that is planned, and the request that meets it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fake_servers.refunds.connection import Unanswered, replayed, silence, whole_body

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


@dataclass
class Planned:
    """A fault that is to come, and on which requests: see Faults.plan.

    ``met`` is set when a request has met it, ``acted`` when the work was done all the same.
    """

    at: str
    name: str
    method: str | None = None
    path: str = ""
    tool: str | None = None
    times: int | None = 1
    every: int = 1
    met: asyncio.Event = field(default_factory=asyncio.Event)
    acted: asyncio.Event = field(default_factory=asyncio.Event)
    released: asyncio.Event = field(default_factory=asyncio.Event)
    _seen: int = 0

    def release(self) -> None:
        """Let what is held go on."""
        self.released.set()

    def due(self, at: str, scope: Scope) -> bool:
        """Does this request meet the fault? Each one that fits is counted."""
        if self.at != at or self.times == 0 or not self._fits(scope):
            return False
        self._seen += 1
        if self._seen % self.every:
            return False
        self.times = None if self.times is None else self.times - 1
        self.met.set()
        return True

    def _fits(self, scope: Scope) -> bool:
        tool = dict(scope["headers"]).get(b"mcp-name", b"").decode("latin-1")
        return (
            self.method in (None, scope["method"])
            and scope["path"].startswith(self.path)
            and self.tool in (None, tool)
        )


@dataclass(frozen=True)
class Call:
    """One request that met a fault, and the application that would answer it."""

    app: ASGIApp
    scope: Scope
    receive: Receive
    send: Send
    planned: Planned
    impatient: bool

    async def answer(self) -> None:
        """Answer well."""
        await self.app(self.scope, self.receive, self.send)

    async def act(self) -> None:
        """Do all the work, and keep the answer back."""
        body = await whole_body(self.receive)
        await self.app(self.scope, replayed(body, self.receive), unsaid)
        self.planned.acted.set()

    async def say(self, status: int, body: bytes, **headers: str) -> None:
        """Answer this, whatever was asked."""
        pairs = [(name.replace("_", "-").encode(), text.encode()) for name, text in headers.items()]
        await self.send({"type": "http.response.start", "status": status, "headers": pairs})
        await self.send({"type": "http.response.body", "body": body})

    async def silent(self) -> None:
        """Say nothing. An impatient caller's deadline passes at once.

        Raises: Unanswered.
        """
        if self.impatient:
            raise Unanswered
        await silence(self.receive)


async def unsaid(message: Message) -> None:
    """Keeps back what an application says."""
