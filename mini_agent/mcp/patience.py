"""The deadline of a request: it ends the wait, progress moves it, a person's thinking stops it.

``Exchange`` puts a Deadline around what it waits for; whoever asks a person below it says
``clock_stopped()``. Neither knows the other.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import math
from collections.abc import Iterator
from typing import Self

from mini_agent.errors import RequestTimeout

innermost: contextvars.ContextVar[Deadline | None] = contextvars.ContextVar(
    "mini_agent_deadline", default=None
)
"""The deadline that what runs now is inside of."""


class Alarm:
    """One timer for all deadlines of a client, set to the earliest: one for each would cost more.

    It stays set when nobody waits any more, for whoever comes next. At most it rings for nobody.
    """

    def __init__(self) -> None:
        self._watched: set[Deadline] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def watch(self, deadline: Deadline) -> None:
        """From now on ``deadline`` is told when its time has come."""
        if deadline.loop is not self._loop:  # what an older one was amid never rings, nor is heard
            self._loop, self._timer = deadline.loop, None
            self._watched.clear()
        self._watched.add(deadline)
        self.set(deadline.end)

    def watches(self, deadline: Deadline) -> bool:
        """False before ``watch``, after ``forget``, and once its time has come."""
        return deadline in self._watched

    def forget(self, deadline: Deadline) -> None:
        """Nobody waits for it any more."""
        self._watched.discard(deadline)

    def set(self, end: float) -> None:
        """Ring at ``end`` at the latest, in seconds of the event loop's clock."""
        if self._timer is not None:
            if self._timer.when() <= end:
                return
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_at(end, self._ring)

    def _ring(self) -> None:
        now, self._timer = asyncio.get_running_loop().time(), None
        for deadline in [each for each in self._watched if each.end <= now]:
            self._watched.remove(deadline)
            deadline.expire()
        earliest = min((each.end for each in self._watched), default=math.inf)
        if earliest < math.inf:
            self.set(earliest)


class Deadline:
    """``with Deadline(alarm, 30):`` gives what is inside 30 seconds.

    Then the task is cancelled, and at the end of the block that becomes RequestTimeout. A cancel
    from outside stays one. So far it is asyncio.timeout, at a third of its cost. ``extend`` gives
    ``seconds`` from now, though not beyond ``longest`` from the beginning. Both are in seconds, and
    neither counts the time for which it is stopped.
    """

    def __init__(self, alarm: Alarm, seconds: float, *, longest: float = 0.0) -> None:
        self.loop = asyncio.get_running_loop()
        self._alarm = alarm
        self._seconds = seconds
        self._began = self.loop.time()
        self._more = max(longest - seconds, 0.0)  # seconds by which progress may still move the end
        self._expired = False
        self.end = self._began + seconds  # of the event loop's clock; inf while it is stopped

    def __enter__(self) -> Self:
        """From now on this task can be cancelled."""
        task = asyncio.current_task(self.loop)
        if task is None:
            raise RuntimeError("a deadline needs a task that it can cancel")
        self._task, self._cancels = task, task.cancelling()
        self._before = innermost.set(self)
        self._alarm.watch(self)
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        """Raises: RequestTimeout, when it was this deadline that cancelled."""
        self._alarm.forget(self)
        try:  # noqa: SIM105 - suppress costs more than all else here
            innermost.reset(self._before)
        except ValueError:  # thrown away unfinished, and collected elsewhere
            pass
        ours = self._expired and self._task.uncancel() <= self._cancels
        if ours and kind is asyncio.CancelledError:
            waited = round(self.end - self._began, 3)
            raise RequestTimeout(f"no answer within {waited:g} s", seconds=waited) from error

    def expire(self) -> None:
        """Its time has come."""
        self._expired = True
        self._task.cancel()

    def extend(self) -> None:
        """There was progress. Nothing changes while it is stopped, or when it is over."""
        if self.end < math.inf and self._alarm.watches(self):
            gained = min(self.loop.time() + self._seconds - self.end, self._more)
            self._more -= gained
            self.end += gained

    def stop(self) -> float:
        """No deadline until ``go_on``, which takes what this returns: the seconds left.

        Inf, and nothing changes, when it is over: what waited is still to be said.
        """
        if not self._alarm.watches(self):
            return math.inf
        left, self.end = self.end - self.loop.time(), math.inf
        return left

    def go_on(self, left: float) -> None:
        """Count ``left`` seconds from now; inf is from a ``stop`` inside another, or too late."""
        if left < math.inf and self._alarm.watches(self):
            self.end = self.loop.time() + left
            self._alarm.set(self.end)


@contextlib.contextmanager
def clock_stopped() -> Iterator[None]:
    """While inside, the deadline of the request that this is done for waits."""
    deadline = innermost.get()
    if deadline is None:
        yield
        return
    left = deadline.stop()
    try:
        yield
    finally:
        deadline.go_on(left)
