"""Names that imitate another: look-alike letters, another way of joining words, one slip.

Modest on purpose: it knows the letters of LOOKALIKES, not all of Unicode's confusables, and it
compares names, not meanings. ``fetch_appointments`` beside ``calendar_query`` is not noticed.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterable, Iterator

from mini_agent.reviewing.finding import Finding, quoted

LOOKALIKES = str.maketrans(
    "аеорсухіјѕԁһӏқмтвнкοανρτυχειικωıɑɡʟ",
    "aeopcyxijsdhlkmtbhkoavptuxeiikwiagl",
)
"""Cyrillic, Greek and odd Latin letters, and the plain one that each is taken for."""

DIGITS = str.maketrans("015", "ols")
PLAIN = re.compile(r"[A-Za-z0-9_.-]{1,128}")  # server/tools#tool-names
SHORTEST = 5  # letters: of shorter names, too many are one slip away from each other


def fold(text: str) -> str:
    """``text`` in plain small letters: look-alikes replaced, accents and the invisible left out."""
    spread = unicodedata.normalize("NFKD", text).casefold()
    kept = (c for c in spread if unicodedata.category(c) not in ("Mn", "Me", "Cf"))
    return "".join(kept).translate(LOOKALIKES)


@functools.lru_cache(maxsize=10_000)
def skeleton(name: str) -> str:
    """What is left of ``name`` for a quick eye: letters and digits, ``0`` and ``o`` as one."""
    return re.sub(r"[^\w]|_", "", fold(name)).translate(DIGITS)


def imitations(
    name: str, siblings: Iterable[str], locals_: Iterable[str], others: Iterable[tuple[str, str]]
) -> Iterator[Finding]:
    """Whose name ``name`` is, or looks like.

    ``siblings`` are the other tools of its server, held to look-alikes alone: ``get_item`` and
    ``get_items`` belong together. ``others`` are pairs of a server's name and a tool's.
    """
    yield from odd_letters(name)
    for other in sorted(set(siblings) - {name}):
        if skeleton(other) == skeleton(name):
            yield _like(name, f"another tool of this server, {quoted(other)}")
    for other in sorted(set(locals_)):
        yield from _against(name, other, "a local tool")
    for server, other in sorted(set(others)):
        yield from _against(name, other, f"a tool of server {quoted(server)}")


def odd_letters(name: str) -> Iterator[Finding]:
    """Letters of two scripts in one name deceive; characters outside the protocol's are odd."""
    mixed = scripts(name)
    if len(mixed) > 1:
        what = f"mixes letters of {' and '.join(mixed)}: {quoted(spelt(name))}"
        yield Finding("imitation", "name", what, serious=True)
    elif not PLAIN.fullmatch(name):
        what = "is not 1 to 128 letters and digits of ASCII, dots, hyphens and underscores"
        yield Finding("name", "name", what)


def scripts(name: str) -> list[str]:
    """The scripts that the letters of ``name`` belong to, such as Cyrillic and Latin."""
    words = {unicodedata.name(char, "Unnamed").split()[0] for char in name if char.isalpha()}
    return sorted(word.title() for word in words)


def spelt(name: str) -> str:
    """``name`` as it is, unless two scripts mix in it: then all but ASCII as escapes."""
    return name.encode("ascii", "backslashreplace").decode() if len(scripts(name)) > 1 else name


def _against(name: str, other: str, whose: str) -> Iterator[Finding]:
    if name == other:
        yield Finding("same name", "name", f"is the name of {whose}, too")
    elif skeleton(name) == skeleton(other) or _one_slip(skeleton(name), skeleton(other)):
        yield _like(name, f"{whose}, {quoted(other)}")


def _like(name: str, whom: str) -> Finding:
    return Finding("imitation", "name", f"is easily taken for {whom}", serious=True)


def _one_slip(one: str, other: str) -> bool:
    """Does one letter more, less, other, or exchanged with its neighbour, make one the other?"""
    if min(len(one), len(other)) < SHORTEST or abs(len(one) - len(other)) > 1 or one == other:
        return False
    start = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    if start is None:
        return True  # one letter more at the end
    a, b = one[start:], other[start:]
    swapped = len(a) > 1 and a[1] + a[0] + a[2:] == b
    return swapped or a[1:] == b[1:] or a[1:] == b or a == b[1:]
