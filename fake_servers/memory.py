"""The carrier without a pipe: a server in this process, behind the client's own seam.

Every message goes through bytes, so what a pipe could not carry does not pass here either. It
behaves as a pipe does: answers are told apart by their id, and a cancel is a notification.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from fake_servers.calendar import calendar_server
from fake_servers.core import Server
from fake_servers.fault_call import Fault
from fake_servers.fault_peer import FaultyPeer
from fake_servers.in_flight import InFlight
from fake_servers.wire import Entry, Message, encode, notification
from mini_agent.errors import ConnectFailed, MalformedMessage, McpError, TransportClosed
from mini_agent.mcp.messages import decode, kind
from mini_agent.mcp.transport import NO_ENVELOPE, OneListener


class InMemoryTransport(OneListener):
    """An McpTransport to ``server``. ``transcript`` holds every message of both, in order."""

    mirrors_envelope = False

    def __init__(self, server: Server) -> None:
        self.transcript: list[Entry] = []
        self._server: InFlight = InFlight(server, self.receive)
        self._waiting: dict[str | int, asyncio.Future[Message]] = {}
        self._ended: Callable[[], McpError] | None = None

    async def send(
        self, message: Message, *, envelope: Mapping[str, str] = NO_ENVELOPE
    ) -> Message | None:
        """Hand ``message`` to the server and return its response.

        Raises: TransportClosed after close() and when the server ends, MalformedMessage when it
        breaks the format; ValueError and TypeError for what JSON cannot express.
        """
        raw = encode(message)
        try:
            return await self._send(message, raw)
        except McpError as error:
            self.note("failed", error=type(error).__name__)
            raise

    async def _send(self, message: Message, raw: bytes) -> Message | None:
        if self._ended is not None:
            raise self._ended()
        if kind(message) == "notification":
            self._hand_over(message, raw)
            return None
        waiting = self._waiting[message["id"]] = asyncio.get_running_loop().create_future()
        self._hand_over(message, raw)
        try:
            response: Message = await waiting
        except asyncio.CancelledError:
            self._cancel(message["id"])
            raise
        finally:
            self._waiting.pop(message["id"], None)
        return response

    def _hand_over(self, message: Message, raw: bytes) -> None:
        self.note("sent", message=message)
        self.transcript.append(Entry("client", decode(raw)))
        self._server.take(raw)

    def _cancel(self, request_id: str | int) -> None:
        cancelled = notification("notifications/cancelled", {"requestId": request_id})
        if self._ended is None:
            self._hand_over(cancelled, encode(cancelled))

    def receive(self, line: bytes) -> None:
        """Take one line from the server: an answer, or something to be heard.

        A line that is no message fails every request in flight, since none can be told from it.
        """
        try:
            message = decode(line)
        except MalformedMessage as broken:
            what, excerpt = broken.message, broken.excerpt
            self.note("junk", excerpt=excerpt)
            self._fail_all(lambda: MalformedMessage(what, excerpt=excerpt))
            return
        self.transcript.append(Entry("server", message))
        waiting = self._waiting.get(message["id"]) if "id" in message else None
        if kind(message) != "response" or waiting is None or waiting.done():
            self.hear(message)
        else:
            self.note("received", message=message)
            waiting.set_result(message)

    def end(self, why: Callable[[], McpError]) -> None:
        """No more messages: what is in flight and what comes later fails with a ``why()`` each."""
        self._ended = self._ended or why
        self._fail_all(why)

    def _fail_all(self, why: Callable[[], McpError]) -> None:
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(why())

    async def close(self) -> None:
        """Fail what is in flight, and wait until the server has let go of it."""
        self.end(lambda: TransportClosed("this in-memory transport was closed"))
        await self._server.finish()


class FaultyTransport(InMemoryTransport):
    """An McpTransport to a calendar with a fault.

    ``met`` is set when a request has met the fault; ``release()`` lets a late answer come.
    """

    def __init__(self, fault: Fault, calendar: Server | None = None) -> None:
        calendar = calendar or calendar_server()
        super().__init__(calendar)
        self._stderr = bytearray()
        self._peer = self._server = FaultyPeer(
            fault,
            self.receive,
            write_part=lambda raw: None,  # the rest of the line never comes
            write_error=self._stderr.extend,
            leave=self._left,
            calendar=calendar,
        )
        self.met = self._peer.met
        if fault.name == "refused":
            self.end(lambda: ConnectFailed("there is no server in memory"))

    def release(self) -> None:
        """Let what waits for a later message go on."""
        self._peer.release()

    def _left(self, code: int) -> None:
        def why() -> McpError:
            tail = self._stderr.decode()
            return TransportClosed(
                f"the server in memory ended with exit code {code}",
                exit_code=code,
                stderr_tail=tail,
            )

        self.end(why)
