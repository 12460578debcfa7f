"""The server of the older revisions over HTTP, with sessions, on a raw socket.

    async with LegacyHttp(Manner()) as older:
        older.url

Revision 2025-11-25, basic/transports#streamable-http.
"""

from __future__ import annotations

import asyncio
import itertools

from fake_servers.fault_server import head
from fake_servers.legacy import Exit, LegacySession, Manner
from fake_servers.started import Started, stop_listening
from fake_servers.wire import Message, Rejection, decode, encode, error_message, is_request

JSON = {"Content-Type": "application/json"}
NO_SESSION = (
    b'{"jsonrpc":"2.0","id":null,'
    b'"error":{"code":-32000,"message":"Bad Request: No valid session ID provided"}}'
)


class LegacyHttp(Started):
    """Answers with event streams, or with JSON where ``stream`` is False and nothing comes first.

    ``requests`` keeps method, headers and message of each HTTP request; ``sessions`` is by id, and
    clearing it is a restart. Without ``sessions_wanted`` it gives out no ids.
    """

    def __init__(
        self, manner: Manner | None = None, *, stream: bool = True, sessions_wanted: bool = True
    ) -> None:
        self.manner = manner or Manner()
        self.stream = stream
        self.url = ""
        self.requests: list[tuple[str, dict[str, str], Message]] = []
        self.sessions: dict[str, LegacySession] = {}
        self.opened: list[LegacySession] = []
        self._sessions_wanted = sessions_wanted
        self._names = (f"session-{number}" for number in itertools.count(1))
        self._listener: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()

    async def start(self) -> str:
        """Listen, and return the URL of the endpoint."""
        self._listener = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._listener.sockets[0].getsockname()[1]}/mcp"
        return self.url

    async def stop(self) -> None:
        """Stop listening and drop every connection. Idempotent."""
        if self._listener is not None:
            await stop_listening(self._listener)
        for task in self._connections:
            task.cancel()
        if self._connections:
            await asyncio.wait(self._connections)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(reader, writer))
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)
        # Not in _serve: a task that is cancelled before its first step runs nothing of it.
        task.add_done_callback(lambda _: writer.close())

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            method, headers, message = await read_request(reader)
            self.requests.append((method, headers, message))
            if method == "DELETE":
                known = self.sessions.pop(headers.get("mcp-session-id", ""), None)
                writer.write(head(200 if known else 404, {"Content-Length": "0"}))
            else:
                await self._post(headers, message, writer)
            await writer.drain()
        except (OSError, EOFError, ValueError, Exit):
            writer.transport.abort()

    async def _post(
        self, headers: dict[str, str], message: Message, out: asyncio.StreamWriter
    ) -> None:
        name = headers.get("mcp-session-id", "" if self._sessions_wanted else "the only one")
        if message.get("method") == "server/discover" and self.manner.discover != "400":
            session: LegacySession | None = LegacySession(self.manner)
        elif message.get("method") == "initialize":
            name = next(self._names) if self._sessions_wanted else "the only one"
            session = self.sessions[name] = LegacySession(self.manner)
            self.opened.append(session)
        elif not name:
            return self._reply(out, 400, JSON, NO_SESSION)
        else:
            session = self.sessions.get(name)
        if session is None:
            return self._reply(out, 404, {}, b"no such session")
        if session.agreed not in ("", headers.get("mcp-protocol-version")):
            return self._reply(out, 400, {}, b"another version was agreed on")
        given = {"Mcp-Session-Id": name} if self._sessions_wanted else {}
        await self._answer(session, message, out, given)

    async def _answer(
        self, session: LegacySession, message: Message, out: asyncio.StreamWriter,
        given: dict[str, str],
    ) -> None:  # fmt: skip
        started = False

        def say(said: Message) -> None:
            nonlocal started
            if not started:
                out.write(head(200, {**given, "Content-Type": "text/event-stream"}))
                out.write(b"id: 1\ndata: \n\n")  # as the revision asks for, so that one can resume
            started = True
            out.write(b"event: message\ndata: " + encode(said) + b"\n\n")

        try:
            answer = await session.answer(message, say)
        except Rejection as rejection:
            answer = error_message(message["id"], rejection)
        if not is_request(message):
            self._reply(out, 202, {})
        elif answer is not None and (self.stream or started):
            say(answer)
        elif answer is not None:
            self._reply(out, 200, {**JSON, **given}, encode(answer))

    def _reply(
        self, out: asyncio.StreamWriter, status: int, headers: dict[str, str], body: bytes = b""
    ) -> None:
        out.write(head(status, {**headers, "Content-Length": str(len(body))}))
        out.write(body)


async def read_request(reader: asyncio.StreamReader) -> tuple[str, dict[str, str], Message]:
    """The method, the headers by small name, and the message of one HTTP request.

    Raises: EOFError or ValueError when it is none.
    """
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    pairs = (line.partition(":") for line in lines if line)
    headers = {name.lower(): value.strip() for name, _, value in pairs}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return first.split(" ")[0], headers, decode(body) if body else {}
