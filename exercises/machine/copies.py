"""A learner's own copies of the exercise notebooks: made, renewed, started again; never lost."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from mini_agent.workbook import refresh

ORIGINALS = Path(__file__).resolve().parent.parent
FILES = ("capstone_server.py",)
"""What a learner works on beside the notebooks."""


def bring(copies: Path, originals: Path = ORIGINALS) -> list[str]:
    """A copy of every exercise notebook in ``copies``, and a line for each thing that was done.

    So that their links lead somewhere, the notebooks that they rest on are copied beside them. A
    copy that the learner changed stays as it is, and so does every other file that is there.

    Raises: OSError when the folder cannot be written.
    """
    lesson = refresh(originals.parent / "notebooks", copies.parent / "notebooks")
    lines = [*lesson, *refresh(originals, copies), *_bring_files(copies, originals)]
    return lines or [f"every copy in {copies} is as it should be"]


def _bring_files(copies: Path, originals: Path) -> list[str]:
    """The files that are no notebooks, where they are missing."""
    lines = []
    for name in FILES:
        if (originals / name).exists() and not (copies / name).exists():
            shutil.copyfile(originals / name, copies / name)
            lines.append(f"made {copies / name}")
    return lines


def start_again(name: str, copies: Path, originals: Path = ORIGINALS) -> list[str]:
    """A fresh copy of one notebook, and of the file that goes with it.

    What was there is kept beside it, under another name.

    Raises: OSError when the folder cannot be written.
    """
    lines = []
    for file in (f"{name}.ipynb", *(file for file in FILES if file.startswith(f"{name}_"))):
        copy = copies / file
        if copy.exists():
            kept = spare_name(copy)
            os.replace(copy, kept)
            lines.append(f"kept yours, as it was last saved: {kept}")
    return [*lines, *refresh(originals, copies), *_bring_files(copies, originals)]


def spare_name(copy: Path) -> Path:
    """A name beside ``copy`` that no file has. It is no notebook to ``refresh`` or to a check."""
    number = 1
    while (kept := copy.with_name(f"{copy.stem}.before-{number}{copy.suffix}")).exists():
        number += 1
    return kept
