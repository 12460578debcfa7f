"""What a run measured, and how two clients compare: values, and pure functions over them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

CARRIERS = {"stdio": "stdio", "json": "HTTP, JSON", "stream": "HTTP, event stream"}
NAMES = {
    "ours": "mini-agent",
    "traced": "mini-agent, with a trace",
    "sdk": "official SDK",
    "fastmcp": "fastmcp",
    "raw": "the limit: raw bytes",
}
SMALL, LARGE = 200, 65_536
ONE, MANY = 1, 64
CELLS = ((SMALL, ONE), (SMALL, MANY), (LARGE, ONE), (LARGE, MANY))


@dataclass(frozen=True)
class Figure:
    """One value of one client. ``turn`` is equal for what was measured right after each other."""

    what: (
        str  # rate (1/s), cpu, p50, p99, notes (µs), connect, import, import_cpu (ms), memory (MB)
    )
    client: str
    value: float
    carrier: str = ""
    size: int = 0
    workers: int = 0
    turn: int = 0


@dataclass
class Measured:
    """Everything of one run. ``about`` is the machine, its load, the versions."""

    about: dict[str, Any] = field(default_factory=dict)
    figures: list[Figure] = field(default_factory=list)

    def add(self, client: str, found: dict[str, float], **where: Any) -> None:
        """Take what one process said."""
        self.figures += [Figure(what, client, value, **where) for what, value in found.items()]

    def values(self, what: str, client: str, **where: Any) -> dict[int, list[float]]:
        """The values by turn."""
        found: dict[int, list[float]] = {}
        for figure in self._matching(what, client, where):
            found.setdefault(figure.turn, []).append(figure.value)
        return found

    def _matching(self, what: str, client: str, where: dict[str, Any]) -> Iterator[Figure]:
        for figure in self.figures:
            if (figure.what, figure.client) == (what, client) and all(
                getattr(figure, key) == value for key, value in where.items()
            ):
                yield figure

    def middle(self, what: str, client: str, **where: Any) -> float | None:
        """The median, None where nothing was measured."""
        values = [value for each in self.values(what, client, **where).values() for value in each]
        return median(values) if values else None

    def ratio(self, what: str, client: str = "ours", to: str = "sdk", **where: Any) -> float | None:
        """The median of the ratios of what was measured right after each other."""
        ours, theirs = self.values(what, client, **where), self.values(what, to, **where)
        ratios = [median(ours[turn]) / median(theirs[turn]) for turn in ours if turn in theirs]
        return median(ratios) if ratios else None

    def save(self, path: Path) -> None:
        """As JSON, every single value."""
        path.write_text(json.dumps(asdict(self), indent=1), encoding="utf-8")
