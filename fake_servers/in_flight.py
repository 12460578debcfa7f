"""The requests that one byte stream has open: each in a task of its own, cancelled by its id."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

from fake_servers.core import Server
from fake_servers.wire import Message, Rejection, decode, encode, error_message


class InFlight:
    """Takes lines, and gives ``write`` the lines that answer them (both without their end).

    ``unheard`` turns True when ``write`` raises BrokenPipeError: nobody reads the answers.
    """

    def __init__(self, server: Server, write: Callable[[bytes], None]) -> None:
        self.server = server
        self.unheard = False
        self._write = write
        self._tasks: dict[asyncio.Task[None], object] = {}

    def take(self, line: bytes) -> None:
        """Begin to answer one line. After a cancel no more is said about that request."""
        try:
            message = decode(line)
        except Rejection as rejection:
            self.say(error_message(None, rejection))
            return
        if message.get("method") == "notifications/cancelled":
            self.cancel(message.get("params"))
            return
        task = asyncio.create_task(self.answer(message))
        self._tasks[task] = message.get("id")
        task.add_done_callback(self._tasks.pop)

    def cancel(self, params: object) -> None:
        """Stop the work on ``params["requestId"]``, if it is still going on."""
        wanted = params.get("requestId") if isinstance(params, dict) else None
        for task, request_id in self._tasks.items():
            if wanted is not None and (type(wanted), wanted) == (type(request_id), request_id):
                task.cancel()

    async def answer(self, message: Message) -> None:
        """Say all that the server says to ``message``."""
        async with contextlib.aclosing(self.server.handle(message)) as answers:
            async for answer in answers:
                self.say(answer)

    def say(self, message: Message) -> None:
        """Write one message."""
        self.say_raw(encode(message))

    def say_raw(self, line: bytes) -> None:
        """Write one line, whatever it holds."""
        try:
            self._write(line)
        except BrokenPipeError:
            self.unheard = True

    async def finish(self, grace: float = 0) -> None:
        """Give what is in flight its last ``grace`` seconds, then cancel it and wait for it."""
        if grace and self._tasks:
            await asyncio.wait(self._tasks, timeout=grace)
        left = [task for task in self._tasks if task is not asyncio.current_task()]
        for task in left:
            task.cancel()
        if left:
            await asyncio.wait(left)
