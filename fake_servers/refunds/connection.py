"""How a body is read, and how a connection ends before its answer: beneath what ASGI says.

In memory a broken connection is an exception that the network turns into httpx's own; on a port
the socket is dropped.
"""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.requests import HTTPConnection, Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

DROP = "refunds.drop"


class Dropped(Exception):
    """The connection broke before the answer."""


class Unanswered(Exception):
    """No answer came, and the caller's deadline passed."""


async def drop(scope: Scope, receive: Receive) -> None:
    """End the connection here, without an answer.

    Raises: Dropped in memory.
    """
    dropping = scope.get("extensions", {}).get(DROP)
    if dropping is None:
        raise Dropped
    dropping()
    await silence(receive)


async def silence(receive: Receive) -> None:
    """Say nothing until the caller is gone."""
    while (await receive())["type"] != "http.disconnect":
        pass


def droppable(app: ASGIApp) -> ASGIApp:
    """``app`` for uvicorn, whose connections ``drop`` can then end."""

    async def wrapped(scope: Scope, receive: Receive, send: Send) -> None:
        transport = send.__self__.transport  # type: ignore[attr-defined]  # uvicorn's cycle
        extensions = {**scope.get("extensions", {}), DROP: transport.abort}
        await app({**scope, "extensions": extensions}, receive, send)

    return wrapped


async def hung_up(caller: HTTPConnection, gone: Exception) -> None:
    """For a ClientDisconnect: who hung up in the middle of a request is answered nothing."""


async def bounded_body(request: Request, limit: int) -> bytes | None:
    """The body of a request; None when it has more than ``limit`` bytes."""
    body = b""
    async with aclosing(request.stream()) as pieces:
        async for piece in pieces:
            body += piece
            if len(body) > limit:
                return None
    return body


async def whole_body(receive: Receive) -> bytes:
    """The body of a request."""
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return body


def replayed(body: bytes, receive: Receive) -> Receive:
    """A ``receive`` that gives a body which was read already, and then what comes after it."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return messages.pop() if messages else await receive()

    return again
