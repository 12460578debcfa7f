"""Each fault over a pair of pipes: what really comes, byte for byte."""

from __future__ import annotations

import asyncio
import json

import pytest
from fakes_child import Child, child
from fakes_wire import call, request

from fake_servers.faults import FAULTS, command

CALL = call("calendar_query", {"date": "2026-08-03"}, id=7)
LATE = [
    name for name, fault in FAULTS.items() if "stdio" in fault.carriers and fault.at == "tools/call"
]


async def good(server: Child, request_id: int = 2) -> None:
    """Everything but tools/call is answered well."""
    listed = await server.ask(request("tools/list", id=request_id))
    assert listed["id"] == request_id and len(listed["result"]["tools"]) == 3


@pytest.mark.parametrize("name", LATE)
async def test_connecting_succeeds_before_the_fault(name: str) -> None:
    async with child(command(name)) as server:
        found = await server.ask(request("server/discover", id=1))
        assert found["result"]["supportedVersions"] == ["2026-07-28"]
        await good(server)


async def test_refused_there_is_no_such_command() -> None:
    with pytest.raises(FileNotFoundError):
        async with child(command("refused")):
            pass


async def test_dies_at_start_says_why_on_stderr_and_nothing_else() -> None:
    async with child(command("dies_at_start")) as server:
        out, err, code = await server.end()
    assert (out, code) == (b"", 1) and b"CALENDAR_KEY" in err


@pytest.mark.parametrize("method", ["server/discover", "tools/list", "tools/call"])
async def test_old_version_refuses_every_request(method: str) -> None:
    async with child(command("old_version")) as server:
        error = (await server.ask(request(method, id=3, name="x")))["error"]
    assert error["code"] == -32022
    assert error["data"] == {"supported": ["2025-11-25"], "requested": "2026-07-28"}


async def test_dies_mid_call_ends_without_a_byte() -> None:
    async with child(command("dies_mid_call")) as server:
        await server.tell(CALL)
        out, err, code = await server.end()
    assert (out, code) == (b"", 3) and b"out of memory" in err


async def test_exits_between_calls_answers_once() -> None:
    async with child(command("exits_between_calls")) as server:
        assert (await server.ask(CALL))["result"]["isError"] is False
        assert await server.line() == b""
        assert await server.process.wait() == 0


async def test_stderr_flood_fills_the_error_pipe_before_the_answer() -> None:
    async with child(command("stderr_flood")) as server:
        await server.tell(CALL)
        flood = await server.stderr.readexactly(2**20)
        assert b"\n" not in flood
        assert json.loads(await server.line())["id"] == 7


async def test_garbage_is_a_line_that_is_not_json() -> None:
    async with child(command("garbage")) as server:
        await server.tell(CALL)
        with pytest.raises(json.JSONDecodeError):
            json.loads(await server.line())
        await good(server)


async def test_half_line_breaks_off_in_the_answer() -> None:
    async with child(command("half_line")) as server:
        await server.tell(CALL)
        out, _, code = await server.end()
    assert out.startswith(b'{"jsonrpc"') and b"\n" not in out and code == 1


async def test_huge_line_has_no_end() -> None:
    async with child(command("huge_line")) as server:
        await server.tell(CALL)
        assert b"\n" not in await server.stdout.readexactly(65 * 2**20)


async def test_huge_line_ends_when_the_client_hangs_up() -> None:
    async with child(command("huge_line")) as server:
        await server.tell(CALL)
        await server.stdout.readexactly(2**20)
        server.process._transport.get_pipe_transport(1).close()  # type: ignore[attr-defined]
        assert await asyncio.wait_for(server.process.wait(), 10) == 1


async def test_not_utf8_is_json_in_latin_1() -> None:
    async with child(command("not_utf8")) as server:
        await server.tell(CALL)
        line = await server.line()
    with pytest.raises(UnicodeDecodeError):
        line.decode()
    assert json.loads(line.decode("latin-1"))["result"]["content"][0]["text"] == "café"


async def test_not_jsonrpc_is_json_all_the_same() -> None:
    async with child(command("not_jsonrpc")) as server:
        assert "jsonrpc" not in await server.ask(CALL)


async def test_wrong_id_answers_a_request_that_nobody_made() -> None:
    async with child(command("wrong_id")) as server:
        answer = await server.ask(CALL)
        assert answer["id"] == 999_999 and answer["result"]["isError"] is False
        await good(server)


async def test_duplicate_answers_twice() -> None:
    async with child(command("duplicate")) as server:
        first = await server.ask(CALL)
        assert json.loads(await server.line()) == first


async def test_silence_answers_all_but_the_call() -> None:
    async with child(command("silence")) as server:
        await server.tell(CALL)
        await good(server)
        out, _, code = await server.end()
    assert (out, code) == (b"", 0)


async def test_late_answer_comes_after_the_next_message() -> None:
    async with child(command("late_answer")) as server:
        await server.tell(CALL)
        cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled"}
        await server.tell({**cancelled, "params": {"requestId": 7}})
        assert json.loads(await server.line())["id"] == 7
        await good(server)


async def test_late_answer_comes_at_the_end_of_stdin() -> None:
    async with child(command("late_answer")) as server:
        await server.tell(CALL)
        out, _, code = await server.end()
    assert json.loads(out)["id"] == 7 and code == 0


async def test_missing_capability_names_it() -> None:
    async with child(command("missing_capability")) as server:
        error = (await server.ask(CALL))["error"]
    assert error["code"] == -32021
    assert error["data"] == {"requiredCapabilities": {"sampling": {}}}


async def test_unknown_result_type() -> None:
    async with child(command("unknown_result_type")) as server:
        assert (await server.ask(CALL))["result"]["resultType"] == "task"


async def test_input_required_asks_and_the_retry_is_answered() -> None:
    async with child(command("input_required")) as server:
        asked = (await server.ask(CALL))["result"]
        assert asked["resultType"] == "input_required"
        assert asked["inputRequests"]["room"]["method"] == "elicitation/create"
        CALL_AGAIN = call(
            "calendar_query", {"date": "2026-08-03"}, id=8,
            requestState=asked["requestState"],
            inputResponses={"room": {"action": "accept", "content": {"room": "2"}}},
        )  # fmt: skip
        assert (await server.ask(CALL_AGAIN))["result"]["resultType"] == "complete"


async def test_unknown_tool_is_gone_from_the_list_too() -> None:
    async with child(command("unknown_tool")) as server:
        await good(server)
        error = (await server.ask(CALL))["error"]
        assert error["code"] == -32602
        tools = (await server.ask(request("tools/list")))["result"]["tools"]
    assert [tool["name"] for tool in tools] == ["calendar_create", "calendar_delete"]


async def test_is_error_is_a_good_result_of_a_bad_day() -> None:
    async with child(command("is_error")) as server:
        result = (await server.ask(CALL))["result"]
    assert result["isError"] is True and "locked" in result["content"][0]["text"]
