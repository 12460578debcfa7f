"""Lines that a person types, read while the event loop goes on.

Guarantee: a wait for a line can be cancelled at once. A thread blocked in readline cannot, and
would hold up Ctrl-C, so where the loop can watch the source we read only what is there.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import os
import sys
from typing import TextIO

LONGEST = 4095  # bytes: a terminal drops what a line holds beyond, and says nothing
QUIET = 0.25  # seconds without input that tell a paste is over
UNWATCHABLE = (NotImplementedError, io.UnsupportedOperation, PermissionError)  # Windows, files


def is_terminal(stream: TextIO | None) -> bool:
    """Is there somebody at ``stream``? A program without a console has None for it."""
    return stream is not None and not stream.closed and stream.isatty()


class Lines:
    """The lines of ``source``. ``cut`` says that a terminal dropped the end of the last one."""

    def __init__(self, source: TextIO) -> None:
        self._source = source
        self._held = bytearray()
        self.cut = False

    async def read(self) -> str:
        """The next line, "" at the end of input.

        Half a line that Ctrl-D pushed out waits for its rest, as it does everywhere.
        """
        try:
            while b"\n" not in self._held:
                await readable(self._source)
                if not (piece := some_bytes(self._source)):
                    break
                self._held += piece
        except UNWATCHABLE:
            return await asyncio.to_thread(self._source.readline)
        end = self._held.find(b"\n") + 1 or len(self._held)
        line, self._held = bytes(self._held[:end]), self._held[end:]
        self.cut = len(line) > LONGEST and self._source.isatty()
        return line.decode(self._source.encoding or "utf-8", "replace")

    async def drop(self) -> bool:
        """Forget what was typed before now, a paste that still comes included.

        True when a line was lost. Where nothing can be watched, nothing is.
        """
        lost = bool(self._held)
        self._held.clear()
        with contextlib.suppress(*UNWATCHABLE):
            while await readable(self._source, QUIET):
                lost = True
                if not some_bytes(self._source):
                    break
        drop_half_a_line(self._source)
        return lost


async def readable(source: TextIO, seconds: float | None = None) -> bool:
    """Wait until ``source`` can be read. False when ``seconds`` passed first.

    Raises: one of UNWATCHABLE where the event loop cannot tell.
    """
    loop, ready, fd = asyncio.get_running_loop(), asyncio.Event(), source.fileno()
    loop.add_reader(fd, ready.set)
    try:
        async with asyncio.timeout(seconds):
            await ready.wait()
    except TimeoutError:
        return False
    finally:
        loop.remove_reader(fd)
    return True


def some_bytes(source: TextIO) -> bytes:
    """What is there to read, past the source's own buffer. b"" at the end, or at a hang-up."""
    try:
        return os.read(source.fileno(), 65536)
    except OSError:
        return b""


def drop_half_a_line(source: TextIO) -> None:
    """Empty the terminal's own line buffer, which nobody can read before Enter."""
    if sys.platform == "win32":
        import msvcrt

        while msvcrt.kbhit():
            msvcrt.getwch()
        return
    import termios

    with contextlib.suppress(termios.error, io.UnsupportedOperation):
        termios.tcflush(source.fileno(), termios.TCIFLUSH)
