"""What was to be reached, as ratios to the official SDK in the same run."""

from __future__ import annotations

from dataclasses import dataclass

from measured import CARRIERS, LARGE, MANY, ONE, SMALL, Measured


@dataclass(frozen=True)
class Goal:
    """``measured`` must be at least ``bound``, or at most where ``at_most``."""

    name: str
    bound: float
    measured: float | None
    at_most: bool = False

    @property
    def reached(self) -> bool:
        """False also where nothing was measured."""
        if self.measured is None:
            return False
        return self.measured <= self.bound if self.at_most else self.measured >= self.bound


def goals(run: Measured) -> list[Goal]:
    """Every goal with what this run says of it."""
    rate = {
        (carrier, size, workers): run.ratio("rate", carrier=carrier, size=size, workers=workers)
        for carrier in CARRIERS
        for size in (SMALL, LARGE)
        for workers in (ONE, MANY)
    }
    cpu = {n: run.ratio("cpu", carrier="stdio", size=SMALL, workers=n) for n in (ONE, MANY)}
    found = [
        Goal("stdio, 200 B, one by one", 2.0, rate["stdio", SMALL, ONE]),
        Goal("stdio, 200 B, 64 at once", 10.0, rate["stdio", SMALL, MANY]),
        Goal("stdio, 64 KiB, one by one", 1.5, rate["stdio", LARGE, ONE]),
        Goal("stdio, 64 KiB, 64 at once", 0.95, rate["stdio", LARGE, MANY]),
        Goal("stdio, 200 B, one by one: CPU a call", 0.4, cpu[ONE], at_most=True),
        Goal("stdio, 200 B, 64 at once: CPU a call", 0.4, cpu[MANY], at_most=True),
    ]
    for carrier in ("json", "stream"):
        for size, shown in ((SMALL, "200 B"), (LARGE, "64 KiB")):
            name = f"{CARRIERS[carrier]}, {shown}"
            found.append(Goal(f"{name}, one by one", 1.2, rate[carrier, size, ONE]))
            found.append(Goal(f"{name}, 64 at once", 1.0, rate[carrier, size, MANY]))
    found.append(Goal("import", 0.35, run.ratio("import"), at_most=True))
    for carrier, shown in CARRIERS.items():
        memory = run.ratio("memory", carrier=carrier)
        found.append(Goal(f"memory, {shown}", 0.7, memory, at_most=True))
    return [*found, Goal("notes nobody reads, of a call's CPU", 0.05, notes(run), at_most=True)]


def notes(run: Measured) -> float | None:
    """The share that reporting has in the cheapest call, where there is no trace."""
    cost = run.middle("notes", "ours")
    call = run.middle("cpu", "ours", carrier="stdio", size=SMALL, workers=MANY)
    return cost / call if cost and call else None
