"""One process and the requests that wait for its answers, from its start to its end.

Guarantee: whatever the process does, every request ends with its answer or with an exception of
mini_agent.errors. A conversation that is over stays over; StdioTransport begins another.
"""

from __future__ import annotations

import asyncio
import os
import warnings
from collections.abc import Mapping, Sequence

from mini_agent.errors import MalformedMessage, TransportClosed
from mini_agent.mcp.lines import MAX_LINE, LineSplitter, TooLong
from mini_agent.mcp.messages import build_notification, decode, encode, excerpt, kind
from mini_agent.mcp.pending import InFlight, MakeError
from mini_agent.mcp.process import ServerProcess
from mini_agent.mcp.transport import OneListener
from mini_agent.trace import following
from mini_agent.types import JsonObject
from mini_agent.visible import visible

LAST_WORDS = 0.5  # seconds for exit code and stderr to come in after the first sign of an end


class Conversation:
    """Messages with one process. What answers no request goes to ``transport.hear``.

    ``name`` is how errors call the server. With ``skip_junk`` a line that is no message is passed
    over; otherwise it ends the conversation. ``max_line`` is in bytes, ``grace`` in seconds a step
    of ending the process.
    """

    def __init__(
        self,
        name: str,
        transport: OneListener,
        *,
        skip_junk: bool = False,
        max_line: int = MAX_LINE,
        grace: float = 1.5,
    ) -> None:
        self.name = name
        self.answered = False
        self.process = ServerProcess(self._on_output, self._on_end)
        self._transport = transport
        self._skip_junk = skip_junk
        self._warned = False
        self._max_line = max_line
        self._grace = grace
        self._lines = LineSplitter(max_line)
        self._in_flight = InFlight()
        self._ending: asyncio.Task[None] | None = None

    async def start(
        self, command: Sequence[str], env: Mapping[str, str], cwd: str | os.PathLike[str] | None
    ) -> None:
        """Start the process.

        Raises: ConnectFailed.
        """
        with following(""):  # what is heard from it later belongs to no one call
            await self.process.start(command, env, cwd)

    # -- ask --------------------------------------------------------------------------------------

    async def exchange(self, message: JsonObject, line: bytes) -> JsonObject | None:
        """Write ``line``, which is the message encoded; for a request, wait for its answer.

        Cancelling the task tells the server so, without waiting for anything.

        Raises: TransportClosed, MalformedMessage; ValueError for an id in use.
        """
        if kind(message) != "request":
            if not await self._write(message, line):
                raise gone_error(self.name, self.process)
            return None
        request_id, written = message["id"], False
        future = self._in_flight.add(request_id)  # before the write: the answer may be quick
        try:
            written = await self._write(message, line)
            response = await future
        finally:
            if self._in_flight.drop(request_id) and written:
                self._cancel(request_id)
            if future.done() and not future.cancelled():
                future.exception()  # looked at, even when we are cancelled in the same moment
        self._transport.note("received", message=response)
        return response

    async def _write(self, message: JsonObject, line: bytes) -> bool:
        """One write a message, so that no other can come between its halves."""
        await self.process.room()
        written = self.process.write(line, alone=self._in_flight.one)
        if written:
            self._transport.note("sent", message=message)
        return written

    def _cancel(self, request_id: int | str) -> None:
        """Ask the server to stop (basic/patterns/cancellation)."""
        params = {"requestId": request_id, "reason": "the caller stopped waiting"}
        message = build_notification("notifications/cancelled", params)
        if self.process.write(encode_line(message)):
            self._transport.note("sent", message=message)

    # -- hear -------------------------------------------------------------------------------------

    def _on_output(self, chunk: bytes) -> None:
        for line in self._lines.feed(chunk):
            if self._in_flight.over:
                return  # after a break nothing can be trusted
            self._on_line(line)

    def _on_line(self, line: bytes | TooLong) -> None:
        """Take what the server wrote. Must not raise, whatever that is: nobody would read on."""
        try:
            message = decode(whole(line, self._max_line))
        except MalformedMessage as cause:
            self._on_broken_line(line, cause)
            return
        if kind(message) != "response":
            # A call of its own: a listener that raises takes nothing else along.
            asyncio.get_running_loop().call_soon(self._transport.hear, message)
        elif ignored := self._in_flight.answer(message):
            self._transport.note("received", message=message, ignored=ignored)
        else:
            self.answered = True

    def _on_broken_line(self, line: bytes | TooLong, cause: MalformedMessage) -> None:
        self._transport.note("junk", excerpt=cause.excerpt)
        owner = None if isinstance(line, TooLong) else self._in_flight.owner(line)
        if owner is not None:
            self._in_flight.fail(owner, junk_error(self.name, cause))
        elif not self._skip_junk:
            self.give_up(lambda: junk_error(self.name, cause))
        elif not self._warned:
            self._warned = True
            text = f"{self.name} writes lines that are no messages: they are skipped"
            asyncio.get_running_loop().call_soon(warnings.warn, text)

    # -- end --------------------------------------------------------------------------------------

    @property
    def over(self) -> bool:
        """True from the first sign of an end."""
        return self._ending is not None

    def give_up(self, make_error: MakeError) -> None:
        """End it now: whoever waits gets an error of that kind, and so does whoever comes."""
        self._in_flight.fail_all(make_error)
        self._on_end()

    def _on_end(self) -> None:
        if self._ending is None:
            self._ending = asyncio.create_task(self._bury())

    async def _bury(self) -> None:
        if not self._in_flight.over:
            await self.process.until_gone(LAST_WORDS)
        rest = self._lines.rest
        self._in_flight.fail_all(lambda: gone_error(self.name, self.process, rest))
        await self.process.stop(self._grace)
        self._transport.note("closed", exit_code=self.process.exit_code)

    async def buried(self) -> None:
        """Wait until an ended process has been cleared away. The wait is bounded."""
        if self._ending is not None:
            await asyncio.wait({self._ending})

    def abandon(self) -> None:
        """For who forgot to close: leave no process over."""
        if self._ending is None or not self._ending.done():
            self.process.kill()


def encode_line(message: JsonObject) -> bytes:
    """One message as one line. JSON escapes line breaks, so none is inside.

    Raises: ValueError for a message that JSON cannot express.
    """
    return encode(message) + b"\n"


def whole(line: bytes | TooLong, limit: int) -> bytes:
    """The line itself.

    Raises: MalformedMessage where it was above the limit.
    """
    if isinstance(line, TooLong):
        raise MalformedMessage(f"a line of more than {limit} bytes", excerpt=excerpt(line.start))
    return line


def junk_error(name: str, cause: MalformedMessage) -> MalformedMessage:
    """For a request that was waiting when ``name`` wrote something that is no message."""
    error = MalformedMessage(
        f"{name} wrote what is no MCP message: {cause.excerpt} ({cause.message})",
        excerpt=cause.excerpt,
    )
    error.__cause__ = cause
    return error


def gone_error(name: str, process: ServerProcess, half_line: bytes = b"") -> TransportClosed:
    """For a request that was waiting when the process ended."""
    code, tail = process.exit_code, process.stderr_tail
    end = f"ended by signal {-code}" if code and code < 0 else f"ended with exit code {code}"
    text = f"{name} closed its pipes" if code is None else f"{name} {end}"
    if half_line:
        text += f", in the middle of a line: {excerpt(half_line)}"
    if tail.strip():
        text += f"; its last words: {visible(tail.strip()[-400:])}"
    return TransportClosed(text, exit_code=code, stderr_tail=tail)
