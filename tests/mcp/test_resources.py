"""A resource reaches the loop as a tool, a prompt as system text."""

from __future__ import annotations

import time
from typing import Any

import pytest

from mini_agent.errors import JsonRpcError, TransportClosed
from mini_agent.mcp.adapter import LONGEST_RESULT
from mini_agent.mcp.client import McpClient
from mini_agent.mcp.resources import LONGEST_LIST, fits, list_text, prompt_text, resource_tool
from mini_agent.mcp.transport import FakeTransport
from mini_agent.trace import Trace
from mini_agent.types import ToolResult

POLICY = "policy://returns/2026-08"
LISTED = {"result": {"resources": [{"uri": POLICY, "name": "returns", "description": "Rules."}]}}
EMPTY: dict[str, Any] = {"result": {"resources": []}}
TEMPLATES = {"result": {"resourceTemplates": [{"uriTemplate": "order://{id}/notes", "name": "n"}]}}
NOT_FOUND = {"error": {"code": -32602, "message": "Resource not found"}}


def contents(**content: Any) -> dict[str, Any]:
    return {"result": {"contents": [{"uri": POLICY, **content}]}}


async def read(uri: str | None, *script: Any, trace: Trace | None = None) -> ToolResult:
    client = McpClient(FakeTransport([LISTED, TEMPLATES, *script]), trace=trace)
    return await resource_tool(client).execute({} if uri is None else {"uri": uri})


async def test_without_a_uri_it_says_what_there_is() -> None:
    said = (await read(None)).content
    assert said == f"{POLICY} - returns - Rules.\norder://{{id}}/notes - n"


async def test_an_empty_server_says_that_it_has_nothing() -> None:
    client = McpClient(FakeTransport([EMPTY, {"result": {"resourceTemplates": []}}]))
    said = (await resource_tool(client).execute({})).content
    assert "nothing is listed" in said and "no template" in said


async def test_a_listed_document_is_read_as_text_under_its_uri() -> None:
    result = await read(POLICY, contents(text="30 days"))
    assert result == ToolResult(f"[resource: {POLICY}]\n30 days")


async def test_a_document_of_a_template_is_read_too() -> None:
    assert not (await read("order://ord_1/notes", contents(text="x"))).is_error


async def test_binary_becomes_a_note_of_its_type_and_size() -> None:
    said = (await read(POLICY, contents(blob="AAAA", mimeType="image/png"))).content
    assert said == f"[resource: {POLICY}, image/png, 3 bytes]"


async def test_a_long_document_is_cut_and_says_so() -> None:
    said = (await read(POLICY, contents(text="x" * 2 * LONGEST_RESULT))).content
    assert len(said) < LONGEST_RESULT + 60 and "[cut: " in said


@pytest.mark.parametrize(
    ("uri", "why"),
    [
        ("policy://returns/2026-09", "none of its templates"),
        ("order://a/b/notes", "none of its templates"),
        ("returns", "scheme"),
        ("order://a b/notes", "blank"),
        ("order://a\u202eb/notes", "control"),
        ("order://[/notes", "no URI"),
        ("order://../notes", "climbs"),
        ("order://%252e%252e/notes", "climbs"),
        ("order://" + "a" * 2000 + "/notes", "2000"),
    ],
)
async def test_any_other_uri_is_refused_and_nothing_is_sent(uri: str, why: str) -> None:
    result = await read(uri)  # the script holds no third answer: a request would fail the test
    assert result.is_error and why in result.content


async def test_arguments_of_a_wrong_shape_are_refused() -> None:
    tool = resource_tool(McpClient(FakeTransport([])))
    assert "/uri" in (await tool.execute({"uri": 3})).content
    assert (await tool.execute({"path": "x"})).is_error


@pytest.mark.parametrize("code", [-32602, -32002])
async def test_a_document_that_is_gone_is_a_tool_error(code: int) -> None:
    refused = {"error": {"code": code, "message": "Resource not found"}}
    result = await read(POLICY, refused, EMPTY)
    assert result == ToolResult(f"there is no resource {POLICY}", is_error=True)


async def test_a_refusal_of_a_document_still_listed_stays_a_protocol_error() -> None:
    with pytest.raises(JsonRpcError) as caught:
        await read(POLICY, NOT_FOUND, LISTED)
    assert caught.value.code == -32602


async def test_a_refusal_stays_what_it_was_when_the_fresh_list_fails() -> None:
    with pytest.raises(JsonRpcError) as caught:
        await read(POLICY, NOT_FOUND, TransportClosed("gone"))
    assert caught.value.code == -32602


async def test_a_broken_connection_stays_a_protocol_error() -> None:
    with pytest.raises(TransportClosed):
        await read(POLICY, TransportClosed("gone"))


async def test_the_uri_is_in_the_trace() -> None:
    trace = Trace()
    await read(POLICY, contents(text="30 days"), trace=trace)
    adapter = [(e.what, e.facts.get("uri")) for e in trace.events if e.layer == "adapter"]
    assert adapter == [("call", POLICY), ("result", POLICY)]


@pytest.mark.parametrize(
    ("template", "uri", "expected"),
    [
        ("a://{x}", "a://1", True),
        ("a://{x}", "a://", False),
        ("a://{x}", "a://1/2", False),
        ("a://{+x}", "a://1/2", True),
        ("a://{x}/b", "a://1/c", False),
        ("a.b://{x}", "a-b://1", False),
        ("a://fixed", "a://fixed", True),
    ],
)
def test_a_template_fits_by_its_fixed_parts(template: str, uri: str, expected: bool) -> None:
    assert fits(template, uri) is expected


def test_a_hostile_template_takes_no_time_without_end() -> None:
    began = time.monotonic()
    assert not fits("a://" + "{x}b" * 40, "a://" + "b" * 1900 + "/")
    assert time.monotonic() - began < 5


def test_a_list_without_end_is_cut() -> None:
    said = list_text([{"uri": f"a://{n}"} for n in range(LONGEST_LIST + 5)], [])
    assert "[cut: 5 more]" in said and said.count("\n") == LONGEST_LIST + 1


def test_a_long_uri_is_listed_whole_and_the_list_as_a_whole_is_cut() -> None:
    long = [{"uri": f"a://{'x' * 1900}/{n}"} for n in range(LONGEST_LIST)]
    said = list_text(long, [])
    assert said.splitlines()[7] == long[7]["uri"]
    assert len(said) < LONGEST_RESULT + 60 and "[cut: " in said


def test_a_name_cannot_begin_a_line_of_the_list() -> None:
    said = list_text([{"uri": "a://1", "name": "x\nb://2 - trusted"}], [])
    assert "\nb://2" not in said


def test_a_prompt_becomes_text_with_each_role_named() -> None:
    said = prompt_text(
        {
            "messages": [
                {"role": "user", "content": {"type": "text", "text": "Review this."}},
                {"role": "assistant", "content": {"type": "text", "text": "Which?"}},
            ]
        }
    )
    assert said == "user: Review this.\n\nassistant: Which?"
