"""The two bridges to a model: what a provider streams, and a model that is a list."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fake_servers.anthropic_events import raw_events
from mini_agent.errors import McpError
from mini_agent.model_client import (
    DEFAULT_MODEL,
    AnthropicModelClient,
    ModelStreamError,
    NoApiKey,
    Request,
    ScriptedModel,
    to_model_events,
)
from mini_agent.types import Done, ModelEvent, Text, ToolCall, ToolSpec

# -- the stream, event by event -------------------------------------------------------------------

START = {"type": "message_start", "message": {"id": "msg_1", "content": []}}
STOP = {"type": "message_stop"}


def block_start(index: int, **block: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def text_start(index: int = 0, text: str = "") -> dict[str, Any]:
    return block_start(index, type="text", text=text)


def tool_start(index: int = 0, **input: Any) -> dict[str, Any]:
    return block_start(index, type="tool_use", id="t1", name="look", input=input)


def text(piece: str, index: int = 0) -> dict[str, Any]:
    delta = {"type": "text_delta", "text": piece}
    return {"type": "content_block_delta", "index": index, "delta": delta}


def part(piece: str, index: int = 0) -> dict[str, Any]:
    delta = {"type": "input_json_delta", "partial_json": piece}
    return {"type": "content_block_delta", "index": index, "delta": delta}


def stop(index: int = 0) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


def reason(why: str | None = "end_turn") -> dict[str, Any]:
    return {"type": "message_delta", "delta": {"stop_reason": why}, "usage": {"output_tokens": 1}}


async def each(items: Iterable[Any]) -> AsyncIterator[Any]:
    for item in items:
        yield item


async def translate(raw: Iterable[Any]) -> list[ModelEvent]:
    return [event async for event in to_model_events(each(raw))]


TOOL_TURN = [
    START,
    {"type": "ping"},
    text_start(0),
    text("Let me "),
    text("see."),
    stop(0),
    tool_start(1),
    part("", 1),
    part('{"day": "mo', 1),
    part('nday"}', 1),
    stop(1),
    reason("tool_use"),
    STOP,
]
TOOL_TURN_EVENTS = [
    Text("Let me "),
    Text("see."),
    ToolCall("t1", "look", {"day": "monday"}),
    Done("tool_use"),
]


async def test_text_comes_in_pieces_a_call_whole_and_done_last() -> None:
    assert await translate(TOOL_TURN) == TOOL_TURN_EVENTS


async def test_the_packages_own_objects_are_read_like_dicts() -> None:
    from anthropic.types import RawMessageStreamEvent
    from pydantic import TypeAdapter

    adapter: TypeAdapter[Any] = TypeAdapter(RawMessageStreamEvent)
    message = raw_events([])[0]
    objects = [adapter.validate_python(raw) for raw in [message, *TOOL_TURN[2:]]]
    assert all(not isinstance(raw, dict) for raw in objects)
    assert await translate(objects) == TOOL_TURN_EVENTS


async def test_each_event_is_given_on_as_soon_as_it_is_complete() -> None:
    taken: list[str] = []

    async def raw() -> AsyncIterator[Any]:
        for event in TOOL_TURN:
            taken.append(event["type"])
            yield event

    source = raw()
    stream = to_model_events(source)
    assert await anext(stream) == Text("Let me ")
    assert taken == [event["type"] for event in TOOL_TURN[:4]]
    await stream.aclose()  # type: ignore[attr-defined]
    await source.aclose()  # type: ignore[attr-defined]


async def test_what_is_not_for_the_loop_is_passed_over() -> None:
    thinking = block_start(0, type="thinking", thinking="", signature="")
    server_tool = block_start(1, type="server_tool_use", id="s1", name="web_search", input={})
    raw = [
        START,
        thinking,
        {"type": "content_block_delta", "index": 0,
         "delta": {"type": "thinking_delta", "thinking": "hm"}},
        {"type": "content_block_delta", "index": 0,
         "delta": {"type": "signature_delta", "signature": "x"}},
        stop(0),
        server_tool,
        part('{"query": 1}', 1),
        stop(1),
        {"type": "something_of_2031", "index": 7},
        text_start(2),
        {"type": "content_block_delta", "index": 2, "delta": {"type": "citations_delta"}},
        text("hi", 2),
        stop(2),
        reason(),
        STOP,
        {"type": "ping"},
    ]  # fmt: skip
    assert await translate(raw) == [Text("hi"), Done("end_turn")]


@pytest.mark.parametrize(
    ("start", "deltas", "input"),
    [
        (tool_start(), [], {}),
        (tool_start(), [part(""), part("")], {}),
        (tool_start(), [part("{}")], {}),
        (tool_start(day="monday"), [], {"day": "monday"}),
        (tool_start(), [part('{"a": "\\ud83'), part('d\\ude00"}')], {"a": "\U0001f600"}),
    ],
)
async def test_the_input_of_a_call(
    start: dict[str, Any], deltas: list[Any], input: dict[str, Any]
) -> None:
    raw = [START, start, *deltas, stop(), reason("tool_use"), STOP]
    assert (await translate(raw))[0] == ToolCall("t1", "look", input)


async def test_text_that_comes_with_the_start_of_its_block_is_not_lost() -> None:
    raw = [START, text_start(0, "He"), text("y"), stop(), reason(), STOP]
    assert (await translate(raw))[:-1] == [Text("He"), Text("y")]


async def test_input_as_deep_as_is_allowed_is_handed_on() -> None:
    raw = [
        START,
        tool_start(),
        part('{"a": ' + "[" * 199 + "]" * 199 + "}"),
        stop(),
        reason(),
        STOP,
    ]
    assert isinstance((await translate(raw))[0], ToolCall)


async def test_a_lone_surrogate_in_a_text_becomes_its_escape() -> None:
    raw = [START, text_start(0, "a\ud800"), text("\udfffb \U0001f600"), stop(), reason(), STOP]
    assert (await translate(raw))[:-1] == [Text("a\\ud800"), Text("\\udfffb \U0001f600")]


def test_a_request_can_be_sent_whatever_tools_files_and_people_put_into_it() -> None:
    from mini_agent.model_client import build_request

    said = {"role": "user", "content": [{"type": "text", "text": "\ud800"}]}
    tool = ToolSpec("look", "\ud800", {"type": "object", "required": ["\ud800"]})
    request = build_request(system="\udfff", messages=[said], tools=[tool])
    assert request["messages"][0]["content"][0]["text"] == "\\ud800"
    assert "\ud800" in said["content"][0]["text"]  # type: ignore[index]
    json.dumps(request, ensure_ascii=False).encode("utf-8")


BROKEN: dict[str, list[dict[str, Any]]] = {
    "a delta without its start": [START, text("x"), stop(), reason(), STOP],
    "json without its start": [START, part("{}"), reason(), STOP],
    "a delta for another block": [START, text_start(0), text("x", 1), stop(), reason(), STOP],
    "a delta after its stop": [START, text_start(), stop(), text("x"), reason(), STOP],
    "a stop without its start": [START, stop(), reason(), STOP],
    "a block stopped twice": [START, text_start(), stop(), stop(), reason(), STOP],
    "a block started twice": [START, text_start(), text_start(), stop(), reason(), STOP],
    "an index used again": [START, text_start(), stop(), text_start(), stop(), reason(), STOP],
    "a message started twice": [START, START, reason(), STOP],
    "text for a call": [START, tool_start(), text("x"), stop(), reason(), STOP],
    "json for a text": [START, text_start(), part("{}"), stop(), reason(), STOP],
    "bad json": [START, tool_start(), part('{"a": '), stop(), reason("tool_use"), STOP],
    "bad json, then a block": [
        START, tool_start(), part("{"), stop(), text_start(1), stop(1), reason("max_tokens"), STOP
    ],
    "json that is a list": [START, tool_start(), part("[1]"), stop(), reason("tool_use"), STOP],
    "json that is null": [START, tool_start(), part("null"), stop(), reason("tool_use"), STOP],
    "NaN": [START, tool_start(), part('{"a": NaN}'), stop(), reason("tool_use"), STOP],
    "no message_stop": [START, text_start(), text("x"), stop(), reason()],
    "nothing at all": [],
    "a message_stop with a block open": [START, text_start(), text("x"), reason(), STOP],
    "no stop_reason": [START, text_start(), stop(), STOP],
    "a stop_reason of null": [START, text_start(), stop(), reason(None), STOP],
    "a second message after the first": [START, reason(), STOP, START],
    "a block after the end": [START, reason(), STOP, text_start(0, "x"), stop()],
    "a second end": [START, reason(), STOP, STOP],
    "an error event": [START, {"type": "error", "error": {"type": "overloaded_error",
                                                           "message": "Overloaded"}}],
    "an event without a type": [START, {"index": 0}],
    "a start without its block": [START, {"type": "content_block_start", "index": 0}],
    "text that is a number": [START, text_start(), text(7), reason(), STOP],  # type: ignore[arg-type]
    "a call without a name": [
        START, block_start(0, type="tool_use", id="t1", input={}), stop(), reason(), STOP
    ],
    "a call of an empty name": [
        START, block_start(0, type="tool_use", id="t1", name="", input={}), stop(), reason(), STOP
    ],
    "a call of an empty id": [
        START, block_start(0, type="tool_use", id="", name="n", input={}), stop(), reason(), STOP
    ],
    "two calls of one id": [
        START, tool_start(0), stop(0), tool_start(1), stop(1), reason("tool_use"), STOP
    ],
    "no message_start": [text_start(), text("x"), stop(), reason(), STOP],
    "no message_start at the end": [reason(), STOP],
    "a stop_reason that is a number": [START, reason(7), STOP],  # type: ignore[arg-type]
    "a stop_reason that is false": [START, reason(False), STOP],  # type: ignore[arg-type]
    "an empty stop_reason": [START, reason(""), STOP],
    "an event that is None": [START, None, reason(), STOP],  # type: ignore[list-item]
    "an event that is a string": [START, "ping", reason(), STOP],  # type: ignore[list-item]
    "a number past all numbers": [
        START, tool_start(), part('{"a": [1e999]}'), stop(), reason("tool_use"), STOP
    ],
    "input nested too deep": [
        START, tool_start(), part('{"a": ' + "[" * 200 + "]" * 200 + "}"), stop(),
        reason("tool_use"), STOP
    ],
    "input of the start that is infinite": [
        START, tool_start(a=float("inf")), stop(), reason("tool_use"), STOP
    ],
    "a number of too many digits": [
        START, tool_start(), part('{"a": ' + "9" * 5000 + "}"), stop(), reason("tool_use"), STOP
    ],
    "a lone surrogate in the input": [
        START, tool_start(), part('{"a": "\\ud800"}'), stop(), reason("tool_use"), STOP
    ],
    "a lone surrogate as a key": [
        START, tool_start(), part('{"\\udfff": 1}'), stop(), reason("tool_use"), STOP
    ],
}  # fmt: skip


@pytest.mark.parametrize("what", BROKEN)
async def test_a_stream_that_makes_no_sense_is_an_error_and_not_guessed_at(what: str) -> None:
    with pytest.raises(ModelStreamError) as caught:
        await translate(BROKEN[what])
    assert str(caught.value)
    assert not isinstance(caught.value, McpError)


@pytest.mark.parametrize("why", ["max_tokens", "model_context_window_exceeded", "refusal"])
async def test_half_a_call_at_the_end_of_a_cut_answer_is_dropped(why: str) -> None:
    raw = [START, text_start(0), text("I"), stop(0), tool_start(1), part('{"a": "b', 1), stop(1),
           reason(why), STOP]  # fmt: skip
    assert await translate(raw) == [Text("I"), Done(why)]


async def test_an_error_of_the_network_passes_through_unchanged() -> None:
    error = OSError("reset")

    async def raw() -> AsyncIterator[Any]:
        yield START
        raise error

    with pytest.raises(OSError) as caught:
        [event async for event in to_model_events(raw())]
    assert caught.value is error


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
NAMES = st.text(min_size=1)
EVENTS = st.lists(
    st.builds(Text, st.text())
    | st.builds(ToolCall, NAMES, NAMES, st.dictionaries(st.text(), JSON, max_size=3)),
    unique_by=lambda event: event.id if isinstance(event, ToolCall) else object(),
)


@settings(max_examples=100, deadline=None)
@given(turn=EVENTS, why=st.sampled_from(["end_turn", "max_tokens", "stop_sequence"]))
def test_what_a_service_streams_for_a_turn_is_that_turn(turn: list[Any], why: str) -> None:
    import asyncio

    got = asyncio.run(translate(raw_events([*turn, Done(why)])))
    assert _joined(got) == _joined([*turn, Done(why)])


def _joined(events: list[Any]) -> list[Any]:
    """Neighbouring texts as one: where they are split is no part of their meaning."""
    joined: list[Any] = [Text("")]
    for event in events:
        if isinstance(event, Text) and isinstance(joined[-1], Text):
            joined[-1] = Text(joined[-1].text + event.text)
        elif isinstance(event, Text):
            joined.append(event)
        else:
            joined += [event, Text("")]
    return joined


# -- the scripted model ---------------------------------------------------------------------------


async def say(model: Any, messages: Any = (), tools: Any = ()) -> list[ModelEvent]:
    return [e async for e in model.stream(system="s", messages=messages, tools=tools)]


@pytest.mark.parametrize(
    ("turn", "last"),
    [
        ([], Done("end_turn")),
        ([Text("x")], Done("end_turn")),
        ([ToolCall("t", "n", {}), Text("x")], Done("tool_use")),
        ([Text("x"), Done("max_tokens")], Done("max_tokens")),
    ],
)
async def test_a_scripted_turn_ends_with_the_done_it_implies(turn: Any, last: Done) -> None:
    events = await say(ScriptedModel([turn]))
    assert events[-1] == last
    assert sum(isinstance(e, Done) for e in events) == 1


async def test_a_scripted_model_remembers_requests_as_they_were() -> None:
    model = ScriptedModel([[Text("a")], [Text("b")]])
    messages: list[Any] = [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]
    before = copy.deepcopy(messages)
    spec = ToolSpec("n", "d")
    await say(model, messages, [spec])
    messages[0]["content"][0]["text"] = "changed"
    assert model.requests == [Request("s", before, [spec])]


async def test_a_scripted_turn_can_be_a_function_of_the_request() -> None:
    model = ScriptedModel([lambda request: [Text(f"{len(request.messages)} so far")]])
    assert (await say(model, [{"role": "user", "content": []}]))[0] == Text("1 so far")


async def test_a_scripted_exception_is_raised_at_its_place() -> None:
    error = ConnectionError()
    events: list[ModelEvent] = []
    with pytest.raises(ConnectionError) as caught:
        async for event in ScriptedModel([[Text("a"), error]]).stream(
            system="", messages=[], tools=[]
        ):
            events.append(event)
    assert caught.value is error and events == [Text("a")]


async def test_a_script_that_has_run_out_says_which_turn_is_missing() -> None:
    model = ScriptedModel([[Text("a")]])
    await say(model)
    with pytest.raises(AssertionError, match="turn 2"):
        await say(model)


@pytest.mark.parametrize("turn", [Text("a"), "a", {"a": 1}])
def test_a_turn_that_is_no_list_is_a_misuse(turn: Any) -> None:
    with pytest.raises(TypeError):
        ScriptedModel([turn])


# -- the real client ------------------------------------------------------------------------------


def test_the_default_model_is_the_newest_sonnet_that_the_package_knows() -> None:
    from anthropic.types.model import Model

    known = [name for name in get_args(get_args(Model)[0]) if name.startswith("claude-sonnet-")]
    aliases = [n for n in known if not n.rpartition("-")[2].isdigit() or len(n) < 20]
    assert max(aliases, key=lambda n: [int(x) for x in n.split("-")[2:]]) == DEFAULT_MODEL


def test_making_a_client_needs_no_key_and_loads_no_network_library(tmp_path: Path) -> None:
    code = (
        "import sys, mini_agent.model_client as m\n"
        "m.AnthropicModelClient(); m.ScriptedModel([])\n"
        "assert not [n for n in sys.modules if n.startswith(('anthropic', 'httpx'))]"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env=_no_key(tmp_path))


def test_a_missing_key_is_one_clear_error_at_the_call(tmp_path: Path) -> None:
    code = (
        "import asyncio\n"
        "from mini_agent.model_client import AnthropicModelClient, NoApiKey\n"
        "async def main():\n"
        "    model = AnthropicModelClient()\n"
        "    try:\n"
        "        async for _ in model.stream(system='', messages=[], tools=[]): pass\n"
        "    except NoApiKey as error:\n"
        "        print(error)\n"
        "    await model.close()\n"
        "asyncio.run(main())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=_no_key(tmp_path), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "ANTHROPIC_API_KEY" in done.stdout and done.stdout.count("\n") == 1
    assert not issubclass(NoApiKey, McpError)


def _no_key(home: Path) -> dict[str, str]:
    env = {k: v for k, v in os.environ.items() if not k.startswith("ANTHROPIC")}
    return {**env, "HOME": str(home), "XDG_CONFIG_HOME": str(home)}


async def test_an_own_client_is_closed_once_and_a_given_one_is_left_alone() -> None:
    import anthropic

    given = anthropic.AsyncAnthropic(api_key="none")
    model = AnthropicModelClient(client=given)
    await model.close()
    assert not given.is_closed()
    await given.close()
    await AnthropicModelClient().close()
