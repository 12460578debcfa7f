"""What a run of the official suite comes to, on results written by hand; and the baseline."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from verdicts import LEGS, Scenario, faults, in_short, judged, name_of, read_leg, table

HERE = Path(__file__).resolve().parent
GOOD, BAD = Scenario("client", "good", 2), Scenario("client", "bad", 1, ("check: it is wrong",))
BROKEN = Scenario("client", "bad", 1, ("wire-schema-valid: a message",), broken=True)
NONE: dict[str, list[str]] = {"client": [], "server": []}


def found(*scenarios: Scenario, wanted: Any = NONE, baseline: Any = NONE) -> list[str]:
    return faults(scenarios, wanted, baseline)


def wants(*names: str) -> dict[str, list[str]]:
    return {"client": list(names), "server": []}


def test_a_scenario_that_passes_is_no_fault() -> None:
    assert found(GOOD) == []


def test_a_failure_that_nobody_expects_is_one() -> None:
    assert found(GOOD, BAD) == ["client bad: check: it is wrong"]


def test_the_baseline_excuses_a_failure_on_its_own_leg_only() -> None:
    assert found(BAD, wanted=wants("bad"), baseline=wants("bad")) == []
    other = {"client": [], "server": ["bad"]}
    assert found(BAD, wanted=other, baseline=other)[0] == "client bad: check: it is wrong"


def test_an_excused_scenario_that_passes_is_a_fault() -> None:
    (line,) = found(GOOD, wanted=wants("good"), baseline=wants("good"))
    assert "take it out" in line


def test_a_message_that_breaks_the_schema_is_never_excused() -> None:
    assert len(found(BROKEN, wanted=wants("bad"), baseline=wants("bad"))) == 1


def test_a_scenario_without_a_result_and_an_unknown_one_in_the_baseline_are_faults() -> None:
    assert found(GOOD, wanted=wants("good", "lost")) == ["client: no result of lost"]
    assert "no scenario" in found(GOOD, wanted=wants("good"), baseline=wants("typo"))[0]


@pytest.mark.parametrize(
    ("status", "failed", "passed"),
    [("SUCCESS", 0, 1), ("FAILURE", 1, 0), ("WARNING", 1, 0), ("INFO", 0, 0), ("SKIPPED", 0, 0)],
)
def test_a_check_that_fails_or_warns_fails_its_scenario(
    status: str, failed: int, passed: int
) -> None:
    scenario = judged("client", "x", [{"id": "a", "description": "d", "status": status}])
    assert (len(scenario.failed), scenario.passed, scenario.broken) == (failed, passed, False)


def test_the_schema_check_is_told_from_the_others() -> None:
    check = {"id": "wire-schema-valid", "description": "d", "status": "FAILURE"}
    assert judged("client", "x", [check]).broken


def test_a_long_message_is_told_in_short() -> None:
    assert in_short("wrong\nand more") == "wrong"
    assert in_short("x" * 500) == "x" * 199 + "…"


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("tools_call-2026-11-30T15-54-12-154Z", "tools_call"),
        ("auth/basic-cimd-2026-11-30T15-54-12-154Z", "auth/basic-cimd"),
        ("server-tools-list-2026-11-30T15-54-12-154Z", "tools-list"),
        ("server-server-stateless-2026-11-30T15-54-12-154Z", "server-stateless"),
    ],
)
def test_a_folder_names_its_scenario(folder: str, name: str) -> None:
    assert name_of(Path(folder)) == name


def test_results_are_read_from_their_folders(tmp_path: Path) -> None:
    folder = tmp_path / "auth" / "basic-cimd-2026-11-30T15-54-12-154Z"
    folder.mkdir(parents=True)
    checks = [{"id": "a", "description": "d", "status": "FAILURE", "errorMessage": "no"}]
    (folder / "checks.json").write_text(json.dumps(checks))
    assert read_leg("client", tmp_path) == [Scenario("client", "auth/basic-cimd", 0, ("a: no",))]


def test_the_table_counts_what_passed_and_what_failed_as_expected() -> None:
    lines = table([GOOD, BAD, Scenario("server", "x", 1)], wants("bad")).splitlines()
    assert [line.split() for line in lines[1:]] == [
        ["client", "1", "1", "0"],
        ["server", "1", "0", "0"],
    ]


def test_every_entry_of_the_baseline_has_its_reason_and_is_there_once() -> None:
    text = (HERE / "baseline.yml").read_text("utf-8")
    entries = [line for line in text.splitlines() if line.lstrip().startswith("-")]
    assert [line for line in entries if not re.search(r"- \S+ +# .{10,}", line)] == []
    listed = yaml.safe_load(text)
    assert listed.keys() == set(LEGS)
    assert all(len(set(names)) == len(names) for names in listed.values())
