"""08.1: twelve streams, and what the loop gets of each."""

from exercises.machine import Task, expect
from mini_agent.model_stream import ModelStreamError, to_model_events
from mini_agent.types import Done, Text, ToolCall

TASK = Task(
    "08.1",
    "Twelve streams: which of them throw?",
    level="warm-up",
    minutes=8,
    section="Every way to break a stream",
    text="""
The model says "Let me look" and calls `calendar_query`. On the way to `to_model_events` something
happened to the stream, or something odd is in it. Say for each what the loop gets:

| write | when |
|---|---|
| `"all"` | the text, the call and Done |
| `"less"` | Done, and something before it is missing |
| `"throws"` | ModelStreamError |

The check then runs them.
""",
    hints=(
        "For each, ask: could what came be read in two ways? Then it throws. Is something there "
        "that we never knew? Then it is passed over, and shifts nothing.",
        "Blocks are told apart by their index, so they may come in turns. A call with no pieces "
        "has the input of its start, `{}`. Whether half a call is a fault, the stop_reason "
        "decides.",
        "Once less, where max_tokens excuses the half call. All of it: pings, next year's event, "
        "thinking, blocks in turns, no pieces. The other six throw.",
    ),
)


@TASK.stub
def nothing_said_yet():
    loop_gets = {
        "a ping between any two events": ...,
        "an event of a type of next year": ...,
        "a thinking block before the text": ...,
        "pieces of the text and of the call, in turns": ...,
        "a call with no piece of JSON": ...,
        "the call's JSON is a list": ...,
        "half of the JSON is missing, the stop_reason is tool_use": ...,
        "half of the JSON is missing, the stop_reason is max_tokens": ...,
        "the start of the call is missing": ...,
        "a second call under the id of the first": ...,
        "the end is missing: no message_stop": ...,
        "an error event after the text": ...,
    }
    return loop_gets


@TASK.solution
def as_they_run():
    loop_gets = {
        "a ping between any two events": "all",
        "an event of a type of next year": "all",
        "a thinking block before the text": "all",
        "pieces of the text and of the call, in turns": "all",
        "a call with no piece of JSON": "all",
        "the call's JSON is a list": "throws",
        "half of the JSON is missing, the stop_reason is tool_use": "throws",
        "half of the JSON is missing, the stop_reason is max_tokens": "less",
        "the start of the call is missing": "throws",
        "a second call under the id of the first": "throws",
        "the end is missing: no message_stop": "throws",
        "an error event after the text": "throws",
    }
    return loop_gets


@TASK.right
def by_what_the_loop_gets():
    gets = dict.fromkeys(STREAMS, "throws")
    odd = ["a ping between any two events", "an event of a type of next year"]
    odd += ["a thinking block before the text", "pieces of the text and of the call, in turns"]
    gets |= dict.fromkeys([*odd, "a call with no piece of JSON"], "all")
    loop_gets = gets | {"half of the JSON is missing, the stop_reason is max_tokens": "less"}
    return loop_gets


# -- the streams ----------------------------------------------------------------------------------


def start(index, **block):
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index, kind, **piece):
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **piece}}


def stop(index):
    return {"type": "content_block_stop", "index": index}


def json_piece(text):
    return delta(1, "input_json_delta", partial_json=text)


def call(call_id, index=1):
    return start(index, type="tool_use", id=call_id, name="calendar_query", input={})


BEGIN = {"type": "message_start", "message": {"role": "assistant", "content": []}}
TEXT = [start(0, type="text", text=""), delta(0, "text_delta", text="Let me look"), stop(0)]
PIECES = [json_piece('{"date": "2026'), json_piece('-08-03"}')]
CALL = [call("t1"), *PIECES, stop(1)]
THINKING = [start(7, type="thinking"), delta(7, "thinking_delta", thinking="Hm"), stop(7)]
OVER = {"type": "message_stop"}
NEW = {"type": "mood_delta", "mood": "cheerful"}
ERROR = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}


def end(reason="tool_use"):
    return [{"type": "message_delta", "delta": {"stop_reason": reason}}, OVER]


WHOLE = [BEGIN, *TEXT, *CALL, *end()]
STREAMS = {
    "a ping between any two events": [e for raw in WHOLE for e in (raw, {"type": "ping"})],
    "an event of a type of next year": [BEGIN, *TEXT, NEW, *CALL, *end()],
    "a thinking block before the text": [BEGIN, *THINKING, *TEXT, *CALL, *end()],
    "pieces of the text and of the call, in turns": [
        BEGIN, TEXT[0], CALL[0], PIECES[0], TEXT[1], PIECES[1], stop(1), stop(0), *end(),
    ],
    "a call with no piece of JSON": [BEGIN, *TEXT, call("t1"), stop(1), *end()],
    "the call's JSON is a list": [
        BEGIN, *TEXT, call("t1"), json_piece('["2026-08-03"]'), stop(1), *end(),
    ],
    "half of the JSON is missing, the stop_reason is tool_use": [
        BEGIN, *TEXT, call("t1"), PIECES[0], stop(1), *end(),
    ],
    "half of the JSON is missing, the stop_reason is max_tokens": [
        BEGIN, *TEXT, call("t1"), PIECES[0], stop(1), *end("max_tokens"),
    ],
    "the start of the call is missing": [BEGIN, *TEXT, *CALL[1:], *end()],
    "a second call under the id of the first": [
        BEGIN, *TEXT, *CALL, call("t1", 2), stop(2), *end(),
    ],
    "the end is missing: no message_stop": WHOLE[:-1],
    "an error event after the text": [BEGIN, *TEXT, ERROR],
}  # fmt: skip


# -- the check ------------------------------------------------------------------------------------


async def stream_of(events):
    for event in events:
        yield event


async def what_comes(name):
    try:
        events = [event async for event in to_model_events(stream_of(STREAMS[name]))]
    except ModelStreamError:
        return "throws"
    kinds = {type(event) for event in events}
    return "all" if kinds == {Text, ToolCall, Done} else "less"


async def compare(loop_gets, *names):
    for name in names:
        expect(loop_gets.get(name), await what_comes(name), when=name)


@TASK.part(
    "what is passed over",
    idea="A ping says nothing, thinking is not for the loop, and an event that we never knew "
    "cannot shift what we do know. Whoever throws at it is broken by the next release.",
)
async def passed_over(loop_gets):
    await compare(loop_gets, "a ping between any two events", "an event of a type of next year")
    await compare(loop_gets, "a thinking block before the text")


@TASK.part(
    "whose piece it is",
    idea="A piece names its block by index, so blocks may come in turns. A piece whose block never "
    "started belongs to nobody: given to the last one, another appointment is deleted.",
)
async def whose_piece(loop_gets):
    await compare(loop_gets, "pieces of the text and of the call, in turns")
    await compare(loop_gets, "the start of the call is missing")


@TASK.part(
    "what a call is",
    idea="A call has an id of its own, or its result could be tied to another. Its input is a JSON "
    "object; with no piece at all it is the empty one of its start.",
)
async def what_a_call_is(loop_gets):
    await compare(loop_gets, "a call with no piece of JSON", "the call's JSON is a list")
    await compare(loop_gets, "a second call under the id of the first")


@TASK.part(
    "half a call",
    idea="Half an object is no object. If the model ran out of room, that is nobody's fault, the "
    "call is dropped and Done says why. With any other reason, the stream has lost something.",
)
async def half_a_call(loop_gets):
    for reason in ("tool_use", "max_tokens"):
        await compare(loop_gets, f"half of the JSON is missing, the stop_reason is {reason}")


@TASK.part(
    "the end",
    idea="A stream that stops early looks like an answer, and nothing is wrong with any event of "
    "it. Only its end says that it is whole; and a service may fail under a status of 200.",
)
async def the_end(loop_gets):
    await compare(loop_gets, "the end is missing: no message_stop")
    await compare(loop_gets, "an error event after the text")


# -- what people write ----------------------------------------------------------------------------


@TASK.wrong("broken by the next release")
def the_unknown_throws():
    loop_gets = {**as_they_run(), "an event of a type of next year": "throws"}
    return loop_gets


@TASK.wrong("is not for the loop")
def thinking_is_a_text():
    loop_gets = {**as_they_run(), "a thinking block before the text": "throws"}
    return loop_gets


@TASK.wrong("names its block by index")
def one_block_after_the_other():
    loop_gets = {**as_they_run(), "pieces of the text and of the call, in turns": "throws"}
    return loop_gets


@TASK.wrong("belongs to nobody")
def a_piece_without_a_start_is_dropped():
    loop_gets = {**as_they_run(), "the start of the call is missing": "less"}
    return loop_gets


@TASK.wrong("the empty one of its start")
def no_json_is_no_call():
    loop_gets = {**as_they_run(), "a call with no piece of JSON": "throws"}
    return loop_gets


@TASK.wrong("an id of its own")
def two_calls_are_two_calls():
    loop_gets = {**as_they_run(), "a second call under the id of the first": "all"}
    return loop_gets


@TASK.wrong("that is nobody's fault")
def half_a_call_always_throws():
    name = "half of the JSON is missing, the stop_reason is max_tokens"
    loop_gets = {**as_they_run(), name: "throws"}
    return loop_gets


@TASK.wrong("has lost something")
def half_a_call_is_always_dropped():
    name = "half of the JSON is missing, the stop_reason is tool_use"
    loop_gets = {**as_they_run(), name: "less"}
    return loop_gets


@TASK.wrong("looks like an answer")
def what_came_is_the_answer():
    loop_gets = {**as_they_run(), "the end is missing: no message_stop": "all"}
    return loop_gets
