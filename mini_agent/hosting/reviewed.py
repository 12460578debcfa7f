"""Which tools are as they were reviewed; the others are withheld until somebody has said yes.

Its guarantee: the model is told of a tool only as it was reviewed, or approved by its difference.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from mini_agent.approval import Approver, HostCall, Rule, obey
from mini_agent.hosting.recorder import Recorder, lost_is_noted
from mini_agent.hosting.routes import Route, Routes
from mini_agent.mcp.shapes import McpTool
from mini_agent.pin import Change, pin
from mini_agent.pins import Pins
from mini_agent.types import Approval

OFFERS = "yes offers it to the model as it is now, and runs nothing"


class Reviewed:
    """Holds ``routes`` against ``pins``, which grow by what is approved; None withholds nothing."""

    def __init__(
        self, pins: Pins | None, routes: Routes, record: Recorder, approver: Approver | None
    ) -> None:
        self.pins = pins
        self._routes = routes
        self._record = record
        self._approver = approver
        self._asking = asyncio.Lock()  # of two that ask at once, the second finds the answers
        self._declined: set[tuple[str, str, str]] = set()  # server, tool and pin that got a no

    def offers(self, route: Route) -> bool:
        """May the model have it?"""
        return self.pins is None or not route.pin or self.pins.hold(route.server, route.tool)

    def changes(self) -> list[Change]:
        """What is withheld, in the order of the tools."""
        return [] if self.pins is None else changed(self.pins, self._routes().values())

    async def ask(self) -> None:
        """Ask about each change, once; a yes is kept in ``pins``.

        Raises: AuditError; what the approver raises.
        """
        async with self._asking:
            for change in self.changes():
                await self._ask(change)

    async def _ask(self, change: Change) -> None:
        if self.pins is None or change.after is None:
            return
        asked = question_of(change, self._routes.of(change.server, change.tool))
        if (change.server, change.tool, asked.pin) in self._declined:
            return
        rule = Rule(change.tool, "ask", change.server, f"{change}; {OFFERS}")
        client = self._routes.client(change.server)
        try:
            approval = await obey(rule, self._approver, asked)
        except BaseException as failure:
            no = Approval(False, f"the question ended in {type(failure).__name__}")
            with lost_is_noted(failure):
                self._record.decided(asked, client, no)
            raise
        self._record.decided(asked, client, approval)
        if approval.approved is True:
            self.pins = self.pins.keep(change.server, [change.after])
        else:
            self._declined.add((change.server, change.tool, asked.pin))


def changed(pins: Pins, routes: Iterable[Route]) -> list[Change]:
    """What the servers list now and is not as it was reviewed."""
    by_server: dict[str, list[McpTool]] = {}
    for route in routes:
        if route.pin:
            by_server.setdefault(route.server, []).append(route.tool)
    found = [change for listed in by_server.items() for change in pins.changes(*listed)]
    return [change for change in found if change.after is not None]


def question_of(change: Change, route: Route | None) -> HostCall:
    """What an approver is shown of a change: it is no call, its argument is the difference."""
    return HostCall(
        "",
        route.name if route else change.tool,
        {"difference": change.difference.split("\n")},
        server=change.server,
        tool=change.tool,
        pin=pin(change.after) if change.after else "",
    )
