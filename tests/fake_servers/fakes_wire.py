"""The three carriers as raw as they come: a request goes in, the messages that answer it come out.

Nothing here is mini_agent's client; requests and headers are written out by hand.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

import httpx

from fake_servers.core import Server
from fake_servers.http import serve
from fake_servers.in_flight import InFlight
from fake_servers.memory import InMemoryTransport
from fake_servers.stdio import read_lines, write_to
from fake_servers.stdio import serve as serve_stdio

Message: TypeAlias = dict[str, Any]
Ask: TypeAlias = Callable[[Message], Awaitable[list[Message]]]

P = "io.modelcontextprotocol/"
CARRIERS = ("memory", "stdio", "http-auto", "http-stream")


def request(
    method: str,
    *,
    id: Any = 1,
    meta: Message | None = None,
    caps: Message | None = None,
    **params: Any,
) -> Message:
    """A right request; ``meta`` is added to ``_meta``, a None in it takes a field away."""
    whole = {
        P + "protocolVersion": "2026-07-28",
        P + "clientCapabilities": caps or {},
        P + "clientInfo": {"name": "test", "version": "0"},
        **(meta or {}),
    }
    params = {**params, "_meta": {k: v for k, v in whole.items() if v is not None}}
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


def call(name: str, arguments: Message | None = None, **more: Any) -> Message:
    return request("tools/call", name=name, arguments=arguments or {}, **more)


def headers_for(message: Any, **more: str) -> dict[str, str]:
    """The headers of the revision, from a body."""
    headers = {
        "accept": "application/json, text/event-stream",
        "content-type": "application/json",
        "mcp-protocol-version": "2026-07-28",
    }
    if isinstance(message, dict) and isinstance(message.get("method"), str):
        headers["mcp-method"] = message["method"]
        params = message.get("params")
        params = params if isinstance(params, dict) else {}
        version = (params.get("_meta") or {}).get(P + "protocolVersion")
        if isinstance(version, str):
            headers["mcp-protocol-version"] = version
        name = params.get("uri" if message["method"] == "resources/read" else "name", "")
        headers["mcp-name"] = name if str(name).isascii() else sentinel(name)
    return {**headers, **more}


def sentinel(text: str) -> str:
    return f"=?base64?{base64.b64encode(text.encode()).decode()}?="


@asynccontextmanager
async def carrier(name: str, server: Server) -> AsyncIterator[Ask]:
    """``ask(request)`` over one of CARRIERS."""
    if name == "memory":
        ask = memory(server)
        yield ask
    elif name == "stdio":
        async with pipes(server) as ask:
            yield ask
    else:
        async with serve(server, replies=name.removeprefix("http-")) as running, client() as http:
            yield lambda message: post(http, running.url, message)


def memory(server: Server) -> Ask:
    async def ask(message: Message) -> list[Message]:
        transport = InMemoryTransport(server)
        heard: list[Message] = []
        transport.listener = heard.append
        response = await transport.send(message)
        return heard if response is None else [*heard, response]

    return ask


@asynccontextmanager
async def pipes(server: Server) -> AsyncIterator[Ask]:
    """The stdio loop on a pair of real pipes, in this process."""
    (to_read, to_write), (from_read, from_write) = os.pipe(), os.pipe()
    running = asyncio.create_task(
        serve_stdio(InFlight(server, write_to(from_write)), read_lines(to_read))
    )
    reader = asyncio.StreamReader(limit=2**26)
    out, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(from_read, "rb", 0)
    )

    async def ask(message: Message) -> list[Message]:
        await asyncio.to_thread(write_to(to_write), json.dumps(message).encode() + b"\n")
        messages = [json.loads(await reader.readline())]
        while "method" in messages[-1]:
            messages.append(json.loads(await reader.readline()))
        return messages

    try:
        yield ask
    finally:
        os.close(to_write)
        await running
        out.close()
        os.close(from_write)
        os.close(to_read)


def client() -> httpx.AsyncClient:
    return httpx.AsyncClient(trust_env=False, verify=False, timeout=10)


async def post(
    http: httpx.AsyncClient, url: str, message: Message, **headers: str
) -> list[Message]:
    """POST a message and read either kind of reply."""
    answer = await http.post(url, json=message, headers=headers_for(message, **headers))
    return read_reply(answer)


def read_reply(answer: httpx.Response) -> list[Message]:
    kind = answer.headers["content-type"].partition(";")[0]
    if kind == "application/json":
        return [answer.json()]
    assert kind == "text/event-stream"
    events = [event for event in answer.text.split("\n\n") if event]
    return [json.loads(event.split("\n")[1].removeprefix("data: ")) for event in events]
