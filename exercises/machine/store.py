"""What a learner has done, as one small JSON file: whole or not there, and forgiving.

    {"passed": ["02.1"], "hints": {"02.2": 1}}

A file that is torn or gone counts as nothing done, and never stops a check. One that cannot be read
is kept beside the new one, under ``.damaged``. Two notebooks may note something at once.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
WORK = "MINI_AGENT_WORK"  # the environment variable that moves a learner's folder elsewhere
TRIES, PAUSE = 100, 0.01  # seconds between two tries to have the folder alone
NOT_KEPT = "(This could not be noted in {path}: {why}.)"


def work_folder() -> Path:
    """Where a learner's copies and progress are: ``work/exercises`` of the repository."""
    return Path(os.environ.get(WORK) or ROOT / "work") / "exercises"


def progress_file() -> Path:
    """The file of what is done."""
    return work_folder() / "progress.json"


@dataclass(frozen=True)
class Done:
    """The ids of the tasks that passed, and how many hints of which were shown."""

    passed: frozenset[str] = frozenset()
    hints: dict[str, int] = field(default_factory=dict)


def read(path: Path) -> Done:
    """What the file says, as far as it can be read. Never raises for what stands in it."""
    try:
        held = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return Done()
    if not isinstance(held, dict):
        return Done()
    passed, hints = held.get("passed"), held.get("hints")
    return Done(
        frozenset(name for name in passed if isinstance(name, str))
        if isinstance(passed, list)
        else frozenset(),
        {name: n for name, n in hints.items() if type(n) is int and 0 < n <= 3}
        if isinstance(hints, dict)
        else {},
    )


def is_json(path: Path) -> bool:
    """Could anything be read out of the file?"""
    try:
        json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return True


def change(path: Path, how: Callable[[Done], Done]) -> str:
    """Read, change, write as a whole; "" or why it could not be written.

    Nothing is written when nothing changed.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with alone_in(path.parent):
            before = read(path)
            after = how(before)
            if after != before:
                write(path, after)
    except OSError as error:
        return NOT_KEPT.format(path=path, why=error.strerror or type(error).__name__)
    return ""


@contextlib.contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """One kernel at a time, so that none writes over what another has just noted.

    The folder itself is locked, which leaves no file behind and ends with the process. Where that
    does not exist (Windows, some network drives), or is not given within a second, the last of two
    that write in the same millisecond wins.
    """
    handle = None
    with contextlib.suppress(ImportError, OSError):
        import fcntl

        handle = os.open(folder, os.O_RDONLY)
        for _ in range(TRIES):
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            time.sleep(PAUSE)
    try:
        yield
    finally:
        if handle is not None:
            os.close(handle)


def write(path: Path, done: Done) -> None:
    """The file, whole. What stood there and cannot be read is kept.

    Raises: OSError.
    """
    held = {"passed": sorted(done.passed), "hints": dict(sorted(done.hints.items()))}
    new = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        if path.is_file() and not is_json(path):
            os.replace(path, path.with_name(f"{path.name}.damaged"))
        new.write_text(json.dumps(held, indent=1) + "\n", encoding="utf-8")
        os.replace(new, path)
    except OSError:
        with contextlib.suppress(OSError):
            new.unlink()
        raise


def note_pass(path: Path, task_id: str) -> str:
    """That a task passed."""
    return change(path, lambda done: replace(done, passed=done.passed | {task_id}))


def note_hint(path: Path, task_id: str, level: int) -> str:
    """That hints up to ``level`` were shown."""

    def add(done: Done) -> Done:
        return replace(done, hints={**done.hints, task_id: max(level, done.hints.get(task_id, 0))})

    return change(path, add)


def forget(path: Path, ids: frozenset[str]) -> str:
    """That these tasks were begun at all."""

    def drop(done: Done) -> Done:
        hints = {name: n for name, n in done.hints.items() if name not in ids}
        return Done(done.passed - ids, hints)

    return change(path, drop)
