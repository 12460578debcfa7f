"""What the shell that started this program gives it and expects of it: streams, signals, codes."""

from __future__ import annotations

import asyncio
import contextlib
import io
import os
import signal
import sys
from collections.abc import Coroutine
from typing import Any, TextIO


class UsageError(Exception):
    """What the user typed cannot be used; the message says what to type instead."""


class OutputFailed(Exception):
    """stdout cannot be written to: nobody reads it (caused by BrokenPipeError), or it is full."""


def put(text: str) -> None:
    """Write ``text`` to stdout at once.

    Raises: OutputFailed.
    """
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        silence(sys.stdout)
        raise OutputFailed(f"the output cannot be written: {error.strerror}") from error


def complain(text: str) -> None:
    """One line on stderr. Where that cannot be written either, the exit code has to say it."""
    try:
        sys.stderr.write(text + "\n")
        sys.stderr.flush()
    except OSError:
        silence(sys.stderr)


def silence(stream: TextIO) -> None:
    """Let what is left in a failed stream's buffer go nowhere, or Python complains at its exit."""
    with contextlib.suppress(OSError, io.UnsupportedOperation):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def prepare_streams() -> None:
    """Put the null device where there is no stream, and make every character fit to write or read.

    Without this a program started with a closed stdin would meet None there.
    """
    sys.stdin = sys.stdin or open(os.devnull)  # noqa: SIM115
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    for stream, errors in ((sys.stdin, "replace"), (sys.stdout, "backslashreplace")):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=errors)


async def closing_on_signals(running: Coroutine[Any, Any, int]) -> int:
    """Let SIGTERM and SIGHUP end ``running`` as Ctrl-C does, so that it ends its server first."""
    task, came = asyncio.current_task(), list[signal.Signals]()

    def end(number: signal.Signals) -> None:
        if task is not None and not came:
            task.cancel()
        came.append(number)

    for number in (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
        if signal.getsignal(number) is signal.SIG_DFL:  # not so under nohup
            with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
                asyncio.get_running_loop().add_signal_handler(number, end, number)
    try:
        return await running
    except asyncio.CancelledError:
        if not came:
            raise
        complain(f"mini-agent: ended by {came[0].name}")
        return 128 + came[0]
