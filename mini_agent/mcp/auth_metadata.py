"""The two documents that lead to an authorization server: where each may be, and what it says.

Pure. Specification: basic/authorization/authorization-server-discovery; RFC 9728; RFC 8414.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from mini_agent.mcp.addresses import Reach, Unusable, checked_address
from mini_agent.mcp.auth_challenge import scopes_in
from mini_agent.mcp.messages import excerpt
from mini_agent.types import JsonObject

RESOURCE = "/.well-known/oauth-protected-resource"
OAUTH = "/.well-known/oauth-authorization-server"
OPENID = "/.well-known/openid-configuration"


@dataclass(frozen=True)
class ProtectedResource:
    """What a server says of itself. ``resource`` is its name towards authorization servers."""

    resource: str
    authorization_servers: tuple[str, ...]
    scopes_supported: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Issuer:
    """An authorization server: its name, its addresses, and what it supports."""

    issuer: str
    token_endpoint: str
    authorization_endpoint: str = ""
    registration_endpoint: str = ""
    scopes_supported: tuple[str, ...] | None = None
    code_challenge_methods: tuple[str, ...] = ()
    token_auth_methods: tuple[str, ...] = ("client_secret_basic",)  # RFC 8414, 2: the default
    takes_metadata_url: bool = False
    names_itself: bool = False  # an ``iss`` in each authorization response


# -- where they are -------------------------------------------------------------------------------


def canonical(url: str) -> str:
    """The name of a server towards authorization servers, as far as its address tells it.

    Scheme and host in small letters, no fragment, no query (it may hold a secret), no last slash.
    """
    parts = urlsplit(url)
    return f"{parts.scheme.lower()}://{parts.netloc.lower()}{parts.path.rstrip('/')}"


def resource_metadata_urls(url: str) -> list[str]:
    """Where the metadata of the server at ``url`` may be: for its path, then at the root.

    For ``https://example.com/public/mcp``, first
    ``https://example.com/.well-known/oauth-protected-resource/public/mcp``, then the same without
    ``/public/mcp``.
    """
    origin, path = _split(url)
    return [f"{origin}{RESOURCE}{path}", f"{origin}{RESOURCE}"] if path else [f"{origin}{RESOURCE}"]


def issuer_metadata_urls(issuer: str) -> list[str]:
    """Where the metadata of an authorization server may be, in the order to try.

    OAuth before OpenID Connect; a path goes behind the well-known part, at last before it.
    """
    origin, path = _split(issuer)
    inserted = [f"{origin}{OAUTH}{path}", f"{origin}{OPENID}{path}"]
    return [*inserted, f"{origin}{path}{OPENID}"] if path else inserted


def _split(url: str) -> tuple[str, str]:
    origin, slash, path = canonical(url).partition("://")[2].partition("/")
    return f"{urlsplit(url).scheme.lower()}://{origin}", (slash + path).rstrip("/")


# -- what they say --------------------------------------------------------------------------------


def parse_resource(document: JsonObject, url: str, place: str) -> ProtectedResource:
    """The metadata of the server at ``url``, as it was found at ``place``.

    Raises: Unusable when it is about another server, or names no authorization server.
    """
    resource = document.get("resource")
    if not isinstance(resource, str) or not covers(resource, url, place):
        raise Unusable(f"it is about {excerpt(resource)}, not about this server")
    servers = _texts(document, "authorization_servers")
    if not servers:
        raise Unusable("it names no authorization server")
    return ProtectedResource(resource, servers, _scopes(document))


def covers(resource: str, url: str, place: str) -> bool:
    """True when what is at ``place`` and names ``resource`` is about the server at ``url``.

    It has to name that server (RFC 9728, 3.3). At the root, where the revision has a client look
    too, it may name the origin, which is whom that place belongs to. Any other part of the path is
    another resource: a token for it would be good at every server below.
    """
    try:
        named, (origin, path) = _split(resource), _split(url)
    except ValueError:
        return False
    return named == (origin, path) or (named == (origin, "") and place == origin + RESOURCE)


def parse_issuer(document: JsonObject, issuer: str, reach: Reach) -> Issuer:
    """The metadata of ``issuer``.

    Raises: Unusable when it is about another one, by exact comparison (RFC 8414, 3.3), or when an
    endpoint is missing or no https address.
    """
    if document.get("issuer") != issuer:
        raise Unusable(f"it is about {excerpt(document.get('issuer'))}, and not about this one")

    def endpoint(name: str, needed: bool = False) -> str:
        value = document.get(name)
        if value is None and not needed:
            return ""
        try:
            checked_address(value if isinstance(value, str) else "", reach)
        except Unusable as why:
            raise Unusable(f"its {name} cannot be used: {why}") from why
        return str(value)

    return Issuer(
        issuer,
        endpoint("token_endpoint", needed=True),
        endpoint("authorization_endpoint"),
        endpoint("registration_endpoint"),
        _scopes(document),
        _texts(document, "code_challenge_methods_supported") or (),
        _texts(document, "token_endpoint_auth_methods_supported") or Issuer.token_auth_methods,
        document.get("client_id_metadata_document_supported") is True,
        document.get("authorization_response_iss_parameter_supported") is True,
    )


def _texts(document: JsonObject, name: str) -> tuple[str, ...] | None:
    value = document.get(name)
    return tuple(v for v in value if isinstance(v, str)) if isinstance(value, list) else None


def _scopes(document: JsonObject) -> tuple[str, ...] | None:
    found = _texts(document, "scopes_supported")
    return None if found is None else scopes_in(" ".join(found))
