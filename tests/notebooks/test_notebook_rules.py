"""Each rule can fail, and the budget is counted as NOTEBOOKS says: on tiny notebooks made here."""

from __future__ import annotations

from typing import Any

import notebook_rules as rules
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output


def shown(source: str, *outputs: NotebookNode, count: int | None = 1, **tags: Any) -> NotebookNode:
    return new_code_cell(source, execution_count=count, outputs=list(outputs), metadata=tags)


def printed(text: str) -> NotebookNode:
    return new_output("stream", name="stdout", text=text)


def drawn(**data: str) -> NotebookNode:
    return new_output("display_data", data={k.replace("_", "/"): v for k, v in data.items()})


def said(words: int) -> NotebookNode:
    return new_markdown_cell(" ".join(["word"] * words))


def of(*cells: NotebookNode) -> NotebookNode:
    for number, cell in enumerate(cells, 1):
        cell.id = f"00-{number:03d}"
    return new_notebook(cells=list(cells))


LIVE = {"tags": ["nbval-skip", "skip-execution"]}


def test_cells_executed_in_order_pass_and_live_ones_are_not_counted() -> None:
    live = shown("await click()", count=None, **LIVE)
    assert rules.unexecuted(of(shown("1"), live, shown("2", count=2))) == []


@pytest.mark.parametrize("counts", [(None, None), (2, 3), (1, 3), (2, 1), (1, None)])
def test_a_stripped_or_reordered_notebook_is_caught(counts: tuple[int | None, ...]) -> None:
    assert rules.unexecuted(of(*(shown("1", count=count) for count in counts)))


def test_a_live_cell_with_an_output_is_caught() -> None:
    assert rules.unexecuted(of(shown("1", printed("x"), count=None, **LIVE)))


@pytest.mark.parametrize("tag", sorted(rules.LIVE))
def test_a_live_tag_without_its_pair_is_caught(tag: str) -> None:
    assert rules.torn_tags(of(shown("1", tags=[tag]))) == ["cell 00-001 has one live tag of two"]
    assert rules.torn_tags(of(shown("1", **LIVE), shown("1", tags=["other"]), shown("1"))) == []


def test_an_error_belongs_in_a_tagged_cell_and_nowhere_else() -> None:
    error = new_output("error", ename="E", evalue="", traceback=[])
    assert rules.wrong_errors(of(shown("1", error, tags=["raises-exception"]), shown("1"))) == []
    assert rules.wrong_errors(of(shown("1", error))) == ["cell 00-001 holds an error"]
    assert rules.wrong_errors(of(shown("1", tags=["raises-exception"])))


@pytest.mark.parametrize(
    "text",
    ["<X at 0x7f00aa12>", "on 127.0.0.1:40213", "in /tmp/x/y", "/home/me/x", "ipykernel_12/3.py"],
)
def test_what_belongs_to_one_machine_is_found_in_outputs(text: str) -> None:
    error = new_output("error", ename="E", evalue=text, traceback=[])
    for output in (printed(text), drawn(text_plain=text), error):
        assert rules.unstable(of(shown("1", output)))
    assert rules.unstable(of(shown(repr(text), printed("result 0x1f, /etc, 127.0.0.1")))) == []


def test_an_ignored_output_needs_its_reason_on_the_next_line() -> None:
    good = shown("# NBVAL_IGNORE_OUTPUT\n# a timing: another one each run\nf()")
    assert rules.ignored_without_reason(of(good)) == []
    assert rules.ignored(of(good)) == ["00-001"]
    for source in ("# NBVAL_IGNORE_OUTPUT\nf()", "# NBVAL_IGNORE_OUTPUT: a timing\nf()"):
        assert rules.ignored_without_reason(of(shown(source)))
    assert rules.ignored_without_reason(of(shown("1", tags=["nbval-ignore-output"])))


@pytest.mark.parametrize(
    "source",
    [
        "asyncio.run(main())",
        "from asyncio import run",
        "import nest_asyncio",
        "from jupyter_ui_poll import ui_events",
        "input('name? ')",
        "def f():\n    time.sleep(1)",
        "from time import sleep",
        "handle.update_display(1)",
        "from IPython.display import clear_output\nclear_output()",
        "out.clear_output()",
        "loop.run_until_complete(f())",
    ],
)
def test_a_call_that_blocks_or_that_nbval_cannot_follow_is_banned(source: str) -> None:
    assert rules.banned(of(shown(source)))


def test_top_level_await_strings_and_comments_are_not_banned() -> None:
    sources = ["# never asyncio.run\nx = 'input()'", "async with a as b:\n    await b.run()", "!ls"]
    assert rules.banned(of(*map(shown, sources))) == []


def test_a_drawing_needs_a_sentence_beside_it() -> None:
    svg = {"image_svg+xml": "<svg/>"}
    good = drawn(text_plain="Five layers; the transport is lit.", **svg)
    assert rules.drawings_without_words(of(shown("d", good, printed("x")))) == []
    for words in ({}, {"text_plain": "a chain"}, {"text_plain": "<graphviz.graphs.Digraph at …>"}):
        assert rules.drawings_without_words(of(shown("d", drawn(**words, **svg))))


def test_the_opening_and_the_closing_are_asked_for() -> None:
    title = new_markdown_cell("# What is on the wire?\n\nAbout 20 minutes.")
    closing = new_markdown_cell("## What changed\n\n| name |")
    assert rules.missing_parts(of(title, shown("1"), closing)) == []
    assert len(rules.missing_parts(of(new_markdown_cell("# Messages"), shown("1")))) == 3
    early = of(title, closing, *(shown("1") for _ in range(30)))
    assert rules.missing_parts(early) == ['no heading "What changed" near the end']


def well(pairs: int = 10, lines: int = 4) -> list[NotebookNode]:
    source = "\n".join(["x = 1"] * lines)
    return [cell for _ in range(pairs) for cell in (said(20), shown(source, printed("1")))]


def test_a_notebook_within_the_budget_has_no_outlier() -> None:
    assert rules.off_style(of(*well())) == []


@pytest.mark.parametrize(("lines", "fine"), [(1, False), (2, True), (6, True), (7, False)])
def test_the_median_code_cell_has_two_to_six_lines(lines: int, fine: bool) -> None:
    assert (rules.off_style(of(*well(lines=lines))) == []) is fine


def test_one_code_cell_in_ten_may_be_long_and_the_second_is_named() -> None:
    assert rules.off_style(of(*well(9), *well(1, lines=15))) == []
    (problem,) = rules.off_style(of(*well(8), *well(2, lines=15)))
    assert "00-018 (15), 00-020 (15)" in problem


def test_no_code_cell_is_over_forty_lines() -> None:
    assert rules.off_style(of(*well(9), *well(1, lines=40))) == []
    assert rules.off_style(of(*well(9), *well(1, lines=41))) == [
        "cell 00-020 has 41 lines, over 40"
    ]


@pytest.mark.parametrize(("more", "fine"), [(0, True), (8, True), (9, False)])
def test_there_are_up_to_1_8_text_cells_for_each_code_cell(more: int, fine: bool) -> None:
    assert (rules.off_style(of(*well(10), *(said(20) for _ in range(more)))) == []) is fine


def test_fewer_text_cells_than_code_cells_are_too_few() -> None:
    assert rules.off_style(of(*well(), shown("a\nb", printed("1"))))


@pytest.mark.parametrize(("odd", "words", "fine"), [(5, 41, True), (6, 41, False), (6, 14, False)])
def test_most_text_cells_have_15_to_40_words(odd: int, words: int, fine: bool) -> None:
    cells = [said(words if n < odd else 30) for n in range(10)]
    code = [shown("a\nb", printed("1")) for _ in range(10)]
    assert (rules.off_style(of(*cells, *code)) == []) is fine


def test_headings_tables_and_code_are_no_prose() -> None:
    assert rules.prose("# A heading\none two\n\n| a | b |\n\n```\ncode\n```\nthree").split() == [
        "one", "two", "three",
    ]  # fmt: skip


@pytest.mark.parametrize(("silent", "fine"), [(3, True), (4, False)])
def test_two_thirds_of_the_code_cells_show_something(silent: int, fine: bool) -> None:
    cells = [shown("a\nb", *([] if n < silent else [printed("1")])) for n in range(9)]
    live = shown("a\nb", count=None, **LIVE)
    assert (rules.off_style(of(*(said(20) for _ in range(10)), *cells, live)) == []) is fine
