"""The documents that tell a client where to go for a token: pure functions.

RFC 9728 for the protected resource; RFC 8414 and OpenID Connect Discovery for the authorization
server. Specification: basic/authorization/authorization-server-discovery.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from fake_servers.refunds.bearer import DRAFT, READ
from fake_servers.refunds.tokens import ALGORITHM
from fake_servers.wire import Message

RESOURCE = "/.well-known/oauth-protected-resource"
OAUTH = "/.well-known/oauth-authorization-server"
OPENID = "/.well-known/openid-configuration"

GRANT_TYPES = (
    "authorization_code",
    "refresh_token",
    "urn:ietf:params:oauth:grant-type:token-exchange",
)
CLIENT_AUTHENTICATION = ("none", "client_secret_basic", "client_secret_post")


def metadata_url(resource: str) -> str:
    """Where the metadata of ``resource`` is: its path comes after the well-known one."""
    parts = urlsplit(resource)
    return f"{parts.scheme}://{parts.netloc}{RESOURCE}{parts.path}"


def resource_metadata(resource: str, issuer: str) -> Message:
    """What the MCP server says of itself. The scopes are those without which nothing works."""
    return {
        "resource": resource,
        "authorization_servers": [issuer],
        "scopes_supported": [READ],
        "bearer_methods_supported": ["header"],
        "resource_name": "Refund desk",
    }


def authorization_metadata(issuer: str) -> Message:
    """What the authorization server says of itself, the same under both well-known names."""
    return {
        "issuer": issuer,
        "authorization_endpoint": f"{issuer}/authorize",
        "token_endpoint": f"{issuer}/token",
        "jwks_uri": f"{issuer}/jwks",
        "registration_endpoint": f"{issuer}/register",
        "revocation_endpoint": f"{issuer}/revoke",
        "scopes_supported": [READ, DRAFT, "offline_access"],
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": list(GRANT_TYPES),
        "token_endpoint_auth_methods_supported": list(CLIENT_AUTHENTICATION),
        "revocation_endpoint_auth_methods_supported": list(CLIENT_AUTHENTICATION),
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": True,
        "client_id_metadata_document_supported": True,
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": [ALGORITHM],
    }
