"""Our client against servers that others wrote and use: the time, and a git repository."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from mini_agent.errors import JsonRpcError
from mini_agent.mcp import McpClient, StdioTransport, mcp_tool_to_tool

pytestmark = pytest.mark.timeout(60)

needs_git = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed here")


@asynccontextmanager
async def connected(module: str, *arguments: str) -> AsyncIterator[McpClient]:
    """Our client, connected to a server that runs as ``python -m module``."""
    transport = StdioTransport([sys.executable, "-m", module, *arguments])
    async with McpClient(transport, server=module) as client:
        await client.connect()
        yield client


# -- the time -------------------------------------------------------------------------------------


async def test_the_time_server_speaks_this_revision() -> None:
    async with connected("mcp_server_time", "--local-timezone", "UTC") as client:
        assert client.protocol_version == "2026-07-28"
        assert [tool.name for tool in client.tools] == ["get_current_time", "convert_time"]
        result = await client.call("get_current_time", {"timezone": "Asia/Tokyo"})
    assert result.structured_content["timezone"] == "Asia/Tokyo" and not result.is_error


async def test_what_the_time_server_cannot_do_stays_on_its_path() -> None:
    given = {"source_timezone": "UTC", "time": "25:00", "target_timezone": "Asia/Tokyo"}
    async with connected("mcp_server_time", "--local-timezone", "UTC") as client:
        tool = client.tool("convert_time")
        assert tool is not None
        told = await mcp_tool_to_tool(client, tool).execute(given)
        assert told.is_error and "time" in told.content.lower()
        with pytest.raises(JsonRpcError) as caught:
            await client.call("dream", {})
    assert caught.value.code == -32602


# -- a repository ---------------------------------------------------------------------------------


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with one commit and one change that is not committed."""
    who = ("-c", "user.name=robin", "-c", "user.email=robin@example.com")

    def git(*arguments: str) -> None:
        command = ["git", *who, *arguments]
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=30)

    git("init", "--initial-branch", "main")
    (tmp_path / "notes.txt").write_text("first\n")
    git("add", "notes.txt")
    git("commit", "--message", "Begin the notes")
    (tmp_path / "notes.txt").write_text("first\nsecond\n")
    return tmp_path


def said(result: Any) -> str:
    assert not result.is_error
    return "\n".join(block["text"] for block in result.content)


@needs_git
async def test_the_git_server_reads_and_changes_a_repository(repository: Path) -> None:
    place = {"repo_path": str(repository)}
    async with connected("mcp_server_git", "--repository", str(repository)) as client:
        assert {"git_status", "git_log", "git_add", "git_commit"} <= {t.name for t in client.tools}
        assert client.left_out == []
        assert "notes.txt" in said(await client.call("git_status", place))
        assert "+second" in said(
            await client.call("git_diff_unstaged", {**place, "context_lines": 1})
        )
        await client.call("git_add", {**place, "files": ["notes.txt"]})
        assert "+second" in said(await client.call("git_diff_staged", place))
        assert "Begin the notes" in said(await client.call("git_log", {**place, "max_count": 5}))


@needs_git
async def test_a_folder_that_is_not_the_git_servers_is_a_tool_error(
    repository: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    async with connected("mcp_server_git", "--repository", str(repository)) as client:
        result = await client.call("git_status", {"repo_path": str(elsewhere)})
    assert result.is_error
