"""One server at a web address: every message a POST, its answer as JSON or as an event stream.

Guarantee: no error of httpx or the network leaves, nothing is sent twice, and nothing is sent
anywhere but to the configured address. Revision 2026-07-28, basic/transports/streamable-http.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from mini_agent.errors import MalformedMessage, McpError, TransportClosed
from mini_agent.mcp.connections import Connections
from mini_agent.mcp.credentials import Credentials, asked
from mini_agent.mcp.endpoint import OURS, checked_endpoint, checked_headers
from mini_agent.mcp.events import EventParser, StreamEvent
from mini_agent.mcp.headers import standard_headers
from mini_agent.mcp.messages import decode, encode, excerpt, kind
from mini_agent.mcp.replies import (
    answer,
    answer_despite,
    foreign_encoding,
    hidden,
    hidden_in,
    media_type,
    no_answer,
    refusal,
    translated,
    without_secrets,
)
from mini_agent.mcp.transport import NO_ENVELOPE, OneListener, OneLoop, closed_error
from mini_agent.types import JsonObject

if TYPE_CHECKING:
    import httpx

    Auth: TypeAlias = Credentials | httpx.Auth | tuple[str, str]

OnReply: TypeAlias = Callable[[JsonObject, int, Mapping[str, str]], None]

MAX_BODY = 64 * 1024 * 1024
EMPTY = (b"", b"{}")  # data of an event that only keeps the connection warm
LINGER = 0.02  # seconds
ALWAYS = {
    "Accept": "application/json, text/event-stream",
    "Accept-Encoding": "gzip, identity",
    "Content-Type": "application/json",
}


class HttpTransport(OneListener, OneLoop):
    """Posts each message to ``url``. Holds no connection state: every request stands alone.

    ``client`` is yours to close; without one, the transport makes its own, and bypasses proxies
    for this machine's addresses only. ``auth`` and ``headers`` go with every request; an ``auth``
    of Credentials (mini_agent.mcp.auth.OAuth) also answers a server that asks who is calling.
    ``max_body`` bounds a body, and an event of a stream, in bytes after decompression;
    ``max_in_flight`` the requests at a time, others wait. ``timeout`` is in seconds and bounds
    connecting and each write; how long an answer may take is for McpClient, which always says.

    Raises: ValueError for an address or a header that cannot or should not be used.
    """

    mirrors_envelope = True

    def __init__(
        self,
        url: str,
        *,
        client: httpx.AsyncClient | None = None,
        auth: Auth | None = None,
        headers: Mapping[str, str] | None = None,
        max_body: int = MAX_BODY,
        max_in_flight: int = 64,
        timeout: float = 10.0,
        allow_cleartext: bool = False,
        now: Callable[[], float] = time.time,
    ) -> None:
        import httpx

        if isinstance(auth, str | bytes):  # httpx would refuse it later, and quote it
            raise TypeError("auth is httpx.Auth, (user, password) or OAuth, not text")
        self._endpoint = checked_endpoint(url, allow_cleartext=allow_cleartext)
        self._url = httpx.URL(self._endpoint.url)  # parsed once, and not for each request
        self._credentials = auth if isinstance(auth, Credentials) else None
        reserved = OURS if self._credentials is None else (*OURS, "authorization")
        self._headers = {**checked_headers(headers, reserved=reserved), **ALWAYS}
        self._connections = Connections(self._endpoint, client)
        self._auth = None if isinstance(auth, Credentials) else auth
        self._max_body = max_body
        self._timeout = timeout
        self._now = now
        self.on_reply: OnReply | None = None  # both are LegacyTransport's: a modern server's
        self.may_respond = False  # replies say nothing in their headers, and ask for no responses
        self._slots = asyncio.Semaphore(max_in_flight)
        self._open: set[asyncio.Timeout] = set()  # one for each send under way
        self._closed = False

    # -- send -------------------------------------------------------------------------------------

    async def send(
        self, message: JsonObject, *, envelope: Mapping[str, str] = NO_ENVELOPE
    ) -> JsonObject | None:
        """Post one message and read its answer. The deadline is the caller's.

        Cancelling the task closes the reply, which is how the server learns of it.

        Raises: ConnectFailed, TransportClosed, HttpStatusError, AuthorizationError,
        MalformedMessage; ValueError for a message that JSON cannot express, or a response;
        RuntimeError in another event loop than that of the first send.
        """
        if kind(message) == "response" and not self.may_respond:
            raise ValueError("a client sends no responses (streamable-http#sending-messages)")
        headers = {**self._headers, **checked_headers(envelope, reserved=())}
        if kind(message) == "request":
            headers |= standard_headers(message)
        body = encode(message)
        try:
            async with self._until_closed(), self._slots, self._connections.lent() as client:
                return await self._exchange(client, message, headers, body)
        except McpError as error:
            if isinstance(error, MalformedMessage) and error.excerpt:
                self.note("junk", excerpt=error.excerpt)
            self.note("failed", error=type(error).__name__)
            raise

    async def _exchange(
        self, client: httpx.AsyncClient, message: JsonObject, headers: dict[str, str], body: bytes
    ) -> JsonObject | None:
        self.note("sent", message=message)
        with translated(self._endpoint):
            request = client.build_request(
                "POST", self._url, content=body, headers=headers, timeout=self._limits()
            )
        response = await self._asked(client, request)
        with translated(self._endpoint):
            try:
                if self.on_reply is not None:
                    self.on_reply(message, response.status_code, response.headers)
                return await self._read(response, message)
            finally:
                await response.aclose()

    async def _asked(self, client: httpx.AsyncClient, request: httpx.Request) -> httpx.Response:
        if self._credentials is not None:
            return await asked(client, request, self._credentials, self._endpoint, self.note)
        auth = client.auth if self._auth is None else self._auth
        with translated(self._endpoint):
            return await client.send(request, auth=auth, stream=True, follow_redirects=False)

    # -- read -------------------------------------------------------------------------------------

    async def _read(self, response: httpx.Response, message: JsonObject) -> JsonObject | None:
        if kind(message) != "request" and response.is_success:
            return None  # 202: whatever a body might say, nothing is asked
        if not response.is_success:
            return await self._read_refusal(response, message)
        if encoding := foreign_encoding(response.headers):
            raise MalformedMessage(f"the body is encoded as {encoding}, which was not offered")
        content_type = response.headers.get("content-type", "")
        if media_type(content_type) == "text/event-stream":
            return await self._read_stream(response, message)

        def read(body: bytes) -> JsonObject:
            if len(body) > self._max_body:
                text = f"a body of more than {self._max_body} bytes"
                raise MalformedMessage(text, excerpt=excerpt(body))
            if not body or media_type(content_type) != "application/json":
                raise no_answer(response.status_code, content_type, body)
            return answer(decode(body), message)

        body = await self._read_body(response)
        return self._received(without_secrets(read, body, response.request.headers))

    async def _read_refusal(self, response: httpx.Response, message: JsonObject) -> JsonObject:
        """A response in the body says more than the status does (#backward-compatibility).

        Raises: AuthorizationError, HttpStatusError.
        """
        body = b"" if foreign_encoding(response.headers) else await self._read_body(response)
        status, sent = response.status_code, response.request.headers
        headers = {name: hidden(value, sent) for name, value in response.headers.items()}
        found = answer_despite(body, message) if kind(message) == "request" else None
        challenged = status in (401, 403) and "www-authenticate" in headers
        if found is None or challenged:
            page = hidden_in(body, sent)
            raise refusal(self._endpoint.shown, status, headers, page, self._now())
        return self._received(found)

    async def _read_body(self, response: httpx.Response) -> bytes:
        """The body, cut a little above the limit."""
        body = bytearray()
        async with chunks_of(response) as chunks:
            async for chunk in chunks:
                body += chunk
                if len(body) > self._max_body:
                    break
        return bytes(body)

    async def _read_stream(self, response: httpx.Response, message: JsonObject) -> JsonObject:
        """Read events until the response comes."""
        parser = EventParser(self._max_body)
        async with chunks_of(response) as chunks:
            async for chunk in chunks:
                for event in parser.feed(chunk):
                    found = self._take_event(event, message, response.request.headers)
                    if found is not None:
                        return self._received(found)
        raise TransportClosed("the event stream ended before the response came")

    def _take_event(
        self, event: StreamEvent, request: JsonObject, sent: Mapping[str, str]
    ) -> JsonObject | None:
        if event.type != "message" or event.data.strip() in EMPTY:
            return None

        def read(data: bytes) -> JsonObject:
            found = decode(data)
            return answer(found, request) if kind(found) == "response" else found

        found = without_secrets(read, event.data, sent)
        if kind(found) == "response":
            return found
        self.hear(found)
        return None

    def _received(self, response: JsonObject) -> JsonObject:
        self.note("received", message=response)
        return response

    def _limits(self) -> httpx.Timeout:
        import httpx

        return httpx.Timeout(self._timeout, read=None)

    # -- end --------------------------------------------------------------------------------------

    @contextlib.asynccontextmanager
    async def _until_closed(self) -> AsyncIterator[None]:
        """What runs in here ends with TransportClosed when ``close`` is called meanwhile."""
        self.stay_home()
        if self._closed:
            raise closed_error()
        scope = asyncio.timeout(None)
        try:
            async with scope:
                self._open.add(scope)
                try:
                    yield
                finally:
                    self._open.discard(scope)
        except TimeoutError as cause:
            if not scope.expired():
                raise  # that of whoever was asked for credentials
            raise closed_error() from cause

    async def end_session(self, envelope: Mapping[str, str]) -> None:
        """Tell an older server that the session in ``envelope`` is over.

        Revision 2025-11-25, basic/transports#session-management. The answer does not matter.

        Raises: ConnectFailed, TransportClosed.
        """
        if not self.at_home():
            return  # no connection can be used
        headers = {**self._headers, **checked_headers(envelope, reserved=())}
        async with self._until_closed(), self._slots, self._connections.lent() as client:
            with translated(self._endpoint):
                request = client.build_request(
                    "DELETE", self._url, headers=headers, timeout=self._limits()
                )
            response = await self._asked(client, request)
            with translated(self._endpoint):
                await response.aclose()

    async def close(self) -> None:
        """Close every connection of its own; requests in flight fail. Idempotent, from any task."""
        self._closed = True
        while self._open and self.at_home():
            self._open.pop().reschedule(asyncio.get_running_loop().time())
        if self._credentials is not None:
            await self._credentials.close()
        await self._connections.close()


@contextlib.asynccontextmanager
async def chunks_of(response: httpx.Response) -> AsyncIterator[AsyncIterator[bytes]]:
    """The body as it comes in, decompressed. Who leaves early need not care for the rest of it."""
    chunks = response.aiter_bytes()
    try:
        yield chunks
    finally:
        await until_end(chunks)


async def until_end(chunks: AsyncIterator[bytes]) -> None:
    """Give a body a moment to end by itself: only then can its connection be used again.

    How it ends does not matter any more: its reader has what it wanted, or an error to raise.
    """
    import httpx

    with contextlib.suppress(httpx.HTTPError, httpx.StreamError, OSError):
        async with asyncio.timeout(LINGER):
            async for _ in chunks:
                await asyncio.sleep(0)  # a turn for the clock, also where chunks come without end
