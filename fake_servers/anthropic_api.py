"""A Messages endpoint with streaming on loopback: the real anthropic package talks to a script.

No key, no account, no network. It refuses what the real service refuses (a missing key, a
``tool_use`` without its ``tool_result``), so a conversation that it accepts is well formed.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from fake_servers.anthropic_events import as_sse, error_body, raw_events
from fake_servers.started import Started, stop_listening
from mini_agent.session import check_message
from mini_agent.types import JsonObject, ModelEvent

if TYPE_CHECKING:
    import anthropic


@dataclass(frozen=True)
class Status:
    """Instead of an answer: an HTTP status, 429 or 529 for instance. ``retry_after`` in seconds."""

    code: int
    retry_after: int | None = None


@dataclass(frozen=True)
class Broken:
    """An answer that stops before its message_stop.

    ``how`` is "error" for an error event there, "cut" for a body that ends tidily (the anthropic
    package says nothing then), "abort" for a connection that ends in the middle of the body.
    """

    turn: Sequence[ModelEvent]
    how: Literal["error", "cut", "abort"]


Turn: TypeAlias = Sequence[ModelEvent] | Status | Broken

MAX_HEAD = 64 * 1024
"""How many bytes a request line and its headers may have."""


class Unreadable(Exception):
    """A request that is no HTTP or holds no JSON. ``status`` is what it is answered with."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class AnthropicApi(Started):
    """Answers request after request with the next turn; ``requests`` keeps their bodies.

    ``async with AnthropicApi(turns) as api`` starts it on a free port of 127.0.0.1; ``api.url``
    is its base URL, ``api.client()`` an anthropic client that talks to it.
    """

    def __init__(self, turns: Iterable[Turn]) -> None:
        self._turns = iter(turns)
        self._server: asyncio.Server | None = None
        self._open: dict[asyncio.Task[None], asyncio.StreamWriter] = {}
        self.requests: list[JsonObject] = []
        self.url = ""

    async def start(self) -> str:
        """Listen, and return the base URL."""
        self._server = await asyncio.start_server(
            self._connected,
            "127.0.0.1",
            0,
            limit=16 * MAX_HEAD,  # above: read whole, then refused
        )
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self.url

    async def stop(self) -> None:
        """Stop at once, whatever is still being answered. Idempotent."""
        server, self._server = self._server, None
        if server is None:
            return
        await stop_listening(server)
        for writer in self._open.values():
            writer.transport.abort()
        await asyncio.gather(*self._open)
        await server.wait_closed()

    @contextlib.asynccontextmanager
    async def client(self, *, max_retries: int = 0) -> AsyncIterator[anthropic.AsyncAnthropic]:
        """The real package's client, pointed here, deaf to proxies and to the environment's key."""
        import anthropic

        http_client = anthropic.DefaultAsyncHttpxClient(trust_env=False)
        async with anthropic.AsyncAnthropic(
            base_url=self.url, api_key="none", http_client=http_client, max_retries=max_retries
        ) as client:
            yield client

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open[task] = writer
        try:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
                await self._answer(reader, writer)
        finally:
            del self._open[task]
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            method, path, headers, body = await read_request(reader)
        except Unreadable as error:
            writer.write(error_response(error.status, "invalid_request_error", str(error)))
            return
        refused = refusal(method, path, headers, body)
        if refused is not None:
            writer.write(error_response(refused[0], "invalid_request_error", refused[1]))
            return
        self.requests.append(body)
        match next(self._turns, None):
            case None:
                writer.write(error_response(400, "invalid_request_error", "the script is over"))
            case Status(code, retry_after):
                kind = {429: "rate_limit_error", 529: "overloaded_error"}.get(code, "api_error")
                writer.write(error_response(code, kind, "as scripted", retry_after))
            case Broken(turn, how):
                failed = [error_body("overloaded_error", "Overloaded")] if how == "error" else []
                await stream(writer, [*raw_events(turn)[:-1], *failed], whole=how != "abort")
            case turn:
                await stream(writer, raw_events(turn))


async def read_request(reader: asyncio.StreamReader) -> tuple[str, str, dict[str, str], Any]:
    """Method, path, headers (names in lower case) and JSON body of one HTTP/1.1 request.

    Raises: Unreadable; IncompleteReadError when the client leaves in the middle of it.
    """
    first, *lines = (await read_head(reader)).decode("latin-1").split("\r\n")
    pairs = (line.partition(":") for line in lines if line)
    headers = {name.lower(): value.strip() for name, _, value in pairs}
    line = re.fullmatch(r"(\S+) (\S+) HTTP/1\.[01]", first)
    length = headers.get("content-length", "0")
    if line is None or not re.fullmatch("[0-9]{1,9}", length):
        raise Unreadable(400, "the request line or its Content-Length is no HTTP/1.1")
    raw = await reader.readexactly(int(length))
    try:
        return line[1], line[2].partition("?")[0], headers, json.loads(raw) if raw else None
    except (ValueError, RecursionError) as cause:
        raise Unreadable(400, "the body is no JSON") from cause


async def read_head(reader: asyncio.StreamReader) -> bytes:
    """Everything before the body.

    Raises: Unreadable above MAX_HEAD bytes.
    """
    with contextlib.suppress(asyncio.LimitOverrunError):
        head = await reader.readuntil(b"\r\n\r\n")
        if len(head) <= MAX_HEAD:
            return head
    raise Unreadable(431, f"the headers have more than {MAX_HEAD} bytes")


def refusal(
    method: str, path: str, headers: Mapping[str, str], body: Any
) -> tuple[int, str] | None:
    """The status and the reason with which the service would refuse the request, or None."""
    if (method, path) != ("POST", "/v1/messages"):
        return 404, f"{method} {path} is not here"
    if not (headers.get("x-api-key") or headers.get("authorization")):
        return 401, "no API key"
    if not isinstance(body, dict) or body.get("stream") is not True:
        return 400, "this endpoint only streams"
    if not {"model", "max_tokens", "messages"} <= body.keys():
        return 400, "model, max_tokens and messages are required"
    if not isinstance(body["messages"], list) or not body["messages"]:
        return 400, "messages: must be a list of at least one"
    before = None
    for message in body["messages"]:
        try:
            check_message(message, after=before)
        except ValueError as error:
            return 400, f"messages: {error}"
        before = message
    return None


def error_response(status: int, kind: str, message: str, retry_after: int | None = None) -> bytes:
    """A whole HTTP response that holds an error object."""
    body = json.dumps(error_body(kind, message)).encode()
    extra = f"retry-after: {retry_after}\r\n" if retry_after is not None else ""
    head = (
        f"HTTP/1.1 {status} Scripted\r\ncontent-type: application/json\r\n{extra}"
        f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
    )
    return head.encode() + body


async def stream(
    writer: asyncio.StreamWriter, events: Iterable[JsonObject], *, whole: bool = True
) -> None:
    """Write the events, a chunk each; the empty chunk that ends the body only when ``whole``."""
    head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
    writer.write(f"{head}transfer-encoding: chunked\r\nconnection: close\r\n\r\n".encode())
    for event in events:
        data = as_sse(event)
        writer.write(b"%x\r\n%b\r\n" % (len(data), data))
        await writer.drain()
    if whole:
        writer.write(b"0\r\n\r\n")
