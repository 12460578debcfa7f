"""Whatever an answer does, a verdict comes back: all parts run, each failure in words."""

from __future__ import annotations

import asyncio
import contextlib
import re
import signal
import sys
import threading
import time
from typing import Any

import pytest
from toys import async_toy, toy

from exercises.machine import Unmet, refused, refused_async, why_red
from exercises.machine.judge import judge
from exercises.machine.verdict import KIND, Finding, Verdict
from mini_agent import draw

SHORT = 0.3


def only(verdict: Verdict) -> Finding:
    """Of a verdict whose parts all say the same, the first."""
    assert len({(f.state, f.wanted, f.came) for f in verdict.findings}) == 1, verdict
    return verdict.findings[0]


# -- what an answer may do ------------------------------------------------------------------------


def test_a_right_answer_passes() -> None:
    verdict = judge(toy(), lambda x: x)
    assert verdict.passed and "Passed: every part holds." in verdict.text


def test_every_part_runs_when_the_first_fails() -> None:
    verdict = judge(toy(), lambda x: 2)
    assert [finding.state for finding in verdict.findings] == ["fails", "holds"]
    assert verdict.findings[0] == Finding("one", "fails", "1", "2", "one is given", "One is one.")


def test_one_is_not_true() -> None:
    assert judge(toy(), float).findings[0].came == "1.0"
    assert judge(toy(), lambda x: x == 1 or x).findings[0].came == "True"


def raises(error: BaseException) -> Any:
    def f(x: object) -> None:
        raise error

    return f


@pytest.mark.parametrize("error", [ValueError("no"), SystemExit(3), KeyboardInterrupt("x")])
def test_an_exception_is_an_answer(error: BaseException) -> None:
    finding = judge(toy(), raises(error)).findings[0]
    assert (finding.state, finding.wanted) == ("fails", "no exception")
    assert finding.came == f"{type(error).__name__}: {error}"


def test_an_exception_and_a_value_that_cannot_be_shown_are_answers() -> None:
    class Rude(Exception):
        def __str__(self) -> str:
            raise RuntimeError

        def __repr__(self) -> str:
            raise RuntimeError

        def __eq__(self, other: object) -> bool:
            raise RuntimeError

        __hash__ = None  # type: ignore[assignment]

    assert judge(toy(), raises(Rude())).findings[0].came == "Rude"
    assert "whose repr raises RuntimeError" in judge(toy(), lambda x: Rude()).findings[0].came


class Mute:
    """Says what it is by raising."""

    def __init__(self, error: type[BaseException] | None) -> None:
        self.error = error

    def __repr__(self) -> str:
        if self.error is None:
            spin(0)
        raise self.error or AssertionError

    __str__ = __repr__


@pytest.mark.parametrize("error", [ValueError, SystemExit, KeyboardInterrupt])
def test_an_answer_that_cannot_be_shown_is_named_by_its_class(error: type[BaseException]) -> None:
    wanted = f"a Mute whose repr raises {error.__name__}"
    assert wanted in only(judge(toy(), Mute(error))).came
    assert judge(toy(), lambda x: Mute(error)).findings[0].came == wanted


def test_an_answer_whose_words_never_end_is_stopped() -> None:
    class Endless(Mute, Exception): ...

    assert only(judge(toy(), Mute(None), SHORT)).wanted == "an end"
    assert only(judge(toy(), raises(Endless(None)), SHORT)).wanted == "an end"


def test_an_answer_that_cannot_be_looked_at_is_an_answer() -> None:
    class Masked:
        @property
        def __class__(self) -> type:  # type: ignore[override]
            raise RuntimeError("who asks?")

    finding = only(judge(toy(), Masked()))
    assert (finding.part, finding.came) == (KIND, "RuntimeError: who asks?")


def test_an_exception_with_a_when_of_its_own_is_an_answer() -> None:
    class Late(Exception):
        @property
        def when(self) -> str:
            raise RuntimeError

    finding = judge(toy(), raises(Late("no"))).findings[0]
    assert (finding.came, finding.when) == ("Late: no", "")


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="no signals to a thread here")
def test_who_stops_the_cell_stops_the_check_and_not_one_part_of_it() -> None:
    main, began, ran = threading.get_ident(), time.monotonic(), []
    threads = threading.active_count()

    def f(x: object) -> None:
        ran.append(x)
        signal.pthread_kill(main, signal.SIGINT)
        spin(x)

    with pytest.raises(KeyboardInterrupt):
        judge(toy(), f)
    assert ran == [1] and time.monotonic() - began < 4
    assert threading.active_count() == threads


def test_recursion_without_end_is_an_answer() -> None:
    def f(x: object) -> object:
        return f(x)

    assert judge(toy(), f).findings[0].came.startswith("RecursionError")


def test_what_is_shown_is_visible_short_and_without_addresses() -> None:
    assert judge(toy(), lambda x: "\x1b[2J").findings[0].came == r"'\x1b[2J'"
    assert len(judge(toy(), lambda x: "x" * 10_000).findings[0].came) < 400
    assert "0x" not in judge(toy(), lambda x: object()).findings[0].came


def test_a_value_with_a_huge_repr_is_shown_as_short_and_at_once() -> None:
    huge = "\x1b" * 20_000_000
    began = time.process_time()
    came = judge(toy(), lambda x: huge).findings[0].came
    assert came.startswith(r"'\x1b\x1b") and came.endswith(r"\x1b'") and len(came) < 400
    assert time.process_time() - began < 3  # measured: 0.2; it was 20 to make all of it visible


def test_an_exception_that_cannot_be_looked_at_is_an_answer() -> None:
    class Masked(Exception):
        def __getattribute__(self, name: str) -> object:
            raise LookupError(name)

    came = set()
    with contextlib.suppress(LookupError):  # pytest could not show it either
        came = {finding.came for finding in judge(toy(), raises(Masked())).findings}
    assert came == {"an exception that cannot be looked at"}


# -- loops without end ----------------------------------------------------------------------------


def spin(x: object) -> None:
    while True:
        pass


def spin_and_catch(x: object) -> None:
    while True:
        try:
            while True:
                pass
        except BaseException:  # noqa: BLE001 - that is the case
            continue


def test_a_loop_without_end_is_stopped_and_the_other_parts_run() -> None:
    before = threading.active_count()
    verdict = judge(toy(), lambda x: spin(x) if x == 1 else x, SHORT)
    assert [finding.state for finding in verdict.findings] == ["fails", "holds"]
    assert verdict.findings[0].came == "it had not come back after 0.3 s, and was stopped"
    assert threading.active_count() == before


def test_a_loop_that_catches_everything_is_stopped_once_it_does_not() -> None:
    tries: list[int] = []

    def f(x: object) -> None:
        while len(tries) < 4:
            try:
                spin(x)
            except SystemExit:
                tries.append(1)

    assert judge(toy(), f, SHORT).findings[0].wanted == "an end"


def test_a_loop_that_cannot_be_stopped_is_left_behind() -> None:
    release = threading.Event()
    verdict = judge(toy(), lambda x: release.wait(20), 0.05)
    release.set()
    assert only(verdict).wanted == "an end"


def test_after_one_loop_the_others_get_less_time() -> None:
    came = [finding.came for finding in judge(toy(), spin, 1.5).findings]
    assert came == [f"it had not come back after {n} s, and was stopped" for n in ("1.5", "1")]


@pytest.mark.parametrize("real_time", [False, True])
def test_a_coroutine_that_never_awaits_is_stopped(real_time: bool) -> None:
    async def f(x: object) -> None:
        spin(x)

    assert only(judge(async_toy(real_time=real_time), f, SHORT)).wanted == "an end"


@pytest.mark.parametrize("real_time", [False, True])
def test_a_coroutine_that_always_awaits_is_stopped(real_time: bool) -> None:
    async def f(x: object) -> None:
        while True:  # noqa: ASYNC110 - that is the case
            await asyncio.sleep(0)

    assert only(judge(async_toy(real_time=real_time), f, SHORT)).wanted == "an end"


def test_waiting_for_nobody_is_found_at_once() -> None:
    async def f(x: object) -> None:
        await asyncio.Event().wait()

    started = time.monotonic()
    finding = only(judge(async_toy(), f))
    assert finding.came == "it waits for something that nobody will ever send"
    assert time.monotonic() - started < 2


def test_a_task_that_spins_is_stopped() -> None:
    async def f(x: object) -> object:
        async def inner() -> None:
            spin(x)

        task = asyncio.create_task(inner())
        await asyncio.sleep(0)
        return task

    assert only(judge(async_toy(), f, SHORT)).wanted == "an end"


# -- the clock that jumps -------------------------------------------------------------------------


def test_an_hour_passes_at_once_and_timers_keep_their_order() -> None:
    async def f(x: int) -> int:
        order: list[str] = []
        loop = asyncio.get_running_loop()
        began = loop.time()
        loop.call_later(1800, order.append, "half")
        await asyncio.sleep(3600)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(60):
                await asyncio.Event().wait()
        assert order == ["half"] and 3660 <= loop.time() - began < 3661
        return x

    started = time.monotonic()
    assert judge(async_toy(), f).passed
    assert time.monotonic() - started < 2


def test_a_thread_and_a_child_process_are_waited_for() -> None:
    async def f(x: int) -> int:
        child = await asyncio.create_subprocess_exec(sys.executable, "-Sc", "")
        assert await child.wait() == 0
        event = threading.Event()
        waiting = asyncio.create_task(asyncio.to_thread(event.wait))
        await asyncio.sleep(0)
        event.set()
        return x * await waiting

    assert judge(async_toy(), f).passed
    assert judge(async_toy(real_time=True), f).passed


def test_tasks_that_are_left_hear_that_it_is_over() -> None:
    heard: list[str] = []

    async def left() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            heard.append("over")

    async def f(x: int) -> int:
        asyncio.create_task(left())  # noqa: RUF006 - nobody keeps it: that is the case
        await asyncio.sleep(0)
        return x

    assert judge(async_toy(), f).passed and heard == ["over"]


# -- the kind of answer ---------------------------------------------------------------------------


@pytest.mark.parametrize("answer", [5, None, True, "f", [1], {"f": 1}])
def test_what_is_no_function_is_named(answer: object) -> None:
    finding = only(judge(toy(), answer))
    assert finding.wanted == "a function (def)" and repr(answer) in finding.came


def test_anything_that_can_be_called_will_do() -> None:
    assert judge(toy(), int).passed
    assert judge(toy(), abs).passed


def test_async_and_plain_functions_are_told_apart() -> None:
    async def later(x: object) -> object:
        return x

    assert only(judge(toy(), later)).came == "an async function (async def)"
    assert only(judge(async_toy(), lambda x: x)).came == "a function (def)"


def test_a_coroutine_in_place_of_its_function_is_named() -> None:
    async def later(x: object) -> object:
        return x

    assert "leave the () away" in only(judge(async_toy(), later(1))).came


def test_a_table_that_is_not_filled_in_names_what_is_open() -> None:
    verdict = judge(toy({"a": ..., "b": ...}), {"a": 1, "b": ...})
    assert verdict.untouched and "Replace the ... at 'b'." in verdict.text
    assert judge(toy(), ...).untouched


def test_a_list_that_holds_itself_is_an_answer() -> None:
    endless: list[Any] = []
    endless.append(endless)
    assert judge(toy([]), endless).passed is False


def test_of_another_kind_no_part_is_run() -> None:
    assert "Not yet. It is of another kind, and no part was run." in judge(toy(), 5).text


# -- what a part hands over ------------------------------------------------------------------------


async def test_what_a_part_itself_says_inside_an_answer_is_not_taken_for_the_answers() -> None:
    def asked_wrongly() -> None:
        raise Unmet("one question", "two")

    async def later() -> None:
        asked_wrongly()

    for kind in (ValueError, AssertionError, Exception):
        with pytest.raises(Unmet, match="expected one question, came two"):
            refused(kind, asked_wrongly)
        with pytest.raises(Unmet, match="expected one question, came two"):
            await refused_async(kind, later())


# -- an answer that is a test ----------------------------------------------------------------------


async def test_a_test_is_red_in_whatever_way_it_ends() -> None:
    async def asserts(x: int) -> None:
        assert x == 1, "not one"

    def expects(x: int) -> None:
        with pytest.raises(ZeroDivisionError):
            1 / x

    assert await why_red(asserts, 1) == ""
    assert (await why_red(asserts, 2)).startswith("AssertionError: not one")
    assert [bool(await why_red(expects, x)) for x in (0, 2)] == [False, True]
    with pytest.raises(NotImplementedError):
        await why_red(stub, 1)


def stub(x: int) -> None:
    raise NotImplementedError


# -- words ----------------------------------------------------------------------------------------


def test_a_stub_is_still_to_write_under_its_own_name() -> None:
    task = toy()
    assert judge(task, task.make_stub()).text == (
        '99.1 · Give it back\nNot yet. f is still to write.\n\nhint("99.1") gives a hint.'
    )


def test_a_part_that_is_still_to_write_is_no_failure() -> None:
    def f(x: int) -> int:
        if x == 2:
            raise NotImplementedError
        return x

    assert [f.state for f in judge(toy(), f).findings] == ["holds", "to write"]


def test_the_text_says_expected_came_when_and_idea() -> None:
    text = judge(toy(), lambda x: 2).text
    found = re.findall(r"^ {6}(\w+): +(.*)$", text, re.MULTILINE)
    assert found == [
        ("when", "one is given"), ("expected", "1"), ("came", "2"), ("idea", "One is one."),
    ]  # fmt: skip
    assert "Not yet. 1 of 2 parts hold." in text


def test_one_exception_that_ends_every_part_is_told_once() -> None:
    text = judge(toy(), raises(ValueError("no"))).text
    assert text.count("ValueError: no") == 1
    assert "  fails     two (the same)" in text


def test_two_parts_that_expect_the_same_are_both_told() -> None:
    findings = [Finding(name, "fails", "1", "2", idea=f"{name} is one.") for name in ("a", "b")]
    text = Verdict("99.1", "Toy", findings).text
    assert "a is one." in text and "b is one." in text


def test_a_drawing_stands_below_the_words_that_name_its_part() -> None:
    findings = [
        Finding("part 1", "holds"),
        Finding("part 2", "fails", "1", "2"),
        Finding("part 3", "fails", "1", "2", draw=draw.error_paths),
        Finding("part 4", "fails", "1", "2", draw=draw.error_paths),
    ]
    verdict = Verdict("99.1", "Toy", findings)
    words, drawing = verdict.displays()
    assert words["text/plain"] == f"{verdict.text}\n\nDrawn: part 3"
    assert "image/svg+xml" in drawing


def test_a_drawing_that_cannot_be_made_leaves_the_words() -> None:
    def torn() -> object:
        raise RuntimeError

    verdict = Verdict("99.1", "Toy", [Finding("one", "fails", "1", "2", draw=torn)])
    assert verdict.displays() == [{"text/plain": verdict.text}]


async def test_a_verdict_may_be_awaited() -> None:
    verdict = judge(toy(), lambda x: x)
    assert await verdict is verdict
