"""Tasks with checks that answer, for the notebooks of the workbook.

    from exercises import check, hint, progress, reset, solution, start

    check("04.2", my_function)     every part of the check: expected, came, the idea behind it
    hint("04.2")                   the next of three hints
    solution("04.2")               after a pass, or with anyway=True
    progress()                     the whole path with what is done
    reset("04")                    that notebook again, yours kept beside it
    start()                        copies of all of them in work/exercises

No check needs ``await``: an async task is given its coroutine function, and runs in a loop of its
own. How that is done, and how to write a task: exercises/README.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from exercises.machine.overview import Overview
    from exercises.machine.verdict import Said, Verdict

__all__ = ["check", "hint", "progress", "reset", "solution", "start"]


def check(task_id: str, answer: Any) -> Verdict:
    """What every part of a task's check says about ``answer``. A pass is noted in work/.

    Nothing that the answer does is an error here: its exceptions, a loop without end, a value of
    another type are findings.

    Raises: ValueError for an id that no task has; KeyboardInterrupt when you stop the cell.
    """
    from dataclasses import replace

    from exercises.machine import store
    from exercises.machine.judge import judge
    from exercises.machine.shelf import get_task

    verdict = judge(get_task(task_id), answer)
    note = store.note_pass(store.progress_file(), task_id) if verdict.passed else ""
    return replace(verdict, note=note)


def hint(task_id: str, level: int | None = None) -> Said:
    """The next hint for a task, or the one of a level from 1 to 3. Each says more.

    Raises: ValueError for an id that no task has, or another level.
    """
    from exercises.machine import store
    from exercises.machine.shelf import get_task
    from exercises.machine.verdict import Said, wrapped

    task, path = get_task(task_id), store.progress_file()
    if level not in (None, 1, 2, 3):
        raise ValueError(f"there are hints 1, 2 and 3, and no {level!r}")
    chosen = level or min(store.read(path).hints.get(task_id, 0) + 1, 3)
    note = store.note_hint(path, task_id, chosen)
    words = f"Hint {chosen} of 3. {task.hints[chosen - 1]}"
    last = f'`solution("{task_id}", anyway=True)` shows the solution.' if chosen == 3 else ""
    said = list(filter(None, [words, last, note]))
    return Said("\n".join(map(wrapped, said)), "\n\n".join(said))


def solution(task_id: str, anyway: bool = False) -> Said:
    """One way to write it: after a pass, or ``anyway``.

    Raises: ValueError for an id that no task has.
    """
    from exercises.machine import store
    from exercises.machine.shelf import get_task
    from exercises.machine.verdict import Said

    task = get_task(task_id)
    if not anyway and task_id not in store.read(store.progress_file()).passed:
        return Said(
            f"{task.plain_heading}\nNot passed yet.\n\n"
            f'hint("{task_id}") gives a hint.\n'
            f'solution("{task_id}", anyway=True) shows it all the same.'
        )
    return Said(task.solution_text, f"```python\n{task.solution_text}\n```")


def progress() -> Overview:
    """Every task of every notebook, and what is done."""
    from exercises.machine import store
    from exercises.machine.overview import Overview
    from exercises.machine.shelf import all_sets

    return Overview(all_sets(), store.read(store.progress_file()))


def reset(number: str) -> Said:
    """A fresh copy of one notebook, for example "04"; its tasks count as not begun.

    Yours is kept beside it. If it is open, close it and open it again.

    Raises: ValueError for a number that no set has; OSError when work/ cannot be written.
    """
    from exercises.machine import copies, store
    from exercises.machine.shelf import get_set
    from exercises.machine.verdict import Said

    one = get_set(number)
    lines = copies.start_again(one.name, store.work_folder())
    note = store.forget(store.progress_file(), frozenset(task.id for task in one.tasks))
    lines.append("if it is open, close it without saving and open it again;")
    lines.append("if JupyterLab asks about a changed file first, press Revert")
    return Said("\n".join(filter(None, [*lines, note])))


def start() -> Said:
    """A copy of every exercise notebook in work/exercises, and of the capstone's server.

    The notebooks that they link to go to work/notebooks. One that you changed stays as it is.

    Raises: OSError when work/ cannot be written.
    """
    from exercises.machine import copies, store
    from exercises.machine.verdict import Said

    return Said("\n".join(copies.bring(store.work_folder())))
