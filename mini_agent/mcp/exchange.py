"""One request and its answer: id, ``_meta``, deadline, progress, version, and whose error it was.

Everything that is the same for every method of MCP 2026-07-28, so that McpClient holds only what
differs.
"""

from __future__ import annotations

import asyncio
import inspect
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from mini_agent.errors import (
    MalformedMessage,
    McpError,
    UnsupportedProtocolVersion,
)
from mini_agent.mcp.messages import PROTOCOL_VERSION, build_meta, build_request, parse_response
from mini_agent.mcp.patience import Alarm, Deadline
from mini_agent.mcp.shapes import server_info
from mini_agent.mcp.transport import NO_ENVELOPE, McpTransport
from mini_agent.trace import Trace
from mini_agent.types import JsonObject

SPOKEN = (PROTOCOL_VERSION,)  # best first
MAY_ASK = ("tools/call", "prompts/get", "resources/read")

Hear: TypeAlias = Callable[[JsonObject], None]


@dataclass
class Waiting:
    """A request in flight that wants progress: whom to tell, and the deadline that moves."""

    on_progress: Hear
    deadline: Deadline
    progress: float = float("-inf")


class Exchange:
    """Requests over one transport. ``timeout`` and ``max_timeout`` are in seconds."""

    def __init__(
        self,
        transport: McpTransport,
        *,
        server: str,
        timeout: float,
        max_timeout: float,
        capabilities: JsonObject,
        client_info: JsonObject,
        on_notification: Hear,
        trace: Trace | None,
    ) -> None:
        self.transport = transport
        self.server = server
        self.timeout = timeout
        self.max_timeout = max_timeout
        self.version = PROTOCOL_VERSION
        self.server_info: JsonObject | None = None
        self.trace = trace
        self._capabilities = capabilities
        self._client_info = client_info
        self._on_notification = on_notification
        self._ids = itertools.count(1)
        self._alarm = Alarm()
        self._waiting: dict[int | str, Waiting] = {}
        transport.listener = self._heard
        transport.trace = trace

    async def request(
        self,
        method: str,
        params: JsonObject | None = None,
        *,
        timeout: float | None = None,
        on_progress: Hear | None = None,
        envelope: Mapping[str, str] = NO_ENVELOPE,
        on_id: Callable[[int], None] | None = None,
    ) -> JsonObject:
        """The result of one request. ``on_id`` gets its id before it leaves.

        A server that refuses the version (-32022) is asked once more with one that it names and
        that is spoken here (basic/versioning).

        Raises: McpError; ValueError for a timeout that is not above 0; TypeError for an async
        ``on_progress``.
        """
        seconds, hear = self.limit(timeout), sync_only("on_progress", on_progress)
        try:
            return await self._once(method, params, seconds, hear, envelope, on_id)
        except UnsupportedProtocolVersion as refusal:
            version = choose_version(refusal.supported)
            if version is None:
                raise
            self.version = version
            return await self._once(method, params, seconds, hear, envelope, on_id)

    def limit(self, timeout: float | None) -> float:
        """How many seconds one request may take. Raises: ValueError for none at all."""
        seconds = self.timeout if timeout is None else timeout
        if not seconds > 0:
            raise ValueError(f"timeout must be above 0 seconds, not {seconds:g}")
        return seconds

    async def _once(
        self,
        method: str,
        params: JsonObject | None,
        seconds: float,
        on_progress: Hear | None,
        envelope: Mapping[str, str],
        on_id: Callable[[int], None] | None = None,
    ) -> JsonObject:
        request_id = next(self._ids)  # never used again, so a late answer finds nobody
        if on_id is not None:
            on_id(request_id)
        meta = build_meta(
            version=self.version,
            capabilities=self._capabilities,
            client_info=self._client_info,
            progress_token=None if on_progress is None else request_id,
        )
        message = build_request(request_id, method, params, meta=meta)
        if self.trace is not None:
            tool = params.get("name", "") if params and method == "tools/call" else ""
            self.note("request", server=self.server, method=method, id=request_id, tool=tool)
        deadline = Deadline(self._alarm, seconds, longest=self.max_timeout)
        if on_progress is not None:
            self._waiting[request_id] = Waiting(on_progress, deadline)
        try:
            with deadline:
                response = await self.transport.send(message, envelope=envelope)
        finally:
            self._waiting.pop(request_id, None)
        self.note("response", method=method, id=request_id)
        return self._result(response or {}, method)

    def _result(self, response: JsonObject, method: str) -> JsonObject:
        result = parse_response(response)
        self.server_info = server_info(result) or self.server_info
        if result.get("resultType") == "input_required" and method not in MAY_ASK:
            raise MalformedMessage(f"input_required in answer to {method}, which may not ask")
        return result

    def _heard(self, message: JsonObject) -> None:
        """Take a message that answers no request. Runs in the transport's reader: never raises."""
        if "method" not in message:  # an answer that nobody waits for any more
            return
        params = message.get("params")
        if message["method"] == "notifications/progress" and isinstance(params, dict):
            self._progressed(params)
        _shielded(self._on_notification, message)

    def _progressed(self, params: JsonObject) -> None:
        token, progress = params.get("progressToken"), params.get("progress")
        waiting = self._waiting.get(token) if isinstance(token, int | str) else None
        if waiting is None or not isinstance(progress, int | float):
            return
        if progress > waiting.progress:  # only real progress may hold the deadline off
            waiting.progress = progress
            waiting.deadline.extend()
            _shielded(waiting.on_progress, params)

    def note(self, what: str, **facts: Any) -> None:
        """Add to the trace, if there is one."""
        if self.trace is not None:
            self.trace.add("client", what, **facts)


class Context:
    """``with Context(exchange, "tools/call", "add"):`` an McpError that passes learns all three."""

    def __init__(self, exchange: Exchange, method: str, tool: str = "") -> None:
        self._exchange, self._method, self._tool = exchange, method, tool

    def __enter__(self) -> None:
        """Nothing happens unless something is raised."""

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        """Fill in what the error does not say yet. It goes on, the same object."""
        if not isinstance(error, McpError) or error.method:
            return
        exchange = self._exchange
        error.server, error.method, error.tool = exchange.server, self._method, self._tool
        if isinstance(error, MalformedMessage):
            error.server_info = exchange.server_info
        code = getattr(error, "code", None)
        exchange.note("error", method=self._method, error=type(error).__name__, code=code)


def choose_version(offered: Sequence[str]) -> str | None:
    """The best version spoken here that the server offers, None when there is none."""
    return next((version for version in SPOKEN if version in offered), None)


def sync_only(name: str, callback: Hear | None) -> Hear | None:
    """``callback`` itself. Raises: TypeError for an async one, which nobody would await."""
    if callback is None:
        return None
    call: Any = type(callback).__call__  # of an object that can be called
    if inspect.iscoroutinefunction(callback) or inspect.iscoroutinefunction(call):
        raise TypeError(f"{name} must be a plain function, not an async one")
    return callback


def _shielded(tell: Hear, message: JsonObject) -> None:
    """Call a caller's callback; what it raises goes to the event loop's exception handler."""
    try:
        tell(message)
    except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - not our function
        text = f"a callback failed on {message.get('method', 'progress')}"
        context = {"message": text, "exception": error}
        asyncio.get_running_loop().call_exception_handler(context)
