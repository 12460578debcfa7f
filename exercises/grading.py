"""nbgrader run over every set: the student version, full marks for the solution, none for the stub.

    python -m exercises.grading            all sets, in build/nbgrader
    python -m exercises.grading 04         those whose name begins with 04

``source/`` holds the instructor's versions with the solutions between nbgrader's own marks,
``release/`` what `nbgrader generate_assignment` makes of them for students. Then two hand in: one
the instructor's version, one the student version as it is. Exit code 1 when the first does not get
every point, or the second gets one. It needs the extra `nbgrader`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from exercises.build import write_for_nbgrader
from exercises.machine.shelf import set_names
from exercises.machine.source import STUB
from exercises.machine.store import ROOT, WORK

COURSE = ROOT / "build" / "nbgrader"
CONFIG = f"""c = get_config()
c.CourseDirectory.course_id = "mini_agent"
c.ClearSolutions.code_stub = {{"python": "{STUB}"}}
"""
HANDED_IN = {"solved": "source", "stub": "release"}  # student: where what they hand in comes from


class GradingError(Exception):
    """nbgrader failed. The message holds its last words."""


def run(course: Path, *words: str) -> None:
    """One command of nbgrader in the folder of the course.

    Raises: GradingError.
    """
    here = Path(sys.executable).parent  # nbgrader itself calls a program that lies there
    path = f"{here}{os.pathsep}{os.environ.get('PATH', '')}"
    env = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), WORK: str(course / "work")}
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", *words],
        cwd=course, env=env, capture_output=True, text=True,
    )  # fmt: skip
    if done.returncode:
        raise GradingError(f"nbgrader {' '.join(words)}: {done.stderr.strip()[-2000:]}")


def grade(course: Path, names: Sequence[str]) -> Iterator[tuple[str, str, float, float]]:
    """Make the course afresh; for each set and each who handed in: set, who, points, of how many.

    Raises: GradingError; ImportError without nbgrader.
    """
    shutil.rmtree(course, ignore_errors=True)
    write_for_nbgrader(course, names)
    (course / "nbgrader_config.py").write_text(CONFIG, encoding="utf-8")
    for name in names:
        run(course, "generate_assignment", name, "--create")
        for student, folder in HANDED_IN.items():
            shutil.copytree(course / folder / name, course / "submitted" / student / name)
        run(course, "autograde", name)
    yield from points(course)


def points(course: Path) -> Iterator[tuple[str, str, float, float]]:
    """What the gradebook of a course says."""
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as book:
        for assignment in book.assignments:
            for handed_in in book.assignment_submissions(assignment.name):
                student = handed_in.student.id
                yield assignment.name, student, handed_in.score, handed_in.max_score


def main() -> int:
    """Grade, and say every result."""
    beginnings = tuple(sys.argv[1:]) or ("",)
    names = [name for name in set_names() if name.startswith(beginnings)]
    if not names:
        sys.exit(f"no set begins with {' or '.join(beginnings)}")
    wrong = 0
    try:
        for name, student, score, most in grade(COURSE, names):
            good = score == (most if student == "solved" else 0) and most > 0
            wrong += not good
            sys.stdout.write(
                f"{'ok   ' if good else 'WRONG'} {name} {student}: {score:g} of {most:g}\n"
            )
    except (GradingError, ImportError) as error:
        sys.exit(f"exercises: {error}")
    sys.stdout.write(f"The student version is in {COURSE / 'release'}\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
