"""The notes as a Markdown page with links to its drawings, and as an HTML page that holds them."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping

from mini_agent.design_notes.checklist_html import checklist_html
from mini_agent.design_notes.draft import file_name
from mini_agent.design_notes.notes import ASK, Notes
from mini_agent.dot import Drawing
from mini_agent.reviewing.checklist import code, plain

STYLE = (
    ":root{color-scheme:light dark}"
    "body{max-width:48rem;margin:2rem auto;padding:0 1rem;font:16px/1.5 sans-serif}"
    "img{max-width:100%;background:#fff;border-radius:8px}table{border-collapse:collapse}"
    "td,th{border:1px solid #999;padding:.3rem .6rem;text-align:left;vertical-align:top}"
    "code{background:#8883;padding:0 .2em;overflow-wrap:anywhere}li{margin:.2rem 0}"
)
CAPTIONS = {
    "tool-error-": "the server says no",
    "protocol-error-": "the connection breaks in the middle of the call",
}
"""What is drawn, by how the drawing's name begins; the rest of the name is the tool's."""
TESTS = (
    ("a connection that fails", "it is raised, it cannot have acted, the model is never asked"),
    ("a tool that returns isError", "the model reads why, the loop goes on"),
    (
        "a transport that breaks mid-call",
        "it is raised, it may have acted, nothing is called again",
    ),
)


def markdown_page(notes: Notes, drawings: Mapping[str, Drawing]) -> str:
    """The page in Markdown; the drawings are beside it, each with its words as its alternative."""
    pictures = [
        f"{_markdown_caption(name)}![{plain(drawing.alt)}]({name}.svg)"
        for name, drawing in drawings.items()
    ]
    parts = [
        f"# Design notes: {code(notes.server)}",
        f"{plain(_said(notes.purpose))}\n\nOwner: {plain(_said(notes.owner))}",
        "## 1. The call chain, with both error paths",
        *pictures,
        "## 2. Three tests",
        f"They are in `{file_name(notes.server)}`. Run them: `python -m pytest`.",
        _markdown_table(("case", "what it asserts"), TESTS),
        "## 3. The trust checklist",
        "It is in [checklist.md](checklist.md), with the ten questions.",
        "## Who owns each failure",
        _markdown_table(HEAD, _rows(notes)),
    ]
    return "\n\n".join(parts) + "\n"


def html_page(notes: Notes, drawings: Mapping[str, Drawing]) -> str:
    """The same as one page that fetches nothing; all that anybody else wrote is escaped."""
    title = f"Design notes: {notes.server}"
    parts = [
        f"<h1>{_text(title)}</h1>",
        f"<p>{_text(_said(notes.purpose))}</p><p>Owner: {_text(_said(notes.owner))}</p>",
        "<h2>1. The call chain, with both error paths</h2>",
        *(f"{_html_caption(name)}<p>{each.html()}</p>" for name, each in drawings.items()),
        "<h2>2. Three tests</h2>",
        _html_table(("case", "what it asserts"), TESTS),
        "<h2>3. The trust checklist</h2>",
        checklist_html(notes.review.to_markdown()),
        "<h2>Who owns each failure</h2>",
        _html_table(HEAD, _rows(notes)),
    ]
    head = f'<meta charset="utf-8"><title>{_text(title)}</title><style>{STYLE}</style>'
    body = "\n".join(parts)
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>\n{body}\n</body></html>\n'


HEAD = ("failure", "owner", "what happens", "here")


def _rows(notes: Notes) -> list[tuple[str, ...]]:
    return [(row.what, row.owner, row.answer, _said(row.ours)) for row in notes.failures]


def _said(text: str) -> str:
    """``text``, or what stands where nobody has said anything: the check then finds it."""
    return text if text.strip() else ASK


def _caption(name: str) -> tuple[str, str]:
    """The tool, and how its call fails, in the drawing of that name; ("", "") for the chain."""
    for path, caption in CAPTIONS.items():
        if name.startswith(path):
            return name.removeprefix(path), caption
    return "", ""


def _markdown_caption(name: str) -> str:
    tool, caption = _caption(name)
    return f"### {code(tool)}: {caption}\n\n" if tool else ""


def _html_caption(name: str) -> str:
    tool, caption = _caption(name)
    return f"<h3><code>{_text(tool)}</code>: {caption}</h3>" if tool else ""


def _markdown_table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [list(head), *([plain(cell) for cell in row] for row in rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _html_table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    first = "".join(f"<th>{_text(cell)}</th>" for cell in head)
    more = ("".join(f"<td>{_text(cell)}</td>" for cell in row) for row in rows)
    return f"<table><tr>{first}</tr>{''.join(f'<tr>{row}</tr>' for row in more)}</table>"


def _text(text: str) -> str:
    return html.escape(re.sub(r"[\x00-\x08\x0b-\x1f\x7f]", "", text))
