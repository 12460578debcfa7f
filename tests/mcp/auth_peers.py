"""An MCP server that asks who is calling, and an authorization server, behind one MockTransport.

Each test bends one thing of them. ``seen`` has every request, in order, as ``METHOD address``.
"""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

import httpx
from authlib.oauth2.rfc7636 import create_s256_code_challenge

from mini_agent.mcp.auth import AuthorizationCode, OAuth
from mini_agent.mcp.http import HttpTransport
from mini_agent.mcp.messages import build_meta, build_request

URL = "https://mcp.example/mcp"
ISSUER = "https://login.example"
RESOURCE_PLACE = "https://mcp.example/.well-known/oauth-protected-resource/mcp"
ISSUER_PLACE = f"{ISSUER}/.well-known/oauth-authorization-server"
BACK = "http://127.0.0.1:8976/callback"


def ask(number: int = 1, tool: str = "t") -> dict[str, Any]:
    return build_request(number, "tools/call", {"name": tool}, meta=build_meta())


def metadata(issuer: str, /, **changed: Any) -> dict[str, Any]:
    """The metadata of an authorization server; None takes a field out."""
    document = {
        "issuer": issuer,
        "authorization_endpoint": f"{issuer}/authorize",
        "token_endpoint": f"{issuer}/token",
        "registration_endpoint": f"{issuer}/register",
        "response_types_supported": ["code"],
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["none"],
        **changed,
    }
    return {name: value for name, value in document.items() if value is not None}


class Peers:
    """Both servers, and the person. Tokens are called token-1, token-2, …"""

    def __init__(self, **changed: Any) -> None:
        self.seen: list[str] = []
        self.requests: list[httpx.Request] = []
        self.challenge = f'Bearer resource_metadata="{RESOURCE_PLACE}"'
        self.documents: dict[str, Any] = {
            RESOURCE_PLACE: {"resource": URL, "authorization_servers": [ISSUER]},
            ISSUER_PLACE: metadata(ISSUER, **changed),
        }
        self.good: set[str] = set()  # tokens that the MCP server takes
        self.needs: dict[str, str] = {}  # tool → the scope it needs
        self.granted: dict[str, set[str]] = {}  # token → its scopes
        self.asked: list[dict[str, str]] = []  # the parameters of each authorization request
        self.forms: list[dict[str, str]] = []  # of each token request
        self.registrations: list[dict[str, Any]] = []
        self.token_extra: dict[str, Any] = {"expires_in": 3600}
        self.back_extra: dict[str, str] = {}  # in the address that the person comes back to
        self.refuses: dict[str, httpx.Response] = {}  # address → what it answers instead
        self.client = httpx.AsyncClient(transport=httpx.MockTransport(self.handle))

    # -- ours -------------------------------------------------------------------------------------

    def oauth(self, grant: Any = None, **options: Any) -> OAuth:
        grant = AuthorizationCode(self.says_yes, BACK) if grant is None else grant
        return OAuth(grant, http=self.client, **options)

    def transport(self, auth: OAuth | None = None, url: str = URL) -> HttpTransport:
        return HttpTransport(url, client=self.client, auth=auth or self.oauth())

    async def says_yes(self, url: str) -> str:
        """A person who says yes; the code they come back with is for what was asked."""
        parts = urlsplit(url)
        asked = dict(parse_qsl(parts.query))
        self.asked.append(asked)
        self.seen.append(f"PERSON {parts.scheme}://{parts.netloc}{parts.path}")
        issuer = f"{parts.scheme}://{parts.netloc}"
        back = {"code": f"code-{len(self.asked)}", "state": asked["state"], "iss": issuer}
        back |= self.back_extra
        return f"{asked['redirect_uri']}?{urlencode({k: v for k, v in back.items() if v})}"

    # -- theirs -----------------------------------------------------------------------------------

    async def handle(self, request: httpx.Request) -> httpx.Response:
        where = str(request.url.copy_with(query=None))
        self.seen.append(f"{request.method} {where}")
        self.requests.append(request)
        if where in self.refuses:
            return self.refuses[where]
        if request.url.host == "mcp.example" and request.url.path == "/mcp":
            return self.serve(request)
        if where in self.documents:
            return httpx.Response(200, json=self.documents[where])
        if request.url.path == "/register":
            return self.register(request)
        if request.url.path == "/token":
            return self.give(request)
        return httpx.Response(404)

    def serve(self, request: httpx.Request) -> httpx.Response:
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        if token not in self.good:
            headers = {"WWW-Authenticate": self.challenge} if self.challenge else {}
            return httpx.Response(401, headers=headers)
        message = json.loads(request.content)
        need = self.needs.get(message["params"].get("name", ""), "")
        if need and need not in self.granted[token]:
            said = f'Bearer error="insufficient_scope", scope="{need}"'
            return httpx.Response(403, headers={"WWW-Authenticate": said})
        told = token.removeprefix("token-")  # which token it was, and not the token
        result = {"resultType": "complete", "content": [{"type": "text", "text": told}]}
        answer = {"jsonrpc": "2.0", "id": message.get("id"), "result": result}
        return httpx.Response(200, json=answer)

    def register(self, request: httpx.Request) -> httpx.Response:
        self.registrations.append(json.loads(request.content))
        return httpx.Response(201, json={"client_id": f"client-{len(self.registrations)}"})

    def give(self, request: httpx.Request) -> httpx.Response:
        form = {name: values[0] for name, values in parse_qs(request.content.decode()).items()}
        self.forms.append(form)
        if form["grant_type"] == "authorization_code":
            number = int(form["code"].removeprefix("code-"))
            asked = self.asked[number - 1]
            assert create_s256_code_challenge(form["code_verifier"]) == asked["code_challenge"]
            scopes = asked.get("scope", "")
        else:
            scopes = form.get("scope", "")
        token = f"token-{len(self.forms)}"
        self.good.add(token)
        self.granted[token] = set(scopes.split())
        given = {"access_token": token, "token_type": "Bearer", **self.token_extra}
        return httpx.Response(200, json={k: v for k, v in given.items() if v is not None})
