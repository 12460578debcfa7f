"""The deadline of a request: what ends it, what moves it, what stops it, and its one timer."""

from __future__ import annotations

import asyncio
import contextvars
import math
from typing import Any

import pytest

from mini_agent.errors import RequestTimeout
from mini_agent.mcp.patience import Alarm, Deadline, clock_stopped

SOON = 0.01


def now() -> float:
    return asyncio.get_running_loop().time()


async def wait_inside(deadline: Deadline) -> None:
    with deadline:
        await asyncio.Event().wait()


# -- the end of it --------------------------------------------------------------------------------


async def test_what_takes_too_long_ends_in_a_request_timeout() -> None:
    with pytest.raises(RequestTimeout, match=r"no answer within 0\.01 s") as caught:
        await wait_inside(Deadline(Alarm(), SOON))
    assert caught.value.seconds == SOON
    task = asyncio.current_task()
    assert task is not None and task.cancelling() == 0


async def test_what_comes_in_time_is_left_alone() -> None:
    with Deadline(Alarm(), SOON):
        await asyncio.sleep(0)
    await asyncio.sleep(2 * SOON)


async def test_a_cancel_from_outside_stays_one() -> None:
    task = asyncio.create_task(wait_inside(Deadline(Alarm(), 10)))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_cancel_in_the_same_turn_wins_over_the_deadline() -> None:
    deadline = Deadline(Alarm(), 10)
    task = asyncio.create_task(wait_inside(deadline))
    await asyncio.sleep(0)
    deadline.expire()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_another_error_passes_also_when_it_is_late() -> None:
    async def fails_when_cancelled() -> None:
        with Deadline(Alarm(), SOON):
            try:
                await asyncio.Event().wait()
            finally:
                raise LookupError

    with pytest.raises(LookupError):
        await fails_when_cancelled()
    task = asyncio.current_task()
    assert task is not None and task.cancelling() == 0


async def test_a_timeout_of_somebody_else_is_not_ours() -> None:
    with pytest.raises(TimeoutError), Deadline(Alarm(), 10):
        async with asyncio.timeout(SOON):
            await asyncio.Event().wait()


async def test_ours_passes_through_a_longer_one_around_it() -> None:
    async with asyncio.timeout(10) as whole:
        with pytest.raises(RequestTimeout):
            await wait_inside(Deadline(Alarm(), SOON))
    assert not whole.expired()


def test_there_is_none_without_a_task() -> None:
    loop = asyncio.new_event_loop()

    def enter() -> None:
        with pytest.raises(RuntimeError, match="needs a task"), Deadline(Alarm(), 1):
            pass
        loop.stop()

    loop.call_soon(enter)
    loop.run_forever()
    loop.close()


# -- one timer for all ----------------------------------------------------------------------------


async def test_each_ends_at_its_own_time() -> None:
    alarm, ended = Alarm(), []

    async def ask(seconds: float) -> None:
        with pytest.raises(RequestTimeout):
            await wait_inside(Deadline(alarm, seconds))
        ended.append(seconds)

    async with asyncio.TaskGroup() as group:
        for seconds in (0.06, 0.02, 0.04):  # the earliest is neither the first nor the last
            group.create_task(ask(seconds))
    assert ended == [0.02, 0.04, 0.06]


async def test_a_short_one_that_comes_late_does_not_wait_for_a_long_one() -> None:
    alarm = Alarm()
    with Deadline(alarm, 30), pytest.raises(RequestTimeout):
        await wait_inside(Deadline(alarm, SOON))


class Remembers(asyncio.SelectorEventLoop):
    """It keeps the timers that were set in it."""

    timers: list[asyncio.TimerHandle]

    def call_at(self, *given: Any, **more: Any) -> asyncio.TimerHandle:  # type: ignore[override]
        self.timers.append(super().call_at(*given, **more))
        return self.timers[-1]


def test_many_requests_take_one_timer_which_rings_for_nobody_once() -> None:
    async def many() -> None:
        loop.timers, alarm = [], Alarm()
        with Deadline(alarm, 30), Deadline(alarm, 40), Deadline(alarm, SOON):
            pass
        for _ in range(10):
            with Deadline(alarm, 30):
                pass
        assert [timer.cancelled() for timer in loop.timers] == [True, False]  # 30, then SOON
        await asyncio.sleep(3 * SOON)
        assert alarm._timer is None and len(loop.timers) == 3  # the third is sleep's

    loop = Remembers()
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(many())


def test_what_a_loop_left_behind_does_not_keep_the_alarm_of_the_next_from_ringing() -> None:
    alarm = Alarm()

    async def is_left() -> None:
        Deadline(alarm, SOON).__enter__()  # as when the loop is stopped and closed amid a call

    async def waits() -> None:
        async with asyncio.timeout(10):
            await wait_inside(Deadline(alarm, 2 * SOON))

    asyncio.run(is_left())
    with pytest.raises(RequestTimeout):
        asyncio.run(waits())


async def test_one_that_is_thrown_away_unfinished_raises_nothing() -> None:
    async def never() -> None:
        await asyncio.get_running_loop().create_future()

    async def waits(deadline: Deadline) -> None:
        with deadline:
            await never()

    def begin() -> Any:
        waiting = waits(Deadline(Alarm(), 30))
        waiting.send(None)
        return waiting

    waiting = contextvars.copy_context().run(begin)
    waiting.close()  # as the collector does, in the context of whoever runs then


# -- progress -------------------------------------------------------------------------------------


async def test_progress_gives_the_full_time_again_but_not_beyond_the_longest() -> None:
    deadline = Deadline(Alarm(), 60, longest=150)
    began = now()
    with deadline:
        deadline.end -= 50  # as if 50 s had passed: 100 are left
        deadline.extend()
        assert deadline.end - began == pytest.approx(60, abs=1)
        deadline._seconds = 500
        deadline.extend()
        assert deadline.end - began == pytest.approx(100, abs=1)


async def test_progress_holds_the_end_off() -> None:
    loop, steps, done = asyncio.get_running_loop(), iter(range(3)), asyncio.Event()

    def progress() -> None:
        deadline.extend()
        if next(steps, None) is None:
            done.set()
        else:
            just_before_the_end()

    def just_before_the_end() -> None:  # also on a machine that is late with both
        loop.call_at(deadline.end - SOON / 10, progress)

    with Deadline(Alarm(), 5 * SOON, longest=10) as deadline:
        first = deadline.end
        just_before_the_end()
        await done.wait()
        assert now() > first


async def test_progress_after_the_end_brings_nothing_back() -> None:
    deadline = Deadline(Alarm(), SOON, longest=10)
    with pytest.raises(RequestTimeout):
        await wait_inside(deadline)
    end = deadline.end
    deadline.extend()
    assert deadline.end == end


# -- while a person is asked ----------------------------------------------------------------------


async def test_a_stopped_clock_goes_on_where_it_stopped() -> None:
    with Deadline(Alarm(), 10) as deadline:
        before = deadline.end
        with clock_stopped():
            assert deadline.end == math.inf
            deadline.extend()  # progress does not start it again
            with clock_stopped():  # one that waits within another
                await asyncio.sleep(0)
            assert deadline.end == math.inf
        assert before <= deadline.end <= now() + 10


async def test_a_stopped_clock_does_not_run_out() -> None:
    with Deadline(Alarm(), SOON), clock_stopped():
        await asyncio.sleep(3 * SOON)


async def test_a_clock_that_goes_on_runs_out() -> None:
    async def asks_and_waits() -> None:
        with Deadline(Alarm(), SOON):
            with clock_stopped():
                await asyncio.sleep(2 * SOON)  # the timer rang meanwhile, for nobody
            await asyncio.Event().wait()

    with pytest.raises(RequestTimeout):
        await asks_and_waits()


async def test_the_time_that_a_person_takes_is_not_taken_from_what_progress_may_give() -> None:
    with Deadline(Alarm(), 0.1, longest=0.15) as deadline:
        with clock_stopped():
            await asyncio.sleep(0.2)
        before = deadline.end
        deadline.extend()
        assert deadline.end >= before


async def test_what_asks_a_person_while_it_leaves_still_says_how_long_was_waited() -> None:
    async def asks_while_it_leaves() -> None:
        with Deadline(Alarm(), SOON):
            try:
                await asyncio.Event().wait()
            finally:
                with clock_stopped():
                    pass

    with pytest.raises(RequestTimeout) as caught:
        await asks_while_it_leaves()
    assert caught.value.seconds == SOON


async def test_there_need_be_no_clock_and_a_finished_one_is_left_alone() -> None:
    with clock_stopped():
        pass
    late, alarm = asyncio.Event(), Alarm()

    async def outlives() -> None:
        await late.wait()
        with clock_stopped():
            pass

    with Deadline(alarm, 10) as deadline:
        task = asyncio.create_task(outlives())
        await asyncio.sleep(0)
    end = deadline.end
    late.set()
    await task
    assert deadline.end == end
