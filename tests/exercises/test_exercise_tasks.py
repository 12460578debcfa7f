"""Every task of every set: stub, solution, right and wrong answers, parts, hints, links."""

from __future__ import annotations

import re
from collections.abc import Callable

import jupytext
import pytest
import task_rules
from chosen import SETS, TASKS

from exercises.machine.cells import closing, module_of
from exercises.machine.task import Set, Task
from notebooks.build import SOURCES
from notebooks.path import PATH

pytestmark = pytest.mark.sends_wrong("wrong answers send wrong messages")


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
@pytest.mark.parametrize("rule", task_rules.ALL, ids=lambda rule: rule.__name__)
def test_it_keeps_the_rule(rule: Callable[[Task], list[str]], task: Task) -> None:
    assert rule(task) == []


def test_ids_are_unique_and_say_set_and_file() -> None:
    ids = [task.id for task in TASKS]
    assert sorted(set(ids)) == sorted(ids)
    for task in TASKS:
        package, _, file = module_of(task).__name__.rpartition(".")
        assert re.search(rf"\.s{task.id[:2]}_\w+$", package) and file[1] == task.id[3], task.id


@pytest.mark.parametrize("one", SETS, ids=lambda one: one.name)
def test_a_set_goes_from_a_warm_up_to_one_demanding_task(one: Set) -> None:
    levels = [task.level for task in one.tasks]
    assert 2 <= len(levels) <= 4
    assert (levels[0], levels[-1]) == ("warm-up", "demanding")
    assert levels.count("demanding") == 1
    assert one.tasks[0].minutes <= 10


@pytest.mark.parametrize("one", SETS, ids=lambda one: one.name)
def test_its_question_is_that_of_the_notebook(one: Set) -> None:
    assert one.question in [stop.question for stop in PATH if stop.name == one.name]


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_the_section_that_it_rests_on_is_there(task: Task) -> None:
    assert task.section in headings(module_of(task).__name__.split(".")[2][1:])


@pytest.mark.parametrize("one", SETS, ids=lambda one: one.name)
def test_the_notebook_closes_with_these_tasks_and_no_others(one: Set) -> None:
    cells = jupytext.read(SOURCES / f"{one.name}.py", fmt="py:percent").cells
    last = [cell.source for cell in cells if cell.source.startswith("## Exercises")][-1]
    said = re.sub(r"\s+", " ", last)
    for line in closing(one).splitlines():
        assert line.strip() in said, f"python -m exercises.build --closing {one.number}"
    assert set(re.findall(r"\*\*(\d\d\.\d)\*\*", last)) == {task.id for task in one.tasks}


def headings(name: str) -> list[str]:
    """The headings of a notebook, in their own words."""
    text = (SOURCES / f"{name}.py").read_text("utf-8")
    return re.findall(r"^# ##+ (.+)$", text, re.MULTILINE)
