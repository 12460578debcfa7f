"""What every endpoint of the authorization server needs: its errors, and how a form is read."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlsplit


class OAuthError(Exception):
    """An error of RFC 6749 and its relatives: ``error`` is the code, ``status`` the HTTP status."""

    def __init__(self, error: str, description: str, status: int = 400) -> None:
        super().__init__(error, description)
        self.error = error
        self.description = description
        self.status = status

    def to_json(self) -> dict[str, str]:
        """The body of an error response."""
        return {"error": self.error, "error_description": self.description}


def read_form(raw: bytes) -> dict[str, str]:
    """The parameters of a query or a form. An empty value counts as none (RFC 6749, section 3.1).

    Raises: OAuthError invalid_request for one that is there twice, invalid_target for a second
    resource, since a token here is for one.
    """
    form: dict[str, str] = {}
    for name, value in parse_qsl(raw.decode("latin-1"), encoding="utf-8", max_num_fields=50):
        if name in form:
            error = "invalid_target" if name == "resource" else "invalid_request"
            raise OAuthError(error, f"{name[:40]} was sent twice")
        form[name] = value
    return form


def wanted(form: dict[str, str], name: str, error: str = "invalid_request") -> str:
    """A parameter that must be there.

    Raises: OAuthError.
    """
    if name not in form:
        raise OAuthError(error, f"{name} is required")
    return form[name]


def canonical(resource: str) -> str:
    """A resource indicator with scheme and host in small letters.

    Raises: OAuthError invalid_target for what is no absolute URI, or has a fragment (RFC 8707).
    """
    try:
        parts = urlsplit(resource)
    except ValueError:
        raise OAuthError("invalid_target", "resource is no URI") from None
    if not parts.scheme or not parts.netloc or "#" in resource:
        raise OAuthError("invalid_target", "resource is an absolute URI without a fragment")
    return parts._replace(scheme=parts.scheme.lower(), netloc=parts.netloc.lower()).geturl()


def scopes(text: str, offered: frozenset[str]) -> frozenset[str]:
    """The scopes in a parameter.

    Raises: OAuthError invalid_scope naming one that is not offered.
    """
    asked = frozenset(text.split())
    unknown = sorted(asked - offered)
    if unknown or not asked:
        raise OAuthError("invalid_scope", f"no such scope: {' '.join(unknown)[:80]}")
    return asked
