"""What mini_agent.judges has on record of those that ``make peers`` brings is what they say."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import peers
import pytest
from test_older_servers import BEFORE, begins_with_the_handshake, everything, started, text

from fake_servers.calendar import calendar_server
from fake_servers.http import serve
from mini_agent.judges import on_record
from mini_agent.mcp import McpClient

pytestmark = pytest.mark.timeout(110)

CALENDAR = [sys.executable, "-P", "-m", "fake_servers.calendar"]
MODERN = ("--protocol-era", "modern")
QUIET = ("--quiet", "--format", "json")

# A server that lists a tool rightly, and answers its call with a text that is not there.
BROKEN = """
import json, sys
ANSWERS = {
    "server/discover": {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}},
    "tools/list": {"tools": [{"name": "look", "inputSchema": {"type": "object"}}]},
    "tools/call": {"content": [{"type": "text"}]},
}
INFO = {"io.modelcontextprotocol/serverInfo": {"name": "broken", "version": "1"}}
for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        more = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private", "_meta": INFO}
        said = {"jsonrpc": "2.0", "id": asked["id"], "result": {**ANSWERS[asked["method"]], **more}}
        print(json.dumps(said), flush=True)
"""


def said_by(judge: str) -> tuple[str, ...]:
    return on_record()[judge].said


# -- servers of the older handshake ---------------------------------------------------------------


async def older_servers(folder: Path) -> AsyncIterator[str]:
    for over in ("stdio", "http"):
        async with everything(over) as client:
            said = text(await client.call("echo", {"message": "hello"}))
            yield f"{greeted('server-everything', client)} over {over}, and says {said!r}"
    async with started("server-filesystem", str(folder)) as client:
        path = {"path": "/etc/hostname"}
        outside = await client.call("read_text_file", path)
        refused = "refused" if outside.is_error else "read"
        yield f"{greeted('server-filesystem', client)}; a file outside its folder is {refused}"
    memory = {"env": {"MEMORY_FILE_PATH": str(folder / "memory.jsonl")}}
    async with started("server-memory", **memory) as client:
        desk = {"name": "refund desk", "entityType": "service", "observations": []}
        await client.call("create_entities", {"entities": [desk]})
        graph = json.loads(text(await client.call("read_graph")))
        yield f"{greeted('server-memory', client)}, and remembers {graph['entities'][0]['name']!r}"
    async with started("sqlite", "--db-path", str(folder / "a.db")) as client:
        await client.call("create_table", {"query": "CREATE TABLE notes (said TEXT)"})
        told = text(await client.call("list_tables"))
        yield f"{greeted('mcp-server-sqlite', client)}, and has the tables {told}"


def greeted(name: str, client: McpClient) -> str:
    assert begins_with_the_handshake(client)
    return f"{name} speaks {BEFORE}"


@pytest.mark.speaks(BEFORE)
async def test_servers_of_the_older_handshake_are_reached_as_it_is_on_record(
    tmp_path: Path,
) -> None:
    assert tuple([line async for line in older_servers(tmp_path)]) == said_by("older servers")


# -- MCP Inspector --------------------------------------------------------------------------------


async def inspected(*words: str) -> tuple[int, Any]:
    """What Inspector's command line ends with, and the JSON that it says."""
    process = await asyncio.create_subprocess_exec(
        *peers.inspector(*words, *QUIET),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    return process.returncode or 0, json.loads(out if process.returncode == 0 else err)


async def asked(*words: str) -> tuple[int, Any]:
    return await inspected(*CALENDAR, *MODERN, "--method", *words)


def names(said: Any) -> str:
    return ", ".join(tool["name"] for tool in said["result"]["tools"])


def refusal(code: int, said: Any) -> str:
    """Inspector's own word for it, or where it has none, how its message begins or ends."""
    word, message = said["error"]["code"], said["error"]["message"]
    why = re.search(r"^Invalid result for \S+(?=:)|this server speaks \S+$", message)
    return f"exit code {code}, {why[0] if why else word}"


async def inspections(folder: Path) -> AsyncIterator[str]:
    _, said = await asked("tools/list")
    yield f"tools/list: {names(said)}"
    query = ("tools/call", "--tool-name", "calendar_query", "--tool-arg", "date=2026-08-03")
    _, said = await asked(*query)
    found = said["result"]["structuredContent"]["appointments"]
    yield f"tools/call calendar_query: {len(found)} appointments"
    delete = ("tools/call", "--tool-name", "calendar_delete", "--tool-arg", "id=apt-99")
    none = refusal(*await asked(*delete))
    yield f"tools/call calendar_delete, of an id that is not there: {none}"
    _, said = await asked("resources/read", "--uri", "calendar://today")
    yield f"resources/read calendar://today: {said['result']['contents'][0]['mimeType']}"
    _, said = await asked("prompts/get", "--prompt-name", "plan_day")
    yield f"prompts/get plan_day: a message of the {said['result']['messages'][0]['role']}"
    async with serve(calendar_server()) as running:
        _, said = await inspected(running.url, *MODERN, "--method", "tools/list")
    yield f"tools/list over HTTP: {names(said)}"
    config = folder / "desktop.json"
    entry = {"command": CALENDAR[0], "args": CALENDAR[1:]}
    config.write_text(json.dumps({"mcpServers": {"calendar": entry}}), "utf-8")
    named = ("--config", str(config), "--server", "calendar", "--method", "tools/list")
    _, said = await inspected(*named, "--protocol-era", "auto")
    yield f"started from a configuration for desktop hosts: {names(said)}"
    yield f"with the older handshake: {refusal(*await inspected(*named))}"
    look = ("--method", "tools/call", "--tool-name", "look")
    broken = await inspected(sys.executable, "-c", BROKEN, *MODERN, *look)
    yield f"from a broken server, a text block without its text: {refusal(*broken)}"


async def test_inspector_says_of_the_calendar_what_is_on_record(tmp_path: Path) -> None:
    if why := peers.why_missing("inspector"):
        pytest.skip(why)
    assert tuple([line async for line in inspections(tmp_path)]) == said_by("MCP Inspector")
