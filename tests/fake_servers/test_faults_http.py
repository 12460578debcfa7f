"""Each fault over HTTP, seen with httpx and with a raw socket."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
from typing import Any

import httpx
import pytest
from fakes_wire import call, client, headers_for, post, request

from fake_servers.fault_server import FaultServer
from fake_servers.faults import FAULTS, http

CALL = call("calendar_query", {"date": "2026-08-03"}, id=7)
LATE = [
    name for name, fault in FAULTS.items() if "http" in fault.carriers and fault.at == "tools/call"
]


async def send(bad: FaultServer, message: dict[str, Any] = CALL) -> httpx.Response:
    async with client() as connection:
        return await connection.post(bad.url, json=message, headers=headers_for(message))


async def events(bad: FaultServer) -> list[bytes]:
    """The data of each event of a stream that ends as HTTP wants it."""
    answer = await send(bad)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/event-stream"
    return [event.partition(b"data: ")[2] for event in answer.content.split(b"\n\n") if event]


async def one_event(bad: FaultServer) -> dict[str, Any]:
    (event,) = await events(bad)
    message: dict[str, Any] = json.loads(event)
    return message


async def connected(bad: FaultServer) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    url = httpx.URL(bad.url)
    return await asyncio.open_connection(url.host, url.port)


async def asking(bad: FaultServer) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await connected(bad)
    body = json.dumps(CALL).encode()
    writer.write(b"POST /mcp HTTP/1.1\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))
    return reader, writer


async def good(bad: FaultServer) -> None:
    async with client() as connection:
        (listed,) = await post(connection, bad.url, request("tools/list", id=2))
    assert listed["id"] == 2 and len(listed["result"]["tools"]) == 3


@pytest.mark.parametrize("name", LATE)
async def test_connecting_succeeds_before_the_fault(name: str) -> None:
    async with http(name) as bad:
        async with client() as connection:
            (found,) = await post(connection, bad.url, request("server/discover"))
        assert found["result"]["supportedVersions"] == ["2026-07-28"]
        await good(bad)


class StopsAtOnce(FaultServer):
    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        super()._connected(reader, writer)
        for task in self._connections:  # as stop does, and before the task has taken a step
            task.cancel()


async def test_a_connection_that_comes_while_the_server_stops_is_closed() -> None:
    async with StopsAtOnce(FAULTS["slow"]) as bad:
        reader, writer = await connected(bad)
        assert await asyncio.wait_for(reader.read(), 5) == b""
        writer.close()


async def test_refused_nobody_listens() -> None:
    async with http("refused") as bad:
        with pytest.raises(httpx.ConnectError):
            await send(bad)


async def test_dies_at_start_drops_the_connection_and_then_nobody_listens() -> None:
    async with http("dies_at_start") as bad:
        with pytest.raises((httpx.RemoteProtocolError, httpx.ReadError)):
            await send(bad)
        with pytest.raises(httpx.ConnectError):
            await send(bad)


async def test_old_version_refuses_every_request() -> None:
    async with http("old_version") as bad:
        answer = await send(bad, request("server/discover"))
    assert json.loads(answer.text.partition("data: ")[2])["error"]["code"] == -32022


async def test_dies_mid_call_drops_the_connection_and_then_nobody_listens() -> None:
    async with http("dies_mid_call") as bad:
        with pytest.raises((httpx.RemoteProtocolError, httpx.ReadError)):
            await send(bad)
        with pytest.raises(httpx.ConnectError):
            await send(bad)


async def test_exits_between_calls_answers_once() -> None:
    async with http("exits_between_calls") as bad:
        assert (await one_event(bad))["result"]["isError"] is False
        with pytest.raises(httpx.ConnectError):
            await send(bad)


async def test_garbage_is_an_event_that_is_not_json() -> None:
    async with http("garbage") as bad:
        (event,) = await events(bad)
        with pytest.raises(json.JSONDecodeError):
            json.loads(event)
        await good(bad)


async def test_huge_line_has_no_end() -> None:
    async with http("huge_line") as bad:
        reader, writer = await asking(bad)
        await reader.readuntil(b"\r\n\r\n")
        for _ in range(20):
            size = int(await reader.readuntil(b"\r\n"), 16)
            piece = await reader.readexactly(size + 2)
            assert size == 2**20 and b"\n" not in piece[:-2]
        writer.close()


async def test_not_utf8_is_json_in_latin_1() -> None:
    async with http("not_utf8") as bad:
        (event,) = await events(bad)
    with pytest.raises(UnicodeDecodeError):
        event.decode()
    assert json.loads(event.decode("latin-1"))


async def test_not_jsonrpc_is_json_all_the_same() -> None:
    async with http("not_jsonrpc") as bad:
        assert "jsonrpc" not in await one_event(bad)


async def test_wrong_id_answers_a_request_that_nobody_made() -> None:
    async with http("wrong_id") as bad:
        assert (await one_event(bad))["id"] == 999_999


async def test_duplicate_answers_twice() -> None:
    async with http("duplicate") as bad:
        first, second = await events(bad)
    assert first == second


async def test_silence_holds_the_connection_until_the_client_leaves() -> None:
    async with http("silence") as bad:
        waiting = asyncio.create_task(send(bad))
        await bad.met.wait()
        await good(bad)
        assert not waiting.done()
        waiting.cancel()
        await asyncio.wait([waiting])
        await asyncio.wait(bad._connections)


async def test_late_answer_comes_after_the_next_request() -> None:
    async with http("late_answer") as bad:
        waiting = asyncio.create_task(one_event(bad))
        await bad.met.wait()
        await good(bad)
        assert (await waiting)["id"] == 7


async def test_late_answer_comes_when_it_is_released() -> None:
    async with http("late_answer") as bad:
        waiting = asyncio.create_task(one_event(bad))
        await bad.met.wait()
        bad.release()
        assert (await waiting)["id"] == 7


async def test_missing_capability_names_it() -> None:
    async with http("missing_capability") as bad:
        error = (await one_event(bad))["error"]
    assert (error["code"], error["data"]) == (-32021, {"requiredCapabilities": {"sampling": {}}})


async def test_unknown_result_type() -> None:
    async with http("unknown_result_type") as bad:
        assert (await one_event(bad))["result"]["resultType"] == "task"


async def test_input_required_asks() -> None:
    async with http("input_required") as bad:
        assert (await one_event(bad))["result"]["resultType"] == "input_required"


async def test_unknown_tool_is_gone_from_the_list_too() -> None:
    async with http("unknown_tool") as bad:
        assert (await one_event(bad))["error"]["code"] == -32602
        async with client() as connection:
            (listed,) = await post(connection, bad.url, request("tools/list"))
    assert len(listed["result"]["tools"]) == 2


async def test_is_error_is_a_good_result_of_a_bad_day() -> None:
    async with http("is_error") as bad:
        assert (await one_event(bad))["result"]["isError"] is True


# -- what only HTTP has ---------------------------------------------------------------------------


async def test_stream_cut_breaks_off_after_progress() -> None:
    async with http("stream_cut") as bad, client() as connection:
        got = b""
        with pytest.raises((httpx.RemoteProtocolError, httpx.ReadError)):
            async with connection.stream("POST", bad.url, json=CALL) as answer:
                async for piece in answer.aiter_raw():
                    got += piece
        assert b"notifications/progress" in got and b"result" not in got
        await good(bad)


async def test_slow_sends_a_comment_and_the_response_after_the_next_request() -> None:
    async with (
        http("slow") as bad,
        client() as connection,
        connection.stream("POST", bad.url, json=CALL) as answer,
    ):
        pieces = answer.aiter_raw()
        assert await anext(pieces) == b": still working\n\n"
        await good(bad)
        assert b'"id":7' in b"".join([piece async for piece in pieces])


async def test_status_401_says_where_to_ask() -> None:
    async with http("status_401") as bad:
        answer = await send(bad)
    assert answer.status_code == 401 and answer.content == b""
    assert "resource_metadata=" in answer.headers["www-authenticate"]


async def test_status_403_says_what_is_lacking() -> None:
    async with http("status_403") as bad:
        answer = await send(bad)
    assert answer.status_code == 403
    assert 'error="insufficient_scope"' in answer.headers["www-authenticate"]


async def test_status_404_bare_is_a_page() -> None:
    async with http("status_404_bare") as bad:
        answer = await send(bad)
    assert answer.status_code == 404 and b"<html>" in answer.content


async def test_status_404_jsonrpc_is_an_error_object() -> None:
    async with http("status_404_jsonrpc") as bad:
        answer = await send(bad)
    assert answer.status_code == 404
    assert (answer.json()["id"], answer.json()["error"]["code"]) == (7, -32601)


async def test_status_429_names_a_time() -> None:
    async with http("status_429") as bad:
        answer = await send(bad)
    assert answer.status_code == 429 and answer.headers["retry-after"] == "3600"


async def test_status_502_html_is_a_page() -> None:
    async with http("status_502_html") as bad:
        answer = await send(bad)
    assert answer.status_code == 502 and b"Bad Gateway" in answer.content


async def test_wrong_content_type_labels_the_right_answer() -> None:
    async with http("wrong_content_type") as bad:
        answer = await send(bad)
    assert answer.status_code == 200 and answer.headers["content-type"].startswith("text/html")
    assert answer.json()["result"]["isError"] is False


async def test_cut_body_is_shorter_than_announced() -> None:
    async with http("cut_body") as bad:
        with pytest.raises(httpx.RemoteProtocolError, match=r"received \d+ bytes, expected \d+"):
            await send(bad)
        reader, writer = await asking(bad)
        head, _, got = (await reader.read()).partition(b"\r\n\r\n")
        writer.close()
    assert b"Content-Length: " in head and got.startswith(b'{"jsonrpc"')


@pytest.mark.parametrize(
    "raw",
    [b"GET /mcp HTTP/1.1\r\n\r\n", b"\x16\x03\x01 tls?\r\n\r\n", b"x", b"x" * 100_000],
    ids=("get", "tls", "cut", "long"),
)
async def test_what_is_no_post_is_dropped_quietly(
    raw: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    async with http("status_429") as bad:
        reader, writer = await connected(bad)
        writer.write(raw)
        with contextlib.suppress(ConnectionError):
            writer.write_eof()
            assert await reader.read() == b""
        writer.close()
        await good(bad)
    gc.collect()  # a task whose exception nobody saw says so at its end
    assert caplog.records == []
