"""LegacyTransport over HTTP: sessions, what a status says, cancelling, requests of the server."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx
import pytest
from older_peers import (
    BEFORE,
    HANDSHAKE,
    NOW,
    WELCOME,
    ask,
    client_of,
    failure,
    over,
    text_of,
)

from fake_servers.calendar import calendar_server
from fake_servers.http import serve
from fake_servers.legacy import Manner
from fake_servers.legacy_http import LegacyHttp
from mini_agent.errors import (
    ConnectFailed,
    HttpStatusError,
    RequestTimeout,
    TransportClosed,
)
from mini_agent.mcp.http import HttpTransport
from mini_agent.mcp.stdio import StdioTransport

pytestmark = [pytest.mark.timeout(30), pytest.mark.speaks("2025-11-25")]


def posts(older: LegacyHttp) -> list[tuple[str, str | None, str | None]]:
    return [
        (
            message.get("method", "a response"),
            headers.get("mcp-session-id"),
            headers.get("mcp-protocol-version"),
        )
        for method, headers, message in older.requests
        if method == "POST"
    ]


@pytest.mark.must("C22", "C43")
@pytest.mark.parametrize("stream", [True, False], ids=["stream", "json"])
@pytest.mark.parametrize("discover", ["400", "-32601", "-32602", "silence"])
async def test_a_session_over_http(discover: str, stream: bool) -> None:
    async with LegacyHttp(Manner(discover), stream=stream) as older:
        async with client_of(HttpTransport(older.url), probe_timeout=0.2) as client:
            assert "echo" in {tool.name for tool in await client.connect()}
            assert await text_of(client, "echo", text="hi") == "hi"
        assert posts(older) == [
            ("server/discover", None, NOW),
            ("initialize", None, None),
            ("notifications/initialized", "session-1", BEFORE),
            ("tools/list", "session-1", BEFORE),
            ("tools/call", "session-1", BEFORE),
        ]
        assert older.requests[-1][0] == "DELETE" and not older.sessions


async def test_the_version_that_was_agreed_on_goes_with_every_request() -> None:
    async with LegacyHttp(Manner(version="2025-06-18")) as older:
        async with client_of(HttpTransport(older.url)) as client:
            await client.connect()
        assert posts(older)[-1] == ("tools/list", "session-1", "2025-06-18")


async def test_a_server_without_sessions_gets_no_session_and_no_end_of_one() -> None:
    async with LegacyHttp(sessions_wanted=False) as older:
        async with client_of(HttpTransport(older.url)) as client:
            await client.connect()
        assert {session for _, session, _ in posts(older)} == {None}
        assert [method for method, _, _ in older.requests] == ["POST"] * 4


@pytest.mark.case("F20")
@pytest.mark.sends_wrong("a response, which only an older server may get")
async def test_requests_of_the_server_inside_a_stream_are_answered_by_post() -> None:
    async with LegacyHttp(Manner(ping=True)) as older:
        async with client_of(HttpTransport(older.url)) as client:
            await client.connect()
            replies = json.loads(await text_of(client, "ask"))
        assert replies[0]["result"] == {} and replies[1]["error"]["code"] == -32601
        assert posts(older)[-1] == ("a response", "session-1", BEFORE)


async def test_progress_inside_a_stream_reaches_the_client() -> None:
    told: list[Any] = []
    async with LegacyHttp() as older, client_of(HttpTransport(older.url)) as client:
        await client.connect()
        await client.call("count", on_progress=told.append)
    assert [params["progress"] for params in told] == [1, 2]


async def test_a_session_that_is_over_is_renewed_and_what_it_refused_is_sent_again() -> None:
    async with LegacyHttp() as older, client_of(HttpTransport(older.url)) as client:
        await client.connect()
        older.sessions.clear()
        assert await text_of(client, "echo", text="again") == "again"
        assert [name for name, _, _ in posts(older)[4:]] == [
            "tools/call", *HANDSHAKE[1:], "tools/call",
        ]  # fmt: skip
        assert posts(older)[5] == ("initialize", None, None)
        assert posts(older)[-1][1] == "session-2"
        assert "server/discover" not in [message["method"] for message in older.opened[1].seen]


async def test_an_initialize_that_is_not_answered_is_hung_up_on_and_not_cancelled() -> None:
    async with LegacyHttp(Manner(mute=True)) as older:
        async with over(HttpTransport(older.url), handshake_timeout=0.05) as transport:
            errors = [await failure(transport.send(ask(number))) for number in range(2)]
        assert all("0.05" in error.__notes__[0] for error in errors)
        assert [name for name, _, _ in posts(older)] == ["server/discover", "initialize"] * 2


async def test_a_404_without_a_session_is_an_answer_like_any_other() -> None:
    welcome = httpx.Response(200, json={"jsonrpc": "2.0", "id": "initialize-1", **WELCOME})
    refused = {"jsonrpc": "2.0", "id": 5, "error": {"code": -32601, "message": "no"}}
    inner, requests = web(
        httpx.Response(400), welcome, httpx.Response(202), httpx.Response(404, json=refused)
    )
    async with over(inner) as transport:
        assert await transport.send(ask(5)) == refused
    assert len(requests) == 4


async def test_many_whose_session_is_over_share_one_new_session() -> None:
    async with LegacyHttp() as older, client_of(HttpTransport(older.url)) as client:
        await client.connect()
        older.sessions.clear()
        texts = await asyncio.gather(
            *(text_of(client, "echo", text=str(number)) for number in range(8))
        )
        assert texts == [str(number) for number in range(8)]
        assert len(older.opened) == 2


async def test_a_server_that_ends_every_session_is_given_up_after_one_new_one() -> None:
    async with LegacyHttp() as older, client_of(HttpTransport(older.url)) as client:
        await client.connect()

        class Never(dict[str, Any]):
            def get(self, name: str, default: Any = None) -> Any:
                return None if posts(older)[-1][0] == "tools/call" else super().get(name)

        older.sessions = Never()
        error = await failure(client.call("echo", {"text": "x"}))
        assert isinstance(error, HttpStatusError) and error.status == 404
        assert [name for name, _, _ in posts(older)].count("initialize") == 2
        assert [name for name, _, _ in posts(older)].count("tools/call") == 2


@pytest.mark.must("C35")
async def test_a_cancelled_call_is_cancelled_by_a_notification_of_its_own() -> None:
    async with LegacyHttp() as older, client_of(HttpTransport(older.url)) as client:
        await client.connect()
        call = asyncio.create_task(client.call("wait"))
        (session,) = older.opened
        await session.waiting.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await session.cancelled.wait()
        (waited,) = [m for m in session.seen if m.get("method") == "tools/call"]
        assert session.seen[-1]["params"]["requestId"] == waited["id"]


async def test_a_cancel_leaves_before_the_transport_closes() -> None:
    async with LegacyHttp() as older:
        async with client_of(HttpTransport(older.url)) as client:
            await client.connect()
            assert isinstance(await failure(client.call("wait", timeout=0.05)), RequestTimeout)
        assert older.opened[0].cancelled.is_set()


@pytest.mark.must("C55")
@pytest.mark.case("H17")
async def test_a_call_whose_stream_breaks_is_lost_and_not_sent_again() -> None:
    async with LegacyHttp() as older, client_of(HttpTransport(older.url)) as client:
        await client.connect()
        assert isinstance(await failure(client.call("end")), TransportClosed)
        assert [name for name, _, _ in posts(older)].count("tools/call") == 1
        assert {method for method, _, _ in older.requests} == {"POST"}


def web(*replies: httpx.Response | Exception) -> tuple[HttpTransport, list[httpx.Request]]:
    """A transport to a server that answers each request with the next reply."""
    requests: list[httpx.Request] = []
    left = list(replies)

    async def handle(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        reply = left.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply

    client = httpx.AsyncClient(transport=httpx.MockTransport(handle))
    return HttpTransport("http://127.0.0.1:1/mcp", client=client), requests


NOBODY = {"jsonrpc": "2.0", "id": None, "error": {"code": -32000, "message": "no"}}


@pytest.mark.parametrize(
    "reply",
    [
        httpx.Response(401, headers={"WWW-Authenticate": "Bearer"}),
        httpx.Response(401, json=NOBODY),
        httpx.Response(403, text="no"),
        httpx.Response(403, json=NOBODY),
        httpx.Response(302, headers={"Location": "http://127.0.0.1:2/"}),
        httpx.Response(307),
        httpx.Response(406, json=NOBODY),
        httpx.Response(429, headers={"Retry-After": "1"}),
        httpx.Response(500, json=NOBODY),
        httpx.Response(502, text="<html>"),
        httpx.Response(503, json=NOBODY),
        httpx.Response(200, html="<html>hello</html>"),
        httpx.ConnectError("refused"),
        httpx.RemoteProtocolError("reset"),
    ],
    ids=str,
)
async def test_a_login_a_gateway_a_redirect_or_a_refusal_never_lead_to_the_handshake(
    reply: Any,
) -> None:
    inner, requests = web(reply)
    async with over(inner) as transport:
        await failure(transport.send(ask()))
        assert transport.legacy_version is None
    assert len(requests) == 1


@pytest.mark.must("C56")
@pytest.mark.parametrize(
    "reply",
    [
        httpx.Response(400),
        httpx.Response(400, json=NOBODY),
        httpx.Response(404, html="<html>Not Found</html>"),
        httpx.Response(404, json={**NOBODY, "error": {"code": -32601, "message": "no"}}),
        httpx.Response(405),
        httpx.Response(200, json={**NOBODY, "error": {"code": -32601, "message": "no"}}),
    ],
    ids=str,
)
async def test_a_400_404_or_405_without_a_modern_body_leads_to_the_handshake(reply: Any) -> None:
    class Echo(httpx.Response):
        pass

    def welcome(number: str) -> httpx.Response:
        return httpx.Response(200, json={"jsonrpc": "2.0", "id": number, **WELCOME})

    last = httpx.Response(200, json={"jsonrpc": "2.0", "id": 5, "result": {"content": []}})
    inner, requests = web(reply, welcome("initialize-1"), httpx.Response(202), last)
    async with over(inner) as transport:
        await transport.send(ask(5))
        assert transport.legacy_version == BEFORE
    assert [json.loads(request.content)["method"] for request in requests] == [
        *HANDSHAKE, "tools/call",
    ]  # fmt: skip


@pytest.mark.must("C23", "C56")
@pytest.mark.parametrize("code", [-32020, -32021, -32022])
async def test_a_400_with_a_modern_body_never_leads_to_the_handshake(code: int) -> None:
    error = {"jsonrpc": "2.0", "id": 5, "error": {"code": code, "message": "no"}}
    reply = httpx.Response(400, json={**error, "id": "probe-1"})
    inner, requests = web(reply, httpx.Response(400, json=error))
    async with over(inner) as transport:
        assert (await transport.send(ask(5)) or {})["error"]["code"] == code
    assert [json.loads(request.content)["method"] for request in requests] == [
        "server/discover", "tools/call",
    ]  # fmt: skip


async def test_a_session_id_that_no_header_can_carry_fails_the_handshake() -> None:
    welcome = httpx.Response(
        200,
        json={"jsonrpc": "2.0", "id": "initialize-1", **WELCOME},
        headers={"Mcp-Session-Id": "a b"},
    )
    inner, requests = web(httpx.Response(400), welcome)
    async with over(inner) as transport:
        error = await failure(transport.send(ask()))
    assert isinstance(error, HttpStatusError) and "session id" in error.__notes__[0]
    assert len(requests) == 2


async def test_a_server_that_refuses_a_new_session_has_not_acted_and_is_probed_anew() -> None:
    async with LegacyHttp() as older, client_of(HttpTransport(older.url)) as client:
        await client.connect()
        older.sessions.clear()
        older.manner = Manner(version="1.0")
        error = await failure(client.call("echo", {"text": "x"}))
        assert isinstance(error, ConnectFailed) and not error.may_have_acted
        older.manner = Manner()
        assert await text_of(client, "echo", text="x") == "x"
        assert [name for name, _, _ in posts(older)].count("server/discover") == 2


async def test_a_modern_server_over_http_is_used_as_it_is() -> None:
    async with serve(calendar_server()) as running:
        async with client_of(HttpTransport(running.url)) as client:
            assert len(await client.connect()) == 3
            assert client.transport.mirrors_envelope
            assert not (await client.call("calendar_query", {"date": "2026-08-03"})).is_error
        methods = [entry.message.get("method") for entry in running.transcript]
    assert [method for method in methods if method] == [
        "server/discover", "tools/list", "tools/call",
    ]  # fmt: skip


@pytest.mark.must("C32", "C42")
async def test_without_the_older_handshake_neither_transport_sends_a_response() -> None:
    response = {"jsonrpc": "2.0", "id": 1, "result": {}}
    for transport in (StdioTransport(["server"]), HttpTransport("http://127.0.0.1:1/mcp")):
        with pytest.raises(ValueError):
            await transport.send(response)
        await transport.close()


async def test_a_response_never_starts_a_process() -> None:
    transport = StdioTransport(["/no/such/program"])
    transport.may_respond = True
    response = {"jsonrpc": "2.0", "id": 1, "result": {}}
    assert isinstance(await failure(transport.send(response)), TransportClosed)
    await transport.close()
