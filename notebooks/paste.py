"""A definition of the package as it stands, as text for a notebook cell. Pure: nothing is imported.

Comments are kept, docstrings are cut, since the text cells explain. See notebooks/build.py for
how a cell asks for a definition.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NAME = re.compile(r"([A-Za-z_][\w.]*)(?:\(([\w\s,]*)\))?")
SECTION = re.compile(r"^ *# -- .* -+$\n?", re.MULTILINE)
PRAGMA = re.compile(r" +# (?:noqa|type: ignore|fmt: skip|pragma:).*$", re.MULTILINE)
FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)


class PasteError(ValueError):
    """An include asks for what is not there. The message names what and where."""


@dataclass(frozen=True)
class Wanted:
    """One name of an include: a definition of ``module``, or one method of a class there.

    ``only`` is None for the whole definition, else the methods to keep of a class.
    """

    module: str
    name: str
    only: tuple[str, ...] | None = None


def wanted(names: str) -> list[Wanted]:
    """The names of an include line. One without a module belongs to the module before it.

    Raises: PasteError when the text is no list of names or no module is found.
    """
    if NAME.sub("", names).strip():
        raise PasteError(f"cannot read {names!r}; write module.name, Class.method or Class(a, b)")
    found: list[Wanted] = []
    for match in NAME.finditer(names):
        module, name = split(match[1], found[-1].module if found else "")
        only = None if match[2] is None else tuple(re.findall(r"\w+", match[2]))
        found.append(Wanted(module, name, only))
    return found


def split(dotted: str, before: str = "") -> tuple[str, str]:
    """``a.b.C.m`` as (module ``a.b``, name ``C.m``): the longest front that is a file."""
    parts = dotted.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        if path_of(".".join(parts[:cut])).is_file():
            return ".".join(parts[:cut]), ".".join(parts[cut:])
    if not before or len(parts) > 2:
        raise PasteError(f"{dotted}: no module of this repository has that name")
    return before, dotted


def path_of(module: str) -> Path:
    """The file of a module of this repository, whether or not it exists."""
    return ROOT.joinpath(*module.split(".")).with_suffix(".py")


def paste(names: str) -> str:
    """The text for an include line: constants one below the other, definitions a line apart.

    Raises: PasteError for a name that does not exist.
    """
    pieces = [piece for item in wanted(names) for piece in pieces_of(item)]
    text = ""
    for piece, after in zip(pieces, [*pieces[1:], ""], strict=True):
        both_short = "\n" not in piece + after
        text += piece + ("" if not after else "\n" if both_short else "\n\n")
    return text


def pieces_of(item: Wanted) -> Iterator[str]:
    """Each definition under that name, a property's setter included."""
    source = path_of(item.module).read_text("utf-8")
    owner, _, method = item.name.rpartition(".")
    body = ast.parse(source).body
    for part in (owner, method) if owner else (method,):
        nodes = [node for node in body if part in names_of(node)]
        if not nodes:
            raise PasteError(f"{item.module} defines no {item.name}")
        body = nodes[0].body if isinstance(nodes[0], ast.ClassDef) else []
    if owner and not isinstance(nodes[0], FUNCTION):
        raise PasteError(f"{item.module}.{item.name} is no method; paste it with its class")
    for node in nodes:
        text = cut(source, node, item.only)
        below_comment = rf"\1@part_of({owner})\n"
        yield re.sub(r"\A((?:#.*\n)*)", below_comment, text) if owner else text


def names_of(node: ast.stmt) -> list[str]:
    """The names that a statement defines: a function's, a class's, or those it assigns."""
    if isinstance(node, (*FUNCTION, ast.ClassDef)):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def cut(source: str, node: ast.stmt, only: tuple[str, ...] | None = None) -> str:
    """The lines of ``node``, dedented, without docstrings and without methods not in ``only``."""
    lines = [""] + [PRAGMA.sub("", line) for line in source.splitlines()]
    dropped: set[int] = set()
    for inner in ast.walk(node):
        body = getattr(inner, "body", None)
        if not isinstance(body, list) or getattr(inner, "lineno", 0) in dropped:
            continue  # a case of a match has a body and no line number of its own
        gone = [child for child in body if is_docstring(child)]
        if inner is node and only is not None:
            gone += other_methods(node, only)
        for child in gone:
            first = child is body[0] or not is_docstring(child)
            dropped.update(span(lines, child, blanks=first))
        if gone and len(gone) == len(body):
            lines[gone[0].lineno] = " " * gone[0].col_offset + "..."
            dropped.discard(gone[0].lineno)
    raw = inside_strings(lines, node)
    indent = " " * node.col_offset
    kept = [
        lines[n] if n in raw else lines[n].removeprefix(indent)
        for n in span(lines, node)
        if n not in dropped
    ]
    text = "\n".join(kept).strip()
    if only is None:
        return text
    text = SECTION.sub("", text).strip()  # a heading over methods that are not here
    return re.sub(r"\n{3,}", "\n\n", text).replace(":\n\n", ":\n", 1)


def inside_strings(lines: list[str], node: ast.stmt) -> set[int]:
    """The numbers of the lines that begin inside a triple-quoted string: never dedented."""
    return {
        number
        for string in ast.walk(node)
        if isinstance(string, ast.Constant | ast.JoinedStr) and '"""' in lines[string.lineno]
        for number in range(string.lineno + 1, (string.end_lineno or 0) + 1)
    }


def other_methods(node: ast.stmt, only: tuple[str, ...]) -> list[ast.stmt]:
    """The methods of a class that are not asked for.

    Raises: PasteError when it is no class, or has no method of a name that is asked for.
    """
    if not isinstance(node, ast.ClassDef):
        raise PasteError(f"{names_of(node)[0]} is no class, so no methods can be chosen of it")
    methods = [child for child in node.body if isinstance(child, FUNCTION)]
    missing = set(only) - {method.name for method in methods}
    if missing:
        raise PasteError(f"{node.name} has no method {', '.join(sorted(missing))}")
    return [method for method in methods if method.name not in only]


def is_docstring(node: ast.stmt) -> bool:
    """A string that stands on its own, below a ``def``, a ``class`` or a constant."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def span(lines: list[str], node: ast.stmt, *, blanks: bool = False) -> range:
    """The line numbers of ``node`` with its decorators and the comment right above it.

    With ``blanks``, also the empty lines that go when it goes: after a docstring, before a method.
    """
    decorators = getattr(node, "decorator_list", [])
    start = min([node.lineno, *(decorator.lineno for decorator in decorators)])
    end = node.end_lineno or node.lineno
    while not is_docstring(node) and lines[start - 1].lstrip().startswith("#"):
        start -= 1
    while blanks and is_docstring(node) and end + 1 < len(lines) and not lines[end + 1].strip():
        end += 1
    while blanks and not is_docstring(node) and start > 1 and not lines[start - 1].strip():
        start -= 1
    return range(start, end + 1)
