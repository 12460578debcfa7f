"""The clients that are measured, each with its defaults: a text goes in and comes back.

A client is opened on ``carrier``: "stdio", or the address of the echo server over HTTP. Imports
stand inside, so that a process loads only what its own client loads.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, TypeAlias

Call: TypeAlias = Callable[[str], Awaitable[str]]

ECHO = [sys.executable, str(Path(__file__).with_name("echo.py"))]
IMPORTS = {
    "ours": "from mini_agent.mcp import McpClient, StdioTransport, HttpTransport",
    "sdk": "from mcp import Client, StdioServerParameters, stdio_client",
    "fastmcp": "from fastmcp import Client",
}


@contextlib.asynccontextmanager
async def ours(carrier: str, trace: Any = None) -> AsyncIterator[Call]:
    """McpClient."""
    from mini_agent.mcp import HttpTransport, McpClient, StdioTransport

    transport = StdioTransport(ECHO) if carrier == "stdio" else HttpTransport(carrier)
    async with McpClient(transport, trace=trace) as client:
        await client.connect()

        async def call(text: str) -> str:
            found: str = (await client.call("echo", {"text": text})).content[0]["text"]
            return found

        yield call


def traced(carrier: str) -> contextlib.AbstractAsyncContextManager[Call]:
    """McpClient with a trace that somebody looks at."""
    from mini_agent.trace import Trace

    return ours(carrier, Trace())


@contextlib.asynccontextmanager
async def sdk(carrier: str) -> AsyncIterator[Call]:
    """The official SDK's client."""
    from mcp import Client, StdioServerParameters, stdio_client

    server: Any = carrier
    if carrier == "stdio":
        server = stdio_client(StdioServerParameters(command=ECHO[0], args=ECHO[1:]))
    async with Client(server) as client:
        await client.list_tools()

        async def call(text: str) -> str:
            found: str = (await client.call_tool("echo", {"text": text})).content[0].text
            return found

        yield call


@contextlib.asynccontextmanager
async def fastmcp(carrier: str) -> AsyncIterator[Call]:
    """The client of fastmcp."""
    from fastmcp import Client
    from fastmcp.client.transports import StdioTransport

    server: Any = carrier
    if carrier == "stdio":
        server = StdioTransport(ECHO[0], ECHO[1:], env=dict(os.environ))
    async with Client(server) as client:
        await client.list_tools()

        async def call(text: str) -> str:
            found: str = (await client.call_tool("echo", {"text": text})).content[0].text
            return found

        yield call


CLIENTS: dict[str, Callable[[str], contextlib.AbstractAsyncContextManager[Call]]] = {
    "ours": ours,
    "traced": traced,
    "sdk": sdk,
    "fastmcp": fastmcp,
}
