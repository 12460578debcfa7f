"""A server of revision 2026-07-28, without a wire: a request in, its messages out.

Nothing here knows pipes or sockets; ``memory``, ``stdio`` and ``http`` carry it. Each request is
answered from what it holds itself, and nothing is remembered from one to the next.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from contextlib import aclosing

from fake_servers.completion import completers
from fake_servers.context import Context
from fake_servers.declare import (
    NeedInput,
    Prompt,
    Resource,
    ResourceTemplate,
    Tool,
)
from fake_servers.methods import METHODS
from fake_servers.mrtr import input_required, unseal
from fake_servers.request import Request, read_request
from fake_servers.subscriptions import Listeners
from fake_servers.wire import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    PREFIX,
    VERSION,
    Message,
    Rejection,
    error_message,
    is_request,
    result_message,
)

log = logging.getLogger("fake_servers")

Emit = Callable[[Message], None]


class Server:
    """What is offered, and the answering of one request at a time or many at once.

    ``tools``, ``resources`` and ``prompts`` are lists that may change while the server runs; None
    leaves the capability out. ``page_size`` cuts the lists into pages. ``secret`` signs request
    states: without one they are good for this object only. ``clock`` gives seconds. With
    ``subscriptions`` clients may listen for changes, with ``logs`` for what tools log.
    """

    def __init__(
        self,
        name: str,
        version: str = "1.0.0",
        *,
        tools: Iterable[Tool] | None = None,
        resources: Iterable[Resource] | None = None,
        templates: Iterable[ResourceTemplate] = (),
        prompts: Iterable[Prompt] | None = None,
        instructions: str = "",
        page_size: int | None = None,
        ttl_ms: int = 60_000,
        cache_scope: str = "public",
        versions: Sequence[str] = (VERSION,),
        secret: bytes | None = None,
        subscriptions: bool = False,
        logs: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.info: Message = {"name": name, "version": version}
        self.tools: list[Tool] | None = None if tools is None else list(tools)
        self.resources: list[Resource] | None = None if resources is None else list(resources)
        self.templates: list[ResourceTemplate] = list(templates)
        self.prompts: list[Prompt] | None = None if prompts is None else list(prompts)
        self.instructions = instructions
        self.page_size = page_size
        self.cache_hints: Message = {"ttlMs": ttl_ms, "cacheScope": cache_scope}
        self.versions = tuple(versions)
        self.secret = secret or os.urandom(32)
        self.subscriptions = subscriptions
        self.logs = logs
        self.clock = clock
        self.listeners = Listeners()

    @property
    def capabilities(self) -> Message:
        """What ``server/discover`` declares."""
        offers = {"tools": self.tools, "resources": self.resources, "prompts": self.prompts}
        changes = {"listChanged": True} if self.subscriptions else {}
        declared = {name: dict(changes) for name, found in offers.items() if found is not None}
        if self.subscriptions and "resources" in declared:
            declared["resources"]["subscribe"] = True
        also = {"logging": self.logs, "completions": bool(completers(self))}
        return {**declared, **{name: {} for name, there in also.items() if there}}

    def changed(self, what: str) -> None:
        """Tell who listens that a list changed: "tools", "prompts" or "resources"."""
        self.listeners.tell(f"notifications/{what}/list_changed")

    def updated(self, uri: str) -> None:
        """Tell who listens for it that the resource at ``uri`` has new contents."""
        self.listeners.tell("notifications/resources/updated", uri=uri)

    def invalid_arguments(self, tool: str, wrong: Sequence[str]) -> str:
        """What a tool error says of arguments that break the schema; a subclass may differ."""
        return f"Invalid arguments for {tool}: {'; '.join(wrong)}"

    async def handle(self, message: Message) -> AsyncGenerator[Message, None]:
        """The messages that answer ``message``: notifications, and the response last.

        A notification, and a response (which no client may send), is answered by nothing.
        Closing the iterator cancels the work; wrap it in contextlib.aclosing.
        """
        if not is_request(message):
            return
        async with aclosing(_working(lambda emit: self._respond(message, emit))) as answers:
            async for answer in answers:
                yield answer

    async def _respond(self, message: Message, emit: Emit) -> Message:
        request_id = message.get("id")
        try:
            request = read_request(message, self.versions)
            return result_message(request.id, await self._result(request, emit))
        except Rejection as rejection:
            return error_message(request_id, rejection)
        except Exception:
            log.exception("%s failed", message.get("method"))
            return error_message(request_id, Rejection(INTERNAL_ERROR, "Internal error"))

    async def _result(self, request: Request, emit: Emit) -> Message:
        method = METHODS.get(request.method)
        if method is None or not self._has(method.capability):
            raise self._no_such_method(request)
        said = await method.handle(self, self._context(request, emit))
        if isinstance(said, NeedInput):
            result = input_required(said, request, self.secret, self.clock())
        else:
            result = {"resultType": "complete", **said}
        return {**result, "_meta": {**result.get("_meta", {}), PREFIX + "serverInfo": self.info}}

    def _has(self, capability: str | None) -> bool:
        if capability == "subscriptions":  # no capability of its own: listChanged says it
            return self.subscriptions
        return capability is None or capability in self.capabilities

    def _no_such_method(self, request: Request) -> Rejection:
        return Rejection(
            METHOD_NOT_FOUND,
            f"Method not found: {request.method}; this server speaks {', '.join(self.versions)}",
        )

    def _context(self, request: Request, emit: Emit) -> Context:
        answers = request.mapping("inputResponses")
        if not all(isinstance(answer, dict) for answer in answers.values()):
            raise Rejection(INVALID_PARAMS, 'Invalid params: "inputResponses" holds objects')
        state = None
        if "requestState" in request.params:
            state = unseal(request.text("requestState"), request, self.secret, self.clock())
        return Context(request, emit, answers, state)


async def _working(work: Callable[[Emit], Awaitable[Message]]) -> AsyncGenerator[Message, None]:
    """What ``work`` emits while it runs, then what it returns. Closing this cancels it."""
    said: asyncio.Queue[Message | None] = asyncio.Queue()
    task = asyncio.ensure_future(work(said.put_nowait))
    task.add_done_callback(lambda _: said.put_nowait(None))
    try:
        while (message := await said.get()) is not None:
            yield message
        yield task.result()
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait([task])
