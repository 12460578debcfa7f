"""Our OAuth against the refund desk's authorization server: every way in, and each thing it bends.

The desk was written to the revision and the RFCs alone; neither side knows the other.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from fake_servers.refunds.desk import RefundDesk
from fake_servers.refunds.faults import Faults
from fake_servers.refunds.registration import Client
from mini_agent.errors import AuthorizationError, McpError
from mini_agent.mcp.auth import AuthorizationCode, OAuth, PreRegistered, metadata_document
from mini_agent.mcp.client import McpClient
from mini_agent.mcp.http import HttpTransport
from mini_agent.mcp.legacy import LegacyTransport
from mini_agent.trace import Trace

pytestmark = pytest.mark.timeout(60)

BACK = "http://127.0.0.1:8123/callback"
DOCUMENT = "https://client.example/oauth/agent.json"
ORDER = {"order_id": "ord_4821"}
DRAFT = {**ORDER, "amount_minor": 4250, "currency": "EUR", "operation_key": "k-1"}
SECRET = Client("with-secret", "x", (BACK,), secret="s3cret", method="client_secret_basic")


def auth_at(desk: RefundDesk, **options: Any) -> OAuth:
    """An OAuth whose person is the desk's own browser, which says yes."""
    http = desk.client() if desk.where == "memory" else None
    return OAuth(AuthorizationCode(desk.browse, BACK), http=http, clock=desk.clock, **options)


@asynccontextmanager
async def at(desk: RefundDesk, auth: OAuth, **options: Any) -> AsyncIterator[McpClient]:
    http = desk.client() if desk.where == "memory" else None
    transport = HttpTransport(desk.url, client=http, auth=auth)
    async with McpClient(transport, server="refunds", **options) as client:
        yield client


def asked(desk: RefundDesk, path: str) -> int:
    """How often somebody but the desk itself asked for ``path``."""
    return sum(one.path == path and one.sender not in ("refunds", "orders") for one in desk.traffic)


WAYS: dict[str, dict[str, Any]] = {
    "registered on the spot": {},
    "by its own document": {"metadata_url": DOCUMENT},
    "known beforehand": {"client": "refund-agent"},
    "known beforehand, with a secret": {"client": "with-secret", "secret": "s3cret"},
}


@pytest.mark.parametrize("where", ["memory", "loopback"])
@pytest.mark.parametrize("way", WAYS)
async def test_every_way_to_be_a_client_ends_at_the_order(way: str, where: Any) -> None:
    if (way, where) == ("by its own document", "loopback"):
        pytest.skip("a document at an https address is in memory only")
    documents = {DOCUMENT: metadata_document(DOCUMENT, name="agent", redirect_uri=BACK)}
    async with RefundDesk(where, clients=[SECRET], documents=documents) as desk:
        options = dict(WAYS[way])
        if name := options.pop("client", ""):
            secret = options.pop("secret", "")
            options["client"] = PreRegistered(name, desk.issuer_url, client_secret=secret)
        auth = auth_at(desk, **options)
        async with at(desk, auth) as client:
            await client.connect()
            result = await client.call("get_order", ORDER)
        assert result.structured_content["refundable_amount_minor"] == 4250
        assert auth.issuer == desk.issuer_url and "orders:read" in (auth.scopes or ())
        assert asked(desk, "/authorize") == 1


@pytest.mark.must("C118")
async def test_a_draft_steps_up_once_and_the_call_is_made_once() -> None:
    async with RefundDesk() as desk:
        auth = auth_at(desk)
        async with at(desk, auth) as client:
            await client.call("get_order", ORDER)
            assert "refunds:draft" not in (auth.scopes or ())
            made = await client.call("create_refund_draft", DRAFT)
            again = await client.call("create_refund_draft", DRAFT)
        assert made.structured_content == again.structured_content
        assert {"orders:read", "refunds:draft"} <= set(auth.scopes or ())
        assert asked(desk, "/authorize") == 2


@pytest.mark.must("C119")
async def test_a_token_whose_time_is_over_is_renewed_and_nobody_is_asked() -> None:
    async with RefundDesk() as desk:
        auth = auth_at(desk)
        async with at(desk, auth) as client:
            for _ in range(3):
                await client.call("get_order", ORDER)
                desk.clock.advance(3600)  # type: ignore[attr-defined]
        assert asked(desk, "/authorize") == 1 and asked(desk, "/token") == 3
        assert not [one for one in desk.traffic if one.to == "refunds" and one.status == 401][1:]


async def test_64_calls_at_once_sign_in_once_and_renew_once() -> None:
    async with RefundDesk() as desk:
        auth = auth_at(desk)
        async with at(desk, auth) as client:
            for signed_in, renewed in ((1, 1), (1, 2)):
                calls = (client.call("get_order", ORDER) for _ in range(64))
                results = await asyncio.gather(*calls)
                assert not any(result.is_error for result in results)
                assert (asked(desk, "/authorize"), asked(desk, "/token")) == (signed_in, renewed)
                desk.clock.advance(3600)  # type: ignore[attr-defined]


@pytest.mark.speaks("2025-11-25")
async def test_a_person_who_is_slower_than_the_probe_for_older_servers_is_waited_for() -> None:
    async with RefundDesk() as desk:
        asked_at = []

        async def slow(url: str) -> str:
            asked_at.append(url)
            done = asyncio.Event()
            asyncio.get_running_loop().call_later(0.15, done.set)
            await done.wait()
            return await desk.browse(url)

        auth = OAuth(AuthorizationCode(slow, BACK), http=desk.client(), clock=desk.clock)
        http = HttpTransport(desk.url, client=desk.client(), auth=auth)
        transport = LegacyTransport(http, probe_timeout=0.05)
        async with McpClient(transport, server="refunds") as client:
            await client.connect()
        assert (transport.legacy_version, len(asked_at)) == (None, 1)


@pytest.mark.must("C110")
async def test_the_token_is_for_the_mcp_server_and_the_order_service_never_sees_it() -> None:
    async with RefundDesk() as desk:
        async with at(desk, auth_at(desk)) as client:
            await client.call("get_order", ORDER)
        by_us = [one.claims for one in desk.traffic if one.sender == "client" and one.claims]
        assert by_us and all(claims["aud"] == desk.url for claims in by_us)
        at_orders = [one.claims["aud"] for one in desk.traffic if one.to == "orders"]
        assert at_orders and desk.url not in at_orders


BENT: dict[str, dict[str, Any]] = {
    "another issuer": {"issuer": "https://honest.example"},
    "no PKCE": {"code_challenge_methods_supported": None},
    "only plain": {"code_challenge_methods_supported": ["plain"]},
    "a token endpoint without https": {"token_endpoint": "http://auth.example/token"},
    "no way to register": {
        "registration_endpoint": None,
        "client_id_metadata_document_supported": None,
    },
}


@pytest.mark.parametrize("bent", BENT)
async def test_an_authorization_server_that_is_bent_gets_no_person(bent: str) -> None:
    async with RefundDesk(metadata=BENT[bent]) as desk:
        async with at(desk, auth_at(desk)) as client:
            with pytest.raises(AuthorizationError) as raised:
                await client.connect()
        assert raised.value.server == "refunds" and not raised.value.may_have_acted
        assert asked(desk, "/authorize") == asked(desk, "/token") == 0


async def test_an_order_of_somebody_else_is_a_tool_error_and_not_a_question_of_tokens() -> None:
    async with RefundDesk() as desk:
        async with at(desk, auth_at(desk)) as client:
            result = await client.call("get_order", {"order_id": "ord_7001"})
        assert result.is_error and asked(desk, "/authorize") == 1


async def test_a_token_endpoint_that_is_down_is_an_authorization_error_and_can_be_tried_again() -> (
    None
):
    async with RefundDesk() as desk:
        planned: Faults = desk.faults
        planned.plan("authorization", "unavailable", path="/token")
        async with at(desk, auth_at(desk)) as client:
            with pytest.raises(McpError) as raised:
                await client.connect()
            assert isinstance(raised.value, AuthorizationError)
            planned.clear()
            assert await client.connect()


@pytest.mark.must("C119")
async def test_no_token_is_in_the_trace_of_a_whole_conversation() -> None:
    async with RefundDesk() as desk:
        trace = Trace()
        auth = auth_at(desk)
        async with at(desk, auth, trace=trace) as client:
            await client.connect()
            await client.call("create_refund_draft", DRAFT)
        told = trace.table() + str([event.facts for event in trace.events]) + repr(auth.__dict__)
        session = auth._session
        assert session is not None and "step" in told
        for secret in (session.tokens.access, session.tokens.refresh):
            assert secret and secret not in told
