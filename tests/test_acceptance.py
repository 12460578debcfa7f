"""Acceptance: three tests of a client on a fake transport, and the chain drawn with both errors.

Each of the three gets the client's class as a fixture, so that the same test can be tried on a
client that handles errors wrongly, and must turn red on it. Notebook 10 pastes them from here.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from mini_agent import draw
from mini_agent.agent import AgentResult, run_agent
from mini_agent.calls import FAILED, SKIPPED
from mini_agent.errors import ConnectFailed, JsonRpcError, McpError, TransportClosed
from mini_agent.mcp import CallResult, FakeTransport, McpClient, McpTool, mcp_tool_to_tool
from mini_agent.mcp.messages import PROTOCOL_VERSION
from mini_agent.model_client import ScriptedModel
from mini_agent.session import load_session
from mini_agent.trace import Trace
from mini_agent.types import JsonObject, Text, ToolCall

Case: TypeAlias = Callable[[type[McpClient], Path], Awaitable[None]]


@pytest.fixture
def client_class() -> type[McpClient]:
    return McpClient


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return tmp_path / "session.jsonl"


# -- what the server would say, and what the host does --------------------------------------------


def answered(**result: Any) -> JsonObject:
    return {"result": {"resultType": "complete", **result}}


def told(text: str, **result: Any) -> JsonObject:
    return answered(content=[{"type": "text", "text": text}], **result)


DISCOVERED = answered(supportedVersions=[PROTOCOL_VERSION], capabilities={"tools": {}})
LISTED = answered(tools=[{"name": "calendar_query", "inputSchema": {"type": "object"}}])
FREE = told("Nothing on that day.")


def asks(call_id: str) -> ToolCall:
    return ToolCall(call_id, "calendar_query", {"date": "2026-08-03"})


async def ask_the_agent(
    client: McpClient, model: ScriptedModel, session: Path, **options: Any
) -> AgentResult:
    async with client:
        tools = [mcp_tool_to_tool(client, tool) for tool in await client.connect()]
        options |= {"session_path": session, "trace": client.trace}
        return await run_agent("Is Monday free?", model=model, tools=tools, **options)


async def failure_of(run: Awaitable[Any]) -> McpError:
    try:
        await run
    except McpError as error:
        return error
    raise AssertionError("nothing was raised: somebody swallowed the error")


# -- the three ------------------------------------------------------------------------------------


async def test_a_refused_connection_is_raised_and_the_loop_never_begins(
    client_class: type[McpClient], session: Path
) -> None:
    refused = ConnectFailed("nobody listens there")
    fake = FakeTransport([refused, DISCOVERED, LISTED])
    model = ScriptedModel([[Text("Monday is free.")]])
    client = client_class(fake, server="calendar")
    error = await failure_of(ask_the_agent(client, model, session))
    assert error is refused
    assert (error.server, error.method) == ("calendar", "server/discover")
    assert not error.may_have_acted
    assert len(fake.sent) == 1 and fake.closed
    assert model.requests == [] and load_session(session) == []


async def test_a_tool_that_returns_is_error_is_read_by_the_model_and_the_loop_goes_on(
    client_class: type[McpClient], session: Path
) -> None:
    fake = FakeTransport([DISCOVERED, LISTED, told("The calendar is locked.", isError=True)])
    model = ScriptedModel([[asks("t1")], [Text("I cannot see Monday now.")]])
    client = client_class(fake, server="calendar")
    result = await ask_the_agent(client, model, session)
    (block,) = model.requests[1].messages[-1]["content"]
    assert block["is_error"] is True
    assert block["content"] == "The calendar is locked."
    assert (result.text, result.stop_reason) == ("I cannot see Monday now.", "end_turn")
    assert len(fake.sent) == 3


async def test_a_break_mid_call_is_raised_and_the_model_reads_only_the_marker(
    client_class: type[McpClient], session: Path
) -> None:
    broke = TransportClosed("the process ended", exit_code=3, stderr_tail="password hunter2")
    fake = FakeTransport([DISCOVERED, LISTED, broke, FREE, FREE])
    model = ScriptedModel([[asks("t1"), asks("t2")], [Text("Monday is free.")]])
    client = client_class(fake, server="calendar")
    error = await failure_of(ask_the_agent(client, model, session))
    assert error is broke
    assert (error.method, error.tool) == ("tools/call", "calendar_query")
    assert error.may_have_acted
    assert len(fake.sent) == 3 and len(model.requests) == 1
    *_, results = load_session(session)
    assert [block["content"] for block in results["content"]] == [FAILED, SKIPPED]


THE_THREE: tuple[Case, ...] = (
    test_a_refused_connection_is_raised_and_the_loop_never_begins,
    test_a_tool_that_returns_is_error_is_read_by_the_model_and_the_loop_goes_on,
    test_a_break_mid_call_is_raised_and_the_model_reads_only_the_marker,
)
REFUSED, IS_ERROR, BREAK = THE_THREE

# -- clients that handle errors wrongly -----------------------------------------------------------


class SwallowsErrors(McpClient):
    async def connect(self, discover: bool = True) -> list[McpTool]:
        try:
            return await super().connect(discover)
        except McpError:
            return []

    async def call(self, *given: Any, **options: Any) -> CallResult:
        try:
            return replace(await super().call(*given, **options), is_error=False)
        except McpError:
            return CallResult([])


class ProtocolErrorsAsToolErrors(McpClient):
    async def call(self, *given: Any, **options: Any) -> CallResult:
        try:
            return await super().call(*given, **options)
        except McpError as error:
            return CallResult([{"type": "text", "text": str(error)}], is_error=True)


class ToolErrorsAsProtocolErrors(McpClient):
    async def call(self, *given: Any, **options: Any) -> CallResult:
        result = await super().call(*given, **options)
        if result.is_error:
            raise JsonRpcError(-32603, "the tool failed")
        return result


class TriesAgain(McpClient):
    async def call(self, *given: Any, **options: Any) -> CallResult:
        try:
            return await super().call(*given, **options)
        except McpError:
            return await super().call(*given, **options)


class OneClassForAll(McpClient):
    async def connect(self, discover: bool = True) -> list[McpTool]:
        try:
            return await super().connect(discover)
        except McpError as error:
            raise McpError("the connection failed") from error

    async def call(self, *given: Any, **options: Any) -> CallResult:
        try:
            return await super().call(*given, **options)
        except McpError as error:
            raise McpError("the call failed") from error


TURNS_RED: dict[type[McpClient], tuple[Case, ...]] = {
    McpClient: (),
    SwallowsErrors: THE_THREE,
    ProtocolErrorsAsToolErrors: (BREAK,),
    ToolErrorsAsProtocolErrors: (IS_ERROR,),
    TriesAgain: (BREAK,),
    OneClassForAll: (REFUSED, BREAK),
}


async def is_red(case: Case, client_class: type[McpClient], session: Path) -> bool:
    try:
        await case(client_class, session)
    except (AssertionError, McpError):
        return True
    return False


@pytest.mark.parametrize("case", THE_THREE, ids=["refused", "is_error", "break"])
@pytest.mark.parametrize("wrong", TURNS_RED, ids=lambda client: client.__name__)
async def test_each_of_the_three_turns_red_on_the_clients_that_it_is_there_to_catch(
    case: Case, wrong: type[McpClient], session: Path
) -> None:
    assert await is_red(case, wrong, session) is (case in TURNS_RED[wrong])


# -- the chain, drawn -----------------------------------------------------------------------------


async def test_the_chain_of_a_tool_error_stops_at_the_loop_and_the_model_sees_why(
    session: Path,
) -> None:
    trace = Trace()
    fake = FakeTransport([DISCOVERED, LISTED, told("The calendar is locked.", isError=True)])
    client = McpClient(fake, server="calendar", trace=trace)
    await ask_the_agent(client, ScriptedModel([[asks("t1")], [Text("Locked.")]]), session)
    words = draw.chain(trace).alt
    assert "The error began in MCP server and stopped at run_agent." in words
    assert "The model sees why (“The calendar is locked.”)" in words


async def test_the_chain_of_a_protocol_error_ends_at_the_caller_and_the_model_sees_the_marker(
    session: Path,
) -> None:
    trace = Trace()
    fake = FakeTransport([DISCOVERED, LISTED, TransportClosed("password hunter2")])
    client = McpClient(fake, server="calendar", trace=trace)
    await failure_of(ask_the_agent(client, ScriptedModel([[asks("t1")]]), session))
    words = draw.chain(trace).alt
    assert "The error began in McpTransport and stopped at the caller." in words
    assert f'the model sees only "{FAILED}"' in words and "hunter2" not in words
