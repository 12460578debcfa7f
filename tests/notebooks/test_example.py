"""The worked example: the calendar's design notes, built as they stand, and accepted."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from mini_agent.design_notes import accept
from mini_agent.design_notes.acceptance import ITEMS
from notebooks.example import FOLDER, write_example


@pytest.mark.parametrize("item", range(len(ITEMS)), ids=ITEMS)
def test_each_acceptance_item_holds(item: int, accepted: tuple[tuple[str, ...], ...]) -> None:
    assert accepted[item] == ()


@pytest.fixture(scope="module")
def accepted() -> tuple[tuple[str, ...], ...]:
    return accept(FOLDER).missing


def test_the_folder_is_what_its_source_makes_of_the_package_as_it_stands(tmp_path: Path) -> None:
    made = asyncio.run(write_example(tmp_path / "made"))
    names = sorted(path.name for path in made.iterdir())
    assert names == sorted(path.name for path in FOLDER.iterdir() if path.is_file())
    for name in names:
        assert (FOLDER / name).read_bytes() == (made / name).read_bytes(), "make notebooks"
