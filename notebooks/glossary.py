"""The glossary: every word that a notebook explains before it uses it, gathered from its tables.

python -m notebooks.glossary    write GLOSSARY.md

A notebook explains its words in tables that begin ``| word | what it is``, one word a row, in a
sentence that reads well alone. The glossary is made of those tables, and the first notebook on the
path that explains a word counts, so the two cannot differ. A cell ``# %% [markdown] glossary`` in a
source has the table below its own text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from notebooks.path import HERE, PATH

GLOSSARY = HERE.parent / "GLOSSARY.md"
OPENING = "| word | what it is"
ABOUT = """# Glossary

Every word of the field that the notebooks use, as the notebook that introduces it explains it.
"""


@dataclass(frozen=True)
class Entry:
    """A word, what it is, and the notebook that introduces it."""

    word: str
    meaning: str
    notebook: str


def entries() -> list[Entry]:
    """Every word that is explained, by the alphabet; the first notebook on the path counts."""
    found: dict[str, Entry] = {}
    for stop in PATH:
        if stop.written:
            for word, meaning in explained(
                (HERE / "source" / f"{stop.name}.py").read_text("utf-8")
            ):
                found.setdefault(word.strip("`").lower(), Entry(word, meaning, stop.name))
    return [found[word] for word in sorted(found, key=lambda word: word.lstrip("_"))]


def explained(source: str) -> Iterator[tuple[str, str]]:
    """The words and meanings in the vocabulary tables of one source."""
    inside = False
    for line in source.splitlines():
        row = line.removeprefix("# ")
        inside = row.startswith(OPENING) or (inside and row.startswith("|"))
        if inside and not row.startswith((OPENING, "|-")):
            word, meaning = (cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:3])
            yield word, meaning


def table(folder: str = "") -> str:
    """The glossary as a Markdown table; ``folder`` leads to the notebooks."""
    rows = [f"| {e.word} | {e.meaning} | {linked(e.notebook, folder)} |" for e in entries()]
    return "\n".join(["| word | meaning | introduced in |", "|---|---|---|", *rows])


def linked(name: str, folder: str) -> str:
    """The number of a notebook, as a link to it."""
    return f"[{name[:2]}]({folder}{name}.ipynb)"


def file_text() -> str:
    """What GLOSSARY.md holds."""
    return f"{ABOUT}\n{table('notebooks/')}\n"


def write(path: Path = GLOSSARY) -> None:
    """Write the file."""
    path.write_text(file_text(), "utf-8")


if __name__ == "__main__":
    write()
