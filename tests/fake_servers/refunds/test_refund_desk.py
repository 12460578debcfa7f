"""The desk as a whole: it starts and stops, it is stateless, it fails on order, it stays itself."""

from __future__ import annotations

import ast
import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
from desk_wire import KEY, WANTED, ask, call, category

import fake_servers.refunds
from fake_servers.refunds.desk import RefundDesk
from fake_servers.refunds.faults import FAULTS
from mini_agent.mcp import HttpTransport, McpClient

PACKAGE = Path(fake_servers.refunds.__file__).parent
GET = {"order_id": "ord_4821"}
PLACES = ("memory", "loopback")


def session(desk: RefundDesk) -> httpx.AsyncClient:
    return desk.client(desk.issue_token())


# -- what it is -----------------------------------------------------------------------------------


def test_nothing_of_it_knows_the_client() -> None:
    for path in PACKAGE.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert "mini_agent" not in {name.split(".")[0] for name in names}, path


def test_the_mcp_server_alone_loads_no_web_server_and_no_cryptography() -> None:
    code = (
        "import sys, fake_servers.refunds.schemas, fake_servers.refunds.data\n"
        "import fake_servers.refunds.store, fake_servers.refunds.tokens\n"
        "heavy = {'starlette', 'uvicorn', 'jwt', 'cryptography', 'mini_agent', 'mcp'}\n"
        "sys.exit(str(heavy & set(sys.modules)) if heavy & set(sys.modules) else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


async def test_what_it_says_is_the_same_on_every_start() -> None:
    said = []
    for _ in range(2):
        async with RefundDesk() as desk:
            http = session(desk)
            await call(http, desk.url, "create_refund_draft", WANTED)
            answers = [
                await ask(http, desk.url, method) for method in ("tools/list", "prompts/list")
            ]
            texts = [answer.text for answer in answers]
            said.append((texts, desk.traffic.table(), desk.transcript, desk.url))
    assert said[0] == said[1]


async def test_a_desk_can_be_stopped_twice_and_closes_its_clients() -> None:
    desk = RefundDesk()
    await desk.start()
    http = session(desk)
    await desk.stop()
    await desk.stop()
    assert http.is_closed and desk.running == []


async def test_a_store_at_a_path_outlives_the_desk(tmp_path: Path) -> None:
    path = tmp_path / "orders.sqlite"
    for _ in range(2):
        async with RefundDesk(path=path) as desk:
            await call(session(desk), desk.url, "create_refund_draft", WANTED)
            assert [draft.draft_id for draft in desk.store.drafts()] == ["draft_1"]


async def test_no_token_is_kept_in_the_traffic() -> None:
    async with RefundDesk() as desk:
        token = desk.issue_token()
        await call(desk.client(token), desk.url, "get_order", GET)
        kept = desk.traffic.table() + repr(list(desk.traffic)) + repr(desk.transcript)
    assert "robin" in kept and token not in kept and token.split(".")[2] not in kept


@pytest.mark.parametrize("where", PLACES)
async def test_our_own_client_reaches_it(where: Any) -> None:
    async with RefundDesk(where) as desk:
        transport = HttpTransport(desk.url, client=session(desk))
        async with McpClient(transport, server="refunds") as client:
            tools = await client.connect()
            result = await client.call("get_order", GET)
            policy = await client.read_resource("policy://returns/2026-08")
            assert client.server_info == {"name": "refunds", "version": "1.0.0"}
        await transport.close()
    assert [tool.name for tool in tools] == ["get_order", "create_refund_draft", "get_refund_draft"]
    assert result.structured_content["refundable_amount_minor"] == 4250
    assert "returns-2026-08" in str(policy)


# -- stateless ------------------------------------------------------------------------------------


@pytest.mark.must("S03")
@pytest.mark.parametrize("where", PLACES)
async def test_any_request_can_go_to_either_of_two_instances(where: Any) -> None:
    async with RefundDesk(where, instances=2) as desk:
        http = session(desk)
        made = await call(http, desk.url, "create_refund_draft", WANTED)
        again = await call(http, desk.url, "create_refund_draft", WANTED)
        found = [await call(http, desk.url, "get_refund_draft", {"operation_key": KEY})] * 2
        seen = [len(instance.gated.transcript) for instance in desk.running]
        assert len(desk.store.drafts()) == 1
    assert made == again == found[0] == found[1]
    assert sorted(seen) == [2, 4]  # a request and its answer each


async def test_32_workers_at_once_with_one_key_get_one_draft() -> None:
    async with RefundDesk(instances=2) as desk:
        http = session(desk)
        work = (call(http, desk.url, "create_refund_draft", WANTED) for _ in range(32))
        results = await asyncio.gather(*work)
        assert len(desk.store.drafts()) == 1
    assert all(result == results[0] for result in results)
    assert results[0]["structuredContent"]["draft_id"] == "draft_1"


async def test_an_instance_that_dies_takes_only_what_was_in_flight() -> None:
    async with RefundDesk() as desk:
        http = session(desk)
        held = desk.faults.plan("orders", "held")
        asked = asyncio.create_task(
            ask(http, desk.url, "tools/call", name="get_order", arguments=GET)
        )
        await held.met.wait()
        await desk.restart()
        with pytest.raises(httpx.RemoteProtocolError):
            await asked
        assert not (await call(http, desk.url, "get_order", GET))["isError"]


async def test_a_draft_survives_the_instance_that_died_before_saying_so() -> None:
    async with RefundDesk(instances=2) as desk:
        http = session(desk)
        desk.faults.plan("refunds", "dropped_after", tool="create_refund_draft")
        with pytest.raises(httpx.RemoteProtocolError):
            await call(http, desk.url, "create_refund_draft", WANTED)
        await desk.restart(0)
        await desk.restart(1)
        found = await call(http, desk.url, "get_refund_draft", {"operation_key": KEY})
        assert found["structuredContent"]["draft_id"] == "draft_1"


# -- faults ---------------------------------------------------------------------------------------


async def test_a_fault_comes_as_often_as_was_planned() -> None:
    async with RefundDesk() as desk:
        http = session(desk)
        planned = desk.faults.plan("orders", "unavailable", times=2, every=2)
        errors = [(await call(http, desk.url, "get_order", GET))["isError"] for _ in range(6)]
    assert errors == [False, True, False, True, False, False] and planned.met.is_set()


async def test_a_fault_that_is_none_is_refused() -> None:
    async with RefundDesk() as desk:
        for at, name in (("orders", "tired"), ("nowhere", "held")):
            with pytest.raises(ValueError, match="there are silent_before"):
                desk.faults.plan(at, name)


async def test_a_slow_service_answers_when_it_is_released() -> None:
    async with RefundDesk() as desk:
        held = desk.faults.plan("orders", "held")
        asked = asyncio.create_task(call(session(desk), desk.url, "get_order", GET))
        await held.met.wait()
        assert not asked.done()
        held.release()
        assert not (await asked)["isError"]


@pytest.mark.parametrize("where", PLACES)
@pytest.mark.parametrize("fault", [name for name in FAULTS if name != "held"])
async def test_after_every_fault_the_desk_is_itself_again(where: Any, fault: str) -> None:
    patience = 0.2 if fault.startswith("silent") else 5.0  # on ports a deadline has to pass
    async with RefundDesk(where, timeout=patience) as desk:
        http = session(desk)
        desk.faults.plan("orders", fault, method="POST")
        first = await call(http, desk.url, "create_refund_draft", WANTED)
        assert first["isError"] is (fault != "duplicated")
        if first["isError"]:
            assert category(first)["code"] in ("OUTCOME_UNKNOWN", "DESTINATION_REFUSED")
        assert await settled(http, desk.url, WANTED) == "draft_1"
        assert len(desk.store.drafts()) == 1


@pytest.mark.parametrize("where", PLACES)
@pytest.mark.parametrize("fault", ["dropped_before", "dropped_after"])
async def test_a_connection_that_breaks_is_the_callers_error(
    where: Any, fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with RefundDesk(where) as desk:
        http = session(desk)
        desk.faults.plan("refunds", fault)
        with pytest.raises(httpx.TransportError):
            await call(http, desk.url, "get_order", GET)
        assert not (await call(http, desk.url, "get_order", GET))["isError"]
    assert caplog.records == []


@pytest.mark.parametrize("where", PLACES)
async def test_an_mcp_server_that_is_silent_is_given_up_by_the_caller(where: Any) -> None:
    async with RefundDesk(where) as desk:
        http = session(desk)
        silent = desk.faults.plan("refunds", "silent_after", tool="create_refund_draft")
        asked = asyncio.create_task(call(http, desk.url, "create_refund_draft", WANTED))
        await silent.met.wait()
        await silent.acted.wait()
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        again = await call(http, desk.url, "create_refund_draft", WANTED)
        assert again["structuredContent"]["draft_id"] == "draft_1"


async def test_200_drafts_from_32_workers_with_faults_are_200_drafts() -> None:
    async with RefundDesk(instances=2) as desk:
        http = session(desk)
        for fault, every in (
            ("silent_after", 7), ("dropped_after", 11), ("duplicated", 5), ("silent_before", 13),
        ):  # fmt: skip
            desk.faults.plan("orders", fault, method="POST", every=every, times=None)
        numbers = iter(range(200))
        outcomes: dict[int, str] = {}

        async def work() -> None:
            for number in numbers:
                wanted = {
                    **WANTED,
                    "amount_minor": 1 + number,
                    "operation_key": f"run-1.{number:04}",
                }
                outcomes[number] = await settled(http, desk.url, wanted)
                if number % 50 == 49:
                    await desk.restart(number // 50 % 2)

        await asyncio.gather(*(work() for _ in range(32)))
        drafts = desk.store.drafts()
    assert len(drafts) == 200 and len(set(outcomes.values())) == 200
    assert sorted(draft.wanted.amount_minor for draft in drafts) == list(range(1, 201))
    assert {draft.draft_id for draft in drafts} == set(outcomes.values())


async def settled(http: httpx.AsyncClient, url: str, wanted: dict[str, Any]) -> str:
    """Ask until there is an answer: a write with a key may be asked for again."""
    for _ in range(20):
        try:
            result = await call(http, url, "create_refund_draft", wanted)
        except httpx.TransportError:
            continue
        if not result["isError"]:
            return str(result["structuredContent"]["draft_id"])
        assert category(result)["retryable"], result
    raise AssertionError(f"no answer for {wanted}")


# -- who goes away --------------------------------------------------------------------------------

HALF = (
    "POST {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n"
    "Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n"
    "Content-Length: 100\r\nExpect: 100-continue\r\n\r\n"
)


@pytest.mark.parametrize(
    ("service", "path"),
    [
        ("url", "/mcp"),
        ("orders_url", "/refund-drafts"),
        ("issuer_url", "/token"),
        ("issuer_url", "/register"),
        ("issuer_url", "/revoke"),
    ],
)
async def test_who_goes_away_in_the_middle_of_a_request_is_no_error(
    service: str, path: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with RefundDesk("loopback") as desk:
        where = httpx.URL(getattr(desk, service))
        host = f"{where.host}:{where.port}"
        token = desk.issue_token(audience=str(where))
        reader, writer = await asyncio.open_connection(where.host, where.port)
        writer.write(HALF.format(path=path, host=host, token=token).encode() + b'{"half')
        reading = await reader.readuntil(b"\r\n")  # uvicorn says so when the body is asked for
        writer.close()
    assert b"100" in reading
    assert caplog.records == [] and desk.traffic[0].status == 0
