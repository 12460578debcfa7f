"""What a task's file uses: from exercises.machine import Set, Task, expect, refused, require, …"""

from exercises.machine.expect import (
    Unmet,
    doing,
    expect,
    refused,
    refused_async,
    require,
    shown,
    why_red,
)
from exercises.machine.task import Set, Task

__all__ = [
    "Set",
    "Task",
    "Unmet",
    "doing",
    "expect",
    "refused",
    "refused_async",
    "require",
    "shown",
    "why_red",
]
