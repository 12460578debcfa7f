"""Who the client is in each of the suite's auth/* scenarios.

The suite's page says yes at once: the "person" follows one redirect.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import httpx

from mini_agent.mcp.addresses import Reach
from mini_agent.mcp.auth import (
    AuthorizationCode,
    ClientCredentials,
    JwtBearer,
    OAuth,
    PreRegistered,
)
from mini_agent.mcp.auth_challenge import Challenge
from mini_agent.mcp.auth_discovery import find_resource
from mini_agent.mcp.auth_web import Web
from mini_agent.mcp.endpoint import checked_endpoint

OWN_DOCUMENT = "https://conformance-test.local/client-metadata.json"
TOKEN = "urn:ietf:params:oauth:token-type"


async def says_yes(url: str) -> str:
    """Where the page of the suite sends a person who says yes."""
    async with httpx.AsyncClient() as browser:
        return str((await browser.get(url)).headers["location"])


async def issuer_of(url: str) -> str:
    """The authorization server of the server at ``url``, which a deployment would know."""
    async with Web(Reach(checked_endpoint(url)), lambda *_, **__: None) as web:
        return (await find_resource(web, url, Challenge())).authorization_servers[0]


def exchange(context: Mapping[str, str]) -> Any:
    """An employer's identity provider vouches for its user (RFC 8693)."""

    async def vouched(issuer: str, resource: str) -> str:
        form = {
            "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange",
            "requested_token_type": f"{TOKEN}:id-jag",
            "subject_token_type": f"{TOKEN}:id_token",
            "subject_token": context["idp_id_token"],
            "client_id": context["idp_client_id"],
            "audience": issuer,
            "resource": resource,
        }
        async with httpx.AsyncClient() as idp:
            answer = await idp.post(context["idp_token_endpoint"], data=form)
        return str(answer.json()["access_token"])

    return vouched


def told(jwt: str) -> Any:
    """A workload that was given its statement."""

    async def vouched(issuer: str, resource: str) -> str:
        return jwt

    return vouched


async def auth_for(scenario: str, context: Mapping[str, str], url: str) -> OAuth | None:
    """The ``auth`` of the scenario's transport, None where nobody asks who is calling."""
    known = None
    if "client_id" in context:
        secret, key = context.get("client_secret", ""), context.get("private_key_pem", "")
        issuer = context.get("issuer") or await issuer_of(url)
        known = PreRegistered(context["client_id"], issuer, secret, key)
    match scenario.removeprefix("auth/"):
        case str(name) if name == scenario:
            return None
        case "client-credentials-basic" | "client-credentials-jwt":
            return OAuth(ClientCredentials(), client=known)
        case "enterprise-managed-authorization":
            return OAuth(JwtBearer(exchange(context)), client=known)
        case "wif-jwt-bearer":
            return OAuth(JwtBearer(told(context["valid_jwt"])), client=known)
        case "basic-cimd":
            return OAuth(AuthorizationCode(says_yes), metadata_url=OWN_DOCUMENT)
        case "dpop" | "dpop-nonce":
            return OAuth(AuthorizationCode(says_yes), dpop=True)
        case _:
            return OAuth(AuthorizationCode(says_yes), client=known)
