"""Where the sets and their tasks are found: folders of exercises/sets, one file a task.

``s04_stdio/`` holds ``SET`` in its ``__init__``, and ``t1_….py``, ``t2_….py`` with a ``TASK`` each.
``scapstone/`` is the one that belongs to no notebook.
Only what is asked for is imported.
"""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import replace
from types import ModuleType

from exercises import sets as folder
from exercises.machine.task import Set, Task


def set_names() -> list[str]:
    """The names of all sets, ``04_stdio`` for the folder ``s04_stdio``, in order."""
    found = pkgutil.iter_modules(folder.__path__)
    return sorted(module.name[1:] for module in found if module.ispkg and module.name[0] == "s")


def get_set(name: str) -> Set:
    """The set with that name or number, its tasks in order.

    Raises: ValueError when there is none, naming those there are.
    """
    for known in set_names():
        if name in (known, number_of(known)):
            package = importlib.import_module(f"{folder.__name__}.s{known}")
            tasks = tuple(module.TASK for module in task_modules(package))
            found: Set = package.SET
            return replace(found, tasks=tasks)
    numbers = ", ".join(number_of(known) for known in set_names())
    raise ValueError(f"there is no set {name!r}; there are {numbers}")


def number_of(name: str) -> str:
    """How a set is named in short."""
    return Set(name, "", "").number


def task_modules(package: ModuleType) -> list[ModuleType]:
    """The modules of a set that hold a task each, in order."""
    names = sorted(module.name for module in pkgutil.iter_modules(package.__path__))
    wanted = [name for name in names if name[0] == "t" and name[1:2].isdigit()]
    return [importlib.import_module(f"{package.__name__}.{name}") for name in wanted]


def get_task(task_id: str) -> Task:
    """The task with that id.

    Raises: ValueError when there is none, naming those of its set.
    """
    if not isinstance(task_id, str):
        raise ValueError(f'a task is named by a text like "04.2", not by {task_id!r}')
    tasks = get_set(task_id.partition(".")[0]).tasks
    for task in tasks:
        if task.id == task_id:
            return task
    raise ValueError(f"there is no task {task_id!r}; there are {', '.join(t.id for t in tasks)}")


def all_sets() -> list[Set]:
    """Every set with its tasks."""
    return [get_set(name) for name in set_names()]
