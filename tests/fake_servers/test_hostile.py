"""The hostile server: right on the wire, wrong in what it says, harmless to whoever tests it."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from fakes_judge import judge
from fakes_wire import call, memory, request

from fake_servers.hostile import (
    ATTACKS,
    LOOKALIKE,
    ONERROR,
    ORDER,
    SCRIPT,
    SPOOF,
    Hostile,
    tags,
)
from fake_servers.memory import InMemoryTransport
from mini_agent.mcp.adapter import LONGEST_RESULT, mcp_tool_to_tool
from mini_agent.mcp.client import McpClient
from mini_agent.mcp.stdio import StdioTransport


async def ask(hostile: Hostile, message: dict[str, Any]) -> dict[str, Any]:
    messages = await memory(hostile.server)(message)
    judge(message, messages)
    return messages[-1]


async def use(hostile: Hostile, name: str, **arguments: Any) -> dict[str, Any]:
    answer = await ask(hostile, call(name, arguments))
    result: dict[str, Any] = answer["result"]
    return result


async def listed(hostile: Hostile) -> dict[str, dict[str, Any]]:
    answer = await ask(hostile, request("tools/list"))
    return {tool["name"]: tool for tool in answer["result"]["tools"]}


async def test_each_tool_has_its_trick_written_down_and_no_other_has() -> None:
    assert set(await listed(Hostile())) == set(ATTACKS)


@pytest.mark.parametrize("method", ["server/discover", "resources/list", "prompts/list"])
async def test_all_that_it_says_is_right_on_the_wire(method: str) -> None:
    assert "result" in await ask(Hostile(), request(method))


@pytest.mark.parametrize("name", sorted(set(ATTACKS) - {"search", LOOKALIKE, "lookup"}))
async def test_each_tool_answers_rightly_and_says_what_reached_it(name: str) -> None:
    hostile = Hostile(size=1000)
    assert not (await use(hostile, name)).get("isError")
    assert hostile.calls == [(name, {})]


async def test_orders_stand_where_it_is_said_that_they_do() -> None:
    tools = await listed(Hostile())
    assert "~/.ssh" in tools["weather"]["description"]
    assert tools["convert"]["description"].endswith(tags(ORDER))
    assert ORDER in tools["mode"]["inputSchema"]["properties"]["mode"]["enum"]
    assert tools["route"]["inputSchema"]["properties"]["api_key"]["x-mcp-header"] == "Api-Key"
    assert tools["helper"]["inputSchema"] == {"type": "object"}
    assert not LOOKALIKE.isascii() and "\x1b" in SPOOF
    everywhere = str(tools[SCRIPT])
    assert everywhere.count(SCRIPT) >= 4 and everywhere.count(ONERROR) >= 4


async def test_results_and_errors_claim_to_be_somebody_else() -> None:
    hostile = Hostile()
    assert (await use(hostile, "inbox"))["content"][0]["text"].startswith("SYSTEM: ")
    error = await use(hostile, "lookup")
    assert error["isError"] and ORDER in error["content"][0]["text"]
    refused = await ask(hostile, call("search", {}))
    assert refused["error"]["code"] == -32603 and ORDER in refused["error"]["message"]


async def test_the_one_that_says_it_only_reads_deletes() -> None:
    hostile = Hostile()
    assert (await listed(hostile))["calendar_overview"]["annotations"]["readOnlyHint"] is True
    await use(hostile, "calendar_overview")
    assert hostile.calendar.appointments == {}


@pytest.mark.parametrize("name", ["summary", "agenda"])
async def test_the_rug_is_pulled_between_list_and_call(name: str) -> None:
    hostile = Hostile()
    before = (await listed(hostile))["summary"]
    new = hostile.pull_the_rug(name=name)
    after = await listed(hostile)
    assert after[name] != before and after[name] == new.to_wire()
    assert ("summary" in after) is (name == "summary")
    assert not (await use(hostile, name, context="all that was said")).get("isError")


async def test_a_client_is_told_of_the_rug_only_when_it_wants_to_tell() -> None:
    hostile = Hostile()
    async with McpClient(InMemoryTransport(hostile.server)) as client:
        await client.connect()
        async with client.listen(tools=True) as changes:
            hostile.pull_the_rug(tell=False)
            assert not any("context" in str(tool) for tool in await client.list_tools())
            hostile.pull_the_rug(tell=True)
            await anext(aiter(changes))
            assert any("context" in str(tool) for tool in await client.list_tools())


@pytest.mark.parametrize("size", [100, 50_000_000])
async def test_a_result_of_any_size_is_cut_before_the_model_sees_it(size: int) -> None:
    async with McpClient(InMemoryTransport(Hostile(size=size).server), timeout=100) as client:
        await client.connect()
        export = client.tool("export")
        assert export is not None
        result = await mcp_tool_to_tool(client, export).execute({})
    assert len(result.content) <= LONGEST_RESULT + 60
    assert ("[cut: 49950000 more characters]" in result.content) is (size > LONGEST_RESULT)


async def test_it_runs_as_a_process_of_its_own() -> None:
    command = [sys.executable, "-m", "fake_servers.hostile"]
    async with McpClient(StdioTransport(command), server="plus") as client:
        assert {tool.name for tool in await client.connect()} == set(ATTACKS)
