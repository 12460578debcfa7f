"""The approval card: all of one call in fields that nobody can write in, two buttons, a countdown.

Somebody else's text goes into disabled text fields and nowhere else: they show it letter by
letter, while a Label would typeset ``$…$`` in it and HTML would execute it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, TypeAlias

from mini_agent.types import Approval, ToolCall
from mini_agent.visible import visible, visible_json

Wait: TypeAlias = Callable[["asyncio.Future[Approval]", float], Awaitable[object]]

APPROVE, DENY, WHITE = "#0B4F94", "#A12C0B", "#FFFFFF"
COLUMNS = 80
LONGEST_LINE = 300  # characters of the line that stands for the card where widgets are not drawn
PRESS_AFTER = 0.02  # seconds: once the card is out and awaited

# The notebook's theme fades what is disabled, and here that is what has to be read.
STYLE = """<style>
.mini-agent-card { border: 2px solid var(--jp-ui-font-color2, #666); border-radius: 6px;
  padding: 8px 12px; color: var(--jp-ui-font-color1, inherit) }
.mini-agent-card textarea:disabled, .mini-agent-card input:disabled { opacity: 1 !important;
  color: var(--jp-ui-font-color0, inherit) !important; field-sizing: content;
  font-family: var(--jp-code-font-family, monospace); width: 100%; box-sizing: border-box }
.mini-agent-card button { font-weight: 600 }
.mini-agent-card button:disabled { opacity: 0.5 }
.mini-agent-card button:focus-visible { outline: 3px solid var(--jp-ui-font-color1, #000) }
</style>"""


class Card:
    """One question: all of ``call``, why it is asked, two buttons, a reason, a countdown."""

    def __init__(self, call: ToolCall, why: str) -> None:
        import ipywidgets as w

        self._loop = asyncio.get_running_loop()
        self._future: asyncio.Future[Approval] = self._loop.create_future()
        self._asked = one_line(call, why)
        self._name = visible(call.name)
        self.approve = _button("Approve", APPROVE, "Let this call run, with these arguments")
        self.deny = _button("Deny", DENY, "Do not run this call; the model is told the reason")
        self.reason = w.Text(
            description="Reason", placeholder="optional", layout=w.Layout(flex="1 1 12em")
        )
        self.status = w.Label("")
        self.approve.on_click(lambda _: self._pressed(True))
        self.deny.on_click(lambda _: self._pressed(False))
        layout = w.Layout(flex_flow="wrap", margin="8px 0 0 0")
        buttons = w.HBox([self.approve, self.deny, self.reason], layout=layout)
        asked = [shown("Tool", self._name), *([shown("Why", visible(why))] if why else [])]
        arguments = shown("Arguments", visible_json(call.input))
        heading = w.Label("May this call run?", style={"font_weight": "bold"})
        children = [w.HTML(STYLE), heading, *asked, arguments, buttons, self.status]
        self.box = w.VBox(children, layout=w.Layout(max_width="760px"))
        self.box.add_class("mini-agent-card")

    def bundle(self) -> dict[str, Any]:
        """What a notebook displays: the card, and a sentence where widgets are not drawn."""
        return {**self.box._repr_mimebundle_(), "text/plain": self._asked}

    def outcome(self) -> str:
        """One line: which call, how it was decided, and why."""
        approval = self._future.result()
        verdict = "approved" if approval.approved else "denied"
        told = approval.reason.startswith(verdict)
        return visible(f"{self._name}: {'' if told else verdict + ', '}{approval.reason}")

    async def decided(self, timeout: float, press: tuple[bool, str] | None, wait: Wait) -> Approval:
        """The answer; no when ``timeout`` seconds pass. Cancelling closes the card as denied."""
        hand = press and self._loop.call_later(PRESS_AFTER, self._press, *press)
        try:
            for left, step in seconds(timeout):
                self.status.value = f"Denied in {left:g} s unless you decide."
                await wait(self._future, step)
                if self._future.done():
                    break
            self._decide(Approval(False, f"nobody answered within {timeout:g} s"))
        except asyncio.CancelledError:
            self._decide(Approval(False, "the cell was cancelled"))
            raise
        finally:
            if hand:
                hand.cancel()
        return self._future.result()

    def _press(self, approved: bool, reason: str) -> None:
        self.reason.value = reason
        (self.approve if approved else self.deny).click()

    def _pressed(self, approved: bool) -> None:
        """A click, on whatever thread the kernel handles it."""
        said = "approved in the notebook" if approved else "denied in the notebook"
        approval = Approval(approved, self.reason.value.strip() or said)
        self._loop.call_soon_threadsafe(self._decide, approval)

    def _decide(self, approval: Approval) -> None:
        """The first answer counts; the card then says which it was and takes no other."""
        if self._future.done():
            return
        self._future.set_result(approval)
        for widget in (self.approve, self.deny, self.reason):
            widget.disabled = True
        self.reason.value = visible(approval.reason)
        self.status.value = "Approved. The call runs." if approval.approved else "Denied."


def seconds(timeout: float) -> Iterator[tuple[float, float]]:
    """What is left at each look at the clock, and how long to wait until the next."""
    left = timeout
    while left > 0:
        yield left, min(1.0, left)
        left -= 1


def one_line(call: ToolCall, why: str) -> str:
    """The question as one line of text, long arguments cut visibly."""
    arguments = json.dumps(call.input, ensure_ascii=False, sort_keys=True, default=repr)
    because = f" ({why})" if why else ""
    line = visible(f"Approval card: {call.name} {arguments}{because}")
    return line if len(line) <= LONGEST_LINE else line[: LONGEST_LINE - 1] + "…"


def shown(name: str, text: str) -> Any:
    """A text field that nobody can write in, high enough for all of ``text``."""
    import ipywidgets as w

    rows = sum(1 + len(line) // COLUMNS for line in text.split("\n"))
    return w.Textarea(
        value=text, description=name, disabled=True, rows=rows, layout=w.Layout(width="auto")
    )


def _button(text: str, colour: str, tooltip: str) -> Any:
    import ipywidgets as w

    style = {"button_color": colour, "text_color": WHITE}
    return w.Button(description=text, tooltip=tooltip, style=style)


async def wait_for_either(future: asyncio.Future[Approval], seconds: float) -> None:
    """Return when the future is done or the seconds are over; it is not cancelled."""
    await asyncio.wait([future], timeout=seconds)
