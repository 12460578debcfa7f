"""The authorization server: it knows the users, asks for their consent, and signs tokens.

A seeded user is signed in and consents at once, so a flow needs no browser. Everything else is as
the revision asks (basic/authorization): discovery of both kinds, PKCE with S256, ``iss`` in every
answer, resource indicators, rotation of refresh tokens, token exchange for the services.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from fake_servers.refunds.authorize import Consent, read_request, redirect, redirect_uri_of
from fake_servers.refunds.clients import Clients
from fake_servers.refunds.connection import bounded_body, hung_up
from fake_servers.refunds.documents import OAUTH, OPENID, authorization_metadata
from fake_servers.refunds.grants import Grant, Grants
from fake_servers.refunds.issuing import Issuer
from fake_servers.refunds.oauth import OAuthError, read_form, wanted
from fake_servers.refunds.registration import Client
from fake_servers.wire import Message

MAX_BODY = 64 * 1024  # bytes
NO_STORE = {"Cache-Control": "no-store"}


class AuthorizationServer:
    """The server at ``issuer.name``. ``metadata`` changes what it says of itself; None removes.

    ``signed_in`` is the user at the browser, ``consents`` what they were asked; ``withheld``
    scopes are left out of what they grant, and ``consenting`` may say no.
    """

    def __init__(
        self,
        issuer: Issuer,
        clients: Clients,
        grants: Grants,
        *,
        signed_in: str,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        self.issuer = issuer
        self.signed_in = signed_in
        self.withheld: set[str] = set()
        self.consenting: Callable[[Consent], bool] = lambda consent: True
        self.consents: list[Consent] = []
        changed = {**authorization_metadata(issuer.name), **(metadata or {})}
        self.metadata = {name: value for name, value in changed.items() if value is not None}
        self._clients = clients
        self._grants = grants

    def app(self) -> Starlette:
        """The server as an ASGI application."""
        posts = {"/token": self.token, "/register": self.register, "/revoke": self.revoke}
        documents = {OAUTH: self.metadata, OPENID: self.metadata, "/jwks": self.issuer.keys()}
        return Starlette(
            routes=[
                *(Route(path, _serves(document)) for path, document in documents.items()),
                *(Route(path, endpoint, methods=["POST"]) for path, endpoint in posts.items()),
                Route("/authorize", self.authorize),
            ],
            exception_handlers={OAuthError: _refused, ClientDisconnect: hung_up},
        )

    # -- the user's browser comes here ------------------------------------------------------------

    async def authorize(self, request: Request) -> Response:
        """GET /authorize: the user consents, and the browser carries a code back to the client."""
        try:
            form = read_form(request.scope["query_string"])
            client = await self._clients.find(wanted(form, "client_id"))
            uri = redirect_uri_of(form, client)
        except OAuthError as error:  # never redirected: to where, is what is not known
            return PlainTextResponse(f"{error.error}: {error.description}", 400)
        try:
            answer = {"code": self._code(form, client, uri)}
        except OAuthError as error:
            answer = error.to_json()
        location = redirect(uri, self.issuer.name, form, **answer)
        return RedirectResponse(location, 302, NO_STORE)

    def _code(self, form: dict[str, str], client: Client, uri: str) -> str:
        scope, resource, challenge = read_request(form, self.issuer.resources, self.issuer.scopes)
        consent = Consent(client, self.signed_in, scope - self.withheld, resource, uri)
        self.consents.append(consent)
        if (
            not consent.scope - {"offline_access"}
            or not self.signed_in
            or not self.consenting(consent)
        ):
            raise OAuthError("access_denied", "the user did not consent")
        grant = Grant(client.client_id, consent.subject, consent.scope, resource)
        return self._grants.new_code(grant, uri, challenge)

    # -- clients come here ------------------------------------------------------------------------

    async def token(self, request: Request) -> Response:
        """POST /token: the three grants."""
        form = read_form(await _body(request))
        client = await self._clients.authenticated(form, request.headers.get("authorization"))
        match wanted(form, "grant_type"):
            case "authorization_code":
                grant = self._grants.redeem(form, client)
                answer = self._tokens(grant, grant.scope, client)
            case "refresh_token":
                answer = self._tokens(*self._grants.refresh(form, client), client)
            case "urn:ietf:params:oauth:grant-type:token-exchange":
                answer = self.issuer.exchange(form, client)
            case _:
                raise OAuthError("unsupported_grant_type", "no such grant_type here")
        return JSONResponse(answer, headers=NO_STORE)

    def _tokens(self, grant: Grant, scope: frozenset[str], client: Client) -> Message:
        answer = self.issuer.access_token(grant.subject, scope, grant.resource, client.client_id)
        if "refresh_token" in client.grant_types:
            answer["refresh_token"] = self._grants.new_refresh_token(grant)
        return answer

    async def register(self, request: Request) -> Response:
        """POST /register (RFC 7591)."""
        try:
            asked = json.loads(await _body(request))
        except (ValueError, RecursionError) as cause:
            raise OAuthError("invalid_client_metadata", "the body is no JSON") from cause
        client = self._clients.register(asked)
        secret = {"client_secret": client.secret, "client_secret_expires_at": 0}
        answer = {
            "client_id": client.client_id,
            "client_id_issued_at": int(self.issuer.clock()),
            "client_name": client.name,
            "redirect_uris": list(client.redirect_uris),
            "grant_types": list(client.grant_types),
            "response_types": ["code"],
            "token_endpoint_auth_method": client.method,
            "application_type": asked.get("application_type", "web"),
            **(secret if client.secret else {}),
        }
        return JSONResponse(answer, 201, NO_STORE)

    async def revoke(self, request: Request) -> Response:
        """POST /revoke (RFC 7009): refresh tokens. An access token is short-lived instead."""
        form = read_form(await _body(request))
        client = await self._clients.authenticated(form, request.headers.get("authorization"))
        self._grants.revoke(wanted(form, "token"), client)
        return Response(status_code=200)


def _serves(document: Message) -> Callable[[Request], Any]:
    async def endpoint(request: Request) -> Response:
        return JSONResponse(document)

    return endpoint


async def _body(request: Request) -> bytes:
    raw = await bounded_body(request, MAX_BODY)
    if raw is None:
        raise OAuthError("invalid_request", f"more than {MAX_BODY} bytes", 413)
    return raw


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, OAuthError)
    own = {"WWW-Authenticate": 'Basic realm="token"'} if error.status == 401 else {}
    return JSONResponse(error.to_json(), error.status, {**NO_STORE, **own})
