# %% [markdown]
# # 01 · Why not just call that API?
#
# At the end you have written a calendar tool by hand, swapped the service behind it, and counted
# what had to be rewritten, without MCP and with it. Then you can say which boundary a job needs.
# About 30 minutes.

# %%
from mini_agent import draw

draw.layers(lit="server")

# %% [markdown]
# ## Five new words
#
# The lit layer is the one that we do not own. This page is about the boundary above it. Host, client,
# loop and tool are what they were in notebook 00. A server is a program that offers tools: in a
# process of its own or, for most of this page, in this one.
#
# | word | what it is |
# |---|---|
# | service | a program that owns data and answers others, such as a calendar with an HTTP API |
# | API | what a program offers other programs to call: names, arguments, results |
# | boundary | the place where one part asks another, and need not know how that one is made |
# | function calling | the way in which a model asks its host for a tool: by name, with arguments |
# | SDK | software development kit: a library to build on, such as the official Python SDK for MCP |

# %% [markdown]
# ## A service that is not ours
#
# The people at `north.example` run a calendar. They chose the address, the key in a header, and what
# a refusal looks like. A key opens one person's calendar, and ours is robin's. Nobody has called it
# yet.

# %%
import httpx

from fake_servers.calendar import Calendar

calendar = Calendar()


def north(request):
    asked = request.url.params
    if request.headers.get("X-Api-Key") != "key-17":
        return httpx.Response(401, json={"text": "unknown key"})
    if asked["owner"] != "robin":
        return httpx.Response(403, json={"text": f"this key may not read {asked['owner']}"})
    found = calendar.on(asked["date"], "robin")
    events = [{"start": a.start, "title": a.title} for a in found]
    return httpx.Response(200, json={"events": events})


services, access_log = {"north.example": north}, []
print(*services, "has had", len(access_log), "requests")

# %% [markdown]
# The internet of this notebook is one function: it finds the service by its host name and keeps an
# access log. Everything else is ordinary `httpx`. We knock without a key.


# %%
def internet(request):
    service = services.get(request.url.host)
    if service is None:
        raise httpx.ConnectError(f"no such host: {request.url.host}")
    answer = service(request)
    access_log.append((f"{request.method} {request.url.raw_path.decode()}", answer))
    return answer


http = httpx.AsyncClient(transport=httpx.MockTransport(internet))
monday = {"date": "2026-08-03", "owner": "robin"}
(await http.get("https://north.example/events", params=monday)).json()

# %% [markdown]
# ## `fetch_calendar`: the tool by hand
#
# Now with the key. This is what most of us would write, and it is not careless: it handles a lost
# connection, a refusal, and an empty day. `is_error` marks a result that says what went wrong.

# %%
from mini_agent.types import ToolResult


async def fetch_calendar(arguments):
    try:
        answer = await http.get(
            "https://north.example/events",
            params=arguments,
            headers={"X-Api-Key": "key-17"},
        )
    except httpx.HTTPError as error:
        return ToolResult(f"calendar unreachable: {error}", is_error=True)
    if answer.status_code != 200:
        return ToolResult(answer.json()["text"], is_error=True)
    lines = [f"{event['start']} {event['title']}" for event in answer.json()["events"]]
    return ToolResult("\n".join(lines) or "nothing")


print((await fetch_calendar(monday)).content)

# %% [markdown]
# The network is the tool's problem too. Here the service is late, then it hangs up. Without the
# `except`, both would leave the tool as exceptions. Whether to try again would be decided here as well.


# %% tags=["covers-network-trouble-inside-the-tool"]
def broken(error):
    def service(request):
        raise error

    return service


for error in (httpx.ReadTimeout("no answer in time"), httpx.RemoteProtocolError("cut off")):
    services["north.example"] = broken(error)
    print((await fetch_calendar(monday)).content)
services["north.example"] = north

# %% [markdown]
# ## A host, small
#
# The loop wants a `Tool`: a spec for the model, and the function. The model is a script here. It
# asks for the day once, and then says what it read.

# %%
from mini_agent.agent import run_agent
from mini_agent.model_client import ScriptedModel
from mini_agent.types import Text, Tool, ToolCall, ToolSpec

texts = {"date": {"type": "string"}, "owner": {"type": "string"}}
schema = {"type": "object", "properties": texts, "required": ["date", "owner"]}
spec = ToolSpec("calendar_query", "The appointments of a day.", schema)


def repeat(request):
    return [Text(request.messages[-1]["content"][0]["content"])]


async def ask(tools, owner="robin", **more):
    call = ToolCall("toolu_1", "calendar_query", {**monday, "owner": owner})
    model = ScriptedModel([[call], repeat])
    return (await run_agent("What is on Monday?", model=model, tools=tools, **more)).text


print(await ask([Tool(spec, fetch_calendar)]))

# %% [markdown]
# ## The service is swapped
#
# It works, and without MCP. If nothing ever changed, this page would end here. But North is bought, and
# its calendar moves to `south.example`: the same appointments, another address, another kind of key,
# and another idea of what an error is.

# %%
import json


def south(request):
    if request.headers.get("Authorization") != "Bearer token-23":
        return httpx.Response(200, json={"ok": False, "error": {"reason": "bad token"}})
    asked = json.loads(request.content)
    if asked["person"] != "robin":
        return httpx.Response(200, json={"ok": False, "error": {"reason": "not your calendar"}})
    found = calendar.on(asked["from"], "robin")
    items = [{"begins": a.start, "summary": a.title} for a in found]
    return httpx.Response(200, json={"ok": True, "items": items})


services = {"south.example": south}
print(await ask([Tool(spec, fetch_calendar)]))

# %% tags=["raises-exception"]
# the address alone is mended
moved = await http.get("https://south.example/events", headers={"X-Api-Key": "key-17"})
print(moved.status_code, moved.json())
moved.json()["events"]

# %% [markdown]
# With the new address alone we get status 200, and yet a refusal: our check lets it through. Address,
# key, shape of the answer, shape of the error: all four are in one function. We keep the old one under
# another name, and write it again.

# %%
fetch_north = fetch_calendar


async def fetch_calendar(arguments):
    try:
        answer = await http.post(
            "https://south.example/search",
            json={"from": arguments["date"], "person": arguments["owner"]},
            headers={"Authorization": "Bearer token-23"},
        )
    except httpx.HTTPError as error:
        return ToolResult(f"calendar unreachable: {error}", is_error=True)
    if not answer.json()["ok"]:
        return ToolResult(answer.json()["error"]["reason"], is_error=True)
    lines = [f"{item['begins']} {item['summary']}" for item in answer.json()["items"]]
    return ToolResult("\n".join(lines) or "nothing")


fetch_south = fetch_calendar
print(await ask([Tool(spec, fetch_calendar)]))

# %% [markdown]
# ## `rewritten`: count it
#
# We do not want to claim how much that was. A diff knows. (With address and key in a settings file,
# count two lines fewer. The others are knowledge of this one service.)

# %% tags=["covers-direct-call-welds-three-things"]
import difflib
import inspect


def rewritten(before, after):
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    return [line for line in lines if line[0] in "+-" and line[:3] not in ("---", "+++")]


north_text, south_text = inspect.getsource(fetch_north), inspect.getsource(fetch_south)
print("\n".join(rewritten(north_text, south_text)))

# %% tags=["covers-swapped-service-is-a-rewrite"]
by_hand = sum(line[0] == "-" for line in rewritten(north_text, south_text))
print(f"{by_hand} of {len(north_text.splitlines())} lines, in every host that has this tool")

# %% [markdown]
# ## The same swap behind MCP
#
# An MCP server is a list of declared tools, each with a function behind it. We put the function that
# we have behind one, unchanged. The loop's `Tool` and a server's are two types, hence `declare.Tool`.

# %%
from fake_servers import declare
from fake_servers.core import Server


def server_around(fetch):
    async def run(arguments, context):
        result = await fetch(arguments)
        return declare.Output(result.content, is_error=result.is_error)

    tool = declare.Tool("calendar_query", "The appointments of a day.", run, schema)
    return Server("calendar", tools=[tool])


[tool.name for tool in server_around(fetch_north).tools]

# %% [markdown]
# And a host that knows MCP and no calendar. It makes a `Tool` of whatever the server lists, and hands
# that to the same `ask`. What carries the messages stays in this process for now. First north, which
# we bring back for this.

# %%
from fake_servers.memory import InMemoryTransport
from mini_agent.mcp.adapter import mcp_tool_to_tool
from mini_agent.mcp.client import McpClient


async def host(server, owner="robin", trace=None, **more):
    wire = InMemoryTransport(server)
    async with McpClient(wire, server="calendar", trace=trace) as client:
        tools = [mcp_tool_to_tool(client, tool) for tool in await client.connect()]
        return await ask(tools, owner, trace=trace, **more), wire.transcript


services = {"north.example": north, "south.example": south}
answer_north, wire_north = await host(server_around(fetch_north))
print(answer_north)

# %% [markdown]
# Then the swap: another server is given to the same function. Nobody edited `host` in between, so a
# diff of its text would prove little. We compare every message that passed, in both directions.


# %%
def as_text(transcript):
    return json.dumps([entry.message for entry in transcript], indent=1)


answer_south, wire_south = await host(server_around(fetch_south))
assert answer_south == answer_north
changed = rewritten(as_text(wire_north), as_text(wire_south))
print(f"{len(changed)} of {len(as_text(wire_north).splitlines())} lines on the wire changed")

# %% [markdown]
# The list of tools, the call and the result are the same to the letter. The host cannot tell that the
# service was swapped (which cuts both ways: notebook 12). Now the refusals, which differed most. And
# do the address and the key appear anywhere in what this host sent and got?

# %% tags=["covers-server-keeps-auth-and-address"]
denied_north, wire_north = await host(server_around(fetch_north), "kim")
denied_south, wire_south = await host(server_around(fetch_south), "kim")
print("\n".join(rewritten(as_text(wire_north), as_text(wire_south))))
for word in ("calendar_query", "north.example", "key-17"):
    print(f"{word:<15} {'there' if word in as_text(wire_north) else 'not there'}")

# %% [markdown]
# One line, and it holds the service's own words, which the model should read. The *shape* of its error
# stopped at the server, with address and key. All this held because both servers list the same tool.
# Where another server names it otherwise, the model reads another list, and the host's rules by name
# must be read again.

# %% [markdown]
# ## Where did the lines go?
#
# They did not vanish. Somebody rewrote `fetch_calendar`: whoever runs the server. They do it once,
# however many hosts there are.

# %%
print(f"{'lines to rewrite':<18}{'by hand':>9}{'behind MCP':>12}")
for hosts, name in [(1, "one host"), (2, "two hosts"), (5, "five hosts")]:
    print(f"{name:<18}{hosts * by_hand:>9}{by_hand:>12}")

# %% [markdown]
# With one host MCP saves nothing, and asks for a server first. It pays from the second host on, or
# when the service's own people run the server: then we rewrite nothing.
#
# > **Beside the text.** The book chapter this kit grew from says that MCP lifts address, key and errors
# > into the protocol layer. Counted, they go behind the server. A remote server has an address and a
# > key too; a host keeps those in its transport, once, and not in each tool.

# %% [markdown]
# ## Host, client, server: running
#
# Now with a process. The host is this notebook, and the client is an object in it. The server is a
# program of its own, which the host starts. Every layer that takes part writes to one trace.

# %% tags=["covers-role-server"]
from mini_agent.demo import SERVER
from mini_agent.mcp.stdio import StdioTransport
from mini_agent.trace import Trace

trace = Trace()
calendar_client = McpClient(StdioTransport(SERVER), server="calendar", trace=trace)
tools = [mcp_tool_to_tool(calendar_client, tool) for tool in await calendar_client.connect()]
print("the host started: python", *SERVER[1:])
print("the client heard from:", calendar_client.server_info)

# %% [markdown]
# A client speaks with exactly one server. A host that wants two has two clients. The second server
# knows about rooms.
#
# Specification: architecture. (We name the section that says so; the revision is 2026-07-28.)


# %%
async def rooms_free(arguments, context):
    return "Room 2 is free all day."


rooms = Server("rooms", tools=[declare.Tool("rooms_free", "Rooms that are free.", rooms_free)])
rooms_wire = InMemoryTransport(rooms)
rooms_client = McpClient(rooms_wire, server="rooms", trace=trace)
tools += [mcp_tool_to_tool(rooms_client, tool) for tool in await rooms_client.connect()]
[tool.spec.name for tool in tools]

# %% [markdown]
# One flat list. The model cannot see how many servers stand behind it, and the loop cannot either.
# We give it a task that needs both, with something private in it.

# %% tags=["covers-role-host"]
model = ScriptedModel(
    [
        [ToolCall("toolu_1", "calendar_query", {"date": "2026-08-03"})],
        [ToolCall("toolu_2", "rooms_free", {})],
        [Text("Monday at 15:00, in room 2.")],
    ]
)
task = "Find an hour and a room on Monday, to talk with kim about a raise."
print((await run_agent(task, model=model, tools=tools, trace=trace)).text)

# %% [markdown]
# The trace says which client sent what. The transcript says what the second server heard: the arguments
# of its own calls, and neither the task nor what the calendar answered. (The model puts arguments
# together, so a private word can still travel as one.)

# %% tags=["covers-role-client"]
for event in trace.events:
    if (event.layer, event.what) == ("client", "request"):
        print(f"{event.facts['server']:<9} {event.facts['method']:<16} {event.facts['tool'] or ''}")

heard = as_text(rooms_wire.transcript)
for word in ("rooms_free", "raise", "Dentist"):
    print(f"{word:<11} {'heard' if word in heard else 'not heard'} by rooms")

# %% [markdown]
# ## Who chooses what
#
# The host chooses the servers, and which of their tools the model may know of. This model wants to
# delete, whatever it is offered. First the host offers one tool of the four, then all.


# %% tags=["covers-host-picks-servers-and-tools"]
def stubborn():
    return ScriptedModel([[ToolCall("toolu_1", "calendar_delete", {"id": "apt-1"})], repeat])


shown = [tool for tool in tools if tool.spec.name == "calendar_query"]
for offered in (shown, tools):
    print((await run_agent("Clear my Monday.", model=stubborn(), tools=offered)).text)

# %% [markdown]
# The same server, the same model. What the host does not offer is never sent. What it offers runs,
# unless somebody is asked: here nobody was.
#
# So the host asks first. A policy is a list of rules by tool name, and the loop consults it before
# each call. Now a call that goes all the way down: the policy allows it, the service does not.

# %%
from mini_agent.approval import calendar_policy, guard

hook = guard(calendar_policy(), server="calendar")
owned = Trace()
said, _ = await host(server_around(fetch_north), "kim", trace=owned, before_tool_call=hook)
print(said)

# %% [markdown]
# Five owners took part. Each had one question to answer, and each left a line: three in the trace,
# two in the service's access log.

# %% tags=["covers-decision-of-the-model", "covers-decision-of-the-host", "covers-decision-of-the-client", "covers-decision-of-the-server", "covers-decision-of-the-service"]
from mini_agent.trace import one_line


def line(layer, what):
    events = [e for e in owned.events if (e.layer, e.what) == (layer, what)]
    return f"{what}: {one_line(events[-1].facts)}"


request, answer = access_log[-1]
print("model   ", line("loop", "tool_use"))
print("host    ", line("loop", "approved"))
print("client  ", line("client", "request"))
print("server  ", request)
print("service ", answer.status_code, answer.text)

# %% [markdown]
# | owner | its question | in the run above |
# |---|---|---|
# | model | What, of all that is on offer, would help here? | it picked `calendar_query`, and the owner |
# | host | Is this call allowed out, for the person at the keyboard? | approved: reading is allowed |
# | client | What does it look like on the wire? | as `tools/call`, with the id 3 |
# | server | What in the service does this tool stand for? | `GET /events` |
# | service | Do my rules permit it, now? | 403: not with this key |
#
# Both the yes and the no were right, because they answer different questions. Could one sentence in
# the prompt answer them all?

# %% tags=["covers-decisions-are-not-one-prompt"]
calls = len(access_log)
rule = "Never ask for anybody's calendar but robin's."
said, _ = await host(server_around(fetch_north), "kim", system=rule)
print(len(access_log) - calls, "request reached the service, which said:", said)

# %% [markdown]
# A script cannot read `system`: ours stands for a model that ignores it, and asks for kim whatever it
# is told. Then the sentence stops nothing; the service's rule does. Each decision belongs where the
# knowledge is, and where it can be enforced.
#
# > **Beside the text.** The five owners come from the second book chapter behind this kit. The loop,
# > the adapter, the client and the transport of our drawing all belong to its host.

# %% [markdown]
# ## Tool, resource, prompt
#
# A server can offer three kinds of things, its primitives. Whom they are for is the whole difference. Our calendar
# has all three.
#
# | word | what it is | who chooses it |
# |---|---|---|
# | primitive | a kind of thing that a server can offer: tool, resource or prompt | |
# | tool | an action that can be called | the model |
# | resource | something to read, kept by a server at an address of its own | the host program |
# | prompt | a template for a conversation, kept by a server | the user |
#
# Specification: server/index.

# %% tags=["covers-three-types-from-one-server", "covers-type-tool"]
resources = await calendar_client.list_resources()
prompts = await calendar_client.list_prompts()
for tool in calendar_client.tools:
    print(f"tool      {tool.name:<16} takes {', '.join(tool.input_schema['properties'])}")
print(f"resource  {resources[0]['uri']:<16} {resources[0]['description']}")
print(f"prompt    {prompts[0]['name']:<16} {prompts[0]['description']}")

# %% [markdown]
# For a resource no tool runs, and no model is needed. The host asks for the address,
# `calendar://today`, and gets text. The standup is missing: the model deleted it a few cells above. A
# prompt comes back as messages that can begin a conversation. A user picks it, perhaps from a menu.

# %% tags=["covers-type-resource"]
contents = await calendar_client.read_resource(resources[0]["uri"])
for row in contents[0]["text"].splitlines():
    print(row[:40])

# %% tags=["covers-type-prompt"]
filled = await calendar_client.get_prompt("plan_day", {"date": "2026-08-04"})
print(filled["messages"][0]["content"]["text"])

# %% [markdown]
# ## Does the loop have a place for it?
#
# Before connecting anything, ask who consumes it. So of each kind: how many are here, is it among what
# `run_agent` takes, and how would we connect it? (The argument `prompt` is the user's question; MCP
# uses the same word for a template.)

# %% tags=["covers-primitive-tool", "covers-primitive-resource", "covers-primitive-prompt", "covers-consumption-point-first"]
kinds = [
    ("tools", "an action", calendar_client.tools, "adapt each with mcp_tool_to_tool"),
    ("resources", "text to read", resources, "wrap reading into a tool, read_resource"),
    ("prompts", "a template", prompts, "begin the conversation with its messages"),
]
print("kind       what it is     here  loop?  how we would connect it")
for kind, what, items, how in kinds:
    place = "yes" if kind in inspect.signature(run_agent).parameters else "no"
    print(f"{kind:<10} {what:<14} {len(items):<5} {place:<6} {how}")

# %% [markdown]
# No place, no connection: not until somebody can say who reads it. Notebook 16 makes both places.
#
# > **Beside the text.** The chapter would change the system text for a prompt. What comes back is
# > messages with a role each, so they can open the conversation as they are.
#
# We are done with these two servers. The first was a process, so closing it gives an exit code.

# %%
await calendar_client.close()
await rooms_client.close()
print([dict(e.facts) for e in trace.events if e.what == "closed"])

# %% [markdown]
# ## One question, five boundaries
#
# "What is on Monday?" can be asked across five boundaries, and none is the best. We ask it across
# each. First a **direct function**: our program calls its own code.
#
# | word | what it is |
# |---|---|
# | CLI | command-line interface: a program takes arguments and gives text and an exit code |
# | REST | a way to build an HTTP API: its addresses name things, such as `GET /orders/ord_4821` |
# | GraphQL | a way to build an HTTP API: one address, and each request names the fields it wants |


# %% tags=["covers-boundary-direct-function"]
def direct(date, owner):
    return "\n".join(f"{a.start} {a.title}" for a in calendar.on(date, owner))


answers = {"direct function": direct(**monday)}
print(answers["direct function"])

# %% [markdown]
# **A command line.** Arguments in, text out, an exit code. A person can type it and a script can run
# it; neither needs our language.

# %% tags=["covers-boundary-cli"]
import asyncio
import sys
from asyncio.subprocess import DEVNULL, PIPE

program = """
import sys
from fake_servers.calendar import Calendar
for a in Calendar().on(*sys.argv[1:]):
    print(a.start, a.title)
"""
command = [sys.executable, "-c", program, "2026-08-03", "robin"]
process = await asyncio.create_subprocess_exec(*command, stdin=DEVNULL, stdout=PIPE, stderr=PIPE)
out, err = await process.communicate()
answers["CLI"] = "\n".join(out.decode().splitlines())
print(answers["CLI"])
print("exit code", process.returncode)

# %% [markdown]
# **REST, or GraphQL.** A stable address for web pages, phones and other services, in any language.
# (GraphQL would be one address, and the fields we want in the request.)

# %% tags=["covers-boundary-rest"]
key = {"X-Api-Key": "key-17"}
rest = await http.get("https://north.example/events", params=monday, headers=key)
answers["REST"] = "\n".join(f"{e['start']} {e['title']}" for e in rest.json()["events"])
rest.json()["events"][0]

# %% [markdown]
# **Function calling.** The boundary between a model and its host. The tool behind it can be a local
# function. The trace has the loop in it, and nothing below.


# %% tags=["covers-boundary-function-calling"]
async def local_query(arguments):
    return ToolResult(direct(**arguments))


local = Trace()
answers["function calling"] = await ask([Tool(spec, local_query)], trace=local)
print(local.table())

# %% [markdown]
# **MCP.** The boundary between a host and somebody's capability. It needs no model: here we call the
# tool ourselves. The transcript shows what passed, and the assert that all five answers are one.

# %% tags=["covers-boundary-mcp"]
wire = InMemoryTransport(server_around(local_query))
async with McpClient(wire, server="calendar") as client:
    await client.connect()
    result = await client.call("calendar_query", monday)
answers["MCP"] = result.content[0]["text"]
assert len(answers) == 5 and len(set(answers.values())) == 1
[entry.message.get("method", "its answer") for entry in wire.transcript]

# %% [markdown]
# The answer does not choose the boundary, then. What chooses is who else must be able to ask.
#
# | boundary | fits best | who else can ask |
# |---|---|---|
# | direct function | a program and its own code | code of the same program |
# | CLI | people and scripts | whoever can start a program |
# | REST or GraphQL | clients of every kind, for years | any program with a network |
# | function calling | a model asking its own host | the model of this host |
# | MCP | one capability for many AI hosts | any host that speaks MCP |
#
# They stack. `server_around(fetch_north)` was MCP in front of REST in front of a function. Core rules
# belong at the bottom, as north's do, where every caller meets them.

# %% [markdown]
# ## What MCP costs
#
# Then why not put every function of ours behind MCP? We have both versions of one call here, so we
# count again.

# %% tags=["covers-mcp-everywhere-costs"]
from mini_agent.errors import McpError


def family(error_class):
    return 1 + sum(family(sub) for sub in error_class.__subclasses__())


parts = (direct, local_query, server_around)
lines = [len(inspect.getsource(part).splitlines()) for part in parts]
print(f"{'':<28}{'function':>9}{'MCP':>6}")
print(f"{'lines to write':<28}{lines[0]:>9}{sum(lines):>6}")
print(f"{'messages for the first call':<28}{0:>9}{len(wire.transcript):>6}")
print(f"{'exception classes to know':<28}{0:>9}{family(McpError):>6}")

# %% [markdown]
# More code and more messages, and more ways to fail that tests must cover. Security work has no number: a tool's
# name, description, schema and results are now somebody else's text in front of our model, so each
# server needs a review (notebook 12). For a function that only we call, the code, the tests and the
# review would buy nothing.

# %% [markdown]
# ## Two directions, one run
#
# Function calling and MCP are not rivals: in one run there can be both, one below the other. Read the
# drawing as a ladder. Down: the model's function call, the host's yes (from our `hook`), the adapter,
# `tools/call`, the server. Then back up, rung by rung. The lowest rung is in the service's log.

# %% tags=["covers-both-in-one-run"]
ladder = Trace()
said, _ = await host(server_around(fetch_south), trace=ladder, before_tool_call=hook)
draw.sequence(ladder, call="toolu_1")

# %% tags=["covers-several-boundaries-at-once"]
request, answer = access_log[-1]
print(request, answer.status_code)

# %% [markdown]
# The host translated twice. On the way up, what a server lists became what a model's API takes: here is
# the process's `calendar_query` in both forms, by the names of its fields.

# %% tags=["covers-host-translates-both-ways"]
from mini_agent.model_client import build_request

results = [e.facts["message"].get("result", {}) for e in trace.events if e.what == "received"]
listed = next(result["tools"][0] for result in results if "tools" in result)
provided = build_request(system="", messages=[], tools=[tools[0].spec])["tools"][0]
print("tools/list  ", *listed)
print("model's API ", *provided)

# %% [markdown]
# On the way down, the function call became a `tools/call`: Anthropic says `input`, MCP says `arguments`.
# Those are the two directions. A host faces the model on one side and the server on the other, with an
# adapter on each. Notebook 07 builds the one, 08 the other.

# %% tags=["covers-function-calling-and-mcp-differ"]
asked = next(e.facts for e in ladder.events if e.what == "tool_use")
sent = [e.facts["message"] for e in ladder.events if e.what == "sent"][-1]
print("function call", dict(asked))
print("tools/call   ", {name: sent["params"][name] for name in ("name", "arguments")})

# %% [markdown]
# ## Try it
#
# A third service, `west`, gives no JSON but one line of text for each appointment. `fetch_west` works
# for robin, but drops `owner` (ask it about kim) and lets a lost connection through as an exception.
# Finish it. What do you have to change in `host`?


# %%
def west(request):
    return httpx.Response(200, text=direct(request.url.params["d"], "robin"))


async def fetch_west(arguments):
    answer = await http.get("https://west.example/", params={"d": arguments["date"]})
    return ToolResult(answer.text)


services["west.example"] = west
said, _ = await host(server_around(fetch_west))
print(said)

# %% [markdown]
# ## What changed
#
# This is what you saw, and where you build it. Nothing was added to the package on this page.
#
# | name | what it does | built in |
# |---|---|---|
# | `McpClient` | speaks MCP with one server | 02, 06 |
# | `StdioTransport` | starts a server and carries the messages | 03, 04 |
# | `mcp_tool_to_tool` | makes a `Tool` of what a server lists | 07 |
# | `run_agent`, `ScriptedModel` | the loop, and a model that is a list | 08, 09 |
# | `guard`, `calendar_policy` | the host's yes and no, by name | 11 |

# %% [markdown]
# ## Where the official SDK differs
#
# The official Python SDK makes a server tool of a function under a decorator and takes the schema from
# its type hints. We declare the schema by hand, since it is what the model reads. Its client ends
# where ours does: choosing tools, asking a person and running a loop are left to the host.

# %% [markdown]
# ## Exercises and next
#
# `exercises/01_two_directions.ipynb` has 4 tasks, each with a check that answers:
#
# - **01.1** Tool, resource or prompt: who chooses? (warm-up, 8 minutes)
# - **01.2** Nine changes: what reaches the host? (solid, 10 minutes)
# - **01.3** Eight jobs: which boundary, and why? (solid, 15 minutes)
# - **01.4** `fetch_east`: a third service, and no host notices (demanding, 30 minutes)
#
# And one without: take three functions that you know from your work. Name the boundary for each,
# and the caller that decided it.
#
# Next: **02, What is on the wire?** Requests passed all day on this page. There we write one.
