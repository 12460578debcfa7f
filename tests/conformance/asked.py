"""The tools and the prompt that ask before they answer (basic/patterns/mrtr)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shown import text

from fake_servers.context import Context
from fake_servers.declare import NeedInput, ToolRun


def form(message: str, **fields: dict[str, Any]) -> dict[str, Any]:
    """An elicitation; every field is required."""
    schema = {"type": "object", "properties": fields, "required": list(fields)}
    params = {"mode": "form", "message": message, "requestedSchema": schema}
    return {"method": "elicitation/create", "params": params}


STRING = {"type": "string"}
NAME = form("What is your name?", name=STRING)
CONTEXT = form("What context should the prompt use?", context=STRING)
CONFIRM = form("Please confirm", ok={"type": "boolean"})
FIRST = form("Step 1: What is your name?", name=STRING)
SECOND = form("Step 2: What is your favorite color?", color=STRING)
MODEL = {
    "method": "sampling/createMessage",
    "params": {
        "messages": [{"role": "user", "content": text("What is the capital of France?")}],
        "maxTokens": 100,
    },
}
ROOTS: dict[str, Any] = {"method": "roots/list", "params": {}}


def given(context: Context, key: str, asked: dict[str, Any]) -> dict[str, Any] | None:
    """What a person filled in, None when it is not there or breaks the form."""
    return context.accepted(key, asked["params"]["requestedSchema"])


async def elicits(arguments: dict[str, Any], context: Context) -> str | NeedInput:
    who = given(context, "user_name", NAME)
    return f"Hello, {who['name']}!" if who else NeedInput({"user_name": NAME})


async def samples(arguments: dict[str, Any], context: Context) -> str | NeedInput:
    said = context.input_responses.get("capital_question")
    return str(said["content"]) if said else NeedInput({"capital_question": MODEL})


async def lists_roots(arguments: dict[str, Any], context: Context) -> str | NeedInput:
    found = context.input_responses.get("client_roots")
    return str(found["roots"]) if found else NeedInput({"client_roots": ROOTS})


async def keeps_state(arguments: dict[str, Any], context: Context) -> str | NeedInput:
    if context.state == 1 and given(context, "confirm", CONFIRM):
        return "state-ok"
    return NeedInput({"confirm": CONFIRM}, state=1)


async def asks_three(arguments: dict[str, Any], context: Context) -> str | NeedInput:
    asked = {"user_name": NAME, "greeting": MODEL, "client_roots": ROOTS}
    if context.state == 1 and asked.keys() <= context.input_responses.keys():
        return "all three were answered"
    return NeedInput(asked, state=1)


async def asks_twice(arguments: dict[str, Any], context: Context) -> str | NeedInput:
    if context.state == 2 and given(context, "step2", SECOND):
        return "finished"
    if context.state == 1 and given(context, "step1", FIRST):
        return NeedInput({"step2": SECOND}, state=2)
    return NeedInput({"step1": FIRST}, state=1)


async def asks_what_is_declared(arguments: dict[str, Any], context: Context) -> str | NeedInput:
    kinds = {"elicitation": NAME, "sampling": MODEL, "roots": ROOTS}
    asked = {kind: kinds[kind] for kind in kinds if kind in context.request.capabilities}
    return NeedInput(asked) if asked and not context.input_responses else "nothing left to ask"


async def ask_for_context(arguments: Mapping[str, str], context: Context) -> str | NeedInput:
    """The prompt."""
    found = given(context, "user_context", CONTEXT)
    return (
        f"In the context of {found['context']}." if found else NeedInput({"user_context": CONTEXT})
    )


ASKS: dict[str, ToolRun] = {
    "test_streaming_elicitation": elicits,
    "test_input_required_result_elicitation": elicits,
    "test_input_required_result_sampling": samples,
    "test_input_required_result_list_roots": lists_roots,
    "test_input_required_result_request_state": keeps_state,
    "test_input_required_result_tampered_state": keeps_state,
    "test_input_required_result_multiple_inputs": asks_three,
    "test_input_required_result_multi_round": asks_twice,
    "test_input_required_result_capabilities": asks_what_is_declared,
}
