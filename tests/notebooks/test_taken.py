"""The accounts of a chapter close: what it shows and what it lists make up the module."""

from __future__ import annotations

from pathlib import Path

import pytest
from taken import claims, defined, unaccounted

from notebooks import paste as machine

MODULE = """
import os
LIMIT = 3
__all__ = ["encode"]
def encode(): ...
def decode(): ...
class Gone(Exception): ...
class Client:
    size = 1
    def __init__(self): ...
    async def call(self): ...
    @property
    def name(self): ...
"""

TABLE = """
# %% [markdown] taken="pkg.mod"
# ## Taken
#
# | from `pkg.mod` | why |
# |---|---|
"""


@pytest.fixture(autouse=True)
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "mod.py").write_text(MODULE)
    monkeypatch.setattr(machine, "ROOT", tmp_path)


def chapter(tmp_path: Path, include: str, *rows: str) -> Path:
    source = tmp_path / "97_chapter.py"
    table = TABLE + "".join(f"# | {row} |\n" for row in rows)
    source.write_text(f"# %% include {include}\n1\n{table}")
    return source


def test_functions_classes_constants_and_methods_are_defined() -> None:
    assert defined("pkg.mod") == {
        "LIMIT", "encode", "decode", "Gone",
        "Client", "Client.__init__", "Client.call", "Client.name",
    }  # fmt: skip


def test_the_accounts_close_when_all_is_shown_or_listed(tmp_path: Path) -> None:
    whole = chapter(
        tmp_path,
        "pkg.mod.encode Client",
        "`decode` | the same way back",
        "`LIMIT`, `Gone` | imported",
    )
    assert unaccounted(whole) == []
    assert claims(whole)["pkg.mod"]["Gone"] == "imported"
    parts = chapter(
        tmp_path,
        "pkg.mod.encode decode LIMIT Gone Client(__init__) Client.call",
        "`Client.name` | one line",
    )
    assert unaccounted(parts) == []


def test_what_is_neither_shown_nor_listed_is_named(tmp_path: Path) -> None:
    source = chapter(tmp_path, "pkg.mod.encode LIMIT Gone Client(call)", "`decode` | alike")
    assert unaccounted(source) == [
        "pkg.mod.Client.__init__: neither shown nor listed",
        "pkg.mod.Client.name: neither shown nor listed",
    ]


def test_methods_alone_do_not_show_their_class(tmp_path: Path) -> None:
    source = chapter(
        tmp_path,
        "pkg.mod.Client.call",
        "`encode`, `decode`, `LIMIT`, `Gone` | x",
        "`Client.name`, `Client.__init__` | y",
    )
    assert unaccounted(source) == ["pkg.mod.Client: neither shown nor listed"]


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("`lost` | it was renamed", "pkg.mod.lost: listed, and not in the module"),
        ("`encode` | twice", "pkg.mod.encode: listed, and shown as well"),
        ("`decode` |", "pkg.mod.decode: listed without a reason"),
    ],
)
def test_a_wrong_row_is_named(tmp_path: Path, row: str, problem: str) -> None:
    source = chapter(tmp_path, "pkg.mod.encode LIMIT Client Gone", "`decode` | alike", row)
    assert unaccounted(source) == [problem]


def test_a_chapter_without_a_table_claims_nothing(tmp_path: Path) -> None:
    source = tmp_path / "97_chapter.py"
    source.write_text("# %% include pkg.mod.encode\n1\n")
    assert unaccounted(source) == []
