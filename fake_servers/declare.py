"""What a server offers, as plain declarations: tools, resources, templates, prompts.

Each holds an ``async`` function of the service. It returns what is to be said, or NeedInput, or
raises ToolFailure (tools) for a failure that the model should read.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from fake_servers.context import Context
from fake_servers.wire import Message

ABSENT: Any = object()
"""Tells "no structured content" from ``null``, which is a value."""


class ToolFailure(Exception):
    """The tool ran and failed; the text becomes an ``isError`` result."""


@dataclass(frozen=True)
class Output:
    """A tool's result: content blocks, or a text for one block; and structured content.

    Structured content without content is copied as JSON text (server/tools#structured-content).
    """

    content: str | Sequence[Message] | None = None
    structured: Any = ABSENT
    is_error: bool = False


@dataclass(frozen=True)
class NeedInput:
    """The function cannot finish yet (basic/patterns/mrtr).

    ``requests`` maps keys to requests of the three kinds; ``state`` is any JSON value, given back
    as ``context.state`` on the retry, protected on the way. At least one of the two is needed.
    """

    requests: Mapping[str, Message] = field(default_factory=dict)
    state: Any = ABSENT


Complete: TypeAlias = Callable[[str, Mapping[str, str]], Awaitable[Sequence[str]]]
"""Gets what was typed and the other arguments, gives the values that fit (utilities/completion)."""

ToolRun: TypeAlias = Callable[[Message, Context], Awaitable[str | Output | NeedInput]]


@dataclass(frozen=True)
class Tool:
    """A tool; ``run(arguments, context)`` is called with arguments that satisfy the schema.

    ``requires`` holds client capabilities without which the call is refused with -32021.
    """

    name: str
    description: str
    run: ToolRun
    input_schema: Message = field(default_factory=lambda: {"type": "object"})
    output_schema: Message | None = None
    annotations: Message | None = None
    title: str | None = None
    requires: Message = field(default_factory=dict)

    def to_wire(self) -> Message:
        """The entry of ``tools/list``."""
        return _present(
            name=self.name,
            title=self.title,
            description=self.description,
            inputSchema=self.input_schema,
            outputSchema=self.output_schema,
            annotations=self.annotations,
        )


@dataclass(frozen=True)
class Resource:
    """Something to read at a fixed address; ``read(context)`` returns text or bytes."""

    uri: str
    name: str
    read: Callable[[Context], Awaitable[str | bytes | NeedInput]]
    description: str | None = None
    mime_type: str = "text/plain"
    ttl_ms: int = 0
    cache_scope: str = "private"

    def to_wire(self) -> Message:
        """The entry of ``resources/list``."""
        return _present(
            uri=self.uri, name=self.name, description=self.description, mimeType=self.mime_type
        )


@dataclass(frozen=True)
class ResourceTemplate:
    """Resources at ``uri_template``, whose ``{names}`` stand for one path segment each.

    ``read(variables, context)`` returns text or bytes, or None when there is nothing there;
    ``complete`` holds a function for each name that can be completed.
    """

    uri_template: str
    name: str
    read: Callable[[Mapping[str, str], Context], Awaitable[str | bytes | NeedInput | None]]
    description: str | None = None
    mime_type: str = "text/plain"
    ttl_ms: int = 0
    cache_scope: str = "private"
    complete: Mapping[str, Complete] = field(default_factory=dict)

    def to_wire(self) -> Message:
        """The entry of ``resources/templates/list``."""
        return _present(
            uriTemplate=self.uri_template,
            name=self.name,
            description=self.description,
            mimeType=self.mime_type,
        )


@dataclass(frozen=True)
class PromptArgument:
    """A named string that a prompt takes."""

    name: str
    description: str
    required: bool = False
    complete: Complete | None = None


@dataclass(frozen=True)
class Prompt:
    """A prompt; ``render(arguments, context)`` returns a text for the user's turn, or messages."""

    name: str
    description: str
    render: Callable[[Mapping[str, str], Context], Awaitable[str | Sequence[Message] | NeedInput]]
    arguments: Sequence[PromptArgument] = ()

    def to_wire(self) -> Message:
        """The entry of ``prompts/list``."""
        arguments = [
            {"name": a.name, "description": a.description, "required": a.required}
            for a in self.arguments
        ]
        return _present(name=self.name, description=self.description, arguments=arguments)


def text_block(text: str) -> Message:
    """A text content block."""
    return {"type": "text", "text": text}


def _present(**fields: Any) -> Message:
    return {name: value for name, value in fields.items() if value is not None}
