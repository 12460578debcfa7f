"""The approval card and a trace to look through, for notebooks. ipywidgets is loaded when used.

Its guarantee: a call runs only when somebody pressed Approve on a card that showed all of it.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeAlias

from mini_agent.card import STYLE, Card, Wait, shown, wait_for_either
from mini_agent.trace import LAYERS, Trace
from mini_agent.types import Approval, ToolCall
from mini_agent.visible import visible

Show: TypeAlias = Callable[[dict[str, Any]], object]


def ask_in_notebook(
    timeout: float = 60,
    press: Sequence[str] = (),
    *,
    show: Show | None = None,
    wait: Wait | None = None,
) -> Callable[[ToolCall, str], Awaitable[Approval]]:
    """An approver that shows a card and waits for its buttons, inside the running cell.

    Nobody's answer within ``timeout`` seconds is no, and so is a place with no notebook. ``press``
    is for checked cells: one word a card, "approve", "deny" or "deny: a reason", pressed on the
    real buttons; when the words have run out nobody presses. Two calls at once are asked about
    one after the other. ``show`` displays a bundle, ``wait`` waits for a future and some seconds.

    Raises: ValueError for a timeout that is not above zero, or another word.
    """
    if not timeout > 0:
        raise ValueError("timeout must be above zero, in seconds")
    presses = iter([parse_press(word) for word in press])
    one_at_a_time = asyncio.Lock()

    async def approve(call: ToolCall, why: str) -> Approval:
        display = show or notebook_display()
        if display is None:
            return Approval(False, "there is no notebook to ask in")
        async with one_at_a_time:
            card = Card(call, why)
            display(card.bundle())
            approval = await card.decided(timeout, next(presses, None), wait or wait_for_either)
            display({"text/plain": card.outcome()})
            return approval

    return approve


def parse_press(word: str) -> tuple[bool, str]:
    """Whether to press Approve, and what to write into the reason field first.

    Raises: ValueError for a word that is neither approve nor deny.
    """
    button, _, reason = word.partition(":")
    if button not in ("approve", "deny"):
        raise ValueError(f'press takes "approve", "deny" or "deny: a reason", not {word!r}')
    return button == "approve", reason.strip()


def notebook_display() -> Show | None:
    """What displays a bundle in the running cell; None outside an IPython kernel."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if not hasattr(shell, "kernel"):
        return None
    from IPython.display import display

    return lambda bundle: display(bundle, raw=True)  # type: ignore[no-untyped-call]


class TraceViewer:
    """The trace's table with a choice of layer; plain text where widgets are not drawn."""

    def __init__(self, trace: Trace) -> None:
        import ipywidgets as w

        self._lines = visible(trace.table(), keep_newlines=True).split("\n")
        self.layer = w.Dropdown(
            options=["all layers", *(layer.name for layer in LAYERS)], description="Layer"
        )
        self.table = shown("Events", "\n".join(self._lines))
        self.layer.observe(self._choose, names="value")
        self.box = w.VBox([w.HTML(STYLE), self.layer, self.table])
        self.box.add_class("mini-agent-card")

    def _choose(self, change: dict[str, str]) -> None:
        wanted = change["new"]
        chosen = [line for line in self._lines if wanted in ("all layers", line.split(" ")[0])]
        self.table.value = "\n".join(chosen)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        return {**self.box._repr_mimebundle_(), "text/plain": "\n".join(self._lines)}


def trace_viewer(trace: Trace) -> TraceViewer:
    """A snapshot of ``trace`` to look through, for the last line of a cell."""
    return TraceViewer(trace)
