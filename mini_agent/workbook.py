"""What the notebooks need of the package: a class built in parts, and a reader's own copies.

``python -m mini_agent.workbook`` puts a copy of each notebook into ``work/notebooks/``. A copy
whose code or text the reader changed is never overwritten.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar

M = TypeVar("M", bound=Callable[..., Any] | property)

RECORD = ".originals.json"


def part_of(cls: type) -> Callable[[M], M]:
    """A decorator that makes what stands below it a member of ``cls``, under its own name.

    It takes a function, a property, a classmethod or a staticmethod, and returns it unchanged.

    Raises: TypeError when ``cls`` is no class, when what it decorates is none of the four, or
    when the code needs the class's own body around it (``super()``, a ``__private`` name).
    """
    if not isinstance(cls, type):
        raise TypeError("part_of takes the class: write @part_of(TheClass) above the function")

    def add(member: M) -> M:
        function = _function(member)
        needs = [name for name in inspect.unwrap(function).__code__.co_names if _bound(name)]
        if needs:
            raise TypeError(
                f"{function.__name__} uses {needs[0]}, which works only in the class's own body; "
                f"define it there instead of with @part_of({cls.__name__})"
            )
        function.__qualname__ = f"{cls.__qualname__}.{function.__name__}"
        setattr(cls, function.__name__, member)
        return member

    return add


def _function(member: Any) -> FunctionType:
    inner = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
    if not isinstance(inner, FunctionType):
        raise TypeError(
            "part_of goes above a function, a property, a classmethod or a staticmethod, "
            f"not above {type(member).__name__}"
        )
    return inner


def _bound(name: str) -> bool:
    return name == "super" or (name.startswith("__") and not name.endswith("__"))


# -- a reader's own copies ------------------------------------------------------------------------


def refresh(originals: Path, copies: Path) -> list[str]:
    """Bring every notebook of ``originals`` into ``copies``, and say what was done, a line each.

    A missing copy is made. A copy whose cells the reader left as they were is renewed when the
    original changed; outputs alone are no change. Any other copy stays as it is, also when the
    record of what was copied cannot be read.
    """
    copies.mkdir(parents=True, exist_ok=True)
    record = copies / RECORD
    known = _read_record(record) if record.exists() else {}
    lines = []
    if known is None:
        known, lines = {}, [f"{record} cannot be read; a changed notebook will not be renewed"]
    for original in sorted(originals.glob("*.ipynb")):
        line, known[original.name] = _refresh_one(
            original, copies / original.name, known.get(original.name, {})
        )
        lines += [line] if line else []
    whole = record.with_name(f"{RECORD}.new")  # a crash leaves the old record or the new one
    whole.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    os.replace(whole, record)
    return lines


def _read_record(record: Path) -> dict[str, dict[str, str]] | None:
    """What was copied, by name; None when the file is torn or holds something else."""
    try:
        known = json.loads(record.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    whole = isinstance(known, dict) and all(isinstance(entry, dict) for entry in known.values())
    return known if whole else None


def _refresh_one(original: Path, copy: Path, known: dict[str, str]) -> tuple[str, dict[str, str]]:
    now = {"file": _digest(original.read_bytes()), "cells": cells_digest(original)}
    if not copy.exists():
        shutil.copyfile(original, copy)
        return f"made {copy}", now
    if known.get("file") == now["file"]:
        return "", known
    if cells_digest(copy) in (known.get("cells"), now["cells"]):
        shutil.copyfile(original, copy)
        return f"renewed {copy}", now
    return f"kept {copy}, which you changed; the newer original is {original}", known


def cells_digest(path: Path) -> str:
    """A hash of what a person writes in a notebook: its cells without their outputs.

    Of a file that is no notebook, the hash of its bytes.
    """
    raw = path.read_bytes()
    try:
        written = [[c["cell_type"], "".join(c["source"])] for c in json.loads(raw)["cells"]]
    except (ValueError, KeyError, TypeError):
        return _digest(raw)
    return _digest(json.dumps(written).encode())


def _digest(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


def main(originals: str = "notebooks", copies: str = "work/notebooks") -> int:
    """Refresh the reader's copies, from the top of the repository."""
    lines = refresh(Path(originals), Path(copies))
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
