"""What goes wrong at the desk, on order: at which service, on which requests, how often.

    desk.faults.plan("orders", "silent_after", method="POST")      the next POST
    desk.faults.plan("orders", "dropped_after", every=7, times=None)   each seventh request

Nothing here sleeps: silence lasts until the caller is gone, and "held" until ``release()``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from fake_servers.refunds.connection import drop, replayed, whole_body
from fake_servers.refunds.planned import Call, Planned, unsaid

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

SERVICES = ("refunds", "orders", "authorization")
METADATA_SERVICE = "http://169.254.169.254/latest/meta-data/"


async def silent_before(call: Call) -> None:
    """No answer comes, and nothing was done."""
    await call.silent()


async def silent_after(call: Call) -> None:
    """Everything is done, and no answer comes: the timeout after a write."""
    await call.act()
    await call.silent()


async def dropped_before(call: Call) -> None:
    """The process ends before it has done anything."""
    await drop(call.scope, call.receive)


async def dropped_after(call: Call) -> None:
    """The process ends when everything is done, before the answer."""
    await call.act()
    await drop(call.scope, call.receive)


async def duplicated(call: Call) -> None:
    """Something on the way delivers the request twice; the second answer arrives."""
    body = await whole_body(call.receive)
    await call.app(call.scope, replayed(body, call.receive), unsaid)
    await call.app(call.scope, replayed(body, call.receive), call.send)


async def held(call: Call) -> None:
    """A slow service: nothing happens before ``release()``, then all is well."""
    await call.planned.released.wait()
    await call.answer()


async def unavailable(call: Call) -> None:
    """503, from a gateway that speaks no JSON."""
    await call.say(503, b"upstream down", content_type="text/plain", retry_after="1")


async def malformed(call: Call) -> None:
    """The work is done, and what comes back under status 200 is no JSON."""
    await call.act()
    await call.say(200, b'{"order_id": "ord_4821", "sta', content_type="application/json")


async def wrong_shape(call: Call) -> None:
    """The work is done, and what comes back is JSON of another shape."""
    await call.act()
    await call.say(200, b'{"status": "ok", "data": []}', content_type="application/json")


async def redirected(call: Call) -> None:
    """The answer sends the caller to the metadata service of a cloud."""
    await call.say(302, b"", location=METADATA_SERVICE)


FAULTS: Mapping[str, Callable[[Call], Awaitable[None]]] = {
    fault.__name__: fault
    for fault in (
        silent_before, silent_after, dropped_before, dropped_after, duplicated,
        held, unavailable, malformed, wrong_shape, redirected,
    )
}  # fmt: skip


def table() -> str:
    """One line a fault: its name and what goes wrong."""
    return "\n".join(f"{name:<16} {fault.__doc__}" for name, fault in FAULTS.items())


class Faults:
    """The faults that are planned, in the order in which they are looked at."""

    def __init__(self) -> None:
        self.planned: list[Planned] = []

    def plan(self, at: str, name: str, **when: Any) -> Planned:
        """Plan the fault ``name`` at one of SERVICES.

        ``when``: ``method``, ``path`` (how it begins) and ``tool`` say which requests it fits,
        ``every=3`` is each third of those, ``times`` how often in all, None for ever.

        Raises: ValueError for a service or a fault that is none.
        """
        if at not in SERVICES or name not in FAULTS:
            raise ValueError(f"no fault {name!r} at {at!r}; there are {', '.join(FAULTS)}")
        planned = Planned(at, name, **when)
        self.planned.append(planned)
        return planned

    def clear(self) -> None:
        """From here on all is well; what is held goes on."""
        for planned in self.planned:
            planned.release()
        self.planned.clear()

    def around(self, app: ASGIApp, at: str, *, impatient: bool = False) -> ASGIApp:
        """``app`` as the service ``at``, with what is planned for it."""

        async def faulty(scope: Scope, receive: Receive, send: Send) -> None:
            due = next((planned for planned in self.planned if planned.due(at, scope)), None)
            if due is None:
                await app(scope, receive, send)
            else:
                await FAULTS[due.name](Call(app, scope, receive, send, due, impatient))

        return faulty
