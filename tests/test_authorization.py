"""Authorization of a whole run: from a person at a host to the order service, and back.

Each layer's own refusals are tested beside it: the gate, the service, the authorization server and
the outbound guard in fake_servers/refunds, signing in in mcp/test_auth*, the host's check in
test_access. Here a run goes through all of them. Each test asks whose identity arrived, how far a
wrong caller came, who was told, and what was done in their name.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from hosts import results

from fake_servers.memory import InMemoryTransport
from fake_servers.refunds.assembling import MCP_CLIENT
from fake_servers.refunds.categories import Refusal
from fake_servers.refunds.desk import RefundDesk
from fake_servers.refunds.exchange import TokenExchange
from fake_servers.refunds.keys import SigningKey
from fake_servers.refunds.orders import Orders
from fake_servers.refunds.server import refund_server
from mini_agent.agent import AgentResult, run_agent
from mini_agent.approval import Policy
from mini_agent.audit import AuditLog, read_audit
from mini_agent.errors import AuthorizationError
from mini_agent.host import Host
from mini_agent.hosting.attempts import service_error
from mini_agent.hosting.fills import operation_key
from mini_agent.mcp.auth import AuthorizationCode, OAuth, PreRegistered
from mini_agent.mcp.client import McpClient
from mini_agent.mcp.http import HttpTransport
from mini_agent.mcp.transport import McpTransport
from mini_agent.model_client import ScriptedModel
from mini_agent.trace import Trace
from mini_agent.types import Approval, Text, ToolCall, ToolResult

READ, DRAFT = "refunds_get_order", "refunds_create_refund_draft"
MCP, ORDERS = "https://refunds.example/mcp", "https://orders.example"
OWN, OTHERS = {"order_id": "ord_4821"}, {"order_id": "ord_7001"}  # robin's, and kim's
REFUND = {**OWN, "amount_minor": 4250, "currency": "EUR"}
ALLOW = Policy([], default="allow")


def signed_in(desk: RefundDesk, user: str) -> OAuth:
    """An OAuth with ``user`` at the browser, who signs in as themselves and says yes."""

    async def browse(url: str) -> str:
        desk.authorization.signed_in = user
        return await desk.browse(url)

    known = PreRegistered("refund-agent", desk.issuer_url)
    return OAuth(AuthorizationCode(browse), client=known, http=desk.client(), clock=desk.clock)


@asynccontextmanager
async def hosted(
    desk: RefundDesk,
    user: str = "robin",
    *,
    transport: McpTransport | None = None,
    trace: Trace | None = None,
    **options: Any,
) -> AsyncIterator[Host]:
    """A host for ``user``, who signs in at the desk. The traffic starts when it has listed."""
    way = transport or HttpTransport(desk.url, client=desk.client(), auth=signed_in(desk, user))
    host = Host(
        {"refunds": McpClient(way, trace=trace)},
        user=user,
        trace=trace,
        **{
            "policy": ALLOW,
            "access": {"robin": ["refunds"], "kim": ["refunds"]},
            "fills": [operation_key("refunds", "create_refund_draft")],
            **options,
        },
    )
    async with host:
        desk.traffic.clear()
        yield host


async def run(
    host: Host, *picks: tuple[str, dict[str, Any]], trace: Trace | None = None
) -> AgentResult:
    """A run in which the model makes these calls, one a turn."""
    calls = [[ToolCall(f"toolu_{n}", *pick)] for n, pick in enumerate(picks)]
    with host.run("run-1"):
        return await run_agent(
            "Order ord_4821 came late.",
            model=ScriptedModel([*calls, [Text("Done.")]]),
            tools=host.tools,
            before_tool_call=host.before_tool_call,
            trace=trace,
        )


def codes(ran: AgentResult) -> list[str]:
    """Of each call: the code that the model was told, "ok" for none."""
    failures = [service_error(ToolResult(*one)) for one in results(ran)]
    return [failure.code if failure else "ok" for failure in failures]


def asked(desk: RefundDesk) -> list[str]:
    """The services that were asked to do the work: not for keys, tokens, documents or lists."""
    calls = (one for one in desk.traffic if one.to == "orders" or "tools/call" in one.what)
    return [one.to for one in calls]


# -- one identity ---------------------------------------------------------------------------------


async def test_the_user_of_the_host_is_the_user_at_every_layer(tmp_path: Path) -> None:
    audit = AuditLog(tmp_path / "audit.jsonl")
    async with RefundDesk() as desk, hosted(desk, "kim", audit=audit) as host:
        assert codes(await run(host, (READ, OTHERS))) == ["ok"]
        at = {one.to: one.claims for one in desk.traffic if one.claims}
    assert {record.user for record in read_audit(tmp_path / "audit.jsonl")} == {"kim"}
    assert (at["refunds"]["sub"], at["refunds"]["aud"]) == ("kim", MCP)
    assert (at["orders"]["sub"], at["orders"]["aud"]) == ("kim", ORDERS)
    assert at["orders"]["act"] == {"sub": MCP_CLIENT} and "act" not in at["refunds"]


async def test_two_users_at_once_on_two_instances_each_see_their_own_and_nothing_else() -> None:
    async with (
        RefundDesk(instances=2) as desk,
        hosted(desk, "robin") as one,
        hosted(desk, "kim") as other,
    ):
        pairs = [(one, OWN), (one, OTHERS), (other, OTHERS), (other, OWN)] * 4
        ran = await asyncio.gather(*(run(host, (READ, order)) for host, order in pairs))
    assert [codes(each) for each in ran] == [["ok"], ["ORDER_NOT_FOUND"]] * 8


async def test_no_token_is_in_anything_that_a_run_leaves_behind(tmp_path: Path) -> None:
    trace, path = Trace(), tmp_path / "audit.jsonl"
    async with RefundDesk() as desk, hosted(desk, audit=AuditLog(path), trace=trace) as host:
        ran = await run(host, (READ, OWN), (DRAFT, REFUND), trace=trace)
        trace.to_jsonl(tmp_path / "trace.jsonl")
        left = [path.read_text(), (tmp_path / "trace.jsonl").read_text(), str(ran.messages)]
        left += [str(desk.transcript), repr(list(desk.traffic))]
    assert codes(ran) == ["ok", "ok"] and all("ord_4821" in text for text in left[:4])
    assert not [text for text in left if "eyJ" in text or "Bearer" in text]


# -- wrong callers, each stopped by the layer that owns the answer --------------------------------

AT_THE_GATE: dict[str, tuple[dict[str, Any], int]] = {
    "a token of another service": ({"audience": ORDERS}, 401),
    "a token for two services at once": ({"aud": [MCP, ORDERS]}, 401),
    "a token of another issuer": ({"iss": "https://evil.example"}, 401),
    "a token that somebody else signed": ({"key": SigningKey("key-1")}, 401),
    "a token whose time is over": ({"expires_in": 0}, 401),
    "a token that does not allow it": ({"scope": "orders:read"}, 403),
}
AT_THE_SERVICE: dict[str, dict[str, Any]] = {
    "a user who does not own the order": {"subject": "kim"},
    "a user whom the service does not know": {"subject": "nobody"},
}


@asynccontextmanager
async def with_token(desk: RefundDesk, **options: Any) -> AsyncIterator[Host]:
    """A host whose token is another one as soon as it has listed the tools."""
    http = desk.client(desk.issue_token())
    async with hosted(desk, transport=HttpTransport(desk.url, client=http)) as host:
        http.headers["Authorization"] = f"Bearer {desk.issue_token(**options)}"
        yield host


@pytest.mark.parametrize("case", AT_THE_GATE)
async def test_a_wrong_token_is_stopped_by_the_server_and_told_to_the_host_alone(case: str) -> None:
    options, status = AT_THE_GATE[case]
    async with RefundDesk() as desk, with_token(desk, **options) as host:
        with pytest.raises(AuthorizationError) as raised:
            await run(host, (DRAFT, REFUND))
        assert (raised.value.status, raised.value.may_have_acted) == (status, False)
        assert asked(desk) == ["refunds"] and desk.store.drafts() == []


@pytest.mark.parametrize("case", AT_THE_SERVICE)
async def test_a_wrong_user_is_stopped_by_the_service_and_told_no_more_than_of_an_absent_order(
    case: str,
) -> None:
    async with RefundDesk() as desk, with_token(desk, **AT_THE_SERVICE[case]) as host:
        picks: list[tuple[str, dict[str, Any]]] = [
            (READ, OWN),
            (DRAFT, REFUND),
            (READ, {"order_id": "ord_9999"}),
        ]
        ran = [await run(host, pick) for pick in picks]
        assert asked(desk) == ["refunds", "orders"] * 3 and desk.store.drafts() == []
    assert len({text for each in ran for text, _ in results(each)}) == 1
    assert [codes(each) for each in ran] == [["ORDER_NOT_FOUND"]] * 3


async def test_rights_that_are_taken_back_count_at_once_though_the_token_is_still_good() -> None:
    async with RefundDesk() as desk, hosted(desk) as host:
        first = await run(host, (READ, OWN))
        desk.store.revoke("robin", "acc_1001")
        second = await run(host, (READ, OWN))
        assert asked(desk) == ["refunds", "orders"] * 2
    assert codes(first) + codes(second) == ["ok", "ORDER_NOT_FOUND"]


async def test_a_scope_in_the_arguments_widens_nothing_at_any_layer() -> None:
    claimed = {**REFUND, "scope": "refunds:draft"}
    async with RefundDesk() as desk, with_token(desk, scope="orders:read") as host:
        [(text, is_error)] = results(await run(host, (DRAFT, claimed)))
        assert is_error and "scope" in text and asked(desk) == []
        http = desk.client(desk.issue_token(scope="orders:read"))
        with pytest.raises(AuthorizationError) as raised:
            by_hand = McpClient(HttpTransport(desk.url, client=http))
            await by_hand.call("create_refund_draft", {**claimed, "operation_key": "by-hand-1"})
        inside = desk.client(desk.issue_token(scope="orders:read", audience=ORDERS))
        answer = await inside.post(f"{ORDERS}/refund-drafts", json=claimed)
        assert (raised.value.status, answer.status_code) == (403, 403)
        assert desk.store.drafts() == []


# -- one scope more -------------------------------------------------------------------------------


async def test_approving_a_draft_and_granting_the_scope_for_it_are_two_questions() -> None:
    shown = []

    def approver(call: ToolCall, why: str) -> Approval:
        shown.append(call.name)
        return Approval(True)

    async with RefundDesk() as desk, hosted(desk, policy=Policy([]), approver=approver) as host:
        ran = await run(host, (DRAFT, REFUND))
        granted = [sorted(one.scope - {"offline_access"}) for one in desk.authorization.consents]
        assert asked(desk) == ["refunds", "refunds", "orders"] and len(desk.store.drafts()) == 1
    assert codes(ran) == ["ok"] and shown == [DRAFT]
    assert granted == [["orders:read"], ["orders:read", "refunds:draft"]]


async def test_a_scope_that_a_person_withholds_is_asked_for_once_and_drafts_nothing() -> None:
    async with RefundDesk() as desk, hosted(desk) as host:
        desk.authorization.withheld = {"refunds:draft"}
        with pytest.raises(AuthorizationError) as raised:
            await run(host, (DRAFT, REFUND))
        assert raised.value.status == 403 and not raised.value.may_have_acted
        assert len(desk.authorization.consents) == 2 and desk.store.drafts() == []
        assert codes(await run(host, (READ, OWN))) == ["ok"]  # what was granted is still good


# -- the server in between ------------------------------------------------------------------------


async def test_a_server_that_passes_the_token_on_reads_nothing() -> None:
    async with RefundDesk() as desk:

        async def same(scope: str) -> str:
            return desk.issue_token()

        lazy = refund_server(Orders(desk.client(), ORDERS, same))
        async with hosted(desk, transport=InMemoryTransport(lazy)) as host:
            ran = await run(host, (READ, OWN))
        assert [one.status for one in desk.traffic if one.to == "orders"] == [401]
    assert codes(ran) == ["ACCESS_DENIED"]


async def test_what_comes_of_an_exchange_is_good_at_one_service_for_one_thing() -> None:
    async with RefundDesk() as desk:
        secret = desk.running[0]._settings.client_secret
        to = f"{desk.issuer_url}/token"
        exchange = TokenExchange(desk.client(), to, MCP_CLIENT, secret, ORDERS)
        token = await exchange.exchange(desk.issue_token(), "orders:read")
        http = desk.client(token)
        assert (await http.get(f"{ORDERS}/orders/ord_4821")).status_code == 200
        draft = {**REFUND, "operation_key": "by-hand-1"}
        assert (await http.post(f"{ORDERS}/refund-drafts", json=draft)).status_code == 403
        with pytest.raises(AuthorizationError) as raised:
            await McpClient(HttpTransport(desk.url, client=http)).connect()
        assert raised.value.status == 401
        with pytest.raises(Refusal) as refused:
            await exchange.exchange(token, "orders:read")
        assert refused.value.code == "ACCESS_DENIED"
        desk.advance(300)
        assert (await http.get(f"{ORDERS}/orders/ord_4821")).status_code == 401
