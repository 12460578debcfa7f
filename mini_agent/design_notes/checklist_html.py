"""The trust checklist as HTML: it knows the Markdown that the checklist uses, and no more.

Each line is a block of its own. Whatever is not our markup is escaped.
"""

from __future__ import annotations

import html
import itertools
import re

ITEM = re.compile(r"- (?:\[(?P<tick>[ x])\] )?(?P<text>.*)")
NUMBERED = re.compile(r"\d+\. (?P<text>.*)")
HEADING = re.compile(r"(?P<level>##+) (?P<text>.*)")
SPAN = re.compile(
    r"(?<!`)(?P<fence>`+)(?!`)(?P<code>.+?)(?<!`)(?P=fence)(?!`)"
    r"|\*\*(?P<strong>.+?)\*\*"
    r"|\\(?P<char>[\\*_{}\[\]|~!])"
)
BOXES = {None: "", " ": "☐ ", "x": "☑ "}


def checklist_html(markdown: str) -> str:
    """What ``Review.to_markdown`` gives, as HTML without its title, for under a second heading."""
    body = markdown.partition("\n")[2]
    return "\n".join(
        _block(kind, list(lines)) for kind, lines in itertools.groupby(body.splitlines(), _kind)
    )


def _kind(line: str) -> str:
    if NUMBERED.fullmatch(line):
        return "ol"
    return "ul" if ITEM.fullmatch(line) else ""


def _block(kind: str, lines: list[str]) -> str:
    if not kind:
        return "".join(_line(line) for line in lines if line)
    return f"<{kind}>{''.join(f'<li>{_item(line)}</li>' for line in lines)}</{kind}>"


def _line(line: str) -> str:
    heading = HEADING.fullmatch(line)
    if heading is None:
        return f"<p>{_spans(line)}</p>"
    tag = f"h{len(heading['level']) + 1}"
    return f"<{tag}>{_spans(heading['text'])}</{tag}>"


def _item(line: str) -> str:
    found = NUMBERED.fullmatch(line)
    if found is not None:
        return _spans(found["text"])
    found = ITEM.fullmatch(line)
    assert found is not None
    return BOXES[found["tick"]] + _spans(found["text"])


def _spans(text: str) -> str:
    parts, at = [], 0
    for found in SPAN.finditer(text):
        parts += [_words(text[at : found.start()]), _span(found)]
        at = found.end()
    return "".join([*parts, _words(text[at:])])


def _span(found: re.Match[str]) -> str:
    if found["code"] is not None:
        code = found["code"]
        padded = code[0] == code[-1] == " " and code.strip()
        return f"<code>{html.escape(code[1:-1] if padded else code)}</code>"
    if found["strong"] is not None:
        return f"<strong>{_words(found['strong'])}</strong>"
    return html.escape(found["char"])


def _words(text: str) -> str:
    return html.escape(html.unescape(text), quote=False)
