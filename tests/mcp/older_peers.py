"""What the tests of LegacyTransport share: a server by method, and clients through it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

import pytest

from mini_agent.errors import (
    McpError,
    TransportClosed,
)
from mini_agent.mcp.client import McpClient
from mini_agent.mcp.legacy import LegacyTransport
from mini_agent.mcp.messages import build_meta, build_request, kind
from mini_agent.mcp.transport import NO_ENVELOPE, McpTransport, OneListener

NOW, BEFORE = "2026-07-28", "2025-11-25"
Answer = Callable[[dict[str, Any]], Any]


def result(**values: Any) -> dict[str, Any]:
    return {"result": values}


def refusal(code: int, data: Any = None) -> dict[str, Any]:
    return {"error": {"code": code, "message": "no", "data": data}}


WELCOME = result(
    protocolVersion=BEFORE,
    capabilities={"tools": {}},
    serverInfo={"name": "older", "version": "0.9"},
)
MODERN = result(supportedVersions=[NOW], capabilities={"tools": {}}, resultType="complete")


def ask(number: int = 1, method: str = "tools/call") -> dict[str, Any]:
    params = {"name": "t", "arguments": {}} if method == "tools/call" else {}
    return build_request(number, method, params, meta=build_meta())


class Peer(OneListener):
    """A server by method: a message, an exception, a list to take from, or a coroutine function.

    ``sent`` keeps what came, ``cancelled`` the methods whose send was cancelled.
    """

    def __init__(self, *, http: bool = False, **answers: Any) -> None:
        self.mirrors_envelope = http
        self.answers = answers
        self.sent: list[dict[str, Any]] = []
        self.cancelled: list[str] = []
        self.closed = asyncio.Event()

    async def send(
        self, message: dict[str, Any], *, envelope: Mapping[str, str] = NO_ENVELOPE
    ) -> dict[str, Any] | None:
        if self.closed.is_set():
            raise TransportClosed("closed")
        self.sent.append(message)
        self.note("sent", message=message)
        if kind(message) != "request":
            return None
        found = self.answers.get(message["method"].split("/")[-1], result(content=[]))
        found = found.pop(0) if isinstance(found, list) else found
        try:
            found = await found() if callable(found) else found
        except asyncio.CancelledError:
            self.cancelled.append(message["method"])
            raise
        if isinstance(found, Exception):
            raise found
        return {"jsonrpc": "2.0", "id": message["id"], **found}

    async def silence(self) -> Any:
        await self.closed.wait()
        return TransportClosed("closed")

    async def close(self) -> None:
        self.closed.set()
        for _ in range(3):  # let who waits come back first, as the real ones do
            await asyncio.sleep(0)

    @property
    def methods(self) -> list[str]:
        return [message.get("method", "a response") for message in self.sent]


@contextlib.asynccontextmanager
async def over(inner: McpTransport, **options: Any) -> AsyncIterator[LegacyTransport]:
    transport = LegacyTransport(inner, **options)
    try:
        yield transport
    finally:
        await transport.close()


async def failure(sending: Awaitable[Any]) -> McpError:
    with pytest.raises(McpError) as raised:
        await sending
    return raised.value


HANDSHAKE = ["server/discover", "initialize", "notifications/initialized"]


def command(*options: str) -> list[str]:
    return [sys.executable, "-m", "fake_servers.legacy", *options]


@contextlib.asynccontextmanager
async def client_of(inner: McpTransport, **options: Any) -> AsyncIterator[McpClient]:
    async with McpClient(LegacyTransport(inner, **options), server="older") as client:
        yield client


async def text_of(client: McpClient, tool: str, **arguments: Any) -> str:
    found = await client.call(tool, arguments)
    return str(found.content[0]["text"])


async def seen_by(client: McpClient) -> list[str]:
    messages = json.loads(await text_of(client, "seen"))
    return [message.get("method", "a response") for message in messages]
