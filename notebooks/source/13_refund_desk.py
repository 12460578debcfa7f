# %% [markdown]
# # 13 · How does a real service stand behind MCP?
#
# At the end you hold an MCP server in front of an order service: a read and a write, built in ten
# steps, ready for our host and for any other. About 70 minutes.

# %%
from __future__ import annotations

from mini_agent import draw

draw.layers(lit="server")

# %% [markdown]
# For twelve notebooks the server was somebody else's. In this one we write it.

# %% [markdown]
# ## Seven words
#
# | word | what it is |
# |---|---|
# | refund draft | a refund as somebody proposes it; accounting pays it out later, or does not |
# | minor unit | the smallest coin of a currency, in which amounts are counted whole: 4250 is 42.50 EUR |
# | error category | a stable code for one kind of refusal, with a sentence and `retryable` |
# | retryable | whether the same call, unchanged, may succeed later and cannot act twice |
# | audience | the one service that a token is made for |
# | idempotency key | a text that names one write; the service does that write once, however often it arrives |
# | operation key | the idempotency key of one call in one run: the host makes it, the model never sees it |

# %% [markdown]
# ## A service that is there already
#
# A shop has an order service: REST, a database, rules of its own. `RefundDesk` starts it in this
# process, with everything around it, under names instead of ports.

# %%
from fake_servers.refunds.desk import RefundDesk

desk = RefundDesk()
url = await desk.start()
print(url, desk.orders_url, desk.issuer_url, sep="\n")

# %% [markdown]
# Three services. The second is the one that is there already. The first is the MCP server in front of
# it, which we build. The third gives out tokens; notebook 14 is about it.

# %% [markdown]
# ## Step 1 · One operation that exists, and its owner
#
# The order service can read an order and draft a refund. We begin with the read. It has an owner, the
# team of the order service, and when it goes wrong, nothing has happened.

# %% tags=["covers-build-1-one-operation"]
import json

shop = desk.client(desk.issue_token("robin", audience=desk.orders_url))
answer = await shop.get(f"{desk.orders_url}/orders/ord_4821")
upstream = answer.json()
print(answer.request.method, answer.request.url.path, answer.status_code)
print(json.dumps(upstream, indent=1))

# %% [markdown]
# Robin works in support, and reads orders on the shop's web page, by this request. The token says so:
# Robin, at the order service, for reading and drafting. That page goes on as it is.

# %% [markdown]
# ## Step 2 · Tool, resource or prompt?
#
# Ask who chooses it.
#
# | what | who chooses it, and when | so it is |
# |---|---|---|
# | read one order | the model, in the middle of a task | a tool |
# | the returns policy | the host, before the task begins | a resource |
# | "review this refund" | a person, from a menu | a prompt |

# %% [markdown]
# The smallest tool: what the service says goes out again. For now it asks with Robin's own token; step
# 7 comes back to that.


# %%
async def naive_get_order(arguments, context):
    answer = await shop.get(f"{desk.orders_url}/orders/{arguments['order_id']}")
    return answer.text


# %% [markdown]
# `Server` has answered us since notebook 01. It takes tools and resources as declarations: a name, a
# sentence, a function.

# %%
from fake_servers.core import Server
from fake_servers.declare import Resource
from fake_servers.declare import Tool as ServerTool
from fake_servers.refunds.data import POLICY_URI
from fake_servers.refunds.server import read_policy

naive_tool = ServerTool("get_order", "Read one order.", naive_get_order)
policy_page = Resource(POLICY_URI, "returns-2026-08", read_policy)
naive_server = Server("refunds", tools=[naive_tool], resources=[policy_page])
print(naive_server.capabilities)

# %% tags=["covers-build-2-which-primitive"]
from fake_servers.memory import InMemoryTransport
from mini_agent.mcp import McpClient

naive = McpClient(InMemoryTransport(naive_server), server="refunds")
print("tool:    ", *(tool.name for tool in await naive.connect()))
print("resource:", *(found["uri"] for found in await naive.list_resources()))

# %% [markdown]
# Reading the policy runs nothing, and its address names one version. An answer can cite it, and in a
# year somebody can still look it up.

# %%
[page] = await naive.read_resource(POLICY_URI)
print(page["text"].splitlines()[3])

# %% [markdown]
# And the tool? The client calls, the server asks the service, and its answer comes back as text.

# %%
result = await naive.call("get_order", {"order_id": "ord_4821"})
leaky = result.content[0]["text"]
print(result.is_error, len(leaky), leaky[:60])

# %% [markdown]
# It works. The next steps are about what is wrong with it.

# %% [markdown]
# ## Step 3 · The smallest input schema
#
# Our tool declares no schema, so it takes any object. This morning the shop drafted a refund, in its
# own way.

# %%
SMALL = {"order_id": "ord_4821", "amount_minor": 100, "currency": "EUR"}
drafts_url = f"{desk.orders_url}/refund-drafts"
answer = await shop.post(drafts_url, json=SMALL | {"operation_key": "shop-0001"})
print(answer.status_code, answer.json()["draft_id"])

# %% [markdown]
# Now a model asks for an order, by a number that it has read somewhere.

# %%
result = await naive.call("get_order", {"order_id": "../refund-drafts/shop-0001"})
print(result.content[0]["text"][:75])

# %% [markdown]
# We offer orders and gave away a refund draft: the argument became a part of an address. Whoever writes
# what a model reads could choose where our server goes.

# %% [markdown]
# So the schema says what an order number is. One field, and no other may come.

# %%
ORDER_IN = {
    "type": "object",
    "properties": {"order_id": {"type": "string", "pattern": "^ord_[A-Za-z0-9]+$"}},
    "required": ["order_id"],
    "additionalProperties": False,
}
print(*ORDER_IN["properties"])

# %% tags=["covers-build-3-smallest-input-schema"]
from fake_servers.validate import problems

for value in ("ord_4821", "../refund-drafts/shop-0001", 4821):
    print(problems(ORDER_IN, {"order_id": value}) or "fine")
print(problems(ORDER_IN, {"order_id": "ord_4821", "fields": "*"}))

# %% [markdown]
# `problems` is how the server holds arguments against it. No `account`: the service knows whose order it
# is. No `fields`, no `verbose`: whatever may be said is one more thing to get wrong.

# %% [markdown]
# ## Step 4 · A result for the next decision
#
# What does the model decide next? Whether to propose a refund, and of how much. Five fields help with
# that. `FIRST` holds the schemas of the finished server's first release.

# %% tags=["covers-result-for-the-next-decision"]
from fake_servers.refunds.schemas import FIRST

print(f"{'the service knows':<25} the model is shown")
for name in upstream:
    print(f"{name:<25} {name if name in FIRST.order_out['properties'] else '·'}")

# %% [markdown]
# The rest is an address, a note from the warehouse, a score about a customer, dates. It helps with
# nothing, and it would stand in a conversation, in its logs and at the model's provider.

# %% [markdown]
# The finished tool declares what it takes and what it returns, and both are closed. What it takes is
# our `ORDER_IN`.

# %% tags=["covers-order-tool-has-both-schemas", "covers-build-4-result-schema"]
assert FIRST.order_in == ORDER_IN
for name, rule in FIRST.order_out["properties"].items():
    print(f"{name:<25} {rule}")
print("anything else:", FIRST.order_out["additionalProperties"])

# %% [markdown]
# ### `shaped`: the fields that the schema names
#
# The schema is the list of what may leave. A field that the order service adds tomorrow stays inside,
# and nobody has to think of it.

# %%
from fake_servers.refunds.categories import Refusal
from fake_servers.wire import Message

# %% include fake_servers.refunds.server.shaped
seen = shaped(upstream, FIRST.order_out)
seen

# %% tags=["covers-internal-fields-withheld"]
for secret in ("Quay 7", "bay 4", "fraud"):
    print(f"{secret:<7} naive: {secret in leaky}, shaped: {secret in str(seen)}")

# %% [markdown]
# ### Checked before it leaves
#
# A desk has the finished server, of which we have the first four steps by now. `client_of` gives a
# client of it, with a token of Robin's for the MCP server.

# %%
from mini_agent.mcp import HttpTransport


def client_of(desk, trace=None, **options):
    http = desk.client(desk.issue_token("robin", **options))
    return McpClient(HttpTransport(desk.url, client=http), server="refunds", trace=trace)


refunds = client_of(desk)
print(*(tool.name for tool in await refunds.connect()))

# %% [markdown]
# Now somebody forgets to shape: this desk's server returns the record as it is. We listen to its log
# while a client asks.

# %% tags=["covers-structured-result-validated"]
import io
import logging

from mini_agent.errors import JsonRpcError

log = io.StringIO()
logging.getLogger("fake_servers").addHandler(logging.StreamHandler(log))
async with RefundDesk(shape=lambda record, schema: record) as forgetful:
    try:
        await client_of(forgetful).call("get_order", {"order_id": "ord_4821"})
    except JsonRpcError as error:
        print("the client:", error)
print("the log:   ", log.getvalue().splitlines()[-1][:64])

# %% [markdown]
# The server held its own result against its own schema, and sent nothing. The caller learns that
# something failed, the server's owner learns what.
#
# Specification: server/tools, "Output Schema".

# %% [markdown]
# ## Step 5 · Errors that say what to do
#
# Back to the naive tool. First an order that does not exist. Then a service that is down: `faults.plan`
# lets the next request to it fail.

# %%
missing = await naive.call("get_order", {"order_id": "ord_9999"})
desk.faults.plan("orders", "unavailable")
down = await naive.call("get_order", {"order_id": "ord_4821"})
for result in (missing, down):
    print(result.is_error, result.content[0]["text"][:72])

# %% [markdown]
# Two failures, and both times `is_error` is False. A model could take "upstream down" for the order. And
# nothing says that the second may be better in a minute, and the first will not.

# %% [markdown]
# So each kind of refusal has an error category: a code that stays the same, a sentence for the model,
# `retryable` for the host. A `Refusal` is an exception that names one.

# %%
from fake_servers.refunds.categories import CATEGORIES

Refusal("ORDER_NOT_REFUNDABLE").to_json()

# %% tags=["covers-stable-error-categories"]
for code, category in CATEGORIES.items():
    print(f"{code:<26} {'again' if category.retryable else '·':<6} {category.message[:54]}")

# %% [markdown]
# Four may be asked again: nobody could answer, or asking again is known to act only once. For the others
# something has to change first.

# %% [markdown]
# ### `failure`, `told`: a refusal becomes a tool error
#
# It travels as JSON in the text of an `isError` result. As structured content it would have to fit the
# output schema, which describes an order.

# %%
from collections.abc import Awaitable

from fake_servers.declare import ToolFailure

# %% include fake_servers.refunds.server.failure told
stated = str(failure(Refusal("SERVICE_UNAVAILABLE")))
print(stated)

# %% [markdown]
# `service_error` is the other end, in the host. It reads the code as a program does, and no model has to
# guess what "upstream down" means. What a host does with it is in notebook 15.

# %% tags=["covers-build-5-errors-and-retries"]
from mini_agent.hosting.attempts import service_error
from mini_agent.types import ToolResult

print(service_error(ToolResult(stated, is_error=True)))
print(service_error(ToolResult("upstream down", is_error=True)))

# %% [markdown]
# ## Step 6 · Onto the API that is there
#
# The order service answers with a status and bytes. `read_answer` makes a record or a Refusal of them.
# It is pure. `_object` parses, `_speaks_of` says whether code and status fit.

# %%
from fake_servers.refunds.orders import _object, _speaks_of

# %% include fake_servers.refunds.orders.read_answer

# %%
known = json.dumps(Refusal("ORDER_NOT_FOUND").to_json()).encode()
for answer in ((404, known), (404, b"<html>"), (503, b"upstream down"), (401, b"who?")):
    try:
        read_answer(*answer)
    except Refusal as refusal:
        print(answer[0], f"{answer[1][:13]!r:<18}", refusal.code)

# %% [markdown]
# A code that we know comes through. What is not understood gets a code of ours, and not a byte of it is
# repeated: an error page may hold anything.

# %% [markdown]
# ### `RefundTools`: one method a tool
#
# The tool asks, and shapes. It holds no rule about refunds.

# %%
from fake_servers.context import Context
from fake_servers.declare import Output
from fake_servers.refunds.orders import OrdersApi
from fake_servers.refunds.schemas import RELEASE, RELEASES
from fake_servers.refunds.server import Shape

# %% include fake_servers.refunds.server.RefundTools(__init__, get_order, _output)

# %% [markdown]
# `OrdersApi` is a Protocol of three methods, and is handed in. So the tool can be tried with no service
# at all.


# %%
class OneOrder:
    async def order(self, order_id):
        return upstream


output = await RefundTools(OneOrder()).get_order({"order_id": "ord_4821"}, None)
assert output.structured == seen

# %% [markdown]
# And now the desk's own server, over HTTP, with the real service behind it. `traffic` is what went over
# the desk's network.


# %%
def went(exchanges):
    for one in exchanges:
        what = one.what or f"{one.method} {one.path}"
        print(f"{one.sender:>8} -> {one.to:<14} {what:<26} {one.status or 'no answer'}")


# %% tags=["covers-tool-call-becomes-an-endpoint-call", "covers-build-6-map-to-the-api"]
desk.traffic.clear()
result = await refunds.call("get_order", {"order_id": "ord_4821"})
went(desk.traffic)
assert result.structured_content == seen

# %% [markdown]
# `tools/call get_order` became `GET /orders/ord_4821`. The line between them belongs to step 7.

# %% [markdown]
# ### The request as it travels
#
# Here is such a call as the text behind this notebook prints it. First its headers.

# %%
HEADERS = {
    "MCP-Protocol-Version": "2026-07-28",
    "Mcp-Method": "tools/call",
    "Mcp-Name": "get_order",
    "Content-Type": "application/json",
}
print(len(HEADERS), "headers")

# %% tags=["raises-exception"]
PRINTED = """{
  "jsonrpc": "2.0",
  "id": 41,
  "method": "tools/call",
  "params": {
    "name": "get_order",
    "arguments": { "order_id": "ord_4821 },
    "_meta": {
      "io.modelcontextprotocol/clientInfo": { "name": "refund-agent", "version": "1.0" }
    }
  }
}"""
json.loads(PRINTED)

# %% [markdown]
# A quote is missing after `ord_4821`. With it the text is JSON, and the server can say what else it
# lacks.


# %%
async def post(body):
    http = desk.client(desk.issue_token())
    answer = await http.post(url, json=body, headers=HEADERS)
    said = answer.json() if answer.text.startswith("{") else {"error": {"message": answer.text}}
    print(answer.status_code, said["error"]["message"][:76] if "error" in said else "fine")


sample = json.loads(PRINTED.replace("ord_4821 }", 'ord_4821" }'))
await post(sample)

# %% [markdown]
# Status 406: nothing acceptable. A server answers with JSON or with an event stream, as it likes, so a
# client says with each request that it reads both.

# %%
HEADERS["Accept"] = "application/json, text/event-stream"
await post(sample)

# %% [markdown]
# The header says which version is spoken, and the body has to say it too: headers are for those on the
# way. The body also says what this client can do, even if that is nothing.
#
# Specification: basic/index, `_meta`; basic/transports/streamable-http, "Protocol Version Header".

# %% tags=["covers-sample-request-mended"]
meta = sample["params"]["_meta"]
meta["io.modelcontextprotocol/protocolVersion"] = "2026-07-28"
await post(sample)
meta["io.modelcontextprotocol/clientCapabilities"] = {}
await post(sample)

# %% [markdown]
# > **Beside the text.** A quote, a header, two fields. The answer printed there lacks `content` and
# > `resultType`, which the revision wants as well. No token is shown in it; ours carries one.

# %% [markdown]
# ## Step 7 · In whose name?
#
# The easy way is an account for the server. It may read every order, so that it can serve everybody.

# %%
from fake_servers.refunds.orders import Orders

for account in ("acc_1001", "acc_2002"):
    desk.store.grant("the-mcp-server", account)


async def one_for_all(scope):
    return desk.issue_token("the-mcp-server", scope, audience=desk.orders_url)


# %%
easy = Orders(desk.client(), desk.orders_url, one_for_all)
record = await easy.order("ord_7001")
print(record["account_id"], record["customer"])

# %% [markdown]
# Robin asked. The order is Kim's, and Robin has no business with that account. The service could not
# know: the server asked, and the server may.

# %% [markdown]
# So the finished server acts for nobody but the user whose token came with the request. It exchanges
# that token, for each request, for one that the order service takes.

# %% tags=["covers-build-7-carry-identity"]
desk.traffic.clear()
result = await refunds.call("get_order", {"order_id": "ord_7001"})
print(result.content[0]["text"][:94])
for one in desk.traffic:
    if who := one.claims.get("sub"):
        acting = one.claims.get("act", {}).get("sub", "-")
        print(f"{one.sender:>8} -> {one.to:<8} for {who}, through {acting:<12} {one.claims['aud']}")

# %% [markdown]
# Both times it is Robin. At the second hop the audience is another, and the token names who acts for
# Robin. An order that does not exist gives the same answer, so nothing is given away.

# %% [markdown]
# ### What stays on the server's side
#
# The host holds a token for the MCP server. At the order service it is worth nothing. The one that it
# is exchanged for stays with the server, and no message holds any.

# %% tags=["covers-credentials-stay-at-the-server"]
hosts_own = desk.client(desk.issue_token())
answer = await hosts_own.get(f"{desk.orders_url}/orders/ord_4821")
print(answer.status_code, answer.json()["error"]["code"])
messages = json.dumps([entry.message for entry in desk.transcript])
print(len(desk.transcript), "messages; a token in one of them:", "eyJ" in messages)

# %% [markdown]
# ### Nobody else has to change
#
# The shop's own request, once more. There is a server in front of its service now, and it need not know.

# %% tags=["covers-api-clients-unchanged"]
answer = await shop.get(f"{desk.orders_url}/orders/ord_4821")
print(answer.status_code, "the same as in step 1:", answer.json() == upstream)

# %% [markdown]
# ## Read before write
#
# A read that goes wrong is asked again. A write that goes wrong may have happened. So we add the write
# when three things are true of the read, and we look instead of hoping.

# %%
from mini_agent.trace import Trace

trace = Trace()
reading = client_of(desk, trace=trace)
desk.traffic.clear()
said = [await reading.call("get_order", {"order_id": n}) for n in ("ord_4821", "ord_9", "4")]
print(trace.table().splitlines()[0])

# %% tags=["covers-read-before-write"]
errors = [service_error(ToolResult(one.content[0]["text"], one.is_error)) for one in said]
print("traced:     ", len(trace.events), "events, for", len(said), "calls")
print("in the name:", {one.claims["sub"] for one in desk.traffic if one.claims})
print("errors:     ", [error and error.code for error in errors])

# %% [markdown]
# Each call leaves a trace, each request carries the same user, each failure has a code that we expected.
# Now the write.

# %% [markdown]
# ## The write, naively
#
# Three arguments: which order, how much, in which currency. With `key_required=False` the order service
# is as it was before anybody thought of repeats.


# %%
def naive_writer(desk):
    orders = desk.orders_for(desk.issue_token())

    async def create(arguments, context):
        return Output(structured=await told(orders.create_draft(arguments)))

    return Server("refunds", tools=[ServerTool("create_refund_draft", "Draft a refund.", create)])


# %%
REFUND = {"order_id": "ord_4821", "amount_minor": 4250, "currency": "EUR"}
OLD = {"key_required": False}
old = RefundDesk(**OLD)
await old.start()
writer = McpClient(InMemoryTransport(naive_writer(old)))
draft = (await writer.call("create_refund_draft", REFUND)).structured_content
print(draft["draft_id"], draft["status"], draft["amount_minor"], "for", draft["drafted_by"])

# %% tags=["covers-rest-endpoints-behind-mcp", "covers-draft-moves-no-money"]
order = await client_of(old).call("get_order", {"order_id": "ord_4821"})
went(one for one in old.traffic if one.to == "orders")
print("still refundable:", order.structured_content["refundable_amount_minor"])
await old.stop()

# %% [markdown]
# Both operations are reached through MCP now. A draft moves no money: all 42.50 of the order are still
# there. That is why we chose this operation, and not the one that pays.

# %% [markdown]
# ## The answer that never came
#
# The server sends the POST, and hears nothing. Once the service is silent before it has done anything,
# and once after it has done everything.

# %% tags=["covers-after-a-timeout-nobody-knows"]
for fault in ("silent_before", "silent_after"):
    async with RefundDesk(**OLD) as old:
        old.faults.plan("orders", fault, method="POST")
        writer = McpClient(InMemoryTransport(naive_writer(old)))
        result = await writer.call("create_refund_draft", REFUND)
        print(json.loads(result.content[0]["text"])["error"]["message"])
        print(f"  {fault}: {len(old.store.drafts())} in the database")

# %% [markdown]
# The same words for no draft and for one. They are honest, the server knows no more. Whoever is told
# this can only guess, person or model.

# %% [markdown]
# ### Without a key: two drafts
#
# The system text says: never draft twice. The model hears that a draft may exist, and does what people
# do. It tries again.

# %%
from mini_agent.agent import run_agent
from mini_agent.mcp import mcp_tool_to_tool
from mini_agent.model_client import ScriptedModel
from mini_agent.types import Approval, Text, ToolCall

twice = [[ToolCall(f"toolu_{n}", "create_refund_draft", REFUND)] for n in (1, 2)]
impatient = ScriptedModel([*twice, [Text("The refund is drafted.")]])

# %% tags=["covers-without-a-key-two-drafts"]
trace, RULE = Trace(), "Never draft a refund twice."
async with RefundDesk(**OLD) as old:
    old.faults.plan("orders", "silent_after", method="POST")
    server = naive_writer(old)
    [listed] = await McpClient(InMemoryTransport(server)).connect()
    tool = mcp_tool_to_tool(McpClient(InMemoryTransport(server), trace=trace), listed)
    await run_agent("Refund it.", system=RULE, model=impatient, tools=[tool], trace=trace)
    went(one for one in old.traffic if one.to == "orders")
    print([draft.draft_id for draft in old.store.drafts()])

# %%
draw.sequence(trace)

# %% [markdown]
# The first draft is there, only its answer was lost. The second came back as `draft_2`. Accounting sees
# two drafts of 42.50, and the conversation speaks of one.

# %% [markdown]
# ### The service keeps the key
#
# No sentence in a prompt can prevent this. Neither can our server, which forgets everything between two
# requests. The database can: the key is part of a draft, and it is unique there.

# %%
from fake_servers.refunds.store import SCHEMA

print(*(line.strip() for line in SCHEMA.splitlines() if "operation_key" in line), sep="\n")

# %% tags=["covers-service-enforces-the-key"]
keyed = REFUND | {"operation_key": "shop-0002"}
for body in (keyed, keyed, keyed | {"amount_minor": 4249}):
    answer = await shop.post(drafts_url, json=body)
    print(answer.status_code, answer.json().get("draft_id") or answer.json()["error"]["code"])

# %% [markdown]
# 201, a new draft. 200, the same draft again. And the same key with another amount is refused: somebody
# means two things by one name.

# %% [markdown]
# ## Step 8 · Somebody says yes
#
# Reading is allowed, drafting is asked about, all else is denied; drafts are looked up by the host, not
# by the model. The host of notebook 11 carries that policy out.

# %%
from mini_agent.approval import Policy, Rule, question, scripted

POLICY = Policy(
    [
        Rule("get_order", "allow", "refunds", "it only reads", read_only=True),
        Rule("create_refund_draft", "ask", "refunds", "it writes a draft"),
    ],
    default="deny",
)
for tool in refunds.tools:
    print(f"{tool.name:<20}", POLICY.decide("refunds", tool.name).decision)

# %% [markdown]
# The host also gives one argument in the model's place. That is a `Fill`, and this one is the operation
# key. `repeatable` says what it is good for: with it, the same call made twice acts once.

# %%
from mini_agent.hosting.fills import operation_key

KEY = operation_key("refunds", "create_refund_draft")
print(KEY.server, KEY.tool, KEY.argument, KEY.repeatable)

# %% [markdown]
# A host knows who is signed in, and which servers they may use. `Bounds` says how often a call is made
# again; `no_pause` spares this notebook the wait in between.

# %%
from mini_agent.host import Host
from mini_agent.hosting.attempts import Bounds


async def no_pause(seconds):
    return None


def host_of(desk, approver, trace=None, **options):
    servers = {"refunds": client_of(desk, trace=trace)}
    options |= {"user": "robin", "access": {"robin": ["refunds"]}, "trace": trace}
    bounds = Bounds(sleep=no_pause)
    return Host(servers, policy=POLICY, approver=approver, fills=[KEY], bounds=bounds, **options)


# %% tags=["covers-operation-key"]
async with host_of(desk, scripted([])) as host:
    for tool in (refunds.tools[1], host.tools[1].spec):
        print(f"{tool.name:<28}", *tool.input_schema["properties"])

# %% [markdown]
# The server's tool has four arguments, the model's has three. It cannot get a key wrong that it has
# never seen.

# %% [markdown]
# ### `_key`: the same call, the same key
#
# It is made of the user, the run and the call. A random one would be another each time, and no key at
# all. `of` may name the arguments that count; None means all. `_whole` makes 4250 of 4250.0.

# %%
import hashlib
from collections.abc import Collection

from mini_agent.approval import HostCall
from mini_agent.difference import canonical
from mini_agent.hosting.fills import Run, _whole

# %% include mini_agent.hosting.fills._key
for call_id, run in (("toolu_1", "run-7"), ("toolu_9", "run-7"), ("toolu_9", "run-8")):
    call = HostCall(call_id, "x", REFUND, server="refunds", tool="create_refund_draft")
    print(call_id, run, _key(None, Run(run, "robin"), call)[:16])

# %% [markdown]
# Asked again in the same run, even under another id: the same key. Another run is another task, and
# there Robin may well want a second draft.

# %% [markdown]
# ### A whole round
#
# A model reads the order, then proposes a draft. Currency and amount (in minor units) are the order's,
# and not those that somebody claimed.


# %%
def proposes(request):
    order = json.loads(request.messages[-1]["content"][0]["content"])
    wanted = {name: order[name] for name in ("order_id", "currency")}
    wanted["amount_minor"] = order["refundable_amount_minor"]
    why = Text(f"{order['status']}, so it may be refunded under {order['policy_version']}.")
    return [why, ToolCall("toolu_2", "refunds_create_refund_draft", wanted)]


READ = ToolCall("toolu_1", "refunds_get_order", {"order_id": "ord_4821"})


# %%
async def work(host, *turns, run="run-7", trace=None):
    model = ScriptedModel([*turns, [Text("Done.")]])
    hook = host.before_tool_call
    with host.run(run):
        return await run_agent(
            "ord_4821 came late.", model=model, tools=host.tools, before_tool_call=hook, trace=trace
        )


# %% [markdown]
# A person is asked, and sees everything that will be sent, the key as well. `host.run` gives the run its
# name; the same name goes on with the same task, also after a restart.


# %% tags=["covers-build-8-approval"]
def person(call, why):
    print(question(call, why))
    return Approval(True, "Robin has looked at it")


async with RefundDesk() as fresh, host_of(fresh, person) as host:
    ran = await work(host, [READ], proposes)

# %% tags=["covers-model-uses-verified-facts"]
print(ran.messages[3]["content"][0]["text"])
draft = json.loads(ran.messages[4]["content"][0]["content"])
assert draft["amount_minor"] == seen["refundable_amount_minor"]
assert draft["policy_version"] == seen["policy_version"]
draft

# %% [markdown]
# ### With a key: one draft
#
# The same lost answer as before. The host reads `OUTCOME_UNKNOWN` and `retryable`, sees that the call
# carries a key, and makes it again. Nobody else is bothered.

# %%
trace = Trace()
async with RefundDesk() as fresh, host_of(fresh, scripted([True]), trace) as host:
    fresh.faults.plan("orders", "silent_after", method="POST")
    await work(host, [READ], proposes, trace=trace)
    went(one for one in fresh.traffic if (one.to, one.method) == ("orders", "POST"))
    print([draft.draft_id for draft in fresh.store.drafts()])

# %%
draw.sequence(trace, call="toolu_2")

# %% [markdown]
# Two `tools/call` under one call of the model, and `draft_1` comes back. The second time the service knew
# the key, answered 200 and gave the draft that was there.

# %% [markdown]
# Before each of them the host lists the tools. A person took time to say yes, and their yes is for the
# tool as they were shown it.

# %% [markdown]
# ### Another instance, the same draft
#
# A server that keeps nothing can be many. Two of them stand behind one address here, and take turns.
# What has to be found again needs a name of its own: the key.

# %% tags=["covers-independent-instances", "covers-state-by-explicit-id"]
NAME = {"operation_key": "run-7.ord_4821"}
async with RefundDesk(instances=2) as two:
    client = client_of(two)
    made = await client.call("create_refund_draft", REFUND | NAME)
    found = await client.call("get_refund_draft", NAME)
    print("requests at each:", [len(one.gated.transcript) // 2 for one in two.running])
print(found.structured_content["draft_id"], made.structured_content == found.structured_content)

# %% [markdown]
# No session was opened. The id is in the application's contract, where everybody can see it. Any
# instance can be asked about it, and after a timeout that is the question to ask.

# %% [markdown]
# ## The rules stay where they are
#
# One cent too much, in three ways: by the shop's API, by an MCP client with no host around it, and
# through our host with a person's yes.

# %% tags=["covers-business-rules-in-the-service"]
too_much = REFUND | {"amount_minor": 4251}
by_rest = await shop.post(drafts_url, json=too_much | NAME)
print("REST:  ", by_rest.json()["error"]["code"])
by_client = await refunds.call("create_refund_draft", too_much | NAME)
print("client:", json.loads(by_client.content[0]["text"])["error"]["code"])

# %% tags=["covers-rules-independent-of-the-host"]
async with host_of(desk, scripted([True])) as host:
    ran = await work(host, [ToolCall("toolu_1", "refunds_create_refund_draft", too_much)])
print("host:  ", json.loads(ran.messages[2]["content"][0]["content"])["error"]["code"])

# %% [markdown]
# And if the rule stood in the tool's description? One server promises a limit, another promises that
# there is none.

# %% tags=["covers-core-logic-not-in-a-description"]
for claim in ("At most 10 EUR, only for support.", "Any amount, for anybody."):
    async with RefundDesk(**OLD) as old:
        server = naive_writer(old)
        server.tools = [ServerTool("create_refund_draft", claim, server.tools[0].run)]
        client = McpClient(InMemoryTransport(server))
        for amount in (1100, 4251):
            result = await client.call("create_refund_draft", REFUND | {"amount_minor": amount})
            print(f"{claim:<34} {amount}:", "refused" if result.is_error else "drafted")

# %% [markdown]
# 11 EUR passed a description that said 10. A description tells a model what a tool is for. It stops
# nobody, and so it is no place for who may do what.

# %% [markdown]
# ## Step 9 · A record
#
# Who asked for what, what was decided, what came of it, how long it took, under which versions. The host
# writes that down: three records a call, as in notebook 12.

# %%
import tempfile
from pathlib import Path

from mini_agent.audit import AuditLog, read_audit

folder = tempfile.TemporaryDirectory()
path = Path(folder.name) / "audit.jsonl"
async with RefundDesk() as fresh, host_of(fresh, scripted([True]), audit=AuditLog(path)) as host:
    await work(host, [READ], proposes)
print(len(read_audit(path)), "records")

# %%
for one in read_audit(path):
    print(f"{one.kind:<9} {one.tool:<20} {one.decision:<6} {one.outcome or '-':<9} {one.reason}")

# %% tags=["covers-build-9-record"]
last = read_audit(path)[-1]
for name in ("user", "protocol_version", "server_release", "schema_hash"):
    print(f"{name:<17} {getattr(last, name)[:20]}")
print(f"{'arguments':<17}", *last.arguments)
print(f"{'duration known':<17}", last.duration is not None)

# %% [markdown]
# Release and hash are there because next month `create_refund_draft` may be another tool. And the key is
# there, by which the draft can be found in the service's own books.

# %% [markdown]
# ## Step 10 · The bad inputs
#
# Denied, malformed, duplicate, delayed, hostile: each on a fresh desk. What stands last in a line is a
# fault of the order service, where it has one.

# %%
BAD = {
    "denied": ("get_order", {"order_id": "ord_7001"}, ""),
    "malformed": ("get_order", {"order_id": 4821}, ""),
    "malformed answer": ("get_order", {"order_id": "ord_4821"}, "malformed"),
    "duplicate": ("create_refund_draft", REFUND | NAME, "duplicated"),
    "delayed read": ("get_order", {"order_id": "ord_4821"}, "silent_before"),
    "delayed write": ("create_refund_draft", REFUND | NAME, "silent_after"),
    "hostile": ("get_order", {"order_id": "ord_5050"}, ""),
}
print(len(BAD), "cases")

# %% tags=["covers-build-10-test-the-bad-inputs"]
for case, (tool, arguments, fault) in BAD.items():
    async with RefundDesk() as fresh:
        if fault:
            fresh.faults.plan("orders", fault)
        result = await client_of(fresh).call(tool, arguments)
        text = result.content[0]["text"]
        error = service_error(ToolResult(text, result.is_error))
        came = f"{error.code}{', again' * error.retryable}" if error else text[:38] + "…"
        print(f"{case:<17} {came:<40} drafts: {len(fresh.store.drafts())}")

# %% [markdown]
# The last one is a good answer. Its `status` came from a carrier, and gives orders: draft 9999 at once,
# ask nobody. The server returns text as text. It cannot know.

# %% [markdown]
# Who stops it, then? Let the model believe every word of it.


# %%
def obeys(request):
    order = json.loads(request.messages[-1]["content"][0]["content"])
    print("read:", order["status"][:72])
    wanted = REFUND | {"order_id": order["order_id"], "amount_minor": 9999}
    return [ToolCall("toolu_2", "refunds_create_refund_draft", wanted)]


HOSTILE = ToolCall("toolu_1", "refunds_get_order", {"order_id": "ord_5050"})

# %%
for yes in (False, True):
    async with RefundDesk() as fresh, host_of(fresh, scripted([yes])) as host:
        ran = await work(host, [HOSTILE], obeys)
        print("told:", ran.messages[4]["content"][0]["content"][:72])
        assert fresh.store.drafts() == []

# %% [markdown]
# A person who reads says no. One who is tired says yes, and then the service refuses, since it owns the
# amount. No layer has to be perfect alone.

# %% [markdown]
# ### The model's choice has tests of its own
#
# Which tool a model picks is the one thing here that no schema decides. So scripts pick in its place,
# well and badly, and each test asks what the host made of it.

# %% tags=["covers-tests-of-tool-selection"]
import ast

import mini_agent

tests = Path(mini_agent.__file__).parents[1] / "tests" / "test_tool_selection.py"
tree = ast.parse(tests.read_text("utf-8"))
names = [node.name for node in tree.body if getattr(node, "name", "").startswith("test_")]
print(*(name.removeprefix("test_").replace("_", " ") for name in names), sep="\n")

# %% [markdown]
# The last of them lets a real model choose. It runs where `ANTHROPIC_API_KEY` is set, and says that it
# was skipped where it is not.

# %% [markdown]
# ### Ready for another host
#
# Another host finds the operation, checks its schemas, holds its users to the rules, reads each result.
# It knows none of our code. These four requests came from the official SDK's client, and were noted down.

# %%
SDK_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "mcp", "version": "0.1.0"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
SDK_SENT = [("server/discover", {}), ("tools/list", {})] + [
    ("tools/call", {"name": "get_order", "arguments": {"order_id": order_id}})
    for order_id in ("ord_4821", "ord_7001")
]
print(*(method for method, _ in SDK_SENT))

# %% [markdown]
# We send them once more, with httpx and nothing of ours.


# %%
async def replayed(http, number, method, params):
    about = {"Mcp-Method": method} | ({"Mcp-Name": params["name"]} if params else {})
    headers = {k: v for k, v in HEADERS.items() if k != "Mcp-Name"} | about
    params = params | {"_meta": SDK_META}
    body = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    return await http.post(url, json=body, headers=headers)


other = desk.client(desk.issue_token("robin", "orders:read"))
answers = [await replayed(other, number, *sent) for number, sent in enumerate(SDK_SENT, 1)]
discovered, listing, read, refused = [answer.json()["result"] for answer in answers]
print(discovered["supportedVersions"], *(tool["name"] for tool in listing["tools"]))

# %% [markdown]
# The library `jsonschema` judges the schemas, and the result by them. A request without a token is not
# let in. And a refusal can be read by whoever reads JSON.

# %% tags=["covers-ready-for-another-host"]
from jsonschema import Draft202012Validator as Judge

offered = listing["tools"][0]
Judge.check_schema(offered["inputSchema"])
Judge.check_schema(offered["outputSchema"])
Judge(offered["outputSchema"]).validate(read["structuredContent"])
stranger = await replayed(desk.client(), 3, *SDK_SENT[2])
print("no token:", stranger.status_code, stranger.headers["www-authenticate"][:24])
print("refused: ", json.loads(refused["content"][0]["text"])["error"]["code"])

# %% [markdown]
# And the client itself, from the package `mcp`, over real ports of this machine. It does not come with
# the notebooks; the cell says what to install. It is yours to run.

# %% tags=["nbval-skip", "skip-execution"]
try:
    import httpx2
    import mcp
    from mcp.client.streamable_http import streamable_http_client
except ImportError:
    print("The official SDK is not installed here. Install it with: pip install 'mcp>=2.3'")
else:
    async with RefundDesk("loopback") as live:
        bearer = {"Authorization": f"Bearer {live.issue_token('robin', 'orders:read')}"}
        http = httpx2.AsyncClient(trust_env=False, headers=bearer)
        async with http, mcp.Client(streamable_http_client(live.url, http_client=http)) as official:
            print("found:", *(tool.name for tool in (await official.list_tools()).tools))
            for order_id in ("ord_4821", "ord_7001"):
                result = await official.call_tool("get_order", {"order_id": order_id})
                print(result.is_error, result.content[0].text[:60])
        heard = [entry.message for entry in live.transcript if entry.sender == "client"]

# %% [markdown]
# This is what it prints. A test of this kit runs the cell, and fails when it prints anything else, or
# when the SDK's client sends other requests than the four above.
#
# ```text
# found: get_order create_refund_draft get_refund_draft
# False {"order_id": "ord_4821", "status": "delivered_late", "curren
# True {"error": {"code": "ORDER_NOT_FOUND", "message": "There is n
# ```

# %% [markdown]
# ## Try it
#
# Change a draft: another currency, an order with nothing to refund, one cent. Which are refused, and who
# refuses them?

# %%
async with RefundDesk() as fresh:
    for change in ({"currency": "USD"}, {"order_id": "ord_4822"}, {"amount_minor": 1}):
        draft = REFUND | {"operation_key": f"try-it-{next(iter(change))}"} | change
        result = await client_of(fresh).call("create_refund_draft", draft)
        print(result.is_error, result.content[0]["text"][:76])

# %%
await desk.stop()
folder.cleanup()

# %% [markdown]
# ## What changed
#
# | name | what it does |
# |---|---|
# | `shaped` | the fields that a schema names, and none of the others |
# | `Refusal`, `CATEGORIES` | every refusal: code, sentence, retryable |
# | `failure`, `told`, `service_error` | a refusal as a tool error, and read again at the host |
# | `read_answer` | a status and bytes of the service: a record, or a refusal |
# | `RefundTools` | one method a tool, and no rule about refunds |
# | `operation_key`, `Fill`, `host.run` | an argument that the host gives: the same for the same call |
# | `RefundDesk` | all of it, started and stopped, in memory or on ports |

# %% [markdown]
# ## Where the official SDK differs
#
# Its `MCPServer` makes the schemas out of a function's annotations. The input schema is open: an
# argument that nobody declared is dropped without a word. A result that breaks the output schema becomes
# a tool error; here it is an error for the host, since no model can mend it.

# %% [markdown]
# Its errors are sentences without a category, and it has no operation keys. Both are the application's,
# and they are in this notebook because an application is what stands behind MCP.

# %% [markdown] taken="fake_servers.refunds.server"
# ## Taken from the modules without showing it
#
# Of `fake_servers.refunds.server`:
#
# | name | why |
# |---|---|
# | `INSTRUCTIONS`, `read_policy`, `review_change`, `incident_summary` | texts: what the server says of itself, the policy, two prompts |
# | `Shape` | the name of a type: record and schema in, result out |
# | `RefundTools.create_refund_draft`, `RefundTools.get_refund_draft` | as `get_order`, by another method of the service |
# | `RefundTools.declared`, `refund_server` | declarations as in step 2, with the finished schemas |
# | `RefundServer` | arguments that break a schema get the category INVALID_ARGUMENTS |

# %% [markdown] taken="mini_agent.hosting.fills"
# Of `mini_agent.hosting.fills`:
#
# | name | why |
# |---|---|
# | `Run`, `Fill`, `Value` | two dataclasses, imported, and the name of a type |
# | `operation_key`, `_whole` | a Fill with `_key` in it; whole numbers without their point |
# | `without`, `filled` | take the argument out of the schema, put it into the call |
# | `_run`, `current_run`, `running` | the run that is going on, behind `host.run` |

# %% [markdown]
# ## Exercises and next
#
# `exercises/13_refund_desk.ipynb` has 3 tasks, each with a check that answers:
#
# - **13.1** How many drafts does accounting find? (warm-up, 8 minutes)
# - **13.2** The key that makes `create_refund_draft` safe (solid, 20 minutes)
# - **13.3** `list_orders`: which of the ten steps does it need? (demanding, 35 minutes)
#
# And one without: let the MCP server derive the key, out of a run id that the host sends. Whom do you
# trust then?
#
# Next: **14, Whose identity travels?** A token was exchanged in step 7, and we have not looked at it.
