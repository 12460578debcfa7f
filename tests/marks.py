"""Which ids the tests of this suite are marked with, read from their source: no test is run."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).resolve().parent


def marked(name: str, folder: Path = TESTS) -> dict[str, list[str]]:
    """id → where it stands (``file:line``), for each ``@pytest.mark.<name>("id", …)``.

    Raises: ValueError for a mark whose ids are not written out.
    """
    found: dict[str, list[str]] = {}
    for path in sorted(folder.rglob("*.py")):
        for call in marks(ast.parse(path.read_text("utf-8")), name):
            where = f"{path.relative_to(folder)}:{call.lineno}"
            for argument in call.args:
                if not isinstance(argument, ast.Constant) or not isinstance(argument.value, str):
                    raise ValueError(f"{where}: write the ids of a mark out, as strings")
                found.setdefault(argument.value, []).append(where)
    return found


def marks(tree: ast.AST, name: str) -> Iterator[ast.Call]:
    """Every call of ``pytest.mark.<name>`` in a source."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == f"pytest.mark.{name}":
            yield node
