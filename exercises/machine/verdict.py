"""What a check says: every part with what was expected, what came, and the idea behind it."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from exercises.machine.expect import Draw

State: TypeAlias = Literal["holds", "fails", "to write"]

WIDTH = 96


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
            lines += [line for finding in self.findings for line in finding.lines()] + [""]
        return "\n".join([*lines, self._last(), *filter(None, [self.note])])

    @property
    def untouched(self) -> bool:
        """Is there nothing yet to judge?"""
        return all(finding.state == "to write" for finding in self.findings)

    def _first(self) -> str:
        if self.passed:
            return "Passed: every part holds."
        if self.untouched:
            return f"Not yet. {self.findings[0].came}"
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

        The drawing is that of the first failing part that has one.
        """
        drawn = [f.draw for f in self.findings if f.state == "fails" and f.draw is not None]
        return [{"text/plain": self.text}, *(bundle(draw()) for draw in drawn[:1])]

    def _ipython_display_(self) -> None:
        if "IPython" not in sys.modules:
            return
        from IPython.display import display

        for shown in self.displays():
            display(shown, raw=True)  # type: ignore[no-untyped-call]


def bundle(drawing: Any) -> dict[str, Any]:
    """A drawing as MIME type → content."""
    return dict(drawing._repr_mimebundle_())


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
