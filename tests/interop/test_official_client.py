"""The official SDK's client against our calendar: a judge that nobody here wrote."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import mcp
import pytest
from mcp_types import ElicitResult, TextContent, TextResourceContents

from fake_servers.calendar import calendar_server
from fake_servers.context import Context
from fake_servers.core import Server
from fake_servers.declare import NeedInput, Tool
from fake_servers.http import HttpServer, serve

CARRIERS = ("stdio", "http-auto", "http-stream")


@asynccontextmanager
async def served(server: Server, **options: Any) -> AsyncIterator[HttpServer]:
    """A server over HTTP. The SDK leaves its event streams to the collector: let them end."""
    async with serve(server, **options) as running:
        yield running
    for _ in range(10):  # one generator closes the next, each in a turn of the loop
        await asyncio.sleep(0)


@asynccontextmanager
async def official_client(over: str) -> AsyncIterator[mcp.Client]:
    """The SDK's client, connected to a fresh calendar, refusing the older handshake."""
    if over == "stdio":
        command = mcp.StdioServerParameters(
            command=sys.executable, args=["-m", "fake_servers.calendar"]
        )
        async with mcp.Client(mcp.stdio_client(command), mode="2026-07-28") as client:
            yield client
    else:
        replies: Any = over.removeprefix("http-")
        async with (
            served(calendar_server(), replies=replies) as running,
            mcp.Client(running.url, mode="2026-07-28") as client,
        ):
            yield client


@pytest.fixture(params=CARRIERS)
def over(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def test_it_lists_the_tools(over: str) -> None:
    async with official_client(over) as client:
        tools = (await client.list_tools()).tools
    assert [t.name for t in tools] == ["calendar_query", "calendar_create", "calendar_delete"]
    hints = [t.annotations for t in tools]
    assert hints[0] and hints[0].read_only_hint and hints[2] and hints[2].destructive_hint


async def test_it_calls_and_checks_the_output_schema(over: str) -> None:
    async with official_client(over) as client:
        result = await client.call_tool("calendar_query", {"date": "2026-08-03"})
    assert not result.is_error
    assert isinstance(result.structured_content, dict)
    assert [a["id"] for a in result.structured_content["appointments"]] == [
        "apt-1", "apt-2", "apt-3",
    ]  # fmt: skip
    assert isinstance(result.content[0], TextContent)


async def test_it_books_what_it_then_finds(over: str) -> None:
    wanted = {"title": "Call", "start": "2026-08-03T15:00", "end": "2026-08-03T15:30"}
    async with official_client(over) as client:
        await client.call_tool("calendar_create", wanted)
        result = await client.call_tool("calendar_query", {"date": "2026-08-03"})
    assert isinstance(result.structured_content, dict)
    assert result.structured_content["appointments"][-1]["title"] == "Call"


async def test_a_tool_error_is_a_result(over: str) -> None:
    async with official_client(over) as client:
        result = await client.call_tool("calendar_delete", {"id": "apt-99"})
    assert result.is_error and isinstance(result.content[0], TextContent)


async def test_an_unknown_tool_is_a_protocol_error(over: str) -> None:
    async with official_client(over) as client:
        with pytest.raises(mcp.MCPError) as raised:
            await client.call_tool("calendar_dream", {})
    assert raised.value.error.code == -32602


async def test_it_reads_the_resource_and_gets_the_prompt(over: str) -> None:
    async with official_client(over) as client:
        read = await client.read_resource("calendar://today")
        prompt = await client.get_prompt("plan_day", {"date": "2026-08-04"})
    assert isinstance(read.contents[0], TextResourceContents)
    assert "Dentist" in read.contents[0].text
    assert isinstance(prompt.messages[0].content, TextContent)
    assert "2026-08-04" in prompt.messages[0].content.text


async def test_it_finds_the_modern_protocol_by_itself(over: str) -> None:
    if over == "stdio":
        command = mcp.StdioServerParameters(
            command=sys.executable, args=["-m", "fake_servers.calendar"]
        )
        async with mcp.Client(mcp.stdio_client(command)) as client:
            assert client.protocol_version == "2026-07-28"
    else:
        async with served(calendar_server()) as running, mcp.Client(running.url) as client:
            assert client.protocol_version == "2026-07-28"


# -- what the calendar does not do ----------------------------------------------------------------


async def ask_name(arguments: dict[str, Any], context: Context) -> str | NeedInput:
    given = context.accepted("who")
    if given is None:
        form = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
        question = {"mode": "form", "message": "Your name?", "requestedSchema": form}
        return NeedInput({"who": {"method": "elicitation/create", "params": question}}, state=1)
    return f"hello {given['name']}"


async def count(arguments: dict[str, Any], context: Context) -> str:
    for i in (1, 2, 3):
        await context.progress(i, 3)
    return f"counted for {arguments['region']}"


REGION = {
    "type": "object",
    "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
    "required": ["region"],
}


def asking_server() -> Server:
    return Server("asking", tools=[Tool("greet", "", ask_name), Tool("count", "", count, REGION)])


async def test_it_answers_what_the_server_asks() -> None:
    async def answer(context: Any, asked: Any) -> ElicitResult:
        assert asked.message == "Your name?"
        return ElicitResult(action="accept", content={"name": "Kim"})

    async with (
        served(asking_server()) as running,
        mcp.Client(running.url, elicitation_callback=answer) as client,
    ):
        result = await client.call_tool("greet", {})
    assert isinstance(result.content[0], TextContent) and result.content[0].text == "hello Kim"


async def test_it_hears_progress_and_mirrors_arguments_in_headers() -> None:
    heard: list[float] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append(progress)

    async with served(asking_server()) as running, mcp.Client(running.url) as client:
        await client.list_tools()
        result = await client.call_tool("count", {"region": "äu"}, progress_callback=hear)
    assert heard == [1, 2, 3] and not result.is_error
    assert running.requests[-1]["mcp-param-region"].startswith("=?base64?")


async def test_it_follows_the_pages() -> None:
    tools = [Tool(f"tool_{i}", "", count) for i in range(5)]
    async with (
        served(Server("paged", tools=tools, page_size=2)) as running,
        mcp.Client(running.url) as client,
    ):
        first = await client.list_tools()
        second = await client.list_tools(cursor=first.next_cursor)
    assert [t.name for t in first.tools + second.tools] == [f"tool_{i}" for i in range(4)]
