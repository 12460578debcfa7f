"""How the desk's authorization server is put together: which clients, which resources."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

import httpx

from fake_servers.refunds.authorization import AuthorizationServer
from fake_servers.refunds.clients import Clients
from fake_servers.refunds.fetching import FetchFailed, fetch_json
from fake_servers.refunds.grants import Grants
from fake_servers.refunds.issuing import Issuer
from fake_servers.refunds.network import InMemoryNetwork
from fake_servers.refunds.outbound import Guard, GuardedTransport
from fake_servers.refunds.registration import Client
from fake_servers.refunds.tokens import Clock

MCP_CLIENT = "refunds-mcp"
DOCUMENT_BYTES = 5 * 1024  # draft 00 of client id metadata documents, section 6.6

PRE_REGISTERED = Client(
    "refund-agent",
    "Refund agent",
    ("http://127.0.0.1/callback", "http://localhost/callback"),
    ("authorization_code", "refresh_token"),
)
"""A public client that every desk knows; its redirect URIs take any port."""


def authorization_server(
    issuer_url: str,
    mcp_url: str,
    orders_url: str,
    *,
    clock: Clock,
    network: InMemoryNetwork,
    secret: str,
    signed_in: str,
    clients: Iterable[Client],
    metadata: Mapping[str, Any] | None,
) -> AuthorizationServer:
    """A fresh server. The MCP server, a client with ``secret``, may exchange its users' tokens."""
    service = Client(MCP_CLIENT, "Refunds MCP server", secret=secret, method="client_secret_basic")
    exchanges = {MCP_CLIENT: (mcp_url, orders_url)}
    return AuthorizationServer(
        Issuer(issuer_url, (mcp_url, orders_url), clock, exchanges=exchanges),
        Clients((service, PRE_REGISTERED, *clients), document_fetcher(network)),
        Grants(clock),
        signed_in=signed_in,
        metadata=metadata,
    )


def document_fetcher(network: InMemoryNetwork) -> Callable[[str], Awaitable[Any]]:
    """Fetches a client's metadata document from the open internet, which here is ``network``.

    Anybody can make the server fetch a URL, by using it as a client id: so it is guarded.
    """

    async def fetch(url: str) -> Any:
        guarded = GuardedTransport(Guard(public=True), network, network.resolve)
        agent = {"User-Agent": "authorization"}
        async with httpx.AsyncClient(transport=guarded, headers=agent, trust_env=False) as http:
            status, document = await fetch_json(http, "GET", url, max_bytes=DOCUMENT_BYTES)
        if status != 200:
            raise FetchFailed(f"status {status}")
        return document

    return fetch
