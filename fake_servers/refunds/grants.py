"""What was granted, and the codes and refresh tokens that stand for it: each good once.

OAuth 2.1, sections 4.1 and 4.3; RFC 7636. The state is this object's: there is one authorization
server, where there may be many of the services.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from fake_servers.refunds.oauth import OAuthError, canonical, scopes, wanted
from fake_servers.refunds.registration import Client
from fake_servers.refunds.tokens import Clock

CODE_SECONDS = 60
REFRESH_SECONDS = 30 * 24 * 3600
Held = TypeVar("Held")
VERIFIER = re.compile(r"[A-Za-z0-9\-._~]{43,128}")


@dataclass(frozen=True)
class Grant:
    """A user's consent: this client may act for them, there, within this scope.

    ``family`` is shared by every token that comes of one consent.
    """

    client_id: str
    subject: str
    scope: frozenset[str]
    resource: str
    family: str = field(default_factory=lambda: secrets.token_urlsafe(16))


@dataclass(frozen=True)
class Code:
    """An authorization code's other half."""

    grant: Grant
    redirect_uri: str
    challenge: str
    expires: float


@dataclass(frozen=True)
class Refresh:
    """A refresh token's other half."""

    grant: Grant
    expires: float


class Grants:
    """Codes and refresh tokens that are out."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._codes: dict[str, Code] = {}
        self._refresh: dict[str, Refresh] = {}
        self._spent: dict[str, str] = {}  # a code or refresh token, and its family
        self._revoked: set[str] = set()  # families

    def new_code(self, grant: Grant, redirect_uri: str, challenge: str) -> str:
        """A code for the redirect; it lasts a minute."""
        code = secrets.token_urlsafe(32)
        self._codes[code] = Code(grant, redirect_uri, challenge, self._clock() + CODE_SECONDS)
        return code

    def redeem(self, form: dict[str, str], client: Client) -> Grant:
        """The grant of a code.

        Raises: OAuthError invalid_grant, invalid_target, invalid_request.
        """
        code = wanted(form, "code")
        held = self._held(self._codes, code)
        self._spend(self._codes, code, held.grant)  # also when the rest is wrong: no guessing
        fits = (
            held.expires > self._clock()
            and held.grant.client_id == client.client_id
            and held.redirect_uri == form.get("redirect_uri", held.redirect_uri)
            and proves(wanted(form, "code_verifier"), held.challenge)
        )
        if not fits:
            raise OAuthError("invalid_grant", "the code is not good, or not for this request")
        return self._for(form, held.grant)

    def new_refresh_token(self, grant: Grant) -> str:
        """A refresh token for a grant. It is replaced whenever it is used."""
        token = secrets.token_urlsafe(32)
        self._refresh[token] = Refresh(grant, self._clock() + REFRESH_SECONDS)
        return token

    def refresh(self, form: dict[str, str], client: Client) -> tuple[Grant, frozenset[str]]:
        """The grant of a refresh token, and the scope that is asked for now.

        Raises: OAuthError invalid_grant, invalid_scope, invalid_target, invalid_request.
        """
        token = wanted(form, "refresh_token")
        held = self._held(self._refresh, token)
        if held.expires <= self._clock() or held.grant.client_id != client.client_id:
            raise OAuthError("invalid_grant", "the refresh token is not good")
        grant = self._for(form, held.grant)
        asked = scopes(form["scope"], grant.scope) if "scope" in form else grant.scope
        self._spend(self._refresh, token, grant)
        return grant, asked

    def revoke(self, token: str, client: Client) -> None:
        """End a refresh token and all that came of its grant (RFC 7009). Unknown ones are fine."""
        held = self._refresh.get(token)
        if held is not None and held.grant.client_id == client.client_id:
            self._revoked.add(held.grant.family)

    def _held(self, held: Mapping[str, Held], token: str) -> Held:
        """What ``token`` stands for. One that was used before is in two hands: its family ends.

        Raises: OAuthError invalid_grant.
        """
        if token in self._spent:
            self._revoked.add(self._spent[token])
        if token not in held:
            raise OAuthError("invalid_grant", "unknown, or used before")
        return held[token]

    def _spend(self, held: dict[str, Held], token: str, grant: Grant) -> None:
        del held[token]
        self._spent[token] = grant.family

    def _for(self, form: dict[str, str], grant: Grant) -> Grant:
        if grant.family in self._revoked:
            raise OAuthError("invalid_grant", "the grant was revoked")
        if canonical(wanted(form, "resource", "invalid_target")) != grant.resource:
            raise OAuthError("invalid_target", "the grant is for another resource")
        return grant


def proves(verifier: str, challenge: str) -> bool:
    """True when the verifier's SHA-256 is the challenge (RFC 7636, section 4.6)."""
    if not VERIFIER.fullmatch(verifier):
        return False
    digest = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=")
    return hmac.compare_digest(digest, challenge.encode())
