"""Every rule of musts.md has a test, or says why not; the rules of a server are the fakes' own."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest
from marks import TESTS, marked


@dataclass(frozen=True)
class Must:
    """One row: a rule, and why it has no test, "" where it has to have one."""

    id: str
    level: str
    rule: str
    why_not: str


def rows(text: str) -> list[Must]:
    """The rows of the tables."""
    found = re.findall(r"^\| (C\d+) \| (\w+) \| (.+?) \|(.*)\|$", text, re.MULTILINE)
    return [Must(*(cell.strip() for cell in row)) for row in found]


TEXT = (TESTS / "musts.md").read_text("utf-8")
MUSTS = rows(TEXT)
FOUND = marked("must")
SERVERS_OWN = re.compile(r"S\d\d")


@pytest.mark.parametrize("must", [pytest.param(must, id=must.id) for must in MUSTS])
def test_the_rule_has_a_test_or_says_why_not(must: Must) -> None:
    if must.why_not:
        assert must.id not in FOUND, f"{must.id} has a test: take its reason out of musts.md"
    else:
        assert must.id in FOUND, f"no test is marked must({must.id!r}): {must.rule}"


def test_no_mark_names_a_rule_that_is_not_there() -> None:
    known = {must.id for must in MUSTS}
    unknown = {name: where for name, where in FOUND.items() if name not in known}
    assert {name: w for name, w in unknown.items() if not SERVERS_OWN.fullmatch(name)} == {}


def test_there_are_as_many_rules_as_there_were_and_each_is_one_sentence() -> None:
    assert len(MUSTS) == TEXT.count("\n| C") == 104
    assert len({must.id for must in MUSTS}) == len({must.rule for must in MUSTS}) == 104
    assert {must.level for must in MUSTS} == {"MUST", "SHOULD"}
    sentences = [must.rule for must in MUSTS] + [must.why_not for must in MUSTS if must.why_not]
    assert [text for text in sentences if not re.fullmatch(r"\S.{8,}\.", text)] == []
