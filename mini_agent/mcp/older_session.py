"""The session with a server of an older revision: how it begins, is spoken in, and ends.

Guarantee: ``initialize`` goes first on every process and in every HTTP session, is never cancelled,
and no message of a modern client's own goes out untranslated. Revision 2025-11-25, basic/lifecycle
and basic/transports.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol, TypeAlias, runtime_checkable

from mini_agent.errors import ConnectFailed, HttpStatusError, JsonRpcError, McpError
from mini_agent.mcp.background import Background
from mini_agent.mcp.eras import (
    INITIALIZED,
    cancelled,
    checked_welcome,
    in_older_words,
    initialize_for,
    older_headers,
    reply_to,
    session_in,
)
from mini_agent.mcp.messages import kind, parse_response
from mini_agent.mcp.transport import NO_ENVELOPE, McpTransport
from mini_agent.types import JsonObject

Ask: TypeAlias = Callable[[JsonObject], Awaitable[JsonObject | None]]

MAX_REPLIES = 100  # to requests of the server, at a time; one that floods us is not answered more
LAST_WORDS = 1.0  # seconds for what needs no answer: a reply, a cancel, the end of a session


@runtime_checkable
class Starting(Protocol):
    """A transport that starts processes, and awaits ``on_start`` before it uses one."""

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


class OlderSession:
    """``version`` is the one that was agreed on, None while there is no session.

    ``welcome`` is the InitializeResult. ``timeout`` bounds the answer to ``initialize``, in
    seconds.
    """

    def __init__(self, inner: McpTransport, timeout: float) -> None:
        self.version: str | None = None
        self.welcome: JsonObject = {}
        self._inner = inner
        self._timeout = timeout
        self._over_http = isinstance(inner, Replying)
        self._answers = False  # whether a request of the server is answered
        self._first: JsonObject = {}
        self._id: str | None = None  # what HTTP calls this session
        self._offered: str | None = None  # the id that came with the latest InitializeResult
        self._numbers = itertools.count(1)
        self._renewing = asyncio.Lock()
        self._background = Background()
        self._told = Background()

    # -- begin ------------------------------------------------------------------------------------

    async def open(self, message: JsonObject) -> None:
        """``initialize`` and ``notifications/initialized``, in the name of ``message``'s sender.

        Raises: McpError.
        """
        self._first = message
        try:
            await self._shake_hands(self._carry)
        except McpError:
            self.forget()
            raise

    async def reopen(self, ask: Ask) -> None:
        """The same again, by way of ``ask``: on a process that is new, or in a new HTTP session.

        Raises: ConnectFailed when the server refuses: then the session is forgotten, since the
        server may have become another. What ``ask`` raises.
        """
        try:
            await self._shake_hands(ask)
        except JsonRpcError as cause:
            self.forget()
            text = f"the server accepted the handshake before, and now refuses it: {cause}"
            raise ConnectFailed(text) from cause

    async def _shake_hands(self, ask: Ask) -> None:
        self._offered = None
        self._set_answers(True)  # a server may ping before it answers
        request = initialize_for(self._first, f"initialize-{next(self._numbers)}")
        response = await self._patiently(ask, request)
        self.welcome = checked_welcome(parse_response(response or {}))
        self.version = self.welcome["protocolVersion"]  # a process that starts now is greeted, too
        await self._patiently(ask, INITIALIZED)
        self._id = self._offered

    async def _patiently(self, ask: Ask, message: JsonObject) -> JsonObject | None:
        """Ask in a task of its own: on a pipe, cancelling would be written, and must not be."""

        async def asking() -> JsonObject | None:
            return await ask(message)

        return await self._background.within(self._timeout, asking(), hang_up=self._over_http)

    def forget(self) -> None:
        """There is no session any more."""
        self.version = self._id = self._offered = None
        self._set_answers(False)

    def _set_answers(self, value: bool) -> None:
        self._answers = value
        if isinstance(self._inner, Starting | Replying):
            self._inner.may_respond = value

    # -- speak ------------------------------------------------------------------------------------

    async def send(self, message: JsonObject) -> JsonObject | None:
        """Send a modern message in older words; once more in a new session where one was over.

        Raises: what the inner transport raises.
        """
        message, used = in_older_words(message), self._id
        try:
            return await self._carry(message)
        except HttpStatusError as error:
            if error.status != 404 or used is None:
                raise
        # Refused unseen, so it may go again (2025-11-25, basic/transports#session-management).
        async with self._renewing:
            if self._id == used:
                await self.reopen(self._carry)
        return await self._carry(message)

    async def _carry(self, message: JsonObject) -> JsonObject | None:
        try:
            return await self._inner.send(message, envelope=self._envelope(message))
        except asyncio.CancelledError:
            # On a pipe the inner transport has said so. Over HTTP, hanging up says nothing here.
            if self._over_http and kind(message) == "request" and message["method"] != "initialize":
                self._told.start(self._tell(cancelled(message)))
            raise

    def _envelope(self, message: JsonObject) -> Mapping[str, str]:
        """What is no request belongs to the newest session, whose handshake may be going on."""
        if not self._over_http or message.get("method") == "initialize":
            return NO_ENVELOPE
        return older_headers(
            self.version, self._id if kind(message) == "request" else self._offered
        )

    async def _tell(self, message: JsonObject) -> None:
        """Send what nobody waits for."""
        with contextlib.suppress(McpError, TimeoutError):
            async with asyncio.timeout(LAST_WORDS):
                await self._carry(message)

    # -- hear -------------------------------------------------------------------------------------

    def hears(self, message: JsonObject) -> bool:
        """True for a request of the server: that is answered, or refused, here."""
        if not self._answers or kind(message) != "request":
            return False
        if len(self._told) < MAX_REPLIES:
            self._told.start(self._tell(reply_to(message)))
        return True

    def replied(self, message: JsonObject, status: int, headers: Mapping[str, str]) -> None:
        """Take from an HTTP reply what its body does not say.

        Raises: HttpStatusError when the session is over; MalformedMessage for a bad session id.
        """
        if message.get("method") == "initialize":
            self._offered = session_in(headers)
        elif status == 404 and self._id is not None:
            raise HttpStatusError("the server has ended the session (404)", status=status)

    # -- end --------------------------------------------------------------------------------------

    async def end(self) -> None:
        """Let the last words out, and end the HTTP session. The wait is bounded."""
        await self._told.settle(LAST_WORDS)
        over, self._id = self._id, None
        if over is not None and isinstance(self._inner, Replying):
            with contextlib.suppress(McpError, TimeoutError):
                async with asyncio.timeout(LAST_WORDS):
                    await self._inner.end_session(older_headers(self.version, over))

    async def close(self) -> None:
        """Nothing is left behind. To be called when the inner transport is closed."""
        await self._told.close()
        await self._background.close()
