"""The way of one call through the host: decided, granted, checked once more, and sent.

Its guarantee: whatever happens between the yes and the call, what is sent is what was approved.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from dataclasses import dataclass, field

from mini_agent.approval import Approver, HostCall, Policy, Rule, obey
from mini_agent.errors import HeaderMismatch
from mini_agent.hosting.access import Access, may_reach
from mini_agent.hosting.attempts import Bounds, within
from mini_agent.hosting.fills import filled
from mini_agent.hosting.grants import Grants, binding
from mini_agent.hosting.recorder import Recorder, lost_is_noted
from mini_agent.hosting.rounds import ToolChanged, checked
from mini_agent.hosting.routes import Route, Routes
from mini_agent.trace import followed
from mini_agent.types import Approval, JsonObject, ToolCall, ToolResult

NO_CALL = "it is no call of a tool, which has an id, a name and a JSON object of arguments"
NOT_OFFERED = "this tool is not offered now; the tools of the next run are read afresh"
NOT_APPROVED = "it was not approved with these arguments, or its approval is used up"
CHANGED = "the tool is no longer as it was listed; the tools of the next run are read afresh"


@dataclass(frozen=True)
class Gate:
    """``offered`` says of a route whether the model may have it at all."""

    routes: Routes
    record: Recorder
    policy: Policy
    approver: Approver | None
    user: str | None
    access: Access | None
    bounds: Bounds
    offered: Callable[[Route], bool]
    grants: Grants = field(default_factory=Grants)

    # -- before the call --------------------------------------------------------------------------

    async def decide(self, call: ToolCall) -> Approval:
        """May ``call`` run? A yes is good for one execution of exactly this.

        Raises: AuditError when the decision cannot be recorded; ValueError for a call that needs
        a run, outside of one; what the approver raises.
        """
        if not is_whole(call):
            return self._decided(None, nobodys(call), Approval(False, NO_CALL))
        route = self.routes().get(call.name)
        if route is None:
            return self._decided(None, nobodys(call), Approval(False, NOT_OFFERED))
        rule = self.policy.decide(route.server, route.tool.name)
        asked = route.call(call.id, call.input, rule.decision)
        if not self.offered(route):
            return self._decided(route, asked, Approval(False, NOT_OFFERED))
        asked = self._filled(route, asked)
        try:
            approval = await self._ask(route, rule, call.input, asked)
        except BaseException as failure:
            self._ended(route, asked, "the question", failure)
            raise
        return self._decided(route, asked, approval)

    def _filled(self, route: Route, call: HostCall) -> HostCall:
        """``call`` with what the host fills in; a Fill that fails is a no, and written down."""
        try:
            return filled(call, route.fills)
        except BaseException as failure:
            self._ended(route, call, "what the host fills in", failure)
            raise

    def _ended(self, route: Route, call: HostCall, what: str, failure: BaseException) -> None:
        with lost_is_noted(failure):
            no = Approval(False, f"{what} ended in {type(failure).__name__}")
            self._decided(route, call, no)

    async def _ask(self, route: Route, rule: Rule, given: JsonObject, asked: HostCall) -> Approval:
        """User, arguments, policy, person: in this order, and the first no is the answer."""
        # Each gets a copy of its own: whoever is asked changes nothing of what is shown or sent.
        reach = await may_reach(self.access, self.user, copy.deepcopy(asked))
        if not isinstance(reach.reason, str):
            raise TypeError(f"access gave a reason of {type(reach.reason).__name__}, not a text")
        if reach.approved is not True:
            return reach
        fault = route.fault(given, asked)
        if fault:
            return Approval(False, fault)
        return await obey(rule, self.approver, copy.deepcopy(asked))

    def _decided(self, route: Route | None, asked: HostCall, approval: Approval) -> Approval:
        self.record.decided(asked, route.client if route else None, approval)
        if route is not None and approval.approved is True:
            self.grants.give(binding(asked), asked.decision)
        return approval

    # -- the call ---------------------------------------------------------------------------------

    async def execute(self, route: Route, given: JsonObject) -> ToolResult:
        """Send the call that was approved, or say why it is not sent.

        Raises: McpError; AuditError; what a local tool raises; what a Fill raises.
        """
        rule = self.policy.decide(route.server, route.tool.name)
        call = self._filled(route, route.call(followed(), given, rule.decision))
        if not self._as_listed(route):
            return self._refuse(route, call, CHANGED)
        decision = self.grants.take(binding(call))
        if decision is None:
            return self._refuse(route, call, NOT_APPROVED)
        again = decision == "ask"  # a person took time, and their yes is to what they were shown
        safe = rule.read_only or any(fill.repeatable for fill in route.fills)
        return await within(self.bounds, lambda: self._send(route, call, again), safe=safe)

    async def _send(self, route: Route, call: HostCall, again: bool) -> ToolResult:
        try:
            return await self._send_once(route, call, again)
        except HeaderMismatch:
            # Refused before acting, since the list was stale (streamable-http#client-behavior).
            return await self._send_once(route, call, True)

    async def _send_once(self, route: Route, call: HostCall, again: bool) -> ToolResult:
        """What was compared is what is called, in each round that the server makes of the call.

        Nothing is awaited between a check and the transport's turn. What the server announces
        after that, while the transport connects or signs in, is seen before the next round.
        """
        check = functools.partial(self._check, route, again)
        try:
            await check()
        except ToolChanged:
            return self._refuse(route, call, CHANGED)
        try:
            with self.record.sending(call, route.client) as results, checked(check):
                results.append(await route.execute(call.input))
        except ToolChanged:
            return self._refuse(route, call, CHANGED, "was not finished")
        return results[0]

    async def _check(self, route: Route, again: bool) -> None:
        """Raises: ToolChanged; McpError, when the tools cannot be listed."""
        if route.listing is not None:
            await route.listing.fresh(again=again)
        if not self._as_listed(route):
            raise ToolChanged(CHANGED)

    def _as_listed(self, route: Route) -> bool:
        """Is the tool still there, and still the one that ``route`` was made of?"""
        now = self.routes.of(route.server, route.tool.name)
        return now is not None and now.pin == route.pin

    def _refuse(
        self, route: Route, call: HostCall, why: str, what: str = "was not called"
    ) -> ToolResult:
        self.record.decided(call, route.client, Approval(False, why))
        return ToolResult(f"{route.name} {what}: {why}", is_error=True)


def is_whole(call: ToolCall) -> bool:
    """Are its id, its name and its arguments what a call has? A model's service may send others."""
    texts = isinstance(call.id, str) and isinstance(call.name, str)
    return texts and isinstance(call.input, dict)


def nobodys(call: ToolCall) -> HostCall:
    """A call of no tool of this host, in a shape that can be written down."""
    call_id, name = (text if isinstance(text, str) else "" for text in (call.id, call.name))
    given = call.input if isinstance(call.input, dict) else {}
    return HostCall(call_id, name, given, server="", tool=name)
