"""What each method of the revision does. A handler returns a result, or raises a Rejection."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from fake_servers.completion import complete
from fake_servers.context import Context
from fake_servers.declare import (
    ABSENT,
    NeedInput,
    Output,
    Prompt,
    Resource,
    ResourceTemplate,
    Tool,
    ToolFailure,
    text_block,
)
from fake_servers.mrtr import require
from fake_servers.paging import page
from fake_servers.subscriptions import listen
from fake_servers.validate import problems
from fake_servers.wire import INVALID_PARAMS, Message, Rejection

if TYPE_CHECKING:
    from fake_servers.core import Server

Answer: TypeAlias = Message | NeedInput


@dataclass(frozen=True)
class Method:
    """A handler, and the server capability without which the method does not exist."""

    handle: Callable[[Server, Context], Awaitable[Answer]]
    capability: str | None = None


async def discover(server: Server, context: Context) -> Answer:
    """server/discover: versions, capabilities, instructions."""
    told = {"instructions": server.instructions} if server.instructions else {}
    return {
        "supportedVersions": list(server.versions),
        "capabilities": server.capabilities,
        **told,
        **server.cache_hints,
    }


def listing(key: str, items: Callable[[Server], Sequence[Any]]) -> Callable[..., Awaitable[Answer]]:
    """The handler of a list method: a page of ``items``, with caching hints."""

    async def handle(server: Server, context: Context) -> Answer:
        request = context.request
        wire = [item.to_wire() for item in items(server)]
        cursor = request.params.get("cursor")
        return {**page(request.method, key, wire, cursor, server.page_size), **server.cache_hints}

    return handle


# -- tools ----------------------------------------------------------------------------------------


async def call_tool(server: Server, context: Context) -> Answer:
    """tools/call: a wrong argument is a tool error, for the model to mend (server/tools)."""
    name, arguments = context.request.text("name"), context.request.mapping("arguments")
    tool = _named(server.tools, name, "tool")
    require(context.request.capabilities, tool.requires)
    wrong = problems(tool.input_schema, arguments, root="arguments")
    if wrong:
        return tool_error(server.invalid_arguments(name, wrong))
    try:
        said = await tool.run(arguments, context)
    except ToolFailure as failure:
        return tool_error(str(failure))
    return said if isinstance(said, NeedInput) else _tool_result(tool, said)


def tool_error(text: str) -> Message:
    """A result that says to the model what went wrong."""
    return {"content": [text_block(text)], "isError": True}


def _tool_result(tool: Tool, said: str | Output) -> Message:
    output = Output(said) if isinstance(said, str) else said
    if tool.output_schema is not None and not output.is_error:
        _check_structured(tool, output.structured)
    content = output.content
    if content is None:  # the text copy of structured content
        absent = output.structured is ABSENT
        content = [] if absent else json.dumps(output.structured, ensure_ascii=False)
    result: Message = {"content": [text_block(content)] if isinstance(content, str) else content}
    if output.structured is not ABSENT:
        result["structuredContent"] = output.structured
    return {**result, "isError": output.is_error}


def _check_structured(tool: Tool, structured: Any) -> None:
    if structured is ABSENT:
        raise ValueError(f"{tool.name} has an output schema and returned no structured content")
    wrong = problems(tool.output_schema, structured, root="structuredContent")
    if wrong:
        raise ValueError(f"{tool.name} breaks its output schema: {'; '.join(wrong)}")


# -- resources ------------------------------------------------------------------------------------


async def read_resource(server: Server, context: Context) -> Answer:
    """resources/read: what is not there is -32602, never an empty list (server/resources)."""
    uri = context.request.text("uri")
    found, said = await _read(server, uri, context)
    if isinstance(said, NeedInput):
        return said
    body = (
        {"text": said}
        if isinstance(said, str)
        else {"blob": base64.b64encode(said).decode("ascii")}
    )
    return {
        "contents": [{"uri": uri, "mimeType": found.mime_type, **body}],
        "ttlMs": found.ttl_ms,
        "cacheScope": found.cache_scope,
    }


async def _read(
    server: Server, uri: str, context: Context
) -> tuple[Resource | ResourceTemplate, str | bytes | NeedInput]:
    for resource in server.resources or ():
        if resource.uri == uri:
            return resource, await resource.read(context)
    for template in server.templates:
        variables = match_template(template.uri_template, uri)
        said = None if variables is None else await template.read(variables, context)
        if said is not None:
            return template, said
    raise Rejection(INVALID_PARAMS, "Resource not found", {"uri": uri})


def match_template(template: str, uri: str) -> Mapping[str, str] | None:
    """What ``{names}`` stand for in ``uri``, one path segment each; None when it does not fit."""
    parts = re.split(r"\{(\w+)\}", template)
    pattern = "".join(
        f"(?P<{part}>[^/?#]+)" if i % 2 else re.escape(part) for i, part in enumerate(parts)
    )
    found = re.fullmatch(pattern, uri)
    return found and found.groupdict()


# -- prompts --------------------------------------------------------------------------------------


async def get_prompt(server: Server, context: Context) -> Answer:
    """prompts/get: an unknown name, a missing or unknown argument is -32602 (server/prompts)."""
    name, arguments = context.request.text("name"), context.request.mapping("arguments")
    prompt = _named(server.prompts, name, "prompt")
    _check_prompt_arguments(prompt, arguments)
    said = await prompt.render(arguments, context)
    if isinstance(said, NeedInput):
        return said
    turn = [{"role": "user", "content": text_block(said)}] if isinstance(said, str) else list(said)
    return {"description": prompt.description, "messages": turn}


def _check_prompt_arguments(prompt: Prompt, arguments: Mapping[str, Any]) -> None:
    known = {argument.name for argument in prompt.arguments}
    missing = sorted({a.name for a in prompt.arguments if a.required} - set(arguments))
    unknown = sorted(set(arguments) - known)
    odd = sorted(name for name, value in arguments.items() if not isinstance(value, str))
    for what, names in (("missing", missing), ("unknown", unknown), ("not a string:", odd)):
        if names:
            listed = ", ".join(names)
            raise Rejection(INVALID_PARAMS, f"Invalid params: {what} argument {listed}")


def _named(items: Sequence[Any] | None, name: str, kind: str) -> Any:
    for item in items or ():
        if item.name == name:
            return item
    raise Rejection(INVALID_PARAMS, f"Unknown {kind}: {name}")


METHODS: Mapping[str, Method] = {
    "server/discover": Method(discover),
    "tools/list": Method(listing("tools", lambda s: s.tools or ()), "tools"),
    "tools/call": Method(call_tool, "tools"),
    "resources/list": Method(listing("resources", lambda s: s.resources or ()), "resources"),
    "resources/templates/list": Method(
        listing("resourceTemplates", lambda s: s.templates), "resources"
    ),
    "resources/read": Method(read_resource, "resources"),
    "prompts/list": Method(listing("prompts", lambda s: s.prompts or ()), "prompts"),
    "prompts/get": Method(get_prompt, "prompts"),
    "completion/complete": Method(complete, "completions"),
    "subscriptions/listen": Method(listen, "subscriptions"),
}
"""The whole of what a server answers; one more method is one more row."""
