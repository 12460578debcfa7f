"""Subscriptions, logs and completion of the core, without a wire."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import aclosing
from typing import Any

import pytest
from fakes_wire import client, headers_for, request
from mcp_types import methods

from fake_servers.completion import MOST
from fake_servers.context import Context
from fake_servers.core import Server
from fake_servers.declare import Prompt, PromptArgument, Resource, ResourceTemplate, Tool
from fake_servers.http import serve
from fake_servers.in_flight import InFlight
from fake_servers.stdio import serve as serve_lines
from fake_servers.wire import decode, encode

ID = "io.modelcontextprotocol/subscriptionId"
LOG = "io.modelcontextprotocol/logLevel"
VERSION = "2026-07-28"


async def nothing(*_: Any) -> str:
    return ""


async def many(typed: str, given: Mapping[str, str]) -> list[str]:
    prefix = given.get("country", "")
    return [f"{prefix}{typed}{number}" for number in range(150)]


async def logs(arguments: dict[str, Any], context: Context) -> str:
    for level in ("debug", "warning", "error"):
        await context.log(level, level)
    return "done"


def server(**options: Any) -> Server:
    return Server(
        "listening",
        tools=[Tool("logs", "", logs)],
        resources=[Resource("test://a", "a", nothing)],
        templates=[ResourceTemplate("test://{id}/x", "x", nothing, complete={"id": many})],
        prompts=[Prompt("p", "", nothing, [PromptArgument("city", "", complete=many)])],
        **{"subscriptions": True, "logs": True, **options},
    )


async def answers(to: Server, message: dict[str, Any]) -> list[dict[str, Any]]:
    async with aclosing(to.handle(message)) as said:
        return [answer async for answer in said]


async def listened(to: Server, tell: Any, **wanted: Any) -> list[dict[str, Any]]:
    """What a subscription is told when ``tell()`` is called after its acknowledgement."""
    message = request("subscriptions/listen", id="sub", notifications=wanted)
    async with aclosing(to.handle(message)) as said:
        told = [await anext(said)]
        tell()
        to.listeners.end()
        return told + [answer async for answer in said]


def change_all(to: Server) -> None:
    for name in ("tools", "prompts", "resources"):
        to.changed(name)
    to.updated("test://a")
    to.updated("test://b")


@pytest.mark.must("S20")
async def test_only_what_was_asked_for_is_said_and_all_of_it_names_its_subscription() -> None:
    to = server()
    wanted = {"promptsListChanged": True, "toolsListChanged": False}
    told = await listened(to, lambda: change_all(to), **wanted, resourceSubscriptions=["test://b"])
    assert [message.get("method") for message in told] == [
        "notifications/subscriptions/acknowledged",
        "notifications/prompts/list_changed",
        "notifications/resources/updated",
        None,
    ]
    assert told[2]["params"]["uri"] == "test://b"
    assert [message["params"]["_meta"][ID] for message in told[:-1]] == ["sub"] * 3
    assert told[-1]["result"]["_meta"][ID] == "sub"
    for message in told[:-1]:
        methods.parse_server_notification(message["method"], VERSION, message["params"])
    methods.validate_server_result("subscriptions/listen", VERSION, told[-1]["result"])


@pytest.mark.must("S20")
async def test_no_more_is_agreed_to_than_the_server_has() -> None:
    to = Server("few", tools=[], subscriptions=True)
    wanted = {"toolsListChanged": True, "promptsListChanged": True}
    told = await listened(to, lambda: None, **wanted, resourceSubscriptions=["a:/"])
    assert told[0]["params"]["notifications"] == {"toolsListChanged": True}


async def test_over_http_it_is_a_stream_whatever_the_server_prefers() -> None:
    to = server()
    message = request("subscriptions/listen", notifications={"toolsListChanged": True})
    async with (
        serve(to, replies="json") as running,
        client() as http,
        http.stream("POST", running.url, json=message, headers=headers_for(message)) as answer,
    ):
        assert answer.headers["content-type"] == "text/event-stream"
        to.listeners.end()
        assert len([line async for line in answer.aiter_lines() if line.startswith("data:")]) == 2


@pytest.mark.parametrize(
    "odd",
    [{"toolsListChanged": 1}, {"resourceSubscriptions": "a:/"}, {"resourceSubscriptions": [7]}],
)
async def test_an_odd_filter_is_refused(odd: dict[str, Any]) -> None:
    (said,) = await answers(server(), request("subscriptions/listen", notifications=odd))
    assert said["error"]["code"] == -32602


async def test_who_stops_listening_is_forgotten() -> None:
    to = server()
    said = to.handle(request("subscriptions/listen", notifications={"toolsListChanged": True}))
    await anext(said)
    assert len(to.listeners) == 1
    await said.aclose()
    assert len(to.listeners) == 0


@pytest.mark.must("S02")
async def test_what_is_there_is_declared_and_what_is_not_does_not_exist() -> None:
    assert server().capabilities == {
        "tools": {"listChanged": True},
        "resources": {"listChanged": True, "subscribe": True},
        "prompts": {"listChanged": True},
        "logging": {},
        "completions": {},
    }
    plain = Server("plain", tools=[])
    assert plain.capabilities == {"tools": {}}
    for method in ("subscriptions/listen", "completion/complete"):
        (said,) = await answers(plain, request(method, notifications={}))
        assert said["error"]["code"] == -32601


@pytest.mark.must("S19")
@pytest.mark.parametrize(
    ("least", "said"),
    [(None, []), ("debug", ["debug", "warning", "error"]), ("error", ["error"]), ("alert", [])],
)
async def test_a_log_is_said_only_where_its_level_was_asked_for(
    least: str | None, said: list[str]
) -> None:
    message = request("tools/call", name="logs", arguments={}, meta={LOG: least})
    *before, last = await answers(server(), message)
    assert [note["params"]["data"] for note in before] == said
    assert last["result"]["content"][0]["text"] == "done"
    for note in before:
        methods.parse_server_notification(note["method"], VERSION, note["params"])


@pytest.mark.must("S28")
@pytest.mark.parametrize(
    ("ref", "name"),
    [
        ({"type": "ref/prompt", "name": "p"}, "city"),
        ({"type": "ref/resource", "uri": "test://{id}/x"}, "id"),
    ],
)
async def test_at_most_a_hundred_values_complete_an_argument(
    ref: dict[str, Any], name: str
) -> None:
    given = {"arguments": {"country": "fr-"}}
    argument = {"name": name, "value": "p"}
    (said,) = await answers(
        server(), request("completion/complete", ref=ref, argument=argument, context=given)
    )
    found = said["result"]["completion"]
    assert found["values"][0] == "fr-p0" and len(found["values"]) == MOST
    assert (found["total"], found["hasMore"]) == (150, True)
    methods.validate_server_result("completion/complete", VERSION, said["result"])


@pytest.mark.must("S28")
@pytest.mark.parametrize(
    ("ref", "argument"),
    [
        ({"type": "ref/prompt", "name": "q"}, {"name": "city", "value": ""}),
        ({"type": "ref/prompt", "name": "p"}, {"name": "town", "value": ""}),
        ({"type": "ref/resource", "uri": "p"}, {"name": "city", "value": ""}),
        ({"type": "ref/prompt", "name": "p"}, {"name": "city"}),
        ({}, {}),
    ],
)
async def test_what_is_not_offered_is_not_completed(
    ref: dict[str, Any], argument: dict[str, Any]
) -> None:
    message = request("completion/complete", ref=ref, argument=argument)
    (said,) = await answers(server(), message)
    assert said["error"]["code"] == -32602


async def test_the_end_of_stdin_ends_subscriptions_with_a_response() -> None:
    written: list[bytes] = []
    requests = InFlight(server(), written.append)

    async def lines() -> Any:
        wanted = {"toolsListChanged": True}
        yield encode(request("subscriptions/listen", notifications=wanted))
        while not written:  # noqa: ASYNC110 - the carrier has no event for it
            await asyncio.sleep(0)

    await serve_lines(requests, lines())
    assert [set(decode(line)) & {"method", "result"} for line in written] == [
        {"method"},
        {"result"},
    ]
