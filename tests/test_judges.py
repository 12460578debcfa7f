"""The record of what judges said: read, asked again where they are here, shown by notebook 18."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
import yaml

from mini_agent.judges import ROOT, Judge, is_here, on_record, said

HERE = Judge("here", "ours", ("module json",), "nothing", ("as on record",))
JUDGES = on_record()
SHOWN = [
    "".join(output.get("text", "") for output in cell.get("outputs", []))
    for cell in nbformat.read(ROOT / "notebooks" / "18_real_servers.ipynb", as_version=4).cells
]


async def ask() -> AsyncIterator[str]:
    yield "as it says now"


@pytest.mark.parametrize(
    ("need", "there"),
    [
        ("module json", True),
        ("module no_such_module", False),
        ("module no_such_module.inner", False),
        ("program python-that-is-not-there", False),
        ("file mini_agent/judges.toml", True),
        ("file build/no-such-folder", False),
    ],
)
def test_a_need_is_here_or_not(need: str, there: bool) -> None:
    assert is_here(need) is there


def test_a_need_of_another_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="a module, a program or a file"):
        is_here("planet mars")


async def test_a_judge_that_is_here_is_asked() -> None:
    assert HERE.missing == []
    assert await said(HERE, ask) == ["as it says now"]


async def test_of_one_that_is_missing_the_record_speaks() -> None:
    gone = replace(HERE, needs=("module json", "module no_such_module"))
    assert gone.missing == ["module no_such_module"]
    assert await said(gone, ask) == ["as on record"]


def test_a_record_that_lacks_a_part_is_named(tmp_path: Path) -> None:
    path = tmp_path / "judges.toml"
    path.write_text('[one]\njudges = "ours"\nneeds = []\nsaid = []\n', "utf-8")
    with pytest.raises(KeyError, match="brings"):
        on_record(path)


@pytest.mark.parametrize("judge", JUDGES.values(), ids=JUDGES)
def test_each_judge_has_needs_that_can_be_looked_for_and_has_said_something(judge: Judge) -> None:
    assert judge.needs and judge.brings and judge.said
    assert [need for need in judge.missing if need not in judge.needs] == []


@pytest.mark.parametrize("judge", JUDGES.values(), ids=JUDGES)
def test_the_notebook_shows_what_is_on_record(judge: Judge) -> None:
    record = "".join(f"{line}\n" for line in judge.said)
    assert [text for text in SHOWN if record in text], f"no cell of notebook 18 shows:\n{record}"


def test_the_suites_table_on_record_expects_as_many_failures_as_the_baseline_lists() -> None:
    text = (ROOT / "tests" / "conformance" / "baseline.yml").read_text("utf-8")
    baseline = yaml.safe_load(text)
    for line in JUDGES["conformance suite"].said[1:]:
        leg, _, expected, failed = line.split()
        assert (int(expected), int(failed)) == (len(baseline[leg]), 0)
