"""One server of a host: connected, told of changes, listed afresh when its tools may differ.

Its guarantee: after ``fresh()`` the process that the next call reaches is the one whose list this
is, and the list is as fresh as the server promised.
"""

from __future__ import annotations

import asyncio
import contextlib
import operator
from collections.abc import Iterator

from mini_agent.errors import JsonRpcError, McpError, TransportClosed
from mini_agent.hosting.rounds import before_round
from mini_agent.mcp.client import McpClient
from mini_agent.mcp.shapes import McpTool
from mini_agent.mcp.subscriptions import Subscription
from mini_agent.pin import pin


class Listing:
    """The tools of one server, which the host calls ``name``. It owns ``client``."""

    def __init__(self, name: str, client: McpClient) -> None:
        client.relists = False  # after a fresh list the host compares, before it sends again
        client.before_round = before_round
        self.name = name
        self.client = client
        self._listed_from: object | None = None  # the process, where the transport starts any
        self._known: dict[str, McpTool] = {}  # by pin, as last listed
        self._tools: list[McpTool] = []
        self._watch: asyncio.Task[None] | None = None

    async def connect(self) -> None:
        """Connect, list, and ask to be told of changes where the server says that it tells.

        Raises: McpError, with the host's name of the server.
        """
        with self.named():
            await self.client.connect()
            self._listed_from = self._process()
            self._keep()
            await self._listen()

    async def fresh(self, *, again: bool = False) -> None:
        """List the tools once more, unless the list still holds by the server's ``ttlMs``.

        Asked for anew in any case with ``again``, and where the process is another than the one
        that was listed, or the server no longer tells of changes.

        Raises: McpError, with the host's name of the server.
        """
        deaf = self._watch is not None and self._watch.done()
        with self.named():
            restarted = self._process() is not self._listed_from
            await self.client.list_tools(refresh=again or deaf or restarted)
            self._listed_from = self._process()
            self._keep()
            if self._listed_from is None:
                error = TransportClosed("the server ended when it had listed its tools")
                error.may_have_acted = False
                raise error

    def _keep(self) -> None:
        """A tool that is as it was stays the same object: its schemas are compiled already."""
        pinned = [(pin(tool), tool) for tool in self.client.tools]
        tools = [self._known.get(key, tool) for key, tool in pinned]
        self._known = {key: tool for (key, _), tool in zip(pinned, tools, strict=True)}
        as_it_was = len(tools) == len(self._tools) and all(map(operator.is_, tools, self._tools))
        self._tools = self._tools if as_it_was else tools
        self.client.tools = self._tools

    @contextlib.contextmanager
    def named(self) -> Iterator[None]:
        """Any McpError that passes is about the server by the name that the host gave it."""
        try:
            yield
        except McpError as error:
            error.server = self.name
            raise

    async def close(self) -> None:
        """Close the client, which ends the watch. Idempotent."""
        await self.client.close()
        if self._watch is not None:
            await asyncio.wait([self._watch])

    def _process(self) -> object | None:
        """What the next request reaches; None when it starts a process of its own."""
        transport: object = self.client.transport
        return getattr(transport, "process", transport)

    async def _listen(self) -> None:
        """A server that refuses is asked again as its ``ttlMs`` says."""
        declared = (self.client.capabilities or {}).get("tools")
        tells = isinstance(declared, dict) and declared.get("listChanged") is True
        older = getattr(self.client.transport, "legacy_version", None)  # it tells unasked
        if not tells or older:
            return
        changes = self.client.listen(tools=True)
        with contextlib.suppress(JsonRpcError):
            await changes.__aenter__()
            self._watch = asyncio.create_task(_until_it_ends(changes))


async def _until_it_ends(changes: Subscription) -> None:
    """Read what is told: the client then drops its list, which is all that is needed."""
    with contextlib.suppress(McpError):
        async for _ in changes:
            pass
