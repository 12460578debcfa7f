"""What the model calls each tool of several servers: one name for each, the same every time.

The names come from those that the host gave its servers, never from what a server says of itself
(server/tools#tool-names), so no two tools share one and none takes another's place unseen.
"""

from __future__ import annotations

import hashlib
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from mini_agent.difference import canonical
from mini_agent.mcp.adapter import LONGEST_NAME, model_name

Key: TypeAlias = tuple[str, str]
"""The configured server's name, and the server's own name for the tool."""

LIKE_HASHED = re.compile(r".*_[0-9a-f]{8}")


def exposed_names(keys: Iterable[Key], taken: Iterable[str] = ()) -> dict[Key, str]:
    """A name for each key, none twice and none of ``taken``, whatever order the keys come in.

    It is ``plain_name`` where the model's API takes that and nobody else would have it. All others
    end in a hash of server and tool, and no plain name looks as those do: so a tool that is added
    never gets the name that another had.
    """
    plain = {key: plain_name(*key) for key in keys}
    wanted = Counter([*plain.values(), *taken])
    names = {key: n for key, n in plain.items() if wanted[n] == 1 and is_plain(n)}
    used = {*names.values(), *wanted}
    for key in sorted(plain.keys() - names.keys()):
        names[key] = next(name for name in hashed_names(key) if name not in used)
        used.add(names[key])
    return {key: names[key] for key in plain}


def plain_name(server: str, tool: str) -> str:
    """``server_tool``; ``tool`` alone where it begins with its server's name as a word of its own.

    ``search`` of server ``web`` is ``web_search``, ``calendar_create`` of server ``calendar`` is
    ``calendar_create``.
    """
    rest = tool.removeprefix(server) if tool.startswith(server) else "x"
    return f"{server}_{tool}" if rest[:1].isalnum() else tool


def is_plain(name: str) -> bool:
    """Does the model's API take it as it is, and does it not look like one with a hash?"""
    return model_name(name) == name and not LIKE_HASHED.fullmatch(name)


def hashed_names(key: Key) -> Iterator[str]:
    """Names for ``key`` that the model's API takes and that end in a hash of it, without end."""
    begins = re.sub(r"[^A-Za-z0-9_-]", "_", plain_name(*key))[: LONGEST_NAME - 9]
    for number in itertools.count():
        digest = hashlib.sha256(canonical([*key, number]).encode()).hexdigest()
        yield f"{begins}_{digest[:8]}"
