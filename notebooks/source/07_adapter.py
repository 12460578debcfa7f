# %% [markdown]
# # 07 · Where does a foreign tool become ours?
#
# At the end you hold mcp_tool_to_tool: a function that turns somebody else's tool into one that the
# loop runs like any other, and a test that tells whether it does so well. About 45 minutes.

# %%
from __future__ import annotations

from mini_agent import draw

draw.layers(lit="adapter")

# %% [markdown]
# ## Ten words
#
# | word | what it is here |
# |---|---|
# | adapter | a function that takes one shape and returns another |
# | McpTool | a tool as its server describes it, with all that a client may want to know |
# | CallResult | a result as the server sent it: content blocks, and perhaps structured content |
# | ToolSpec | what a model is told of a tool: name, description, schema |
# | Tool | a ToolSpec and a function: all that the loop knows of a tool |
# | ToolResult | a text, and whether it is an error: all that the loop knows of a result |
# | content block | one piece of a tool's result: a text, an image, a link |
# | structured content | a tool's result as a JSON value, for programs |
# | tool error | a result that tells the model what went wrong; the loop goes on |
# | catalogue | a server's tools, as last listed |

# %% [markdown]
# ## Two pairs of shapes
#
# A tool is described on one side and on the other, and so is its result. The adapter stands between
# them. It is the only place that knows both.

# %%
from dataclasses import fields

from mini_agent.mcp.shapes import ABSENT, CallResult, McpTool
from mini_agent.types import Tool, ToolResult, ToolSpec

for theirs, ours in ((McpTool, ToolSpec), (CallResult, ToolResult)):
    for shape in (theirs, ours):
        print(f"{shape.__name__:<11}", *[field.name for field in fields(shape)])
    print()

# %% [markdown]
# From theirs to ours something must go: our result has one text, theirs a list of blocks and a JSON
# value. The arguments travel the other way.

# %% [markdown]
# ## The smallest adapter
#
# Three fields over, and a function that calls. The result is a list and we need a text, so JSON it
# is. The sketch in the chapter behind this notebook does the same.

# %%
import json


def naive_adapter(client, tool):
    async def execute(arguments):
        result = await client.call(tool.name, arguments)
        return ToolResult(json.dumps(result.content), result.is_error)

    return Tool(ToolSpec(tool.name, tool.description, tool.input_schema), execute)


# %% [markdown]
# We connect the calendar and adapt its first tool.

# %%
from fake_servers.calendar import calendar_server
from fake_servers.memory import InMemoryTransport
from mini_agent.mcp.client import McpClient

TUESDAY = "2026-08-04"
calendar = McpClient(InMemoryTransport(calendar_server()), server="calendar")
query, create, delete = await calendar.connect()
naive = naive_adapter(calendar, query)
print(naive.spec.name, "·", naive.spec.description)

# %%
result = await naive.execute({"date": TUESDAY})
print(type(result).__name__, "· is_error:", result.is_error)
print(result.content)

# %% [markdown]
# It works. To see what a model would make of it, we let the loop of notebook 09 run. The model is a
# script that asks for one tool, and this returns the text that it was given.

# %%
from mini_agent.agent import run_agent
from mini_agent.model_client import ScriptedModel
from mini_agent.types import Text, ToolCall


def asks_for(name, arguments):
    return ScriptedModel([[ToolCall("toolu_1", name, arguments)], [Text("Thank you.")]])


async def model_sees(tool, arguments, trace=None):
    model = asks_for(tool.spec.name, arguments)
    await run_agent("Look at Tuesday.", model=model, tools=[tool], trace=trace)
    [block] = model.requests[-1].messages[-1]["content"]
    return block["content"]


print(await model_sees(naive, {"date": TUESDAY}))

# %% [markdown]
# ## An ordinary tool
#
# Next to it we put a tool of our own. Both are a Tool, both go into one list. Nothing in what the
# loop holds says which of them lives in another process.


# %% tags=["covers-loop-sees-an-ordinary-tool"]
async def tell_day(arguments):
    return ToolResult("It is Monday.")


local = Tool(ToolSpec("today", "Which day it is."), tell_day)
for tool in (local, naive):
    print(type(tool).__name__, "·", tool.spec.name, "·", list(tool.spec.input_schema))

# %% [markdown]
# ## What stringify loses
#
# A second server, with one tool. It says when the desk in room 4 is free. Its result is a JSON value,
# with numbers, a boolean and a null in it.

# %%
from fake_servers.core import Server
from fake_servers.declare import Output
from fake_servers.declare import Tool as ServerTool

FREE = [
    {"start": "09:15", "minutes": 105, "quiet": True, "note": None},
    {"start": "14:45", "minutes": 90, "quiet": False, "note": "printer running"},
]


async def free_slots(arguments, context):
    return Output(structured={"room": 4, "free": FREE})


def desk_server(name="desk_free"):
    return Server("desk", tools=[ServerTool(name, "When the desk is free.", free_slots)])


desk = McpClient(InMemoryTransport(desk_server()), server="desk")
[slots] = await desk.connect()
result = await desk.call("desk_free")
result.structured_content["free"][0]["minutes"] + 15

# %% [markdown]
# On this side of the adapter a number is a number. On the other side it is a character among others.

# %% tags=["covers-stringify-loses-structure"]
seen = await model_sees(naive_adapter(desk, slots), {})
print(type(seen).__name__)
print(seen)

# %% [markdown]
# A program cannot go on with it, and neither can any layer above.

# %% tags=["raises-exception"]
seen["free"][0]["minutes"] + 15

# %% [markdown]
# JSON inside JSON: every quotation mark of the result now comes with a backslash. A model reads text,
# so it can read this as well. But it reads worse, and text is paid for by the token.

# %% [markdown]
# What is lost here cannot be got back further up. So the one place that still has the types decides
# what the model reads: the adapter.

# %% [markdown]
# ## `format_result`: text as text
#
# Block by block. What the package's code below needs:

# %%
import hashlib
import re
from collections.abc import Callable
from typing import Any

from mini_agent.errors import JsonRpcError, McpError
from mini_agent.mcp.messages import INVALID_PARAMS, encode, excerpt
from mini_agent.types import JsonObject

# %% include mini_agent.mcp.adapter._type _bytes
print(_bytes("QUJD"), _bytes("QUI="))

# %% [markdown]
# `_bytes` counts what a base64 text stands for, without decoding it. `_type` is the type that the
# server gives, on one line and not too long. Now each kind of block that the revision knows, and one
# line for those that it does not know yet.
#
# Specification: server/tools, "Tool Result".

# %% include mini_agent.mcp.adapter._format_block
print(_format_block({"type": "text", "text": "09:15, 105 minutes"}))

# %% include mini_agent.mcp.adapter.LONGEST_NAME LONGEST_RESULT format_result

# %% [markdown]
# The same calendar result, both ways. This is what would stand in the conversation.

# %%
result = await calendar.call("calendar_query", {"date": TUESDAY})
print(json.dumps(result.content))
print()
print(format_result(result))

# %% [markdown]
# Text wins over structured content, since a server that sends both means the same with both. A result
# with neither still says something.

# %%
for result in (CallResult([], {"free": 2}), CallResult([], None), CallResult([])):
    print(format_result(result))

# %% [markdown]
# ### Images are named, not quoted
#
# An image is base64 on the wire. As text it is thousands of tokens that no model can see anything in.

# %%
photo = {"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgo=" * 2_000}
print("naive: ", len(json.dumps([photo])), "characters")
print("ours:  ", format_result(CallResult([photo])))

# %%
blob = {"uri": "desk://plan", "mimeType": "application/pdf", "blob": "JVBERi0x" * 900}
others = [
    {"type": "audio", "mimeType": "audio/wav", "data": "UklGRg=="},
    {"type": "resource_link", "uri": "desk://rules", "name": "House rules"},
    {"type": "resource", "resource": blob},
    {"type": "hologram"},
]
print(format_result(CallResult(others)))

# %% [markdown]
# ### A long result is cut where it shows
#
# A cut that says nothing turns "the first part" into "all of it". The model would count the
# appointments of half a year and call it the year.

# %%
long = CallResult([{"type": "text", "text": "one more line\n" * 5_000}])
print(format_result(long)[-60:])

# %% [markdown]
# > **Beside the text.** The chapter compares this cut to the one in its local `read` tool. The thought
# > is the same: the loop takes a string, so whoever makes the string decides how much of it there is.

# %% [markdown]
# ## `model_name`: a name that the model's service takes
#
# MCP allows dots and 128 characters. The services behind models are stricter: letters, digits, `_`
# and `-`, and often no more than 64 of them. One bad name, and the whole request is refused. A
# script plays that service.


# %%
def strict(request):
    for number, tool in enumerate(request.tools):
        if not re.fullmatch("[a-zA-Z0-9_-]{1,64}", tool.name):
            raise ValueError(f"tools.{number}.name: {tool.name!r} is no allowed name")
    return [Text("I can see all your tools.")]


dotted_desk = McpClient(InMemoryTransport(desk_server("desk.free/today")), server="desk")
[dotted] = await dotted_desk.connect()

# %%
tools = [local, naive, naive_adapter(dotted_desk, dotted)]
try:
    await run_agent("Hello!", model=ScriptedModel([strict]), tools=tools)
except ValueError as error:
    print("refused:", error)

# %% [markdown]
# Two good tools went down with it. So the adapter gives the model a name that it can say, and keeps
# the server's own name for the server.

# %% include mini_agent.mcp.adapter.model_name
for name in ("calendar_query", "desk.free/today", "añadir cita"):
    print(f"{name:<16} -> {model_name(name)}")

# %% [markdown]
# `desk.free/today` and `desk/free.today` would both become `desk_free_today`, and two long names may
# differ only where they are cut. So a name that had to change ends in a hash of the whole. It keeps
# them apart, and is the same tomorrow.

# %%
for end in ("north", "south"):
    name = f"desk_free_in_the_building_at_the_corner_of_the_long_street_{end}_entrance"
    print(len(name), "->", model_name(name))

# %% [markdown]
# ## `argument_fault`: refused before anything is sent
#
# A model makes mistakes in arguments. The tool's schema says what fits, so a mistake need not
# travel to the server to be found. `mirrored` is for HTTP, where some arguments travel in headers
# too.
#
# Specification: server/tools; basic/index, "JSON Schema Usage".

# %%
from mini_agent.mcp.headers import mirrored_headers
from mini_agent.mcp.schemas import SchemaError

# %% include mini_agent.mcp.adapter._unsendable argument_fault
for arguments in ({}, {"date": 4}, {"date": "Tuesday"}, {"date": TUESDAY}):
    print(arguments, argument_fault(query, arguments) or "fine", sep="\n  ")

# %% [markdown]
# Where, what, and by which rule. That is enough for a model to mend it in its next turn.

# %% [markdown]
# A schema is somebody else's text too. One that points to the network is not followed. One that
# nobody can check makes the tool unusable, and says so.

# %%
pointing = McpTool("peek", "", {"type": "object", "$ref": "http://198.51.100.7/schema"})
print(argument_fault(pointing, {}))

# %% [markdown]
# ## `is_gone`: only a fresh list can tell
#
# A server refuses a call with -32602. It may mean "no such tool". It may mean many other things, and
# the text after it is whatever somebody wrote. So we do not read it. We ask for the list.

# %% include mini_agent.mcp.adapter.is_gone

# %%
from mini_agent.errors import TransportClosed
from mini_agent.mcp.transport import FakeTransport


def listing(*names):
    tools = [{"name": name, "inputSchema": {"type": "object"}} for name in names]
    return {"result": {"resultType": "complete", "tools": tools}}


said = {"not listed": listing("other"), "listed": listing("calendar_query")}
for name, answer in {**said, "no list": TransportClosed("it ended")}.items():
    print(f"{name:<10} gone:", await is_gone(McpClient(FakeTransport([answer])), query))

# %% [markdown]
# A list that fails proves nothing. Then the first refusal stays what it was.

# %% [markdown]
# ## `mcp_tool_to_tool`
#
# All of it. A spec, and an `execute` with three ways out: a ToolResult for what the model may see,
# the exception as it was for what only the host may see, and one translation between them.

# %% include mini_agent.mcp.adapter.mcp_tool_to_tool

# %% tags=["covers-mcp-tool-to-tool"]
tool = mcp_tool_to_tool(calendar, query)
assert tool.spec.name == query.name and tool.spec.description == query.description
assert tool.spec.input_schema == query.input_schema
print((await tool.execute({"date": TUESDAY})).content)
print(calendar.transport.transcript[-2].message["params"]["name"])

# %% [markdown]
# Name, description and schema went over as they were. The call went through the client. One thing may
# be added: a schema without `properties` gets an empty one, because some services insist on it.

# %% [markdown]
# ## A wrong type, and a wrong value
#
# First an argument that breaks the schema. The transport is a list without a single answer in it. It
# would raise if it were asked.

# %% tags=["covers-arguments-checked-before-sending"]
from mini_agent.trace import Trace

trace, unasked = Trace(), FakeTransport([])
client = McpClient(unasked, server="calendar", trace=trace)
print(await model_sees(mcp_tool_to_tool(client, query), {"date": 4}, trace))
print("sent:", unasked.sent)

# %%
draw.chain(trace)

# %% [markdown]
# Then a value that fits the pattern and is no day. No schema can know that; the calendar does. It
# says so in a result, and that too is the model's to read.

# %% tags=["covers-bad-argument-is-a-tool-error"]
result = await tool.execute({"date": "2026-02-30"})
print(result.is_error, "·", result.content)

# %% [markdown]
# ## The format is the adapter's choice
#
# The desk's own text is a copy of its JSON. We know what a slot is, so we can write it better. The
# function goes in as an argument. Three adapters, one loop.


# %% tags=["covers-formatting-belongs-in-the-adapter"]
def readable(result):
    if result.is_error:
        return format_result(result)
    return "\n".join(
        f"{slot['start']}, {slot['minutes']} minutes" + (", quiet" if slot["quiet"] else "")
        for slot in result.structured_content["free"]
    )


for made in (
    naive_adapter(desk, slots),
    mcp_tool_to_tool(desk, slots),
    mcp_tool_to_tool(desk, slots, format_result=readable),
):
    seen = await model_sees(made, {})
    print(f"{len(seen)} characters:\n{seen}\n")

# %% [markdown]
# The loop has no rule for any of the three. We can look: its source names no part of a result that
# comes from MCP, and makes no JSON of one.

# %%
import inspect

from mini_agent import agent, calls

for module in (agent, calls):
    source = inspect.getsource(module)
    print(module.__name__, [word for word in ("structured", "mime", "dumps") if word in source])

# %% [markdown]
# ## A name for each side
#
# The model asks for `desk_free_today_6b66a6ce`, the server is asked for `desk.free/today`. Only the
# adapter knows that the two are one.

# %%
mapped = mcp_tool_to_tool(dotted_desk, dotted)
await model_sees(mapped, {})
print("the model:", mapped.spec.name)
print("the wire: ", dotted_desk.transport.transcript[-2].message["params"]["name"])

# %% [markdown]
# ## Two servers, one name
#
# Names are unique within a server and nowhere else. Here are two calendars, one at work and one at
# home. The loop refuses to begin: it could not say which of the two the model means.
#
# Specification: server/tools, "Tool Names".

# %% tags=["raises-exception"]
work = McpClient(InMemoryTransport(calendar_server()), server="work")
home = McpClient(InMemoryTransport(calendar_server()), server="home")
both = [mcp_tool_to_tool(client, query) for client in (work, home)]
await run_agent("Am I free?", model=asks_for("calendar_query", {}), tools=both)

# %% [markdown]
# The host knows which is which, so it names them. Not by what a server says of itself: two servers
# may say the same, and one may say it on purpose.

# %%
both = [mcp_tool_to_tool(each, query, name=f"{each.server}_{query.name}") for each in (work, home)]
model = asks_for("home_calendar_query", {"date": TUESDAY})
await run_agent("Am I free at home?", model=model, tools=both)
print([tool.spec.name for tool in both])
for client in (work, home):
    asked = [said["params"]["name"] for who, said in client.transport.transcript if who == "client"]
    print(client.server, "was asked for", asked)

# %% [markdown]
# ## What the adapter does not touch
#
# A connection that broke is nothing that a model could mend. The exception goes through as the same
# object, out of `execute` and out of the loop. The adapter only writes down that it passed.

# %%
broken = TransportClosed("the pipe broke")
client = McpClient(FakeTransport([broken]), server="calendar", trace=Trace())
model = asks_for("calendar_query", {"date": TUESDAY})
try:
    await run_agent("Am I free?", model=model, tools=[mcp_tool_to_tool(client, query)])
except TransportClosed as error:
    print(error is broken, "·", error)
print(client.trace.table().splitlines()[-1])

# %% [markdown]
# ## The tool that is gone
#
# One error crosses from the host's path to the model's. A tool was there when we listed, and is not
# there now. The connection is fine and the request was well formed. Only our catalogue is old.

# %% tags=["covers-unknown-tool-translated"]
from fake_servers import faults

trace, told = Trace(), []
client = McpClient(faults.transport("unknown_tool"), server="calendar", trace=trace)
await client.connect()
tool = mcp_tool_to_tool(client, query, on_gone=told.append)
print(await model_sees(tool, {"date": TUESDAY}, trace))
print("the host was told:", [gone.name for gone in told])

# %%
draw.sequence(trace, call="toolu_1")

# %% [markdown]
# The server refused with a JSON-RPC error, as the revision has it. We asked for the list. The tool
# was not in it, so the model was told, and the loop went on: it can try something else.
#
# Specification: server/tools, "Error Handling".

# %% [markdown]
# The host's catalogue is fresh already, because the question refreshed it. The next run is made of
# what is there.

# %% tags=["covers-stale-catalogue-refreshed"]
print("listed:", [tool.name for tool in client.tools])
next_run = [mcp_tool_to_tool(client, tool) for tool in client.tools]
assert query.name not in [tool.spec.name for tool in next_run]

# %% [markdown]
# ### The same code, another meaning
#
# This server refuses with -32602 as well, and still lists the tool. So it is something else, and not
# the model's to mend. It stays an exception.

# %%
refusal = {"error": {"code": -32602, "message": "Unknown tool: calendar_query"}}
client = McpClient(FakeTransport([refusal, listing("calendar_query")]), server="calendar")
try:
    await mcp_tool_to_tool(client, query).execute({"date": TUESDAY})
except JsonRpcError as error:
    print("raised:", error)

# %% [markdown]
# Its text says "Unknown tool". Whoever had matched that text would have told the model something
# untrue.

# %% [markdown]
# ### The server that says it with `isError`
#
# Most servers built with an SDK answer an unknown tool with an ordinary result that says `isError`.
# For the model it comes to the same. For the host it does not: nobody has told it that its list is
# old.

# %%
said = {"content": [{"type": "text", "text": "Unknown tool: calendar_query"}], "isError": True}
fake = FakeTransport([{"result": {"resultType": "complete", **said}}])
told.clear()
tool = mcp_tool_to_tool(McpClient(fake, server="calendar"), query, on_gone=told.append)
print(await tool.execute({"date": TUESDAY}))
print("sent:", [message["method"] for message in fake.sent], "· the host was told:", told)

# %% [markdown]
# We leave it at that. To find out, we would have to match a text, or list the tools after each and
# every tool error. A host that hears `tools/list_changed`, or lists before each run, needs neither.

# %% [markdown]
# ## Cancel: where the chapter has a signal
#
# > **Beside the text.** The chapter hands `execute` a second argument, a `signal`, as JavaScript does.
# > In Python a task can be cancelled from outside, and the cancel travels down through every `await`.
# > So `execute` has one argument and still stops.

# %% [markdown]
# A server tool that works until it is stopped. It tells us by events when it began and when it
# stopped.

# %%
import asyncio

began, stopped = asyncio.Event(), asyncio.Event()


async def search_all_years(arguments, context):
    began.set()
    try:
        await asyncio.Event().wait()  # nobody sets this one
    finally:
        stopped.set()


archive = Server("archive", tools=[ServerTool("search", "Search all years.", search_all_years)])

# %% [markdown]
# The user presses Stop: the host cancels the task that runs the loop. If the cancel did not reach the
# server, this cell would never end.

# %% tags=["covers-cancellation-reaches-the-call"]
trace = Trace()
client = McpClient(InMemoryTransport(archive), server="archive", trace=trace)
[search] = await client.connect()
run = asyncio.create_task(model_sees(mcp_tool_to_tool(client, search), {}, trace))
await began.wait()
run.cancel()
await stopped.wait()
await asyncio.wait([run])
print("cancelled:", run.cancelled(), "· the server's work stopped:", stopped.is_set())
print(*trace.table().splitlines()[-4:], sep="\n")

# %% [markdown]
# No layer above the transport did anything for it, and none stood in its way. An adapter that caught
# every exception to make a friendly result of it would have.

# %% [markdown]
# ## A second server, and not a line of the loop
#
# What does a loop look like that knows its server? This one plays a turn's calls. It is short, and it
# works.

# %%
from mini_agent.mcp.adapter import format_result as as_text


async def loop_without_adapter(calls, calendar):
    results = []
    for call in calls:
        answer = await calendar.call(call.name, call.input)
        results.append(as_text(answer))
    return results


await loop_without_adapter([ToolCall("toolu_1", "calendar_query", {"date": TUESDAY})], calendar)

# %% [markdown]
# Now the desk comes in as well, and a tool of our own. The loop has to know who offers what.


# %%
async def loop_with_a_desk(calls, calendar, desk, local):
    results = []
    for call in calls:
        if call.name in local:
            answer = await local[call.name](call.input)
            results.append(answer.content)
            continue
        server = desk if call.name.startswith("desk_") else calendar
        answer = await server.call(call.name, call.input)
        results.append(as_text(answer))
    return results


# %%
import difflib


def changed(before, after):
    old, new = (inspect.getsource(function).splitlines() for function in (before, after))
    lines = difflib.unified_diff(old, new, lineterm="", n=0)
    return [line for line in lines if line[0] in "+-" and line[:3] not in ("+++", "---")]


print(*changed(loop_without_adapter, loop_with_a_desk), sep="\n")

# %% [markdown]
# Apart from the name, six lines of the loop where one was, and the next server changes them again.
# Here is the same step with the adapter: the host for one server, and the host for two and a local
# tool.


# %%
async def host_of_one(model):
    tools = [mcp_tool_to_tool(calendar, query)]
    return await run_agent("What is free?", model=model, tools=tools)


async def host_of_two(model):
    tools = [mcp_tool_to_tool(calendar, query)]
    tools += [mcp_tool_to_tool(desk, slots, format_result=readable), local]
    return await run_agent("What is free?", model=model, tools=tools)


print(*changed(host_of_one, host_of_two), sep="\n")

# %% [markdown]
# One line more, apart from the name, and it stands in the host. And the loop? We read its files from
# the disk before and after, and let both hosts run in between.

# %%
from pathlib import Path

from mini_agent import blocks, session


def loop_on_disk():
    files = (module.__file__ for module in (agent, calls, blocks, session))
    return [line for file in files for line in Path(file).read_text("utf-8").splitlines()]


def differing(before, after):
    return [line for line in difflib.ndiff(before, after) if line[0] in "+-"]


# %% tags=["covers-second-server-same-loop"]
before = loop_on_disk()
one = await host_of_one(asks_for("calendar_query", {"date": TUESDAY}))
two = await host_of_two(asks_for("desk_free", {}))
after = loop_on_disk()
for result in (one, two):
    print(result.messages[2]["content"][0]["content"].splitlines()[-1])
print("lines of the loop that differ:", len(differing(before, after)))

# %% [markdown]
# A comparison that cannot find anything proves nothing. So once more, with a loop that has learned
# about the desk.

# %%
print(*differing(before, [*after, 'if call.name.startswith("desk_"): ...']))

# %% [markdown]
# ## The test of an adapter
#
# "When you swap its implementation, does the loop have to know?" Three implementations: the naive
# one, the package's, and one with no server at all. For each, what did the loop write into its
# trace?


# %% tags=["covers-does-the-loop-have-to-know"]
async def from_a_dict(arguments):
    return ToolResult({TUESDAY: "Budget planning at 10:00"}[arguments["date"]])


without_mcp = Tool(naive.spec, from_a_dict)
stories = []
for made in (naive, mcp_tool_to_tool(calendar, query), without_mcp):
    trace = Trace()
    seen = await model_sees(made, {"date": TUESDAY}, trace)
    stories.append([event.what for event in trace.events if event.layer == "loop"])
    print(seen.splitlines()[-1][:60])
print(stories[0])
assert stories[0] == stories[1] == stories[2]

# %% [markdown]
# Three different texts for the model, and one story for the loop. It passes. A change in the adapter
# that breaks this assert has put a piece of MCP into the loop.

# %% [markdown]
# ## The adapter knows shapes
#
# And nothing else: no pipe, no message, no model. Here it works on a client that is five lines long
# and has never heard of MCP.


# %% tags=["covers-layer-adapter-knows-shapes"]
class FiveLines:
    trace = None
    transport = FakeTransport([])

    async def call(self, name, arguments):
        return CallResult([{"type": "text", "text": f"{name} of {arguments['date']}"}])


print(await mcp_tool_to_tool(FiveLines(), query).execute({"date": TUESDAY}))

# %% [markdown]
# ## Try it
#
# Write a `format_result` that shows only titles. Or give the adapter a result with `is_error` and an
# image in it. What should a model see of an error that comes with a screenshot?

# %%
failed = CallResult([{"type": "text", "text": "The page did not load."}, photo], is_error=True)
print(format_result(failed))

# %% [markdown]
# ## What changed
#
# | name | what it does |
# |---|---|
# | `mcp_tool_to_tool` | an McpTool and its client in, a Tool out |
# | `format_result` | a result as the text that the model reads; cuts and omissions are said |
# | `model_name` | a name that the model's service takes, and that stays apart from others |
# | `argument_fault` | why these arguments are not sent, with path and rule |
# | `is_gone` | does a fresh list still hold the tool? |

# %% [markdown]
# ## Where the official SDK differs
#
# The MCP SDK for Python has no adapter; that is the host's part. The `anthropic` package has one,
# `async_mcp_tool`. It hands the model real images, which our loop's results cannot hold, keeps the
# server's name as it is, and refuses audio and links. Its runner makes a tool error of every
# exception, with the exception's text in it. There the two paths are one.

# %% [markdown] taken="mini_agent.mcp.adapter"
# ## Taken from the module without showing it
#
# Nothing. You have seen all of `mini_agent.mcp.adapter`.

# %% [markdown]
# ## Exercises and next
#
# `exercises/07_adapter.ipynb` has 4 tasks, each with a check that answers:
#
# - **07.1** Ten results: what does the model read? (warm-up, 6 minutes)
# - **07.2** Two servers, and each offers `search.all` (solid, 15 minutes)
# - **07.3** Forty appointments, and a text that says: 40 found (solid, 20 minutes)
# - **07.4** Mend it: the friendly adapter (demanding, 30 minutes)
#
# And one without: put the friendly adapter of 07.4 in the place of `mcp_tool_to_tool`. Which cells of
# this notebook notice, and which should but do not?
#
# Next: **08, Where is the same pattern already?** An adapter again, on the other side of the loop.
