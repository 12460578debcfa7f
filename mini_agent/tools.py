"""The two local tools: ``read`` and ``bash``. What goes wrong inside them is the model's to see.

``read`` stays inside its workspace. ``bash`` only starts there: a shell can go anywhere, which is
why it belongs behind an approval (mini_agent.approval.deny_bash_by_default).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from pathlib import Path

from mini_agent.types import JsonObject, Tool, ToolResult, ToolSpec

SHELL_ENVIRONMENT = ("PATH", "HOME", "USER", "LANG", "LC_ALL", "TERM", "TMPDIR", "TZ")
"""All that a command inherits: an API key in the host's environment is none of its business."""

KILL_SECONDS = 1.0

LAST_WORDS_SECONDS = 1.0
"""How long what bash left running may still write: ``> >(cat)`` is read after bash has ended."""


def failure(content: str) -> ToolResult:
    """A tool error: the model reads it, the loop goes on."""
    return ToolResult(content, is_error=True)


def required_text(name: str, description: str) -> JsonObject:
    """The input schema of a tool that takes one string."""
    return {
        "type": "object",
        "properties": {name: {"type": "string", "description": description}},
        "required": [name],
        "additionalProperties": False,
    }


# -- read -----------------------------------------------------------------------------------------


def read_tool(workspace: str | Path, limit: int = 20_000) -> Tool:
    """The tool ``read``: a UTF-8 text file inside ``workspace``, at most ``limit`` characters."""
    root = Path(os.path.realpath(workspace))

    async def execute(arguments: JsonObject) -> ToolResult:
        path = arguments.get("path")
        if not isinstance(path, str):
            return failure('"path" must be a string')
        return read_file(root, path, limit)

    schema = required_text("path", "A path relative to the workspace.")
    return Tool(ToolSpec("read", "Read a text file in the workspace.", schema), execute)


def read_file(root: Path, path: str, limit: int) -> ToolResult:
    """The text of ``path``, or a tool error that says why not. No path of the host is shown."""
    try:
        target = Path(os.path.realpath(root / path))  # follows every symlink, before any check
        if not target.is_relative_to(root):
            return failure(f"{path} is outside the workspace")
        if target.is_dir():
            return failure(f"{path} is a directory")
        if target.exists() and not target.is_file():
            return failure(f"{path} is not a regular file")
        with target.open(encoding="utf-8", newline="") as file:
            text, size = file.read(limit + 1), os.fstat(file.fileno()).st_size
    except OSError as error:
        return failure(f"{path} cannot be read: {error.strerror}")
    except ValueError:  # not UTF-8; or a path that no file can have
        return failure(f"{path!r} is no text file")
    if "\0" in text:
        return failure(f"{path} is a binary file")
    return ToolResult(cut(text, limit, size))


def cut(text: str, limit: int, size: int) -> str:
    """``text``, or its first ``limit`` characters and a note; ``size`` is the whole, in bytes."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}\n[cut after {limit} characters; the whole has {size} bytes]"


# -- bash -----------------------------------------------------------------------------------------


def bash_tool(workspace: str | Path, timeout: float = 30.0, limit: int = 20_000) -> Tool:
    """The tool ``bash``: a command run in ``workspace``, with ``timeout`` in seconds.

    stdout and stderr are each cut after ``limit`` characters. What the command leaves running in
    its process group has LAST_WORDS_SECONDS to end, then it is killed, as is the whole group at
    the time limit or when the task is cancelled. A process that makes a session of its own
    (``setsid``, a daemon) has left the group: it is out of reach and runs on.
    """

    async def execute(arguments: JsonObject) -> ToolResult:
        command = arguments.get("command")
        if not isinstance(command, str) or "\0" in command:
            return failure('"command" must be a string, with no NUL in it')
        try:
            return await run_command(command, Path(workspace), timeout, limit)
        except OSError as error:  # no bash here, no workspace, a command that is too long
            return failure(f"bash cannot be started: {error.strerror}")
        except UnicodeEncodeError:
            return failure('"command" holds characters that no command line can')

    description = f"Run a bash command in the workspace. It is killed after {timeout:g} seconds."
    return Tool(ToolSpec("bash", description, required_text("command", "The command.")), execute)


async def run_command(command: str, workspace: Path, timeout: float, limit: int) -> ToolResult:
    """Run one command to its end or its time limit, and report what it wrote.

    Raises: OSError or UnicodeEncodeError when bash cannot be started with it.
    """
    spawning = asyncio.ensure_future(spawn(command, workspace, limit))
    ended = f"time limit of {timeout:g} s reached, command killed"
    try:
        transport, shell = await asyncio.shield(spawning)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                await shell.exited.wait()
                ended = f"exit code {transport.get_returncode()}"
                async with asyncio.timeout(LAST_WORDS_SECONDS):
                    await shell.closed.wait()
    finally:
        # Cancelling asyncio half-way through a start can hang it, so we wait, and end it then.
        transport, shell = await spawning
        await end(transport, shell)
    return report(shell, ended)


async def spawn(
    command: str, workspace: Path, limit: int
) -> tuple[asyncio.SubprocessTransport, Shell]:
    """Start bash in a process group of its own, with nothing to read and little to inherit."""
    return await asyncio.get_running_loop().subprocess_exec(
        lambda: Shell(limit), "bash", "-c", command,
        cwd=workspace, stdin=asyncio.subprocess.DEVNULL, start_new_session=True,
        env={name: os.environ[name] for name in SHELL_ENVIRONMENT if name in os.environ},
    )  # fmt: skip


async def end(transport: asyncio.SubprocessTransport, shell: Shell) -> None:
    """Kill what is left of the process group, take what it still had to say, let go of the pipes.

    A process that left the group may hold the pipes for ever: after KILL_SECONDS we stop waiting.
    """
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(transport.get_pid(), signal.SIGKILL)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(KILL_SECONDS):
            await shell.closed.wait()
    transport.close()


class Shell(asyncio.SubprocessProtocol):
    """What a command wrote so far, and how far it has come.

    ``exited`` is set when bash ends, ``closed`` when nobody holds its pipes any more: a process
    left in the background holds them long after.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.written = {1: b"", 2: b""}
        self.sizes = {1: 0, 2: 0}
        self.exited = asyncio.Event()
        self.closed = asyncio.Event()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Keep the beginning (a character has at most 4 bytes), count the rest."""
        self.sizes[fd] += len(data)
        room = 4 * self.limit + 4 - len(self.written[fd])
        self.written[fd] += data[:room]

    def process_exited(self) -> None:
        """Bash itself has ended."""
        self.exited.set()

    def connection_lost(self, exc: Exception | None) -> None:
        """Every pipe is closed."""
        self.closed.set()


def report(shell: Shell, ended: str) -> ToolResult:
    """stdout, then stderr under its own heading, then how it ended."""
    out, err = (
        cut(shell.written[fd].decode("utf-8", "replace"), shell.limit, shell.sizes[fd])
        for fd in (1, 2)
    )
    parts = [out.rstrip("\n"), f"[stderr]\n{err}".rstrip("\n") if err else "", f"[{ended}]"]
    return ToolResult("\n".join(part for part in parts if part), is_error=ended != "exit code 0")
