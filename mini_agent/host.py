"""Several servers and the local tools as one list, and one hook that knows whose each of them is.

Its guarantee: nothing is sent that was not approved to the letter: for that server, that tool as
it was listed, and those arguments. What changed in between is asked about again.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager

from mini_agent.approval import Approver, Policy
from mini_agent.audit import AuditLog
from mini_agent.errors import McpError
from mini_agent.hosting.access import Access
from mini_agent.hosting.attempts import Bounds
from mini_agent.hosting.fills import Fill, Run, running
from mini_agent.hosting.gate import Gate
from mini_agent.hosting.given import check_arguments, check_names, check_servers, several
from mini_agent.hosting.listings import Listing
from mini_agent.hosting.recorder import Recorder
from mini_agent.hosting.reviewed import Reviewed
from mini_agent.hosting.routes import Routes
from mini_agent.mcp.client import McpClient
from mini_agent.pin import Change
from mini_agent.pins import Pins
from mini_agent.trace import Trace
from mini_agent.types import Approval, Tool, ToolCall


class Host:
    """Joins ``servers``, by the names that they have here, for the signed-in ``user``.

    ``policy`` decides by (server, the server's own name for the tool), "" for ``local_tools``;
    ``approver`` is asked where it says so. ``access`` says which servers a user may reach, and
    ``fills`` which arguments the host gives in the model's place. With ``pins`` a tool is withheld
    until it is as it was reviewed, or the approver has said yes to the difference; ``host.pins``
    then holds it. What the servers of ``resources_of`` offer to read is one tool more of each,
    described by this host and named "read_resource" in rules; a tool of that name of the server's
    own is hidden. ``audit`` and ``trace`` take every decision, call and outcome; ``bounds`` limits
    how often a call is made again. The host owns its clients.

        async with Host({"calendar": client}, policy=policy, approver=ask_in_terminal()) as host:
            await run_agent(…, tools=host.tools, before_tool_call=host.before_tool_call)

    Raises: TypeError for an argument of a wrong type, by its name; ValueError for a server without
    a name, a Fill or ``resources_of`` for none of these servers, local tools that share a name.
    """

    def __init__(
        self,
        servers: Mapping[str, McpClient],
        *,
        policy: Policy,
        approver: Approver | None = None,
        user: str | None = None,
        access: Access | None = None,
        audit: AuditLog | None = None,
        pins: Pins | None = None,
        local_tools: Iterable[Tool] = (),
        fills: Iterable[Fill] = (),
        resources_of: Iterable[str] = (),
        bounds: Bounds | None = None,
        trace: Trace | None = None,
    ) -> None:
        check_arguments(policy=policy, approver=approver, user=user, access=access)
        check_arguments(audit=audit, pins=pins, bounds=bounds, trace=trace)
        check_servers(servers)
        local = several("local_tools", local_tools, Tool)
        filling, reading = several("fills", fills, Fill), several("resources_of", resources_of, str)
        check_names(servers, local, filling, reading)
        self._user = user
        record = Recorder(audit, trace, user)
        self._listings = [Listing(name, client) for name, client in servers.items()]
        self._routes = Routes(self._listings, local, filling, record.gone, reading)
        self._reviewed = Reviewed(pins, self._routes, record, approver)
        self._gate = Gate(
            self._routes,
            record,
            policy=policy,
            approver=approver,
            user=user,
            access=access,
            bounds=bounds or Bounds(),
            offered=self._reviewed.offers,
        )

    # -- start and end ----------------------------------------------------------------------------

    async def connect(self) -> list[Tool]:
        """Connect every server, one after another, and return the tools.

        Raises: McpError of the first that cannot be connected, with its name here; the others are
        closed then, and the host is of no more use. AuditError.
        """
        try:
            for listing in self._listings:
                await listing.connect()
            await self._reviewed.ask()
        except BaseException as failure:
            try:
                await self.close()
            except McpError as error:
                failure.add_note(f"Closing the other servers failed too: {error}")
            raise
        return self.tools

    async def refresh(self) -> list[Tool]:
        """List what may have changed, ask about what did, and return the tools for the next run.

        Raises: McpError, AuditError.
        """
        for listing in self._listings:
            await listing.fresh()
        await self._reviewed.ask()
        return self.tools

    async def close(self) -> None:
        """Close every client. Idempotent, from any task."""
        async with contextlib.AsyncExitStack() as stack:
            for listing in self._listings:
                stack.push_async_callback(listing.close)

    async def __aenter__(self) -> Host:
        await self.connect()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    # -- for run_agent ----------------------------------------------------------------------------

    @property
    def tools(self) -> list[Tool]:
        """The tools as they were last listed, less those withheld. To be read before each run.

        They run only what ``before_tool_call`` has approved.
        """
        offered = filter(self._reviewed.offers, self._routes().values())
        execute = self._gate.execute
        return [Tool(route.spec, functools.partial(execute, route)) for route in offered]

    async def before_tool_call(self, call: ToolCall) -> Approval:
        """The hook for run_agent: user, arguments, policy and, where it says so, the approver.

        Raises: AuditError when the decision cannot be recorded; ValueError for a call that needs
        a run, outside of one; what the approver raises.
        """
        return await self._gate.decide(call)

    def run(self, run_id: str = "") -> AbstractContextManager[Run]:
        """``with host.run(): await run_agent(…)``: what keys of operations are made from.

        The same ``run_id`` goes on with the same task, also after a restart; without one it is
        another each time.
        """
        return running(run_id, self.user or "")

    @property
    def user(self) -> str | None:
        """Who is signed in. A host is one user's: another user gets a host of their own."""
        return self._user

    # -- what was reviewed ------------------------------------------------------------------------

    @property
    def pins(self) -> Pins | None:
        """What was reviewed, with what the approver has said yes to since: to be saved."""
        return self._reviewed.pins

    @property
    def withheld(self) -> list[Change]:
        """The tools that are listed and not offered, each with what is not as it was reviewed."""
        return self._reviewed.changes()
