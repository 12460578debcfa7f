"""The subscriptions of one client, and which message belongs to which.

Over a pipe they share one stream, so each message names its own (patterns/subscriptions).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from weakref import WeakSet

from mini_agent.mcp.changes import subscription_id
from mini_agent.mcp.exchange import Context, Exchange, Hear
from mini_agent.mcp.subscriptions import Subscription
from mini_agent.types import JsonObject

METHOD = "subscriptions/listen"
FOR_EVER = 10 * 365 * 24 * 3600.0  # seconds


class Listening:
    """The subscriptions of one client: each message is told to the one that it names.

    ``forget()`` is called when changes may have been missed.
    """

    def __init__(self, exchange: Exchange, forget: Callable[[], None]) -> None:
        self._exchange = exchange
        self._forget = forget
        self._hear: dict[int | str, Hear] = {}  # by the id of the request, while it is open
        self._all: WeakSet[Subscription] = WeakSet()

    def subscription(self, wanted: JsonObject) -> Subscription:
        """A new one, not opened yet."""
        made = Subscription(
            self._ask,
            wanted,
            timeout=self._exchange.timeout,
            forget=self._forget,
            context=functools.partial(Context, self._exchange, METHOD),
        )
        self._all.add(made)
        return made

    def heard(self, message: JsonObject) -> None:
        """Pass on what belongs to a subscription (#receiving-notifications)."""
        hear = self._hear.get(subscription_id(message) or 0)  # our ids begin at 1
        if hear is not None:
            hear(message)

    async def close(self) -> None:
        """End them all."""
        for subscription in list(self._all):
            await subscription.close()

    async def _ask(self, wanted: JsonObject, hear: Hear) -> None:
        """One subscriptions/listen, until its response, however long that takes."""
        ids: list[int] = []

        def on_id(request_id: int) -> None:
            ids.append(request_id)
            self._hear[request_id] = hear

        params = {"notifications": wanted}
        try:
            await self._exchange.request(METHOD, params, timeout=FOR_EVER, on_id=on_id)
        finally:
            for request_id in ids:
                del self._hear[request_id]
