"""Replies kept as long as the server allows, by method and parameters.

Revision 2026-07-28, server/utilities/caching. A cache belongs to one client, that is to one
server and one identity, so a private reply never crosses to another.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

FRESH_UNTIL_TOLD = {
    "notifications/tools/list_changed": ("tools/list",),
    "notifications/prompts/list_changed": ("prompts/list",),
    "notifications/resources/list_changed": ("resources/list", "resources/templates/list"),
}


class Cache:
    """Values by (method, key), each fresh for its own number of seconds. ``clock`` in seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._kept: dict[tuple[str, str], tuple[float, Any]] = {}

    def get(self, method: str, key: str = "") -> Any:
        """The kept value while it is fresh, else None."""
        until, value = self._kept.get((method, key), (0.0, None))
        return value if self._clock() < until else None

    def keep(self, method: str, key: str, value: Any, seconds: float) -> None:
        """Keep ``value``; 0 seconds keeps nothing."""
        if seconds > 0:
            self._kept[method, key] = (self._clock() + seconds, value)
        else:
            self._kept.pop((method, key), None)

    def clear(self) -> None:
        """Drop everything."""
        self._kept.clear()

    def told(self, notification: str, uri: str = "") -> None:
        """Drop what a change notification makes stale."""
        stale = FRESH_UNTIL_TOLD.get(notification, ())
        for entry in list(self._kept):
            if entry[0] in stale or entry == ("resources/read", uri):
                del self._kept[entry]
