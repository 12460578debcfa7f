"""Real servers that speak only the older handshake, through LegacyTransport.

``make peers`` installs them; where one is missing, its tests are skipped and say so.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import peers
import psutil
import pytest

from mini_agent.errors import JsonRpcError, RequestTimeout, TransportClosed
from mini_agent.mcp.client import McpClient
from mini_agent.mcp.http import HttpTransport
from mini_agent.mcp.legacy import LegacyTransport
from mini_agent.mcp.stdio import StdioTransport
from mini_agent.trace import Trace

pytestmark = [pytest.mark.timeout(60), pytest.mark.speaks("2025-11-25")]

BEFORE = "2025-11-25"
HANDSHAKE = ["server/discover", "initialize", "notifications/initialized"]
STEPS = {"duration": 0.2, "steps": 2}


def needs(server: str) -> None:
    if why := peers.why_missing(server):
        pytest.skip(why)


@contextlib.asynccontextmanager
async def started(server: str, *arguments: str, **options: Any) -> AsyncIterator[McpClient]:
    """A connected client of ``server`` as a child process."""
    needs(server)
    inner = StdioTransport(peers.command(server, *arguments), **options)
    async with McpClient(LegacyTransport(inner), server=server, trace=Trace()) as client:
        await client.connect()
        yield client


@contextlib.asynccontextmanager
async def listening() -> AsyncIterator[str]:
    """server-everything over HTTP: its URL."""
    needs("server-everything")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = await asyncio.create_subprocess_exec(
        *peers.command("server-everything", "streamableHttp"),
        env={**os.environ, "PORT": str(port)},
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stderr is not None
    try:
        async with asyncio.timeout(30):
            while b"listening" not in (line := await process.stderr.readline()):
                assert line, "the server ended before it listened"
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        await process.communicate()


@contextlib.asynccontextmanager
async def everything(over: str) -> AsyncIterator[McpClient]:
    if over == "stdio":
        async with started("server-everything", "stdio") as client:
            yield client
        return
    async with listening() as url:
        inner = HttpTransport(url)
        async with McpClient(LegacyTransport(inner), server="everything", trace=Trace()) as client:
            await client.connect()
            yield client


def text(result: Any) -> str:
    return str(result.content[0]["text"])


def sent(client: McpClient) -> list[dict[str, Any]]:
    assert client.trace is not None
    return [event.facts["message"] for event in client.trace.events if event.what == "sent"]


def begins_with_the_handshake(client: McpClient) -> bool:
    assert isinstance(client.transport, LegacyTransport)
    assert client.transport.legacy_version == BEFORE
    return [message["method"] for message in sent(client)[:3]] == HANDSHAKE


async def until(condition: Callable[[], bool]) -> None:
    """Let the event loop turn until ``condition`` holds; the test's own timeout bounds it."""
    while not condition():  # noqa: ASYNC110 - a process ends outside of our loop
        await asyncio.sleep(0.005)


# -- server-everything, both ways -----------------------------------------------------------------


@pytest.fixture(params=["stdio", "http"])
def over(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def test_everything_lists_what_it_has(over: str) -> None:
    async with everything(over) as client:
        assert begins_with_the_handshake(client)
        assert {"echo", "get-sum", "get-structured-content"} <= {t.name for t in client.tools}
        assert client.left_out == []
        assert (client.server_info or {})["name"] == "mcp-servers/everything"
        assert "Everything" in client.instructions
        assert len(await client.list_resources()) > 0
        assert len(await client.list_resource_templates()) > 0
        assert len(await client.list_prompts()) > 0


async def test_everything_answers_calls_resources_and_prompts(over: str) -> None:
    async with everything(over) as client:
        assert text(await client.call("echo", {"message": "é\n"})) == "Echo: é\n"
        weather = await client.call("get-structured-content", {"location": "Chicago"})
        assert weather.structured_content["conditions"]
        uri = (await client.list_resources())[0]["uri"]
        assert (await client.read_resource(uri))[0]["uri"] == uri
        prompt = await client.get_prompt("args-prompt", {"city": "Oslo"})
        assert "Oslo" in prompt["messages"][0]["content"]["text"]


async def test_everything_says_what_is_wrong(over: str) -> None:
    async with everything(over) as client:
        unknown = await client.call("no-such-tool")
        assert unknown.is_error and "no-such-tool" in text(unknown)
        with pytest.raises(JsonRpcError):
            await client.get_prompt("no-such-prompt")
        assert text(await client.call("echo", {"message": "still there"})) == "Echo: still there"


async def test_everything_reports_progress_and_answers_many_at_once(over: str) -> None:
    async with everything(over) as client:
        told: list[Any] = []
        long = "trigger-long-running-operation"
        calls = [client.call("get-sum", {"a": number, "b": 1}) for number in range(16)]
        _, *sums = await asyncio.gather(client.call(long, STEPS, on_progress=told.append), *calls)
        assert [params["progress"] for params in told] == [1, 2]
        assert [text(result) for result in sums] == [
            f"The sum of {number} and 1 is {number + 1}." for number in range(16)
        ]


@pytest.mark.must("C35")
async def test_everything_is_told_of_a_call_that_nobody_waits_for(over: str) -> None:
    async with everything(over) as client:
        with pytest.raises(RequestTimeout):
            await client.call(
                "trigger-long-running-operation", {"duration": 30, "steps": 2}, timeout=0.2
            )
        await until(lambda: sent(client)[-1]["method"] == "notifications/cancelled")
        asked = [message for message in sent(client) if message["method"] == "tools/call"]
        assert sent(client)[-1]["params"]["requestId"] == asked[-1]["id"]
        assert text(await client.call("echo", {"message": "on"})) == "Echo: on"


async def test_two_sessions_with_one_server_over_http_do_not_meet() -> None:
    async with listening() as url:
        clients = [McpClient(LegacyTransport(HttpTransport(url))) for _ in range(2)]
        tools = await asyncio.gather(*(client.connect() for client in clients))
        assert tools[0] == tools[1]
        await clients[0].close()  # ends its session, and no other
        assert text(await clients[1].call("echo", {"message": "on"})) == "Echo: on"
        await clients[1].close()


# -- the others -----------------------------------------------------------------------------------


async def test_filesystem_writes_reads_and_keeps_inside_its_folder(tmp_path: Path) -> None:
    async with started("server-filesystem", str(tmp_path)) as client:
        assert begins_with_the_handshake(client)
        path = str(tmp_path / "note.txt")
        await client.call("write_file", {"path": path, "content": "é\nline two"})
        assert text(await client.call("read_text_file", {"path": path})) == "é\nline two"
        outside = await client.call("read_text_file", {"path": "/etc/hostname"})
        assert outside.is_error and "denied" in text(outside)
    assert (tmp_path / "note.txt").read_text(encoding="utf-8") == "é\nline two"
    assert not psutil.Process().children(recursive=True)


async def test_memory_remembers(tmp_path: Path) -> None:
    options = {"env": {"MEMORY_FILE_PATH": str(tmp_path / "memory.jsonl")}}
    async with started("server-memory", **options) as client:
        assert begins_with_the_handshake(client)
        entity = {"name": "refund desk", "entityType": "service", "observations": ["opens at 9"]}
        await client.call("create_entities", {"entities": [entity]})
    async with started("server-memory", **options) as client:
        graph = json.loads(text(await client.call("read_graph")))
    assert graph["entities"] == [entity]


async def test_sqlite_on_the_older_sdk_makes_a_table_and_reads_it(tmp_path: Path) -> None:
    async with started("sqlite", "--db-path", str(tmp_path / "a.db")) as client:
        assert begins_with_the_handshake(client)
        await client.call("create_table", {"query": "CREATE TABLE t (a INTEGER, b TEXT)"})
        await client.call("write_query", {"query": "INSERT INTO t VALUES (1, 'é')"})
        found = await client.call("read_query", {"query": "SELECT a, b FROM t"})
        assert text(found) == "[{'a': 1, 'b': 'é'}]"
        assert "memo://insights" in [r["uri"] for r in await client.list_resources()]
        assert await client.list_prompts()


@pytest.mark.must("C37")
@pytest.mark.parametrize("server", ["server-memory", "sqlite"])
async def test_a_server_that_is_killed_is_started_and_greeted_again(
    server: str, tmp_path: Path
) -> None:
    name, arguments = {
        "server-memory": ("read_graph", []),
        "sqlite": ("list_tables", ["--db-path", str(tmp_path / "a.db")]),
    }[server]
    options = {"env": {"MEMORY_FILE_PATH": str(tmp_path / "memory.jsonl")}}
    async with started(server, *arguments, **options) as client:
        assert not (await client.call(name)).is_error
        (process,) = psutil.Process().children()
        os.kill(process.pid, signal.SIGKILL)
        with contextlib.suppress(TransportClosed):  # unless the end was noticed before the write
            await client.call(name)
        assert not (await client.call(name)).is_error
        methods = [message["method"] for message in sent(client)]
    assert methods.count("initialize") == 2 and methods.count("server/discover") == 1
