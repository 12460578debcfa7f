"""One task: what the learner reads, the parts of its check, and the answers that prove the check.

A file of ``exercises/sets/`` makes one Task and gives it functions:

    TASK = Task("04.2", "Lines, however the bytes are cut", level="solid", minutes=20, …)

    @TASK.solution      answers: the body is what stands in the notebook's cell, its last line
    @TASK.stub          returns the name that the check is given
    @TASK.right
    @TASK.wrong("words of the idea that it misses")

    @TASK.part("every cut gives the same lines", idea="A pipe forgets where a write ended.")
    def every_cut(answer): …                    sync or async; raises what expect.py raises

A solution marks with ``### BEGIN SOLUTION`` and ``### END SOLUTION`` what the learner writes; the
stub is the same text without it. Where that makes no stub (a table to fill in, a function to mend),
``@TASK.stub`` gives one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, TypeVar

from exercises.machine.source import STUB, cell_of, cleared, run_cell

Level: TypeAlias = Literal["warm-up", "solid", "demanding"]
MakeAnswer: TypeAlias = Callable[[], Any]
M = TypeVar("M", bound=Callable[..., Any])

POINTS = {"warm-up": 1, "solid": 2, "demanding": 3}
SECONDS = 5.0


@dataclass(frozen=True)
class Part:
    """One thing that must hold of an answer, and the idea behind it.

    ``run`` takes the answer. ``seconds`` bounds it, on the wall clock. ``real_time`` gives an async
    part an ordinary event loop, as child processes need it.
    """

    name: str
    idea: str
    run: Callable[[Any], Any]
    seconds: float = SECONDS
    real_time: bool = False


@dataclass(frozen=True)
class Wrong:
    """A wrong answer that people really give. The message must hold ``words``."""

    words: str
    make: MakeAnswer

    @property
    def name(self) -> str:
        """The name of its function."""
        return self.make.__name__


@dataclass
class Task:
    """A task. ``section`` is a heading of the notebook of the same number, in its own words.

    ``text`` is Markdown. ``given`` names what of the task's file the notebook shows above the
    stub; it and the answers may use what that file imports. ``minutes`` is for a reader of the
    notebook. ``hints`` are three, each says more. ``notebook`` names another notebook than the
    set's; ``live`` is a cell between stub and check that a learner runs, and no test.
    """

    id: str
    title: str
    level: Level
    minutes: int
    section: str
    text: str
    hints: tuple[str, str, str]
    given: str = ""
    notebook: str = ""
    live: str = ""
    parts: list[Part] = field(default_factory=list)
    rights: list[MakeAnswer] = field(default_factory=list)
    wrongs: list[Wrong] = field(default_factory=list)
    solved: MakeAnswer | None = None
    started: MakeAnswer | None = None

    # -- what a task's file adds ------------------------------------------------------------------

    def solution(self, make: M) -> M:
        """A decorator: the answer that is shown as the solution."""
        self.solved = make
        return make

    def stub(self, make: M) -> M:
        """A decorator: what the learner begins with, where the solution's marks do not make it."""
        self.started = make
        return make

    def right(self, make: M) -> M:
        """A decorator: another answer that must pass, written in another way."""
        self.rights.append(make)
        return make

    def wrong(self, words: str) -> Callable[[M], M]:
        """A decorator: an answer that must fail, with ``words`` in an idea that is named to it."""

        def add(make: M) -> M:
            self.wrongs.append(Wrong(words, make))
            return make

        return add

    def part(
        self, name: str, *, idea: str, seconds: float = SECONDS, real_time: bool = False
    ) -> Callable[[M], M]:
        """A decorator: one part of the check."""

        def add(run: M) -> M:
            self.parts.append(Part(name, idea, run, seconds, real_time))
            return run

        return add

    # -- its texts and what they make -------------------------------------------------------------

    @property
    def heading(self) -> str:
        """Number and title, as Markdown."""
        return f"{self.id} · {self.title}"

    @property
    def plain_title(self) -> str:
        """The title where Markdown is not shown."""
        return self.title.replace("`", "")

    @property
    def plain_heading(self) -> str:
        """Number and title where Markdown is not shown."""
        return f"{self.id} · {self.plain_title}"

    @property
    def points(self) -> int:
        """What it counts when it is graded."""
        return POINTS[self.level]

    @property
    def marked_text(self) -> str:
        """The solution with its marks, below the stub where that is a text of its own."""
        text = cell_of(self._solution)[0]
        if self.started is None:
            return text
        body = f"### BEGIN SOLUTION\n{text}\n### END SOLUTION"
        return f"{cell_of(self.started)[0]}\n\n{body}"

    @property
    def solution_text(self) -> str:
        """The solution as a cell."""
        return cleared(cell_of(self._solution)[0], None)

    @property
    def stub_text(self) -> str:
        """What the learner begins with, as a cell."""
        if self.started is not None:
            return cell_of(self.started)[0]
        return cleared(cell_of(self._solution)[0], STUB)

    @property
    def answer_name(self) -> str:
        """The name that the check is given."""
        return cell_of(self._solution)[1]

    def make_stub(self) -> Any:
        """The stub's value, as a learner has it who ran the cell and wrote nothing."""
        make = self.started or self._solution
        return run_cell(self.stub_text, self.answer_name, make.__globals__)

    def make_solution(self) -> Any:
        """The solution's value."""
        return self._solution()

    @property
    def _solution(self) -> Any:
        if self.solved is None:
            raise ValueError(f"{self.id} has no solution: write one below @TASK.solution")
        return self.solved


@dataclass(frozen=True)
class Set:
    """The tasks of one notebook. ``name`` is the notebook's, ``question`` its title.

    ``intro`` is Markdown: one or two sentences on what these tasks have in common.
    """

    name: str
    question: str
    intro: str
    tasks: tuple[Task, ...] = ()

    @property
    def number(self) -> str:
        """Its two digits; the name of one that belongs to no notebook."""
        return self.name[:2] if self.name[:1].isdigit() else self.name

    @property
    def heading(self) -> str:
        """Number and question."""
        numbered = f"Exercises {self.number}" if self.number != self.name else self.name.title()
        return f"{numbered} · {self.question}"
