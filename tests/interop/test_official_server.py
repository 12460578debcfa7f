"""Our client against a server on the official SDK, over stdio and over HTTP."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from mini_agent.errors import InputRequired, JsonRpcError, RequestTimeout
from mini_agent.mcp import HttpTransport, McpClient, StdioTransport, mcp_tool_to_tool
from mini_agent.mcp.changes import Change
from mini_agent.types import ToolResult

pytestmark = pytest.mark.timeout(60)

PEER = Path(__file__).with_name("official_server.py")


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """The peer over HTTP: one process for all tests of this file."""
    command = [sys.executable, str(PEER), "http"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


@pytest.fixture(params=["stdio", "http"])
def over(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@asynccontextmanager
async def connected(over: str, url: str, **options: Any) -> AsyncIterator[McpClient]:
    """Our client, connected to the peer."""
    http = over == "http"
    transport = HttpTransport(url) if http else StdioTransport([sys.executable, str(PEER), "stdio"])
    async with McpClient(transport, server="official", **options) as client:
        await client.connect()
        yield client


async def test_it_is_discovered_and_listed(over: str, url: str) -> None:
    async with connected(over, url) as client:
        assert client.protocol_version == "2026-07-28"
        assert client.server_info and client.server_info["name"] == "official"
        assert client.instructions == "A peer."
        names = ["add", "fail", "count", "route", "picture", "greet", "wait", "change"]
        assert [tool.name for tool in client.tools] == names and client.left_out == []


async def test_a_call_gives_text_and_structured_content_that_fits_its_schema(
    over: str, url: str
) -> None:
    async with connected(over, url) as client:
        result = await client.call("add", {"a": 2, "b": 3})
    assert result.structured_content == {"total": 5} and not result.is_error
    assert [block["type"] for block in result.content] == ["text"]


async def test_both_error_paths_end_where_they_belong(over: str, url: str) -> None:
    async with connected(over, url) as client:
        failing = client.tool("fail")
        assert failing is not None
        told = await mcp_tool_to_tool(client, failing).execute({"why": "the shop is closed"})
        assert told.is_error and "the shop is closed" in told.content
        with pytest.raises(JsonRpcError) as caught:
            await client.read_resource("test://nowhere")
    assert (caught.value.code, caught.value.server) == (-32602, "official")


async def test_a_tool_that_nobody_knows_is_a_result_there(over: str, url: str) -> None:
    async with connected(over, url) as client:
        result = await client.call("dream", {})
    assert result.is_error


async def test_progress_is_heard_in_order(over: str, url: str) -> None:
    heard: list[Any] = []
    async with connected(over, url) as client:
        result = await client.call("count", {"to": 3}, on_progress=heard.append)
    assert [(told["progress"], told["message"]) for told in heard] == [
        (1, "step 1"), (2, "step 2"), (3, "step 3"),
    ]  # fmt: skip
    assert result.content[0]["text"] == "counted"


@pytest.mark.parametrize("region", ["eu-1", "Köln", " padded ", "=?base64?eA==?="])
async def test_a_mirrored_argument_is_accepted(over: str, url: str, region: str) -> None:
    async with connected(over, url) as client:
        result = await client.call("route", {"region": region})
    assert result.content[0]["text"] == f"routed to {region}"


async def test_what_it_asks_is_answered_by_the_handler(over: str, url: str) -> None:
    async def answer(requests: dict[str, Any]) -> dict[str, Any]:
        (key,) = requests
        assert requests[key]["params"]["message"] == "Your name?"
        return {key: {"action": "accept", "content": {"name": "Kim"}}}

    async with connected(over, url, on_input_required=answer) as client:
        result = await client.call("greet")
    assert result.content[0]["text"] == "hello Kim"


async def test_what_it_asks_can_be_answered_by_hand(over: str, url: str) -> None:
    async with connected(over, url, capabilities={"elicitation": {}}) as client:
        with pytest.raises(InputRequired) as asked:
            await client.call("greet")
        answers = {key: {"action": "decline"} for key in asked.value.requests}
        result = await client.call(
            "greet", input_responses=answers, request_state=asked.value.state
        )
    assert result.is_error


async def test_a_call_that_never_ends_is_given_up_and_the_next_one_works(
    over: str, url: str
) -> None:
    async with connected(over, url) as client:
        with pytest.raises(RequestTimeout):
            await client.call("wait", timeout=0.1)
        assert (await client.call("add", {"a": 1, "b": 1})).structured_content == {"total": 2}


async def test_many_calls_at_once_get_their_own_answers(over: str, url: str) -> None:
    async with connected(over, url) as client:
        results = await asyncio.gather(*(client.call("add", {"a": n, "b": n}) for n in range(32)))
    assert [result.structured_content["total"] for result in results] == [2 * n for n in range(32)]


async def test_resources_and_prompts_are_read(over: str, url: str) -> None:
    async with connected(over, url) as client:
        assert [found["uri"] for found in await client.list_resources()] == ["test://text"]
        templates = await client.list_resource_templates()
        assert [found["uriTemplate"] for found in templates] == ["test://item/{id}"]
        assert (await client.read_resource("test://text"))[0]["text"] == "some text"
        assert (await client.read_resource("test://item/7"))[0]["text"] == "item 7"
        assert [found["name"] for found in await client.list_prompts()] == ["review"]
        prompt = await client.get_prompt("review", {"code": "x = 1"})
    assert prompt["messages"][0]["content"]["text"] == "Review x = 1."


async def test_a_change_is_told_to_who_listens(over: str, url: str) -> None:
    async with connected(over, url) as client, client.listen(tools=True) as changes:
        await client.call("change")
        async with asyncio.timeout(20):
            assert await anext(changes) == Change("tools")


async def test_a_picture_is_a_line_of_text_for_the_model(over: str, url: str) -> None:
    async with connected(over, url) as client:
        tool = client.tool("picture")
        assert tool is not None
        told = await mcp_tool_to_tool(client, tool).execute({})
    assert told == ToolResult("[image: image/png, 4 bytes, not shown]")
