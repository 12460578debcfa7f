"""Who judges this kit from outside: servers, clients and a suite that nobody here wrote.

What each of them said is on record in judges.toml. One that is installed is asked again; where it
is not, the record speaks. So a notebook shows the same on every machine.
"""

from __future__ import annotations

import importlib.util
import shutil
import tomllib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path

RECORD = Path(__file__).with_name("judges.toml")
ROOT = RECORD.parents[1]


@dataclass(frozen=True)
class Judge:
    """A program that nobody here wrote. ``judges`` says what of ours it looks at.

    ``needs`` are what it cannot be asked without, each a kind and a name: "module mcp", "program
    git", "file build/peers". ``brings`` is the command that installs them. ``said`` is on record,
    a line a finding.
    """

    name: str
    judges: str
    needs: tuple[str, ...]
    brings: str
    said: tuple[str, ...]

    @property
    def missing(self) -> list[str]:
        """What of ``needs`` is not on this machine."""
        return [need for need in self.needs if not is_here(need)]


def on_record(path: Path = RECORD) -> dict[str, Judge]:
    """The judges by name, as the file has them.

    Raises: OSError; ValueError for a file that is no TOML; KeyError naming a part that is missing.
    """
    return {
        name: Judge(name, of["judges"], tuple(of["needs"]), of["brings"], tuple(of["said"]))
        for name, of in tomllib.loads(path.read_text("utf-8")).items()
    }


def is_here(need: str) -> bool:
    """Is it on this machine?

    Raises: ValueError for a kind that is none of the three.
    """
    kind, _, name = need.partition(" ")
    match kind:
        case "module":
            try:
                return importlib.util.find_spec(name) is not None
            except ModuleNotFoundError:  # of a.b, where there is no a
                return False
        case "program":
            return shutil.which(name) is not None
        case "file":
            return (ROOT / name).exists()
    raise ValueError(f"a need is a module, a program or a file, not {need!r}")


async def said(judge: Judge, ask: Callable[[], AsyncIterator[str]]) -> list[str]:
    """The lines that ``ask`` gets from the judge; those on record where it is not installed.

    Raises: what ``ask`` raises.
    """
    if judge.missing:
        return list(judge.said)
    return [line async for line in ask()]
