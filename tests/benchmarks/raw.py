"""The limit: the bytes of a call out, the bytes of its answer in, and nothing made of either.

No event loop, no JSON, no ids: ``exchange(text, count)`` sends ``count`` requests at once and
returns when as many answers have come.
"""

from __future__ import annotations

import fcntl
import functools
import json
import os
import select
import socket
import subprocess
from typing import Protocol
from urllib.parse import urlsplit

from clients import ECHO

from mini_agent.mcp.messages import build_meta, build_request, encode

CHUNK = 2**16  # above 128 KiB the C library asks the system for each buffer anew: 12 µs
INFO = {"name": "mini-agent", "version": "0"}


class Raw(Protocol):
    """What both limits offer."""

    def exchange(self, text: str, count: int) -> None:
        """Send ``count`` requests at once, and take their answers."""

    def close(self) -> None:
        """Let go of the server."""


@functools.cache
def request(text: str) -> bytes:
    """The message that our client sends for one call."""
    params = {"name": "echo", "arguments": {"text": text}}
    return encode(build_request(1, "tools/call", params, meta=build_meta(client_info=INFO)))


class RawLines:
    """Lines to and from the echo server's pipes."""

    def __init__(self) -> None:
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(ECHO, stdin=pipe, stdout=pipe, bufsize=0)
        assert self._process.stdin and self._process.stdout
        self._out, self._in = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self._out, False)
        for pipe in (self._out, self._in):
            if hasattr(fcntl, "F_SETPIPE_SZ"):
                fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, 2**18)  # as our client does

    def exchange(self, text: str, count: int) -> None:
        """Write while the pipe takes it, read while there is something."""
        left = memoryview((request(text) + b"\n") * count)
        while count:
            heard, room, _ = select.select([self._in], [self._out] if left else [], [])
            if room:
                left = left[os.write(self._out, left) :]
            if heard:
                count -= os.read(self._in, CHUNK).count(b"\n")

    def close(self) -> None:
        """End the server by closing its stdin."""
        self._process.communicate()


class RawSockets:
    """One socket for each request in flight, kept open."""

    def __init__(self, url: str) -> None:
        self._url = urlsplit(url)
        self._sockets: list[socket.socket] = []
        self._lengths: dict[str, int] = {}

    def exchange(self, text: str, count: int) -> None:
        """Write to each socket, then read from each."""
        while len(self._sockets) < count:
            self._sockets.append(socket.create_connection(("127.0.0.1", self._url.port or 0)))
        data = self._post(request(text))
        length = self._lengths.get(text) or self._first(text, data)
        for each in self._sockets[:count]:
            each.sendall(data)
        for each in self._sockets[:count]:
            left = length
            while left:
                left -= len(each.recv(min(left, CHUNK)))

    def _post(self, body: bytes) -> bytes:
        head = (
            f"POST {self._url.path} HTTP/1.1\r\nHost: {self._url.netloc}\r\n"
            "Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n"
            "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: echo\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        return head.encode() + body

    def _first(self, text: str, data: bytes) -> int:
        """How long every reply to this request is."""
        self._sockets[0].sendall(data)
        got = b""
        while not got.endswith((b"]}}", b"\r\n0\r\n\r\n")):
            got += self._sockets[0].recv(CHUNK)
        assert json.dumps(text).encode() in got
        self._lengths[text] = len(got)
        return len(got)

    def close(self) -> None:
        """Close every socket."""
        for each in self._sockets:
            each.close()
