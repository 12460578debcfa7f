"""A faulty calendar on a byte stream: for a child process, and for one in this process."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from fake_servers.calendar import calendar_server
from fake_servers.core import Server
from fake_servers.fault_call import Call, Exit, Fault, next_turn
from fake_servers.in_flight import InFlight
from fake_servers.stdio import run, write_all, write_to
from fake_servers.wire import Message


class StreamCall(Call):
    """A call that came as a line; ``peer`` writes."""

    def __init__(self, message: Message, peer: FaultyPeer) -> None:
        super().__init__(message, peer.server, peer.later)
        self._peer = peer

    async def line(self, raw: bytes) -> None:
        """Send ``raw`` as one line."""
        self._peer.say_raw(raw)

    async def write(self, raw: bytes) -> None:
        """Send bytes as they are."""
        self._peer.write_part(raw)

    def stderr(self, raw: bytes) -> None:
        """Write to the error stream."""
        self._peer.write_error(raw)


class FaultyPeer(InFlight):
    """Answers as the calendar does, until a request meets the fault. It heeds no cancel.

    ``write`` takes a line; ``write_part`` and ``write_error`` take bytes for the two streams;
    ``leave`` ends the process. ``later`` is set, and replaced, when a message comes; ``met`` is
    set when a request has met the fault.
    """

    def __init__(
        self,
        fault: Fault,
        write: Callable[[bytes], None],
        *,
        write_part: Callable[[bytes], None],
        write_error: Callable[[bytes], None],
        leave: Callable[[int], None],
        calendar: Server | None = None,
    ) -> None:
        super().__init__(calendar or calendar_server(), write)
        self.fault = fault
        self.later = asyncio.Event()
        self.met = asyncio.Event()
        self.write_part = write_part
        self.write_error = write_error
        self._leave = leave

    def take(self, line: bytes) -> None:
        """Begin to answer one line; what waits for a later message goes on."""
        self.release()
        super().take(line)

    def release(self) -> None:
        """Let what waits for a later message go on."""
        self.later = next_turn(self.later)

    def cancel(self, params: object) -> None:
        """Ignored: a bad server works on."""

    def answer(self, message: Message) -> Coroutine[Any, Any, None]:
        """Answer well, or with the fault."""
        if self.fault.hits(message):
            return self._misbehave(StreamCall(message, self))
        return super().answer(message)

    async def _misbehave(self, call: Call) -> None:
        self.met.set()
        try:
            await self.fault.run(call)
        except Exit as ended:
            self._leave(ended.code)
        except BrokenPipeError:
            self._leave(1)

    async def start(self) -> None:
        """Meet the fault before any request has come."""
        await self._misbehave(StreamCall({}, self))

    async def finish(self, grace: float = 0) -> None:
        """Let go of what waits, then finish."""
        self.release()
        await super().finish(grace)


def main(fault: Fault) -> None:
    """Be the faulty server on this process's stdin and stdout."""
    out, err = partial(write_all, 1), partial(write_all, 2)
    peer = FaultyPeer(fault, write_to(1), write_part=out, write_error=err, leave=os._exit)
    if fault.at == "start":
        asyncio.run(peer.start())
    run(peer)
