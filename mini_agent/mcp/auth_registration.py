"""Who this client is to an authorization server: one of three ways, in the revision's order.

Known there beforehand; by the address of a document about itself; or registered on the spot.
Specification: basic/authorization/client-registration.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

from mini_agent.mcp.addresses import Unusable
from mini_agent.mcp.auth_answers import said_no, trouble
from mini_agent.mcp.auth_challenge import union
from mini_agent.mcp.auth_metadata import Issuer
from mini_agent.mcp.auth_web import Web
from mini_agent.mcp.endpoint import is_loopback
from mini_agent.mcp.misuse import check_type
from mini_agent.types import JsonObject

Way: TypeAlias = Literal["pre-registered", "metadata document", "dynamic"]

WITH_SECRET = ("client_secret_basic", "client_secret_post")
GRANTS = ("authorization_code", "refresh_token")


@dataclass(frozen=True)
class PreRegistered:
    """A client that ``issuer`` knows already. What proves it goes to that issuer and no other.

    ``private_key`` is a PEM key; with it, the client signs instead of sending a secret.

    Raises: TypeError, ValueError for a field that cannot be used.
    """

    client_id: str
    issuer: str
    client_secret: str = field(default="", repr=False)
    private_key: str = field(default="", repr=False)
    algorithm: str = "ES256"

    def __post_init__(self) -> None:
        """Raises: TypeError for what is no text; ValueError for no client_id, or no issuer."""
        for name, value in vars(self).items():
            check_type(name, value, str, "text")
        if not (self.client_id and self.issuer):
            raise ValueError("PreRegistered needs a client_id, and the issuer that gave it")


@dataclass(frozen=True)
class Registered:
    """What one authorization server knows this client by. ``scopes``: None where none were named.

    ``method`` is how it proves itself at the token endpoint.
    """

    client_id: str
    issuer: str
    method: str = "none"
    client_secret: str = field(default="", repr=False)
    private_key: str = field(default="", repr=False)
    algorithm: str = ""
    scopes: tuple[str, ...] | None = None

    def may_ask(self, scopes: Sequence[str] | None) -> bool:
        """Whether these scopes are among those that it was registered with."""
        return self.scopes is None or set(scopes or ()) <= set(self.scopes)


def way_to_register(issuer: Issuer, client: PreRegistered | None, metadata_url: str) -> Way:
    """The first of the three ways that is open.

    Raises: AuthorizationError when none is, or when ``client`` belongs to another issuer.
    """
    if client is not None:
        if client.issuer != issuer.issuer:
            text = f"this client was registered with {client.issuer}, and the server now sends "
            raise trouble(f"{text}its users to {issuer.issuer}; register it there")
        return "pre-registered"
    if metadata_url and issuer.takes_metadata_url:
        return "metadata document"
    if issuer.registration_endpoint:
        return "dynamic"
    text = f"{issuer.issuer} registers no client by itself; register this one there, and pass"
    raise trouble(f"{text} client=PreRegistered(client_id, issuer)")


def secret_method(issuer: Issuer, has_secret: bool) -> str:
    """How a client with a secret, or without, proves itself where nobody said how."""
    fits = (method for method in WITH_SECRET if method in issuer.token_auth_methods)
    return next(fits, "none") if has_secret else "none"


def known_as(client: PreRegistered, issuer: Issuer) -> Registered:
    """``client`` at its issuer."""
    signs = bool(client.private_key)
    return Registered(
        client.client_id,
        client.issuer,
        "private_key_jwt" if signs else secret_method(issuer, bool(client.client_secret)),
        client.client_secret,
        client.private_key,
        client.algorithm,
    )


# -- what a client says of itself -----------------------------------------------------------------


def checked_metadata_url(url: str) -> str:
    """``url`` when it can be a client id.

    Raises: TypeError; ValueError for one that is not https, or bare.
    """
    check_type("metadata_url", url, str, "text")
    parts = urlsplit(url)
    if url and (parts.scheme != "https" or parts.path in ("", "/") or parts.fragment or "@" in url):
        raise ValueError("metadata_url must be https://HOST/PATH, where this client's document is")
    return url


def checked_redirect_uri(uri: str) -> str:
    """``uri`` when a person can be sent there.

    Raises: TypeError; ValueError for one that is neither https nor loopback.
    """
    check_type("redirect_uri", uri, str, "text")
    parts = urlsplit(uri)
    here = parts.scheme == "http" and is_loopback(parts.hostname or "")
    if not (here or (parts.scheme == "https" and parts.hostname)) or parts.fragment:
        raise ValueError("redirect_uri must be https, or http on this machine (127.0.0.1)")
    return uri


def client_metadata(name: str, redirect_uri: str, method: str = "none") -> JsonObject:
    """What a client says of itself when it registers. A loopback address makes it a native one."""
    here = is_loopback(urlsplit(redirect_uri).hostname or "")
    return {
        "client_name": name,
        "redirect_uris": [redirect_uri],
        "grant_types": list(GRANTS),
        "response_types": ["code"],
        "token_endpoint_auth_method": method,
        "application_type": "native" if here else "web",
    }


def metadata_document(url: str, *, name: str, redirect_uri: str) -> JsonObject:
    """The document to put at ``url``, which is then this client's id wherever that is supported."""
    return {"client_id": checked_metadata_url(url), **client_metadata(name, redirect_uri)}


# -- registering ----------------------------------------------------------------------------------


async def register(
    web: Web,
    issuer: Issuer,
    name: str,
    redirect_uri: str,
    scopes: Sequence[str] | None,
    more: Sequence[str] | None = None,
) -> Registered:
    """Register on the spot (RFC 7591), for ``scopes`` and for ``more`` that may be asked later.

    Raises: AuthorizationError, ConnectFailed.
    """
    methods = ("none", *WITH_SECRET)
    method = next((one for one in methods if one in issuer.token_auth_methods), "none")
    document = client_metadata(name, redirect_uri, method)
    wanted = None if scopes is None else union(scopes, more or ())
    if wanted:
        document["scope"] = " ".join(wanted)
    try:
        answer = await web.post(issuer.registration_endpoint, "registration", document=document)
    except Unusable as why:
        raise trouble(f"cannot register with {issuer.issuer}: {why}") from why
    found = answer.document
    if not answer.good or not isinstance(found.get("client_id"), str):
        text = f"{issuer.issuer} does not register {redirect_uri} as {document['application_type']}"
        raise trouble(f"{text} client: {said_no(answer)}; another redirect_uri may do")
    secret = found.get("client_secret")
    return Registered(
        found["client_id"],
        issuer.issuer,
        assigned_method(found, issuer),
        secret if isinstance(secret, str) else "",
        scopes=wanted,
    )


def assigned_method(found: JsonObject, issuer: Issuer) -> str:
    """How the new client proves itself: as the server says, else as both can.

    Raises: AuthorizationError for a way that is not known here.
    """
    secret, said = bool(found.get("client_secret")), found.get("token_endpoint_auth_method")
    if said is None:
        return secret_method(issuer, secret)
    if said == "none" or (said in WITH_SECRET and secret):
        return str(said)
    raise trouble(f"{issuer.issuer} wants this client to prove itself by a way it does not know")
