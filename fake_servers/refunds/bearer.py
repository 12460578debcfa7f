"""Who asks, by the bearer token of an HTTP request, and what is said when it will not do.

RFC 6750 and RFC 9728 section 5.1; specification: basic/authorization, "Error Handling".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from fake_servers.refunds.keys import Verifier
from fake_servers.refunds.tokens import Claims, TokenRefused

if TYPE_CHECKING:
    from starlette.datastructures import Headers

READ = "orders:read"
DRAFT = "refunds:draft"
IMPLIES: Mapping[str, frozenset[str]] = {DRAFT: frozenset({READ})}
"""A broader scope and the narrower ones that come with it."""

TOKEN = re.compile(r"[A-Za-z0-9\-._~+/]+=*")  # token68, RFC 7235


class Denied(Exception):
    """The request is not let in. ``error`` is RFC 6750's code, "" where no token came at all."""

    def __init__(self, status: int, error: str, description: str, scope: str = "") -> None:
        super().__init__(status, error, description)
        self.status = status
        self.error = error
        self.description = description
        self.scope = scope

    def challenge(self, resource_metadata: str = "") -> str:
        """The WWW-Authenticate header."""
        parameters = {
            "resource_metadata": resource_metadata,
            "error": self.error,
            "error_description": self.description if self.error else "",
            "scope": self.scope,
        }
        given = (f'{name}="{value}"' for name, value in parameters.items() if value)
        return f"Bearer {', '.join(given)}".rstrip()


def allows(granted: Iterable[str], needed: str) -> bool:
    """True when the granted scopes, and what they imply, hold ``needed``."""
    return any(needed == scope or needed in IMPLIES.get(scope, ()) for scope in granted)


def bearer_token(headers: Headers, query: bytes, scope: str) -> str:
    """The token of a request.

    Raises: Denied 401 when there is none, 400 when it is not where it belongs.
    """
    if any(name == "access_token" for name, _ in parse_qsl(query.decode("latin-1"))):
        raise Denied(400, "invalid_request", "A token does not belong in a query.")
    sent = headers.getlist("authorization")
    if not sent:
        raise Denied(401, "", "There is no bearer token.", scope)
    kind, _, token = sent[0].partition(" ")
    if len(sent) > 1 or kind.lower() != "bearer" or not TOKEN.fullmatch(token.strip()):
        raise Denied(401, "invalid_token", "The Authorization header holds no token.", scope)
    return token.strip()


async def authenticated(token: str, verifier: Verifier, scope: str) -> Claims:
    """What a valid token says.

    Raises: Denied 401, and what the verifier's ``fetch`` raises.
    """
    try:
        return await verifier.verify(token)
    except TokenRefused as refused:
        text = f"The token is refused: {refused.reason}."
        raise Denied(401, "invalid_token", text, scope) from refused


def require(claims: Claims, scope: str) -> None:
    """Let pass who holds ``scope``.

    Raises: Denied 403 naming it.
    """
    if not allows(claims.scope, scope):
        raise Denied(403, "insufficient_scope", f"This needs the scope {scope}.", scope)
