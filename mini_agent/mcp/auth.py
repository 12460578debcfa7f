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

from mini_agent.errors import AuthorizationError
from mini_agent.mcp.addresses import Reach, Resolve
from mini_agent.mcp.auth_answers import Denied, trouble
from mini_agent.mcp.auth_challenge import Challenge, parse_challenge
from mini_agent.mcp.auth_dpop import WANTS_NONCE, ProofKey
from mini_agent.mcp.auth_given import check_given
from mini_agent.mcp.auth_grants import (
    AuthorizationCode,
    ClientCredentials,
    Grant,
    JwtBearer,
    patient,
)
from mini_agent.mcp.auth_refusal import check_not_in_vain, more_to_ask
from mini_agent.mcp.auth_registration import PreRegistered, checked_metadata_url, metadata_document
from mini_agent.mcp.auth_signin import Identity, Session, renewed_or_less, sign_in
from mini_agent.mcp.auth_web import Web
from mini_agent.mcp.credentials import Note, Refusal
from mini_agent.mcp.endpoint import Endpoint
from mini_agent.mcp.replies import hidden
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
    and survive the transport. Transports to one server may share one OAuth.

    Raises: TypeError for an argument of a wrong type, by its name; ValueError for a grant without
    a person and without ``client``, or a bad address.
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
        check_given(grant=grant, client=client, name=name, http=http, resolve=resolve, clock=clock)
        self._shared = Shared()  # so that who calls at the same time signs in once
        grant = patient(grant, self._shared.asking)
        self._identity = Identity(grant, client, checked_metadata_url(metadata_url), name)
        self._identity.key = ProofKey(clock) if dpop else None
        self._identity.clock = clock
        self._web = functools.partial(Web, client=http, resolve=resolve)
        self._allow_private = allow_private
        self._clock = clock
        self._home: Endpoint | None = None  # the one server
        self._session: Session | None = None
        self._unsent = False  # nobody has used its token yet
        self._tried: set[frozenset[str]] = set()  # scopes that were asked for and not granted

    @property
    def issuer(self) -> str:
        """Who gave the token, "" while there is none."""
        return self._session.tokens.issuer if self._session is not None else ""

    @property
    def scopes(self) -> tuple[str, ...] | None:
        """What the token is good for, None while nobody said."""
        return self._session.tokens.scopes if self._session is not None else None

    def forget(self) -> None:
        """Drop the tokens and every registration: the next refusal starts from nothing.

        What a sign-in under way comes to is dropped as well.
        """
        self._session = None
        self._tried.clear()
        self._identity = replace(self._identity, registered={})  # by which _run knows

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
            identity = self._identity
            errand = functools.partial(renewed_or_less, identity, session)
            await self._shared.join(lambda: self._run(errand, identity, endpoint, note))
        if method == "POST":
            self._unsent = False
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
        said = hidden(refusal.headers.get("www-authenticate", ""), refusal.sent)
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
        errand, identity = self._sign_in(challenge, refusal), self._identity
        await self._shared.join(lambda: self._run(errand, identity, endpoint, note, wanted))
        return True

    async def close(self) -> None:
        """Stop signing in, unless another transport waits for it. What was given stays."""
        await self._shared.close()

    # -- how --------------------------------------------------------------------------------------

    def _belong_to(self, endpoint: Endpoint) -> None:
        if self._home is not None and self._home.url != endpoint.url:
            text = f"this OAuth signs in at {self._home.shown}; make another for {endpoint.shown}"
            raise ValueError(text)
        self._home = endpoint

    def _authorization(self) -> str:
        """The Authorization header, "" while there is no token.

        One whose time is over goes out as well: the server's clock decides, and its refusal is
        then about a token that it has seen.
        """
        return self._session.tokens.header if self._session is not None else ""

    def _worth_renewing(self, session: Session) -> bool:
        asks_nobody = not isinstance(self._identity.grant, AuthorizationCode)
        over = session.tokens.over(self._clock()) and not self._unsent
        return over and (asks_nobody or bool(session.tokens.refresh))

    def _lacks_only_a_nonce(self, challenge: Challenge, refusal: Refusal) -> bool:
        key, home = self._identity.key, self._home
        if key is None or home is None or challenge.error != WANTS_NONCE:
            return False
        return key.learn(home.url, refusal.headers)

    def _sign_in(self, challenge: Challenge, refusal: Refusal) -> Errand:
        session, identity = self._session, self._identity
        may = refusal.status == 401 and refusal.round == 1
        return lambda web: sign_in(web, identity, challenge, session, renew=may)

    async def _run(
        self,
        errand: Errand,
        identity: Identity,
        home: Endpoint,
        note: Note,
        wanted: frozenset[str] = frozenset(),
    ) -> None:
        try:
            async with self._web(Reach(home, self._allow_private), note) as web:
                session = await errand(web)
        except Denied as error:
            self._keep(identity, wanted)
            raise trouble(error.message) from error
        if identity is self._identity:  # nobody said forget() meanwhile
            self._session, self._unsent = session, True
        if not wanted <= set(session.tokens.scopes or ()):
            self._keep(identity, wanted)

    def _keep(self, identity: Identity, wanted: frozenset[str]) -> None:
        if identity is self._identity:
            self._tried.add(wanted)
