"""What a client says of itself, and whether to believe it: pure functions, no look-up.

Specification: basic/authorization/client-registration. RFC 7591; OAuth Client ID Metadata
Document, draft 00; OpenID Connect Dynamic Client Registration 1.0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from fake_servers.refunds.documents import CLIENT_AUTHENTICATION
from fake_servers.refunds.oauth import OAuthError
from fake_servers.wire import Message

LOOPBACK = ("127.0.0.1", "::1", "localhost")
DEFAULT_GRANTS = ("authorization_code",)


@dataclass(frozen=True)
class Client:
    """A client. Without a secret it is public, and proves itself by PKCE alone."""

    client_id: str
    name: str
    redirect_uris: tuple[str, ...] = ()
    grant_types: tuple[str, ...] = DEFAULT_GRANTS
    secret: str = ""
    method: str = "none"

    def redirects_to(self, uri: str) -> bool:
        """True when ``uri`` is one of its own, compared exactly; a loopback port may differ."""
        return any(same_redirect(own, uri) for own in self.redirect_uris)


def same_redirect(registered: str, asked: str) -> bool:
    """Equal, or on this machine and equal but for the port (RFC 8252, section 7.3)."""
    if registered == asked:
        return True
    try:
        own, other = urlsplit(registered), urlsplit(asked)
        local = own.scheme == "http" and own.hostname in LOOPBACK
        bare = [(p.scheme, p.hostname, p.path, p.query, p.fragment) for p in (own, other)]
        return local and "@" not in other.netloc and bare[0] == bare[1] and bool(other.port)
    except ValueError:
        return False


def check_document_url(url: str) -> None:
    """Look at a URL that is used as a client id, before anything is fetched (draft 00, section 3).

    Raises: OAuthError invalid_client.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        raise OAuthError("invalid_client", "the client id is no URL", 401) from None
    dots = {".", ".."} & set(parts.path.split("/"))
    if parts.path in ("", "/") or dots or "#" in url or "@" in parts.netloc:
        raise OAuthError("invalid_client", "the client id is an https URL with a plain path", 401)


def read_document(url: str, document: Any) -> Client:
    """The client that its metadata document describes.

    Raises: OAuthError invalid_client when the document is not about ``url`` or holds a secret.
    """
    if not isinstance(document, dict) or document.get("client_id") != url:
        raise OAuthError("invalid_client", "the document's client_id is not its own URL", 401)
    method = document.get("token_endpoint_auth_method", "none")
    if method != "none" or "client_secret" in document:
        raise OAuthError("invalid_client", "a public document cannot hold a shared secret", 401)
    uris, name = document.get("redirect_uris"), document.get("client_name")
    if not isinstance(name, str) or not _texts(uris) or not uris:
        text = "the document needs client_name and redirect_uris"
        raise OAuthError("invalid_client", text, 401)
    return Client(url, name, tuple(uris), _grants(document, "invalid_client"))


def read_registration(metadata: Any) -> Message:
    """What a registration asks for, as arguments of Client.

    Raises: OAuthError invalid_redirect_uri, invalid_client_metadata.
    """
    if not isinstance(metadata, dict):
        raise OAuthError("invalid_client_metadata", "the body is a JSON object")
    uris = metadata.get("redirect_uris")
    if not _texts(uris) or not uris:
        raise OAuthError("invalid_redirect_uri", "redirect_uris is a list of URIs")
    kind = metadata.get("application_type", "web")
    if kind not in ("native", "web"):
        raise OAuthError("invalid_client_metadata", "application_type is native or web")
    for uri in uris:
        check_redirect(uri, kind == "native")
    method = metadata.get("token_endpoint_auth_method", "client_secret_basic")
    if method not in CLIENT_AUTHENTICATION:
        raise OAuthError("invalid_client_metadata", "no such token_endpoint_auth_method")
    name = str(metadata.get("client_name", ""))[:200]
    grants = _grants(metadata, "invalid_client_metadata")
    return {"name": name, "redirect_uris": tuple(uris), "grant_types": grants, "method": method}


def check_redirect(uri: str, native: bool) -> None:
    """https elsewhere; on this machine http or https, for a native application alone.

    Raises: OAuthError invalid_redirect_uri.
    """
    try:
        parts = urlsplit(uri)
        local = parts.hostname in LOOPBACK
        secure = parts.scheme == "https" or (local and parts.scheme == "http")
        fits = bool(parts.hostname) and secure and "#" not in uri and (native or not local)
    except ValueError:
        fits = False
    if not fits:
        kind = "native" if native else "web"
        text = f"not a redirect URI of a {kind} application: https, or loopback for a native one"
        raise OAuthError("invalid_redirect_uri", text)


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _grants(metadata: Message, error: str) -> tuple[str, ...]:
    grants = metadata.get("grant_types", list(DEFAULT_GRANTS))
    if not _texts(grants):
        raise OAuthError(error, "grant_types is a list of texts")
    return tuple(grant for grant in grants if grant in ("authorization_code", "refresh_token"))
