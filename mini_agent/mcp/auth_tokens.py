"""Tokens: asked for, read, renewed. They belong to one issuer and one server, and stay in memory.

Specification: basic/authorization, "Access Token Usage", "Refresh Tokens".
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from mini_agent.mcp.addresses import Unusable
from mini_agent.mcp.auth_answers import Answer, said_no, trouble
from mini_agent.mcp.auth_challenge import scopes_in
from mini_agent.mcp.auth_forms import ASSERTION, client_assertion, token_form, with_client_secret
from mini_agent.mcp.auth_metadata import Issuer
from mini_agent.mcp.auth_registration import Registered
from mini_agent.mcp.auth_web import Web
from mini_agent.mcp.messages import excerpt

EARLY = 10.0  # seconds before its end from which a token counts as over
LONGEST = 10**9  # seconds; numbers beyond it are no times
TOKEN = re.compile(r"[\x21-\x7e]+")  # what a header can carry
SECRET_FIELDS = ("code", "code_verifier", "refresh_token", "assertion")


@dataclass(frozen=True)
class Tokens:
    """What ``issuer`` gave for ``resource``. ``kind``: Bearer, or DPoP for one bound to a key.

    ``scopes`` are those granted, None where nobody named any. ``ends_at`` is in seconds on the
    clock that was used, None where the server did not say.
    """

    access: str = field(repr=False)
    issuer: str
    resource: str
    scopes: tuple[str, ...] | None = None
    refresh: str = field(default="", repr=False)
    ends_at: float | None = None
    kind: str = "Bearer"

    @property
    def header(self) -> str:
        """The value of the Authorization header."""
        return f"{self.kind} {self.access}"

    def over(self, now: float) -> bool:
        """Whether the access token is known to be of no use any more."""
        return self.ends_at is not None and now >= self.ends_at


async def ask_for_tokens(
    web: Web,
    issuer: Issuer,
    client: Registered,
    fields: Mapping[str, str],
    more: Mapping[str, str] | None = None,
) -> Answer:
    """What the token endpoint answers to ``fields``, with the client's proof of who it is.

    ``more`` are headers to add.

    Raises: AuthorizationError, ConnectFailed.
    """
    headers, form = proved(client, fields)
    headers |= more or {}
    try:
        return await web.post(issuer.token_endpoint, "token", form=form, headers=headers)
    except Unusable as why:
        raise trouble(f"cannot ask {issuer.issuer} for a token: {why}") from why


def proved(client: Registered, fields: Mapping[str, str]) -> tuple[dict[str, str], str]:
    """Headers and body of a token request."""
    if client.method == "client_secret_basic":
        fields = {**fields, "client_id": client.client_id}  # no secret, and some servers look here
    if client.method != "private_key_jwt":
        form = token_form(fields)
        return with_client_secret(client.method, client.client_id, client.client_secret, form)
    signed = client_assertion(
        client.client_id, client.private_key, client.algorithm, audience=client.issuer
    )
    own = {"client_assertion_type": ASSERTION, "client_assertion": signed}
    return {}, token_form({**fields, "client_id": client.client_id, **own})


def secrets_of(client: Registered, fields: Mapping[str, str]) -> list[str]:
    """What a token request holds that no text may repeat."""
    return [client.client_secret, *(fields[name] for name in SECRET_FIELDS if name in fields)]


def tokens_in(
    answer: Answer,
    issuer: Issuer,
    resource: str,
    now: float,
    *,
    asked: tuple[str, ...] | None = None,
    before: Tokens | None = None,
    secrets: Sequence[str] = (),
    kind: str = "Bearer",
) -> Tokens:
    """The tokens in an answer. What it leaves out stays as it was ``before``, or as was ``asked``.

    ``secrets`` were in the request: the server's words are shown without them.

    Raises: AuthorizationError for a refusal, and for a token of another ``kind``.
    """
    found = answer.document
    if not answer.good:
        raise trouble(f"{issuer.issuer} gave no token: {said_no(answer, secrets)}; sign in again")
    access, given = found.get("access_token"), found.get("token_type")
    if not isinstance(access, str) or not TOKEN.fullmatch(access):
        raise trouble(f"{issuer.issuer} answered without an access token; ask whoever runs it")
    if not isinstance(given, str) or given.lower() != kind.lower():
        raise trouble(f"{issuer.issuer} gave a token of the kind {excerpt(given)}, not {kind}")
    refresh, scope = found.get("refresh_token"), found.get("scope")
    return Tokens(
        access,
        issuer.issuer,
        resource,
        scopes_in(scope) if isinstance(scope, str) else (before.scopes if before else asked),
        refresh if isinstance(refresh, str) and refresh else (before.refresh if before else ""),
        end_of(found.get("expires_in"), now),
        kind,
    )


def end_of(expires_in: object, now: float) -> float | None:
    """When to stop using a token that lasts ``expires_in`` seconds: a little before that."""
    if isinstance(expires_in, str) and expires_in.isascii() and expires_in.isdecimal():
        expires_in = int(expires_in[:18])
    if isinstance(expires_in, bool) or not isinstance(expires_in, int | float):
        return None
    lasts = min(expires_in, LONGEST)
    return now + max(0.0, lasts - min(EARLY, lasts / 2))


def renewal(tokens: Tokens) -> dict[str, str]:
    """The fields of the request for fresh tokens (RFC 6749, 6), for the same server."""
    return {
        "grant_type": "refresh_token",
        "refresh_token": tokens.refresh,
        "resource": tokens.resource,
    }
