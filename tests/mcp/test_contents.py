"""What resources/read and prompts/get may return, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from mini_agent.errors import MalformedMessage
from mini_agent.mcp.client import McpClient
from mini_agent.mcp.contents import parse_contents, parse_prompt
from mini_agent.mcp.transport import FakeTransport

BLOCK = {"type": "text", "text": "Plan"}


@pytest.mark.case("R14")
@pytest.mark.parametrize(
    "content",
    [
        {"uri": "a:/", "text": ""},
        {"uri": "a:/", "blob": "%%%", "mimeType": "image/png"},
        {"uri": "", "text": "x", "blob": None, "_meta": {"any": "thing"}},
    ],
)
def test_a_content_is_kept_as_it_came(content: dict[str, Any]) -> None:
    assert parse_contents({"contents": [content]}) == [content]


@pytest.mark.must("C94")
@pytest.mark.parametrize(
    "content",
    [
        None,
        "text",
        {"text": "no uri"},
        {"uri": 7, "text": "x"},
        {"uri": "a:/"},
        {"uri": "a:/", "text": "x", "blob": "eA=="},
        {"uri": "a:/", "text": ["x"]},
    ],
)
def test_another_content_is_the_servers_fault(content: Any) -> None:
    with pytest.raises(MalformedMessage):
        parse_contents({"contents": [content]})


@pytest.mark.must("C98")
@pytest.mark.parametrize("role", ["user", "assistant"])
def test_a_prompt_speaks_for_a_user_or_an_assistant(role: str) -> None:
    result = {"messages": [{"role": role, "content": BLOCK}], "description": "d"}
    assert parse_prompt(result) is result


@pytest.mark.must("C98")
@pytest.mark.parametrize(
    "message",
    [
        {"role": "system", "content": BLOCK},
        {"role": "tool", "content": BLOCK},
        {"content": BLOCK},
        {"role": "user"},
        {"role": "user", "content": "text"},
        {"role": "user", "content": [BLOCK]},
        {"role": "user", "content": {"text": "no type"}},
        None,
    ],
)
async def test_a_prompt_that_speaks_for_anybody_else_is_the_servers_fault(message: Any) -> None:
    client = McpClient(FakeTransport([{"result": {"messages": [message]}}]), server="s")
    with pytest.raises(MalformedMessage) as caught:
        await client.get_prompt("plan")
    assert (caught.value.server, caught.value.method) == ("s", "prompts/get")


@pytest.mark.must("C98")
@pytest.mark.parametrize("value", [7, None, ["x"], {"a": "b"}])
async def test_a_prompts_argument_that_is_no_string_is_a_misuse(value: Any) -> None:
    transport = FakeTransport([])
    with pytest.raises(TypeError):
        await McpClient(transport).get_prompt("plan", {"day": value})
    assert transport.sent == []
