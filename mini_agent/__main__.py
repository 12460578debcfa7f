"""The same agent in a terminal: ``mini-agent demo``, or ``mini-agent --server 'COMMAND …'``.

Exit codes: 0 all went well; 1 a protocol error, said in one line with whose fault it was; 2 the
command line is wrong; 3 the tool that was called reported an error; 130 interrupted.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import shlex
import sys
import tempfile
import traceback
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from mini_agent.agent import run_agent
from mini_agent.approval import Policy, ask_in_terminal, calendar_policy, guard, scripted
from mini_agent.demo import PROMPT, SERVER, demo_model
from mini_agent.errors import McpError
from mini_agent.mcp import (
    HttpTransport,
    McpClient,
    McpTransport,
    StdioTransport,
    format_result,
    mcp_tool_to_tool,
)
from mini_agent.mcp.legacy import LegacyTransport
from mini_agent.model_client import DEFAULT_MODEL, AnthropicModelClient, ModelStreamError, NoApiKey
from mini_agent.session import SessionError
from mini_agent.terminal import Screen, fault_line, say, tool_lines
from mini_agent.trace import Trace

DEFAULTS: dict[str, Any] = {
    "server": None,
    "timeout": 30.0,
    "debug": False,
    "model": DEFAULT_MODEL,
    "session": None,
}  # not argparse's, so that an option may stand before the command and after it


class UsageError(Exception):
    """What the user typed cannot be used; the message says what to type instead."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    arguments = parser().parse_args(argv, argparse.Namespace(**DEFAULTS))
    try:
        return int(asyncio.run(arguments.run(arguments)))
    except (UsageError, NoApiKey, SessionError, McpError, ModelStreamError) as error:
        if arguments.debug:
            traceback.print_exception(error)
        sys.stderr.write(fault_line(error) + "\n")
        return 1 if isinstance(error, McpError | ModelStreamError) else 2
    except KeyboardInterrupt:
        sys.stderr.write("mini-agent: interrupted\n")
        return 130


def parser() -> argparse.ArgumentParser:
    """The command line."""
    shared = argparse.ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    shared.add_argument("--server", metavar="SERVER", help="a command in quotes, or a URL")
    shared.add_argument("--timeout", type=seconds, help="seconds for one request (30)")
    shared.add_argument("--debug", action="store_true", help="add the traceback to an error")
    shared.add_argument("--model", help=f"the model to chat with ({DEFAULT_MODEL})")
    shared.add_argument("--session", metavar="FILE", help="keep the conversation in FILE")
    top = argparse.ArgumentParser(
        prog="mini-agent", parents=[shared], description="An agent that reaches MCP servers."
    )
    top.set_defaults(run=chat)
    commands = top.add_subparsers(title="commands (without one: chat)", metavar="COMMAND")
    demo_ = commands.add_parser("demo", parents=[shared], help="one full round, no key needed")
    demo_.add_argument("--yes", action="store_true", help="approve without asking")
    demo_.set_defaults(run=demo)
    commands.add_parser(
        "tools", parents=[shared], help="list the server's tools"
    ).set_defaults(run=tools)  # fmt: skip
    call_ = commands.add_parser("call", parents=[shared], help="call one tool")
    call_.add_argument("name", metavar="NAME")
    call_.add_argument("arguments", metavar="JSON", nargs="?", default="{}")
    call_.set_defaults(run=call)
    commands.add_parser(
        "chat", parents=[shared], help="talk to a real model (needs ANTHROPIC_API_KEY)"
    ).set_defaults(run=chat)  # fmt: skip
    return top


def seconds(text: str) -> float:
    """A number of seconds above 0."""
    value = float(text)
    if not 0 < value < float("inf"):
        raise ValueError(text)
    return value


# -- commands -------------------------------------------------------------------------------------


async def demo(arguments: argparse.Namespace) -> int:
    """One round on the calendar with the scripted model, each event as it happens, the trace."""
    trace = Trace()
    approver = scripted([True]) if arguments.yes else ask_in_terminal()
    say("user", PROMPT)
    async with McpClient(StdioTransport(SERVER), server="calendar", trace=trace) as client:
        await run_agent(
            PROMPT,
            model=demo_model(),
            tools=[mcp_tool_to_tool(client, tool) for tool in await client.connect()],
            before_tool_call=guard(calendar_policy(create="ask"), approver, server="calendar"),
            on_event=Screen(),
            trace=trace,
        )
    sys.stdout.write(f"\nWhat each layer saw:\n\n{trace.table()}\n")
    return 0


async def tools(arguments: argparse.Namespace) -> int:
    """Print the server's tools, and those of its list that cannot be used."""
    async with connected(arguments) as client:
        for name, description in tool_lines(client.tools):
            say("tool", f"{name}\n{description}")
        for why in client.left_out:
            say("left out", why)
    return 0


async def call(arguments: argparse.Namespace) -> int:
    """Call one tool with the JSON that was typed, and print what came."""
    given = json_object(arguments.arguments)
    async with connected(arguments) as client:
        if client.tool(arguments.name) is None:
            names = ", ".join(tool.name for tool in client.tools) or "none"
            raise UsageError(f"the server has no tool {arguments.name}; it has: {names}")
        try:
            result = await client.call(arguments.name, given)
        except ValueError as error:
            raise UsageError(f"the arguments cannot be sent: {error}") from error
    say("error" if result.is_error else "result", format_result(result))
    return 3 if result.is_error else 0


async def chat(arguments: argparse.Namespace) -> int:
    """Talk to a real model that has the server's tools; every call is asked about."""
    model = AnthropicModelClient(arguments.model)
    async with connected(arguments) as client, session_file(arguments.session) as path:
        tools = [mcp_tool_to_tool(client, tool) for tool in client.tools]
        say("tools", ", ".join(tool.spec.name for tool in tools) or "none")
        try:
            while (prompt := await asyncio.to_thread(ask_user)) is not None:
                with model_failures():
                    await run_agent(
                        prompt,
                        model=model,
                        tools=tools,
                        before_tool_call=guard(Policy([]), ask_in_terminal(), server=client.server),
                        session_path=path,
                        on_event=Screen(),
                    )
        finally:
            await model.close()
    return 0


@contextlib.contextmanager
def model_failures() -> Iterator[None]:
    """What the anthropic package raises leaves as one ModelStreamError."""
    import anthropic

    try:
        yield
    except anthropic.APIError as error:
        raise ModelStreamError(f"the model's service failed: {error}") from error


# -- what they share ------------------------------------------------------------------------------


@contextlib.asynccontextmanager
async def connected(arguments: argparse.Namespace) -> AsyncIterator[McpClient]:
    """A connected client for ``--server``, closed afterwards."""
    transport = transport_for(arguments.server)
    name = server_name(arguments.server)
    async with McpClient(transport, server=name, timeout=arguments.timeout) as client:
        await client.connect()
        yield client


def transport_for(server: str | None) -> McpTransport:
    """HTTP for a URL, a child process for anything else; the older handshake where it must be.

    Raises: UsageError saying what to type.
    """
    if not server or not server.strip():
        raise UsageError("say which server: --server 'COMMAND …' or --server URL; or try: demo")
    try:
        if "://" in server:
            return LegacyTransport(HttpTransport(server))
        return LegacyTransport(StdioTransport(shlex.split(server)))
    except ValueError as error:
        raise UsageError(f"--server: {error}") from error


def server_name(server: str) -> str:
    """A short name for messages: the host or the program, nothing that could be a secret."""
    return urlsplit(server).hostname or "" if "://" in server else Path(shlex.split(server)[0]).name


def json_object(text: str) -> dict[str, Any]:
    """The arguments that were typed.

    Raises: UsageError naming the place that is wrong.
    """
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise UsageError(
            f"the arguments are not JSON: {error.msg} at column {error.colno}; "
            'write an object in single quotes, like \'{"date": "2026-08-03"}\''
        ) from error
    if not isinstance(value, dict):
        raise UsageError(f"the arguments must be a JSON object, not {type(value).__name__}")
    return value


def ask_user() -> str | None:
    """The next line that says something, None at the end of the input."""
    while True:
        sys.stdout.write("> ")
        sys.stdout.flush()
        line = sys.stdin.readline()
        if not line:
            return None
        if line.strip():
            return line.strip()


@contextlib.asynccontextmanager
async def session_file(path: str | None) -> AsyncIterator[Path]:
    """``path``, or a file that lasts as long as this conversation."""
    if path is not None:
        yield Path(path)
        return
    with tempfile.TemporaryDirectory(prefix="mini-agent-") as folder:
        yield Path(folder) / "session.jsonl"


if __name__ == "__main__":
    sys.exit(main())
