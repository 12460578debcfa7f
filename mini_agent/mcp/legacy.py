"""A transport that speaks the older handshake where the server knows nothing else.

Guarantee: who sends through it needs to know one revision only. A modern server is found out by
one ``server/discover``, and is passed through to from then on.
Revision 2026-07-28, basic/versioning#backward-compatibility-…; 2025-11-25, basic/lifecycle.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol, TypeAlias, runtime_checkable

from mini_agent.errors import (
    HttpStatusError,
    JsonRpcError,
    McpError,
    RequestTimeout,
    TransportClosed,
    UnsupportedProtocolVersion,
)
from mini_agent.mcp.background import Background
from mini_agent.mcp.eras import (
    INITIALIZED,
    Era,
    as_discovery,
    both_failed,
    cancelled,
    checked_welcome,
    era_of,
    fresh,
    in_older_words,
    initialize_for,
    older_headers,
    probe_for,
    reply_to,
    session_in,
    why_not_modern,
)
from mini_agent.mcp.messages import kind, parse_response
from mini_agent.mcp.transport import NO_ENVELOPE, McpTransport, OneListener
from mini_agent.trace import Trace
from mini_agent.types import JsonObject

Ask: TypeAlias = Callable[[JsonObject], Awaitable[JsonObject | None]]

MAX_REPLIES = 100  # to requests of the server, at a time; one that floods us is not answered more
LAST_WORDS = 1.0  # seconds for a cancel, and for the end of a session, to leave before we close


@runtime_checkable
class Starting(Protocol):
    """A transport that starts processes, and asks ``on_start`` before it uses one."""

    on_start: Callable[[Ask], Awaitable[None]] | None
    may_respond: bool


@runtime_checkable
class Replying(Protocol):
    """A transport over HTTP: ``on_reply`` gets each message, its reply's status and headers."""

    on_reply: Callable[[JsonObject, int, Mapping[str, str]], None] | None
    may_respond: bool

    async def end_session(self, envelope: Mapping[str, str]) -> None:
        """Tell the server that the session in ``envelope`` is over."""
        ...


class LegacyTransport(OneListener):
    """Carries messages over ``inner``, after an ``initialize`` where the server needs one.

    ``legacy_version`` is the version of the handshake, None with a modern server or none yet.
    ``probe_timeout`` and ``handshake_timeout`` are in seconds: silence on the first is taken for
    an older server, silence on the second fails.

    Raises: ValueError when ``inner`` has an owner already.
    """

    def __init__(
        self,
        inner: McpTransport,
        *,
        probe_timeout: float = 10.0,
        handshake_timeout: float = 30.0,
    ) -> None:
        self.legacy_version: str | None = None
        self.mirrors_envelope = inner.mirrors_envelope
        self._inner = inner
        self._probe_timeout = probe_timeout
        self._handshake_timeout = handshake_timeout
        self._era = Era.UNKNOWN
        self._welcome: JsonObject = {}  # the InitializeResult
        self._first: JsonObject = {}  # the message that the handshake was made for
        self._session: str | None = None
        self._offered: str | None = None  # the session that the latest initialize was answered with
        self._status: int | None = None  # of the latest probe's reply
        self._ids = itertools.count(1)
        self._at_work: asyncio.Task[JsonObject] | None = None  # finding out, or a new handshake
        self._background = Background()
        self._goodbyes = Background()
        inner.listener = self._heard
        if isinstance(inner, Starting):
            if inner.on_start is not None:
                raise ValueError("the inner transport has an on_start of its own; leave it out")
            inner.on_start = self._greet
        if isinstance(inner, Replying):
            inner.on_reply = self._replied

    @property
    def trace(self) -> Trace | None:  # type: ignore[override]
        """The client's trace; the inner transport reports to it."""
        return self._inner.trace

    @trace.setter
    def trace(self, trace: Trace | None) -> None:
        self._inner.trace = trace

    # -- send -------------------------------------------------------------------------------------

    async def send(
        self, message: JsonObject, *, envelope: Mapping[str, str] = NO_ENVELOPE
    ) -> JsonObject | None:
        """Send through ``inner``, in the words of the server's era.

        Raises: what ``inner`` raises. When the server speaks neither era, the error of the probe,
        with that of the handshake as a note.
        """
        discovers = message.get("method") == "server/discover"
        if self._era is Era.UNKNOWN or self._at_work is not None:
            probed = await self._joined(message)
            if discovers and self._era is Era.MODERN:
                return {**probed, "id": message["id"]}
        if self._era is Era.MODERN:
            return await self._inner.send(message, envelope=envelope)
        if discovers:
            return as_discovery(self._welcome, message)
        return await self._send_older(in_older_words(message))

    async def _joined(self, message: JsonObject) -> JsonObject:
        """The outcome of the work under way, which a caller who is cancelled leaves to others."""
        if self._at_work is None:
            self._at_work = self._background.start(self._find_out(message))
        task = self._at_work
        await asyncio.wait({task})
        if task.cancelled():
            raise TransportClosed("this transport is closed; create a new one")
        error = task.exception()
        if isinstance(error, McpError):
            raise fresh(error) from error
        return task.result()

    async def _send_older(self, message: JsonObject) -> JsonObject | None:
        """Send in the session; in a new one, once, where the server has ended it.

        Raises: what ``inner`` raises.
        """
        session = self._session
        try:
            return await self._carry(message)
        except HttpStatusError as error:
            if error.status != 404 or session is None:
                raise
        # Refused before it was looked at, so it may be sent again (transports#session-management).
        if self._session == session and self._at_work is None:
            self._at_work = self._background.start(self._renew())
        if self._at_work is not None:
            await self._joined(message)
        return await self._carry(message)

    async def _carry(self, message: JsonObject) -> JsonObject | None:
        method = message.get("method")
        envelope = NO_ENVELOPE
        if self._status is not None and self.legacy_version and method != "initialize":
            envelope = older_headers(self.legacy_version, self._session)
        try:
            return await self._inner.send(message, envelope=envelope)
        except asyncio.CancelledError:
            # On a pipe inner has said so; over HTTP hanging up says nothing in this era.
            if self._status is not None and kind(message) == "request" and method != "initialize":
                self._goodbyes.start(self._carry(cancelled(message)))
            raise

    # -- find out ---------------------------------------------------------------------------------

    async def _find_out(self, message: JsonObject) -> JsonObject:
        """Settle the era. Returns what a modern server answered to ``server/discover``.

        Raises: McpError when the era is still unknown.
        """
        try:
            era, answer = await self._probe(message)
            if era is Era.OLDER:
                era, answer = await self._fall_back(message, why_not_modern(answer))
            self._set(era)
            if isinstance(answer, McpError) or era is Era.UNKNOWN:
                raise why_not_modern(answer)
            return answer
        finally:
            self._at_work = None

    async def _probe(self, message: JsonObject) -> tuple[Era, JsonObject | McpError]:
        over_http = isinstance(self._inner, Replying)
        self._status = 0 if over_http else None
        asking = self._inner.send(probe_for(message, f"probe-{next(self._ids)}"))
        try:
            limit = self._probe_timeout
            answer = await self._background.within(limit, asking, hang_up=over_http)
        except McpError as error:
            return era_of(error, self._status), error
        return era_of(answer or {}, self._status), answer or {}

    async def _fall_back(self, message: JsonObject, first: McpError) -> tuple[Era, JsonObject]:
        self._first = message
        try:
            await self._shake_hands(self._carry)
        except McpError as second:
            if isinstance(second, UnsupportedProtocolVersion) or isinstance(first, RequestTimeout):
                era, answer = await self._probe(message)  # modern after all, or slow to start
                if era is Era.MODERN and isinstance(answer, dict):
                    return era, answer
            self._set(Era.UNKNOWN)
            raise both_failed(first, second) from second
        return Era.OLDER, {}

    def _set(self, era: Era) -> None:
        self._era = era
        older = era is Era.OLDER
        self.legacy_version = self._welcome["protocolVersion"] if older else None
        self.mirrors_envelope = self._inner.mirrors_envelope and not older
        self._session = self._offered if older else None
        self._let_respond(older)

    def _let_respond(self, value: bool) -> None:
        if isinstance(self._inner, Starting | Replying):
            self._inner.may_respond = value

    # -- the handshake ----------------------------------------------------------------------------

    async def _shake_hands(self, ask: Ask) -> None:
        """``initialize``, which is never cancelled, and ``notifications/initialized``.

        Raises: what ``ask`` raises; RequestTimeout, JsonRpcError, MalformedMessage.
        """
        self._offered = None
        self._let_respond(True)  # a server may ping before it answers
        request = initialize_for(self._first, f"initialize-{next(self._ids)}")
        response = await self._patiently(ask, request)
        self._welcome = checked_welcome(parse_response(response or {}))
        self._set(Era.OLDER)  # so that a process that starts from here on is greeted
        await self._patiently(ask, INITIALIZED)

    async def _patiently(self, ask: Ask, message: JsonObject) -> JsonObject | None:
        async def asking() -> JsonObject | None:
            return await ask(message)

        hang_up = self._status is not None
        return await self._background.within(self._handshake_timeout, asking(), hang_up=hang_up)

    async def _greet(self, ask: Ask) -> None:
        """Repeat the handshake on a process that is new. A server that refuses it has changed."""
        if self._era is Era.OLDER:
            await self._shake_again(ask)

    async def _renew(self) -> JsonObject:
        """Begin a new session, since the server has ended the one before."""
        try:
            await self._shake_again(self._carry)
            return {}
        finally:
            self._at_work = None

    async def _shake_again(self, ask: Ask) -> None:
        try:
            await self._shake_hands(ask)
        except JsonRpcError:
            self._set(Era.UNKNOWN)  # the next message finds out anew
            raise

    # -- hear -------------------------------------------------------------------------------------

    def _heard(self, message: JsonObject) -> None:
        """Answer an older server's request here; anything else is for the client."""
        if kind(message) == "request" and getattr(self._inner, "may_respond", False):
            if len(self._background) < MAX_REPLIES:
                self._background.start(self._carry(reply_to(message)))
        elif self._listener is not None:
            self._listener(message)

    def _replied(self, message: JsonObject, status: int, headers: Mapping[str, str]) -> None:
        """Take from an HTTP reply what its body does not say.

        Raises: HttpStatusError when the session is over, MalformedMessage for a session id that
        is none.
        """
        method = message.get("method")
        if self._era is Era.MODERN:
            return
        if method == "server/discover":
            self._status = status
        elif method == "initialize":
            self._offered = session_in(headers)
        elif status == 404 and self._session is not None:
            raise HttpStatusError("the server has ended the session", status=status)

    # -- end --------------------------------------------------------------------------------------

    async def close(self) -> None:
        """Close ``inner``; what is in flight fails. Idempotent, from any task."""
        await self._goodbyes.settle(LAST_WORDS)
        session, self._session = self._session, None
        if session is not None and isinstance(self._inner, Replying) and self.legacy_version:
            with contextlib.suppress(McpError, TimeoutError):
                async with asyncio.timeout(LAST_WORDS):
                    await self._inner.end_session(older_headers(self.legacy_version, session))
        await self._inner.close()
        await self._goodbyes.close()
        await self._background.close()
