"""Signing in, from a refusal to a token: what is asked of whom, in which order.

Specification: basic/authorization, "Authorization Flow Steps". Each step is in a module of its
own; this one is the path through them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from mini_agent.mcp.auth_answers import Answer
from mini_agent.mcp.auth_challenge import Challenge, scopes_to_ask
from mini_agent.mcp.auth_discovery import choose_issuer, find_issuer, find_resource
from mini_agent.mcp.auth_dpop import WANTS_NONCE, ProofKey
from mini_agent.mcp.auth_grants import AuthorizationCode, Grant, token_fields
from mini_agent.mcp.auth_metadata import Issuer
from mini_agent.mcp.auth_registration import (
    PreRegistered,
    Registered,
    known_as,
    register,
    way_to_register,
)
from mini_agent.mcp.auth_tokens import Tokens, ask_for_tokens, renewal, secrets_of, tokens_in
from mini_agent.mcp.auth_web import Web


@dataclass(frozen=True)
class Session:
    """Signed in: where, as which client, and with what. ``asked``: the scopes asked for so far.

    ``renewed`` is True for tokens that came of a refresh token.
    """

    issuer: Issuer
    client: Registered
    tokens: Tokens
    asked: tuple[str, ...] | None = None
    renewed: bool = False


@dataclass
class Identity:
    """Who this client is, wherever it signs in. ``registered``: by issuer, what it is known by.

    ``key`` binds its tokens, where there is one. ``clock``, in seconds, dates them as they come.
    """

    grant: Grant
    client: PreRegistered | None = None
    metadata_url: str = ""
    name: str = "mini-agent"
    registered: dict[str, Registered] = field(default_factory=dict)
    key: ProofKey | None = None
    clock: Callable[[], float] = time.time

    @property
    def kind(self) -> str:
        """The kind of its tokens."""
        return "Bearer" if self.key is None else "DPoP"

    @property
    def configured(self) -> str:
        """The issuer that was known beforehand, "" for none."""
        return self.client.issuer if self.client is not None else ""

    async def at(
        self,
        web: Web,
        issuer: Issuer,
        scopes: Sequence[str] | None,
        more: Sequence[str] | None,
    ) -> Registered:
        """Who it is to ``issuer``. What one issuer gave is never shown to another.

        Raises: AuthorizationError, ConnectFailed.
        """
        way = way_to_register(issuer, self.client, self.metadata_url)
        if self.client is not None:
            return known_as(self.client, issuer)
        if way == "metadata document":
            return Registered(self.metadata_url, issuer.issuer)
        known = self.registered.get(issuer.issuer)
        if known is None or not known.may_ask(scopes):
            to = self.grant.redirect_uri if isinstance(self.grant, AuthorizationCode) else ""
            known = await register(web, issuer, self.name, to, scopes, more)
            self.registered[issuer.issuer] = known
        return known


async def sign_in(
    web: Web,
    identity: Identity,
    challenge: Challenge,
    session: Session | None,
    *,
    renew: bool = False,
) -> Session:
    """A session with the server that ``web`` is for, after it refused with ``challenge``.

    With ``renew``, tokens that can be renewed are, and nobody is asked.

    Raises: AuthorizationError, ConnectFailed; what the caller's own functions raise.
    """
    resource = await find_resource(web, web.reach.home.url, challenge, identity.configured)
    servers = resource.authorization_servers
    issuer = await find_issuer(web, choose_issuer(servers, identity.configured))
    if session is not None and session.issuer.issuer != issuer.issuer:
        session = None  # another authorization server: nothing that the old one gave goes there
    if renew and session is not None:
        fresh = await renewed(web, identity, session)
        if fresh is not None:
            return fresh
    scopes = scopes_to_ask(
        challenge.scopes,
        resource.scopes_supported,
        issuer=issuer.scopes_supported,
        before=session.asked if session is not None else None,
    )
    client = await identity.at(web, issuer, scopes, resource.scopes_supported)
    return await granted(web, identity, issuer, client, scopes, resource.resource)


async def granted(
    web: Web,
    identity: Identity,
    issuer: Issuer,
    client: Registered,
    scopes: tuple[str, ...] | None,
    resource: str,
) -> Session:
    """A session by the grant of ``identity``.

    Raises: AuthorizationError, ConnectFailed; what the caller's own functions raise.
    """
    fields = await token_fields(identity.grant, issuer, client, scopes, resource, web.note)
    answer = await token_answer(web, identity, issuer, client, fields)
    now, hidden = identity.clock(), secrets_of(client, fields)
    tokens = tokens_in(
        answer, issuer, resource, now, asked=scopes, secrets=hidden, kind=identity.kind
    )
    return noted(web, Session(issuer, client, tokens, scopes))


async def renewed(web: Web, identity: Identity, session: Session) -> Session | None:
    """``session`` with fresh tokens and nobody asked; None where that cannot be.

    Raises: AuthorizationError, ConnectFailed.
    """
    issuer, client, old = session.issuer, session.client, session.tokens
    if old.refresh:
        fields = renewal(old)
        answer = await token_answer(web, identity, issuer, client, fields)
        if answer.status not in (400, 401):  # these: it is over, or was taken back
            now, hidden = identity.clock(), secrets_of(client, fields)
            tokens = tokens_in(
                answer, issuer, old.resource, now, before=old, secrets=hidden, kind=identity.kind
            )
            return noted(web, Session(issuer, client, tokens, session.asked, renewed=True))
    if isinstance(identity.grant, AuthorizationCode):
        return None
    return await granted(web, identity, issuer, client, session.asked, old.resource)


async def renewed_or_less(identity: Identity, session: Session, web: Web) -> Session:
    """``session`` with fresh tokens; where that cannot be, without what did not renew them.

    Raises: AuthorizationError, ConnectFailed.
    """
    found = await renewed(web, identity, session)
    return found or replace(session, tokens=replace(session.tokens, refresh=""))


async def token_answer(
    web: Web, identity: Identity, issuer: Issuer, client: Registered, fields: dict[str, str]
) -> Answer:
    """What the token endpoint answers. A registration that it has forgotten is
    dropped here: the next sign-in makes another.

    Raises: AuthorizationError, ConnectFailed.
    """
    key, where = identity.key, issuer.token_endpoint
    proof = {} if key is None else key.proof("POST", where)
    answer = await ask_for_tokens(web, issuer, client, fields, proof)
    wants_nonce = answer.document.get("error") == WANTS_NONCE
    if key is not None and wants_nonce and key.learn(where, answer.headers):
        answer = await ask_for_tokens(web, issuer, client, fields, key.proof("POST", where))
    if answer.document.get("error") == "invalid_client":
        identity.registered.pop(issuer.issuer, None)
    return answer


def noted(web: Web, session: Session) -> Session:
    """``session`` itself, told to the trace: the issuer and the scopes, no token."""
    scopes = " ".join(session.tokens.scopes or ())
    step = "renewed" if session.renewed else "signed in"
    web.note("authorization", step=step, where=session.issuer.issuer, scopes=scopes)
    return session
