"""What went over the desk's own network: who asked whom, and in whose name. No token is kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

SENDERS = ("refunds", "orders", "authorization", "browser")
SHOWN = ("iss", "aud", "sub", "scope", "act")


@dataclass
class Exchange:
    """One request and its status, 0 where no answer came.

    ``sender`` and ``to`` are services, or "client" and "browser". ``what`` is the method and name
    of an MCP call, or the grant that was asked for; ``claims`` what the bearer token says,
    verified or not.
    """

    sender: str
    to: str
    method: str
    path: str
    what: str = ""
    claims: Mapping[str, Any] = field(default_factory=dict)
    status: int = 0


class Traffic(list[Exchange]):
    """Every exchange, in the order in which the requests came."""

    def table(self) -> str:
        """One line an exchange."""
        return "\n".join(_line(exchange) for exchange in self)

    def around(self, app: ASGIApp, to: str) -> ASGIApp:
        """``app`` as the service ``to``, with what comes to it noted."""

        async def noted(scope: Scope, receive: Receive, send: Send) -> None:
            exchange = begun(scope, to)
            self.append(exchange)

            async def sending(message: Message) -> None:
                if message["type"] == "http.response.start":
                    exchange.status = message["status"]
                await send(message)

            async def receiving() -> Message:
                message = await receive()
                if exchange.path == "/token" and not exchange.what:
                    exchange.what = _grant(message.get("body", b""))
                return message

            await app(scope, receiving, sending)

        return noted


def begun(scope: Scope, to: str) -> Exchange:
    """The request, as far as its headers tell."""
    headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
    agent = headers.get(b"user-agent", "")
    sender = agent if agent in SENDERS else "client"
    what = f"{headers.get(b'mcp-method', '')} {headers.get(b'mcp-name', '')}".strip()
    claims = _claims(headers.get(b"authorization", ""))
    return Exchange(sender, to, scope["method"], scope["path"], what, claims)


def _claims(authorization: str) -> dict[str, Any]:
    import jwt

    kind, _, token = authorization.partition(" ")
    if kind != "Bearer":
        return {}
    try:
        claims = jwt.decode(token, options={"verify_signature": False})
    except jwt.PyJWTError:
        return {}
    return {name: claims[name] for name in SHOWN if name in claims}


def _grant(body: bytes) -> str:
    (grant,) = parse_qs(body.decode("latin-1")).get("grant_type", [""])[:1]
    return grant.rpartition(":")[2]


def _line(exchange: Exchange) -> str:
    about = f" ({exchange.what})" if exchange.what else ""
    claims = "; ".join(f"{name} {_brief(value)}" for name, value in exchange.claims.items())
    asked = f"{exchange.sender} -> {exchange.to}: {exchange.method} {exchange.path}{about}"
    return f"{asked}: {exchange.status or 'no answer'}" + (f" [{claims}]" if claims else "")


def _brief(value: Any) -> str:
    return str(value["sub"]) if isinstance(value, dict) and "sub" in value else str(value)
