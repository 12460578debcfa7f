"""What messages hold: the odd but legal is read, the wrong is refused."""

from __future__ import annotations

from typing import Any

import pytest

from mini_agent.errors import MalformedMessage
from mini_agent.mcp.shapes import (
    ABSENT,
    LONGEST_TTL,
    McpTool,
    parse_call_result,
    parse_discovery,
    parse_input_required,
    parse_page,
    parse_tool,
    parse_tools,
    server_info,
    ttl_seconds,
)

GOOD = {"name": "good", "inputSchema": {"type": "object"}}
STRICT = McpTool("t", output_schema={"type": "object", "required": ["a"]})


@pytest.mark.case("T01", "T02")
def test_one_bad_tool_hides_no_other() -> None:
    bad = [
        None,
        {"name": "x"},
        {"name": "y", "inputSchema": {"type": "string"}},
        {"name": 7, "inputSchema": {"type": "object"}},
        {"name": "", "inputSchema": {"type": "object"}},
        {"name": "z", "inputSchema": {"type": "object", "properties": {"required": ["a"]}}},
        {"name": "w", "inputSchema": {"type": "object", "required": "a"}},
    ]
    tools, left_out = parse_tools([GOOD, *bad])
    assert [tool.name for tool in tools] == ["good"]
    assert len(left_out) == len(bad)
    assert "x" in left_out[1] and "inputSchema" in left_out[1]


@pytest.mark.case("T07", "T09")
def test_a_schema_is_kept_as_it_came() -> None:
    raw = {"type": "object", "$defs": {"A": {}}, "x-vendor": [1], "properties": {"a": True}}
    assert parse_tool({"name": "t", "inputSchema": raw}).input_schema == raw
    assert parse_tool(GOOD).input_schema == {"type": "object"}


def test_null_where_text_was_optional_is_read_as_none_given() -> None:
    tool = parse_tool({**GOOD, "description": None, "annotations": None, "title": None})
    assert (tool.description, tool.annotations, tool.title) == ("", {}, "")


@pytest.mark.case("R08")
@pytest.mark.parametrize("result", [{}, {"content": None}, {"content": []}])
def test_absent_content_is_empty(result: dict[str, Any]) -> None:
    assert parse_call_result(result).content == []


@pytest.mark.parametrize(
    "result",
    [
        {"content": "text"},
        {"content": {"type": "text"}},
        {"content": ["text"]},
        {"content": [{"text": "no type"}]},
        {"content": [], "isError": "false"},
        {"content": [], "isError": 1},
        {"content": [], "isError": 0},
    ],
)
def test_any_other_wrong_shape_is_malformed(result: dict[str, Any]) -> None:
    with pytest.raises(MalformedMessage):
        parse_call_result(result)


def test_absent_and_null_structured_content_differ() -> None:
    assert parse_call_result({"content": []}).structured_content is ABSENT
    assert parse_call_result({"content": [], "structuredContent": None}).structured_content is None


@pytest.mark.must("C92")
@pytest.mark.case("R02")
@pytest.mark.parametrize("structured", [{}, {"structuredContent": {}}, {"structuredContent": None}])
def test_structured_content_must_fit_the_output_schema(structured: dict[str, Any]) -> None:
    with pytest.raises(MalformedMessage):
        parse_call_result({"content": [], **structured}, STRICT)


@pytest.mark.must("C92")
@pytest.mark.parametrize("value", [None, [1], 7, "x", False])
def test_any_json_value_may_be_structured_content(value: Any) -> None:
    tool = McpTool("t", output_schema={"const": value})
    assert parse_call_result({"structuredContent": value}, tool).structured_content == value


@pytest.mark.must("C92")
@pytest.mark.case("R01")
def test_the_output_schema_does_not_bind_an_error() -> None:
    result = parse_call_result({"isError": True, "structuredContent": {"error": 1}}, STRICT)
    assert result.is_error


@pytest.mark.must("C17")
def test_an_output_schema_that_cannot_be_used_is_no_free_pass() -> None:
    tool = McpTool("t", output_schema={"$ref": "https://example.invalid/schema"})
    with pytest.raises(MalformedMessage):
        parse_call_result({"structuredContent": {}}, tool)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"$ref": "#/title", "title": "t"}, 1),
        ({"$schema": ["x"]}, 1),
        ({"multipleOf": 0.5}, 10**400),
    ],
)
def test_an_output_schema_that_trips_the_library_is_malformed(schema: Any, value: Any) -> None:
    with pytest.raises(MalformedMessage, match="unusable"):
        parse_call_result({"structuredContent": value}, McpTool("t", output_schema=schema))


@pytest.mark.case("R14")
def test_odd_image_data_is_kept_raw() -> None:
    block = {"type": "image", "data": "%%%"}
    assert parse_call_result({"content": [block]}).content == [block]


@pytest.mark.must("C86")
def test_an_empty_cursor_is_a_cursor_and_null_is_none() -> None:
    assert parse_page({"tools": [], "nextCursor": ""}, "tools") == ([], "")
    assert parse_page({"tools": [], "nextCursor": None}, "tools") == ([], None)
    assert parse_page({"tools": []}, "tools") == ([], None)


@pytest.mark.parametrize("result", [{}, {"tools": {}}, {"tools": [], "nextCursor": 3}])
def test_a_page_of_a_wrong_shape_is_malformed(result: dict[str, Any]) -> None:
    with pytest.raises(MalformedMessage):
        parse_page(result, "tools")


@pytest.mark.parametrize("result", [{}, {"supportedVersions": "2026-07-28"}])
def test_a_discovery_without_versions_is_malformed(result: dict[str, Any]) -> None:
    with pytest.raises(MalformedMessage):
        parse_discovery(result)


def test_server_info_is_read_from_meta_or_from_the_result() -> None:
    info = {"name": "s", "version": "1"}
    assert server_info({"_meta": {"io.modelcontextprotocol/serverInfo": info}}) == info
    assert server_info({"serverInfo": info}) == info
    assert server_info({"_meta": "odd"}) is None


def test_input_required_needs_requests_or_state() -> None:
    assert parse_input_required({"requestState": "s"}) == ({}, "s")
    assert parse_input_required({"inputRequests": {"a": {}}}) == ({"a": {}}, None)
    for neither in ({}, {"inputRequests": {}}, {"inputRequests": None, "requestState": None}):
        with pytest.raises(MalformedMessage):
            parse_input_required(neither)


@pytest.mark.must("C82")
@pytest.mark.parametrize(
    ("ttl", "seconds"),
    [
        *[(1500, 1.5), (0, 0), (-1, 0), (None, 0), ("9", 0), (True, 0)],
        *[(10**400, LONGEST_TTL), (1e308, LONGEST_TTL), (-(10**400), 0)],
    ],
)
def test_odd_lifetimes_are_stale(ttl: Any, seconds: float) -> None:
    assert ttl_seconds({"ttlMs": ttl}) == seconds
    assert ttl_seconds({}) == 0
