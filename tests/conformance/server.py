"""The server that the official conformance suite judges: the fakes' own core, showing all it can.

    python tests/conformance/server.py          prints its URL, and serves until it is ended

The names, texts and keys are the suite's; the rules behind them are the core's.
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Mapping
from typing import Any

from asked import ASKS, ask_for_context
from shown import AUDIO, BYTES, EMBEDDED, MIXED, PICTURE, SCHEMA, resource, text

from fake_servers.context import Context
from fake_servers.core import Server
from fake_servers.declare import (
    Output,
    Prompt,
    PromptArgument,
    Resource,
    ResourceTemplate,
    Tool,
    ToolFailure,
    ToolRun,
)
from fake_servers.http import serve

# -- tools ----------------------------------------------------------------------------------------


def shows(*content: dict[str, Any]) -> ToolRun:
    """A tool function that always gives this content."""

    async def run(arguments: dict[str, Any], context: Context) -> Output:
        return Output(list(content))

    return run


async def fails(arguments: dict[str, Any], context: Context) -> str:
    raise ToolFailure("This tool intentionally returns an error for testing")


async def reports(arguments: dict[str, Any], context: Context) -> str:
    for percent in (0, 50, 100):
        await context.progress(percent, 100)
    return "done"


async def logs(arguments: dict[str, Any], context: Context) -> str:
    await context.log("info", "this tool was called")
    return "logged, if that was asked for"


class Changing:
    """Two tools that change the lists of their own server, and say so."""

    server: Server

    async def tools(self, arguments: dict[str, Any], context: Context) -> str:
        extra = Tool("test_comes_and_goes", "Here every other time.", shows(text("here")))
        toggle(self.server.tools or [], extra)
        self.server.changed("tools")
        return "the list of tools changed"

    async def prompts(self, arguments: dict[str, Any], context: Context) -> str:
        toggle(self.server.prompts or [], Prompt("test_comes_and_goes", "Comes and goes.", simple))
        self.server.changed("prompts")
        return "the list of prompts changed"


def toggle(items: list[Any], item: Any) -> None:
    """Take ``item`` out of the list, or put it in."""
    known = [there for there in items if there.name == item.name]
    items[:] = [there for there in items if there not in known] + ([] if known else [item])


def tools(changing: Changing) -> list[Tool]:
    """Every tool that a scenario asks for."""
    simple_text = text("This is a simple text response for testing.")
    runs: dict[str, ToolRun] = {
        "test_simple_text": shows(simple_text),
        "test_image_content": shows(PICTURE),
        "test_audio_content": shows(AUDIO),
        "test_embedded_resource": shows(EMBEDDED),
        "test_multiple_content_types": shows(text("Multiple content types test:"), PICTURE, MIXED),
        "test_error_handling": fails,
        "test_tool_with_progress": reports,
        "test_logging_tool": logs,
        "test_trigger_tool_change": changing.tools,
        "test_trigger_prompt_change": changing.prompts,
        **ASKS,
    }
    return [
        *(Tool(name, about(name), run) for name, run in runs.items()),
        *(Tool(name, about(name), shows(simple_text), **more) for name, more in DECLARED.items()),
    ]


def about(name: str) -> str:
    return f"For the scenario of {name}."


DECLARED: dict[str, dict[str, Any]] = {
    "test_missing_capability": {"requires": {"sampling": {}}},
    "json_schema_2020_12_tool": {"input_schema": SCHEMA},
    "test_custom_headers": {
        "input_schema": {
            "type": "object",
            "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
        }
    },
}


# -- resources and prompts ------------------------------------------------------------------------


async def static_text(context: Context) -> str:
    return "This is the content of the static text resource."


async def static_binary(context: Context) -> bytes:
    return base64.b64decode(BYTES)


async def templated(variables: Mapping[str, str], context: Context) -> str:
    found = {"id": variables["id"], "templateTest": True, "data": f"Data for ID: {variables['id']}"}
    return json.dumps(found)


async def simple(arguments: Mapping[str, str], context: Context) -> str:
    return "This is a simple prompt for testing."


async def with_arguments(arguments: Mapping[str, str], context: Context) -> str:
    return f"Prompt with arguments: arg1='{arguments['arg1']}', arg2='{arguments['arg2']}'"


async def with_resource(arguments: Mapping[str, str], context: Context) -> list[dict[str, Any]]:
    embedded = resource(arguments["resourceUri"], "Embedded resource content for testing.")
    return [says(embedded), says(text("Please process the embedded resource above."))]


async def with_image(arguments: Mapping[str, str], context: Context) -> list[dict[str, Any]]:
    return [says(PICTURE), says(text("Please analyze the image above."))]


def says(content: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": content}


async def begins_with(typed: str, given: Mapping[str, str]) -> list[str]:
    return [word for word in ("paris", "park", "party") if word.startswith(typed)]


def argument(name: str) -> PromptArgument:
    return PromptArgument(name, f"The argument {name}.", required=True, complete=begins_with)


PROMPTS = (
    Prompt("test_simple_prompt", "No arguments.", simple),
    Prompt(
        "test_prompt_with_arguments", "Two arguments.", with_arguments,
        [argument("arg1"), argument("arg2")],
    ),
    Prompt(
        "test_prompt_with_embedded_resource", "A resource.", with_resource,
        [argument("resourceUri")],
    ),
    Prompt("test_prompt_with_image", "A picture.", with_image),
    Prompt("test_input_required_result_prompt", "Asks first.", ask_for_context),
)  # fmt: skip
RESOURCES = (
    Resource("test://static-text", "static-text", static_text),
    Resource("test://static-binary", "static-binary", static_binary, mime_type="image/png"),
)
TEMPLATES = (
    ResourceTemplate(
        "test://template/{id}/data", "template", templated, mime_type="application/json"
    ),
)


def conformance_server() -> Server:
    """The server, with nothing changed yet."""
    changing = Changing()
    server = Server(
        "conformance", tools=tools(changing), resources=RESOURCES, templates=TEMPLATES,
        prompts=PROMPTS, subscriptions=True, logs=True,
    )  # fmt: skip
    changing.server = server
    return server


async def main() -> None:
    """Serve on a free port of 127.0.0.1."""
    async with serve(conformance_server()) as running:
        print(running.url, flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
