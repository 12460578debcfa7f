"""Who is a client: known beforehand, by a document that it publishes, or registered on the spot."""

from __future__ import annotations

import base64
import binascii
import hmac
import secrets
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any
from urllib.parse import unquote_plus

from fake_servers.refunds.fetching import FetchFailed
from fake_servers.refunds.oauth import OAuthError
from fake_servers.refunds.registration import (
    Client,
    check_document_url,
    read_document,
    read_registration,
)

Fetch = Callable[[str], Awaitable[Any]]


class Clients:
    """Finds clients. ``fetch`` gets the JSON document at a URL that is a client id."""

    def __init__(self, known: Iterable[Client], fetch: Fetch) -> None:
        self._known = {client.client_id: client for client in known}
        self._fetch = fetch
        self._registered = 0

    async def find(self, client_id: str) -> Client:
        """The client of that id.

        Raises: OAuthError invalid_client.
        """
        if client_id in self._known:
            return self._known[client_id]
        if not client_id.startswith("https://"):
            raise OAuthError("invalid_client", "there is no such client", 401)
        check_document_url(client_id)
        try:
            document = await self._fetch(client_id)
        except FetchFailed as cause:
            text = f"the client's metadata document: {cause.reason}"
            raise OAuthError("invalid_client", text, 401) from cause
        return read_document(client_id, document)

    def register(self, metadata: Any) -> Client:
        """A new client (RFC 7591).

        Raises: OAuthError invalid_redirect_uri, invalid_client_metadata.
        """
        asked = read_registration(metadata)
        self._registered += 1
        secret = "" if asked["method"] == "none" else secrets.token_urlsafe(32)
        client = Client(f"client-{self._registered}", secret=secret, **asked)
        self._known[client.client_id] = client
        return client

    async def authenticated(self, form: Mapping[str, str], authorization: str | None) -> Client:
        """The client that makes a request at the token endpoint.

        Raises: OAuthError invalid_client.
        """
        client_id, secret, method = credentials(form, authorization)
        client = await self.find(client_id)
        right = hmac.compare_digest(client.secret.encode(), secret.encode())
        if client.method != method or not right:
            raise OAuthError("invalid_client", "the client's authentication failed", 401)
        return client


def credentials(form: Mapping[str, str], authorization: str | None) -> tuple[str, str, str]:
    """Client id, secret and method of a request (RFC 6749, section 2.3.1).

    Raises: OAuthError invalid_client, invalid_request for two methods at once.
    """
    if authorization is None:
        method = "client_secret_post" if "client_secret" in form else "none"
        return form.get("client_id", ""), form.get("client_secret", ""), method
    if "client_secret" in form:
        raise OAuthError("invalid_request", "one method of authentication, not two")
    kind, _, encoded = authorization.partition(" ")
    try:
        pair = base64.b64decode(encoded, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError) as cause:
        raise OAuthError("invalid_client", "Authorization holds no pair", 401) from cause
    client_id, colon, secret = pair.partition(":")
    if kind.lower() != "basic" or not colon:
        raise OAuthError("invalid_client", "Authorization is not Basic", 401)
    return unquote_plus(client_id), unquote_plus(secret), "client_secret_basic"
