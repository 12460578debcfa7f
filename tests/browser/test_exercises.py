"""An exercise notebook as a learner meets it: a check on stub and solution, and what is done."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from browser.browsing import Lab
from browser.sheet import THEMES, Sheet
from browser.test_look import CONTRAST, HIDDEN_LINES, READABLE
from exercises.machine import copies
from exercises.machine.overview import Overview
from exercises.machine.shelf import all_sets, get_set, get_task
from exercises.machine.store import WORK, Done

SET, ID = get_set("04"), "04.3"
CHECKS = [f'check("{task.id}"' for task in SET.tasks]

RUN_ALL = "() => window.jupyterapp.commands.execute('notebook:run-all-cells')"
RUN = """([beginning, source]) => {
  const { commands, shell } = window.jupyterapp;
  const { content } = shell.currentWidget;
  const { cells } = content.model.sharedModel;
  const at = cells.findIndex(cell => cell.getSource().startsWith(beginning));
  if (source !== null) cells[at].setSource(source);
  content.activeCellIndex = at;
  return commands.execute('notebook:run-cell');
}"""


@pytest.fixture(scope="module")
def notebook(lab: Lab, open_sheet: Callable[[str], Sheet]) -> Sheet:
    """A learner's copy of the exercises of 04, with a kernel that keeps its progress beside it."""
    copies.bring(lab.folder / "exercises")
    sheet = open_sheet(f"exercises/{SET.name}.ipynb")
    sheet.run_below(f"import os; os.environ[{WORK!r}] = {str(lab.folder)!r}")
    sheet.run_below("print('ready')")
    sheet.printed("ready")
    sheet.page.evaluate(RUN_ALL)
    return sheet


def run(sheet: Sheet, beginning: str, source: str | None = None) -> list[dict[str, Any]]:
    """Run the cell that so begins, with ``source`` in it; what it put out."""
    sheet.page.evaluate(RUN, [beginning, source])
    wanted = source or beginning
    return next(cell["outputs"] for cell in sheet.cells() if cell["source"].startswith(wanted))


def words(outputs: list[dict[str, Any]]) -> str:
    """What a cell displayed, as text."""
    return "\n".join(out["data"]["text/plain"] for out in outputs)


def test_unsolved_every_check_says_not_yet_and_nothing_raises(notebook: Sheet) -> None:
    said = [
        words(cell["outputs"])
        for cell in notebook.cells()
        if cell["source"].startswith(tuple(CHECKS))
    ]
    assert [text.splitlines()[1].partition(". ")[0] for text in said] == ["Not yet"] * len(CHECKS)
    assert [out for out in notebook.outputs() if out["output_type"] == "error"] == []
    assert (notebook.dialogs, notebook.strangers) == ([], [])


def test_a_stub_is_told_with_a_drawing_and_the_solution_passes(notebook: Sheet) -> None:
    task = get_task(ID)
    run(notebook, task.stub_text)
    failed = run(notebook, CHECKS[-1])
    assert "Not yet. " in words(failed) and "Drawn: " in words(failed)
    notebook.page.get_by_role("img", name="transport").last.wait_for()
    for theme in THEMES:
        notebook.wear(theme)
        verdict = notebook.page.locator(".jp-OutputArea-output pre", has_text=task.plain_heading)
        assert verdict.last.evaluate(CONTRAST) >= READABLE
        notebook.page.get_by_role("img", name="transport").last.scroll_into_view_if_needed()
        notebook.screenshot(f"exercise-{theme.split()[-1].lower()}")
    notebook.wear(THEMES[0])
    run(notebook, task.stub_text, task.solution_text)
    assert "Passed: every part holds." in words(run(notebook, CHECKS[-1]))


def test_what_is_done_is_seen_as_a_widget_whole_and_readable(notebook: Sheet) -> None:
    run(notebook, get_task(ID).stub_text.partition("\n")[0], get_task(ID).solution_text)
    run(notebook, CHECKS[-1])
    run(notebook, "progress()")
    lines = Overview(all_sets(), Done(frozenset({ID}))).text.splitlines()
    labels = notebook.page.locator("div.widget-label")  # a bar has an empty one of its own
    labels.first.wait_for()
    assert [text.split() for text in labels.all_inner_texts()] == [
        line.split() for line in lines if line
    ]
    done = labels.filter(has_text=f"{ID}\u2003passed")
    for theme in THEMES:
        notebook.wear(theme)
        assert done.evaluate(CONTRAST) >= READABLE
        assert done.evaluate(HIDDEN_LINES) <= 0
        done.scroll_into_view_if_needed()
        notebook.screenshot(f"progress-{theme.split()[-1].lower()}")
    notebook.wear(THEMES[0])
    assert notebook.page.locator(".widget-hprogress").count() == len(all_sets())


def test_a_check_that_takes_long_is_ended_by_the_stop_button(notebook: Sheet) -> None:
    notebook.run_below(
        "def spin(raw):\n    print('it spins')\n    while True:\n        pass",
        'check("02.4", spin)',
    )
    notebook.printed("it spins")
    notebook.interrupt()
    notebook.finished()
    assert notebook.outputs()[-1]["ename"] == "KeyboardInterrupt"
