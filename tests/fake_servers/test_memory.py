"""The in-memory carrier keeps what McpTransport promises."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from fakes_sample import Held, sample
from fakes_wire import call, request

from fake_servers.memory import InMemoryTransport
from mini_agent.errors import TransportClosed
from mini_agent.mcp.transport import McpTransport
from mini_agent.trace import Trace, following


async def test_it_is_a_transport() -> None:
    transport: McpTransport = InMemoryTransport(sample())
    assert transport.mirrors_envelope is False
    answer = await transport.send(request("server/discover"), envelope={"name": "ignored"})
    assert answer and answer["id"] == 1
    await transport.close()
    await transport.close()


async def test_a_notification_returns_none() -> None:
    transport = InMemoryTransport(sample())
    assert await transport.send({"jsonrpc": "2.0", "method": "test/x"}) is None


async def test_progress_is_heard_before_the_send_returns() -> None:
    transport = InMemoryTransport(sample())
    heard: list[Any] = []
    transport.listener = heard.append
    await transport.send(call("count", meta={"progressToken": "t"}))
    assert [m["params"]["progress"] for m in heard] == [1, 2, 3]


async def test_a_second_client_is_refused() -> None:
    transport = InMemoryTransport(sample())
    transport.listener = print
    with pytest.raises(ValueError):
        transport.listener = repr  # type: ignore[assignment]


@pytest.mark.parametrize("odd", [float("nan"), "\ud800", object(), b"bytes", {1, 2}])
async def test_what_json_cannot_say_does_not_pass(odd: object) -> None:
    transport = InMemoryTransport(sample())
    with pytest.raises((ValueError, TypeError)):
        await transport.send(call("echo", {"x": odd}))
    assert transport.transcript == []


async def test_answers_go_to_their_own_requests() -> None:
    transport = InMemoryTransport(sample())
    answers = await asyncio.gather(
        *[transport.send(call("echo", {"n": n}, id=n)) for n in range(9)]
    )
    assert [a and a["result"]["content"][0]["text"] for a in answers] == [
        f"heard {{'n': {n}}}" for n in range(9)
    ]


async def test_cancelling_a_send_cancels_the_work() -> None:
    held = Held()
    transport = InMemoryTransport(sample(held))
    waiting = asyncio.create_task(transport.send(call("held", id=4)))
    await held.began.wait()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await held.cancelled.wait()
    assert transport.transcript[-1].message["params"] == {"requestId": 4}
    await transport.close()


async def test_closing_fails_what_is_in_flight_and_all_that_follows() -> None:
    held = Held()
    transport = InMemoryTransport(sample(held))
    waiting = asyncio.create_task(transport.send(call("held")))
    await held.began.wait()
    await transport.close()
    assert held.cancelled.is_set()
    with pytest.raises(TransportClosed):
        await waiting
    with pytest.raises(TransportClosed):
        await transport.send(call("echo"))


async def test_the_transcript_is_a_copy_of_both_directions() -> None:
    transport = InMemoryTransport(sample())
    asked = call("echo", {"list": [1]})
    await transport.send(asked)
    asked["params"]["arguments"]["list"].append(2)
    client, server = transport.transcript
    assert (client.sender, server.sender) == ("client", "server")
    assert client.message["params"]["arguments"] == {"list": [1]}


async def test_the_trace_follows_the_call() -> None:
    transport = InMemoryTransport(sample())
    transport.trace = Trace()
    with following("call-1"):
        await transport.send(call("count", meta={"progressToken": 1}))
    events = [(e.layer, e.what, e.call) for e in transport.trace.events]
    assert events == [("transport", what, "call-1") for what in ["sent", *["received"] * 4]]


async def test_a_second_answer_in_the_same_turn_is_heard_and_answers_nobody() -> None:
    held, heard = Held(), list[Any]()
    transport = InMemoryTransport(sample(held))
    transport.listener = heard.append
    waiting = asyncio.create_task(transport.send(call("held", id=1)))
    await held.began.wait()
    for n in (1, 2):
        transport.receive(b'{"jsonrpc":"2.0","id":1,"result":{"n":%d}}' % n)
    answer = await waiting
    assert answer and answer["result"] == {"n": 1} and heard[0]["result"] == {"n": 2}
    await transport.close()
