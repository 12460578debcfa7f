"""Two models behind one seam: Anthropic's over the network, and one that is a list.

Both yield the ModelEvents of mini_agent.types, so the loop cannot tell them apart.
"""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from mini_agent.blocks import utf8_safe
from mini_agent.model_stream import ModelStreamError, to_model_events
from mini_agent.types import Done, JsonObject, Message, ModelEvent, ToolCall, ToolSpec

if TYPE_CHECKING:
    import anthropic

__all__ = [
    "AnthropicModelClient",
    "ModelStreamError",
    "NoApiKey",
    "Request",
    "ScriptedModel",
    "to_model_events",
]

DEFAULT_MODEL = "claude-sonnet-5-5"
DEFAULT_MAX_TOKENS = 16_000


class NoApiKey(Exception):
    """The anthropic package found no credentials. Set ANTHROPIC_API_KEY, or pass a client."""


class AnthropicModelClient:
    """A ModelClient on Anthropic's Messages API: the anthropic package does the network.

    ``client`` is an anthropic.AsyncAnthropic of your own making, and yours to close; without one
    the package's defaults are used (ANTHROPIC_API_KEY and the rest of its environment).
    ``max_tokens`` bounds one turn's answer, thinking included. ``thinking`` is passed on as it
    is; left out, the model's own default holds. Thinking is not shown and not sent back.
    """

    def __init__(
        self,
        model: str = DEFAULT_MODEL,
        client: anthropic.AsyncAnthropic | None = None,
        max_tokens: int = DEFAULT_MAX_TOKENS,
        *,
        thinking: JsonObject | None = None,
    ) -> None:
        self.model = model
        self.max_tokens = max_tokens
        self.thinking = thinking
        self._client = client
        self._own: anthropic.AsyncAnthropic | None = None

    async def stream(
        self, *, system: str, messages: Sequence[Message], tools: Sequence[ToolSpec]
    ) -> AsyncIterator[ModelEvent]:
        """Send one request and yield its answer as it comes. Nothing is checked before the call.

        Raises: NoApiKey; ModelStreamError; anthropic.APIError when the service refuses, fails or
        cannot be reached (the package has retried by then); its HTTP library's own error when the
        connection breaks in the middle of an answer.
        """
        client = self._client or self._default_client()
        request = build_request(system=system, messages=messages, tools=tools)
        if self.thinking is not None:
            request["thinking"] = self.thinking
        raw_events: Any = await client.messages.create(
            model=self.model, max_tokens=self.max_tokens, stream=True, **request
        )
        async with raw_events:
            async for event in to_model_events(raw_events):
                yield event

    async def close(self) -> None:
        """Close the connection that this object opened itself. Idempotent."""
        client, self._own = self._own, None
        if client is not None:
            await client.close()

    def _default_client(self) -> anthropic.AsyncAnthropic:
        import anthropic

        if self._own is None:
            client = anthropic.AsyncAnthropic()
            names = {name.lower() for name in (*client.auth_headers, *client.default_headers)}
            if not (client.credentials or names & {"authorization", "x-api-key"}):
                raise NoApiKey("no API key: set ANTHROPIC_API_KEY, or pass client=")
            self._own = client
        return self._own


def build_request(
    *, system: str, messages: Sequence[Message], tools: Sequence[ToolSpec]
) -> JsonObject:
    """The part of a Messages request that changes from turn to turn. What is empty is left out.

    A lone surrogate, from a tool or a file, would make every further request fail: utf8_safe.
    """
    request: JsonObject = {"messages": list(messages)}
    if system:
        request["system"] = system
    if tools:
        request["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}
            for tool in tools
        ]
    return dict(utf8_safe(request))


@dataclass(frozen=True)
class Request:
    """What a model was asked, as it was at that moment."""

    system: str
    messages: list[Message]
    tools: list[ToolSpec]


Turn: TypeAlias = Sequence[ModelEvent | BaseException]


class ScriptedModel:
    """A model that is a list: what it says turn by turn, with no key and no network.

    A turn is a list of Text and ToolCall; Done follows by itself ("tool_use" after a ToolCall,
    else "end_turn") unless the turn ends with one. An exception in the list is raised at that
    place. A turn may also be a function that gets the Request and returns such a list.
    ``requests`` remembers every Request.
    """

    def __init__(self, turns: Iterable[Turn | Callable[[Request], Turn]]) -> None:
        self._turns = list(turns)
        for turn in self._turns:
            if not (callable(turn) or isinstance(turn, list | tuple)):
                raise TypeError(f"a turn is a list of events, not {type(turn).__name__}")
        self.requests: list[Request] = []

    async def stream(
        self, *, system: str, messages: Sequence[Message], tools: Sequence[ToolSpec]
    ) -> AsyncIterator[ModelEvent]:
        """Yield the next turn.

        Raises: AssertionError when the script has run out; what the script holds.
        """
        self.requests.append(Request(system, copy.deepcopy(list(messages)), list(tools)))
        asked = len(self.requests)
        if asked > len(self._turns):
            raise AssertionError(
                f"ScriptedModel: the script holds {len(self._turns)} turns and was asked for "
                f"turn {asked}; add what the model would say"
            )
        turn = self._turns[asked - 1]
        for event in with_done(turn(self.requests[-1]) if callable(turn) else turn):
            if isinstance(event, BaseException):
                raise event
            yield event


def with_done(turn: Turn) -> Turn:
    """``turn``, with the Done that it implies."""
    if turn and isinstance(turn[-1], Done | BaseException):
        return turn
    called = any(isinstance(event, ToolCall) for event in turn)
    return [*turn, Done("tool_use" if called else "end_turn")]
