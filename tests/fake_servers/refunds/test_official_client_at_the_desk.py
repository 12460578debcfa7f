"""The official SDK's client against the refund desk, with a token and through its own OAuth flow.

Its client, its OAuth provider and its idea of discovery are the judges: nobody here wrote them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import mcp
import pytest
from desk_wire import WANTED
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthToken,
)
from mcp_types import TextContent, TextResourceContents

from fake_servers.refunds.desk import RefundDesk

CALLBACK = "http://127.0.0.1:8123/callback"
DOCUMENT = "https://client.example/oauth/refund-agent.json"


@asynccontextmanager
async def official(desk: RefundDesk, **options: Any) -> AsyncIterator[mcp.Client]:
    """The SDK's client at the desk; its event streams are left to the collector: let them end."""
    async with httpx2.AsyncClient(trust_env=False, verify=False, **options) as http:
        transport = streamable_http_client(desk.url, http_client=http)
        async with mcp.Client(transport, mode="2026-07-28") as client:
            yield client
    for _ in range(10):
        await asyncio.sleep(0)


def bearing(token: str) -> dict[str, Any]:
    return {"headers": {"Authorization": f"Bearer {token}"}}


# -- with a token ---------------------------------------------------------------------------------


async def test_it_lists_the_tools_and_reads_an_order() -> None:
    async with (
        RefundDesk("loopback") as desk,
        official(desk, **bearing(desk.issue_token(scope="orders:read"))) as client,
    ):
        tools = (await client.list_tools()).tools
        result = await client.call_tool("get_order", {"order_id": "ord_4821"})
    assert [tool.name for tool in tools] == ["get_order", "create_refund_draft", "get_refund_draft"]
    assert all(tool.output_schema for tool in tools)
    assert result.structured_content == {
        "order_id": "ord_4821",
        "status": "delivered_late",
        "currency": "EUR",
        "refundable_amount_minor": 4250,
        "policy_version": "returns-2026-08",
    }


async def test_it_drafts_a_refund_looks_it_up_and_reads_a_refusal() -> None:
    async with (
        RefundDesk("loopback", instances=2) as desk,
        official(desk, **bearing(desk.issue_token())) as client,
    ):
        made = await client.call_tool("create_refund_draft", WANTED)
        found = await client.call_tool(
            "get_refund_draft", {"operation_key": WANTED["operation_key"]}
        )
        foreign = await client.call_tool("get_order", {"order_id": "ord_7001"})
    assert made.structured_content == found.structured_content
    assert foreign.is_error and isinstance(foreign.content[0], TextContent)
    assert "ORDER_NOT_FOUND" in foreign.content[0].text


async def test_it_reads_the_policy_and_gets_a_prompt() -> None:
    async with (
        RefundDesk("loopback") as desk,
        official(desk, **bearing(desk.issue_token())) as client,
    ):
        read = await client.read_resource("policy://returns/2026-08")
        prompt = await client.get_prompt("review_change", {"order_id": "ord_4821"})
    assert isinstance(read.contents[0], TextResourceContents)
    assert "returns-2026-08" in read.contents[0].text
    assert isinstance(prompt.messages[0].content, TextContent)
    assert "ord_4821" in prompt.messages[0].content.text


# -- with its own OAuth flow ----------------------------------------------------------------------


class Held:
    """Where the SDK keeps what it got."""

    def __init__(self, client: OAuthClientInformationFull | None = None) -> None:
        self.client, self.tokens = client, None

    tokens: OAuthToken | None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


def provider(desk: RefundDesk, held: Held, **options: Any) -> OAuthClientProvider:
    """The SDK's OAuth client; its browser is the desk's."""
    seen: dict[str, str] = {}

    async def redirect(url: str) -> None:
        query = urlsplit(await desk.browse(url)).query
        seen.update({name: values[0] for name, values in parse_qs(query).items()})

    async def callback() -> AuthorizationCodeResult:
        return AuthorizationCodeResult(
            code=seen.get("code", ""), state=seen.get("state"), iss=seen.get("iss")
        )

    metadata = OAuthClientMetadata(
        client_name="Refund agent",
        redirect_uris=[CALLBACK],  # type: ignore[list-item]
        application_type="native",
        token_endpoint_auth_method="none",
    )
    return OAuthClientProvider(desk.url, metadata, held, redirect, callback, **options)


def paths(desk: RefundDesk) -> list[str]:
    return [f"{exchange.to} {exchange.path}" for exchange in desk.traffic]


async def test_it_finds_its_way_and_registers() -> None:
    held = Held()
    async with RefundDesk(
        "loopback", metadata={"client_id_metadata_document_supported": None}
    ) as d:
        async with official(d, auth=provider(d, held)) as client:
            result = await client.call_tool("get_order", {"order_id": "ord_4821"})
        way = paths(d)
    assert not result.is_error
    assert held.client is not None and held.client.client_id == "client-1"
    assert held.tokens is not None and held.tokens.scope == "offline_access orders:read"
    assert way[1:5] == [
        "refunds /.well-known/oauth-protected-resource/mcp",
        "authorization /.well-known/oauth-authorization-server",
        "authorization /register",
        "authorization /authorize",
    ]


async def test_it_shows_its_metadata_document() -> None:
    held = Held()
    document = {"client_id": DOCUMENT, "client_name": "Refund agent", "redirect_uris": [CALLBACK]}
    async with RefundDesk("loopback", documents={DOCUMENT: document}) as desk:
        auth = provider(desk, held, client_metadata_url=DOCUMENT)
        async with official(desk, auth=auth) as client:
            assert not (await client.call_tool("get_order", {"order_id": "ord_4821"})).is_error
        (consent,) = desk.authorization.consents
    assert held.client is not None and held.client.client_id == DOCUMENT
    assert consent.client.name == "Refund agent" and consent.subject == "robin"


async def test_it_steps_up_when_a_tool_needs_more() -> None:
    held = Held()
    async with RefundDesk("loopback") as desk:
        async with official(desk, auth=provider(desk, held)) as client:
            await client.call_tool("get_order", {"order_id": "ord_4821"})
            made = await client.call_tool("create_refund_draft", WANTED)
        scopes = [sorted(consent.scope) for consent in desk.authorization.consents]
    assert not made.is_error
    kept = ["offline_access", "orders:read"]  # the SDK asks to stay signed in where it can
    assert scopes == [kept, [*kept, "refunds:draft"]]


async def test_it_refreshes_a_token_that_expired() -> None:
    held = Held()
    async with RefundDesk("loopback") as desk:
        auth = provider(desk, held)
        async with official(desk, auth=auth) as client:
            await client.call_tool("get_order", {"order_id": "ord_4821"})
            first = held.tokens
            auth.context.token_expiry_time = 1.0  # the SDK's own clock: it has run out
            assert not (await client.call_tool("get_order", {"order_id": "ord_4821"})).is_error
    assert first is not None and held.tokens is not None
    assert first.refresh_token and held.tokens.refresh_token != first.refresh_token
    assert len(desk.authorization.consents) == 1


async def test_a_user_who_says_no_ends_the_flow(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)
    async with RefundDesk("loopback") as desk:
        desk.authorization.consenting = lambda consent: False
        with pytest.raises(BaseException) as raised:
            async with official(desk, auth=provider(desk, Held())) as client:
                await client.call_tool("get_order", {"order_id": "ord_4821"})
    assert "No authorization code received" in str(leaves(raised.value))


def leaves(error: BaseException) -> list[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        return [leaf for inner in error.exceptions for leaf in leaves(inner)]
    return [error]
