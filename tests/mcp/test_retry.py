"""What is tried again, how often, and after how long: nothing waits here, time is a list."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from mini_agent.errors import (
    AuthorizationError,
    ConnectFailed,
    HttpStatusError,
    InputRequired,
    JsonRpcError,
    MalformedMessage,
    McpError,
    RequestTimeout,
    TransportClosed,
)
from mini_agent.mcp.client import McpClient
from mini_agent.mcp.retry import with_retries
from mini_agent.mcp.transport import FakeTransport

REFUSED = ConnectFailed("refused")


def busy(status: int, retry_after: float | None = None) -> HttpStatusError:
    return HttpStatusError("busy", status=status, retry_after=retry_after)


class Calls:
    """A call that fails with each of ``errors`` in turn, then returns "done"; its waits."""

    def __init__(self, *errors: McpError) -> None:
        self.errors = list(errors)
        self.made = 0
        self.waits: list[float] = []

    async def __call__(self) -> str:
        self.made += 1
        if self.errors:
            raise self.errors.pop(0)
        return "done"

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)

    async def run(self, **options: Any) -> str:
        return await with_retries(self, sleep=self.sleep, **options)


def errors(make: Any, count: int) -> list[McpError]:
    return [make() for _ in range(count)]


async def test_a_call_that_succeeds_is_made_once() -> None:
    calls = Calls()
    assert await calls.run(safe=True) == "done"
    assert (calls.made, calls.waits) == (1, [])


async def test_what_never_reached_the_server_is_tried_again_in_any_case() -> None:
    calls = Calls(*errors(lambda: ConnectFailed("refused"), 2))
    assert await calls.run() == "done"
    assert (calls.made, calls.waits) == (3, [0.5, 1.0])


MAYBE = [
    TransportClosed("gone"),
    RequestTimeout("late", seconds=1),
    busy(429),
    busy(500),
    busy(502),
    busy(503),
    busy(504),
]
NEVER = [
    JsonRpcError(-32603, "no"),
    MalformedMessage("what"),
    AuthorizationError("who", status=401),
    InputRequired("more"),
    busy(400),
    busy(404),
    busy(302),
]


@pytest.mark.case("H17")
@pytest.mark.parametrize("error", MAYBE, ids=str)
async def test_what_may_have_acted_is_tried_again_only_when_it_is_declared_safe(
    error: McpError,
) -> None:
    calls = Calls(error)
    with pytest.raises(type(error)) as raised:
        await calls.run()
    assert raised.value is error and calls.made == 1
    calls = Calls(error)
    assert await calls.run(safe=True) == "done"
    assert calls.made == 2


@pytest.mark.parametrize("error", NEVER, ids=str)
async def test_what_would_end_the_same_way_is_never_tried_again(error: McpError) -> None:
    calls = Calls(error)
    with pytest.raises(type(error)):
        await calls.run(safe=True)
    assert (calls.made, calls.waits) == (1, [])


@pytest.mark.parametrize("attempts", [1, 2, 5])
async def test_the_number_of_tries_is_bounded_and_the_last_error_tells_it(attempts: int) -> None:
    given = [ConnectFailed(f"refused {number}") for number in range(10)]
    calls = Calls(*given)
    with pytest.raises(ConnectFailed) as raised:
        await calls.run(attempts=attempts)
    assert calls.made == attempts
    assert raised.value is given[attempts - 1]
    notes = getattr(raised.value, "__notes__", [])
    assert notes == ([f"tried {attempts} times"] if attempts > 1 else [])


async def test_a_pause_doubles_up_to_the_longest() -> None:
    calls = Calls(*errors(lambda: ConnectFailed("refused"), 5))
    await calls.run(attempts=6, pause=1, longest=5)
    assert calls.waits == [1, 2, 4, 5, 5]


@pytest.mark.case("H16")
async def test_retry_after_goes_before_the_pause() -> None:
    calls = Calls(busy(429, 7.0), busy(503, 0.0))
    await calls.run(safe=True)
    assert calls.waits == [7.0, 1.0]


@pytest.mark.case("H16")
async def test_a_server_that_wants_an_hour_is_not_waited_for_and_not_asked_early() -> None:
    calls = Calls(busy(429, 3600.0))
    with pytest.raises(HttpStatusError) as raised:
        await calls.run(safe=True)
    assert raised.value.retry_after == 3600.0
    assert (calls.made, calls.waits) == (1, [])


async def test_a_different_error_on_the_second_try_is_judged_anew() -> None:
    calls = Calls(ConnectFailed("refused"), TransportClosed("gone"))
    with pytest.raises(TransportClosed):
        await calls.run()
    assert calls.made == 2


async def test_cancelling_the_wait_makes_no_more_calls() -> None:
    calls, waiting = Calls(REFUSED), asyncio.Event()

    async def sleep(seconds: float) -> None:
        waiting.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(with_retries(calls, sleep=sleep))
    await waiting.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert calls.made == 1


async def test_no_attempt_at_all_is_misuse() -> None:
    with pytest.raises(ValueError):
        await with_retries(Calls(), attempts=0)


@pytest.mark.must("C55")
async def test_each_try_is_a_request_with_an_id_of_its_own() -> None:
    transport = FakeTransport([TransportClosed("cut"), {"result": {"content": []}}])
    client = McpClient(transport)
    calls = Calls()
    await with_retries(lambda: client.call("read"), safe=True, sleep=calls.sleep)
    ids = [message["id"] for message in transport.sent]
    assert len(ids) == len(set(ids)) == 2


@pytest.mark.parametrize(("attempts", "found", "waits"), [(5, 3, [0.5, 1.0]), (2, 2, [0.5])])
async def test_a_result_that_asks_for_it_is_asked_for_again_and_the_last_one_counts(
    attempts: int, found: int, waits: list[float]
) -> None:
    results, slept = iter(range(1, 9)), list[float]()

    async def call() -> int:
        return next(results)

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    options: dict[str, Any] = {"attempts": attempts, "sleep": sleep}
    assert await with_retries(call, again=lambda result: result < 3, **options) == found
    assert slept == waits
