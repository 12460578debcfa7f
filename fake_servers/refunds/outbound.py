"""The guard of outgoing requests: a server connects where it was told to, and nowhere else.

A server that can be made to fetch an address for somebody reaches what that somebody cannot: the
company's own network, a cloud's metadata service, its own machine (server-side request forgery).
So a destination is an exact origin of a list; its name is resolved here, every address that comes
back is judged, and the connection goes to the address that was judged and not to a second look-up
of the name. A redirect is refused.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass

import httpx

from fake_servers.refunds.addresses import Address, is_public, literal

Resolver = Callable[[str], Awaitable[Sequence[str]]]
PORTS = {"http": 80, "https": 443}


class DestinationRefused(Exception):
    """Nothing was sent. ``reason`` says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class Destination:
    """An origin: scheme, host and port, each compared exactly."""

    scheme: str
    host: str
    port: int


@dataclass(frozen=True)
class Allowed:
    """A destination that is allowed, and the non-public addresses where it may be."""

    origin: str
    addresses: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Guard:
    """Which requests may leave: to an origin of ``allowed``, or with ``public`` to any https one.

    An origin may be at public addresses and at those it is listed with.
    """

    allowed: tuple[Allowed, ...] = ()
    public: bool = False

    def admit(self, url: str) -> tuple[Destination, frozenset[Address]]:
        """The destination of ``url``, and the addresses that are fine although not public.

        Raises: DestinationRefused.
        """
        wanted = destination(url)
        for entry in self.allowed:
            if destination(entry.origin) == wanted:
                listed = (literal(address) for address in entry.addresses)
                own = literal(wanted.host)  # an allowed literal address is where it says
                return wanted, frozenset(filter(None, (*listed, own)))
        if self.public and wanted.scheme == "https":
            return wanted, frozenset()
        raise DestinationRefused(f"{_shown(wanted)} is not a destination of this server")


def destination(url: str) -> Destination:
    """The origin that a request to ``url`` would go to.

    Raises: DestinationRefused for what two readers could understand differently.
    """
    if not url.isascii() or not url.isprintable() or "\\" in url or " " in url:
        raise DestinationRefused("the URL holds characters that a URL may not")
    try:
        parsed = httpx.URL(url)  # what will connect is also what judges
    except httpx.InvalidURL:
        raise DestinationRefused("it is no URL") from None
    if parsed.userinfo:
        raise DestinationRefused("the URL holds user information")
    if parsed.scheme not in PORTS or not parsed.host:
        raise DestinationRefused("only http and https URLs with a host lead anywhere")
    return Destination(parsed.scheme, parsed.host.lower(), parsed.port or PORTS[parsed.scheme])


def choose(found: Iterable[str], fine: frozenset[Address]) -> Address:
    """The address to connect to, of those that a name resolves to.

    Raises: DestinationRefused when there is none, or when any of them is out of bounds: a name
    that leads to two places is not trusted to lead to the good one.
    """
    addresses = [literal(text) for text in found]
    if not addresses:
        raise DestinationRefused("its name leads nowhere")
    for address in addresses:
        if address is None or not (is_public(address) or address in fine):
            raise DestinationRefused(f"its name leads to {address}, which is not public")
    chosen = addresses[0]
    assert chosen is not None
    return chosen


def _shown(wanted: Destination) -> str:
    host = f"[{wanted.host}]" if ":" in wanted.host else wanted.host
    return f"{wanted.scheme}://{host}:{wanted.port}"


async def system_resolver(name: str) -> list[str]:
    """What the machine's own resolver says."""
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except OSError:
        return []
    return [str(address[0]).partition("%")[0] for *_, address in found]


class GuardedTransport(httpx.AsyncBaseTransport):
    """An httpx transport that asks ``guard`` before each request, and refuses every redirect.

    Raises: DestinationRefused, and what ``inner`` raises.
    """

    def __init__(
        self,
        guard: Guard,
        inner: httpx.AsyncBaseTransport,
        resolve: Resolver = system_resolver,
    ) -> None:
        self._guard = guard
        self._inner = inner
        self._resolve = resolve

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send ``request`` to the address that was judged."""
        wanted, fine = self._guard.admit(str(request.url))
        written = literal(wanted.host)
        found = [str(written)] if written else await self._resolve(wanted.host)
        address = choose(found, fine)
        response = await self._inner.handle_async_request(pinned(request, str(address)))
        if response.has_redirect_location:
            await response.aclose()
            raise DestinationRefused("the answer redirects elsewhere")
        return response

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()


def pinned(request: httpx.Request, address: str) -> httpx.Request:
    """The same request to an address; Host header and TLS still speak of the name."""
    extensions = {**request.extensions, "sni_hostname": request.url.host}
    url = request.url.copy_with(host=address)
    return httpx.Request(
        request.method, url, headers=request.headers, stream=request.stream, extensions=extensions
    )
