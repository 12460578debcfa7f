"""The faults that hang or lose data where they are not met, each against ours and a naive client.

The naive client must turn red (``xfail``, strict), so every test here has been seen to fail.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import httpx
import naive
import pytest
from naive import OursOverHttp, OursOverStdio

from mini_agent.errors import (
    ConnectFailed,
    HttpStatusError,
    MalformedMessage,
    RequestTimeout,
    TransportClosed,
)

pytestmark = pytest.mark.timeout(60)

Client: TypeAlias = Any
PRELUDE = """
import json, signal, sys, time
def read():
    line = sys.stdin.buffer.readline()
    return json.loads(line) if line else sys.exit()
def say(message):
    sys.stdout.buffer.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\\n")
    sys.stdout.buffer.flush()
def answer(request, text="ok"):
    say({"id": request["id"], "result": {"content": [{"type": "text", "text": text}]}})
def serve():
    while True: answer(read())
"""


def against(ours: type, naive: type, red: Any = TimeoutError) -> Any:
    """Run a test against ``ours``, and against ``naive``, which must fail with ``red``."""
    reason = f"{naive.__name__}: {naive.__doc__}"
    red_mark = pytest.mark.xfail(strict=True, raises=red, reason=reason)
    return pytest.mark.parametrize(
        "kind", [pytest.param(ours, id="ours"), pytest.param(naive, id="naive", marks=red_mark)]
    )


@contextlib.asynccontextmanager
async def within_its_patience(client: Client) -> AsyncIterator[Client]:
    """The client, for as long as it may take; nothing of it is left afterwards."""
    try:
        async with asyncio.timeout(client.patience):
            yield client
    finally:
        await client.bury()


# -- a pipe ---------------------------------------------------------------------------------------


@pytest.fixture
def python(tmp_path: Path) -> Callable[[str], list[str]]:
    """The command of a server whose script is given."""

    def command(script: str) -> list[str]:
        path = tmp_path / "server.py"
        path.write_text(PRELUDE + script, encoding="utf-8")
        return [sys.executable, str(path)]

    return command


Python: TypeAlias = Callable[[str], list[str]]


@pytest.mark.case("P01")
@against(OursOverStdio, naive.NeverHearsOfTheEnd)
async def test_a_server_that_exits_at_its_start(kind: Any, python: Python) -> None:
    async with within_its_patience(kind(python("sys.stderr.write('no key'); sys.exit(1)"))) as c:
        with pytest.raises(TransportClosed) as caught:
            await c.call("t")
    assert (caught.value.exit_code, caught.value.stderr_tail) == (1, "no key")


@pytest.mark.case("P02")
@against(OursOverStdio, naive.NeverHearsOfTheEnd)
async def test_a_script_that_is_not_there(kind: Any, tmp_path: Path) -> None:
    command = [sys.executable, str(tmp_path / "nowhere.py")]
    async with within_its_patience(kind(command)) as client:
        with pytest.raises(TransportClosed) as caught:
            await client.call("t")
    assert caught.value.exit_code == 2


@pytest.mark.case("P02")
@against(OursOverStdio, naive.NeverHearsOfTheEnd, red=FileNotFoundError)
async def test_a_program_that_is_not_there(kind: Any) -> None:
    async with within_its_patience(kind(["no-such-program-anywhere"])) as client:
        with pytest.raises(ConnectFailed):
            await client.call("t")


@pytest.mark.case("P03")
@against(OursOverStdio, naive.LetsStderrFill)
async def test_a_mebibyte_of_log_before_the_answer(kind: Any, python: Python) -> None:
    script = "r = read(); sys.stderr.write('x' * 2**20); sys.stderr.flush(); answer(r); serve()"
    async with within_its_patience(kind(python(script))) as client:
        assert await client.call("t") == "ok"


@pytest.mark.case("P07")
@against(OursOverStdio, naive.AsksNicelyAndWaits)
async def test_a_server_that_will_not_end(kind: Any, python: Python) -> None:
    script = "signal.signal(signal.SIGTERM, signal.SIG_IGN); answer(read())\nwhile 1: time.sleep(9)"
    async with within_its_patience(kind(python(script))) as client:
        assert await client.call("t") == "ok"
        await client.close()


@pytest.mark.case("P11")
@against(OursOverStdio, naive.KeepsTheDeadProcess, red=(ConnectionError, TimeoutError))
async def test_a_server_that_dies_between_two_calls(kind: Any, python: Python) -> None:
    async with within_its_patience(kind(python("answer(read())"))) as client:
        assert await client.call("t") == "ok"
        with contextlib.suppress(TransportClosed):  # it may be noticed only now
            await client.call("t")
        assert await client.call("t") == "ok"


@pytest.mark.case("P18")
@against(OursOverStdio, naive.BelongsToTheTaskThatOpenedIt, red=RuntimeError)
async def test_closing_from_another_task(kind: Any, python: Python) -> None:
    async with within_its_patience(kind(python("serve()"))) as client:
        assert await client.call("t") == "ok"
        await asyncio.create_task(client.close())


@pytest.mark.case("F03")
@against(OursOverStdio, naive.ReadsShortLines)
async def test_an_answer_of_ten_mebibytes(kind: Any, python: Python) -> None:
    async with within_its_patience(kind(python("answer(read(), 'x' * 10 * 2**20)"))) as client:
        assert len(await client.call("t")) == 10 * 2**20


@pytest.mark.case("F06")
@against(OursOverStdio, naive.DiesOfWhatItReads)
async def test_an_answer_that_is_not_utf8(kind: Any, python: Python) -> None:
    line = b'{"jsonrpc":"2.0","id":1,"result":{"t":"\\x97"}}\\n'
    script = f"read(); sys.stdout.buffer.write(b'{line.decode()}'); sys.stdout.flush(); serve()"
    async with within_its_patience(kind(python(script))) as client:
        with pytest.raises(MalformedMessage):
            await client.call("t")


@pytest.mark.case("F16")
@against(OursOverStdio, naive.TakesTheNextLine, red=AssertionError)
async def test_answers_with_another_id_and_a_second_time(kind: Any, python: Python) -> None:
    script = """
a = read(); answer({"id": 999}, "somebody else's"); answer(a, "first"); answer(a, "again")
b = read(); answer(b, "second"); serve()
"""
    async with within_its_patience(kind(python(script))) as client:
        assert [await client.call("t"), await client.call("t")] == ["first", "second"]


@pytest.mark.case("F24")
@against(OursOverStdio, naive.WritesBeforeItReads)
async def test_a_huge_argument_while_the_server_talks(kind: Any, python: Python) -> None:
    script = """
for n in range(5000): say({"method": "notifications/message", "params": {"data": "x" * 1000}})
answer(read())
"""
    async with within_its_patience(kind(python(script))) as client:
        assert await client.call("t", text="y" * 5 * 2**20) == "ok"


@pytest.mark.case("T01")
@against(OursOverStdio, naive.TakesAllToolsOrNone, red=TypeError)
async def test_one_bad_tool_among_good_ones(kind: Any, python: Python) -> None:
    good = {"name": "good", "inputSchema": {"type": "object"}}
    odd = {"name": "y", "inputSchema": {"type": "string"}}
    listed = {"tools": [good, None, {"name": "x"}, odd]}
    script = f"say({{'id': read()['id'], 'result': {listed}}}); serve()"
    async with within_its_patience(kind(python(script))) as client:
        assert await client.tools() == ["good"]


@pytest.mark.case("L01")
@against(OursOverStdio, naive.NeverHearsOfTheEnd)
async def test_a_server_that_exits_at_what_it_does_not_know(kind: Any, python: Python) -> None:
    script = "read()['method'] == 'initialize' or sys.exit()"
    async with within_its_patience(kind(python(script))) as client:
        with pytest.raises(TransportClosed) as caught:
            await client.connect()
    assert "before 2026-07-28" in str(caught.value)


# -- HTTP -----------------------------------------------------------------------------------------


class Events(httpx.AsyncByteStream):
    """A body of events; ``then`` is awaited at its end, before it closes."""

    def __init__(self, *messages: dict[str, Any], then: Any = None) -> None:
        self._messages, self._then = messages, then

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for message in self._messages:
            yield b"data: " + json.dumps(message).encode() + b"\n\n"
        if self._then is not None:
            await self._then()


PROGRESS = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": 1}}
JSON, STREAM = {"Content-Type": "application/json"}, {"Content-Type": "text/event-stream"}


def result(asked: httpx.Request) -> dict[str, Any]:
    content = [{"type": "text", "text": "ok"}]
    return {"jsonrpc": "2.0", "id": json.loads(asked.content)["id"], "result": {"content": content}}


def web(handle: Callable[[httpx.Request], Any]) -> httpx.AsyncClient:
    """A network in which one function answers."""
    return httpx.AsyncClient(transport=httpx.MockTransport(handle))


@pytest.mark.case("H01")
@against(OursOverHttp, naive.WaitsForAGoodAnswer)
async def test_a_gateways_error_page(kind: Any) -> None:
    page = "<html>Bad Gateway</html>"
    async with (
        web(lambda asked: httpx.Response(502, html=page)) as http,
        within_its_patience(kind(http)) as client,
    ):
        with pytest.raises(HttpStatusError) as caught:
            await client.call("t")
    assert (caught.value.status, caught.value.excerpt) == (502, page)


@pytest.mark.case("H10")
@against(OursOverHttp, naive.OffersWhatItCannotRead, red=UnicodeDecodeError)
async def test_a_server_that_compresses_as_it_was_offered(kind: Any) -> None:
    def handle(asked: httpx.Request) -> httpx.Response:
        if "br" in asked.headers["accept-encoding"]:
            return httpx.Response(200, headers=JSON, content=b"\x8b\x02\x80 brotli \x03")
        return httpx.Response(200, json=result(asked))

    async with web(handle) as http, within_its_patience(kind(http)) as client:
        assert await client.call("t") == "ok"


@pytest.mark.case("H17")
@against(OursOverHttp, naive.AsksAgainWhenItIsSlow, red=AssertionError)
async def test_a_slow_call_is_executed_once(kind: Any) -> None:
    executed: list[bytes] = []

    async def handle(asked: httpx.Request) -> httpx.Response:
        executed.append(asked.content)
        if len(executed) == 1:
            await asyncio.Event().wait()
        return httpx.Response(200, json=result(asked))

    async with web(handle) as http, within_its_patience(kind(http)) as client:
        with contextlib.suppress(RequestTimeout):
            await client.call("book")
        assert len(executed) == 1


@pytest.mark.case("E01")
@against(OursOverHttp, naive.WaitsForTheStreamToComeBack)
async def test_a_stream_that_ends_before_the_response(kind: Any) -> None:
    async with (
        web(lambda asked: httpx.Response(200, headers=STREAM, stream=Events(PROGRESS))) as http,
        within_its_patience(kind(http)) as client,
    ):
        with pytest.raises(TransportClosed):
            await client.call("t")


@pytest.mark.case("E13")
@against(OursOverHttp, naive.HasNoDeadline)
async def test_a_stream_that_says_nothing_more(kind: Any) -> None:
    silent = Events(PROGRESS, then=asyncio.Event().wait)
    async with (
        web(lambda asked: httpx.Response(200, headers=STREAM, stream=silent)) as http,
        within_its_patience(kind(http)) as client,
    ):
        with pytest.raises(RequestTimeout):
            await client.call("t")


# -- the naive clients themselves -----------------------------------------------------------------


@pytest.fixture
def good(python: Python) -> Iterator[list[str]]:
    yield python("serve()")


def kinds(of: type) -> list[type]:
    return [of, *of.__subclasses__()]


@pytest.mark.parametrize("kind", kinds(naive.NaiveStdio), ids=lambda kind: kind.__name__)
async def test_a_naive_client_is_right_as_long_as_nothing_goes_wrong(
    kind: Any, good: list[str]
) -> None:
    client = kind(good)
    assert await client.call("t") == "ok"
    await client.bury()


@pytest.mark.parametrize("kind", kinds(naive.NaiveHttp), ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("stream", [False, True])
async def test_so_it_is_over_http(kind: Any, stream: bool) -> None:
    def handle(asked: httpx.Request) -> httpx.Response:
        if stream:
            return httpx.Response(200, headers=STREAM, stream=Events(PROGRESS, result(asked)))
        return httpx.Response(200, json=result(asked))

    async with web(handle) as http:
        assert await kind(http).call("t") == "ok"
