"""The pin: a hash of what was reviewed of a tool, and a change that it makes visible.

Whatever the model or a reader is told of a tool is in its pin, so a server that offers something
else tomorrow under the same name does not pass unnoticed.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from types import NoneType
from typing import Literal

from mini_agent.difference import canonical, difference
from mini_agent.mcp.shapes import McpTool
from mini_agent.types import JsonObject
from mini_agent.visible import visible

FIELDS: dict[str, tuple[type, ...]] = {
    "name": (str,),
    "title": (str,),
    "description": (str,),
    "input_schema": (dict,),
    "output_schema": (dict, NoneType),
    "annotations": (dict,),
}
"""What of a tool is pinned, and kept in the file."""


def pin(tool: McpTool) -> str:
    """The hash of what was reviewed of ``tool``: SHA-256 over its FIELDS, 64 hexadecimal digits.

    The order of an object's keys does not count: JSON gives it no meaning. The server's version,
    the order of its list and its ``_meta`` are no part of a tool and may change innocently.
    """
    return hashlib.sha256(canonical(reviewed(tool)).encode()).hexdigest()


def reviewed(tool: McpTool) -> JsonObject:
    """What of ``tool`` is pinned, as JSON."""
    return {name: getattr(tool, name) for name in FIELDS}


@dataclass(frozen=True)
class Change:
    """A tool that is not as it was reviewed. ``before`` is None when added, ``after`` when gone.

    ``like`` names a tool that is gone and differed from an added one in nothing but its name.
    """

    server: str
    tool: str
    before: McpTool | None
    after: McpTool | None
    like: str = ""

    @property
    def kind(self) -> Literal["added", "gone", "changed"]:
        """What happened to the tool since it was reviewed."""
        if self.before is None:
            return "added"
        return "changed" if self.after else "gone"

    @property
    def difference(self) -> str:
        """``-`` what was reviewed, ``+`` what is there now, a place at a time, made visible."""
        was, now = (reviewed(tool) if tool else {} for tool in (self.before, self.after))
        return difference(was, now)

    def __str__(self) -> str:
        about = f"{visible(self.tool)} of server {visible(self.server)}"
        if self.kind == "changed":
            return f"{about} is not as it was reviewed"
        if self.kind == "gone":
            return f"{about} was reviewed and is gone"
        as_was = f"; it is as {visible(self.like)} was, which is gone" if self.like else ""
        return f"{about} was never reviewed{as_was}"


def same_but_for_the_name(one: McpTool, other: McpTool) -> bool:
    """Do the two differ in nothing that is pinned but their names?"""
    first, second = ({**reviewed(tool), "name": ""} for tool in (one, other))
    return canonical(first) == canonical(second)
