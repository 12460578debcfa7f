"""A server on the official SDK that asks who is calling, with the SDK's authorization server.

python official_authorization.py          prints its URL first

The SDK checks clients, redirects, scopes, PKCE and expiry; the class below only remembers. Whoever
asks is signed in at once.
"""

from __future__ import annotations

import asyncio
import secrets
import socket
import time
from typing import Any, cast

import uvicorn
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    OAuthAuthorizationServerProvider,
    RefreshToken,
    construct_redirect_uri,
)
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions
from mcp.server.mcpserver import MCPServer
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from pydantic import AnyHttpUrl

READ = "notes:read"


class Remembers(OAuthAuthorizationServerProvider[AuthorizationCode, RefreshToken, AccessToken]):
    """Clients, codes and tokens, each in a table."""

    def __init__(self) -> None:
        self.clients: dict[str, OAuthClientInformationFull] = {}
        self.codes: dict[str, AuthorizationCode] = {}
        self.refresh: dict[str, tuple[RefreshToken, str | None]] = {}
        self.access: dict[str, AccessToken] = {}

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self.clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        self.clients[str(client_info.client_id)] = client_info

    async def authorize(
        self, client: OAuthClientInformationFull, params: AuthorizationParams
    ) -> str:
        code = secrets.token_urlsafe(32)
        self.codes[code] = AuthorizationCode(
            code=code,
            scopes=params.scopes or [READ],
            expires_at=time.time() + 60,
            client_id=str(client.client_id),
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=params.resource,
        )
        return construct_redirect_uri(str(params.redirect_uri), code=code, state=params.state)

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> AuthorizationCode | None:
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        del self.codes[authorization_code.code]
        return self.given(client, authorization_code.scopes, authorization_code.resource)

    async def load_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: str
    ) -> RefreshToken | None:
        return self.refresh.get(refresh_token, (None, None))[0]

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        _, resource = self.refresh.pop(refresh_token.token)
        return self.given(client, scopes, resource)

    async def load_access_token(self, token: str) -> AccessToken | None:
        return self.access.get(token)

    async def revoke_token(self, token: Any) -> None:
        self.access.pop(token.token, None)

    def given(
        self, client: OAuthClientInformationFull, scopes: list[str], resource: str | None
    ) -> OAuthToken:
        """New tokens; those that were out before are worth nothing any more."""
        access, refresh = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        owner = str(client.client_id)
        self.access = {
            access: AccessToken(token=access, client_id=owner, scopes=scopes, resource=resource)
        }
        self.refresh[refresh] = (
            RefreshToken(token=refresh, client_id=owner, scopes=scopes),
            resource,
        )
        return OAuthToken(
            access_token=access, expires_in=60, scope=" ".join(scopes), refresh_token=refresh
        )


def guarded(origin: str) -> MCPServer:
    """The server at ``origin``, which is its own authorization server."""
    settings = AuthSettings(
        issuer_url=cast(Any, origin),  # a text keeps its form: an AnyHttpUrl would end in a slash
        resource_server_url=AnyHttpUrl(f"{origin}/mcp"),
        required_scopes=[READ],
        validate_token_resource=True,
        client_registration_options=ClientRegistrationOptions(enabled=True, valid_scopes=[READ]),
    )
    server = MCPServer("guarded", auth=settings, auth_server_provider=Remembers())

    @server.tool()
    def who() -> str:
        """Says for which scopes and which server the caller's token is."""
        token = get_access_token()
        return f"{token.scopes} {token.resource}" if token else "nobody"

    return server


async def main() -> None:
    """Serve on a free port of 127.0.0.1."""
    listener = socket.create_server(("127.0.0.1", 0))
    origin = f"http://127.0.0.1:{listener.getsockname()[1]}"
    print(f"{origin}/mcp", flush=True)
    app: Any = guarded(origin).streamable_http_app()
    await uvicorn.Server(uvicorn.Config(app, log_level="warning")).serve(sockets=[listener])


if __name__ == "__main__":
    asyncio.run(main())
