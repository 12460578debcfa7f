"""The judge of every message that is sent: it says no, and a test that hears it turns red."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from wire_judge import Wrong, fault

from fake_servers.calendar import calendar_server
from fake_servers.http import serve
from fake_servers.memory import InMemoryTransport
from mini_agent.mcp.client import McpClient
from mini_agent.mcp.http import HttpTransport
from mini_agent.mcp.messages import build_meta, build_notification, build_request
from mini_agent.mcp.stdio import StdioTransport
from mini_agent.mcp.transport import FakeTransport, McpTransport

CONFTEST = Path(__file__).with_name("conftest.py")
CANCEL = "notifications/cancelled"


def request(method: str = "tools/list", id: Any = 1, **params: Any) -> dict[str, Any]:
    return build_request(id, method, params, meta=build_meta())


RIGHT = {
    "a request": request(),
    "a call": request("tools/call", name="t", arguments={"any": [{"thing": None}]}),
    "answers to what was asked": request(
        "tools/call",
        name="t",
        arguments={},
        requestState="s",
        inputResponses={"who": {"action": "accept", "content": {"name": "Kim"}}},
    ),
    "a subscription": request("subscriptions/listen", notifications={"toolsListChanged": True}),
    "a cancellation": build_notification(CANCEL, {"requestId": 1, "reason": "late"}),
    "a method of the tests": {"jsonrpc": "2.0", "id": 1, "method": "test/echo"},
}
WRONG = {
    "no version of JSON-RPC": {**request(), "jsonrpc": "1.0"},
    "a response": {"jsonrpc": "2.0", "id": 1, "result": {}},
    "an id of null": request(id=None),
    "a boolean id": request(id=True),
    "no _meta": {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}},
    "a method that is gone": request("ping"),
    "a number as a cursor": request(cursor=7),
    "no name": request("tools/call", arguments={}),
    "arguments of null's kind": request("tools/call", name="t", arguments=[]),
    "a field that nobody knows": request("tools/call", name="t", input={}),
    "a field in a wrong place": request("subscriptions/listen", notifications={"tools": True}),
    "a flag in quotes": request("subscriptions/listen", notifications={"toolsListChanged": "yes"}),
    "a notification of a server": build_notification("notifications/progress", {"progress": 1}),
    "a cancellation of nothing": build_notification(CANCEL, {"reason": "late"}),
}


@pytest.mark.parametrize("message", RIGHT.values(), ids=RIGHT)
def test_a_right_message_has_no_fault(message: dict[str, Any]) -> None:
    assert fault(message) == ""


@pytest.mark.must("C01", "C02", "C05")
@pytest.mark.parametrize("message", WRONG.values(), ids=WRONG)
def test_a_wrong_message_has_one(message: dict[str, Any]) -> None:
    assert fault(message)


@contextlib.asynccontextmanager
async def opened(over: str) -> AsyncIterator[McpTransport]:
    """A transport of each kind, with no trace: the judge hears it all the same."""
    if over == "fake":
        yield FakeTransport([{"result": {"tools": []}}, {"result": {}}])
    elif over == "memory":
        yield InMemoryTransport(calendar_server())
    elif over == "stdio":
        yield StdioTransport([sys.executable, "-m", "fake_servers.calendar"])
    else:
        async with serve(calendar_server()) as running:
            yield HttpTransport(running.url)


@pytest.mark.parametrize("over", ["fake", "memory", "stdio", "http"])
async def test_the_judge_hears_every_transport(over: str, wire_faults: list[Wrong]) -> None:
    async with opened(over) as transport, McpClient(transport) as client:
        await client.list_tools()
        assert wire_faults == []
        await transport.send({**request(), "params": {"_meta": build_meta(), "cursor": 7}})
    assert [wrong.message["method"] for wrong in wire_faults] == ["tools/list"]
    wire_faults.clear()


@pytest.mark.sends_wrong("inside a run of its own")
def test_a_test_that_sends_a_wrong_message_turns_red(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(CONFTEST.read_text("utf-8"))
    pytester.makepyfile(
        """
        import pytest
        from mini_agent.mcp.transport import FakeTransport

        WRONG = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}

        async def test_unmarked():
            await FakeTransport([{"result": {}}]).send(WRONG)

        @pytest.mark.sends_wrong("to see what happens")
        async def test_marked():
            await FakeTransport([{"result": {}}]).send(WRONG)

        @pytest.mark.speaks("2025-11-25")
        async def test_older():
            await FakeTransport([{"result": {}}]).send(WRONG)

        @pytest.mark.speaks("2025-11-25")
        async def test_unknown_there_too():
            await FakeTransport([{"result": {}}]).send({**WRONG, "method": "server/discover"})

        async def test_silent():
            pass
        """
    )
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    result.assert_outcomes(passed=5, errors=2)
    result.stdout.fnmatch_lines(["ERROR *::test_unmarked*", "ERROR *::test_unknown_there_too*"])
