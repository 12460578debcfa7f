"""The draft test file of the notes: three cases on a fake transport, for the reader's own tool."""

from __future__ import annotations

import json
import re

from mini_agent.mcp.adapter import model_name
from mini_agent.mcp.shapes import McpTool
from mini_agent.types import JsonObject

DRAFT = '''\
"""Three ways for a call of __NAME__ to fail, on a fake transport: no process, no network."""

from __future__ import annotations

import asyncio
import json

import pytest

from mini_agent.agent import run_agent
from mini_agent.errors import ConnectFailed, TransportClosed
from mini_agent.mcp import FakeTransport, McpClient, mcp_tool_to_tool
from mini_agent.model_client import ScriptedModel
from mini_agent.types import Text, ToolCall

TOOL = json.loads(r"""
__TOOL__
""")
EXAMPLE = json.loads(r"""
__EXAMPLE__
""")
CALL = ToolCall("toolu_1", __EXPOSED__, EXAMPLE)
VERSIONS = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}
DISCOVERED = {"result": {"resultType": "complete", **VERSIONS}}
LISTED = {"result": {"resultType": "complete", "tools": [TOOL]}}


def run(script, model):
    """The host: connect, adapt, run. What it raises is the test's to look at."""

    async def host():
        async with McpClient(FakeTransport(script), server=__SERVER__) as client:
            tools = [mcp_tool_to_tool(client, tool) for tool in await client.connect()]
            return await run_agent("Do it.", model=model, tools=tools)

    return asyncio.run(host())


def model_that_calls():
    return ScriptedModel([[CALL], [Text("I could not do it.")]])


def test_a_connection_that_fails_is_raised_and_the_model_is_never_asked():
    model = model_that_calls()
    with pytest.raises(ConnectFailed) as caught:
        run([ConnectFailed("nobody listens there")], model)
    assert caught.value.server == __SERVER__ and not caught.value.may_have_acted
    assert model.requests == []


def test_a_tool_that_returns_is_error_is_read_by_the_model_and_the_loop_goes_on():
    refusal = {"content": [{"type": "text", "text": "It is locked."}], "isError": True}
    model = model_that_calls()
    result = run([DISCOVERED, LISTED, {"result": refusal}], model)
    block = model.requests[1].messages[-1]["content"][0]
    assert (block["is_error"], block["content"]) == (True, "It is locked.")
    assert result.text == "I could not do it."


def test_a_transport_that_breaks_mid_call_is_raised_and_may_have_acted():
    model = model_that_calls()
    with pytest.raises(TransportClosed) as caught:
        run([DISCOVERED, LISTED, TransportClosed("the process ended")], model)
    assert caught.value.tool == TOOL["name"] and caught.value.may_have_acted
    assert len(model.requests) == 1
'''


def draft_of(server: str, tool: McpTool, example: JsonObject) -> str:
    """The text of the test file, for that tool with those arguments."""
    listed = {"name": tool.name, "inputSchema": tool.input_schema}
    filled = {
        "__NAME__": _word(tool.name),
        "__TOOL__": json.dumps(listed, indent=2),
        "__EXAMPLE__": json.dumps(example, indent=2),
        "__EXPOSED__": json.dumps(model_name(tool.name)),
        "__SERVER__": json.dumps(server),
    }
    return re.sub("|".join(filled), lambda found: filled[found[0]], DRAFT)


def file_name(server: str) -> str:
    """``test_calendar.py`` for a server that the host calls calendar."""
    return f"test_{_word(server).lower()}.py"


def _word(text: str) -> str:
    return re.sub(r"\W+", "_", text, flags=re.ASCII).strip("_") or "service"
