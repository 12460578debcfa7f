"""What a reader says about their service, and the failure table with who owns each row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from mini_agent.catalog import Review
from mini_agent.mcp.shapes import McpTool
from mini_agent.types import JsonObject

ASK = "(say this in your own words)"
"""Stands wherever nobody has said anything yet; accepted notes hold none of it."""


@dataclass(frozen=True)
class Failure:
    """One row of the failure table: what fails, who owns it, what is done; ``ours`` is yours."""

    what: str
    owner: str
    answer: str
    ours: str = ASK


FAILURES = (
    Failure(
        "invalid arguments",
        "host and server",
        "Refused before the service is called: a tool error that names path and rule.",
    ),
    Failure(
        "expired or foreign token",
        "MCP server",
        "An authentication error; the flow gets another token, and nothing is passed on.",
    ),
    Failure(
        "user without access",
        "the service",
        "Denied as if the record did not exist.",
    ),
    Failure(
        "server unavailable",
        "host",
        "A protocol error; tried again only where the call may be repeated and the policy agrees.",
    ),
    Failure(
        "timeout after a write",
        "the service",
        "Settled by its key of the operation, or by looking the operation up.",
    ),
    Failure(
        "malformed response",
        "MCP client",
        "Refused, with the server's release on record.",
    ),
    Failure(
        "hostile text in a result",
        "host",
        "It stays a tool result; the policy stands before what it asks for.",
    ),
    Failure(
        "a tool's schema changed",
        "release process",
        "Found by its pin, and tested, before a model sees it.",
    ),
)


@dataclass(frozen=True)
class Notes:
    """The description: what the service is for, who owns it, and the review with your decisions.

    ``examples`` holds arguments for each tool that its schema takes. A value: ``failing`` returns
    another one.
    """

    review: Review
    purpose: str = ASK
    owner: str = ASK
    examples: Mapping[str, JsonObject] = field(default_factory=dict)
    failures: tuple[Failure, ...] = FAILURES

    @property
    def server(self) -> str:
        """The name that the host gives the server."""
        return self.review.server

    @property
    def tools(self) -> list[McpTool]:
        """The tools that were reviewed."""
        return self.review.tools

    def example(self, tool: McpTool) -> JsonObject:
        """Arguments for ``tool``.

        Raises: ValueError naming the tool, when there are none or its schema refuses them.
        """
        given = self.examples.get(tool.name, {})
        fault = tool.input_validator.fault(given)
        if fault:
            raise ValueError(f"give examples[{tool.name!r}] arguments that fit: {fault}")
        return given

    def failing(self, what: str, ours: str) -> Notes:
        """With what your service does about one row of the failure table.

        Raises: ValueError for a row that is not there, naming those that are.
        """
        if what not in [row.what for row in self.failures]:
            raise ValueError(f"no row {what!r}; there are {', '.join(r.what for r in FAILURES)}")
        rows = (replace(r, ours=ours) if r.what == what else r for r in self.failures)
        return replace(self, failures=tuple(rows))
