"""The httpx clients behind one HTTP transport: lent for one request each, and closed together."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from mini_agent.errors import ConnectFailed, TransportClosed
from mini_agent.mcp.endpoint import Endpoint
from mini_agent.mcp.replies import words

if TYPE_CHECKING:
    import ssl

    import httpx


class Connections:
    """Lends ``given`` where there is one, and never closes it; otherwise clients of its own."""

    def __init__(self, endpoint: Endpoint, given: httpx.AsyncClient | None = None) -> None:
        self._endpoint = endpoint
        self._given = given
        self._idle: list[httpx.AsyncClient] = []
        self._tls: ssl.SSLContext | None = None
        self._closed = False

    # -- clients ----------------------------------------------------------------------------------
    @contextlib.asynccontextmanager
    async def lent(self) -> AsyncIterator[httpx.AsyncClient]:
        """A client for one request, taken back afterwards.

        One for each request in flight: the pool of httpx slows down with the square of what runs
        in it at a time, and so never holds more than one connection here.

        Raises: TransportClosed for a given client that is closed; ConnectFailed for proxy settings
        that cannot be used.
        """
        client = self._given or (self._idle.pop() if self._idle else self._new_client())
        if client.is_closed:
            raise TransportClosed("the httpx client given to this transport is closed")
        try:
            yield client
        finally:
            if client is not self._given:
                await self._take_back(client)

    async def _take_back(self, client: httpx.AsyncClient) -> None:
        client.cookies.clear()  # every request stands alone
        if self._closed:
            await client.aclose()
        else:
            self._idle.append(client)

    def _new_client(self) -> httpx.AsyncClient:
        import httpx

        if self._tls is None:  # 20 ms each: made once
            self._tls = tls_context(self._endpoint)
        try:
            # A proxy cannot know this machine's loopback network, so it is bypassed there.
            return httpx.AsyncClient(verify=self._tls, trust_env=not self._endpoint.loopback)
        except (ImportError, ValueError, httpx.InvalidURL) as cause:
            text = f"the proxy settings of the environment cannot be used ({words(cause)})"
            raise ConnectFailed(text) from cause

    async def close(self) -> None:
        """Close what is idle, and what is lent as it comes back."""
        self._closed = True
        while self._idle:
            with contextlib.suppress(RuntimeError):  # their event loop may be closed already
                await self._idle.pop().aclose()


def tls_context(endpoint: Endpoint) -> ssl.SSLContext:
    """The authorities that a server's certificate is held against; none where there is no TLS."""
    import ssl

    import httpx

    if endpoint.url.startswith("http:") and endpoint.loopback:
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    return httpx.create_ssl_context()
