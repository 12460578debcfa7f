"""Secrets taken out of what is written down: known values, telling names, tokens, URL parts.

It errs towards taking out too much. What it cannot know is a secret under an innocent name whose
value was not given to it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote, quote_plus

GONE = "[redacted]"

SECRET_WORDS = re.compile(
    "(auth|authorization|bearer|cookie|credential|cvv|otp|passcode|passwd|password|passphrase"
    "|jwt|pin|pwd|secret|token)s?"
)
SECRET_PARTS = re.compile(
    "passwor|passwd|passphrase|credential|(api|access|private|secret|signing|encryption)(key|token)"
    "|secret(?!ar)|(?<!page)(?<!next)(?<!cursor)token(?!s|count|limit)"
    "|authorization|bearer|cookie|sessionid|cvv|cardnumber"
)
"""What the review of a schema looks for too, in names with nothing between their words."""

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_HEADER = re.compile(r"(?i)\b(authorization)([\s\"':=]+)(?:[a-z]+\s+)?[^\s\"',;]+")
_COOKIE = re.compile(
    r"(?i)\b(cookie)([\s\"']*[:=][\s\"']*)[^\s\"';]+(?:;\s*[^\s\"';=]+=[^\s\"';]*)*"
)
_BEARER = re.compile(r"(?i)\b(bearer)([\s:=\"']+)[^\s\"']+")
_NAME = re.compile(r"""(?<![\w.-])([\w.-]++)\\*+["']?\s*+[:=]\s*+""")
# JSON inside JSON has backslashes before its quotes: one with more of them ends no value.
_QUOTED = r"""((\\*+)["']) (?: (?! (?<!\\)\1 ) . )*+ (?:\1)?"""
_VALUE = re.compile(rf"""(?xs) {_QUOTED} | [\[{{] | [^\s"',;&}}\]]++""")
_MARK = re.compile(rf"(?xs) {_QUOTED} | [\[\]{{}}]")
_CLOSES = {"{": "}", "[": "]"}
# User-info is what stands before the last @ of the authority. A password with / ? or # in it was
# never allowed there and is met all the same, so a colon with no port after it reaches further.
_URL = re.compile(
    r"""(?xi) (?<![a-z0-9+.-]) ([a-z0-9+.-]++ ://)
    ( [^\s/?\#"'<>:@]* : (?! \d* (?: [/?\#\s"'<>] | $ ) ) [^\s"'<>]* @ | [^\s/?\#"'<>]* @ )?
    ( [^\s?\#"'<>]*+ ) ( [?\#] [^\s"'<>]*+ )?"""
)


class Redactor:
    """Takes secrets out of texts and JSON values; what it gives back is a new value."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        """``secrets`` are values that must appear nowhere, however they are spelt in a text.

        Raises: TypeError for one string instead of several; ValueError for an empty one.
        """
        if isinstance(secrets, str):
            raise TypeError("secrets is a collection of strings, not one string")
        known = {spelling for secret in secrets for spelling in _spellings(secret)}
        longest_first = sorted(known, key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, longest_first))) if known else None

    def text(self, text: str) -> str:
        """``text`` without the known values, Bearer tokens, URL user-info, queries, fragments.

        The value of a pair such as ``password=…`` or ``"apiKey": "…"`` goes too.
        """
        if self._known is not None:
            text = self._known.sub(GONE, text)
        text = _URL.sub(_url, text)
        for pattern in (_HEADER, _COOKIE, _BEARER):
            text = pattern.sub(rf"\1\2{GONE}", text)
        return _without_pairs(text)

    def value(self, value: Any) -> Any:
        """A JSON value with every text in it redacted, names included, at any depth.

        Under a name that ``looks_secret`` nothing of the value stays.
        """
        match value:
            case str():
                return self.text(value)
            case Mapping():
                return self._object(value)
            case list() | tuple():
                return [self.value(item) for item in value]
            case bool() | None:
                return value
        return GONE if self._known and self._known.fullmatch(json.dumps(value)) else value

    def _object(self, value: Mapping[Any, Any]) -> dict[str, Any]:
        redacted: dict[str, Any] = {}
        same: dict[str, int] = {}  # two names that differ only in a secret stay two
        for name, item in value.items():
            safe = first = self.text(str(name))
            while safe in redacted:
                same[first] = same.get(first, 1) + 1
                safe = f"{first} ({same[first]})"
            redacted[safe] = GONE if looks_secret(str(name)) else self.value(item)
        return redacted


def looks_secret(name: str) -> bool:
    """Does a value under this name look like a secret? ``apiKey``, ``DB_PASSWORD``, ``token``."""
    words = [word.lower() for word in _WORDS.findall(name)]
    return any(map(SECRET_WORDS.fullmatch, words)) or bool(SECRET_PARTS.search("".join(words)))


def _spellings(secret: str) -> set[str]:
    """How a text may hold the secret: as it is, inside JSON, inside a URL, inside a repr."""
    if not secret:
        raise ValueError("a secret must not be empty: it would be found everywhere")
    in_json = {json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]}
    whole = secret.encode("utf-8", "surrogatepass")
    return {secret, quote(whole), quote(whole, safe=""), quote_plus(whole), repr(secret)[1:-1]} | (
        in_json
    )


def _url(found: re.Match[str]) -> str:
    scheme, user, address, rest = found.groups(default="")
    return f"{scheme}{GONE + '@' if user else ''}{address}{rest and rest[0] + GONE}"


def _without_pairs(text: str) -> str:
    """What stands under an innocent name is gone through too: it may hold a telling one."""
    kept: list[str] = []
    at = 0
    while found := _NAME.search(text, at):
        value = _VALUE.match(text, found.end()) if looks_secret(found[1]) else None
        kept.append(text[at : found.end()])
        at = _end_of(text, value) if value else found.end()
        if value:
            mark = value[1] or ""
            kept.append(f"{mark}{GONE}{mark}")
    return "".join([*kept, text[at:]])


def _end_of(text: str, value: re.Match[str]) -> int:
    """Where ``value`` ends: an object or a list at its own bracket, or with the text."""
    if value[0] not in _CLOSES:
        return value.end()
    open_ones: list[str] = []
    for mark in _MARK.finditer(text, value.start()):
        if mark[0] in _CLOSES:
            open_ones.append(_CLOSES[mark[0]])
        elif mark[0] == open_ones[-1]:
            open_ones.pop()
        if not open_ones:
            return mark.end()
    return len(text)
