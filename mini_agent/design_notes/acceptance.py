"""The acceptance check: it reads a folder of notes and says which of the three items hold.

It believes nothing that is claimed in the text: drawings are read, the tests are run, once on the
client as it is and once on each client that handles errors wrongly.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from pathlib import Path

from mini_agent.design_notes.broken import AS_IT_IS, Run
from mini_agent.design_notes.notes import ASK
from mini_agent.draw import PROTOCOL_ERROR, TOOL_ERROR
from mini_agent.reviewing.checklist import plain
from mini_agent.reviewing.items import NO_REASON

SECONDS = 60.0
CASES = 3  # a connection that fails, a tool that says no, a break in the middle of a call
ITEMS = (
    "the call chain with both error paths",
    "three tests that say what they assert",
    "the trust checklist",
)
ENDS = {"tool-error": "The model sees why", "protocol-error": "and raises the same exception again"}
ENTRY = re.compile(r"^### (?P<name>.+) \((?P<kind>tool|resource|template|prompt)\)$", re.MULTILINE)
DECIDED = re.compile(r"^- \[(?P<tick>[ x])\] \*\*(?P<decision>allow|ask|deny)\*\*", re.MULTILINE)
WHY = re.compile(r"^- Why: (?P<why>.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Acceptance:
    """``missing`` holds, for each item in order, what is missing; nothing where it holds."""

    missing: tuple[tuple[str, ...], ...]

    @property
    def accepted(self) -> bool:
        """Do all three hold?"""
        return not any(self.missing)

    def __str__(self) -> str:
        lines = []
        for number, (item, missing) in enumerate(zip(ITEMS, self.missing, strict=True), 1):
            lines.append(f"{number}. {item}: {'to do' if missing else 'holds'}")
            lines += [f"   - {sentence}" for sentence in missing]
        return "\n".join(lines)


def accept(folder: str | Path) -> Acceptance:
    """What of the three items holds in ``folder``, and what is missing, in words.

    Runs the folder's test files: it is your own code.

    Raises: OSError when the folder cannot be read.
    """
    into = Path(folder)
    if not into.is_dir():
        raise FileNotFoundError(f"there is no folder {into}; write the notes first")
    return Acceptance(
        (
            (*chain_faults(into), *template_faults(into, "notes.md")),
            tuple(draft_faults(into)),
            (*checklist_faults(into), *template_faults(into, "checklist.md")),
        )
    )


# -- item 1 ---------------------------------------------------------------------------------------


def chain_faults(folder: Path) -> Iterator[str]:
    """Both paths in the chain, and for each tool of the checklist a drawing of either failure."""
    words = drawn_words(folder / "chain.svg")
    if words is None:
        yield "chain.svg is missing: the chain with both paths"
    for title, rows in (("TOOL ERROR", TOOL_ERROR), ("PROTOCOL ERROR", PROTOCOL_ERROR)):
        lacks = [row for row, _ in rows if words is not None and row not in words]
        if words is not None and (title not in words or lacks):
            at = f", it lacks {lacks[0]!r}" if lacks and title in words else ""
            yield f"chain.svg does not show the path of a {title.lower()} through every layer{at}"
    for path, end in ENDS.items():
        found = [drawn_words(file) or "" for file in sorted(folder.glob(f"{path}-*.svg"))]
        if not found:
            yield f"no drawing {path}-….svg shows what becomes of a failed call of your own tool"
        elif not all(end in drawing for drawing in found):
            yield f"a drawing {path}-….svg does not end where such an error ends: {end!r}"


def drawn_words(path: Path) -> str | None:
    """All that stands in a drawing, but for its alternative text; None when there is none."""
    if not path.is_file():
        return None
    return "\n".join(
        unescape(text) for text in re.findall(r"<text[^>]*>([^<]*)</text>", _read(path))
    )


# -- item 2 ---------------------------------------------------------------------------------------


def draft_faults(folder: Path) -> Iterator[str]:
    """The tests run, at least three; all pass as it is, and some fail on each broken client."""
    files = sorted(folder.glob("test_*.py"))
    if not files:
        yield "there is no test_….py"
        return
    runs = trial(files)
    as_it_is = runs.pop(AS_IT_IS)
    if as_it_is.code != 0:
        yield f"the tests do not pass: {as_it_is.said}"
        return
    if as_it_is.passed < CASES:
        yield f"there are {as_it_is.passed} tests; each of the three cases needs its own"
    for way, run in runs.items():
        if run.code == 0:
            yield f"the tests stay green when {way}: assert what must happen instead"


def trial(files: list[Path]) -> dict[str, Run]:
    """What pytest says of ``files``, by the way in which the client is broken; in a new process."""
    command = [sys.executable, "-m", "mini_agent.design_notes.trial", *map(str, files)]
    settings = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            command, env={**os.environ, **settings},
            capture_output=True, text=True, timeout=SECONDS, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return {AS_IT_IS: Run(1, said=f"they did not end within {SECONDS:g} s")}
    try:
        runs = json.loads(done.stdout.splitlines()[-1])
    except (ValueError, IndexError):
        return {AS_IT_IS: Run(1, said=f"they could not be run: {done.stderr.strip()[-200:]}")}
    return {way: Run(**run) for way, run in runs.items()}


# -- item 3 ---------------------------------------------------------------------------------------


def checklist_faults(folder: Path) -> Iterator[str]:
    """A decision for each tool, with a reason of its own; every returned text untrusted."""
    path = folder / "checklist.md"
    if not path.is_file():
        yield "checklist.md is missing"
        return
    text = _read(path)
    tools = {name: body for name, kind, body in entries(text) if kind == "tool"}
    if not tools:
        yield "checklist.md names no tool"
    for name, body in tools.items():
        yield from tool_faults(name, body)
    reasons = Counter(why[1].strip().lower() for why in map(WHY.search, tools.values()) if why)
    for why in [why for why, times in reasons.items() if times > 1]:
        yield f"the same reason stands at {reasons[why]} tools: {why[:80]!r}; each has its own"
    if "- [x] **untrusted**" not in text:
        yield "it does not say that every returned text is untrusted"


def tool_faults(name: str, body: str) -> Iterator[str]:
    """What is missing in one tool's entry."""
    decided, why = DECIDED.search(body), WHY.search(body)
    if decided is None or decided["tick"] != "x":
        yield f"{name}: nobody has decided yet; it is only proposed"
        return
    reason = why["why"].strip().replace(plain(NO_REASON), "") if why else ""
    writes = not re.search(r"^- May change: nothing", body, re.MULTILINE)
    if writes and decided["decision"] == "allow" and len(reason.split()) < 3:
        yield f"{name}: it can change something and is allowed without a reason"
    elif not reason:
        yield f"{name}: it has a decision and no reason"


def entries(text: str) -> Iterator[tuple[str, str, str]]:
    """Name, kind and text of each entry of the checklist."""
    found = list(ENTRY.finditer(text))
    ends = [*(match.start() for match in found[1:]), len(text)]
    for match, end in zip(found, ends, strict=False):
        body = text[match.end() : end].split("\n## ", 1)[0]
        yield match["name"], match["kind"], body


# -- any of them ----------------------------------------------------------------------------------


def template_faults(folder: Path, name: str) -> Iterator[str]:
    """Text that was there before the reader wrote anything."""
    path = folder / name
    left = _read(path).count(plain(ASK)) if path.is_file() else 0
    if not path.is_file():
        yield f"{name} is missing"
    elif left:
        yield f"{name} still says {ASK!r} in {left} places: that is the template's text"


def _read(path: Path) -> str:
    return path.read_text("utf-8", errors="replace")
