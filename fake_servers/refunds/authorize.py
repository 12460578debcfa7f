"""A request for authorization, read: pure functions, a value or one of two ways to say no.

OAuth 2.1, section 4.1.1; RFC 7636; RFC 8707; RFC 9207.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlencode

from fake_servers.refunds.bearer import READ
from fake_servers.refunds.oauth import OAuthError, canonical, scopes, wanted
from fake_servers.refunds.registration import Client

CHALLENGE = re.compile(r"[A-Za-z0-9\-_]{43}")  # a SHA-256 in base64url


@dataclass(frozen=True)
class Consent:
    """What the user is asked: may ``client`` do this there? ``redirect_uri`` gets the answer."""

    client: Client
    subject: str
    scope: frozenset[str]
    resource: str
    redirect_uri: str


def redirect_uri_of(form: dict[str, str], client: Client) -> str:
    """Where the answer goes. Until this is known to be right, nothing is redirected anywhere.

    Raises: OAuthError, to be shown to the user.
    """
    uri = form.get("redirect_uri", "")
    if not uri and len(client.redirect_uris) == 1:
        return client.redirect_uris[0]
    if not client.redirects_to(uri):
        raise OAuthError("invalid_request", "redirect_uri is not one of this client's")
    return uri


def read_request(
    form: dict[str, str], resources: frozenset[str], offered: frozenset[str]
) -> tuple[frozenset[str], str, str]:
    """Scope, resource and code challenge of a request.

    Raises: OAuthError, to be sent back to the client by redirect.
    """
    if form.get("response_type") != "code":
        raise OAuthError("unsupported_response_type", "response_type is code")
    if form.get("code_challenge_method") != "S256":
        raise OAuthError("invalid_request", "code_challenge_method is S256")
    challenge = wanted(form, "code_challenge")
    if not CHALLENGE.fullmatch(challenge):
        raise OAuthError("invalid_request", "code_challenge is no SHA-256 in base64url")
    resource = canonical(wanted(form, "resource", "invalid_target"))
    if resource not in resources:
        raise OAuthError("invalid_target", "no such resource here")
    return scopes(form.get("scope", READ), offered), resource, challenge


def redirect(uri: str, issuer: str, form: dict[str, str], **answer: str) -> str:
    """The address that the user's browser is sent to: the answer, ``state`` and ``iss``."""
    state = {"state": form["state"]} if "state" in form else {}
    query = urlencode({**answer, **state, "iss": issuer})
    return f"{uri}{'&' if '?' in uri else '?'}{query}"
