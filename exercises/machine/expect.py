"""What a part of a check says about an answer: it is as expected, or how it is not.

    expect(came, wanted, when="the id is True")
    require(came > 3, wanted="more than three lines", came=came)
    error = refused(MalformedMessage, parse_response, message, when="…")
    error = await refused_async(TransportClosed, client.call("x", {}), when="…")
    with doing("the bytes are cut after byte 7"): …
    require(await why_red(test, broken_client), "a red test", came="green")

Each raises Unmet, which ends the part; the other parts run all the same.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import linecache
import re
from collections.abc import Awaitable, Callable, Iterator
from types import FrameType
from typing import Any, TypeAlias, TypeVar

from exercises.machine.limit import OutOfTime
from mini_agent.visible import visible

Draw: TypeAlias = Callable[[], object]  # makes a drawing, only when a part fails
E = TypeVar("E", bound=BaseException)

LONGEST = 320  # characters of a value that are shown
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


class Unmet(AssertionError):
    """One expectation that the answer does not meet, in words. "" where there is nothing to say."""

    def __init__(
        self, wanted: str, came: str, *, when: str = "", idea: str = "", draw: Draw | None = None
    ) -> None:
        super().__init__(f"expected {wanted}, came {came}")
        self.wanted, self.came, self.when, self.idea, self.draw = wanted, came, when, idea, draw


def expect(
    came: Any, wanted: Any, *, when: str = "", idea: str = "", draw: Draw | None = None
) -> None:
    """``came`` equals ``wanted``, and is of its kind where 1, 1.0 and True would be equal.

    ``idea`` takes the place of the part's own. Raises: Unmet.
    """
    if not same(came, wanted):
        raise Unmet(shown(wanted), shown(came), when=when, idea=idea, draw=draw)


def require(
    holds: object,
    wanted: str,
    *,
    came: Any,
    when: str = "",
    idea: str = "",
    draw: Draw | None = None,
) -> None:
    """For what is no equation: ``wanted`` is a phrase. Text in ``came`` is shown as it is.

    Raises: Unmet.
    """
    if not holds:
        text = came if isinstance(came, str) else shown(came)
        raise Unmet(wanted, text, when=when, idea=idea, draw=draw)


def refused(
    kind: type[E],
    function: Callable[..., Any],
    *arguments: Any,
    when: str = "",
    idea: str = "",
    draw: Draw | None = None,
    **options: Any,
) -> E:
    """The exception of that kind which ``function(*arguments, **options)`` raises.

    Raises: Unmet when it returns, or raises another.
    """
    try:
        value = function(*arguments, **options)
    except Exception as error:  # noqa: BLE001 - which one it is, is the question
        return _of_kind(kind, error, when, idea, draw)
    raise Unmet(kind.__name__, f"no exception, but {shown(value)}", when=when, idea=idea, draw=draw)


async def refused_async(
    kind: type[E],
    waiting: Awaitable[Any],
    *,
    when: str = "",
    idea: str = "",
    draw: Draw | None = None,
) -> E:
    """The exception of that kind which awaiting raises.

    Raises: Unmet when it returns, or raises another.
    """
    try:
        value = await waiting
    except Exception as error:  # noqa: BLE001 - which one it is, is the question
        return _of_kind(kind, error, when, idea, draw)
    raise Unmet(kind.__name__, f"no exception, but {shown(value)}", when=when, idea=idea, draw=draw)


def _of_kind(kind: type[E], error: Exception, when: str, idea: str, draw: Draw | None) -> E:
    if isinstance(error, NotImplementedError) and not issubclass(kind, NotImplementedError):
        raise error  # a stub: there is nothing to judge yet
    if isinstance(error, Unmet):
        raise error  # from what the part handed to the answer, which says more
    if isinstance(error, kind):
        return error
    cause = Unmet(kind.__name__, said(error), when=when, idea=idea, draw=draw)
    raise cause from error


async def why_red(test: Callable[..., Any], *arguments: Any) -> str:
    """For an answer that is itself a test, sync or async: "" when it passes, else what it said.

    Whatever ends a test counts, ``pytest.fail`` and ``pytest.raises`` included.

    Raises: NotImplementedError, from a stub; whatever asks to stop.
    """
    try:
        came = test(*arguments)
        if inspect.isawaitable(came):
            await came
    except (NotImplementedError, SystemExit, KeyboardInterrupt, asyncio.CancelledError):
        raise
    except BaseException as error:  # noqa: BLE001 - pytest's own are no Exception
        return said(error)
    return ""


@contextlib.contextmanager
def doing(what: str) -> Iterator[None]:
    """Whatever is raised inside is reported with ``what`` as its "when"."""
    try:
        yield
    except BaseException as error:
        with contextlib.suppress(AttributeError):  # an exception with slots
            error.when = when_of(error) or what  # type: ignore[attr-defined]
        raise


def when_of(error: BaseException) -> str:
    """The situation in which it was raised, as far as a part said it."""
    when = vars(error).get("when")
    return when if isinstance(when, str) else ""


# -- words ----------------------------------------------------------------------------------------


def same(came: Any, wanted: Any) -> bool:
    """Equal, and of one type where Python calls unlike numbers equal. Never raises."""
    try:
        equal = bool(came == wanted)
    except Exception:  # noqa: BLE001 - a learner's __eq__ may raise anything
        return False
    numbers = isinstance(wanted, bool | int | float) and isinstance(came, bool | int | float)
    return equal and (not numbers or type(came) is type(wanted))


def shown(value: Any) -> str:
    """A value on one line: its repr without memory addresses, cut in the middle when long."""
    try:
        text = repr(value)
    except OutOfTime:
        raise
    except BaseException as error:  # noqa: BLE001 - a learner's __repr__ may raise anything
        text = f"a {type(value).__name__} whose repr raises {type(error).__name__}"
    half, text = LONGEST // 2, ADDRESS.sub("", text)
    if len(text) > 2 * LONGEST:  # the rest of a huge one would be made visible for nobody
        text = text[:LONGEST] + text[-LONGEST:]
    text = visible(text)
    return text if len(text) <= LONGEST else f"{text[:half]} … {text[-half:]}"


def said(error: BaseException) -> str:
    """An exception on one line, with the line of the notebook that it came from."""
    try:
        text = str(error)
    except OutOfTime:
        raise
    except BaseException:  # noqa: BLE001 - a learner's __str__ may raise anything
        text = ""
    name = type(error).__name__
    words = f"{name}: {visible(text[:LONGEST])[:LONGEST]}" if text else name
    place = place_of(error)
    return f"{words} ({place})" if place else words


def place_of(error: BaseException) -> str:
    """Where in the notebook it was raised: function and line, "" when not there."""
    found, step = "", error.__traceback__
    while step is not None:
        if step.tb_frame.f_globals.get("__name__") == "__main__":
            found = _place(step.tb_frame, step.tb_lineno)
        step = step.tb_next
    return found


def _place(frame: FrameType, number: int) -> str:
    code = frame.f_code
    line = linecache.getline(code.co_filename, number, frame.f_globals).strip()
    return f"in {code.co_name}: {visible(line)}" if line else f"in {code.co_name}"
