"""Design notes: a folder is written, and accepted only when each of its three items holds."""

from __future__ import annotations

import asyncio
import html
import re
import shutil
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from mini_agent.catalog import Catalogue, Review, review_of
from mini_agent.design_notes import FAILURES, Notes, accept, write
from mini_agent.design_notes.acceptance import chain_faults, checklist_faults, draft_faults
from mini_agent.design_notes.broken import WAYS
from mini_agent.design_notes.checklist_html import checklist_html
from mini_agent.design_notes.notes import ASK
from mini_agent.mcp import McpTool
from mini_agent.types import JsonObject

READS = {"readOnlyHint": True, "openWorldHint": False}
MAIL = [
    McpTool("read", "Read a letter.", {"type": "object", "required": ["id"]}, annotations=READS),
    McpTool("send", "Send a letter.", {"type": "object"}),
]
EXAMPLES: dict[str, JsonObject] = {"read": {"id": "m-1"}}


def reviewed() -> Review:
    review = review_of("mail", Catalogue(tools=MAIL))
    review = review.decide("read", "allow", why="It only reads, and only this user's box.")
    return review.decide("send", "ask", why="What is sent cannot be taken back.")


def finished(review: Review | None = None) -> Notes:
    notes = Notes(review or reviewed(), "Letters for the team.", "The mail team.", EXAMPLES)
    for row in FAILURES:
        notes = notes.failing(row.what, f"We do: {row.answer.lower()}")
    return notes


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("notes") / "mail"
    return asyncio.run(write(finished(), folder))


@pytest.fixture
def folder(good: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(good, tmp_path / "mail"))


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


# -- the whole ------------------------------------------------------------------------------------


def test_finished_notes_are_accepted_and_unfinished_ones_are_told_what_is_missing(
    good: Path, tmp_path: Path
) -> None:
    assert accept(good).accepted
    bare = Notes(review_of("mail", Catalogue(tools=MAIL)), examples=EXAMPLES)
    told = accept(asyncio.run(write(bare, tmp_path / "bare")))
    assert not told.accepted
    assert ASK in str(told) and "nobody has decided yet" in str(told)
    assert [bool(missing) for missing in told.missing] == [True, False, True]


def test_the_page_holds_its_drawings_and_fetches_nothing(good: Path) -> None:
    page = (good / "notes.html").read_text("utf-8")
    assert page.count("<img alt=") == 1 + 2 * len(MAIL)
    assert "http" not in page.replace("http://www.w3.org", "") and "<script" not in page
    linked = (good / "notes.md").read_text("utf-8").count(".svg)")
    assert linked == len(list(good.glob("*.svg"))) == 1 + 2 * len(MAIL)


def test_what_others_wrote_is_shown_and_never_markup(tmp_path: Path) -> None:
    script = "<script>window.pwned=1</script>"
    review = review_of(script, Catalogue(tools=[McpTool(script, script)]))
    folder = asyncio.run(write(Notes(review, script, script), tmp_path / "x"))
    made = MarkdownIt("gfm-like", {"linkify": False}).render((folder / "notes.md").read_text())
    pages = [
        path.read_text("utf-8") for path in folder.iterdir() if path.suffix in (".html", ".svg")
    ]
    assert all(script not in page for page in (made, *pages))
    assert sum("&lt;script&gt;" in page for page in (made, *pages)) == 2


HOSTILE = [
    "`", "``a`b", " padded ", "**bold**", "<b>&amp;</b>", "\\_x\\", "[x](http://a.example)", "1. x",
    "# h", "- [x] **allow**", "a\n- [x] **allow**", "&#96;", "$x$", "***", "__init__",
]  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_the_checklist_in_the_page_says_what_its_markdown_says(name: str) -> None:
    review = review_of(name, Catalogue(tools=[McpTool(name, name)]))
    review = review.decide(name, "allow", why=name).answer(3, name)
    markdown = review.to_markdown()
    ours = checklist_html(markdown)
    theirs = MarkdownIt("commonmark").render(markdown)
    theirs = theirs.replace("<li>[x]", "<li>☑").replace("<li>[ ]", "<li>☐").partition("\n")[2]
    assert re.sub(r"\s", "", words(ours)) == re.sub(r"\s", "", words(theirs))
    assert ours.count("<code>") == theirs.count("<code>")
    tags = set(re.findall(r"</?(\w+)", ours))
    assert tags <= {"h3", "h4", "p", "ul", "ol", "li", "strong", "code"}


def words(page: str) -> str:
    return html.unescape(re.sub("<[^>]*>", "", page))


def test_what_is_left_empty_is_found_as_what_nobody_has_said(tmp_path: Path) -> None:
    notes = Notes(reviewed(), "", " ", EXAMPLES).failing("server unavailable", "")
    told = accept(asyncio.run(write(notes, tmp_path / "mail")))
    assert f"still says {ASK!r} in {2 + len(FAILURES)} places" in told.missing[0][0]


def test_each_drawing_says_of_which_tool_and_which_failure_it_is(good: Path) -> None:
    for page in ((good / "notes.md").read_text(), words((good / "notes.html").read_text())):
        heads = re.findall(r"(\w+)`?: the (server says no|connection breaks)", page)
        ends = ("server says no", "connection breaks")
        assert heads == [(tool.name, end) for tool in MAIL for end in ends]


def test_a_test_file_that_was_changed_by_hand_stays(folder: Path) -> None:
    (draft,) = folder.glob("test_*.py")
    draft.write_text("# mine\n", "utf-8")
    asyncio.run(write(finished(), folder))
    assert draft.read_text("utf-8") == "# mine\n"


def test_notes_of_no_tool_and_a_wrong_example_are_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="has no tool"):
        asyncio.run(write(Notes(review_of("empty", Catalogue())), tmp_path / "a"))
    with pytest.raises(ValueError, match=r"examples\['read'\]"):
        asyncio.run(write(Notes(reviewed()), tmp_path / "b"))
    with pytest.raises(ValueError, match="there are invalid arguments"):
        finished().failing("rain", "we stay in")
    with pytest.raises(FileNotFoundError, match="write the notes first"):
        accept(tmp_path / "nowhere")


# -- each refusal, with its own sentence ----------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "old", "new", "sentence"),
    [
        ("chain.svg", "TOOL ERROR: a result", "SOME ERROR", "path of a tool error"),
        ("chain.svg", "PROTOCOL ERROR", "SOME ERROR", "path of a protocol error"),
        ("chain.svg", ">Not caught: out of execute<", "><", "it lacks 'Not caught"),
        ("tool-error-send.svg", ">The model sees why<", "><", "does not end where such an error"),
    ],
)
def test_an_error_path_missing_from_a_drawing_is_refused(
    folder: Path, name: str, old: str, new: str, sentence: str
) -> None:
    edit(folder / name, old, new)
    (told,) = chain_faults(folder)
    assert sentence in told


@pytest.mark.parametrize("name", ["chain.svg", "tool-error-read.svg"])
def test_a_drawing_that_is_not_there_is_missed(folder: Path, name: str) -> None:
    for path in folder.glob(f"{name.split('-read')[0].removesuffix('.svg')}*.svg"):
        path.unlink()
    assert len(list(chain_faults(folder))) == 1


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("What is sent cannot be taken back.", "It only reads, and only this user's box.", "same"),
        ("- [x] **ask**", "- [ ] **ask**", "nobody has decided"),
        ("- Why: What is sent cannot be taken back.", "- Why:", "a decision and no reason"),
        ("- [x] **untrusted**", "- [ ] **untrusted**", "untrusted"),
        ("(tool)", "(thing)", "names no tool"),
    ],
)
def test_a_checklist_that_decides_nothing_is_refused(
    folder: Path, old: str, new: str, sentence: str
) -> None:
    edit(folder / "checklist.md", old, new)
    (told,) = checklist_faults(folder)
    assert sentence in told


def test_a_write_tool_allowed_without_a_reason_is_refused(folder: Path) -> None:
    edit(folder / "checklist.md", "- [x] **ask**", "- [x] **allow**")
    edit(folder / "checklist.md", "- Why: What is sent cannot be taken back.", "- Why: fine")
    assert list(checklist_faults(folder)) == [
        "`send`: it can change something and is allowed without a reason"
    ]


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('(True, "It is locked.")', '(block["is_error"], block["content"])', "drops isError"),
        ("    assert caught", "    caught", ""),
        ("def test_a_connection", "def a_connection", "2 tests"),
        ('"I could not do it."\n\n\ndef', '"Another."\n\n\ndef', "do not pass"),
    ],
)
def test_tests_that_do_not_look_are_refused(
    folder: Path, old: str, new: str, sentence: str
) -> None:
    (draft,) = folder.glob("test_*.py")
    edit(draft, old, new)
    told = list(draft_faults(folder))
    assert sentence in "; ".join(told) and bool(told) == bool(sentence)


def test_the_trial_does_not_load_what_takes_a_second_and_is_never_used(folder: Path) -> None:
    (draft,) = folder.glob("test_*.py")
    with draft.open("a") as file:
        file.write(
            "\n\ndef test_x():\n    import jsonschema, sys\n    assert 'lark' not in sys.modules\n"
        )
    assert not list(draft_faults(folder))


def test_a_test_file_that_stays_green_when_errors_are_swallowed_is_refused(folder: Path) -> None:
    (draft,) = folder.glob("test_*.py")
    lazy = "from mini_agent.mcp import McpClient\n\n" + "\n\n".join(
        f"def test_{n}():\n    assert McpClient" for n in range(3)
    )
    draft.write_text(lazy, "utf-8")
    assert len(list(draft_faults(folder))) == len(WAYS)
