# %% [markdown]
# # 16 · What if the loop had a place for them?
#
# At the end you hold `read_resource`, a tool through which a model reads what a server offers, and a
# server's prompt in the system text, put there by a person. The loop stays as it is. About 45 minutes.

# %%
from __future__ import annotations

from mini_agent import draw

draw.layers(lit="adapter")

# %% [markdown]
# ## Six words
#
# | word | what it is |
# |---|---|
# | resource | something to read, kept by a server at an address of its own |
# | URI | an address: a scheme, a colon, and the rest, such as `policy://returns/2026-08` |
# | resource template | an address with gaps in braces; whatever fills them can be read |
# | prompt | a text for a conversation with a model, kept by a server and picked by a person |
# | system text | what a model is told before the conversation, again on each turn |
# | consumption point | the place in a program that uses a thing; without one it is connected for nothing |

# %% [markdown]
# ## Who consumes it?
#
# Notebook 01 has a rule: before you connect a thing, name the place that uses it. Here is all that the
# loop takes.

# %%
import inspect

from mini_agent.agent import run_agent

print(*inspect.signature(run_agent).parameters)

# %% [markdown]
# A server's tools go into `tools`. There is no `resources` and no `prompts`. (`prompt`, the first, is what
# the user says.) But a tool can do the reading, and `system` takes any text: two consumption points,
# and both are there already.

# %% [markdown]
# ## A desk with a policy
#
# The refund desk: three tools, a document, two prompts. It runs in memory, and the token says that
# Robin is asking; notebook 14 is about that.

# %%
from fake_servers.refunds.desk import RefundDesk
from mini_agent.mcp import HttpTransport, McpClient
from mini_agent.trace import Trace

desk = RefundDesk()
await desk.start()


def refund_client(trace=None):
    http = desk.client(desk.issue_token("robin"))
    return McpClient(HttpTransport(desk.url, client=http), server="refunds", trace=trace)


# %%
trace = Trace()
refunds = refund_client(trace)
print("tools:    ", *(tool.name for tool in await refunds.connect()))
print("resources:", *(found["uri"] for found in await refunds.list_resources()))
print("prompts:  ", *(found["name"] for found in await refunds.list_prompts()))

# %% [markdown]
# A resource is read by its URI. No model has a part in it: the program asks, and gets a text.
#
# Specification: server/resources, "Reading Resources".

# %% tags=["covers-resource-by-identifier"]
[found] = await refunds.list_resources()
POLICY = found["uri"]
[content] = await refunds.read_resource(POLICY)
print(POLICY, "·", found["description"], "\n")
print(content["text"])

# %% tags=["covers-reading-runs-no-tool"]
asked = [event.facts["method"] for event in trace.events if event.what == "request"]
print(asked)
assert "tools/call" not in asked

# %% [markdown]
# ## The smallest tool
#
# A resource is not a tool, and a tool can read one. Three lines do it.

# %%
from mini_agent.model_client import ScriptedModel
from mini_agent.types import Text, Tool, ToolCall, ToolResult, ToolSpec

URI_ONLY = {"type": "object", "properties": {"uri": {"type": "string"}}}


def naive_resource_tool(client):
    async def execute(arguments):
        [content] = await client.read_resource(arguments["uri"])
        return ToolResult(content["text"])

    return Tool(ToolSpec("read_resource", "Read a document.", URI_ONLY), execute)


# %% [markdown]
# The loop of notebook 09 runs it like any other. A script plays the model, and this returns what that
# model was given to read.


# %%
def asks_for(*calls):
    turn = [ToolCall(f"toolu_{n}", name, given) for n, (name, given) in enumerate(calls, 1)]
    return ScriptedModel([turn, [Text("Thank you.")]])


async def model_sees(tool, arguments, trace=None):
    model = asks_for((tool.spec.name, arguments))
    await run_agent("What are the rules?", model=model, tools=[tool], trace=trace)
    [block] = model.requests[-1].messages[-1]["content"]
    return block["content"]


print((await model_sees(naive_resource_tool(refunds), {"uri": POLICY}))[:39])

# %% [markdown]
# ## It breaks in four ways
#
# The desk has one short text. An archive has more: a plan as PDF, minutes without end, and notes on
# each order.

# %%
from fake_servers.core import Server
from fake_servers.declare import Resource, ResourceTemplate
from fake_servers.memory import InMemoryTransport


def document(name, held, kind="text/plain"):
    async def read(context):
        return held

    return Resource(f"archive://{name}", name, read, mime_type=kind)


async def notes(gaps, context):
    return "Call back on Monday." if gaps["id"] == "4821" else None


# %%
plan = document("plan", b"%PDF-1.7" * 900, "application/pdf")
minutes = document("minutes", "one more line\n" * 5_000)
template = ResourceTemplate("archive://orders/{id}/notes", "notes", notes)
archive = Server("archive", resources=[plan, minutes], templates=[template])

library = McpClient(InMemoryTransport(archive), server="archive")
await library.connect()
naive = naive_resource_tool(library)
for listed in await library.list_resources():
    print(listed["uri"], listed["mimeType"])

# %% [markdown]
# First: the plan is no text. The mistake is ours, and it would end the run.

# %% tags=["raises-exception"]
await naive.execute({"uri": "archive://plan"})

# %% [markdown]
# Second: the minutes are 70,000 characters, and all of them go into the conversation. Each turn from
# now on pays for them.

# %%
print(len(await model_sees(naive, {"uri": "archive://minutes"})))

# %% [markdown]
# Third: a model that got an address wrong could try another. It is never told. The server's refusal is
# a protocol error, and that ends the run.

# %%
from mini_agent.errors import JsonRpcError, McpError

try:
    await model_sees(naive, {"uri": "archive://orders/4822/notes"})
except JsonRpcError as error:
    print("the run has ended:", error)

# %% [markdown]
# Fourth: whatever the model writes goes out. It had this address from a mail, say.

# %%
try:
    await naive.execute({"uri": "file:///etc/passwd"})
except JsonRpcError as error:
    print("refused by the server:", error.code)
sent = [entry.message for entry in library.transport.transcript if entry.sender == "client"]
print("sent:", sent[-1]["method"], sent[-1]["params"]["uri"])

# %% [markdown]
# This server said no. Another one reads files by URI, and says yes. Whether an address goes out must
# be decided on our side.

# %% [markdown]
# ## `uri_fault`: only what the server offers
#
# There are two ways to be on offer: the server lists the URI, or it fits one of the server's
# templates. The second has to be worked out.

# %%
import re
from typing import Any
from urllib.parse import unquote, urlsplit

from mini_agent.mcp.adapter import argument_fault, format_result
from mini_agent.mcp.messages import INVALID_PARAMS, excerpt
from mini_agent.mcp.schemas import SchemaError, Validator
from mini_agent.mcp.shapes import CallResult, McpTool
from mini_agent.types import JsonObject

# %% include mini_agent.mcp.resources.EXPRESSION fits
for uri in ("archive://orders/4821/notes", "archive://orders//notes", "archive://orders/1/2/notes"):
    print(f"{uri:<28}", fits("archive://orders/{id}/notes", uri))

# %% [markdown]
# A template is somebody else's pattern. One with forty gaps can keep a plain `re` busy for years, so
# it is matched under the deadline that a schema's patterns have. Too slow is no fit.

# %%
print(fits("a://" + "{x}b" * 40, "a://" + "b" * 1_900 + "/"))

# %% [markdown]
# Before a template is tried, the URI has to be one, and must not climb. Written twice in percent
# signs, `..` is still two dots for somebody down the line.

# %% include mini_agent.mcp.resources.LONGEST_URI uri_fault

# %%
from textwrap import fill

resources, templates = await library.list_resources(), await library.list_resource_templates()
climbs = "archive://orders/%252e%252e/notes"
for uri in ("archive://plan", "archive://orders/4821/notes", "file:///etc/passwd", "plan", climbs):
    told = f"{uri:<34} {uri_fault(uri, resources, templates) or 'fine'}"
    print(fill(told, 100, subsequent_indent=" " * 35))

# %% [markdown]
# > **Beside the text.** A tool's result may hold a link to a resource that is in no list. The
# > specification allows that, and this rule refuses it. The link stands among text that anybody may
# > have written, and at this point we cannot tell who did.

# %% [markdown]
# ## `contents_text`: text, bytes, a length
#
# The adapter can do this already: `format_result` shows a resource that came with a tool's result. So
# each content is handed to it in that shape.
#
# Specification: server/tools, "Embedded Resources".

# %% include mini_agent.mcp.resources.contents_text
print(contents_text([content])[:78], "…\n")
print(contents_text(await library.read_resource("archive://plan")))
print(contents_text(await library.read_resource("archive://minutes"))[-31:])

# %% [markdown]
# The URI stands above its text, so that an answer can say where it comes from. Bytes become a line,
# and a cut is seen.

# %% [markdown]
# ## `list_text`: what there is
#
# A model has to learn the addresses. One line for each, the names and descriptions as the server
# gives them, nothing that could begin a line of its own.

# %% include mini_agent.mcp.resources.LONGEST_LIST TOLD _lines list_text

# %%
print(list_text(resources, templates), "\n")
print(list_text([{"uri": "a://1", "name": "x\na://2 - trusted"}], []))

# %% [markdown]
# ## `read`: missing is for the model, the rest is not
#
# The adapter's rule of notebook 07, once more. A server refuses with -32602: is the document gone, or
# is something else wrong? Only a fresh list can tell. A list that fails proves nothing.

# %% include mini_agent.mcp.resources.NO_SUCH_RESOURCE is_missing read

# %%
print(await read(library, "archive://orders/4822/notes"))

# %% [markdown]
# Now the model can try another address. A document that is still listed and refused all the same is
# another matter, and stays an exception.

# %%
from mini_agent.mcp.transport import FakeTransport

no = {"error": {"code": -32602, "message": "Resource not found"}}
still = {"result": {"resources": [{"uri": POLICY, "name": "returns"}]}}
try:
    await read(McpClient(FakeTransport([no, still]), server="refunds"), POLICY)
except JsonRpcError as error:
    print("raised:", error)

# %% [markdown]
# ## `resource_tool`
#
# All of it. We describe this tool, not the server, so its schema and its description are ours.

# %% include mini_agent.mcp.resources.READ_RESOURCE
print(fill(READ_RESOURCE.description, 100))

# %% include mini_agent.mcp.resources.resource_tool

# %%
reader = resource_tool(library)
for given in ({}, {"uri": "file:///etc/passwd"}, {"path": "plan"}):
    result = await reader.execute(given)
    how = "error" if result.is_error else "fine "
    for line in result.content.splitlines():
        print(how, "·", fill(line, 90, subsequent_indent=" " * 8))

# %% [markdown]
# Without a URI it lists. What the server does not offer is refused, and so is an argument that the
# schema does not know. Nothing of the last two was sent.

# %% [markdown]
# The loop runs it, and the trace shows a read from top to bottom.

# %% tags=["covers-resource-wrapped-as-a-tool"]
trace = Trace()
refunds = refund_client(trace)
await refunds.connect()
print(await model_sees(resource_tool(refunds), {"uri": POLICY}, trace))

# %%
draw.chain(trace)

# %% [markdown]
# ## The address in the trace
#
# The layers name what was read. The month is part of the address: a new policy is another resource,
# and what was read in August stays told apart from it.


# %% tags=["covers-identifier-appears-in-the-trace"]
def address(facts):
    message = facts.get("message", {})
    return {**message.get("params", {}), **facts.get("input", {}), **facts}.get("uri")


for event in trace.events:
    if told := address(event.facts):
        print(f"{event.layer:<10} {event.what:<9} {told}")

# %% [markdown]
# ## `Host`: the same door
#
# A host offers such a tool for each server that it is told to read. The model sees the server's name in
# front, as with every tool; a rule names `read_resource` and the server apart.

# %%
from mini_agent.approval import Approval, Policy, Rule, question, scripted

RULES = [
    Rule("read_resource", "allow", "refunds", "the policy is public"),
    Rule("read_resource", "ask", "calendar", "it is somebody's day"),
    Rule("get_order", "allow", "refunds", "it only reads"),
]

# %%
from fake_servers.calendar import calendar_server
from mini_agent.host import Host


def office(approver=None, trace=None):
    calendar = McpClient(InMemoryTransport(calendar_server()), trace=trace)
    return Host(
        {"refunds": refund_client(trace), "calendar": calendar},
        policy=Policy(RULES, default="deny"),
        approver=approver,
        resources_of=["refunds", "calendar"],
    )


async with office() as host:
    print(*(tool.spec.name for tool in host.tools), sep="\n")

# %% [markdown]
# For the calendar's day a person is asked. They see the address. A yes would be good for that address
# and for no other, as notebook 11 has it.


# %%
async def results(host, model, trace=None):
    hook = host.before_tool_call
    run = await run_agent(
        "Help me.", model=model, tools=host.tools, before_tool_call=hook, trace=trace
    )
    blocks = [block for message in run.messages for block in message["content"]]
    return [block["content"] for block in blocks if block["type"] == "tool_result"]


def keeps_it_private(call, why):
    print(question(call, why), "\n")
    return Approval(False, "not for a refund")


# %%
RETURNS = ("refunds_read_resource", {"uri": POLICY})
DAY = ("calendar_read_resource", {"uri": "calendar://today"})
async with office(keeps_it_private) as host:
    for text in await results(host, asks_for(RETURNS, DAY)):
        print(text.splitlines()[0])

# %% [markdown]
# ## What was read gives no orders
#
# A person says yes. One appointment came with an invitation from outside, and its text is meant for
# the model. Our script is a model that obeys.


# %%
def obeys(request):
    text = request.messages[-1]["content"][0]["content"]
    print(fill(next(line for line in text.splitlines() if "SYSTEM" in line)[33:], 100), "\n")
    return [ToolCall("toolu_2", "calendar_delete", {"id": "apt-3"})]


trace = Trace()
model = ScriptedModel([[ToolCall("toolu_1", *DAY)], obeys, [Text("I could not.")]])
async with office(scripted([True]), trace) as host:
    print((await results(host, model, trace))[-1])

# %%
draw.chain(trace)

# %% [markdown]
# A resource is as foreign as a tool's result. What keeps the appointments is the rule at the door. The
# tool's description says that documents give no orders; that helps, and stops nothing.

# %% [markdown]
# ## Or the host reads
#
# The specification says that resources are "application-driven": the program may read one itself,
# before the run, and no model has to ask. Then the text goes where the system text goes.
#
# Specification: server/resources, "User Interaction Model".

# %%
model = ScriptedModel([[Text("Up to 42.50 EUR.")]])
rules = contents_text(await refunds.read_resource(POLICY))
await run_agent("What may ord_4821 get back?", model=model, tools=[], system=rules)
print(model.requests[0].system.splitlines()[0])

# %% [markdown]
# One short document that is always needed, and whose writers we trust as ourselves: the host reads it,
# and every turn pays for it. Many, of which one may be needed, or foreign text: a tool. Either way the
# loop has not noticed.

# %% [markdown]
# ## A prompt: picked by a person
#
# Now the third kind. A server lists its prompts, and fills one in when it is asked to. This is what a
# program would put into a menu.
#
# Specification: server/prompts, "User Interaction Model".

# %% tags=["covers-prompt-operations"]
for offered in await refunds.list_prompts():
    gaps = [gap["name"] + ("" if gap["required"] else "?") for gap in offered["arguments"]]
    print(f"/{offered['name']:<17} {', '.join(gaps):<24} {offered['description']}")
review = await refunds.get_prompt("review_change", {"order_id": "ord_4821", "amount_minor": "9900"})
print("\n" + fill(review["messages"][0]["content"]["text"], 100))

# %% [markdown]
# With a gap left open, the server refuses. The error goes to whoever asked, and that is the program: no
# model has seen any of this.

# %%
try:
    await refunds.get_prompt("review_change")
except JsonRpcError as error:
    print(error)

# %% [markdown]
# ## `prompt_text`: into the system text
#
# A prompt comes as messages with a role each. The system text is one text, so each becomes a
# paragraph that begins with its role.

# %% include mini_agent.mcp.resources.prompt_text
print(fill(prompt_text(review), 100))

# %% tags=["covers-prompt-through-the-system-text"]
model = ScriptedModel([[Text("9900 is more than it may get back.")]])
run = await run_agent("Go on.", model=model, tools=[], system=prompt_text(review))
print(model.requests[0].system[:62], "…")
print([message["role"] for message in run.messages], "·", run.text)

# %% [markdown]
# The model works under the prompt, and the conversation holds only what was said in it. No line of the
# loop knows where that text came from.

# %% [markdown]
# The words are the server's, and the system text is where a model listens best. So a person reads
# them first, and may change them. The model cannot pick: no tool leads to a prompt.

# %% tags=["covers-prompt-is-chosen-by-people"]
seen = prompt_text(review)
changed = seen.removeprefix("user: ") + " Answer in one sentence."
model = ScriptedModel([[Text("Too much.")]])
async with office() as host:
    await run_agent("Go on.", model=model, tools=host.tools, system=changed)
[request] = model.requests
print("…", request.system[-40:])
offers = " ".join(spec.name + spec.description for spec in request.tools)
assert "review_change" not in offers and "incident_summary" not in offers + request.system

# %% [markdown]
# ## Its messages, or the system text?
#
# Notebook 01 said that a prompt's messages can begin a conversation. They can: that is why they have
# roles. This loop takes a conversation that has begun from a session file, so they go in there.

# %%
from pathlib import Path
from tempfile import TemporaryDirectory

from mini_agent.session import SessionError, save_session


def as_messages(prompt):
    return [{"role": said["role"], "content": [said["content"]]} for said in prompt["messages"]]


folder = TemporaryDirectory()
begun = Path(folder.name, "review.jsonl")
save_session(begun, as_messages(review))
model = ScriptedModel([[Text("Too much.")]])
run = await run_agent("Go on.", model=model, tools=[], session_path=begun)
print([message["role"] for message in run.messages], "· system:", repr(model.requests[0].system))

# %% [markdown]
# Two things differ. The prompt is now something that the user said once, before "Go on.", and it is
# kept with the conversation. And it must be a conversation that this loop can hold, which not every
# prompt is.

# %%
example = {"messages": [{"role": "assistant", "content": {"type": "text", "text": "Which order?"}}]}
bad = Path(folder.name, "example.jsonl")
save_session(bad, as_messages(example))
try:
    await run_agent("Go on.", model=model, tools=[], session_path=bad)
except SessionError as error:
    print(error.what)
print(prompt_text(example))
folder.cleanup()

# %% [markdown]
# | | the conversation's first messages | the system text |
# |---|---|---|
# | what the prompt is then | something said once | something that holds on every turn |
# | kept in a session | yes, with everything else | no; hand it over again on the next day |
# | which prompts | text, and the user first | any |
# | how much a model heeds it | as what its user says | more than that |
# | in this loop | a file, written before the run | an argument |
#
# A question that the user might have typed: the messages. Rules for a whole conversation, such as a
# review's: the system text. `run_agent` has an argument for that one, so it is the place that this
# kit uses.

# %% [markdown]
# ## A prompt is no policy
#
# The prompt ends in "Draft nothing." Our model drafts. First in a program that relies on the prompt:
# all tools, and no hook.

# %%
from mini_agent.mcp import mcp_tool_to_tool

DRAFT = {"order_id": "ord_4821", "amount_minor": 4250, "currency": "EUR"}
model = asks_for(("create_refund_draft", {**DRAFT, "operation_key": "review-1"}))
tools = [mcp_tool_to_tool(refunds, tool) for tool in refunds.tools]
await run_agent("Go on.", model=model, tools=tools, system=prompt_text(review))
print("Draft nothing." in model.requests[0].system, "· drafts:", len(desk.store.drafts()))

# %% tags=["covers-policy-stays-outside-the-prompt"]
another = asks_for(("refunds_create_refund_draft", {**DRAFT, "operation_key": "review-2"}))
async with office() as host:
    print(*await results(host, another), "· drafts:", len(desk.store.drafts()))
assert len(desk.store.drafts()) == 1

# %% [markdown]
# The host denies what no rule names, and this time the model had no prompt at all. What must not happen
# is stopped by a program. A prompt is for what should happen.

# %% [markdown]
# ## What changed in the loop?
#
# One run, two calls: the first a tool of the server, the second a read. What did the loop write down
# about each?

# %%
trace = Trace()
ORDER = ("refunds_get_order", {"order_id": "ord_4821"})
async with office() as host:
    await results(host, asks_for(ORDER, RETURNS), trace)


def story(call):
    return [e.what for e in trace.events if (e.layer, e.call) == ("loop", call)]


print(story("toolu_1"))
assert story("toolu_1") == story("toolu_2")

# %% [markdown]
# The same words. And where does the package speak of resources at all? We ask its files, a layer at a
# time.

# %%
import importlib

LAYERS = {
    "loop": "agent calls blocks session",
    "adapter": "mcp.adapter mcp.resources",
    "host": "host hosting.routes hosting.gate hosting.grants",
}
for layer, names in LAYERS.items():
    sources = {name: importlib.import_module(f"mini_agent.{name}") for name in names.split()}
    speak = [name for name, module in sources.items() if "resources" in inspect.getsource(module)]
    print(f"{layer:<8}", ", ".join(speak) or "nowhere")

# %% [markdown]
# The adapter has one file more, and the host an argument, `resources_of`. Whether a call may run and
# whether its yes still holds is decided where it always was.

# %% [markdown]
# ## Eight to decide
#
# Three questions, in this order. Does a person begin with it? Does it work, that is, change something
# or find an answer? Does it stand at an address?


# %%
def which(facts):
    for fact, kind in {"begins": "prompt", "works": "tool", "stands": "resource"}.items():
        if fact in facts.split():
            return kind
    return "none of the three"


print(which("stands"), "·", which("stands works"))

# %% [markdown]
# Often two answers are yes. An order has an address, and what it may get back is worked out anew each
# time. So the order of the questions decides.

# %% tags=["covers-which-primitive-fits"]
EIGHT = {
    "The returns policy of August": "stands",
    "What an order may get back today": "stands works",
    "Draft a refund": "works",
    "Review this change": "begins works",
    "Prepare an incident summary": "begins works",
    "The invoice of an order, as PDF": "stands",
    "All mails that speak of a parcel": "works",
    "How the tables of the database are made": "stands",
}
for scenario, facts in EIGHT.items():
    print(f"{scenario:<40} {which(facts)}")

# %% [markdown]
# Documents are resources, queries and changes are tools, and what begins a conversation is a prompt.
# The invoice has a template: one address for each order. The mails have none, since somebody has to
# search.

# %% [markdown]
# A ninth: "Never more than 100 EUR without a manager." Nobody begins with it, it finds nothing out, and
# reading it stops nobody. It is a rule, and its place is in the service.

# %%
print(which(""))

# %% [markdown]
# ## Try it
#
# Change the address. Which one is refused here, which by the server, and which is read? The trace says
# how far each of them came.

# %%
trace = Trace()
probe = McpClient(InMemoryTransport(archive), server="archive", trace=trace)
await probe.connect()
print(await model_sees(resource_tool(probe), {"uri": "archive://orders/4822/notes"}, trace))

# %%
draw.sequence(trace, call="toolu_1")

# %% [markdown]
# We are done with the desk and the archive.

# %%
for connected in (refunds, library, probe):
    await connected.close()
await desk.stop()
print("closed")

# %% [markdown]
# ## What changed
#
# | name | what it does |
# |---|---|
# | `resource_tool` | a client in, a Tool out that lists and reads its resources |
# | `uri_fault`, `fits` | why an address is not sent; does it fit a template? |
# | `contents_text`, `list_text` | contents and lists as the model reads them |
# | `read`, `is_missing` | a document that is gone is a tool error, the rest is not |
# | `prompt_text` | a prompt that a person picked, as system text |
# | `Host(resources_of=…)` | one such tool a server, under the same rules |

# %% [markdown]
# ## Where the official SDK differs
#
# The MCP SDK for Python reads any URI that it is given, and has no such tool; that is the host's part.
# The `anthropic` package makes real documents and images out of contents, and a prompt's messages
# become the conversation's. FastMCP can offer both kinds as tools, on the server's side; then a model
# picks the prompt, which the specification leaves to people.

# %% [markdown] taken="mini_agent.mcp.resources"
# ## Taken from the module without showing it
#
# Nothing. You have seen all of `mini_agent.mcp.resources`.

# %% [markdown]
# ## Exercises and next
#
# `exercises/16_resources_and_prompts.ipynb` has 3 tasks, each with a check that answers:
#
# - **16.1** Document, query or opening? (warm-up, 6 minutes)
# - **16.2** One kind of address, and no other (solid, 15 minutes)
# - **16.3** A person begins (demanding, 25 minutes)
#
# Next: **17, Which failure needs this layer?** The other way round: layers that somebody needed, and
# this kit does not.
