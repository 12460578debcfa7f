"""The protocol layer: it knows MCP and one transport, and nothing of the loop above.

Its guarantee: every method returns what the server answered, as values, or raises one exception
of mini_agent.errors that names server, method and tool. Revision 2026-07-28.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from mini_agent import __version__
from mini_agent.errors import (
    HeaderMismatch,
    JsonRpcError,
    RequestTimeout,
    TransportClosed,
    UnsupportedProtocolVersion,
)
from mini_agent.mcp.cache import Cache
from mini_agent.mcp.changes import listen_filter
from mini_agent.mcp.contents import parse_contents, parse_prompt, prompt_arguments
from mini_agent.mcp.exchange import Context, Exchange, Hear, choose_version, sync_only
from mini_agent.mcp.headers import mirror_fault, mirrored_headers
from mini_agent.mcp.listening import Listening
from mini_agent.mcp.paging import every_page
from mini_agent.mcp.rounds import InputHandler, until_complete
from mini_agent.mcp.shapes import (
    CallResult,
    McpTool,
    parse_call_result,
    parse_discovery,
    parse_tools,
    ttl_seconds,
)
from mini_agent.mcp.subscriptions import Subscription
from mini_agent.mcp.transport import NO_ENVELOPE, McpTransport
from mini_agent.trace import Trace
from mini_agent.types import JsonObject


class McpClient:
    """One server, reached over one transport.

    ``server`` is the name this host gives it. ``timeout`` (seconds) bounds each request; progress
    extends it, to ``max_timeout`` at most. ``on_input_required`` answers a server that asks for
    more; ``capabilities`` are declared on every request, by default what that handler makes true.
    ``clock`` (seconds) says how old a kept reply is.

    Raises: ValueError for a timeout that is not above 0; TypeError for an async callback.
    """

    relists = True
    """Whether a call that was refused for stale headers is sent again after a fresh list. A host
    that lets nothing be sent to a tool it has not compared sets it to False, and is told instead.
    """
    before_round: Callable[[], Awaitable[None]] | None = None
    """Called before each round of a request after its first; what it raises ends the request."""

    def __init__(
        self,
        transport: McpTransport,
        *,
        server: str = "",
        timeout: float = 30.0,
        max_timeout: float = 600.0,
        on_input_required: InputHandler | None = None,
        on_notification: Hear | None = None,
        capabilities: JsonObject | None = None,
        client_info: JsonObject | None = None,
        trace: Trace | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.capabilities: JsonObject | None = None  # of the server; None: it was not asked
        self.instructions = ""
        self.tools: list[McpTool] = []  # as last listed
        self.left_out: list[str] = []  # why a tool of the server's list is not among them
        self._on_input_required = on_input_required
        self._on_notification = sync_only("on_notification", on_notification)
        self._cache = Cache(clock)
        true_by_handler: JsonObject = {"elicitation": {}} if on_input_required else {}
        self._exchange = Exchange(
            transport,
            server=server,
            timeout=timeout,
            max_timeout=max_timeout,
            capabilities=true_by_handler if capabilities is None else capabilities,
            client_info=client_info or {"name": "mini-agent", "version": __version__},
            on_notification=self._heard,
            trace=trace,
        )
        self._exchange.limit(None)  # a timeout of no seconds is told here, not at the first request
        self._listening = Listening(self._exchange, self._cache.clear)

    @property
    def server(self) -> str:
        """The name that this host gives the server."""
        return self._exchange.server

    @property
    def transport(self) -> McpTransport:
        """The transport that this client owns."""
        return self._exchange.transport

    @property
    def trace(self) -> Trace | None:
        """Where this client and its transport report."""
        return self._exchange.trace

    @property
    def protocol_version(self) -> str:
        """The version that requests carry."""
        return self._exchange.version

    @property
    def server_info(self) -> JsonObject | None:
        """What the server says of itself: for display and logs, never for a decision."""
        return self._exchange.server_info

    # -- start and end ----------------------------------------------------------------------------

    async def connect(self, discover: bool = True) -> list[McpTool]:
        """The host's own start-up step: the protocol itself has no handshake.

        Asks server/discover (unless ``discover`` is False), then every page of tools/list if the
        server has tools. Returns the tools.

        Raises: McpError. Nothing is half connected afterwards: the next connect starts afresh.
        """
        if discover:
            await self._discover()
        return await self.list_tools(refresh=True)

    async def _discover(self) -> None:
        with Context(self._exchange, "server/discover"):
            try:
                found = parse_discovery(await self._exchange.request("server/discover"))
            except (JsonRpcError, TransportClosed, RequestTimeout) as error:
                error.hint = error.hint or "It may speak only a revision before 2026-07-28"
                raise
            version = choose_version(found.versions)
            if version is None:
                data = {"supported": found.versions, "requested": self.protocol_version}
                raise UnsupportedProtocolVersion(-32022, "no version in common", data)
        self._exchange.version = version
        self.capabilities = found.capabilities
        self.instructions = found.instructions

    async def close(self) -> None:
        """End the subscriptions and close the transport. Idempotent, from any task."""
        await self._listening.close()
        await self.transport.close()

    async def __aenter__(self) -> McpClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    # -- tools ------------------------------------------------------------------------------------

    async def list_tools(self, refresh: bool = False) -> list[McpTool]:
        """Every tool of the server that can be used; ``left_out`` says which could not, and why.

        A list still fresh by the server's ``ttlMs`` is not asked for again unless ``refresh``.

        Raises: McpError.
        """
        tools, left_out = parse_tools(await self._list("tools", "tools/list", "tools", refresh))
        if self.transport.mirrors_envelope:
            faults = {tool.name: mirror_fault(tool.input_schema) for tool in tools}
            left_out += [f"tool {name}: {fault}" for name, fault in faults.items() if fault]
            tools = [tool for tool in tools if not faults[tool.name]]
        for why in left_out:
            self._exchange.note("note", text=f"left out: {why}")
        self.tools, self.left_out = tools, left_out
        return tools

    def tool(self, name: str) -> McpTool | None:
        """The tool of that name in the catalogue as last listed."""
        for tool in self.tools:
            if tool.name == name:
                return tool
        return None

    async def call(
        self,
        name: str,
        arguments: JsonObject | None = None,
        *,
        timeout: float | None = None,
        on_progress: Hear | None = None,
        input_responses: JsonObject | None = None,
        request_state: str | None = None,
    ) -> CallResult:
        """Call one tool (server/tools#calling-tools). It is sent once, and never again by itself.

        ``timeout`` in seconds. ``on_progress`` gets the params of each progress notification.
        ``input_responses`` and ``request_state`` go on from an InputRequired.

        Raises: McpError; ValueError for arguments that JSON or a mirrored header cannot carry.
        """
        params = {"name": name, "arguments": arguments or {}}
        given: JsonObject = {}
        if input_responses is not None:
            given["inputResponses"] = input_responses
        if request_state is not None:
            given["requestState"] = request_state
        with Context(self._exchange, "tools/call", name):
            result = await self._complete("tools/call", params, given, timeout, on_progress)
            if result.get("content") is None:
                self._exchange.note("note", text="the result has no content: read as empty")
            return parse_call_result(result, self.tool(name))

    # -- resources and prompts --------------------------------------------------------------------

    async def list_resources(self, refresh: bool = False) -> list[JsonObject]:
        """Every resource, as the server describes it; [] from a server that declares none."""
        return await self._list("resources", "resources/list", "resources", refresh)

    async def list_resource_templates(self, refresh: bool = False) -> list[JsonObject]:
        """Every resource template; [] from a server that declares no resources."""
        key = "resourceTemplates"
        return await self._list("resources", "resources/templates/list", key, refresh)

    async def read_resource(self, uri: str, *, timeout: float | None = None) -> list[JsonObject]:
        """The contents behind ``uri`` (server/resources): blocks with ``text`` or base64 ``blob``.

        Raises: McpError; an unknown resource is a JsonRpcError of -32602 (older servers: -32002).
        """
        contents = self._cache.get("resources/read", uri)
        if contents is None:
            with Context(self._exchange, "resources/read"):
                result = await self._complete("resources/read", {"uri": uri}, {}, timeout)
                contents = parse_contents(result)
            self._cache.keep("resources/read", uri, contents, ttl_seconds(result))
        return list(contents)

    async def list_prompts(self, refresh: bool = False) -> list[JsonObject]:
        """Every prompt; [] from a server that declares none."""
        return await self._list("prompts", "prompts/list", "prompts", refresh)

    async def get_prompt(
        self, name: str, arguments: Mapping[str, str] | None = None, *, timeout: float | None = None
    ) -> JsonObject:
        """One prompt, filled in: an object with ``messages`` (server/prompts).

        Raises: McpError; TypeError for an argument that is no string.
        """
        params = {"name": name, "arguments": prompt_arguments(arguments)}
        with Context(self._exchange, "prompts/get", name):
            return parse_prompt(await self._complete("prompts/get", params, {}, timeout))

    # -- changes ----------------------------------------------------------------------------------

    def listen(
        self,
        *,
        tools: bool = False,
        prompts: bool = False,
        resources: bool = False,
        uris: Sequence[str] = (),
    ) -> Subscription:
        """Be told when a list, or a resource of ``uris``, changes (basic/patterns/subscriptions).

            async with client.listen(tools=True) as changes:
                async for change in changes: …

        What was kept of it is dropped as well, so the next list is a fresh one.

        Raises: ValueError when nothing is asked for; McpError when it is opened or read.
        """
        wanted = listen_filter(tools=tools, prompts=prompts, resources=resources, uris=uris)
        return self._listening.subscription(wanted)

    # -- what they share --------------------------------------------------------------------------

    async def _list(self, capability: str, method: str, key: str, refresh: bool) -> list[Any]:
        if self.capabilities is not None and capability not in self.capabilities:
            return []
        items = None if refresh else self._cache.get(method)
        if items is None:
            with Context(self._exchange, method):
                ask = functools.partial(self._exchange.request, method)
                items, seconds = await every_page(ask, key)
            self._cache.keep(method, "", items, seconds)
        return list(items)

    async def _complete(
        self,
        method: str,
        params: JsonObject,
        given: JsonObject,
        timeout: float | None,
        on_progress: Hear | None = None,
    ) -> JsonObject:
        """A request that the server may answer with "not yet" (basic/patterns/mrtr).

        ``given`` is what the first round adds to ``params``.
        """

        async def ask(extra: JsonObject) -> JsonObject:
            if extra is not given and self.before_round is not None:
                await self.before_round()
            return await self._ask(method, {**params, **extra}, timeout, on_progress)

        seconds, longest = self._exchange.limit(timeout), self._exchange.max_timeout
        if on_progress is not None:  # which may move each request's deadline that far
            seconds = max(seconds, longest)
        return await until_complete(
            ask, self._on_input_required, given, seconds=seconds, longest=longest
        )

    async def _ask(
        self, method: str, params: JsonObject, timeout: float | None, on_progress: Hear | None
    ) -> JsonObject:
        """One round; once more with a fresh catalogue where the headers did not fit the tool."""
        again = False
        while True:
            headers = self._envelope(method, params)
            try:
                return await self._exchange.request(
                    method, params, timeout=timeout, on_progress=on_progress, envelope=headers
                )
            except HeaderMismatch:
                # Refused before acting: our list is stale (streamable-http#client-behavior).
                if again or not self.relists:
                    raise
                again = True
            await self.list_tools(refresh=True)

    def _envelope(self, method: str, params: JsonObject) -> Mapping[str, str]:
        if method != "tools/call" or not self.transport.mirrors_envelope:
            return NO_ENVELOPE
        tool = self.tool(params["name"])
        return mirrored_headers(tool.input_schema, params["arguments"]) if tool else NO_ENVELOPE

    def _heard(self, message: JsonObject) -> None:
        params = message.get("params")
        uri = params.get("uri", "") if isinstance(params, dict) else ""
        self._cache.told(message["method"], uri if isinstance(uri, str) else "")
        self._listening.heard(message)
        if self._on_notification is not None:
            self._on_notification(message)
