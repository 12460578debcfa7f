# %% [markdown]
# # 06 · What does the protocol layer own?
#
# At the end you hold McpClient: it connects, agrees on a version, lists, calls, answers a server that
# asks back, and says whose error it was. About 70 minutes.

# %%
from __future__ import annotations

from mini_agent import draw

draw.layers(lit="client")

# %% [markdown]
# ## Twelve words
#
# | word | what it is here |
# |---|---|
# | client | the part of a host that speaks MCP with one server |
# | host | the program that the user runs; it holds the clients, the loop and the last word |
# | exchange | one request and its answer |
# | capability | something that one side says it can do, such as offering tools |
# | discovery | asking a server which versions and capabilities it has; a client may leave it out |
# | catalogue | a server's tools, as last listed |
# | output schema | what a tool promises about the data in its results |
# | cursor | a text by which a server marks where the next page of a list begins |
# | round | one more try of a call, after the server has said what it needs first |
# | elicitation | a server's question to the user, asked by the host |
# | progress | what a server reports of a request while it works on it |
# | deadline | the moment at which a caller stops waiting |

# %% [markdown]
# ## The naive client
#
# A client asks, and others ask through it at the same time. So it must remember who waits. The
# simplest memory numbers the questions, and gives each answer to whoever has waited longest.

# %%
import asyncio


class NaiveClient:
    def __init__(self):
        self.questions, self.waiting, self.asked = asyncio.Queue(), {}, 0

    async def ask(self, day):
        self.asked += 1
        promise = asyncio.get_running_loop().create_future()
        self.waiting[self.asked] = promise
        self.questions.put_nowait(day)
        return await promise

    def read(self, answer):
        oldest = min(self.waiting)
        self.waiting.pop(oldest).set_result(answer)


# %% [markdown]
# On the other side of it stands the calendar. This one answers in the order in which it was asked.

# %%
from fake_servers.calendar import Calendar

MONDAY, TUESDAY, FREE_DAY = "2026-08-03", "2026-08-04", "2026-08-05"


def look_up(day):
    return f"{day}: {', '.join(found.title for found in Calendar().on(day, 'robin'))}"


async def in_order(client):
    for _ in range(2):
        client.read(look_up(await client.questions.get()))


# %% [markdown]
# Two people ask at once, one about Monday and one about Tuesday.


# %%
async def ask_both(server):
    naive = NaiveClient()
    got = await asyncio.gather(naive.ask(MONDAY), naive.ask(TUESDAY), server(naive))
    print(f"asked {MONDAY}, got {got[0]}")
    print(f"asked {TUESDAY}, got {got[1]}")


await ask_both(in_order)

# %% [markdown]
# It works. Now a server that answers first what it finds first. The revision allows that on every
# wire.


# %%
async def last_first(client):
    monday, tuesday = await client.questions.get(), await client.questions.get()
    client.read(look_up(tuesday))
    client.read(look_up(monday))


await ask_both(last_first)

# %% [markdown]
# Two answers, both well formed and both true, each with the wrong person. No exception, no log line.
# What ties an answer to its question is never the order. It is the id.

# %% [markdown]
# `send` of notebook 03 sorts the answers by id, so the transport does that part for us. To choose
# the ids is the client's part, together with all else that gives a message its meaning.

# %% [markdown]
# ## `Exchange`: what every method has in common
#
# MCP has about ten methods. Each needs an id, `_meta`, a deadline, and somebody who says whose
# error it was. `Exchange` holds that once. First, what the package's code below imports.

# %%
import contextlib
import inspect
import itertools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, TypeAlias

from mini_agent.errors import MalformedMessage, McpError, RequestTimeout, UnsupportedProtocolVersion
from mini_agent.mcp.exchange import Waiting
from mini_agent.mcp.messages import PROTOCOL_VERSION, build_meta, build_request, parse_response
from mini_agent.mcp.patience import Alarm, Deadline, innermost
from mini_agent.mcp.shapes import server_info
from mini_agent.mcp.transport import NO_ENVELOPE, FakeTransport, McpTransport
from mini_agent.trace import Trace
from mini_agent.types import JsonObject
from mini_agent.workbook import part_of

# %% [markdown]
# It is told eight things, the transport first. It adds the version, a counter for ids, an alarm for
# the deadlines, and a place for whoever waits for progress. The last two lines make the transport
# its own.

# %% include mini_agent.mcp.exchange.SPOKEN MAY_ASK Hear Exchange(__init__)
print(*list(inspect.signature(Exchange).parameters), sep=", ")

# %% [markdown]
# ### `_shielded`: somebody else's function
#
# A transport hears things that answer nobody, such as notifications, and passes them on. The host's
# own function then runs in the middle of the transport's reading. If it fails, the reading must not.

# %% include mini_agent.mcp.exchange._shielded

# %% [markdown]
# The function of our imaginary host fails with a KeyError. Nothing is raised here, and the event loop
# has been told, which logs it.

# %%
problems, event_loop = [], asyncio.get_running_loop()
event_loop.set_exception_handler(lambda _, context: problems.append(context["message"]))
_shielded(lambda message: message["no such key"], {"method": "notifications/x"})
event_loop.set_exception_handler(None)
print(problems)

# %% [markdown]
# ### `_heard`: what answers nothing
#
# A message without a method is an answer for which nobody waits any more. It is dropped. The rest
# goes to the host. What is done with progress has a section below.

# %% include mini_agent.mcp.exchange.Exchange._heard

# %% [markdown]
# To try it we need an exchange. This helper makes one, and writes down what the host would hear.

# %%
heard = []


def exchange_on(transport, **changed):
    told = {"server": "calendar", "timeout": 30, "max_timeout": 600, "capabilities": {}}
    told |= {"client_info": {"name": "notebook", "version": "1"}}
    told |= {"on_notification": heard.append, "trace": Trace()}
    return Exchange(transport, **told | changed)


exchange = exchange_on(FakeTransport([]))
exchange._heard({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
exchange._heard({"jsonrpc": "2.0", "id": 7, "result": {}})
heard

# %% [markdown]
# ### `note`: one line for the trace
#
# Every layer writes down what it saw. Tables and drawings are made from these lines and from nothing
# else.

# %% include mini_agent.mcp.exchange.Exchange.note
exchange.note("note", text="written by the client")
print(exchange.trace.table())

# %% [markdown]
# ### `_result`: from a response to its result
#
# `parse_response` of notebook 02 does most of it. Two things are added: who the server says it is,
# and that only three methods may be answered with "I need something first".


# %% include mini_agent.mcp.exchange.Exchange._result

# %% [markdown]
# The same answer to two methods. To one of them it is allowed.

# %%
asks_back = {"jsonrpc": "2.0", "id": 1, "result": {"resultType": "input_required"}}
for method in ("tools/call", "tools/list"):
    try:
        print(method, "->", exchange._result(asks_back, method))
    except MalformedMessage as error:
        print(method, "->", error)

# %% [markdown]
# ### A deadline is a cancel
#
# When the time has come, the task that waits is cancelled, and `_expired` is set. Where the `with`
# block ends, that cancel becomes an error. A cancel by somebody else must stay one. The first two
# lines only sign the deadline off.

# %% include mini_agent.mcp.patience.Deadline.__exit__

# %% [markdown]
# `uncancel` takes our cancel back and says how many are left. More than there were at the start, in
# `_cancels`, means that somebody else has cancelled as well. To try it, two tasks wait for nothing:
# one has 0.01 seconds, the other we cancel.


# %%
async def silence(seconds):
    with Deadline(Alarm(), seconds):
        await asyncio.Event().wait()


slow, stopped = asyncio.create_task(silence(0.01)), asyncio.create_task(silence(30))
await asyncio.sleep(0)  # both begin
stopped.cancel()
for outcome in await asyncio.gather(slow, stopped, return_exceptions=True):
    print(type(outcome).__name__, outcome)

# %% [markdown]
# So far this is `asyncio.timeout`. Ours can also stop and go on: while a person signs in (notebook
# 14), no time counts. And all deadlines of a client share one timer, its Alarm, so that each costs
# about a third of a timer of its own.

# %% [markdown]
# ### `_once`: one request, one answer
#
# A new id, a `_meta` that says everything, a deadline around `send`. What the layers above call
# "asking the server" is this method. Who wants to hear of progress is listed for as long as the
# request runs. `on_id` hands out the id beforehand; only `listen` needs it.

# %% include mini_agent.mcp.exchange.Exchange._once

# %% [markdown]
# The calendar, in this process. No version was agreed on and nobody connected.

# %%
from fake_servers.calendar import calendar_server
from fake_servers.memory import InMemoryTransport

exchange = exchange_on(InMemoryTransport(calendar_server()))
result = await exchange._once("tools/list", None, 30, None, NO_ENVELOPE)
[tool["name"] for tool in result["tools"]]

# %% [markdown]
# Ids count up, and `_meta` goes with every request, the second like the first. The machine that
# answers the second need not be the one that answered the first.
#
# Specification: basic/index, `_meta`.


# %%
def answered(**result):
    return {"jsonrpc": "2.0", "result": {"resultType": "complete", **result}}


exchange = exchange_on(FakeTransport([answered(), answered()]))
for method in ("server/discover", "tools/list"):
    await exchange._once(method, None, 30, None, NO_ENVELOPE)
for message in exchange.transport.sent:
    print(message["id"], *(key.rpartition("/")[2] for key in message["params"]["_meta"]))

# %% [markdown]
# ## Which version?
#
# There is no handshake, so nothing is agreed beforehand. Each request names its version. A server
# that does not speak it answers -32022 and lists those that it speaks.
#
# Specification: basic/versioning, "Protocol Version Negotiation".

# %% include mini_agent.mcp.exchange.choose_version
for offered in (["2027-01-01", "2026-07-28"], ["2025-11-25"], []):
    print(offered, "->", choose_version(offered))

# %% [markdown]
# ### `request`: once more, in a version that both speak
#
# First two checks of what the caller gave. A deadline of no seconds would end every request, and
# nobody would await what an async callback returns.

# %% include mini_agent.mcp.exchange.sync_only Exchange.limit


# %%
async def awaits(params):
    await asyncio.Event().wait()


for check in (lambda: exchange.limit(0), lambda: sync_only("on_progress", awaits)):
    try:
        check()
    except (ValueError, TypeError) as error:
        print(error)

# %% [markdown]
# And the request itself. A refused version is met with one more try, and not with many: a server
# that refuses its own proposal would be asked for ever.

# %% include mini_agent.mcp.exchange.Exchange.request

# %% [markdown]
# We pretend to be ahead of our time. The client asks at once, without any discovery, in a version of
# which the calendar has never heard. Then we print what passed on the wire, and each request's
# version.

# %% tags=["covers-ask-first-handle-the-version"]
from mini_agent.mcp.messages import META
from mini_agent.trace import in_brief


def print_wire(wire, *keys):
    for sender, message in wire.transcript:
        params = message.get("params", {})
        told = {**params, **params.get("_meta", {})}
        print(sender, in_brief(message), *(told[key] for key in keys if key in told), sep="  ")


exchange = exchange_on(InMemoryTransport(calendar_server()))
exchange.version = "2027-01-01"
result = await exchange.request("tools/list")
print_wire(exchange.transport, f"{META}protocolVersion")

# %% [markdown]
# Refused, chosen, asked again under a new id, answered. The caller has noticed nothing, and the next
# request names the right version from the start.

# %% [markdown]
# `last_words` gives the last line of a traceback. The rest would be every layer between.


# %%
import textwrap


async def last_words(awaitable):
    try:
        return await awaitable
    except McpError as error:
        return textwrap.fill(f"{type(error).__name__}: {error}", 110)


# %% [markdown]
# A server of last year offers nothing that we speak. Then there is one request, and one clear error
# that says what the server does speak. `faults.transport` plays it, and others further down: each
# has one fault, by name.

# %%
from fake_servers import faults

print(await last_words(exchange_on(faults.transport("old_version")).request("tools/list")))

# %% [markdown]
# ## A deadline on every request
#
# Silence is the one failure that no exception announces. So every request has a deadline, also those
# whose caller did not think of one.
#
# Specification: basic/patterns/cancellation, "Timeouts".


# %%
def asking(day):
    return {"name": "calendar_query", "arguments": {"date": day}}


wire = faults.transport("silence")
exchange = exchange_on(wire)
print(await last_words(exchange.request("tools/call", asking(MONDAY), timeout=0.01)))

# %% [markdown]
# The deadline cancels `send`, and a transport whose `send` is cancelled tells its server. Afterwards
# the client is as good as before: the next request is answered.

# %%
result = await exchange.request("tools/list")
print_wire(wire)

# %% [markdown]
# ## A late answer
#
# The first request was given up, and its answer may still come, just while we wait for the second.
# To play that we keep the silent server, and write its lines ourselves: `receive` takes one, and
# `met` is set when a request has come.

# %%
from mini_agent.mcp.messages import encode


def says(wire, request_id, day):
    answer = {"id": request_id, **answered(content=[{"type": "text", "text": look_up(day)}])}
    wire.receive(encode(answer))


async def late(exchange, wire):
    with contextlib.suppress(RequestTimeout):
        await exchange.request("tools/call", asking(MONDAY), timeout=0.01)
    wire.met.clear()
    second = asyncio.create_task(exchange.request("tools/call", asking(TUESDAY)))
    await wire.met.wait()
    sent = [said.get("id") for _, said in wire.transcript if said["method"] == "tools/call"]
    for request_id, day in zip(sent, (MONDAY, TUESDAY), strict=True):
        says(wire, request_id, day)
    return (await second)["content"][0]["text"]


# %% [markdown]
# First a client that uses an id again as soon as it is free. The revision allows that: an id must
# only differ from those of the requests that still wait.

# %%
wire = faults.transport("silence")
exchange = exchange_on(wire)
exchange._ids = itertools.repeat(1)
print(f"asked {TUESDAY}, got {await late(exchange, wire)}")

# %% [markdown]
# The naive client's mistake once more, and this time the wire sorts by id. The counter of `_once`
# never comes back to a number, so a late answer finds nobody.

# %%
wire = faults.transport("silence")
exchange = exchange_on(wire)
print(f"asked {TUESDAY}, got {await late(exchange, wire)}")

# %% [markdown]
# ### The same answer twice
#
# The second copy of an answer is a late one too: nobody waits for it any more. It reaches `_heard`,
# has no method, and ends there. It is in the trace, for whoever looks into it.

# %%
heard.clear()
says(wire, 2, TUESDAY)
print("the host heard", heard)
print(exchange.trace.table().splitlines()[-1])

# %% [markdown]
# ## Progress
#
# A server may tell how far it is, if the request gave it a token to tell it under. Ours is the
# request's id. Short of time? Run the cells as far as "`Context`" and read on there.
#
# Specification: basic/patterns/progress.

# %%
print(inspect.getsource(Waiting))

# %% [markdown]
# There is one for each request whose caller asked to be told, and `_once` lists it under the token.
# `progress` is the furthest step so far; any first step is more than minus infinity.

# %% include mini_agent.mcp.exchange.Exchange._progressed

# %% [markdown]
# We list a request by hand, under 1. Then five notifications: one is about a request that we do not
# know, one goes back, one is no number.


# %%
def progress(token, value):
    params = {"progressToken": token, "progress": value}
    return {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}


told = []
with Deadline(Alarm(), 60) as deadline:
    exchange._waiting[1] = Waiting(told.append, deadline)
    for token, value in [(1, 5), (99, 6), (1, 3), (1, "half"), (1, 8)]:
        exchange._heard(progress(token, value))
[params["progress"] for params in told]

# %% [markdown]
# ### Progress holds the deadline off
#
# Whoever reports is alive. So each step forward gives the request its full time again. A step that
# does not go forward gives nothing.

# %%
with Deadline(Alarm(), 60, longest=600) as deadline:
    exchange._waiting[1] = Waiting(told.append, deadline)
    for value in (1, 1):
        deadline.end -= 50  # as if 50 seconds had passed
        before = deadline.end
        exchange._heard(progress(1, value))
        print(f"progress {value}: {round(deadline.end - before)} s more")

# %% [markdown]
# ### A server that reports
#
# The whole way: a tool that says three times how far it is, and a caller that asked to be told.

# %%
from fake_servers.core import Server
from fake_servers.declare import Tool as ServerTool


def server_of(run):
    return InMemoryTransport(Server("office", tools=[ServerTool(run.__name__, "", run)]))


async def reports(arguments, context):
    for done in (1, 2, 3):
        await context.progress(done, 3)
    return "one appointment found"


told = []
exchange = exchange_on(server_of(reports))
await exchange.request("tools/call", {"name": "reports"}, on_progress=told.append)
[f"{params['progress']} of {params['total']}" for params in told]

# %% [markdown]
# ### And one that reports for ever
#
# It gets more time with each step, to `max_timeout` and no further. A server must not be able to keep
# us by talking.


# %%
async def talks(arguments, context):
    for step in itertools.count(1):
        await context.progress(step)


exchange = exchange_on(server_of(talks), timeout=0.05, max_timeout=0.1, trace=None)
talking = exchange.request("tools/call", {"name": "talks"}, on_progress=told.append)
print(await last_words(talking))

# %% [markdown]
# ## `Context`: whose error was it?
#
# A transport knows no server names, no methods and no tools. The client does. It adds them to
# whatever passes, and lets it pass as the same object.

# %% include mini_agent.mcp.exchange.Context

# %% [markdown]
# The pipe broke with exit code 3. The transport says that, and the client says during what.

# %%
from mini_agent.errors import TransportClosed

broken = TransportClosed("the pipe broke", exit_code=3)
try:
    with Context(exchange, "tools/call", "calendar_query"):
        raise broken
except McpError as error:
    print(error is broken, "·", error.exit_code, "·", error)

# %% [markdown]
# A host with five servers in use can now say which one it was. And it still sees the transport's own
# class, with all that the class says about blame.

# %% [markdown]
# `Exchange` is complete. Three questions are left that concern more than one request: pages, rounds,
# and how long an answer may be kept. Each is a small module of its own.

# %% [markdown]
# ## Pages
#
# A long list comes in pages. Each page names the next by a cursor, which only the server can read.
# Most of us would write this.


# %%
async def naive_pages(ask):
    items, cursor = [], ""
    while True:
        result = await ask({"cursor": cursor} if cursor else {})
        items += result["tools"]
        cursor = result.get("nextCursor")
        if not cursor:
            return items


# %% [markdown]
# Three pages with one tool each. The cursors are `""` and `"x1"`.

# %%
THREE = [
    answered(tools=[{"name": "query"}], nextCursor="", ttlMs=60_000),
    answered(tools=[{"name": "create"}], nextCursor="x1", ttlMs=5_000),
    answered(tools=[{"name": "delete"}], ttlMs=60_000),
]


# %%
import functools


def lister(script):
    return functools.partial(exchange_on(FakeTransport(script)).request, "tools/list")


await naive_pages(lister(THREE))

# %% [markdown]
# One tool of three, and nothing says that two are missing. An empty text is a cursor like any other.
# Only a missing one ends the list.
#
# Specification: server/utilities/pagination, "Implementation Guidelines".

# %% [markdown]
# ### `_page`: one page
#
# "No cursor" is None and never `""`. A cursor that the server no longer takes gets an exception of
# its own, because it can be mended: the list has changed meanwhile.

# %%
from collections.abc import Awaitable

from mini_agent.errors import InputRequired, JsonRpcError
from mini_agent.mcp.messages import INVALID_PARAMS, excerpt
from mini_agent.mcp.paging import _StaleCursor
from mini_agent.mcp.shapes import parse_input_required, parse_page, ttl_seconds

# %% include mini_agent.mcp.paging.MAX_PAGES _page
print(await _page(lister(THREE), None))

# %% [markdown]
# ### `_walk`: from the first page to the last
#
# Two ways of going round in circles are closed: a cursor that comes twice, and too many pages. How
# long the list may be kept is what its shortest-lived page allows.

# %% include mini_agent.mcp.paging._walk

# %% [markdown]
# `every_page` is what a client calls: a walk, and one more if a cursor was refused on the way. Of
# the three pages above it brings all three tools.

# %% include mini_agent.mcp.paging.every_page
tools, seconds = await every_page(lister(THREE), "tools")
print([tool["name"] for tool in tools], "fresh for", seconds, "s")

# %% [markdown]
# Now the second page names itself as the next. Without the check we would walk for ever.

# %% tags=["raises-exception"]
await every_page(lister([THREE[0], THREE[1], THREE[1]]), "tools")

# %% [markdown]
# A stale cursor is no failure yet: here `query` was taken out of the list between two pages. The walk
# begins again at the first page, once. The new list replaces the half-read one; they are never mixed.


# %%
def refused(code, **data):
    return {"jsonrpc": "2.0", "error": {"code": code, "message": "no", "data": data}}


changed_midway = [THREE[0], refused(-32602), THREE[1], THREE[2]]
tools, _ = await every_page(lister(changed_midway), "tools")
[tool["name"] for tool in tools]

# %% [markdown]
# ## Rounds: the server asks back
#
# Some calls cannot be finished without the user: which room, which of two people called Kim. The
# server answers `input_required`. Here is what becomes of that answer if nobody reads its type.

# %%
exchange = exchange_on(faults.transport("input_required"))
not_yet = await exchange.request("tools/call", asking(MONDAY))
found = not_yet.get("content", [])
print(found or "You have no appointments on Monday.")

# %%
not_yet

# %% [markdown]
# The server has asked a question, and the user was told something untrue. This is a result that must
# not be read as an empty one.
#
# Specification: basic/patterns/mrtr.

# %% [markdown]
# ### `answers`: all of them, or none
#
# The handler is the host's function. It gets the questions by key and returns the answers under the
# same keys. A retry with half of the answers would only bring the same question again.

# %% include mini_agent.mcp.rounds.InputHandler answers


# %% tags=["raises-exception"]
async def forgets(questions):
    return {}


await answers(forgets, not_yet["inputRequests"])

# %% [markdown]
# ### `until_complete`
#
# Ask, be told "not yet", get the answers, ask again with them. First how many times, how long to
# wait, and what is said when nobody can answer.

# %% include mini_agent.mcp.rounds.MAX_ROUNDS FIRST_PAUSE _asks
print(_asks(not_yet["inputRequests"]))

# %% [markdown]
# The state of one call lives in the variables of this function and nowhere else, so it cannot get
# into another call. A server may also ask nothing and only send a state. Then the call goes out
# again after a short pause.

# %% include mini_agent.mcp.rounds._more

# %% [markdown]
# Ten rounds of 30 seconds would be five minutes, and the caller said 30 seconds. So all rounds
# together have one deadline. It is a longer one as soon as a person is asked, since people read
# slowly, and is counted afresh where progress has held off the first request's own.

# %% include mini_agent.mcp.rounds.until_complete

# %% [markdown]
# Somebody is there, and says: room 2. The retry is a new request with a new id. It repeats the old
# one and adds two things, and `requestState` goes back exactly as it came.


# %%
async def room_2(questions):
    return {key: {"action": "accept", "content": {"room": "2"}} for key in questions}


def asker(transport):
    exchange = exchange_on(transport)
    return lambda extra: exchange.request("tools/call", {**asking(TUESDAY), **extra})


# %%
wire = faults.transport("input_required")
result = await until_complete(asker(wire), room_2, {})
print_wire(wire, "inputResponses", "requestState")

# %% [markdown]
# Nobody is there: an exception, and it holds all that is needed to go on later.

# %% tags=["raises-exception"]
await until_complete(asker(faults.transport("input_required")), None, {})

# %% [markdown]
# Somebody is there, and the server is never content. After ten rounds we stop. Whoever has been asked
# the same thing ten times has stopped long before.

# %%
never_content = FakeTransport([{"result": not_yet}] * 11)
try:
    await until_complete(asker(never_content), room_2, {})
except InputRequired as error:
    print(len(never_content.sent), "requests:", error)

# %% [markdown]
# > **Beside the text.** The chapter behind this notebook asks a minimal client for one thing here:
# > hand it to the host as an explicit failure, and not to the model as an empty result. That is the
# > `handler is None` line. The rest is for hosts that have somebody to ask.

# %% [markdown]
# ## How long an answer may be kept
#
# A server says in `ttlMs` for how many milliseconds its list is fresh. To keep it that long saves a
# request before each call. The clock is handed in, so that a test need not wait.
#
# Specification: server/utilities/caching.

# %% include mini_agent.mcp.cache.Cache(__init__, get, keep, clear)

# %%
now = 0.0
cache = Cache(clock=lambda: now)
cache.keep("tools/list", "", ["query"], seconds=60)
for now in (0.0, 59.9, 60.0):
    print(f"at {now:>4} s: {cache.get('tools/list')}")

# %% [markdown]
# ### `told`: until somebody says otherwise
#
# A change notification ends the freshness at once, whatever `ttlMs` has said.

# %% include mini_agent.mcp.cache.FRESH_UNTIL_TOLD Cache.told
cache.keep("tools/list", "", ["query"], seconds=60)
cache.told("notifications/tools/list_changed")
print(cache.get("tools/list"))

# %% [markdown]
# ## `McpClient`
#
# All parts are there. What is left is what differs from method to method: which params go in, and
# what the result must look like. First the imports.

# %%
from mini_agent import __version__
from mini_agent.mcp.headers import mirror_fault
from mini_agent.mcp.listening import Listening
from mini_agent.mcp.shapes import (
    CallResult,
    McpTool,
    parse_call_result,
    parse_discovery,
    parse_tools,
)

# %% [markdown]
# It is told how to reach the server and whom to ask. One line decides something: the client says that
# it can put questions to a user (the capability `elicitation`) only if there is somebody who does.

# %% include mini_agent.mcp.client.McpClient(__init__)
print(*list(inspect.signature(McpClient).parameters)[1:], sep=", ")

# %% [markdown]
# Some members are one line each, and some belong to other notebooks. We take those from the package
# as they are; the table at the end says which, and why.

# %% [markdown]
# `_listening` is there for one of them, `listen`. `relists` and `before_round` are for the Host of
# notebook 11, which compares a tool before anything more is sent to it.

# %%
from mini_agent.mcp import client as package


def borrow(*names):
    for name in names:
        part_of(McpClient)(vars(package.McpClient)[name])


borrow("server", "transport", "trace", "protocol_version", "server_info")
borrow("list_resources", "list_resource_templates", "read_resource", "list_prompts", "get_prompt")
borrow("_envelope", "_ask", "listen")

# %% [markdown]
# ### `_heard`, `tool`
#
# What answers nothing now has a second reader: the cache. And a tool can be looked up in the
# catalogue by its name.

# %% include mini_agent.mcp.client.McpClient._heard McpClient.tool

# %%
client = McpClient(FakeTransport([]), server="calendar")
print(client.server, client.protocol_version, client.tools, client.capabilities)

# %% [markdown]
# ### `_list`: one way for all lists
#
# Tools, resources, prompts: a server that has none of a kind is not asked. A list that is fresh is
# not asked for. Otherwise, every page.

# %% include mini_agent.mcp.client.McpClient._list

# %% [markdown]
# ### `list_tools`
#
# One bad tool does not hide the good ones. It is left out, and the reason is kept where the host
# and the trace can see it. Over HTTP a tool whose headers cannot be made is left out as well
# (notebook 05).

# %% include mini_agent.mcp.client.McpClient.list_tools

# %% [markdown]
# A tool takes an object, so the second tool's schema makes it useless to any model.

# %%
good = {"name": "calendar_query", "inputSchema": {"type": "object"}}
bad = {"name": "calendar_paint", "inputSchema": {"type": "string"}}
client = McpClient(FakeTransport([answered(tools=[good, bad])]))
print([tool.name for tool in await client.list_tools()])
print(client.left_out)

# %% [markdown]
# A list is asked for when it is needed and no longer fresh. We hand in a clock and let a
# minute pass.

# %%
fake = FakeTransport([answered(tools=[good], ttlMs=60_000)] * 2)
client = McpClient(fake, clock=lambda: now)
for now in (0.0, 59.9, 60.0):
    await client.list_tools()
    print(f"at {now:>4} s: {len(fake.sent)} sent")

# %% [markdown]
# And when the server says that its tools have changed, while it answers something else:

# %%
kept, changed = answered(tools=[good], ttlMs=60_000), {"method": "notifications/tools/list_changed"}
client = McpClient(FakeTransport([kept, [changed, answered(prompts=[])], kept]))
await client.list_tools()
await client.list_prompts()
await client.list_tools()
[message["method"] for message in client.transport.sent]

# %% [markdown]
# ### `_discover`
#
# Discovery tells versions and capabilities. No version in common is an error of the start, before
# anything else was sent. A server from before this revision cannot answer at all, and the hint says
# so.
#
# Specification: server/discover.

# %% include mini_agent.mcp.client.McpClient._discover

# %% [markdown]
# ### `connect`
#
# Two steps. Ask who is there, if you like; list the tools. It returns the catalogue.

# %% include mini_agent.mcp.client.McpClient.connect

# %% tags=["covers-connect-discovers-then-lists"]
wire, trace = InMemoryTransport(calendar_server()), Trace()
client = McpClient(wire, server="calendar", trace=trace)
print([tool.name for tool in await client.connect()])
print(trace.table())

# %% tags=["covers-discover-tells-versions"]
found = parse_discovery(wire.transcript[1].message["result"])
print("versions:    ", found.versions)
print("capabilities:", list(client.capabilities))
print("instructions:", *textwrap.wrap(client.instructions, 80), sep="\n  ")

# %% [markdown]
# ### Without discovery
#
# Discovery is optional. Without it, the first list tells whether we are understood. We do not know
# then what the server has, so every list may be tried.

# %% tags=["covers-discover-can-be-skipped"]
client = McpClient(InMemoryTransport(calendar_server()))
tools = await client.connect(discover=False)
print_wire(client.transport)
print([tool.name for tool in tools], client.capabilities)

# %% [markdown]
# With it, a server that offers no tools is never asked for any.

# %%
empty_handed = answered(supportedVersions=[PROTOCOL_VERSION], capabilities={"prompts": {}})
fake = FakeTransport([empty_handed])
print(await McpClient(fake).connect(), [message["method"] for message in fake.sent])

# %% [markdown]
# ### `_complete`, `call`
#
# A call is a request that may take rounds. `_complete` says how long they may take together: up to
# `max_timeout` where progress may hold a deadline off.

# %% include mini_agent.mcp.client.McpClient._complete

# %% [markdown]
# After a failure a call is never sent again by itself: a booking that was perhaps made must not be
# made twice. What comes back is judged before anybody sees it.

# %% include mini_agent.mcp.client.McpClient.call

# %% tags=["covers-call-returns-content-and-flag"]
client = McpClient(InMemoryTransport(calendar_server()), server="calendar")
for day in (TUESDAY, "2026-02-30"):
    result = await client.call("calendar_query", {"date": day})
    print(f"is_error={result.is_error}  {result.content[0]['text']}")

# %% [markdown]
# The second one is a good answer that says no: the tool ran and could not do it. For the client that
# is a result like any other. Who must know of it is the subject of notebook 10.

# %% [markdown]
# ### `connect` is no handshake
#
# The client above has called without ever connecting, and the server did not mind. So `connect` is a
# step of ours: the host wants the catalogue, and it wants to know now if nobody is there.

# %% tags=["covers-connect-is-the-hosts-startup"]
for connects in (True, False):
    client = McpClient(InMemoryTransport(calendar_server()))
    if connects:
        await client.connect()
    result = await client.call("calendar_query", {"date": FREE_DAY})
    print_wire(client.transport)
    print(result.content[0]["text"], end="\n\n")

# %% [markdown]
# ### Who writes `_meta`?
#
# The caller gave a name and a dict. Version, capabilities and our name were added below it. The
# layers above have never heard of `_meta`; we can look into their source.

# %% tags=["covers-client-fills-in-meta"]
from mini_agent import agent
from mini_agent.mcp import adapter

sent = client.transport.transcript[0].message["params"]
print("given:", sent["arguments"], "· added:", [key.rpartition("/")[2] for key in sent["_meta"]])
for layer in (agent, adapter):
    print(f"{layer.__name__} mentions _meta: {'_meta' in inspect.getsource(layer)}")

# %% [markdown]
# ### A promise that is checked
#
# A tool may declare what its structured content looks like. The client has the declaration in its
# catalogue, so it can compare. A broken promise is the server's fault and an exception.
#
# Specification: server/tools, "Output Schema".

# %%
promise = {"type": "object", "properties": {"free": {"type": "boolean"}}, "required": ["free"]}
promising = {**good, "outputSchema": promise}
script = [answered(tools=[promising]), answered(content=[], structuredContent={"free": "maybe"})]
client = McpClient(FakeTransport(script), server="calendar")
await client.connect(discover=False)
print(await last_words(client.call("calendar_query", {"date": MONDAY})))

# %% [markdown]
# Without the check, `"maybe"` goes on, and is true in an `if`. On a result that says `isError` the
# schema does not apply: whoever failed has nothing to fill it with.

# %% [markdown]
# ## A server that asks, and a host that answers
#
# A real one this time. It books a room and must know which. It keeps nothing between the rounds; what
# it has to remember travels in `requestState`.

# %%
from fake_servers.declare import NeedInput

FORM = {"type": "object", "properties": {"room": {"type": "string"}}, "required": ["room"]}
PARAMS = {"mode": "form", "message": "Which room?", "requestedSchema": FORM}
QUESTION = {"method": "elicitation/create", "params": PARAMS}


async def book(arguments, context):
    chosen = context.accepted("room", FORM)
    if chosen is None:
        return NeedInput({"room": QUESTION}, state="nothing booked yet")
    return f"Booked room {chosen['room']}."


# %% tags=["covers-input-responses-under-a-new-id"]
trace = Trace()
client = McpClient(server_of(book), server="office", on_input_required=room_2, trace=trace)
result = await client.call("book")
print_wire(client.transport, "inputResponses")
print(result.content[0]["text"])

# %% [markdown]
# Two requests, two ids, one call. The caller of `call` saw none of it.

# %%
draw.sequence(trace)

# %% [markdown]
# The server's memory went through our hands, so this server signs it. We call by hand, with the state
# as it came, with one letter changed, and with another request around it.

# %%
state = client.transport.transcript[1].message["result"]["requestState"]
rooms = {"input_responses": await room_2(["room"])}
for arguments, sent in (({}, state), ({}, "A" + state[1:]), ({"hour": 9}, state)):
    said = await last_words(client.call("book", arguments, request_state=sent, **rooms))
    print(said if isinstance(said, str) else said.content[0]["text"])

# %% [markdown]
# ### Nobody there, two ways
#
# A client without a handler does not declare `elicitation`. A good server then does not ask, and
# refuses with -32021. A bad one asks all the same.

# %% tags=["covers-input-required-is-explicit"]
good_server = McpClient(server_of(book), server="office")
print(await last_words(good_server.call("book")))
client = McpClient(faults.transport("input_required"), server="calendar")
print(await last_words(client.call("calendar_query", {"date": TUESDAY})))

# %% [markdown]
# Both are explicit, and neither is an empty result. The second exception also holds what was asked. A
# host that finds somebody an hour later goes on from there.

# %%
try:
    await client.call("calendar_query", {"date": TUESDAY})
except InputRequired as error:
    answer = {"input_responses": await room_2(error.requests), "request_state": error.state}
result = await client.call("calendar_query", {"date": TUESDAY}, **answer)
print(result.content[0]["text"])

# %% [markdown]
# ## `close`, and `async with`
#
# The client owns its transport, so closing the client closes that. It can be done twice. `async with`
# does it on every way out.

# %% include mini_agent.mcp.client.McpClient.close McpClient.__aenter__ McpClient.__aexit__

# %%
async with McpClient(FakeTransport([answered(content=[])]), server="calendar") as client:
    await client.call("calendar_query")
await client.close()
print("closed:", client.transport.closed)

# %% tags=["covers-close-ends-the-connection"]
print(await last_words(client.call("calendar_query")))

# %% [markdown]
# ## The host's start
#
# A host connects first, and begins its loop with what it got. The adapter and the loop are those of
# notebooks 07 and 09; here we only need to see when they run.

# %%
from mini_agent.agent import run_agent
from mini_agent.mcp.adapter import mcp_tool_to_tool
from mini_agent.model_client import ScriptedModel
from mini_agent.types import Text


async def host(transport, model, trace):
    async with McpClient(transport, server="calendar", trace=trace) as client:
        tools = [mcp_tool_to_tool(client, tool) for tool in await client.connect()]
        return await run_agent("Am I free on Monday?", model=model, tools=tools, trace=trace)


model = ScriptedModel([[Text("Not at 9, 11 and 14.")]])
print((await host(InMemoryTransport(calendar_server()), model, Trace())).text)

# %% [markdown]
# ### Connect fails, the loop never begins
#
# The same host, and nobody at the other end. The exception is the caller's, at once.

# %%
model, trace = ScriptedModel([[Text("You are free!")]]), Trace()
print(await last_words(host(faults.transport("refused"), model, trace)))

# %% tags=["covers-startup-failure-before-the-loop"]
print(f"the model was asked {len(model.requests)} times")
print("seen by:", *sorted({event.layer for event in trace.events}))
assert model.requests == []

# %% [markdown]
# A server from before this revision, and one that dies while it lists its tools, end in the same way.
# So nobody pays for a conversation about tools that are not there.

# %%
discovered = answered(supportedVersions=[PROTOCOL_VERSION], capabilities={"tools": {}})
for script in ([refused(-32601)], [discovered, TransportClosed("it ended")]):
    trace = Trace()
    try:
        await host(FakeTransport(script), model, trace)
    except McpError as error:
        print(f"{type(error).__name__}: {error}".replace(". ", ".\n  "))
assert model.requests == []

# %% [markdown]
# The last of them, drawn. There is no loop in it and no model, since neither has seen anything.

# %%
draw.sequence(trace)

# %% [markdown]
# The alternative would be to begin anyway, without tools or with dead ones. The model would call
# them, fail, call again. What the whole run depends on should fail before the run.

# %% [markdown]
# > **Beside the text.** The chapter's sketch lets `connect` start the child process. Ours does not
# > need to know that there is one: a transport starts what it needs at the first `send`. So `connect`
# > is the same over a pipe, a network and a list.

# %% [markdown]
# ## The same client on a real process
#
# Until now everything ran in here. One line changes, and the calendar is a process of its own.
# Connect, list, call: for a calendar that is enough.

# %% tags=["covers-minimal-client-slice"]
import sys

from mini_agent.mcp.stdio import StdioTransport

trace = Trace()
process = StdioTransport([sys.executable, "-m", "fake_servers.calendar"])
async with McpClient(process, server="calendar", trace=trace) as client:
    tools = await client.connect()
    result = await client.call("calendar_query", {"date": TUESDAY})
print(len(tools), "tools ·", result.content[0]["text"])
print(trace.table().splitlines()[-1])

# %% [markdown]
# ## The client does not know the loop
#
# We load the client in a fresh Python and look at what came along. Nothing of the loop: a test, a
# script or another agent can use this client as it is.

# %% tags=["covers-layer-client-knows-mcp"]
look = """
import sys, mini_agent.mcp.client
for name in ("agent", "calls", "model_client", "session", "approval", "types", "trace"):
    print(f"{name:<13}", "loaded" if f"mini_agent.{name}" in sys.modules else "-")
"""
fresh = await asyncio.create_subprocess_exec(
    sys.executable, "-c", look, stdout=asyncio.subprocess.PIPE
)
output, _ = await fresh.communicate()
print(*output.decode().splitlines(), sep="\n")

# %% [markdown]
# `types` holds the words that both sides use, and `trace` is where all of them report. The test of
# the other direction, a loop that knows no MCP, is in notebook 09.

# %% [markdown]
# ## Try it
#
# Give the server two tools of which one has no name. Take the `nextCursor` away, or let it come
# twice. Refuse the first request with -32022 and a list of your own. What does `connect` say each
# time?

# %%
first, second = answered(tools=[good], nextCursor=""), answered(tools=[bad])
script = [refused(-32022, supported=["2026-07-28"]), discovered, first, second]
client = McpClient(FakeTransport(script), server="calendar")
print([tool.name for tool in await client.connect()], client.left_out)
print([message["method"] for message in client.transport.sent])

# %% [markdown]
# ## What changed
#
# | name | what it does |
# |---|---|
# | `Exchange.request` | one request and its answer: id, `_meta`, version, deadline |
# | `Exchange._heard`, `_progressed` | what answers nothing: to the host, to the progress of a request, or dropped |
# | `Context` | server, method and tool on every error that passes |
# | `choose_version` | the best version of theirs that is also ours |
# | `every_page` | a whole list; `""` is a cursor, a repeated one is an error |
# | `until_complete`, `answers` | "not yet", answered by the host or raised as InputRequired |
# | `Cache` | a list is kept for as long as its server allows |
# | `McpClient` | connect, list, call, close |

# %% [markdown]
# ## Where the official SDK differs
#
# Its client falls back to the older handshake by itself; ours leaves that to a transport of its
# own, and knows nothing of it. There `list_tools` gives one page, and the caller walks. It caps
# rounds at ten as well. A broken output schema is a RuntimeError there, and an expired deadline an
# `MCPError` like any refusal; a host that must tell them apart compares codes.

# %% [markdown] taken="mini_agent.mcp.exchange"
# ## Taken from the modules without showing it
#
# Of `mini_agent.mcp.exchange`:
#
# | name | why |
# |---|---|
# | `Waiting` | a dataclass of three fields, imported: whom to tell, the deadline, how far it is |

# %% [markdown] taken="mini_agent.mcp.patience"
# Of `mini_agent.mcp.patience`:
#
# | name | why |
# |---|---|
# | `Alarm`, `innermost` | one timer, set to the earliest of many deadlines; whose deadline it is that runs now |
# | `Deadline`, with `Deadline.__init__`, `Deadline.__enter__` and `Deadline.expire` | the moment, the task, and the cancel |
# | `Deadline.extend`, `Deadline.stop`, `Deadline.go_on`, `clock_stopped` | how it moves: for progress, and while a person is asked |

# %% [markdown] taken="mini_agent.mcp.client"
# Of `mini_agent.mcp.client`:
#
# | name | why |
# |---|---|
# | `McpClient.server`, `McpClient.transport`, `McpClient.trace`, `McpClient.protocol_version`, `McpClient.server_info` | properties of one line each: they pass on what the exchange holds |
# | `McpClient.list_resources`, `McpClient.list_resource_templates`, `McpClient.read_resource`, `McpClient.list_prompts`, `McpClient.get_prompt` | other methods on the same parts; notebook 16 uses them |
# | `McpClient.listen` | being told of changes by the server, with a request that stays open |
# | `McpClient._envelope`, `McpClient._ask` | what HTTP mirrors into headers, and one more try when the headers did not match; notebook 05 |

# %% [markdown] taken="mini_agent.mcp.paging"
# Of `mini_agent.mcp.paging`:
#
# | name | why |
# |---|---|
# | `_StaleCursor` | an exception of this module alone, imported; it carries the server's refusal |

# %% [markdown] taken="mini_agent.mcp.rounds mini_agent.mcp.cache"
# Of `mini_agent.mcp.rounds` and `mini_agent.mcp.cache` nothing: you have seen all of it.

# %% [markdown]
# ## Exercises and next
#
# `exercises/06_client.ipynb` has 4 tasks, each with a check that answers:
#
# - **06.1** Twelve servers: how often are they asked? (warm-up, 10 minutes)
# - **06.2** Mend it: every page of a list (solid, 20 minutes)
# - **06.3** `connect_all`: several servers, and one is silent (solid, 20 minutes)
# - **06.4** `until_complete`, and a user who says: never mind (demanding, 30 minutes)
#
# And one without: a server answers twice, the second time with another result. 06.1 says which one
# counts. Find the line that decides.
#
# Next: **07, Where does a foreign tool become ours?** The client returns McpTool and CallResult. The
# loop knows neither.
