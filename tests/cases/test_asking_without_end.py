"""A server that answers "not yet" again and again, or asks for nothing at all."""

from __future__ import annotations

from typing import Any

import pytest

from mini_agent.errors import InputRequired, MalformedMessage
from mini_agent.mcp import rounds
from mini_agent.mcp.client import McpClient
from mini_agent.mcp.transport import FakeTransport

QUESTION = {"method": "elicitation/create", "params": {"message": "Sure?"}}


def asks(**result: Any) -> dict[str, Any]:
    return {"result": {"resultType": "input_required", **result}}


async def agree(requests: dict[str, Any]) -> dict[str, Any]:
    return {key: {"action": "accept", "content": {}} for key in requests}


@pytest.mark.case("L04")
async def test_a_person_is_asked_a_bounded_number_of_times() -> None:
    transport = FakeTransport([asks(inputRequests={"sure": QUESTION})] * 20)
    with pytest.raises(InputRequired) as caught:
        await McpClient(transport, server="s", on_input_required=agree).call("delete")
    assert len(transport.sent) == rounds.MAX_ROUNDS
    assert (caught.value.server, caught.value.tool) == ("s", "delete")
    assert caught.value.requests == {"sure": QUESTION}


@pytest.mark.case("L04")
async def test_an_empty_map_with_a_state_is_a_state_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounds, "FIRST_PAUSE", 0)
    done = {"result": {"content": []}}
    transport = FakeTransport([asks(inputRequests={}, requestState="s"), done])
    await McpClient(transport).call("t")
    assert transport.sent[1]["params"]["requestState"] == "s"
    assert "inputResponses" not in transport.sent[1]["params"]


@pytest.mark.case("L04")
@pytest.mark.parametrize("nothing", [{}, {"inputRequests": {}}, {"inputRequests": None}])
async def test_asking_for_nothing_is_the_servers_fault(nothing: dict[str, Any]) -> None:
    transport = FakeTransport([asks(**nothing)])
    with pytest.raises(MalformedMessage):
        await McpClient(transport, on_input_required=agree).call("t")
    assert len(transport.sent) == 1
