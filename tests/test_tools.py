"""The two local tools: what they show, what they refuse, what they never leave behind."""

from __future__ import annotations

import asyncio
import os
import select
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mini_agent.tools import Shell, bash_tool, read_tool
from mini_agent.types import Tool, ToolResult

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="uses bash, mkfifo and pidfd")


async def read(workspace: Path, path: Any, **options: Any) -> ToolResult:
    return await read_tool(workspace, **options).execute({"path": path})


async def bash(workspace: Path, command: Any, **options: Any) -> ToolResult:
    return await bash_tool(workspace, **options).execute({"command": command})


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "outside.txt").write_text("secret")
    (tmp_path / "work-next").mkdir()
    (tmp_path / "work-next" / "a.txt").write_text("secret")
    work = tmp_path / "work"
    (work / "sub").mkdir(parents=True)
    (work / "a.txt").write_text("Grüße\r\n☀\n", encoding="utf-8", newline="")
    (work / "sub" / "b.txt").write_text("b")
    (work / "inside").symlink_to("a.txt")
    (work / "leaves").symlink_to("../outside.txt")
    (work / "folder_out").symlink_to("..")
    (work / "loop").symlink_to("loop")
    (work / "dangling_out").symlink_to("../not_there.txt")
    (work / "binary").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    (work / "zeroes").write_bytes(b"abc\0def")
    (work / "latin").write_bytes("Grüße".encode("latin-1"))
    os.mkfifo(work / "pipe")
    return work


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("a.txt", "Grüße\r\n☀\n"),
        ("sub/b.txt", "b"),
        ("sub/../a.txt", "Grüße\r\n☀\n"),
        ("inside", "Grüße\r\n☀\n"),
    ],
)
async def test_read_shows_a_file_of_the_workspace(workspace: Path, path: str, content: str) -> None:
    assert await read(workspace, path) == ToolResult(content)
    assert await read(workspace, str(workspace / path)) == ToolResult(content)


@pytest.mark.parametrize(
    "path",
    [
        "../outside.txt",
        "sub/../../outside.txt",
        "/etc/passwd",
        "../work-next/a.txt",
        "leaves",
        "folder_out/outside.txt",
        "dangling_out",
        "../not_there.txt",
    ],
)
async def test_read_never_leaves_the_workspace(workspace: Path, path: str) -> None:
    result = await read(workspace, path)
    assert result.is_error and "outside the workspace" in result.content
    assert "secret" not in result.content


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("sub", "directory"),
        (".", "directory"),
        ("", "directory"),
        ("missing.txt", "No such file"),
        ("a.txt/x", "cannot be read"),
        ("loop", "cannot be read"),
        ("pipe", "not a regular file"),
        ("binary", "no text file"),
        ("zeroes", "binary"),
        ("latin", "no text file"),
        ("nul\0byte", "no text file"),
        ("\ud800", "no text file"),
        ("x" * 5000, "cannot be read"),
        (None, "string"),
        (7, "string"),
    ],
)
async def test_what_cannot_be_read_is_a_tool_error_that_says_why(
    workspace: Path, path: Any, says: str
) -> None:
    result = await read(workspace, path)
    assert result.is_error and says in result.content
    assert str(workspace) not in result.content


async def test_the_workspace_itself_may_be_reached_through_a_link(workspace: Path) -> None:
    link = workspace.parent / "link"
    link.symlink_to(workspace)
    assert (await read(link, "sub/b.txt")).content == "b"
    assert (await read(link, "../outside.txt")).is_error


@pytest.mark.parametrize(
    ("length", "is_cut"), [(9, False), (10, False), (11, True), (99_999, True)]
)
async def test_a_long_file_is_cut_after_so_many_characters_and_says_so(
    workspace: Path, length: int, is_cut: bool
) -> None:
    (workspace / "long").write_text("☀" * length, encoding="utf-8")
    result = await read(workspace, "long", limit=10)
    assert not result.is_error
    assert result.content.startswith("☀" * min(length, 10))
    assert ("[cut after 10 characters" in result.content) is is_cut
    assert (str(3 * length) in result.content) is is_cut


@pytest.mark.parametrize(
    ("command", "content"),
    [
        ("echo hi", "hi\n[exit code 0]"),
        ("true", "[exit code 0]"),
        ("echo out; echo err >&2", "out\n[stderr]\nerr\n[exit code 0]"),
        ("echo err >&2; exit 3", "[stderr]\nerr\n[exit code 3]"),
        ("printf 'a\\n\\n'", "a\n[exit code 0]"),
        ("printf '\\xff'", "\ufffd\n[exit code 0]"),
        ("cat", "[exit code 0]"),
        ("kill -9 $$", "[exit code -9]"),
    ],
)
async def test_bash_joins_what_a_command_wrote_and_how_it_ended(
    tmp_path: Path, command: str, content: str
) -> None:
    result = await bash(tmp_path, command)
    assert result == ToolResult(content, is_error="code 0" not in content)


async def test_bash_starts_in_the_workspace(tmp_path: Path) -> None:
    await bash(tmp_path, "echo x > made")
    assert (tmp_path / "made").read_text() == "x\n"


async def test_bash_passes_on_no_secret_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    result = await bash(tmp_path, "env; echo $HOME")
    assert "sk-secret" not in result.content and os.environ["HOME"] in result.content


async def test_the_time_limit_kills_the_whole_process_group(tmp_path: Path) -> None:
    command = "echo begun; sleep 1000 & echo $! > child; wait"
    result = await bash(tmp_path, command, timeout=0.3)
    assert result.is_error and result.content.startswith("begun\n[time limit of 0.3 s")
    assert _gone(int((tmp_path / "child").read_text()))


async def test_what_a_command_leaves_running_ends_with_it(tmp_path: Path) -> None:
    result = await bash(tmp_path, "sleep 1000 & echo $! > child; echo done", timeout=60)
    assert result == ToolResult("done\n[exit code 0]")
    assert _gone(int((tmp_path / "child").read_text()))


async def test_what_is_still_written_when_bash_has_ended_is_shown(tmp_path: Path) -> None:
    result = await bash(tmp_path, "echo a > >(sleep 0.3; cat)", timeout=60)
    assert result == ToolResult("a\n[exit code 0]")


async def test_waiting_for_last_words_ends_at_the_time_limit(tmp_path: Path) -> None:
    result = await bash(tmp_path, "sleep 1000 & echo $! > child; echo done", timeout=0.5)
    assert result == ToolResult("done\n[exit code 0]")
    assert _gone(int((tmp_path / "child").read_text()))


async def test_a_process_that_escapes_its_group_holds_nobody_up(tmp_path: Path) -> None:
    escape = "echo $$ > child; echo > ready; exec sleep 1000"
    command = f"mkfifo ready; setsid bash -c '{escape}' & cat ready; echo done"
    result = await bash(tmp_path, command, timeout=60)
    assert result == ToolResult("\ndone\n[exit code 0]")
    os.kill(int((tmp_path / "child").read_text()), 9)


async def test_cancelling_kills_the_command(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "begun")
    running = asyncio.create_task(
        bash(tmp_path, "sleep 1000 & echo $! > child; echo > begun; wait")
    )
    await asyncio.to_thread((tmp_path / "begun").read_bytes)  # returns once bash has written
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert _gone(int((tmp_path / "child").read_text()))


@pytest.mark.parametrize("turns", [0, 1, 2, 3, 5, 8])
async def test_cancelling_while_bash_is_only_starting_neither_hangs_nor_leaks(
    tmp_path: Path, turns: int
) -> None:
    running = asyncio.create_task(bash(tmp_path, "sleep 1000 & echo $! > child; wait"))
    for _ in range(turns):
        await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        async with asyncio.timeout(5):
            await running
    child = tmp_path / "child"
    assert not child.exists() or not child.read_text() or _gone(int(child.read_text()))


def test_a_command_cannot_read_what_is_typed_to_the_host(tmp_path: Path) -> None:
    code = (
        "import asyncio\n"
        "from mini_agent.tools import bash_tool\n"
        "print(asyncio.run(bash_tool('.').execute({'command': 'cat'})).content)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input="typed", capture_output=True, text=True, cwd=tmp_path
    )
    assert done.stdout == "[exit code 0]\n"


def test_of_an_endless_output_only_the_beginning_is_kept() -> None:
    shell = Shell(limit=10)
    for _ in range(1000):
        shell.pipe_data_received(1, b"x" * 1000)
    assert len(shell.written[1]) <= 44 and shell.sizes == {1: 1_000_000, 2: 0}


@pytest.mark.parametrize("stream", ["", " >&2"])
async def test_the_output_is_bounded_and_the_cut_is_visible(tmp_path: Path, stream: str) -> None:
    result = await bash(tmp_path, f"head -c 3000000 /dev/zero | tr '\\0' x{stream}", limit=100)
    assert len(result.content) < 300
    assert "x" * 100 + "\n[cut after 100 characters; the whole has 3000000 bytes]" in result.content


async def test_a_character_at_the_cut_is_not_broken(tmp_path: Path) -> None:
    result = await bash(tmp_path, "printf '☀☀☀☀☀☀☀☀☀☀☀☀'", limit=5)
    assert result.content.startswith("☀☀☀☀☀\n[cut")


@pytest.mark.parametrize("command", [None, 7, "a\0b", "echo \ud800", "x" * 5_000_000])
async def test_a_command_that_is_none_is_a_tool_error(tmp_path: Path, command: Any) -> None:
    assert (await bash(tmp_path, command)).is_error


async def test_a_workspace_that_is_gone_is_a_tool_error(tmp_path: Path) -> None:
    result = await bash(tmp_path / "none", "true")
    assert result.is_error and str(tmp_path) not in result.content


@pytest.mark.parametrize("tool", [read_tool("."), bash_tool(".")])
def test_a_tools_schema_names_its_one_argument(tool: Tool) -> None:
    schema = tool.spec.input_schema
    assert schema["required"] == list(schema["properties"]) and tool.spec.description


def _gone(pid: int, seconds: float = 5.0) -> bool:
    """Wait until the process has ended (it may be dead and only not yet collected)."""
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([process], [], [], seconds)[0])
    finally:
        os.close(process)
