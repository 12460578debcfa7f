"""What each exposed name stands for: whose tool, as it was last listed, and the way to it."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from mini_agent.approval import Decision, HostCall
from mini_agent.hosting.fills import Fill, without
from mini_agent.hosting.listings import Listing
from mini_agent.hosting.naming import Key, exposed_names
from mini_agent.mcp.adapter import argument_fault, mcp_tool_to_tool
from mini_agent.mcp.client import McpClient
from mini_agent.mcp.resources import READ_RESOURCE, resource_tool
from mini_agent.mcp.shapes import McpTool
from mini_agent.pin import pin
from mini_agent.types import JsonObject, Tool, ToolResult, ToolSpec

OnGone: TypeAlias = Callable[[str, McpTool], object]
"""Told the server's name here and the tool that it no longer has."""


@dataclass(frozen=True)
class Route:
    """``name`` → (``server``, ``tool``, ``pin``). ``send`` is the adapter's, or the local tool.

    What this program describes itself has "" for pin: a local tool, which has no ``listing`` and
    "" for server, and the tool that reads a server's resources.
    """

    name: str
    server: str
    tool: McpTool
    pin: str
    send: Tool
    listing: Listing | None = None
    fills: tuple[Fill, ...] = ()

    @property
    def spec(self) -> ToolSpec:
        """What the model is told: nothing of what the host fills in."""
        own = self.send.spec
        hidden = [fill.argument for fill in self.fills]
        return replace(own, input_schema=without(own.input_schema, hidden))

    @property
    def client(self) -> McpClient | None:
        """The server's client, None for a local tool."""
        return None if self.listing is None else self.listing.client

    async def execute(self, arguments: JsonObject) -> ToolResult:
        """Send it, with nobody asked.

        Raises: McpError, with the host's name of the server; what a local tool raises.
        """
        if self.listing is None:
            return await self.send.execute(arguments)
        with self.listing.named():
            return await self.send.execute(arguments)

    def call(self, call_id: str, given: JsonObject, decision: Decision) -> HostCall:
        """The call as the model gave it: what the host fills in is not in it yet."""
        return HostCall(
            call_id,
            self.name,
            given,
            server=self.server,
            tool=self.tool.name,
            pin=self.pin,
            decision=decision,
        )

    def fault(self, given: JsonObject, call: HostCall) -> str:
        """Why ``call``, made of what the model gave, must not be sent; "" when it may."""
        for fill in self.fills:
            if fill.argument in given:
                return f"{fill.argument} is for the host to fill in, not for the model"
        mirrored = self.client is not None and self.client.transport.mirrors_envelope
        return argument_fault(self.tool, call.input, mirrored=mirrored)


class Routes:
    """The routes by exposed name, local tools first, always as the servers were last listed.

    A server of ``resources_of`` that offers any has one tool more, which reads them.
    """

    def __init__(
        self,
        listings: Iterable[Listing],
        local: Iterable[Tool] = (),
        fills: Iterable[Fill] = (),
        on_gone: OnGone = lambda server, tool: None,
        resources_of: Collection[str] = (),
    ) -> None:
        self._listings = tuple(listings)
        self._local = {tool.spec.name: tool for tool in local}
        self._fills = tuple(fills)
        self._on_gone = on_gone
        self._resources_of = frozenset(resources_of)
        self._made_of: list[Sequence[McpTool]] | None = None
        self._made: Mapping[str, Route] = {}

    def __call__(self) -> Mapping[str, Route]:
        """The routes now. A route lasts as long as the list that it was made of."""
        lists: list[Sequence[McpTool]] = [listing.client.tools for listing in self._listings]
        if self._made_of is None or not all(map(operator.is_, lists, self._made_of)):
            self._made, self._made_of = self._make(), lists
        return self._made

    def of(self, server: str, tool: str) -> Route | None:
        """The route to that server's tool, None when it no longer lists it."""
        routes = self().values()
        return next((r for r in routes if (r.server, r.tool.name) == (server, tool)), None)

    def client(self, server: str) -> McpClient | None:
        """The client of that server, None where there is none of that name."""
        return next((at.client for at in self._listings if at.name == server), None)

    def _make(self) -> Mapping[str, Route]:
        found: dict[Key, tuple[Listing, McpTool]] = {}
        for listing in self._listings:
            for tool in self._tools_of(listing):  # of two with one name the first counts
                found.setdefault((listing.name, tool.name), (listing, tool))
        names = exposed_names(found, self._local)
        made = [local_route(tool) for tool in self._local.values()]
        made += [self._route(names[key], *found[key]) for key in found]
        return {route.name: route for route in made}

    def _tools_of(self, listing: Listing) -> list[McpTool]:
        offers = "resources" in (listing.client.capabilities or {})
        reads = offers and listing.name in self._resources_of
        return [READ_RESOURCE, *listing.client.tools] if reads else listing.client.tools

    def _route(self, name: str, listing: Listing, tool: McpTool) -> Route:
        where = (listing.name, tool.name)
        fills = tuple(fill for fill in self._fills if (fill.server, fill.tool) == where)
        if tool is READ_RESOURCE:
            read = resource_tool(listing.client, name=name)
            return Route(name, listing.name, tool, "", read, listing, fills)
        gone = functools.partial(self._on_gone, listing.name)
        send = mcp_tool_to_tool(listing.client, tool, name=name, on_gone=gone)
        return Route(name, listing.name, tool, pin(tool), send, listing, fills)


def local_route(tool: Tool) -> Route:
    """The route to a tool of this program."""
    spec = tool.spec
    return Route(spec.name, "", McpTool(spec.name, spec.description, spec.input_schema), "", tool)
