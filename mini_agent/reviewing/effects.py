"""What a tool may change, and who says so: its annotations, which are claims, or the defaults.

Specification: server/tools, ToolAnnotations. "Clients MUST consider tool annotations to be
untrusted unless they come from trusted servers." Where a tool says nothing the revision's defaults
hold: it is not read-only, it destroys, it counts twice when called twice, it reaches outside.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from mini_agent.mcp.shapes import McpTool
from mini_agent.reviewing.finding import Finding, quoted
from mini_agent.reviewing.names import fold
from mini_agent.types import JsonObject

DEFAULTS = {
    "readOnlyHint": False,
    "destructiveHint": True,
    "idempotentHint": False,
    "openWorldHint": True,
}
DESTROYING = frozenset(
    {"cancel", "delete", "destroy", "drop", "erase", "kill", "purge", "remove", "revoke"}
    | {"truncate", "uninstall", "wipe"}
)
CHANGING = frozenset(
    {"add", "append", "archive", "book", "create", "edit", "execute", "insert", "install", "move"}
    | {"overwrite", "pay", "post", "publish", "rename", "replace", "run", "send", "set", "submit"}
    | {"update", "upload", "write"}
)
READING = frozenset(
    {"count", "describe", "fetch", "find", "get", "list", "query", "read", "search", "show"}
)
"""After one of these, a word of CHANGING is a noun: ``get_post`` posts nothing."""


@dataclass(frozen=True)
class Effect:
    """What a tool says it does. ``said`` are the hints that it gives; the others are defaults."""

    reads: bool
    destroys: bool
    repeats: bool
    outside: bool
    said: frozenset[str] = frozenset()

    @property
    def changes(self) -> str:
        """What it may change, in a few words."""
        if self.reads:
            return "nothing, it says"
        if not self.destroys:
            return "it adds and takes nothing away, it says"
        if "destructiveHint" in self.said:
            return "it may replace or delete, it says"
        return "anything" if "readOnlyHint" not in self.said else "it changes something, it says"

    @property
    def reach(self) -> str:
        """How far it reaches, in a few words."""
        if not self.outside:
            return "its own service, it says"
        return "beyond its service" + (", it says" if "openWorldHint" in self.said else "")

    @property
    def origin(self) -> str:
        """Where the claim comes from."""
        deciding = {"readOnlyHint"} if self.reads else {"readOnlyHint", "destructiveHint"}
        if self.said & deciding:
            return "annotation, unproven"
        return "default: it says nothing"


def effect_of(tool: McpTool) -> Effect:
    """What ``tool`` says of itself, the defaults where it says nothing or no boolean."""
    said = {name for name in DEFAULTS if isinstance(tool.annotations.get(name), bool)}
    holds = {n: tool.annotations[n] if n in said else value for n, value in DEFAULTS.items()}
    return Effect(
        reads=holds["readOnlyHint"],
        destroys=holds["destructiveHint"] and not holds["readOnlyHint"],
        repeats=holds["idempotentHint"] or holds["readOnlyHint"],
        outside=holds["openWorldHint"],
        said=frozenset(said),
    )


def effect_findings(tool: McpTool) -> Iterator[Finding]:
    """Annotations that are none, and a claim to read that the tool's own name speaks against."""
    odd = odd_hints(tool.annotations)
    if odd:
        what = f"{', '.join(odd)} is no boolean and was read as not given"
        yield Finding("annotation", "annotations", what)
    reads, verb = effect_of(tool).reads, verb_of(tool.name)
    if reads and tool.annotations.get("destructiveHint") is True:
        what = "says that it only reads, and that it may destroy"
        yield Finding("annotation", "annotations", what)
    if reads and verb:
        what = f"says that it only reads, and its name says {quoted(verb)}"
        yield Finding("contradiction", "annotations.readOnlyHint", what, serious=True)


def odd_hints(annotations: JsonObject) -> list[str]:
    """The hints that are there and are neither true nor false."""
    return [n for n in DEFAULTS if not isinstance(annotations.get(n), bool | None)]


def verb_of(name: str) -> str:
    """The first word of ``name`` that speaks of a change, "" when none does."""
    split = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    words = re.split(r"[^a-z0-9]+", fold(split))
    speaks = DESTROYING if READING & set(words[:1]) else DESTROYING | CHANGING
    return next((word for word in words if word in speaks), "")
