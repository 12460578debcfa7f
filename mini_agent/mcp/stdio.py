"""One server as a child process: a message a line, in on stdin, out on stdout.

Guarantee: a process is started when one is needed and not before, and none outlives ``close``.
Revision 2026-07-28, basic/transports/stdio.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Literal, TypeAlias

from mini_agent.errors import ConnectFailed, McpError, TransportClosed
from mini_agent.mcp.command import checked_command, checked_directory, child_environment
from mini_agent.mcp.conversation import Conversation, encode_line
from mini_agent.mcp.lines import MAX_LINE
from mini_agent.mcp.messages import kind
from mini_agent.mcp.transport import NO_ENVELOPE, OneListener, OneLoop, closed_error
from mini_agent.types import JsonObject
from mini_agent.visible import visible

Ask: TypeAlias = Callable[[JsonObject], Awaitable[JsonObject | None]]
OnStart: TypeAlias = Callable[[Ask], Awaitable[None]]

FREE_STARTS = 3  # so many processes in a row may end without an answer before the pause begins
MAX_STARTS = 12  # so many in a row, and no more: by then it has been tried for two minutes
LONGEST_PAUSE = 30.0  # seconds


class StdioTransport(OneListener, OneLoop):
    """Starts ``command`` at the first send, and again at the next send after it ended.

    ``command`` is a list: a program and its arguments, started without a shell. ``env`` is laid
    over a short list of harmless variables (``child_environment``). ``on_junk`` says what a line
    that is no message does: "reject" fails what is in flight and ends the process, "skip" warns
    once a process and goes on. ``max_line`` is in bytes; ``grace`` in seconds, for each of the
    three steps of ending a process. ``on_start(ask)`` is awaited on each new process before
    anything else is sent to it; ``ask`` sends one message. What it is answered counts for nothing
    when a server that only ever ends is started less and less often, and at last no more.
    The event loop of the first send is the only one that can send.

    Raises: TypeError or ValueError for a command, a directory or an environment that cannot be one.
    """

    mirrors_envelope = False

    def __init__(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        on_junk: Literal["reject", "skip"] = "reject",
        max_line: int = MAX_LINE,
        grace: float = 1.5,
        on_start: OnStart | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if on_junk not in ("reject", "skip"):
            raise ValueError(f'on_junk must be "reject" or "skip", not {on_junk!r}')
        self._command = checked_command(command)
        self._env = child_environment(env)
        self._cwd = checked_directory(cwd)
        self._skip_junk = on_junk == "skip"
        self._max_line = max_line
        self._grace = grace
        self.on_start = on_start
        self.may_respond = False  # LegacyTransport's: a modern server asks nothing of its client
        self._clock = clock
        self._name = visible(os.path.basename(self._command[0]))
        self._talk: Conversation | None = None
        self._ready = False  # the latest conversation has started, and on_start is through
        self._starting = asyncio.Lock()
        self._starts = 0  # in a row, with no answer after any of them
        self._started_at = 0.0
        self._closed = False

    async def send(
        self, message: JsonObject, *, envelope: Mapping[str, str] = NO_ENVELOPE
    ) -> JsonObject | None:
        """Write one message; for a request, wait for its answer. The deadline is the caller's.

        Raises: ConnectFailed, TransportClosed, MalformedMessage; ValueError for a message that
        JSON cannot express, for a response, or for an id in use; RuntimeError in another loop.
        """
        self.stay_home()
        responds = kind(message) == "response"
        if responds and not self.may_respond:
            raise ValueError("a client sends no responses (basic/transports/stdio)")
        line = encode_line(message)  # before anything is started for it
        try:
            talk = self._asker() if responds else self.process or await self._running()
            return await talk.exchange(message, line)
        except McpError as error:
            self.note("failed", error=type(error).__name__)
            raise

    @property
    def process(self) -> Conversation | None:
        """What the next send goes to; None when that send starts another process."""
        talk = self._talk
        return talk if talk is not None and self._ready and not talk.over else None

    def _asker(self) -> Conversation:
        """Whom a response is for: the process that runs, also while it is being greeted."""
        if self._talk is None or self._talk.over:
            raise TransportClosed(f"{self._name} ended before it was answered")
        return self._talk

    # -- start, and start again -------------------------------------------------------------------

    async def _running(self) -> Conversation:
        """A conversation with a live process. One start at a time, whoever asks first."""
        async with self._starting:
            return self.process or await self._start()

    async def _start(self) -> Conversation:
        if self._talk is not None:
            await self._talk.buried()  # one process at a time
            if self._talk.answered:
                self._starts = 0
        self._check_open()
        self._check_pause()
        self._ready = False
        talk = Conversation(
            self._name, self, skip_junk=self._skip_junk, max_line=self._max_line, grace=self._grace
        )
        try:
            await talk.start(self._command, self._env, self._cwd)
        finally:
            if talk.process.started:  # also when we are cancelled midway: close must know of it
                self._talk = talk
        self._starts, self._started_at = self._starts + 1, self._clock()
        self._check_open()
        if self.on_start is not None:
            await self._greet(self.on_start, talk)
        self._ready = True
        return talk

    async def _greet(self, on_start: OnStart, talk: Conversation) -> None:
        greeted = False
        try:
            await on_start(lambda message: talk.exchange(message, encode_line(message)))
            greeted, talk.answered = True, False
        finally:
            if not greeted:  # half a greeting is none: the next send starts afresh
                talk.give_up(lambda: TransportClosed(f"{self._name} was given up at its start"))

    def _check_open(self) -> None:
        if self._closed:
            self._give_up()
            raise closed_error()

    def _check_pause(self) -> None:
        """A server that never answers is started less and less often, and the caller is told."""
        if self._starts >= MAX_STARTS:
            raise ConnectFailed(
                f"{self._name} was started {self._starts} times and never answered: it is not "
                "started again; mend it, then create a new transport"
            )
        seconds = self._started_at + pause_after(self._starts) - self._clock()
        if self._starts and seconds > 0:
            raise ConnectFailed(
                f"{self._name} was started {self._starts} times and never answered; "
                f"it can be started again in {seconds:.0f} s"
            )

    # -- end --------------------------------------------------------------------------------------

    async def close(self) -> None:
        """End the process; requests in flight fail with TransportClosed. Idempotent, any task.

        The wait is bounded by ``grace``: three steps, and once more for a start under way.
        """
        self._closed = True
        if not self.at_home():  # perhaps that loop is closed: nothing of it can be waited for
            return self._abandon()
        self._give_up()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._grace), self._starting:
                pass  # a start that is under way ends what it has started
        if self._talk is not None:
            await self._talk.buried()

    def _give_up(self) -> None:
        if self._talk is not None:
            self._talk.give_up(closed_error)

    def __del__(self) -> None:
        """Best effort for who forgot to close: no process is left over, and nothing is printed."""
        self._abandon()

    def _abandon(self) -> None:
        talk: Conversation | None = getattr(self, "_talk", None)
        if talk is not None:
            talk.abandon()


def pause_after(starts: int) -> float:
    """Seconds from the last start to the next, after so many starts without one answer."""
    return 0.0 if starts < FREE_STARTS else min(LONGEST_PAUSE, 2.0 ** (starts - FREE_STARTS))
