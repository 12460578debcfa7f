"""An event loop for checks: nobody waits for a clock, and nobody waits for ever.

When every task waits for a timer, the loop's clock jumps to it: an hour's timeout passes at once,
and in the right order. When no timer is left and nothing else could wake a task, that is an error
at once instead of a hang. Open pipes, sockets and threads are waited for in real time.
"""

from __future__ import annotations

import asyncio
import contextlib
import selectors
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

SLICE = 0.1  # seconds: in between, a thread can be told to stop
LAST_TURN = 0.4  # seconds for what is left running to hear that it is over


class WaitsForEver(Exception):
    """Every task waits, and nothing is left that could wake one."""


class QuickLoop(asyncio.SelectorEventLoop):
    """``ahead`` is how far its clock has jumped, in seconds."""

    def __init__(self) -> None:
        self.ahead = 0.0
        super().__init__(_Selector(self))

    def time(self) -> float:
        """The clock of this loop, in seconds."""
        return super().time() + self.ahead


class _Selector(selectors.DefaultSelector):
    def __init__(self, loop: QuickLoop) -> None:
        super().__init__()
        self._loop = loop
        self._threads = set(threading.enumerate())

    def select(self, timeout: float | None = None) -> Any:
        found = super().select(0)
        if found or timeout == 0:
            return found
        if len(self.get_map()) > 1 or set(threading.enumerate()) - self._threads:
            return super().select(SLICE if timeout is None else min(timeout, SLICE))
        if timeout is None:  # only the loop's own pipe is left, and nobody to write to it
            raise WaitsForEver
        self._loop.ahead += timeout
        return found


def run_async(make: Callable[[], Coroutine[Any, Any, T]], *, real_time: bool = False) -> T:
    """What the coroutine returns, run in a loop of its own; tasks that it left are cancelled.

    With ``real_time`` an ordinary loop is used, as child processes want it.

    Raises: WaitsForEver; whatever the coroutine raises.
    """
    loop = asyncio.new_event_loop() if real_time else QuickLoop()
    loop.set_exception_handler(lambda loop, context: None)  # a check says what went wrong itself
    if real_time:
        _beat(loop)
    try:
        return loop.run_until_complete(make())
    finally:
        with contextlib.suppress(WaitsForEver):
            _let_go(loop)
        loop.close()


def _beat(loop: asyncio.AbstractEventLoop) -> None:
    """Wake the loop now and then: a thread that waits in C cannot be told to stop."""
    loop.call_later(SLICE, _beat, loop)


def _let_go(loop: asyncio.AbstractEventLoop) -> None:
    tasks = asyncio.all_tasks(loop)
    for task in tasks:
        task.cancel()
    if tasks:
        loop.run_until_complete(asyncio.wait(tasks, timeout=LAST_TURN))
    loop.run_until_complete(loop.shutdown_asyncgens())
