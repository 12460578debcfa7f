"""What a run of the official suite comes to, held against the baseline: pure, but for reading.

A scenario fails by any check that failed or warned. A baseline entry excuses one scenario, and is
itself a fault once the scenario passes. A message that breaks the schema is never excused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LEGS = ("client", "server")
BAD = ("FAILURE", "WARNING")
WIRE = "wire-schema"


@dataclass(frozen=True)
class Scenario:
    """How one scenario of a leg ended. ``broken`` names the messages that broke the schema."""

    leg: str
    name: str
    passed: int
    failed: tuple[str, ...] = ()
    broken: bool = False


# -- read -----------------------------------------------------------------------------------------


def read_leg(leg: str, folder: Path) -> list[Scenario]:
    """The scenarios whose results are in ``folder``, in order of their names."""
    found = [
        judged(leg, name_of(path.parent.relative_to(folder)), json.loads(path.read_text("utf-8")))
        for path in folder.rglob("checks.json")
    ]
    return sorted(found, key=lambda scenario: scenario.name)


def name_of(folder: Path) -> str:
    """The scenario's name: the folder's, without ``server-`` before it and the time behind it."""
    name = re.sub(r"-\d{4}-\d\d-\d\dT[\d-]+Z$", "", folder.as_posix())
    return re.sub(r"^server-(?=.)", "", name, count=1)


def judged(leg: str, name: str, checks: Iterable[Mapping[str, Any]]) -> Scenario:
    """A scenario out of its checks."""
    checks = list(checks)
    bad = [check for check in checks if check["status"] in BAD]
    told = tuple(f"{c['id']}: {in_short(c.get('errorMessage') or c['description'])}" for c in bad)
    passed = sum(check["status"] == "SUCCESS" for check in checks)
    return Scenario(leg, name, passed, told, any(c["id"].startswith(WIRE) for c in bad))


def in_short(text: str, limit: int = 200) -> str:
    """The first line of ``text``, at most ``limit`` characters of it."""
    line = text.strip().partition("\n")[0]
    return line if len(line) <= limit else line[: limit - 1] + "…"


# -- judge ----------------------------------------------------------------------------------------


def faults(
    scenarios: Collection[Scenario],
    wanted: Mapping[str, Collection[str]],
    baseline: Mapping[str, Collection[str]],
) -> list[str]:
    """Every reason why the run is no good, one line each; ``wanted`` is what each leg must run."""
    ran = {(scenario.leg, scenario.name) for scenario in scenarios}
    lines = [line for scenario in scenarios for line in _faults_of(scenario, baseline)]
    for leg in LEGS:
        missing = sorted(set(wanted[leg]) - {name for where, name in ran if where == leg})
        unknown = sorted(set(baseline[leg]) - set(wanted[leg]))
        lines += [f"{leg}: no result of {', '.join(missing)}"] if missing else []
        lines += [f"{leg} {name}: in the baseline, and no scenario" for name in unknown]
    return lines


def _faults_of(scenario: Scenario, baseline: Mapping[str, Collection[str]]) -> list[str]:
    about = f"{scenario.leg} {scenario.name}"
    excused = scenario.name in baseline[scenario.leg]
    if scenario.broken or (scenario.failed and not excused):
        return [f"{about}: {told}" for told in scenario.failed]
    if excused and not scenario.failed:
        return [f"{about}: it passes; take it out of the baseline"]
    return []


def table(scenarios: Iterable[Scenario], baseline: Mapping[str, Collection[str]]) -> str:
    """A line a leg: how many passed, failed as expected, failed unexpectedly."""
    scenarios = list(scenarios)
    lines = ["leg      passed  expected to fail  failed"]
    for leg in LEGS:
        bad = [s for s in scenarios if s.leg == leg and s.failed]
        good = sum(s.leg == leg and not s.failed for s in scenarios)
        excused = sum(s.name in baseline[leg] and not s.broken for s in bad)
        lines.append(f"{leg:<7} {good:>7} {excused:>17} {len(bad) - excused:>7}")
    return "\n".join(lines)
