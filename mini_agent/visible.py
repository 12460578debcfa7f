"""Somebody else's text made fit to look at: what acts on a screen, or hides on it, is spelt out.

A terminal obeys control characters, a bidi control turns the reading order round, a zero-width
or tag character is not seen at all. Each becomes the escape that Python writes for it, so what a
person approves is what is there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

MOST_LEVELS = 100
"""Levels of nesting that are shown. Each adds two columns to every line below it: 5,000 levels in
10 kB of JSON fill 50 MB of screen, where the interpreter lets them through at all."""

# Printable by Unicode's classes, yet drawn as nothing or as a blank: fillers, joiners, selectors.
BLANKS = frozenset(
    chr(code)
    for code in (
        *(0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0),
        *range(0x180B, 0x1810),
        *range(0xFE00, 0xFE10),
        *range(0xE0100, 0xE01F0),
    )
)


def visible(text: str, *, keep_newlines: bool = False) -> str:
    r"""``text`` with every control, bidi, invisible or separating character as its escape.

    ESC becomes ``\x1b``, a right-to-left override ``\u202e``, a tag character ``\U000e0041``, a
    lone surrogate ``\ud800``. A plain space stays; a newline stays only with ``keep_newlines``.
    """
    return "".join(_shown(char, keep_newlines) for char in text)


def visible_json(value: Mapping[str, Any]) -> str:
    """``value`` in full as canonical JSON (sorted keys, two spaces a level), made visible.

    The only line breaks are JSON's own: one inside a string shows as its escape. What JSON cannot
    say is shown as its repr, since a person must see it all the same.

    Raises: RecursionError when it is nested deeper than MOST_LEVELS.
    """
    _check_levels(value, MOST_LEVELS)
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, indent=2, default=repr)
    return visible(text, keep_newlines=True)


def _check_levels(value: object, left: int) -> None:
    if not isinstance(value, (Mapping, list, tuple)):
        return
    if not left:
        raise RecursionError(f"nested deeper than {MOST_LEVELS} levels")
    for inner in value.values() if isinstance(value, Mapping) else value:
        _check_levels(inner, left - 1)


def _shown(char: str, keep_newlines: bool) -> str:
    if char == "\n" and keep_newlines:
        return char
    if char.isprintable() and char not in BLANKS:
        return char
    return char.encode("unicode_escape").decode("ascii")
