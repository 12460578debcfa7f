"""The tools that were reviewed, kept from one day to the next, and what is no longer as it was.

A file holds them in full, since a hash alone could not show what changed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from mini_agent.files import may_write, replace_file
from mini_agent.mcp.shapes import McpTool
from mini_agent.pin import FIELDS, Change, pin, same_but_for_the_name
from mini_agent.types import JsonObject
from mini_agent.visible import visible

FORMAT = "mini-agent pins, 1"
BRING_BACK = "bring the file back from a copy, or remove it and review the servers again"
MAKE_WAY = "what is there was not changed; let the file be written, or save to another one"


class PinsError(Exception):
    """The file of pins cannot be used."""

    def __init__(self, path: Path, what: str, mend: str) -> None:
        super().__init__(path, what, mend)
        self.path = path
        self.what = what
        self.mend = mend

    def __str__(self) -> str:
        return f"pins {self.path}: {self.what}; {self.mend}"


Reviewed: TypeAlias = Mapping[str, Mapping[str, McpTool]]


@dataclass(frozen=True)
class Pins:
    """The tools that were reviewed, by the configured server's name and the tool's own.

    A value: ``keep`` and ``forget`` return another one, ``save`` puts it on disk. Anybody who can
    write the file can review in your name: it belongs where the policy is.
    """

    servers: Reviewed = field(default_factory=dict)

    def tool(self, server: str, name: str) -> McpTool | None:
        """The tool as it was reviewed, None when it never was."""
        return self.servers.get(server, {}).get(name)

    def changes(self, server: str, tools: Iterable[McpTool]) -> list[Change]:
        """What is not as reviewed in the list that ``server`` gives now, in its order; gone last.

        Of a server that was never reviewed, every tool is added.
        """
        listed = list(tools)
        names = {tool.name for tool in listed}
        gone = [tool for name, tool in self._of(server).items() if name not in names]
        found = [self._change(server, tool, gone) for tool in listed if not self.hold(server, tool)]
        return [*found, *(Change(server, tool.name, tool, None) for tool in gone)]

    def hold(self, server: str, tool: McpTool) -> bool:
        """Is ``tool`` exactly what was reviewed under its name?"""
        known = self.tool(server, tool.name)
        return known is not None and pin(known) == pin(tool)

    def keep(self, server: str, tools: Iterable[McpTool]) -> Pins:
        """With ``tools`` reviewed as they are now, beside what is kept already.

        Of two with one name the first counts, as for McpClient; the other stays a change.
        """
        named = {tool.name: tool for tool in reversed(list(tools))}
        return self._with(server, {**self._of(server), **dict(reversed(named.items()))})

    def forget(self, server: str, *names: str) -> Pins:
        """Without these tools of ``server``; without all of them when none is named."""
        left = {n: tool for n, tool in self._of(server).items() if names and n not in names}
        return self._with(server, left)

    def _of(self, server: str) -> Mapping[str, McpTool]:
        return self.servers.get(server, {})

    def _with(self, server: str, tools: Mapping[str, McpTool]) -> Pins:
        return Pins({**self.servers, server: tools})

    def _change(self, server: str, tool: McpTool, gone: list[McpTool]) -> Change:
        before = self.tool(server, tool.name)
        like = [] if before else [g.name for g in gone if same_but_for_the_name(g, tool)]
        return Change(server, tool.name, before, tool, "".join(like[:1]))

    # -- on disk ----------------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Replace the file at ``path`` in one step, readable by its owner only (0600).

        Raises: PinsError when it is read-only or cannot be written.
        """
        target = Path(os.path.realpath(path))
        try:
            if target.exists() and not may_write(target):
                raise PinsError(Path(path), "the file is read-only", MAKE_WAY)
            replace_file(target, _to_json(self.servers).encode())
        except OSError as cause:
            what = f"it cannot be written ({cause.strerror})"
            raise PinsError(Path(path), what, MAKE_WAY) from cause

    @classmethod
    def load(cls, path: str | Path) -> Pins:
        """The pins kept in ``path``. No file means that nothing was reviewed yet.

        Raises: PinsError for a file that cannot be read, is damaged, or does not fit its hashes.
        """
        try:
            return cls(_from_json(Path(path).read_bytes()))
        except FileNotFoundError:
            return cls()
        except OSError as cause:
            what = f"it cannot be read ({cause.strerror})"
            raise PinsError(Path(path), what, BRING_BACK) from cause
        except (ValueError, RecursionError) as cause:
            raise PinsError(Path(path), f"it is damaged, {cause}", BRING_BACK) from cause


def _to_json(servers: Reviewed) -> str:
    kept = {
        server: [{**asdict(tool), "pin": pin(tool)} for tool in tools.values()]
        for server, tools in servers.items()
        if tools
    }
    return json.dumps({"format": FORMAT, "servers": kept}, indent=2) + "\n"


def _from_json(raw: bytes) -> Reviewed:
    """Raises: ValueError saying what is wrong with the file."""
    stored = json.loads(raw)
    if not isinstance(stored, dict) or stored.get("format") != FORMAT:
        raise ValueError(f'its "format" is not {FORMAT!r}')
    servers = _typed(stored, "servers", (dict,))
    return {server: _tools(servers, server) for server in servers}


def _tools(servers: JsonObject, server: str) -> dict[str, McpTool]:
    tools = [_tool(entry) for entry in _typed(servers, server, (list,))]
    return {tool.name: tool for tool in tools}


def _tool(entry: Any) -> McpTool:
    if not isinstance(entry, dict):
        raise ValueError("an entry is no object")
    tool = McpTool(**{name: _typed(entry, name, types) for name, types in FIELDS.items()})
    if entry.get("pin") != pin(tool):
        raise ValueError(f"tool {visible(tool.name)} does not fit its pin")
    return tool


def _typed(holder: JsonObject, name: str, types: tuple[type, ...]) -> Any:
    value = holder.get(name)
    if not isinstance(value, types):
        raise ValueError(f"{visible(name)!r} is missing or of a wrong type")
    return value
