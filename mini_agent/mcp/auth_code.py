"""A person says yes: the address they open, what is remembered meanwhile, and what came back.

Pure, but for the randomness of ``authorization_request``. Specification: basic/authorization,
"Authorization Response Validation"; basic/authorization/security-considerations, "Authorization
Code Protection".
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlsplit

from mini_agent.mcp.auth_answers import trouble
from mini_agent.mcp.auth_forms import authorization_url, new_secret, s256
from mini_agent.mcp.auth_metadata import Issuer
from mini_agent.mcp.auth_registration import Registered
from mini_agent.mcp.messages import excerpt

ONCE = ("code", "state", "iss", "error")  # parameters of an answer that may be there once


@dataclass(frozen=True)
class Pending:
    """What one authorization request leaves behind until its answer comes.

    ``issuer`` is recorded before the person leaves, so that the answer can be held against it.
    """

    issuer: str
    names_itself: bool
    redirect_uri: str
    state: str = field(repr=False)
    verifier: str = field(repr=False)


def authorization_request(
    issuer: Issuer,
    client: Registered,
    redirect_uri: str,
    scopes: Sequence[str] | None,
    resource: str,
) -> tuple[str, Pending]:
    """The address to open, and what to remember until the person comes back.

    Raises: AuthorizationError when the server has no such page, or does not support PKCE.
    """
    if not issuer.authorization_endpoint:
        text = f"{issuer.issuer} has no page on which a person could say yes"
        raise trouble(f"{text}; use a grant that needs none")
    if "S256" not in issuer.code_challenge_methods:
        text = f"{issuer.issuer} does not say that it supports PKCE with S256"
        raise trouble(f"{text}, so a code could be stolen on the way: not asked")
    pending = Pending(issuer.issuer, issuer.names_itself, redirect_uri, new_secret(), new_secret())
    more = {"code_challenge": s256(pending.verifier), "code_challenge_method": "S256"}
    if "offline_access" in (scopes or ()):
        more["prompt"] = "consent"  # OpenID Connect Core, 11: without it, the scope is ignored
    url = authorization_url(
        issuer.authorization_endpoint,
        client.client_id,
        redirect_uri,
        scopes,
        pending.state,
        resource=resource,
        **more,
    )
    return url, pending


def code_in(redirected: str, pending: Pending) -> str:
    """The code in the address that the person was sent back to, once all else in it is right.

    First that it answers our request, then who answers, then what.

    Raises: AuthorizationError.
    """
    said = once_each(redirected, pending.issuer)
    state = said.get("state", "").encode("utf-8", "surrogatepass")
    if not secrets.compare_digest(state, pending.state.encode()):
        text = f"what came back from {pending.issuer} has another state: it answers no request of"
        raise trouble(f"{text} ours, and was dropped; sign in again")
    check_issuer(said.get("iss"), pending)
    if "error" in said:
        words = ", ".join(excerpt(said[w]) for w in ("error", "error_description") if said.get(w))
        raise trouble(f"{pending.issuer} did not sign anybody in: {words}", said["error"])
    if not said.get("code"):
        raise trouble(f"what came back from {pending.issuer} holds no code; sign in again")
    return said["code"]


def once_each(redirected: str, issuer: str) -> Mapping[str, str]:
    """The parameters of the address. Raises: AuthorizationError for one that is there twice."""
    try:
        pairs = parse_qsl(urlsplit(redirected).query, keep_blank_values=True)
    except ValueError:  # its text repeats the address, and with it the code
        raise trouble(f"what came back from {issuer} is no address; sign in again") from None
    names = [name for name, _ in pairs]
    for name in ONCE:
        if names.count(name) > 1:
            raise trouble(f"what came back from {issuer} holds {name} more than once: dropped")
    return dict(pairs)


def check_issuer(iss: str | None, pending: Pending) -> None:
    """Who answers must be whom we asked, letter by letter (RFC 9207, 2.4): nothing is normalized.

    An error that comes with another name is not shown either.

    Raises: AuthorizationError.
    """
    if iss is None and pending.names_itself:
        text = f"{pending.issuer} says that it names itself in each answer, and this one has no iss"
        raise trouble(f"{text}: it may come from somebody else, and was dropped")
    if iss is not None and iss != pending.issuer:
        text = f"the answer names {excerpt(iss)} as its issuer, and {pending.issuer} was asked"
        raise trouble(f"{text}: dropped; do not sign in there")
