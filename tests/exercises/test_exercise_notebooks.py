"""The exercise notebooks: built from the sets, unsolved and solved, the same in a real kernel."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import nbformat
import notebook_rules as rules
import pytest
from chosen import SETS
from nbformat import NotebookNode

from exercises.build import HERE, README, assemble, build, text_of, with_table
from exercises.machine import store
from exercises.machine.cells import Cell, for_nbgrader, solved, unsolved
from exercises.machine.shelf import set_names
from exercises.machine.source import STUB, cleared
from exercises.machine.task import Set
from notebooks.paste import ROOT

pytestmark = pytest.mark.sends_wrong("a stub to mend is run as it is given")

RULES = (
    rules.unexecuted,
    rules.torn_tags,
    rules.wrong_errors,
    rules.unstable,
    rules.ignored,
    rules.banned,
    rules.drawings_without_words,
)
each_set = pytest.mark.parametrize("one", SETS, ids=lambda one: one.name)


def test_there_is_a_notebook_for_each_set_and_no_other() -> None:
    there = sorted(path.stem for path in HERE.glob("*.ipynb"))
    assert there == set_names()


@pytest.mark.skipif(
    sys.version_info[:2] != (3, 11), reason="the stored bytes are those of Python 3.11"
)
@each_set
def test_building_it_again_gives_the_committed_bytes(one: Set) -> None:
    stored = (HERE / f"{one.name}.ipynb").read_text("utf-8")
    assert build(one) == stored, f"python -m exercises.build {one.number}"


@each_set
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_it_keeps_the_rule(rule: Callable[[NotebookNode], list[str]], one: Set) -> None:
    assert rule(assemble(one, unsolved(one))) == []


@each_set
def test_each_task_has_its_text_its_stub_and_its_check(one: Set) -> None:
    cells = [cell.source for cell in assemble(one, unsolved(one)).cells]
    for task in one.tasks:
        at = next(n for n, text in enumerate(cells) if text.startswith(f"## {task.heading}\n"))
        stub = at + 1 + bool(task.given)
        assert task.level in cells[at] and f"{task.minutes} minutes" in cells[at]
        assert cells[stub : stub + 2] == [
            task.stub_text,
            f'check("{task.id}", {task.answer_name})',
        ]


@each_set
@pytest.mark.parametrize("cells", [unsolved, solved], ids=["unsolved", "solved"])
def test_its_cells_run_with_nothing_but_themselves(
    cells: Callable[[Set], list[Cell]], one: Set
) -> None:
    space: dict[str, object] = {"__name__": "__main__"}
    for cell in cells(one):
        if cell.kind == "code" and not cell.metadata:
            exec(compile(cell.text, f"<{one.name}>", "exec"), space)
    passed = store.read(store.progress_file()).passed
    assert passed == ({task.id for task in one.tasks} if cells is solved else set())


def test_a_kernel_says_the_same_of_every_set_unsolved_and_solved(tmp_path: Path) -> None:
    cells = [cell for one in SETS for cell in [*unsolved(one), *solved(one)]]
    (tmp_path / "all.ipynb").write_text(build(SETS[0], cells), encoding="utf-8")  # one kernel
    done = nbval(tmp_path)
    assert done.returncode == 0, done.stdout
    held = store.read(tmp_path / "work" / "exercises" / "progress.json").passed
    assert held == {task.id for one in SETS for task in one.tasks}


def test_a_verdict_that_is_not_true_turns_red(tmp_path: Path) -> None:
    text = build(SETS[0]).replace("Not yet.", "Passed.")
    (tmp_path / "unsolved.ipynb").write_text(text, encoding="utf-8")
    done = nbval(tmp_path)
    assert (done.returncode, f"{len(SETS[0].tasks)} failed" in done.stdout) == (1, True)


def nbval(folder: Path) -> subprocess.CompletedProcess[str]:
    """pytest --nbval on a folder, strictly, with a learner's folder of its own."""
    flags = ["--nbval", "--nbval-current-env", "-p", "no:cacheprovider", "-q"]
    place = ["-c", str(ROOT / "pyproject.toml"), "--rootdir", str(folder), str(folder)]
    env = {**os.environ, store.WORK: str(folder / "work")}
    return subprocess.run(
        [sys.executable, "-m", "pytest", *flags, *place],
        capture_output=True, text=True, timeout=110, env=env,
    )  # fmt: skip


def test_the_readme_holds_the_tasks_as_they_stand() -> None:
    assert with_table(README.read_text("utf-8")) == README.read_text("utf-8"), (
        "python -m exercises.build"
    )


# -- for an instructor ----------------------------------------------------------------------------


@each_set
def test_the_instructors_version_has_nbgraders_marks_and_points(one: Set) -> None:
    notebook = assemble(one, for_nbgrader(one))
    nbformat.validate(notebook)
    held = [cell for cell in notebook.cells if "nbgrader" in cell.metadata]
    answers = [cell for cell in held if cell.metadata.nbgrader.solution]
    checks = [cell for cell in held if cell.metadata.nbgrader.grade]
    assert len(answers) == len(checks) == len(one.tasks)
    assert len({cell.metadata.nbgrader.grade_id for cell in held}) == len(held)
    assert all(cell.metadata.nbgrader.points > 0 for cell in checks)
    for task, cell in zip(one.tasks, answers, strict=True):
        assert cell.source.count("### BEGIN SOLUTION") == cell.source.count("### END SOLUTION") > 0
        assert cleared(cell.source, STUB).startswith(task.stub_text)


def test_the_instructors_version_is_never_what_a_learner_gets() -> None:
    for one in SETS:
        assert "SOLUTION" not in text_of(assemble(one, unsolved(one)))
