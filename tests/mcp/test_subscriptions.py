"""client.listen: opened, told apart, read, broken and opened again, over every carrier."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import sys
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest

from fake_servers.core import Server
from fake_servers.declare import Prompt, Resource, Tool
from fake_servers.http import serve
from fake_servers.memory import InMemoryTransport
from mini_agent.errors import (
    AuthorizationError,
    ConnectFailed,
    JsonRpcError,
    MalformedMessage,
    RequestTimeout,
    TransportClosed,
)
from mini_agent.mcp import subscriptions
from mini_agent.mcp.changes import Change, change_of, listen_filter, not_granted
from mini_agent.mcp.client import McpClient
from mini_agent.mcp.http import HttpTransport
from mini_agent.mcp.stdio import StdioTransport
from mini_agent.mcp.transport import NO_ENVELOPE, McpTransport, OneListener
from mini_agent.trace import Trace, following

pytestmark = pytest.mark.timeout(20)

META = "io.modelcontextprotocol/subscriptionId"
ACK = "notifications/subscriptions/acknowledged"
TOOLS, PROMPTS = "notifications/tools/list_changed", "notifications/prompts/list_changed"


async def nothing(*_: Any) -> str:
    return ""


def changing() -> Server:
    """A server with a tool for each change that it can tell of."""

    async def change(arguments: dict[str, Any], context: Any) -> str:
        for name in arguments["lists"]:
            server.changed(name)
        for uri in arguments.get("uris", ()):
            server.updated(uri)
        return "told"

    async def end(arguments: dict[str, Any], context: Any) -> str:
        server.listeners.end()
        return "ended"

    async def leave(arguments: dict[str, Any], context: Any) -> str:
        sys.exit(3)

    server = Server(
        "changing",
        tools=[Tool(run.__name__, "", run) for run in (change, end, leave)],
        prompts=[Prompt("p", "", nothing)],
        resources=[Resource("test://a", "a", nothing)],
        subscriptions=True,
    )
    return server


CHILD = "import test_subscriptions as t; from fake_servers.stdio import main; main(t.changing())"


@contextlib.asynccontextmanager
async def reached(over: str) -> AsyncIterator[McpTransport]:
    """A transport to a changing server."""
    if over == "memory":
        yield InMemoryTransport(changing())
    elif over == "stdio":
        env = {"PYTHONPATH": ":".join(path or "." for path in sys.path)}
        yield StdioTransport([sys.executable, "-c", CHILD], env=env)
    else:
        async with serve(changing()) as running:
            yield HttpTransport(running.url)


@pytest.fixture(params=["memory", "stdio", "http"])
def over(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def change(client: McpClient, *lists: str, uris: tuple[str, ...] = ()) -> None:
    await client.call("change", {"lists": list(lists), "uris": list(uris)})


async def first(changes: Any) -> Change:
    async with asyncio.timeout(10):
        return await anext(changes)  # type: ignore[no-any-return]


class Scripted(OneListener):
    """A transport whose test says what belongs to each listen, and how it ends."""

    mirrors_envelope = False

    def __init__(self, *openings: Any) -> None:
        self.sent: list[dict[str, Any]] = []
        self.ends: list[asyncio.Future[Any]] = []
        self.cancelled: list[int] = []
        self.asked = asyncio.Event()
        self._openings = list(openings)

    async def send(
        self, message: dict[str, Any], *, envelope: Mapping[str, str] = NO_ENVELOPE
    ) -> dict[str, Any] | None:
        self.sent.append(message)
        self.note("sent", message=message)
        end = asyncio.get_running_loop().create_future()
        self.ends.append(end)
        self.asked.set()
        opening = self._openings.pop(0) if self._openings else [ACK]
        if isinstance(opening, Exception):
            raise opening
        for method in opening:
            self.say(method, message["id"])
        try:
            result = await end
        except asyncio.CancelledError:
            self.cancelled.append(message["id"])
            raise
        return {"jsonrpc": "2.0", "id": message["id"], **result}

    def say(self, method: str, subscription: Any, **params: Any) -> None:
        more = {"notifications": {"toolsListChanged": True}} if method == ACK else {}
        whole = {"_meta": {META: subscription}, **more, **params}
        self.hear({"jsonrpc": "2.0", "method": method, "params": whole})

    def end(self, result: Any = None) -> None:
        self.ends[-1].set_result(
            {"result": {"resultType": "complete"}} if result is None else result
        )

    def cut(self) -> None:
        self.ends[-1].set_exception(TransportClosed("cut"))

    async def close(self) -> None:
        pass


# -- over every carrier ---------------------------------------------------------------------------


@pytest.mark.must("C84")
async def test_a_change_is_told_and_the_next_list_is_a_fresh_one(over: str) -> None:
    async with reached(over) as transport, McpClient(transport) as client:
        await client.connect()
        async with client.listen(tools=True) as changes:
            assert changes.granted == {"toolsListChanged": True}
            await client.list_tools()
            await change(client, "prompts", "tools")
            assert await first(changes) == Change("tools")
            assert client._cache.get("tools/list") is None


@pytest.mark.must("C34", "C77")
async def test_two_subscriptions_on_one_stream_are_told_apart(over: str) -> None:
    async with reached(over) as transport, McpClient(transport) as client:
        one, two = client.listen(tools=True, uris=["test://a"]), client.listen(prompts=True)
        async with one as tools, two as prompts:
            await change(client, "tools", "prompts", "resources", uris=("test://b", "test://a"))
            assert await first(tools) == Change("tools")
            assert await first(tools) == Change("resource", "test://a")
            assert await first(prompts) == Change("prompts")
            await change(client, "prompts")
            assert await first(prompts) == Change("prompts")


async def test_a_server_that_ends_it_ends_the_loop(over: str) -> None:
    async with (
        reached(over) as transport,
        McpClient(transport) as client,
        client.listen(tools=True) as changes,
    ):
        await change(client, "tools")
        await client.call("end")
        async with asyncio.timeout(10):
            assert [told async for told in changes] == [Change("tools")]
            assert [told async for told in changes] == []


@pytest.mark.must("C35")
async def test_leaving_tells_the_server() -> None:
    server = changing()
    async with McpClient(InMemoryTransport(server)) as client:
        async with client.listen(tools=True):
            assert len(server.listeners) == 1
        await client.list_tools()
        assert len(server.listeners) == 0


async def test_leaving_closes_the_event_stream() -> None:
    server = changing()
    async with serve(server) as running, McpClient(HttpTransport(running.url)) as client:
        async with client.listen(tools=True):
            assert len(server.listeners) == 1
        async with asyncio.timeout(10):
            while len(server.listeners):  # noqa: ASYNC110 - the server has no event for it
                await asyncio.sleep(0)


@pytest.mark.must("C37", "C38")
async def test_a_process_that_exits_is_listened_to_again() -> None:
    async with (
        reached("stdio") as transport,
        McpClient(transport) as client,
        client.listen(tools=True) as changes,
    ):
        with pytest.raises(TransportClosed):
            await client.call("leave")
        assert await first(changes) == Change("everything")
        await change(client, "tools")
        assert await first(changes) == Change("tools")


async def test_closing_the_client_ends_the_loop(over: str) -> None:
    async with reached(over) as transport, McpClient(transport) as client:
        changes = await client.listen(tools=True).__aenter__()
        reading = asyncio.create_task(anext(changes, None))
        await client.close()
        async with asyncio.timeout(10):
            assert await reading is None


# -- the acknowledgement --------------------------------------------------------------------------


@pytest.mark.must("C76")
async def test_what_the_server_will_not_tell_of_is_named() -> None:
    server = Server("few", tools=[], subscriptions=True)
    async with McpClient(InMemoryTransport(server)) as client:
        wanted = client.listen(tools=True, prompts=True, uris=["test://a"])
        async with wanted as changes:
            assert changes.granted == {"toolsListChanged": True}
            assert changes.not_granted == ["promptsListChanged", "test://a"]


@pytest.mark.must("C77")
@pytest.mark.parametrize("before", [TOOLS, "notifications/x", PROMPTS])
async def test_anything_before_the_acknowledgement_is_the_servers_fault(before: str) -> None:
    transport = Scripted([before, ACK])
    with pytest.raises(MalformedMessage) as caught:
        async with McpClient(transport, server="s").listen(tools=True):
            pass
    assert (caught.value.server, caught.value.method) == ("s", "subscriptions/listen")
    assert transport.cancelled == [1]


async def test_it_is_the_method_that_acknowledges() -> None:
    transport = Scripted([])
    opening = asyncio.create_task(McpClient(transport).listen(tools=True).__aenter__())
    await transport.asked.wait()
    transport.say(TOOLS, 1, notifications={"toolsListChanged": True})
    with pytest.raises(MalformedMessage):
        await opening


async def test_an_end_before_the_acknowledgement_is_the_servers_fault() -> None:
    transport = Scripted([])
    opening = asyncio.create_task(McpClient(transport).listen(tools=True).__aenter__())
    await transport.asked.wait()
    transport.end()
    with pytest.raises(MalformedMessage):
        await opening


async def test_a_refusal_is_raised_where_it_is_opened() -> None:
    server = Server("deaf", tools=[])
    async with McpClient(InMemoryTransport(server)) as client:
        with pytest.raises(JsonRpcError) as caught:
            async with client.listen(tools=True):
                pass
    assert (caught.value.code, caught.value.method) == (-32601, "subscriptions/listen")


@pytest.mark.must("C70")
async def test_silence_ends_at_the_deadline_and_only_the_acknowledgement_has_one() -> None:
    with pytest.raises(RequestTimeout) as caught:
        async with McpClient(Scripted([]), timeout=0.01).listen(tools=True):
            pass
    assert caught.value.seconds == 0.01
    transport = Scripted()
    async with McpClient(transport, timeout=0.01).listen(tools=True) as changes:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await anext(changes)
        transport.say(TOOLS, 1)
        assert await first(changes) == Change("tools")


async def test_cancelling_while_it_is_opened_leaves_nothing_behind() -> None:
    transport = Scripted([])
    opening = asyncio.create_task(McpClient(transport).listen(tools=True).__aenter__())
    await transport.asked.wait()
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    assert transport.cancelled == [1]


async def test_closing_while_it_is_opened_says_so() -> None:
    client = McpClient(Scripted([]))
    opening = asyncio.create_task(client.listen(tools=True).__aenter__())
    await asyncio.sleep(0)
    await client.close()
    with pytest.raises(TransportClosed):
        await opening


# -- what is told ---------------------------------------------------------------------------------


@pytest.mark.must("C77")
@pytest.mark.parametrize("subscription", [2, "1", None, 1.5, True, [1]])
async def test_what_names_another_subscription_or_none_is_not_for_this_one(
    subscription: Any,
) -> None:
    transport = Scripted()
    async with McpClient(transport).listen(tools=True) as changes:
        transport.say(PROMPTS, subscription)
        transport.say(TOOLS, 1)
        assert await first(changes) == Change("tools")


async def test_what_is_heard_later_belongs_to_no_one_call() -> None:
    trace = Trace()
    async with McpClient(InMemoryTransport(changing()), trace=trace) as client:
        with following("call-1"):
            subscription = client.listen(tools=True)
            await subscription.__aenter__()
        await change(client, "tools")
        assert await first(subscription) == Change("tools")
        await subscription.close()
    methods = [(event.call, event.facts.get("message", {}).get("method")) for event in trace.events]
    assert ("", "subscriptions/listen") in methods and ("", TOOLS) in methods
    assert {call for call, _ in methods} == {""}


async def test_what_is_alike_and_not_read_yet_is_given_once() -> None:
    transport = Scripted()
    async with McpClient(transport).listen(tools=True) as changes:
        for _ in range(1000):
            transport.say(TOOLS, 1)
        transport.say(PROMPTS, 1)
        assert [await first(changes) for _ in range(2)] == [Change("tools"), Change("prompts")]
        transport.end()
        assert [told async for told in changes] == []


async def test_more_than_anybody_reads_becomes_everything(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(subscriptions, "MOST_PENDING", 3)
    transport = Scripted()
    async with McpClient(transport).listen(uris=["x:/"]) as changes:
        for number in range(5):
            transport.say("notifications/resources/updated", 1, uri=f"x:/{number}")
        transport.end()
        told = [change async for change in changes]
    assert told == [Change("everything"), Change("resource", "x:/4")]


@pytest.mark.parametrize(
    ("method", "params", "told"),
    [
        (TOOLS, {}, Change("tools")),
        (PROMPTS, {}, Change("prompts")),
        ("notifications/resources/list_changed", {}, Change("resources")),
        ("notifications/resources/updated", {"uri": "a:/"}, Change("resource", "a:/")),
        ("notifications/resources/updated", {"uri": 7}, None),
        ("notifications/resources/updated", {}, None),
        ("notifications/message", {"level": "info"}, None),
        ("codex/event", {}, None),
        ("", {}, None),
    ],
)
def test_a_notification_tells_of_a_change_or_of_none(method: str, params: Any, told: Any) -> None:
    assert change_of({"jsonrpc": "2.0", "method": method, "params": params}) == told


def test_the_filter_holds_what_is_asked_for_and_nothing_else() -> None:
    flags = {"tools": False, "prompts": False, "resources": False}
    assert listen_filter(**{**flags, "tools": True}, uris=()) == {"toolsListChanged": True}
    assert listen_filter(**flags, uris=("a:/",)) == {"resourceSubscriptions": ["a:/"]}
    with pytest.raises(ValueError):
        listen_filter(**flags, uris=())
    with pytest.raises(TypeError):
        listen_filter(**flags, uris="a:/")


def test_an_odd_acknowledgement_grants_nothing() -> None:
    wanted = {"toolsListChanged": True, "resourceSubscriptions": ["a:/"]}
    assert not_granted(wanted, wanted) == []
    odd = {"toolsListChanged": "yes", "resourceSubscriptions": None}
    assert not_granted(wanted, odd) == ["toolsListChanged", "a:/"]


# -- a break --------------------------------------------------------------------------------------


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Opened again without a pause."""
    monkeypatch.setattr(subscriptions, "FIRST_PAUSE", 0)


@pytest.mark.must("C38")
async def test_a_break_is_mended_with_a_new_request_and_told_as_everything(at_once: None) -> None:
    transport = Scripted()
    client = McpClient(transport)
    async with client.listen(tools=True) as changes:
        client._cache.keep("tools/list", "", [], 60)
        transport.cut()
        assert await first(changes) == Change("everything")
        assert client._cache.get("tools/list") is None
        transport.say(TOOLS, 1)
        transport.say(TOOLS, 2)
        assert await first(changes) == Change("tools")
    assert [message["id"] for message in transport.sent] == [1, 2]
    assert client._listening._hear == {}
    assert transport.sent[0]["params"] == transport.sent[1]["params"]


async def test_it_is_opened_again_a_bounded_number_of_times_in_a_row(at_once: None) -> None:
    refused = [ConnectFailed("refused") for _ in range(20)]
    transport = Scripted([ACK], *refused[:3], [ACK], *refused)
    async with McpClient(transport).listen(tools=True) as changes:
        transport.cut()
        assert await first(changes) == Change("everything")
        transport.cut()
        with pytest.raises(ConnectFailed):
            await first(changes)
    assert len(transport.sent) == 1 + 3 + 1 + subscriptions.MOST_REOPENED + 1


@pytest.mark.parametrize(
    "error",
    [AuthorizationError("who?", status=401), MalformedMessage("junk"), JsonRpcError(-32603, "no")],
)
async def test_what_another_try_would_not_mend_is_raised(at_once: None, error: Exception) -> None:
    transport = Scripted([ACK], error)
    async with McpClient(transport).listen(tools=True) as changes:
        transport.cut()
        with pytest.raises(type(error)):
            await first(changes)
    assert len(transport.sent) == 2


async def test_a_break_that_nobody_reads_of_prints_nothing_when_it_is_closed() -> None:
    said: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: said.append(context))
    transport = Scripted([ACK], MalformedMessage("junk"))
    async with McpClient(transport).listen(tools=True) as changes:
        transport.end({"result": {"resultType": "unknown"}})
        await changes._opened.wait()
        await asyncio.wait([changes._task])  # type: ignore[list-item]
    del changes
    gc.collect()
    assert said == []


async def test_a_server_that_cannot_be_reached_at_first_is_tried_once() -> None:
    transport = Scripted(ConnectFailed("refused"))
    with pytest.raises(ConnectFailed):
        async with McpClient(transport).listen(tools=True):
            pass
    assert len(transport.sent) == 1


async def test_misuse_is_a_runtime_error() -> None:
    subscription = McpClient(Scripted()).listen(tools=True)
    with pytest.raises(RuntimeError):
        await anext(subscription)
    async with subscription:
        pass
    with pytest.raises(RuntimeError):
        async with subscription:
            pass
    await subscription.close()
