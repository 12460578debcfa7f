"""An include becomes the package's own text; what does not exist is one clear error."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from notebooks import paste as machine
from notebooks.paste import PasteError, paste

MODULE = '''
"""A module."""

from somewhere import Base

LIMIT = 3
# why it is so
NAMES: dict[str, int] = {
    "a": 1,
}
"""What the names mean."""


# -- a heading --------------------------------------------------------------


@decorated
def first(x: int) -> int:  # noqa: E501
    """Docs.

    More.
    """
    # a comment stays
    def inner():
        """Inner docs."""
        return x

    return inner()


async def second() -> None:
    """Only docs."""


class Thing(Base):
    """Docs."""

    size = 1
    """Docs of an attribute."""

    def __init__(self) -> None:
        """Docs."""
        self.x = 1  # type: ignore[misc]

    def empty(self) -> None:
        """Only docs."""

    # why the text is so
    @property
    def text(self) -> str:
        """Docs."""
        return """a
        b"""

    @text.setter
    def text(self, value: str) -> None:
        self.x = value

    async def last(self) -> int:
        """Docs."""

        return 1


class Plain:
    def one(self): ...

    def two(self): ...
'''


@pytest.fixture(autouse=True)
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pkg" / "sub").mkdir(parents=True)
    (tmp_path / "pkg" / "mod.py").write_text(MODULE)
    (tmp_path / "pkg" / "sub" / "other.py").write_text("B = 2\n")
    monkeypatch.setattr(machine, "ROOT", tmp_path)


def code(text: str) -> str:
    """``text`` without the test's own indent, but for the line inside a string."""
    lines = [line if line.endswith(' b"""') else line[8:] for line in text.splitlines()]
    return "\n".join(lines).strip()


def test_a_function_comes_with_decorator_and_comments_and_without_docstrings() -> None:
    assert paste("pkg.mod.first") == code("""
        @decorated
        def first(x: int) -> int:
            # a comment stays
            def inner():
                return x

            return inner()
    """)


def test_a_body_that_was_only_a_docstring_becomes_dots() -> None:
    assert paste("pkg.mod.second") == "async def second() -> None:\n    ..."


def test_constants_stand_together_with_the_comment_above_them() -> None:
    assert paste("pkg.mod.LIMIT pkg.sub.other.B pkg.mod.NAMES") == code("""
        LIMIT = 3
        B = 2

        # why it is so
        NAMES: dict[str, int] = {
            "a": 1,
        }
    """)


def test_a_name_without_a_module_belongs_to_the_module_before_it() -> None:
    assert paste("pkg.mod.LIMIT second Thing.last") == "\n\n".join(
        [paste("pkg.mod.LIMIT"), paste("pkg.mod.second"), paste("pkg.mod.Thing.last")]
    )


def test_a_whole_class_keeps_all_but_its_docstrings() -> None:
    text = paste("pkg.mod.Thing")
    assert "Docs" not in text and text.startswith(
        "class Thing(Base):\n    size = 1\n\n    def __init"
    )
    assert [node.name for node in ast.parse(text).body[0].body[1:]] == [
        "__init__", "empty", "text", "text", "last",
    ]  # fmt: skip


def test_a_class_can_be_cut_down_to_named_methods() -> None:
    assert paste("pkg.mod.Thing(__init__, last)") == code("""
        class Thing(Base):
            size = 1

            def __init__(self) -> None:
                self.x = 1

            async def last(self) -> int:
                return 1
    """)
    assert paste("pkg.mod.Plain(two)") == "class Plain:\n    def two(self): ..."
    assert paste("pkg.mod.Thing()") == "class Thing(Base):\n    size = 1"


def test_a_method_stands_below_part_of_its_class() -> None:
    assert paste("pkg.mod.Thing.last") == code("""
        @part_of(Thing)
        async def last(self) -> int:
            return 1
    """)


def test_a_string_of_several_lines_is_not_dedented() -> None:
    text = paste("pkg.mod.Thing.text").replace("part_of(Thing)", "property")
    found = ast.parse(text).body[0].body[0].value.value
    assert found == "a\n        b"


def test_a_property_brings_its_setter_and_its_strings_untouched() -> None:
    assert paste("pkg.mod.Thing.text") == code('''
        # why the text is so
        @part_of(Thing)
        @property
        def text(self) -> str:
            return """a
        b"""

        @part_of(Thing)
        @text.setter
        def text(self, value: str) -> None:
            self.x = value
    ''')


@pytest.mark.parametrize(
    ("names", "part"),
    [
        ("pkg.mod.nothing", "pkg.mod defines no nothing"),
        ("pkg.mod.Thing.nothing", "pkg.mod defines no Thing.nothing"),
        ("pkg.mod.Base", "defines no Base"),
        ("pkg.gone.first", "pkg.gone.first: no module"),
        ("first", "first: no module"),
        ("pkg.mod.Thing(nothing)", "Thing has no method nothing"),
        ("pkg.mod.Thing.size", "is no method"),
        ("pkg.mod.first()", "first is no class"),
        ("pkg.mod.first; import os", "cannot read"),
    ],
)
def test_what_does_not_exist_is_named(names: str, part: str) -> None:
    with pytest.raises(PasteError, match=part.replace(".", r"\.")):
        paste(names)
