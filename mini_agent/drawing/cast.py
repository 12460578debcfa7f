"""Who may stand in a sequence, in their order from left to right, and what a row of it is."""

from __future__ import annotations

from dataclasses import dataclass

from mini_agent.drawing.canvas import NEUTRAL, Look

DECIDES = "policy, person"  # a rule or somebody: the trace does not say which of the two
HOST = "host"  # beside the loop and no storey of the chain: it joins servers, and decides
CAST = (DECIDES, "model", "loop", HOST, "adapter", "client", "transport", "server")


@dataclass(frozen=True)
class Row:
    """An arrow along ``path`` (two or more of CAST), or a note when ``path`` names only one."""

    path: tuple[str, ...]
    text: str
    look: Look = NEUTRAL
    reply: bool = False
