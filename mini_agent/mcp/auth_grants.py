"""How a token is come by: a person says yes, the client asks for itself, or somebody vouches.

Each grant ends in the fields of one token request. Specification: basic/authorization; the
extensions for client credentials and for enterprise-managed authorization; RFC 7523.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import TypeAlias

from mini_agent.mcp.auth_answers import trouble
from mini_agent.mcp.auth_code import authorization_request, code_in
from mini_agent.mcp.auth_metadata import Issuer
from mini_agent.mcp.auth_registration import Registered, checked_redirect_uri
from mini_agent.mcp.credentials import Note
from mini_agent.mcp.misuse import check_type

JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"

OpenBrowser: TypeAlias = Callable[[str], Awaitable[str]]
"""Opens an address for a person; returns the address that they were sent back to, whole."""
Assertion: TypeAlias = Callable[[str, str], Awaitable[str]]
"""issuer, resource → a signed statement, for that issuer, on who asks for that resource."""


@dataclass(frozen=True)
class AuthorizationCode:
    """A person says yes in a browser and is sent back to ``redirect_uri``.

    ``open_browser`` gets the address to open and returns the one they came back to. They have
    ``patience`` seconds.

    Raises: TypeError; ValueError for a redirect_uri that is neither https nor on this machine.
    """

    open_browser: OpenBrowser
    redirect_uri: str = "http://127.0.0.1:8976/callback"
    patience: float = 300.0

    def __post_init__(self) -> None:
        check_type("open_browser", self.open_browser, Callable, "an async function of an address")
        checked_redirect_uri(self.redirect_uri)
        check_patience(self.patience)


@dataclass(frozen=True)
class ClientCredentials:
    """The client asks in its own name: no person, so it has to be registered beforehand."""


@dataclass(frozen=True)
class JwtBearer:
    """Somebody whom the authorization server trusts has signed a statement (RFC 7523, 2.1).

    ``assertion`` has ``patience`` seconds to get it.

    Raises: TypeError, ValueError for an argument that cannot be used.
    """

    assertion: Assertion
    patience: float = 30.0

    def __post_init__(self) -> None:
        wanted = "an async function of issuer and resource"
        check_type("assertion", self.assertion, Callable, wanted)
        check_patience(self.patience)


def check_patience(seconds: float) -> None:
    """Raises: TypeError, ValueError for what is no number of seconds above 0."""
    check_type("patience", seconds, int | float, "a number of seconds")
    if not seconds > 0:
        raise ValueError(f"patience must be above 0 seconds, not {seconds}")


Grant: TypeAlias = AuthorizationCode | ClientCredentials | JwtBearer


async def token_fields(
    grant: Grant,
    issuer: Issuer,
    client: Registered,
    scopes: Sequence[str] | None,
    resource: str,
    note: Note,
) -> dict[str, str]:
    """The fields of the token request that this grant comes to. Each names the resource.

    Raises: AuthorizationError; what the caller's own functions raise.
    """
    scope = {"scope": " ".join(scopes)} if scopes else {}
    match grant:
        case AuthorizationCode():
            url, pending = authorization_request(
                issuer, client, grant.redirect_uri, scopes, resource
            )
            note("authorization", step="a person is asked", where=issuer.issuer)
            code = code_in(await person(grant, url, issuer), pending)
            return {
                "grant_type": "authorization_code",
                "code": code,
                "redirect_uri": grant.redirect_uri,
                "code_verifier": pending.verifier,
                "resource": resource,
            }
        case ClientCredentials():
            return {"grant_type": "client_credentials", "resource": resource, **scope}
        case JwtBearer():
            vouched = await statement(grant, issuer, resource)
            form = {"grant_type": JWT_BEARER, "assertion": vouched, "resource": resource}
            return {**form, **scope}


async def awaited_text(name: str, answer: Awaitable[str]) -> str:
    """What the caller's own function gives, once it has it.

    Raises: TypeError for a function that is not async, or gives no text; what it raises.
    """
    if not inspect.isawaitable(answer):
        raise TypeError(f"{name} must be async: it returned {type(answer).__name__} at once")
    text = await answer
    check_type(f"what {name} returns", text, str, "text")
    return text


def patient(grant: Grant, asking: Callable[[], AbstractContextManager[None]]) -> Grant:
    """``grant``, with every caller's clock stopped (by ``asking``) while its person is asked."""
    if not isinstance(grant, AuthorizationCode):
        return grant
    open_browser = grant.open_browser

    async def asked(url: str) -> str:
        with asking():
            return await awaited_text("open_browser", open_browser(url))

    return replace(grant, open_browser=asked)


async def person(grant: AuthorizationCode, url: str, issuer: Issuer) -> str:
    """The address that a person came back to. Raises: AuthorizationError when nobody came."""
    try:
        async with asyncio.timeout(grant.patience) as waiting:
            return await grant.open_browser(url)
    except TimeoutError as cause:
        if not waiting.expired():
            raise  # the caller's own
        text = f"nobody signed in at {issuer.issuer} within {grant.patience:g} s"
        raise trouble(f"{text}; call again to be asked once more") from cause


async def statement(grant: JwtBearer, issuer: Issuer, resource: str) -> str:
    """The signed statement. Raises: AuthorizationError when it did not come in time."""
    try:
        async with asyncio.timeout(grant.patience) as waiting:
            return await awaited_text("assertion", grant.assertion(issuer.issuer, resource))
    except TimeoutError as cause:
        if not waiting.expired():
            raise  # the caller's own
        text = f"no assertion for {issuer.issuer} came within {grant.patience:g} s"
        raise trouble(f"{text}; look at the assertion= of JwtBearer") from cause
