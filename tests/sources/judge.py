"""Which rows the source chapters have, and whether a notebook shows one: pure, but for reading.

A row is shown by a code cell tagged ``covers-<id>`` that was executed and leaves something to look
at: a stored output, or an assert that runs with the cell. Headings and text cells claim, and show
nothing; a live cell was never run.
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from IPython.core.inputtransformer2 import TransformerManager
from nbformat import NotebookNode

HERE = Path(__file__).resolve().parent
LIVE = {"nbval-skip", "skip-execution"}
MARK = "covers-"
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Row:
    """One row or rule of a source chapter, in our words, and the notebook that shows it."""

    id: str
    source: str
    section: str
    what: str
    notebook: str


# -- the rows -------------------------------------------------------------------------------------


def all_rows(folder: Path = HERE) -> list[Row]:
    """The rows of every list in the folder, in order; an id can be there twice."""
    return [
        row for path in sorted(folder.glob("*.toml")) for row in rows_of(path.read_text("utf-8"))
    ]


def rows_of(text: str) -> list[Row]:
    """The rows of one list. Raises: tomllib.TOMLDecodeError, KeyError where a row lacks a part."""
    parts = tomllib.loads(text)
    source = parts.pop("source")
    return [
        Row(name, source, section, row["what"], row["notebook"])
        for section, rows in parts.items()
        for name, row in rows.items()
    ]


# -- a row in a notebook --------------------------------------------------------------------------


def why_not_shown(row_id: str, notebook: NotebookNode) -> str:
    """What keeps the notebook from showing the row, one sentence; '' when it shows it."""
    tagged = [cell for cell in notebook.cells if MARK + row_id in tags(cell)]
    faults = [fault(cell) for cell in tagged]
    return "" if "" in faults else "; ".join(faults) or f"no cell is tagged {MARK}{row_id}"


def fault(cell: NotebookNode) -> str:
    """Why a tagged cell shows nothing, '' when it shows something."""
    if cell.cell_type != "code":
        return f"cell {cell.id} is a {cell.cell_type} cell"
    if tags(cell) & LIVE:
        return f"cell {cell.id} is live"
    if cell.execution_count is None:
        return f"cell {cell.id} was not executed"
    if not any(map(visible, cell.outputs)) and not asserts(cell.source):
        return f"cell {cell.id} has neither an output nor an assert that runs"
    return ""


def tags(cell: NotebookNode) -> set[str]:
    return set(cell.metadata.get("tags", []))


def visible(output: NotebookNode) -> bool:
    """Whether an output has something to look at; what a library writes to stderr has not."""
    if output.output_type == "stream":
        return output.name == "stdout" and bool(output.text.strip())
    return output.output_type == "error" or any(map(str.strip, map(str, output.data.values())))


def asserts(source: str) -> bool:
    """Whether the cell asserts something: in its own statements, or in a function it names."""
    tree = ast.parse(TransformerManager().transform_cell(source))
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return any(
        isinstance(node, ast.Assert) and not isinstance(node.test, ast.Constant)
        for node in reached(tree, used)
    )


def reached(node: ast.AST, used: set[str]) -> Iterator[ast.AST]:
    """The nodes that can run with the cell: not the body of a function it never names."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, FUNCTIONS) or child.name in used:
            yield from reached(child, used)


def idle_tags(name: str, notebook: NotebookNode, where: Mapping[str, str]) -> list[str]:
    """Tags of no use: no row has the id, or another notebook's has. ``where``: id → notebook."""
    return [
        f"cell {cell.id}: {tag} names {f'a row of {other}' if other else 'no row'}"
        for cell in notebook.cells
        for tag in sorted(tags(cell))
        if tag.startswith(MARK) and (other := where.get(tag.removeprefix(MARK), "")) != name
    ]
