"""Change notifications: who listens to what, and what they are told.

Revision 2026-07-28, basic/patterns/subscriptions. A subscription is a request that stays open: it
is acknowledged first, told nothing that it did not ask for, and answered when the server ends it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from fake_servers.context import Context
from fake_servers.wire import INVALID_PARAMS, PREFIX, Message, Rejection

if TYPE_CHECKING:
    from fake_servers.core import Server

LISTS = ("tools", "prompts", "resources")
URIS = "resourceSubscriptions"


class Listeners:
    """The open subscriptions of one server."""

    def __init__(self) -> None:
        self._open: set[asyncio.Queue[Message | None]] = set()

    def __len__(self) -> int:
        return len(self._open)

    def tell(self, method: str, **params: Any) -> None:
        """Offer a notification to each subscription, which passes it on if it was asked for."""
        for queue in self._open:
            queue.put_nowait({"method": method, "params": params})

    def end(self) -> None:
        """Answer each subscription, which ends it well (#graceful-closure)."""
        for queue in self._open:
            queue.put_nowait(None)

    @contextmanager
    def joined(self) -> Iterator[asyncio.Queue[Message | None]]:
        """A queue of what is told from now on; None ends it."""
        queue: asyncio.Queue[Message | None] = asyncio.Queue()
        self._open.add(queue)
        try:
            yield queue
        finally:
            self._open.discard(queue)


async def listen(server: Server, context: Context) -> Message:
    """subscriptions/listen: acknowledge, then pass on what is asked for until it is ended."""
    granted = read_filter(context.request.mapping("notifications"), server)
    meta = {"_meta": {PREFIX + "subscriptionId": context.request.id}}
    with server.listeners.joined() as changes:
        context.say("notifications/subscriptions/acknowledged", notifications=granted, **meta)
        while (change := await changes.get()) is not None:
            if wanted(change, granted):
                context.say(change["method"], **change["params"], **meta)
    return dict(meta)


def read_filter(asked: Message, server: Server) -> Message:
    """What of ``asked`` this server can tell of: it agrees to no more than that.

    Raises: Rejection -32602 for a field of a wrong type.
    """
    flags = {f"{name}ListChanged": asked.get(f"{name}ListChanged", False) for name in LISTS}
    uris = asked.get(URIS, [])
    if not all(isinstance(flag, bool) for flag in flags.values()):
        raise Rejection(INVALID_PARAMS, "Invalid params: a …ListChanged flag is true or false")
    if not isinstance(uris, list) or not all(isinstance(uri, str) for uri in uris):
        raise Rejection(INVALID_PARAMS, f'Invalid params: "{URIS}" must be a list of strings')
    offered = {f"{name}ListChanged" for name in LISTS if name in server.capabilities}
    granted: Message = {name: True for name, flag in flags.items() if flag and name in offered}
    if uris and "resources" in server.capabilities:
        granted[URIS] = uris
    return granted


def wanted(change: Message, granted: Message) -> bool:
    """True when a subscription with this filter is told of ``change``."""
    kind = change["method"].removeprefix("notifications/").split("/")
    if kind[1] == "updated":
        return change["params"]["uri"] in granted.get(URIS, ())
    return f"{kind[0]}ListChanged" in granted
