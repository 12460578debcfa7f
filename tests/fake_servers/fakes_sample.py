"""A server that shows everything the core can do; what the carrier-independent tests talk to."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from fake_servers.context import Context
from fake_servers.core import Server
from fake_servers.declare import (
    NeedInput,
    Output,
    Prompt,
    PromptArgument,
    Resource,
    ResourceTemplate,
    Tool,
    ToolFailure,
)

PIXEL = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"
NAME_FORM = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
ASK_NAME = {
    "method": "elicitation/create",
    "params": {"mode": "form", "message": "Your name?", "requestedSchema": NAME_FORM},
}
NUMBERS = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
    "required": ["a", "b"],
}
ROUTED = {
    "type": "object",
    "properties": {
        "region": {"type": "string", "x-mcp-header": "Region"},
        "shard": {"type": "integer", "x-mcp-header": "Shard"},
        "dry": {"type": "boolean", "x-mcp-header": "Dry"},
        "where": {
            "type": "object",
            "properties": {"zone": {"type": "string", "x-mcp-header": "Zone"}},
        },
        "sql": {"type": "string"},
    },
}


class Held:
    """A tool that waits: ``began`` when it has started, ``let_go`` to end it, ``cancelled``."""

    def __init__(self) -> None:
        self.began, self.let_go, self.cancelled = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def run(self, arguments: dict[str, Any], context: Context) -> str:
        self.began.set()
        try:
            await self.let_go.wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        return "let go"


async def echo(arguments: dict[str, Any], context: Context) -> str:
    return f"heard {arguments}"


async def add(arguments: dict[str, Any], context: Context) -> Output:
    return Output(structured={"sum": arguments["a"] + arguments["b"]})


async def count(arguments: dict[str, Any], context: Context) -> str:
    for i in (1, 2, 3):
        await context.progress(i, 3, f"step {i}")
    return "counted"


async def count_down(arguments: dict[str, Any], context: Context) -> str:
    await context.progress(2)
    await context.progress(1)
    return "never said"


async def refuse(arguments: dict[str, Any], context: Context) -> str:
    raise ToolFailure("the shop is closed; try again on Monday")


async def crash(arguments: dict[str, Any], context: Context) -> str:
    raise KeyError("a secret of the inside")


async def wrong_shape(arguments: dict[str, Any], context: Context) -> Output:
    return Output(structured={"sum": "two"})


async def no_shape(arguments: dict[str, Any], context: Context) -> str:
    return "only text"


async def nothing(arguments: dict[str, Any], context: Context) -> Output:
    return Output([], structured=None)


async def picture(arguments: dict[str, Any], context: Context) -> Output:
    return Output([{"type": "image", "data": PIXEL, "mimeType": "image/gif"}])


async def greet(arguments: dict[str, Any], context: Context) -> str | NeedInput:
    given = context.accepted("who", NAME_FORM)
    if given is None:
        return NeedInput({"who": ASK_NAME}, state={"round": 1})
    return f"hello {given['name']}, round {context.state and context.state['round']}"


async def step(arguments: dict[str, Any], context: Context) -> str | NeedInput:
    done = context.state or 0
    return "arrived" if done == 2 else NeedInput(state=done + 1)


async def model(arguments: dict[str, Any], context: Context) -> NeedInput:
    message = {"role": "user", "content": {"type": "text", "text": "2+2?"}}
    params = {"messages": [message], "maxTokens": 5}
    return NeedInput({"m": {"method": "sampling/createMessage", "params": params}})


async def roots(arguments: dict[str, Any], context: Context) -> NeedInput:
    return NeedInput({"r": {"method": "roots/list"}})


async def text(context: Context) -> str:
    return "some text\n\u2028 with a separator"


async def blob(context: Context) -> bytes:
    return b"\x00\xff"


async def secret(context: Context) -> str | NeedInput:
    return NeedInput({"who": ASK_NAME}) if context.accepted("who") is None else "the secret"


async def item(variables: Mapping[str, str], context: Context) -> str | None:
    return None if variables["id"] == "gone" else f"item {variables['id']}"


async def review(arguments: Mapping[str, str], context: Context) -> str:
    return f"Review {arguments['code']}."


async def dialogue(arguments: Mapping[str, str], context: Context) -> Any:
    said = {"type": "text", "text": "Understood."}
    return [{"role": "assistant", "content": said}]


async def ask_first(arguments: Mapping[str, str], context: Context) -> str | NeedInput:
    return NeedInput({"who": ASK_NAME}) if context.accepted("who") is None else "Hello."


def sample(held: Held | None = None, **options: Any) -> Server:
    sum_schema = {"type": "object", "properties": {"sum": {"type": "integer"}}}
    tools = [
        Tool("echo", "Says what it heard.", echo),
        Tool("add", "Adds.", add, NUMBERS, sum_schema, {"readOnlyHint": True}),
        Tool("count", "Counts to three.", count),
        Tool("count_down", "Reports progress backwards.", count_down),
        Tool("refuse", "Fails as a tool.", refuse),
        Tool("crash", "Fails as a server.", crash),
        Tool("wrong_shape", "Breaks its own output schema.", wrong_shape, NUMBERS, sum_schema),
        Tool("no_shape", "Has an output schema and no output.", no_shape, output_schema=sum_schema),
        Tool("nothing", "Null is a value.", nothing, output_schema={"type": "null"}),
        Tool("picture", "One pixel.", picture),
        Tool("needs_sampling", "Needs a model.", echo, requires={"sampling": {"tools": {}}}),
        Tool("greet", "Asks for a name.", greet),
        Tool("step", "Comes back twice with a state only.", step),
        Tool("model", "Asks a model.", model),
        Tool("roots", "Asks for roots.", roots),
        Tool("routed", "Mirrors its arguments.", echo, ROUTED),
        Tool(
            "outside", "Refers outside.", echo, {"type": "object", "$ref": "http://127.0.0.1:9/s"}
        ),
    ]
    if held is not None:
        tools.append(Tool("held", "Waits to be let go.", held.run))
    return Server(
        "sample",
        "0.1",
        instructions="For tests.",
        tools=tools,
        resources=[
            Resource("test://text", "text", text, ttl_ms=5),
            Resource("test://blob", "blob", blob, mime_type="application/octet-stream"),
            Resource("test://secret", "secret", secret),
        ],
        templates=[ResourceTemplate("test://item/{id}", "item", item, "One item.")],
        prompts=[
            Prompt("review", "A review.", review, [PromptArgument("code", "The code.", True)]),
            Prompt("dialogue", "Two sides.", dialogue),
            Prompt("ask_first", "Asks for a name.", ask_first),
        ],
        **options,
    )
