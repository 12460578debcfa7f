# %% [markdown]
# # 03 · What must any transport promise?
#
# At the end you hold the seam under the client, two methods wide, and a server that is a list. With
# it, a test of the client needs no process and no network. About 35 minutes if you know asyncio, 75
# if not. Who knows it skips sections 1 to 10 and begins at "What the client needs".

# %%
from __future__ import annotations

import asyncio

from mini_agent import draw

draw.layers(lit="transport")

# %% [markdown]
# ## Seven words
#
# | word | what it is here |
# |---|---|
# | transport | carries messages to one server and back, and does not read them |
# | seam | a place where one part can be swapped and its neighbours stay as they are |
# | `send` | a transport's method: it hands over one message and, for a request, waits for the response |
# | listener | the function that is told of every message which is no response |
# | envelope | what travels with a message and outside of it, such as HTTP headers |
# | script | what a server or a model will say in a test, written down in advance |
# | fake | a part that stands in for a real one in tests, such as a server that is a list |

# %% [markdown]
# ## Asyncio, in ten sections
#
# A transport waits, and others must be able to work meanwhile. Python's way to do that is asyncio.
# Ten short sections; enough for this notebook. The rest is explained where it is used.
#
# | word | what it is |
# |---|---|
# | coroutine | work that has not begun: what an `async def` function returns when it is called |
# | event loop | the part of asyncio that gives each piece of work its turn |
# | task | a coroutine that runs beside the code that started it |
# | future | a value that is not there yet: one side waits for it, another sets it |
# | cancel | to stop work at the point where it waits |

# %% [markdown]
# ### 1 · A coroutine is not running until awaited
#
# Calling an `async def` function does none of its work. It returns a coroutine: the work, not yet
# begun. The list below stays empty.

# %%
log = []


async def look_up(day):
    log.append(f"looked at {day}")
    return "free"


pending = look_up("Monday")
print(type(pending).__name__, log)

# %% [markdown]
# ### 2 · `await` runs it and takes its value
#
# The cell goes on when the coroutine has returned. Where the coroutine itself has to wait, others
# get a turn. Asyncio's own loop, the *event loop* (not our agent loop), hands out the turns. Jupyter
# runs one, so a cell may await.

# %%
answer = await pending
print(answer, log)

# %% [markdown]
# ### 3 · A task runs beside you
#
# `create_task` hands a coroutine to the event loop, which starts it when your own code next awaits.
# There is one thread, so two lines never run at the same moment.

# %%
log = []
task = asyncio.create_task(look_up("Tuesday"))
log.append("the cell, still going")
await task
print(log)

# %% [markdown]
# ### 4 · A future is a promise that somebody else keeps
#
# It is a value that is not there yet. One side awaits it. The other side sets the result, once. In
# a transport, whoever reads the pipe is that other side.

# %%
promise = asyncio.get_running_loop().create_future()
print(promise.done())
promise.set_result("free at 15:00")
print(await promise)

# %% [markdown]
# ### 5 · An event instead of sleeping
#
# "Wait a second, it will have started by then" is slow on a fast machine and wrong on a slow one.
# An event says that it has happened. `gather` runs several coroutines and waits for all.

# %%
arrived, log = asyncio.Event(), []


async def server():
    log.append("server: ready")
    await arrived.wait()
    log.append("server: answers")


async def client():
    log.append("client: sends")
    arrived.set()


await asyncio.gather(server(), client())
print(*log, sep="\n")

# %% [markdown]
# ### 6 · Two questions at once
#
# Each question leaves a future under its id. Here the second answer comes first, and each still
# finds who asked. A dict of futures is the heart of the transport in notebook 04.

# %%
waiting, both, log = {}, asyncio.Event(), []


async def ask(request_id):
    waiting[request_id] = asyncio.get_running_loop().create_future()
    if len(waiting) == 2:
        both.set()
    log.append(f"{request_id}: {await waiting[request_id]}")


asked = asyncio.gather(ask(1), ask(2))
await both.wait()
waiting[2].set_result("Tuesday is busy")
waiting[1].set_result("Monday is free")
await asked
print(*log, sep="\n")

# %% [markdown]
# ### 7 · Cancel
#
# `cancel()` raises CancelledError inside the task, at the `await` where it waits. The class is no
# `Exception`, so that an `except Exception` on the way does not swallow it by accident. `asyncio.wait`
# waits until the task has ended; `await task` would raise the CancelledError here, in the cell.

# %%
started = asyncio.Event()


async def wait_for_ever():
    started.set()
    await asyncio.Event().wait()  # nobody sets this one


task = asyncio.create_task(wait_for_ever())
await started.wait()
task.cancel()
await asyncio.wait([task])
print(task.cancelled(), issubclass(asyncio.CancelledError, Exception))

# %% [markdown]
# ### 8 · `finally` also runs on cancel
#
# A request that nobody waits for must not stay in the dict, or it grows for ever. `finally` clears
# it on every way out: a result, an exception, a cancel.

# %%
waiting, started = {}, asyncio.Event()


async def ask(request_id):
    waiting[request_id] = asyncio.get_running_loop().create_future()
    started.set()
    try:
        return await waiting[request_id]
    finally:
        del waiting[request_id]


# %%
task = asyncio.create_task(ask(3))
await started.wait()
print("waiting for:", list(waiting))
task.cancel()
await asyncio.wait([task])
print("waiting for:", list(waiting))

# %% [markdown]
# ### 9 · A deadline is a cancel with a clock
#
# `asyncio.timeout` cancels what stands inside it when the time is up, and raises TimeoutError at
# its edge. What is inside needs to know nothing of deadlines. It only must not resist a cancel.
# (`async with` is a `with` that may await on its way in and out.)

# %%
started.clear()
try:
    async with asyncio.timeout(0.01):
        await ask(4)
except TimeoutError as error:
    print(type(error).__name__, list(waiting))

# %% [markdown]
# ### 10 · Nothing may block the event loop
#
# Between two awaits nobody else runs: no reader, no deadline, no cancel. So never wait in any other
# way than by `await`: no `time.sleep`, no blocking network call.

# %%
log = []
task = asyncio.create_task(look_up("Wednesday"))
total = sum(n * n for n in range(100_000))  # works hard, awaits nothing
print("after the sum:  ", log)
await task
print("after the await:", log)

# %% [markdown]
# ## What the client needs
#
# One thing: give a message, get the response to it. The calendar of notebook 02 answers from this
# process. This asks it for the fifth of August, a day with nothing on it.

# %%
from fake_servers.calendar import calendar_server
from fake_servers.memory import InMemoryTransport
from mini_agent.mcp.messages import build_meta, build_notification, build_request

MONDAY, FREE_DAY = "2026-08-03", "2026-08-05"


def asking(day, request_id=1):
    params = {"name": "calendar_query", "arguments": {"date": day}}
    return build_request(request_id, "tools/call", params, meta=build_meta())


asking(FREE_DAY)

# %% [markdown]
# We send it as it is.

# %%
wire = InMemoryTransport(calendar_server())
response = await wire.send(asking(FREE_DAY))
response["result"]["structuredContent"]

# %% [markdown]
# ## The naive `send`: None when it did not work
#
# It looks kind: whoever calls it never has to write `try`. `carry` stands for whatever lies
# underneath, a pipe or a network.


# %%
class NaiveTransport:
    def __init__(self, carry):
        self.carry = carry

    async def send(self, message):
        try:
            return await self.carry(message)
        except OSError:
            return None


async def dead(message):
    raise BrokenPipeError("nobody reads the other end")


print(await NaiveTransport(dead).send(asking(MONDAY)))

# %% [markdown]
# And this is what gets written above it. None has to be handled somehow, and "somehow" is an empty
# dict.


# %%
async def naive_day(transport, day):
    response = await transport.send(asking(day)) or {}
    found = response.get("result", {}).get("structuredContent", {})
    return [appointment["title"] for appointment in found.get("appointments", [])]


for name, carry in {"alive": wire.send, "dead": dead}.items():
    for day in (MONDAY, FREE_DAY):
        print(f"{name:<6} {day} {await naive_day(NaiveTransport(carry), day)}")

# %% [markdown]
# A dead connection looks like an empty calendar. The agent tells the user that Monday is free, and
# no log line anywhere says otherwise. Every caller would have to remember to check, for ever.

# %% [markdown]
# ## Failure is an exception
#
# `return None` becomes `raise`. The transport also translates: a pipe breaks with BrokenPipeError, a
# network in its own ways, and the client hears TransportClosed either way, with the cause behind it.

# %%
from mini_agent.errors import TransportClosed


class HonestTransport(NaiveTransport):
    async def send(self, message):
        try:
            return await self.carry(message)
        except OSError as cause:
            raise TransportClosed("the pipe broke before the answer came") from cause


await naive_day(HonestTransport(wire.send), MONDAY)

# %% [markdown]
# The careless function above it is unchanged, and yet it no longer takes a dead connection for a free
# day.

# %% tags=["raises-exception"]
await naive_day(HonestTransport(dead), MONDAY)

# %% [markdown]
# ## The seam, small
#
# What the client needs, as a type. A Protocol says which members to have; who has them is a transport,
# and needs to inherit nothing. The calendar's wire is one. HonestTransport has no `close` yet.

# %%
from typing import Protocol, runtime_checkable


@runtime_checkable  # so that isinstance may look for the two methods
class SmallTransport(Protocol):
    async def send(self, message): ...
    async def close(self): ...


print(isinstance(wire, SmallTransport), isinstance(HonestTransport(dead), SmallTransport))

# %% [markdown]
# Two failures add the rest. One we have seen: the dead connection, so `send` must name the exceptions
# that it raises. The other comes under `kind`: a message that answers nobody, taken for the answer.

# %% [markdown]
# ## A refusal is not a failure
#
# We ask for a tool that the calendar does not have. The server says no, and `send` returns. For the
# transport it was a message like any other: bytes that arrived and were whole.

# %% tags=["covers-layer-transport-knows-messages"]
unknown = build_request(2, "tools/call", {"name": "calendar_paint"}, meta=build_meta())
print(await wire.send(unknown))

# %% [markdown]
# What a message means is the client's to say, so the transport passes it on. Our careless function looks
# at no error, and reads the refusal as a free day.


# %%
async def refused(message):
    return await wire.send(unknown)


print(await naive_day(HonestTransport(refused), MONDAY))

# %% [markdown]
# That is the caller's mistake; the client of notebook 06 does not make it. A connection error out of
# `send` always means that no answer came, or none that can be read.

# %% [markdown]
# ## `kind`
#
# A server also speaks unasked: "half done", "my tools changed". Here such a message comes before the
# answer, and a transport that returns whatever comes next hands it over. Free again.

# %%
progress = build_notification("notifications/progress", {"progressToken": 1, "progress": 0.5})


async def whatever_comes_next(message):
    return progress


print(await naive_day(HonestTransport(whatever_comes_next), MONDAY))

# %% [markdown]
# This one is the transport's mistake. It does not read messages, but it must tell which of them is an
# answer: a message with a `method` never is. Before that, what the package's code below imports.

# %%
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, TypeAlias

from mini_agent.mcp.messages import check_message
from mini_agent.trace import Trace
from mini_agent.types import JsonObject
from mini_agent.workbook import part_of

# %% include mini_agent.mcp.messages.kind
for message in (asking(MONDAY), progress, response):
    print(kind(message))

# %% [markdown]
# ## `OneListener`
#
# What is no response goes to the listener. Every transport of the kit keeps that attribute in the
# same way, so it has a small class of its own. It takes one owner and no second.

# %% include mini_agent.mcp.transport.Listener NO_ENVELOPE OneListener(listener)
line, heard = OneListener(), []
line.listener = heard.append
line.listener = heard.append  # the same one again is no second owner
print(line.listener == heard.append)

# %% [markdown]
# A second owner is refused at once. Every client counts its requests from 1, and two on one wire would
# both wait for "the answer to 1".

# %% tags=["raises-exception"]
line.listener = print

# %% [markdown]
# `hear` is what a transport calls when such a message comes in. `note` writes to the client's trace.
# `@part_of` adds the function below it to the class, so that a class can be shown method by method; in
# the package they stand inside it.

# %% include mini_agent.mcp.transport.OneListener.hear OneListener.note
line.trace = Trace()
line.hear(progress)
print(heard == [progress])
print(line.trace.table())

# %% [markdown]
# ## `McpTransport`
#
# Now the whole seam, as the package has it: the two methods, the exceptions, the listener. Of the two
# members that are new, `trace` is lent by the client, and `mirrors_envelope` gets a section below.

# %%
import inspect

from mini_agent.mcp.transport import McpTransport, closed_error

print(inspect.getsource(McpTransport))

# %% [markdown]
# `trace` promises nothing. The other four members make five promises, two of them in `send`.
#
# | promise | without it |
# |---|---|
# | `send` returns the response to this request, or raises one of those classes | a dead connection looks like an empty calendar |
# | cancelling `send` is the cancel | the server goes on working for nobody |
# | `listener` hears all the rest before that `send` returns | progress arrives after the result |
# | `mirrors_envelope` says whether headers travel | the client would have to ask which transport it has |
# | `close` works twice and from any task | two ways out of a program get in each other's way |

# %% [markdown]
# Not among them: success. The seam is designed for the worst of its implementations. A caller that
# is ready for a cut network stream is also ready for a pipe, and for a list.
#
# Specification: basic/transports, which messages a binding must deliver, and in which direction.

# %% [markdown]
# > **Beside the text.** The book chapter this kit grew from lets `send` return a value of unknown
# > type. We name the types and the exceptions. We add the listener, since one returned value cannot be
# > an answer and its progress, and the envelope, which HTTP needs.

# %% [markdown]
# ## A server that is a list
#
# To test a client we need no server. We need what a server would say. The smallest fake hands out
# the next item of a list.


# %%
class TinyFake:
    def __init__(self, script):
        self.script = iter(script)

    async def send(self, message):
        return next(self.script)


tiny = TinyFake([{"jsonrpc": "2.0", "id": 1, "result": {"tools": []}}])
await tiny.send(build_request(1, "tools/list", meta=build_meta()))

# %% [markdown]
# It works, until a test asks once more than the script foresaw. Then Python says this.

# %% tags=["raises-exception"]
await tiny.send(build_request(2, "tools/list", meta=build_meta()))

# %% [markdown]
# True, and no help: which request was it, and what is missing? It also cannot fail on purpose,
# cannot notify, and wants every id written by hand.

# %% [markdown]
# ## `FakeTransport`
#
# The package's fake, method by method. It begins with a script and remembers what was sent.

# %% include mini_agent.mcp.transport.FakeTransport(__init__)
fake = FakeTransport([])
print(fake.sent, fake.closed, fake.mirrors_envelope)

# %% [markdown]
# ### `send`
#
# A notification is remembered and nothing comes back. A request takes the next item. When there is
# none, the error says which request it was and what to do.

# %% include mini_agent.mcp.transport.FakeTransport.send
print(await fake.send(build_notification("notifications/cancelled", {"requestId": 1})))

# %% tags=["raises-exception"]
await FakeTransport([]).send(asking(MONDAY))

# %% [markdown]
# It is an AssertionError and no McpError. The script is the test's mistake, so it must not look
# like a failure of the connection, which the code under test may handle.

# %% [markdown]
# ### `_answer`
#
# An item of the script is one of four things: a response, an exception, a function of the request,
# or a list with notifications before the response.

# %% include mini_agent.mcp.transport.FakeTransport._answer
fake = FakeTransport([{"result": {"resultType": "complete"}}])
await fake.send(asking(MONDAY, request_id=7))

# %% [markdown]
# The id is filled in from the request. A function sees the request, so it can answer by what was
# asked.


# %%
def echo(request):
    return {"result": {"you asked for": request["params"]["arguments"]}}


await FakeTransport([echo]).send(asking(MONDAY, request_id=8))

# %% [markdown]
# An exception is raised. This one line stands for a process that dies before it answers, and no
# process had to be found that does it on demand.

# %% tags=["raises-exception"]
await FakeTransport([TransportClosed("the process ended")]).send(asking(MONDAY))

# %% [markdown]
# And a list: first the notifications, then the response. The listener has heard everything by the
# time `send` returns.

# %%
fake, order = FakeTransport([[progress, {"result": {}}]]), []
fake.listener = lambda message: order.append(message["method"])
order.append(kind(await fake.send(asking(MONDAY))))
print(order)

# %% [markdown]
# ### `close`
#
# There is nothing to let go of, so the fake only remembers that it was asked. After that its `send`
# refuses, as a real one does.

# %% include mini_agent.mcp.transport.FakeTransport.close
await fake.close()
await fake.close()
print(fake.closed)

# %% tags=["raises-exception"]
await fake.send(asking(MONDAY))

# %% [markdown]
# ## The client on a script
#
# McpClient is notebook 06. Here it is the one who asks. To connect, it asks what the server speaks,
# then which tools it has: two items of a script. The third answers a call.

# %%
from mini_agent.mcp.client import McpClient
from mini_agent.mcp.messages import PROTOCOL_VERSION


def answered(**result):
    return {"result": {"resultType": "complete", **result}}


DISCOVERED = answered(supportedVersions=[PROTOCOL_VERSION], capabilities={"tools": {}})
LISTED = answered(tools=[{"name": "calendar_query", "inputSchema": {"type": "object"}}])
SAID = answered(content=[{"type": "text", "text": "Nothing on that day."}])
DISCOVERED

# %%
fake = FakeTransport([DISCOVERED, LISTED, SAID])
client = McpClient(fake, server="calendar")
tools = await client.connect()
result = await client.call("calendar_query", {"date": FREE_DAY})
print([tool.name for tool in tools], result.content)

# %% [markdown]
# `parse_tools` alone, without transport or client, gives the same tools from `LISTED`; `left_out` says
# which it refused. Parsing is pure and the transport is handed in: that is why a fake is enough.

# %% tags=["covers-parsing-pure-transport-injected"]
from mini_agent.mcp.shapes import parse_tools

found, left_out = parse_tools(LISTED["result"]["tools"])
assert found == tools
print("left out:", left_out)

# %% [markdown]
# Whatever the client said is in `sent`. So a test can also look at what would have gone over the
# wire.

# %%
for message in fake.sent:
    print(message["id"], message["method"], message["params"].get("arguments", ""))

# %% [markdown]
# ## A notification before the response
#
# The server says that its tools changed, then answers. The client passes the first to
# `on_notification` and returns the second. Neither is mistaken for the other.

# %%
order = []
changed = build_notification("notifications/tools/list_changed", {})
client = McpClient(
    FakeTransport([[changed, SAID]]),
    on_notification=lambda message: order.append(message["method"]),
)
result = await client.call("calendar_query", {"date": FREE_DAY})
print([*order, result.content[0]["text"]])

# %% [markdown]
# ## One transport serves one client
#
# A client sets the listener as soon as it is made, so a second client on the same wire gets no further.
# A ValueError stands outside the tree of connection errors: this is our own mistake.

# %% tags=["raises-exception"]
McpClient(fake, server="at home")

# %% [markdown]
# ## Cancelling `send` is the cancel
#
# There is no `cancel(id)` in the seam. Whoever stops waiting cancels the task, and the transport
# tells the server in its own way. We need a server that is slow, and says so by events.

# %%
from dataclasses import replace


def calendar_whose_query(run):
    server = calendar_server()
    server.tools[0] = replace(server.tools[0], run=run)
    return InMemoryTransport(server)


reached, stopped = asyncio.Event(), asyncio.Event()


async def never_answers(arguments, context):
    reached.set()
    try:
        await asyncio.Event().wait()
    finally:
        stopped.set()


# %% [markdown]
# Now we call, wait until the server is at work, and cancel. Then we wait for the server to have
# stopped. If the cancel did not reach it, this cell would never end.

# %%
trace, wire = Trace(), calendar_whose_query(never_answers)
async with McpClient(wire, server="calendar", trace=trace) as client:
    task = asyncio.create_task(client.call("calendar_query", {"date": MONDAY}))
    await reached.wait()
    task.cancel()
    await stopped.wait()
print(trace.table())

# %% [markdown]
# On this wire the cancel is a notification. Over HTTP it is closing the response stream, and no
# message at all. The client does the same in both cases, and so does a deadline.
#
# Specification: basic/patterns/cancellation.

# %% [markdown]
# ## `close`: requests in flight fail
#
# Nobody may be left waiting. What is under way when the transport closes ends with an exception. A
# second `close` finds nothing to do and does not complain.

# %% tags=["raises-exception"]
reached.clear()
wire = calendar_whose_query(never_answers)
task = asyncio.create_task(wire.send(asking(MONDAY)))
await reached.wait()
await wire.close()
await wire.close()
await task

# %% [markdown]
# ## `mirrors_envelope`
#
# A server behind HTTP may want an argument in a header too, so that a proxy can route by it. Its
# schema says so. The client fills the envelope only for a transport that has one.


# %%
class FakeWithHeaders(FakeTransport):
    mirrors_envelope = True

    async def send(self, message, *, envelope=NO_ENVELOPE):
        print(message["method"], dict(envelope))
        return await super().send(message)


# %%
region = {"type": "string", "x-mcp-header": "Region"}
schema = {"type": "object", "properties": {"region": region}}
script = [answered(tools=[{"name": "offices", "inputSchema": schema}]), SAID]
client = McpClient(FakeWithHeaders(script))
await client.list_tools()
result = await client.call("offices", {"region": "north"})

# %% [markdown]
# The body holds the region as well, and stays the source of truth. On a plain FakeTransport the
# envelope is empty and nothing else differs.
#
# Specification: basic/transports, "Request Metadata".

# %% [markdown]
# ## Whose fault, and who says so
#
# A transport that may only fail by exception needs good exceptions. This is the tree, as
# `mini_agent.errors` draws it in its own docstring.

# %%
from mini_agent import errors

print(errors.__doc__.split("\n\n")[1])

# %% [markdown]
# A host decides by two attributes and never by the text: whose fault it is, and whether the server
# may have acted. We make one of each and ask.

# %%
one_of_each = [
    errors.ConnectFailed("…"),
    errors.TransportClosed("…"),
    errors.HttpStatusError("…", status=404),
    errors.HttpStatusError("…", status=502),
    errors.AuthorizationError("…", status=401),
    errors.MalformedMessage("…"),
    errors.RequestTimeout("…", seconds=30),
    errors.JsonRpcError(-32602, "…"),
    errors.JsonRpcError(-32603, "…"),
    errors.UnsupportedProtocolVersion(-32022, "…"),
    errors.MissingClientCapability(-32021, "…"),
    errors.HeaderMismatch(-32020, "…"),
    errors.InputRequired("…"),
]

# %% [markdown]
# Who raises it is written in the seam itself: what the docstring of `send` names comes from the
# transport. The rest is the client's. The number is an HTTP status or a JSON-RPC code.

# %%
promised = inspect.getdoc(McpTransport.send)
print(f"{'raised by':<10} {'class':<26} {'number':<7} {'acted?':<6} fault")
for error in one_of_each:
    name = type(error).__name__
    who = "transport" if name in promised else "client"
    number = getattr(error, "status", getattr(error, "code", ""))
    acted = "maybe" if error.may_have_acted else "no"
    print(f"{who:<10} {name:<26} {number:<7} {acted:<6} {error.fault}")

# %% [markdown]
# "maybe" decides about trying again. A query may be repeated. A booking that perhaps happened must
# not be, unless somebody looks first. Some codes mean "refused before acting"; -32603, an internal
# error, does not. (MalformedMessage has two sources: the transport judges bytes, the client what they
# say.)

# %% [markdown]
# The client above passes each on as the same object. Nothing between here and the caller of the
# agent may turn one into "no result".

# %% tags=["covers-send-may-fail"]
for failure in one_of_each[:6]:
    client = McpClient(FakeTransport([failure]), server="calendar")
    try:
        await client.call("calendar_query", {"date": MONDAY})
    except errors.McpError as error:
        print(type(error).__name__, error is failure)

# %% [markdown]
# > **Beside the text.** The chapter says once that a crashed process should be treated like a
# > failing `bash` command, as a result with `isError`. Everywhere else it says the opposite, and we
# > follow that: given as a result, the model would happily retry a connection that is dead.

# %% [markdown]
# ## A test with no process and no network
#
# Two tests of the client. Each takes its transport as an argument, and neither asks what kind it
# is. First: connecting lists the tools.


# %% tags=["covers-fake-messages-to-catalogue"]
async def test_connect_lists_the_tools(transport):
    async with McpClient(transport, server="calendar") as client:
        tools = await client.connect()
        assert "calendar_query" in [tool.name for tool in tools]
        assert client.protocol_version == PROTOCOL_VERSION


await test_connect_lists_the_tools(FakeTransport([DISCOVERED, LISTED]))
print("passed")

# %% [markdown]
# Second: the transport breaks in the middle of a call. The caller gets TransportClosed, and it says
# which server, which method, which tool. The transport knows none of these; the client adds them.


# %% tags=["covers-fake-transport-needs-nothing"]
async def test_a_break_mid_call_reaches_the_caller(transport, trace=None):
    async with McpClient(transport, server="calendar", trace=trace) as client:
        await client.connect()
        try:
            await client.call("calendar_query", {"date": MONDAY})
        except TransportClosed as error:
            where = (error.server, error.method, error.tool)
            assert where == ("calendar", "tools/call", "calendar_query")
            assert error.may_have_acted
            return str(error)
        raise AssertionError("the break was swallowed")


trace = Trace()
broken = FakeTransport([DISCOVERED, LISTED, TransportClosed("it broke before the answer")])
print(await test_a_break_mid_call_reaches_the_caller(broken, trace))

# %% [markdown]
# A test that cannot fail proves nothing. On a script in which nothing breaks, this one must turn
# red.

# %% tags=["raises-exception"]
await test_a_break_mid_call_reaches_the_caller(FakeTransport([DISCOVERED, LISTED, SAID]))

# %% [markdown]
# ## The broken call, drawn
#
# The trace of the test that passed. The error began in the transport and left the client as it was,
# with three facts more. No loop ran here, so the test itself is the caller. With one, the model would
# see a marker only.

# %%
draw.chain(trace)

# %% [markdown]
# ## The same tests on a real server
#
# The calendar with its whole machinery, in this process. For the second test its query tool ends its
# own connection while it works.


# %% tags=["covers-transport-is-replaceable"]
def calendar_that_breaks():
    async def ends_while_it_works(arguments, context):
        wire.end(lambda: TransportClosed("it broke before the answer"))
        await asyncio.Event().wait()

    wire = calendar_whose_query(ends_while_it_works)
    return wire


await test_connect_lists_the_tools(InMemoryTransport(calendar_server()))
print(await test_a_break_mid_call_reaches_the_caller(calendar_that_breaks()))

# %% [markdown]
# Both pass, and the second says the same sentence, word for word. The client cannot tell. Nothing in
# it asks what carries its messages, so what we prove on a list holds on a wire.

# %% [markdown]
# The same idea comes back on the other side of the loop. A model's answer is a stream of events. In
# notebook 08 we record them, feed them to a pure function, and need neither key nor network.

# %% [markdown]
# ## Try it
#
# Move the exception to another place in the script, or take another class from the tree. Which
# method does the error name? And which tool, when it happens in `connect`?

# %%
script = [DISCOVERED, TransportClosed("the pipe broke"), SAID]
client = McpClient(FakeTransport(script), server="calendar")
try:
    await client.connect()
    await client.call("calendar_query", {"date": MONDAY})
except errors.McpError as error:
    print(type(error).__name__, "·", error.method, "·", error.tool or "no tool")

# %% [markdown]
# ## What changed
#
# | name | what it does |
# |---|---|
# | `McpTransport` | the seam: `send`, `close`, a listener, and whether headers travel |
# | `OneListener` | keeps the listener of one client, refuses a second |
# | `FakeTransport` | a server that is a list: responses, exceptions, functions, notifications |
# | `kind` | response, request or notification |
# | `mini_agent.errors` | each class says whose fault, and whether the server may have acted |

# %% [markdown]
# ## Where the official SDK differs
#
# The SDK's seam is a pair of message streams, one in and one out. A pipe is that already. HTTP is not:
# it is a request and its response, so headers ride on each message as a side note, a cancel is a
# message that the transport must catch and swallow, and an HTTP status comes back dressed as a
# JSON-RPC error. With one `send` for each request, the response, the cancel and the failure are
# where they belong.

# %% [markdown] taken="mini_agent.mcp.transport"
# ## Taken from the module without showing it
#
# | name | why |
# |---|---|
# | `McpTransport` | printed above, and imported: a Protocol has no code to run |
# | `OneLoop` | for transports that hold a pipe or a connection: refuses a send from another event loop than that of the first |
# | `closed_error` | the `TransportClosed` of every transport after `close` |

# %% [markdown]
# ## Exercises and next
#
# `exercises/03_transport.ipynb` has 3 tasks, each with a check that answers:
#
# - **03.1** Three calls on paper (warm-up, 8 minutes)
# - **03.2** `Recording`: a transport around any other (solid, 20 minutes)
# - **03.3** The test that a break must pass (demanding, 25 minutes)
#
# And one without: write two more tests on a script, for a connection that is refused and for a tool
# that answers `isError: true`. Say first what each must assert. One of them has no exception. Your
# own design notes (19) need these two and the break above.
#
# Next: **04, What can a child process do to me?** A transport that is a real process, and everything
# that one does wrong.
