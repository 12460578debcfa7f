"""From a function in a task's file to the text of a notebook cell. Pure but for reading the file.

An answer is a function without arguments. Its body is the cell; its last line returns the name that
the check is given. So answers are ordinary code that ruff reads and that runs where it stands.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import re
import sys
import textwrap
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

STUB = "raise NotImplementedError  # your code here"
REGION = re.compile(
    r"^(?P<indent> *)### BEGIN SOLUTION\n(?P<body>.*?)^ *### END SOLUTION\n?",
    re.DOTALL | re.MULTILINE,
)


class SourceError(ValueError):
    """A task's file that cannot be read as one. The message names the function and the rule."""


def cell_of(answer: Callable[[], Any]) -> tuple[str, str]:
    """The text of the cell that ``answer`` stands for, and the name that it returns.

    Raises: SourceError when its last line is not ``return name``.
    """
    source = textwrap.dedent(inspect.getsource(answer))
    (function,) = ast.parse(source).body
    assert isinstance(function, ast.FunctionDef)
    *before, last = function.body
    if not (isinstance(last, ast.Return) and isinstance(last.value, ast.Name) and before):
        raise SourceError(f"the last line of {answer.__name__} must return the answer by its name")
    start = function.lineno
    if isinstance(before[0], ast.Expr) and isinstance(before[0].value, ast.Constant):
        start = before[0].end_lineno or start  # its docstring
    lines = source.splitlines()[start : last.lineno - 1]
    return textwrap.dedent("\n".join(lines)).strip("\n"), last.value.id


def cleared(text: str, stub: str | None) -> str:
    """``text`` with each marked region replaced by ``stub``, or by what stands in it for None.

    Raises: SourceError when there is a stub and no region to put it in.
    """

    def put(region: re.Match[str]) -> str:
        return region["body"] if stub is None else f"{region['indent']}{stub}\n"

    done, count = REGION.subn(put, text + "\n")
    if stub is not None and not count:
        raise SourceError("mark what the learner writes, or give the task a stub of its own")
    return done.strip("\n")


def run_cell(text: str, name: str, names: dict[str, Any]) -> Any:
    """What ``name`` is after ``text`` ran among ``names``, which stay as they are."""
    space = {**names, "__name__": "__main__"}  # as in a notebook, so that errors name its lines
    file = f"<{name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    exec(compile(text, file, "exec"), space)
    return space[name]


def definitions(module: ModuleType, names: Iterable[str]) -> list[str]:
    """The text of each top-level definition of ``module`` that is named, in the file's order.

    Raises: SourceError for a name that the module does not define.
    """
    wanted = set(names)
    source = inspect.getsource(module)
    lines = source.splitlines()
    found: list[str] = []
    for node in ast.parse(source).body:
        defined = defined_by(node) & wanted
        if defined:
            found.append("\n".join(lines[first_line(node) - 1 : node.end_lineno]))
            wanted -= defined
    if wanted:
        raise SourceError(f"{module.__name__} does not define {', '.join(sorted(wanted))}")
    return found


def defined_by(node: ast.stmt) -> set[str]:
    """The names that a statement defines."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return {name.id for name in targets if isinstance(name, ast.Name)} | {
        name.id
        for target in targets
        if isinstance(target, ast.Tuple)
        for name in target.elts
        if isinstance(name, ast.Name)
    }


def first_line(node: ast.stmt) -> int:
    """The line on which a definition begins, its decorators included."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


# -- imports --------------------------------------------------------------------------------------


def imports_for(pairs: Iterable[tuple[ModuleType, str]]) -> str:
    """The import lines that texts need: for each, of those that its module has.

    Python's own come first, then the others; a name is imported once.
    """
    needed: set[tuple[str, str]] = set()
    for module, text in pairs:
        used = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
        bound = imported(module)
        needed |= {bound[name] for name in used & set(bound)}
    groups = [
        [item for item in sorted(needed) if is_pythons(item[0]) is own] for own in (True, False)
    ]
    return "\n\n".join(filter(None, (lines_of(group) for group in groups)))


def imported(module: ModuleType) -> dict[str, tuple[str, str]]:
    """Each name that the module's own import lines bind: where it comes from, and how it is said.

    ``import json`` is ("json", ""), ``from a import b as c`` is ("a", "b as c").
    """
    found: dict[str, tuple[str, str]] = {}
    for node in ast.parse(inspect.getsource(module)).body:
        match node:
            case ast.Import(names=aliases):
                found |= {a.asname or a.name.split(".")[0]: (written(a), "") for a in aliases}
            case ast.ImportFrom(module=str(origin), names=aliases) if origin != "__future__":
                found |= {a.asname or a.name: (origin, written(a)) for a in aliases}
    return found


def written(alias: ast.alias) -> str:
    """An alias as it is written."""
    return f"{alias.name} as {alias.asname}" if alias.asname else alias.name


def is_pythons(origin: str) -> bool:
    """Does Python bring that module along?"""
    return origin.split(".")[0] in sys.stdlib_module_names


def lines_of(items: list[tuple[str, str]]) -> str:
    """Import lines for pairs of origin and name, names of one origin on one line."""
    plain = [f"import {origin}" for origin, name in items if not name]
    origins = dict.fromkeys(origin for origin, name in items if name)
    named = [
        f"from {origin} import {', '.join(name for o, name in items if o == origin and name)}"
        for origin in origins
    ]
    return "\n".join([*plain, *named])
