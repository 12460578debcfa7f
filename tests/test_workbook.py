"""part_of builds a class in parts; refresh never overwrites what a reader wrote."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mini_agent.workbook import main, part_of, refresh

# -- part_of --------------------------------------------------------------------------------------


class Base:
    def name(self) -> str:
        return "base"


def test_a_function_becomes_a_method_and_keeps_its_own_name_outside() -> None:
    class Thing(Base):
        size = 2

    @part_of(Thing)
    def double(self: Thing) -> int:
        return self.size * 2

    assert (Thing().double(), Thing.double.__qualname__.endswith("Thing.double")) == (4, True)
    assert double is Thing.__dict__["double"]


async def test_a_coroutine_function_becomes_a_method() -> None:
    class Thing: ...

    @part_of(Thing)
    async def answer(self: Thing) -> int:
        return 42

    assert await Thing().answer() == 42


def test_a_property_and_then_its_setter_become_members() -> None:
    class Thing:
        _x = 1

    @part_of(Thing)
    @property
    def x(self: Any) -> int:
        return self._x

    thing = Thing()
    assert thing.x == 1

    @part_of(Thing)
    @x.setter
    def x(self: Any, value: int) -> None:
        self._x = value

    thing.x = 5
    assert thing.x == 5


def test_class_and_static_methods_become_members() -> None:
    class Thing: ...

    @part_of(Thing)
    @classmethod
    def made(cls: type) -> Any:
        return cls()

    @part_of(Thing)
    @staticmethod
    def plain() -> int:
        return 3

    assert (type(Thing.made()), Thing.plain(), Thing().plain()) == (Thing, 3, 3)


def test_later_parts_replace_earlier_ones_and_inherited_ones() -> None:
    class Thing(Base): ...

    def name(self: Any) -> str:
        return "part"

    part_of(Thing)(name)
    assert (Thing().name(), Base().name()) == ("part", "base")


def test_the_class_s_name_through_self_is_allowed() -> None:
    class Thing: ...

    @part_of(Thing)
    def called(self: Any) -> str:
        return self.__class__.__name__

    assert Thing().called() == "Thing"


def needs_super(self: Any) -> str:
    return super().name()  # type: ignore[misc]


def needs_private(self: Any) -> Any:
    return self.__secret


@pytest.mark.parametrize("function", [needs_super, needs_private])
def test_what_needs_the_class_body_is_refused(function: Callable[..., Any]) -> None:
    class Thing(Base): ...

    with pytest.raises(TypeError):
        part_of(Thing)(function)
    assert function.__name__ not in Thing.__dict__


def test_forgetting_the_class_is_a_type_error() -> None:
    with pytest.raises(TypeError):

        @part_of  # type: ignore[arg-type]
        def alone(self: Any) -> None: ...


@pytest.mark.parametrize("member", [3, "name", Base, Base(), len, property()])
def test_what_is_no_member_is_a_type_error(member: Any) -> None:
    class Thing: ...

    with pytest.raises(TypeError):
        part_of(Thing)(member)


# -- copies ---------------------------------------------------------------------------------------


def notebook(text: str, output: str = "") -> str:
    cell = {"cell_type": "code", "source": [text], "outputs": [output]}
    return json.dumps({"cells": [cell]})


class Desk:
    """An original, and the reader's copy of it."""

    def __init__(self, top: Path) -> None:
        self.originals, self.copies = top / "notebooks", top / "work" / "notebooks"
        self.originals.mkdir()
        self.original, self.copy = self.originals / "00_a.ipynb", self.copies / "00_a.ipynb"
        self.original.write_text(notebook("first"))

    def refresh(self) -> list[str]:
        return [line.split()[0] for line in refresh(self.originals, self.copies)]

    def same(self) -> bool:
        return self.copy.read_text() == self.original.read_text()


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    desk = Desk(tmp_path)
    assert desk.refresh() == ["made"]
    return desk


def test_a_missing_copy_is_made_and_then_left_alone(desk: Desk) -> None:
    assert desk.same()
    assert desk.refresh() == []


def test_a_new_original_renews_an_unchanged_copy(desk: Desk) -> None:
    desk.original.write_text(notebook("second"))
    assert (desk.refresh(), desk.same(), desk.refresh()) == (["renewed"], True, [])


def test_outputs_alone_do_not_make_a_copy_the_readers(desk: Desk) -> None:
    desk.copy.write_text(notebook("first", output="ran it"))
    assert desk.refresh() == []
    assert "ran it" in desk.copy.read_text()
    desk.original.write_text(notebook("second"))
    assert (desk.refresh(), desk.same()) == (["renewed"], True)


def test_a_changed_copy_is_never_overwritten_and_this_is_said_each_time(desk: Desk) -> None:
    desk.copy.write_text(notebook("mine"))
    assert desk.refresh() == []
    desk.original.write_text(notebook("second"))
    assert desk.refresh() == desk.refresh() == ["kept"]
    desk.original.write_text(notebook("third"))
    assert (desk.refresh(), desk.copy.read_text()) == (["kept"], notebook("mine"))


def test_the_line_names_both_files(desk: Desk) -> None:
    desk.copy.write_text(notebook("mine"))
    desk.original.write_text(notebook("second"))
    (line,) = refresh(desk.originals, desk.copies)
    assert str(desk.copy) in line and str(desk.original) in line


def test_a_copy_that_is_no_notebook_any_more_is_kept(desk: Desk) -> None:
    desk.copy.write_text("{half")
    desk.original.write_text(notebook("second"))
    assert (desk.refresh(), desk.copy.read_text()) == (["kept"], "{half")


def test_an_unreadable_copy_does_not_match_an_unreadable_original(desk: Desk) -> None:
    desk.original.write_text("[1]")
    desk.copy.write_text("{half")
    assert desk.refresh() == ["kept"]


def test_a_copy_whose_record_was_lost_is_kept(desk: Desk) -> None:
    shutil.rmtree(desk.copies)
    desk.copies.mkdir()
    desk.copy.write_text(notebook("mine"))
    assert desk.refresh() == ["kept"]


@pytest.mark.parametrize("record", [b"", b'{"00_a', b"[]", b'{"00_a.ipynb": 3}', b"\xff"])
def test_a_torn_record_is_said_in_one_line_and_the_copies_stay(desk: Desk, record: bytes) -> None:
    desk.copy.write_text(notebook("mine"))
    (desk.copies / ".originals.json").write_bytes(record)
    (said, kept) = refresh(desk.originals, desk.copies)
    assert ".originals.json cannot be read" in said and kept.startswith("kept")
    assert desk.copy.read_text() == notebook("mine")
    assert desk.refresh() == ["kept"]


def test_a_deleted_copy_is_made_again(desk: Desk) -> None:
    desk.copy.unlink()
    assert (desk.refresh(), desk.same()) == (["made"], True)


def test_the_command_says_what_it_did(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    desk.copy.unlink()
    assert main(str(desk.originals), str(desk.copies)) == 0
    assert capsys.readouterr().out == f"made {desk.copy}\n"
