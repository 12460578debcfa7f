"""What a Host is given, held against what it can use.

Its guarantee: a mistake is told where it is made, by the argument's name, and not at a first call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from mini_agent.approval import Policy
from mini_agent.audit import AuditLog
from mini_agent.hosting.attempts import Bounds
from mini_agent.hosting.fills import Fill
from mini_agent.mcp.client import McpClient
from mini_agent.mcp.misuse import check_type
from mini_agent.pins import Pins
from mini_agent.trace import Trace
from mini_agent.types import Tool

T = TypeVar("T")

WANTED: Mapping[str, tuple[Any, str]] = {
    "policy": (Policy, "a Policy"),
    "approver": (Callable | None, "a function of call and reason, or None"),
    "user": (str | None, "a user's name, or None"),
    "access": (Mapping | Callable | None, "servers by user, or a function of user and call"),
    "audit": (AuditLog | None, "an AuditLog, or None"),
    "pins": (Pins | None, "Pins, such as Pins.load(path), or None"),
    "bounds": (Bounds | None, "Bounds, or None"),
    "trace": (Trace | None, "a Trace, or None"),
}
"""For each argument its type, and how a sentence says it."""


def check_arguments(**given: object) -> None:
    """Raises: TypeError naming the argument, what came and what is wanted."""
    for name, value in given.items():
        check_type(name, value, *WANTED[name])


def check_servers(servers: Mapping[str, McpClient]) -> None:
    """Raises: TypeError for what are no clients by name; ValueError for a name that is taken."""
    check_type("servers", servers, Mapping, "clients by name")
    for name, client in servers.items():
        check_type("the name of a server", name, str, "text")
        check_type(f"servers[{name!r}]", client, McpClient, "an McpClient")
    if "" in servers:
        raise ValueError('a server needs a name: "" stands for the local tools')


def several(argument: str, given: Iterable[T], kind: type[T]) -> tuple[T, ...]:
    """``given`` as a tuple.

    Raises: TypeError for one string, whose letters would count as names, and for what is no list,
    or not of ``kind``.
    """
    wanted = f"{argument} must be a list of {kind.__name__}"
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise TypeError(f"{wanted}, not one {type(given).__name__}")
    found = tuple(given)
    for item in found:
        if not isinstance(item, kind):
            raise TypeError(f"{wanted}, and holds one {type(item).__name__}")
    return found


def check_names(
    servers: Mapping[str, McpClient],
    local: Iterable[Tool],
    fills: Iterable[Fill],
    reading: Iterable[str],
) -> None:
    """Raises: ValueError for what could not be told apart, or would never be filled in."""
    names = [tool.spec.name for tool in local]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"two local tools share the name {', '.join(twice)}; rename one")
    for fill in fills:
        if fill.server not in servers:
            raise ValueError(f"no server is named {fill.server!r}, whose {fill.tool} is filled in")
    for name in reading:
        if name not in servers:
            raise ValueError(f"no server is named {name!r}, whose resources are to be read")
