"""What a check says: every part with what was expected, what came, and the idea behind it."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from exercises.machine.expect import Draw

State: TypeAlias = Literal["holds", "fails", "to write"]

WIDTH = 96
KIND = "the kind of answer"  # looked at before any part is run
NO_EXCEPTION = "no exception"


@dataclass(frozen=True)
class Finding:
    """What one part found. ``wanted``, ``came``, ``when`` and ``idea`` are words, or ""."""

    part: str
    state: State
    wanted: str = ""
    came: str = ""
    when: str = ""
    idea: str = ""
    draw: Draw | None = None

    def lines(self) -> list[str]:
        """The finding as text: one line when it holds, else one for each thing to know."""
        first = f"  {self.state:<8}  {self.part}"
        if self.state != "fails":
            return [first]
        facts = {
            "when": self.when,
            "expected": self.wanted,
            "came": self.came,
            "idea": self.idea,
        }
        return [first, *(line for name in facts for line in _wrapped(name, facts[name]))]


def _wrapped(name: str, text: str) -> list[str]:
    if not text:
        return []
    label = f"      {name + ':':<10}"
    return textwrap.wrap(
        text, WIDTH, initial_indent=label, subsequent_indent=" " * len(label),
        break_on_hyphens=False,
    )  # fmt: skip


@dataclass(frozen=True)
class Verdict:
    """The answer to one ``check``. Shown as text, with the drawing of the first part that has one.

    It may be awaited, which gives it back: no check needs it, and nobody is told off for it.
    """

    task: str
    heading: str
    findings: Sequence[Finding]
    note: str = ""

    @property
    def passed(self) -> bool:
        """Does every part hold?"""
        return all(finding.state == "holds" for finding in self.findings)

    @property
    def text(self) -> str:
        """The whole of it in words."""
        lines = [self.heading, self._first(), ""]
        if not self.untouched:
            lines += [*self._finding_lines(), ""]
        return "\n".join([*lines, self._last(), *filter(None, [self.note])])

    def _finding_lines(self) -> Iterator[str]:
        """An exception is told in full where it first came; one typo may end every part."""
        told = set()
        for finding in self.findings:
            same = (finding.wanted, finding.came, finding.when)
            if finding.wanted == NO_EXCEPTION and same in told:
                yield f"{finding.lines()[0]} (the same)"
            else:
                yield from finding.lines()
            told.add(same)

    @property
    def untouched(self) -> bool:
        """Is there nothing yet to judge?"""
        return all(finding.state == "to write" for finding in self.findings)

    def _first(self) -> str:
        if self.passed:
            return "Passed: every part holds."
        if self.untouched:
            return f"Not yet. {self.findings[0].came}"
        if self.findings[0].part == KIND:
            return "Not yet. It is of another kind, and no part was run."
        good = sum(finding.state == "holds" for finding in self.findings)
        return f"Not yet. {good} of {len(self.findings)} parts hold."

    def _last(self) -> str:
        if self.passed:
            return f'solution("{self.task}") shows one way to write it.'
        return f'hint("{self.task}") gives a hint.'

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text

    def __await__(self) -> Generator[None, None, Verdict]:
        return self
        yield  # so that this is a generator

    def displays(self) -> list[dict[str, Any]]:
        """What a notebook shows, each as MIME type → content: the words, then a drawing.

        The drawing is that of the first failing part that has one; the last words name the part.
        """
        for finding in self.findings:
            if finding.state == "fails" and finding.draw is not None:
                drawing = made(finding.draw)
                words = f"{self.text}\n\nDrawn: {finding.part}" if drawing else self.text
                return [{"text/plain": words}, *drawing]
        return [{"text/plain": self.text}]

    def _ipython_display_(self) -> None:
        if "IPython" not in sys.modules:
            return
        from IPython.display import display

        for shown in self.displays():
            display(shown, raw=True)  # type: ignore[no-untyped-call]


def made(draw: Draw) -> list[dict[str, Any]]:
    """The drawing as MIME type → content; none of what cannot be drawn: the words are there."""
    try:
        drawing: Any = draw()
        return [dict(drawing._repr_mimebundle_())]
    except Exception:  # noqa: BLE001 - what a learner sent stands in it, and may raise anything
        return []


def wrapped(text: str) -> str:
    """A paragraph as lines that fit a notebook."""
    return textwrap.fill(text, WIDTH, break_on_hyphens=False, break_long_words=False)


@dataclass(frozen=True)
class Said:
    """Words for the last line of a cell; ``markdown`` is the same for who can show it."""

    text: str
    markdown: str = ""

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        more = {"text/markdown": self.markdown} if self.markdown else {}
        return {"text/plain": self.text, **more}
