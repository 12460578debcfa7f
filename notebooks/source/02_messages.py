# %% [markdown]
# # 02 · What is on the wire?
#
# At the end you hold eight small pure functions: three build a message, one makes bytes of it, four
# read what comes back. They need no process and no network, and they never guess. About 30 minutes.

# %%
from __future__ import annotations

import json
from typing import Any

from pydantic_core import from_json, to_json

from mini_agent import draw
from mini_agent.errors import JsonRpcError, MalformedMessage

draw.layers(lit="client")

# %% [markdown]
# ## Nine words
#
# MCP is JSON-RPC 2.0 with a fixed vocabulary.
#
# | word | what it is |
# |---|---|
# | JSON-RPC | a standard for messages in JSON by which one program asks another to do something |
# | request | a message that asks for something; it has an `id` and a `method` |
# | response | a message that answers one request, under its `id`, with a `result` or an `error` |
# | notification | a message that tells something; it has no `id`, so nobody answers it |
# | `_meta` | what a request says about itself: version, capabilities, who asks |
# | schema | a rule for what a JSON value must hold; those of tools are written in JSON Schema |
# | revision | one edition of a specification, named by its date: 2026-07-28 for MCP |
# | handshake | an exchange before the first request, in which both sides agree on something |
# | session | what a server remembers of a client from one request to the next |

# %% [markdown]
# We need somebody to talk to. This calendar server lives in the notebook's own process; what we
# send it still goes through bytes, as it would on a pipe.

# %%
from fake_servers.calendar import calendar_server
from fake_servers.memory import InMemoryTransport

wire = InMemoryTransport(calendar_server())

# %% [markdown]
# ## The smallest request
#
# An id, a method, params. JSON-RPC asks for no more. We send it as it is.

# %% tags=["covers-request-says-all-it-needs"]
naive = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
await wire.send(naive)

# %% [markdown]
# Refused, and the refusal says why. Older revisions opened with a handshake, and the server
# remembered it. Revision 2026-07-28 has no handshake and no session. Each request must say
# everything the server needs to understand it.

# %% [markdown]
# ## `build_meta`
#
# Two fields are required: the version of the protocol, and what this client can do. An empty
# object says "nothing beyond the core". The client's name and version should be there too.
#
# Specification: basic/index, `_meta`. A line like this names the page of the MCP specification,
# revision 2026-07-28, that the code follows.

# %%
from mini_agent.mcp.messages import META, PROTOCOL_VERSION
from mini_agent.types import JsonObject

PROTOCOL_VERSION, META

# %% include mini_agent.mcp.messages.build_meta tags=["covers-meta-on-every-request"]
meta = build_meta(client_info={"name": "notebook", "version": "1"})
meta

# %% [markdown]
# The long prefix keeps the protocol's own keys apart from anybody else's. `_meta` is open: tracing
# systems put their ids there as well.

# %% [markdown]
# ## `build_request`
#
# The request is a plain dict. Nothing here sends anything, so a test can look at the whole of it.

# %% include mini_agent.mcp.messages.build_request tags=["covers-tool-operations"]
request = build_request(1, "tools/list", meta=meta)
response = await wire.send(request)
[tool["name"] for tool in response["result"]["tools"]]

# %% [markdown]
# The same server, the same method, and now it answers. It did not need to have met us before. We
# can show that: a new server, and the very first thing it hears is a call.

# %% tags=["covers-no-handshake-no-session", "covers-tool-operations"]
stranger = InMemoryTransport(calendar_server())
asked = {"name": "calendar_query", "arguments": {"date": "2026-08-04"}}
answer = await stranger.send(build_request(1, "tools/call", asked, meta=meta))
print(answer["result"]["content"][0]["text"])

# %% [markdown]
# No handshake, no listing, no discovery came first. A server behind a load balancer can be ten
# servers, and any of them can answer.

# %% [markdown]
# Here is that answer in full. `content` is for a reader, a list of blocks. `structuredContent` is the
# same for a program. `resultType` says that this is the whole answer, and `isError` would say that
# the tool could not do it.

# %%
answer

# %% [markdown]
# A tool in the list looks like this. `inputSchema` is a JSON Schema: what the arguments must be.

# %%
query = response["result"]["tools"][0]
{key: query[key] for key in ("name", "description", "inputSchema")}

# %% [markdown]
# ## `build_notification`
#
# A notification has no `id`. The server takes it, and we get nothing back: not a success, not a
# failure. Never write one where you need to know.

# %% include mini_agent.mcp.messages.build_notification
cancelled = build_notification("notifications/cancelled", {"requestId": 1})
print(await wire.send(cancelled))

# %% [markdown]
# ## `encode`: a message becomes bytes
#
# On a pipe, a line break ends a message. So none may be inside, and JSON sees to that: a line break
# in a text is written as two characters. The transport adds the one at the end.

# %%
note = build_notification("x", {"text": "two\nlines, déjà vu"})
print(json.dumps(note))

# %% [markdown]
# Why not stop here? Because Python's `json` also writes what is not JSON, and the peer's parser gives
# up somewhere far from our mistake.

# %%
print(json.dumps({"temperature": float("nan")}))

# %% [markdown]
# The package's version is several times faster, and it refuses. It looks for the two words first,
# since checking every number would cost more than all the rest.

# %% include mini_agent.mcp.messages.encode
print(encode(note).decode())

# %% tags=["raises-exception"]
encode(build_notification("x", {"temperature": float("nan")}))

# %% [markdown]
# ## `decode`: bytes become a message, or an exception
#
# First the way most of us would write it.


# %%
def naive_decode(raw):
    return json.loads(raw)


naive_decode(b'{"jsonrpc":"2.0","id":1,"result":{}}')

# %% [markdown]
# Now eight things that servers really print. Some are no JSON at all. Some are JSON, but no
# message.

# %%
eight = {
    "a banner": b"Calendar server v1.2 ready",
    "another framing": b"Content-Length: 20",
    "half a message": b'{"jsonrpc":"2.0","id":1,"resu',
    "not UTF-8": b'{"jsonrpc":"2.0","id":1,"result":{"t":"\x97"}}',
    "not a number": b'{"jsonrpc":"2.0","id":1,"result":{"t":NaN}}',
    "a batch": b'[{"jsonrpc":"2.0","id":1,"result":{}}]',
    "no version": b'{"id":1,"result":{}}',
    "an odd id": b'{"jsonrpc":"2.0","id":true,"result":{}}',
}
print(*eight, sep=", ")


# %%
def outcome(function, value):
    try:
        return f"accepted {function(value)}"
    except Exception as error:
        return type(error).__name__


for name, raw in eight.items():
    print(f"{name:<16} {outcome(naive_decode, raw)}")

# %% [markdown]
# Half of them pass. Look at the last one: `True` is an `int` in Python, and `True == 1`. That
# answer would be handed to whoever asked request 1.

# %% [markdown]
# The package's version says yes or no once, at the door. `MalformedMessage` means: the peer broke
# the format. `_malformed` makes it, and `excerpt` is how it quotes: short, with every control
# character made visible.

# %%
from mini_agent.mcp.messages import _malformed, excerpt

print(excerpt(b"Calendar \x1b[2K server v1.2"))

# %% include mini_agent.mcp.messages.check_message is_request_id
outcome(check_message, {"jsonrpc": "2.0", "id": True, "result": {}})

# %% include mini_agent.mcp.messages.decode tags=["covers-stopping-beats-guessing"]
for name, raw in eight.items():
    print(f"{name:<16} {outcome(decode, raw)}")

# %% [markdown]
# And a good message goes through unchanged. Bytes out, bytes in, the same value.

# %%
assert decode(encode(request)) == request
decode(b'{"jsonrpc":"2.0","id":1,"result":{}}')

# %% [markdown]
# ## `parse_response`: the answer, or whose "no" it is
#
# A response holds a result or an error. A first version takes the result where there is one.


# %%
def naive_parse(message):
    return message.get("result") or {}


naive_parse({"jsonrpc": "2.0", "id": 1, "result": {"content": ["09:00 Standup"]}})

# %% [markdown]
# It never fails. That is what is wrong with it. Here the server says that a result will come
# later, in a form that this client does not know. What does the user get to hear?

# %% tags=["covers-a-guess-misleads-what-follows"]
later = {"jsonrpc": "2.0", "id": 1, "result": {"resultType": "task", "taskId": "t-9"}}
appointments = naive_parse(later).get("content", [])
print(appointments or "Your Monday is free!")

# %% [markdown]
# The guess "no content means nothing there" became an answer. When a protocol is parsed, stopping
# beats guessing: an exception here costs one call, a wrong guess costs every step after it.

# %% [markdown]
# ## The peer's "no"
#
# An `error` object becomes an exception, and its class is chosen by the code alone. The text is for
# people. Programs that match it break with the next release of the server.

# %%
from mini_agent.mcp.messages import ERRORS

for code, cls in ERRORS.items():
    print(code, cls.__name__)

# %% [markdown]
# Three codes have a class of their own, since a host does something else about each. Every other
# code is a plain `JsonRpcError`.

# %% include mini_agent.mcp.messages.parse_error
parse_error({"code": -32022, "message": "Unsupported protocol version"})

# %% [markdown]
# The package's version. An absent `resultType` means "complete", because servers of earlier
# revisions do not send one. Any value that the revision does not name makes the result invalid.
#
# Specification: basic/index, `resultType`.

# %% include mini_agent.mcp.messages.parse_response
outcome(parse_response, later)

# %%
for code in (-32022, -32602, -32001):
    error = parse_error({"code": code, "message": "request timed out"})
    print(code, type(error).__name__)

# %% [markdown]
# The last one says "timed out", and yet it is no timeout of ours. It is the peer speaking. Our own
# failures are other classes and have no code.

# %% tags=["covers-errors-travel-as-json-rpc"]
refusal = await wire.send(naive)
outcome(parse_response, refusal)

# %% [markdown]
# ## Odd, but legal
#
# Strict does not mean picky. These two look wrong, and the revision allows them. The first is an
# answer about an order, from a printed sample: it has no `resultType`. The second is an error about a
# request that could not even be read, so it has no id.

# %% tags=["covers-sample-result-read"]
odd = {"jsonrpc": "2.0", "id": 41, "result": {"structuredContent": {"status": "delivered_late"}}}
parse_response(odd)

# %%
unreadable = {"jsonrpc": "2.0", "error": {"code": -32700, "message": "Parse error"}}
outcome(parse_response, unreadable)

# %% [markdown]
# > **Beside the text.** The sample comes from one of the two book chapters this kit grew from. It
# > lacks `content` too. Real servers do that, so the client reads an absent `content` as empty and
# > says so in the trace. The chapter's sample request lacks a closing quote and two of the `_meta`
# > fields; that one no server may accept.

# %% [markdown]
# ## What happened, drawn
#
# The client of notebook 06 is made of these functions. Here it asks for a day, and every line of
# the drawing comes from its trace.

# %%
from mini_agent.mcp.client import McpClient
from mini_agent.trace import Trace

trace = Trace()
client = McpClient(InMemoryTransport(calendar_server()), server="calendar", trace=trace)
await client.call("calendar_query", {"date": "2026-08-04"})
draw.sequence(trace)

# %% [markdown]
# And as a table. Each layer writes one line for what it saw; the transport saw messages, the client
# saw what they mean.

# %%
print(trace.table())

# %% [markdown]
# ## Try it
#
# Change one byte of this message so that `decode` refuses it, then one so that `decode` accepts it
# and `parse_response` refuses it. Which function owns which mistake?

# %%
raw = b'{"jsonrpc":"2.0","id":7,"result":{"resultType":"complete","content":[]}}'
parse_response(decode(raw))

# %% [markdown]
# ## What changed
#
# | name | what it does |
# |---|---|
# | `build_meta`, `build_request`, `build_notification` | values in, a message out |
# | `encode` | a message becomes one line of bytes, or ValueError |
# | `decode`, `check_message` | bytes become a message, or MalformedMessage |
# | `parse_response`, `parse_error` | a message becomes its result, or the exception it means |

# %% [markdown]
# ## Where the official SDK differs
#
# The official Python SDK parses into one pydantic class for each kind of message and raises one
# class, `MCPError`, for a peer's "no", for a timeout and for a closed pipe alike. We keep dicts on
# the wire and split the exceptions, since the host decides by them.

# %% [markdown] taken="mini_agent.mcp.messages"
# ## Taken from the module without showing it
#
# | name | why |
# |---|---|
# | `PROTOCOL_VERSION`, `META`, `INVALID_PARAMS`, `ERRORS` | constants; the last maps three codes to their classes |
# | `kind` | three lines: response, request or notification; a transport needs it in notebook 03 |
# | `excerpt`, `_malformed` | they word the error: short, every control character made visible |

# %% [markdown]
# ## Exercises and next
#
# `exercises/02_messages.ipynb` has 4 tasks, each with a check that answers:
#
# - **02.1** A request that a stranger understands (warm-up, 5 minutes)
# - **02.2** Twelve lines: who says no? (solid, 10 minutes)
# - **02.3** `parse_response`: eight refused, two odd ones not (solid, 20 minutes)
# - **02.4** `decode`: a door that raises one thing only (demanding, 25 minutes)
#
# Next: **03, What must any transport promise?** We have messages. Something must carry them.
