"""Who gives tokens for a server: two documents, read one after the other, each held to its place.

The server's own metadata names its authorization servers; their metadata names their addresses.
Specification: basic/authorization/authorization-server-discovery.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from mini_agent.errors import AuthorizationError
from mini_agent.mcp.addresses import Unusable, checked_address
from mini_agent.mcp.auth_answers import trouble
from mini_agent.mcp.auth_challenge import Challenge
from mini_agent.mcp.auth_metadata import (
    Issuer,
    ProtectedResource,
    canonical,
    issuer_metadata_urls,
    parse_issuer,
    parse_resource,
    resource_metadata_urls,
)
from mini_agent.mcp.auth_web import Web
from mini_agent.mcp.replies import elsewhere
from mini_agent.types import JsonObject

T = TypeVar("T")


async def find_resource(
    web: Web, url: str, challenge: Challenge, configured: str = ""
) -> ProtectedResource:
    """The metadata of the server at ``url``: where the challenge says, else where it should be.

    Without any, ``configured``, an issuer that was known beforehand, is taken at its word.

    Raises: AuthorizationError, ConnectFailed.
    """
    said = challenge.resource_metadata
    places = [said] if said else resource_metadata_urls(url)
    what = "protected resource metadata"
    try:
        return await _first(
            web, places, what, lambda found, place: parse_resource(found, url, place)
        )
    except AuthorizationError:
        if not configured or said:
            raise
        return ProtectedResource(canonical(url), (configured,))


def choose_issuer(servers: Sequence[str], configured: str = "") -> str:
    """The one that credentials were given for, where it is among them; else the first."""
    return configured if configured in servers else servers[0]


async def find_issuer(web: Web, issuer: str) -> Issuer:
    """The metadata of an authorization server.

    Raises: AuthorizationError, ConnectFailed.
    """
    what = "authorization server metadata"
    try:
        checked_address(issuer, web.reach)
    except Unusable as why:
        text = f"the authorization server {elsewhere(issuer)} cannot be used: {why}"
        raise trouble(text) from why
    places = issuer_metadata_urls(issuer)
    return await _first(web, places, what, lambda found, _: parse_issuer(found, issuer, web.reach))


async def _first(
    web: Web, places: Sequence[str], what: str, parse: Callable[[JsonObject, str], T]
) -> T:
    """What ``parse`` makes of the first of ``places`` that holds something it can use."""
    reasons = []
    for place in places:
        try:
            answer = await web.get(place, what)
            if answer.status != 200 or not answer.document:
                raise Unusable(f"status {answer.status}" + (", no JSON object" * answer.good))
            return parse(answer.document, place)
        except Unusable as why:
            reasons.append(f"{elsewhere(place)}: {why}")
    raise trouble(f"no {what} can be used; ask whoever runs the server. {'; '.join(reasons)}")
