"""The MCP server alone: what the model is shown, and how each failure is told."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest
from desk_wire import KEY, WANTED, ask, call, category, refused
from jsonschema import Draft202012Validator

from fake_servers.refunds.categories import CATEGORIES, Refusal
from fake_servers.refunds.data import ORDERS, POLICY
from fake_servers.refunds.desk import RefundDesk
from fake_servers.refunds.orders import read_answer
from fake_servers.refunds.schemas import RELEASES
from fake_servers.refunds.server import refund_server

SEED_ORDER = {
    "order_id": "ord_4821",
    "status": "delivered_late",
    "currency": "EUR",
    "refundable_amount_minor": 4250,
    "policy_version": "returns-2026-08",
}
GET = {"order_id": "ord_4821"}


class Upstream:
    """An order service that answers with ``record``, or raises it."""

    def __init__(self, record: dict[str, Any] | Refusal) -> None:
        self.record = record
        self.asked: list[Any] = []

    async def order(self, order_id: str) -> dict[str, Any]:
        return self._said(order_id)

    async def create_draft(self, wanted: dict[str, Any]) -> dict[str, Any]:
        return self._said(wanted)

    async def draft(self, operation_key: str) -> dict[str, Any]:
        return self._said(operation_key)

    def _said(self, asked: Any) -> dict[str, Any]:
        self.asked.append(asked)
        if isinstance(self.record, Refusal):
            raise self.record
        return self.record


async def answer(upstream: Upstream, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The response of a server over ``upstream``, with no HTTP at all."""
    from desk_wire import message

    sent = message("tools/call", name=name, arguments=arguments)
    (response,) = [said async for said in refund_server(upstream).handle(sent)]
    return response


# -- what is offered ------------------------------------------------------------------------------


def test_its_schemas_are_valid_and_closed() -> None:
    for schemas in RELEASES.values():
        for schema in vars(schemas).values():
            Draft202012Validator.check_schema(schema)
            assert schema["additionalProperties"] is False
            assert schema["required"] == list(schema["properties"])


def test_its_annotations_are_honest() -> None:
    tools = {tool.name: tool.annotations or {} for tool in refund_server(Upstream({})).tools or ()}
    assert tools["get_order"]["readOnlyHint"] and tools["get_refund_draft"]["readOnlyHint"]
    draft = tools["create_refund_draft"]
    assert draft["readOnlyHint"] is False and draft["idempotentHint"] is True


async def test_a_newer_release_asks_for_a_reason_and_says_its_release() -> None:
    async with RefundDesk(release="2.0.0") as desk:
        http = desk.client(desk.issue_token())
        answer = await ask(http, desk.url, "tools/list")
        assert await refused(http, desk.url, "create_refund_draft", WANTED) == (
            "INVALID_ARGUMENTS",
            False,
        )
        made = await call(http, desk.url, "create_refund_draft", {**WANTED, "reason": "damaged"})
    assert not made["isError"]
    info = answer.json()["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]
    assert info == {"name": "refunds", "version": "2.0.0"}


async def test_the_policy_is_a_resource_and_an_unknown_one_is_not_there() -> None:
    async with RefundDesk() as desk:
        http = desk.client(desk.issue_token())
        read = await ask(http, desk.url, "resources/read", uri="policy://returns/2026-08")
        gone = await ask(http, desk.url, "resources/read", uri="policy://returns/2019-01")
        listed = await ask(http, desk.url, "resources/list")
    assert read.json()["result"]["contents"][0]["text"] == POLICY
    assert gone.json()["error"]["code"] == -32602
    assert [r["uri"] for r in listed.json()["result"]["resources"]] == ["policy://returns/2026-08"]


@pytest.mark.parametrize("name", ["review_change", "incident_summary"])
async def test_a_prompt_names_the_order(name: str) -> None:
    async with RefundDesk() as desk:
        http = desk.client(desk.issue_token())
        got = await ask(
            http, desk.url, "prompts/get", name=name, arguments={"order_id": "ord_4821"}
        )
        missing = await ask(http, desk.url, "prompts/get", name=name, arguments={})
    assert "ord_4821" in got.json()["result"]["messages"][0]["content"]["text"]
    assert missing.json()["error"]["code"] == -32602


# -- what the model is shown ----------------------------------------------------------------------


async def test_a_result_is_what_the_next_decision_needs_and_nothing_else() -> None:
    async with RefundDesk() as desk:
        result = await call(desk.client(desk.issue_token()), desk.url, "get_order", GET)
    assert result["structuredContent"] == SEED_ORDER
    assert json.loads(result["content"][0]["text"]) == SEED_ORDER
    for secret in ("Quay 7", "customer@", "bay 4", "0.07", "acc_1001", "2026-07-01"):
        assert secret in json.dumps(ORDERS[0].record()) and secret not in json.dumps(result)


async def test_a_draft_is_told_without_who_and_through_what() -> None:
    async with RefundDesk() as desk:
        http = desk.client(desk.issue_token())
        made = await call(http, desk.url, "create_refund_draft", WANTED)
        found = await call(http, desk.url, "get_refund_draft", {"operation_key": KEY})
    assert made == found
    assert made["structuredContent"] == {
        "draft_id": "draft_1",
        "order_id": "ord_4821",
        "status": "draft",
        "amount_minor": 4250,
        "currency": "EUR",
        "policy_version": "returns-2026-08",
    }


async def test_a_field_that_leaks_becomes_an_internal_error_and_does_not_leave(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.CRITICAL, logger="fake_servers")
    async with RefundDesk(shape=lambda record, schema: record) as desk:
        http = desk.client(desk.issue_token())
        answer = await ask(http, desk.url, "tools/call", name="get_order", arguments=GET)
    assert answer.status_code == 500
    assert answer.json()["error"] == {"code": -32603, "message": "Internal error"}


@pytest.mark.parametrize(
    "change",
    [
        {"refundable_amount_minor": -1},
        {"refundable_amount_minor": "4250"},
        {"refundable_amount_minor": 42.5},
        {"currency": None},
        {"status": ["delivered_late"]},
    ],
)
async def test_an_upstream_value_of_another_type_does_not_leave(
    change: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL, logger="fake_servers")
    said = await answer(Upstream({**SEED_ORDER, **change}), "get_order", GET)
    assert said["error"] == {"code": -32603, "message": "Internal error"}


async def test_an_upstream_record_without_a_field_is_malformed() -> None:
    said = await answer(Upstream({"order_id": "ord_4821"}), "get_order", GET)
    assert category(said["result"])["code"] == "ORDER_SERVICE_MALFORMED"


async def test_hostile_text_from_upstream_stays_a_value() -> None:
    async with RefundDesk() as desk:
        http = desk.client(desk.issue_token())
        result = await call(http, desk.url, "get_order", {"order_id": "ord_5050"})
    assert "call create_refund_draft" in result["structuredContent"]["status"]
    assert set(result["structuredContent"]) == set(SEED_ORDER)


# -- how a failure is told ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "code", [code for code in CATEGORIES if CATEGORIES[code].status in (0, 503)]
)
async def test_every_category_reaches_the_host_as_json(code: str) -> None:
    said = await answer(Upstream(Refusal(code)), "get_order", GET)
    expected = CATEGORIES[code]
    assert category(said["result"]) == {
        "code": code,
        "message": expected.message,
        "retryable": expected.retryable,
    }


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"order_id": "4821"},
        {"order_id": 4821},
        {"order_id": "ord_1", "more": 1},
        {"id": "ord_1"},
    ],
)
async def test_arguments_that_break_the_schema_never_reach_the_service(
    arguments: dict[str, Any],
) -> None:
    upstream = Upstream(SEED_ORDER)
    said = await answer(upstream, "get_order", arguments)
    error = category(said["result"])
    assert (error["code"], error["retryable"]) == ("INVALID_ARGUMENTS", False)
    assert error["message"].startswith("get_order: arguments")
    assert upstream.asked == []


async def test_a_line_break_at_the_end_of_an_id_reaches_no_order() -> None:
    # "$" also matches before a last line break, so the schema lets it through.
    async with RefundDesk() as desk:
        http = desk.client(desk.issue_token())
        got = await refused(http, desk.url, "get_order", {"order_id": "ord_4821\n"})
        made = await refused(
            http, desk.url, "create_refund_draft", {**WANTED, "order_id": "ord_4821\n"}
        )
    assert got == ("ORDER_NOT_FOUND", False) and made == ("INVALID_REQUEST", False)


@pytest.mark.parametrize(
    "change, code",
    [
        ({"order_id": "ord_4822"}, "ORDER_NOT_REFUNDABLE"),
        ({"amount_minor": 4251}, "AMOUNT_EXCEEDS_REFUNDABLE"),
        ({"currency": "USD"}, "CURRENCY_MISMATCH"),
        ({"order_id": "ord_7001"}, "ORDER_NOT_FOUND"),
    ],
)
async def test_a_business_refusal_keeps_its_code(change: dict[str, Any], code: str) -> None:
    async with RefundDesk() as desk:
        http = desk.client(desk.issue_token())
        said = await refused(http, desk.url, "create_refund_draft", {**WANTED, **change})
    assert said == (code, False)


async def test_a_used_key_with_another_amount_is_a_conflict() -> None:
    async with RefundDesk() as desk:
        http = desk.client(desk.issue_token())
        await call(http, desk.url, "create_refund_draft", WANTED)
        changed = {**WANTED, "amount_minor": 1}
        assert await refused(http, desk.url, "create_refund_draft", changed) == (
            "OPERATION_KEY_CONFLICT",
            False,
        )


READ_FAULTS = {
    "silent_before": ("ORDER_SERVICE_TIMEOUT", True),
    "silent_after": ("ORDER_SERVICE_TIMEOUT", True),
    "dropped_before": ("SERVICE_UNAVAILABLE", True),
    "dropped_after": ("SERVICE_UNAVAILABLE", True),
    "unavailable": ("SERVICE_UNAVAILABLE", True),
    "malformed": ("ORDER_SERVICE_MALFORMED", False),
    "wrong_shape": ("ORDER_SERVICE_MALFORMED", False),
    "redirected": ("DESTINATION_REFUSED", False),
}


@pytest.mark.parametrize("fault", READ_FAULTS)
async def test_a_read_that_fails_says_whether_to_try_again(fault: str) -> None:
    async with RefundDesk() as desk:
        http = desk.client(desk.issue_token())
        desk.faults.plan("orders", fault)
        assert await refused(http, desk.url, "get_order", GET) == READ_FAULTS[fault]
        assert not (await call(http, desk.url, "get_order", GET))["isError"]


@pytest.mark.parametrize(
    "fault, drafts",
    [
        ("silent_before", 0), ("silent_after", 1), ("dropped_before", 0), ("dropped_after", 1),
        ("unavailable", 0), ("malformed", 1), ("wrong_shape", 1),
    ],
)  # fmt: skip
async def test_a_write_without_an_answer_is_unknown_and_the_same_key_settles_it(
    fault: str, drafts: int
) -> None:
    async with RefundDesk() as desk:
        http = desk.client(desk.issue_token())
        desk.faults.plan("orders", fault, method="POST")
        said = await refused(http, desk.url, "create_refund_draft", WANTED)
        assert said == ("OUTCOME_UNKNOWN", True) and len(desk.store.drafts()) == drafts
        looked_up = await call(http, desk.url, "get_refund_draft", {"operation_key": KEY})
        assert looked_up["isError"] is (drafts == 0)
        made = await call(http, desk.url, "create_refund_draft", WANTED)
        assert made["structuredContent"]["draft_id"] == "draft_1"
        assert len(desk.store.drafts()) == 1


async def test_without_a_key_an_unknown_outcome_is_not_to_be_tried_again() -> None:
    keyless = {name: value for name, value in WANTED.items() if name != "operation_key"}
    async with RefundDesk(key_required=False) as desk:
        orders = desk.orders_for(desk.issue_token())
        desk.faults.plan("orders", "silent_after", method="POST")
        with pytest.raises(Refusal) as raised:
            await orders.create_draft(keyless)
        assert (raised.value.code, raised.value.retryable) == ("OUTCOME_UNKNOWN", False)
        await orders.create_draft(keyless)
        assert len(desk.store.drafts()) == 2  # what the host could not know


async def test_a_request_delivered_twice_makes_one_draft() -> None:
    async with RefundDesk() as desk:
        http = desk.client(desk.issue_token())
        desk.faults.plan("orders", "duplicated", method="POST")
        made = await call(http, desk.url, "create_refund_draft", WANTED)
        assert made["structuredContent"]["draft_id"] == "draft_1"
        assert len(desk.store.drafts()) == 1


async def test_where_the_token_cannot_be_exchanged_nothing_is_asked_of_the_service() -> None:
    async with RefundDesk() as desk:
        http = desk.client(desk.issue_token())
        desk.faults.plan("authorization", "unavailable", path="/token")
        assert await refused(http, desk.url, "get_order", GET) == (
            "AUTHORIZATION_UNAVAILABLE",
            True,
        )
        assert "orders" not in [exchange.to for exchange in desk.traffic]


@pytest.mark.parametrize(
    "status, body, code",
    [
        (200, b"[]", "ORDER_SERVICE_MALFORMED"),
        (200, b"", "ORDER_SERVICE_MALFORMED"),
        (200, b"\xff", "ORDER_SERVICE_MALFORMED"),
        (204, b"{}", "ORDER_SERVICE_MALFORMED"),
        (404, b"<html>secret</html>", "ORDER_SERVICE_MALFORMED"),
        (404, b'{"error": {"code": "SECRET", "message": "secret"}}', "ORDER_SERVICE_MALFORMED"),
        (409, b'{"error": {"code": "ORDER_NOT_FOUND"}}', "ORDER_SERVICE_MALFORMED"),
        (404, b'{"error": {"code": ["x"]}}', "ORDER_SERVICE_MALFORMED"),
        (404, b'{"error": {"code": "ORDER_NOT_FOUND"}}', "ORDER_NOT_FOUND"),
        (500, b"Traceback: secret", "SERVICE_UNAVAILABLE"),
        (401, b"secret", "ACCESS_DENIED"),
        (403, b"secret", "ACCESS_DENIED"),
    ],
)
def test_an_answer_that_is_not_understood_is_not_repeated(
    status: int, body: bytes, code: str
) -> None:
    with pytest.raises(Refusal) as raised:
        read_answer(status, body)
    assert raised.value.code == code and "secret" not in raised.value.message.lower()
