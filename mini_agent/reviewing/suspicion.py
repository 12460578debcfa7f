"""Text that hides something or gives orders. A smoke detector: it can be silent in a fire.

It knows a handful of patterns that attacks have used. Whoever writes an attack can read them too,
and words that no pattern matches reach the model just the same: what it does not report is not
thereby safe. It is here so that the crude attack does not pass unseen, and a reader looks twice.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from typing import Any

from mini_agent.reviewing.finding import Finding
from mini_agent.reviewing.names import fold
from mini_agent.visible import visible

LONGEST_SEARCHED = 100_000  # characters of one text
LONGEST_READ = 4_000  # characters: what a person still reads before a decision
MOST_TEXTS = 5_000  # texts of one tool
TAGS = range(0xE0000, 0xE0080)
BIDI = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
IN_AN_EMOJI = r"(?<=[\u2190-\u2bff\U0001f000-\U0001faff\ufe0f])[\u200d\ufe0f]"

PATTERNS: dict[str, str] = {
    "tells the reader to ignore what it was told": (
        r"\b(ignore|disregard|forget|override|bypass)\b.{0,40}\b(previous|prior|above|earlier|"
        r"other|all|any|your|system)\b.{0,40}\b(instruction|rule|prompt|guideline|message|polic)"
    ),
    "speaks as the system or as a turn of the conversation": (
        r"(^|\n)[ \t>*#_-]{0,20}(system|assistant|human)( (message|note|prompt))? ?:"
        r"|<\|?/?(system|im_start|important|instructions?|secret|hidden|admin|assistant)\b"
        r"|\[/?(inst|system)\]"
    ),
    "asks to keep something from the user": (
        r"\b(do not|don'?t|never|without)\b.{0,30}\b(tell|mention|inform|notify|show|reveal|ask|"
        r"alert|warn)(ing|ion)?\b.{0,30}\b(user|human|person|anyone|anybody|them)\b"
    ),
    "orders a call of its own": (
        r"\b(you|assistant|model|agent|ai)\b.{0,20}\b(must|always|have to|need to|required to)\b"
        r".{0,20}\b(call|use|invoke|run|execute|read|send|include|pass|forward)\b"
        r"|\b(before|after|instead of|prior to)\b.{0,20}\b(using|calling|invoking|running)\b"
        r".{0,30}\b(call|use|invoke|run|read|send|pass)\b"
        r"|\balways (call|use|invoke|run|send|include|pass|prefer)\b"
    ),
    "asks for a file or a secret": (
        r"\b(read|open|send|include|pass|give|provide|paste|cat|upload|contents? of)\b.{0,60}"
        r"(~/|/etc/|\.ssh\b|id_rsa|\.env\b|\.aws\b|api[ _-]?key|password|passphrase|"
        r"access token|private key|credential|conversation history|system prompt)"
    ),
    "wants something sent elsewhere": (
        r"\b(send|forward|post|upload|copy|report|bcc|deliver)\b.{0,60}(https?://|\S@\S+\.\w)"
    ),
    "claims an approval": (
        r"\b(already|pre-?)\s?(approved|authori[sz]ed|confirmed)\b"
        r"|\b(approved|authori[sz]ed) by the (user|host|administrator|admin)\b"
        r"|\bno (approval|confirmation|permission) (is )?(needed|required|necessary)\b"
    ),
}
"""What each pattern catches, and the pattern, for folded text."""

HONEST_TOO = frozenset({"orders a call of its own"})
"""What honest servers write as well: to be read, and no reason to deny."""

MARKUP = r"<\s{0,5}/?(script|img|svg|iframe|object|embed|style|link|meta|base|form)\b"
MARKUP += r"|\bon\w{3,20}\s{0,5}=|javascript\s{0,5}:|data:text/html"
ENCODED = r"[A-Za-z0-9+/_-]{100,}"  # on the text as it is: a run that nobody can read


def texts(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Every string in ``value`` with its path, the keys of objects among them."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            step = f"{path}.{visible(key[:60])}"
            yield f"{step} (the name)", key
            yield from texts(inner, step)
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield from texts(inner, f"{path}[{at}]")


def suspicions(where: str, text: str) -> Iterator[Finding]:
    """What is wrong with ``text``, one finding for each way; it is searched up to a limit."""
    if len(text) > LONGEST_READ:
        what = f"is {len(text)} characters long, more than anybody reads before a decision"
        yield Finding("length", where, what)
    searched = text[:LONGEST_SEARCHED]
    yield from hidden(where, searched)
    yield from orders(where, searched + tag_text(searched))
    yield from unreadable(where, searched)


def hidden(where: str, text: str) -> Iterator[Finding]:
    """Characters that act on a screen or that no screen shows, counted by what they are."""
    found: Counter[str] = Counter()
    bare = re.sub(IN_AN_EMOJI, "", text)
    for char in set(bare):
        found[_hides(char)] += bare.count(char)
    for kind, count in sorted(found.items()):
        what = f"holds {count} {kind} character{'s' * (count > 1)}"
        spelt = f", which spell {len(tag_text(text))} letters" if kind == "tag" else ""
        quote = tag_text(text) if kind == "tag" else ""
        if kind:
            serious = kind != "unusual blank"
            yield Finding("hidden", where, what + spelt, serious=serious, quote=quote)


def _hides(char: str) -> str:
    """What kind of hiding character this is, "" for one that may be there."""
    if char in "\n\t" or visible(char) == char:
        return ""
    if ord(char) in TAGS:
        return "tag"
    if unicodedata.bidirectional(char) in BIDI:
        return "bidi"
    category = unicodedata.category(char)
    return {"Cc": "control", "Zs": "unusual blank"}.get(category, "invisible")


def tag_text(text: str) -> str:
    """What the tag characters in ``text`` spell: a copy of ASCII that no font draws."""
    return "".join(chr(ord(c) - TAGS.start) for c in text if 0x20 <= ord(c) - TAGS.start < 0x7F)


def orders(where: str, text: str) -> Iterator[Finding]:
    """Sentences that are for the model rather than about the tool; look-alike letters count."""
    folded = fold(text)
    for what, pattern in PATTERNS.items():
        if match := re.search(pattern, folded, re.DOTALL):
            serious = what not in HONEST_TOO
            yield Finding("instructions", where, what, serious, match[0].strip())


def unreadable(where: str, text: str) -> Iterator[Finding]:
    """Markup that a careless page would execute, and long runs that nobody can read."""
    if match := re.search(MARKUP, text, re.IGNORECASE):
        yield Finding("markup", where, "holds markup that a page may execute", True, match[0])
    if match := re.search(ENCODED, text):
        what = f"holds an encoded run of {len(match[0])} characters"
        yield Finding("encoded", where, what, quote=match[0][:40])
