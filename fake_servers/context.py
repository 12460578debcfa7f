"""What a tool, resource or prompt function is given beside its arguments."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from fake_servers.request import LOG_LEVELS, Request
from fake_servers.validate import problems
from fake_servers.wire import Message, notification


class Context:
    """One request's surroundings.

    ``input_responses`` and ``state`` are what the client brought on a retry ({} and None on the
    first call); ``state`` has been verified.
    """

    def __init__(
        self,
        request: Request,
        emit: Callable[[Message], None],
        input_responses: Mapping[str, Message] | None = None,
        state: Any = None,
    ) -> None:
        self.request = request
        self.input_responses = input_responses or {}
        self.state = state
        self._emit = emit
        self._last = float("-inf")

    async def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Report progress; nothing is sent unless the client gave a token (patterns/progress).

        Raises: ValueError when the value does not increase.
        """
        if progress <= self._last:
            raise ValueError(f"progress must increase: {progress} after {self._last}")
        self._last = progress
        if self.request.progress_token is None:
            return
        optional = {"total": total, "message": message}
        params = {
            "progressToken": self.request.progress_token,
            "progress": progress,
            **{name: value for name, value in optional.items() if value is not None},
        }
        self.say("notifications/progress", **params)
        await asyncio.sleep(0)  # the message leaves before the work goes on

    async def log(self, level: str, data: Any) -> None:
        """Tell the client something; nothing is sent unless it asked for that level or a lower one.

        Deprecated since 2026-07-28 (server/utilities/logging): stderr is the place for it.
        """
        least = self.request.log_level
        if least is not None and LOG_LEVELS.index(level) >= LOG_LEVELS.index(least):
            self.say("notifications/message", level=level, data=data)
            await asyncio.sleep(0)

    def say(self, method: str, **params: Any) -> None:
        """Send a notification on this request's stream, before its response."""
        self._emit(notification(method, params))

    def accepted(self, key: str, schema: Message | None = None) -> Message | None:
        """The content that the user gave for the elicitation ``key``.

        None when there is no answer, it was declined, or it breaks ``schema``: ask again then.
        """
        answer = self.input_responses.get(key, {})
        content = answer.get("content")
        if answer.get("action") != "accept" or not isinstance(content, dict):
            return None
        return None if schema is not None and problems(schema, content) else content
