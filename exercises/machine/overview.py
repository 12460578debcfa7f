"""The whole path with what is done: a widget where there is one, and the same as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from exercises.machine.store import Done
from exercises.machine.task import Set, Task


class Overview:
    """For the last line of a cell. ``text`` says all that the widget shows."""

    def __init__(self, sets: Sequence[Set], done: Done) -> None:
        self._sets = sets
        self._done = done

    @property
    def text(self) -> str:
        """A line for each set, one for each of its tasks, and the sum."""
        lines = [line for one in self._sets for line in self._set_lines(one)]
        return "\n".join([*lines, "", self.total])

    @property
    def total(self) -> str:
        """How many of all tasks passed."""
        tasks = [task for one in self._sets for task in one.tasks]
        return f"{self._passed(tasks)} of {len(tasks)} tasks passed."

    def _set_lines(self, one: Set) -> list[str]:
        tasks = [f"    {self._task_line(task)}" for task in one.tasks]
        return [self._set_line(one), *tasks]

    def _set_line(self, one: Set) -> str:
        count = f"{self._passed(one.tasks)} of {len(one.tasks)}"
        return f"{one.number}  {count}  {one.question}"

    def _task_line(self, task: Task) -> str:
        state = "passed" if task.id in self._done.passed else "to do"
        hints = self._done.hints.get(task.id, 0)
        seen = f" ({hints} hint{'s' * (hints > 1)} seen)" if hints else ""
        return f"{task.id}  {state:<6}  {task.title}, {task.minutes} min{seen}"

    def _passed(self, tasks: Sequence[Task]) -> int:
        return sum(task.id in self._done.passed for task in tasks)

    def widget(self) -> Any:
        """A bar for each set, its tasks below it.

        Raises: ImportError without ipywidgets.
        """
        import ipywidgets as w

        rows = []
        for one in self._sets:
            bar = w.IntProgress(value=self._passed(one.tasks), max=len(one.tasks))
            head = w.HBox([bar, w.Label(self._set_line(one))])
            rows += [head, *(w.Label("\u2003\u2003" + self._task_line(task)) for task in one.tasks)]
        return w.VBox([*rows, w.Label(self.total)])

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        try:
            bundle: dict[str, Any] = self.widget()._repr_mimebundle_()
        except ImportError:
            bundle = {}
        return {**bundle, "text/plain": self.text}
