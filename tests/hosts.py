"""Hosts to test with: services in memory that keep what reached them, joined under given names."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from fake_servers.context import Context
from fake_servers.core import Server
from fake_servers.declare import Output, Tool
from fake_servers.memory import InMemoryTransport
from fake_servers.wire import Message
from mini_agent.agent import AgentResult, run_agent
from mini_agent.approval import Policy
from mini_agent.host import Host
from mini_agent.mcp.client import McpClient
from mini_agent.model_client import ScriptedModel
from mini_agent.types import Text, ToolCall

ALLOW = Policy([], default="allow")
ASK = Policy([])
NOTHING: Mapping[str, Any] = {}
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


class Service:
    """A server whose ``tools`` echo. ``got`` is what reached them, as (tool, arguments).

    ``of_client`` goes to the client, everything else to the server. ``told`` is set when the client
    has heard that the list of tools has changed.
    """

    def __init__(self, *tools: str, of_client: Mapping[str, Any] = NOTHING, **options: Any) -> None:
        self.got: list[tuple[str, Message]] = []
        self.server = Server("service", version="3.1", **options)
        self.server.tools = [self.tool(name) for name in tools]
        self.transport = InMemoryTransport(self.server)
        self.told = asyncio.Event()
        self.client = McpClient(self.transport, on_notification=self._heard, **of_client)

    def _heard(self, message: Message) -> None:
        if message["method"] == "notifications/tools/list_changed":
            self.told.set()

    def tool(self, name: str, description: str = "Echoes.", **options: Any) -> Tool:
        async def run(arguments: Message, context: Context) -> str | Output:
            self.got.append((name, arguments))
            return await self.answer(arguments)

        return Tool(name, description, run, **{"input_schema": TEXT, **options})

    async def answer(self, arguments: Message) -> str | Output:
        """What each tool says; to be replaced."""
        return str(arguments["text"])

    def offer(self, *tools: Tool) -> None:
        """From now on the server has these tools."""
        self.server.tools = list(tools)

    async def announce(self, *tools: Tool) -> None:
        """The same, and the client is told."""
        self.offer(*tools)
        self.server.changed("tools")
        await self.told.wait()

    @property
    def methods(self) -> list[str]:
        """The requests that reached the server, in order."""
        sent = (entry.message for entry in self.transport.transcript if entry.sender == "client")
        return [message["method"] for message in sent]


def joined(services: Mapping[str, Service], **options: Any) -> Host:
    """A host of these services, which allows everything unless told otherwise."""
    clients = {name: service.client for name, service in services.items()}
    return Host(clients, **{"policy": ALLOW, **options})


def names(host: Host) -> list[str]:
    return [tool.spec.name for tool in host.tools]


def say(name: str, text: Any = "hello", call_id: str = "toolu_1") -> ToolCall:
    return ToolCall(call_id, name, {"text": text})


async def asked(host: Host, *calls: ToolCall, **options: Any) -> AgentResult:
    """One run in which the model makes these calls in one turn."""
    model = ScriptedModel([list(calls), [Text("Done.")]])
    return await run_agent(
        "Go.", model=model, tools=host.tools, before_tool_call=host.before_tool_call, **options
    )


def results(ran: AgentResult) -> Sequence[tuple[str, bool]]:
    """The tool results of a run, as (text, is it an error)."""
    blocks = [block for message in ran.messages for block in message["content"]]
    return [
        (block["content"], bool(block.get("is_error")))
        for block in blocks
        if block["type"] == "tool_result"
    ]
