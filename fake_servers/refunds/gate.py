"""The MCP endpoint behind its gate: who asks, may they, and then a server for them alone.

Nothing is kept from one request to the next, so any instance can answer any of them.
Specification: basic/authorization; RFC 9728.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from fake_servers.core import Server
from fake_servers.headers import decoded
from fake_servers.http_app import MAX_BODY, App
from fake_servers.refunds.bearer import DRAFT, READ, Denied, authenticated, bearer_token, require
from fake_servers.refunds.documents import RESOURCE, metadata_url, resource_metadata
from fake_servers.refunds.fetching import FetchFailed
from fake_servers.refunds.keys import Verifier
from fake_servers.wire import Entry, Rejection

if TYPE_CHECKING:
    from starlette.datastructures import Headers
    from starlette.types import ASGIApp, Receive, Scope, Send

NEEDS = {"create_refund_draft": DRAFT}
"""The scope of each tool that needs more than reading."""

ServerFor = Callable[[str], Server]
"""Makes the server for whoever holds a token, which has been verified."""


class Gate:
    """The MCP endpoint ``url``, an ASGI application. ``transcript`` holds the messages let in."""

    def __init__(self, url: str, verifier: Verifier, server_for: ServerFor) -> None:
        self.url = url
        self.transcript: list[Entry] = []
        self._verifier = verifier
        self._server_for = server_for
        parts = urlsplit(url)
        self._host = parts.netloc
        self._origin = f"{parts.scheme}://{parts.netloc}"
        self._path = parts.path
        self._documents = (RESOURCE, RESOURCE + parts.path)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The ASGI entry point."""
        request = Request(scope, receive)
        answer = self._public(request) or await self._private(request)
        await answer(_at_home(scope), receive, send)

    def _public(self, request: Request) -> Response | None:
        """What is answered without a token: foreign callers, the metadata, other addresses."""
        origin = request.headers.get("origin", self._origin)
        if request.headers.get("host") != self._host or origin != self._origin:
            return PlainTextResponse("Forbidden: another host or origin was meant", 403)
        if request.method == "GET" and request.url.path in self._documents:
            return JSONResponse(resource_metadata(self.url, self._verifier.issuer))
        if request.url.path != self._path:
            return PlainTextResponse(f"Not found: the MCP endpoint is {self._path}", 404)
        return None

    async def _private(self, request: Request) -> ASGIApp:
        """What answers a caller with the right token, and what is said to one without."""
        try:
            server = self._server_for(await self._let_in(request))
        except Denied as denied:
            headers = {"WWW-Authenticate": denied.challenge(metadata_url(self.url))}
            return PlainTextResponse(denied.description, denied.status, headers)
        except FetchFailed:
            text = "The authorization server's keys cannot be had now."
            return PlainTextResponse(text, 503, {"Retry-After": "1"})
        app = App(server, replies="auto", max_body=MAX_BODY, origins=())
        app.transcript = self.transcript
        return app

    async def _let_in(self, request: Request) -> str:
        """The verified token of a request that may be made.

        Raises: Denied, FetchFailed.
        """
        needed = needed_scope(request.headers)
        token = bearer_token(request.headers, request.scope["query_string"], needed)
        require(await authenticated(token, self._verifier, needed), needed)
        return token


def needed_scope(headers: Headers) -> str:
    """The scope that a request needs, by the headers that mirror its body.

    A header that does not say what the body says gets nobody further: the endpoint compares the
    two before anything runs.
    """
    try:
        if decoded("Mcp-Method", headers) == "tools/call":
            return NEEDS.get(decoded("Mcp-Name", headers), READ)
    except Rejection:  # the endpoint will say what is wrong with them
        pass
    return READ


def _at_home(scope: Scope) -> Scope:
    """The request as a server behind this gate sees it: from its own machine."""
    dropped = (b"host", b"origin", b"authorization")
    headers = [(name, value) for name, value in scope["headers"] if name not in dropped]
    return {**scope, "headers": [(b"host", b"localhost"), *headers]}
