"""The same agent in a terminal: ``mini-agent demo``, or ``mini-agent --server 'COMMAND …'``.

Exit codes: 0 all went well; 1 a protocol error, said in one line with whose fault it was, or an
output that cannot be written; 2 the command line is wrong; 3 the tool that was called reported an
error; 130 interrupted (128 and the number of any other signal).
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import re
import sys
import traceback
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, NoReturn, TypeAlias

from mini_agent.agent import run_agent
from mini_agent.approval import Policy, ask_in_terminal, calendar_policy, guard, scripted
from mini_agent.chat import model_failures, model_for, next_prompt, session_file
from mini_agent.demo import PROMPT, SERVER, demo_model
from mini_agent.errors import McpError
from mini_agent.host import Host
from mini_agent.keyboard import Lines
from mini_agent.mcp import McpClient, StdioTransport, format_result, mcp_tool_to_tool
from mini_agent.model_client import DEFAULT_MODEL, ModelStreamError
from mini_agent.servers import clients_for, connected, holder
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
    "servers": [],
    "more_servers": [],
    "timeout": 30.0,
    "debug": False,
    "model": DEFAULT_MODEL,
    "session": None,
}  # not argparse's, so that an option may stand before the command and after it

LEAKY = re.compile(r"[^\s'\"]*:[^\s'\"]*[@?][^\s'\"]*|\w+=[^\s'\"]+")
Command: TypeAlias = Callable[[argparse.Namespace], Coroutine[Any, Any, int]]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    prepare_streams()
    try:
        return said_in_one_line(parsed(argv))
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


def parsed(argv: Sequence[str] | None) -> argparse.Namespace:
    """What was typed."""
    arguments = parser().parse_args(argv, argparse.Namespace(**DEFAULTS))
    arguments.servers = [*arguments.servers, *arguments.more_servers]
    return arguments


def parser() -> argparse.ArgumentParser:
    """The command line. ``servers`` are those before the command, ``more_servers`` those after."""
    top = Parser(
        prog="mini-agent",
        parents=[options(servers="servers")],
        description="An agent that reaches MCP servers.",
    )
    top.set_defaults(run=chat)
    commands = top.add_subparsers(title="commands (without one: chat)", metavar="COMMAND")

    def command(name: str, run: Command, told: str) -> Parser:
        shared = options(servers="more_servers")
        made: Parser = commands.add_parser(name, parents=[shared], help=told)
        made.set_defaults(run=run)
        return made

    demo_ = command("demo", demo, "one full round, no key needed")
    demo_.add_argument("--yes", action="store_true", help="approve without asking")
    command("tools", tools, "list the servers' tools")
    call_ = command("call", call, "call one tool")
    call_.add_argument("name", metavar="NAME")
    call_.add_argument("arguments", metavar="JSON", nargs="?", default="{}")
    command("chat", chat, "talk to a real model (needs ANTHROPIC_API_KEY)")
    return top


def options(*, servers: str) -> Parser:
    """The options of every command. ``servers`` is where those that are named go.

    A command's own options would take the place of those before it, so each has a list.
    """
    shared = Parser(add_help=False, argument_default=argparse.SUPPRESS)
    shared.add_argument(
        "--server",
        dest=servers,
        action="append",
        metavar="SERVER",
        help="a command in quotes, or a URL; may be given several times",
    )
    shared.add_argument("--timeout", type=seconds, help="seconds for one request (30)")
    shared.add_argument("--debug", action="store_true", help="add the traceback to an error")
    shared.add_argument("--model", help=f"the model to chat with ({DEFAULT_MODEL})")
    shared.add_argument("--session", metavar="FILE", help="keep the conversation in FILE")
    return shared


def seconds(text: str) -> float:
    """A number of seconds above 0. Raises: ValueError, which argparse puts in words."""
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
    """Print each server's tools, and those of its list that cannot be used."""
    async with connected(arguments.servers, arguments.timeout) as clients:
        for name, client in clients.items():
            if len(clients) > 1:
                say("server", name)
            show_tools(client)
    return 0


def show_tools(client: McpClient) -> None:
    """Print the tools of one server."""
    for name, description in tool_lines(client.tools):
        say("tool", f"{name}\n{description}")
    if not client.tools:
        say("tool", "no tools")
    for why in client.left_out:
        say("left out", visible(why))


async def call(arguments: argparse.Namespace) -> int:
    """Call one tool with the JSON that was typed, and print what came.

    Raises: UsageError saying what to type; McpError.
    """
    given = json_object(arguments.arguments)
    async with connected(arguments.servers, arguments.timeout) as clients:
        client = holder(arguments.name, clients)
        try:
            result = await client.call(arguments.name, given)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"the arguments cannot be sent: {error}") from error
    say("error" if result.is_error else "result", format_result(result))
    return 3 if result.is_error else 0


async def chat(arguments: argparse.Namespace) -> int:
    """Talk to a real model that has the servers' tools; every call is asked about."""
    clients = clients_for(arguments.servers, arguments.timeout)
    model = model_for(arguments.model)
    lines = Lines(sys.stdin)
    host = Host(clients, policy=Policy([]), approver=ask_in_terminal())
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
