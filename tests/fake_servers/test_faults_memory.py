"""Each fault behind the client's seam, and the catalogue as a whole."""

from __future__ import annotations

import asyncio
import inspect

import pytest
from fakes_wire import call, request

from fake_servers.faults import FAULTS, command, http, table, transport
from mini_agent.errors import ConnectFailed, MalformedMessage, TransportClosed

CALL = call("calendar_query", {"date": "2026-08-03"}, id=7)
LATE = [n for n, fault in FAULTS.items() if "memory" in fault.carriers and fault.at == "tools/call"]


@pytest.mark.parametrize("name", LATE)
async def test_connecting_succeeds_before_the_fault(name: str) -> None:
    server = transport(name)
    found = await server.send(request("server/discover"))
    listed = await server.send(request("tools/list", id=2))
    assert found and found["result"] and listed and len(listed["result"]["tools"]) == 3


async def test_refused_is_a_failed_connection() -> None:
    with pytest.raises(ConnectFailed):
        await transport("refused").send(request("server/discover"))


@pytest.mark.parametrize(
    "name, code", [("dies_at_start", 1), ("dies_mid_call", 3), ("half_line", 1)]
)
async def test_a_server_that_ends_closes_the_transport(name: str, code: int) -> None:
    server = transport(name)
    with pytest.raises(TransportClosed) as raised:
        await server.send(CALL)
    assert raised.value.exit_code == code
    with pytest.raises(TransportClosed):
        await server.send(CALL)


async def test_the_last_words_on_stderr_are_kept() -> None:
    with pytest.raises(TransportClosed) as raised:
        await transport("dies_at_start").send(request("server/discover"))
    assert "CALENDAR_KEY" in raised.value.stderr_tail


async def test_exits_between_calls_answers_once() -> None:
    server = transport("exits_between_calls")
    assert await server.send(CALL)
    with pytest.raises(TransportClosed) as raised:
        await server.send(CALL)
    assert raised.value.exit_code == 0


@pytest.mark.parametrize("name", ["garbage", "not_utf8", "not_jsonrpc"])
async def test_a_line_that_is_no_message_is_malformed(name: str) -> None:
    server = transport(name)
    with pytest.raises(MalformedMessage):
        await server.send(CALL)
    assert await server.send(request("tools/list"))


@pytest.mark.parametrize("name", ["silence", "wrong_id"])
async def test_a_call_without_its_answer_ends_when_the_transport_is_closed(name: str) -> None:
    server = transport(name)
    waiting = asyncio.create_task(server.send(CALL))
    assert await server.send(request("tools/list"))
    assert not waiting.done()
    await server.close()
    with pytest.raises(TransportClosed):
        await waiting


@pytest.mark.parametrize("name", ["duplicate", "wrong_id"])
async def test_what_answers_nothing_is_heard(name: str) -> None:
    server = transport(name)
    heard: asyncio.Queue[object] = asyncio.Queue()
    server.listener = heard.put_nowait
    sending = asyncio.create_task(server.send(CALL))
    await heard.get()
    await server.close()
    await asyncio.wait([sending])
    assert heard.empty() and (sending.exception() is None) == (name == "duplicate")


async def test_a_late_answer_comes_after_the_cancel_and_answers_nobody() -> None:
    server = transport("late_answer")
    heard: list[object] = []
    server.listener = heard.append
    waiting = asyncio.create_task(server.send(CALL))
    await server.met.wait()
    waiting.cancel()
    await asyncio.wait([waiting])
    assert await server.send(request("tools/list"))
    assert [m["id"] for m in heard] == [7]  # type: ignore[index]


async def test_a_late_answer_comes_when_it_is_released() -> None:
    server = transport("late_answer")
    waiting = asyncio.create_task(server.send(CALL))
    await server.met.wait()
    server.release()
    answer = await waiting
    assert answer and answer["id"] == 7


@pytest.mark.parametrize(
    "name, code",
    [("old_version", -32022), ("missing_capability", -32021), ("unknown_tool", -32602)],
)
async def test_an_error_is_an_error(name: str, code: int) -> None:
    answer = await transport(name).send(CALL)
    assert answer and answer["error"]["code"] == code


@pytest.mark.parametrize(
    "name, field, value",
    [
        ("unknown_result_type", "resultType", "task"),
        ("input_required", "resultType", "input_required"),
        ("is_error", "isError", True),
    ],
)
async def test_a_result_is_a_result(name: str, field: str, value: object) -> None:
    answer = await transport(name).send(CALL)
    assert answer and answer["result"][field] == value


# -- the catalogue --------------------------------------------------------------------------------


def test_the_catalogue_is_complete() -> None:
    assert " ".join(FAULTS) == (
        "refused dies_at_start old_version dies_mid_call exits_between_calls stderr_flood garbage "
        "half_line huge_line not_utf8 not_jsonrpc wrong_id duplicate silence late_answer "
        "missing_capability unknown_result_type input_required unknown_tool is_error stream_cut "
        "slow status_401 status_403 status_404_bare status_404_jsonrpc status_429 status_502_html "
        "wrong_content_type cut_body"
    )


@pytest.mark.parametrize("fault", FAULTS.values(), ids=list(FAULTS))
def test_a_fault_is_one_short_function_with_one_line_that_says_what_goes_wrong(
    fault: object,
) -> None:
    run = fault.run  # type: ignore[attr-defined]
    assert len(inspect.getsource(run).splitlines()) <= 16
    assert "\n" not in fault.what and fault.what.endswith(".")  # type: ignore[attr-defined]


def test_the_table_has_a_line_for_each() -> None:
    assert len(table().splitlines()) == len(FAULTS)


def test_a_carrier_that_lacks_a_fault_says_so() -> None:
    for start, name in ((command, "status_401"), (transport, "stderr_flood"), (http, "half_line")):
        with pytest.raises(ValueError):
            start(name)
    with pytest.raises(KeyError):
        command("no_such_fault")
