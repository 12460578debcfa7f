"""For the whole suite: coroutine tests run under asyncio.run, and leave no task behind."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any

import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run ``async def test_…`` with asyncio.run, failing it when it leaves a task behind."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    asyncio.run(_and_nothing_left(pyfuncitem.obj, arguments))
    return True


async def _and_nothing_left(test: Any, arguments: dict[str, Any]) -> None:
    await test(**arguments)
    await asyncio.sleep(0)
    left = asyncio.all_tasks() - {asyncio.current_task()}
    assert not left, f"tasks left running: {[task.get_name() for task in left]}"


def pytest_configure(config: pytest.Config) -> None:
    """Markers that tie a test to a rule of the revision or to a fault that users reported."""
    config.addinivalue_line("markers", "must(*ids): rules of the revision that this test proves")
    config.addinivalue_line("markers", "case(*ids): faults of real peers that this test covers")
