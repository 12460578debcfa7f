"""The sets that are tested: all, or with SET=04 in the environment those whose name begins so.

The capstone belongs to no notebook and has tests of its own.
"""

from __future__ import annotations

import os

from exercises.machine.shelf import get_set, set_names
from exercises.machine.task import Set, Task

SETS: list[Set] = [
    get_set(name)
    for name in set_names()
    if name[0].isdigit() and name.startswith(os.environ.get("SET", ""))
]
TASKS: list[Task] = [task for one in SETS for task in one.tasks]
