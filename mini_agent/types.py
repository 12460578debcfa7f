"""What the loop knows: tools, calls, results, approvals, a model. Nothing here knows MCP."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

JsonObject: TypeAlias = dict[str, Any]
Message: TypeAlias = dict[str, Any]
"""Anthropic's shape: ``{"role": "user" | "assistant", "content": [block, …]}``."""


@dataclass(frozen=True)
class ToolSpec:
    """What the model is told about a tool. ``input_schema`` is a JSON Schema object, kept raw."""

    name: str
    description: str
    input_schema: JsonObject = field(default_factory=lambda: {"type": "object"})


@dataclass(frozen=True)
class ToolResult:
    """What the model is shown after a call. ``is_error`` is a business result: the loop goes on."""

    content: str
    is_error: bool = False


@dataclass(frozen=True)
class ToolCall:
    """The model asks for ``name`` with ``input``; ``id`` ties its ``tool_result`` to it."""

    id: str
    name: str
    input: JsonObject


@dataclass(frozen=True)
class Text:
    """A piece of the model's answer, in order."""

    text: str


@dataclass(frozen=True)
class Done:
    """The model's turn is over. ``stop_reason`` is Anthropic's: ``end_turn``, ``tool_use``, …"""

    stop_reason: str


ModelEvent: TypeAlias = Text | ToolCall | Done

CUT_SHORT = frozenset({"max_tokens", "model_context_window_exceeded", "refusal"})
"""Stop reasons after which the last call may be half: none of that turn's calls is run."""


@dataclass(frozen=True)
class Tool:
    """A spec and the coroutine function behind it.

    ``execute`` returns a ToolResult, also for failures the model should see. An exception out of
    it means that the host failed: the loop records the call and re-raises.
    """

    spec: ToolSpec
    execute: Callable[[JsonObject], Awaitable[ToolResult]]


@dataclass(frozen=True)
class Approval:
    """The answer to "may this call run?". ``reason`` is shown to the model when it is denied."""

    approved: bool
    reason: str = ""


BeforeToolCall: TypeAlias = Callable[[ToolCall], Approval | Awaitable[Approval]]


class ModelClient(Protocol):
    """Anything that streams one turn of a model."""

    def stream(
        self, *, system: str, messages: Sequence[Message], tools: Sequence[ToolSpec]
    ) -> AsyncIterator[ModelEvent]:
        """Yield the turn's events; the last one is Done.

        Raises: whatever the model's service fails with; the loop passes it on unchanged.
        """
        ...
