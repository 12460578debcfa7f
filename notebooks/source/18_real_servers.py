# %% [markdown]
# # 18 · Does it hold outside the classroom?
#
# At the end you hold what six judges said about this kit: servers, clients and a suite that nobody here
# wrote. And a configuration that puts the calendar into a desktop host. About 40 minutes.

# %%
from __future__ import annotations

from mini_agent import draw

draw.layers(lit="server")

# %% [markdown]
# ## Seven words
#
# | word | what it is |
# |---|---|
# | judge | a program by others that shows whether a client or a server is right |
# | reference server | a server that the makers of the protocol offer, to try clients with |
# | on record | kept in a file: what a judge said, for machines on which it is not installed |
# | older revision | MCP before 2026-07-28, which began with a handshake |
# | MCP Inspector | a program that asks a server by hand and checks what it answers |
# | conformance suite | scenarios that a client or a server has to pass, each about a rule or two |
# | desktop host | a program with a model in it, which starts the servers that its configuration names |

# %% [markdown]
# ## Two that agree
#
# Every server so far was written by those who wrote the client. If they misread a rule, they misread
# it twice. Here is a client and its server, and both think that a call's tool is named in `tool`.


# %%
def naive_request(name):
    return {"method": "tools/call", "params": {"tool": name, "arguments": {}}}


def naive_server(message):
    return f"ran {message['params']['tool']}"


assert naive_server(naive_request("calendar_query")) == "ran calendar_query"
print("our test passes")

# %% [markdown]
# The test is green, and the two understand each other well. A server that read the rule otherwise does
# not.

# %%
from fake_servers.calendar import Calendar, calendar_server
from fake_servers.memory import InMemoryTransport
from mini_agent.mcp.messages import build_meta, build_request

message = build_request(1, **naive_request("calendar_query"), meta=build_meta())
print((await InMemoryTransport(calendar_server()).send(message))["error"]["message"])

# %% [markdown]
# It takes a third party to find that out. So this kit is put before judges.

# %% [markdown]
# ## The judges
#
# Some look at our client, some at our calendar. Not all of them are on your machine, so what each said
# is on record.

# %%
import importlib.util
import shutil
from collections.abc import AsyncIterator, Callable
from dataclasses import fields

from mini_agent.judges import ROOT, Judge, on_record

print([field.name for field in fields(Judge)])

# %%
JUDGES = on_record()
for judge in JUDGES.values():
    print(f"{judge.name:<22} judges {judge.judges}")

# %% [markdown]
# Each names what it cannot be asked without: a module, a program, or a file that some command brings.

# %% include mini_agent.judges.is_here
print([is_here(f"module {name}") for name in ("json", "no_such_module")])

# %% [markdown]
# `said` asks a judge that is here. Where it is not, it gives the lines on record. So what you read below
# is the same on every machine, and a test holds the record against the real ones.


# %% include mini_agent.judges.said
async def ask():
    yield "I have been asked"


for need in ("module json", "module no_such_module"):
    print(await said(Judge("one", "ours", (need,), "", ("on record",)), ask))

# %% [markdown]
# Which of them are here? This cell says something else on each machine, so it is only run by you.

# %% tags=["nbval-skip", "skip-execution"]
for judge in JUDGES.values():
    print(f"{judge.name:<22}", f"missing; to bring it: {judge.brings}" if judge.missing else "here")

# %% [markdown]
# ## The official SDK's server
#
# The protocol's makers have an SDK for Python. Everything below that is about MCP is theirs; the two
# tools are ours, since something has to be called. It runs in a process of its own.

# %%
SERVER = '''
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("official", version="1.0.0")

@server.tool()
def add(a: int, b: int) -> dict[str, int]:
    """Adds two numbers."""
    return {"total": a + b}

@server.tool()
def refund(order: str) -> str:
    """Refunds an order."""
    raise ToolError(f"{order} was refunded already")
'''

# %% [markdown]
# The examination. Four questions that a client must be able to ask: what is there, a call that works,
# a tool error, a protocol error.

# %%
from mini_agent.errors import JsonRpcError
from mini_agent.mcp import HttpTransport, McpClient, StdioTransport, mcp_tool_to_tool


async def exam(client):
    tools = await client.connect()
    yield f"speaks {client.protocol_version}, offers {', '.join(tool.name for tool in tools)}"
    yield f"add: {(await client.call('add', {'a': 2, 'b': 3})).structured_content}"
    told = await mcp_tool_to_tool(client, client.tool("refund")).execute({"order": "ord_4822"})
    yield f"refund: is_error {told.is_error}, {told.content}"
    try:
        await client.read_resource("policy://nowhere")
    except JsonRpcError as refusal:
        yield f"policy://nowhere: an exception, code {refusal.code}"


# %% [markdown]
# The examinee over stdio: a child process that runs the text above.

# %%
import sys


async def over_stdio():
    command = [sys.executable, "-c", SERVER + "\nserver.run('stdio')"]
    async with McpClient(StdioTransport(command), server="official") as client:
        async for line in exam(client):
            yield line


# %% [markdown]
# And over HTTP. The port is whichever is free, and the first line that the process prints says which.

# %%
import asyncio
from asyncio.subprocess import DEVNULL, PIPE

OVER_HTTP = """
import asyncio, socket, uvicorn
listener = socket.create_server(("127.0.0.1", 0))
print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
config = uvicorn.Config(server.streamable_http_app(), log_level="critical")
asyncio.run(uvicorn.Server(config).serve(sockets=[listener]))
"""


async def over_http():
    command = [sys.executable, "-c", SERVER + OVER_HTTP]
    process = await asyncio.create_subprocess_exec(*command, stdout=PIPE, stderr=DEVNULL)
    url = (await process.stdout.readline()).decode().strip()
    try:
        async with McpClient(HttpTransport(url), server="official") as client:
            async for line in exam(client):
                yield line
    finally:
        process.terminate()
        await process.wait()


# %%
official = JUDGES["official SDK, server"]
stdio, http = await asyncio.gather(said(official, over_stdio), said(official, over_http))
print(*stdio, sep="\n")
assert stdio == http

# %% [markdown]
# The same answers on both ways. And both error paths end where they should, on a server that has never
# heard of ours.

# %% [markdown]
# ## Two reference servers, and the loop
#
# One tells the time, the other works on a git repository. They come together in a host, under rules, and
# the loop is the one of notebook 09.

# %%
from mini_agent.agent import run_agent
from mini_agent.approval import Policy, Rule
from mini_agent.host import Host
from mini_agent.model_client import ScriptedModel
from mini_agent.types import Text, ToolCall

RULES = Policy([Rule("convert_time", "allow"), Rule("git_status", "allow")], default="deny")


def reference_servers():
    time = [sys.executable, "-m", "mcp_server_time", "--local-timezone", "UTC"]
    git = [sys.executable, "-m", "mcp_server_git"]
    return {"time": McpClient(StdioTransport(time)), "git": McpClient(StdioTransport(git))}


# %% [markdown]
# Git needs a repository: an empty one, with one file in it that git does not know. The model is a
# script, and wants three things.


# %%
def three_wishes(folder):
    noon = {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"}
    place = {"repo_path": folder}
    return [
        ToolCall("toolu_1", "time_convert_time", noon),
        ToolCall("toolu_2", "git_status", place),
        ToolCall("toolu_3", "git_reset", place),
    ]


# %%
import json
from pathlib import Path
from tempfile import TemporaryDirectory


async def repository(folder):
    command = ["git", "init", "-q", folder]
    await (await asyncio.create_subprocess_exec(*command, stderr=DEVNULL)).wait()
    Path(folder, "notes.txt").touch()  # noqa: ASYNC240


# %%
async def in_the_loop():
    with TemporaryDirectory() as folder:
        await repository(folder)
        model = ScriptedModel([three_wishes(folder), [Text("Done.")]])
        servers = reference_servers()
        await asyncio.gather(*(client.connect() for client in servers.values()))  # both at once
        async with Host(servers, policy=RULES) as host:
            hook = host.before_tool_call
            run = await run_agent("Go.", model=model, tools=host.tools, before_tool_call=hook)
    time, git, reset = (block["content"] for block in run.messages[2]["content"])
    yield f"time_convert_time: {json.loads(time)['time_difference']}"
    yield f"git_status: {[line.strip() for line in git.splitlines() if 'notes.txt' in line]}"
    yield f"git_reset: {reset}"


print(*await said(JUDGES["reference servers"], in_the_loop), sep="\n")

# %% [markdown]
# Two strangers' servers, and nothing was written for either: not in the client, not in the adapter, not
# in the loop. The third wish met a rule of ours.

# %% [markdown]
# ## One calendar, three hosts
#
# Now the other way round. One calendar stands on a port, and three very different programs come to it.
# It has no code for any of them. First our own loop, which books an hour.

# %%
from fake_servers.http import HttpServer

calendar = Calendar()
running = HttpServer(calendar_server(calendar))
url = await running.start()
print(url.partition("://")[0], "·", url.rpartition("/")[2])

# %%
HOUR = {"title": "Design team", "start": "2026-08-03T15:00", "end": "2026-08-03T16:00"}
async with McpClient(HttpTransport(url), server="calendar") as client:
    tools = [mcp_tool_to_tool(client, tool) for tool in await client.connect()]
    wish = [ToolCall("toolu_1", "calendar_create", HOUR)]
    run = await run_agent("Book it.", model=ScriptedModel([wish, [Text("Booked.")]]), tools=tools)
print(run.messages[2]["content"][0]["content"])

# %% [markdown]
# The second is the official SDK's client, in a process of its own. Before it hands a result on, it holds
# it against the schema of the tool. So our calendar is judged as well.

# %%
CLIENT = """
import asyncio, sys, mcp

async def main():
    async with mcp.Client(sys.argv[1]) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        print(f"speaks {client.protocol_version}, sees {', '.join(names)}")
        day = await client.call_tool("calendar_query", {"date": "2026-08-03"})
        print([found["title"] for found in day.structured_content["appointments"]])
        gone = await client.call_tool("calendar_delete", {"id": "apt-99"})
        print(f"calendar_delete: is_error {gone.is_error}, {gone.content[0].text}")
        try:
            await client.call_tool("calendar_dream", {})
        except mcp.MCPError as refusal:
            print(f"calendar_dream: an exception, code {refusal.error.code}")

asyncio.run(main())
"""


async def official_client():
    command = [sys.executable, "-c", CLIENT, url]
    process = await asyncio.create_subprocess_exec(*command, stdout=PIPE, stderr=DEVNULL)
    told, _ = await process.communicate()
    for line in told.decode().splitlines():
        yield line


theirs = await said(JUDGES["official SDK, client"], official_client)
print(*theirs, sep="\n")

# %% [markdown]
# It sees what our loop has booked. The third has no client at all: one HTTP request, written by hand.
# Notebooks 02 and 05 are all that it takes.

# %%
day = {"name": "calendar_query", "arguments": {"date": "2026-08-03"}}
body = build_request(1, "tools/call", day, meta=build_meta())
headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28"}
headers |= {"Mcp-Method": "tools/call", "Mcp-Name": "calendar_query"}
print(list(body), list(headers), sep="\n")

# %% tags=["covers-several-hosts-one-server"]
import httpx

async with httpx.AsyncClient(trust_env=False) as by_hand:
    answer = (await by_hand.post(url, json=body, headers=headers)).json()
found = [each["title"] for each in answer["result"]["structuredContent"]["appointments"]]
print(found)
assert "Design team" in theirs[1] and "Design team" in found

# %%
await running.stop()
print(len(calendar.appointments), "appointments in one calendar, three hosts")

# %% [markdown]
# > **Beside the text.** "Write the server once" is what MCP promises. What it costs is on the other side:
# > each host has to be a good client, and decide for itself what a stranger's tool may do.

# %% [markdown]
# ## Servers of an older revision
#
# Before 2026-07-28 a client had to shake hands first: `initialize`, its answer, a notification. Such
# servers will be around for years. `LegacyTransport` finds out what a server speaks, and shakes hands
# where it must.
#
# Specification: basic/versioning, "Backward Compatibility with Initialization-Based Versions".

# %%
from mini_agent.mcp.legacy import LegacyTransport
from mini_agent.trace import Trace

trace = Trace()
older = StdioTransport([sys.executable, "-m", "fake_servers.legacy"])
async with McpClient(LegacyTransport(older), server="older", trace=trace) as client:
    await client.connect()
    print((await client.call("echo", {"text": "Still here."})).content[0]["text"])

# %% tags=["covers-older-revisions-shook-hands"]
sent = [event.facts["message"]["method"] for event in trace.events if event.what == "sent"]
print(sent)
assert sent[:3] == ["server/discover", "initialize", "notifications/initialized"]

# %%
draw.sequence(trace)

# %% [markdown]
# It asks the modern question first. The refusal tells it the server's age. From there on the client above
# notices nothing.

# %% [markdown]
# That server is one of ours, so it proves little. These are not. They need Node, so they are asked by a
# test, and here you read what is on record.

# %%
print(*JUDGES["older servers"].said, sep="\n")

# %% [markdown]
# The other direction does not work. Our calendar knows one revision, and tells a host of an older one so.

# %%
import textwrap

hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "old"}}
message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
refusal = await InMemoryTransport(calendar_server()).send(message)
print(textwrap.fill(refusal["error"]["message"], 100))

# %% [markdown]
# ## MCP Inspector
#
# The makers of the protocol also have a program to look at servers with. From its command line it sends
# one request, checks the answer against the schema, and prints it:
#
#     mcp-inspector --cli --protocol-era auto python -m fake_servers.calendar --method tools/list
#
# Everything there is to ask of our calendar was asked that way.

# %% tags=["covers-inspector-checks-messages"]
print(*JUDGES["MCP Inspector"].said, sep="\n")

# %% [markdown]
# The last line is about a server that was broken on purpose. A judge who finds nothing wrong anywhere has
# not looked.

# %% [markdown]
# ## The conformance suite
#
# It plays a server for our client, and a client for our server, a scenario for each group of rules.
# `make conformance` runs all of it and fails when a number here changes.

# %%
print(*JUDGES["conformance suite"].said, sep="\n")

# %% [markdown]
# Expected to fail are the scenarios about tasks. That is an extension, the revision does not require it,
# and this kit has none. Each has its reason in a file, and one that passes without notice fails the run.

# %% [markdown]
# ## Into a desktop host
#
# Such a program reads a file with the servers that it may start. Where it lies is in its manual; the
# form is nearly the same everywhere.

# %%
entry = {"command": sys.executable, "args": ["-P", "-m", "fake_servers.calendar"]}
snippet = json.dumps({"mcpServers": {"calendar": entry}}, indent=2)
print(snippet.replace(json.dumps(sys.executable), '"/path/to/this/kit/.venv/bin/python"'))

# %% [markdown]
# The whole path, because a desktop program has another PATH than your terminal, and starts its servers in
# another folder. `-P` keeps a file of that folder from being taken for ours. So we read the snippet as
# such a program would, and start what it names, somewhere else.

# %%
named = json.loads(snippet)["mcpServers"]["calendar"]
with TemporaryDirectory() as elsewhere:
    started = StdioTransport([named["command"], *named["args"]], cwd=elsewhere)
    async with McpClient(started, server="calendar") as client:
        print([tool.name for tool in await client.connect()])

# %% [markdown]
# A host of an older revision will show an error, and you have read which. It will also ask you before it
# runs a tool, or it will not: that is its decision, and notebook 11 is about ours.

# %% [markdown]
# ## A real model
#
# All models so far were scripts. With a key, Claude takes the script's place, and nothing else changes.
# First what it would cost: the same round with a script, and each request counted.

# %%
from mini_agent.approval import calendar_policy, scripted
from mini_agent.demo import PROMPT, demo_model


async def one_round(model, approver):
    client = McpClient(InMemoryTransport(calendar_server()))
    rules = calendar_policy(create="ask", server="calendar")
    async with Host({"calendar": client}, policy=rules, approver=approver) as host:
        hook = host.before_tool_call
        return await run_agent(PROMPT, model=model, tools=host.tools, before_tool_call=hook)


# %%
model = demo_model()
print((await one_round(model, scripted([True]))).text)

# %%
from mini_agent.model_client import build_request as as_sent

bodies = [as_sent(**vars(request)) for request in model.requests]
tokens = sum(len(json.dumps(body)) for body in bodies) // 4
print(len(bodies), "requests, about", round(tokens, -2), "tokens sent")
print(f"{(tokens * 3 + 500 * 15) / 10_000:.1f} cents")

# %% [markdown]
# Four characters are about a token, and the answers come to some 500. At 3 dollars for a million tokens
# sent and 15 for a million answered, that is the sum above. Your account's prices decide, and a model may
# take more turns than our script.

# %% [markdown]
# The next cell is yours. It needs `ANTHROPIC_API_KEY`, and says so where there is none. Booking asks you
# with a card. The stranger's invitation is in this calendar too: see what a real model makes of it.

# %% tags=["nbval-skip", "skip-execution"]
from mini_agent.model_client import AnthropicModelClient, NoApiKey
from mini_agent.widgets import ask_in_notebook

claude = AnthropicModelClient()
try:
    print((await one_round(claude, ask_in_notebook(timeout=60))).text)
except NoApiKey as error:
    print(error)
finally:
    await claude.close()

# %% [markdown]
# ## What no judge looked at
#
# They look at messages: form, order, codes. None of them has asked whether a tool's text helps a model,
# whether a rule of yours is right, or what a server does with what it learns. Conformant is not safe;
# notebook 12 is about the difference.

# %% [markdown]
# ## Try it
#
# Give the exam to another server. Here it is our calendar, which has no `add`. Which line of the four
# comes, and on which path does the next one end?

# %%
from mini_agent.errors import McpError

async with McpClient(InMemoryTransport(calendar_server()), server="calendar") as client:
    try:
        async for line in exam(client):
            print(line)
    except McpError as error:
        print(type(error).__name__, "·", error)

# %% [markdown]
# ## What changed
#
# | name | what it does |
# |---|---|
# | `Judge`, `on_record` | who judges what, what it needs, and what it said |
# | `said` | asks a judge that is here, and reads the record where it is not |
# | `LegacyTransport` | shakes hands with an older server; nothing above it changes |
# | the snippet | starts the calendar in a desktop host; a test starts it too |

# %% [markdown]
# ## Where the official SDK differs
#
# Its server answers an unknown tool with a result that says `isError`; ours with -32602, as the
# revision has it. Its server speaks the older revisions too, and its client finds out by itself, without
# a second transport. That is right for an SDK. Here the handshake is a class that you can leave out.

# %% [markdown] taken="mini_agent.judges"
# ## Taken from the module without showing it
#
# | name | why |
# |---|---|
# | `Judge`, `Judge.missing` | a dataclass, imported: its fields are printed above, and `missing` asks `is_here` of each need |
# | `RECORD`, `ROOT`, `on_record` | where judges.toml is, and reading it |

# %% [markdown]
# ## Exercises and next
#
# 1. Take a server from a list of public ones. Review it as in notebook 12 first. Then connect it, with a
#    rule for each of its tools.
# 2. Make `fake_servers.legacy` refuse the version it is offered. What does `LegacyTransport` say, and to
#    whom?
# 3. Find a scenario in the conformance suite that this kit passes for a wrong reason. How would you know?
#
# Next: **19, What will you build?** The call chain, three tests and a trust checklist, for a service of
# your own.
