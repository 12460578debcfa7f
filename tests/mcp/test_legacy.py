"""LegacyTransport over servers that are scripts: which answers lead where, and who hears what."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import pytest
from older_peers import (
    BEFORE,
    HANDSHAKE,
    MODERN,
    NOW,
    WELCOME,
    Peer,
    ask,
    failure,
    over,
    refusal,
    result,
)

from mini_agent.errors import (
    ConnectFailed,
    JsonRpcError,
    MalformedMessage,
    RequestTimeout,
    TransportClosed,
    UnsupportedProtocolVersion,
)
from mini_agent.mcp.client import McpClient
from mini_agent.mcp.legacy import LegacyTransport
from mini_agent.mcp.messages import kind
from mini_agent.mcp.older_session import MAX_REPLIES
from mini_agent.mcp.stdio import StdioTransport
from mini_agent.mcp.transport import NO_ENVELOPE
from mini_agent.servers import transport_for
from mini_agent.trace import Trace

pytestmark = [pytest.mark.timeout(30), pytest.mark.speaks("2025-11-25")]

# -- a modern server ------------------------------------------------------------------------------


@pytest.mark.must("C24")
async def test_a_modern_server_is_asked_once_and_then_left_alone() -> None:
    peer = Peer(discover=MODERN)
    async with over(peer) as transport:
        message = ask(5)
        response = await transport.send(message)
        await transport.send(ask(6))
    assert response == {"jsonrpc": "2.0", "id": 5, **result(content=[])}
    assert peer.methods == ["server/discover", "tools/call", "tools/call"]
    assert peer.sent[1] is message
    assert transport.legacy_version is None


@pytest.mark.must("C24")
async def test_the_clients_own_discover_is_the_probe() -> None:
    peer = Peer(discover=MODERN)
    async with over(peer) as transport:
        response = await transport.send(ask(5, "server/discover"))
        assert response == {"jsonrpc": "2.0", "id": 5, **MODERN}
        assert peer.methods == ["server/discover"]
        await transport.send(ask(6, "server/discover"))  # asked again: no longer ours to answer
    assert peer.methods == ["server/discover", "server/discover"]
    assert peer.sent[1]["id"] == 6


@pytest.mark.must("C23")
@pytest.mark.parametrize(
    "answer",
    [
        refusal(-32020),
        refusal(-32021),
        refusal(-32022, {"supported": [NOW]}),
        refusal(-32022, {"supported": ["2027-01-01"]}),
    ],
    ids=str,
)
async def test_a_modern_error_goes_to_the_client_and_never_to_initialize(answer: Any) -> None:
    peer = Peer(discover=answer)
    async with over(peer) as transport:
        response = await transport.send(ask(5, "server/discover"))
        await transport.send(ask(6))
    assert response == {"jsonrpc": "2.0", "id": 5, **answer}
    assert peer.methods == ["server/discover", "tools/call"]


@pytest.mark.must("C20", "C23")
async def test_a_client_whose_version_was_refused_chooses_another_through_it() -> None:
    peer = Peer(discover=[refusal(-32022, {"supported": [NOW]}), MODERN], list=result(tools=[]))
    async with McpClient(LegacyTransport(peer)) as client:
        await client.connect()
    assert peer.methods == ["server/discover", "server/discover", "tools/list"]


async def test_a_modern_server_gets_the_envelope_and_no_responses() -> None:
    seen: list[Mapping[str, str]] = []

    class Web(Peer):
        async def send(self, message: Any, *, envelope: Mapping[str, str] = NO_ENVELOPE) -> Any:
            seen.append(envelope)
            return await super().send(message)

    peer, heard = Web(http=True, discover=MODERN), []
    async with over(peer) as transport:
        transport.listener = heard.append
        assert transport.mirrors_envelope
        await transport.send(ask(), envelope={"Mcp-Param-Region": "eu"})
        ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        peer.hear(ping)
        await asyncio.sleep(0)
    assert seen[1] == {"Mcp-Param-Region": "eu"}
    assert heard == [ping] and "a response" not in peer.methods


# -- an older server ------------------------------------------------------------------------------


@pytest.mark.must("C22")
@pytest.mark.case("L02")
@pytest.mark.parametrize(
    "answer",
    [
        *(refusal(code) for code in (-32601, -32602, -32600, -32700, -32000)),
        refusal(-32022, {"supported": [BEFORE]}),
        result(supportedVersions=[BEFORE], capabilities={}),
        result(),
        TransportClosed("exited", exit_code=1),
    ],
    ids=str,
)
async def test_whatever_is_not_modern_leads_to_the_handshake(answer: Any) -> None:
    peer = Peer(discover=answer, initialize=WELCOME)
    async with over(peer) as transport:
        await transport.send(ask(5))
        await transport.send(ask(6))
        assert transport.legacy_version == BEFORE
    assert peer.methods == [*HANDSHAKE, "tools/call", "tools/call"]
    assert peer.sent[2] == {"jsonrpc": "2.0", "method": "notifications/initialized"}


async def test_silence_past_the_limit_leads_to_the_handshake_and_is_not_cancelled() -> None:
    peer = Peer(initialize=WELCOME)
    peer.answers["discover"] = peer.silence
    async with over(peer, probe_timeout=0.01) as transport:
        await transport.send(ask(5))
    assert peer.methods == [*HANDSHAKE, "tools/call"]
    assert peer.cancelled == []


@pytest.mark.parametrize(
    "answer",
    [MalformedMessage("junk"), ConnectFailed("no such program")],
    ids=lambda error: type(error).__name__,
)
async def test_what_says_nothing_of_the_server_is_raised_and_asked_again(answer: Any) -> None:
    peer = Peer(discover=[answer, MODERN])
    async with over(peer) as transport:
        assert type(await failure(transport.send(ask(5)))) is type(answer)
        await transport.send(ask(6))
    assert peer.methods == ["server/discover", "server/discover", "tools/call"]


async def test_the_client_never_hears_of_it() -> None:
    peer = Peer(discover=refusal(-32601), initialize=WELCOME)
    peer.answers["list"] = result(tools=[{"name": "t", "inputSchema": {"type": "object"}}])
    peer.answers["call"] = result(content=[{"type": "text", "text": "hi"}])
    transport = LegacyTransport(peer)
    async with McpClient(transport, server="s") as client:
        (tool,) = await client.connect()
        done = await client.call("t", {"a": 1})
        await client.connect()
    assert tool.name == "t" and done.content[0]["text"] == "hi"
    assert client.server_info == {"name": "older", "version": "0.9"}
    assert client.protocol_version == NOW and transport.legacy_version == BEFORE
    assert peer.methods == [*HANDSHAKE, "tools/list", "tools/call", "tools/list"]
    assert peer.sent[4]["params"] == {"name": "t", "arguments": {"a": 1}}
    assert "_meta" not in peer.sent[1]["params"]


async def test_progress_keeps_its_token_and_reaches_the_client() -> None:
    peer = Peer(discover=refusal(-32601), initialize=WELCOME)

    async def progressing() -> Any:
        token = peer.sent[-1]["params"]["_meta"]["progressToken"]
        params = {"progressToken": token, "progress": 1}
        peer.hear({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
        return result(content=[])

    peer.answers["call"] = progressing
    told: list[Any] = []
    async with McpClient(LegacyTransport(peer)) as client:
        await client.call("t", on_progress=told.append)
    assert [params["progress"] for params in told] == [1]


async def test_a_handshake_at_a_still_older_version_holds() -> None:
    welcome = result(protocolVersion="2024-11-05", capabilities={})
    async with over(Peer(discover=refusal(-32601), initialize=welcome)) as transport:
        await transport.send(ask())
        assert transport.legacy_version == "2024-11-05"


async def test_in_an_older_session_nothing_is_mirrored_into_an_envelope() -> None:
    mirrored = {"type": "object", "properties": {"a": {"type": "number", "x-mcp-header": "A"}}}
    peer = Peer(http=True, discover=refusal(-32601), initialize=WELCOME)
    peer.answers["list"] = result(tools=[{"name": "t", "inputSchema": mirrored}])
    async with McpClient(LegacyTransport(peer)) as client:
        assert [tool.name for tool in await client.connect()] == ["t"]
        assert client.left_out == []


@pytest.mark.speaks("2025-11-25")
async def test_the_trace_shows_the_handshake_and_its_version() -> None:
    trace = Trace()
    inner = StdioTransport([sys.executable, "-m", "fake_servers.legacy"])
    async with McpClient(LegacyTransport(inner), trace=trace) as client:
        await client.connect()
    messages = [event.facts["message"] for event in trace.events if event.what == "received"]
    assert BEFORE in [message.get("result", {}).get("protocolVersion") for message in messages]
    assert inner.trace is trace


# -- one after all, both, neither -----------------------------------------------------------------


async def test_a_version_error_at_initialize_means_modern_after_all() -> None:
    peer = Peer(discover=[refusal(-32601), MODERN])
    peer.answers["initialize"] = refusal(-32022, {"supported": [NOW]})
    async with over(peer) as transport:
        response = await transport.send(ask(5, "server/discover"))
        await transport.send(ask(6))
        assert transport.legacy_version is None
    assert response == {"jsonrpc": "2.0", "id": 5, **MODERN}
    assert peer.methods == ["server/discover", "initialize", "server/discover", "tools/call"]


async def test_a_modern_server_that_was_only_slow_to_start_is_found_out() -> None:
    peer = Peer(initialize=refusal(-32601))
    peer.answers["discover"] = [peer.silence, MODERN]
    async with over(peer, probe_timeout=0.01) as transport:
        await transport.send(ask(5))
    assert peer.methods == ["server/discover", "initialize", "server/discover", "tools/call"]


@pytest.mark.case("L01")
async def test_a_server_that_exits_at_the_probe_only_later_is_greeted_in_a_fresh_process() -> None:
    peer = Peer(initialize=[TransportClosed("exited", exit_code=1), WELCOME])
    peer.answers["discover"] = peer.silence
    async with over(peer, probe_timeout=0.01) as transport:
        await transport.send(ask(5))
    assert peer.methods == ["server/discover", "initialize", *HANDSHAKE[1:], "tools/call"]


FAILS = [
    (refusal(-32601), refusal(-32602), JsonRpcError),
    (TransportClosed("first", exit_code=7), TransportClosed("second"), TransportClosed),
    (refusal(-32601), TransportClosed("second"), JsonRpcError),
    (refusal(-32601), ConnectFailed("second"), JsonRpcError),
    (refusal(-32601), result(protocolVersion=7), JsonRpcError),
    (refusal(-32601), result(protocolVersion="1.0"), JsonRpcError),
    (result(supportedVersions=[BEFORE]), refusal(-32603), UnsupportedProtocolVersion),
    (result(), refusal(-32603), MalformedMessage),
]


@pytest.mark.parametrize(("first", "second", "error"), FAILS, ids=str)
async def test_when_both_eras_fail_the_first_error_is_raised_and_the_second_is_a_note(
    first: Any, second: Any, error: type
) -> None:
    peer = Peer(discover=first, initialize=second)
    async with over(peer) as transport:
        raised = await failure(transport.send(ask(5)))
        assert type(raised) is error
        assert len(raised.__notes__) == 1 and BEFORE in raised.__notes__[0]
        again = await failure(transport.send(ask(6)))  # nothing is settled: it is tried afresh
    assert type(again) is error and again is not raised
    assert peer.methods.count("initialize") == 2
    assert "tools/call" not in peer.methods


async def test_silence_on_both_is_an_error_in_bounded_time_and_initialize_is_not_cancelled() -> (
    None
):
    peer = Peer()
    peer.answers |= {"discover": peer.silence, "initialize": peer.silence}
    async with over(peer, probe_timeout=0.01, handshake_timeout=0.01) as transport:
        error = await failure(transport.send(ask()))
        assert isinstance(error, RequestTimeout) and error.seconds == 0.01
        assert peer.cancelled == []


# -- many at once, and leaving early --------------------------------------------------------------


async def test_all_who_come_at_once_wait_for_one_handshake() -> None:
    go = asyncio.Event()

    async def slowly() -> Any:
        await go.wait()
        return refusal(-32601)

    peer = Peer(discover=slowly, initialize=WELCOME)
    async with over(peer) as transport:
        calls = [asyncio.create_task(transport.send(ask(number))) for number in range(5)]
        await asyncio.sleep(0)
        go.set()
        responses = await asyncio.gather(*calls)
    assert [response["id"] for response in responses if response] == [0, 1, 2, 3, 4]
    assert peer.methods == [*HANDSHAKE, *["tools/call"] * 5]


async def test_all_who_wait_get_an_exception_of_their_own() -> None:
    go = asyncio.Event()

    async def slowly() -> Any:
        await go.wait()
        return ConnectFailed("no such program")

    async with over(Peer(discover=slowly)) as transport:
        calls = [asyncio.create_task(failure(transport.send(ask(number)))) for number in range(3)]
        await asyncio.sleep(0)
        go.set()
        errors = await asyncio.gather(*calls)
    assert {type(error) for error in errors} == {ConnectFailed}
    assert len({id(error) for error in errors}) == 3


@pytest.mark.parametrize("method", ["discover", "initialize"])
async def test_who_leaves_during_the_handshake_cancels_nothing_and_spoils_nothing(
    method: str,
) -> None:
    met, go = asyncio.Event(), asyncio.Event()
    peer = Peer(discover=refusal(-32601), initialize=WELCOME)
    answer = peer.answers[method]

    async def slowly() -> Any:
        met.set()
        await go.wait()
        return answer

    peer.answers[method] = slowly
    async with over(peer) as transport:
        call = asyncio.create_task(transport.send(ask(1)))
        await met.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        go.set()
        await transport.send(ask(2))
    assert peer.cancelled == []
    assert peer.methods == [*HANDSHAKE, "tools/call"]
    assert peer.sent[-1]["id"] == 2


async def test_nobody_is_heard_before_the_handshake_is_through() -> None:
    met, go = asyncio.Event(), asyncio.Event()

    class Slow(Peer):
        async def send(self, message: Any, *, envelope: Mapping[str, str] = NO_ENVELOPE) -> Any:
            if message["method"] == "notifications/initialized":
                met.set()
                await go.wait()
            return await super().send(message)

    peer = Slow(discover=refusal(-32601), initialize=WELCOME)
    async with over(peer) as transport:
        first = asyncio.create_task(transport.send(ask(1)))
        await met.wait()
        second = asyncio.create_task(transport.send(ask(2)))
        await asyncio.sleep(0)
        go.set()
        await asyncio.gather(first, second)
    assert peer.methods == [*HANDSHAKE, "tools/call", "tools/call"]


@pytest.mark.parametrize("method", ["discover", "initialize"])
async def test_close_ends_whoever_waits_for_the_handshake(method: str) -> None:
    met, peer = asyncio.Event(), Peer(discover=refusal(-32601), initialize=WELCOME)

    async def silence() -> Any:
        met.set()
        return await peer.silence()

    peer.answers[method] = silence
    transport = LegacyTransport(peer)
    call = asyncio.create_task(failure(transport.send(ask())))
    await met.wait()
    await asyncio.gather(transport.close(), transport.close())
    await call
    assert isinstance(await failure(transport.send(ask())), TransportClosed)
    assert peer.cancelled == []


# -- what an older server asks --------------------------------------------------------------------


@pytest.mark.case("F20")
@pytest.mark.sends_wrong("a response, which only an older server may get")
async def test_a_ping_is_answered_and_other_requests_refused_and_none_reaches_the_client() -> None:
    peer, heard = Peer(discover=refusal(-32601), initialize=WELCOME), []
    async with over(peer) as transport:
        transport.listener = heard.append
        await transport.send(ask())
        peer.hear({"jsonrpc": "2.0", "id": "p", "method": "ping"})
        peer.hear({"jsonrpc": "2.0", "id": 0, "method": "sampling/createMessage", "params": {}})
        note = {"jsonrpc": "2.0", "method": "notifications/message", "params": {}}
        peer.hear(note)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        pong, no = peer.sent[-2:]
    assert pong == {"jsonrpc": "2.0", "id": "p", "result": {}}
    assert (no["id"], no["error"]["code"]) == (0, -32601)
    assert heard == [note]


@pytest.mark.case("F20")
@pytest.mark.must("C32")
async def test_before_it_is_known_to_be_older_no_server_gets_a_response() -> None:
    peer, met, go = Peer(initialize=WELCOME), asyncio.Event(), asyncio.Event()

    async def slowly() -> Any:
        met.set()
        await go.wait()
        return MODERN

    peer.answers["discover"] = slowly
    async with over(peer) as transport:
        call = asyncio.create_task(transport.send(ask()))
        await met.wait()
        peer.hear({"jsonrpc": "2.0", "id": 1, "method": "ping"})
        go.set()
        await call
        await asyncio.sleep(0)
    assert peer.methods == ["server/discover", "tools/call"]


@pytest.mark.sends_wrong("a response, which only an older server may get")
async def test_a_flood_of_requests_is_answered_in_part_only() -> None:
    class Full(Peer):
        async def send(self, message: Any, *, envelope: Mapping[str, str] = NO_ENVELOPE) -> Any:
            if kind(message) == "response":
                self.sent.append(message)
                await self.closed.wait()  # a pipe that nobody reads
            return await super().send(message)

    peer = Full(discover=refusal(-32601), initialize=WELCOME)
    transport = LegacyTransport(peer)
    await transport.send(ask())
    for number in range(10 * MAX_REPLIES):
        peer.hear({"jsonrpc": "2.0", "id": number, "method": "ping"})
    await asyncio.sleep(0)
    assert peer.methods.count("a response") == MAX_REPLIES
    peer.closed.set()
    await transport.close()


# -- whose it is ----------------------------------------------------------------------------------


def test_a_transport_that_serves_a_client_already_is_refused() -> None:
    inner = Peer()
    McpClient(inner)
    with pytest.raises(ValueError):
        LegacyTransport(inner)


def test_one_that_greets_its_processes_already_is_refused() -> None:
    async def greet(ask: Any) -> None: ...

    with pytest.raises(ValueError):
        LegacyTransport(StdioTransport(["server"], on_start=greet))


async def test_it_serves_one_client_itself() -> None:
    async with over(Peer()) as transport:
        McpClient(transport)
        with pytest.raises(ValueError):
            McpClient(transport)


def test_the_command_line_uses_it_for_both_kinds_of_server() -> None:
    assert isinstance(transport_for("python server.py"), LegacyTransport)
    assert isinstance(transport_for("http://127.0.0.1:1/mcp"), LegacyTransport)


def test_the_command_line_reaches_an_older_server() -> None:
    server = f"{sys.executable} -m fake_servers.legacy --discover exit"
    command = [sys.executable, "-m", "mini_agent", "--server", server, "call", "echo"]
    ran = subprocess.run(
        [*command, '{"text": "hello"}'], capture_output=True, text=True, timeout=30, check=False
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "hello" in ran.stdout
