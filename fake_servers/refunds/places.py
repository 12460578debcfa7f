"""Where the desk's services are: in this process, or on ports of this machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import httpx
from starlette.types import ASGIApp, Receive, Scope, Send

from fake_servers.asgi import AsgiServer
from fake_servers.refunds.connection import droppable
from fake_servers.refunds.network import InMemoryNetwork

NAMES = {"refunds": "10.0.0.1", "authorization": "10.0.0.2", "orders": "10.0.0.3"}
"""The services, and their addresses on the in-memory network: a company's own, not public."""


class Place(Protocol):
    """Gives each service an origin, then carries the requests."""

    @property
    def origins(self) -> Mapping[str, str]:
        """Scheme, host and port of each service."""
        ...

    @property
    def addresses(self) -> Mapping[str, frozenset[str]]:
        """The addresses of each service that are not public."""
        ...

    @property
    def impatient(self) -> bool:
        """Is a caller's deadline over at once, where nothing answers?"""
        ...

    async def open(self, apps: Mapping[str, ASGIApp]) -> None:
        """Serve the applications, by the services' names."""
        ...

    def transport(self) -> httpx.AsyncBaseTransport:
        """A way to them."""
        ...

    async def resolve(self, name: str) -> Sequence[str]:
        """The addresses of a name."""
        ...

    async def close(self) -> None:
        """Stop serving."""
        ...


class Memory:
    """In this process, under names: https://refunds.example and so on. No port, no socket."""

    impatient = True  # what is silent is given up at once: no deadline has to pass

    def __init__(self, network: InMemoryNetwork) -> None:
        self.origins = {
            "refunds": "https://refunds.example",
            "authorization": "https://auth.example",
            "orders": "https://orders.example",
        }
        self.addresses = {name: frozenset({address}) for name, address in NAMES.items()}
        self._network = network

    async def open(self, apps: Mapping[str, ASGIApp]) -> None:
        """Put the applications on the network."""
        for name, app in apps.items():
            self._network.add(self.origins[name], app, NAMES[name])

    def transport(self) -> httpx.AsyncBaseTransport:
        """The network."""
        return self._network

    async def resolve(self, name: str) -> Sequence[str]:
        """The network's DNS."""
        return await self._network.resolve(name)

    async def close(self) -> None:
        """Take them off it."""
        self._network.sites.clear()


class Loopback:
    """On ports of 127.0.0.1, which are taken when this is made."""

    impatient = False

    def __init__(self) -> None:
        self._apps: dict[str, ASGIApp] = {}
        self._servers = {name: AsgiServer(droppable(self._later(name))) for name in NAMES}
        self.origins = {name: server.bind() for name, server in self._servers.items()}
        self.addresses = {name: frozenset[str]() for name in NAMES}

    def _later(self, name: str) -> ASGIApp:
        async def found(scope: Scope, receive: Receive, send: Send) -> None:
            await self._apps[name](scope, receive, send)

        return found

    async def open(self, apps: Mapping[str, ASGIApp]) -> None:
        """Serve the applications."""
        self._apps.update(apps)
        for server in self._servers.values():
            await server.start()

    def transport(self) -> httpx.AsyncBaseTransport:
        """Real connections."""
        # Everything here is plain http on this machine: no certificates have to be read.
        return httpx.AsyncHTTPTransport(verify=False)

    async def resolve(self, name: str) -> Sequence[str]:
        """No name is known: every service here is at a literal address."""
        return []

    async def close(self) -> None:
        """Close the ports."""
        for server in self._servers.values():
            await server.stop()
