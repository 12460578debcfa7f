"""The echo server over HTTP: /json answers with a body, /stream with an event stream.

Connections are kept alive. Prints its port on the first line, and ends with its stdin.
"""

from __future__ import annotations

import asyncio
import re
import sys

from echo import answer

LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
END = b"\r\n\r\n"


def reply(path: bytes, body: bytes) -> bytes:
    """The whole reply to one POST."""
    message = answer(body)
    if not message:
        return b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"
    if path == b"/json":
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
        return head % len(message) + message
    event = b"event: message\ndata: " + message + b"\n\n"
    head = (
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    return head + b"%x\r\n" % len(event) + event + b"\r\n0\r\n\r\n"


class Connection(asyncio.Protocol):
    """One connection: requests in, replies out, one after the other."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client has connected."""
        self._transport: asyncio.Transport = transport  # type: ignore[assignment]
        self._got = bytearray()

    def data_received(self, data: bytes) -> None:
        """Answer each request that is whole."""
        self._got += data
        while (head := self._got.find(END)) >= 0:
            start = head + len(END)
            length = LENGTH.search(self._got, 0, head)
            end = start + (int(length[1]) if length else 0)
            if len(self._got) < end:
                return
            method, path = bytes(self._got[: self._got.index(b" HTTP")]).split(b" ")
            body = bytes(self._got[start:end])
            del self._got[:end]
            self._transport.write(reply(path, body) if method == b"POST" else REFUSED)


REFUSED = b"HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n"


async def main() -> None:
    """Serve until stdin ends."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Connection, "127.0.0.1", 0, backlog=256)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    server.close()


if __name__ == "__main__":
    asyncio.run(main())
