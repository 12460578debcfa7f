"""A learner's own copies of the exercise notebooks: made, renewed, started again; never lost."""

from __future__ import annotations

import os
from pathlib import Path

from mini_agent.workbook import refresh

ORIGINALS = Path(__file__).resolve().parent.parent


def bring(copies: Path, originals: Path = ORIGINALS) -> list[str]:
    """A copy of every exercise notebook in ``copies``, and a line for each thing that was done.

    A copy that the learner changed stays as it is.

    Raises: OSError when the folder cannot be written.
    """
    return refresh(originals, copies) or [f"every copy in {copies} is as it should be"]


def start_again(name: str, copies: Path, originals: Path = ORIGINALS) -> list[str]:
    """A fresh copy of one notebook. What was there is kept beside it, under another name.

    Raises: OSError when the folder cannot be written.
    """
    copy = copies / f"{name}.ipynb"
    lines = []
    if copy.exists():
        kept = spare_name(copy)
        os.replace(copy, kept)
        lines = [f"kept yours as {kept}"]
    return [*lines, *refresh(originals, copies)]


def spare_name(copy: Path) -> Path:
    """A name beside ``copy`` that no file has. It is no notebook to ``refresh`` or to a check."""
    number = 1
    while (kept := copy.with_name(f"{copy.stem}.before-{number}.ipynb")).exists():
        number += 1
    return kept
