"""The configuration for a desktop host that notebook 18 shows: it starts the calendar."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import nbformat

from mini_agent.judges import ROOT
from mini_agent.mcp import McpClient, StdioTransport

PLACE = "/path/to/this/kit/.venv/bin/python"  # what a reader replaces


def shown() -> dict[str, Any]:
    """The snippet as the notebook prints it, parsed."""
    notebook = nbformat.read(ROOT / "notebooks" / "18_real_servers.ipynb", as_version=4)
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    [text] = [said for output in outputs if '"mcpServers"' in (said := output.get("text", ""))]
    parsed: dict[str, Any] = json.loads(text)
    return parsed


def test_it_holds_one_server_with_a_command_and_arguments() -> None:
    assert shown().keys() == {"mcpServers"}
    [(name, entry)] = shown()["mcpServers"].items()
    assert name == "calendar" and entry.keys() == {"command", "args"}


async def test_what_it_names_is_started_from_another_folder_and_answers(tmp_path: Path) -> None:
    (tmp_path / "fake_servers").mkdir()  # a package of that name there is not what is meant
    (tmp_path / "fake_servers" / "__init__.py").write_text("raise SystemExit(1)\n", "utf-8")
    entry = shown()["mcpServers"]["calendar"]
    assert entry["command"] == PLACE
    transport = StdioTransport([sys.executable, *entry["args"]], cwd=tmp_path)
    async with McpClient(transport, server="calendar") as client:
        tools = await client.connect()
        result = await client.call("calendar_query", {"date": "2026-08-03"})
    assert tools[0].name == "calendar_query" and not result.is_error
