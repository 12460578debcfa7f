"""Every notebook of the kit: built from its source as it stands, executed, within the rules."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import nbformat
import notebook_rules as rules
import pytest
from nbformat import NotebookNode
from taken import unaccounted

from notebooks.build import HERE, SOURCES, build
from notebooks.path import PATH, PICTURE, README, Stop, picture, with_table

GOAL = 8.0  # seconds for a notebook, its kernel included
names = sorted(path.stem for path in HERE.glob("*.ipynb"))
RULES = (
    rules.unexecuted,
    rules.torn_tags,
    rules.wrong_errors,
    rules.unstable,
    rules.ignored_without_reason,
    rules.banned,
    rules.drawings_without_words,
    rules.missing_parts,
    rules.off_style,
)


def read(name: str) -> NotebookNode:
    return nbformat.read(HERE / f"{name}.ipynb", as_version=4)


def test_there_is_a_notebook_for_each_source_and_each_is_on_the_path() -> None:
    assert names[:1] == ["00_start_here"]
    assert names == sorted(path.stem for path in SOURCES.glob("*.py"))
    assert names == [stop.name for stop in PATH if stop.written]


def test_the_readme_holds_the_path_as_it_stands() -> None:
    assert with_table(README.read_text("utf-8")) == README.read_text("utf-8"), "make notebooks"


def test_the_readmes_picture_is_drawn_from_the_layers_as_they_are_declared() -> None:
    assert PICTURE.read_text("utf-8") == picture(), "make notebooks"


@pytest.mark.parametrize("stop", [stop for stop in PATH if stop.written], ids=lambda s: s.name)
def test_its_title_is_the_question_on_the_path(stop: Stop) -> None:
    title = read(stop.name).cells[0].source.splitlines()[0]
    assert title == f"# {stop.name[:2]} · {stop.question}"


@pytest.mark.parametrize("name", names)
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_it_keeps_the_rule(rule: Callable[[NotebookNode], list[str]], name: str) -> None:
    assert rule(read(name)) == []


@pytest.mark.skipif(
    sys.version_info[:2] != (3, 11), reason="the stored bytes are those of Python 3.11"
)
@pytest.mark.parametrize("name", names)
def test_building_it_again_gives_the_committed_bytes_in_good_time(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    started = time.monotonic()
    built = build(SOURCES / f"{name}.py")
    seconds = time.monotonic() - started
    with capsys.disabled():
        sys.stdout.write(f"\n{name}: {seconds:.1f} s (goal: {GOAL:.0f} s)\n")
    assert built == (HERE / f"{name}.ipynb").read_text("utf-8"), f"run: make notebooks NB={name}"
    assert seconds < 3 * GOAL  # a busy machine gets three times the goal


@pytest.mark.parametrize("name", names)
def test_what_it_shows_and_what_it_lists_is_the_whole_module(name: str) -> None:
    assert unaccounted(SOURCES / f"{name}.py") == []


def test_few_outputs_are_left_uncompared() -> None:
    ignored = [f"{name} {cell}" for name in names for cell in rules.ignored(read(name))]
    assert len(ignored) <= rules.MOST_IGNORED, ignored


def test_no_notebook_names_a_folder_of_this_machine() -> None:
    here = str(HERE.parent)
    assert [name for name in names if here in (HERE / f"{name}.ipynb").read_text("utf-8")] == []
