"""One slice of measuring: calls a second, CPU and latency, with every worker busy throughout.

A slice begins when each worker has had an answer (that is the warm-up) and ends with the first
answer after its time; only answers between the two count, so neither start nor end is in it. It
lasts longer than asked where that would be less than FEWEST answers, at most LONGEST seconds.
"""

from __future__ import annotations

import asyncio
import time
from typing import TypedDict

from clients import Call
from raw import Raw

FEWEST = 30
LONGEST = 5.0  # seconds
WORDS = "On Monday 9 November, No. 12 is free: Invoices are due at 10.30, and Ines has the key. "


class Slice(TypedDict):
    """What one slice showed. Times are in microseconds."""

    calls: int
    rate: float
    cpu: float
    p50: float
    p99: float


class Meter:
    """Counts answers. ``over`` turns True with the first one past the end."""

    def __init__(self, workers: int, seconds: float) -> None:
        self.over = False
        self._warming = workers
        self._seconds = seconds
        self._took: list[float] = []
        self._times = (0.0, 0.0)

    def answered(self, begun: float, first: bool, count: int = 1) -> None:
        """Take note of ``count`` answers to what was sent at ``begun``."""
        now = time.perf_counter()
        if self._warming:
            self._warming -= count if first else 0
            self._times = (now, time.process_time())
        elif not self.over:
            self._took += [now - begun] * count
            seconds = now - self._times[0]
            enough = len(self._took) >= FEWEST or seconds > LONGEST
            if seconds > self._seconds and enough:
                self._end(now)

    def _end(self, now: float) -> None:
        self.over = True
        self._times = (now - self._times[0], time.process_time() - self._times[1])

    def slice(self) -> Slice:
        """The figures, once it is over."""
        took, (seconds, cpu) = sorted(self._took), self._times
        return {
            "calls": len(took),
            "rate": len(took) / seconds,
            "cpu": cpu / len(took) * 1e6,
            "p50": took[len(took) // 2] * 1e6,
            "p99": took[len(took) * 99 // 100] * 1e6,
        }


def text_of(size: int) -> str:
    """A text like many: words and numbers, capitals among them, nothing that JSON must escape."""
    return (WORDS * (size // len(WORDS) + 1))[:size]


async def measure(call: Call, size: int, workers: int, seconds: float) -> Slice:
    """Let ``workers`` call one after the other."""
    meter, text = Meter(workers, seconds), text_of(size)

    async def work() -> None:
        first = True
        while not meter.over:
            begun = time.perf_counter()
            answer = await call(text)
            assert len(answer) == size
            meter.answered(begun, first)
            first = False

    async with asyncio.TaskGroup() as group:
        for _ in range(workers):
            group.create_task(work())
    return meter.slice()


def measure_raw(raw: Raw, size: int, workers: int, seconds: float) -> Slice:
    """The same for bytes that nobody looks at."""
    meter, text = Meter(workers, seconds), text_of(size)
    first = True
    while not meter.over:
        begun = time.perf_counter()
        raw.exchange(text, workers)
        meter.answered(begun, first, workers)
        first = False
    return meter.slice()
