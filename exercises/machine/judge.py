"""Runs every part of a check on an answer. Whatever the answer does, a Verdict comes back."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterable, Iterator
from typing import Any

from exercises.machine.expect import Unmet, said, shown, when_of
from exercises.machine.limit import OutOfTime, in_time
from exercises.machine.quick_loop import WaitsForEver, run_async
from exercises.machine.task import SECONDS, Part, Task
from exercises.machine.verdict import KIND, NO_EXCEPTION, Finding, Verdict

AFTERWARDS = 1.0  # seconds for a part when an earlier one did not come back


def judge(task: Task, answer: Any, seconds: float | None = None) -> Verdict:
    """What the check of ``task`` says about ``answer``: all parts are run, each on its own.

    ``seconds`` bounds each part, in place of its own limit.

    Raises: KeyboardInterrupt, where the person at the notebook stops it.
    """
    look = Part(KIND, "", functools.partial(first_look, task))
    early, _ = _run(look, answer, seconds or SECONDS)
    findings = [early] if early.state != "holds" else list(_all_parts(task, answer, seconds))
    return Verdict(task.id, task.plain_heading, findings)


def _all_parts(task: Task, answer: Any, seconds: float | None) -> Iterator[Finding]:
    longest = seconds
    for part in task.parts:
        limit = part.seconds if longest is None else longest
        finding, in_good_time = _run(part, answer, limit)
        if not in_good_time:
            longest = min(limit, AFTERWARDS)
        yield finding


def _run(part: Part, answer: Any, seconds: float) -> tuple[Finding, bool]:
    """What one part found, and whether it came back by itself."""
    try:
        return in_time(functools.partial(_found, part, answer), seconds), True
    except OutOfTime as late:
        came = f"it had not come back after {seconds:g} s, and was stopped"
        return Finding(part.name, "fails", "an end", came, when_of(late), part.idea), False


def _found(part: Part, answer: Any) -> Finding:
    """In the part's thread, words included: a learner's ``__str__`` may be endless as well."""
    try:
        return _once(part, answer) or Finding(part.name, "holds")
    except OutOfTime:
        raise
    except BaseException as error:  # noqa: BLE001 - whatever a learner raises is an answer
        return _told(part, error)


def _told(part: Part, error: BaseException) -> Finding:
    """What was raised, in words; an exception may also raise when it is looked at."""
    try:
        return _finding(part, error)
    except OutOfTime:
        raise
    except BaseException:  # noqa: BLE001 - whatever a learner raises is an answer
        came = "an exception that cannot be looked at"
        return Finding(part.name, "fails", NO_EXCEPTION, came, idea=part.idea)


def _finding(part: Part, error: BaseException) -> Finding:
    idea, draw = part.idea, None
    match error:
        case Unmet(wanted=wanted, came=came):
            idea, draw = error.idea or part.idea, error.draw
        case WaitsForEver():
            wanted, came = "an end", "it waits for something that nobody will ever send"
        case NotImplementedError():
            return Finding(part.name, "to write", came=_what_is_missing(error))
        case _:
            wanted, came = NO_EXCEPTION, said(error)
    return Finding(part.name, "fails", wanted, came, when_of(error), idea, draw)


def _once(part: Part, answer: Any) -> Finding | None:
    if inspect.iscoroutinefunction(part.run):
        run_async(functools.partial(part.run, answer), real_time=part.real_time)
        return None
    came = part.run(answer)
    return came if isinstance(came, Finding) else None


def _what_is_missing(error: BaseException) -> str:
    step = error.__traceback__
    while step is not None and step.tb_next is not None:
        step = step.tb_next
    name = step.tb_frame.f_code.co_name if step is not None else "it"
    return f"{name} is still to write."


# -- before any part is run -----------------------------------------------------------------------


def first_look(task: Task, answer: Any) -> Finding | None:
    """What there is to say before any part is run."""
    return next(not_filled_in(answer), None) or next(wrong_kind(task, answer), None)


def not_filled_in(answer: Any) -> Iterator[Finding]:
    """For a table in which ``...`` stands somewhere: that there is something to write."""
    if answer is ...:
        yield Finding("", "to write", came="It is still to write.")
    blanks = list(_blanks(answer))
    if blanks:
        first = ", ".join(blanks[:3]) + (" and more" if len(blanks) > 3 else "")
        yield Finding("", "to write", came=f"Replace the ... at {first}.")


def _blanks(answer: Any, depth: int = 3) -> Iterator[str]:
    pairs: Iterable[tuple[Any, Any]] = answer.items() if type(answer) is dict else ()
    if type(answer) in (list, tuple):
        pairs = enumerate(answer, 1)
    for key, value in pairs if depth else ():
        if value is ... or any(True for _ in _blanks(value, depth - 1)):
            yield shown(key)


def wrong_kind(task: Task, answer: Any) -> Iterator[Finding]:
    """For an answer that is no function where one is needed, and the like."""
    stub = task.make_stub()
    wanted, came = kind_of(stub), kind_of(answer)
    if inspect.iscoroutine(answer):
        answer.close()
        came = "what an async function returns before it is awaited: leave the () away"
    elif came == wanted or (callable(stub) and callable(answer) and _fits(wanted, came)):
        return
    yield Finding(KIND, "fails", wanted, came + _example(answer))


def _fits(wanted: str, came: str) -> bool:
    """Of two callables, may the one stand for the other? A plain def never awaits."""
    return came == "something to call" or "async" not in wanted + came


def _example(answer: Any) -> str:
    return "" if callable(answer) or inspect.iscoroutine(answer) else f", {shown(answer)}"


def kind_of(answer: Any) -> str:
    """What an answer is, in words."""
    if inspect.iscoroutine(answer):
        return "a coroutine"
    if inspect.isclass(answer):
        return "a class"
    if inspect.iscoroutinefunction(answer):
        return "an async function (async def)"
    if inspect.isfunction(answer):
        return "a function (def)"
    if callable(answer):
        return "something to call"
    name = type(answer).__name__
    return f"an {name}" if name[0] in "aeiou" else f"a {name}"
