"""Runs a function that may do anything, and comes back.

The function runs in a thread of its own. A learner's function lives in the notebook's ``__main__``
with everything that it uses, so it cannot be sent to a child process without losing what it rests
on; an alarm signal is missing on Windows; and the notebook's thread already runs an event loop, in
which no second one may run. In a thread, sync and async answers are checked in the same way, and a
loop that never awaits is stopped by an exception raised inside it.

What cannot be stopped is one call into C that does not return, such as ``list(itertools.count())``.
A sleep in C is left behind, and the thread with it.
"""

from __future__ import annotations

import contextlib
import contextvars
import ctypes
import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")

FIRST_STOP = 0.5  # seconds that a stopped function has for its own finally blocks
NEXT_STOP = 0.05
STOPS = 10  # for code that catches everything in a loop: it catches this many


class OutOfTime(SystemExit):
    """Raised inside a function that did not come back.

    A SystemExit, since ``except Exception`` must not catch it, and an event loop lets it through
    at once instead of keeping it for one of its tasks.
    """


def in_time(function: Callable[[], T], seconds: float) -> T:
    """What ``function()`` returns, run in a thread that may take ``seconds``.

    Raises: OutOfTime when it took longer; whatever the function raises.
    """
    worker = _Worker(function)
    try:
        worker.start()
        worker.join(seconds)
        late = worker.is_alive()
    finally:  # also when the person at the notebook interrupts the start or the wait
        worker.stop()
    return worker.outcome(late)


class _Worker(threading.Thread, Generic[T]):
    """One run of one function."""

    def __init__(self, function: Callable[[], T]) -> None:
        super().__init__(daemon=True, name="exercise")
        self._function = function
        self._context = contextvars.copy_context()  # so that prints find the cell they belong to
        self._value: list[T] = []
        self._error: BaseException = OutOfTime("it did not come back")

    def run(self) -> None:
        with contextlib.suppress(OutOfTime):  # where it came as the function was ending anyway
            self._run()

    def _run(self) -> None:
        try:
            self._value.append(self._context.run(self._function))
        except BaseException as error:  # noqa: BLE001 - handed to whoever waits
            self._error = error

    def stop(self) -> None:
        """Raise OutOfTime in it, again and again, until it has ended or nothing helps."""
        for turn in range(STOPS):
            if not self.is_alive():
                return
            raise_in(self, OutOfTime)
            self.join(NEXT_STOP if turn else FIRST_STOP)

    def outcome(self, late: bool) -> T:
        """What the function returned. Raises: what it raised; OutOfTime where it came too late."""
        if late and not isinstance(self._error, OutOfTime):
            raise OutOfTime("it came back too late")
        if self._value and not late:
            return self._value[0]
        raise self._error


def raise_in(thread: threading.Thread, error: type[BaseException]) -> None:
    """Raise ``error`` in another thread, at its next line of Python."""
    identity: Any = ctypes.c_ulong(thread.ident or 0)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(identity, ctypes.py_object(error))
