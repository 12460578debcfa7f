"""The MCP endpoint as an ASGI application: what comes in, what is refused, what goes out."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from fake_servers.core import Server
from fake_servers.headers import check_headers
from fake_servers.wire import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    Entry,
    Message,
    Rejection,
    decode,
    encode,
    error_message,
    is_request,
)

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import Receive, Scope, Send

Replies: TypeAlias = Literal["auto", "json", "stream"]

MAX_BODY = 4 * 2**20
JSON, STREAM = "application/json", "text/event-stream"
STATUS = {METHOD_NOT_FOUND: 404, INTERNAL_ERROR: 500}
"""The HTTP status of an error code, where it is not 400."""


class TooLarge(Exception):
    """The body is longer than the limit."""


class App:
    """Answers POST /mcp. ``transcript`` and ``requests`` remember what came and went."""

    def __init__(
        self, server: Server, *, replies: Replies, max_body: int, origins: tuple[str, ...]
    ) -> None:
        self.server = server
        self.replies = replies
        self.max_body = max_body
        self.origins = origins
        self.transcript: list[Entry] = []
        self.requests: list[dict[str, str]] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The ASGI entry point. A client that disconnects has cancelled its request."""
        from starlette.requests import ClientDisconnect, Request

        request = Request(scope, receive)
        self.requests.append(dict(request.headers))
        try:
            answer = self._refusal(request) or await self._accept(request)
        except ClientDisconnect:
            return
        if isinstance(answer, dict):
            await _unless_gone(self._answer(answer, request, send), receive)
        else:
            await answer(scope, receive, send)

    def _refusal(self, request: Request) -> Response | None:
        """What is refused before the body is read."""
        headers = request.headers
        own = headers.get("host", "").partition(":")[0] in ("127.0.0.1", "localhost")
        if not own or not self._known_origin(headers):
            return _plain(403, "Forbidden: this server is for its own machine")
        if request.url.path != "/mcp":
            return _plain(404, "Not found: the MCP endpoint is /mcp")
        if request.method != "POST":
            return _plain(405, "Method not allowed: POST only", allow="POST")
        if not {JSON, STREAM} <= _ranks(headers.get("accept", "")).keys():
            return _plain(406, f"Not acceptable: Accept must list {JSON} and {STREAM}")
        return None

    def _known_origin(self, headers: Any) -> bool:
        origin, host = headers.get("origin"), headers.get("host")
        return origin is None or origin in (f"http://{host}", *self.origins)

    async def _accept(self, request: Request) -> Message | Response:
        """The request to answer, or the response to what is none."""
        message: Message = {}
        try:
            message = decode(await _body(request, self.max_body))
            self.transcript.append(Entry("client", message))
            if "method" not in message and not is_request(message):
                raise Rejection(INVALID_REQUEST, "Invalid request: a client sends no responses")
            if is_request(message):
                check_headers(message, request.headers, self.server)
        except TooLarge:
            return _plain(413, f"Too large: at most {self.max_body} bytes", connection="close")
        except Rejection as rejection:
            return _json(self._log(error_message(message.get("id"), rejection)))
        return message if is_request(message) else _plain(202, "")

    async def _answer(self, message: Message, request: Request, send: Send) -> None:
        async with aclosing(self.server.handle(message)) as answers:
            first = await anext(answers)
            if "error" in first or self._as_json(first, request):
                *_, last = [first, *[answer async for answer in answers]]
                await _json(self._log(last))(request.scope, request.receive, send)
            else:
                await self._stream(first, answers, send)

    def _as_json(self, first: Message, request: Request) -> bool:
        if first.get("method") == "notifications/subscriptions/acknowledged":
            return False  # its response comes when the subscription ends
        if self.replies != "auto":
            return self.replies == "json"
        ranks = _ranks(request.headers.get("accept", ""))
        return "method" not in first and ranks[JSON] >= ranks[STREAM]

    async def _stream(self, first: Message, rest: AsyncIterator[Message], send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": STREAM_HEADERS})
        await self._event(first, send)
        async for message in rest:
            await self._event(message, send)
        await send({"type": "http.response.body", "body": b""})

    async def _event(self, message: Message, send: Send) -> None:
        data = b"event: message\ndata: " + encode(self._log(message)) + b"\n\n"
        await send({"type": "http.response.body", "body": data, "more_body": True})

    def _log(self, message: Message) -> Message:
        self.transcript.append(Entry("server", message))
        return message


STREAM_HEADERS = [
    (b"content-type", STREAM.encode()),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
]


async def _unless_gone(work: Any, receive: Receive) -> None:
    """Run ``work`` until it is done or the client has disconnected, whichever comes first."""
    tasks = [asyncio.ensure_future(work), asyncio.ensure_future(_disconnected(receive))]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
    if not tasks[0].cancelled():
        tasks[0].result()


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _body(request: Request, limit: int) -> bytes:
    """The body. One that is too long is read and thrown away, for the refusal to be heard."""
    pieces: list[bytes] = []
    size = 0
    async for piece in request.stream():
        size += len(piece)
        if size <= limit:
            pieces.append(piece)
        elif size > 16 * limit:
            break
    if size > limit:
        raise TooLarge
    return b"".join(pieces)


def _ranks(accept: str) -> dict[str, float]:
    """The media types of an Accept header, each with its q (1.0 where none is given)."""
    ranks = {}
    for item in accept.split(","):
        kind, _, parameters = item.partition(";")
        q = parameters.strip().removeprefix("q=")
        ranks[kind.strip().lower()] = float(q) if re.fullmatch(r"[01](\.[0-9]*)?", q) else 1.0
    return ranks


def _json(message: Message) -> Response:
    from starlette.responses import Response

    status = STATUS.get(message["error"]["code"], 400) if "error" in message else 200
    return Response(encode(message), status, media_type=JSON)


def _plain(status: int, text: str, **headers: str) -> Response:
    from starlette.responses import Response

    media_type = "text/plain" if text else None
    return Response(text, status, headers, media_type)
