"""The review of a server's tools, resources and prompts: what it says, what that hides, what to do.

Everything in a review was written by somebody else, or is read out of what they wrote. It proposes;
a person decides, and the decisions become a policy. The pin notices a tool that changed since.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass

from mini_agent.errors import JsonRpcError
from mini_agent.mcp.client import McpClient
from mini_agent.mcp.messages import PROTOCOL_VERSION
from mini_agent.mcp.shapes import McpTool
from mini_agent.pin import Change, pin
from mini_agent.pins import Pins, PinsError
from mini_agent.reviewing.finding import Finding, quoted
from mini_agent.reviewing.items import Item, Kind, Neighbours, parsed, text_findings, tool_item
from mini_agent.reviewing.questions import Known, Question, ten_questions
from mini_agent.reviewing.review import Review
from mini_agent.types import JsonObject

__all__ = [
    "Catalogue",
    "Change",
    "Finding",
    "Item",
    "Pins",
    "PinsError",
    "Question",
    "Review",
    "pin",
    "review",
    "review_of",
]

METHOD_NOT_FOUND = -32601


@dataclass(frozen=True)
class Catalogue:
    """All that a server says of what it offers. ``carrier`` is "process", "http", or not known."""

    tools: Sequence[McpTool] = ()
    resources: Sequence[JsonObject] = ()
    templates: Sequence[JsonObject] = ()
    prompts: Sequence[JsonObject] = ()
    instructions: str = ""
    info: JsonObject | None = None
    left_out: Sequence[str] = ()
    protocol_version: str = PROTOCOL_VERSION
    carrier: str = ""


async def review(
    client: McpClient,
    *,
    server: str | None = None,
    local_names: Iterable[str] = (),
    others: Iterable[tuple[str, str]] = (),
) -> Review:
    """Read all that ``client``'s server offers; it is connected first where it was not yet.

    ``server`` is the name that the host gives it, by default the client's. Names are compared with
    ``local_names``, the host's own tools, and ``others``, pairs of a server's name and a tool's.

    Raises: McpError; ValueError without a name: its rules would be about local tools.
    """
    name = client.server if server is None else server
    if not isinstance(name, str) or not name:
        raise ValueError("say what the host calls this server: review(client, server=…)")
    fresh = await client.connect() if client.capabilities is None else None
    offered = Catalogue(
        tools=await client.list_tools() if fresh is None else fresh,
        resources=await _list(client.list_resources),
        templates=await _list(client.list_resource_templates),
        prompts=await _list(client.list_prompts),
        instructions=client.instructions,
        info=client.server_info,
        left_out=client.left_out,
        protocol_version=client.protocol_version,
        carrier=carrier_of(client),
    )
    return review_of(name, offered, local_names=local_names, others=others)


async def _list(ask: Callable[[], Awaitable[list[JsonObject]]]) -> list[JsonObject]:
    """A list; nothing where the server declares a capability and not all of its methods."""
    try:
        return await ask()
    except JsonRpcError as error:
        if error.code != METHOD_NOT_FOUND:
            raise
        return []


def carrier_of(client: McpClient) -> str:
    """How the server is reached: "http", "process", or "" when the transport does not say."""
    if client.transport.mirrors_envelope:
        return "http"
    process = getattr(client.transport, "process", client.transport)  # None: none is running yet
    return "" if hasattr(process, "mirrors_envelope") else "process"


def review_of(
    server: str,
    offered: Catalogue,
    *,
    local_names: Iterable[str] = (),
    others: Iterable[tuple[str, str]] = (),
) -> Review:
    """The review of what ``server`` offers. Pure: the same lists give the same review.

    Raises: TypeError for ``local_names`` that are one string: its letters would count as names.
    """
    if isinstance(local_names, str):
        raise TypeError("local_names is a list of names, not one string")
    names = [tool.name for tool in offered.tools]
    foreign = [pair for pair in others if pair[0] != server]
    beside = Neighbours(names, tuple(local_names), foreign)
    items = [tool_item(tool, beside) for tool in offered.tools]
    left_out = list(offered.left_out)
    kinds: tuple[tuple[Kind, Sequence[JsonObject]], ...] = (
        ("resource", offered.resources),
        ("template", offered.templates),
        ("prompt", offered.prompts),
    )
    for kind, entries in kinds:
        more, bad = parsed(kind, entries)
        items, left_out = [*items, *more], [*left_out, *bad]
    about = _about(offered.info)
    known = Known(items, len(left_out), about, offered.protocol_version, offered.carrier)
    said = {"instructions": offered.instructions, "serverInfo": offered.info or {}}
    return Review(
        server,
        tuple(items),
        ten_questions(known),
        tuple(text_findings(said)),
        tuple(left_out),
        about,
        offered.protocol_version,
    )


def _about(info: JsonObject | None) -> str:
    """The name and release that the server gives itself, quoted; "" when it gives none."""
    told = [info.get(key) for key in ("name", "version")] if info else []
    return " ".join(quoted(text, 60) for text in told if isinstance(text, str))
