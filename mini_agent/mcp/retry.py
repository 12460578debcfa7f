"""Trying again, for calls whose caller says that twice does no harm. Nothing retries by itself.

    found = await with_retries(lambda: client.call("calendar_query", day), safe=True)

Each try calls ``client.call`` anew, so each is a request with an id of its own.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from typing import TypeVar

from mini_agent.errors import (
    ConnectFailed,
    HttpStatusError,
    McpError,
    RequestTimeout,
    TransportClosed,
)

T = TypeVar("T")

TOO_MANY = 429


async def with_retries(
    call: Callable[[], Awaitable[T]],
    *,
    safe: bool = False,
    attempts: int = 3,
    pause: float = 0.5,
    longest: float = 30.0,
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    again: Callable[[T], bool] = lambda result: False,
) -> T:
    """What ``call()`` returns, after at most ``attempts`` tries.

    ``safe``: the caller knows that the call may be made twice, since it only reads or carries an
    idempotency key. Without it, only what never reached the server is tried again. ``pause`` is
    in seconds and doubles with each try; a Retry-After of the server goes before it, and one
    beyond ``longest`` is not waited for. ``again`` is True of a result that asks for another try;
    the last one is returned whatever it says.

    Raises: what the last try raised, with a note of how many there were; ValueError for fewer
    attempts than one.
    """
    if attempts < 1:
        raise ValueError(f"attempts must be at least 1, not {attempts}")
    for tried in itertools.count(1):
        last, wait = tried == attempts, min(pause * 2 ** (tried - 1), longest)
        try:
            result = await call()
            if last or not again(result):
                break
        except McpError as error:
            asked = wait_before_retry(error, safe=safe, pause=wait)
            if last or asked is None or asked > longest:
                if tried > 1:
                    error.add_note(f"tried {tried} times")
                raise
            wait = asked
        await sleep(wait)
    return result


def wait_before_retry(error: McpError, *, safe: bool, pause: float) -> float | None:
    """Seconds to wait before the call is made again, None where it must not or cannot help."""
    match error:
        case ConnectFailed():
            return pause
        case TransportClosed() | RequestTimeout() if safe:
            return pause
        case HttpStatusError() if safe and (error.status == TOO_MANY or error.status >= 500):
            return max(pause, error.retry_after or 0.0)
        case _:
            return None
