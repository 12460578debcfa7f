"""The signing of access tokens: who may have one, for whom, where, within which scope, how long.

RFC 9068 for the token; RFC 8693 for the exchange of one for another.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from typing import Any

from fake_servers.refunds.bearer import DRAFT, READ, allows
from fake_servers.refunds.exchange import ACCESS_TOKEN
from fake_servers.refunds.keys import SigningKey, read_keys
from fake_servers.refunds.oauth import OAuthError, canonical, scopes, wanted
from fake_servers.refunds.registration import Client
from fake_servers.refunds.tokens import Claims, Clock, TokenRefused, key_name, verify
from fake_servers.wire import Message

OFFERED = frozenset({READ, DRAFT, "offline_access"})
LIFETIME = 300  # seconds


class Issuer:
    """Signs as ``name``, for the given ``resources``.

    ``exchanges`` says of a client which resource it is, and for which it may exchange the tokens
    that came to it.
    """

    def __init__(
        self,
        name: str,
        resources: Iterable[str],
        clock: Clock,
        *,
        exchanges: Mapping[str, tuple[str, str]] | None = None,
        lifetime: int = LIFETIME,
    ) -> None:
        self.name = name
        self.resources = frozenset(resources)
        self.scopes = OFFERED
        self.clock = clock
        self._exchanges = exchanges or {}
        self._lifetime = lifetime
        self._key = SigningKey("key-1")
        self._numbers = itertools.count(1)

    def keys(self) -> Message:
        """The JWK set that its tokens are checked with."""
        return {"keys": [self._key.public()]}

    def claims(self, subject: str, scope: Iterable[str], audience: str, **more: Any) -> Message:
        """What an access token says. ``more`` are claims, instead of the usual or beside them."""
        now = int(self.clock())
        return {
            "iss": self.name,
            "aud": audience,
            "sub": subject,
            "scope": " ".join(sorted(scope)),
            "client_id": "test",
            "iat": now,
            "exp": now + self._lifetime,
            "jti": f"token-{next(self._numbers)}",
            **more,
        }

    def sign(self, claims: Message) -> str:
        """The access token that says so."""
        return self._key.sign(claims)

    def access_token(
        self, subject: str, scope: frozenset[str], resource: str, client_id: str
    ) -> Message:
        """The answer of the token endpoint to a client that has a grant."""
        allowed = scope - {"offline_access"}
        claims = self.claims(subject, allowed, resource, client_id=client_id)
        return {
            "access_token": self.sign(claims),
            "token_type": "Bearer",
            "expires_in": self._lifetime,
            "scope": " ".join(sorted(scope)),
        }

    def exchange(self, form: dict[str, str], client: Client) -> Message:
        """The answer to a service that holds a user's token and needs one for the next service.

        Only tokens that were issued for that service can be exchanged, only for its one target,
        and what comes back allows no more and lasts no longer.

        Raises: OAuthError unauthorized_client, invalid_request, invalid_target, invalid_scope.
        """
        if client.client_id not in self._exchanges:
            raise OAuthError("unauthorized_client", "this client may exchange no tokens")
        own, target = self._exchanges[client.client_id]
        held = self._subject(form, own)
        if canonical(wanted(form, "resource", "invalid_target")) != target:
            raise OAuthError("invalid_target", "this client may have no token for that resource")
        scope = _narrowed(form, held)
        life = min(self._lifetime, held.expires - int(self.clock()))
        act, end = {"sub": client.client_id}, int(self.clock()) + life
        more = {"client_id": client.client_id, "act": act, "exp": end}
        return {
            "access_token": self.sign(self.claims(held.subject, scope, target, **more)),
            "issued_token_type": ACCESS_TOKEN,
            "token_type": "Bearer",
            "expires_in": life,
            "scope": " ".join(sorted(scope)),
        }

    def _subject(self, form: dict[str, str], audience: str) -> Claims:
        """What the token that is to be exchanged says.

        Raises: OAuthError invalid_request (RFC 8693, section 2.2.2).
        """
        kinds = {form.get("subject_token_type"), form.get("requested_token_type", ACCESS_TOKEN)}
        if kinds != {ACCESS_TOKEN} or "actor_token" in form:
            raise OAuthError("invalid_request", "access tokens alone are exchanged here")
        token = wanted(form, "subject_token")
        try:
            key = read_keys(self.keys())[key_name(token)]
            return verify(token, key, issuer=self.name, audience=audience, now=self.clock())
        except (TokenRefused, KeyError) as cause:
            why = cause.reason if isinstance(cause, TokenRefused) else "its key is not ours"
            raise OAuthError("invalid_request", f"the subject token is refused: {why}") from cause


def _narrowed(form: dict[str, str], held: Claims) -> frozenset[str]:
    if "scope" not in form:
        return held.scope
    asked = scopes(form["scope"], OFFERED)
    if not all(allows(held.scope, scope) for scope in asked):
        raise OAuthError("invalid_scope", "the user's token does not allow that")
    return asked
