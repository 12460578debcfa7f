"""What MCP messages hold: tools, results, discovery. Wire shapes in, values or exceptions out.

The pydantic models are the boundary: they judge what came, and are used nowhere else. Schemas and
content blocks stay raw dicts, as the server sent them.
"""

from __future__ import annotations

import enum
import functools
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StrictStr, ValidationError

from mini_agent.errors import MalformedMessage
from mini_agent.mcp.messages import META, excerpt
from mini_agent.mcp.schemas import SchemaError, Validator
from mini_agent.types import JsonObject


class Absent(enum.Enum):
    """The mark for a ``structuredContent`` that was not there: null is a value of its own."""

    ABSENT = "absent"

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT = Absent.ABSENT
LONGEST_TTL = 86_400  # seconds


@dataclass(frozen=True)
class McpTool:
    """One entry of tools/list (server/tools). ``annotations`` are the server's claims, unproven."""

    name: str
    description: str = ""
    input_schema: JsonObject = field(default_factory=lambda: {"type": "object"})
    output_schema: JsonObject | None = None
    annotations: JsonObject = field(default_factory=dict)
    title: str = ""

    @functools.cached_property
    def input_validator(self) -> Validator:
        """The compiled ``input_schema``."""
        return Validator(self.input_schema)

    @functools.cached_property
    def output_validator(self) -> Validator | None:
        """The compiled ``output_schema``, None when the tool declares none."""
        return None if self.output_schema is None else Validator(self.output_schema)


@dataclass  # not frozen: each call makes one, and it would take three times as long
class CallResult:
    """The outcome of tools/call: content blocks as sent, structured content or ABSENT."""

    content: list[JsonObject] = field(default_factory=list)
    structured_content: Any = ABSENT
    is_error: bool = False


@dataclass(frozen=True)
class Discovery:
    """The outcome of server/discover. ``server_info`` is what the server says of itself."""

    versions: list[str]
    capabilities: JsonObject
    instructions: str
    server_info: JsonObject | None


Shape = TypeVar("Shape", bound=BaseModel)


class _Wire(BaseModel):
    model_config = ConfigDict(extra="allow")


class _InputSchema(_Wire):
    type: Literal["object"]
    properties: dict[str, dict[str, Any] | bool] = {}
    required: list[StrictStr] = []


class _Tool(_Wire):
    name: Annotated[StrictStr, Field(min_length=1)]
    title: StrictStr | None = None
    description: StrictStr | None = None
    inputSchema: _InputSchema
    outputSchema: dict[str, Any] | None = None
    annotations: dict[str, Any] | None = None


class _Discover(_Wire):
    supportedVersions: list[StrictStr]
    capabilities: dict[str, Any] = {}
    instructions: StrictStr | None = None


class _InputRequired(_Wire):
    inputRequests: dict[str, dict[str, Any]] | None = None
    requestState: StrictStr | None = None


def _judge(shape: type[Shape], value: Any, what: str) -> Shape:
    """``value`` as ``shape``, or MalformedMessage saying which field is wrong."""
    try:
        return shape.model_validate(value)
    except ValidationError as cause:
        first = cause.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(step) for step in first["loc"])
        told = f"{where}: {first['msg']}" if where else first["msg"]
        raise MalformedMessage(f"{what} is malformed: {told}", excerpt=excerpt(value)) from cause


def parse_tool(raw: Any) -> McpTool:
    """One tool of a list. Its schema is judged only as far as the model's API would refuse it.

    Raises: MalformedMessage naming the tool and what is wrong with it.
    """
    name = raw.get("name") if isinstance(raw, dict) else None
    tool = _judge(_Tool, raw, f"tool {excerpt(name)}" if name else "a tool")
    return McpTool(
        name=tool.name,
        title=tool.title or "",
        description=tool.description or "",
        input_schema=raw["inputSchema"],
        output_schema=tool.outputSchema,
        annotations=tool.annotations or {},
    )


def parse_tools(items: list[Any]) -> tuple[list[McpTool], list[str]]:
    """The good tools, and a sentence for each bad one: one bad tool does not hide the others."""
    tools: list[McpTool] = []
    left_out: list[str] = []
    for item in items:
        try:
            tools.append(parse_tool(item))
        except MalformedMessage as why:
            left_out.append(str(why))
    return tools, left_out


def parse_call_result(result: JsonObject, tool: McpTool | None = None) -> CallResult:
    """The outcome of tools/call. An absent ``content`` is read as empty (real servers do it).

    ``structuredContent`` must fit the tool's output schema when the call succeeded; on an error
    the schema does not apply (server/tools#output-schema).

    Raises: MalformedMessage for any other wrong shape.
    """
    content = _blocks(result)
    is_error = result.get("isError")
    if is_error is not None and not isinstance(is_error, bool):
        raise MalformedMessage('"isError" must be true or false', excerpt=excerpt(is_error))
    structured = result.get("structuredContent", ABSENT)
    if tool is not None and not is_error:
        _check_output(tool, structured)
    return CallResult(content, structured, is_error or False)


def _blocks(result: JsonObject) -> list[JsonObject]:
    """By hand, since every call comes through here: a third of what a model of it would cost."""
    content = result.get("content")
    if content is None:
        return []
    if not isinstance(content, list):
        raise MalformedMessage('"content" must be a list', excerpt=excerpt(content))
    for block in content:
        if not isinstance(block, dict) or not isinstance(block.get("type"), str):
            raise MalformedMessage("a content block has no type", excerpt=excerpt(block))
    return content


def _check_output(tool: McpTool, structured: Any) -> None:
    if tool.output_validator is None:
        return
    if structured is ABSENT:
        raise MalformedMessage(
            f"{tool.name} declares an output schema but sent no structuredContent"
        )
    try:
        fault = tool.output_validator.fault(structured)
    except SchemaError as cause:
        raise MalformedMessage(f"the output schema of {tool.name} is unusable: {cause}") from cause
    if fault:
        raise MalformedMessage(
            f"structuredContent of {tool.name} breaks its output schema {fault}",
            excerpt=excerpt(structured),
        )


def parse_discovery(result: JsonObject) -> Discovery:
    """The outcome of server/discover.

    Raises: MalformedMessage when versions or capabilities are missing or of a wrong type.
    """
    shape = _judge(_Discover, result, "the result of server/discover")
    return Discovery(
        shape.supportedVersions, shape.capabilities, shape.instructions or "", server_info(result)
    )


def server_info(result: JsonObject) -> JsonObject | None:
    """What the server says of itself in ``_meta`` (or, as some do, in the result), else None."""
    meta = result.get("_meta")
    info = meta.get(f"{META}serverInfo") if isinstance(meta, dict) else None
    info = info or result.get("serverInfo")
    return info if isinstance(info, dict) else None


def parse_page(result: JsonObject, key: str) -> tuple[list[Any], str | None]:
    """The items of one page and the cursor of the next; "" is a cursor, None ends the list.

    Raises: MalformedMessage when ``key`` is no list or ``nextCursor`` no string.
    """
    items, cursor = result.get(key), result.get("nextCursor")
    if not isinstance(items, list):
        raise MalformedMessage(f'"{key}" must be a list', excerpt=excerpt(result))
    if cursor is not None and not isinstance(cursor, str):
        raise MalformedMessage('"nextCursor" must be a string', excerpt=excerpt(cursor))
    return items, cursor


def parse_input_required(result: JsonObject) -> tuple[JsonObject, str | None]:
    """``(inputRequests, requestState)`` of an input_required result (basic/patterns/mrtr).

    Raises: MalformedMessage when there is neither a request nor a state, or a wrong type.
    """
    shape = _judge(_InputRequired, result, "an input_required result")
    if not shape.inputRequests and shape.requestState is None:
        raise MalformedMessage(
            "an input_required result needs inputRequests or requestState", excerpt=excerpt(result)
        )
    return shape.inputRequests or {}, shape.requestState


def ttl_seconds(result: JsonObject) -> float:
    """How long a result may be kept, in seconds; 0 for an absent, negative or odd ``ttlMs``.

    LONGEST_TTL at most: a server that says more is asked again after that.
    """
    ttl = result.get("ttlMs")
    if not isinstance(ttl, int | float) or isinstance(ttl, bool):
        return 0.0
    return min(max(0, ttl), LONGEST_TTL * 1000) / 1000
