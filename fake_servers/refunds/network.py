"""A network in this process: names, addresses, and an application behind each origin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self
from urllib.parse import urlsplit

import httpx
from starlette.types import ASGIApp, Receive, Scope, Send

from fake_servers.refunds.connection import Dropped, Unanswered

OUTSIDE = "93.184.215.14"
"""A public address, for what is published on the in-memory network. It is never connected to."""


class InMemoryNetwork(httpx.AsyncBaseTransport):
    """Origins and the applications behind them. ``names`` is its DNS: each name's addresses.

    A request is answered when its host is the site's name or address, and its Host header the
    site's; so a connection to an address that was looked up works as it does elsewhere.
    """

    def __init__(self) -> None:
        self.sites: dict[str, ASGIApp] = {}
        self.names: dict[str, list[str]] = {}

    def add(self, origin: str, app: ASGIApp, address: str) -> None:
        """Put ``app`` at ``origin``."""
        self.sites[origin] = app
        self.names[urlsplit(origin).hostname or ""] = [address]

    async def resolve(self, name: str) -> Sequence[str]:
        """The addresses of a name; none when it is not known."""
        return self.names.get(name, [])

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Hand the request to the application.

        Raises: httpx.ConnectError, RemoteProtocolError, ReadTimeout, as a network would.
        """
        host = request.headers["host"]
        site = self.sites.get(f"{request.url.scheme}://{host}")
        name = host.partition(":")[0]
        if site is None or request.url.host not in (name, *self.names.get(name, ())):
            raise httpx.ConnectError("nobody is there", request=request)
        sent = httpx.Request(
            request.method,
            request.url,
            headers=request.headers,
            stream=Whole(await body_of(request)),
        )
        try:
            return await httpx.ASGITransport(site).handle_async_request(sent)
        except Dropped as cause:
            text = "the connection closed before the answer"
            raise httpx.RemoteProtocolError(text, request=request) from cause
        except Unanswered as cause:
            raise httpx.ReadTimeout("no answer in time", request=request) from cause


class Whole(httpx.AsyncByteStream):
    """A body in one piece, which may be left unread: no generator waits to be closed."""

    def __init__(self, body: bytes) -> None:
        self._left = [body]

    def __aiter__(self) -> Self:
        """Itself: it is read once."""
        return self

    async def __anext__(self) -> bytes:
        """The body, once."""
        if not self._left:
            raise StopAsyncIteration
        return self._left.pop()


async def body_of(request: httpx.Request) -> bytes:
    """The whole body of a request that is about to be sent."""
    assert isinstance(request.stream, httpx.AsyncByteStream)
    return b"".join([piece async for piece in request.stream])


def published(documents: Mapping[str, Any], network: InMemoryNetwork) -> None:
    """Put JSON documents at their URLs on the network, at an address of the open internet."""
    from starlette.responses import JSONResponse, PlainTextResponse

    async def site(scope: Scope, receive: Receive, send: Send) -> None:
        host = dict(scope["headers"])[b"host"].decode()
        document = documents.get(f"https://{host}{scope['path']}")
        answer = JSONResponse(document) if document else PlainTextResponse("Not found", 404)
        await answer(scope, receive, send)

    for url in documents:
        parts = urlsplit(url)
        network.add(f"{parts.scheme}://{parts.netloc}", site, OUTSIDE)
