"""The whole path with what is done: a widget where there is one, and the same as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from exercises.machine.store import Done
from exercises.machine.task import Set, Task

COLUMNS = "repeat(auto-fill, minmax(34em, 1fr))"  # two side by side where there is room
WHOLE = {"overflow": "visible"}


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
        return f"{task.id}  {state:<6}  {task.plain_title}, {task.minutes} min{seen}"

    def _passed(self, tasks: Sequence[Task]) -> int:
        return sum(task.id in self._done.passed for task in tasks)

    def widget(self) -> Any:
        """A bar for each set, its tasks below it.

        Raises: ImportError without ipywidgets.
        """
        import ipywidgets as w

        columns = w.Layout(grid_template_columns=COLUMNS, grid_gap="0.8em 1.5em")
        grid = w.GridBox([self._set_box(w, one) for one in self._sets], layout=columns)
        return w.VBox([grid, _label(w, self.total)])

    def _set_box(self, w: Any, one: Set) -> Any:
        passed = self._passed(one.tasks)
        narrow = w.Layout(width="5em", height="1em", margin="0 0.6em 0 0", flex="none")
        bar = w.IntProgress(value=passed, max=len(one.tasks), layout=narrow)
        line = w.Layout(align_items="center", **WHOLE)
        head = w.HBox([bar, _label(w, self._set_line(one), bold=True)], layout=line)
        lines = [
            _label(w, self._task_line(task), bold=task.id in self._done.passed)
            for task in one.tasks
        ]
        return w.VBox([head, *lines], layout=w.Layout(**WHOLE))

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        try:
            bundle: dict[str, Any] = self.widget()._repr_mimebundle_()
        except ImportError:
            bundle = {}
        return {**bundle, "text/plain": self.text}


def _label(w: Any, text: str, *, bold: bool = False) -> Any:
    """A line of the widget. Wide spaces, since a page makes one of several narrow ones."""
    close = w.Layout(margin="-4px 0", flex="none")  # to the next line, without cutting off a g
    weight = {"font_weight": "bold"} if bold else {}
    return w.Label(text.replace("  ", "\u2003"), layout=close, style=weight)
