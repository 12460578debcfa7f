"""The seam under the client: what any transport promises, and one that is a script.

``send`` never promises success: whatever lies underneath, failure is an exception of
mini_agent.errors. The difference between a pipe and a network stays inside the implementations.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol, TypeAlias

from mini_agent.errors import TransportClosed
from mini_agent.mcp.messages import check_message, kind
from mini_agent.trace import Trace
from mini_agent.types import JsonObject

Listener: TypeAlias = Callable[[JsonObject], None]
NO_ENVELOPE: Mapping[str, str] = {}


class McpTransport(Protocol):
    """Carries messages to one server, for one client.

    ``listener`` gets every message that answers no send (progress, list_changed), before that
    send returns. ``mirrors_envelope`` is True where envelope metadata travels (HTTP headers).
    ``trace`` is set by the client, which has one.
    """

    listener: Listener | None
    trace: Trace | None
    mirrors_envelope: bool

    async def send(
        self, message: JsonObject, *, envelope: Mapping[str, str] = NO_ENVELOPE
    ) -> JsonObject | None:
        """Send a request and return its response message; a notification returns None.

        The response is a checked JSON-RPC message with the request's id. What it says is not
        looked at: a peer's "no" is returned like any other, not raised. Cancelling the task is
        the cancel: the transport tells the server in its way.

        Raises: ConnectFailed, TransportClosed, HttpStatusError, AuthorizationError,
        MalformedMessage; ValueError for a message that JSON cannot express.
        """
        ...

    async def close(self) -> None:
        """Let go of everything. Idempotent, from any task; requests in flight fail."""
        ...


class OneListener:
    """The ``listener`` attribute that refuses a second owner: one transport serves one client."""

    _listener: Listener | None = None
    trace: Trace | None = None

    @property
    def listener(self) -> Listener | None:
        """Called with every message that answers no send.

        Raises: ValueError, on setting, when another listener is set already.
        """
        return self._listener

    @listener.setter
    def listener(self, listener: Listener | None) -> None:
        if listener is not None and self._listener not in (None, listener):
            raise ValueError("this transport already serves a client; give each client its own")
        self._listener = listener

    def hear(self, message: JsonObject) -> None:
        """Note an incoming message that answers no send, and pass it on."""
        self.note("received", message=message)
        if self._listener is not None:
            self._listener(message)

    def note(self, what: str, **facts: Any) -> None:
        """Add to the client's trace, if there is one."""
        if self.trace is not None:
            self.trace.add("transport", what, **facts)


class OneLoop:
    """For a transport whose pipe or connections live in one event loop: that of its first send."""

    _loop: asyncio.AbstractEventLoop | None = None

    def at_home(self) -> bool:
        """True in that loop, and before any send. What lives in another cannot be waited for."""
        return self._loop in (None, asyncio.get_running_loop())

    def stay_home(self) -> None:
        """Keep to this loop from now on.

        Raises: RuntimeError in another; no McpError, since it is the caller's mistake.
        """
        loop = asyncio.get_running_loop()
        if self._loop is None:
            self._loop = loop
        if self._loop is not loop:
            raise RuntimeError(
                "this transport belongs to another event loop; make one for each asyncio.run"
            )


class FakeTransport(OneListener):
    """A server that is a list: what it would send, in order, with no process and no network.

    Each item answers one request. A dict is the response (``jsonrpc`` and the request's ``id``
    are filled in where absent), an exception is raised, a callable gets the request and returns
    either; a list is notifications with the response last. ``sent`` remembers every message.
    """

    mirrors_envelope = False

    def __init__(self, script: Iterable[Any]) -> None:
        self._script = iter(script)
        self.sent: list[JsonObject] = []
        self.closed = False

    async def send(
        self, message: JsonObject, *, envelope: Mapping[str, str] = NO_ENVELOPE
    ) -> JsonObject | None:
        """Answer with the next item of the script.

        Raises: whatever the script holds; AssertionError when it has run out; TransportClosed
        after close().
        """
        if self.closed:
            raise closed_error()
        self.sent.append(message)
        self.note("sent", message=message)
        if kind(message) == "notification":
            return None
        try:
            item = next(self._script)
        except StopIteration:
            raise AssertionError(
                f"FakeTransport: the script has run out at message {len(self.sent)}, "
                f"{message['method']}; add what the server would answer"
            ) from None
        return self._answer(item, message)

    def _answer(self, item: Any, request: JsonObject) -> JsonObject:
        if callable(item):
            item = item(request)
        if isinstance(item, BaseException):
            self.note("failed", error=type(item).__name__)
            raise item
        *before, last = item if isinstance(item, list) else [item]
        for notification in before:
            self.hear({"jsonrpc": "2.0", **notification})
        response = check_message({"jsonrpc": "2.0", "id": request["id"], **last})
        self.note("received", message=response)
        return response

    async def close(self) -> None:
        """Remember that it was closed."""
        self.closed = True


def closed_error() -> TransportClosed:
    """For whoever uses a transport that is closed."""
    return TransportClosed("this transport is closed; create a new one")
