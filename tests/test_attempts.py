"""When a call is made again: what the service says, what is safe, and never without end."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mini_agent.errors import (
    ConnectFailed,
    HttpStatusError,
    JsonRpcError,
    McpError,
    RequestTimeout,
    TransportClosed,
)
from mini_agent.hosting.attempts import Bounds, ServiceError, service_error, within
from mini_agent.types import ToolResult

OK = ToolResult("fine")


def failing(retryable: Any = True, **more: Any) -> ToolResult:
    error = {"code": "BUSY", "message": "Later.", "retryable": retryable, **more}
    return ToolResult(json.dumps({"error": error}), is_error=True)


class Script:
    """Results and errors in order; ``waited`` is the seconds between them."""

    def __init__(self, *steps: ToolResult | McpError) -> None:
        self._steps = list(steps)
        self.made = 0
        self.waited: list[float] = []

    async def once(self) -> ToolResult:
        self.made += 1
        step = self._steps.pop(0)
        if isinstance(step, McpError):
            raise step
        return step

    async def sleep(self, seconds: float) -> None:
        self.waited.append(seconds)

    async def run(self, *, safe: bool = True, **bounds: Any) -> ToolResult:
        return await within(Bounds(sleep=self.sleep, **bounds), self.once, safe=safe)


def test_a_failure_is_read_from_the_text_of_an_error_result() -> None:
    assert service_error(failing()) == ServiceError("BUSY", "Later.", True)
    assert service_error(failing(False)) == ServiceError("BUSY", "Later.", False)


@pytest.mark.parametrize("word", ["true", 1, None, [True], "yes"])
def test_only_true_is_retryable(word: Any) -> None:
    failure = service_error(failing(word))
    assert failure is not None and not failure.retryable


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no JSON",
        "[]",
        "null",
        '{"error": "BUSY"}',
        '{"error": {"code": 3, "retryable": true}}',
        '{"error": {"retryable": true}}',
        '{"code": "BUSY", "retryable": true}',
        "[" * 100_000,
        '{"error": {"code": "BUSY", "retryable": true}} and more',
    ],
)
def test_any_other_text_states_no_failure(text: str) -> None:
    assert service_error(ToolResult(text, is_error=True)) is None


def test_a_good_result_that_looks_like_a_failure_is_none() -> None:
    assert service_error(ToolResult(failing().content)) is None


async def test_a_retryable_failure_of_a_safe_tool_is_tried_again() -> None:
    script = Script(failing(), failing(), OK)
    assert await script.run() == OK
    assert script.waited == [0.5, 1.0]


async def test_and_not_without_end() -> None:
    script = Script(failing(), failing(), failing(code="LAST"))
    result = await script.run()
    assert "LAST" in result.content and script.made == 3


@pytest.mark.parametrize("result", [failing(False), ToolResult("no", is_error=True), OK])
async def test_what_is_not_retryable_is_never_tried_again(result: ToolResult) -> None:
    script = Script(result)
    assert await script.run() == result and not script.waited


@pytest.mark.parametrize("step", [failing(), RequestTimeout("slow", seconds=1)])
async def test_what_is_not_safe_is_made_once_whatever_comes(step: Any) -> None:
    script = Script(step)
    if isinstance(step, McpError):
        with pytest.raises(RequestTimeout):
            await script.run(safe=False)
    else:
        assert await script.run(safe=False) == step
    assert script.made == 1 and not script.waited


@pytest.mark.parametrize(
    "error",
    [
        ConnectFailed("refused"),
        TransportClosed("gone"),
        RequestTimeout("slow", seconds=1),
        HttpStatusError("busy", status=503),
        HttpStatusError("too many", status=429),
    ],
)
async def test_a_safe_tool_whose_answer_never_came_is_tried_again(error: McpError) -> None:
    script = Script(error, failing(), OK)
    assert await script.run() == OK and script.made == 3


@pytest.mark.parametrize(
    "error", [JsonRpcError(-32603, "inside"), HttpStatusError("no", status=404)]
)
async def test_a_refusal_is_not_tried_again(error: McpError) -> None:
    script = Script(error)
    with pytest.raises(McpError) as caught:
        await script.run()
    assert caught.value is error and script.made == 1


async def test_the_last_error_is_raised_as_it_is_and_says_how_often() -> None:
    errors = [TransportClosed(f"gone {number}") for number in range(3)]
    with pytest.raises(TransportClosed) as caught:
        await Script(*errors).run()
    assert caught.value is errors[-1] and caught.value.__notes__ == ["tried 3 times"]


async def test_a_wait_that_the_server_asks_for_goes_before_ours_unless_it_is_too_long() -> None:
    patient = Script(HttpStatusError("busy", status=503, retry_after=7), OK)
    assert await patient.run() == OK and patient.waited == [7]
    hasty = Script(HttpStatusError("busy", status=503, retry_after=7))
    with pytest.raises(HttpStatusError):
        await hasty.run(longest=5)


async def test_pauses_grow_to_the_longest_and_no_further() -> None:
    script = Script(*[failing()] * 5, OK)
    await script.run(attempts=6, pause=2, longest=5)
    assert script.waited == [2, 4, 5, 5, 5]


def test_bounds_without_one_attempt_are_refused() -> None:
    with pytest.raises(ValueError):
        Bounds(attempts=0)
