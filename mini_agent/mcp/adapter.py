"""The seam where a foreign tool becomes ours: it knows both shapes, and nothing else.

Its guarantee: what the model may see comes back as a ToolResult, what only the host may see goes
on as the exception it was. One translation crosses: a tool that is gone.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from typing import Any

from mini_agent.errors import JsonRpcError, McpError
from mini_agent.mcp.client import McpClient
from mini_agent.mcp.headers import mirrored_headers
from mini_agent.mcp.messages import INVALID_PARAMS, encode, excerpt
from mini_agent.mcp.schemas import SchemaError
from mini_agent.mcp.shapes import ABSENT, CallResult, McpTool
from mini_agent.types import JsonObject, Tool, ToolResult, ToolSpec

LONGEST_NAME = 64
LONGEST_RESULT = 50_000  # characters; what is cut is said


def format_result(result: CallResult) -> str:
    """What the model reads: text as text, structured content as JSON when there is no text.

    Images, audio and binary resources become a one-line note, never base64. An empty result says
    that it is empty. Longer than LONGEST_RESULT characters is cut, and the cut is visible.
    """
    parts = [_format_block(block) for block in result.content]
    has_text = any(block["type"] == "text" and block.get("text") for block in result.content)
    if result.structured_content is not ABSENT and not has_text:
        compact = (",", ":")  # a model's text is paid for by its length
        parts.append(json.dumps(result.structured_content, ensure_ascii=False, separators=compact))
    text = "\n".join(part for part in parts if part) or "(no content)"
    if len(text) <= LONGEST_RESULT:
        return text
    return f"{text[:LONGEST_RESULT]}\n[cut: {len(text) - LONGEST_RESULT} more characters]"


def _format_block(block: JsonObject) -> str:
    match block:
        case {"type": "text", "text": str(text)}:
            return text
        case {"type": "image" | "audio" as kind, "data": str(data)}:
            return f"[{kind}: {_type(block)}, {_bytes(data)} bytes, not shown]"
        case {"type": "resource_link", "uri": str(uri)}:
            told = (block.get("name"), block.get("description"))
            return f"[link: {' - '.join(excerpt(text, 500) for text in (uri, *told) if text)}]"
        case {"type": "resource", "resource": {"uri": str(uri), "text": str(text)}}:
            return f"[resource: {excerpt(uri, 500)}]\n{text}"
        case {"type": "resource", "resource": {"uri": str(uri), "blob": str(blob)} as inner}:
            return f"[resource: {excerpt(uri, 500)}, {_type(inner)}, {_bytes(blob)} bytes]"
    return f"[a content block of type {block['type']!r:.40} that cannot be shown]"


def _type(block: JsonObject) -> str:
    return excerpt(block.get("mimeType") or "no type")  # one line, whatever the server wrote


def _bytes(base64_text: str) -> int:
    return max(0, len(base64_text) * 3 // 4 - base64_text[-2:].count("="))


def model_name(name: str) -> str:
    """``name`` as the model's API takes it: letters, digits, ``_`` and ``-``, at most 64 of them.

    A name that had to be changed ends in a hash of the whole, so that two names stay two, and the
    same tomorrow.
    """
    safe = re.sub(r"[^A-Za-z0-9_-]", "_", name)
    if safe == name and len(name) <= LONGEST_NAME:
        return name
    return f"{safe[: LONGEST_NAME - 9]}_{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def mcp_tool_to_tool(
    client: McpClient,
    tool: McpTool,
    *,
    name: str | None = None,
    format_result: Callable[[CallResult], str] = format_result,
    on_gone: Callable[[McpTool], Any] | None = None,
) -> Tool:
    """A Tool for the loop that calls ``tool`` of ``client``; ``name`` is what the model is told.

    Arguments that break ``tool.input_schema`` are a tool error, and nothing is sent. So is a tool
    that the server's fresh list no longer holds; ``on_gone`` is then told. Its ``execute``

    Raises: McpError, for everything that is not the model's to see.
    """
    schema = {"properties": {}, **tool.input_schema}  # some model APIs insist on it
    spec = ToolSpec(name or model_name(tool.name), tool.description, schema)

    def note(what: str, **facts: Any) -> None:
        if client.trace is not None:
            client.trace.add("adapter", what, tool=tool.name, **facts)

    async def execute(arguments: JsonObject) -> ToolResult:
        fault = argument_fault(tool, arguments, mirrored=client.transport.mirrors_envelope)
        if fault:
            note("refused", reason=fault)
            return ToolResult(f"{spec.name} was not called: {fault}", is_error=True)
        note("call")
        try:
            result = await client.call(tool.name, arguments)
        except JsonRpcError as refusal:
            if refusal.code != INVALID_PARAMS or not await is_gone(client, tool):
                note("error", error=type(refusal).__name__)
                raise
            note("gone")
            if on_gone is not None:
                on_gone(tool)
            return ToolResult(f"{spec.name}: this tool is no longer available", is_error=True)
        except McpError as error:
            note("error", error=type(error).__name__)
            raise
        note("result", is_error=result.is_error)
        return ToolResult(format_result(result), result.is_error)

    return Tool(spec, execute)


def argument_fault(tool: McpTool, arguments: JsonObject, *, mirrored: bool = False) -> str:
    """Why these arguments must not be sent, naming path and rule; "" when they may.

    ``mirrored`` says that annotated arguments travel in headers too, which hold less than JSON.
    """
    unsendable = _unsendable(arguments)
    if unsendable:
        return unsendable
    try:
        fault = tool.input_validator.fault(arguments)
        if mirrored and not fault:
            mirrored_headers(tool.input_schema, arguments)
    except SchemaError as unusable:
        return f"the server's input schema for it is unusable: {unusable}"
    except ValueError as unsafe:
        return str(unsafe)
    return fault and f"its arguments do not fit, {fault}"


def _unsendable(arguments: JsonObject) -> str:
    """Which argument JSON cannot say (NaN, half a character, nesting without end), "" for none."""
    for name, value in arguments.items() if isinstance(arguments, dict) else ():
        try:
            encode({name: value})
        except (ValueError, RecursionError) as cause:
            return f"argument {excerpt(name)} cannot be sent: {cause}"
    return ""


async def is_gone(client: McpClient, tool: McpTool) -> bool:
    """True when a fresh tools/list no longer holds the tool. A list that fails proves nothing."""
    try:
        tools = await client.list_tools(refresh=True)
    except McpError:
        return False
    return all(listed.name != tool.name for listed in tools)
