"""Every case of cases.toml has a test, and every starred one a naive client that it turns red."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

import pytest
from marks import TESTS, marked, marks

CASES = {
    name: case
    for section in tomllib.loads((TESTS / "cases.toml").read_text("utf-8")).values()
    for name, case in section.items()
}
STARRED = [name for name, case in CASES.items() if case.get("star")]
FOUND = marked("case")


@pytest.mark.parametrize("name", CASES)
def test_the_case_has_a_test(name: str) -> None:
    assert name in FOUND, f"no test is marked case({name!r}): {CASES[name]['what']}"


def test_no_mark_names_a_case_that_is_not_there() -> None:
    assert {name: where for name, where in FOUND.items() if name not in CASES} == {}


def test_there_are_as_many_cases_as_there_were_and_each_is_one_sentence() -> None:
    assert (len(CASES), len(STARRED)) == (86, 17)
    assert [name for name, case in CASES.items() if not re.fullmatch(r"\S.+\.", case["what"])] == []
    assert len({case["what"] for case in CASES.values()}) == len(CASES)


def against_a_naive_client() -> set[str]:
    """The cases of tests/cases/test_starred.py that run against one."""
    tree = ast.parse((TESTS / "cases" / "test_starred.py").read_text("utf-8"))
    tests = [node for node in tree.body if isinstance(node, ast.AsyncFunctionDef)]
    naive = [
        test for test in tests if any("against(" in ast.unparse(d) for d in test.decorator_list)
    ]
    calls = [call for test in naive for call in marks(test, "case")]
    return {ast.literal_eval(argument) for call in calls for argument in call.args}


def test_each_starred_case_and_no_other_runs_against_a_naive_client() -> None:
    assert against_a_naive_client() == set(STARRED)


# -- the reader of marks --------------------------------------------------------------------------


def read(tmp_path: Path, source: str) -> dict[str, list[str]]:
    (tmp_path / "test_x.py").write_text(source, encoding="utf-8")
    return marked("case", tmp_path)


def test_marks_are_read_from_functions_files_and_parameters(tmp_path: Path) -> None:
    source = (
        "import pytest\n"
        'pytestmark = pytest.mark.case("A1")\n'
        '@pytest.mark.case("B1", "B2")\n'
        '@pytest.mark.parametrize("x", [pytest.param(1, marks=pytest.mark.case("C1"))])\n'
        "def test_it(x): pass\n"
        '@pytest.mark.must("D1")\n'
        "def test_other(): pass\n"
    )
    assert set(read(tmp_path, source)) == {"A1", "B1", "B2", "C1"}


def test_ids_that_are_not_written_out_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError):
        read(tmp_path, "import pytest\nNAME = 'A1'\n@pytest.mark.case(NAME)\ndef test_it(): pass\n")
