"""After a failure: a process started again, how often, and what is never sent twice by itself."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from mini_agent.errors import ConnectFailed, McpError, TransportClosed
from mini_agent.mcp.client import McpClient
from mini_agent.mcp.retry import with_retries
from mini_agent.mcp.stdio import MAX_STARTS, StdioTransport

pytestmark = pytest.mark.timeout(30)

SERVER = """
import json, os, sys
count = int(open("starts").read()) + 1 if os.path.exists("starts") else 1
open("starts", "w").write(str(count))
for line in sys.stdin.buffer:
    message = json.loads(line)
    open("log", "a").write(message["method"] + "\\n")
    result = conduct(message["method"], count)
    reply = {"jsonrpc": "2.0", "id": message["id"], "result": result}
    sys.stdout.buffer.write(json.dumps(reply).encode() + b"\\n")
    sys.stdout.buffer.flush()
"""
TOOLS = {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}


class Clock:
    """Seconds, moved by hand."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds


def server(folder: Path, conduct: str, **options: Any) -> StdioTransport:
    """A process whose ``conduct(method, starts)`` is given, in ``folder``, where it keeps a log."""
    (folder / "server.py").write_text(f"TOOLS = {TOOLS!r}\n{textwrap.dedent(conduct)}{SERVER}")
    return StdioTransport([sys.executable, "server.py"], cwd=folder, **options)


def log(folder: Path) -> list[str]:
    return (folder / "log").read_text().split()


async def failure(sending: Any) -> McpError:
    with pytest.raises(McpError) as raised:
        await sending
    return raised.value


ENDS = "def conduct(method, starts): sys.exit(1)"


@pytest.mark.must("C37")
async def test_a_server_that_never_answers_is_started_a_bounded_number_of_times(
    tmp_path: Path,
) -> None:
    clock = Clock()
    async with McpClient(server(tmp_path, ENDS, clock=clock)) as client:
        for _ in range(MAX_STARTS):
            assert isinstance(await failure(client.call("t")), TransportClosed)
            clock.now += 100
        for _ in range(3):
            error = await failure(client.call("t"))
            assert isinstance(error, ConnectFailed) and not error.may_have_acted
            clock.now += 1000
    assert (tmp_path / "starts").read_text() == str(MAX_STARTS)


async def test_the_answer_to_a_greeting_does_not_count_as_an_answer(tmp_path: Path) -> None:
    async def greet(ask: Any) -> None:
        await ask({"jsonrpc": "2.0", "id": "hello", "method": "test/hello"})

    conduct = "def conduct(method, starts): return {} if method == 'test/hello' else sys.exit(1)"
    transport = server(tmp_path, conduct, on_start=greet, clock=Clock())
    async with McpClient(transport) as client:
        ends = [type(await failure(client.call("t"))) for _ in range(5)]
    assert ends == [TransportClosed] * 3 + [ConnectFailed] * 2


@pytest.mark.case("H17", "P11")
async def test_a_call_lost_with_its_process_is_not_sent_again_by_itself(tmp_path: Path) -> None:
    conduct = """
        def conduct(method, starts):
            if method == "tools/call" and starts == 1:
                sys.exit(1)
            return {"content": []} if method == "tools/call" else TOOLS
        """
    async with McpClient(server(tmp_path, conduct)) as client:
        await client.connect(discover=False)
        assert isinstance(await failure(client.call("t")), TransportClosed)
        assert log(tmp_path) == ["tools/list", "tools/call"]
        await client.call("t")
        assert [tool.name for tool in await client.list_tools(refresh=True)] == ["t"]
    assert log(tmp_path)[2:] == ["tools/call", "tools/list"]


@pytest.mark.must("C37")
async def test_a_call_that_is_declared_safe_outlives_the_process_it_went_to(tmp_path: Path) -> None:
    conduct = "def conduct(method, starts): return {'content': []} if starts > 2 else sys.exit(1)"
    clock = Clock()
    async with McpClient(server(tmp_path, conduct, clock=clock)) as client:
        await with_retries(lambda: client.call("t"), safe=True, sleep=clock.sleep)
    assert log(tmp_path) == ["tools/call"] * 3


async def test_the_pauses_between_starts_are_waited_out_by_retries(tmp_path: Path) -> None:
    conduct = "def conduct(method, starts): return {'content': []} if starts > 5 else sys.exit(1)"
    clock = Clock()
    async with McpClient(server(tmp_path, conduct, clock=clock)) as client:
        await with_retries(lambda: client.call("t"), safe=True, attempts=9, sleep=clock.sleep)
    assert log(tmp_path) == ["tools/call"] * 6
