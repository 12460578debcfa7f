"""A child process and its three pipes: start it, hear it, end it. Knows bytes, no messages.

Guarantee: stderr is always read, an end is noticed by whatever sign comes first, and ``stop``
leaves nothing of the process's group, within a bounded time.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from mini_agent.errors import ConnectFailed
from mini_agent.mcp.command import found_program, why_not_started
from mini_agent.visible import visible

STDIN, STDOUT, STDERR = 0, 1, 2
TAIL = 8 * 1024
TOGETHER = 32  # messages that wait for one another: the server works on these while we write more

if sys.platform == "win32":
    OWN_GROUP: dict[str, Any] = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    LAST_SIGNAL = signal.SIGTERM
else:
    OWN_GROUP: dict[str, Any] = {"start_new_session": True}
    LAST_SIGNAL = signal.SIGKILL


class HeardAtOnce(asyncio.Protocol):
    """Stdout, handed on as it comes: ``own``, which asyncio gave it, waits a turn of the event loop
    with each chunk. Of an end ``own`` is told, since the subprocess waits for that."""

    def __init__(self, on_data: Callable[[bytes], None], own: asyncio.BaseProtocol) -> None:
        self._on_data = on_data
        self._own = own

    def data_received(self, data: bytes) -> None:
        """A chunk."""
        self._on_data(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """The end."""
        self._own.connection_lost(exc)


class ServerProcess(asyncio.SubprocessProtocol):
    """One run of a command. Of the methods, those that asyncio.SubprocessProtocol names are called
    by the event loop, the others by us.

    ``on_output`` gets each chunk of stdout. ``on_end`` is called once, at the first sign that the
    conversation is over: stdout closed, stdin broken, or the process gone.
    """

    def __init__(self, on_output: Callable[[bytes], None], on_end: Callable[[], None]) -> None:
        self._on_output = on_output
        self._on_end = on_end
        self._ended = False
        self._tail = b""
        self.started = False
        self._writable = False
        self._room = asyncio.Event()  # cleared while the pipe to the server is full
        self._exited = asyncio.Event()
        self._gone = asyncio.Event()  # the process has exited and every pipe is closed
        self._unsent: list[bytes] | None = None  # a list: this turn of the event loop has written

    # -- start ------------------------------------------------------------------------------------

    async def start(
        self, command: Sequence[str], env: Mapping[str, str], cwd: str | os.PathLike[str] | None
    ) -> None:
        """Start ``command`` in a process group of its own. A process starts once.

        Raises: ConnectFailed naming the program and what is wrong with it.
        """
        loop = asyncio.get_running_loop()
        program = found_program(command[0], env)
        try:
            await loop.subprocess_exec(
                lambda: self, program, *command[1:], env=env, cwd=cwd, **OWN_GROUP
            )
        except (OSError, NotImplementedError) as cause:
            raise ConnectFailed(why_not_started(command[0], cwd, cause)) from cause

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The process runs and its pipes are open."""
        self._transport = cast(asyncio.SubprocessTransport, transport)
        self._stdin = cast(asyncio.WriteTransport, self._transport.get_pipe_transport(STDIN))
        self._pid = self._transport.get_pid()
        self.started = self._writable = True
        self._room.set()
        self._widen()
        self._read_sooner()

    def _widen(self) -> None:
        """Let 256 KiB wait in a pipe where the system can, four times the usual.

        A message above what fits takes turns: a part is written, the other side wakes and reads.
        """
        if sys.platform == "linux":
            import fcntl

            pipes = map(self._transport.get_pipe_transport, (STDIN, STDOUT))
            for pipe in filter(None, pipes):
                # Closed already by a child that ended at once, or the user's share is used up.
                with contextlib.suppress(OSError, ValueError, TypeError):
                    fcntl.fcntl(pipe.get_extra_info("pipe"), fcntl.F_SETPIPE_SZ, 2**18)

    def _read_sooner(self) -> None:
        """Hear stdout at once, and read 64 KiB at a time: for the 256 KiB that asyncio takes, the C
        library asks the system anew each time, 12 µs. Where there is no such attribute, it stays.
        """
        stdout: Any = self._transport.get_pipe_transport(STDOUT)
        if hasattr(stdout, "max_size"):
            stdout.max_size = 2**16
        heard = functools.partial(self.pipe_data_received, STDOUT)
        stdout.set_protocol(HeardAtOnce(heard, stdout.get_protocol()))

    # -- hear -------------------------------------------------------------------------------------

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Something came out of stdout or stderr."""
        if fd == STDOUT:
            self._on_output(data)
        else:
            self._tail = (self._tail + data[-TAIL:])[-TAIL:]  # bounded, however it is written

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """A pipe closed. The end of stderr alone means nothing."""
        if fd == STDIN:
            self._writable = False
            self._room.set()  # whoever waits for room should learn that there is none
        if fd != STDERR:
            self._end()

    def process_exited(self) -> None:
        """The process ended. A child of its own may still hold the pipes: it does not count."""
        self._exited.set()
        self._end()

    def connection_lost(self, exc: Exception | None) -> None:
        """The process has ended and every pipe is closed: nothing more can come."""
        self._gone.set()

    def _end(self) -> None:
        if not self._ended:
            self._ended = True
            self._on_end()

    async def until_gone(self, seconds: float) -> None:
        """Wait until nothing more can come, ``seconds`` at most."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._gone.wait()

    @property
    def exit_code(self) -> int | None:
        """None while it runs; negative: ended by that signal."""
        return self._transport.get_returncode()

    @property
    def stderr_tail(self) -> str:
        """The last 8 KiB of stderr as text fit to print."""
        return visible(self._tail.decode("utf-8", "replace"), keep_newlines=True)

    # -- tell -------------------------------------------------------------------------------------

    async def room(self) -> None:
        """Wait while the pipe is full. Reading goes on meanwhile, so neither side locks up."""
        while not self._room.is_set():  # whoever woke first may have filled it again
            await self._room.wait()

    def pause_writing(self) -> None:
        """The pipe is full: the server does not read as fast as we write."""
        self._room.clear()

    def resume_writing(self) -> None:
        """The server has caught up."""
        self._room.set()

    def write(self, data: bytes, *, alone: bool = False) -> bool:
        """Hand ``data`` to the pipe, whole and in order. False when the pipe is closed.

        The first of one turn of the event loop goes out at once, what follows in that turn goes
        together: three system calls for 64 requests instead of 64 of them. ``alone`` says that
        nothing will follow, which saves the turn.
        """
        if not self._writable or self._stdin.is_closing():
            return False
        if self._unsent is None:
            if not alone:
                self._unsent = []
                asyncio.get_running_loop().call_soon(self._flush)
            self._stdin.write(data)
        else:
            self._unsent.append(data)
            if len(self._unsent) == TOGETHER:
                self._write_unsent()
        return True

    def _write_unsent(self) -> None:
        if self._unsent:
            if self._writable:
                self._stdin.write(b"".join(self._unsent))
            self._unsent.clear()

    def _flush(self) -> None:
        self._write_unsent()
        self._unsent = None

    # -- end --------------------------------------------------------------------------------------

    async def stop(self, grace: float) -> None:
        """End the process and its group, waiting ``grace`` seconds after each step.

        First its stdin is closed, which asks it to end; then SIGTERM, then SIGKILL
        (basic/transports/stdio#shutdown). On Windows the last two are TerminateProcess.
        """
        self._flush()
        self._writable = False
        self._room.set()  # nobody needs to wait any more
        self._stdin.close()
        try:
            await self.until_gone(grace)
            if self._signal(signal.SIGTERM):
                await self.until_gone(grace)
            await self._force(grace)
        finally:  # also when the loop is going down and cancels us: then there is no time to ask
            self.kill()
        await self.until_gone(grace)

    async def _force(self, grace: float) -> None:
        """SIGKILL, and hear how it ended: ``kill`` alone may take the exit code away unheard."""
        if self._signal(LAST_SIGNAL):
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(grace):
                    await self._exited.wait()

    def kill(self) -> None:
        """End it now, without asking. What is left of the group has closed its pipes, or will."""
        self._signal(LAST_SIGNAL)
        with contextlib.suppress(RuntimeError):  # the event loop may be closed already
            self._transport.close()

    def _signal(self, number: signal.Signals) -> bool:
        """Signal the whole group, so that a wrapper's child is reached. False: nobody is left."""
        try:
            if sys.platform == "win32":
                self._transport.terminate()
            else:
                os.killpg(self._pid, number)
        except (ProcessLookupError, PermissionError):
            return False
        return True
