"""A clock that stands still, so that what expires does so when a lesson says it."""

from __future__ import annotations

START = 1_785_844_800.0  # 2026-08-04 12:00:00 UTC


class StandingClock:
    """Epoch seconds that pass only when they are told to."""

    def __init__(self, now: float = START) -> None:
        self.now = now

    def __call__(self) -> float:
        """The time."""
        return self.now

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self.now += seconds
