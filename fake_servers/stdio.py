"""The carrier over standard input and output: one message a line, many requests at once.

Nothing but messages reaches stdout; whatever a tool prints goes to stderr (transports/stdio).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import sys
import threading
from collections.abc import AsyncGenerator, Callable

from fake_servers.core import Server
from fake_servers.in_flight import InFlight

MAX_LINE = 64 * 2**20
"""Bytes of a request line; a longer one ends the server."""

GRACE = 0.5
"""Seconds that requests in flight have left once stdin has ended."""


def main(server: Server) -> None:
    """Serve on this process's stdin and stdout until stdin ends. For a ``__main__`` block."""
    run(InFlight(server, write_to(1)))


def run(requests: InFlight) -> None:
    """Feed this process's stdin to ``requests`` until it ends."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    with contextlib.redirect_stdout(sys.stderr), contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(requests, read_lines(0)))


async def serve(
    requests: InFlight, lines: AsyncGenerator[bytes, None], grace: float = GRACE
) -> None:
    """Give each of ``lines`` to ``requests``, and close them.

    Returns when the lines end; what is in flight then has ``grace`` seconds left. A reader that has
    gone away ends it too.
    """
    async with contextlib.aclosing(lines):
        async for line in lines:
            if line.strip():
                requests.take(line)
            if requests.unheard:
                break
    requests.server.listeners.end()
    await requests.finish(grace)


def write_to(fd: int) -> Callable[[bytes], None]:
    """A function that writes a line to ``fd``, with its end, before it returns.

    Blocking is right here: requests are read by a thread of their own, so a client that writes
    much before it reads is not held up. Raises BrokenPipeError when nobody reads.
    """

    def write(line: bytes) -> None:
        write_all(fd, line + b"\n")

    return write


def write_all(fd: int, raw: bytes) -> None:
    """Write every byte of ``raw``."""
    rest = memoryview(raw)
    while rest:
        rest = rest[os.write(fd, rest) :]


async def read_lines(fd: int, limit: int = MAX_LINE) -> AsyncGenerator[bytes, None]:
    """The lines that arrive at ``fd``, until it ends. Works where pipes cannot be polled.

    A last line without its end is given too; a line of more than ``limit`` bytes ends it all.
    """
    chunks: asyncio.Queue[bytes] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    pump = threading.Thread(target=_pump, args=(fd, loop, chunks), name=f"fd {fd}", daemon=True)
    pump.start()
    pending: list[bytes] = []
    while chunk := await chunks.get():
        *whole, rest = chunk.split(b"\n")
        for line in whole:
            yield b"".join([*pending, line])
            pending.clear()
        pending.append(rest)
        if sum(map(len, pending)) > limit:
            return
    yield b"".join(pending)


def _pump(fd: int, loop: asyncio.AbstractEventLoop, chunks: asyncio.Queue[bytes]) -> None:
    chunk = b"begin"
    while chunk:
        try:
            chunk = os.read(fd, 2**16)
        except OSError:  # closed under us: as good as its end
            chunk = b""
        with contextlib.suppress(RuntimeError):  # the loop is gone: nobody listens any more
            loop.call_soon_threadsafe(chunks.put_nowait, chunk)
