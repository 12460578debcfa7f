"""A server on the official SDK, with one of everything that our client has to understand.

python official_server.py stdio
python official_server.py http          prints its URL first
"""

from __future__ import annotations

import asyncio
import socket
import sys
from typing import Annotated, Any

import uvicorn
from mcp.server.mcpserver import Context, Elicit, Image, MCPServer, Resolve
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BaseModel, Field

server = MCPServer("official", version="1.2.3", instructions="A peer.")


class Sum(BaseModel):
    total: int


class Name(BaseModel):
    name: str


@server.tool()
def add(a: int, b: int) -> Sum:
    """Adds two numbers."""
    return Sum(total=a + b)


@server.tool()
def fail(why: str) -> str:
    """Fails as a tool."""
    raise ToolError(why)


@server.tool()
async def count(to: int, ctx: Context) -> str:
    """Reports progress."""
    for number in range(1, to + 1):
        await ctx.report_progress(number, to, f"step {number}")
    return "counted"


@server.tool()
def route(region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})]) -> str:
    """Wants its argument in a header, too."""
    return f"routed to {region}"


@server.tool()
def picture() -> Image:
    """Gives a picture."""
    return Image(data=b"\x89PNG", format="png")


async def ask_name() -> Elicit[Name]:
    return Elicit("Your name?", Name)


@server.tool()
async def greet(who: Annotated[Name, Resolve(ask_name)]) -> str:
    """Asks for a name first."""
    return f"hello {who.name}"


@server.tool()
async def wait() -> str:
    """Never ends by itself."""
    await asyncio.Event().wait()
    return "never"


@server.tool()
async def change(ctx: Context) -> str:
    """Says that the list of tools changed."""
    await ctx.notify_tools_changed()
    return "told"


@server.resource("test://text")
def text() -> str:
    """A text."""
    return "some text"


@server.resource("test://item/{id}")
def item(id: str) -> str:
    """One of many."""
    return f"item {id}"


@server.prompt()
def review(code: str) -> str:
    """A review."""
    return f"Review {code}."


async def over_http() -> None:
    """Serve on a free port of 127.0.0.1."""
    listener = socket.create_server(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
    app: Any = server.streamable_http_app()
    await uvicorn.Server(uvicorn.Config(app, log_level="warning")).serve(sockets=[listener])


if __name__ == "__main__":
    if sys.argv[1] == "stdio":
        server.run("stdio")
    else:
        asyncio.run(over_http())
