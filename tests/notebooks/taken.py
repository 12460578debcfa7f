"""What a chapter shows of a module plus what it lists as taken is the whole module.

A text cell headed ``taken="mini_agent.mcp.messages"`` makes the claim; its table has the names in
backticks in the first column and the reason in the second. What is pasted anywhere counts as shown.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import jupytext

from notebooks.paste import FUNCTION, names_of, path_of, wanted


def claims(source: Path) -> dict[str, dict[str, str]]:
    """For each module that the source claims: the names it lists, and why each was not shown."""
    found: dict[str, dict[str, str]] = {}
    for cell in jupytext.read(source, fmt="py:percent").cells:
        for module in cell.metadata.get("taken", "").split():
            found.setdefault(module, {}).update(table(cell.source))
    return found


def table(markdown: str) -> dict[str, str]:
    """name → reason, from the rows of a Markdown table below its heading and its rule."""
    rows = [line.strip().strip("|") for line in markdown.splitlines() if line.startswith("|")]
    pairs = [[*re.split(r"(?<!\\)\|", row, maxsplit=1), ""] for row in rows[2:]]
    return {
        name: why.strip(" |") for first, why, *_ in pairs for name in re.findall("`(.+?)`", first)
    }


def shown(source: Path, module: str) -> set[str]:
    """The names of ``module`` that the source pastes; a class pasted whole brings its methods."""
    found: set[str] = set()
    for cell in jupytext.read(source, fmt="py:percent").cells:
        word, _, names = cell.metadata.get("title", "").partition(" ")
        for item in wanted(names) if word == "include" else []:
            if item.module == module:
                found |= covered(item.name, module, item.only)
    return found


def covered(name: str, module: str, only: tuple[str, ...] | None = None) -> set[str]:
    """A name with the methods that come with it: all of a class, or only those named."""
    methods = {n for n in defined(module) if n.startswith(f"{name}.")}
    return {name} | (methods if only is None else {f"{name}.{method}" for method in only})


def defined(module: str) -> set[str]:
    """Every name that the module's top level defines, and every method as ``Class.method``."""
    body = ast.parse(path_of(module).read_text("utf-8")).body
    found = {name for node in body for name in names_of(node)} - {"__all__"}
    for node in body:
        if isinstance(node, ast.ClassDef):
            methods = [child for child in node.body if isinstance(child, FUNCTION)]
            found |= {f"{node.name}.{method.name}" for method in methods}
    return found


def unaccounted(source: Path) -> list[str]:
    """What is neither shown nor listed, or listed wrongly; [] when the accounts close."""
    problems = []
    for module, listed in claims(source).items():
        pasted, there = shown(source, module), defined(module)
        taken = {name for entry in listed for name in covered(entry, module)}
        faults = {
            "neither shown nor listed": there - pasted - taken,
            "listed, and not in the module": set(listed) - there,
            "listed, and shown as well": set(listed) & pasted & there,
            "listed without a reason": {name for name, why in listed.items() if not why},
        }
        problems += [
            f"{module}.{name}: {fault}" for fault, names in faults.items() for name in sorted(names)
        ]
    return problems
