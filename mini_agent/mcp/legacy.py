"""A transport that finds out what a server speaks, and speaks the older handshake where it must.

Guarantee: who sends through it needs to know one revision only. It costs a modern server one
``server/discover``. Revision 2026-07-28, basic/versioning#backward-compatibility-…
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Mapping

from mini_agent.errors import (
    McpError,
    RequestTimeout,
    TransportClosed,
    UnsupportedProtocolVersion,
)
from mini_agent.mcp.background import Background
from mini_agent.mcp.eras import (
    Era,
    as_discovery,
    both_failed,
    era_of,
    fresh,
    probe_for,
    why_not_modern,
)
from mini_agent.mcp.older_session import Ask, OlderSession, Replying, Starting
from mini_agent.mcp.transport import NO_ENVELOPE, McpTransport, OneListener, closed_error
from mini_agent.trace import Trace
from mini_agent.types import JsonObject


class LegacyTransport(OneListener):
    """Carries messages over ``inner``, with the handshake of 2025-11-25 where a server needs it.

    ``probe_timeout`` and ``handshake_timeout`` are in seconds: silence on ``server/discover`` is
    taken for an older server, silence on ``initialize`` is an error. What an older server sends
    outside of a reply over HTTP (its GET stream) is not heard.

    Raises: ValueError when ``inner`` has an owner already.
    """

    def __init__(
        self,
        inner: McpTransport,
        *,
        probe_timeout: float = 10.0,
        handshake_timeout: float = 30.0,
    ) -> None:
        self.mirrors_envelope = inner.mirrors_envelope
        self._inner = inner
        self._probe_timeout = probe_timeout
        self._session = OlderSession(inner, handshake_timeout)
        self._modern = False
        self._status: int | None = None  # of the latest probe's reply
        self._numbers = itertools.count(1)
        self._finding_out: asyncio.Task[JsonObject] | None = None
        self._background = Background()
        inner.listener = self._heard
        if isinstance(inner, Starting):
            if inner.on_start is not None:
                raise ValueError("the inner transport has an on_start of its own: leave it out")
            inner.on_start = self._greet
        if isinstance(inner, Replying):
            inner.on_reply = self._replied

    @property
    def legacy_version(self) -> str | None:
        """The version of the handshake; None with a modern server, or before the first message."""
        return self._session.version

    @property
    def process(self) -> object | None:
        """What the inner transport sends to, where it starts processes; else that transport."""
        return getattr(self._inner, "process", self._inner)

    @property
    def trace(self) -> Trace | None:
        """The client's trace. The inner transport reports to it."""
        return self._inner.trace

    @trace.setter
    def trace(self, trace: Trace | None) -> None:
        self._inner.trace = trace

    # -- send -------------------------------------------------------------------------------------

    async def send(
        self, message: JsonObject, *, envelope: Mapping[str, str] = NO_ENVELOPE
    ) -> JsonObject | None:
        """Send through ``inner``, in the words of the server's era.

        Raises: what ``inner`` raises. Where the server speaks neither era, the error of the probe,
        with that of the handshake as a note.
        """
        discovers = message.get("method") == "server/discover"
        known = self._modern or self._session.version is not None
        if self._finding_out is not None or not known:
            probed = await self._found_out(message)
            if self._modern and discovers:
                return {**probed, "id": message["id"]}
        if self._modern:
            return await self._inner.send(message, envelope=envelope)
        if discovers:
            return as_discovery(self._session.welcome, message)
        return await self._session.send(message)

    # -- find out ---------------------------------------------------------------------------------

    async def _found_out(self, message: JsonObject) -> JsonObject:
        """What ``_find_out`` returns, for all who come meanwhile; who is cancelled leaves it be."""
        if self._finding_out is None:
            self._finding_out = self._background.start(self._find_out(message))
        task = self._finding_out
        await asyncio.wait({task})
        if task.cancelled():
            raise closed_error()
        if isinstance(error := task.exception(), McpError):
            raise fresh(error) from error
        return task.result()

    async def _find_out(self, message: JsonObject) -> JsonObject:
        """Learn the server's era. Returns the response of a modern one to the probe.

        Raises: McpError when it stays unknown.
        """
        try:
            era, answer = await self._probe(message)
            if era is Era.OLDER:
                answer = await self._fall_back(message, why_not_modern(answer))
            elif era is Era.UNKNOWN:
                raise why_not_modern(answer)
            self._modern = self._session.version is None
            self.mirrors_envelope = self._inner.mirrors_envelope and self._modern
            return answer if isinstance(answer, dict) else {}
        finally:
            self._finding_out = None

    async def _probe(self, message: JsonObject) -> tuple[Era, JsonObject | McpError]:
        """Ask ``server/discover``, before anything else, and judge what comes."""
        over_http = isinstance(self._inner, Replying)
        self._status = 0 if over_http else None
        asking = self._inner.send(probe_for(message, f"probe-{next(self._numbers)}"))
        answer: JsonObject | McpError
        try:
            within = self._background.within
            answer = await within(self._probe_timeout, asking, hang_up=over_http) or {}
        except McpError as error:
            answer = error
        return era_of(answer, self._status), answer

    async def _fall_back(self, message: JsonObject, first: McpError) -> JsonObject:
        """Shake hands. Returns the response to the probe when the server was modern after all."""
        silent = isinstance(first, RequestTimeout)  # or only slow to start, whatever its era
        try:
            await self._open(message, again=silent and self._status is None)
        except McpError as second:
            if silent or isinstance(second, UnsupportedProtocolVersion):
                era, answer = await self._probe(message)
                if era is Era.MODERN and isinstance(answer, dict):
                    return answer
            raise both_failed(first, second) from second
        return {}

    async def _open(self, message: JsonObject, *, again: bool) -> None:
        try:
            await self._session.open(message)
        except TransportClosed:  # with ``again``, this may be what the probe led to, only later
            if not again:
                raise
            await self._session.open(message)  # on a process that has not seen the probe

    async def _greet(self, ask: Ask) -> None:
        """For each process that the inner transport starts, before anything is sent to it."""
        if self._session.version is not None:
            await self._session.reopen(ask)

    # -- hear -------------------------------------------------------------------------------------

    def _heard(self, message: JsonObject) -> None:
        if not self._session.hears(message) and self._listener is not None:
            self._listener(message)

    def _replied(self, message: JsonObject, status: int, headers: Mapping[str, str]) -> None:
        if message.get("method") == "server/discover":
            self._status = status
        else:
            self._session.replied(message, status, headers)

    # -- end --------------------------------------------------------------------------------------

    async def close(self) -> None:
        """Close ``inner``; what is in flight fails. Idempotent, from any task."""
        await self._session.end()
        await self._inner.close()
        await self._session.close()
        await self._background.close()
