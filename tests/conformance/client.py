"""The driver that the official conformance suite runs: one scenario, one server, McpClient.

    python tests/conformance/client.py URL

``MCP_CONFORMANCE_SCENARIO`` names the scenario, ``MCP_CONFORMANCE_CONTEXT`` (JSON) holds what it
needs. Exit code 0 when the scenario's steps could be taken; the suite judges what was sent.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any

from signing_in import auth_for

from mini_agent.errors import McpError
from mini_agent.mcp import HttpTransport, McpClient


async def answer_all(requests: dict[str, Any]) -> dict[str, Any]:
    """Accept every elicitation, filling in one value of the right type for each field."""
    return {key: accept(request.get("params", {})) for key, request in requests.items()}


def accept(params: dict[str, Any]) -> dict[str, Any]:
    fields = params.get("requestedSchema", {}).get("properties", {})
    return {"action": "accept", "content": {name: sample(field) for name, field in fields.items()}}


def sample(schema: dict[str, Any]) -> Any:
    """A value that fits ``schema``."""
    if "default" in schema:
        return schema["default"]
    if "enum" in schema:
        return schema["enum"][0]
    return {"integer": 1, "number": 1.0, "boolean": True}.get(schema.get("type", ""), "text")


async def lists_and_calls(client: McpClient, context: dict[str, Any]) -> None:
    """List the tools and call each with arguments that fit its schema."""
    for tool in await client.connect():
        fields = tool.input_schema.get("properties", {})
        given = {name: sample(field) for name, field in fields.items() if isinstance(field, dict)}
        await client.call(tool.name, given)


async def adds(client: McpClient, context: dict[str, Any]) -> None:
    """Call add_numbers(5, 3)."""
    await client.connect()
    await client.call("add_numbers", {"a": 5, "b": 3})


async def reads_everything(client: McpClient, context: dict[str, Any]) -> None:
    """Every kind of request that carries standard headers."""
    await lists_and_calls(client, context)
    for resource in await client.list_resources():
        await client.read_resource(resource["uri"])
    for prompt in await client.list_prompts():
        await client.get_prompt(
            prompt["name"], {a["name"]: "x" for a in prompt.get("arguments", [])}
        )


async def replays(client: McpClient, context: dict[str, Any]) -> None:
    """The tool calls that the context lists."""
    await client.connect()
    for call in context["toolCalls"]:
        await client.call(call["name"], call["arguments"])


async def echoes(client: McpClient, context: dict[str, Any]) -> None:
    """Send back the schema of the one tool as an argument of the other, to see what is lost."""
    await client.connect()
    (focal,) = [tool for tool in client.tools if tool.name != "json_schema_echo"]
    await client.call("json_schema_echo", {"schema": focal.input_schema})


async def only_lists(client: McpClient, context: dict[str, Any]) -> None:
    """List the tools: what must not happen is a fetch."""
    await client.connect()


STEPS = {
    "tools_call": adds,
    "http-standard-headers": reads_everything,
    "http-custom-headers": replays,
    "json-schema-ref-no-deref": only_lists,
    "json-schema-2020-12-preservation": echoes,
}


async def main(url: str, scenario: str, context: dict[str, Any]) -> None:
    """Take the scenario's steps."""
    transport = HttpTransport(url, auth=await auth_for(scenario, context, url))
    async with McpClient(transport, server="suite", on_input_required=answer_all) as client:
        await STEPS.get(scenario, lists_and_calls)(client, context)


if __name__ == "__main__":
    try:
        asyncio.run(
            main(
                sys.argv[-1],
                os.environ.get("MCP_CONFORMANCE_SCENARIO", ""),
                json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}")),
            )
        )
    except McpError as error:
        sys.exit(f"{type(error).__name__}: {error}")
