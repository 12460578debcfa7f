"""What a network can do to a transport, and what the transport makes of it.

Most servers are an httpx.MockTransport: no port, exact. Where bytes on a socket are the point, an
asyncio.start_server writes them.
"""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import inspect
import json
import ssl
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import pytest

from mini_agent import draw
from mini_agent.errors import (
    AuthorizationError,
    ConnectFailed,
    HttpStatusError,
    MalformedMessage,
    McpError,
    TransportClosed,
)
from mini_agent.mcp.client import McpClient
from mini_agent.mcp.http import HttpTransport
from mini_agent.mcp.messages import build_meta, build_request, decode
from mini_agent.mcp.replies import media_type, retry_after, without_secrets
from mini_agent.trace import Trace

pytestmark = pytest.mark.timeout(20)

URL = "http://127.0.0.1:1/mcp"
JSON, SSE = "application/json", "text/event-stream"
NOTIFICATION = {"jsonrpc": "2.0", "method": "test/x", "params": {}}


def ask(number: int | str = 1, method: str = "tools/call", **params: Any) -> dict[str, Any]:
    named = {"name": "t"} if method == "tools/call" else {}
    return build_request(number, method, {**named, **params}, meta=build_meta())


def answered(number: int | str | None = 1, **result: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "result": result}


def refused(number: int | str | None, code: int = -32601) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": "no"}}


def raw(message: Any) -> bytes:
    return json.dumps(message).encode()


def event(message: Any) -> bytes:
    return b"data: " + raw(message) + b"\n\n"


class Parts(httpx.AsyncByteStream):
    """A body that comes in parts; an Event among them is waited for, an exception raised."""

    def __init__(self, *parts: Any) -> None:
        self.parts = parts
        self.closed = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for part in self.parts:
            if isinstance(part, asyncio.Event):
                await part.wait()
            elif isinstance(part, Exception):
                raise part
            else:
                yield part

    async def aclose(self) -> None:
        self.closed = True


def reply(
    *parts: Any, status: int = 200, type: str | None = JSON, **headers: str
) -> httpx.Response:
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    given |= {} if type is None else {"Content-Type": type}
    return httpx.Response(status, headers=given, stream=Parts(*parts))


class Web:
    """A server that answers each request with the next reply, and remembers the requests."""

    def __init__(self, *replies: Any, **options: Any) -> None:
        self.requests: list[httpx.Request] = []
        self._replies = iter(replies)
        self._client = httpx.AsyncClient(transport=httpx.MockTransport(self._handle))
        self.transport = HttpTransport(URL, client=self._client, **options)

    async def _handle(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        found = next(self._replies)
        if isinstance(found, Exception):
            raise found
        assert isinstance(found, httpx.Response)
        return found

    async def send(self, message: Any = None, **options: Any) -> Any:
        return await self.transport.send(ask() if message is None else message, **options)

    async def failure(self, message: Any = None) -> McpError:
        with pytest.raises(McpError) as raised:
            await self.send(message)
        return raised.value


@contextlib.asynccontextmanager
async def socket_server(
    serve: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Any],
) -> AsyncIterator[str]:
    """The address of a server that ``serve`` speaks for, byte by byte."""
    tasks = set()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            await serve(reader, writer)
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp"
    await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 5)


async def read_request(reader: asyncio.StreamReader) -> tuple[bytes, Any]:
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(
        int(line.split(b":")[1])
        for line in head.split(b"\r\n")
        if line.lower().startswith(b"content-length")
    )
    return head, json.loads(await reader.readexactly(length))


def http(body: bytes, headers: str = f"Content-Type: {JSON}", status: str = "200 OK") -> bytes:
    return f"HTTP/1.1 {status}\r\n{headers}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


# -- the request ----------------------------------------------------------------------------------


@pytest.mark.case("H12")
@pytest.mark.must("C40", "C41", "C42", "C44", "C45", "C46")
async def test_each_message_is_one_post_with_the_headers_of_the_revision() -> None:
    web = Web(reply(raw(answered(1))), reply(raw(answered(2))))
    message = ask(1, "tools/call", arguments={})
    await web.send(message)
    await web.send(ask(2, "tools/list"))
    first, second = web.requests
    assert (first.method, str(first.url)) == ("POST", URL)
    assert json.loads(first.content) == message
    assert first.headers["accept"] == "application/json, text/event-stream"
    assert first.headers["content-type"] == "application/json"
    assert first.headers["mcp-protocol-version"] == "2026-07-28"
    assert first.headers["mcp-method"] == "tools/call"
    assert first.headers["mcp-name"] == "t"
    assert second.headers["mcp-method"] == "tools/list"
    assert "mcp-name" not in second.headers


@pytest.mark.must("C48")
async def test_the_envelope_travels_as_headers() -> None:
    web = Web(reply(raw(answered())))
    await web.send(envelope={"Mcp-Param-Region": "eu"})
    assert web.requests[0].headers["mcp-param-region"] == "eu"


@pytest.mark.case("H13")
@pytest.mark.must("C47")
async def test_a_name_that_no_header_can_hold_travels_encoded() -> None:
    web = Web(reply(raw(answered())))
    await web.send(ask(1, "tools/call", name="café\r\nEvil: 1"))
    assert web.requests[0].headers["mcp-name"].startswith("=?base64?")
    assert "evil" not in web.requests[0].headers


@pytest.mark.case("H13")
@pytest.mark.parametrize(
    "headers",
    [
        {"X-Key": "a\r\nEvil: 1"},
        {"X-Key": "ключ"},
        {"X Key": "1"},
        {"": "1"},
        {"X-Key\r\n": "1"},
        {"Accept": "text/html"},
        {"Mcp-Method": "x"},
    ],
)
def test_headers_that_cannot_or_may_not_be_sent_are_refused_at_once(headers: Any) -> None:
    with pytest.raises(ValueError, match="header") as raised:
        HttpTransport(URL, headers=headers)
    assert "Evil" not in str(raised.value)


async def test_an_envelope_that_would_inject_a_header_is_refused() -> None:
    with pytest.raises(ValueError, match="Mcp-Param-X"):
        await Web().send(envelope={"Mcp-Param-X": "a\r\nEvil: 1"})


async def test_configured_headers_and_auth_go_with_every_request() -> None:
    web = Web(
        reply(raw(answered())), reply(raw(answered())), headers={"X-Key": "1"}, auth=("u", "p")
    )
    await web.send()
    await web.send()
    for request in web.requests:
        assert request.headers["x-key"] == "1"
        assert request.headers["authorization"].startswith("Basic ")


async def test_a_given_clients_own_auth_holds_unless_another_is_given() -> None:
    web = Web(reply(raw(answered())))
    web._client.auth = ("u", "p")  # type: ignore[assignment]
    await web.send()
    assert "authorization" in web.requests[0].headers


@pytest.mark.case("L10")
async def test_connecting_and_writing_are_bounded_also_with_a_given_client() -> None:
    web = Web(reply(raw(answered())), timeout=3.0)
    await web.send()
    limits = web.requests[0].extensions["timeout"]
    assert limits == {"connect": 3.0, "write": 3.0, "pool": 3.0, "read": None}


@pytest.mark.must("C42")
async def test_a_response_is_never_sent() -> None:
    with pytest.raises(ValueError, match="no responses"):
        await Web().send(answered())


async def test_what_json_cannot_say_is_refused_before_anything_is_sent() -> None:
    web = Web()
    with pytest.raises(ValueError, match="JSON"):
        await web.send(ask(x=float("nan")))
    assert web.requests == []


# -- the address ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    [
        "http://example.test/mcp",
        "http://127.0.0.1.example.test/mcp",
        "http://localhost.example.test/mcp",
        "http://0x7f.1/mcp",
        "http://[::ffff:10.0.0.1]/mcp",
        "ftp://127.0.0.1/mcp",
        "//127.0.0.1/mcp",
        "127.0.0.1:8000/mcp",
        "http:///mcp",
        "",
        "http://127.0.0.1:port/mcp",
        "http://127.0.0.1:99999/",
        "http://127.0.0.1:0/",
        "http://127.0.0.1:-1/",
    ],
)
def test_an_address_that_is_none_or_could_be_read_on_the_way_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match=r"URL|http"):
        HttpTransport(url)


@pytest.mark.parametrize(
    "url",
    ["http://localhost:1/", "http://127.8.9.1/", "http://[::1]:2/mcp", "https://example.test/mcp"],
)
def test_https_and_this_machine_are_fine(url: str) -> None:
    HttpTransport(url)


def test_cleartext_can_be_allowed() -> None:
    HttpTransport("http://10.1.2.3/mcp", allow_cleartext=True)


@pytest.mark.case("H06")
async def test_no_secret_of_the_address_is_shown_anywhere() -> None:
    with pytest.raises(ValueError, match="credentials") as raised:
        HttpTransport("https://user:s3cret@example.test/mcp")
    assert "s3cret" not in str(raised.value)
    client = httpx.AsyncClient(transport=httpx.MockTransport(lambda _: httpx.Response(502)))
    transport = HttpTransport("https://example.test/mcp?key=s3cret", client=client)
    transport.trace = Trace()
    with pytest.raises(HttpStatusError) as failed:
        await transport.send(ask())
    assert "example.test/mcp" in str(failed.value)
    assert "s3cret" not in str(failed.value) + transport.trace.table() + repr(transport)


@pytest.mark.case("H06")
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_not_followed(status: int) -> None:
    web = Web(
        reply(status=status, Location="http://u:s3cret@169.254.169.254/latest?token=s3cret#s3cret"),
        headers={"Authorization": "Bearer s3cret"},
    )
    web._client.follow_redirects = True  # the client's own wish does not count here
    error = await web.failure()
    assert isinstance(error, HttpStatusError)
    assert error.status == status
    assert "credentials" in str(error)
    assert "s3cret" not in str(error)
    assert len(web.requests) == 1


@pytest.mark.case("H06")
async def test_a_header_that_http_cannot_carry_is_not_repeated() -> None:
    class Torn(httpx.Auth):
        def auth_flow(self, request: httpx.Request) -> Any:
            request.headers["Authorization"] = "Bearer s3cret\n"
            yield request

    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    async with await asyncio.start_server(hang_up, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        transport = HttpTransport(f"http://127.0.0.1:{port}/mcp", auth=Torn())
        with pytest.raises(ConnectFailed) as failed:
            await transport.send(ask())
        await transport.close()
    assert "s3cret" not in str(failed.value) and failed.value.__cause__ is None


@pytest.mark.parametrize(
    "url", ["https://user:pa55/word@host/mcp", "https://h:pa55/mcp", "https://u:99955/w@host/mcp"]
)
def test_a_url_that_is_none_is_not_repeated(url: str) -> None:
    with pytest.raises(ValueError) as raised:
        HttpTransport(url)
    assert "pa55" not in str(raised.value) and "999" not in str(raised.value)


# -- the reply: JSON ------------------------------------------------------------------------------


@pytest.mark.case("H03")
@pytest.mark.must("C43", "C53")
@pytest.mark.parametrize(
    "type", [JSON, "application/json; charset=utf-8", "APPLICATION/JSON", " application/json ;x=y"]
)
async def test_only_the_media_type_counts(type: str) -> None:
    assert await Web(reply(raw(answered()), type=type)).send() == answered()


def test_the_media_type_is_read_without_its_parameters() -> None:
    assert media_type("Text/Event-Stream; charset=utf-8") == SSE


@pytest.mark.case("H03", "H04")
@pytest.mark.parametrize(
    "accepted",
    [
        lambda: reply(status=202, type=None),
        lambda: reply(b"thanks", status=202, type="text/plain"),
        lambda: reply(status=204, type=None),
        lambda: reply(status=200, type=None),
        lambda: reply(asyncio.Event(), b"never", status=202, type=SSE),
    ],
)
async def test_a_notification_is_done_when_it_is_accepted(accepted: Any) -> None:
    assert await Web(accepted()).send(NOTIFICATION) is None


async def test_a_notification_that_is_refused_is_an_error() -> None:
    error = await Web(reply(raw(refused(None)), status=400)).failure(NOTIFICATION)
    assert isinstance(error, HttpStatusError)
    assert error.status == 400


@pytest.mark.case("H04")
@pytest.mark.parametrize(
    "empty",
    [
        lambda: reply(status=202, type=None),
        lambda: reply(status=204, type=None),
        lambda: reply(status=200, type=JSON),
        lambda: reply(status=200, type=None),
    ],
)
async def test_no_body_in_answer_to_a_request_is_an_error_and_no_wait(empty: Any) -> None:
    assert isinstance(await Web(empty()).failure(), MalformedMessage)


@pytest.mark.case("H01")
async def test_invalid_json_is_an_error() -> None:
    error = await Web(reply(b'{"jsonrpc": "2.0", "id"')).failure()
    assert isinstance(error, MalformedMessage)
    assert error.excerpt.startswith('{"jsonrpc"')


async def test_another_content_type_is_an_error_that_shows_what_came() -> None:
    error = await Web(reply(b"<html>\x1b[2J", type="text/html")).failure()
    assert isinstance(error, MalformedMessage)
    assert "text/html" in str(error)
    assert error.excerpt == "<html>\\x1b[2J"


@pytest.mark.parametrize(
    ("response", "excerpt"),
    [
        (lambda: reply(b'{"jsonrpc": "2.0", "id"'), '{"jsonrpc": "2.0", "id"'),
        (lambda: reply(b"<html>\x1b[2J", type="text/html"), "<html>\\x1b[2J"),
        (lambda: reply(b"data: hello\n\n", type=SSE), "hello"),
    ],
)
async def test_what_is_no_message_is_in_the_trace_and_the_drawing_shows_it(
    response: Any, excerpt: str
) -> None:
    web, trace = Web(response()), Trace()
    async with McpClient(web.transport, trace=trace) as client:
        with pytest.raises(MalformedMessage):
            await client.call("t", {})
    noted = [(e.what, dict(e.facts)) for e in trace.events if e.layer == "transport"]
    assert noted[1:] == [("junk", {"excerpt": excerpt}), ("failed", {"error": "MalformedMessage"})]
    told = draw.chain(trace).alt
    assert "writes what is no message" in told and "gave no answer" not in told


@pytest.mark.parametrize(
    "message",
    [answered(2), answered("1"), answered(None), answered(True), NOTIFICATION, ask(), [answered()]],
)
async def test_a_body_that_is_not_the_response_to_this_request_is_an_error(message: Any) -> None:
    assert isinstance(await Web(reply(raw(message))).failure(), MalformedMessage)


async def test_a_body_above_the_limit_is_an_error_also_when_compressed() -> None:
    big = raw(answered(text="x" * 5000))
    for response in (reply(big), reply(gzip.compress(big), Content_Encoding="gzip")):
        assert isinstance(await Web(response, max_body=1000).failure(), MalformedMessage)


@pytest.mark.case("H10")
async def test_a_compressed_body_is_unpacked_and_only_that_is_offered() -> None:
    web = Web(reply(gzip.compress(raw(answered())), Content_Encoding="gzip"))
    assert await web.send() == answered()
    assert web.requests[0].headers["accept-encoding"] == "gzip, identity"


@pytest.mark.case("H10")
@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "rot13"])
async def test_a_compression_that_was_not_offered_is_named(encoding: str) -> None:
    error = await Web(reply(b"\x0b\x02\x80", Content_Encoding=encoding)).failure()
    assert isinstance(error, MalformedMessage)
    assert encoding in str(error)


@pytest.mark.case("H10")
async def test_a_body_that_does_not_unpack_is_an_error() -> None:
    error = await Web(reply(b"no gzip at all", Content_Encoding="gzip")).failure()
    assert isinstance(error, MalformedMessage)
    await asyncio.sleep(0)  # httpx leaves its own half-read generator to the event loop


# -- the reply: statuses --------------------------------------------------------------------------


@pytest.mark.case("H02")
@pytest.mark.must("C56")
@pytest.mark.parametrize("number", [1, None, "absent"])
@pytest.mark.parametrize(("status", "type"), [(400, JSON), (404, JSON), (500, "text/plain")])
async def test_a_json_rpc_error_counts_whatever_the_status(
    status: int, type: str, number: Any
) -> None:
    message = refused(number)
    if number == "absent":
        del message["id"]
    web = Web(reply(raw(message), status=status, type=type))
    assert await web.send() == refused(1)


@pytest.mark.case("H02")
async def test_a_bare_404_says_that_nothing_is_there() -> None:
    error = await Web(reply(b"<h1>Not Found</h1>", status=404, type="text/html")).failure()
    assert isinstance(error, HttpStatusError)
    assert error.status == 404
    assert "no MCP endpoint" in str(error)
    assert not error.may_have_acted


@pytest.mark.case("H01")
async def test_a_gateways_page_is_quoted_in_short_and_made_visible() -> None:
    page = b"<html>\x1b[31m\r\n" + b"bad gateway " * 1000
    error = await Web(reply(page, status=502, type="text/html")).failure()
    assert isinstance(error, HttpStatusError)
    assert (error.status, error.may_have_acted) == (502, True)
    assert error.excerpt.startswith("<html>\\x1b[31m\\r\\n")
    assert len(error.excerpt) <= 1024
    assert "502 Bad Gateway" in str(error)
    assert len(str(error)) < 300


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{}", raw(answered(7)), raw(answered(None)), b"\xff"]
)
async def test_a_body_that_is_no_answer_leaves_the_status_to_speak(body: bytes) -> None:
    error = await Web(reply(body, status=500)).failure()
    assert isinstance(error, HttpStatusError)
    assert error.status == 500


@pytest.mark.parametrize("status", [401, 403])
async def test_401_and_403_keep_the_challenge(status: int) -> None:
    challenge = 'Bearer resource_metadata="https://example.test/.well-known/x"'
    body = raw(refused(None, -32001))
    error = await Web(reply(body, status=status, WWW_Authenticate=challenge)).failure()
    assert isinstance(error, AuthorizationError)
    assert (error.status, error.challenge) == (status, challenge)
    assert not error.may_have_acted
    bare = await Web(reply(status=status, type=None)).failure()
    assert isinstance(bare, AuthorizationError)
    assert bare.challenge == ""


@pytest.mark.case("H16")
@pytest.mark.parametrize("status", [429, 503])
async def test_retry_after_is_told_and_nothing_is_tried_again(status: int) -> None:
    web = Web(reply(status=status, Retry_After="3600"))
    error = await web.failure()
    assert isinstance(error, HttpStatusError)
    assert (error.status, error.retry_after) == (status, 3600.0)
    assert len(web.requests) == 1


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120.0),
        (" 0 ", 0.0),
        ("Thu, 01 Jan 1970 00:02:00 GMT", 20.0),
        ("Thu, 01 Jan 1970 00:00:01 GMT", 0.0),
        ("soon", None),
        ("-5", None),
        ("", None),
        ("Thu, 99 Jan 1970", None),
    ],
)
def test_both_forms_of_retry_after_become_seconds(value: str, seconds: float | None) -> None:
    assert retry_after(value, now=100.0) == seconds


async def test_a_status_without_a_name_is_shown_as_its_number() -> None:
    error = await Web(reply(status=599)).failure()
    assert isinstance(error, HttpStatusError)
    assert "599" in str(error)


async def test_a_compressed_error_page_that_cannot_be_read_leaves_the_status() -> None:
    error = await Web(reply(b"\x0b", status=502, Content_Encoding="br")).failure()
    assert isinstance(error, HttpStatusError)
    assert error.excerpt == ""


# -- the reply: event streams ---------------------------------------------------------------------


@pytest.mark.case("E02", "E06", "E07", "E08", "E09")
@pytest.mark.must("C43", "C54")
async def test_what_comes_before_the_response_goes_to_the_listener() -> None:
    progress = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": 1}}
    web = Web(
        reply(
            b"\xef\xbb\xbf: hello\r\n\r\n",
            b"event: keepalive\ndata: {}\n\ndata\n\ndata: {}\n\nevent: ping\ndata: pong\n\n",
            b"id: 1\nretry: abc\n" + event(progress),
            event(progress) + event(answered(ok=True)),
            event({"jsonrpc": "2.0", "method": "too/late"}),
            type="text/event-stream; charset=utf-8",
        )
    )
    heard: list[Any] = []
    web.transport.listener = heard.append
    assert await web.send() == answered(ok=True)
    assert heard == [progress, progress]


@pytest.mark.case("E01")
@pytest.mark.must("C55")
@pytest.mark.parametrize(
    "parts",
    [
        [],
        [b": ping\n\n"],
        [event({"jsonrpc": "2.0", "method": "notifications/progress"})],
        [event(answered())[:-1]],
    ],
)
async def test_a_stream_that_ends_without_the_response_is_an_error_at_once(parts: Any) -> None:
    web = Web(reply(*parts, type=SSE))
    assert isinstance(await web.failure(), TransportClosed)
    assert len(web.requests) == 1


async def test_a_stream_that_breaks_is_an_error_and_after_the_response_it_is_none() -> None:
    cut = httpx.ReadError("cut")
    assert isinstance(await Web(reply(b"data: ", cut, type=SSE)).failure(), TransportClosed)
    assert await Web(reply(event(answered()), cut, type=SSE)).send() == answered()


async def test_a_stream_that_does_not_end_after_the_response_holds_nobody_up() -> None:
    web = Web(reply(event(answered()), asyncio.Event(), type=SSE))
    assert await web.send() == answered()


async def test_a_body_without_end_is_cut_off_at_the_limit() -> None:
    class Endless(httpx.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            while True:
                yield b"data: x"

    for type in (JSON, SSE):
        response = httpx.Response(200, headers={"Content-Type": type}, stream=Endless())
        assert isinstance(await Web(response, max_body=1000).failure(), MalformedMessage)


@pytest.mark.parametrize(
    "data", [b"data: hello\n\n", b"data: []\n\n", event(answered(2)), event(answered(None))]
)
async def test_an_event_that_is_no_message_or_answers_another_is_an_error(data: bytes) -> None:
    assert isinstance(await Web(reply(data, type=SSE)).failure(), MalformedMessage)


async def test_an_event_above_the_limit_is_an_error() -> None:
    web = Web(reply(*[b"data: " + b"x" * 100] * 20, type=SSE), max_body=1000)
    assert isinstance(await web.failure(), MalformedMessage)


async def test_an_error_with_no_id_on_the_stream_answers_its_request() -> None:
    assert await Web(reply(event(refused(None)), type=SSE)).send() == refused(1)


async def test_a_request_from_the_server_is_noted_and_gets_no_reply() -> None:
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    web = Web(reply(event(ping), event(answered()), type=SSE))
    heard: list[Any] = []
    web.transport.listener = heard.append
    assert await web.send() == answered()
    assert heard == [ping]
    assert len(web.requests) == 1


# -- errors below ---------------------------------------------------------------------------------


def httpx_errors() -> list[Exception]:
    """One of every exception class that httpx has."""
    request = httpx.Request("POST", URL)
    found: list[Exception] = []
    for value in vars(httpx).values():
        if inspect.isclass(value) and issubclass(value, Exception):
            wants = inspect.signature(value.__init__).parameters
            more: dict[str, Any] = {"request": request} if "request" in wants else {}
            if "response" in wants:
                more["response"] = httpx.Response(500, request=request)
            found.append(value("it broke", **more) if "message" in wants else value())
    return found


LOCAL = [OSError(5, "io"), ssl.SSLError(1, "tls"), ConnectionResetError(), BrokenPipeError()]
BROKEN = [*httpx_errors(), *LOCAL, TimeoutError(), ssl.SSLCertVerificationError(1, "cert")]


def test_the_list_of_httpx_errors_is_not_empty() -> None:
    assert len(httpx_errors()) >= 25


@pytest.mark.parametrize("broken", BROKEN, ids=lambda error: type(error).__name__)
async def test_no_error_of_httpx_or_the_network_leaves_the_transport(broken: Exception) -> None:
    at_start = await Web(broken).failure()
    in_body = await Web(reply(b"{", broken)).failure()
    in_stream = await Web(reply(b"data: ", broken, type=SSE)).failure()
    in_refusal = await Web(reply(b"<", broken, status=500)).failure()
    for error in (at_start, in_body, in_stream, in_refusal):
        assert type(error).__module__ == "mini_agent.errors"


@pytest.mark.parametrize(
    ("broken", "expected"),
    [
        (httpx.ConnectError("refused"), ConnectFailed),
        (httpx.ConnectTimeout("slow"), ConnectFailed),
        (httpx.PoolTimeout("full"), ConnectFailed),
        (httpx.ProxyError("407"), ConnectFailed),
        (httpx.WriteError("cut"), TransportClosed),
        (httpx.ReadError("cut"), TransportClosed),
        (httpx.RemoteProtocolError("no answer"), TransportClosed),
        (httpx.DecodingError("no gzip"), MalformedMessage),
    ],
)
async def test_whether_the_server_may_have_acted_is_in_the_class(
    broken: Exception, expected: type[McpError]
) -> None:
    error = await Web(broken).failure()
    assert type(error) is expected
    assert error.may_have_acted is (expected is not ConnectFailed)
    assert error.__cause__ is broken


async def test_a_hook_that_checks_statuses_is_translated_without_the_address() -> None:
    web = Web(reply(status=503))

    async def check(response: httpx.Response) -> None:
        response.raise_for_status()

    web._client.event_hooks["response"] = [check]
    error = await web.failure()
    assert isinstance(error, HttpStatusError)
    assert error.status == 503


async def test_a_connection_that_is_refused_never_reached_the_server() -> None:
    transport = HttpTransport("http://127.0.0.1:9/mcp")
    with pytest.raises(ConnectFailed) as raised:
        await transport.send(ask())
    assert "127.0.0.1:9" in str(raised.value)
    await transport.close()


@pytest.mark.case("H20")
async def test_localhost_reaches_a_server_on_either_address_and_names_both() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(http(raw(answered())))

    async with socket_server(serve) as url:
        transport = HttpTransport(url.replace("127.0.0.1", "localhost"))
        assert await transport.send(ask()) == answered()
        await transport.close()
    with pytest.raises(ConnectFailed) as raised:
        await HttpTransport("http://localhost:9/mcp").send(ask())
    assert "::1" in str(raised.value)
    assert "127.0.0.1" in str(raised.value)


@pytest.mark.case("E01")
@pytest.mark.parametrize(
    "head",
    [
        f"HTTP/1.1 200 OK\r\nContent-Type: {JSON}\r\nContent-Length: 100\r\n\r\n{{",
        f"HTTP/1.1 200 OK\r\nContent-Type: {SSE}\r\nTransfer-Encoding: chunked\r\n\r\n6\r\ndata: ",
        f"HTTP/1.1 200 OK\r\nContent-Type: {SSE}\r\n\r\ndata: ",
        "HTTP/1.1 200 OK\r\nContent-Ty",
        "",
        "SSH-2.0-OpenSSH_9.6\r\n",
    ],
    ids=["JSON", "chunks", "stream", "headers", "nothing", "another protocol"],
)
async def test_a_reply_that_is_cut_is_an_error_and_is_not_asked_for_again(head: str) -> None:
    asked = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await read_request(reader))
        writer.write(head.encode())

    async with socket_server(serve) as url:
        transport = HttpTransport(url)
        with pytest.raises(TransportClosed) as raised:
            await transport.send(ask())
        assert raised.value.may_have_acted
        await transport.close()
    assert len(asked) == 1


@pytest.mark.case("H17", "E11")
async def test_a_connection_that_the_server_dropped_meanwhile_is_not_used_to_send_twice() -> None:
    calls: list[int] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _ in range(2):
            head, message = await read_request(reader)
            assert head.startswith(b"POST ")
            calls.append(message["id"])
            if message["id"] == 2:
                return  # takes the call and says nothing
            writer.write(http(raw(answered(message["id"]))))

    async with socket_server(serve) as url:
        transport = HttpTransport(url)
        assert await transport.send(ask(1)) == answered(1)
        with pytest.raises(TransportClosed):
            await transport.send(ask(2))
        assert await transport.send(ask(3)) == answered(3)
        await transport.close()
    assert calls == [1, 2, 3]


# -- proxies --------------------------------------------------------------------------------------


@pytest.mark.case("H07")
async def test_this_machine_is_reached_past_any_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(http(raw(answered())))

    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    async with socket_server(serve) as url:
        transport = HttpTransport(url)
        assert await transport.send(ask()) == answered()
        await transport.close()


@pytest.mark.case("H08")
async def test_another_host_is_reached_through_the_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head, _ = await read_request(reader)
        seen.append(head.split(b"\r\n")[0])
        writer.write(http(raw(answered())))

    async with socket_server(serve) as url:
        monkeypatch.setenv("HTTP_PROXY", url.removesuffix("/mcp"))
        monkeypatch.setenv("http_proxy", url.removesuffix("/mcp"))
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        transport = HttpTransport("http://mcp.example.test/mcp", allow_cleartext=True)
        assert await transport.send(ask()) == answered()
        await transport.close()
    assert seen == [b"POST http://mcp.example.test/mcp HTTP/1.1"]


async def test_a_proxy_setting_that_cannot_be_used_is_a_clear_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "gopher://user:s3cret@proxy.test:1")
    transport = HttpTransport("http://mcp.example.test/mcp", allow_cleartext=True)
    with pytest.raises(ConnectFailed) as raised:
        await transport.send(ask())
    assert "proxy" in str(raised.value)
    assert "s3cret" not in str(raised.value)


# -- cancel, close, and at the same time ----------------------------------------------------------


@pytest.mark.case("L06", "E13")
@pytest.mark.must("C70")
@pytest.mark.parametrize("head", ["", f"HTTP/1.1 200 OK\r\nContent-Type: {SSE}\r\n\r\n: hello\n\n"])
async def test_cancelling_closes_the_reply_and_the_server_sees_it(head: str) -> None:
    asked, gone = asyncio.Event(), asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(head.encode())
        asked.set()
        assert await reader.read() == b""  # nothing more is sent, no notification either
        gone.set()

    async with socket_server(serve) as url:
        transport = HttpTransport(url)
        sending = asyncio.create_task(transport.send(ask()))
        await asked.wait()
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending
        await asyncio.wait_for(gone.wait(), 5)
        await transport.close()


@pytest.mark.case("L10", "E13")
async def test_the_callers_deadline_ends_a_silent_stream() -> None:
    body = Parts(b": hello\n\n", asyncio.Event())
    web = Web(httpx.Response(200, headers={"Content-Type": SSE}, stream=body))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await web.send()
    assert body.closed


async def test_close_fails_what_waits_and_whatever_comes() -> None:
    asked = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        asked.set()
        await reader.read()

    async with socket_server(serve) as url:
        transport = HttpTransport(url)
        waiting = asyncio.create_task(transport.send(ask()))
        await asked.wait()
        await asyncio.gather(transport.close(), transport.close())
        with pytest.raises(TransportClosed):
            await waiting
        await transport.close()
        with pytest.raises(TransportClosed, match="closed"):
            await transport.send(ask())


async def test_a_given_client_is_left_open_and_a_closed_one_is_named() -> None:
    web = Web(reply(raw(answered())))
    await web.send()
    await web.transport.close()
    assert not web._client.is_closed
    await web._client.aclose()
    with pytest.raises(TransportClosed, match="client"):
        await HttpTransport(URL, client=web._client).send(ask())


async def test_a_cookie_is_not_sent_back() -> None:
    heads: list[bytes] = []

    async def peer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while not reader.at_eof():
            head, _ = await read_request(reader)
            heads.append(head.lower())
            writer.write(http(raw(answered(1)), f"Content-Type: {JSON}\r\nSet-Cookie: track=me"))

    async with socket_server(peer) as url:
        web = HttpTransport(url)
        await web.send(ask())
        await web.send(ask())
        await web.close()
    assert ["cookie" in head.decode() for head in heads] == [False, False]


def test_another_event_loop_is_told_so_at_once_and_may_close() -> None:
    first = asyncio.new_event_loop()

    async def peer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(http(raw(answered(1))))

    listener = first.run_until_complete(asyncio.start_server(peer, "127.0.0.1", 0))
    port = listener.sockets[0].getsockname()[1]
    web = HttpTransport(f"http://127.0.0.1:{port}/mcp")
    assert first.run_until_complete(web.send(ask())) == answered(1)
    with pytest.raises(RuntimeError, match="another event loop"):
        asyncio.run(web.send(ask()))
    listener.close()
    first.close()
    asyncio.run(web.close())
    asyncio.run(web.end_session({}))


@pytest.mark.case("H18")
async def test_requests_at_the_same_time_are_bounded_and_each_gets_its_own_answer() -> None:
    now = most = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal now, most
        while True:
            _, message = await read_request(reader)
            now += 1
            most = max(most, now)
            await asyncio.sleep(0)
            now -= 1
            writer.write(http(raw(answered(message["id"]))))

    async with socket_server(serve) as url:
        transport = HttpTransport(url, max_in_flight=4)
        got = await asyncio.gather(*(transport.send(ask(number)) for number in range(40)))
        await transport.close()
    assert got == [answered(number) for number in range(40)]
    assert 1 < most <= 4


@pytest.mark.parametrize("type", [JSON, SSE])
async def test_a_connection_is_used_again(type: str) -> None:
    connections = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        while True:
            _, message = await read_request(reader)
            data = raw(answered(message["id"]))
            data = event(answered(message["id"])) if type == SSE else data
            chunk = b"%x\r\n%s\r\n" % (len(data), data)
            head = f"HTTP/1.1 200 OK\r\nContent-Type: {type}\r\nTransfer-Encoding: chunked\r\n\r\n"
            writer.write(head.encode() + chunk)
            await asyncio.sleep(0)
            writer.write(b"0\r\n\r\n")

    async with socket_server(serve) as url:
        transport = HttpTransport(url)
        for number in range(5):
            assert await transport.send(ask(number)) == answered(number)
        await transport.close()
    assert connections == 1


async def test_the_trace_has_what_was_sent_and_received_and_how_it_failed() -> None:
    web = Web(reply(event(NOTIFICATION), event(answered()), type=SSE), reply(status=500))
    web.transport.trace = trace = Trace()
    message = ask()
    await web.send(message)
    await web.failure(message)
    assert [(e.what, e.facts) for e in trace.events] == [
        ("sent", {"message": message}),
        ("received", {"message": NOTIFICATION}),
        ("received", {"message": answered()}),
        ("sent", {"message": message}),
        ("failed", {"error": "HttpStatusError"}),
    ]


def test_importing_the_transport_does_not_load_httpx() -> None:
    code = "import sys, mini_agent.mcp.http; assert 'httpx' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=20)


class Echo:
    """Repeats what it was sent in the header or the body of a refusal."""

    def __init__(self, status: int) -> None:
        self.status = status
        self.client = httpx.AsyncClient(transport=httpx.MockTransport(self.handle))

    def handle(self, request: httpx.Request) -> httpx.Response:
        said = " ".join(f"{name}: {value}" for name, value in request.headers.items())
        headers = {"WWW-Authenticate": f"Bearer said={said}", "Location": f"/{said}"}
        return httpx.Response(self.status, headers=headers, text=f"<p>{said}</p>")


@pytest.mark.parametrize("status", [302, 401, 403, 404, 502])
@pytest.mark.parametrize("name", ["Authorization", "X-Api-Key", "Cookie"])
async def test_a_server_that_repeats_a_secret_does_not_get_it_into_an_error(
    status: int, name: str
) -> None:
    transport = HttpTransport(
        "https://a.example/mcp", client=Echo(status).client, headers={name: "Bearer s3cret-1"}
    )
    with pytest.raises(McpError) as raised:
        await transport.send(ask())
    told = f"{raised.value!r} {raised.value.__dict__}"
    assert "s3cret-1" not in told and "[redacted]" in told


REPEATED: dict[str, tuple[str, str]] = {
    "a page": ("text/html", "<p>{said}</p>"),
    "no JSON": ("application/json", "{said}"),
    "another id": ("application/json", '{{"jsonrpc": "2.0", "id": "{said}", "result": {{}}}}'),
    "a request": ("application/json", '{{"jsonrpc": "2.0", "id": 1, "method": "{said}"}}'),
    "an event": ("text/event-stream", "data: {said}\n\n"),
    "an event for another": (
        "text/event-stream",
        'data: {{"jsonrpc": "2.0", "id": "{said}", "result": {{}}}}\n\n',
    ),
    "too much": ("application/json", "{said}" + " " * 3000),
}


@pytest.mark.parametrize("padding", [0, 70])  # 70: the excerpt would end within the secret
@pytest.mark.parametrize("what", REPEATED)
async def test_neither_does_one_that_repeats_it_in_a_good_reply(what: str, padding: int) -> None:
    content_type, body = REPEATED[what]

    def handle(request: httpx.Request) -> httpx.Response:
        said = "x" * padding + request.headers["authorization"]
        headers = {"Content-Type": content_type}
        return httpx.Response(200, headers=headers, text=body.format(said=said))

    client = httpx.AsyncClient(transport=httpx.MockTransport(handle))
    key = {"Authorization": "Bearer s3cret-0123456789-0123456789"}
    transport = HttpTransport("https://a.example/mcp", client=client, headers=key, max_body=2000)
    transport.trace = Trace()
    with pytest.raises(MalformedMessage) as raised:
        await transport.send(ask())
    noted = [event.facts for event in transport.trace.events if event.what == "junk"]
    said = f"{raised.value!r} {raised.value.__dict__} {raised.value.__context__!r} {noted}"
    assert "s3cret" not in said and noted

    await transport.close()


def test_a_body_that_is_one_without_its_secret_is_none_all_the_same() -> None:
    body, sent = b'{"jsonrpc": "2.0", "id": 1, "result": SECRET}', {"Authorization": "SECRET"}

    def read(raw: bytes) -> Any:
        return decode(raw.replace(b"[redacted]", b"{}"))

    with pytest.raises(MalformedMessage, match="because of a secret"):
        without_secrets(read, body, sent)


async def test_a_repeated_secret_is_found_before_the_page_is_cut() -> None:
    def handle(request: httpx.Request) -> httpx.Response:
        return httpx.Response(500, text="x" * 1015 + request.headers["authorization"])

    client = httpx.AsyncClient(transport=httpx.MockTransport(handle))
    key = {"Authorization": "Bearer s3cret-1"}
    with pytest.raises(HttpStatusError) as raised:
        await HttpTransport("https://a.example/mcp", client=client, headers=key).send(ask())
    assert "s3" not in raised.value.excerpt


@pytest.mark.parametrize("auth", ["token SECRET", b"token SECRET"])
def test_a_token_given_as_text_is_refused_at_once_and_not_quoted(auth: Any) -> None:
    with pytest.raises(TypeError) as caught:
        HttpTransport("https://mcp.example/mcp", auth=auth)
    assert "SECRET" not in str(caught.value)
