"""For the whole suite: coroutine tests run under asyncio.run, and leave no task behind."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterator
from typing import Any

import pytest
from wire_judge import Wrong, fault, judged_note

from mini_agent.mcp.transport import OneListener

pytest_plugins = ["pytester"]


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
    config.addinivalue_line("markers", "sends_wrong(why): wrong messages are sent on purpose")
    config.addinivalue_line("markers", "speaks(version): messages of an older revision are sent")


@pytest.fixture(autouse=True, scope="session")
def wire_faults() -> Iterator[list[Wrong]]:
    """What the official types say against messages that transports sent since the last look."""
    faults: list[Wrong] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(OneListener, "note", judged_note(faults.append))
        yield faults


@pytest.fixture(autouse=True)
def every_message_sent_is_right(
    wire_faults: list[Wrong], request: pytest.FixtureRequest
) -> Iterator[None]:
    """Fail a test whose messages break the schema, unless it is marked ``sends_wrong``."""
    wire_faults.clear()
    yield
    spoken = request.node.get_closest_marker("speaks")
    found = [wrong for wrong in wire_faults if not spoken or fault(wrong.message, *spoken.args)]
    if found and not request.node.get_closest_marker("sends_wrong"):
        method = found[0].message.get("method", "a message")
        pytest.fail(f"{len(found)} messages break the schema; the first, {method}: {found[0].why}")
