"""What is mirrored into headers: the values of the revision's own table, and its constraints."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mini_agent.mcp.headers import header_value, mirror_fault, mirrored_headers, standard_headers
from mini_agent.mcp.messages import build_meta, build_request


def schema(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


@pytest.mark.must("C44", "C45", "C46")
@pytest.mark.parametrize(
    ("method", "params", "name"),
    [
        ("tools/call", {"name": "get_weather"}, "get_weather"),
        ("prompts/get", {"name": "plan"}, "plan"),
        ("resources/read", {"uri": "file:///a"}, "file:///a"),
        ("tools/list", {}, None),
        ("tools/list", {"name": "not mirrored"}, None),
    ],
)
def test_standard_headers_come_from_the_body(
    method: str, params: dict[str, Any], name: str | None
) -> None:
    headers = standard_headers(build_request(1, method, params, meta=build_meta(version="v")))
    assert headers["Mcp-Method"] == method
    assert headers["MCP-Protocol-Version"] == "v"
    assert headers.get("Mcp-Name") == name


@pytest.mark.must("C47", "C48")
@pytest.mark.case("H13")
@pytest.mark.parametrize(
    ("value", "header"),
    [
        ("us-west1", "us-west1"),
        ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
        (" padded ", "=?base64?IHBhZGRlZCA=?="),
        ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
        ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
        ("x\r\nEvil: 1", "=?base64?eA0KRXZpbDogMQ==?="),
        ("", ""),
        ("a\tb", "a\tb"),
        (42, "42"),
        (-7, "-7"),
        (True, "true"),
        (False, "false"),
    ],
)
def test_values_are_encoded_as_the_revision_says(value: Any, header: str) -> None:
    assert header_value(value) == header


@given(st.text())
def test_any_text_becomes_a_safe_header_and_can_be_read_back(text: str) -> None:
    value = header_value(text) if not any(0xD800 <= ord(c) <= 0xDFFF for c in text) else ""
    assert value.isascii() and "\r" not in value and "\n" not in value
    if value.startswith("=?base64?") and value.endswith("?="):
        assert base64.b64decode(value[9:-2]).decode() == text or text == value == ""


@pytest.mark.parametrize("value", [2**53, -(2**53)])
def test_an_integer_beyond_the_safe_range_is_refused(value: int) -> None:
    with pytest.raises(ValueError):
        header_value(value)


@pytest.mark.must("C49")
def test_arguments_are_read_at_their_exact_path() -> None:
    tool = schema(
        region={"type": "string", "x-mcp-header": "Region"},
        where=schema(zone={"type": "integer", "x-mcp-header": "Zone"}),
        dry={"type": "boolean", "x-mcp-header": "Dry"},
        free={"type": "string"},
    )
    assert mirrored_headers(
        tool, {"region": "", "where": {"zone": 3.0}, "zone": 9, "free": "x"}
    ) == {
        "Mcp-Param-Region": "",
        "Mcp-Param-Zone": "3",
    }
    assert mirrored_headers(tool, {"region": None, "where": None, "dry": False}) == {
        "Mcp-Param-Dry": "false"
    }


@pytest.mark.must("C50")
@pytest.mark.parametrize(
    "bad",
    [
        schema(a={"type": "string", "x-mcp-header": ""}),
        schema(a={"type": "string", "x-mcp-header": "has space"}),
        schema(a={"type": "string", "x-mcp-header": "a\r\nb"}),
        schema(a={"type": "string", "x-mcp-header": "naïve"}),
        schema(a={"type": "string", "x-mcp-header": 7}),
        schema(a={"type": "number", "x-mcp-header": "A"}),
        schema(a={"type": "object", "x-mcp-header": "A"}),
        schema(a={"type": ["string", "null"], "x-mcp-header": "A"}),
        schema(a={"x-mcp-header": "A"}),
        schema(
            a={"type": "string", "x-mcp-header": "Same"},
            b={"type": "string", "x-mcp-header": "sAME"},
        ),
        schema(a={"type": "array", "items": {"type": "string", "x-mcp-header": "A"}}),
        {"type": "object", "anyOf": [schema(a={"type": "string", "x-mcp-header": "A"})]},
        {"type": "object", "$defs": {"d": {"type": "string", "x-mcp-header": "A"}}},
        {"type": "object", "x-mcp-header": "Root"},
    ],
)
def test_an_invalid_annotation_is_a_fault(bad: dict[str, Any]) -> None:
    assert mirror_fault(bad)


@pytest.mark.parametrize(
    "good",
    [
        {"type": "object"},
        schema(
            a={"type": "string", "x-mcp-header": "A"}, b={"type": "integer", "x-mcp-header": "B"}
        ),
        schema(outer=schema(a={"type": "boolean", "x-mcp-header": "A"})),
        schema(**{"x-mcp-header": {"type": "string"}}),
        schema(a={"type": "string", "default": {"x-mcp-header": ""}}),
    ],
)
def test_a_valid_annotation_is_none(good: dict[str, Any]) -> None:
    assert mirror_fault(good) == ""
