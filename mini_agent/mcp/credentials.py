"""How credentials meet requests: the seam between HttpTransport and whoever holds them.

Guarantee: what ``headers`` gives goes with a request to the configured address and nowhere else;
no redirect is followed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

from mini_agent.mcp.endpoint import Endpoint
from mini_agent.mcp.replies import translated

if TYPE_CHECKING:
    import httpx

MOST_ROUNDS = 3  # refusals of one request that are answered; the next one stands

Note: TypeAlias = Callable[..., None]
"""``note(what, **facts)``: add to the transport's trace."""


@dataclass(frozen=True)
class Refusal:
    """A 401 or 403. ``sent`` is what ``headers`` had given; ``round`` counts from 1.

    ``first`` is what they had given in round 1 of the same request.
    """

    status: int
    headers: Mapping[str, str]
    sent: Mapping[str, str] = field(repr=False)
    round: int = 1
    first: Mapping[str, str] = field(default_factory=dict, repr=False)


@runtime_checkable
class Credentials(Protocol):
    """Who a transport speaks for at ``endpoint``, its one address."""

    async def headers(self, endpoint: Endpoint, method: str, note: Note) -> Mapping[str, str]:
        """What the next request carries; {} while nothing is known.

        Raises: AuthorizationError, ConnectFailed.
        """
        ...

    async def settle(self, endpoint: Endpoint, refusal: Refusal, note: Note) -> bool:
        """Answer ``refusal``. True: the same request may be sent once more, with new headers.

        Raises: AuthorizationError, ConnectFailed.
        """
        ...

    async def close(self) -> None:
        """Stop what is under way. Idempotent; the credentials may be used again."""
        ...


async def asked(
    client: httpx.AsyncClient,
    request: httpx.Request,
    credentials: Credentials,
    endpoint: Endpoint,
    note: Note,
) -> httpx.Response:
    """The reply to ``request``, sent with credentials. A server that refuses has not acted.

    Raises: what ``translated`` does; AuthorizationError and whatever else ``credentials`` raise.
    """
    tries = 0
    first: Mapping[str, str] = {}
    while True:
        sent = await credentials.headers(endpoint, request.method, note)
        tries += 1
        first = first if tries > 1 else sent
        with translated(endpoint):
            response = await client.send(
                with_headers(request, sent), auth=None, stream=True, follow_redirects=False
            )
        if not may_be_settled(response, tries):
            return response
        refusal = Refusal(response.status_code, response.headers, sent, tries, first)
        try:
            again = await credentials.settle(endpoint, refusal, note)
        except BaseException:
            await response.aclose()
            raise
        if not again:
            return response
        with translated(endpoint):
            await response.aclose()


def with_headers(request: httpx.Request, more: Mapping[str, str]) -> httpx.Request:
    """The same request with ``more`` headers. A new one: whoever saw the first may keep it."""
    import httpx

    headers = request.headers.copy()
    headers.update(more)
    return httpx.Request(
        request.method,
        request.url,
        headers=headers,
        content=request.content,
        extensions=request.extensions,
    )


def may_be_settled(response: Any, tries: int) -> bool:
    """True for a refusal that is worth an answer. Ending a session (DELETE) never is."""
    refused = response.status_code in (401, 403) and response.request.method == "POST"
    return refused and tries <= MOST_ROUNDS
