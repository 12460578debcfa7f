"""OAuth 2.1 for HttpTransport: ``HttpTransport(url, auth=OAuth(AuthorizationCode(open_browser)))``.

Guarantee: a token goes to the one server it was issued for, in a header, and is written nowhere;
who calls at the same time signs in once; every failure is an AuthorizationError, or ConnectFailed
where an authorization server cannot be reached. Specification: basic/authorization.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from mini_agent.errors import AuthorizationError, ConnectFailed
from mini_agent.mcp.addresses import Reach, Resolve
from mini_agent.mcp.auth_challenge import Challenge, parse_challenge
from mini_agent.mcp.auth_dpop import WANTS_NONCE, ProofKey
from mini_agent.mcp.auth_grants import AuthorizationCode, ClientCredentials, Grant, JwtBearer
from mini_agent.mcp.auth_refusal import check_not_in_vain, more_to_ask
from mini_agent.mcp.auth_registration import PreRegistered, checked_metadata_url, metadata_document
from mini_agent.mcp.auth_signin import Identity, Session, renewed, sign_in
from mini_agent.mcp.auth_web import Web
from mini_agent.mcp.credentials import Note, Refusal
from mini_agent.mcp.endpoint import Endpoint
from mini_agent.mcp.shared import Shared

if TYPE_CHECKING:
    import httpx

__all__ = [
    "AuthorizationCode",
    "ClientCredentials",
    "JwtBearer",
    "OAuth",
    "PreRegistered",
    "metadata_document",
]

SCHEMES = {"Bearer": ("bearer",), "DPoP": ("dpop", "bearer")}  # of a challenge

Errand: TypeAlias = Callable[[Web], Coroutine[Any, Any, Session]]


class OAuth:
    """Credentials for one server. Nothing is asked of anybody before that server refuses.

    ``grant`` is how a token is come by. Who this client is: ``client``, where it was registered
    beforehand; else ``metadata_url``, the address of its own document, where that is supported;
    else it registers as ``name``. ``http`` is an httpx client for metadata and tokens, yours to
    close; without one, OAuth makes its own. Addresses that a server names must be https, and may
    lead to this machine only when the server is on it, to a private network only with
    ``allow_private``. With ``dpop``, tokens are bound to a key that never leaves this object.
    ``clock`` is in seconds.

    Whoever waits for a person does so without a deadline but the grant's own; a caller that gives
    up leaves the page open, and the next call finds the person signed in. Tokens stay in memory,
    and survive the transport.

    Raises: ValueError for a grant without a person and without ``client``, or a bad address.
    """

    def __init__(
        self,
        grant: Grant,
        *,
        client: PreRegistered | None = None,
        metadata_url: str = "",
        name: str = "mini-agent",
        http: httpx.AsyncClient | None = None,
        allow_private: bool = False,
        dpop: bool = False,
        resolve: Resolve | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if client is None and not isinstance(grant, AuthorizationCode):
            raise ValueError("a grant that asks no person needs client=PreRegistered(…)")
        self._identity = Identity(grant, client, checked_metadata_url(metadata_url), name)
        self._identity.key = ProofKey(clock) if dpop else None
        self._web = functools.partial(Web, client=http, resolve=resolve)
        self._allow_private = allow_private
        self._clock = clock
        self._home: Endpoint | None = None  # the one server
        self._session: Session | None = None
        self._tried: set[frozenset[str]] = set()  # scopes that were asked for once more
        self._shared = Shared()  # so that who calls at the same time signs in once

    @property
    def issuer(self) -> str:
        """Who gave the token, "" while there is none."""
        return self._session.tokens.issuer if self._session is not None else ""

    @property
    def scopes(self) -> tuple[str, ...] | None:
        """What the token is good for, None while nobody said."""
        return self._session.tokens.scopes if self._session is not None else None

    def forget(self) -> None:
        """Drop the tokens and every registration: the next refusal starts from nothing."""
        self._session = None
        self._tried.clear()
        self._identity.registered.clear()

    # -- for the transport ------------------------------------------------------------------------

    async def headers(self, endpoint: Endpoint, method: str, note: Note) -> Mapping[str, str]:
        """The token in its header, renewed where its time is over; {} while there is none.

        Raises: AuthorizationError, ConnectFailed; ValueError for a second server.
        """
        self._belong_to(endpoint)
        session = self._session
        if method == "POST" and self._shared.busy:
            await self._shared.join()
        elif method == "POST" and session is not None and self._worth_renewing(session):
            errand = functools.partial(self._renew, session)
            await self._shared.join(lambda: self._run(errand, endpoint, note))
        authorization, key = self._authorization(), self._identity.key
        if not authorization:
            return {}
        access = authorization.partition(" ")[2]
        proof = {} if key is None else key.proof(method, endpoint.url, access)
        return {"Authorization": authorization, **proof}

    async def settle(self, endpoint: Endpoint, refusal: Refusal, note: Note) -> bool:
        """Sign in, or ask for more scopes, as the refusal says. False where it is about neither.

        Raises: AuthorizationError, ConnectFailed; what the caller's own functions raise.
        """
        said = refusal.headers.get("www-authenticate", "")
        challenge = parse_challenge(said, SCHEMES[self._identity.kind])
        about = {"status": refusal.status, "error": challenge.error}
        note("authorization", step="refused", **about, scopes=" ".join(challenge.scopes or ()))
        try:
            return await self._settled(endpoint, challenge, refusal, note)
        except AuthorizationError as error:
            error.status, error.challenge = refusal.status, said
            raise

    async def _settled(
        self, endpoint: Endpoint, challenge: Challenge, refusal: Refusal, note: Note
    ) -> bool:
        sent = refusal.sent.get("Authorization", "")
        if self._authorization() not in ("", sent):
            return True  # somebody else has got another token meanwhile
        if self._lacks_only_a_nonce(challenge, refusal):
            return True
        if self._shared.busy:
            await self._shared.join()
            return True
        wanted: frozenset[str] = frozenset()
        if refusal.status == 401:
            check_not_in_vain(refusal, self._session)
        elif challenge.error == "insufficient_scope":
            wanted = more_to_ask(challenge, self._session, self._tried)
        else:
            return False
        self._tried |= {wanted}
        errand = self._sign_in(challenge, refusal)
        try:
            await self._shared.join(lambda: self._run(errand, endpoint, note))
        except ConnectFailed:  # nobody was asked
            self._tried.discard(wanted)
            raise
        return True

    async def close(self) -> None:
        """Stop signing in. What was given stays, for the next transport to this server."""
        await self._shared.close()

    # -- how --------------------------------------------------------------------------------------

    def _belong_to(self, endpoint: Endpoint) -> None:
        if self._home is not None and self._home.url != endpoint.url:
            text = f"this OAuth signs in at {self._home.shown}; make another for {endpoint.shown}"
            raise ValueError(text)
        self._home = endpoint

    def _authorization(self) -> str:
        """The Authorization header, "" while there is no token of any use."""
        if self._session is None or self._session.tokens.over(self._clock()):
            return ""
        return self._session.tokens.header

    def _worth_renewing(self, session: Session) -> bool:
        asks_nobody = not isinstance(self._identity.grant, AuthorizationCode)
        return session.tokens.over(self._clock()) and (asks_nobody or bool(session.tokens.refresh))

    def _lacks_only_a_nonce(self, challenge: Challenge, refusal: Refusal) -> bool:
        key, home = self._identity.key, self._home
        if key is None or home is None or challenge.error != WANTS_NONCE:
            return False
        return key.learn(home.url, refusal.headers)

    def _sign_in(self, challenge: Challenge, refusal: Refusal) -> Errand:
        session, identity = self._session, self._identity
        may = refusal.status == 401 and refusal.round == 1
        return lambda web: sign_in(web, identity, challenge, session, self._clock(), renew=may)

    async def _renew(self, session: Session, web: Web) -> Session:
        found = await renewed(web, self._identity, session, self._clock())
        return found or replace(session, tokens=replace(session.tokens, refresh=""))

    async def _run(self, errand: Errand, home: Endpoint, note: Note) -> None:
        async with self._web(Reach(home, self._allow_private), note) as web:
            self._session = await errand(web)
