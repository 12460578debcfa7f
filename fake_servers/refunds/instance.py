"""One instance of the desk: an order service and the MCP server in front of it, over one store.

It keeps nothing that another instance would need, so any of them answers any request, and one
that dies takes with it only what was in flight.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx

from fake_servers.refunds.connection import drop
from fake_servers.refunds.exchange import TokenExchange
from fake_servers.refunds.fetching import FetchFailed, fetch_json
from fake_servers.refunds.gate import Gate
from fake_servers.refunds.keys import Verifier
from fake_servers.refunds.orders import Orders
from fake_servers.refunds.outbound import Allowed, Guard, GuardedTransport
from fake_servers.refunds.places import Place
from fake_servers.refunds.server import RefundServer, Shape, refund_server
from fake_servers.refunds.service import OrderService
from fake_servers.refunds.store import OrderStore
from fake_servers.refunds.tokens import Clock

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send


@dataclass(frozen=True)
class Settings:
    """What every instance is started with."""

    place: Place
    url: str
    path: Path
    clock: Clock
    client_id: str
    client_secret: str
    release: str
    shape: Shape
    key_required: bool
    timeout: float


class Instance:
    """A running instance. ``gate`` and ``service`` are its two ASGI applications."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._store = OrderStore(settings.path)
        origins = settings.place.origins
        self._issuer, self._orders = origins["authorization"], origins["orders"]
        self._to_orders = self._client("refunds", "orders")
        self._to_issuer = self._client("refunds", "authorization")
        self._service_to_issuer = self._client("orders", "authorization")
        self._exchange = TokenExchange(
            self._to_issuer,
            f"{self._issuer}/token",
            settings.client_id,
            settings.client_secret,
            self._orders,
        )
        checks = self._verifier(self._orders, self._service_to_issuer)
        service = OrderService(self._store, checks, key_required=settings.key_required)
        self.gated = Gate(
            settings.url, self._verifier(settings.url, self._to_issuer), self.server_for
        )
        self.gate, self.service = Mortal(self.gated), Mortal(service.app())

    def server_for(self, token: str) -> RefundServer:
        """The MCP server for whoever holds this token of the MCP endpoint."""
        settings = self._settings
        return refund_server(self.orders_for(token), release=settings.release, shape=settings.shape)

    def orders_for(self, token: str) -> Orders:
        """The order service for whoever holds this token of the MCP endpoint."""

        async def exchanged(scope: str) -> str:
            return await self._exchange.exchange(token, scope)

        return Orders(self._to_orders, self._orders, exchanged, timeout=self._settings.timeout)

    def _client(self, sender: str, to: str) -> httpx.AsyncClient:
        """A client that can reach one service, and nothing else."""
        place = self._settings.place
        guard = Guard((Allowed(place.origins[to], place.addresses[to]),))
        transport = GuardedTransport(guard, place.transport(), place.resolve)
        return httpx.AsyncClient(
            transport=transport, headers={"User-Agent": sender}, trust_env=False
        )

    def _verifier(self, audience: str, http: httpx.AsyncClient) -> Verifier:
        async def keys() -> Any:
            status, document = await fetch_json(http, "GET", f"{self._issuer}/jwks")
            if status != 200:
                raise FetchFailed(f"the issuer's keys: status {status}")
            return document

        return Verifier(self._issuer, audience, keys, self._settings.clock)

    async def kill(self) -> None:
        """End it at once: what is in flight gets no answer, though it may have acted."""
        await self.gate.kill()
        await self.service.kill()
        await self.close()

    async def close(self) -> None:
        """Let go of the store and the connections."""
        for client in (self._to_orders, self._to_issuer, self._service_to_issuer):
            await client.aclose()
        self._store.close()


class Mortal:
    """An application whose requests in flight can be cut off."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._running: set[asyncio.Task[None]] = set()
        self._killed: set[asyncio.Task[None]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The ASGI entry point."""
        coroutine: Any = self._app(scope, receive, send)
        task = asyncio.ensure_future(coroutine)
        self._running.add(task)
        try:
            await asyncio.wait([task])
        finally:
            self._running.discard(task)
            if not task.done():
                task.cancel()
                await asyncio.wait([task])
        if task in self._killed:
            self._killed.discard(task)
            await drop(scope, receive)
        else:
            task.result()

    async def kill(self) -> None:
        """Cut off what is in flight."""
        cut = set(self._running)
        self._killed |= cut
        for task in cut:
            task.cancel()
        if cut:
            await asyncio.wait(cut)


def balanced(applications: Callable[[], list[ASGIApp]]) -> ASGIApp:
    """One application in front of several: each request goes to the next."""
    turn = 0

    async def passed_on(scope: Scope, receive: Receive, send: Send) -> None:
        nonlocal turn
        behind = applications()
        chosen = behind[turn % len(behind)]
        turn += 1
        await chosen(scope, receive, send)

    return passed_on
