"""Every row and rule of the two source chapters, and the notebook cell that shows it.

The rows are in tests/sources/*.toml.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from sources.judge import all_rows, asserts, idle_tags, rows_of, why_not_shown

from notebooks.path import PATH

NOTEBOOKS = Path(__file__).resolve().parent.parent / "notebooks"
ROWS = all_rows()
THERE = sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb"))
# The tables of the chapters, by the beginning of their rows' ids: none loses a row unnoticed.
TABLES = {
    "primitive-": 3, "type-": 3, "transport-table-": 5, "stack-": 5, "error-": 5, "checklist-": 4,
    "acceptance-": 5, "role-": 3, "decision-of-": 5, "boundary-": 5, "failure-": 8,
    "schema-test-": 5, "build-": 10, "review-": 10,
}  # fmt: skip


@functools.cache
def read(name: str) -> NotebookNode:
    return nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)


# -- the rows -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row_id", "notebook"), [pytest.param(row.id, row.notebook, id=row.id) for row in ROWS]
)
def test_the_row_is_shown(row_id: str, notebook: str) -> None:
    assert notebook in THERE, f"there is no notebooks/{notebook}.ipynb"
    assert why_not_shown(row_id, read(notebook)) == "", f"in notebooks/{notebook}.ipynb"


@pytest.mark.parametrize("name", THERE)
def test_every_tag_of_a_notebook_names_a_row_of_it(name: str) -> None:
    assert idle_tags(name, read(name), {row.id: row.notebook for row in ROWS}) == []


def test_every_notebook_of_the_path_has_rows_and_no_row_names_another() -> None:
    assert {row.notebook for row in ROWS} == {stop.name for stop in PATH}


def test_no_id_and_no_sentence_is_there_twice() -> None:
    counts = Counter(text for row in ROWS for text in (row.id, row.what))
    assert [text for text, count in counts.items() if count > 1] == []


def test_ids_are_kebab_case_and_every_row_is_one_sentence() -> None:
    assert [row.id for row in ROWS if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", row.id)] == []
    assert [row.id for row in ROWS if not re.fullmatch(r"\S.{15,}[.?]", row.what)] == []


@pytest.mark.parametrize(("start", "size"), TABLES.items(), ids=TABLES)
def test_a_table_of_the_chapters_has_all_its_rows(start: str, size: int) -> None:
    assert sum(row.id.startswith(start) for row in ROWS) == size


# -- the judge, on small notebooks ----------------------------------------------------------------


def cell(source: str = "1", *outputs: NotebookNode, tags: Any = (), count: int | None = 1) -> Any:
    metadata = {"tags": ["covers-x", *tags]}
    return new_code_cell(source, outputs=list(outputs), metadata=metadata, execution_count=count)


def judged(*cells: NotebookNode) -> str:
    return why_not_shown("x", new_notebook(cells=list(cells)))


SAID = new_output("stream", name="stdout", text="free\n")
GOOD = {
    "printed text": cell("print('free')", SAID),
    "a value": cell("1", new_output("execute_result", data={"text/plain": "1"})),
    "a drawing": cell("draw", new_output("display_data", data={"image/svg+xml": "<svg/>"})),
    "a deliberate error": cell("1 / 0", new_output("error", ename="E", evalue="", traceback=[])),
    "an assert": cell("assert answer == 1"),
    "an assert after an await": cell("x = await f()\nassert x"),
    "a test that the cell runs": cell("async def t():\n    assert a\nawait t()"),
}
BAD = {
    "a text cell": new_markdown_cell("# x is shown", metadata={"tags": ["covers-x"]}),
    "neither output nor assert": cell("answer = 1"),
    "only a warning": cell("f()", new_output("stream", name="stderr", text="beware")),
    "only a blank line": cell("print()", new_output("stream", name="stdout", text="\n")),
    "a live cell": cell("assert a", SAID, tags=["nbval-skip", "skip-execution"]),
    "half a live cell": cell("assert a", SAID, tags=["nbval-skip"]),
    "a cell never run": cell("assert a", count=None),
    "an assert of nothing": cell("assert True"),
    "an assert in a comment": cell("# assert a"),
    "an assert in a function that nobody calls": cell("def f():\n    assert a"),
    "another row's tag": new_code_cell(
        "assert a", metadata={"tags": ["covers-x-and-more"]}, execution_count=1
    ),
}


@pytest.mark.parametrize("good", GOOD.values(), ids=GOOD)
def test_a_tagged_cell_shows_a_row_with(good: NotebookNode) -> None:
    assert judged(good) == ""


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_a_row_is_not_shown_by(bad: NotebookNode) -> None:
    assert judged(bad)


def test_one_cell_that_shows_the_row_is_enough_and_an_empty_notebook_is_not() -> None:
    assert judged(BAD["a text cell"], GOOD["an assert"]) == ""
    assert judged() == "no cell is tagged covers-x"


def test_magics_do_not_stop_the_judge() -> None:
    assert asserts("%config InlineBackend.figure_format = 'svg'\nassert a")


def test_a_tag_that_names_no_row_or_a_row_of_another_notebook_is_named() -> None:
    notebook = new_notebook(cells=[cell()])
    assert idle_tags("01_a", notebook, {"x": "01_a"}) == []
    assert "names no row" in idle_tags("01_a", notebook, {})[0]
    assert "a row of 02_b" in idle_tags("01_a", notebook, {"x": "02_b"})[0]


def test_rows_are_read_with_their_section_and_a_row_without_a_notebook_is_refused() -> None:
    [row] = rows_of('source = "S"\n[t]\na = { notebook = "01_a", what = "It is so." }')
    assert (row.id, row.source, row.section, row.notebook) == ("a", "S", "t", "01_a")
    with pytest.raises(KeyError):
        rows_of('source = "S"\n[t]\na = { what = "It is so." }')
