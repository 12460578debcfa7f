"""LegacyTransport over processes: older servers of every kind, their ends and their restarts."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
from older_peers import (
    BEFORE,
    HANDSHAKE,
    WELCOME,
    ask,
    client_of,
    command,
    failure,
    refusal,
    seen_by,
    text_of,
)

from mini_agent.errors import (
    ConnectFailed,
    JsonRpcError,
    RequestTimeout,
    TransportClosed,
)
from mini_agent.mcp.legacy import LegacyTransport
from mini_agent.mcp.messages import parse_response
from mini_agent.mcp.stdio import StdioTransport
from mini_agent.mcp.transport import McpTransport
from mini_agent.trace import Trace

pytestmark = [pytest.mark.timeout(30), pytest.mark.speaks("2025-11-25")]


@pytest.mark.must("C22")
@pytest.mark.case("L01", "L02")
@pytest.mark.parametrize("discover", ["-32601", "-32602", "-32000", "exit", "silence"])
async def test_every_way_of_not_knowing_discover_ends_in_a_session(discover: str) -> None:
    inner = StdioTransport(command(f"--discover={discover}"))
    limit = 0.2 if discover == "silence" else 10
    async with client_of(inner, probe_timeout=limit) as client:
        assert "echo" in {tool.name for tool in await client.connect()}
        assert await text_of(client, "echo", text="é\n") == "é\n"
        seen = await seen_by(client)
    began = HANDSHAKE[1:] if discover == "exit" else HANDSHAKE
    assert seen == [*began, "tools/list", "tools/call", "tools/call"]
    assert not psutil.Process().children(recursive=True)


class NaiveFallback:
    """What the first half of the implementations do: one code means older, nothing else does."""

    def __init__(self, inner: McpTransport) -> None:
        self.inner = inner

    async def connect(self) -> None:
        try:
            async with asyncio.timeout(1):
                parse_response(await self.inner.send(ask(1, "server/discover")) or {})
        except JsonRpcError as error:
            if error.code != -32601:
                raise
            params = {
                "protocolVersion": BEFORE,
                "clientInfo": {"name": "n", "version": "1"},
                "capabilities": {},
            }
            hello = {"jsonrpc": "2.0", "id": 2, "method": "initialize", "params": params}
            parse_response(await self.inner.send(hello) or {})


@pytest.mark.case("L01", "L02")
@pytest.mark.parametrize(
    ("discover", "end"),
    [
        ("-32601", None),
        ("-32602", JsonRpcError),
        ("exit", TransportClosed),
        ("silence", TimeoutError),
    ],
)
async def test_a_naive_fallback_reaches_one_older_server_in_four(
    discover: str, end: type[Exception] | None
) -> None:
    inner = StdioTransport(command(f"--discover={discover}"))
    try:
        with pytest.raises(end) if end else contextlib.nullcontext():
            await NaiveFallback(inner).connect()
    finally:
        await inner.close()


async def test_close_during_the_probe_is_one_plain_error() -> None:
    inner, trace = StdioTransport(command("--discover=silence")), Trace()
    transport = LegacyTransport(inner)
    transport.trace = trace
    call = asyncio.create_task(failure(transport.send(ask())))
    await until(lambda: any(event.what == "sent" for event in trace.events))
    await transport.close()
    error = await call
    assert isinstance(error, TransportClosed) and not hasattr(error, "__notes__")


@pytest.mark.must("C37")
async def test_after_a_restart_the_handshake_comes_first_again_without_a_probe() -> None:
    async with client_of(StdioTransport(command())) as client:
        await client.connect()
        pid = await text_of(client, "pid")
        assert isinstance(await failure(client.call("end")), TransportClosed)
        assert await text_of(client, "pid") != pid
        assert await seen_by(client) == [*HANDSHAKE[1:], "tools/call", "tools/call"]


@pytest.mark.case("F20")
@pytest.mark.sends_wrong("a response, which only an older server may get")
async def test_a_server_that_pings_before_it_answers_gets_its_answer_also_after_a_restart() -> None:
    async with client_of(StdioTransport(command("--ping"))) as client:
        await client.connect()
        await failure(client.call("end"))
        seen = await seen_by(client)
        replies = json.loads(await text_of(client, "ask"))
    assert seen == ["initialize", "a response", "notifications/initialized", "tools/call"]
    assert replies[0]["result"] == {} and replies[1]["error"]["code"] == -32601


@pytest.mark.must("C35")
async def test_a_cancelled_call_is_cancelled_on_the_pipe() -> None:
    async with client_of(StdioTransport(command())) as client:
        await client.connect()
        assert isinstance(await failure(client.call("wait", timeout=0.05)), RequestTimeout)
        seen = await seen_by(client)
    assert seen.count("notifications/cancelled") == 1


SCRIPT = """
import json, os, sys
times = int(open("times").read() or 0) if os.path.exists("times") else 0
open("times", "w").write(str(times + 1))
for line in sys.stdin.buffer:
    message = json.loads(line)
    open("log", "a").write(message["method"] + "\\n")
    answer = conduct(message["method"], times)
    if answer is None:
        continue
    reply = {"jsonrpc": "2.0", "id": message["id"], **answer}
    sys.stdout.buffer.write(json.dumps(reply).encode() + b"\\n")
    sys.stdout.buffer.flush()
"""
Scripted = Callable[..., StdioTransport]


@pytest.fixture
def scripted(tmp_path: Path) -> Scripted:
    """A server whose ``conduct(method, starts before this one)`` is given; it keeps a log."""

    def make(conduct: str, **options: Any) -> StdioTransport:
        text = f"WELCOME = {WELCOME!r}\nNO = {refusal(-32601)!r}\n"
        (tmp_path / "server.py").write_text(text + textwrap.dedent(conduct) + SCRIPT)
        return StdioTransport([sys.executable, "server.py"], cwd=tmp_path, **options)

    return make


def log(tmp_path: Path) -> list[str]:
    path = tmp_path / "log"
    return path.read_text().split() if path.exists() else []


async def until(condition: Callable[[], bool]) -> None:
    """Let the event loop turn until ``condition`` holds; the test's own timeout bounds it."""
    while not condition():  # noqa: ASYNC110 - a file is written outside of our loop
        await asyncio.sleep(0.005)


@pytest.mark.parametrize("silent_at", [0, 1], ids=["at first", "after a restart"])
async def test_initialize_is_never_cancelled_on_the_pipe(
    scripted: Scripted, tmp_path: Path, silent_at: int
) -> None:
    inner = scripted(f"""
        def conduct(method, times):
            if method == "tools/call":
                sys.exit(1)
            if method == "initialize":
                return WELCOME if times < {silent_at} else None
            return NO if method == "server/discover" else None
        """)
    async with client_of(inner) as client:
        if silent_at:
            assert isinstance(await failure(client.call("t")), TransportClosed)
        waits = asyncio.create_task(failure(client.call("t", timeout=10)))
        await until(lambda: log(tmp_path).count("initialize") > silent_at)
        waits.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waits
    assert log(tmp_path)[-1] == "initialize"
    assert "notifications/cancelled" not in log(tmp_path)


@pytest.mark.must("C24")
async def test_a_server_that_became_modern_is_found_out_at_the_next_message(
    scripted: Scripted, tmp_path: Path
) -> None:
    inner = scripted("""
        def conduct(method, times):
            if method.startswith("notifications/"):
                return None
            if method == "server/discover":
                modern = {"supportedVersions": ["2026-07-28"], "capabilities": {}}
                return {"result": modern} if times else NO
            if method == "initialize":
                return NO if times else WELCOME
            return {"result": {"content": []}} if times else sys.exit(1)
        """)
    async with client_of(inner) as client:
        await failure(client.call("t"))
        error = await failure(client.call("t"))
        assert isinstance(error, ConnectFailed) and not error.may_have_acted
        await client.call("t")
        assert isinstance(client.transport, LegacyTransport)
        assert client.transport.legacy_version is None
    assert log(tmp_path)[-2:] == ["server/discover", "tools/call"]


async def test_a_server_that_ends_at_every_call_is_started_less_and_less_often(
    scripted: Scripted,
) -> None:
    now = 1000.0
    inner = scripted(
        """
        def conduct(method, times):
            if method == "tools/call":
                sys.exit(1)
            return {"initialize": WELCOME, "server/discover": NO}.get(method)
        """,
        clock=lambda: now,
    )
    async with client_of(inner) as client:
        await failure(client.call("t"))
        ends = [type(await failure(client.call("t"))) for _ in range(5)]
    assert ends[:3] == [TransportClosed] * 3
    assert ends[-1] is ConnectFailed
