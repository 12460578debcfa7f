"""The approval card: all of one call in fields that nobody can write in, two buttons, a countdown.

Somebody else's text goes into disabled text fields and nowhere else: they show it letter by
letter, while a Label would typeset ``$…$`` in it and HTML would execute it.
"""

from __future__ import annotations

import asyncio
import contextvars
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any, TypeAlias

from mini_agent.approval import HostCall
from mini_agent.fields import APPROVE, DENY, STYLE, button, how_long, ours, shown
from mini_agent.types import Approval, ToolCall
from mini_agent.visible import visible, visible_json

Wait: TypeAlias = Callable[["asyncio.Future[Approval]", float], Awaitable[object]]

LONGEST_LINE = 300  # characters of the line that stands for the card where widgets are not drawn
PRESS_AFTER = 0.02  # seconds: once the card is out and awaited
LOCAL = "(none: a tool of this program)"


class Card:
    """One question: all of ``call``, why it is asked, two buttons, a reason, a countdown.

    Raises: RecursionError for arguments nested too deeply to be shown.
    """

    def __init__(self, call: ToolCall, why: str) -> None:
        import ipywidgets as w

        self._loop = asyncio.get_running_loop()
        self._context = contextvars.copy_context()
        self._future: asyncio.Future[Approval] = self._loop.create_future()
        self._asked = one_line(call, why)
        self._name = visible(call.name)
        self.approve = button("Approve", APPROVE, "Let this call run, with these arguments")
        self.deny = button("Deny", DENY, "Do not run this call; the model is told the reason")
        self.reason = self._reason("")
        row = w.Layout(flex_flow="wrap", margin="8px 0 0 0")
        self._row = w.HBox([self.approve, self.deny, self.reason], layout=row)
        self.status = w.HTML("")
        self.approve.on_click(lambda _: self._pressed(True))
        self.deny.on_click(lambda _: self._pressed(False))
        children = [w.HTML(STYLE), *told_of(call, why), self._row, self.status]
        self.box = w.VBox(children, layout=w.Layout(max_width="760px"))
        self.box.add_class("mini-agent-card").add_class("mini-agent-approval")

    def _reason(self, typed: str) -> Any:
        import ipywidgets as w

        field = w.Text(
            value=typed,
            description="Reason",
            placeholder="optional",
            continuous_update=False,
            layout=w.Layout(flex="1 1 12em"),
        )
        field.observe(self._typed, names="value")
        return field

    def _typed(self, change: Mapping[str, Any]) -> None:
        """What was typed goes on in a new field, so that each field is changed once.

        While a cell runs, a front end sends the first change of a widget and holds back those
        after it: it waits for an idle kernel (ipykernel 7.4).
        """
        self._in_the_cell(self._go_on, change["new"])

    def _go_on(self, typed: str) -> None:
        if not self._future.done():
            self.reason = self._reason(typed)
            self._row.children = (self.approve, self.deny, self.reason)

    def _in_the_cell(self, do: Callable[..., None], *arguments: object) -> None:
        """Call ``do`` soon, in the event loop and the context of the cell that asks.

        ipykernel sends a widget's messages to the thread that last wrote to it. Written to from
        anywhere else, the new field and the buttons would have one each, and no order.
        """
        self._loop.call_soon_threadsafe(do, *arguments, context=self._context)

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
                if self._future.done():
                    break
                self.status.value = ours(f"Denied in {left:g} s unless you decide.", "timer")
                await wait(self._future, step)
            self.refuse(f"nobody answered within {timeout:g} s")
        except BaseException:  # cancelled, or a KeyboardInterrupt
            self.refuse("the cell was cancelled")
            self.status.value = ours("Denied: the cell was cancelled.", "alert")  # an Approve, too
            raise
        finally:
            if hand:
                hand.cancel()
        return self._future.result()

    def refuse(self, reason: str) -> None:
        """Deny for a reason of the host's own, unless the card is decided already."""
        self._decide(Approval(False, reason), f"Denied: {reason}.")

    def _press(self, approved: bool, reason: str) -> None:
        self.reason.value = reason
        (self.approve if approved else self.deny).click()

    def _pressed(self, approved: bool) -> None:
        """A click, on whatever thread the kernel handles it."""
        said = "approved in the notebook" if approved else "denied in the notebook"
        approval = Approval(approved, self.reason.value.strip() or said)
        shown = "Approved. The call runs." if approved else "Denied. The call does not run."
        self._in_the_cell(self._decide, approval, shown)

    def _decide(self, approval: Approval, said: str) -> None:
        """The first answer counts; the card then says which it was and takes no other."""
        if self._future.done():
            return
        self._future.set_result(approval)
        for widget in (self.approve, self.deny, self.reason):
            widget.disabled = True
        self.reason.value = visible(approval.reason)
        self.status.value = ours(said, "alert")


def seconds(timeout: float) -> Iterator[tuple[float, float]]:
    """What is left at each look at the clock, and how long to wait until the next."""
    left = timeout
    while left > 0:
        yield left, min(1.0, left)
        left -= 1


def told_of(call: ToolCall, why: str) -> list[Any]:
    """All of the card that tells: the question, the facts, every argument, how long they are."""
    import ipywidgets as w

    arguments = visible_json(call.input)
    fields = [shown(name, text) for name, text in [*facts(call, why), ("Arguments", arguments)]]
    long = how_long(arguments)
    notes = [w.HTML(ours(long, "note"))] if long else []
    return [w.HTML(ours("May this call run?", "heading")), *fields, *notes]


def facts(call: ToolCall, why: str) -> list[tuple[str, str]]:
    """What a card says above the arguments, as names and visible text.

    Of a HostCall: whose tool it is, what the policy says, and the pin of what was listed.
    """
    told = [("Tool", call.name), ("Why", why)]
    if isinstance(call, HostCall):
        known_as = call.name if call.name != call.tool else ""
        told = [("Server", call.server or LOCAL), ("Tool", call.tool), ("Known as", known_as)]
        told += [("Policy", call.decision), ("Why", why), ("Pin", call.pin)]
    return [(name, visible(text, keep_newlines=name == "Why")) for name, text in told if text]


def one_line(call: ToolCall, why: str) -> str:
    """The question as one line of text, long arguments cut with what is left out counted."""
    arguments = json.dumps(call.input, ensure_ascii=False, sort_keys=True, default=repr)
    what = call.name
    if isinstance(call, HostCall) and call.server:
        what = f"{call.tool} of server {call.server}"
    line = visible(f"Approval card: {what} {arguments}{f' ({why})' if why else ''}")
    more = len(line) - LONGEST_LINE
    return line if more <= 0 else f"{line[:LONGEST_LINE]}… ({more:,} more characters)"


async def wait_for_either(future: asyncio.Future[Approval], seconds: float) -> None:
    """Return when the future is done or the seconds are over; it is not cancelled."""
    await asyncio.wait([future], timeout=seconds)
