"""The loop: ask the model, run the tools it asks for, tell it what came of them, again.

It knows Tool and ToolSpec and nothing of what stands behind them. Whatever happens, every
``tool_use`` in the messages has exactly one ``tool_result``, in the message after it.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from mini_agent.blocks import Block, add_text, text_block, text_of, tool_use_block
from mini_agent.calls import (
    CANCELLED,
    FAILED,
    NOT_RUN,
    SKIPPED,
    AgentEvent,
    Decided,
    OnEvent,
    Run,
    ToolFinished,
    answer,
    check_event,
    skip,
    tell,
)
from mini_agent.session import SessionError, load_session, save_session
from mini_agent.trace import Trace, following
from mini_agent.types import (
    CUT_SHORT,
    BeforeToolCall,
    Done,
    Message,
    ModelClient,
    ModelEvent,
    Text,
    Tool,
    ToolCall,
)

__all__ = [
    "CANCELLED",
    "FAILED",
    "NOT_RUN",
    "SKIPPED",
    "AgentEvent",
    "AgentResult",
    "Decided",
    "ToolFinished",
    "run_agent",
]


@dataclass(frozen=True)
class AgentResult:
    """``text`` is the last turn's. ``stop_reason`` is the model's, or "max_turns"."""

    text: str
    messages: list[Message]
    stop_reason: str


async def run_agent(
    prompt: str,
    *,
    model: ModelClient,
    tools: Iterable[Tool],
    system: str = "",
    before_tool_call: BeforeToolCall | None = None,
    session_path: str | Path | None = None,
    max_turns: int = 20,
    on_event: OnEvent | None = None,
    trace: Trace | None = None,
) -> AgentResult:
    """Answer ``prompt``, asking ``model`` at most ``max_turns`` times.

    ``before_tool_call`` decides each call; without it every call is allowed. ``session_path``
    resumes the conversation in that file and keeps it there, whole after every turn. ``on_event``
    gets every event as it happens.

    Raises: ValueError for an empty prompt, ``max_turns`` below 1, two tools of one name, a model
    whose turn ends without Done, a call that cannot be saved; TypeError for what is no event;
    SessionError; whatever the model's service, a tool, a hook or ``on_event`` raises, and
    CancelledError, unchanged, once each call has its result and the conversation is saved. Where
    saving fails too, that is a note on it.
    """
    if max_turns < 1:
        raise ValueError(f"max_turns must be at least 1, not {max_turns}")
    if not prompt.strip():
        raise ValueError("the prompt is empty; say what the agent should do")
    run = Run(by_name(tools), before_tool_call, on_event, trace or Trace())
    messages = load_session(session_path) if session_path is not None else []
    keep(messages, session_path, user=[text_block(prompt)])
    run.trace.add("loop", "prompt", text=prompt)
    for turn in range(1, max_turns + 1):
        run.trace.add("loop", "model_request", turn=turn)
        content, calls, stop_reason = await ask_model(run, model, system, messages)
        cut = stop_reason in CUT_SHORT
        results: list[Block] = []
        with kept(messages, session_path, assistant=content, user=results):
            if cut:
                skip(run, calls, results, NOT_RUN)
            else:
                await answer(run, calls, results)
        if cut or not calls:
            break
    else:
        stop_reason = "max_turns"
    run.trace.add("loop", "done", stop_reason=stop_reason)
    return AgentResult(text_of(content), messages, stop_reason)


async def ask_model(
    run: Run, model: ModelClient, system: str, messages: list[Message]
) -> tuple[list[Block], list[ToolCall], str]:
    """One turn of the model: its content blocks, the calls among them, why it stopped.

    Raises: ValueError when the turn ends without Done; what check_event, the model and
    ``on_event`` raise.
    """
    content: list[Block] = []
    calls: list[ToolCall] = []
    stop_reason = ""
    specs = [tool.spec for tool in run.tools.values()]
    stream = model.stream(system=system, messages=messages, tools=specs)
    try:
        async for event in stream:
            check_event(event, calls)
            await tell(run, event)
            match event:
                case Text():
                    add_text(content, event.text)
                case ToolCall():
                    calls.append(event)
                    content.append(tool_use_block(event))
                case Done():
                    stop_reason = event.stop_reason
    except BaseException as failure:
        await close_after(failure, stream)
        raise
    if not stop_reason:
        raise ValueError("the model's turn ended without Done, which every turn yields last")
    content = [block for block in content if block.get("text", "-").strip()]
    note_turn(run, content)
    return content, calls, stop_reason


async def close_after(failure: BaseException, stream: AsyncIterator[ModelEvent]) -> None:
    """Close the model's stream while ``failure`` is on its way up: nothing may take its place."""
    if isinstance(stream, AsyncGenerator):
        try:
            await stream.aclose()
        except Exception as error:
            raise failure from error


def note_turn(run: Run, content: list[Block]) -> None:
    """What the model said, in the trace: whole texts, however they were streamed."""
    for block in content:
        if block["type"] == "text":
            run.trace.add("loop", "text", text=block["text"])
        else:
            with following(block["id"]):
                run.trace.add("loop", "tool_use", name=block["name"], input=block["input"])


def keep(messages: list[Message], path: str | Path | None, **by_role: list[Block]) -> None:
    """Add a message a role, leaving out empty ones, and save the conversation as it stands."""
    messages += [{"role": role, "content": blocks} for role, blocks in by_role.items() if blocks]
    if path is not None:
        save_session(path, messages)


@contextlib.contextmanager
def kept(
    messages: list[Message], path: str | Path | None, **by_role: list[Block]
) -> Iterator[None]:
    """``keep`` at the end of a ``with``. What is raised in it goes on, also when saving fails."""
    try:
        yield
    except BaseException as failure:
        try:
            keep(messages, path, **by_role)
        except SessionError as error:
            failure.add_note(f"The conversation could not be saved either: {error}")
        raise
    keep(messages, path, **by_role)


def by_name(tools: Iterable[Tool]) -> dict[str, Tool]:
    """The tools by name.

    Raises: ValueError when two share one: the model could not say which it means.
    """
    listed = list(tools)
    named = {tool.spec.name: tool for tool in listed}
    if len(named) < len(listed):
        names = [tool.spec.name for tool in listed]
        twice = sorted({name for name in names if names.count(name) > 1})
        raise ValueError(f"two tools share the name {', '.join(twice)}; rename one")
    return named
