# %% [markdown]
# # 04 · What can a child process do to me?
#
# At the end you hold StdioTransport. It runs a server as a process of its own, and whatever that
# process does, each call ends with its answer or with one clear exception. About 65 minutes.

# %%
from __future__ import annotations

from mini_agent import draw

draw.layers(lit="transport")

# %% [markdown]
# ## Twelve words
#
# | word | what it is here |
# |---|---|
# | child process | a program that another one starts; it has its own memory and its own end |
# | pipe | a way for bytes from one process to another; when it is full, whoever writes must wait |
# | broken pipe | a pipe whose reader is gone; whoever writes into it gets an error |
# | stdin | the pipe on which a process reads what it is sent |
# | stdout | the pipe on which a process answers |
# | stderr | the pipe on which a process writes for people, such as its log |
# | stdio | MCP's transport to a child process: requests by its stdin, responses by its stdout |
# | chunk | as many bytes as one read happens to give |
# | framing | the rule that says where one message ends and the next begins |
# | in flight | said of a request: asked, and not yet answered |
# | exit code | the number that a process leaves behind: 0 for a good end, negative for a signal |
# | signal | what the operating system sends a process: SIGTERM asks it to end, SIGKILL ends it |

# %% [markdown]
# ## A child process by hand
#
# The calendar again, this time as a program that we start. It gets three pipes and nothing else to
# talk through: no address, no port, no key.

# %%
import asyncio
import sys
from asyncio.subprocess import PIPE

CALENDAR = [sys.executable, "-m", "fake_servers.calendar"]


async def spawn(command, **options):
    return await asyncio.create_subprocess_exec(
        *command, stdin=PIPE, stdout=PIPE, stderr=PIPE, **options
    )


child = await spawn(CALENDAR)
print("running:", child.returncode is None)

# %% [markdown]
# One line in, one line out. The line in is a request as in notebook 02, for a Tuesday with
# appointments.

# %%
from mini_agent.mcp.messages import build_meta, build_request, decode, encode

MONDAY, TUESDAY, FREE_DAY = "2026-08-03", "2026-08-04", "2026-08-05"


def asking(day, request_id=1):
    params = {"name": "calendar_query", "arguments": {"date": day}}
    return build_request(request_id, "tools/call", params, meta=build_meta())


child.stdin.write(encode(asking(TUESDAY)) + b"\n")
line = await child.stdout.readline()
print(decode(line)["result"]["content"][0]["text"])

# %% [markdown]
# Nobody logged in and nobody said goodbye. To end it, we close its stdin. It notices that nothing
# more can come, and leaves with exit code 0.


# %%
async def end(child):
    child.stdin.close()
    await child.communicate()  # reads the rest, so that nothing holds it up
    return child.returncode


print("exit code", await end(child))

# %% [markdown]
# That is all of the good case. The rest of this notebook is about the other cases.
#
# Specification: basic/transports/stdio.

# %% [markdown]
# ## Framing: a pipe knows no messages
#
# Here is a pipe with both ends in our hands. Two writes go in, and we read twice.

# %%
import os

out, into = os.pipe()
os.write(into, b'{"id":1,"result":{}}\n{"id":2,"re')
os.write(into, b'sult":{}}\n')
print(os.read(out, 10))
print(os.read(out, 1000))

# %% [markdown]
# No end of a write is an end of a read. The pipe keeps bytes in order and forgets everything else.
# So the bytes themselves must say where a message ends.

# %% [markdown]
# Here a line feed says so. It works because no message holds one: JSON writes a line break inside a
# text as two other characters.

# %%
line = encode({"note": "two\nlines"})
print(line, b"\n" in line)

# %% [markdown]
# ## The naive reader: what came is what was sent
#
# Take what one read gives, cut it into lines. On a small test it works every time.


# %%
def naive_lines(chunk):
    return chunk.decode().splitlines()


naive_lines(b'{"id":1}\n{"id":2}\n')

# %% [markdown]
# Three more chunks that a pipe may hand us. Half a message, half a character, and a text that holds
# U+2028, which JSON allows.


# %%
def attempt(function, value):
    try:
        return function(value)
    except Exception as error:
        return type(error).__name__


chunks = {
    "half a message": b'{"id":1,"resu',
    "half a character": '{"note":"é'.encode()[:-1],
    "U+2028": '{"note":"one\u2028line"}\n'.encode(),
}
for name, chunk in chunks.items():
    print(f"{name:<17} {attempt(naive_lines, chunk)}")

# %% [markdown]
# The first is taken for a whole line. The second raises. The third becomes two lines: Python's
# `str.splitlines` cuts at ten characters, and U+2028, the line separator, is one of them.

# %% [markdown]
# ## The naive client: readline
#
# asyncio's `readline` waits for the line feed and looks at bytes alone. That mends all three. So a
# client on top of it is a few lines; the lock lets one caller read at a time.

# %%
import json


class NaiveStdio:
    def __init__(self, child):
        self.child, self.reading = child, asyncio.Lock()

    async def send(self, message):
        self.child.stdin.write(encode(message) + b"\n")
        async with self.reading:
            return json.loads(await self.child.stdout.readline())


# %% [markdown]
# To break it we need bad servers. A few lines each are enough, and `script` makes a command of them.
# Every script can `read` a request, `say` a message and `answer` a request.

# %%
WORDS = """
import json, os, signal, sys
def read():
    line = sys.stdin.buffer.readline()
    return json.loads(line) if line else sys.exit()
def say(message): os.write(1, json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\\n")
def answer(request, **result): say({"id": request["id"], "result": result})
def day(request): return request["params"]["arguments"]["date"]
"""


def script(lines):
    return [sys.executable, "-c", WORDS + lines]


# %% [markdown]
# A good one first: it answers one request with the day that was asked for.

# %%
child = await spawn(script("r = read(); answer(r, day=day(r))"))
print(await NaiveStdio(child).send(asking(MONDAY)), await end(child))

# %% [markdown]
# ### A long line
#
# A list of appointments may well be 100 kB. asyncio's reader gives up at 64 KiB, in its own way.
# `last_words` gives the last line of a traceback, without the pages of asyncio above it.


# %%
import textwrap


async def last_words(awaitable):
    try:
        return await awaitable
    except Exception as error:
        return textwrap.fill(f"{type(error).__name__}: {error}", 110)


# %%
reader = asyncio.StreamReader()
reader.feed_data(b'{"text":"' + b"x" * 100_000 + b'"}\n')
print(await last_words(reader.readline()))

# %% [markdown]
# ### Two calls in flight
#
# This server reads two requests and answers the second one first. It may: an answer carries the id
# of its request, and the order is free.

# %%
child = await spawn(script("a = read(); b = read(); answer(b, day=day(b)); answer(a, day=day(a))"))
wire = NaiveStdio(child)
answers = await asyncio.gather(wire.send(asking(MONDAY, 1)), wire.send(asking(TUESDAY, 2)))
await end(child)
for day, answer in zip((MONDAY, TUESDAY), answers, strict=True):
    print(f"asked for {day}, got {answer['result']['day']}")

# %% [markdown]
# ### One line too many
#
# This server greets. Many programs do when they start. The greeting goes to stdout, where the
# answers go.

# %%
GREETS = """
print("Calendar v1.2 ready", flush=True)
while True: r = read(); answer(r, day=day(r))
"""
child = await spawn(script(GREETS))
wire = NaiveStdio(child)
for number, day in enumerate((MONDAY, TUESDAY, FREE_DAY), 1):
    try:
        got = (await wire.send(asking(day, number)))["result"]["day"]
    except ValueError as error:
        got = type(error).__name__
    print(f"asked for {day}, got {got}")
print("exit code", await end(child))

# %% [markdown]
# The first call fails. A caller that tries again gets the answer to that first call, and from here
# on every answer is one question late. No exception says so.

# %% [markdown]
# ### No more lines
#
# A server that runs out of memory in the middle of a call. It says so on stderr, and its exit code
# is 3. What do we hear?

# %%
DIES = 'read(); sys.stderr.write("calendar: out of memory\\n"); sys.exit(3)'
child = await spawn(script(DIES))
print(await last_words(NaiveStdio(child).send(asking(MONDAY))))

# %% [markdown]
# "Expecting value": an empty line was no JSON. The message blames the format, while a process died.
# What it said and what it left behind are there, and nobody looked.

# %%
said = await child.stderr.read()
print(said, "· exit code", await end(child))

# %% [markdown]
# Each break has a place of its own in the package. We build them in this order.
#
# | what broke | who mends it |
# |---|---|
# | where a line ends, and how long it may be | `LineSplitter` |
# | which answer belongs to whom | `InFlight` |
# | what the child says on stderr, how it ends | `ServerProcess` |
# | a line that is no message, a call that is cancelled | `Conversation` |
# | a child that must be started again, or ended | `StdioTransport` |

# %% [markdown]
# ## `LineSplitter`: chunks in, lines out
#
# It knows no pipe, so every test of it is a few bytes. It keeps the start of a line until the rest
# has come. `@part_of`, further down, puts a method into a class that stands above.

# %%
import inspect

from mini_agent.mcp.lines import MAX_LINE, SHOWN, TooLong
from mini_agent.workbook import part_of

print(f"a line may have {MAX_LINE:,} bytes")

# %% include mini_agent.mcp.lines.LineSplitter(__init__, feed)

# %% [markdown]
# `split` gives the pieces between line feeds. All but the last are ended. What was kept from earlier
# chunks belongs before the first of them: `_joined` puts it there. A blank line is no line.

# %% include mini_agent.mcp.lines.LineSplitter._joined

# %% [markdown]
# The last piece has no end yet, so `_keep` keeps it. Above the limit it is not kept: TooLong is
# handed out in its place, once, and the rest of that line is dropped.

# %% include mini_agent.mcp.lines.LineSplitter._keep LineSplitter.rest

# %%
splitter = LineSplitter()
print(splitter.feed(b'{"id":1,"resu'), splitter.rest)
print(splitter.feed(b'lt":{}}\n{"id":2}\n'), splitter.rest)

# %% [markdown]
# Now the strict test. These bytes hold three lines, a blank one, U+2028, an é, a Windows line end
# and half a line. We cut them at every point, and then into single bytes.


# %%
def lines_of(*chunks, limit=1000):
    splitter = LineSplitter(limit)
    return [line for chunk in chunks for line in splitter.feed(chunk)]


raw = '{"id":1}\n\n{"note":"one\u2028line, é"}\r\n{"id":2}\n{"half'.encode()
whole_lines = lines_of(raw)
for cut in range(len(raw) + 1):
    assert lines_of(raw[:cut], raw[cut:]) == whole_lines
assert lines_of(*[raw[i : i + 1] for i in range(len(raw))]) == whole_lines
print(f"{len(raw) + 1} ways to cut, each time {len(whole_lines)} lines")

# %% [markdown]
# And a line without an end. At 100 bytes it is given up, whatever comes after, and the next line is
# read as usual. A server cannot fill our memory.

# %%
endless = [b"x" * 64] * 1000
print(lines_of(*endless, b"\n", b'{"id":3}\n', limit=100))

# %% [markdown]
# ## `InFlight`: which answer belongs to whom
#
# A dict from the id to a future, like `waiting` in notebook 03. What is new is every way out of it:
# answered, given up, failed.

# %%
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from pydantic_core import from_json

from mini_agent.errors import MalformedMessage, McpError, TransportClosed
from mini_agent.mcp.messages import is_request_id
from mini_agent.types import JsonObject

# %% include mini_agent.mcp.pending.RequestId MakeError InFlight(__init__, over, one)

# %% include mini_agent.mcp.pending.InFlight.add
in_flight = InFlight()
monday, tuesday = in_flight.add(1), in_flight.add(2)
print("waiting:", list(in_flight._waiting))

# %% [markdown]
# An id in use is refused at once. With two futures under one id, one of them would wait for ever.

# %% tags=["raises-exception"]
in_flight.add(1)

# %% [markdown]
# ### `answer` and `drop`
#
# `answer` gives a response to whoever waits for it, or says why nobody took it. The second request
# is answered first.

# %% include mini_agent.mcp.pending.InFlight.answer
in_flight.answer({"id": 2, "result": "Tuesday"})
in_flight.answer({"id": 1, "result": "Monday"})
print(monday.result()["result"], tuesday.result()["result"])

# %% [markdown]
# Each has its own. `drop` is for whoever waits no more. Then four answers that nobody waits for:
# one that comes twice, one after a drop, an id that nobody sent, the text `"3"` for the number 3.

# %% include mini_agent.mcp.pending.InFlight.drop
in_flight.add(3)
in_flight.add(4)
in_flight.drop(4)
for id_ in (1, 4, 999, "3"):
    print(f"{id_!r:<4} {in_flight.answer({'id': id_})}")

# %% [markdown]
# ### `fail` and `fail_all`
#
# When the process is gone, whoever waits must hear of it, and so must whoever comes later. Each gets
# an exception of its own, since two that share one would share its traceback.

# %% include mini_agent.mcp.pending.InFlight.fail InFlight.fail_all

# %%
in_flight = InFlight()
futures = [in_flight.add(1), in_flight.add(2)]
in_flight.fail_all(lambda: TransportClosed("the process is gone"))
first, second = [future.exception() for future in futures]
print(first, "·", second, "· one object for both:", first is second)

# %% [markdown]
# And whoever comes later is not left waiting for an answer that nobody can give.

# %% tags=["raises-exception"]
in_flight.add(3)

# %% [markdown]
# ## stdout is the protocol's, stderr is the log's
#
# The greeting broke the naive client because it stood among the answers. The same greeting on stderr
# harms nobody. This rule is the server's to keep, and a `print` in a tool is enough to break it.
#
# Specification: basic/transports/stdio: no line on stdout that is not a message.

# %% tags=["covers-stdout-protocol-stderr-logs"]
GREETS_WELL = GREETS.replace("flush=True", "flush=True, file=sys.stderr")
child = await spawn(script(GREETS_WELL))
response = await NaiveStdio(child).send(asking(MONDAY))
await end(child)
print("stdout:", response)

# %% [markdown]
# stderr is text for people. Something on it does not mean that anything went wrong. But it must be
# read. This server writes a megabyte of log before it answers.

# %%
CHATTY = 'r = read(); sys.stderr.write("working " * 2**17); answer(r, day=day(r))'
child = await spawn(script(CHATTY))
sending = asyncio.create_task(NaiveStdio(child).send(asking(MONDAY)))
done, waiting = await asyncio.wait({sending}, timeout=0.3)
print("answered:", len(done), "waiting:", len(waiting))

# %% [markdown]
# The pipe is full, so the server waits in the middle of its log line for somebody to read. We wait
# for its answer. Neither ever moves. We only have to read:

# %%
logged = await child.stderr.read()
response = await sending
await end(child)
print(f"{len(logged):,} bytes of log, then {response['result']}")

# %% [markdown]
# Nothing else changed. A client that pipes stderr must read it all the time, also when it throws the
# text away.

# %% [markdown]
# ## `ServerProcess`: a process and its three pipes
#
# First a question that the naive version never asked: what does the child know? A program inherits
# every environment variable of the one that starts it, keys included.

# %%
os.environ["BANK_KEY"] = "s3cret"
LOOK = [sys.executable, "-c", "import os; print(os.environ.get('BANK_KEY', 'not set'))"]


async def output_of(command, **options):
    said, _ = await (await spawn(command, **options)).communicate()
    return said.decode().strip()


print(await output_of(LOOK))

# %% [markdown]
# A calendar server has no business with the key of a bank. The package hands on a short list of
# names that a program needs to run at all, and what we add by hand.

# %%
from collections.abc import Collection

from mini_agent.mcp.command import ALLOWED, sayable

print(len(ALLOWED), "BANK_KEY" in ALLOWED)

# %% [markdown]
# It is a list of allowed names, not of forbidden ones: nobody can list every name that a secret may
# have.

# %% include mini_agent.mcp.command.child_environment

# %%
ours = {"PATH": "/usr/bin", "BANK_KEY": "s3cret", "AWS_PROFILE": "prod"}
print(child_environment({"CALENDAR_KEY": "k-1"}, inherited=ours))
print(await output_of(LOOK, env=child_environment()))

# %% [markdown]
# Now the process. asyncio calls methods of ours when something happens to a child: bytes came, a pipe
# closed, it ended. So nobody sits in a `readline`, and no sign is missed.

# %%
from mini_agent.mcp.process import STDERR, STDIN, STDOUT, ServerProcess

print(inspect.signature(ServerProcess))

# %% [markdown]
# It is given two functions: one for each chunk of stdout, one for the first sign of an end. What
# they do with it is not its business.

# %% [markdown]
# ### `pipe_data_received`: both pipes are read
#
# stdout goes on as it comes. Of stderr the last 8 KiB stay, and all before that is read and
# forgotten. `TAIL` is that size. So the pipe is never full, however much the server logs.

# %%
from mini_agent.mcp.process import TAIL

print(f"{TAIL:,}")

# %% include mini_agent.mcp.process.ServerProcess.pipe_data_received

# %% [markdown]
# ### `pipe_connection_lost`: an end has several signs
#
# stdin breaks, stdout closes, or the process is gone, and they come in any order. The first one
# counts. The end of stderr alone means nothing.

# %% include mini_agent.mcp.process.ServerProcess.pipe_connection_lost ServerProcess.process_exited ServerProcess._end

# %% [markdown]
# A program that cannot be started is a ConnectFailed. Nobody was reached, so nobody can have acted.

# %%
lost = ServerProcess(print, print)
print(await last_words(lost.start(["no-such-calendar"], child_environment(), None)))

# %% [markdown]
# And one that starts, and dies. It left the naive client with an empty line. Now we learn all there
# is: no output, exit code 3, its last words.

# %%
heard = []
process = ServerProcess(heard.append, lambda: None)
await process.start(script(DIES), child_environment(), None)
process.write(encode(asking(MONDAY)) + b"\n")
await process.until_gone(5)
print(heard, process.exit_code, repr(process.stderr_tail))

# %% [markdown]
# ### End, in three steps
#
# First its stdin is closed, which asks it to end. If it does not, SIGTERM, which asks once more. If
# it still does not, SIGKILL, which does not ask: that is `_force`. After each step it has `grace`
# seconds. `_flush`, before all that, sends what is still unsent. `kill`, at the end, lets go of the
# pipes.
#
# Specification: basic/transports/stdio, "Shutdown".

# %%
import contextlib
import signal

print(signal.SIGTERM.value, signal.SIGKILL.value)

# %% include mini_agent.mcp.process.ServerProcess.stop

# %% [markdown]
# Three servers: one that leaves when its input ends, one that must be told, one that heeds nothing.
# A negative exit code is the number of the signal that ended it.

# %% tags=["covers-host-ends-the-process"]
STAYS = "say({'method': 'up'})\nwhile True: signal.pause()"
ENDINGS = {
    "leaves by itself": ("say({'method': 'up'}); read()", 2.0),
    "heeds SIGTERM": (STAYS, 0.4),
    "heeds nothing": ("signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + STAYS, 0.2),
}


async def code_after_stop(lines, grace):
    up = asyncio.Event()
    process = ServerProcess(lambda chunk: up.set(), lambda: None)
    await process.start(script(lines), child_environment(), None)
    await up.wait()
    await process.stop(grace)
    return process.exit_code


for name, (lines, grace) in ENDINGS.items():
    print(f"{name:<17} exit code {await code_after_stop(lines, grace)}")

# %% [markdown]
# The host has the last word on how long a child lives. Closing stdin is the only one of the three
# that works everywhere; on Windows the other two are one and the same.

# %% [markdown]
# ## `Conversation`: one process, and who waits for it
#
# It puts the three together. Bytes from ServerProcess go through LineSplitter and `decode`, and a
# response goes to InFlight. Its life ends with the process. First, what its code imports.

# %%
import warnings

from mini_agent.mcp.messages import build_notification, excerpt, kind
from mini_agent.mcp.transport import NO_ENVELOPE, OneListener
from mini_agent.trace import Trace, following
from mini_agent.visible import visible

# %% include mini_agent.mcp.conversation.Conversation(__init__, start)
print(*inspect.signature(Conversation).parameters, sep=", ")

# %% [markdown]
# `name` is what errors call the server. `transport` is whoever owns the conversation: it has the
# listener for messages that answer nothing, and the trace.

# %% [markdown]
# ### `exchange`: ask
#
# The future is made before the request is written, since an answer can be quick. `finally` clears it
# away on every way out. A request that was given up is cancelled, if the server ever saw it.

# %% include mini_agent.mcp.conversation.Conversation.exchange

# %% [markdown]
# `room` and `write` are ServerProcess's. The one waits while the pipe is full. The other takes the
# line whole, so that no other can come between its halves, and says False when the pipe is closed. It
# joins what is written in one turn of the event loop, unless a request is `alone`.

# %% include mini_agent.mcp.conversation.Conversation._write

# %% include mini_agent.mcp.conversation.encode_line
print(encode_line({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}))

# %% [markdown]
# ### `_on_line`: hear
#
# ServerProcess calls `_on_output` with each chunk. After a break nothing is believed any more. A line
# that was too long becomes the same exception as one that is no message.

# %% include mini_agent.mcp.conversation.Conversation._on_output whole

# %% [markdown]
# A response goes to whoever waits for it. Anything else goes to the listener, in a turn of its own,
# so that a listener that fails does not stop the reading.

# %% include mini_agent.mcp.conversation.Conversation._on_line

# %% [markdown]
# ### `_bury`: the end
#
# The first sign of an end starts it. It waits a moment for the exit code and the last words, lets
# everybody fail with them, and clears the process away.

# %% include mini_agent.mcp.conversation.LAST_WORDS Conversation._on_end Conversation._bury

# %% [markdown]
# Its owner can see that it is over, and wait until it is cleared away. `abandon` is for an owner who
# forgot to close: no process stays.

# %% include mini_agent.mcp.conversation.Conversation.over Conversation.buried Conversation.abandon

# %% [markdown]
# The error says what is known: how it ended, half a line if there was one, and the last words.

# %% include mini_agent.mcp.conversation.gone_error

# %% [markdown]
# That is enough to talk. Three helpers for the cells below: one begins a conversation with a command,
# one asks for a day, one waits until the process is gone.


# %%
async def talk_to(command, **options):
    line = OneListener()
    line.trace = Trace()
    talk = Conversation("calendar", line, **{"grace": 2.0, **options})
    await talk.start(command, child_environment(), None)
    return talk, line


async def ask(talk, day=MONDAY, request_id=1):
    message = asking(day, request_id)
    return await talk.exchange(message, encode_line(message))


async def gone(talk):
    await talk.process.until_gone(5)
    await talk.buried()


# %%
talk, line = await talk_to(script("r = read(); answer(r, day=day(r))"))
print((await ask(talk))["result"])
await gone(talk)
print(line.trace.table())

# %% [markdown]
# The script ended after its answer, and that is noted as well. Now the ends that come too early.

# %% [markdown]
# ### A child that exits
#
# The same death for the third time. The naive client said "Expecting value".

# %% tags=["covers-stdio-exit-is-a-transport-error"]
talk, line = await talk_to(script(DIES))
print(await last_words(ask(talk)))

# %% [markdown]
# One sentence with the exit code and the last words. Both are also attributes, for programs. The kit
# has a collection of faulty calendars, `fake_servers.faults`; three of them end in different ways.

# %%
from fake_servers import faults

for name in ("dies_at_start", "dies_mid_call", "half_line"):
    talk, line = await talk_to(faults.command(name))
    try:
        await ask(talk)
    except TransportClosed as error:
        print(f"{name:<14} exit code {error.exit_code}, may have acted: {error.may_have_acted}")
        print(f"{'':<14} {str(error)[:90]}")
    await gone(talk)

# %% [markdown]
# All three are TransportClosed, and each may have acted. The transport cannot know how far the
# server came, so it does not claim to. Half an answer is shown, and never taken for an answer.

# %% [markdown]
# ### A broken pipe
#
# When nobody reads the other end, a write fails. Python calls that BrokenPipeError. Here it is,
# without a process.

# %% tags=["raises-exception"]
out, into = os.pipe()
os.close(out)
os.write(into, b"anybody there?")

# %% [markdown]
# This server answers once and closes its stdin, but lives on. What we write next has nobody to read
# it. There is no exit code, since there was no exit.

# %% tags=["covers-stdio-broken-pipe-is-a-transport-error"]
os.close(into)
DEAF = "r = read(); os.close(0); answer(r, day=day(r))\nwhile True: signal.pause()"
talk, line = await talk_to(script(DEAF), grace=0.3)
await ask(talk, MONDAY, 1)
print(await last_words(ask(talk, TUESDAY, 2)))

# %% [markdown]
# Exit and broken pipe are one class. A host does the same about both, and the sentence tells a
# person which it was.

# %%
await gone(talk)
print(line.trace.table())

# %% [markdown]
# ### A line that is no message
#
# The child lives and writes nonsense. The naive client was one answer late from then on. Here a
# broken line ends the conversation, unless it names the one request that it was meant to answer.
# `owner` finds that out.

# %% include mini_agent.mcp.pending.InFlight.owner
in_flight = InFlight()
in_flight.add(1)
for junk in (b'{"id":1,"result":{}}', b'{"id":2,"result":{}}', b"Calendar v1.2 ready"):
    print(f"{junk.decode():<22} {in_flight.owner(junk)}")

# %% [markdown]
# The first lacks its `jsonrpc`, and still names request 1: that request fails, and no other has to.
# Of the rest nobody knows whose answer it destroyed.

# %% include mini_agent.mcp.conversation.Conversation._on_broken_line

# %% [markdown]
# `give_up` lets everybody in flight fail and begins the end. `junk_error` words it: it quotes the
# line, and keeps what `decode` said as its cause.

# %% include mini_agent.mcp.conversation.Conversation.give_up junk_error

# %% tags=["covers-garbage-is-rejected"]
talk, line = await talk_to(faults.command("garbage"))
print(await last_words(ask(talk)))

# %% [markdown]
# MalformedMessage, and no TransportClosed: the server is there, and it broke the format. Everybody
# in flight hears of it, the process is ended, and what came after the junk is not believed.

# %%
await gone(talk)
talk, line = await talk_to(script(GREETS))
failed = await asyncio.gather(ask(talk, MONDAY, 1), ask(talk, TUESDAY, 2), return_exceptions=True)
await gone(talk)
print([type(error).__name__ for error in failed])
print(line.trace.table())

# %% [markdown]
# Servers that greet exist, and a user may want to live with one. `skip_junk` passes such lines over,
# with one warning. It is a choice of the host's, `on_junk="skip"` at StdioTransport, and never the
# default.

# %%
talk, line = await talk_to(script(GREETS), skip_junk=True)
with warnings.catch_warnings(record=True) as warned:
    print((await ask(talk, FREE_DAY))["result"])
print(warned[0].message)
talk.give_up(lambda: TransportClosed("we are done with it"))
await gone(talk)

# %% [markdown]
# > **Beside the text.** The official Python SDK logs a broken line and goes on. The call that the
# > line was meant to answer waits until its deadline. We tried it: with the server `garbage`, the
# > call hangs, and the next one is answered. Nothing is skipped in silence here.

# %% [markdown]
# ### 64 calls in flight
#
# This server reads 64 requests before it answers any, and then answers the last one first. Ids, a
# dict and one write a message are enough.

# %%
ALL_AT_ONCE = """
asked = [read() for _ in range(64)]
for request in reversed(asked): answer(request, you=request["id"])
"""
talk, line = await talk_to(script(ALL_AT_ONCE))
answers = await asyncio.gather(*(ask(talk, MONDAY, number) for number in range(64)))
await gone(talk)
assert [answer["result"]["you"] for answer in answers] == list(range(64))
arrived = [e.facts["message"]["id"] for e in line.trace.events if e.what == "received"]
print("arrived:", arrived[:3], "...", arrived[-3:])

# %% [markdown]
# And a child that lives and says nothing? It breaks no rule that a transport could know. How long to
# wait is for the client to say, in notebook 06. When its time is up, it cancels.

# %% [markdown]
# ### `_cancel`: what the server hears
#
# Whoever stops waiting cancels the task, as in notebook 03. There is one pipe for all, so nothing
# can be closed for one request alone. A notification has to say it.
#
# Specification: basic/transports/stdio, "Cancellation".

# %% include mini_agent.mcp.conversation.Conversation._cancel

# %% [markdown]
# The server says that it works. Then we cancel, and ask something else. It answers the cancelled
# request all the same, which it should not, and then tells us what it had heard.

# %%
SLOW = """
first = read()
say({"method": "notifications/progress", "params": {"progressToken": 1, "progress": 0.1}})
cancel, second = read(), read()
answer(first, day="too late")
answer(second, heard=cancel)
"""
talk, line = await talk_to(script(SLOW))
working = asyncio.Event()
line.listener = lambda message: working.set()

# %%
task = asyncio.create_task(ask(talk, MONDAY, 1))
await working.wait()
task.cancel()
await asyncio.wait({task})
print((await ask(talk, TUESDAY, 2))["result"]["heard"])

# %% [markdown]
# It came without an id, so nobody answers it, and nobody waited for it. The late answer found
# request 1 dropped and was ignored.

# %%
await gone(talk)
print(line.trace.table())

# %% [markdown]
# ## `StdioTransport`: the seam
#
# A conversation is over when its process is. What a client holds must outlive that. `StdioTransport`
# is an McpTransport as in notebook 03, and begins conversations as they are needed.

# %%
from mini_agent.mcp.stdio import FREE_STARTS, LONGEST_PAUSE, StdioTransport

print(*inspect.signature(StdioTransport).parameters, sep=", ")

# %% [markdown]
# The command is a list, and no shell is asked. One string would have to be split, and a shell would
# read `$` and `;` in an argument as its own.

# %% tags=["raises-exception"]
StdioTransport("python -m fake_servers.calendar")

# %% [markdown]
# ### `send`
#
# It finds a conversation with a live process, and leaves the rest to `exchange`. The message is
# encoded first: one that JSON cannot express is refused before any process starts for it.
#
# `stay_home` refuses another event loop than that of the first send. `responds` is for servers of an
# older revision, and False here.

# %% include mini_agent.mcp.stdio.StdioTransport.send

# %% include mini_agent.mcp.stdio.StdioTransport._running

# %% [markdown]
# ### `_start`: one process at a time
#
# The old process is cleared away before a new one starts. `on_start` is for servers that need a
# greeting of their own first; ours need none.

# %% include mini_agent.mcp.stdio.StdioTransport._start

# %% [markdown]
# ### `close`
#
# Whoever waits fails, and the process goes in the three steps. Afterwards the transport starts
# nothing any more. Another event loop than that of the first send can wait for nothing of it, so
# there the process is killed.

# %% include mini_agent.mcp.stdio.StdioTransport.close

# %% [markdown]
# ### `pause_after`: not for ever
#
# A server that dies at each start would be started again at each call. After three starts without
# one answer a pause begins, and doubles. During it, ConnectFailed says so at once. After twelve, it
# is not started again at all.

# %% include mini_agent.mcp.stdio.pause_after
print([pause_after(starts) for starts in range(10)])

# %% [markdown]
# We hand in a clock that stands still, and ask a server four times that finds its key missing.

# %%
wire = StdioTransport(script("sys.exit('no key')"), clock=lambda: 100.0)
for number in range(4):
    try:
        await wire.send(asking(MONDAY, number))
    except McpError as error:
        print(type(error).__name__, "· may have acted:", error.may_have_acted)
await wire.close()

# %% [markdown]
# ### A process for each connection
#
# Two transports with one and the same command. Each server answers with the number of its process.

# %% tags=["covers-stdio-is-a-process-of-its-own"]
TELLS = "while True: answer(read(), process=os.getpid())"
wires = [StdioTransport(script(TELLS)) for _ in range(2)]
answers = [await wire.send(asking(MONDAY)) for wire in wires for _ in range(2)]
for wire in wires:
    await wire.close()
numbers = [answer["result"]["process"] for answer in answers]
assert os.getpid() not in numbers
print(len(numbers), "calls,", len(set(numbers)), "processes, and ours is none of them")

# %% [markdown]
# ### Started again
#
# This server answers one call and dies of the next. We ask five times and count the processes. What
# was lost stays lost: the transport does not send it again, since the server may have acted.
#
# Specification: basic/transports/stdio, "Unexpected Termination".

# %% tags=["covers-stdio-restart-after-exit"]
wire = StdioTransport(script("answer(read(), process=os.getpid()); read(); sys.exit(1)"))
numbers = []
for number in range(1, 6):
    try:
        numbers.append((await wire.send(asking(MONDAY, number)))["result"]["process"])
        print(f"request {number}: answered by process {len(set(numbers))}")
    except TransportClosed as error:
        print(f"request {number}: lost, exit code {error.exit_code}")
await wire.close()

# %% [markdown]
# The new process knows nothing of the old one. That costs nothing here: there is no handshake to
# repeat and no session to restore, since each request says everything.

# %% [markdown]
# > **Beside the text.** "An unexpected exit should be restarted", says the chapter behind this
# > notebook. It does not say when. We start again at the next use and not at once. A server that
# > nobody needs does not run, and one that cannot live does not spin.

# %% [markdown]
# ## The client on a process
#
# The client of notebook 06 is given a transport and does not ask which. Here it has the real
# calendar as a child process.

# %%
from mini_agent.mcp.client import McpClient

async with McpClient(StdioTransport(CALENDAR), server="calendar") as client:
    print([tool.name for tool in await client.connect()])
    print((await client.call("calendar_query", {"date": TUESDAY})).content[0]["text"])

# %% [markdown]
# And a calendar that dies in the middle of a call, drawn from its trace. What began as an exit code
# reaches the caller as TransportClosed, with server, method and tool.

# %%
trace = Trace()
dying = StdioTransport(faults.command("dies_mid_call"))
async with McpClient(dying, server="calendar", trace=trace) as client:
    await client.connect()
    try:
        await client.call("calendar_query", {"date": MONDAY})
    except TransportClosed as error:
        print("exit code", error.exit_code, "·", error.server, "·", error.method, "·", error.tool)
draw.chain(trace)

# %% [markdown]
# ## What a child can still reach
#
# The host decides what a child is told: its variables and the folder it starts in. Here it gets one
# key and an empty folder of its own. `BANK_KEY` is still set in this notebook.

# %% tags=["covers-host-controls-environment-and-folder"]
from pathlib import Path
from tempfile import TemporaryDirectory

workspace, elsewhere = TemporaryDirectory(), TemporaryDirectory()
SEES = 'answer(read(), keys=[k for k in os.environ if "KEY" in k], folder=os.getcwd())'
wire = StdioTransport(script(SEES), env={"CALENDAR_KEY": "k-1"}, cwd=workspace.name)
seen = (await wire.send(asking(MONDAY)))["result"]
await wire.close()
print(seen["keys"], Path(seen["folder"]).samefile(workspace.name))

# %% [markdown]
# A tool for the files of one folder needs no more than that. No network service runs, nobody logs
# in, and when the host ends, it ends. That is what stdio is for.

# %% tags=["covers-what-stdio-is-for"]
Path(workspace.name, "todo.txt").write_text("call the dentist")
TODO = "while True: r = read(); answer(r, said={name: open(name).read() for name in os.listdir()})"
wire = StdioTransport(script(TODO), cwd=workspace.name)
print((await wire.send(asking(MONDAY)))["result"])
await wire.close()

# %% [markdown]
# But a folder to start in is no fence. The child is a program of the same user. Here it reads a file
# in another folder, of which nobody told it more than the name.

# %% tags=["covers-local-process-reaches-more"]
diary = Path(elsewhere.name, "diary.txt")
diary.write_text("not for the calendar")
PEEKS = f"answer(read(), read=open({str(diary)!r}).read())"
wire = StdioTransport(script(PEEKS), cwd=workspace.name)
print((await wire.send(asking(MONDAY)))["result"])
await wire.close()

# %% [markdown]
# No argument of ours can prevent that; only the operating system can. One small example: `ulimit`
# forbids a process to write to files at all, and the server cannot argue.

# %%
WRITES = """
try:
    with open("note.txt", "w") as note: note.write("hello")
    said = "written"
except OSError as error: said = error.strerror
answer(read(), said=said)
"""
LIMITED = ["sh", "-c", 'ulimit -f 0; exec "$@"', "sh", *script(WRITES)]
for command in (script(WRITES), LIMITED):
    wire = StdioTransport(command, cwd=workspace.name)
    print((await wire.send(asking(MONDAY)))["result"])
    await wire.close()

# %% [markdown]
# Whoever runs a server that they did not write takes the same way further. The command in front of
# it makes the fence, and the transport need not know.
#
# | what should be out of reach | what the system offers |
# |---|---|
# | other people's files | a user account of its own |
# | your files | a container, bubblewrap on Linux, a sandbox profile on macOS |
# | the network | a container without one, a network namespace |
# | all memory, all processor time | limits of the container or of the service manager |

# %% [markdown]
# > **Beside the text.** The second chapter behind this kit says that the host controls "local
# > permissions". Of its own it controls three things: variables, folder, and how long the child
# > lives. Permissions belong to the operating system, and somebody has to ask it.

# %%
del os.environ["BANK_KEY"]
workspace.cleanup()
elsewhere.cleanup()
print("cleaned up")

# %% [markdown]
# ## Try it
#
# Write a bad server of your own in one line. What does the caller hear? Try `os.close(1)`, a
# `print`, an answer with the id 2, or an answer and then a `1 / 0`.

# %%
MINE = "r = read(); sys.stderr.write('I give up'); sys.exit(7)"
wire = StdioTransport(script(MINE))
try:
    async with asyncio.timeout(2):
        print(await wire.send(asking(MONDAY)))
except (McpError, TimeoutError) as error:
    print(type(error).__name__, getattr(error, "exit_code", ""), getattr(error, "stderr_tail", ""))
await wire.close()

# %% [markdown]
# ## What changed
#
# | name | what it does |
# |---|---|
# | `LineSplitter` | chunks in, whole lines out, none above the limit |
# | `InFlight` | who waits for which answer; every request is settled once |
# | `child_environment` | what a server gets of our variables: a short list of names |
# | `ServerProcess` | one run of a command: hears every sign, ends it in three steps |
# | `Conversation` | messages with one process, from its start to its end |
# | `StdioTransport` | an McpTransport over it, started when needed and again after an end |

# %% [markdown]
# ## Where the official SDK differs
#
# Its environment list is nearly ours, and it ends a process in the same steps. The rest differs, as
# measured with the same faulty servers. A broken line is logged, and the call waits for its
# deadline. A dead process is `MCPError`, code -32000, "Connection closed": no exit code, and the
# last words go to the terminal. It is not started again, so every later call fails alike. Its
# transport is a pair of streams that end with the process; ours is an object that outlives it.

# %% [markdown] taken="mini_agent.mcp.lines"
# ## Taken from the modules without showing it
#
# | lines | why |
# |---|---|
# | `MAX_LINE`, `SHOWN` | 64 MiB for a line, and how many bytes of a broken one an error shows |
# | `TooLong` | a dataclass with one field, imported |

# %% [markdown] taken="mini_agent.mcp.command"
# | command | why |
# |---|---|
# | `POSIX_NAMES`, `WINDOWS_NAMES`, `ALLOWED` | the names that are handed on, for each system; `ALLOWED` is one of them |
# | `checked_command`, `checked_directory`, `sayable` | refuse a command that is one string or empty, and what no system call takes: a NUL, half a surrogate pair |
# | `found_program` | Windows finds `npx` as `npx.cmd` only when told so |
# | `why_not_started` | one sentence for a failed start, without the arguments: they may hold a secret |

# %% [markdown] taken="mini_agent.mcp.process"
# | process | why |
# |---|---|
# | `TAIL`, `TOGETHER` | 8 KiB; how many messages wait for one another before they are written |
# | `HeardAtOnce` | hands each chunk of stdout on at once; what asyncio puts there does so a turn of the event loop later |
# | `ServerProcess` | imported; beside what is above it starts the child in a group of its own, writes a message in one piece, sends what one turn of the event loop wrote at once, waits while the pipe is full, widens both pipes on Linux, signals the whole group, and waits for the exit code of what it killed |

# %% [markdown] taken="mini_agent.mcp.stdio"
# | stdio | why |
# |---|---|
# | `StdioTransport` | imported; what is not above keeps its fields, refuses to start when closed or during a pause, and runs `on_start` |
# | `Ask`, `OnStart` | the types of `on_start` |
# | `FREE_STARTS`, `MAX_STARTS`, `LONGEST_PAUSE` | 3 starts without a pause, 12 in all, 30 seconds at most |

# %% [markdown]
# ## Exercises and next
#
# `exercises/04_stdio.ipynb` has 3 tasks, each with a check that answers:
#
# - **04.1** Ten servers: what does the caller hear? (warm-up, 8 minutes)
# - **04.2** `LineSplitter`: lines, however the bytes are cut (solid, 20 minutes)
# - **04.3** Mend it: answers matched by order (demanding, 30 minutes)
#
# And one without: run the two tests of notebook 03 over `StdioTransport`, with `CALENDAR` and with
# `faults.command("dies_mid_call")`. Not a word of them should change.
#
# Next: **05, What can a network do to me?** The same seam, and a server that is not on this machine.
