"""A faulty calendar over HTTP, on a raw socket: no web server would let it be that bad."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from http import HTTPStatus
from typing import NoReturn

from fake_servers.calendar import calendar_server
from fake_servers.core import Server
from fake_servers.fault_call import Exit, Fault, HttpCall, next_turn
from fake_servers.started import Started, stop_listening
from fake_servers.wire import Message, Rejection, decode, encode


class Cut(BaseException):
    """The connection is dropped here."""


class SocketCall(HttpCall):
    """A call that came as a POST. The first ``line`` or ``write`` begins an event stream."""

    def __init__(
        self, message: Message, calendar: Server, later: asyncio.Event, out: asyncio.StreamWriter
    ) -> None:
        super().__init__(message, calendar, later)
        self._out = out
        self._streaming = False
        self.said = False

    async def line(self, raw: bytes) -> None:
        """Send ``raw`` as the data of one event."""
        await self.write(b"event: message\ndata: " + raw + b"\n\n")

    async def write(self, raw: bytes) -> None:
        """Send bytes as they are, as one chunk of the stream."""
        if not self._streaming:
            self._streaming = self.said = True
            more = {"Content-Type": "text/event-stream", "Transfer-Encoding": "chunked"}
            self._out.write(head(200, more))
        self._out.write(b"%x\r\n%b\r\n" % (len(raw), raw))
        await self._out.drain()

    async def reply(
        self, status: int, headers: Mapping[str, str], body: bytes = b"", missing: int = 0
    ) -> None:
        """Send a whole reply; ``missing`` bytes of the body are announced and never sent."""
        self.said = True
        self._out.write(head(status, {**headers, "Content-Length": str(len(body) + missing)}))
        self._out.write(body)
        await self._out.drain()

    def cut(self) -> NoReturn:
        """Drop the connection."""
        raise Cut

    def end(self) -> None:
        """End the stream as HTTP wants it, if one was begun."""
        if self._streaming:
            self._out.write(b"0\r\n\r\n")


def head(status: int, headers: Mapping[str, str]) -> bytes:
    """A status line and headers. Every reply is its connection's last."""
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}", "Connection: close"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode()


class FaultServer(Started):
    """``async with FaultServer(fault) as bad``: the calendar at ``bad.url``, with the fault.

    ``release()`` lets what waits for a later message go on, as the next request does. ``met`` is
    set when a request has met the fault.
    """

    def __init__(self, fault: Fault, calendar: Server | None = None) -> None:
        self.fault = fault
        self.calendar = calendar or calendar_server()
        self.url = ""
        self.met = asyncio.Event()
        self._later = asyncio.Event()
        self._listener: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()

    async def start(self) -> str:
        """Listen, and return the URL of the endpoint (where nobody listens, for ``refused``)."""
        self._listener = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._listener.sockets[0].getsockname()[1]}/mcp"
        if self.fault.name == "refused":
            await self._stop_listening()
        return self.url

    async def stop(self) -> None:
        """Stop listening and drop every connection. Idempotent."""
        await self._stop_listening()
        open_ = [task for task in self._connections if task is not asyncio.current_task()]
        for task in open_:
            task.cancel()
        if open_:
            await asyncio.wait(open_)

    def release(self) -> None:
        """Let what waits for a later message go on."""
        self._later = next_turn(self._later)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(reader, writer))
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)
        # Not in _serve: a task that is cancelled before its first step runs nothing of it.
        task.add_done_callback(lambda _: writer.close())

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            message = {} if self.fault.at == "start" else await read_message(reader)
            self.release()
            await self._answer(SocketCall(message, self.calendar, self._later, writer), reader)
        except Cut:
            writer.transport.abort()
        except (OSError, EOFError, ValueError, asyncio.LimitOverrunError, Rejection):
            writer.transport.abort()  # the client is gone, or sends no POST of ours

    async def _answer(self, call: SocketCall, reader: asyncio.StreamReader) -> None:
        if call.message and not self.fault.hits(call.message):
            await self._answer_well(call)
            return
        self.met.set()
        try:
            await self.fault.run(call)
        except Exit as ended:
            await self._stop_listening()
            if ended.code:
                raise Cut from ended
        if not call.said:
            await reader.read()  # silence: until the client hangs up
        call.end()

    async def _answer_well(self, call: SocketCall) -> None:
        if "id" not in call.message:
            await call.reply(202, {})
            return
        body = encode(await call.right_answer())
        await call.reply(200, {"Content-Type": "application/json"}, body)

    async def _stop_listening(self) -> None:
        if self._listener is not None:
            await stop_listening(self._listener)


async def read_message(reader: asyncio.StreamReader) -> Message:
    """The JSON body of one POST.

    Raises: EOFError, ValueError or Rejection when it is none.
    """
    lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower().split("\r\n")
    sizes = [line.partition(":")[2] for line in lines if line.startswith("content-length:")]
    return decode(await reader.readexactly(int("".join(sizes))))
