# %% [markdown]
# # 05 · What can a network do to me?
#
# At the end you hold HttpTransport: the seam of notebook 03 over a network. And a table of stdio
# against HTTP, every cell of which you measured. About 55 minutes.

# %%
from __future__ import annotations

from mini_agent import draw

draw.layers(lit="transport")

# %% [markdown]
# ## Eleven words
#
# | word | what it is here |
# |---|---|
# | Streamable HTTP | MCP's transport over a network: a POST for each message, JSON or events in reply |
# | endpoint | the one web address at which a server takes messages |
# | POST | the HTTP request that carries a body to an address |
# | header | a name and a value that HTTP sends before a body |
# | status | the number that begins an HTTP reply: 200 is good, 4xx blames who asked, 5xx who answers |
# | event stream | an HTTP reply that comes in parts, while the server is still at work (SSE) |
# | gateway | a machine on the way that passes requests on, and may answer in the server's place |
# | redirect | an HTTP reply that says: ask at another address |
# | retry | a request made once more; only who asked can know whether twice does harm |
# | TLS | the encryption under `https`; with it a server also proves its name |
# | loopback | the network inside one machine, such as 127.0.0.1 |

# %% [markdown]
# ## One request, one POST
#
# httpx sends HTTP. Its MockTransport is a function from request to reply, so the first server needs
# no port. Behind it stands the calendar of the last notebooks.

# %%
import json

import httpx

from fake_servers.calendar import calendar_server
from mini_agent.mcp.messages import build_meta, build_request, decode, encode

calendar = calendar_server()


async def web(request):
    *_, answer = [said async for said in calendar.handle(json.loads(request.content))]
    return httpx.Response(200, json=answer)


client = httpx.AsyncClient(transport=httpx.MockTransport(web))
print(calendar.info)

# %% [markdown]
# The revision calls it Streamable HTTP: a request is the body of a POST, its response the body of the
# reply. The fifth of August is a day with nothing on it.

# %%
MONDAY, FREE_DAY = "2026-08-03", "2026-08-05"


def calling(name, arguments, request_id=1):
    params = {"name": name, "arguments": arguments}
    return build_request(request_id, "tools/call", params, meta=build_meta())


def asking(day, request_id=1):
    return calling("calendar_query", {"date": day}, request_id)


# %%
reply = await client.post("https://calendar.example/mcp", json=asking(FREE_DAY))
print(reply.request.method, reply.status_code, reply.json()["result"]["content"][0]["text"])

# %% [markdown]
# Nothing was opened before and nothing stays open. The next POST may reach another machine, and that
# machine can answer it just as well.
#
# Specification: basic/transports/streamable-http.

# %% [markdown]
# ## What a server asks of a POST
#
# Now a real server, at a port of this machine. It follows the revision, and our POST does not yet.

# %%
from fake_servers.http import serve

running = serve(calendar_server())
url = await running.start()
by_hand = httpx.AsyncClient(trust_env=False)  # no proxy between us and this machine
reply = await by_hand.post(url, json=asking(FREE_DAY))
print(reply.status_code, reply.text)

# %% [markdown]
# A server answers with a JSON body or with an event stream, as it likes. So a client says that it can
# read both, each time.

# %%
ACCEPT = {"Accept": "application/json, text/event-stream"}
reply = await by_hand.post(url, json=asking(FREE_DAY), headers=ACCEPT)
refused = reply.json()["error"]
print(reply.status_code, refused["code"])
print(refused["message"])

# %% [markdown]
# One step further. Now it wants headers that say what the body says. -32020 is MCP's number for
# "headers and body do not fit".

# %% [markdown]
# ## `standard_headers`: the body, once more, in short
#
# Three facts of the body: the version, the method, and the name where the method is about one thing.
# They are read from the body, so they cannot differ from it.

# %%
import base64

from mini_agent.mcp.headers import NAMED_BY, SAFE_INTEGER, header_value
from mini_agent.mcp.messages import META
from mini_agent.types import JsonObject

NAMED_BY

# %% include mini_agent.mcp.headers.standard_headers
standard_headers(asking(FREE_DAY))

# %% tags=["covers-http-one-post-a-request"]
message = asking(FREE_DAY)
reply = await by_hand.post(url, json=message, headers=ACCEPT | standard_headers(message))
print(reply.request.method, reply.status_code, reply.headers["content-type"])
print(reply.json()["result"]["content"][0]["text"])

# %% [markdown]
# ### Why say it twice?
#
# For those on the way. Here is a gateway that lets reading through and holds back all else. It looks
# at one header and opens no body.


# %%
def gateway(headers):
    return headers["Mcp-Name"] == "calendar_query"


deleting = calling("calendar_delete", {"id": "apt-1"})
for message in (asking(MONDAY), deleting):
    print(message["params"]["name"], "passes:", gateway(standard_headers(message)))

# %% [markdown]
# So a client that lies in its header would walk past the gateway. Header: query. Body: delete.

# %% tags=["covers-headers-mirror-the-call"]
lying = standard_headers(deleting) | {"Mcp-Name": "calendar_query"}
print("passes:", gateway(lying))
reply = await by_hand.post(url, json=deleting, headers=ACCEPT | lying)
refused = reply.json()["error"]
print(reply.status_code, refused["code"])
print(refused["message"])

# %% [markdown]
# The server reads both and refuses. Only because every server must do that can a gateway trust a
# header. The body stays the source of truth.
#
# Specification: basic/transports/streamable-http, "Server Validation".

# %% [markdown]
# ### `header_value`: what no header can hold
#
# A header is one line of plain ASCII. A name may be anything. What does not fit travels as base64
# between two marks, and so does a text that looks like that already.

# %% include mini_agent.mcp.headers.header_value
for value in ("us-west1", "Hello, 世界", " padded ", "line1\nline2", "=?base64?x?=", 42, True):
    print(f"{value!r:<16} {header_value(value)}")

# %% [markdown]
# The line break matters most. Sent as it is, a tool's name could end its header and begin another.

# %% [markdown]
# ### `mirrored_headers`: arguments as well
#
# A tool may mark an argument with `x-mcp-header`, so that a gateway can route by it. The client finds
# the marks in its catalogue and fills the envelope of `send`.

# %%
from mini_agent.mcp.headers import mirror_fault, mirrored_headers

region = {"type": "string", "x-mcp-header": "Region"}
schema = {"type": "object", "properties": {"region": region, "date": {"type": "string"}}}
print(mirrored_headers(schema, {"region": "north", "date": MONDAY}))
print(mirror_fault({"type": "object", "properties": {"at": region | {"type": "number"}}}))

# %% [markdown]
# A tool with such a fault is left out of the catalogue over HTTP. Over a pipe nobody looks at
# headers, and the same tool is fine there.

# %% [markdown]
# ### And over stdio?
#
# There is nobody on the way. The three facts are in the line itself, where they were all along.

# %% tags=["covers-stdio-needs-no-headers"]
from mini_agent.mcp.http import HttpTransport
from mini_agent.mcp.stdio import StdioTransport

line = encode(asking(MONDAY))
for name, value in standard_headers(asking(MONDAY)).items():
    print(f"{name:<21} in the line: {value.encode() in line}")
print("headers travel:", StdioTransport.mirrors_envelope, HttpTransport.mirrors_envelope)

# %% [markdown]
# ## `checked_endpoint`: who may read along
#
# A network has other people on it. `http://` is readable on the way and anyone can answer it,
# `https://` is encrypted, and the server proves its name. On loopback nobody else is on the line.

# %%
import ipaddress

from mini_agent.mcp.endpoint import Endpoint

print([ipaddress.ip_address(address).is_loopback for address in ("127.0.0.1", "10.0.0.1")])

# %% include mini_agent.mcp.endpoint.is_loopback
print([is_loopback(host) for host in ("localhost", "127.0.0.1", "::1", "127.0.0.1.example")])

# %% include mini_agent.mcp.endpoint.checked_endpoint

# %% [markdown]
# Five addresses. The third is the one that a tutorial would write, and the fourth would put a
# password into every log.

# %% tags=["covers-http-needs-tls"]
for address in (
    "https://calendar.example/mcp",
    "http://127.0.0.1/mcp",
    "http://calendar.example/mcp",
    "https://robin:s3cret@calendar.example/mcp",
    "calendar.example/mcp",
):
    try:
        print("yes ", checked_endpoint(address).shown)
    except ValueError as error:
        print("no  ", str(error).replace("; ", ";\n     "))

# %% [markdown]
# It is decided when the transport is made, before a single byte leaves. And a server that speaks no
# TLS where we expect it was never reached: nothing is sent to it. `outcome` gives what came back, or
# what was raised.

# %%
from mini_agent.errors import McpError


async def outcome(wire, message):
    try:
        return await wire.send(message)
    except McpError as error:
        return error
    finally:
        await wire.close()


# %%
error = await outcome(HttpTransport(url.replace("http:", "https:")), asking(MONDAY))
print(type(error).__name__, "· may have acted:", error.may_have_acted)

# %% [markdown]
# ### Limits, on both sides
#
# Anybody on a network can send a gigabyte. A server sets a limit and says 413. This one allows 2000
# bytes.

# %% tags=["covers-http-needs-request-limits"]
async with serve(calendar_server(), max_body=2000) as small:
    said = await outcome(HttpTransport(small.url), asking(FREE_DAY))
    long = calling("calendar_create", {"title": "x" * 3000})
    error = await outcome(HttpTransport(small.url), long)
print("the short one:", list(said))
print("the long one: ", type(error).__name__, error.status, "· acted?", error.may_have_acted)

# %% [markdown]
# ## JSON or event stream
#
# The same question to a server that always streams. This is how its reply begins.

# %%
message = asking(FREE_DAY)
headers = ACCEPT | standard_headers(message)
async with serve(calendar_server(), replies="stream") as streaming:
    reply = await by_hand.post(streaming.url, json=message, headers=headers)
print(reply.headers["content-type"])
print(reply.text[:60] + "...")

# %% [markdown]
# An event is a few lines and ends with a blank one. `data` is the message. Progress can come in
# events before it, and so the server can speak while it works.

# %% [markdown]
# ### The naive parser
#
# Split at blank lines, take what follows `data: `. On an event like the one above it works.


# %%
def naive_events(body):
    parts = body.decode().split("\n\n")
    return [json.loads(part.partition("data: ")[2]) for part in parts if part]


print(naive_events(b'event: message\ndata: {"id":1}\n\n'))

# %% [markdown]
# Six bodies that every browser can read, and one that arrived in part.

# %%
BODIES = {
    "plain": b'data: {"id":1}\n\n',
    "Windows line ends": b'data: {"id":1}\r\n\r\ndata: {"id":2}\r\n\r\n',
    "old Mac line ends": b'data: {"id":1}\r\r',
    "no space": b'data:{"id":1}\n\n',
    "a comment first": b': still here\n\ndata: {"id":1}\n\n',
    "in two data lines": b'data: {"id":\ndata: 1}\n\n',
    "half an event": b'data: {"id":1',
}


# %%
def attempt(function, value):
    try:
        return function(value)
    except Exception as error:
        return type(error).__name__


# %%
for name, body in BODIES.items():
    print(f"{name:<18} {attempt(naive_events, body)}")

# %% [markdown]
# ## `EventParser`: bytes in, events out
#
# It reads as the standard for event streams says, and knows no network. Like LineSplitter it takes
# chunks. A line ends at any of three line ends, and the hard one is `\r\n` cut in the middle.

# %%
import inspect
from collections.abc import Iterator, Mapping

from mini_agent.errors import MalformedMessage
from mini_agent.mcp.events import BOM, MAX_EVENT, StreamEvent
from mini_agent.workbook import part_of

print(inspect.getsource(StreamEvent))

# %% include mini_agent.mcp.events.EventParser(__init__)

# %% [markdown]
# A chunk that ends with `\r` may have its `\n` in the next one. Bytes split at `\r` and `\n` only, so
# here `splitlines` is right.

# %% include mini_agent.mcp.events.EventParser.feed EventParser._keep

# %% [markdown]
# `_keep` bounds what is kept, as a server could send an event without end. A blank line ends an
# event, if there was any data in it.

# %% include mini_agent.mcp.events.EventParser._end_line

# %% [markdown]
# A comment is a field without a name, and fields that nobody asked for are passed over. Two data
# lines are one text with a line break between them.

# %% include mini_agent.mcp.events.EventParser._take_field


# %%
def events_of(*chunks):
    parser = EventParser()
    return [event for chunk in chunks for event in parser.feed(chunk)]


for name, body in BODIES.items():
    print(f"{name:<18} {[event.data for event in events_of(body)]}")

# %% [markdown]
# Half an event is no event. And the strict test of notebook 04: all three line ends, a comment, an é,
# cut at every point and into single bytes.

# %%
raw = 'event: message\r\ndata: {"é":1}\r\n\r\n: ping\n\ndata: 2\r\rdata: a\ndata: b\n\n'.encode()
whole = events_of(raw)
for cut in range(len(raw) + 1):
    assert events_of(raw[:cut], raw[cut:]) == whole
assert events_of(*[raw[i : i + 1] for i in range(len(raw))]) == whole
print(f"{len(raw) + 1} ways to cut, each time {[event.data.decode() for event in whole]}")

# %% [markdown]
# ## `HttpTransport`: the seam
#
# An McpTransport as in notebook 03. It holds no connection state: no session, no table of who waits.
# Each `send` is a POST of its own and waits for its own reply.

# %%
import asyncio

from mini_agent.mcp.client import McpClient
from mini_agent.mcp.endpoint import checked_headers
from mini_agent.mcp.http import EMPTY, chunks_of
from mini_agent.mcp.messages import excerpt, kind
from mini_agent.mcp.transport import NO_ENVELOPE

print(*inspect.signature(HttpTransport).parameters, sep=", ")

# %% [markdown]
# ### `translated`: no error of httpx leaves
#
# httpx has some thirty exceptions, the network below it more. One question sorts them: can anything
# have been sent? If not, ConnectFailed. If so, TransportClosed.

# %%
import contextlib

from mini_agent.errors import ConnectFailed, HttpStatusError, TransportClosed
from mini_agent.mcp.replies import named, why_no_connection, words

endpoint = checked_endpoint("https://calendar.example/mcp")
print(named(502))

# %% include mini_agent.mcp.replies.translated

# %%
for cause in (httpx.ConnectError, httpx.ConnectTimeout, httpx.ReadError, httpx.RemoteProtocolError):
    try:
        with translated(endpoint):
            raise cause("what httpx says")
    except McpError as error:
        print(f"{cause.__name__:<20} {type(error).__name__:<16} acted? {error.may_have_acted}")

# %% [markdown]
# ### `send`
#
# Encode, collect the headers, borrow a client, post, translate. `_slots` lets `max_in_flight`
# requests out at once. `_until_closed` ends them when the transport is closed. Deadlines are the
# caller's, as over a pipe.

# %% include mini_agent.mcp.http.HttpTransport.send

# %% include mini_agent.mcp.http.HttpTransport._exchange

# %% [markdown]
# `finally` closes the reply on every way out. Over HTTP that is also the cancel: the server sees that
# nobody listens any more.

# %% [markdown]
# ### `_read`: what kind of reply
#
# A good status with JSON, or with events. Everything else is an error with a name. An error quotes
# what came, so `without_secrets` takes our own token out of it, if the server has repeated it.

# %%
from mini_agent.mcp.replies import foreign_encoding, media_type, no_answer, without_secrets

print(media_type("Application/JSON; charset=utf-8"))

# %% include mini_agent.mcp.http.HttpTransport._read

# %% [markdown]
# A stream is read until its response is there. What comes before it goes to the listener. A stream
# that ends without a response has broken off.

# %% include mini_agent.mcp.http.HttpTransport._read_stream

# %% include mini_agent.mcp.http.HttpTransport._take_event

# %% [markdown]
# ### `answer`: to this request, and to no other
#
# One POST has one response, so ids are not needed to find it. They are checked all the same. A wrong
# one means that somebody on the way mixed two replies up.

# %% include mini_agent.mcp.replies.answer
request = asking(MONDAY, 7)
for response in ({"id": 7, "result": {}}, {"id": 8, "result": {}}, {"error": {"code": -32700}}):
    print(attempt(lambda said: answer(said, request), response))

# %% [markdown]
# The last one has no id. A server that could not even read the body cannot know it, and there is no
# other request that it could mean.

# %% [markdown]
# ### Both forms, run
#
# A body that comes in parts, for MockTransport. An exception among the parts is raised: that is a
# network that breaks.


# %%
class Parts(httpx.AsyncByteStream):
    def __init__(self, *parts):
        self.parts = parts

    async def __aiter__(self):
        for part in self.parts:
            if isinstance(part, Exception):
                raise part
            yield part


STREAM = {"Content-Type": "text/event-stream"}


def event(message):
    return b"data: " + encode(message) + b"\n\n"


# %% [markdown]
# `at` makes a transport to an address where our own function answers. The addresses of these cells do
# not exist, and nothing leaves this process.


# %%
def at(handler, address="https://calendar.example/mcp", **options):
    client = httpx.AsyncClient(transport=httpx.MockTransport(handler))
    return HttpTransport(address, client=client, **options)


progress = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": 1}}
done = {"jsonrpc": "2.0", "id": 1, "result": {"resultType": "complete"}}


# %%
def as_json(request):
    return httpx.Response(200, json=done)


def as_stream(request):
    return httpx.Response(200, headers=STREAM, stream=Parts(event(progress), event(done)))


for handler in (as_json, as_stream):
    wire, heard = at(handler), []
    wire.listener = heard.append
    print(f"{handler.__name__:<10}", await wire.send(asking(MONDAY)) == done, len(heard), "heard")

# %% [markdown]
# Whoever calls cannot tell which it was. Progress went to the listener before `send` returned, as the
# seam promises.

# %% [markdown]
# The server had a limit for what we send. We have one for what it sends.

# %%
error = await outcome(at(as_json, max_body=10), asking(MONDAY))
print(type(error).__name__, "·", error)

# %% [markdown]
# A reply may come compressed, and then a few bytes unpack to many. So the limit counts what comes
# out. This reply is a million spaces and a message; packed, it is far below the limit.

# %%
import gzip

PACKED = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
packed = gzip.compress(b" " * 1_000_000 + encode(done))


def as_gzip(request):
    return httpx.Response(200, headers=PACKED, stream=Parts(packed))


# %%
for limit in (2_000_000, 100_000):
    said = await outcome(at(as_gzip, max_body=limit), asking(MONDAY))
    print(f"limit {limit:>9,} · packed fits: {len(packed) < limit} ·", said == done or said)

# %% [markdown]
# ## A stream that is cut
#
# The server works, begins to answer, and the connection breaks. This one does so once, at the first
# POST. It notes the id of each message that reaches it.

# %%
from mini_agent.trace import Trace, in_brief

CUT = httpx.ReadError("connection reset")
calendar, posts = calendar_server(), []


async def cuts_once(request):
    message = json.loads(request.content)
    posts.append(message["id"])
    assert "last-event-id" not in request.headers  # nothing is taken up again
    *_, response = [said async for said in calendar.handle(message)]
    parts = (event(progress), CUT) if len(posts) == 1 else (event(response),)
    return httpx.Response(200, headers=STREAM, stream=Parts(*parts))


# %% [markdown]
# The naive way to be helpful: it was only the network, so try again. We book a lunch on the free day.


# %%
async def naive_send(client, message):
    while True:
        with contextlib.suppress(httpx.HTTPError):
            reply = await client.post("https://calendar.example", json=message)
            return json.loads(events_of(reply.content)[-1].data)


booking = {"title": "Lunch", "start": f"{FREE_DAY}T12:00", "end": f"{FREE_DAY}T13:00"}
client = httpx.AsyncClient(transport=httpx.MockTransport(cuts_once))
await naive_send(client, calling("calendar_create", booking))
day = await naive_send(client, asking(FREE_DAY, 2))
print(posts, [found["title"] for found in day["result"]["structuredContent"]["appointments"]])

# %% [markdown]
# Two lunches. The first POST had booked one, and only its reply was lost. From this side that looks
# just like a POST that never arrived.

# %% [markdown]
# HttpTransport sends nothing twice. The caller gets TransportClosed, and it says that the server may
# have acted.

# %%
calendar, posts, trace = calendar_server(), [], Trace()
client = McpClient(at(cuts_once), server="calendar", trace=trace)
try:
    await client.call("calendar_create", booking)
except TransportClosed as error:
    print(type(error).__name__, "· may have acted:", error.may_have_acted, "· posts:", posts)

# %%
draw.chain(trace)

# %% [markdown]
# So this caller looks before it decides. The lunch is there, and there is nothing to repeat.

# %%
day = await client.call("calendar_query", {"date": FREE_DAY})
print("posts:", posts, [found["title"] for found in day.structured_content["appointments"]])

# %% [markdown]
# A query can be asked again without harm. That is a new request under a new id. The old one is lost:
# a stream is never taken up where it broke.
#
# Specification: basic/transports/streamable-http, "Receiving Messages".

# %% tags=["covers-http-cut-stream-is-lost"]
posts = []
client = McpClient(at(cuts_once), server="calendar")
for _ in range(2):
    try:
        await client.call("calendar_query", {"date": FREE_DAY})
        print("answered, posts:", posts)
    except TransportClosed:
        print("lost,     posts:", posts)

# %% [markdown]
# > **Beside the text.** Revisions before this one could resume a stream: events had ids, and a client
# > came back with the last one. The chapter behind this notebook already has the new rule, a new
# > request with a new id. It also says that HTTP adds "timeouts and retries". A retry is the caller's
# > here, since only it knows whether twice does harm.

# %% [markdown]
# ## A deadline, and nobody at the other end
#
# The worst network is silent. The transport waits as long as it is told to. The client sets the
# deadline and cancels, and the cancel closes the reply.

# %%
from fake_servers import faults
from mini_agent.errors import RequestTimeout

async with faults.http("silence") as bad, McpClient(HttpTransport(bad.url)) as client:
    try:
        await client.call("calendar_query", {"date": MONDAY}, timeout=0.05)
    except RequestTimeout as error:
        print(type(error).__name__, error.seconds, "· may have acted:", error.may_have_acted)
    print(len(await client.list_tools()), "tools, over the same transport")

# %% [markdown]
# What does the server see of a cancel? We give the calendar a query tool that never ends by itself,
# and wait for it to be reached and to be stopped. If the cancel did not arrive, the cell would hang.

# %%
from dataclasses import replace

reached, stopped = asyncio.Event(), asyncio.Event()


async def never_ends(arguments, context):
    reached.set()
    try:
        await asyncio.Event().wait()
    finally:
        stopped.set()


slow = calendar_server()
slow.tools[0] = replace(slow.tools[0], run=never_ends)
print(slow.tools[0].name)

# %%
async with serve(slow) as there, McpClient(HttpTransport(there.url)) as client:
    task = asyncio.create_task(client.call("calendar_query", {"date": MONDAY}))
    await reached.wait()
    task.cancel()
    await stopped.wait()
print([in_brief(message) for _, message in there.transcript])

# %% [markdown]
# One message, and no `notifications/cancelled`. Over a pipe that notification was needed, because all
# requests share it. Here each has a connection of its own, and closing it says enough.
#
# Specification: basic/transports/streamable-http, "Cancellation".

# %% [markdown]
# ## `refusal`: a status and no message
#
# A status that is no success can still hold a JSON-RPC error, and then the server has spoken: the
# client reads it as such. If not, somebody else may have.

# %%
from mini_agent.errors import AuthorizationError, TransportError
from mini_agent.mcp.replies import PAGE, answer_despite, elsewhere, hidden, hidden_in, retry_after

print(retry_after("120", now=0), retry_after("Thu, 01 Jan 1970 00:02:00 GMT", now=100))

# %% include mini_agent.mcp.http.HttpTransport._read_refusal

# %% [markdown]
# `refusal` chooses the class by the status and words the sentence. What a page says is quoted in
# short, with every control character made visible.

# %% include mini_agent.mcp.replies.refusal

# %% [markdown]
# Now all of them, from servers that really do it, on sockets. We print what a program would decide
# by: the class, whether the server may have acted, and the attributes.

# %%
NAMES = ("refused", "status_401", "status_403", "status_404_bare", "status_404_jsonrpc")
NAMES += ("status_429", "status_502_html", "wrong_content_type", "cut_body", "stream_cut")


async def failure(transport, timeout=30):
    async with McpClient(transport, server="calendar", timeout=timeout) as client:
        try:
            await client.call("calendar_query", {"date": MONDAY})
        except McpError as error:
            return error


# %%
def told(error):
    known = {name: getattr(error, name, None) for name in ("status", "code", "retry_after")}
    said = [f"{name} {value}" for name, value in known.items() if value is not None]
    return ", ".join(["acted? " + ("maybe" if error.may_have_acted else "no"), *said])


for name in NAMES:
    async with faults.http(name) as bad:
        error = await failure(HttpTransport(bad.url))
    print(f"{name:<19} {type(error).__name__:<19} {told(error)}")

# %% [markdown]
# Two kinds of 404. The bare one is a web server that never heard of MCP: a wrong address. The other
# holds a JSON-RPC error: the right server, which lacks this method. Only the body tells them apart.

# %% [markdown]
# 401 and 403 keep the challenge, the server's own words on what it wants. Notebook 14 answers it. 429
# says in how many seconds to come again. 502 is a gateway's page, and behind it the server may have
# acted.

# %%
async with faults.http("status_401") as bad:
    print((await failure(HttpTransport(bad.url))).challenge)
async with faults.http("status_502_html") as bad:
    print((await failure(HttpTransport(bad.url))).excerpt)

# %% [markdown]
# ## Redirects are not followed
#
# An address may answer "ask over there". A browser goes. Look at what a client takes along when it
# goes: this one carries a key in a header.

# %%
seen = []


def moved(request):
    seen.append((request.url.host, request.headers.get("x-key")))
    if request.url.host == "calendar.example":
        return httpx.Response(307, headers={"Location": "https://elsewhere.example/?t=s3cret"})
    return httpx.Response(200, json=done)


# %%
KEY = {"X-Key": "s3cret"}
going = httpx.AsyncClient(transport=httpx.MockTransport(moved), follow_redirects=True)
await going.post("https://calendar.example/mcp", json=asking(MONDAY), headers=KEY)
print(seen)

# %% [markdown]
# The key, and with 307 the whole body, went to a host that nobody configured. The transport stays
# where it was told to be.

# %%
seen.clear()
error = await outcome(at(moved, headers=KEY), asking(MONDAY))
print(type(error).__name__, "·", str(error).replace(": ", ":\n  "))
print(seen)

# %% [markdown]
# ### No secret in any message
#
# The `s3cret` of that redirect's address is not in the error. Nor is one in the query of our own
# address, or in a header. Error texts end up in logs, and logs in many hands.


# %%
def broken_gateway(request):
    return httpx.Response(502)


wire = at(broken_gateway, "https://calendar.example/mcp?key=s3cret", headers=KEY)
wire.trace = Trace()
error = await outcome(wire, asking(MONDAY))
print(error)
print("s3cret" in f"{error} {error!r} {wire!r} {wire.trace.table()}")

# %% [markdown]
# A header that would break the request is refused when the transport is made. The message names the
# header and never its value.

# %% tags=["raises-exception"]
HttpTransport("https://calendar.example/mcp", headers={"X-Key": "s3cret\r\nEvil: 1"})

# %% [markdown]
# ## stdio against HTTP, measured
#
# The chapter behind this notebook sets both side by side in a table of five rows. We fill it in. Each
# cell below measures one row and writes down what it found.

# %% [markdown]
# First what both have in common: the interface. One function, no word in it about what carries the
# messages.

# %% tags=["covers-differences-stay-inside"]
import sys

CALENDAR = [sys.executable, "-m", "fake_servers.calendar"]


async def day_over(transport):
    async with McpClient(transport, server="calendar") as client:
        return (await client.call("calendar_query", {"date": FREE_DAY})).content[0]["text"]


answers = [await day_over(StdioTransport(CALENDAR)), await day_over(HttpTransport(url))]
assert answers[0] == answers[1]
print(answers[0])

# %% [markdown]
# Four helpers. `child` is a process that answers with one expression, `result_of` the answer of a
# function over HTTP. `ask` sends a request and gives the result, or the name of the error. `word`
# says the same in one word.

# %%
import os

SAYS = "print(json.dumps({'jsonrpc': '2.0', 'id': m['id'], 'result': r}), flush=True)"
LOOP = "import json, os, sys\nfor n, line in enumerate(sys.stdin, 1):\n m = json.loads(line); "


def child(result, then="pass"):
    return StdioTransport([sys.executable, "-c", f"{LOOP}r = {result}; {then}; {SAYS}"])


def result_of(request, **result):
    answered = {"jsonrpc": "2.0", "id": json.loads(request.content)["id"], "result": result}
    return httpx.Response(200, json=answered)


# %%
rows = {}


async def ask(wire, request_id=1):
    try:
        return (await wire.send(asking(MONDAY, request_id)))["result"]
    except McpError as error:
        return type(error).__name__


def word(said):
    return said if isinstance(said, str) else "answered"


# %% [markdown]
# ### Server form
#
# Both servers answer with the number of the process they run in. Two connections to each, and two
# requests over each connection.


# %% tags=["covers-transport-table-form"]
def tells(request):
    return result_of(request, process=os.getpid())


async def form(wires):
    found = {(await ask(wire))["process"] for wire in wires * 2}
    for wire in wires:
        await wire.close()
    return [f"connections: {len(wires)}", f"server processes: {len(found)}"]


TELLS = "{'process': os.getpid()}"
rows["server form"] = await form([child(TELLS), child(TELLS)]), await form([at(tells), at(tells)])
rows["server form"]

# %% [markdown]
# A child is started for one connection and serves no other. The service was there before we came, and
# serves whoever comes. Here it lives in the notebook, which changes nothing about that.

# %% [markdown]
# ### Channel
#
# The child says which line of its stdin it read. The service says which POST it got.


# %% tags=["covers-transport-table-channel"]
def reads(request):
    return result_of(request, read=f"{request.method} {request.url.path}")


async def channel(wire):
    read = [(await ask(wire))["read"] for _ in range(2)]
    await wire.close()
    return read


rows["channel"] = await channel(child("{'read': f'line {n} of stdin'}")), await channel(at(reads))
rows["channel"]

# %% [markdown]
# ### Failures
#
# What can go wrong follows from what lies underneath. A process can end or stop reading. A network
# can be silent, break, or ask who we are.

# %%
DEAF = "import os, signal; os.close(0); signal.pause()"
ends = {
    "exit": StdioTransport(faults.command("dies_mid_call")),
    "broken pipe": StdioTransport([sys.executable, "-c", DEAF], grace=0.3),
}
found = {name: await failure(wire) for name, wire in ends.items()}
over_stdio = [f"{name}: {type(error).__name__}" for name, error in found.items()]
print(over_stdio, [error.exit_code for error in found.values()])

# %% tags=["covers-transport-table-failures", "covers-transport-decides-failures"]
over_http = []
for name, timeout in {"silence": 0.05, "stream_cut": 30, "status_401": 30}.items():
    async with faults.http(name) as bad:
        error = await failure(HttpTransport(bad.url), timeout)
    over_http.append(f"{name}: {type(error).__name__}")
rows["failures"] = over_stdio, over_http
over_http

# %% [markdown]
# The classes are one tree for both, so a caller needs one `except`. A pipe never says
# AuthorizationError, and a network has no exit code.

# %% [markdown]
# ### Lifecycle
#
# Three requests, of which the server loses the second: the child exits, the stream is cut. We count
# processes, POSTs, and session headers.


# %%
def loses_the_second(request):
    posts.append("mcp-session-id" in request.headers)
    if len(posts) == 2:
        return httpx.Response(200, headers=STREAM, stream=Parts(event(progress), CUT))
    return tells(request)


async def three(wire):
    said = {number: await ask(wire, number) for number in (1, 2, 3)}
    await wire.close()
    return said


def lost(said):
    return [f"request {number}: {word(answer)}" for number, answer in said.items()]


# %% tags=["covers-transport-table-lifecycle"]
posts = []
piped = await three(child(TELLS, then="n == 2 and sys.exit(1)"))
posted = await three(at(loses_the_second))
started = {said["process"] for said in piped.values() if said != word(said)}
over_stdio = [*lost(piped), f"processes: {len(started)}"]
over_http = [*lost(posted), f"POSTs: {len(posts)}", f"sessions: {sum(posts)}"]
rows["lifecycle"] = over_stdio, over_http
print(over_stdio[-1], "·", *over_http[-2:])

# %% [markdown]
# Over a pipe the third request needed a new process. Over HTTP there was nothing to start again: no
# connection counts, and there is no session that could be lost.

# %% [markdown]
# ### Authentication
#
# The child looks for a key or a token among its variables, and answers without. This service wants a
# token, and answers 401 to whoever has none.
#
# | word | what it is |
# |---|---|
# | authentication | finding out who is asking |
# | token | a signed text that says who is asking, at which service, and for what |


# %%
def guarded(request):
    if request.headers.get("authorization") != "Bearer t0ken":
        return httpx.Response(401, headers={"WWW-Authenticate": "Bearer"})
    return result_of(request, answered=True)


# %% tags=["covers-transport-table-authentication"]
wire = child("{'keys': [k for k in os.environ if 'KEY' in k or 'TOKEN' in k]}")
said = await ask(wire)
await wire.close()
tries = {"no token": at(guarded), "token": at(guarded, headers={"Authorization": "Bearer t0ken"})}
over_http = [f"{name}: {word(await ask(wire))}" for name, wire in tries.items()]
rows["authentication"] = [f"{len(said['keys'])} keys: {word(said)}"], over_http
rows["authentication"]

# %% [markdown]
# ### The table
#
# Five rows. Each line stands for something that one of the cells above ran and saw.

# %%
from itertools import zip_longest

print(f"{'':<15} {'STDIO':<30} HTTP")
for name, row in rows.items():
    for left, right in zip_longest(*row, fillvalue=""):
        print(f"{name:<15} {left:<30} {right}")
        name = ""

# %% [markdown]
# > **Beside the text.** The chapter draws one conclusion from its table: design the interface for the
# > worst case. That is why `send` may fail everywhere, and why a list, a pipe and a network fit behind
# > it alike.

# %% [markdown]
# ## What HTTP is for
#
# One server, several clients, and none of them had to start it. What one books, the other sees. A
# child process of each would have had a calendar of its own.

# %% tags=["covers-what-http-is-for"]
async with McpClient(HttpTransport(url)) as robin, McpClient(HttpTransport(url)) as kim:
    booked = await robin.call("calendar_create", booking)
    day = await kim.call("calendar_query", {"date": FREE_DAY})
print([found["title"] for found in day.structured_content["appointments"]])

# %% [markdown]
# ## Try it
#
# Answer badly in a way of your own: another id, a status of 200 with a page of HTML, an event that is
# no message, a body in another encoding. What does the caller hear?


# %%
def mine(request):
    return httpx.Response(200, json={"jsonrpc": "2.0", "id": 2, "result": {}})


print(await ask(at(mine)))

# %% [markdown]
# And what we opened, we close: the client that we posted with by hand, and the calendar at its port.

# %%
await by_hand.aclose()
await running.stop()
print("closed")

# %% [markdown]
# ## What changed
#
# | name | what it does |
# |---|---|
# | `standard_headers`, `header_value` | three facts of the body as headers, in base64 where needed |
# | `mirrored_headers` | the arguments that a tool wants to see in a header |
# | `checked_endpoint` | an address that may be used: https, or this machine |
# | `EventParser` | bytes in, events out, however they are cut |
# | `translated`, `refusal`, `answer` | what a failure, a status, a body means |
# | `HttpTransport` | an McpTransport over it: a POST for each message, nothing sent twice |

# %% [markdown]
# ## Where the official SDK differs
#
# Its seam is a pair of streams of messages, so every HTTP fact must become a message. A bare 404
# turns into "method not found" (-32601), a 502 into an internal error (-32603), a cut stream into
# "connection closed" (-32000): numbers that no server sent. It still resumes a stream whose events
# carried ids, for servers of older revisions, and it follows redirects within one origin. Here a
# JSON-RPC code always comes from the peer.

# %% [markdown] taken="mini_agent.mcp.http"
# ## Taken from the modules without showing it
#
# | http | why |
# |---|---|
# | `HttpTransport` | imported; what is not above keeps its fields, bounds a body, and ends what is in flight at `close`; its two fields `on_reply` and `may_respond` serve servers of an older revision |
# | `OnReply` | the type of `on_reply` |
# | `MAX_BODY`, `EMPTY`, `LINGER`, `ALWAYS` | 64 MiB, keep-alive events, 20 ms for a body to end, the headers of every POST |
# | `chunks_of`, `until_end` | read a body as it comes, and give its end a moment, so that the connection can be used again |

# %% [markdown] taken="mini_agent.mcp.connections"
# | connections | why |
# |---|---|
# | `Connections`, `tls_context` | an httpx client for each request in flight, lent and taken back; no part of the protocol |

# %% [markdown] taken="mini_agent.mcp.replies"
# | replies | why |
# |---|---|
# | `DECODED`, `PAGE` | the encodings we offered; how much of a page an error keeps |
# | `media_type`, `foreign_encoding`, `retry_after`, `elsewhere` | read one header each |
# | `hidden`, `hidden_in`, `without_secrets`, `SHORTEST` | a token that we sent is taken out of what an error quotes |
# | `answer_despite`, `no_answer` | a response under a bad status; a good status without one |
# | `named`, `words`, `why_no_connection` | word the errors |

# %% [markdown] taken="mini_agent.mcp.endpoint"
# | endpoint | why |
# |---|---|
# | `Endpoint` | a dataclass: the address, and what of it may be shown |
# | `checked_headers`, `HEADER_VALUE`, `OURS` | refuse what is no header, and the names that the transport sets itself |

# %% [markdown] taken="mini_agent.mcp.events"
# | events | why |
# |---|---|
# | `StreamEvent` | printed above, and imported: a dataclass |
# | `MAX_EVENT`, `BOM` | 64 MiB, and three bytes that may begin a stream |

# %% [markdown] taken="mini_agent.mcp.headers"
# | headers | why |
# |---|---|
# | `NAMED_BY`, `SAFE_INTEGER`, `TOKEN`, `Path`, `_ONE`, `_LISTS`, `_MAPS` | constants and a type |
# | `mirrored_headers`, `mirror_fault` | run above; they walk through a schema |
# | `_annotated`, `_values`, `_items`, `_at` | the walk itself |

# %% [markdown]
# ## Exercises and next
#
# `exercises/05_http.ipynb` has 4 tasks, each with a check that answers:
#
# - **05.1** Twelve replies: is the lunch booked? (warm-up, 8 minutes)
# - **05.2** A 504 to a query, a 504 to a booking (solid, 15 minutes)
# - **05.3** `header_fault`: why a gateway may trust a header (solid, 20 minutes)
# - **05.4** `EventParser`: bytes in, events out (demanding, 30 minutes)
#
# And one without: run the two tests of notebook 03 over `HttpTransport`, with `serve` and with
# `faults.http("stream_cut")`. Which line of them had to change?
#
# Next: **06, What does the protocol layer own?** Three transports carry messages. Now somebody must
# know what they mean.
