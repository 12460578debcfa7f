"""McpClient on a scripted transport: connect, pages, versions, rounds, deadlines, whose error."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from mini_agent.errors import (
    ConnectFailed,
    HeaderMismatch,
    InputRequired,
    JsonRpcError,
    MalformedMessage,
    McpError,
    RequestTimeout,
    TransportClosed,
    UnsupportedProtocolVersion,
)
from mini_agent.mcp import rounds
from mini_agent.mcp.client import McpClient
from mini_agent.mcp.transport import NO_ENVELOPE, FakeTransport, OneListener
from mini_agent.trace import Trace
from mini_agent.types import JsonObject

V = "2026-07-28"
INFO = {"name": "fake", "version": "7"}
META = "io.modelcontextprotocol/"


def discovery(**more: Any) -> dict[str, Any]:
    result = {
        "resultType": "complete",
        "supportedVersions": [V],
        "capabilities": {"tools": {}, "resources": {}, "prompts": {}},
        "_meta": {f"{META}serverInfo": INFO},
    }
    return {"result": {**result, **more}}


def page(key: str, items: list[Any], **more: Any) -> dict[str, Any]:
    return {"result": {"resultType": "complete", key: items, **more}}


def tool(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object"}, **more}


def said(text: str = "hi", **more: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    return {"result": {"resultType": "complete", "content": content, **more}}


def refused(code: int, data: Any = None) -> dict[str, Any]:
    return {"error": {"code": code, "message": "no", "data": data}}


def asks(*keys: str, state: str | None = None) -> dict[str, Any]:
    result: dict[str, Any] = {"resultType": "input_required"}
    if keys:
        result["inputRequests"] = {key: {"method": "elicitation/create"} for key in keys}
    if state is not None:
        result["requestState"] = state
    return {"result": result}


def methods(transport: FakeTransport) -> list[str]:
    return [message["method"] for message in transport.sent]


class Mirroring(FakeTransport):
    """A fake that, like HTTP, carries an envelope."""

    mirrors_envelope = True

    def __init__(self, script: list[Any]) -> None:
        super().__init__(script)
        self.envelopes: list[dict[str, str]] = []

    async def send(
        self, message: dict[str, Any], *, envelope: Mapping[str, str] = NO_ENVELOPE
    ) -> dict[str, Any] | None:
        self.envelopes.append(dict(envelope))
        return await super().send(message)


class Held(OneListener):
    """A transport whose answers the test releases one by one."""

    mirrors_envelope = False

    def __init__(self) -> None:
        self.waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self.sent: list[dict[str, Any]] = []
        self._more = asyncio.Condition()

    async def send(
        self, message: dict[str, Any], *, envelope: Mapping[str, str] = NO_ENVELOPE
    ) -> dict[str, Any] | None:
        future = asyncio.get_running_loop().create_future()
        self.waiting[message["id"]] = future
        self.note("sent", message=message)
        async with self._more:
            self.sent.append(message)
            self._more.notify_all()
        return await future

    async def holds(self, count: int) -> None:
        """Wait until ``count`` requests have arrived."""
        async with self._more:
            await self._more.wait_for(lambda: len(self.sent) >= count)

    def answer(self, request_id: int, response: dict[str, Any]) -> None:
        self.waiting[request_id].set_result({"jsonrpc": "2.0", "id": request_id, **response})

    async def close(self) -> None:
        pass


# -- connect --------------------------------------------------------------------------------------


@pytest.mark.must("C21")
async def test_connect_discovers_and_lists_every_page() -> None:
    pages = [
        page("tools", [tool("a")], nextCursor=""),
        page("tools", [tool("b")], nextCursor="é/1"),
        page("tools", [tool("c")]),
    ]
    transport = FakeTransport([discovery(instructions="Be kind."), *pages])
    client = McpClient(transport)
    tools = await client.connect()
    assert [t.name for t in tools] == ["a", "b", "c"] == [t.name for t in client.tools]
    assert methods(transport) == ["server/discover", *["tools/list"] * 3]
    assert [m["params"].get("cursor") for m in transport.sent[1:]] == [None, "", "é/1"]
    assert (client.protocol_version, client.instructions) == (V, "Be kind.")
    assert client.server_info == INFO


async def test_connect_can_go_without_discovery() -> None:
    transport = FakeTransport([page("tools", [tool("a")])])
    assert [t.name for t in await McpClient(transport).connect(discover=False)] == ["a"]
    assert methods(transport) == ["tools/list"]


async def test_lists_are_asked_only_of_servers_that_declare_them() -> None:
    transport = FakeTransport([discovery(capabilities={})])
    client = McpClient(transport)
    assert await client.connect() == []
    assert await client.list_resources() == await client.list_resource_templates() == []
    assert await client.list_prompts() == []
    assert methods(transport) == ["server/discover"]


@pytest.mark.must("C05", "C06", "C02", "C03")
async def test_every_request_carries_its_metadata_and_an_id_of_its_own() -> None:
    transport = FakeTransport([discovery(), page("tools", []), said(), said()])
    client = McpClient(transport)
    await client.connect()
    await client.call("t", {})
    await client.call("t", {})
    for message in transport.sent:
        meta = message["params"]["_meta"]
        assert meta[f"{META}protocolVersion"] == V
        assert meta[f"{META}clientCapabilities"] == {}
        assert meta[f"{META}clientInfo"]["name"] == "mini-agent"
    ids = [message["id"] for message in transport.sent]
    assert len(set(ids)) == len(ids) and all(type(i) is int for i in ids)


@pytest.mark.parametrize(
    ("script", "error"),
    [
        ([ConnectFailed("refused")], ConnectFailed),
        ([refused(-32601)], JsonRpcError),
        ([discovery(), TransportClosed("gone")], TransportClosed),
        ([discovery(), page("nothing", [])], MalformedMessage),
    ],
)
async def test_connect_fails_as_a_whole(script: list[Any], error: type[McpError]) -> None:
    with pytest.raises(error):
        await McpClient(FakeTransport(script)).connect()


@pytest.mark.must("C21")
@pytest.mark.case("L01", "L02")
@pytest.mark.parametrize(
    "answer", [refused(-32601), refused(-32602), refused(-32000), TransportClosed("exit 1")]
)
async def test_a_server_of_the_older_kind_is_named_as_such(answer: Any) -> None:
    with pytest.raises(McpError) as caught:
        await McpClient(FakeTransport([answer])).connect()
    assert "before 2026-07-28" in str(caught.value)


async def test_a_second_client_on_one_transport_is_refused() -> None:
    transport = FakeTransport([])
    McpClient(transport)
    with pytest.raises(ValueError):
        McpClient(transport)


# -- versions -------------------------------------------------------------------------------------


@pytest.mark.must("C20")
async def test_a_refused_version_is_tried_once_more_with_one_from_the_list() -> None:
    refusal = refused(-32022, {"supported": ["1900-01-01", V], "requested": V})
    transport = FakeTransport([refusal, discovery(), page("tools", [])])
    await McpClient(transport).connect()
    assert methods(transport) == ["server/discover", "server/discover", "tools/list"]


@pytest.mark.must("C20")
async def test_a_server_that_refuses_twice_is_not_asked_a_third_time() -> None:
    refusal = refused(-32022, {"supported": [V], "requested": V})
    transport = FakeTransport([refusal, refusal])
    with pytest.raises(UnsupportedProtocolVersion):
        await McpClient(transport).connect()
    assert len(transport.sent) == 2


@pytest.mark.must("C20")
@pytest.mark.parametrize("data", [{"supported": ["2025-11-25"]}, {"supported": "x"}, None])
async def test_no_version_in_common_is_one_clear_error(data: Any) -> None:
    transport = FakeTransport([refused(-32022, data)])
    with pytest.raises(UnsupportedProtocolVersion):
        await McpClient(transport).connect()
    assert len(transport.sent) == 1


async def test_a_discovery_without_our_version_stops_connect() -> None:
    transport = FakeTransport([discovery(supportedVersions=["2025-11-25"])])
    with pytest.raises(UnsupportedProtocolVersion) as caught:
        await McpClient(transport).connect()
    assert caught.value.supported == ["2025-11-25"]
    assert "2025-11-25" in str(caught.value)


# -- lists and caching ----------------------------------------------------------------------------


@pytest.mark.must("C87")
@pytest.mark.timeout(10)
async def test_a_cursor_that_comes_twice_stops_the_list() -> None:
    endless = [page("tools", [tool("a")], nextCursor="x")] * 5
    with pytest.raises(MalformedMessage):
        await McpClient(FakeTransport(endless)).list_tools()


@pytest.mark.must("C85")
async def test_a_cursor_that_went_stale_starts_the_list_over_once() -> None:
    first = page("tools", [tool("a")], nextCursor="x")
    transport = FakeTransport([first, refused(-32602), first, page("tools", [tool("b")])])
    assert [t.name for t in await McpClient(transport).list_tools()] == ["a", "b"]
    transport = FakeTransport([first, refused(-32602), first, refused(-32602)])
    with pytest.raises(JsonRpcError):
        await McpClient(transport).list_tools()


@pytest.mark.must("C82", "C80")
@pytest.mark.case("T16")
async def test_a_fresh_list_is_not_asked_for_again() -> None:
    lists = [page("tools", [tool("a")], ttlMs=60_000), page("tools", [tool("b")])]
    transport = FakeTransport(lists)
    client = McpClient(transport)
    for _ in range(10):
        assert [t.name for t in await client.list_tools()] == ["a"]
    assert len(transport.sent) == 1
    assert [t.name for t in await client.list_tools(refresh=True)] == ["b"]


@pytest.mark.must("C82")
async def test_a_list_without_a_lifetime_is_stale_at_once() -> None:
    transport = FakeTransport([page("tools", [tool("a")]), page("tools", [tool("b")])])
    client = McpClient(transport)
    await client.list_tools()
    assert [t.name for t in await client.list_tools()] == ["b"]


@pytest.mark.must("C84")
async def test_list_changed_makes_a_fresh_list_stale() -> None:
    changed = {"method": "notifications/tools/list_changed"}
    fresh = page("tools", [tool("a")], ttlMs=60_000)
    transport = FakeTransport([fresh, [changed, said()], page("tools", [tool("b")])])
    client = McpClient(transport)
    await client.list_tools()
    await client.call("a")
    assert [t.name for t in await client.list_tools()] == ["b"]


@pytest.mark.must("C80")
async def test_a_resource_is_kept_by_its_uri() -> None:
    one = page("contents", [{"uri": "a", "text": "1"}], ttlMs=60_000)
    two = page("contents", [{"uri": "b", "text": "2"}], ttlMs=60_000)
    transport = FakeTransport([one, two])
    client = McpClient(transport)
    for _ in range(2):
        assert (await client.read_resource("a"))[0]["text"] == "1"
        assert (await client.read_resource("b"))[0]["text"] == "2"
    assert len(transport.sent) == 2


@pytest.mark.must("C97")
@pytest.mark.parametrize("code", [-32602, -32002])
async def test_an_unknown_resource_is_the_peers_no(code: int) -> None:
    with pytest.raises(JsonRpcError) as caught:
        await McpClient(FakeTransport([refused(code)])).read_resource("x://y")
    assert (caught.value.code, caught.value.method) == (code, "resources/read")


async def test_prompts_are_listed_and_filled_in() -> None:
    message = {"role": "user", "content": {"type": "text", "text": "Plan"}}
    transport = FakeTransport([page("prompts", [{"name": "p"}]), page("messages", [message])])
    client = McpClient(transport)
    assert await client.list_prompts() == [{"name": "p"}]
    assert (await client.get_prompt("p", {"day": "Monday"}))["messages"] == [message]
    assert transport.sent[1]["params"]["arguments"] == {"day": "Monday"}


# -- call -----------------------------------------------------------------------------------------


@pytest.mark.case("T11", "T13", "T12")
@pytest.mark.parametrize(("given", "sent"), [(None, {}), ({}, {}), ({"a": None}, {"a": None})])
async def test_arguments_are_always_an_object_and_nulls_stay(given: Any, sent: Any) -> None:
    transport = FakeTransport([said()])
    await McpClient(transport).call("t", given)
    assert transport.sent[0]["params"]["arguments"] == sent


async def test_a_call_returns_content_and_the_servers_error_flag() -> None:
    client = McpClient(FakeTransport([said("bad date", isError=True)]))
    result = await client.call("t")
    assert result.is_error and result.content == [{"type": "text", "text": "bad date"}]


@pytest.mark.case("R08")
async def test_absent_content_is_empty_and_noted() -> None:
    trace = Trace()
    client = McpClient(FakeTransport([{"result": {}}]), trace=trace)
    assert (await client.call("t")).content == []
    assert any("content" in str(event.facts.get("text")) for event in trace.events)


@pytest.mark.must("C92")
async def test_a_result_that_breaks_the_output_schema_is_the_servers_fault() -> None:
    declared = tool("t", outputSchema={"type": "object", "required": ["a"]})
    script = [discovery(), page("tools", [declared]), said(structuredContent={})]
    client = McpClient(FakeTransport(script), server="cal")
    await client.connect()
    with pytest.raises(MalformedMessage) as caught:
        await client.call("t")
    error = caught.value
    assert (error.server, error.method, error.tool) == ("cal", "tools/call", "t")
    assert error.server_info == INFO


@pytest.mark.must("C93", "C10")
async def test_an_error_learns_server_method_and_tool_and_stays_the_same_object() -> None:
    original = TransportClosed("gone", exit_code=3)
    client = McpClient(FakeTransport([original]), server="cal")
    with pytest.raises(TransportClosed) as caught:
        await client.call("t")
    assert caught.value is original
    assert (original.server, original.method, original.tool) == ("cal", "tools/call", "t")
    assert not hasattr(original, "code")


# -- not yet --------------------------------------------------------------------------------------


@pytest.mark.must("C60", "C61", "C62", "C63")
async def test_input_is_answered_under_the_same_keys_with_the_same_state_and_a_new_id() -> None:
    state = 'é"\\\n{}' * 10
    transport = FakeTransport([asks("a", "b", state=state), asks("c"), said("done")])
    seen: list[Any] = []

    async def handler(requests: dict[str, Any]) -> dict[str, Any]:
        seen.append(sorted(requests))
        return {key: {"action": "accept"} for key in requests}

    client = McpClient(transport, on_input_required=handler)
    result = await client.call("t", {"x": 1})
    first, second, third = transport.sent
    assert result.content[0]["text"] == "done"
    assert seen == [["a", "b"], ["c"]]
    assert second["params"]["requestState"] == state
    assert sorted(second["params"]["inputResponses"]) == ["a", "b"]
    assert "requestState" not in third["params"] and "requestState" not in first["params"]
    assert len({m["id"] for m in transport.sent}) == 3
    assert all(m["params"]["arguments"] == {"x": 1} for m in transport.sent)
    assert all(m["params"]["_meta"][f"{META}protocolVersion"] == V for m in transport.sent)


@pytest.mark.must("C100")
async def test_a_handler_declares_elicitation_on_every_request() -> None:
    async def handler(requests: dict[str, Any]) -> dict[str, Any]:
        return {}

    transport = FakeTransport([said()])
    await McpClient(transport, on_input_required=handler).call("t")
    assert transport.sent[0]["params"]["_meta"][f"{META}clientCapabilities"] == {"elicitation": {}}


@pytest.mark.case("R13")
async def test_nobody_to_answer_is_an_error_that_holds_what_is_needed_to_go_on() -> None:
    transport = FakeTransport([asks("a", state="s"), said("done")])
    client = McpClient(transport)
    with pytest.raises(InputRequired) as caught:
        await client.call("t")
    error = caught.value
    assert list(error.requests) == ["a"] and error.state == "s" and error.tool == "t"
    answers = {"a": {"action": "accept"}}
    await client.call("t", input_responses=answers, request_state=error.state)
    assert transport.sent[1]["params"]["inputResponses"] == answers
    assert transport.sent[1]["params"]["requestState"] == "s"


async def test_a_handler_that_leaves_a_request_out_is_a_mistake_of_ours() -> None:
    async def handler(requests: dict[str, Any]) -> dict[str, Any]:
        return {"a": {}}

    transport = FakeTransport([asks("a", "b")])
    with pytest.raises(ValueError, match="b"):
        await McpClient(transport, on_input_required=handler).call("t")
    assert len(transport.sent) == 1


@pytest.mark.parametrize("given", [None, [{"action": "accept"}], "yes"])
async def test_a_handler_that_returns_no_dict_is_a_mistake_of_ours(given: Any) -> None:
    async def handler(requests: dict[str, Any]) -> Any:
        return given

    with pytest.raises(TypeError, match=r"on_input_required.*dict"):
        await McpClient(FakeTransport([asks("a")]), on_input_required=handler).call("t")


@pytest.mark.must("C71")
@pytest.mark.timeout(20)
async def test_all_rounds_of_a_call_share_its_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounds, "FIRST_PAUSE", 60.0)
    client = McpClient(FakeTransport([asks(state="s")] * 9), server="cal")
    with pytest.raises(RequestTimeout) as caught:
        await client.call("t", timeout=0.02)
    assert (caught.value.seconds, caught.value.server, caught.value.tool) == (0.02, "cal", "t")


@pytest.mark.timeout(20)
async def test_a_first_round_that_was_waited_for_longer_does_not_use_up_the_others() -> None:
    rounds_asked: list[JsonObject] = []

    async def ask(extra: JsonObject) -> JsonObject:
        rounds_asked.append(extra)
        if len(rounds_asked) > 1:
            return {"resultType": "complete"}
        await asyncio.sleep(0.6)  # its own deadline was held off, while somebody signed in
        return {"resultType": "input_required", "requestState": "s"}

    await rounds.until_complete(ask, None, {}, seconds=0.5)
    assert rounds_asked == [{}, {"requestState": "s"}]


@pytest.mark.timeout(20)
async def test_a_person_who_is_asked_has_the_longest_time_and_no_more() -> None:
    async def slow(requests: dict[str, Any]) -> dict[str, Any]:
        await asyncio.sleep(0.1)  # longer than the timeout of a request
        return {key: {"action": "accept"} for key in requests}

    async def never(requests: dict[str, Any]) -> dict[str, Any]:
        await asyncio.Event().wait()
        return {}

    transport = FakeTransport([asks("a"), said("done")])
    client = McpClient(transport, on_input_required=slow, timeout=0.05)
    assert (await client.call("t")).content[0]["text"] == "done"
    transport = FakeTransport([asks("a")])
    client = McpClient(transport, on_input_required=never, timeout=0.02, max_timeout=0.04)
    with pytest.raises(RequestTimeout) as caught:
        await client.call("t")
    assert caught.value.seconds == 0.04


async def test_a_timeout_of_the_handlers_own_passes() -> None:
    async def handler(requests: dict[str, Any]) -> dict[str, Any]:
        raise TimeoutError("the person went home")

    with pytest.raises(TimeoutError, match="went home"):
        await McpClient(FakeTransport([asks("a")]), on_input_required=handler).call("t")


@pytest.mark.must("C66")
@pytest.mark.case("L04")
@pytest.mark.timeout(20)
async def test_state_alone_is_retried_a_bounded_number_of_times(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rounds, "FIRST_PAUSE", 0.0)
    transport = FakeTransport([asks(state=str(n)) for n in range(20)])
    with pytest.raises(InputRequired) as caught:
        await McpClient(transport).call("t")
    assert len(transport.sent) == rounds.MAX_ROUNDS
    assert [m["params"].get("requestState") for m in transport.sent][:3] == [None, "0", "1"]
    assert caught.value.tool == "t"


@pytest.mark.must("C65")
async def test_a_list_may_not_ask() -> None:
    with pytest.raises(MalformedMessage):
        await McpClient(FakeTransport([asks(state="s")])).list_tools()


@pytest.mark.must("C67")
async def test_what_was_read_after_rounds_of_input_is_not_kept() -> None:
    contents = page("contents", [{"uri": "a", "text": "1"}], ttlMs=60_000)
    transport = FakeTransport([asks(state="s"), contents, contents])
    client = McpClient(transport)
    await client.read_resource("a")
    await client.read_resource("a")
    assert len(transport.sent) == 3


@pytest.mark.must("C64")
async def test_parallel_rounds_do_not_mix() -> None:
    transport = Held()
    client = McpClient(transport)
    calls = [asyncio.create_task(client.call(f"t{n}")) for n in (1, 2, 3)]
    await transport.holds(3)
    for n in (3, 1, 2):
        transport.answer(n, asks(state=f"s{n}"))
    await transport.holds(6)
    retried = {m["params"]["name"]: m["params"]["requestState"] for m in transport.sent[3:]}
    assert retried == {"t1": "s1", "t2": "s2", "t3": "s3"}
    for n in (4, 5, 6):
        transport.answer(n, said())
    await asyncio.gather(*calls)


# -- deadlines, progress, notifications -----------------------------------------------------------


@pytest.mark.must("C70", "C72")
@pytest.mark.case("L10")
@pytest.mark.timeout(10)
@pytest.mark.parametrize("method", ["connect", "call", "read_resource"])
@pytest.mark.must("C94")
async def test_silence_ends_at_the_deadline_for_every_method(method: str) -> None:
    transport = Held()
    client = McpClient(transport, server="cal", timeout=0.02)
    with pytest.raises(RequestTimeout) as caught:
        await getattr(client, method)(*[] if method == "connect" else ["x"])
    assert caught.value.seconds == 0.02 and caught.value.server == "cal"
    assert transport.waiting[1].cancelled()


@pytest.mark.must("C71")
async def test_a_deadline_can_be_set_for_one_call() -> None:
    client = McpClient(Held(), timeout=60)
    with pytest.raises(RequestTimeout) as caught:
        await client.call("t", timeout=0.01)
    assert caught.value.seconds == 0.01


@pytest.mark.must("C71")
@pytest.mark.parametrize("seconds", [0, -1, float("nan")])
@pytest.mark.parametrize("method", ["call", "read_resource", "get_prompt"])
async def test_a_deadline_of_no_seconds_is_a_mistake_of_ours(method: str, seconds: float) -> None:
    transport = FakeTransport([])
    with pytest.raises(ValueError, match="timeout"):
        await getattr(McpClient(transport), method)("x", timeout=seconds)
    with pytest.raises(ValueError, match="timeout"):
        await getattr(McpClient(FakeTransport([]), timeout=seconds), method)("x")
    assert transport.sent == []


@pytest.mark.must("C74", "C71")
@pytest.mark.case("L08")
async def test_progress_extends_the_deadline_up_to_the_maximum() -> None:
    transport = Held()
    client = McpClient(transport, timeout=0.6, max_timeout=60)
    heard: list[Any] = []
    call = asyncio.create_task(client.call("t", on_progress=heard.append))
    await transport.holds(1)
    for n in range(1, 5):
        await asyncio.sleep(0.2)  # four times 0.2 s is longer than one deadline of 0.6 s
        assert transport.listener is not None
        transport.listener(progress(1, n))
    transport.answer(1, said())
    assert (await call).content
    assert [params["progress"] for params in heard] == [1, 2, 3, 4]


@pytest.mark.must("C71")
@pytest.mark.timeout(10)
async def test_progress_without_end_meets_the_maximum() -> None:
    transport = Held()
    client = McpClient(transport, timeout=0.05, max_timeout=0.1)
    call = asyncio.create_task(client.call("t", on_progress=lambda _: None))
    await transport.holds(1)
    for n in range(1000):
        if call.done():
            break
        await asyncio.sleep(0.01)
        assert transport.listener is not None
        transport.listener(progress(1, n))
    with pytest.raises(RequestTimeout):
        await call


def progress(token: Any, value: Any) -> dict[str, Any]:
    params = {"progressToken": token, "progress": value}
    return {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}


@pytest.mark.must("C75", "C73")
async def test_progress_that_nobody_waits_for_or_that_goes_back_is_ignored() -> None:
    transport = Held()
    client = McpClient(transport)
    heard: list[Any] = []
    call = asyncio.create_task(client.call("t", on_progress=heard.append))
    await transport.holds(1)
    assert transport.listener is not None
    for token, value in [(1, 5), (99, 6), (None, 7), ([], 7), (1, 3), (1, "x"), (1, 6)]:
        transport.listener(progress(token, value))
    transport.listener({"jsonrpc": "2.0", "method": "notifications/progress"})
    transport.answer(1, said())
    await call
    transport.listener(progress(1, 9))
    assert [params["progress"] for params in heard] == [5, 6]


@pytest.mark.case("L08")
async def test_a_progress_token_is_sent_only_when_wanted() -> None:
    transport = FakeTransport([said(), said()])
    client = McpClient(transport)
    await client.call("t")
    await client.call("t", on_progress=lambda _: None)
    tokens = [m["params"]["_meta"].get("progressToken") for m in transport.sent]
    assert tokens == [None, 2]


@pytest.mark.must("C78")
async def test_no_log_level_is_asked_for_by_default() -> None:
    transport = FakeTransport([said()])
    await McpClient(transport).call("t")
    assert f"{META}logLevel" not in transport.sent[0]["params"]["_meta"]


@pytest.mark.must("C04")
@pytest.mark.case("F19")
async def test_notifications_reach_the_host_and_are_never_answered() -> None:
    odd = {"method": "codex/event", "params": {}}
    transport = FakeTransport([[odd, said()]])
    heard: list[Any] = []
    await McpClient(transport, on_notification=heard.append).call("t")
    assert [message["method"] for message in heard] == ["codex/event"]
    assert len(transport.sent) == 1


async def test_a_callback_that_raises_does_not_end_the_call() -> None:
    problems: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: problems.append(context))

    def fails(message: dict[str, Any]) -> None:
        raise KeyError("ours")

    transport = FakeTransport([[{"method": "notifications/x"}, said("done")]])
    result = await McpClient(transport, on_notification=fails).call("t")
    assert result.content[0]["text"] == "done"
    assert isinstance(problems[0]["exception"], KeyError)


class Awaited:
    async def __call__(self, message: dict[str, Any]) -> None: ...


@pytest.mark.parametrize("callback", [Awaited().__call__, Awaited()], ids=["function", "object"])
async def test_an_async_callback_is_refused_since_nobody_would_await_it(callback: Any) -> None:
    with pytest.raises(TypeError, match="on_notification"):
        McpClient(FakeTransport([]), on_notification=callback)
    transport = FakeTransport([])
    with pytest.raises(TypeError, match="on_progress"):
        await McpClient(transport).call("t", on_progress=callback)
    assert transport.sent == []


async def test_a_callback_that_raises_a_cancellation_cancels_nothing() -> None:
    problems: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: problems.append(context))

    def cancels(message: dict[str, Any]) -> None:
        raise asyncio.CancelledError

    transport = FakeTransport([[{"method": "notifications/x"}, said("done")]])
    result = await McpClient(transport, on_notification=cancels).call("t")
    assert result.content[0]["text"] == "done" and len(problems) == 1


# -- headers --------------------------------------------------------------------------------------

ANNOTATED = {"type": "object", "properties": {"r": {"type": "string", "x-mcp-header": "Region"}}}


@pytest.mark.must("C48", "C49")
async def test_annotated_arguments_travel_in_the_envelope_where_the_transport_mirrors() -> None:
    script = [page("tools", [tool("t", inputSchema=ANNOTATED)]), said(), said()]
    transport = Mirroring(script)
    client = McpClient(transport)
    await client.connect(discover=False)
    await client.call("t", {"r": "eu"})
    await client.call("t", {"r": None})
    assert transport.envelopes == [{}, {"Mcp-Param-Region": "eu"}, {}]


@pytest.mark.must("C50", "C51")
async def test_a_tool_with_a_bad_annotation_is_left_out_and_the_reason_kept() -> None:
    bad = {"type": "object", "properties": {"r": {"type": "number", "x-mcp-header": "R"}}}
    script = [page("tools", [tool("good"), tool("bad", inputSchema=bad)])]
    trace = Trace()
    client = McpClient(Mirroring(script), trace=trace)
    assert [t.name for t in await client.connect(discover=False)] == ["good"]
    assert "bad" in client.left_out[0]
    assert any("bad" in str(event.facts.get("text")) for event in trace.events)


async def test_over_a_pipe_such_an_annotation_means_nothing() -> None:
    bad = {"type": "object", "properties": {"r": {"type": "number", "x-mcp-header": "R"}}}
    client = McpClient(FakeTransport([page("tools", [tool("t", inputSchema=bad)])]))
    assert [t.name for t in await client.connect(discover=False)] == ["t"]


@pytest.mark.must("C52")
async def test_a_header_mismatch_lists_the_tools_again_and_retries_once() -> None:
    script = [
        page("tools", [tool("t")]),
        refused(-32020),
        page("tools", [tool("t", inputSchema=ANNOTATED)]),
        said("done"),
    ]
    transport = Mirroring(script)
    client = McpClient(transport)
    await client.connect(discover=False)
    assert (await client.call("t", {"r": "eu"})).content[0]["text"] == "done"
    assert transport.envelopes[-1] == {"Mcp-Param-Region": "eu"}
    transport = Mirroring([refused(-32020), page("tools", []), refused(-32020)])
    with pytest.raises(HeaderMismatch):
        await McpClient(transport).call("t")
    assert len(transport.sent) == 3


async def test_the_trace_follows_a_call_through_client_and_transport() -> None:
    trace = Trace()
    client = McpClient(FakeTransport([said()]), server="cal", trace=trace)
    await client.call("t")
    seen = [(event.layer, event.what) for event in trace.events]
    assert seen == [
        ("client", "request"),
        ("transport", "sent"),
        ("transport", "received"),
        ("client", "response"),
    ]


async def test_a_timeout_that_is_not_our_deadline_is_passed_on_as_it_is() -> None:
    theirs = TimeoutError("the person's own")
    with pytest.raises(TimeoutError) as caught:
        await McpClient(FakeTransport([theirs])).call("x")
    assert caught.value is theirs


@pytest.mark.parametrize("seconds", [0, -1, float("nan")])
def test_a_client_with_no_time_at_all_is_refused_when_it_is_made(seconds: float) -> None:
    with pytest.raises(ValueError, match="timeout must be above 0"):
        McpClient(FakeTransport([]), timeout=seconds)


async def test_a_failing_on_progress_is_reported_as_that() -> None:
    problems: list[str] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: problems.append(context["message"]))
    params = {"progressToken": 1, "progress": 1}
    told = {"method": "notifications/progress", "params": params}
    answer = {"result": {"resultType": "complete", "content": []}}
    client = McpClient(FakeTransport([[told, answer]]))
    await client.call("add", on_progress=lambda params: params["no such key"])
    assert problems == ["a callback failed on progress"]
