"""What a learner calls: check, hint, solution, progress, reset, start; and the file behind them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import exercises
from exercises import check, hint, progress, reset, solution, start
from exercises.machine import store
from exercises.machine.shelf import all_sets, get_task
from exercises.machine.verdict import WIDTH

ID = "02.2"


@pytest.fixture
def right() -> Any:
    return get_task(ID).make_solution()


@pytest.fixture
def wrong() -> Any:
    return get_task(ID).wrongs[0].make()


def kept() -> Any:
    return json.loads(store.progress_file().read_text("utf-8"))


def test_the_public_face() -> None:
    assert exercises.__all__ == ["check", "hint", "progress", "reset", "solution", "start"]
    assert exercises.check("02.2", {}).passed is False


def test_a_pass_is_noted_and_nothing_else_is(right: Any, wrong: Any) -> None:
    check(ID, wrong)
    assert not store.progress_file().exists()
    assert check(ID, right).passed and kept() == {"passed": [ID], "hints": {}}
    check(ID, wrong)
    assert kept() == {"passed": [ID], "hints": {}}


@pytest.mark.parametrize("call", [lambda: check("02.9", 1), lambda: hint("02.9")])
def test_an_id_that_no_task_has_names_those_there_are(call: Any) -> None:
    with pytest.raises(ValueError, match=r"no task '02\.9'; there are 02\.1, 02\.2, 02\.3, 02\.4"):
        call()


@pytest.mark.parametrize("odd", ["", "x", "77.1", 4.2, None])
def test_an_odd_id_is_a_value_error(odd: Any) -> None:
    with pytest.raises(ValueError, match=r"there are|named by a text"):
        check(odd, 1)


def test_hints_come_one_after_the_other_and_the_third_stays() -> None:
    hints = get_task(ID).hints
    for number in (1, 2, 3):
        assert hint(ID).markdown.startswith(f"Hint {number} of 3. {hints[number - 1]}")
    assert hint(ID).markdown.startswith("Hint 3 of 3. ")
    assert 'solution("02.2", anyway=True)' in hint(ID).text
    assert hint(ID, 1).markdown == f"Hint 1 of 3. {hints[0]}"
    assert kept()["hints"] == {ID: 3}
    with pytest.raises(ValueError, match="no 4"):
        hint(ID, 4)


def test_a_hint_says_the_same_as_text_in_lines_that_fit() -> None:
    for level in (1, 2, 3):
        said = hint("02.1", level)
        assert said.text.split() == said.markdown.split()
        assert max(map(len, said.text.splitlines())) <= WIDTH
    assert len(hint("02.1", 3).text.splitlines()) > 2


def test_a_title_stands_without_marks_where_nothing_renders_them() -> None:
    assert "`parse_response`" in get_task("02.3").title
    shown = [check("02.3", 1), solution("02.3"), progress()]
    assert ["`" in one.text for one in shown] == [False] * 3
    assert all("parse_response: eight refused" in one.text for one in shown)


def test_the_solution_waits_for_a_pass_or_is_asked_for(right: Any) -> None:
    text = get_task(ID).solution_text
    assert text not in solution(ID).text and "anyway=True" in solution(ID).text
    assert solution(ID, anyway=True).text == text
    check(ID, right)
    assert solution(ID).text == text
    assert "BEGIN SOLUTION" not in solution("02.1", anyway=True).text


def test_progress_says_what_is_done(right: Any) -> None:
    tasks = [task for one in all_sets() for task in one.tasks]
    assert progress().text.endswith(f"0 of {len(tasks)} tasks passed.")
    check(ID, right)
    hint("02.3")
    text = progress().text
    assert f"{ID}  passed  Twelve lines: who says no?, 10 min" in text
    assert "20 min (1 hint seen)" in text
    assert text.endswith(f"1 of {len(tasks)} tasks passed.")


def test_progress_is_a_widget_that_says_the_same(right: Any) -> None:
    check(ID, right)
    overview = progress()
    labels = [one.value for one in leaves(overview.widget())]
    bars = [value for value in labels if isinstance(value, int)]
    words = [value.split() for value in labels if isinstance(value, str)]
    assert words == [line.split() for line in overview.text.splitlines() if line]
    assert [one.number for one in all_sets()][bars.index(1)] == "02" and sum(bars) == 1
    bundle = overview._repr_mimebundle_()
    assert set(bundle) >= {"text/plain", "application/vnd.jupyter.widget-view+json"}
    assert bundle["text/plain"] == overview.text


def leaves(widget: Any) -> list[Any]:
    inner = getattr(widget, "children", None)
    return [widget] if inner is None else [leaf for child in inner for leaf in leaves(child)]


# -- the file -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "7", '{"passed": 1}', '{"hints": []}', '{"passed": [1], "hints": {"a": "b"}}',
     "[" * 100_000, '{"passed": null, "hints": {"02.1": 99}}'],
)  # fmt: skip
def test_a_file_that_is_torn_or_edited_counts_as_nothing_done(text: str, right: Any) -> None:
    path = store.progress_file()
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    assert store.read(path) == store.Done()
    assert check(ID, right).passed
    assert kept()["passed"] == [ID]
    unreadable = text in ("", "{") or len(text) > 1000
    assert (path.with_name("progress.json.damaged")).exists() == unreadable


def test_what_can_be_read_of_a_file_is_kept(right: Any) -> None:
    path = store.progress_file()
    path.parent.mkdir(parents=True)
    path.write_text('{"passed": ["99.9", 7], "hints": {"02.1": 2, "x": 9}}', encoding="utf-8")
    check(ID, right)
    assert kept() == {"passed": [ID, "99.9"], "hints": {"02.1": 2}}


def test_a_folder_that_cannot_be_written_is_said_below_the_verdict(work: Path, right: Any) -> None:
    work.parent.mkdir()
    work.write_text("a file where the folder should be")
    verdict = check(ID, right)
    assert verdict.passed and verdict.text.splitlines()[-1].startswith("(This could not be noted")


def test_two_that_note_something_at_once_lose_nothing(work: Path) -> None:
    ids = [[f"{kernel}.{number}" for number in range(40)] for kernel in range(2)]
    code = (
        "import sys; from exercises.machine import store\n"
        "for name in sys.argv[1:]: store.note_pass(store.progress_file(), name)"
    )
    kernels = [subprocess.Popen([sys.executable, "-c", code, *names]) for names in ids]
    assert [kernel.wait(30) for kernel in kernels] == [0, 0]
    assert store.read(store.progress_file()).passed == {name for names in ids for name in names}
    assert [path.name for path in work.iterdir()] == ["progress.json"]


@pytest.mark.skipif(sys.platform == "win32", reason="there the folder is not locked")
def test_a_folder_that_another_keeps_locked_holds_no_check_up(work: Path, right: Any) -> None:
    import fcntl

    work.mkdir(parents=True)
    handle = os.open(work, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        assert check(ID, right).passed and kept()["passed"] == [ID]
    finally:
        os.close(handle)


def test_nothing_half_written_is_left(work: Path, right: Any) -> None:
    check(ID, right)
    assert [path.name for path in work.iterdir()] == ["progress.json"]


# -- copies ---------------------------------------------------------------------------------------


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("*.ipynb"))


def edit(path: Path) -> str:
    text = path.read_text("utf-8").replace("NotImplementedError", "MyOwnWork", 1)
    path.write_text(text, encoding="utf-8")
    return text


def test_start_copies_every_notebook_and_never_a_second_time_over_changes(work: Path) -> None:
    said = start().text
    assert names(work) == [f"{one.name}.ipynb" for one in all_sets()]
    assert said.count(f"made {work}") == len([*names(work), "capstone_server.py"])
    mine = edit(work / "02_messages.ipynb")
    start()
    assert (work / "02_messages.ipynb").read_text("utf-8") == mine


@pytest.mark.parametrize("place", ["where it is made", "a copy"])
def test_every_link_of_a_notebook_leads_to_a_notebook(work: Path, place: str) -> None:
    start()
    folder = work if place == "a copy" else Path(exercises.__file__).parent
    for one in all_sets():
        text = (folder / f"{one.name}.ipynb").read_text("utf-8")
        links = re.findall(r"\]\(([^)#]+\.ipynb)", text)
        assert len(links) >= len(one.tasks)
        assert [link for link in links if not (folder / link).exists()] == []


def test_reset_begins_one_notebook_again_and_keeps_the_old_one_beside_it(
    work: Path, right: Any
) -> None:
    start()
    mine, other = edit(work / "02_messages.ipynb"), edit(work / "03_transport.ipynb")
    check(ID, right)
    hint("03.1")
    said = reset("02").text
    original = Path(exercises.__file__).parent / "02_messages.ipynb"
    assert (work / "02_messages.ipynb").read_text("utf-8") == original.read_text("utf-8")
    assert (work / "02_messages.before-1.ipynb").read_text("utf-8") == mine
    assert (work / "03_transport.ipynb").read_text("utf-8") == other
    assert kept() == {"passed": [], "hints": {"03.1": 1}}
    assert "before-1" in said and "open it again" in said
    reset("02")
    assert (work / "02_messages.before-1.ipynb").read_text("utf-8") == mine


def test_reset_of_a_number_that_no_set_has_names_those_there_are() -> None:
    with pytest.raises(ValueError, match=r"no set '99'; there are .*02, "):
        reset("99")
