"""The calls of one turn: prepare, execute, finalise, one call after another.

Every call gets exactly one ``tool_result``, whichever way it goes: run, denied, not to be found,
failed, skipped or cancelled.
"""

from __future__ import annotations

import asyncio
import copy
import inspect
import reprlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from mini_agent.blocks import Block, json_fault, result_block
from mini_agent.trace import Trace, following
from mini_agent.types import (
    Approval,
    BeforeToolCall,
    Done,
    ModelEvent,
    Text,
    Tool,
    ToolCall,
    ToolResult,
)

FAILED = "tool execution failed"
SKIPPED = "skipped: an earlier call in this turn failed"
CANCELLED = "tool execution cancelled"
SKIPPED_AFTER_CANCEL = "skipped: an earlier call in this turn was cancelled"
NOT_RUN = "not run: the answer was cut short, so the arguments may be incomplete"
NOBODY_ASKED = Approval(True, "no approval hook")


@dataclass(frozen=True)
class Decided:
    """The hook has spoken about ``call``; without a hook every call is approved."""

    call: ToolCall
    approval: Approval


@dataclass(frozen=True)
class ToolFinished:
    """``call`` has its ``result``, as the model will see it."""

    call: ToolCall
    result: ToolResult


AgentEvent: TypeAlias = ModelEvent | Decided | ToolFinished
OnEvent: TypeAlias = Callable[[AgentEvent], Awaitable[None] | None]


@dataclass(frozen=True)
class Run:
    """What one run works with: its tools by name, whom to ask, whom to tell."""

    tools: Mapping[str, Tool]
    before_tool_call: BeforeToolCall | None
    on_event: OnEvent | None
    trace: Trace


def check_event(event: ModelEvent, calls: Sequence[ToolCall]) -> None:
    """Check an event before anything is done with it: no call runs that could not be kept.

    ``calls`` are those of the same turn that came before it.

    Raises: TypeError for what is no event, or holds other types than it says; ValueError for a
    call that json_fault finds fault with, or whose id an earlier one has.
    """
    match event:
        case Text(str()) | Done(str()):
            return
        case ToolCall(str(), str(), dict()):
            fault = json_fault(event.input) or json_fault([event.id, event.name])
        case _:
            raise TypeError(f"the model's turn holds {reprlib.repr(event)}, which is no event")
    if event.id in [call.id for call in calls]:
        fault = f"an earlier one has its id, {event.id}"
    if fault:
        raise ValueError(f"the call to {event.name!r} cannot be kept: {fault}")


async def answer(run: Run, calls: Sequence[ToolCall], results: list[Block]) -> None:
    """Take the calls one after another, so that two approvals never race.

    ``results`` gets one block a call, also when this raises.
    """
    try:
        for call in calls:
            with following(call.id):
                await answer_one(run, call, results)
    except BaseException as failure:
        skip(run, calls[len(results) :], results, marks(failure)[1])
        raise


async def answer_one(run: Run, call: ToolCall, results: list[Block]) -> None:
    """Prepare, execute, finalise. A failure is recorded without its details, and goes on up."""
    try:
        result = await prepare(run, call) or await execute(run, call)
    except BaseException as failure:
        results.append(result_block(call, ToolResult(marks(failure)[0], is_error=True)))
        run.trace.add("loop", "failed", name=call.name, error=type(failure).__name__)
        raise
    results.append(result_block(call, result))
    run.trace.add(
        "loop", "tool_result", name=call.name, content=result.content, is_error=result.is_error
    )
    await tell(run, ToolFinished(call, result))


async def prepare(run: Run, call: ToolCall) -> ToolResult | None:
    """None when the call may run, otherwise the result that tells the model why not."""
    if call.name not in run.tools:
        names = ", ".join(run.tools) or "none at all"
        return ToolResult(f"there is no tool {call.name}; the tools are: {names}", is_error=True)
    approval = await ask_hook(run, call)
    approved = approval.approved is True
    what = "approved" if approved else "denied"
    run.trace.add("loop", what, name=call.name, reason=approval.reason)
    await tell(run, Decided(call, approval))
    if approved:
        return None
    return ToolResult(f"denied: {approval.reason or 'no reason given'}", is_error=True)


async def ask_hook(run: Run, call: ToolCall) -> Approval:
    """The hook's answer. It gets a copy: what it approves is what runs.

    Raises: TypeError for an answer that is no Approval; what the hook raises.
    """
    if run.before_tool_call is None:
        return NOBODY_ASKED
    answered = run.before_tool_call(copy.deepcopy(call))
    approval = await answered if inspect.isawaitable(answered) else answered
    if not isinstance(approval, Approval):
        raise TypeError(f"before_tool_call returned {type(approval).__name__}, not an Approval")
    return approval


async def execute(run: Run, call: ToolCall) -> ToolResult:
    """Run the tool. Its own failures are results; an exception is the host's.

    Raises: TypeError for a result that is no ToolResult of a text and a bool; what the tool raises.
    """
    result = await run.tools[call.name].execute(copy.deepcopy(call.input))
    match result:
        case ToolResult(str(), bool()):
            return result
    raise TypeError(
        f"tool {call.name} returned {type(result).__name__}, not a ToolResult of a text and a bool"
    )


def skip(run: Run, calls: Sequence[ToolCall], results: list[Block], why: str) -> None:
    """Answer calls that are not run."""
    for call in calls:
        with following(call.id):
            results.append(result_block(call, ToolResult(why, is_error=True)))
            run.trace.add("loop", "skipped", name=call.name)


def marks(failure: BaseException) -> tuple[str, str]:
    """What the model is told of a call that failed, and of those after it. No details."""
    if isinstance(failure, asyncio.CancelledError):
        return CANCELLED, SKIPPED_AFTER_CANCEL
    return FAILED, SKIPPED


async def tell(run: Run, event: AgentEvent) -> None:
    """Give ``on_event`` a copy of the event, and wait for it where it is a coroutine."""
    if run.on_event is not None:
        told = run.on_event(copy.deepcopy(event))
        if inspect.isawaitable(told):
            await told
