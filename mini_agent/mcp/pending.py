"""Who waits for which answer: the table of requests in flight on one stream of messages.

Guarantee: every request that was added is settled, once: by its answer, by ``drop``, or by
``fail_all``; and whoever comes after ``fail_all`` fails too.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import TypeAlias

from pydantic_core import from_json

from mini_agent.errors import McpError
from mini_agent.mcp.messages import is_request_id
from mini_agent.types import JsonObject

RequestId: TypeAlias = int | str
MakeError: TypeAlias = Callable[[], McpError]  # a fresh one for each: they share no traceback


class InFlight:
    """Requests by id. The ids 1 and "1" differ, as they do on the wire."""

    def __init__(self) -> None:
        self._waiting: dict[RequestId, asyncio.Future[JsonObject]] = {}
        self._dropped: deque[RequestId] = deque(maxlen=1000)
        self._make_error: MakeError | None = None

    @property
    def over(self) -> bool:
        """True after ``fail_all``."""
        return self._make_error is not None

    @property
    def one(self) -> bool:
        """True while a single request waits."""
        return len(self._waiting) == 1

    def add(self, request_id: RequestId) -> asyncio.Future[JsonObject]:
        """The future of that request's answer.

        Raises: ValueError for an id in use or none at all; after ``fail_all``, its error.
        """
        if request_id is None or not is_request_id(request_id):
            raise ValueError(f"a request id is a string or an integer, not {request_id!r}")
        if request_id in self._waiting:
            raise ValueError(f"request id {request_id!r} is in use by a request in flight")
        if self._make_error is not None:
            raise self._make_error()
        future = self._waiting[request_id] = asyncio.get_running_loop().create_future()
        return future

    def drop(self, request_id: RequestId) -> bool:
        """Nobody waits for it any more. True when its answer had not come."""
        if self._waiting.pop(request_id, None) is None:
            return False
        self._dropped.append(request_id)
        return True

    def answer(self, message: JsonObject) -> str:
        """Give a response to whoever waits for it; "" or the reason why nobody took it."""
        request_id = message.get("id")
        future = None if request_id is None else self._waiting.pop(request_id, None)
        if future is None:
            return "late" if request_id in self._dropped else "no such request"
        if not future.done():
            future.set_result(message)
        return ""

    def fail(self, request_id: RequestId, error: McpError) -> None:
        """Let one request fail."""
        future = self._waiting.pop(request_id, None)
        if future is not None and not future.done():
            future.set_exception(error)

    def fail_all(self, make_error: MakeError) -> None:
        """Let every request fail, and each that still comes. The first reason stays."""
        self._make_error = self._make_error or make_error
        for request_id in list(self._waiting):
            self.fail(request_id, self._make_error())

    def owner(self, line: bytes) -> RequestId | None:
        """The id in flight that a broken response names, None when the line names none."""
        try:
            value = from_json(line, allow_inf_nan=False)
        except ValueError:
            return None
        if not isinstance(value, dict) or "method" in value:
            return None
        request_id = value.get("id")
        return request_id if is_request_id(request_id) and request_id in self._waiting else None
