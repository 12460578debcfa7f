"""The approval card and a trace to look through, for notebooks. ipywidgets is loaded when used.

Its guarantee: a call runs only when somebody pressed Approve on a card that showed all of it.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeAlias

from mini_agent.card import Card, Wait, wait_for_either
from mini_agent.fields import STYLE, shown
from mini_agent.trace import LAYERS, Trace
from mini_agent.types import Approval, ToolCall
from mini_agent.visible import visible

Show: TypeAlias = Callable[[dict[str, Any]], object]

NO_NOTEBOOK = "there is no notebook to ask in"
NO_FRONT_END = "this notebook runs with no front end, so there is nobody to ask"
TOO_DEEP = "its arguments are nested too deeply to be shown"


def ask_in_notebook(
    timeout: float = 60,
    press: Sequence[str] = (),
    *,
    show: Show | None = None,
    wait: Wait | None = None,
) -> Callable[[ToolCall, str], Awaitable[Approval]]:
    """An approver that shows a card and waits for its buttons, inside the running cell.

    Nobody's answer within ``timeout`` seconds is no. So is a place with no notebook, and a notebook
    that runs with no front end, as under nbconvert. ``press`` is for checked cells: one word a
    card, "approve", "deny" or "deny: a reason", pressed on the real buttons, front end or not; when
    the words have run out nobody presses. Two calls at once are asked about one after the other.
    ``show`` displays a bundle, ``wait`` waits for a future and some seconds.

    Raises: ValueError for a timeout that is not above zero, or another word.
    """
    if not timeout > 0:
        raise ValueError("timeout must be above zero, in seconds")
    presses = iter([parse_press(word) for word in press])
    one_at_a_time = asyncio.Lock()

    async def approve(call: ToolCall, why: str) -> Approval:
        display = show or notebook_display()
        if display is None:
            return Approval(False, NO_NOTEBOOK)
        async with one_at_a_time:
            try:
                card = Card(call, why)
            except RecursionError:
                return Approval(False, TOO_DEEP)
            display(card.bundle())
            word = next(presses, None)
            if not (word or show or has_front_end()):
                card.refuse(NO_FRONT_END)
            try:
                return await card.decided(timeout, word, wait or wait_for_either)
            finally:
                display({"text/plain": card.outcome()})

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


def has_front_end() -> bool:
    """Can whoever runs this cell be asked something? nbclient, nbconvert and nbval say no.

    A front end says so with each cell that it has executed (``allow_stdin``).
    """
    from IPython import get_ipython

    request = get_ipython().kernel.get_parent("shell")
    return bool(request.get("content", {}).get("allow_stdin"))


class TraceViewer:
    """The trace's table with a choice of layer; plain text where widgets are not drawn."""

    def __init__(self, trace: Trace) -> None:
        import ipywidgets as w

        self._lines = visible(trace.table(), keep_newlines=True).split("\n")
        names = [layer.name for layer in LAYERS] + [event.layer for event in trace.events]
        options = dict.fromkeys(["all layers", *names])  # the host is in a trace, and no storey
        self.layer = w.Dropdown(options=list(options), description="Layer")
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
