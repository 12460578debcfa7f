"""The official SDK's client against what the calendar does not have: changes, logs, completion."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import mcp
import pytest
from mcp.client.subscriptions import ResourceUpdated, ToolsListChanged
from mcp_types import LoggingMessageNotificationParams, PromptReference

from fake_servers.context import Context
from fake_servers.core import Server
from fake_servers.declare import Prompt, PromptArgument, Resource, Tool
from fake_servers.http import serve

pytestmark = pytest.mark.timeout(60)


async def words(typed: str, given: Mapping[str, str]) -> list[str]:
    return [word for word in ("paris", "park", "party") if word.startswith(typed)]


async def text(*_: Any) -> str:
    return "text"


def changing() -> Server:
    async def change(arguments: dict[str, Any], context: Context) -> str:
        await context.log("info", "changing")
        server.changed("prompts")
        server.changed("tools")
        server.updated("test://a")
        return "told"

    async def end(arguments: dict[str, Any], context: Context) -> str:
        server.listeners.end()
        return "ended"

    server = Server(
        "changing",
        tools=[Tool("change", "", change), Tool("end", "", end)],
        resources=[Resource("test://a", "a", text)],
        prompts=[Prompt("p", "", text, [PromptArgument("city", "", complete=words)])],
        subscriptions=True,
        logs=True,
    )
    return server


async def settled() -> None:
    """The SDK leaves its event streams to the collector: let them end."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_it_hears_what_it_asked_for_until_the_server_ends_it() -> None:
    wanted: Any = {"tools_list_changed": True, "resource_subscriptions": ["test://a"]}
    async with (
        serve(changing()) as running,
        mcp.Client(running.url) as client,
        client.listen(**wanted) as told,
    ):
        await client.call_tool("change", {})
        assert await anext(told) == ToolsListChanged()
        assert await anext(told) == ResourceUpdated(uri="test://a")
        await client.call_tool("end", {})
        assert [event async for event in told] == []
    await settled()


async def test_it_gets_logs_only_where_it_asks_for_them() -> None:
    heard: list[LoggingMessageNotificationParams] = []

    async def hear(params: LoggingMessageNotificationParams) -> None:
        heard.append(params)

    level = "io.modelcontextprotocol/logLevel"
    async with (
        serve(changing()) as running,
        mcp.Client(running.url, logging_callback=hear) as client,
    ):
        await client.call_tool("change", {})
        assert heard == []
        for least in ("info", "error"):
            await client.call_tool("change", {}, meta={level: least})  # type: ignore[typeddict-unknown-key]
    assert [params.data for params in heard] == ["changing"]
    await settled()


async def test_it_completes_an_argument() -> None:
    async with serve(changing()) as running, mcp.Client(running.url) as client:
        prompt = PromptReference(type="ref/prompt", name="p")
        found = await client.complete(prompt, {"name": "city", "value": "par"})
        assert found.completion.values == ["paris", "park", "party"]
        with pytest.raises(mcp.MCPError) as raised:
            await client.complete(prompt, {"name": "country", "value": ""})
    assert raised.value.error.code == -32602
    await settled()
