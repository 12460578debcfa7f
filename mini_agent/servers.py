"""The servers that a command line names: a client for each, by a short name of its own.

Guarantee: what is wrong with one is said in words for a person, and no secret of an address shows.
"""

from __future__ import annotations

import contextlib
import itertools
import re
import shlex
from collections.abc import AsyncIterator, Container, Iterable, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from mini_agent.mcp import HttpTransport, McpClient, McpTransport, StdioTransport
from mini_agent.mcp.endpoint import is_loopback
from mini_agent.mcp.legacy import LegacyTransport
from mini_agent.shell import UsageError

A_URL = re.compile(r"https?[:/]|[a-z][a-z0-9+.-]+:/|[^\s/\\]*:[^\s/\\]*@", re.IGNORECASE)
"""Also what was meant as one, such as ``https:/user:secret@host``: shown as a command, it leaks."""
A_VARIABLE = re.compile(r"\w+=")
"""What a shell would take before a program: no program, and its value is often a key."""
NOT_ONE = "say which server: --server 'COMMAND …' or --server URL; or try: demo"


def clients_for(servers: Iterable[str], timeout: float) -> dict[str, McpClient]:
    """A client for each of ``servers``, by the name that messages and tools have of it.

    ``timeout`` (seconds) bounds each request.

    Raises: UsageError saying what to type.
    """
    clients: dict[str, McpClient] = {}
    for server in map(str.strip, servers):
        transport = transport_for(server)
        name = unused(server_name(server) or "server", clients)
        clients[name] = McpClient(transport, server=name, timeout=timeout)
    if not clients:
        raise UsageError(NOT_ONE)
    return clients


@contextlib.asynccontextmanager
async def connected(
    servers: Iterable[str], timeout: float
) -> AsyncIterator[Mapping[str, McpClient]]:
    """The same, connected one after another, and closed afterwards.

    Raises: UsageError saying what to type; McpError of the first that cannot be reached.
    """
    clients = clients_for(servers, timeout)
    async with contextlib.AsyncExitStack() as open_ones:
        for client in clients.values():
            await open_ones.enter_async_context(client)
            await client.connect()
        yield clients


def transport_for(server: str) -> McpTransport:
    """HTTP for a URL, a child process for anything else; the older handshake where it must be.

    Raises: UsageError saying what to type.
    """
    if not server:
        raise UsageError(NOT_ONE)
    try:
        if A_URL.match(server):
            return LegacyTransport(HttpTransport(usable_url(server)))
        return LegacyTransport(StdioTransport(usable_command(server)))
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


def usable_command(command: str) -> list[str]:
    """The words of ``command``, unless the first is no program and could be a secret.

    Raises: ValueError.
    """
    words = shlex.split(command)
    first = words[0].lstrip("/'\"") if words else ""
    if A_URL.match(first):
        raise ValueError("a URL begins with https:// and has no quotes of its own around it")
    if A_VARIABLE.match(first):
        raise ValueError("a command begins with a program; write 'env NAME=VALUE PROGRAM …'")
    return words


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


def unused(name: str, taken: Container[str]) -> str:
    """``name``, with a number behind it where another server has it already."""
    numbered = (f"{name}-{number}" for number in itertools.count(2))
    return next(one for one in itertools.chain([name], numbered) if one not in taken)


def holder(tool: str, clients: Mapping[str, McpClient]) -> McpClient:
    """The one client whose server has ``tool``.

    Raises: UsageError when none has it, or more than one.
    """
    having = {name: client for name, client in clients.items() if client.tool(tool) is not None}
    if len(having) > 1:
        raise UsageError(f"{' and '.join(having)} have a tool {tool}; name one --server only")
    for client in having.values():
        return client
    names = ", ".join(listed.name for client in clients.values() for listed in client.tools)
    which = "the server has" if len(clients) == 1 else "the servers have"
    raise UsageError(f"{which} no tool {tool}; there is: {names or 'none'}")
