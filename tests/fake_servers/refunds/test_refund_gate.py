"""The MCP endpoint's gate: who is let in, what everybody else is told, and what never passes."""

from __future__ import annotations

import base64
from typing import Any

import httpx
import pytest
from desk_wire import WANTED, ask, call, headers_for, message

from fake_servers.refunds.desk import RefundDesk
from fake_servers.refunds.keys import SigningKey

METADATA = "https://refunds.example/.well-known/oauth-protected-resource/mcp"
ORDER = {"name": "get_order", "arguments": {"order_id": "ord_4821"}}
DRAFT = {"name": "create_refund_draft", "arguments": WANTED}


def encoded(text: str) -> str:
    return f"=?base64?{base64.b64encode(text.encode()).decode()}?="


# -- metadata and challenges ----------------------------------------------------------------------


@pytest.mark.must("S30")
@pytest.mark.parametrize("path", ["", "/mcp"])
async def test_it_says_where_its_tokens_come_from_to_anybody(path: str) -> None:
    async with RefundDesk() as desk:
        url = f"https://refunds.example/.well-known/oauth-protected-resource{path}"
        document = (await desk.client().get(url)).json()
    assert document["resource"] == "https://refunds.example/mcp"
    assert document["authorization_servers"] == ["https://auth.example"]
    assert document["scopes_supported"] == ["orders:read"]
    assert document["bearer_methods_supported"] == ["header"]


@pytest.mark.must("S30")
async def test_without_a_token_the_challenge_names_metadata_and_scope_and_no_error() -> None:
    async with RefundDesk() as desk:
        answer = await ask(desk.client(), desk.url, "tools/call", **ORDER)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == (
        f'Bearer resource_metadata="{METADATA}", scope="orders:read"'
    )


@pytest.mark.must("S30")
@pytest.mark.parametrize(
    "options, why",
    [
        ({"audience": "https://orders.example"}, "another audience"),
        ({"audience": "https://refunds.example"}, "another audience"),
        ({"iss": "https://evil.example"}, "another issuer"),
        ({"expires_in": 0}, "expired"),
        ({"key": SigningKey("key-1")}, "signature"),
    ],
)
async def test_a_token_that_is_not_for_it_is_401_with_the_reason(
    options: dict[str, Any], why: str
) -> None:
    async with RefundDesk() as desk:
        token = desk.issue_token(**options)
        answer = await ask(desk.client(token), desk.url, "tools/call", **ORDER)
        assert [exchange.to for exchange in desk.traffic] == ["refunds", "authorization"]
    challenge = answer.headers["www-authenticate"]
    assert answer.status_code == 401 and why in challenge
    assert 'error="invalid_token"' in challenge and METADATA in challenge
    assert token not in challenge + answer.text


@pytest.mark.must("S30")
async def test_a_token_without_the_scope_is_403_with_the_scope_of_the_operation() -> None:
    async with RefundDesk() as desk:
        http = desk.client(desk.issue_token(scope="orders:read"))
        answer = await ask(http, desk.url, "tools/call", **DRAFT)
        assert not (await call(http, desk.url, **ORDER))["isError"]
        assert desk.store.drafts() == []
    challenge = answer.headers["www-authenticate"]
    assert answer.status_code == 403
    for part in ('error="insufficient_scope"', 'scope="refunds:draft"', METADATA):
        assert part in challenge


async def test_the_broader_scope_implies_the_narrower_all_the_way() -> None:
    async with RefundDesk() as desk:
        http = desk.client(desk.issue_token(scope="refunds:draft"))
        assert not (await call(http, desk.url, **ORDER))["isError"]
        assert not (await call(http, desk.url, **DRAFT))["isError"]


@pytest.mark.parametrize(
    "value", ["Basic dXNlcjpwYXNz", "Bearer", "Bearer ", "Bearer a b", "token", "Bearer ä", ""]
)
async def test_a_header_that_holds_no_bearer_token_is_401(value: str) -> None:
    async with RefundDesk() as desk:
        sent = message("tools/list")
        headers = {**headers_for(sent), "authorization": value.encode()}
        answer = await desk.client().post(desk.url, json=sent, headers=headers)
    assert (
        answer.status_code == 401 and 'error="invalid_token"' in answer.headers["www-authenticate"]
    )


async def test_two_authorization_headers_are_none() -> None:
    async with RefundDesk() as desk:
        sent, token = message("tools/list"), desk.issue_token()
        pairs = [*headers_for(sent).items(), *[("authorization", f"Bearer {token}")] * 2]
        answer = await desk.client().post(desk.url, json=sent, headers=pairs)
    assert answer.status_code == 401


async def test_a_token_in_the_query_is_400_and_not_used() -> None:
    async with RefundDesk() as desk:
        token = desk.issue_token()
        answer = await ask(desk.client(), f"{desk.url}?access_token={token}", "tools/list")
    assert answer.status_code == 400
    assert 'error="invalid_request"' in answer.headers["www-authenticate"]


async def test_an_upper_case_scheme_is_a_bearer_token_too() -> None:
    async with RefundDesk() as desk:
        sent = message("tools/list")
        headers = {**headers_for(sent), "authorization": f"BEARER {desk.issue_token()}"}
        assert (await desk.client().post(desk.url, json=sent, headers=headers)).status_code == 200


async def test_every_request_is_checked_also_a_notification_and_a_discovery() -> None:
    async with RefundDesk() as desk:
        for method in ("server/discover", "tools/list", "resources/list", "prompts/list"):
            assert (await ask(desk.client(), desk.url, method)).status_code == 401
        notification = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {}}
        assert (await desk.client().post(desk.url, json=notification)).status_code == 401


async def test_where_the_issuers_keys_cannot_be_had_nobody_is_let_in() -> None:
    async with RefundDesk() as desk:
        desk.faults.plan("authorization", "dropped_before", path="/jwks")
        answer = await ask(desk.client(desk.issue_token()), desk.url, "tools/list")
        assert answer.status_code == 503 and answer.headers["retry-after"] == "1"


# -- headers that lie -----------------------------------------------------------------------------


@pytest.mark.must("S13")
@pytest.mark.parametrize(
    "lie",
    [
        {"mcp-name": "get_order"},
        {"mcp-name": encoded("get_order")},
        {"mcp-name": ""},
        {"mcp-method": "tools/list"},
        {"mcp-method": "resources/read"},
    ],
)
async def test_a_header_that_hides_the_write_gets_it_no_further(lie: dict[str, str]) -> None:
    async with RefundDesk() as desk:
        http = desk.client(desk.issue_token(scope="orders:read"))
        sent = message("tools/call", **DRAFT)
        answer = await http.post(desk.url, json=sent, headers={**headers_for(sent), **lie})
        assert desk.store.drafts() == []
    assert answer.status_code == 400 and answer.json()["error"]["code"] == -32020


async def test_a_name_that_is_encoded_is_read_before_the_scope_is_chosen() -> None:
    async with RefundDesk() as desk:
        http = desk.client(desk.issue_token(scope="orders:read"))
        sent = message("tools/call", **DRAFT)
        headers = {**headers_for(sent), "mcp-name": encoded("create_refund_draft")}
        assert (await http.post(desk.url, json=sent, headers=headers)).status_code == 403


# -- hosts, origins, addresses --------------------------------------------------------------------


@pytest.mark.must("S11")
@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"host": "localhost"},
        {"host": "refunds.example:8443"},
        {"origin": "https://evil.example"},
        {"origin": "http://localhost"},
        {"origin": "null"},
    ],
)
async def test_another_host_or_origin_is_403(headers: dict[str, str]) -> None:
    async with RefundDesk() as desk:
        app = desk.running[0].gate
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport) as http:
            sent = message("tools/list")
            token = {"authorization": f"Bearer {desk.issue_token()}"}
            answer = await http.post(
                desk.url, json=sent, headers={**headers_for(sent), **token, **headers}
            )
    assert answer.status_code == 403


async def test_its_own_origin_is_let_in() -> None:
    async with RefundDesk() as desk:
        sent = message("tools/list")
        headers = {**headers_for(sent), "origin": "https://refunds.example"}
        http = desk.client(desk.issue_token())
        assert (await http.post(desk.url, json=sent, headers=headers)).status_code == 200


async def test_another_address_is_404_and_get_is_405() -> None:
    async with RefundDesk() as desk:
        http = desk.client(desk.issue_token())
        assert (await http.get("https://refunds.example/other")).status_code == 404
        assert (await http.get(desk.url)).status_code == 405


# -- whose token travels --------------------------------------------------------------------------


async def test_the_users_token_is_exchanged_and_never_passed_on() -> None:
    async with RefundDesk() as desk:
        await call(desk.client(desk.issue_token("robin")), desk.url, **ORDER)
        (upstream,) = [exchange for exchange in desk.traffic if exchange.to == "orders"]
    assert upstream.claims == {
        "iss": "https://auth.example",
        "aud": "https://orders.example",
        "sub": "robin",
        "scope": "orders:read",  # the read's scope alone, though the user's token has more
        "act": {"sub": "refunds-mcp"},
    }


async def test_the_users_token_passed_through_would_be_refused_by_the_service() -> None:
    async with RefundDesk() as desk:
        http = desk.client(desk.issue_token("robin"))
        answer = await http.get(f"{desk.orders_url}/orders/ord_4821")
    assert answer.status_code == 401


async def test_each_user_sees_their_own_orders_at_the_same_endpoint() -> None:
    async with RefundDesk() as desk:
        for user, order_id, there in [
            ("robin", "ord_4821", True), ("robin", "ord_7001", False),
            ("kim", "ord_7001", True), ("kim", "ord_4821", False),
        ]:  # fmt: skip
            http = desk.client(desk.issue_token(user))
            result = await call(http, desk.url, "get_order", {"order_id": order_id})
            assert result["isError"] is not there


async def test_a_user_nobody_knows_sees_nothing() -> None:
    async with RefundDesk() as desk:
        result = await call(desk.client(desk.issue_token("nobody")), desk.url, **ORDER)
    assert "ORDER_NOT_FOUND" in result["content"][0]["text"]


async def test_scope_and_subject_in_the_arguments_count_for_nothing() -> None:
    async with RefundDesk() as desk:
        http = desk.client(desk.issue_token("robin", "orders:read"))
        for more in ({"scope": "refunds:draft"}, {"subject": "kim"}, {"account_id": "acc_2002"}):
            result = await call(http, desk.url, "get_order", {"order_id": "ord_7001", **more})
            assert "INVALID_ARGUMENTS" in result["content"][0]["text"]
