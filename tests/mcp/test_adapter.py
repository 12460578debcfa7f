"""The adapter: shape in, shape out, and the one error that crosses from path to path."""

from __future__ import annotations

import re
from typing import Any

import pytest

from mini_agent.errors import JsonRpcError, MalformedMessage, McpError, TransportClosed
from mini_agent.mcp.adapter import format_result, mcp_tool_to_tool, model_name
from mini_agent.mcp.client import McpClient
from mini_agent.mcp.shapes import CallResult, McpTool
from mini_agent.mcp.transport import FakeTransport
from mini_agent.trace import Trace
from mini_agent.types import ToolResult

DATED = McpTool(
    "calendar_query",
    "Look up a day.",
    {"type": "object", "properties": {"date": {"type": "string"}}, "required": ["date"]},
)


def text(*texts: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": part} for part in texts]


def said(**result: Any) -> dict[str, Any]:
    return {"result": {"resultType": "complete", **result}}


def listing(*names: str) -> dict[str, Any]:
    return said(tools=[{"name": name, "inputSchema": {"type": "object"}} for name in names])


def refused(code: int) -> dict[str, Any]:
    return {"error": {"code": code, "message": "Unknown tool"}}


async def executed(script: list[Any], arguments: Any = None, **options: Any) -> ToolResult:
    client = McpClient(FakeTransport(script))
    tool = mcp_tool_to_tool(client, DATED, **options)
    return await tool.execute(arguments or {"date": "2026-08-03"})


def test_the_spec_is_the_tools_own_with_properties_the_model_api_insists_on() -> None:
    spec = mcp_tool_to_tool(McpClient(FakeTransport([])), DATED).spec
    assert (spec.name, spec.description, spec.input_schema) == (
        DATED.name,
        DATED.description,
        DATED.input_schema,
    )
    bare = mcp_tool_to_tool(McpClient(FakeTransport([])), McpTool("x")).spec
    assert bare.input_schema == {"type": "object", "properties": {}}


async def test_a_result_comes_back_as_readable_text() -> None:
    assert await executed([said(content=text("09:00 Standup"))]) == ToolResult("09:00 Standup")


@pytest.mark.must("C93")
async def test_the_servers_is_error_stays_on_the_tool_path() -> None:
    result = await executed([said(content=text("no such day"), isError=True)])
    assert result == ToolResult("no such day", is_error=True)


async def test_arguments_that_break_the_schema_are_refused_and_nothing_is_sent() -> None:
    transport = FakeTransport([])
    tool = mcp_tool_to_tool(McpClient(transport), DATED)
    result = await tool.execute({"date": 3})
    assert result.is_error and "/date" in result.content and '"type"' in result.content
    assert transport.sent == []


@pytest.mark.parametrize(
    "error", [TransportClosed("gone"), MalformedMessage("odd"), JsonRpcError(-32603, "inside")]
)
async def test_a_protocol_error_passes_through_as_the_same_object(error: McpError) -> None:
    with pytest.raises(type(error)) as caught:
        await executed([error])
    assert caught.value is error


async def test_a_tool_that_is_gone_becomes_a_tool_error_and_the_host_is_told() -> None:
    gone: list[McpTool] = []
    result = await executed([refused(-32602), listing("other")], on_gone=gone.append)
    assert result.is_error and "no longer available" in result.content
    assert gone == [DATED]


async def test_a_refusal_of_a_tool_that_is_still_there_stays_a_protocol_error() -> None:
    gone: list[McpTool] = []
    with pytest.raises(JsonRpcError) as caught:
        await executed([refused(-32602), listing("calendar_query")], on_gone=gone.append)
    assert caught.value.code == -32602 and not gone


async def test_when_the_fresh_list_fails_the_original_refusal_is_raised() -> None:
    with pytest.raises(JsonRpcError) as caught:
        await executed([refused(-32602), TransportClosed("gone")])
    assert caught.value.code == -32602


async def test_another_code_never_asks_for_a_list() -> None:
    transport = FakeTransport([refused(-32601)])
    with pytest.raises(JsonRpcError):
        await mcp_tool_to_tool(McpClient(transport), DATED).execute({"date": "x"})
    assert len(transport.sent) == 1


async def test_an_input_schema_that_cannot_be_used_is_a_tool_error() -> None:
    hostile = McpTool("t", "", {"type": "object", "$ref": "http://127.0.0.1:1/x"})
    transport = FakeTransport([])
    result = await mcp_tool_to_tool(McpClient(transport), hostile).execute({})
    assert result.is_error and not transport.sent


@pytest.mark.case("T03", "T04")
@pytest.mark.parametrize(
    ("name", "told"), [("a.b/c v2", "a_b_c_v2_8796a993"), ("plain-1_x", "plain-1_x")]
)
@pytest.mark.must("C96")
def test_names_the_models_api_would_refuse_are_mapped(name: str, told: str) -> None:
    assert model_name(name) == told


@pytest.mark.case("T03")
@pytest.mark.parametrize(("one", "two"), [("日本", "中国"), ("a.b", "a_b"), ("a.b", "a/b")])
def test_two_names_stay_two(one: str, two: str) -> None:
    assert model_name(one) != model_name(two) and model_name(one) == model_name(one)
    assert re.fullmatch("[a-zA-Z0-9_-]{1,64}", model_name(one))


@pytest.mark.case("T04")
def test_a_long_name_is_cut_and_stays_apart_from_its_neighbours() -> None:
    one, two = model_name("x" * 70 + "1"), model_name("x" * 70 + "2")
    assert len(one) == 64 and one != two and one == model_name("x" * 70 + "1")


BLOCKS = [
    ({"type": "image", "data": "QUJD", "mimeType": "image/png"}, "[image: image/png, 3 bytes"),
    ({"type": "audio", "data": "QUI=", "mimeType": "audio/wav"}, "[audio: audio/wav, 2 bytes"),
    ({"type": "resource_link", "uri": "a://b", "name": "n"}, "[link: a://b - n]"),
    ({"type": "resource", "resource": {"uri": "a://b", "text": "T"}}, "[resource: a://b]\nT"),
    (
        {"type": "resource", "resource": {"uri": "a://b", "blob": "QUJD", "mimeType": "x/y"}},
        "[resource: a://b, x/y, 3 bytes]",
    ),
    ({"type": "hologram"}, "[a content block of type 'hologram'"),
    ({"type": "text"}, "[a content block of type 'text'"),
    ({"type": "image", "data": None}, "[a content block of type 'image'"),
]


@pytest.mark.case("R10", "R11")
@pytest.mark.parametrize(("block", "shown"), BLOCKS)
def test_each_block_becomes_a_line_for_a_reader(block: dict[str, Any], shown: str) -> None:
    assert format_result(CallResult([block])).startswith(shown)


@pytest.mark.case("R11")
def test_base64_never_reaches_the_model() -> None:
    data = "QUJD" * 500_000
    assert data[:50] not in format_result(CallResult([{"type": "image", "data": data}]))


@pytest.mark.case("R04", "R05", "R07")
def test_text_wins_over_structured_content_and_nothing_says_so() -> None:
    assert format_result(CallResult(text("a", "b"), {"x": 1})) == "a\nb"
    assert format_result(CallResult([], {"x": "é", "y": 1})) == '{"x":"é","y":1}'
    assert format_result(CallResult([], None)) == "null"
    assert format_result(CallResult([])) == "(no content)"
    assert format_result(CallResult(text("why"), {"error": 1}, is_error=True)) == "why"


def test_a_long_result_is_cut_and_says_how_much() -> None:
    shown = format_result(CallResult(text("x" * 60_000)))
    assert shown.endswith("[cut: 10000 more characters]")


@pytest.mark.parametrize("empty", [{"type": "text", "text": ""}, {"type": "image", "data": "QQ=="}])
def test_a_text_that_says_nothing_hides_no_structured_content(empty: dict[str, Any]) -> None:
    assert format_result(CallResult([empty], {"x": 1})).endswith('{"x":1}')


@pytest.mark.parametrize(
    "block",
    [
        {"type": "image", "data": "==", "mimeType": "a\nb\x1b[2J" + "c" * 600},
        {"type": "audio", "data": "", "mimeType": ["a"] * 600},
        {"type": "resource_link", "uri": "a://\n" + "u" * 3_000, "description": "d\n" * 3_000},
        {"type": "resource", "resource": {"uri": "a\nb", "blob": "=", "mimeType": "x\ny"}},
    ],
)
def test_what_a_server_says_of_a_block_is_one_short_line(block: dict[str, Any]) -> None:
    shown = format_result(CallResult([block]))
    assert shown.isprintable() and len(shown) < 1_300 and "-1" not in shown


def deep(levels: int) -> Any:
    return {"a": deep(levels - 1)} if levels else 1


@pytest.mark.parametrize(
    "value", ["x\ud800", ["\udfff"], {"\ud800": 1}, float("nan"), [float("-inf")], deep(400)]
)
async def test_an_argument_that_json_cannot_say_is_a_tool_error_that_names_it(value: Any) -> None:
    transport = FakeTransport([])
    result = await mcp_tool_to_tool(McpClient(transport), McpTool("t")).execute({"title": value})
    assert result.is_error and "argument title cannot be sent" in result.content
    result.content.encode()
    assert transport.sent == []


async def test_a_schema_that_takes_for_ever_is_a_tool_error() -> None:
    hostile = McpTool("t", "", {"type": "object", "properties": {"a": {"pattern": "^(a|a)*$"}}})
    tool = mcp_tool_to_tool(McpClient(FakeTransport([])), hostile)
    result = await tool.execute({"a": "a" * 36 + "!"})
    assert result.is_error and "longer" in result.content


async def test_another_format_can_be_given() -> None:
    result = await executed(
        [said(content=text("a"))], format_result=lambda r: f"<{len(r.content)}>"
    )
    assert result.content == "<1>"


async def test_the_trace_says_what_the_adapter_did() -> None:
    trace = Trace()
    client = McpClient(FakeTransport([said(content=text("a"))]), trace=trace)
    tool = mcp_tool_to_tool(client, DATED)
    await tool.execute({})
    await tool.execute({"date": "x"})
    assert [e.what for e in trace.events if e.layer == "adapter"] == ["refused", "call", "result"]
