"""The checklist as Markdown and as text: nothing that a server wrote can break either."""

from __future__ import annotations

import itertools
import re
from typing import Any

import mistune
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from fake_servers.hostile import ATTACKS, BIDI, ONERROR, ORDER, SCRIPT, SPOOF
from mini_agent.catalog import Catalogue, Review, review_of
from mini_agent.mcp.shapes import McpTool
from mini_agent.reviewing.checklist import brief, code, markdown, plain

SECTIONS = [
    "What it offers",
    "What it returns",
    "What was found in its own words",
    "Ten questions before connecting",
]
NASTY = [
    "`", "```", "``x`", "\n\n# heading", "\n- [x] allow", "- ", "> ", "1. ", "|", "---", "***",
    "_a_", "[a](javascript:alert(1))", "![a](http://x.test/a.png)", "<http://x.test>", "www.x.test",
    "https://x.test/?a=b", "a@x.test", "$x$", "$$", "~~a~~", "&lt;", "&#96;", "\\", "\\`", "</li>",
    "<!--", "[^1]", "[a]: http://x.test", '"', "'", " ", "", "\r", "\t", "\u2028", "\x00",
    "\x1b[2K", SCRIPT, ONERROR, ORDER, BIDI, SPOOF, *ATTACKS,
]  # fmt: skip
HOSTILE = st.lists(st.sampled_from(NASTY) | st.text(max_size=5), max_size=5).map("".join)
SCHEMAS = st.dictionaries(
    HOSTILE,
    st.fixed_dictionaries(
        {"type": st.just("string"), "description": HOSTILE},
        optional={"enum": st.lists(HOSTILE, max_size=2), "x-mcp-header": HOSTILE},
    ),
    max_size=2,
).map(lambda properties: {"type": "object", "properties": properties})
TOOLS = st.builds(McpTool, name=HOSTILE, description=HOSTILE, title=HOSTILE, input_schema=SCHEMAS)
ENTRIES = st.fixed_dictionaries({"name": HOSTILE, "uri": HOSTILE, "description": HOSTILE})
CATALOGUES = st.builds(
    Catalogue,
    tools=st.lists(TOOLS, max_size=2),
    resources=st.lists(ENTRIES | HOSTILE, max_size=2),  # type: ignore[arg-type]
    prompts=st.lists(ENTRIES, max_size=1),
    instructions=HOSTILE,
    info=st.none() | st.fixed_dictionaries({"name": HOSTILE, "version": HOSTILE}),
    left_out=st.lists(HOSTILE, max_size=1),
)
REVIEWS = st.builds(review_of, HOSTILE, CATALOGUES)
COMMONMARK = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
GFM = mistune.create_markdown(
    renderer="ast", plugins=["strikethrough", "footnotes", "table", "url", "task_lists", "math"]
)
OUR_LINES = re.compile(r"#{1,3} |- |\d+\. \*\*|It calls itself |Protocol revision |$")


def tokens(text: str) -> list[Any]:
    """Every token that markdown-it makes of ``text``, blocks and what is in them."""
    blocks = COMMONMARK.parse(text)
    return [token for block in blocks for token in (block, *(block.children or ()))]


def kinds(nodes: Any) -> set[str]:
    """Every kind of node that mistune makes."""
    found: set[str] = set()
    for node in nodes:
        found |= {node["type"], *kinds(node.get("children", ()))}
    return found


def headings(text: str) -> list[str]:
    """What each heading holds, as text."""
    blocks = COMMONMARK.parse(text)
    inside = (after for at, after in itertools.pairwise(blocks) if at.type == "heading_open")
    return ["".join(child.content for child in block.children or ()) for block in inside]


MADE = {
    "heading_open", "heading_close", "inline", "text", "text_special", "code_inline",
    "paragraph_open", "paragraph_close", "bullet_list_open", "bullet_list_close",
    "ordered_list_open", "ordered_list_close", "list_item_open", "list_item_close",
    "strong_open", "strong_close",
}  # fmt: skip
MADE_BY_GFM = {
    "heading", "text", "codespan", "paragraph", "list", "list_item", "task_list_item", "strong",
    "block_text", "blank_line",
}  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(REVIEWS, HOSTILE)
def test_nothing_that_a_server_or_a_reader_writes_breaks_the_markdown(
    review: Review, said: str
) -> None:
    for item in review.items:
        if said.strip():
            review = review.decide(item.name, "allow", why=said, kind=item.kind).answer(4, said)
    text = review.to_markdown()
    assert {token.type for token in tokens(text)} <= MADE
    assert kinds(GFM(text)) <= MADE_BY_GFM
    told = [
        re.sub(r"\s*\((tool|resource|prompt)\)$", "", title).strip() for title in headings(text)
    ]
    names = [brief(item.name).strip() for item in review.items]
    assert told[1:] == [SECTIONS[0], *names, *SECTIONS[1:]]
    assert [line for line in text.split("\n") if not OUR_LINES.match(line)] == []
    assert all(line.isprintable() for line in text.split("\n"))


@given(HOSTILE)
def test_a_code_span_holds_its_text_and_nothing_else(text: str) -> None:
    (block,) = (token for token in COMMONMARK.parse(f"a {code(text)} b") if token.type == "inline")
    (before, span, after) = block.children or ()
    assert (before.content, span.type, after.content) == ("a ", "code_inline", " b")


@given(HOSTILE)
def test_plain_text_is_text(text: str) -> None:
    (block,) = (token for token in COMMONMARK.parse(f"a{plain(text)}b") if token.type == "inline")
    others = [token for token in block.children or () if token.type not in ("text", "text_special")]
    assert all(token.type == "code_inline" and set(token.content) == {"$"} for token in others)
    assert kinds(GFM(f"a{plain(text)}b")) <= {"paragraph", "text", "codespan"}


def test_what_some_renderers_make_links_or_tags_of_is_spelt_otherwise() -> None:
    """Not all of them know all of these, so no parser here would miss one."""
    said = "<b> & www.x.test a@x.test https://x.test #1"
    assert plain(said) == ("&lt;b&gt; &amp; www&#46;x.test a&#64;x.test https&#58;//x.test &#35;1")


def test_what_a_sentence_quotes_becomes_code() -> None:
    assert markdown('its "name" is *odd*') == r"its `name` is \*odd\*"
    assert markdown('one " alone_') == r'one " alone\_'


# -- as text --------------------------------------------------------------------------------------


@settings(max_examples=100, deadline=None)
@given(REVIEWS)
def test_nothing_that_a_server_writes_acts_on_the_screen_or_begins_a_line(review: Review) -> None:
    first, *blocks = review.table().split("\n\n")
    assert len(first.split("\n")) == 1 + len(review.items)
    titles = [block.split("\n")[0] for block in blocks]
    known = [
        "Why",
        "To find out",
        "Found",
        "Left out",
        "Whatever it returns, errors included, is untrusted text.",
    ]
    assert titles == [title for title in known if title in titles]
    rest = [line for block in blocks for line in block.split("\n")[1:]]
    assert all(line.startswith("- ") for line in rest)
    assert all(line.isprintable() for line in review.table().split("\n"))


def test_the_columns_of_the_table_begin_at_one_place() -> None:
    review = review_of("s", Catalogue([McpTool("short"), McpTool("a_much_longer_name")]))
    head, *rows = review.table().split("\n\n")[0].split("\n")
    at = head.index("may change")
    assert [row[at - 1 : at + 8] for row in rows] == [" anything"] * 2


def test_a_long_name_is_cut_and_the_cut_is_seen() -> None:
    assert brief("x" * 100) == "x" * 59 + "…"


def test_a_look_alike_letter_shows_what_it_is() -> None:
    assert brief("calendar_qu\u0435ry") == r"calendar_qu\u0435ry"


def test_a_notebook_shows_the_table_as_text_and_no_html() -> None:
    class Printer:
        said = ""

        def text(self, text: str) -> None:
            self.said += text

    review, printer = review_of("s", Catalogue([McpTool("t")])), Printer()
    review._repr_pretty_(printer, False)
    assert printer.said == review.table()
    assert not [name for name in dir(review) if name in ("_repr_html_", "_repr_mimebundle_")]


def test_the_same_lists_give_the_same_text() -> None:
    offered = Catalogue([McpTool("t", ORDER), McpTool("u", SCRIPT)])
    reviews = [review_of("s", offered) for _ in range(2)]
    assert reviews[0] == reviews[1]
    assert reviews[0].to_markdown() == reviews[1].to_markdown()


@pytest.mark.parametrize("heading", SECTIONS)
def test_an_empty_server_has_a_whole_checklist(heading: str) -> None:
    assert f"\n## {heading}\n" in review_of("", Catalogue()).to_markdown()
