"""The stdio carrier: a real child process, and the loop on its own."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from fakes_child import child
from fakes_judge import judge
from fakes_sample import Held, sample
from fakes_wire import call, request

from fake_servers.in_flight import InFlight
from fake_servers.stdio import read_lines, serve, write_to

CALENDAR = [sys.executable, "-m", "fake_servers.calendar"]


@pytest.mark.must("S10")
async def test_the_calendar_answers_one_line_a_message_and_exits_at_the_end_of_stdin() -> None:
    async with child(CALENDAR) as server:
        asked = [request("server/discover", id=1), request("tools/list", id=2)]
        for message in asked:
            judge(message, [await server.ask(message)])
        assert await server.end() == (b"", b"", 0)


async def test_what_was_asked_before_the_end_of_stdin_is_still_answered() -> None:
    async with child(CALENDAR) as server:
        for i in range(20):
            await server.tell(call("calendar_query", {"date": "2026-08-03"}, id=i))
        out, _, code = await server.end()
    assert sorted(json.loads(line)["id"] for line in out.splitlines()) == list(range(20))
    assert code == 0


@pytest.mark.must("S10")
async def test_line_breaks_of_every_kind_stay_inside_a_line() -> None:
    title = "a\nb\r\nc\u2028d\u2029e\x85f"
    async with child(CALENDAR) as server:
        wanted = {"title": title, "start": "2026-08-03T15:00", "end": "2026-08-03T16:00"}
        made = await server.ask(call("calendar_create", wanted))
        assert made["result"]["structuredContent"]["created"]["title"] == title
        out, _, _ = await server.end()
    assert out == b""


@pytest.mark.must("S01")
@pytest.mark.parametrize(
    "line, code, request_id",
    [
        (b"not json", -32700, None),
        (b"\xff\xfe", -32700, None),
        (b"[]", -32600, None),
        (b'{"jsonrpc":"1.0","id":5,"method":"tools/list"}', -32600, 5),
        (b'{"jsonrpc":"2.0","id":null,"method":"tools/list"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":true,"method":"tools/list"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":5,"method":7}', -32600, 5),
        (b'{"jsonrpc":"2.0","id":5}', -32600, 5),
        (b'{"jsonrpc":"2.0","id":5,"method":"tools/list","params":[]}', -32602, 5),
        (b'{"jsonrpc":"2.0","id":5,"method":"tools/list","params":null}', -32602, 5),
        (b'{"jsonrpc":"2.0","id":5,"method":"tools/list"}', -32602, 5),
    ],
)
async def test_a_line_that_is_no_request_is_refused(
    line: bytes, code: int, request_id: object
) -> None:
    said: list[bytes] = []
    await serve(InFlight(sample(), said.append), lines(line))
    (answer,) = map(json.loads, said)
    judge({}, [answer])
    assert answer["error"]["code"] == code and answer.get("id") == request_id


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b" \r",
        b'{"jsonrpc":"2.0","method":"notifications/unheard"}',
        b'{"jsonrpc":"2.0","id":1,"result":{}}',
        b'{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}',
        b'{"jsonrpc":"2.0","method":"notifications/cancelled"}',
        b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}',
        b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":[]}}',
    ],
)
async def test_what_is_no_request_is_answered_by_nothing(line: bytes) -> None:
    said: list[bytes] = []
    await serve(InFlight(sample(), said.append), lines(line))
    assert said == []


@pytest.mark.must("S10")
async def test_a_cancelled_request_is_stopped_and_never_spoken_of_again() -> None:
    held, said = Held(), asyncio.Queue[bytes]()
    requests = InFlight(sample(held), said.put_nowait)
    for request_id in ("1", 1):
        requests.take(json.dumps(call("held", id=request_id)).encode())
    await held.began.wait()
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    requests.take(json.dumps(cancel).encode())
    held.let_go.set()
    requests.take(json.dumps(call("echo", id=2)).encode())
    await held.cancelled.wait()
    assert {json.loads(await said.get())["id"] for _ in range(2)} == {"1", 2}
    await requests.finish()
    assert said.empty()


async def test_progress_stops_with_the_cancel() -> None:
    said: list[bytes] = []
    requests = InFlight(sample(), lambda line: said.append(line) or cancel())  # type: ignore[func-returns-value]

    def cancel() -> None:
        requests.cancel({"requestId": 1})

    requests.take(json.dumps(call("count", meta={"progressToken": "t"})).encode())
    await requests.finish(5)
    assert len(said) == 1


async def test_slow_requests_do_not_hold_up_quick_ones() -> None:
    held, said = Held(), asyncio.Queue[bytes]()
    requests = InFlight(sample(held), said.put_nowait)
    requests.take(json.dumps(call("held", id=1)).encode())
    requests.take(json.dumps(call("echo", id=2)).encode())
    assert json.loads(await said.get())["id"] == 2
    held.let_go.set()
    assert json.loads(await said.get())["id"] == 1
    await requests.finish()


async def test_work_without_end_is_cancelled_when_stdin_ends() -> None:
    held = Held()
    given = lines(json.dumps(call("held")).encode())
    await serve(InFlight(sample(held), print), given, grace=0.01)
    assert held.cancelled.is_set()


async def test_a_reader_that_is_gone_ends_the_server() -> None:
    tried = asyncio.Event()

    def broken(line: bytes) -> None:
        tried.set()
        raise BrokenPipeError

    async def endless() -> AsyncGenerator[bytes, None]:
        yield json.dumps(call("echo")).encode()
        await tried.wait()
        yield json.dumps(call("echo")).encode()
        await asyncio.Event().wait()

    await asyncio.wait_for(serve(InFlight(sample(), broken), endless()), 5)


def test_writing_to_nobody_is_a_broken_pipe() -> None:
    read, write = os.pipe()
    os.close(read)
    with pytest.raises(BrokenPipeError):
        write_to(write)(b"x")
    os.close(write)


@pytest.mark.must("S10")
async def test_what_a_tool_prints_does_not_reach_stdout() -> None:
    code = (
        "from fake_servers.core import Server; from fake_servers.declare import Tool\n"
        "from fake_servers.stdio import main\n"
        "async def loud(arguments, context):\n    print('LOUD'); return 'quiet'\n"
        "main(Server('loud', tools=[Tool('loud', 'Prints.', loud)]))\n"
    )
    async with child([sys.executable, "-c", code]) as server:
        answer = await server.ask(call("loud"))
        assert answer["result"]["content"][0]["text"] == "quiet"
        out, err, _ = await server.end()
    assert out == b"" and b"LOUD" in err


async def test_a_crash_of_a_tool_is_told_on_stderr_and_not_on_the_wire() -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from fakes_sample import sample; from fake_servers.stdio import main; main(sample())"
    )
    async with child([sys.executable, "-c", code]) as server:
        assert (await server.ask(call("crash")))["error"]["code"] == -32603
        out, err, _ = await server.end()
    assert out == b"" and b"a secret of the inside" in err


@pytest.mark.parametrize("size", [1, 2**16 - 1, 2**16, 2**16 + 1, 2**20])
async def test_a_line_of_any_length_is_read_whole(size: int) -> None:
    read, write = os.pipe()
    writing = asyncio.create_task(asyncio.to_thread(feed, write, [b"a" * size + b"\nbc", b"\nd"]))
    assert [line async for line in read_lines(read)] == [b"a" * size, b"bc", b"d"]
    await writing
    os.close(read)


async def test_a_line_beyond_the_limit_ends_the_reading() -> None:
    read, write = os.pipe()
    writing = asyncio.create_task(asyncio.to_thread(feed, write, [b"ok\n", b"a" * 2**18]))
    assert [line async for line in read_lines(read, limit=2**17)] == [b"ok"]
    await writing
    os.close(read)


def feed(fd: int, pieces: list[bytes]) -> None:
    for piece in pieces:
        while piece:
            piece = piece[os.write(fd, piece) :]
    os.close(fd)


async def lines(*given: bytes):  # type: ignore[no-untyped-def]
    for line in given:
        yield line
