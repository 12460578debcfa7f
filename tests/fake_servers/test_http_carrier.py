"""What only the HTTP carrier decides: headers, origins, statuses, limits, disconnects, stopping."""

from __future__ import annotations

import asyncio
import json
import logging
import signal
import time
from typing import Any

import httpx
import pytest
from fakes_judge import judge
from fakes_sample import Held, sample
from fakes_wire import P, call, client, headers_for, post, read_reply, request, sentinel

from fake_servers.http import serve

ROUTED = {"region": "eu", "shard": 42, "dry": True, "where": {"zone": "a"}, "sql": "select"}
MIRRORED = {
    "mcp-param-region": "eu",
    "mcp-param-shard": "42",
    "mcp-param-dry": "true",
    "mcp-param-zone": "a",
}


async def send(message: Any, headers: Any = None, **options: Any) -> httpx.Response:
    """POST to a fresh sample server; ``headers`` are changed, a None takes one away."""
    wanted = {**headers_for(message), **(headers or {})}
    async with serve(sample(), **options) as running, client() as http:
        return await http.post(
            running.url,
            content=message if isinstance(message, bytes) else json.dumps(message).encode(),
            headers={name: value for name, value in wanted.items() if value is not None},
        )


# -- the two kinds of reply -----------------------------------------------------------------------


@pytest.mark.must("S12", "S14")
async def test_json_unless_there_is_something_to_say_first() -> None:
    assert (await send(call("count"))).headers["content-type"] == "application/json"
    streamed = await send(call("count", meta={"progressToken": 1}))
    assert streamed.headers["content-type"] == "text/event-stream"
    assert streamed.headers["x-accel-buffering"] == "no"
    assert len(read_reply(streamed)) == 4


async def test_a_stream_when_the_client_ranks_it_higher() -> None:
    accept = {"accept": "application/json;q=0.5, text/event-stream"}
    assert (await send(call("count"), accept)).headers["content-type"] == "text/event-stream"


@pytest.mark.parametrize("q", ["²", "٣", "1.1.1", ".", "", "much"])
async def test_a_rank_that_is_no_number_counts_as_none(q: str) -> None:
    accept = {"accept": f"application/json;q={q}, text/event-stream".encode()}
    assert (await send(call("count"), accept)).headers["content-type"] == "application/json"


@pytest.mark.parametrize("method", [[], {}, None])
async def test_a_method_that_is_no_string_is_an_invalid_request(
    method: Any, caplog: pytest.LogCaptureFixture
) -> None:
    message = {**request("tools/list"), "method": method}
    answer = await send(message, {"mcp-method": "tools/list"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32600)
    assert caplog.records == []


async def test_what_is_no_http_is_refused_and_nothing_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with serve(sample()) as running:
        host, port = running.url.split("/")[2].split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(b"nonsense\r\n\r\n")
        assert (await reader.read()).startswith(b"HTTP/1.1 400 ")
        writer.close()
    assert caplog.records == []


async def test_json_always_leaves_the_notifications_out() -> None:
    answer = await send(call("count", meta={"progressToken": 1}), replies="json")
    (message,) = read_reply(answer)
    assert message["result"]["content"][0]["text"] == "counted"


async def test_progress_arrives_while_the_tool_still_works() -> None:
    held = Held()
    server = sample(held)

    async def report(arguments: dict[str, Any], context: Any) -> str:
        await context.progress(1)
        return await held.run(arguments, context)

    from fake_servers.declare import Tool

    assert server.tools is not None
    server.tools.append(Tool("report", "Reports, then waits.", report))
    message = call("report", meta={"progressToken": "p"})
    async with (
        serve(server) as running,
        client() as http,
        http.stream("POST", running.url, json=message, headers=headers_for(message)) as answer,
    ):
        pieces = answer.aiter_text()
        assert "notifications/progress" in await anext(pieces)
        held.let_go.set()
        assert "let go" in "".join([piece async for piece in pieces])


# -- what is refused by its HTTP ------------------------------------------------------------------


@pytest.mark.must("S15")
@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
async def test_only_post_is_allowed(method: str) -> None:
    async with serve(sample()) as running, client() as http:
        answer = await http.request(method, running.url)
    assert answer.status_code == 405 and answer.headers["allow"] == "POST"


async def test_another_path_is_not_found() -> None:
    async with serve(sample()) as running, client() as http:
        answer = await http.post(running.url + "/other", json=request("tools/list"))
    assert answer.status_code == 404


@pytest.mark.parametrize("accept", ["application/json", "text/event-stream", "*/*", ""])
async def test_accept_must_list_both_kinds(accept: str) -> None:
    assert (await send(request("tools/list"), {"accept": accept})).status_code == 406


@pytest.mark.must("S11")
@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1", ""]
)
async def test_a_foreign_origin_is_forbidden(origin: str) -> None:
    assert (await send(request("tools/list"), {"origin": origin})).status_code == 403


async def test_its_own_origin_and_a_listed_one_are_welcome() -> None:
    message = request("tools/list")
    async with serve(sample(), origins=("http://lab.example",)) as running, client() as http:
        for origin in (running.url.removesuffix("/mcp"), "http://lab.example"):
            (answer,) = await post(http, running.url, message, origin=origin)
            assert "result" in answer


@pytest.mark.must("S11")
@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "["])
async def test_a_foreign_host_name_is_forbidden(host: str) -> None:
    assert (await send(request("tools/list"), {"host": host})).status_code == 403


async def test_too_large_a_body_is_refused() -> None:
    message = call("echo", {"s": "x" * 2000})
    assert (await send(message, max_body=1000)).status_code == 413
    assert (await send(message, max_body=5000)).status_code == 200


async def test_a_body_that_is_too_large_and_has_no_length_is_refused() -> None:
    async def pieces() -> Any:
        for _ in range(10):
            yield b"x" * 1000

    async with serve(sample(), max_body=5000) as running, client() as http:
        headers = headers_for(request("tools/list"))
        answer = await http.post(running.url, content=pieces(), headers=headers)
    assert answer.status_code == 413


@pytest.mark.must("S12")
@pytest.mark.parametrize(
    "body, code",
    [
        (b"not json", -32700),
        (b"\xff", -32700),
        (b'{"x":NaN}', -32700),
        (b'{"x":"\\ud800"}', -32700),
        (b"[" * 100_000, -32700),
        (b"[]", -32600),
        (b'[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]', -32600),
        (b'"text"', -32600),
        (b'{"jsonrpc":"2.0","id":1,"result":{}}', -32600),
    ],
)
async def test_a_body_that_is_no_request_is_refused(body: bytes, code: int) -> None:
    answer = await send(body, {"mcp-method": "tools/list"})
    assert answer.status_code == 400
    judge({}, [answer.json()])
    assert answer.json()["error"]["code"] == code


@pytest.mark.must("S12")
async def test_a_notification_is_accepted_without_a_body() -> None:
    cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    answer = await send(cancelled)
    assert (answer.status_code, answer.content) == (202, b"")


@pytest.mark.must("S04", "S05", "S06", "S07")
@pytest.mark.parametrize(
    "message, status",
    [
        (request("no/such"), 404),
        (request("tools/list", meta={P + "protocolVersion": "1900-01-01"}), 400),
        (request("tools/list", meta={P + "clientCapabilities": None}), 400),
        (call("no_such_tool"), 400),
        (call("needs_sampling"), 400),
        (call("crash"), 500),
        (call("refuse"), 200),
    ],
)
@pytest.mark.parametrize("replies", ["auto", "stream"])
async def test_the_status_follows_the_error(
    message: dict[str, Any], status: int, replies: str
) -> None:
    answer = await send(message, replies=replies)
    assert answer.status_code == status
    if status != 200:
        assert answer.headers["content-type"] == "application/json"


# -- mirrored headers -----------------------------------------------------------------------------


async def mismatch(message: Any, headers: Any = None) -> None:
    answer = await send(message, headers)
    assert answer.status_code == 400 and answer.json()["error"]["code"] == -32020
    assert answer.json()["id"] == message["id"]


@pytest.mark.must("S13")
@pytest.mark.parametrize("name", ["mcp-protocol-version", "mcp-method", "mcp-name"])
@pytest.mark.parametrize("value", [None, "other", "caf\xe9".encode("latin-1")])
async def test_a_standard_header_must_be_there_and_fit(name: str, value: Any) -> None:
    await mismatch(call("echo"), {name: value})


async def test_an_old_client_reads_which_versions_are_spoken() -> None:
    hello = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {}}
    answer = await send(hello, {"mcp-protocol-version": None, "mcp-method": None})
    assert answer.status_code == 400 and "2026-07-28" in answer.text


@pytest.mark.parametrize(
    "message",
    [
        request("resources/read", uri="test://text"),
        request("prompts/get", name="dialogue"),
    ],
)
async def test_the_name_of_a_resource_or_prompt_is_mirrored_too(message: Any) -> None:
    assert (await send(message)).status_code == 200
    await mismatch(message, {"mcp-name": None})
    await mismatch(message, {"mcp-name": "other"})


async def test_header_values_are_compared_exactly() -> None:
    await mismatch(call("echo"), {"mcp-method": "Tools/Call"})
    await mismatch(call("echo"), {"mcp-name": "Echo"})


@pytest.mark.must("S13")
async def test_an_encoded_name_is_decoded_before_it_is_compared() -> None:
    assert (await send(call("echo"), {"mcp-name": sentinel("echo")})).status_code == 200
    cafe = await send(call("café"), {"mcp-name": sentinel("café")})
    assert cafe.json()["error"]["message"] == "Unknown tool: café"
    await mismatch(call("café"), {"mcp-name": "café".encode("latin-1")})
    await mismatch(call("echo"), {"mcp-name": "=?base64?%%%?="})
    await mismatch(call("echo"), {"mcp-name": "=?base64?/w==?="})
    await mismatch(call("echo"), {"mcp-name": "=?BASE64?ZWNobw==?="})


async def test_a_header_sent_twice_is_refused() -> None:
    message = call("echo")
    pairs = [*headers_for(message).items(), ("mcp-name", "echo")]
    async with serve(sample()) as running, client() as http:
        answer = await http.post(running.url, json=message, headers=pairs)
    assert answer.json()["error"]["code"] == -32020


@pytest.mark.must("S13")
@pytest.mark.parametrize(
    "shard", ["42", "42.0", "42.00", "042"], ids=["same", "decimal", "zeros", "leading zero"]
)
async def test_a_number_is_compared_as_a_number(shard: str) -> None:
    answer = await send(call("routed", ROUTED), {**MIRRORED, "mcp-param-shard": shard})
    assert answer.status_code == 200


@pytest.mark.must("S13")
@pytest.mark.parametrize(
    "name, value",
    [
        ("mcp-param-region", None),
        ("mcp-param-region", "us"),
        ("mcp-param-region", "=?base64?dXM=?="),
        ("mcp-param-shard", "43"),
        ("mcp-param-shard", "forty-two"),
        ("mcp-param-shard", "NaN"),
        ("mcp-param-dry", "True"),
        ("mcp-param-zone", None),
    ],
)
async def test_a_mirrored_argument_must_fit(name: str, value: Any) -> None:
    await mismatch(call("routed", ROUTED), {**MIRRORED, name: value})


async def test_an_encoded_argument_is_decoded() -> None:
    arguments = {"region": "世界 ", "shard": None}
    answer = await send(call("routed", arguments), {"mcp-param-region": sentinel("世界 ")})
    assert answer.status_code == 200
    empty = await send(call("routed", {"region": ""}), {"mcp-param-region": ""})
    assert empty.status_code == 200


async def test_a_header_without_its_argument_is_refused() -> None:
    await mismatch(call("routed", {"region": None}), {"mcp-param-region": "eu"})
    await mismatch(call("routed", {}), {"mcp-param-region": "eu"})


async def test_an_unknown_parameter_header_is_ignored() -> None:
    assert (await send(call("echo"), {"mcp-param-other": "x"})).status_code == 200


@pytest.mark.must("S15")
async def test_sessions_and_resumption_of_older_revisions_are_ignored() -> None:
    answer = await send(call("echo"), {"mcp-session-id": "s", "last-event-id": "7"})
    assert answer.status_code == 200 and "mcp-session-id" not in answer.headers


# -- leaving --------------------------------------------------------------------------------------


@pytest.mark.must("S14")
@pytest.mark.parametrize("replies", ["auto", "json", "stream"])
async def test_a_disconnect_cancels_the_work(replies: Any) -> None:
    held = Held()
    async with serve(sample(held), replies=replies) as running, client() as http:
        waiting = asyncio.create_task(post(http, running.url, call("held")))
        await held.began.wait()
        waiting.cancel()
        await asyncio.wait([waiting])
        await asyncio.wait_for(held.cancelled.wait(), 5)
        (alive,) = await post(http, running.url, call("echo"))
        assert "result" in alive


async def test_many_requests_are_answered_at_once() -> None:
    held = Held()
    async with serve(sample(held)) as running, client() as http:
        waiting = asyncio.create_task(post(http, running.url, call("held")))
        await held.began.wait()
        (other,) = await post(http, running.url, call("echo", id="other"))
        assert other["id"] == "other"
        held.let_go.set()
        (answer,) = await waiting
        assert answer["result"]["content"][0]["text"] == "let go"


async def test_stopping_is_quick_and_leaves_no_work_behind() -> None:
    held = Held()
    running = serve(sample(held))
    url = await running.start()
    async with client() as http:
        waiting = asyncio.create_task(post(http, url, call("held")))
        await held.began.wait()
        before = time.perf_counter()
        await running.stop()
        assert time.perf_counter() - before < 0.3
        assert held.cancelled.is_set()
        await asyncio.wait([waiting])
        assert isinstance(waiting.exception(), httpx.TransportError)
        with pytest.raises(httpx.ConnectError):
            await http.post(url)
    await running.stop()


async def test_it_starts_again_after_a_stop() -> None:
    running = serve(sample())
    await running.start()
    with pytest.raises(RuntimeError):
        await running.start()
    await running.stop()
    await running.start()
    async with client() as http:
        assert await post(http, running.url, call("echo"))
    await running.stop()


async def test_a_taken_port_is_an_os_error() -> None:
    async with serve(sample()) as running:
        port = int(running.url.split(":")[2].removesuffix("/mcp"))
        with pytest.raises(OSError):
            await serve(sample(), port=port).start()


async def test_no_signal_handler_is_touched_and_nothing_is_printed(
    capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    with caplog.at_level(logging.WARNING):
        async with serve(sample()) as running, client() as http:
            assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before
            await post(http, running.url, call("echo"))
            await http.get(running.url)
    assert capfd.readouterr() == ("", "") and caplog.records == []


async def test_a_client_that_leaves_inside_its_body_is_not_an_error(
    capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    async with serve(sample()) as running:
        port = int(running.url.split(":")[2].removesuffix("/mcp"))
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        head = "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n"
        accept = "Accept: application/json, text/event-stream\r\n\r\n{"
        writer.write((head + accept).encode())
        await writer.drain()
        writer.transport.abort()
        async with client() as http:
            await post(http, running.url, call("echo"))
    assert capfd.readouterr().err == "" and caplog.records == []


async def test_the_transcript_holds_both_sides() -> None:
    async with serve(sample()) as running, client() as http:
        await post(http, running.url, call("count", meta={"progressToken": 1}))
        await post(http, running.url, request("no/such"))
    senders = [entry.sender for entry in running.transcript]
    assert senders == ["client", *["server"] * 4, "client", "server"]
    assert running.requests[0]["mcp-name"] == "count"
