"""The same agent in a terminal: ``mini-agent demo``, or ``mini-agent --server 'COMMAND …'``.

Exit codes: 0 all went well; 1 a protocol error, said in one line with whose fault it was, or an
output that cannot be written; 2 the
command line is wrong; 3 the tool that was called reported an error; 130 interrupted (128 and the
number of any other signal).
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import json
import re
import shlex
import sys
import traceback
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urlsplit

from mini_agent.agent import run_agent
from mini_agent.approval import Policy, ask_in_terminal, calendar_policy, guard, scripted
from mini_agent.chat import model_failures, model_for, next_prompt, session_file
from mini_agent.demo import PROMPT, SERVER, demo_model
from mini_agent.errors import McpError
from mini_agent.host import Host
from mini_agent.keyboard import Lines
from mini_agent.mcp import (
    HttpTransport,
    McpClient,
    McpTransport,
    StdioTransport,
    format_result,
    mcp_tool_to_tool,
)
from mini_agent.mcp.endpoint import is_loopback
from mini_agent.mcp.legacy import LegacyTransport
from mini_agent.model_client import DEFAULT_MODEL, ModelStreamError
from mini_agent.session import SessionError
from mini_agent.shell import (
    OutputFailed,
    UsageError,
    closing_on_signals,
    complain,
    prepare_streams,
    put,
)
from mini_agent.terminal import Screen, fault_line, say, tool_lines
from mini_agent.trace import Trace
from mini_agent.visible import visible

DEFAULTS: dict[str, Any] = {
    "server": None,
    "timeout": 30.0,
    "debug": False,
    "model": DEFAULT_MODEL,
    "session": None,
}  # not argparse's, so that an option may stand before the command and after it


LEAKY = re.compile(r"[^\s'\"]*:[^\s'\"]*[@?][^\s'\"]*")
A_URL = re.compile(r"https?[:/]|[a-z][a-z0-9+.-]+:/|[^\s/\\]*:[^\s/\\]*@", re.IGNORECASE)
"""Also what was meant as one, such as ``https:/user:secret@host``: shown as a command, it leaks."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    prepare_streams()
    try:
        return said_in_one_line(parser().parse_args(argv, argparse.Namespace(**DEFAULTS)))
    except OutputFailed as error:
        if isinstance(error.__cause__, BrokenPipeError):
            return 128 + 13  # as if SIGPIPE had ended us: whoever reads has read enough
        complain(fault_line(error))
        return 1


def said_in_one_line(arguments: argparse.Namespace) -> int:
    """The command's exit code. An error that it foresees is one line on stderr."""
    try:
        return asyncio.run(closing_on_signals(arguments.run(arguments)))
    except (UsageError, SessionError, McpError, ModelStreamError) as error:
        if arguments.debug:
            complain("".join(traceback.format_exception(error)).rstrip())
        complain(fault_line(error))
        return 1 if isinstance(error, McpError | ModelStreamError) else 2
    except KeyboardInterrupt:
        complain("mini-agent: interrupted")
        return 130


class Parser(argparse.ArgumentParser):
    """argparse hides that its help could not be written, and repeats words that hold a secret."""

    def print_help(self, file: Any = None) -> None:
        """Write the help to stdout, as everything else is."""
        put(self.format_help())

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and leave with code 2."""
        super().error(visible(LEAKY.sub("…", message)))


def parser() -> argparse.ArgumentParser:
    """The command line."""
    shared = Parser(add_help=False, argument_default=argparse.SUPPRESS)
    shared.add_argument("--server", metavar="SERVER", help="a command in quotes, or a URL")
    shared.add_argument("--timeout", type=seconds, help="seconds for one request (30)")
    shared.add_argument("--debug", action="store_true", help="add the traceback to an error")
    shared.add_argument("--model", help=f"the model to chat with ({DEFAULT_MODEL})")
    shared.add_argument("--session", metavar="FILE", help="keep the conversation in FILE")
    top = Parser(
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
    put(f"\nWhat each layer saw:\n\n{trace.table()}\n")
    return 0


async def tools(arguments: argparse.Namespace) -> int:
    """Print the server's tools, and those of its list that cannot be used."""
    async with connected(arguments) as client:
        for name, description in tool_lines(client.tools):
            say("tool", f"{name}\n{description}")
        if not client.tools:
            say("tool", "no tools")
        for why in client.left_out:
            say("left out", visible(why))
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
        except (ValueError, RecursionError) as error:
            raise UsageError(f"the arguments cannot be sent: {error}") from error
    say("error" if result.is_error else "result", format_result(result))
    return 3 if result.is_error else 0


async def chat(arguments: argparse.Namespace) -> int:
    """Talk to a real model that has the server's tools; every call is asked about."""
    client = client_for(arguments)
    model = model_for(arguments.model)
    lines = Lines(sys.stdin)
    servers = {client.server or "server": client}
    host = Host(servers, policy=Policy([]), approver=ask_in_terminal())
    try:
        async with host, session_file(arguments.session) as path:
            say("tools", ", ".join(tool.spec.name for tool in host.tools) or "no tools")
            while (prompt := await next_prompt(lines)) is not None:
                with model_failures(), contextlib.closing(Screen()) as screen:
                    await run_agent(
                        prompt,
                        model=model,
                        tools=await host.refresh(),
                        before_tool_call=host.before_tool_call,
                        session_path=path,
                        on_event=screen,
                    )
    finally:
        await model.close()
    return 0


# -- what they share ------------------------------------------------------------------------------


@contextlib.asynccontextmanager
async def connected(arguments: argparse.Namespace) -> AsyncIterator[McpClient]:
    """A connected client for ``--server``, closed afterwards."""
    async with client_for(arguments) as client:
        await client.connect()
        yield client


def client_for(arguments: argparse.Namespace) -> McpClient:
    """A client for ``--server``, with a short name for messages.

    Raises: UsageError saying what to type.
    """
    transport = transport_for(arguments.server)
    name = server_name(arguments.server.strip())
    return McpClient(transport, server=name, timeout=arguments.timeout)


def transport_for(server: str | None) -> McpTransport:
    """HTTP for a URL, a child process for anything else; the older handshake where it must be.

    Raises: UsageError saying what to type.
    """
    server = (server or "").strip()
    if not server:
        raise UsageError("say which server: --server 'COMMAND …' or --server URL; or try: demo")
    try:
        if A_URL.match(server):
            return LegacyTransport(HttpTransport(usable_url(server)))
        return LegacyTransport(StdioTransport(shlex.split(server)))
    except ValueError as error:
        raise UsageError(f"--server: {error}") from error


def usable_url(url: str) -> str:
    """``url``, unless it is refused in words for a program where a person needs others.

    Raises: ValueError.
    """
    parts = urlsplit(url)
    if "@" in parts.netloc:
        raise ValueError("the URL holds credentials, which could end up in logs; leave them out")
    if parts.scheme == "http" and parts.hostname and not is_loopback(parts.hostname):
        raise ValueError(f"http:// to {parts.hostname} could be read on the way; use https://")
    return url


def server_name(server: str) -> str:
    """A short name for messages and tools: the host, the program or a Python module.

    Nothing of it could be a secret.
    """
    if A_URL.match(server):
        return urlsplit(server).hostname or ""
    program, *rest = shlex.split(server)
    name = Path(program).name
    options = list(itertools.takewhile(lambda word: word.startswith("-"), rest))
    if name.startswith("python") and "-m" in options[-1:] and len(rest) > len(options):
        return rest[len(options)].rpartition(".")[2] or name
    return name


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
    except (ValueError, RecursionError) as error:  # a number, or a nesting, beyond all use
        raise UsageError(f"the arguments are JSON that cannot be read: {error}") from error
    if not isinstance(value, dict):
        raise UsageError(f"the arguments must be a JSON object, not {type(value).__name__}")
    return value


if __name__ == "__main__":
    sys.exit(main())
