"""From a function in a task's file to a cell: its text, its stub, what it imports."""

from __future__ import annotations

import json
import sys
from collections import deque
from typing import Any

import pytest

from exercises.machine.source import (
    STUB,
    SourceError,
    cell_of,
    cleared,
    definitions,
    imports_for,
    run_cell,
)

HERE = sys.modules[__name__]
LIMIT, REST = 3, [
    1,
    2,
]  # fmt: skip


def answer() -> Any:
    """A docstring that nobody sees in the cell."""
    # a comment that they do

    def double(x: int) -> int:
        ### BEGIN SOLUTION
        return x + x
        ### END SOLUTION

    return double


def no_name() -> Any:
    x = 1
    return x + 1


def test_the_body_is_the_cell_and_the_last_line_its_name() -> None:
    text, name = cell_of(answer)
    assert name == "double"
    assert text.startswith("# a comment that they do\n\ndef double(x: int) -> int:\n    ###")
    assert "docstring" not in text and not text.endswith("return double")


def test_a_last_line_that_returns_no_name_is_named() -> None:
    with pytest.raises(SourceError, match="last line of no_name must return the answer by its"):
        cell_of(no_name)


def test_the_stub_is_the_text_without_what_is_marked() -> None:
    text, name = cell_of(answer)
    stub = cleared(text, STUB)
    assert stub.endswith(f"def double(x: int) -> int:\n    {STUB}")
    with pytest.raises(NotImplementedError):
        run_cell(stub, name, {})(1)
    assert run_cell(cleared(text, None), name, {})(4) == 8
    assert "SOLUTION" not in cleared(text, None)


def test_a_text_without_marks_makes_no_stub() -> None:
    with pytest.raises(SourceError, match="mark what the learner writes"):
        cleared("x = 1", STUB)


def test_running_a_cell_changes_no_module() -> None:
    names = {"x": 1}
    assert run_cell("x = 2", "x", names) == 2 and names == {"x": 1}


def test_definitions_come_in_the_order_of_the_file() -> None:
    first, second = definitions(HERE, ["answer", "LIMIT"])
    assert first.startswith("LIMIT, REST = 3, [") and second.startswith("def answer() -> Any:")
    with pytest.raises(SourceError, match="does not define nowhere"):
        definitions(HERE, ["nowhere"])


def test_imports_are_those_that_the_texts_use() -> None:
    assert json and deque
    text = "cleared(STUB, json.loads(x)), deque()"
    assert imports_for([(HERE, text), (HERE, "pytest.fail(json)")]) == (
        "import json\n"
        "from collections import deque\n\n"
        "import pytest\n"
        "from exercises.machine.source import STUB, cleared"
    )
    assert imports_for([(HERE, "x = 1")]) == ""
