"""A set as notebook cells: as a learner gets it, with every solution in it, and for nbgrader."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any
from urllib.parse import quote

from exercises.machine.source import definitions, imports_for
from exercises.machine.task import Set, Task

HOW = (
    "Write your answer in a task's cell, run it, then run its check, as often as you like. "
    '`hint("{first}")` gives the next of three hints, `solution("{first}")` one way to write it. '
    "Each task stands on its own."
)
LIVE = ["nbval-skip", "skip-execution"]
FACE = ("check", "hint", "progress", "reset", "solution")


@dataclass(frozen=True)
class Cell:
    """``kind`` is "markdown" or "code"; ``metadata`` is the cell's own.

    ``task`` and ``answer`` are set for a cell that checks: running it shows that verdict.
    """

    kind: str
    text: str
    metadata: dict[str, Any] = field(default_factory=dict)
    task: Task | None = None
    answer: Any = None


def unsolved(one: Set) -> list[Cell]:
    """What a learner gets: stubs, checks that say "not yet", and the way to see what is done."""
    return _cells(one, lambda task: _learner(task, task.stub_text, task.make_stub()))


def solved(one: Set) -> list[Cell]:
    """The same with every solution in its place."""
    return _cells(one, lambda task: _learner(task, task.solution_text, task.make_solution()))


def for_nbgrader(one: Set) -> list[Cell]:
    """An instructor's version: nbgrader's marks around each solution, a graded check each."""
    head, imports, *_ = unsolved(one)
    return [head, imports, *(cell for task in one.tasks for cell in _graded(task))]


def _cells(one: Set, answer: Callable[[Task], Iterator[Cell]]) -> list[Cell]:
    return [
        Cell("markdown", _opening(one)),
        Cell("code", _imports(one)),
        *(cell for task in one.tasks for cell in [*_opening_of(task), *answer(task)]),
        Cell("markdown", "## What is done"),
        Cell("code", "progress()", {"tags": LIVE}),
    ]


def _opening(one: Set) -> str:
    rows = [f"| {t.id} | {t.title} | {t.level} | {t.minutes} |" for t in one.tasks]
    table = "\n".join(["| task | | level | minutes |", "|---|---|---|---|", *rows])
    how = HOW.format(first=one.tasks[0].id)
    return f"# {one.heading}\n\n{one.intro}\n\n{how}\n\n{table}"


def _imports(one: Set) -> str:
    """What the cells below use: of the learner's side, and of each task's file."""
    pairs = [
        (module_of(task), text)
        for task in one.tasks
        for text in (_given(task), task.stub_text, task.solution_text, _live(task))
    ]
    own = f"from exercises import {', '.join(FACE)}"
    return "\n".join(filter(None, [imports_for(pairs), own]))


def _opening_of(task: Task) -> Iterator[Cell]:
    facts = f"*{task.level}, {task.minutes} minutes* · rests on notebook {link(task)}"
    yield Cell("markdown", f"## {task.heading}\n\n{facts}\n\n{task.text.strip()}")
    if task.given:
        yield Cell("code", _given(task))


def _learner(task: Task, text: str, answer: Any) -> Iterator[Cell]:
    yield Cell("code", text)
    if task.live:
        yield Cell("code", task.live.strip(), {"tags": LIVE})
    yield Cell("code", f'check("{task.id}", {task.answer_name})', task=task, answer=answer)


def _graded(task: Task) -> Iterator[Cell]:
    yield from _opening_of(task)
    name = task.id.replace(".", "-")
    yield Cell("code", task.marked_text, _grading(f"answer-{name}", solution=True))
    check = f'verdict = check("{task.id}", {task.answer_name})\nassert verdict.passed, verdict'
    yield Cell("code", check, _grading(f"check-{name}", points=task.points))


def _grading(name: str, *, solution: bool = False, points: int = 0) -> dict[str, Any]:
    held = {"grade_id": name, "schema_version": 3, "solution": solution, "task": False}
    graded = {"grade": True, "points": points} if points else {"grade": False}
    return {"nbgrader": {**held, **graded, "locked": not solution}}


def _given(task: Task) -> str:
    if not task.given:
        return ""
    texts = definitions(module_of(task), task.given.split())
    return "\n".join(text if "\n" not in text else f"\n{text}\n" for text in texts).strip("\n")


def _live(task: Task) -> str:
    """The live cell as something that ``ast`` takes: it may await at its top level."""
    body = textwrap.indent(task.live.strip(), "    ")
    return f"async def live():\n{body}" if task.live else ""


def module_of(task: Task) -> ModuleType:
    """The module of the task's file.

    Raises: ValueError when it has no solution, by which it is found.
    """
    if task.solved is None:
        raise ValueError(f"{task.id} has no solution: write one below @TASK.solution")
    return sys.modules[task.solved.__module__]


def link(task: Task) -> str:
    """A Markdown link to the section of the notebook that the task rests on.

    The notebook's number stands in it, since code alone does not look like a link.
    """
    notebook = notebook_of(task)
    number = notebook.rpartition("/")[2][:2]
    return f"[{number}: {task.section}]({notebook}#{quote(anchor(task.section), safe=':,')})"


def notebook_of(task: Task) -> str:
    """The notebook of the task's set, as seen from an exercise notebook or a copy of one."""
    package = module_of(task).__name__.rpartition(".")[0]
    return f"../notebooks/{task.notebook or package.rpartition('.s')[2]}.ipynb"


def anchor(heading: str) -> str:
    """The id that Jupyter gives a heading."""
    return heading.replace("`", "").replace("*", "").strip().replace(" ", "-")


def closing(one: Set) -> str:
    """What the closing cell of the notebook itself says of these tasks, as Markdown."""
    rows = [f"- **{t.id}** {t.title} ({t.level}, {t.minutes} minutes)" for t in one.tasks]
    first = f"`exercises/{one.name}.ipynb` has {len(rows)} tasks, each with a check that answers:"
    return "\n".join([first, "", *rows])
