"""A host offers what a server has to read as one tool, held to the same rules as every other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hosts import ALLOW, ASK, Service, asked, joined, names, results

from fake_servers.context import Context
from fake_servers.declare import Resource, ResourceTemplate
from mini_agent.approval import HostCall, Policy, Rule, question
from mini_agent.audit import AuditLog, read_audit
from mini_agent.errors import TransportClosed
from mini_agent.pins import Pins
from mini_agent.types import Approval, ToolCall

POLICY = "policy://returns/2026-08"


async def text(context: Context) -> str:
    return "30 days"


def desk(*tools: str, **options: Any) -> Service:
    """A service with one resource."""
    return Service(*tools, resources=[Resource(POLICY, "returns", text)], **options)


def read(server: str, uri: str = POLICY, call_id: str = "toolu_1") -> ToolCall:
    return ToolCall(call_id, f"{server}_read_resource", {"uri": uri})


async def test_what_is_to_be_read_is_one_tool_more_of_the_servers_that_are_named() -> None:
    servers = {"desk": desk("search"), "shop": desk("search"), "bare": Service("search")}
    async with joined(servers, resources_of=["desk", "bare"]) as host:
        assert names(host) == ["desk_read_resource", "desk_search", "shop_search", "bare_search"]
        ran = await asked(host, read("desk"))
    assert results(ran) == [(f"[resource: {POLICY}]\n30 days", False)]


async def test_a_server_with_no_tools_is_read_too() -> None:
    async with joined({"desk": desk()}, resources_of=["desk"]) as host:
        ran = await asked(host, ToolCall("toolu_1", "desk_read_resource", {}))
    assert POLICY in results(ran)[0][0]


async def test_without_being_named_nothing_of_it_is_offered() -> None:
    async with joined({"desk": desk("search")}) as host:
        assert names(host) == ["desk_search"]


async def test_a_rule_for_that_server_and_read_resource_decides_and_nothing_is_sent() -> None:
    policy = Policy([Rule("read_resource", "deny", server="desk", why="not here")], "allow")
    services = {"desk": desk(), "shop": desk()}
    async with joined(services, policy=policy, resources_of=services) as host:
        ran = await asked(host, read("desk"), read("shop", call_id="toolu_2"))
    assert results(ran)[0] == ("denied: not here", True) and not results(ran)[1][1]
    assert "resources/read" not in services["desk"].methods


async def test_a_yes_is_for_the_uri_that_was_shown() -> None:
    shown: list[HostCall] = []

    def yes_then_another(call: ToolCall, why: str) -> Approval:
        assert isinstance(call, HostCall)
        shown.append(call)
        asked_for.input["uri"] = "order://7/notes"
        return Approval(True)

    async def notes(variables: Any, context: Context) -> str:
        return "secret"

    asked_for = read("desk")
    service = desk(templates=[ResourceTemplate("order://{id}/notes", "notes", notes)])
    async with joined(
        {"desk": service}, policy=ASK, approver=yes_then_another, resources_of=["desk"]
    ) as host:
        ran = await asked(host, asked_for)
    assert (shown[0].server, shown[0].tool, shown[0].pin) == ("desk", "read_resource", "")
    assert shown[0].input == {"uri": POLICY}
    assert results(ran)[0][1] and "resources/read" not in service.methods


async def test_the_question_says_that_the_tool_is_the_programs_own() -> None:
    told: list[str] = []

    def approver(call: ToolCall, why: str) -> Approval:
        told.append(question(call, why).splitlines()[0])
        return Approval(False, "no")

    async with joined(
        {"desk": desk()}, policy=ASK, approver=approver, resources_of=["desk"]
    ) as host:
        await asked(host, read("desk"))
    assert told == ["Server: desk, through read_resource, a tool of this program"]


async def test_a_uri_that_the_server_does_not_offer_is_refused() -> None:
    service = desk()
    async with joined({"desk": service}, resources_of=["desk"]) as host:
        ran = await asked(host, read("desk", "file:///etc/passwd"))
    assert results(ran)[0][1] and "resources/read" not in service.methods


async def test_a_tool_that_the_server_calls_so_does_not_take_its_place() -> None:
    service = desk("read_resource")
    async with joined({"desk": service}, resources_of=["desk"]) as host:
        assert names(host) == ["desk_read_resource"]
        await asked(host, read("desk"))
    assert service.got == []


async def test_pins_are_about_what_the_server_describes_and_not_about_this_tool() -> None:
    async with joined({"desk": desk("search")}, pins=Pins(), resources_of=["desk"]) as host:
        assert names(host) == ["desk_read_resource"]
        assert [change.tool for change in host.withheld] == ["search"]


async def test_the_audit_holds_what_was_read(tmp_path: Path) -> None:
    log = AuditLog(tmp_path / "audit.jsonl")
    async with joined({"desk": desk()}, audit=log, resources_of=["desk"]) as host:
        await asked(host, read("desk"))
    kept = read_audit(log.path)
    assert [(r.kind, r.tool, r.arguments) for r in kept] == [
        (kind, "read_resource", {"uri": POLICY}) for kind in ("decision", "intent", "outcome")
    ]


async def test_a_connection_that_breaks_is_about_the_server_as_the_host_calls_it() -> None:
    service = desk()
    async with joined({"desk": service}, policy=ALLOW, resources_of=["desk"]) as host:
        tool = host.tools[0]
        await host.before_tool_call(read("desk", call_id=""))
        await service.transport.close()
        with pytest.raises(TransportClosed) as caught:
            await tool.execute({"uri": POLICY})
    assert caught.value.server == "desk"


def test_resources_of_a_server_that_is_not_there_are_refused() -> None:
    with pytest.raises(ValueError, match="nowhere"):
        joined({"desk": desk()}, resources_of=["nowhere"])
