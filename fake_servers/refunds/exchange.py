"""The MCP server's own errand at the authorization server: a token for the next service.

RFC 8693. The user's token says "for the MCP server" and stays here; what comes back says "for the
order service", still in the user's name, and names the MCP server as who acts.
"""

from __future__ import annotations

from dataclasses import dataclass

import httpx

from fake_servers.refunds.categories import Refusal
from fake_servers.refunds.fetching import FetchFailed, fetch_json

GRANT = "urn:ietf:params:oauth:grant-type:token-exchange"
ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token"


@dataclass(frozen=True)
class TokenExchange:
    """Exchanges at ``token_endpoint`` as the client ``client_id``, for tokens of ``resource``."""

    http: httpx.AsyncClient
    token_endpoint: str
    client_id: str
    client_secret: str
    resource: str

    async def exchange(self, token: str, scope: str) -> str:
        """A token of ``resource`` for the user of ``token``, with ``scope`` alone.

        Raises: Refusal ACCESS_DENIED, AUTHORIZATION_UNAVAILABLE.
        """
        form = {
            "grant_type": GRANT,
            "subject_token": token,
            "subject_token_type": ACCESS_TOKEN,
            "requested_token_type": ACCESS_TOKEN,
            "resource": self.resource,
            "scope": scope,
        }
        own = httpx.BasicAuth(self.client_id, self.client_secret)
        try:
            status, said = await fetch_json(
                self.http, "POST", self.token_endpoint, data=form, auth=own
            )
        except FetchFailed as cause:
            raise Refusal("AUTHORIZATION_UNAVAILABLE") from cause
        if status >= 500:
            raise Refusal("AUTHORIZATION_UNAVAILABLE")
        if status != 200 or not isinstance(said, dict) or "access_token" not in said:
            raise Refusal("ACCESS_DENIED")
        return str(said["access_token"])
