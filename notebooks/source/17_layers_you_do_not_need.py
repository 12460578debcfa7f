# %% [markdown]
# # 17 · Which failure needs this layer?
#
# At the end you hold four small protocol stacks, a count of what each of them notices, and one
# question to ask of a layer before you build it. About 45 minutes.

# %%
from __future__ import annotations

from mini_agent import draw

draw.layers(lit="transport")

# %% [markdown]
# ## Ten words
#
# | word | what it is here |
# |---|---|
# | layer | a part that speaks only with the part above it and the part below it |
# | schema | the rule that says what a message must hold |
# | JSON lines | one JSON value on each line |
# | CBOR | a binary form for the values of JSON, and for some more |
# | frame | a message as bytes, with its length in front and often a checksum |
# | checksum | a number made of a message's bytes; from other bytes comes another number |
# | bit flip | one bit of a byte arrives as 1 and was sent as 0, or the other way round |
# | handshake | an exchange before the first request, in which both sides agree on something |
# | snapshot | the whole state, sent once; after it, only changes are sent |
# | heartbeat | a sign of life while nothing else is said |

# %% [markdown]
# ## A stack that somebody else needs
#
# The chapter behind this notebook looks at pi-mono, another project with an agent in it. Its server may
# run on another machine, and so it has a protocol of its own. The layers of that one:
#
# | layer of pi-mono | what it adds |
# |---|---|
# | schema | which messages there are, and what is in each |
# | CBOR | bytes instead of text |
# | frame | where a message ends, and whether it is still the one that was sent |
# | transport | the bytes go out and come in |
# | handshake, snapshots | both sides hold the same state |

# %% [markdown]
# More layers look safer. The chapter has a better test: **without this layer, which failure could you
# not describe?** We build all of them, small enough to measure, and ask.
#
# What follows is made after the chapter's description. None of it is pi-mono's code.

# %% [markdown]
# ## The same messages for everybody
#
# First some real traffic. A client connects, looks at a day, books an hour on another and looks at
# that one. `some_traffic` does it over any transport.

# %%
from fake_servers.calendar import calendar_server
from fake_servers.memory import InMemoryTransport
from mini_agent.mcp.client import McpClient

TUESDAY, FREE_DAY = "2026-08-04", "2026-08-05"
LUNCH = {"title": "Lunch", "start": f"{FREE_DAY}T12:00", "end": f"{FREE_DAY}T13:00"}


async def some_traffic(transport):
    named = {"name": "notebook", "version": "1"}
    async with McpClient(transport, server="calendar", client_info=named) as client:
        await client.connect()
        await client.call("calendar_query", {"date": TUESDAY})
        await client.call("calendar_create", LUNCH)
        return await client.call("calendar_query", {"date": FREE_DAY})


# %%
wire = InMemoryTransport(calendar_server())
print((await some_traffic(wire)).content[0]["text"])
messages = [message for _, message in wire.transcript]
print(len(messages), "messages")

# %% [markdown]
# Two of the answers are needed again and again: what is on Tuesday (request 3), and what is on the day
# of the lunch (request 5).

# %%
question, tuesday = [message for message in messages if message["id"] == 3]
_, lunch = [message for message in messages if message["id"] == 5]
print(tuesday["result"]["content"][0]["text"])

# %% [markdown]
# ## JSON lines
#
# What StdioTransport does. Every part of it was built in notebooks 02 and 04: `encode` and a line feed
# to pack, LineSplitter and `decode` to unpack.

# %%
from mini_agent.mcp.lines import LineSplitter
from mini_agent.mcp.messages import check_message, decode, encode, kind


def json_line(message):
    return encode(message) + b"\n"


json_line(question)[:64]

# %%
splitter = LineSplitter()
raw = b"".join(map(json_line, messages))
assert [decode(line) for line in splitter.feed(raw)] == messages
print(f"{len(messages)} messages, {len(raw):,} bytes, and back")

# %% [markdown]
# ## CBOR: the same values in binary
#
# No quotes, no commas, no digits in decimal: each value says its kind and its length, then comes the
# value. The package `cbor2` is here for this notebook; nothing in mini_agent imports it.

# %%
import cbor2

small = {"id": 3, "free": True}
for packed in (encode(small), cbor2.dumps(small)):
    print(len(packed), packed)

# %% [markdown]
# ### What it can say and JSON cannot
#
# Bytes, for example. In JSON an image must be text, and base64 makes it a third longer.

# %%
import base64

image = bytes(range(256)) * 40
as_text = {"data": base64.b64encode(image).decode()}
print(f"JSON, base64: {len(encode(as_text)):,}")
print(f"CBOR, base64: {len(cbor2.dumps(as_text)):,}")
print(f"CBOR, bytes:  {len(cbor2.dumps({'data': image})):,}")

# %% [markdown]
# An MCP image is base64 in a JSON message, in whatever it is wrapped. To win that third, the messages
# themselves would have to be others.
#
# Specification: basic/transports/index, "Messages": JSON-RPC in UTF-8.

# %% [markdown]
# ### `cbor_message`: who can say more must check more
#
# A key that is bytes, a date, a number in place of a key: good CBOR, and none of it is a message. So
# reading takes one check more than `decode` has.

# %%
import json

from mini_agent.errors import MalformedMessage, McpError, TransportClosed


def cbor_message(raw):
    try:
        value = cbor2.loads(raw)
        json.dumps(value)
    except (cbor2.CBORDecodeError, TypeError, ValueError) as cause:
        raise MalformedMessage("this CBOR holds no message") from cause
    return check_message(value)


assert cbor_message(cbor2.dumps(tuesday)) == tuesday

# %%
try:
    cbor_message(cbor2.dumps({b"id": 3}))
except MalformedMessage as error:
    print("refused:", error)

# %% [markdown]
# ### `Items`: where does one end?
#
# A CBOR value knows its own length. So a stream of them can be taken apart without any mark between
# them: read one, see how far we got.

# %%
import io


def item_size(raw):
    reader = io.BytesIO(raw)
    try:
        cbor2.CBORDecoder(reader, read_size=1).decode()
    except cbor2.CBORDecodeEOF:
        return 0  # not all of it is here yet
    except cbor2.CBORDecodeError as cause:
        raise MalformedMessage("this is no CBOR") from cause
    return reader.tell()


# %%
class Items:
    def __init__(self):
        self.rest = b""

    def feed(self, chunk):
        self.rest += chunk
        while size := item_size(self.rest):
            item, self.rest = self.rest[:size], self.rest[size:]
            yield item


items = Items()
print(list(items.feed(cbor2.dumps("one") + cbor2.dumps("two")[:2])), items.rest)

# %% [markdown]
# ## `frame`: a length, a checksum, the bytes
#
# Four bytes say how long the message is, four more are its checksum, CRC-32. The reader computes the
# number again and compares.

# %%
import struct
import zlib

HEADER, MOST = struct.Struct(">II"), 2**20


def frame(payload):
    return HEADER.pack(len(payload), zlib.crc32(payload)) + payload


frame(b"hello")

# %% [markdown]
# ### `Frames`: and back
#
# Like LineSplitter it keeps what is not complete. It refuses a frame that claims more than a megabyte:
# somebody has to doubt the length.


# %%
class Frames:
    def __init__(self):
        self.rest = b""

    def feed(self, chunk):
        self.rest += chunk
        while len(self.rest) >= HEADER.size:
            size, checksum = HEADER.unpack_from(self.rest)
            if size > MOST:
                raise MalformedMessage(f"a frame of {size:,} bytes")
            if len(self.rest) < (end := HEADER.size + size):
                return
            payload, self.rest = self.rest[HEADER.size : end], self.rest[end:]
            if zlib.crc32(payload) != checksum:
                raise MalformedMessage("the checksum does not fit")
            yield payload


# %%
frames = Frames()
print(list(frames.feed(frame(b"hello") + frame(b"you")[:9])), frames.rest)

# %% tags=["raises-exception"]
list(Frames().feed(frame(b"hello").replace(b"e", b"a")))

# %% [markdown]
# ## Four stacks
#
# A stack is three functions: pack a message, split what comes, load a piece. Each format stands alone
# and in frames, so that we see which of the two did what.

# %%
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Stack:
    pack: Callable
    splitter: Callable
    load: Callable


STACKS = {
    "JSON lines": Stack(json_line, LineSplitter, decode),
    "JSON in frames": Stack(lambda message: frame(encode(message)), Frames, decode),
    "CBOR": Stack(cbor2.dumps, Items, cbor_message),
    "CBOR in frames": Stack(lambda message: frame(cbor2.dumps(message)), Frames, cbor_message),
}
print(*STACKS, sep=", ")


# %%
def unpacked(stack, *chunks):
    splitter = stack.splitter()
    return [stack.load(piece) for chunk in chunks for piece in splitter.feed(chunk)]


def cut_up(raw, size):
    return [raw[start : start + size] for start in range(0, len(raw), size)]


cut_up(b"hello you", 4)

# %%
for name, stack in STACKS.items():
    raw = b"".join(map(stack.pack, messages))
    assert unpacked(stack, raw) == unpacked(stack, *cut_up(raw, 61)) == messages
    print(f"{name:<15} {len(raw):>6,} bytes, and back")

# %% [markdown]
# ### Sizes, message by message
#
# All exact. `in_brief` names the message.

# %%
from mini_agent.trace import in_brief

print(f"{'bytes':<36}", *[f"{name:>15}" for name in STACKS])
for message in messages:
    sizes = [len(stack.pack(message)) for stack in STACKS.values()]
    print(f"{in_brief(message):<36}", *[f"{size:>15,}" for size in sizes])

# %%
sizes = {name: sum(len(s.pack(m)) for m in messages) for name, s in STACKS.items()}
draw.bars(sizes, "bytes for all ten messages", lit="JSON lines")

# %% [markdown]
# CBOR is almost a fifth shorter, and a frame costs eight bytes where a line feed costs one. That is a
# saving, and no failure. The longest message is the list of tools, which is asked for once.

# %% [markdown]
# ## `PipeTransport`: over the same pipe
#
# One transport for all stacks. It does what an McpTransport must and no more: no restart, one request
# at a time. It counts what it carries.

# %%
import asyncio
from asyncio.subprocess import DEVNULL, PIPE

from mini_agent.mcp.transport import NO_ENVELOPE, OneListener
from mini_agent.workbook import part_of


class PipeTransport(OneListener):
    mirrors_envelope = False

    def __init__(self, command, stack):
        self.command, self.stack, self.splitter = command, stack, stack.splitter()
        self.child, self.carried = None, 0

    async def close(self):
        child, self.child = self.child, None
        if child is not None:
            child.stdin.close()
            await child.communicate()


print(PipeTransport(["calendar"], STACKS["CBOR"]).carried)


# %%
@part_of(PipeTransport)
async def send(self, message, *, envelope=NO_ENVELOPE):
    self.child = self.child or await asyncio.create_subprocess_exec(
        *self.command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL
    )
    raw = self.stack.pack(message)
    self.carried += len(raw)
    self.child.stdin.write(raw)
    self.note("sent", message=message)
    return await self.answer() if kind(message) == "request" else None


# %%
@part_of(PipeTransport)
async def answer(self):
    while chunk := await self.child.stdout.read(65536):
        self.carried += len(chunk)
        for piece in self.splitter.feed(chunk):
            response = self.stack.load(piece)
            self.note("received", message=response)
            return response
    raise TransportClosed("the process ended")


# %% [markdown]
# On the other side the calendar, twice. As it is, it speaks JSON lines. The second program is the same
# server behind frames of CBOR.

# %%
import sys

BEHIND_FRAMES = """
import asyncio, os, struct, sys, zlib, cbor2
from fake_servers.calendar import calendar_server
async def serve(server, read):
    while header := read(8):
        size, checksum = struct.unpack(">II", header)
        async for said in server.handle(cbor2.loads(read(size))):
            raw = cbor2.dumps(said)
            os.write(1, struct.pack(">II", len(raw), zlib.crc32(raw)) + raw)
asyncio.run(serve(calendar_server(), sys.stdin.buffer.read))
"""
CALENDARS = {
    "JSON lines": [sys.executable, "-m", "fake_servers.calendar"],
    "CBOR in frames": [sys.executable, "-c", BEHIND_FRAMES],
}
print(*CALENDARS, sep=" · ")

# %% tags=["covers-stack-transport"]
for name, command in CALENDARS.items():
    pipe = PipeTransport(command, STACKS[name])
    day = await some_traffic(pipe)
    assert pipe.carried == sizes[name]
    print(f"{name:<15} {pipe.carried:>6,} bytes · {day.content[0]['text'].splitlines()[-1]}")

# %% [markdown]
# The same client, not a line of it changed, and to the byte the sizes of above. What lies under `send`
# is nobody's business above it.

# %% [markdown]
# ### The question, for the transport
#
# Without it, which failure could you not describe? This one: nobody is there any more. No message says
# so, in any format, since a process that has ended says nothing.

# %% tags=["covers-stack-transport"]
for name, stack in STACKS.items():
    pipe = PipeTransport([sys.executable, "-c", "import sys; sys.stdin.read(1)"], stack)
    try:
        await some_traffic(pipe)
    except TransportClosed as error:
        print(f"{name:<15} {type(error).__name__}: {error.message}")

# %% [markdown]
# So this layer stays, as McpTransport. For the others we need faults.

# %% [markdown]
# ## A byte flipped
#
# `flipped` turns one bit round. Of the byte `1` in "10:00" it is the last one, and so a `0` arrives.


# %%
def flipped(raw, place, bit=0):
    return raw[:place] + bytes([raw[place] ^ 1 << bit]) + raw[place + 1 :]


flipped(b"10:00", 0)

# %%
for name, stack in STACKS.items():
    raw = stack.pack(tuesday)
    try:
        [got] = unpacked(stack, flipped(raw, raw.index(b"10:00")))
        print(f"{name:<15} {got['result']['content'][0]['text'].splitlines()[-1]}")
    except MalformedMessage as error:
        print(f"{name:<15} refused: {error}")

# %% [markdown]
# A meeting at midnight, and nothing wrong with the message. In frames it is refused, whatever the
# format inside.

# %% [markdown]
# ### The schema, and what it catches
#
# A message can be whole and still make no sense. Then the client's own schema refuses it: that is
# `parse_response` and `parse_call_result`, with the tool's output schema. Three results, each whole.

# %%
from mini_agent.mcp.messages import parse_response
from mini_agent.mcp.shapes import parse_call_result, parse_tools

[listed] = [m["result"]["tools"] for m in messages if "tools" in m.get("result", {})]
query = next(tool for tool in parse_tools(listed)[0] if tool.name == "calendar_query")
print(query.name, "promises", *query.output_schema["properties"])


# %%
def fault(message):
    try:
        parse_call_result(parse_response(message), query)
    except McpError as error:
        return error.message
    return ""


print(fault(tuesday) or "nothing is wrong with it")

# %% tags=["covers-stack-schema"]
import textwrap

for field, value in {"content": "free", "isError": "no", "structuredContent": {}}.items():
    senseless = {**tuesday, "result": {**tuesday["result"], field: value}}
    print(textwrap.fill(f"{field:<18} {fault(senseless)}", 100, subsequent_indent=" " * 19))

# %% [markdown]
# Without a schema, which failure could you not describe? "The answer is whole, and it is no answer to
# this." Our client has one for what it reads: the catalogue, calls and results. It needs no more: what
# nobody reads need not be checked.

# %% [markdown]
# ### Every bit flip, once
#
# Now we need not choose. The answer about Tuesday has three to four thousand bits. We flip each, one at a
# time, with the answer about lunch right behind it. Then: who noticed?
#
# "Answers nobody" is a changed id: nobody takes the answer, and the caller's deadline ends the wait.


# %%
def verdict(stack, raw):
    splitter = stack.splitter()
    try:
        got = [stack.load(piece) for piece in splitter.feed(raw)]
    except MalformedMessage:
        return "refused by the stack"
    if splitter.rest and got == [tuesday, lunch][: len(got)]:
        return "waits for more"
    if not got or got[0].get("id") != 3:
        return "answers nobody"
    return "refused by the schema" if fault(got[0]) else "wrong, and unnoticed"


# %%
from collections import Counter

flips = {}
for name, stack in STACKS.items():
    first, second = stack.pack(tuesday), stack.pack(lunch)
    places = [(place, bit) for place in range(len(first)) for bit in range(8)]
    flips[name] = Counter(verdict(stack, flipped(first, *at) + second) for at in places)

# %% tags=["covers-stack-cbor"]
print(f"{'':<24}", *[f"{name:>15}" for name in STACKS])
for outcome in sorted(set().union(*flips.values())):
    print(f"{outcome:<24}", *[f"{found[outcome]:>15,}" for found in flips.values()])
print(f"{'all':<24}", *[f"{found.total():>15,}" for found in flips.values()])

# %%
share = {name: 100 * f["wrong, and unnoticed"] / f.total() for name, f in flips.items()}
draw.bars(share, "of 100 flipped bits, wrong and unnoticed", lit="CBOR", digits=1)

# %% [markdown]
# Alone, CBOR lets more through than JSON: it repeats itself less, so a changed bit meets less that
# contradicts it. In frames nothing wrong gets through, with JSON as with CBOR. What notices is the
# checksum.

# %% [markdown]
# And a few flips hit the length. Then the reader waits for bytes that nobody sends, and only a deadline
# ends that. JSON lines have no such case: whatever was flipped, the next line feed comes.

# %% [markdown]
# > **Beside the text.** The chapter says that "CBOR and frames solve network validation". By this
# > count frames do, and CBOR has no part in it. It makes messages shorter, and that is another wish.

# %% [markdown]
# ## A frame cut
#
# The sender dies in the middle of a message. We cut the answer at every place and look at what the
# reader holds when the pipe ends.


# %%
def at_the_end(stack, raw):
    splitter = stack.splitter()
    got = [stack.load(piece) for piece in splitter.feed(raw)]
    return "half of it" if splitter.rest else ("all of it" if got else "nothing")


for name, stack in STACKS.items():
    raw = stack.pack(tuesday)
    held = Counter(at_the_end(stack, raw[:cut]) for cut in range(len(raw) + 1))
    print(f"{name:<15} {dict(held)}")

# %% [markdown]
# All alike: nothing, half of it, all of it. None takes a half for a whole. The half is in plain sight,
# and the end of the pipe tells the rest: TransportClosed, in notebook 04.

# %% [markdown]
# ### A hole
#
# A wire that loses ten bytes and goes on. Two good messages follow. How many of them can still be
# read? The worst and the best, over all places.


# %%
import contextlib


def read_behind(stack, raw):
    good = 0
    with contextlib.suppress(MalformedMessage):  # out of step: no piece follows
        for piece in stack.splitter().feed(raw):
            with contextlib.suppress(MalformedMessage):
                good += stack.load(piece) == lunch
    return good


# %%
for name, stack in STACKS.items():
    first, behind = stack.pack(tuesday), stack.pack(lunch) * 2
    holes = [first[:at] + first[at + 10 :] + behind for at in range(len(first) - 10)]
    found = [read_behind(stack, raw) for raw in holes]
    print(f"{name:<15} from {min(found)} to {max(found)}")

# %% [markdown]
# A line feed is a mark that can be found again. A length only holds as long as nothing was lost before
# it. A frame with a mark in front would be the next thing to add, for a wire that loses bytes.

# %% [markdown]
# ## A reordered message
#
# The second answer arrives first. Does a stack notice? And does it harm anybody?

# %%
from mini_agent.mcp.pending import InFlight

for name, stack in STACKS.items():
    in_flight = InFlight()
    third, fifth = in_flight.add(3), in_flight.add(5)
    for message in unpacked(stack, stack.pack(lunch) + stack.pack(tuesday)):
        in_flight.answer(message)
    print(f"{name:<15} taken, each to its own: {third.result() == tuesday}")
    assert fifth.result() == lunch

# %% [markdown]
# No stack notices: two whole messages came, with two good checksums. And nobody is harmed, because an
# answer belongs to its id and not to its place. Where order matters, messages need numbers; we come to
# that.

# %% [markdown]
# ## Does a local pipe do any of this?
#
# A child that copies its input to its output: two pipes, a few megabytes. Every message goes through it
# five hundred times, as lines and as frames.

# %%
COPY = "import shutil, sys; shutil.copyfileobj(sys.stdin.buffer, sys.stdout.buffer)"


async def through_pipes(raw):
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", COPY), stdin=PIPE, stdout=PIPE, stderr=DEVNULL
    )
    return (await child.communicate(raw))[0]


# %% tags=["covers-stack-frame", "covers-json-lines-suffice-locally"]
times, broken = 500, {}
for name in ("JSON lines", "CBOR in frames"):
    stack = STACKS[name]
    came = await through_pipes(b"".join(map(stack.pack, messages)) * times)
    got = unpacked(stack, *cut_up(came, 65536))
    broken[name] = sum(a != b for a, b in zip(got, messages * times, strict=True))
    print(f"{name:<15} {len(got):,} messages came, {broken[name]} of them broken or out of place")

# %% [markdown]
# No checksum had anything to say. The operating system hands the bytes of a pipe over whole and in
# order, or the pipe ends. Over that, one line of JSON for each message is enough.
#
# Specification: basic/transports/stdio: one message a line.

# %% [markdown]
# ## A handshake
#
# It moves what every request says about itself into one exchange before them. Whoever has said hello is
# known from then on.


# %%
class WithHandshake:
    def __init__(self):
        self.known = {}

    def hello(self, version):
        self.known[session := len(self.known) + 1] = version
        return session

    def ask(self, session, day):
        return f"{day}, in version {self.known[session]}"


# %%
server = WithHandshake()
session = server.hello("2026-07-28")
print(server.ask(session, TUESDAY))

# %% [markdown]
# The server is started again, or the next request reaches the machine beside it.

# %% tags=["raises-exception"]
server = WithHandshake()
server.ask(session, TUESDAY)

# %% [markdown]
# Without a handshake, which failure could you not describe? "You are not known here." And without a
# handshake it cannot happen. The layer brings its own failure along, and the code that mends it.

# %% [markdown]
# An MCP request says everything by itself. Two calendars that have never heard of us, and what it costs
# to be a stranger each time:

# %% tags=["covers-stack-handshake"]
for _ in range(2):
    stranger = InMemoryTransport(calendar_server())
    assert await stranger.send(question) == tuesday
params = {key: value for key, value in question["params"].items() if key != "_meta"}
saved = len(json_line(question)) - len(json_line({**question, "params": params}))
print("answered twice;", saved, "bytes of _meta in each request")

# %% [markdown]
# ### Snapshots
#
# The whole state once, then only what changes. `None` means that an appointment is gone. Of three
# changes one gets lost.


# %%
def applied(snapshot, changes):
    return {at: title for at, title in {**snapshot, **dict(changes)}.items() if title}


snapshot = {"09:00": "Standup", "14:00": "Dentist"}
changes = [("10:00", "Budget"), ("14:00", None), ("16:00", "Review")]
print("there:", applied(snapshot, changes))
print("here: ", applied(snapshot, [changes[0], changes[2]]))

# %% [markdown]
# The dentist stays for ever. Every message was whole, every checksum good, and the order was right. What
# would have noticed is a number on each change.


# %%
def missed(numbers):
    return sorted(set(range(1, max(numbers) + 1)) - set(numbers))


print("missed:", missed([1, 3]))

# %% [markdown]
# Here is a failure that needs its layer: "I have missed change 2." But only those can have it who send
# changes. An MCP server says `list_changed`, without the change, and the client asks for the list. To
# miss one is to be late, and the next list is right again.

# %% [markdown]
# ## What it takes in time
#
# Times differ from machine to machine, so this cell is yours to run and stores nothing. CBOR alone is read
# twice here: once to find its end, once to load it. Hold the bars against what a model takes for one
# turn, which is seconds.

# %% tags=["nbval-skip", "skip-execution"]
import timeit


def microseconds(stack):
    runs = timeit.repeat(lambda: unpacked(stack, stack.pack(tuesday)), number=500, repeat=3)
    return min(runs) / 500 * 1e6


taken = {name: microseconds(stack) for name, stack in STACKS.items()}
draw.bars(taken, "microseconds to pack and unpack one answer", lit="JSON lines", digits=1)

# %% [markdown]
# ## If a network needs it
#
# "But what if we really do add HTTP later?" the chapter asks, and answers: frames, retries, a
# heartbeat, all of it in the implementation. We look at one after the other.

# %% [markdown]
# ### Frames are there already
#
# HTTP says how long a body is, and TLS puts a checksum on every piece, which nobody on the way can
# forge. This server promises more bytes than it sends.

# %%
from fake_servers import faults
from mini_agent.mcp.http import HttpTransport

async with faults.http("cut_body") as bad, McpClient(HttpTransport(bad.url)) as client:
    try:
        await client.call("calendar_query", {"date": TUESDAY})
    except McpError as error:
        print(type(error).__name__, "· may have acted:", error.may_have_acted)

# %% [markdown]
# ### One checksum more, and where it goes
#
# A gateway between server and client might still change a byte after TLS has ended. `Digested` is a
# layer inside httpx, below HttpTransport: it compares the body with a header.

# %%
import hashlib

import httpx


def digest(body):
    return "sha-256=:" + base64.b64encode(hashlib.sha256(body).digest()).decode() + ":"


class Digested(httpx.AsyncBaseTransport):
    def __init__(self, inner):
        self.inner = inner

    async def handle_async_request(self, request):
        response = await self.inner.handle_async_request(request)
        if response.headers.get("content-digest") != digest(await response.aread()):
            raise httpx.ReadError("the digest does not fit")
        return response


# %% [markdown]
# Two ways from the calendar to us: one that changes nothing, and one that makes a ten of every twelve.
# Both pass on the server's digest.


# %%
def way(spoils):
    calendar = calendar_server()

    async def answers(request):
        *_, said = [said async for said in calendar.handle(json.loads(request.content))]
        body = encode(said)
        headers = {"Content-Type": "application/json", "Content-Digest": digest(body)}
        return httpx.Response(
            200, headers=headers, content=body.replace(b"12:00", b"10:00") if spoils else body
        )

    checked = httpx.AsyncClient(transport=Digested(httpx.MockTransport(answers)))
    return HttpTransport("https://calendar.example/mcp", client=checked)


# %%
for spoils in (False, True):
    try:
        print((await some_traffic(way(spoils))).content[0]["text"].splitlines()[-1])
    except McpError as error:
        print(textwrap.fill(f"{type(error).__name__}: {error}", 100))

# %% [markdown]
# It is a TransportClosed, as for any broken connection, and it says that the server may have acted. The
# client has no new case to learn.

# %% [markdown]
# ### A heartbeat
#
# An event stream may hold comments, lines that begin with a colon. A server that works for long sends
# one now and then. The parser of notebook 05 reads them and says nothing.


# %%
class Slowly(httpx.AsyncByteStream):
    async def __aiter__(self):
        for _ in range(3):
            yield b": still here\n\n"
        yield b"data: " + encode(tuesday) + b"\n\n"


def works_for_long(request):
    return httpx.Response(200, headers={"Content-Type": "text/event-stream"}, stream=Slowly())


there = httpx.AsyncClient(transport=httpx.MockTransport(works_for_long))
wire = HttpTransport("https://calendar.example/mcp", client=there)
print("the answer came, and nothing else:", await wire.send(question) == tuesday)
await wire.close()

# %% [markdown]
# ### Retries
#
# A retry is the one of the three that should not go down there. Only the caller knows if twice does
# harm, so `with_retries` stands above `call`. This connection breaks once.

# %%
from mini_agent.mcp.retry import with_retries
from mini_agent.mcp.transport import FakeTransport

result = {"result": {"resultType": "complete", "content": [{"type": "text", "text": "no lunch"}]}}
fake = FakeTransport([TransportClosed("the network broke"), result])
client = McpClient(fake, server="calendar")
day = await with_retries(
    lambda: client.call("calendar_query", {"date": FREE_DAY}), safe=True, pause=0
)
print(day.content[0]["text"], "· ids:", [message["id"] for message in fake.sent])

# %% [markdown]
# > **Beside the text.** The chapter puts retries inside HttpTransport. Then a booking that was perhaps
# > made could be made again, and nobody above would know. Ours stand one layer higher, and the interface
# > below is the same.

# %% [markdown]
# ### What never moves
#
# All that a transport has to be, first as the interface says it, then for five of them: in memory, a
# script, a child process, a network, and the pipe of this notebook.

# %% tags=["covers-http-additions-stay-inside"]
import inspect

from mini_agent.mcp.stdio import StdioTransport
from mini_agent.mcp.transport import McpTransport

carriers = (McpTransport, InMemoryTransport, FakeTransport, StdioTransport, HttpTransport)
for carrier in (*carriers, PipeTransport):
    shape = [list(inspect.signature(f).parameters) for f in (carrier.send, carrier.close)]
    print(f"{carrier.__name__:<18}", *shape)
    assert shape == [["self", "message", "envelope"], ["self"]]

# %% [markdown]
# And the layers above. Which of our new words do they use?

# %% tags=["covers-http-additions-stay-inside"]
from mini_agent import agent
from mini_agent.mcp import adapter
from mini_agent.mcp import client as client_module

WORDS = ("cbor", "crc", "checksum", "content-digest", "heartbeat", "retry", "HTTP")
for module in (agent, adapter, client_module):
    source = inspect.getsource(module)
    print(f"{module.__name__:<22}", [word for word in WORDS if word in source])

# %% [markdown]
# ## The question, for each layer
#
# The numbers come from the cells above; none is typed in.

# %% tags=["covers-which-failure-could-you-not-describe"]
senseless = flips["JSON lines"]["refused by the schema"]
shorter = round(100 - 100 * sizes["CBOR"] / sizes["JSON lines"])
broke, carried = sum(broken.values()), 2 * times * len(messages)
answers = {
    "schema": ("whole, and makes no sense", f"in part: {senseless:,} flips were its to refuse"),
    "CBOR": ("none", f"no: {shorter} % shorter, and nothing more is noticed"),
    "frame": ("changed on the way", f"no: a pipe broke {broke} of {carried:,} messages"),
    "transport": ("nobody is there any more", "yes: TransportClosed"),
    "handshake": ("you are not known here", f"no: {saved} bytes in each request instead"),
    "snapshots": ("I have missed a change", "no: a list is asked for whole"),
}
print(f"{'layer':<11}{'the failure that needs it':<28}do we?")
for layer, (failure, needed) in answers.items():
    print(f"{layer:<11}{failure:<28}{needed}")

# %% [markdown]
# Two of six. The other four are good answers to questions that a calendar on a pipe does not ask. What
# is worth taking from pi-mono is the way to cut: each layer with failures of its own.

# %% [markdown]
# ## Try it
#
# Swap the checksum for a weaker one, such as `sum(payload) % 256`, and count the flips again. Or keep
# CRC-32 and flip two bits at once. Which pairs of bits get through?


# %%
def weak(payload):
    return sum(payload) % 256


print(weak(b"10:00"), weak(b"01:00"), zlib.crc32(b"10:00") == zlib.crc32(b"01:00"))

# %% [markdown]
# ## What changed
#
# The package has not changed. What you hold:
#
# | name | what it does |
# |---|---|
# | `Stack`, `STACKS` | pack, split, load: JSON and CBOR, each alone and in frames |
# | `Frames`, `Items` | chunks in, payloads out, with a checksum or by CBOR's own lengths |
# | `verdict` | who noticed, for one flipped bit |
# | `PipeTransport` | an McpTransport over any of the stacks |
# | `Digested` | a checksum below HttpTransport, which nobody above has to know |

# %% [markdown]
# ## Where the official SDK differs
#
# Here it does not. The official SDKs write one JSON message a line over stdio, with no frame and no
# checksum, since the revision asks for exactly that: a server that speaks CBOR may be a good server,
# and an MCP client cannot read it. They still carry a handshake, the one of older revisions. It is kept
# for a failure that is real: a peer of last year.

# %% [markdown]
# ## Exercises and next
#
# `exercises/17_layers_you_do_not_need.ipynb` has 3 tasks, each with a check that answers:
#
# - **17.1** Ten mishaps: who notices? (warm-up, 10 minutes)
# - **17.2** `Copy`: I have missed a change (solid, 20 minutes)
# - **17.3** `MarkedFrames`: back in step after a hole (demanding, 35 minutes)
#
# And one without: pick a layer of a system that you work on, and ask the question. What would break
# without it, and has that ever happened?
#
# Next: **18, Does it hold outside the classroom?** Servers that nobody here has written.
