"""What holds for every notebook, as pure functions: a notebook in, sentences out, [] when it holds.

Each sentence names its cell.
"""

from __future__ import annotations

import ast
import itertools
import re
import statistics
from collections.abc import Iterator

from IPython.core.inputtransformer2 import TransformerManager
from nbformat import NotebookNode

LIVE = {"nbval-skip", "skip-execution"}
BANNED_MODULES = {"nest_asyncio", "jupyter_ui_poll"}
BANNED_CALLS = {"input", "time.sleep", "asyncio.run", "update_display", "clear_output"}
BANNED_ATTRIBUTES = {"update_display", "clear_output", "run_until_complete"}
MARKER = "NBVAL_IGNORE_OUTPUT"
MOST_IGNORED = 5  # in the whole kit
UNSTABLE = {
    "a memory address": r"\b0x[0-9a-f]{6,}",
    "a port": r"(?:127\.0\.0\.1|localhost):\d+",
    "a path of one machine": r"(?:/home/|/Users/|/root/|/tmp/|/private/|[A-Z]:\\Users)",
    "a kernel's file name": r"ipykernel_\d+",
}


def code(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def text(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "markdown"]


def tags(cell: NotebookNode) -> set[str]:
    return set(cell.metadata.get("tags", []))


def live(cell: NotebookNode) -> bool:
    return tags(cell) >= LIVE


# -- execution ------------------------------------------------------------------------------------


def unexecuted(notebook: NotebookNode) -> list[str]:
    """nbval compares nothing in a cell without its count: every cell has it, in order."""
    found, expected = [], 0
    for cell in code(notebook):
        expected += not live(cell)
        if live(cell):
            if cell.execution_count is not None or cell.outputs:
                found.append(f"cell {cell.id} is live and holds an output")
        elif cell.execution_count != expected:
            found.append(f"cell {cell.id} has count {cell.execution_count}, expected {expected}")
    return found


def torn_tags(notebook: NotebookNode) -> list[str]:
    """A live cell has both tags: nbval knows one of them, the build the other."""
    return [f"cell {c.id} has one live tag of two" for c in code(notebook) if tags(c) & LIVE < LIVE
            and tags(c) & LIVE]  # fmt: skip


def wrong_errors(notebook: NotebookNode) -> list[str]:
    """An error is stored in the cells that are tagged for it, and in no other."""
    found = []
    for cell in code(notebook):
        failed = any(output.output_type == "error" for output in cell.outputs)
        if failed != ("raises-exception" in tags(cell)):
            found.append(f"cell {cell.id} {'holds' if failed else 'lacks'} an error")
    return found


def unstable(notebook: NotebookNode) -> list[str]:
    """Outputs are the same on every machine, with no sanitiser: nothing of this one is in them."""
    return [
        f"cell {cell.id} shows {what}: {match[0]}"
        for cell in code(notebook)
        for shown in shown_texts(cell)
        for what, pattern in UNSTABLE.items()
        if (match := re.search(pattern, shown))
    ]


def shown_texts(cell: NotebookNode) -> Iterator[str]:
    for output in cell.outputs:
        yield output.get("text", "")
        yield output.get("evalue", "")
        yield from (value for value in output.get("data", {}).values() if isinstance(value, str))


def ignored(notebook: NotebookNode) -> list[str]:
    """The ids of the cells whose output nbval does not compare."""
    return [c.id for c in code(notebook) if MARKER in c.source or "nbval-ignore-output" in tags(c)]


def ignored_without_reason(notebook: NotebookNode) -> list[str]:
    """The marker stands alone on its line, and the next line is a comment that says why."""
    found = []
    for cell in code(notebook):
        lines = [line.strip() for line in cell.source.splitlines()] + [""]
        if "nbval-ignore-output" in tags(cell):
            found.append(f"cell {cell.id}: write # {MARKER} and a reason, not the tag")
        for line, after in itertools.pairwise(lines):
            if MARKER in line and line != f"# {MARKER}":
                found.append(f"cell {cell.id}: nbval reads # {MARKER} only on a line of its own")
            elif MARKER in line and not re.match(r"#\s*\w", after):
                found.append(f"cell {cell.id}: no reason in the line below {MARKER}")
    return found


# -- what a cell must not do ----------------------------------------------------------------------


def banned(notebook: NotebookNode) -> list[str]:
    """Calls that block the kernel, nest its loop, or that nbval cannot follow."""
    to_python = TransformerManager().transform_cell
    return [
        f"cell {cell.id} uses {name}"
        for cell in code(notebook)
        for name in sorted(banned_names(ast.parse(to_python(cell.source))))
    ]


def banned_names(tree: ast.AST) -> set[str]:
    found = set()
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                found |= {alias.name for alias in names} & BANNED_MODULES
            case ast.ImportFrom(module=str(module), names=names):
                found |= {module} & BANNED_MODULES
                found |= {f"{module}.{alias.name}" for alias in names} & BANNED_CALLS
            case ast.Call(func=func) if ast.unparse(func) in BANNED_CALLS:
                found.add(ast.unparse(func))
            case ast.Call(func=ast.Attribute(attr=name)) if name in BANNED_ATTRIBUTES:
                found.add(name)
    return found


# -- drawings -------------------------------------------------------------------------------------


def drawings_without_words(notebook: NotebookNode) -> list[str]:
    """Every drawing has a sentence beside it for who cannot see it."""
    return [
        f"cell {cell.id} draws without a sentence: {words[:40]!r}"
        for cell in code(notebook)
        for output in cell.outputs
        if "image/svg+xml" in output.get("data", {})
        for words in [output.data.get("text/plain", "").strip()]
        if len(words) < 20 or re.fullmatch(r"<.*>", words, re.DOTALL)
    ]


# -- how it reads ---------------------------------------------------------------------------------


def missing_parts(notebook: NotebookNode) -> list[str]:
    """It opens with a question and the minutes it takes, and closes with what changed."""
    cells = text(notebook)
    first = cells[0].source.strip() if cells else ""
    opening = "\n".join(cell.source for cell in cells[:3])
    last = notebook.cells[-max(6, len(notebook.cells) // 4) :]
    closing = "\n".join(cell.source for cell in last if cell.cell_type == "markdown")
    there = {
        "the first cell's first line is no title that asks: # …?": re.match(r"# .+\?(\n|$)", first),
        "the opening does not say how many minutes it takes": re.search(r"\d+ minutes?\b", opening),
        'no heading "What changed" near the end': re.search(
            r"^#+ What changed\b", closing, re.MULTILINE
        ),
    }
    return [problem for problem, found in there.items() if not found]


def off_style(notebook: NotebookNode) -> list[str]:
    """The budget measured on notebooks that people love, cells that break it named."""
    return [*long_code(notebook), *unbalanced_text(notebook), *silent_code(notebook)]


def long_code(notebook: NotebookNode) -> list[str]:
    sizes = {cell.id: lines_of(cell) for cell in code(notebook)}
    if not sizes:
        return ["there is no code cell"]
    median, found = statistics.median(sizes.values()), []
    long = [f"{name} ({size})" for name, size in sizes.items() if size >= 15]
    if not 2 <= median <= 6:
        found.append(f"the median code cell has {median:g} lines, not 2 to 6")
    if len(long) > len(sizes) / 10:
        found.append(f"more than one code cell in 10 has 15 lines or more: {', '.join(long)}")
    return found + [f"cell {n} has {size} lines, over 40" for n, size in sizes.items() if size > 40]


def unbalanced_text(notebook: NotebookNode) -> list[str]:
    ratio, found = len(text(notebook)) / max(len(code(notebook)), 1), []
    if not 1 <= ratio <= 1.8:
        found.append(f"{ratio:.2f} text cells for each code cell, not 1 to 1.8")
    words = {cell.id: n for cell in text(notebook) if (n := len(prose(cell.source).split()))}
    odd = [f"{name} ({count})" for name, count in words.items() if not 15 <= count <= 40]
    if len(odd) > len(words) / 2:
        found.append(f"most text cells are outside 15 to 40 words: {', '.join(odd)}")
    return found


def silent_code(notebook: NotebookNode) -> list[str]:
    cells = [cell for cell in code(notebook) if not live(cell)]
    silent = [cell.id for cell in cells if not cell.outputs]
    if 3 * len(silent) <= len(cells):
        return []
    return [f"more than a third of the code cells show nothing: {', '.join(silent)}"]


def lines_of(cell: NotebookNode) -> int:
    return sum(bool(line.strip()) for line in cell.source.splitlines())


def prose(markdown: str) -> str:
    """A text cell without its headings, tables, code blocks and images."""
    without_code = re.sub(r"^```.*?^```", "", markdown, flags=re.DOTALL | re.MULTILINE)
    lines = without_code.splitlines()
    return "\n".join(line for line in lines if not re.match(r"\s*(#|\||!\[)", line))
