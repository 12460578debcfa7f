"""A review to look at: as aligned text, and as a trust checklist in Markdown that a reader edits.

Whatever the server wrote is shown and never obeyed: in the text nothing acts on a screen, in the
Markdown it stands in code spans that it cannot close. No HTML is made anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from mini_agent.reviewing.finding import listed, quoted
from mini_agent.reviewing.items import Item
from mini_agent.reviewing.names import spelt
from mini_agent.reviewing.questions import Question
from mini_agent.visible import visible

if TYPE_CHECKING:
    from mini_agent.reviewing.review import Review

LONGEST_NAME = 60  # characters of a name in a table or a heading; what is cut is seen to be
HEAD = ("what", "name", "may change", "who says so", "decision", "findings")
SMOKE = (
    "Finding nothing proves nothing: the search knows a few patterns, and whoever attacks does too."
)

RETURNED = "Whatever it returns, errors included, is untrusted text."
ENTITIES = {"&": "&amp;", "#": "&#35;", "<": "&lt;", ">": "&gt;", "://": "&#58;//"}
ENTITIES |= {"www.": "www&#46;", "@": "&#64;", "`": "&#96;"}

Row = tuple[str, ...]


# -- as text --------------------------------------------------------------------------------------


def review_table(reviewed: Review) -> str:
    """A line for each entry, then a paragraph each: the reasons, and what was found."""
    blocks = [
        _aligned([HEAD, *(_row(item) for item in reviewed.items)]),
        _paragraph("Why", (item.reason for item in reviewed.items)),
        _paragraph("To find out", _to_find_out(reviewed)),
        _paragraph("Found", _found(reviewed)),
        _paragraph("Left out", (visible(why) for why in reviewed.left_out)),
    ]
    return "\n\n".join([*(block for block in blocks if block), RETURNED])


def _row(item: Item) -> Row:
    decision = item.decision if item.decided else f"{item.proposed} (proposed)"
    kinds = ", ".join(dict.fromkeys(found.kind for found in item.findings))
    return item.kind, brief(item.name), item.changes, item.origin, decision, kinds


def _to_find_out(reviewed: Review) -> Iterator[str]:
    for item in reviewed.items:
        yield from (f"{quoted(item.name, LONGEST_NAME)}: {asks}" for asks in item.questions)


def _found(reviewed: Review) -> Iterator[str]:
    yield from (f"the server: {found.sentence}" for found in reviewed.findings)
    for item in reviewed.items:
        yield from (
            f"{quoted(item.name, LONGEST_NAME)}: {found.sentence}" for found in item.findings
        )


def brief(name: str) -> str:
    """A name for one line: made visible, cut visibly; a look-alike letter shows what it is."""
    name = spelt(name)
    cut = name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"
    return visible(cut)


def _aligned(rows: list[Row]) -> str:
    wide = [max(len(row[at]) for row in rows) for at in range(len(HEAD))]
    lines = (
        "  ".join(f"{cell:<{width}}" for cell, width in zip(row, wide, strict=True)) for row in rows
    )
    return "\n".join(line.rstrip() for line in lines)


def _paragraph(title: str, lines: Iterable[str]) -> str:
    held = [f"- {line}" for line in lines]
    return "\n".join([title, *held]) if held else ""


# -- as Markdown ----------------------------------------------------------------------------------


def checklist(reviewed: Review) -> str:
    """The trust checklist; each line of it is one block, and only our own words make blocks."""
    parts = [
        f"# Trust checklist: {code(reviewed.server or '(no name)')}",
        _opening(reviewed),
        "## What it offers",
        *(_entry(item) for item in reviewed.items),
        "## What it returns",
        _returned(reviewed),
        "## What was found in its own words",
        _server_found(reviewed),
        "## Ten questions before connecting",
        "\n".join(_question(question) for question in reviewed.questions),
    ]
    return "\n\n".join(parts) + "\n"


def _opening(reviewed: Review) -> str:
    calls = f"It calls itself {markdown(reviewed.about)}. " if reviewed.about else ""
    return (
        f"{calls}Protocol revision {markdown(reviewed.protocol_version)}. A box is ticked where a "
        "person has decided; everything else is a proposal. What stands `like this` was written "
        "by the server."
    )


def _entry(item: Item) -> str:
    lines = [
        f"### {code(brief(item.name))} ({item.kind})",
        "",
        f"- [{'x' if item.decided else ' '}] **{item.decision}**"
        + ("" if item.decided else ", as proposed"),
        f"- Why: {markdown(item.reason)}",
        f"- May change: {item.changes} ({item.origin})",
        *([f"- Reaches: {item.effect.reach}"] if item.effect else []),
        *(f"- To find out: {markdown(question)}" for question in item.questions),
        *(f"- Found: {markdown(found.sentence)}" for found in item.findings),
        *([f"- Pin: {code(item.pin)}"] if item.pin else []),
    ]
    return "\n".join(lines)


def _returned(reviewed: Review) -> str:
    tools = [item.name for item in reviewed.items if item.kind == "tool"]
    whose = f"Every text that {markdown(listed(tools, 50))} return" if tools else "Every text"
    return (
        f"- [x] **untrusted**: {whose}, errors included, is somebody else's and may hold orders to "
        "the model. It stays a tool result; no approval is given because it says so."
    )


def _server_found(reviewed: Review) -> str:
    lines = [f"- Found: {markdown(found.sentence)}" for found in reviewed.findings]
    lines += [f"- Left out: {markdown(why)}" for why in reviewed.left_out]
    return "\n".join([*lines, f"- {SMOKE}"])


def _question(question: Question) -> str:
    parts = [f"{question.number}. **{question.asks}**"]
    if question.known:
        parts.append(f"{markdown(question.known)} (Origin: {question.origin}.)")
    if question.answer:
        parts.append(f"Answered by the reader: {markdown(question.answer)}")
    elif question.open:
        parts.append(f"**Open:** {question.open}")
    return " ".join(parts)


def code(text: str) -> str:
    """``text`` on one line in a code span that it cannot close: it has fewer backticks in a row."""
    shown = visible(text) or " "
    longest = max((len(run) for run in re.findall("`+", shown)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if shown[0] in "` " or shown[-1] in "` " else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def markdown(sentence: str) -> str:
    """A sentence of ours: what it quotes becomes code, and nothing else in it is markup."""
    parts = re.split(r'"([^"]*)"', sentence)
    return "".join(code(part) if at % 2 else plain(part) for at, part in enumerate(parts))


def plain(text: str) -> str:
    """``text`` with everything escaped that Markdown, HTML or a formula would make something of.

    An address in it becomes no link either.
    """
    shown = visible(text)
    for char, entity in ENTITIES.items():
        shown = shown.replace(char, entity)
    escaped = re.sub(r"([\\*_{}\[\]|~!])", r"\\\1", shown)
    return re.sub(r"\$+", r"`\g<0>`", escaped)  # an escaped one would still begin a formula
