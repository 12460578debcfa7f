# %% [markdown]
# # 08 · Where is the same pattern already?
#
# At the end you hold a pure function that turns Anthropic's stream of events into the loop's own three
# words, and you have run the real `anthropic` package without a key. About 45 minutes.

# %%
from __future__ import annotations

from mini_agent import draw

draw.layers(lit="loop")

# %% [markdown]
# The drawing shows what the loop asks of the layers below it. It has a second neighbour, which is not
# in the drawing: the model. There, too, somebody else's protocol comes in and must become ours. The
# pattern is the adapter's, of notebook 07.

# %% [markdown]
# ## Seven words
#
# | word | what it is here |
# |---|---|
# | provider | whoever runs a model and takes requests to it, such as Anthropic with its Messages API |
# | raw event | one entry of the stream in which a provider answers |
# | block | a part of a model's message: a text, or a call of a tool |
# | delta | a raw event that brings a piece of a block |
# | ModelEvent | what the loop is given of a model's answer: Text, ToolCall or Done |
# | model client | the part that makes ModelEvents of raw events, and requests of conversations |
# | pure function | a function whose result depends on its arguments alone; it does no input or output |

# %% [markdown]
# ## One turn, as it is streamed
#
# The user asked what is on Monday. This is one answer of the Messages API, an event a line. Ids are
# shortened and figures of usage left out; the order and the shapes are the provider's.

# %%
import json

RECORDING = r"""
{"type":"message_start","message":{"id":"msg_1","role":"assistant","content":[],"stop_reason":null}}
{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}
{"type":"ping"}
{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Let me look"}}
{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" at Monday."}}
{"type":"content_block_stop","index":0}
{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t1","name":"calendar_query","input":{}}}
{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"date\": \"2026"}}
{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"-08-03\"}"}}
{"type":"content_block_stop","index":1}
{"type":"message_delta","delta":{"stop_reason":"tool_use"}}
{"type":"message_stop"}
"""
recorded = [json.loads(line) for line in RECORDING.strip().splitlines()]
len(recorded)

# %% [markdown]
# Each event gets a name here, so that the cells below can say which one they mean.

# %%
message_start, text_start, ping, text_1, text_2, text_stop, *rest = recorded
call_start, json_1, json_2, call_stop, message_delta, message_stop = rest
print(text_2["delta"], json_1["delta"], sep="\n")

# %% [markdown]
# Twelve events say three things: a text, in two pieces, a call of `calendar_query`, and that the turn
# is over. The loop wants these and nothing else.

# %%
from mini_agent.types import Done, Text, ToolCall

wanted = [Text("Let me look"), Text(" at Monday.")]
wanted += [ToolCall("t1", "calendar_query", {"date": "2026-08-03"}), Done("tool_use")]
print(*wanted, sep="\n")

# %% [markdown]
# ## A list stands in for the provider
#
# We need no provider to try a translation. A list of events is enough, handed out one by one. No
# request is made anywhere in the first half of this page.


# %%
async def stream_of(events):
    for event in events:
        yield event


async def run(translate, events):
    return [event async for event in translate(stream_of(events))]


# %% [markdown]
# ## Naive: what we need is in the start event
#
# The start of a call holds its id, its name, and a field `input`. So the rest looks like detail.


# %%
async def naive_events(raw_events):
    async for raw in raw_events:
        match raw:
            case {"content_block": {"type": "tool_use", **call}}:
                yield ToolCall(call["id"], call["name"], call["input"])
            case {"delta": {"text": text}}:
                yield Text(text)


await run(naive_events, recorded)

# %% [markdown]
# The call has no date. At the start, `input` is always empty. The arguments come afterwards, as JSON
# in pieces, and a piece may end in the middle of a word.

# %%
pieces = [
    raw["delta"]["partial_json"] for raw in recorded if "partial_json" in raw.get("delta", {})
]
pieces

# %% [markdown]
# ## Naive again: remember the last start
#
# So we collect the pieces, and parse when the block stops. The pieces belong to whatever started
# last.


# %%
async def hopeful_events(raw_events):
    call, text = {}, ""
    async for raw in raw_events:
        match raw:
            case {"content_block": block}:
                call, text = block, ""
            case {"delta": {"partial_json": piece}}:
                text += piece
            case {"delta": {"text": piece}}:
                yield Text(piece)
            case {"type": "content_block_stop"} if "name" in call:
                yield ToolCall(call["id"], call["name"], json.loads(text))
                text = ""


await run(hopeful_events, recorded)

# %% [markdown]
# Right, on this recording. Now a turn with two calls: delete one appointment, look at another. On its
# way one event gets lost, the start of the second block.

# %%
from fake_servers.anthropic_events import raw_events

delete = ToolCall("t1", "calendar_delete", {"id": "apt-3"})
look = ToolCall("t2", "calendar_show", {"id": "apt-1"})
whole = raw_events([delete, look])
starts = [raw for raw in whole if raw["type"] == "content_block_start"]
lost = [raw for raw in whole if raw is not starts[1]]
await run(hopeful_events, lost)

# %% [markdown]
# The model wanted to look at `apt-1`. We delete it. The guess "these pieces belong to the last start"
# was wrong once, and the rest of the stream was read by it.

# %% [markdown]
# And a stream that is cut? Nothing is wrong with any single event. The translation ends as if the
# model had said what it wanted to say.

# %%
answer = [Text("Monday is free, except for the whole afternoon.")]
cut = raw_events(answer)[:5]
"".join(event.text for event in await run(hopeful_events, cut))

# %% [markdown]
# ## `StreamState` and `Block`
#
# The package guesses nothing. It remembers what a stream has begun, so that each event can be held
# against it. These two dataclasses are all of its memory.

# %%
import inspect

from mini_agent.model_stream import Block, ModelStreamError, StreamState
from mini_agent.types import CUT_SHORT

print(inspect.getsource(StreamState))
print(inspect.getsource(Block))

# %% [markdown]
# Now one event after another, each with its handler. A handler takes the state and the event, and
# gives the ModelEvents that are complete. Most give none. `json_fault` says why a value could not be
# kept as JSON, and `utf8_safe` escapes what has no UTF-8.

# %%
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Mapping, Sequence
from typing import Any

from mini_agent.blocks import json_fault, utf8_safe
from mini_agent.types import ModelEvent

# %% [markdown]
# ## `message_start`
#
# It opens the message. A second one would mix two messages, so it is refused.

# %% include mini_agent.model_stream.on_message_start
state = StreamState()
on_message_start(state, message_start)
state.started

# %% tags=["raises-exception"]
on_message_start(state, message_start)

# %% [markdown]
# ## `content_block_start`
#
# A block is known by its index from here on. A text block may begin with some text already; where
# nothing was said, nothing is passed on. Two calls must not share an id.

# %% include mini_agent.model_stream.string text_event

# %% include mini_agent.model_stream.check_call_start on_block_start
on_block_start(state, text_start)
on_block_start(state, call_start)
state.blocks

# %% [markdown]
# ## `content_block_delta`: text
#
# First the rule that was missing above: a delta needs a block that is open. Then text goes on at once,
# so that a person can watch it come.

# %% include mini_agent.model_stream.open_block

# %% include mini_agent.model_stream.on_block_delta
[on_block_delta(state, raw) for raw in (text_1, text_2)]

# %% [markdown]
# ## `content_block_delta`: JSON in pieces
#
# Nothing can be said of half an object. The pieces wait in their own block, whatever else comes in
# between.

# %%
for raw in (json_1, json_2):
    print(on_block_delta(state, raw), state.blocks[1].json_pieces)

# %% [markdown]
# And a delta for a block that never started. No guess, and no appointment deleted.

# %% tags=["raises-exception"]
on_block_delta(state, {"type": "content_block_delta", "index": 7, "delta": {"type": "text_delta"}})

# %% [markdown]
# ## `content_block_stop`
#
# Now the pieces are one text, and the text must be a JSON object. A call is handed on whole or not at
# all. JSON has no NaN, so Python's parser is told to refuse it.

# %% include mini_agent.model_stream._refuse finished_call

# %% include mini_agent.model_stream.on_block_stop
print(on_block_stop(state, text_stop), on_block_stop(state, call_stop))

# %% [markdown]
# For half an object `finished_call` raises, as below. `on_block_stop` catches that and lets it wait in
# `state.cut`: if the model ran out of room, half a call is nobody's fault. Why it stopped comes only
# later. Another block, or another reason, and the error is raised.

# %%
half = Block("tool_use", {"id": "t1", "name": "calendar_query", "input": {}}, ['{"date": "2026'])
try:
    finished_call(half)
except ModelStreamError as error:
    print(error)

# %% [markdown]
# ## `message_delta` and `message_stop`
#
# The first tells why the model stopped. The second is the end, and settles what is open: a block that
# never stopped, a reason that never came, half a call. `CUT_SHORT` holds the reasons that excuse the
# last, such as `max_tokens`.

# %% include mini_agent.model_stream.on_message_delta

# %% include mini_agent.model_stream.on_message_stop
on_message_delta(state, message_delta)
on_message_stop(state, message_stop)

# %% [markdown]
# ## `error`
#
# The service can fail in the middle of its own answer. It says so in the stream, since the status 200
# has long been sent.

# %% include mini_agent.model_stream.on_error tags=["raises-exception"]
overloaded = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
on_error(state, overloaded)

# %% [markdown]
# ## `ping`, and what we do not know
#
# A table says which handler takes which event. What is not in it is passed over: a ping, or an event
# type that is invented next year.

# %% include mini_agent.model_stream.HANDLERS

# %% include mini_agent.model_stream.on_raw_event

# %% [markdown]
# One event of each kind. Neither gives anything.

# %%
print(on_raw_event(StreamState(), ping))
print(on_raw_event(StreamState(), {"type": "mood_delta", "mood": "cheerful"}))

# %% [markdown]
# Is passing over not guessing? An event that we never knew cannot shift what we do know. A known event
# in a wrong place can, and a known event of a wrong shape: those throw.

# %%
try:
    on_raw_event(StreamState(started=True), {"type": "content_block_start", "index": 0})
except ModelStreamError as error:
    print(error)

# %% [markdown]
# ## `to_model_events`
#
# The whole translation. It takes dicts, or the objects that the `anthropic` package makes of them. It
# opens no connection, so it can be tried on a list.

# %% include mini_agent.model_stream.as_dict to_model_events tags=["covers-to-model-events", "covers-fake-stream-of-raw-events"]
assert await run(to_model_events, recorded) == wanted
await run(to_model_events, recorded)

# %% [markdown]
# The two streams that fooled us. Each is now an exception, and the calls behind the break are never
# handed on.

# %% tags=["covers-delta-without-start-throws"]
for events in (lost, cut):
    try:
        await run(to_model_events, events)
    except ModelStreamError as error:
        print(error)

# %% [markdown]
# ## Every way to break a stream
#
# We break it in nine ways, most of them by leaving out, doubling or adding one event of the
# recording, and look at what comes of each.


# %%
def without(event):
    return [raw for raw in recorded if raw is not event]


def behind(event, *more):
    place = recorded.index(event) + 1
    return [*recorded[:place], *more, *recorded[place:]]


print(len(without(ping)), len(behind(ping, ping)))

# %%
broken = {
    "a delta without its start": without(call_start),
    "a block started twice": behind(call_start, call_start),
    "a piece of JSON lost": without(json_2),
    "a block that never stops": without(call_stop),
    "no stop_reason": without(message_delta),
    "cut before message_stop": without(message_stop),
    "an event after the end": behind(message_stop, text_1),
    "the service fails midway": behind(text_2, overloaded),
    "an event without a type": [{"kind": "ping"}],
}

# %%
import textwrap

for name, events in broken.items():
    try:
        print(name, await run(to_model_events, events))
    except ModelStreamError as error:
        print(textwrap.fill(f"{name:<26} {error}", 100, subsequent_indent=" " * 27))

# %% [markdown]
# And one that is no fault. The model ran out of room in the middle of a call. The half call is dropped
# and Done says why, so the loop can end the run with that reason.

# %%
ran_out = {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}}
no_room = [ran_out if raw is message_delta else raw for raw in without(json_2)]
await run(to_model_events, no_room)

# %% [markdown]
# > **Beside the text.** The chapter behind this notebook throws `Anthropic stream protocol error` for
# > an input delta without its start, and tests its function on an array of raw events. We keep both.
# > We also demand the end, since a stream that stops early looks like an answer.

# %% [markdown]
# ## `build_request`: the other way
#
# A model client also translates what we say. Our conversation is in Anthropic's shape already, which
# is a choice of this kit. Tools are not: a ToolSpec becomes a dict.

# %%
from mini_agent.types import JsonObject, Message, ToolSpec

# %% include mini_agent.model_client.build_request
spec = ToolSpec("calendar_query", "The appointments of a day.")
question = [{"role": "user", "content": [{"type": "text", "text": "What is on Monday?"}]}]
build_request(system="", messages=question, tools=[spec])

# %% [markdown]
# ## `AnthropicModelClient` only wires
#
# What is left for the class? A model's name, a limit, whether the model may think first, and a client
# of the `anthropic` package, which does the network.

# %% include mini_agent.model_client.DEFAULT_MODEL DEFAULT_MAX_TOKENS
from mini_agent.model_client import NoApiKey
from mini_agent.workbook import part_of

# %% include mini_agent.model_client.AnthropicModelClient(__init__)
print(AnthropicModelClient().max_tokens)

# %% [markdown]
# ### `stream`
#
# It builds the request, opens the stream, and runs `to_model_events` over it. `async with` closes the
# stream, also when the loop is cancelled.

# %% include mini_agent.model_client.AnthropicModelClient.stream

# %% [markdown]
# Which raw events does this method know? Not one.

# %% tags=["covers-anthropic-client-only-wires"]
source = inspect.getsource(AnthropicModelClient.stream)
[kind for kind in HANDLERS if kind in source]

# %% [markdown]
# ### `_default_client` and `close`
#
# For real use: it takes the key from the environment, and says so when there is none. Nothing is
# opened before the first request. Below we pass a client, so we need neither.

# %% include mini_agent.model_client.AnthropicModelClient._default_client

# %% include mini_agent.model_client.AnthropicModelClient.close
model = AnthropicModelClient()
await model.close()
await model.close()
print(model._own)

# %% [markdown]
# ## The real package, against a fake service
#
# AnthropicApi listens on this machine and answers with scripted turns. The `anthropic` package does
# not know. Its HTTP, its reading of the stream and its checks are the real ones.

# %%
from fake_servers.anthropic_api import AnthropicApi, Broken, Status
from fake_servers.anthropic_events import as_sse

print(as_sse(json_2).decode())

# %% [markdown]
# That is how one event looks on this wire. `anthropic` reads it back and hands us an object. Here it
# is asked directly, with nothing of ours in between.

# %%
async with AnthropicApi([wanted]) as api, api.client() as client:
    stream = await client.messages.create(
        model="any", max_tokens=99, messages=question, stream=True
    )
    print(*[type(event).__name__ for event in [raw async for raw in stream][:4]], sep="\n")

# %% [markdown]
# And now a whole round through our class: the model asks for a tool, the loop runs it, the model
# answers. The loop is `run_agent` of `mini_agent`, which notebook 09 builds.

# %%
from mini_agent.agent import run_agent
from mini_agent.types import Tool, ToolResult


async def look_up(arguments):
    return ToolResult("09:00 Team standup; 14:00 Dentist")


query = Tool(spec, look_up)
turns = [wanted, [Text("A standup and the dentist.")]]

# %%
async with AnthropicApi(turns) as api, api.client() as client:
    model = AnthropicModelClient(client=client)
    result = await run_agent("What is on Monday?", model=model, tools=[query])
    asked = api.requests
print(result.text)

# %% [markdown]
# Two requests went over the network. The second holds the tool's result, tied to the call by its id.
# The fake service refuses a conversation in which a result is missing, as the real one does.

# %%
print(*[sorted(request) for request in asked], sep="\n")
asked[1]["messages"][-1]["content"][0]

# %% [markdown]
# ## When the service fails
#
# Five ways, over a real connection. Whose exception comes out of the stream?

# %%
faults = {
    "429, too many requests": Status(429),
    "529, overloaded": Status(529),
    "an error event midway": Broken(wanted, "error"),
    "a connection that breaks": Broken(wanted, "abort"),
    "a body that ends early": Broken(wanted, "cut"),
}

# %%
async with AnthropicApi(faults.values()) as api, api.client() as client:
    model = AnthropicModelClient(client=client)
    for name in faults:
        try:
            await run_agent("What is on Monday?", model=model, tools=[query])
        except Exception as error:
            print(f"{name:<26}{type(error).__module__.split('.')[0]:<12}{type(error).__name__}")

# %% [markdown]
# Four are noticed by `anthropic`, or by `httpx2`, the HTTP library below it. The fifth is a body that
# ends tidily, and too early: only `to_model_events` sees that. All five go to the caller. No tool has
# run, since the loop waits for a turn's end.

# %% [markdown]
# ## `ScriptedModel`: the same seam
#
# The loop asks one thing of a model: a method `stream`. So a list can be a model. This class is in
# `mini_agent` and not in its tests, since you will need it for yours.

# %%
import copy

from mini_agent.model_client import Request, Turn

# %% include mini_agent.model_client.ScriptedModel(__init__) with_done
ScriptedModel([[Text("Hello.")]]).requests

# %% [markdown]
# `stream` remembers what it was asked and hands out the next turn. When there is none, the message
# says what to add.

# %% include mini_agent.model_client.ScriptedModel.stream
script = ScriptedModel(turns)
same = await run_agent("What is on Monday?", model=script, tools=[query])
assert same.messages == result.messages
[type(model).__name__ for model in (model, script)]

# %% [markdown]
# Two models, one over a network and one a list. The two conversations are equal, to the last field.
# Nothing in the loop could tell which it was.

# %% [markdown]
# A third turn was never written.

# %%
try:
    await run_agent("And Tuesday?", model=script, tools=[query])
except AssertionError as error:
    print(error)

# %% [markdown]
# > **Beside the text.** The chapter calls its fake FakeClient and plays full rounds with it. Ours can
# > also raise in the middle of a turn, and a turn may be a function of the request, so that a script
# > can answer by what was asked.

# %% [markdown]
# ## The same pattern, twice
#
# Notebook 07 built the other bridge. We put both into one run: Anthropic's stream on the left, a
# calendar behind MCP on the right, the loop between the two.

# %%
from fake_servers.calendar import calendar_server
from fake_servers.memory import InMemoryTransport
from mini_agent.mcp import McpClient, mcp_tool_to_tool
from mini_agent.trace import Trace

trace = Trace()
wire = InMemoryTransport(calendar_server())
async with McpClient(wire, server="calendar", trace=trace) as mcp:
    tools = [mcp_tool_to_tool(mcp, tool) for tool in await mcp.connect(discover=False)]
    async with AnthropicApi(turns) as api, api.client() as client:
        model = AnthropicModelClient(client=client)
        await run_agent("What is on Monday?", model=model, tools=tools, trace=trace)
draw.sequence(trace)

# %% [markdown]
# Both edges of the loop speak its own words. The bridge on the left faces the model, who asks. The
# one on the right faces a server, which is asked. What does each take, give, and keep out?

# %% [markdown]
# To answer that by looking, we collect the field names and the `type`s of a message. What is inside a
# schema or a call's arguments belongs to the tool, so we do not look there.

# %%
CLOSED = {"inputSchema", "outputSchema", "structuredContent", "input_schema", "input"}


def words(value):
    if isinstance(value, list):
        return set().union(*map(words, value))
    if not isinstance(value, dict):
        return set()
    inner = [words(held) for key, held in value.items() if key not in CLOSED]
    return {value["type"], *value}.union(*inner) if "type" in value else set(value).union(*inner)


sorted(words(text_1))

# %% [markdown]
# First their words: the recording on one side, the two results of the calendar's server on the other.

# %%
from dataclasses import asdict

received = [event.facts["message"]["result"] for event in trace.events if event.what == "received"]
theirs = {"model": words(recorded), "server": words(received)}
{side: len(found) for side, found in theirs.items()}

# %% [markdown]
# Then ours: what came out of each bridge.

# %%
[outcome] = [event.facts for event in trace.events if event.what == "tool_result"]
given = [tools[0].spec, ToolResult(outcome["content"], outcome["is_error"])]
ours = {"model": words([asdict(e) for e in wanted]), "server": words([asdict(e) for e in given])}
ours

# %% [markdown]
# And the table. What a bridge takes and gives stands in its signature. What it keeps out is what is
# left of their words.

# %% tags=["covers-bridges-face-both-ways"]
for function, side in ((to_model_events, "model"), (mcp_tool_to_tool, "server")):
    takes, gives = str(inspect.signature(function)).replace("'", "").split(" -> ")
    print(f"{function.__name__} faces the {side}")
    print(f"  takes      {takes[1:-1].partition(', *')[0]}")
    print(f"  gives      {gives}, made of {', '.join(sorted(ours[side]))}")
    kept_out = ", ".join(sorted(theirs[side] - ours[side]))
    print(textwrap.fill(f"  keeps out  {kept_out}", 88, subsequent_indent=" " * 13))

# %% [markdown]
# One pattern, two directions. The foreign protocol is on the outer side, our types are on the inner
# side, and nothing of the last lists comes through the bridge. For another provider, or another server,
# the loop does not change.

# %% [markdown]
# ## Who knows the provider's format?
#
# We search the package for the names of raw events, and for an import of the provider's package.

# %% tags=["covers-provider-format-at-the-model-boundary"]
from pathlib import Path

import mini_agent

home = Path(mini_agent.__file__).parent
events = ("content_block_", "partial_json", "message_stop")
knows = {"the stream": events, "the package": ("import anthropic",)}
for what, signs in knows.items():
    found = [
        p.relative_to(home)
        for p in home.rglob("*.py")
        if any(s in p.read_text("utf-8") for s in signs)
    ]
    print(f"{what:<12} {sorted(map(str, found))}")

# %% [markdown]
# One file reads the stream. Two import `anthropic`: the model client, and the terminal's `chat.py`,
# which names its exceptions. The conversation's own blocks, `tool_use` and `tool_result`, are
# Anthropic's words too, and the loop uses those. For another provider, `build_request` would
# translate them.

# %% [markdown]
# ## Try it
#
# Newer models think first, in a block of its own. It is passed over here. Leave out its stop, or give
# it the index of the text block. Which rule do you meet?

# %%
thinking = [
    {"type": "content_block_start", "index": 5, "content_block": {"type": "thinking"}},
    {"type": "content_block_delta", "index": 5, "delta": {"type": "thinking_delta"}},
    {"type": "content_block_stop", "index": 5},
]
await run(to_model_events, behind(message_start, *thinking))

# %% [markdown]
# ## What changed
#
# | name | what it does |
# |---|---|
# | `to_model_events` | raw events in, ModelEvents out, or ModelStreamError |
# | `StreamState`, `Block` | what a stream has begun |
# | `on_raw_event`, `HANDLERS` | which handler takes which event; the unknown is passed over |
# | `build_request` | a conversation and ToolSpecs become a request |
# | `AnthropicModelClient` | connects the function to the network |
# | `ScriptedModel` | a model that is a list |

# %% [markdown]
# ## Where the official SDK differs
#
# The `anthropic` package has a helper that builds the message up for you, `messages.stream`. We read
# the raw events: to see what arrives, and to refuse what makes no sense. A tidy end before
# `message_stop` is no error to it.

# %% [markdown] taken="mini_agent.model_stream"
# ## Taken from the modules without showing it
#
# From `mini_agent.model_stream`.
#
# | name | why |
# |---|---|
# | `ModelStreamError` | an exception, outside the tree of McpError: no MCP server is involved |
# | `StreamState`, `Block` | dataclasses, imported; their source is printed above |

# %% [markdown] taken="mini_agent.model_client"
# From `mini_agent.model_client`.
#
# | name | why |
# |---|---|
# | `NoApiKey` | an exception: no key is set and no client was passed |
# | `Request` | a dataclass: system, messages and tools of one request |
# | `Turn` | the type of one entry of a script |

# %% [markdown]
# ## Exercises and next
#
# `exercises/08_model_client.ipynb` has 4 tasks, each with a check that answers:
#
# - **08.1** Twelve streams: which of them throw? (warm-up, 8 minutes)
# - **08.2** `on_block_delta`: a piece, and where it belongs (solid, 15 minutes)
# - **08.3** The round trip: which turns would notice? (solid, 20 minutes)
# - **08.4** Courier: a provider of our own invention (demanding, 40 minutes)
#
# Next: **09, What is the loop, once all else has a home?** Both its neighbours are there now.
