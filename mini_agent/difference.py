"""What differs between two JSON values, in lines that a person reads: ``-`` was, ``+`` is now.

Two values that differ give at least one line, and nothing in a line can act on a screen.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

from mini_agent.visible import visible

LONGEST = 20_000  # characters; what is cut is said
LONGEST_STEP = 60  # characters of one key in a path
ABSENT: Any = object()
"""Stands for a value that was not there, or no longer is."""

Path = tuple[str, ...]
_PIECES = re.compile(r"(?<=[.!?] )|(?<=\n)")  # after a sentence, after a line


def canonical(value: Any) -> str:
    """``value`` as JSON on one line: equal for equal JSON, whatever the order of an object's keys.

    Raises: TypeError for what JSON cannot say.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def difference(old: Any, new: Any, longest: int = LONGEST) -> str:
    """Each place that differs: its path, then what it was and what it is. "" when nothing does.

    Of a long text only the sentences around a change are shown. More than ``longest`` characters
    are cut, and the cut says how many were not seen.
    """
    places = (
        "\n".join([_name(path), *_lines(was, now)]) for path, was, now in _differing(old, new)
    )
    text = "\n".join(places)
    if len(text) <= longest:
        return text
    return f"{text[:longest]}\n[cut: {len(text) - longest} more characters that nobody has seen]"


def _differing(old: Any, new: Any, path: Path = ()) -> Iterator[tuple[Path, Any, Any]]:
    """The smallest places where ``old`` and ``new`` differ, in the order of their keys."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            was, now = old.get(key, ABSENT), new.get(key, ABSENT)
            yield from _differing(was, now, (*path, _key(key)))
    elif isinstance(old, list) and isinstance(new, list):
        for at, (was, now) in enumerate(zip_longest(old, new, fillvalue=ABSENT)):
            yield from _differing(was, now, (*path, f"[{at}]"))
    elif ABSENT in (old, new) or canonical(old) != canonical(new):
        yield path, old, new


def _key(key: str) -> str:
    cut = key if len(key) <= LONGEST_STEP else key[:LONGEST_STEP] + "…"
    return f".{cut}" if key.isidentifier() and key.isascii() else f".{visible(json.dumps(cut))}"


def _name(path: Path) -> str:
    return "".join(path).removeprefix(".") or "(the whole)"


def _lines(was: Any, now: Any) -> list[str]:
    if not (isinstance(was, str) and isinstance(now, str) and was and now):
        return [*_marked("-", _value(was)), *_marked("+", _value(now))]
    old, new = _PIECES.split(was), _PIECES.split(now)
    start = _in_common(old, new)
    end = _in_common(old[start:][::-1], new[start:][::-1])
    before, after = old[max(0, start - 1) : start], old[len(old) - end :][:1]
    less, more = old[start : len(old) - end], new[start : len(new) - end]
    if _seen(less) == _seen(more):
        less, more = [*map(_with_blanks, less)], [*map(_with_blanks, more)]
    return [
        *_marked(" ", before),
        *_marked("-", less),
        *_marked("+", more),
        *_marked(" ", after),
    ]


def _seen(pieces: list[str]) -> list[str]:
    return [piece.rstrip(" ") for piece in pieces if piece.strip(" ")]


def _with_blanks(piece: str) -> str:
    """Blanks at the end as escapes, where they are all that differs."""
    text = piece.rstrip(" ")
    return text + r"\x20" * (len(piece) - len(text))


def _in_common(one: list[str], other: list[str]) -> int:
    """How many pieces at the beginning are the same."""
    pairs = zip(one, other, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _value(value: Any) -> list[str]:
    if value is ABSENT:
        return []
    if isinstance(value, str) and value:
        return _PIECES.split(value)
    return [json.dumps(value, ensure_ascii=False, sort_keys=True)]


def _marked(mark: str, pieces: list[str]) -> list[str]:
    return [f"{mark} {visible(piece)}".rstrip(" ") for piece in pieces if piece]
