"""The order service alone: its rules, its refusals, and whose tokens it takes."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest
from desk_wire import KEY, WANTED

from fake_servers.refunds.desk import RefundDesk
from fake_servers.refunds.keys import SigningKey


def own(desk: RefundDesk, **options: Any) -> httpx.AsyncClient:
    """A client with a token of the order service's own audience."""
    return desk.client(desk.issue_token(audience=desk.orders_url, **options))


async def post(http: httpx.AsyncClient, desk: RefundDesk, body: Any) -> httpx.Response:
    return await http.post(f"{desk.orders_url}/refund-drafts", json=body)


def said(answer: httpx.Response) -> tuple[int, str, bool]:
    error = answer.json()["error"]
    return answer.status_code, error["code"], error["retryable"]


# -- what it knows and does -----------------------------------------------------------------------


async def test_its_record_holds_what_must_not_reach_a_model() -> None:
    async with RefundDesk() as desk:
        record = (await own(desk).get(f"{desk.orders_url}/orders/ord_4821")).json()
    assert {"warehouse_notes", "fraud_score", "customer", "account_id"} <= set(record)
    assert record["status"] == "delivered_late" and record["refundable_amount_minor"] == 4250
    assert len([name for name in record if name.endswith("_at")]) == 6


async def test_an_absent_order_and_somebody_elses_answer_the_same_bytes() -> None:
    async with RefundDesk() as desk:
        http = own(desk)
        answers = [await http.get(f"{desk.orders_url}/orders/{o}") for o in ("ord_7001", "ord_1")]
    assert answers[0].content == answers[1].content
    assert answers[0].headers == answers[1].headers
    assert said(answers[0]) == (404, "ORDER_NOT_FOUND", False)


async def test_a_new_draft_is_201_and_the_same_again_200() -> None:
    async with RefundDesk() as desk:
        http = own(desk)
        first, again = [await post(http, desk, WANTED) for _ in range(2)]
        found = await http.get(f"{desk.orders_url}/refund-drafts/{KEY}")
    assert (first.status_code, again.status_code, found.status_code) == (201, 200, 200)
    assert first.json() == again.json() == found.json()
    assert first.json()["draft_id"] == "draft_1" and first.json()["drafted_by"] == "robin"


@pytest.mark.parametrize(
    "change, status, code",
    [
        ({"order_id": "ord_4822"}, 422, "ORDER_NOT_REFUNDABLE"),
        ({"amount_minor": 4251}, 422, "AMOUNT_EXCEEDS_REFUNDABLE"),
        ({"currency": "USD"}, 422, "CURRENCY_MISMATCH"),
        ({"order_id": "ord_7001"}, 404, "ORDER_NOT_FOUND"),
        ({"order_id": "ord_1"}, 404, "ORDER_NOT_FOUND"),
    ],
)
async def test_a_business_refusal_has_its_code_and_drafts_nothing(
    change: dict[str, Any], status: int, code: str
) -> None:
    async with RefundDesk() as desk:
        assert said(await post(own(desk), desk, {**WANTED, **change})) == (status, code, False)
        assert desk.store.drafts() == []


async def test_another_body_under_the_same_key_is_a_conflict() -> None:
    async with RefundDesk() as desk:
        http = own(desk)
        await post(http, desk, WANTED)
        answer = await post(http, desk, {**WANTED, "amount_minor": 1})
        assert said(answer) == (409, "OPERATION_KEY_CONFLICT", False)


@pytest.mark.parametrize(
    "change",
    [
        {"amount_minor": 0},
        {"amount_minor": -1},
        {"amount_minor": True},
        {"amount_minor": 42.5},
        {"amount_minor": "4250"},
        {"amount_minor": 2**53},
        {"currency": "eur"},
        {"currency": "EUR\n"},
        {"order_id": "4821"},
        {"order_id": "ord_4821\n"},
        {"order_id": "ord_4821/../ord_7001"},
        {"operation_key": "short"},
        {"operation_key": "k" * 129},
        {"operation_key": "a key with spaces"},
        {"operation_key": None},
        {"reason": "because"},
        {"scope": "refunds:draft"},
        {"drafted_by": "kim"},
    ],
)
async def test_a_body_of_another_form_is_refused_before_anything_is_looked_up(
    change: dict[str, Any],
) -> None:
    async with RefundDesk() as desk:
        answer = await post(own(desk), desk, {**WANTED, **change})
        assert said(answer) == (400, "INVALID_REQUEST", False)
        assert desk.store.drafts() == []


async def test_an_amount_written_with_a_point_is_the_same_integer() -> None:
    async with RefundDesk() as desk:
        http = own(desk)
        first = await post(http, desk, {**WANTED, "amount_minor": 4250.0})
        again = await post(http, desk, WANTED)
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.content == again.content and b"4250.0" not in first.content


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b"[" * 9999, b"x" * 20_000])
async def test_a_body_that_is_no_object_is_refused(body: bytes) -> None:
    async with RefundDesk() as desk:
        answer = await own(desk).post(f"{desk.orders_url}/refund-drafts", content=body)
        assert said(answer) == (400, "INVALID_REQUEST", False)


async def test_where_the_key_is_not_required_a_repeat_is_a_second_draft() -> None:
    keyless = {name: value for name, value in WANTED.items() if name != "operation_key"}
    async with RefundDesk(key_required=False) as desk:
        answers = [await post(own(desk), desk, keyless) for _ in range(2)]
        assert [answer.status_code for answer in answers] == [201, 201]
        assert len(desk.store.drafts()) == 2


async def test_32_requests_at_once_with_one_key_make_one_draft_on_two_instances() -> None:
    async with RefundDesk(instances=2) as desk:
        http = own(desk)
        answers = await asyncio.gather(*(post(http, desk, WANTED) for _ in range(32)))
        assert len(desk.store.drafts()) == 1
    assert sorted(answer.status_code for answer in answers) == [200] * 31 + [201]
    assert len({answer.content for answer in answers}) == 1


# -- whose tokens ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options, why",
    [
        ({"audience": "https://refunds.example/mcp"}, "another audience"),
        ({"audience": "https://orders.example/"}, "another audience"),
        ({"aud": ["https://orders.example", "https://refunds.example/mcp"]}, "another audience"),
        ({"iss": "https://auth.example.evil.example"}, "another issuer"),
        ({"iss": None}, "no iss"),
        ({"expires_in": 0}, "expired"),
        ({"expires_in": -1}, "expired"),
        ({"exp": None}, "no exp"),
        ({"iat": 4_000_000_000}, "not valid yet"),
        ({"nbf": 4_000_000_000}, "not valid yet"),
        ({"sub": None}, "no sub"),
        ({"sub": ""}, "malformed"),
        ({"scope": ""}, "malformed"),
        ({"key": SigningKey("key-1")}, "signature is wrong"),
        ({"key": SigningKey("key-2")}, "not one of the issuer's"),
    ],
)
async def test_a_token_that_is_not_for_this_service_is_refused_and_told_why(
    options: dict[str, Any], why: str
) -> None:
    async with RefundDesk() as desk:
        token = desk.issue_token(**{"audience": desk.orders_url, **options})
        answer = await desk.client(token).get(f"{desk.orders_url}/orders/ord_4821")
    assert said(answer) == (401, "INVALID_TOKEN", False)
    challenge = answer.headers["www-authenticate"]
    assert challenge.startswith('Bearer error="invalid_token"') and why in challenge
    assert token not in answer.text + challenge


async def test_a_token_without_the_scope_is_403_and_names_it() -> None:
    async with RefundDesk() as desk:
        answer = await post(own(desk, scope="orders:read"), desk, WANTED)
        assert said(answer) == (403, "INSUFFICIENT_SCOPE", False)
        assert 'scope="refunds:draft"' in answer.headers["www-authenticate"]
        assert desk.store.drafts() == []


async def test_the_broader_scope_implies_the_narrower() -> None:
    async with RefundDesk() as desk:
        http = own(desk, scope="refunds:draft")
        assert (await http.get(f"{desk.orders_url}/orders/ord_4821")).status_code == 200


async def test_time_passes_and_the_token_is_no_longer_good() -> None:
    async with RefundDesk() as desk:
        http, url = own(desk, expires_in=300), f"{desk.orders_url}/orders/ord_4821"
        desk.advance(299)
        assert (await http.get(url)).status_code == 200
        desk.advance(1)
        assert (await http.get(url)).status_code == 401


async def test_where_the_issuers_keys_cannot_be_had_nobody_is_let_in() -> None:
    async with RefundDesk() as desk:
        desk.faults.plan("authorization", "unavailable", path="/jwks")
        answer = await own(desk).get(f"{desk.orders_url}/orders/ord_4821")
        assert said(answer) == (503, "SERVICE_UNAVAILABLE", True)


async def test_a_draft_names_the_user_and_who_acted_for_them() -> None:
    async with RefundDesk() as desk:
        answer = await post(own(desk, act={"sub": "refunds-mcp"}), desk, WANTED)
    assert answer.json()["drafted_by"] == "robin"
    assert answer.json()["drafted_through"] == "refunds-mcp"
