"""Work that goes on without whoever asked for it, and ends with its owner."""

from __future__ import annotations

import asyncio
import gc
from typing import Any

import pytest

from mini_agent.errors import RequestTimeout
from mini_agent.mcp.background import Background


async def fails() -> None:
    raise LookupError("nobody waits for this")


async def test_what_nobody_waits_for_fails_without_a_complaint() -> None:
    complaints: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, about: complaints.append(about))
    background = Background()
    background.start(fails())
    await background.settle(1)
    gc.collect()
    assert complaints == [] and len(background) == 0


async def test_who_waits_gets_what_it_raises() -> None:
    with pytest.raises(LookupError):
        await Background().within(1, fails())


async def test_who_stops_waiting_does_not_stop_it() -> None:
    background, go, done = Background(), asyncio.Event(), asyncio.Event()

    async def work() -> None:
        await go.wait()
        done.set()

    waiting = asyncio.create_task(background.within(10, work()))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    go.set()
    await background.settle(1)
    assert done.is_set()


@pytest.mark.parametrize("hang_up", [True, False])
async def test_what_takes_too_long_is_left_going_or_cancelled(hang_up: bool) -> None:
    background, go = Background(), asyncio.Event()
    with pytest.raises(RequestTimeout) as raised:
        await background.within(0.01, go.wait(), hang_up=hang_up)
    assert raised.value.seconds == 0.01
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert len(background) == (0 if hang_up else 1)
    await background.close()


@pytest.mark.timeout(5)
async def test_close_cancels_what_is_still_going_on_and_waits_for_its_end() -> None:
    background, last_words = Background(), asyncio.Event()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            last_words.set()

    background.start(work())
    await asyncio.sleep(0)
    await background.close()
    assert last_words.is_set() and len(background) == 0
