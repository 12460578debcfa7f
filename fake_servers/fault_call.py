"""What a fault is given: one call to the calendar, and the means to answer it badly."""

from __future__ import annotations

import asyncio
import inspect
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, NoReturn

from fake_servers.core import Server
from fake_servers.wire import Message, Rejection, encode, error_message, result_message

ANY = ("memory", "stdio", "http")
"""The carriers of a fault that all of them have."""


@dataclass(frozen=True)
class Fault:
    """``run(call)`` is what goes wrong; ``at`` says when: "start", "every request" or a method."""

    name: str
    what: str
    carriers: tuple[str, ...]
    at: str
    run: Callable[[Any], Awaitable[None]]

    def hits(self, message: Message) -> bool:
        """True when this request meets the fault."""
        return "id" in message and self.at in ("start", "every request", message.get("method"))

    def must_have(self, carrier: str) -> Fault:
        """This fault. Raises ValueError when ``carrier`` does not have it."""
        if carrier not in self.carriers:
            raise ValueError(f"the fault {self.name} is for {', '.join(self.carriers)} only")
        return self


def fault(*carriers: str, at: str = "tools/call") -> Callable[[Any], Fault]:
    """Make a Fault of a coroutine function: its name, and the first line of its docstring."""
    return lambda run: Fault(run.__name__, inspect.getdoc(run) or "", carriers, at, run)


def next_turn(event: asyncio.Event) -> asyncio.Event:
    """Let go of all who wait for ``event``; return the one that the next will wait for."""
    event.set()
    return asyncio.Event()


class Exit(BaseException):
    """The server's process ends here, with ``code``."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class Call(ABC):
    """One request to a server that is about to misbehave. Each carrier has its own.

    ``message`` is the request, ``calendar`` the good server that would have answered it, and
    ``later`` is set by the next message, by the end of stdin, or by whoever holds the carrier.
    """

    def __init__(self, message: Message, calendar: Server, later: asyncio.Event) -> None:
        self.message = message
        self.calendar = calendar
        self.later = later

    @abstractmethod
    async def line(self, raw: bytes) -> None:
        """Send ``raw`` where a message belongs: as one line, or as one event."""

    @abstractmethod
    async def write(self, raw: bytes) -> None:
        """Send bytes as they are: no line end, no event."""

    async def say(self, message: Message) -> None:
        """Send a message."""
        await self.line(encode(message))

    async def result(self, **result: object) -> None:
        """Answer with a result of these fields."""
        await self.say(result_message(self.message["id"], result))

    async def error(self, code: int, text: str, data: object = None) -> None:
        """Answer with an error."""
        await self.say(error_message(self.message["id"], Rejection(code, text, data)))

    async def right_answer(self) -> Message:
        """The response of the good calendar. What the client answered to us is left out."""
        ours = ("inputResponses", "requestState")
        params = {k: v for k, v in self.message["params"].items() if k not in ours}
        async with aclosing(self.calendar.handle({**self.message, "params": params})) as answers:
            *_, response = [answer async for answer in answers]
        return response

    def exit(self, code: int) -> NoReturn:
        """End the server's process."""
        raise Exit(code)

    def stderr(self, raw: bytes) -> None:  # noqa: B027  # HTTP has no such stream
        """Write to the error stream, where there is one."""


class HttpCall(Call):
    """A call that came as a POST, with the means that only HTTP has."""

    @abstractmethod
    async def reply(
        self, status: int, headers: Mapping[str, str], body: bytes = b"", missing: int = 0
    ) -> None:
        """Send a whole reply; ``missing`` bytes of the body are announced and never sent."""

    @abstractmethod
    def cut(self) -> NoReturn:
        """Drop the connection. The server stays."""
