"""What every transport promises, run over each of them: the seam's own tests.

One server, ``conduct``, is carried five ways: a script, a child process, HTTP with a JSON body,
HTTP with an event stream, and HTTP on a real socket.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import itertools
import json
import sys
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import pytest

from mini_agent.errors import McpError, TransportClosed
from mini_agent.mcp.http import HttpTransport
from mini_agent.mcp.messages import build_meta, build_request
from mini_agent.mcp.stdio import StdioTransport
from mini_agent.mcp.transport import FakeTransport, McpTransport
from mini_agent.trace import Trace

pytestmark = pytest.mark.timeout(20)

Open = Callable[[], Any]


def conduct(message: Any) -> Any:
    """What the server says to a message, the response last; None where it stays silent."""
    answer = {"jsonrpc": "2.0", "id": message.get("id"), "result": {"params": message["params"]}}
    match message["method"]:
        case "test/progress":
            note = {"jsonrpc": "2.0", "method": "notifications/progress"}
            return [{**note, "params": {"progress": n}} for n in (1, 2)] + [answer]
        case "test/refuse":
            del answer["result"]
            return [{**answer, "error": {"code": -32601, "message": "no"}}]
        case "test/large":
            return [{**answer, "result": {"text": "é" * 2**20}}]
        case "test/broken":
            return [{**answer, "jsonrpc": "1.0"}]
        case "test/silence":
            return None
        case _:
            return [answer]


CHILD = (
    "import json, sys\n"
    "from typing import Any\n"
    + inspect.getsource(conduct)
    + """
for line in sys.stdin.buffer:
    message = json.loads(line)
    for said in conduct(message) or () if "id" in message else ():
        sys.stdout.buffer.write(json.dumps(said).encode() + b"\\n")
    sys.stdout.buffer.flush()
"""
)


def request(number: int | str = 1, method: str = "test/echo", **params: Any) -> dict[str, Any]:
    return build_request(number, method, params, meta=build_meta())


@contextlib.asynccontextmanager
async def scripted() -> AsyncIterator[McpTransport]:
    yield FakeTransport(itertools.repeat(conduct))


@contextlib.asynccontextmanager
async def child() -> AsyncIterator[McpTransport]:
    transport = StdioTransport([sys.executable, "-c", CHILD])
    yield transport
    await transport.close()


def body_of(said: list[Any], stream: bool) -> bytes:
    parts = [json.dumps(message).encode() for message in said]
    return b"".join(b"data: " + part + b"\n\n" for part in parts) if stream else parts[-1]


@contextlib.asynccontextmanager
async def mocked(stream: bool) -> AsyncIterator[McpTransport]:
    async def handle(asked: httpx.Request) -> httpx.Response:
        message = json.loads(asked.content)
        if "id" not in message:
            return httpx.Response(202)
        said = conduct(message) or await asyncio.Event().wait()
        type = "text/event-stream" if stream else "application/json"
        body = body_of(said, stream)
        return httpx.Response(200, headers={"Content-Type": type}, content=body)

    client = httpx.AsyncClient(transport=httpx.MockTransport(handle))
    transport = HttpTransport("http://127.0.0.1:1/mcp", client=client)
    yield transport
    await transport.close()


@contextlib.asynccontextmanager
async def on_a_socket() -> AsyncIterator[McpTransport]:
    tasks = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.current_task())
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                length = int(head.split(b"content-length: ")[1].split(b"\r\n")[0])
                message = json.loads(await reader.readexactly(length))
                said = conduct(message) or await reader.read() or []
                body = body_of(said, True) if "id" in message else b""
                status = b"200 OK" if "id" in message else b"202 Accepted"
                writer.write(b"HTTP/1.1 %s\r\nContent-Type: text/event-stream\r\n" % status)
                writer.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        transport = HttpTransport(f"http://127.0.0.1:{port}/mcp")
        yield transport
        await transport.close()
    await asyncio.gather(*tasks)  # type: ignore[arg-type]


REAL = ["stdio", "http-json", "http-sse", "http-socket"]


@pytest.fixture(params=["fake", *REAL])
def opened(request: pytest.FixtureRequest) -> Open:
    return make(request.param)


@pytest.fixture(params=REAL)
def real(request: pytest.FixtureRequest) -> Open:
    return make(request.param)


@pytest.fixture(params=["fake", "stdio", "http-sse", "http-socket"])
def telling(request: pytest.FixtureRequest) -> Open:
    """Those that can say something before the response: a JSON body cannot."""
    return make(request.param)


def make(name: str) -> Open:
    return {
        "fake": scripted,
        "stdio": child,
        "http-json": lambda: mocked(stream=False),
        "http-sse": lambda: mocked(stream=True),
        "http-socket": on_a_socket,
    }[name]


# -- every transport ------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [1, 0, -1, 2**40, "1", "", "é"])
async def test_a_request_gets_its_response_with_its_id(opened: Open, number: int | str) -> None:
    async with opened() as transport:
        response = await transport.send(request(number, text="a\nb é"))
    assert response["id"] == number
    assert type(response["id"]) is type(number)
    assert response["result"]["params"]["text"] == "a\nb é"


async def test_a_notification_gets_none(opened: Open) -> None:
    async with opened() as transport:
        message = {"jsonrpc": "2.0", "method": "test/x", "params": {}}
        assert await transport.send(message) is None
        assert (await transport.send(request()))["id"] == 1


async def test_an_error_from_the_peer_is_a_message_like_any_other(opened: Open) -> None:
    async with opened() as transport:
        response = await transport.send(request(1, "test/refuse"))
    assert response["error"]["code"] == -32601


@pytest.mark.case("E02")
async def test_the_listener_has_heard_everything_before_the_send_returns(telling: Open) -> None:
    heard: list[Any] = []
    async with telling() as transport:
        transport.listener = heard.append
        await transport.send(request(1, "test/progress"))
        assert [message["params"]["progress"] for message in heard] == [1, 2]
        await transport.send(request(2))
        assert len(heard) == 2


async def test_one_transport_serves_one_client(opened: Open) -> None:
    async with opened() as transport:
        transport.listener = print
        transport.listener = print  # the same one again is no second owner
        with pytest.raises(ValueError, match="client"):
            transport.listener = repr


async def test_it_says_whether_the_envelope_travels(opened: Open) -> None:
    async with opened() as transport:
        assert transport.mirrors_envelope is isinstance(transport, HttpTransport)
        assert (await transport.send(request(), envelope={"Mcp-Param-X": "1"}))["id"] == 1


@pytest.mark.must("C03", "C11")
async def test_sixty_four_requests_at_once_each_get_their_own_response(opened: Open) -> None:
    async with opened() as transport:
        sends = (transport.send(request(number, mine=number)) for number in range(64))
        responses = await asyncio.gather(*sends)
    assert [response["id"] for response in responses] == list(range(64))
    assert [response["result"]["params"]["mine"] for response in responses] == list(range(64))


@pytest.mark.case("F03")
async def test_a_response_of_some_mebibytes_arrives_whole(opened: Open) -> None:
    async with opened() as transport:
        response = await transport.send(request(1, "test/large"))
    assert response["result"]["text"] == "é" * 2**20


async def test_a_broken_response_fails_its_request_and_the_next_one_works(opened: Open) -> None:
    async with opened() as transport:
        with pytest.raises(McpError) as raised:
            await transport.send(request(1, "test/broken"))
        assert type(raised.value).__name__ == "MalformedMessage"
        assert (await transport.send(request(2)))["id"] == 2


async def test_the_trace_has_what_was_sent_and_received(opened: Open) -> None:
    async with opened() as transport:
        transport.trace = trace = Trace()
        await transport.send(request())
    events = [event for event in trace.events if event.what != "closed"]
    assert [event.what for event in events] == ["sent", "received"]
    assert events[0].facts["message"] == request()
    assert events[1].facts["message"]["id"] == 1
    assert {event.layer for event in trace.events} == {"transport"}


# -- every transport that reaches something -------------------------------------------------------


async def test_what_json_cannot_say_is_a_value_error_and_harms_nothing(real: Open) -> None:
    async with real() as transport:
        with pytest.raises(ValueError, match="JSON"):
            await transport.send(request(number=1, x=float("inf")))
        assert (await transport.send(request(2)))["id"] == 2


@pytest.mark.must("C72")
async def test_cancelling_a_send_leaves_the_transport_usable(real: Open) -> None:
    async with real() as transport:
        assert (await transport.send(request(1)))["id"] == 1
        sending = asyncio.create_task(transport.send(request(2, "test/silence")))
        await asyncio.sleep(0)
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending
        assert (await transport.send(request(3)))["id"] == 3


@pytest.mark.case("L10")
async def test_a_deadline_around_a_send_ends_it(real: Open) -> None:
    async with real() as transport:
        assert (await transport.send(request(1)))["id"] == 1
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.02):
                await transport.send(request(2, "test/silence"))
        assert (await transport.send(request(3)))["id"] == 3


@pytest.mark.case("P18")
async def test_close_can_be_called_again_from_any_task_and_before_anything(real: Open) -> None:
    async with real() as transport:
        await transport.send(request())
        await asyncio.gather(*(transport.close() for _ in range(3)))
        await asyncio.create_task(transport.close())
    async with real() as unused:
        await unused.close()
        await unused.close()


async def test_close_fails_what_waits_each_with_its_own_error(real: Open) -> None:
    async with real() as transport:
        await transport.send(request())
        sends = [asyncio.create_task(transport.send(request(n, "test/silence"))) for n in (2, 3)]
        await asyncio.sleep(0)
        await transport.close()
        errors = await asyncio.gather(*sends, return_exceptions=True)
    assert all(isinstance(error, TransportClosed) for error in errors)
    assert errors[0] is not errors[1]


async def test_after_close_a_send_says_that_it_is_closed(real: Open) -> None:
    async with real() as transport:
        transport.trace = trace = Trace()
        await transport.close()
        with pytest.raises(TransportClosed) as raised:
            await transport.send(request())
    assert "closed" in raised.value.message
    assert [event.facts.get("error") for event in trace.events] == ["TransportClosed"]
