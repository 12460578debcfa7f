"""The misbehaving server over HTTP, byte by byte, in this process and on loopback."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

from .misbehave import STDIO, chatter, fault_of, messages, refusal, response

STATUSES = (301, 400, 401, 403, 404, 429, 500, 502, 503)
HTTP = {
    name: often
    for name, often in STDIO.items()
    if name not in ("garbage", "half_line", "death", "late")
} | {
    "stream": 3000, "garbage": 100, "html": 100, "empty": 100, "cut_stream": 150, "cut_body": 150,
    "hang_up": 150, "last_reply": 150, "drip": 100, "refused_well": 100,
    **{f"status_{status}": 40 for status in STATUSES},
}  # fmt: skip

HANGS_UP = ("silence", "cut_stream", "cut_body", "hang_up", "last_reply")

JSON = "Content-Type: application/json"
EVENTS = "Content-Type: text/event-stream\r\nTransfer-Encoding: chunked"


def reply(body: bytes, status: int = 200, kind: str = JSON) -> bytes:
    """A whole reply."""
    return f"HTTP/1.1 {status} X\r\n{kind}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


def encode(message: Any) -> bytes:
    """A message as a body."""
    return json.dumps(message).encode()


def chunk(message: Any) -> bytes:
    """A message as an event in a chunk of its own."""
    event = b"data: " + encode(message) + b"\n\n"
    return b"%x\r\n%b\r\n" % (len(event), event)


def stream(*said: Any, end: bytes = b"0\r\n\r\n") -> bytes:
    """Messages as an event stream."""
    head = f"HTTP/1.1 200 OK\r\n{EVENTS}\r\n\r\n".encode()
    return head + b"".join(chunk(message) for message in said) + end


class Server:
    """One listening socket and its connections."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._tasks: set[asyncio.Task[Any]] = set()
        self.port = 0

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[str]:
        """Listen; the address. Afterwards no connection is left."""
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=256)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield f"http://127.0.0.1:{self.port}/mcp"
        finally:
            server.close()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
                while await self._one(reader, writer):
                    await writer.drain()
        finally:
            self._tasks.discard(task)
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Treat one request; False hangs up."""
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = int(head.partition(b"content-length: ")[2].split(b"\r\n")[0])
        request = json.loads(await reader.readexactly(length))
        fault = fault_of(self._seed, request["params"]["arguments"]["nonce"], HTTP)
        if fault == "drip":
            for byte in reply(encode(response(request))):
                writer.write(bytes([byte]))
                await writer.drain()
            return True
        writer.write(raw_reply(request, fault))
        if fault == "silence":
            await reader.read(1)  # until the client hangs up
        return fault not in HANGS_UP


def raw_reply(request: dict[str, Any], fault: str) -> bytes:
    """What is written, which may be nothing."""
    right, said = encode(response(request)), messages(request, fault)
    if fault.startswith("status_"):
        status = int(fault.removeprefix("status_"))
        return reply(b"<p>no</p>", status, "Content-Type: text/html")
    if len(said) == 1:
        return reply(encode(said[0]))
    raw = {
        "stream": stream(response(request)),
        "duplicate": stream(*said),
        "chatter": stream(*said),
        "silence": stream(*chatter(request), end=b""),
        "garbage": reply(b"Segmentation fault"),
        "html": reply(right, kind="Content-Type: text/html"),
        "empty": reply(b""),
        "cut_stream": stream(*chatter(request), end=b"40\r\ndata: {"),
        "cut_body": reply(right)[:-20],
        "hang_up": b"",
        "last_reply": reply(right, kind=f"{JSON}\r\nConnection: close"),
        "refused_well": reply(encode(refusal(request)), 500),
    }
    return raw[fault]
