"""A short text for a regular expression of JSON Schema (ECMA-262): the first that it allows. Pure.

It reads what schemas are written with: literals, classes, groups, alternatives, repetition. What
looks around or back has no text here, and says so.
"""

from __future__ import annotations

LONGEST = 10_000  # characters of a text
ANY = "a0_ -.,/@:#"  # tried in this order where a class says what must not be
SHORT = {"d": "0", "w": "a", "s": " ", "D": "a", "W": " ", "S": "a", "b": "", "B": ""}
SHORT |= {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v", "0": "\0"}
LEAST = {"*": 0, "?": 0, "+": 1}
CODES = {"x": 2, "u": 4}  # hexadecimal digits after the letter


def matching(pattern: str) -> str:
    """A text in which ``pattern`` is found.

    Raises: ValueError where it holds something that is not read here, or needs a longer text.
    """
    try:
        text, at = _either(pattern, 0)
    except (IndexError, RecursionError, ValueError) as cause:
        raise _unread(pattern) from cause
    if at != len(pattern):
        raise _unread(pattern)
    return text


def _unread(pattern: str) -> ValueError:
    return ValueError(f"no text is known for the pattern {pattern!r:.80}; give the schema examples")


def _either(pattern: str, at: int) -> tuple[str, int]:
    """The first of several alternatives, and where all of them end."""
    first, at = _sequence(pattern, at)
    while pattern[at : at + 1] == "|":
        _, at = _sequence(pattern, at + 1)
    return first, at


def _sequence(pattern: str, at: int) -> tuple[str, int]:
    text = ""
    while at < len(pattern) and pattern[at] not in "|)":
        atom, at = _atom(pattern, at)
        times, at = _times(pattern, at)
        if len(text) + len(atom) * times > LONGEST:
            raise _unread(pattern)
        text += atom * times
    return text, at


def _atom(pattern: str, at: int) -> tuple[str, int]:
    match pattern[at]:
        case "(":
            return _group(pattern, at + 1)
        case "[":
            return _class(pattern, at + 1)
        case "\\":
            return _escape(pattern, at + 1)
        case "^" | "$":
            return "", at + 1
        case ".":
            return ANY[0], at + 1
        case "*" | "+" | "?":
            raise _unread(pattern)
    return pattern[at], at + 1


def _group(pattern: str, at: int) -> tuple[str, int]:
    if pattern[at] == "?":
        if pattern[at + 1] == "<" and pattern[at + 2] not in "=!":
            at = pattern.index(">", at)
        elif pattern[at + 1] != ":":
            raise _unread(pattern)
        else:
            at += 1
        at += 1
    text, at = _either(pattern, at)
    if pattern[at] != ")":
        raise _unread(pattern)
    return text, at + 1


def _escape(pattern: str, at: int) -> tuple[str, int]:
    letter = pattern[at]
    if letter in SHORT:
        return SHORT[letter], at + 1
    if letter in CODES:
        end = at + 1 + CODES[letter]
        return chr(int(pattern[at + 1 : end], 16)), end
    if letter.isalnum():  # \1 looks back, \p{…} and \k<…> are more than is read here
        raise _unread(pattern)
    return letter, at + 1


def _times(pattern: str, at: int) -> tuple[int, int]:
    """How often the atom before ``at`` stands there at least, and where that is said to its end."""
    sign, times = pattern[at : at + 1], 1
    if sign and sign in LEAST:
        times, at = LEAST[sign], at + 1
    elif sign == "{" and pattern[at + 1 : at + 2].isdigit():
        end = pattern.index("}", at)
        times, at = int(pattern[at + 1 : end].split(",")[0]), end + 1
    else:
        return times, at
    return times, at + (pattern[at : at + 1] == "?")


def _class(pattern: str, at: int) -> tuple[str, int]:
    """One character of a class: the first that it names, or one that it does not forbid."""
    negated = pattern[at] == "^"
    at += negated
    named: list[tuple[str, str]] = []  # ranges; of a single character both ends are the same
    while pattern[at] != "]":
        low, at = _member(pattern, at)
        high = low
        if pattern[at] == "-" and pattern[at + 1] != "]":
            high, at = _member(pattern, at + 1)
        named.append((low, high))
    if not negated:
        return named[0][0], at + 1
    free = (char for char in ANY if not any(low <= char <= high for low, high in named))
    return next(free, "\u00e9"), at + 1


def _member(pattern: str, at: int) -> tuple[str, int]:
    return _escape(pattern, at + 1) if pattern[at] == "\\" else (pattern[at], at + 1)
