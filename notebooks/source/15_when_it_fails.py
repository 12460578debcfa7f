# %% [markdown]
# # 15 · Which layer owns each failure?
#
# At the end you hold a table that was made by running: eight failures of a real service, who settled
# each, what the wire showed, what the model saw and what the host did. About 55 minutes.

# %%
from __future__ import annotations

from mini_agent import draw

draw.layers()

# %% [markdown]
# No layer is lit. Two parts that own failures are not even drawn: the host, around all of this, and
# the order service, behind the server.

# %% [markdown]
# ## Eleven words
#
# | word | what it is |
# |---|---|
# | owner of a failure | the one part that knows enough to settle it: to refuse, to try again, or to say what happened |
# | upstream | the service that a server calls to do its work |
# | retry | making a call once more, by a program and without asking the model |
# | bounded | with a limit that is known beforehand: so many attempts, so many seconds |
# | idempotency key | a text that names one write; the service does that write once, however often it arrives |
# | operation key | the idempotency key of one call in one run: the host makes it, the model never sees it |
# | retryable | whether the same call, unchanged, may succeed later and cannot act twice |
# | status look-up | a read that asks what became of an earlier write |
# | schema hash | what a record calls a tool's pin: it tells which version of the tool was called |
# | breaking change | a change after which a call that was right is refused |
# | release process | everything between a new version of a server and the day a model is shown it |

# %% [markdown]
# ## The claim
#
# "Tool failed" helps nobody. Each of these eight has an owner, so each line is a claim. The rest of the
# notebook makes every one of them happen.
#
# | failure | owner | what should happen |
# |---|---|---|
# | arguments do not fit | host, MCP server | refused before the service is called |
# | token expired, or not for this server | MCP server | refused; the client gets another in the way that was agreed |
# | somebody else's order | order service | denied, without a word on whether it exists |
# | server unavailable | host | tried again, where tool and policy allow it |
# | timeout after a write | order service | settled by key or status look-up |
# | an answer that is no message | MCP client | refused; the server's version is recorded |
# | orders in a returned text | host | kept where untrusted text belongs |
# | a tool's schema changed | release process | found before a model is shown it |

# %% [markdown]
# ## A desk that fails on order
#
# Notebook 13 builds the refund desk: an order service, an MCP server in front of it, a server that
# issues tokens. All of it runs in memory. These are the ways in which it can be told to fail.

# %%
from fake_servers.refunds import faults
from fake_servers.refunds.desk import RefundDesk

print(faults.table())

# %% [markdown]
# The desk notes who asked whom. `hops` prints that, without the errands that servers run among
# themselves for keys and tokens.


# %%
def hops(desk):
    for one in desk.traffic:
        if one.to != "authorization" or one.sender == "client":
            asked = one.what or f"{one.method} {one.path}"
            print(f"{one.sender:>8} -> {one.to:<14}{asked:<50}{one.status or 'no answer'}")


# %% [markdown]
# One good call, from a client with nothing above it. `bare` makes such a client; its token is Robin's.
# Two services had a part in the call.

# %%
from mini_agent.mcp import HttpTransport, McpClient


def bare(desk, trace=None, **claims):
    http = desk.client(desk.issue_token("robin", **claims))
    return McpClient(HttpTransport(desk.url, client=http), server="refunds", trace=trace)


ORDER = {"order_id": "ord_4821"}
async with RefundDesk() as desk:
    result = await bare(desk).call("get_order", ORDER)
    hops(desk)
print(result.structured_content["order_id"], result.structured_content["status"])

# %% [markdown]
# ## The host
#
# It acts for Robin, reads and drafts without asking, and fills in the operation key. Waiting is a
# function that we hand in: this one writes the seconds down and does not wait.

# %%
from mini_agent.approval import Policy, Rule
from mini_agent.host import Host
from mini_agent.hosting.attempts import Bounds
from mini_agent.hosting.fills import operation_key

READ, WRITE = Rule("get_*", "allow", read_only=True), Rule("create_refund_draft", "allow")
KEY = operation_key("refunds", "create_refund_draft")
waited = []


async def no_wait(seconds):
    waited.append(seconds)


def host_of(desk, trace, **options):
    usual = {"policy": Policy([READ, WRITE]), "fills": [KEY], "user": "robin"}
    given = {**usual, "bounds": Bounds(attempts=3, sleep=no_wait), "trace": trace, **options}
    return Host({"refunds": bare(desk, trace)}, **given)


# %% [markdown]
# `ask` runs the agent once. The model is a script of turns. What goes wrong on the protocol's path comes
# back as a value, so that we can look at it.

# %%
from mini_agent.agent import run_agent
from mini_agent.errors import McpError
from mini_agent.model_client import ScriptedModel
from mini_agent.types import Text, ToolCall


async def ask(trace, turns, tools, hook=None):
    model = ScriptedModel([*turns, [Text("So be it.")]])
    try:
        await run_agent("Refund it.", model=model, tools=tools, before_tool_call=hook, trace=trace)
    except McpError as error:
        return error


async def ask_host(host, trace, turns):
    with host.run("task-1"):
        return await ask(trace, turns, host.tools, host.before_tool_call)


def call(tool, arguments, number=1):
    return [ToolCall(f"toolu_{number}", f"refunds_{tool}", arguments)]


# %% [markdown]
# An experiment: a fresh desk, the host connected, then the faults, then the question. What we keep of
# it is a `Run`.

# %%
from dataclasses import dataclass, field

from mini_agent.trace import Trace


@dataclass
class Run:
    trace: Trace = field(default_factory=Trace)
    traffic: list = field(default_factory=list)
    error: McpError | None = None
    withheld: list = field(default_factory=list)
    drafts: list = field(default_factory=list)


runs = {}


# %%
async def experiment(name, *turns, plan=(), release="1.0.0", show=hops, **options):
    run = runs[name] = Run()
    async with RefundDesk(release=release) as desk, host_of(desk, run.trace, **options) as host:
        desk.traffic.clear()
        for at, fault, when in plan:
            desk.faults.plan(at, fault, **when)
        run.error, run.withheld = await ask_host(host, run.trace, turns), host.withheld
        run.traffic, run.drafts = list(desk.traffic), desk.store.drafts()
        show(desk)
    return run


# %% [markdown]
# What the model read is in the trace: the last result, or the marker that stands for an exception.

# %%
from textwrap import fill

from mini_agent.calls import FAILED


def model_saw(run):
    loop = [event for event in run.trace.events if event.layer == "loop"]
    told = [event.facts for event in loop if event.what in ("tool_result", "failed")]
    return told[-1].get("content", FAILED)


print(fill(model_saw(await experiment("all is well", call("get_order", ORDER))), 100))

# %% [markdown]
# ## Arguments that do not fit
#
# The model drops the prefix of the order's number. The host knows the schema, and asks nobody.

# %% tags=["covers-failure-invalid-arguments"]
run = await experiment("arguments", call("get_order", {"order_id": "4821"}))
assert run.traffic == []
draw.chain(run.trace)

# %% [markdown]
# Nothing was printed above the drawing: no hop. The model reads path and rule, and can mend it in its
# next turn.

# %% [markdown]
# Not every host is so careful. `unguarded` is a loop with a tool that sends what it is given. The
# server has the same schema, and the order service is not bothered.

# %%
from mini_agent.mcp.adapter import format_result
from mini_agent.types import Tool, ToolResult, ToolSpec


async def unguarded(name, arguments, **claims):
    run = runs[name] = Run()
    async with RefundDesk() as desk:
        client = bare(desk, run.trace, **claims)

        async def execute(given):
            result = await client.call("get_order", given)
            return ToolResult(format_result(result), result.is_error)

        tool = Tool(ToolSpec("refunds_get_order", "Read one order."), execute)
        run.error = await ask(run.trace, [call("get_order", arguments)], [tool])
        run.traffic = list(desk.traffic)
        hops(desk)
    return run


# %% tags=["covers-failure-invalid-arguments"]
print(fill(model_saw(await unguarded("arguments, unguarded", {"order_id": "4821"})), 100))

# %% [markdown]
# Two owners, on purpose. The host spares a request. The server protects its service from every host,
# also from those that check nothing.
#
# Specification: server/tools, "Security Considerations".

# %% [markdown]
# ## A token that is not good here
#
# Tokens are made for one server. This one is for the order service, and somebody shows it to the MCP
# server.

# %% tags=["covers-failure-wrong-token"]
run = await unguarded("token of another server", ORDER, audience="https://orders.example")
print(type(run.error).__name__, run.error.status, "· may have acted:", run.error.may_have_acted)
print(fill(run.error.challenge.partition(", ")[2], 100))
draw.chain(run.trace)

# %% [markdown]
# Status 401, with the reason in a header. The server refused before it looked at the call. The model is
# not told why: it has no tokens.
#
# Specification: basic/authorization, "Error Handling".

# %% [markdown]
# ### Expired, with somebody to get another
#
# `OAuth` of notebook 14 signs Robin in. An hour passes at the desk. Our client's clock stands still, so
# it believes that its token is good.

# %%
from mini_agent.mcp.auth import AuthorizationCode, OAuth

BACK = "http://127.0.0.1:8123/callback"


def signed_in(desk, trace):
    auth = OAuth(AuthorizationCode(desk.browse, BACK), http=desk.client(), clock=lambda: 0.0)
    transport = HttpTransport(desk.url, client=desk.client(), auth=auth)
    return McpClient(transport, trace=trace)


# %% tags=["covers-failure-wrong-token"]
run = runs["expired token"] = Run()
async with RefundDesk() as desk:
    client = signed_in(desk, run.trace)
    async with Host({"refunds": client}, policy=Policy([READ]), trace=run.trace) as host:
        desk.traffic.clear()
        desk.advance(3600)
        run.error = await ask_host(host, run.trace, [call("get_order", ORDER)])
    run.traffic = list(desk.traffic)
    hops(desk)
print(fill(model_saw(run), 100))

# %% [markdown]
# The server said no, and where to go. The client fetched another token with its refresh token, and sent
# the call once more. It was refused before it could act, so once more is safe.

# %% [markdown]
# Nobody was asked to sign in again, and the loop noticed nothing. The owner of a failure is also where
# it ends.

# %%
assert not any(one.path == "/authorize" for one in run.traffic)
print([event.what for event in run.trace.events if event.layer == "loop"])

# %% [markdown]
# ## Somebody else's order
#
# The token is good, and it is Robin's. `ord_7001` belongs to Kim. `ord_9999` belongs to nobody.

# %% tags=["covers-failure-no-access"]
for name, order in (("no access", "ord_7001"), ("no order", "ord_9999")):
    run = await experiment(name, call("get_order", {"order_id": order}))
    print(model_saw(run))
assert model_saw(runs["no access"]) == model_saw(runs["no order"])

# %% [markdown]
# The same words for both, from the order service. Had it said "this is not yours", anybody could find
# out which orders exist by counting up.

# %%
draw.chain(runs["no access"].trace)

# %% [markdown]
# Only the service can own this. The MCP server does not know whose order it is, the host even less, and
# what the model believes counts for nothing.

# %% [markdown]
# ## Unavailable
#
# A gateway answers 503 in the server's place. The first thought is to try until it works.

# %%
from mini_agent.errors import HttpStatusError


async def naive_retry(client, name, arguments):
    while True:
        try:
            return await client.call(name, arguments)
        except HttpStatusError:
            pass


async with RefundDesk() as desk:
    desk.faults.plan("refunds", "unavailable", times=500)
    await naive_retry(bare(desk), "get_order", ORDER)
    print(sum(one.to == "refunds" for one in desk.traffic), "requests for one order")

# %% [markdown]
# It ended because we had planned an end. A real outage has none, and a thousand clients that do this
# keep a server down that is trying to get up.

# %% [markdown]
# ### `wait_before_retry`: which errors are worth it
#
# Refused connections always: nothing was sent. A cut, a timeout or a busy server (429, 5xx) only where
# the call is `safe` to make twice; the rest never. A longer wait that the server asks for replaces ours.

# %%
from mini_agent.errors import ConnectFailed, RequestTimeout, TransportClosed
from mini_agent.mcp.retry import TOO_MANY

# %% include mini_agent.mcp.retry.wait_before_retry
for error in (ConnectFailed("refused"), TransportClosed("cut"), HttpStatusError("", status=404)):
    name, waits = type(error).__name__, [wait_before_retry(error, safe=s, pause=1) for s in (0, 1)]
    print(f"{name:<16} not safe: {waits[0]}, safe: {waits[1]}")

# %% [markdown]
# ### `with_retries`: bounded, whatever happens
#
# One attempt comes in as a function. There is a last one, and a longest wait.

# %%
import asyncio
import itertools
from collections.abc import Awaitable, Callable
from typing import Any

from mini_agent.mcp.retry import T

# %% include mini_agent.mcp.retry.with_retries
steps = iter([ConnectFailed("refused"), ConnectFailed("refused"), "an answer"])


async def fails_twice():
    step = next(steps)
    if isinstance(step, Exception):
        raise step
    return step


waited.clear()
print(await with_retries(fails_twice, sleep=no_wait), "after waits of", waited)

# %% [markdown]
# ### `within`: the host's own knowledge
#
# `safe` is what the host knows: the reviewer marked the tool as one that reads, or the call carries a
# key. Without that there is one attempt.

# %%
import json

from mini_agent.hosting.attempts import ServiceError, _json

# %% include mini_agent.hosting.attempts.service_error is_retryable within
error = {"code": "BUSY", "message": "Later.", "retryable": True}
print(service_error(ToolResult(json.dumps({"error": error}), is_error=True)))

# %% [markdown]
# Two sources of failure in one loop. An exception says how the connection failed. A result may state a
# failure of the service, and then the service's word decides: that is `again`.

# %% [markdown]
# ### A read, down for a moment
#
# The policy says `read_only` of `get_order`. That is the word of whoever reviewed it, never the
# server's own annotation.

# %% tags=["covers-failure-server-unavailable"]
DOWN = ("refunds", "unavailable", {"tool": "get_order"})
waited.clear()
run = await experiment("unavailable", call("get_order", ORDER), plan=[DOWN])
print("waited:", waited)
draw.sequence(run.trace, call="toolu_1")

# %% [markdown]
# Two requests with two ids, one call of the model. Our own pause is half a second. It waited a whole
# one because the gateway asked for that, in `Retry-After`.

# %% [markdown]
# ### Down for good
#
# The bound holds. The third failure goes up to whoever started the run, as it is, with a note of how
# often it was tried.

# %% tags=["covers-reads-retry-within-bounds"]
for_good = ("refunds", "unavailable", {"tool": "get_order", "times": None})
run = await experiment("down for good", call("get_order", ORDER), plan=[for_good])
print(type(run.error).__name__, *run.error.__notes__, "· the model saw:", model_saw(run))

# %% [markdown]
# And a policy that does not vouch for the tool: one attempt. The host will not guess from a name that
# begins with `get`.

# %% tags=["covers-failure-server-unavailable"]
unvouched = Policy([Rule("get_*", "allow")])
run = await experiment("not vouched for", call("get_order", ORDER), plan=[DOWN], policy=unvouched)
print(type(run.error).__name__)

# %% [markdown]
# ## The service's own word
#
# Now the fault is upstream, in the order service. So there is an answer, and it says `retryable`. Once
# the service is down; once the order has nothing to refund.

# %% tags=["covers-retryable-is-obeyed"]
BEHIND = ("orders", "unavailable", {"method": "GET"})
await experiment("service down", call("get_order", ORDER), plan=[BEHIND])
print()
REFUNDED = {"order_id": "ord_4822", "amount_minor": 100, "currency": "EUR"}
run = await experiment("nothing to refund", call("create_refund_draft", REFUNDED))
print(fill(model_saw(run), 100))

# %% [markdown]
# The first was tried again and the model never knew. The second was not, though this call carries a key
# and would have been safe: the service said that asking again cannot help.

# %% [markdown]
# A model that had to guess this from prose would sometimes be right.

# %% [markdown]
# ## A timeout after a write
#
# The order service makes the draft, and its answer is lost. Nobody above can know. Here is the helpful
# client once more, and it even has a key: a new one for each attempt.

# %%
import uuid

DRAFT = {**ORDER, "amount_minor": 4250, "currency": "EUR"}


async def naive_write(client, arguments):
    while True:
        key = uuid.uuid4().hex
        result = await client.call("create_refund_draft", {**arguments, "operation_key": key})
        if not result.is_error:
            return result


# %%
async with RefundDesk() as desk:
    desk.faults.plan("orders", "silent_after", method="POST")
    await naive_write(bare(desk), DRAFT)
    hops(desk)
    print([draft.wanted.amount_minor for draft in desk.store.drafts()])

# %% [markdown]
# Two drafts, 85 euros for an order of 42.50. A key that is new each time names an attempt. It has to
# name the operation.

# %% [markdown]
# ### `safe`: what counts as evidence
#
# The host's key is the same for the same call in the same run (notebook 13). Its Fill says
# `repeatable`. These are the last two lines of the host's `Gate.execute`, and all the evidence it takes:

# %% tags=["covers-writes-retry-only-with-a-key"]
import inspect

from mini_agent.hosting.gate import Gate

print(*inspect.getsource(Gate.execute).splitlines()[-2:], sep="\n")
print("KEY:", KEY.argument, "· repeatable:", KEY.repeatable)

# %% [markdown]
# The lost answer once more, now through the host. The model asks once.

# %% tags=["covers-failure-timeout-after-write", "covers-writes-retry-only-with-a-key"]
LOST = ("orders", "silent_after", {"method": "POST"})
run = await experiment("timeout after a write", call("create_refund_draft", DRAFT), plan=[LOST])
print(fill(model_saw(run), 100))
print(len(run.drafts), "draft")
draw.sequence(run.trace, call="toolu_1")

# %% [markdown]
# The second request carried the first one's key. The order service found the draft under it and gave
# that back. It is the service that settled this: a unique column in its database.

# %% [markdown]
# > **Beside the text.** The chapter puts the key among the tool's arguments, or lets the server derive
# > it from run and action. Here it is an argument, and the host derives it: the host knows the run.

# %% [markdown]
# ### No key, no second try
#
# The same host without the Fill. Now the model has to give the key. It gives one, the service calls the
# failure retryable, and the host still makes the call once.

# %% tags=["covers-writes-retry-only-with-a-key"]
keyed = {**DRAFT, "operation_key": "the-models-own"}
wish = call("create_refund_draft", keyed)
run = await experiment("key of the model", wish, plan=[LOST], fills=[])
print(model_saw(run)[:70], "…")

# %% [markdown]
# Is that too strict? The host has no evidence that this key is the same next time. It has only the
# model's word, and a model is good at inventing keys.

# %% [markdown]
# ### Three times silence: look it up
#
# The bound is reached and still nobody knows. But what was sent is in the audit file, with its key, and
# the desk has a tool for that question.

# %%
import tempfile
from pathlib import Path

from mini_agent.audit import AuditLog, read_audit

folder = tempfile.TemporaryDirectory()


async def look_up(client, records):
    [last] = [r for r in records if r.kind == "outcome" and r.reason == "OUTCOME_UNKNOWN"][-1:]
    key = last.arguments["operation_key"]
    return (await client.call("get_refund_draft", {"operation_key": key})).structured_content


# %% tags=["covers-failure-timeout-after-write"]
path, trace = Path(folder.name) / "silence.jsonl", Trace()
async with RefundDesk() as desk, host_of(desk, trace, audit=AuditLog(path)) as host:
    desk.faults.plan("orders", "silent_after", method="POST", times=3)
    await ask_host(host, trace, [call("create_refund_draft", DRAFT)])
    print(*(f"{r.kind:<9} {r.outcome:<11} {r.reason}" for r in read_audit(path)), sep="\n")
    print((await look_up(bare(desk), read_audit(path)))["draft_id"])

# %% [markdown]
# A status look-up is a read, so it may be made as often as one likes. It is also what a person does,
# the next morning, with the same key.

# %% [markdown]
# ## The rules in one table
#
# Four kinds of calls, four failures that last: how often was each call sent? "Vouched" is the
# reviewer's `read_only`. A connection that is cut, and a retryable word, come after the work was done.

# %%
KINDS = {
    "read, vouched": ("get_order", ORDER, {}),
    "read, not vouched": ("get_order", ORDER, {"policy": unvouched}),
    "write with the host's key": ("create_refund_draft", DRAFT, {}),
    "write without": ("create_refund_draft", keyed, {"fills": []}),
}
FAILURES = {
    "503": ("refunds", "unavailable", {}),
    "cut": ("refunds", "dropped_after", {}),
    "retryable": ("orders", "silent_after", {}),
    "no JSON": ("refunds", "malformed", {}),
}


# %%
async def times_sent(kind, failure):
    tool, arguments, options = KINDS[kind]
    at, fault, when = FAILURES[failure]
    where = {"tool": tool} if at == "refunds" else {"path": "/"}
    plan, quiet = [(at, fault, {**when, **where, "times": None})], lambda desk: None
    run = await experiment("grid", call(tool, arguments), plan=plan, show=quiet, **options)
    return sum(one.what.startswith("tools/call") for one in run.traffic)


# %% tags=["covers-reads-retry-within-bounds", "covers-writes-retry-only-with-a-key"]
print(f"{'':<27}", *[f"{failure:>10}" for failure in FAILURES])
for kind in KINDS:
    sent = [await times_sent(kind, failure) for failure in FAILURES]
    print(f"{kind:<27}", *[f"{times:>10}" for times in sent])

# %% [markdown]
# Reads that somebody vouches for and writes with a key, three times; all others once. One column is
# different: an answer that is no message. Next we see why nobody tries that again.

# %% [markdown]
# > **Beside the text.** A stream that was cut cannot be resumed in this revision: whoever wants the
# > answer sends a new request. The column "cut" says for whom that is wise.

# %% [markdown]
# ## An answer that is no message
#
# Status 200, and half a JSON object. Behind it the order was read. The client, or rather the transport
# that is its lower half, will not guess the rest.

# %% tags=["covers-failure-malformed-response"]
half = ("refunds", "malformed", {"tool": "get_order"})
path = Path(folder.name) / "malformed.jsonl"
plan, log = [half], AuditLog(path)
run = await experiment("malformed", call("get_order", ORDER), plan=plan, audit=log)
print(run.error)
print("server:", run.error.server_info)

# %%
draw.chain(run.trace)

# %% [markdown]
# Half a message is no message, says the drawing, and shows what came. A retry would meet the same
# release. So this is for whoever runs the server, and they need to know which release it was.

# %% tags=["covers-failure-malformed-response"]
record = read_audit(path)[-1]
print(fill(f"{record.kind} · {record.outcome} · {record.reason}", 100))
print(record.server_release, "·", record.protocol_version, "·", record.schema_hash[:12])

# %% [markdown]
# ## Orders in a returned text
#
# The status of `ord_5050` came from a carrier, and gives orders. This model believes what it reads. A
# draft is asked about in this host, and the person says no.

# %%
from mini_agent.approval import scripted
from mini_agent.types import Approval

STRANGER = {"order_id": "ord_5050"}
TWICE = {**STRANGER, "amount_minor": 9999, "currency": "EUR"}


def believes(request):
    assert "SYSTEM:" in request.messages[-1]["content"][0]["content"]
    return call("create_refund_draft", TWICE, 2)


# %% tags=["covers-failure-hostile-text"]
careful = Policy([READ, Rule("create_refund_draft", "ask", why="it drafts a refund")])
person = scripted([Approval(False, "more than the order cost")])
run = await experiment(
    "hostile text", call("get_order", STRANGER), believes, policy=careful, approver=person
)
print(model_saw(run))
draw.chain(run.trace)

# %% [markdown]
# The text was read and obeyed, and got as far as the policy. Where did it stand meanwhile? In a result
# of a tool, which is the place for what others wrote.

# %% tags=["covers-failure-hostile-text"]
channels = {
    (event.layer, event.what)
    for event in run.trace.events
    if "SYSTEM:" in str(event.facts) and event.layer == "loop"
}
print(channels)

# %% [markdown]
# Suppose that the person nods. The order service still knows what the order cost. Two owners again, and
# neither relies on the other.

# %%
nods = scripted([True])
run = await experiment(
    "hostile, approved", call("get_order", STRANGER), believes, policy=careful, approver=nods
)
print(fill(model_saw(run), 100))

# %% [markdown]
# ## A schema that changed
#
# Release 2.0.0 of the desk wants a reason for each draft. The host holds pins of 1.0.0: the tools as
# they were reviewed. Nobody has reviewed the new ones.

# %%
from mini_agent.catalog import Pins


async def listed(release):
    async with RefundDesk(release=release) as desk:
        return await bare(desk).connect()


pins = Pins().keep("refunds", await listed("1.0.0"))

# %% tags=["covers-failure-schema-changed"]
wish = call("create_refund_draft", DRAFT)
run = await experiment("schema changed", wish, release="2.0.0", pins=pins)
for change in run.withheld:
    print(change, change.difference, sep="\n")

# %% [markdown]
# The model was offered the two other tools. Ours asks for the third all the same, as one might that has
# seen it yesterday.

# %%
print(model_saw(run))
draw.chain(run.trace)

# %% [markdown]
# No model meets the new schema before somebody has looked at it. That is early enough. But what is
# there to look at?

# %% [markdown]
# ## What the change does to its callers
#
# A difference tells what was written. It does not tell who will be refused. For that, calls are needed:
# old ones, new ones, and wrong ones. `schema_tests` makes them from the two schemas.

# %%
from mini_agent.schema_change import schema_tests

[change] = run.withheld
before, after = change.before.input_schema, change.after.input_schema
tests = schema_tests(before, after)
print(tests.table())

# %% [markdown]
# Each call comes with two verdicts: does the old schema take it, does the new one? A call that only the
# old one takes is a breaking change, caught in the act.

# %% [markdown]
# ### Test 1: calls that were right
#
# Made from the old schema alone, as a host makes them that has not heard of the new one.


# %% tags=["covers-schema-test-old-valid"]
def show(cases):
    for case in cases:
        verdict = {True: "takes", False: "refuses"}
        print(f"old {verdict[case.old]:<8} new {verdict[case.new]:<8} {case.about}")


show(tests.old_valid)
print(tests.old_valid[0].arguments)

# %% [markdown]
# Every host that runs today makes such calls, and under 2.0.0 each of them is refused. The values are
# made from the schema as well: `ord_A` is the shortest text that fits its pattern.

# %% [markdown]
# ### Test 2: calls that are right now
#
# All fields; only those that are required, which under 2.0.0 is the same call; and one field at a time
# with another value that it may have.

# %% tags=["covers-schema-test-new-valid"]
show(tests.new_valid)

# %% [markdown]
# ### Test 3: fields that are missing
#
# From here on the calls are spoilt ones: a good call, with one thing wrong. How a field is taken out,
# at any depth:

# %%
from collections.abc import Iterator

from mini_agent.difference import canonical
from mini_agent.releasing.spoiled import GONE, Named, at, kinds_of, paths, put, written
from mini_agent.types import JsonObject

# %% include mini_agent.releasing.spoiled.without_a_field
print([about for about, _ in without_a_field({"a": 1, "b": [{"c": 2}]})])

# %% tags=["covers-schema-test-missing-field"]
show(tests.missing)
assert not any(case.new for case in tests.missing)

# %% [markdown]
# One line says "old takes": the call without a reason is yesterday's good call. So the missing field
# and the breaking change are one and the same.

# %% [markdown]
# ### Test 4: a field too many
#
# One that nobody knows, in every object of the call, and those that only the old schema has. Then the
# same for a schema that is left open.

# %% tags=["covers-schema-test-additional-field"]
show(tests.additional)
open_schema = {**after, "additionalProperties": True}
show(schema_tests(before, open_schema).additional)

# %% [markdown]
# An open schema takes it. There a field with a typing error in its name passes for one that nobody
# knows, and what was meant is lost.

# %% [markdown]
# ### Test 5: fields of the wrong type
#
# Each value is replaced by one of every other type. The text is the one that looks like the value:
# `"1"` for 1. Models do that.

# %% include mini_agent.releasing.spoiled.with_a_wrong_type
print([wrong["amount"] for _, wrong in with_a_wrong_type({"amount": 1})])

# %% tags=["covers-schema-test-wrong-type"]
show([case for case in tests.wrong_type if case.about.startswith("amount_minor")])
assert not any(case.new for case in tests.wrong_type)

# %% [markdown]
# ## Run before a model is shown it
#
# The verdicts are the schema's. Does the server keep to them? The release process makes every call at
# the new release, on a desk of its own, and holds answers against verdicts.


# %%
async def answers(tests, release):
    async with RefundDesk(release=release) as desk:
        client = bare(desk)
        for kind, cases in tests:
            for case in cases:
                result = await client.call("create_refund_draft", case.arguments)
                taken = "INVALID_ARGUMENTS" not in result.content[0]["text"]
                yield kind, case, taken


# %% tags=["covers-schema-tested-before-it-is-shown"]
from collections import Counter

held = Counter()
async for kind, case, taken in answers(tests, "2.0.0"):
    held[kind, "as the schema says" if taken == case.new else "DIFFERENT"] += 1
for (kind, how), count in held.items():
    print(f"{kind:<12}{count:>3} {how}")

# %% [markdown]
# The server does what it says. Whether that is wanted is another question, and here the answer is no:
# a gate that stops a release is an assert.

# %% tags=["raises-exception", "covers-schema-tested-before-it-is-shown"]
assert not tests.breaking, f"this breaks {len(tests.breaking)} call: {tests.breaking[0].about}"

# %% [markdown]
# The team makes the reason optional. Old calls stay right, new ones can say more. This one may be
# reviewed, pinned and shown.

# %% tags=["covers-failure-schema-changed"]
mended = {**after, "required": before["required"]}
print(schema_tests(before, mended).table())
assert not schema_tests(before, mended).breaking

# %% [markdown]
# It is a sample and no proof. A pattern that became narrower shows only in a call that it no longer
# takes. Real calls help: the arguments in an audit file go in as `seen`.

# %%
letters = {**before["properties"], "order_id": {"type": "string", "pattern": "^ord_[A-Z]+$"}}
narrower, real = {**before, "properties": letters}, {**DRAFT, "operation_key": "task-1.ord_4821"}
for seen in ([], [real]):
    found = schema_tests(before, narrower, seen=seen).breaking
    print(len(seen), "seen · breaking:", [case.about for case in found])

# %% [markdown]
# ## What a trace names
#
# In a month somebody asks why a call was refused. "create_refund_draft" alone may have been two tools.
# So each call in the trace names revision, release and schema hash.

# %% tags=["covers-trace-names-versions-and-schema"]
for name in ("all is well", "timeout after a write"):
    [sent, *_] = [e.facts for e in runs[name].trace.events if (e.layer, e.what) == ("host", "call")]
    for fact in ("tool", "protocol", "release"):
        print(f"{fact:<12} {sent[fact]}")
    print(f"{'schema_hash':<12} {sent['schema_hash'][:12]}…\n")

# %%
from mini_agent.pin import pin

for release in ("1.0.0", "2.0.0"):
    print(release, *(pin(tool)[:12] for tool in await listed(release)))

# %% [markdown]
# Between the releases one hash of three differs. It is the tool that was withheld.

# %% [markdown]
# ## The table
#
# Now the claim from the top is held against what happened. The columns are functions of a run. First:
# what did a service answer to the call, each time that it came?


# %%
def answered(run, to):
    came = [one for one in run.traffic if one.to == to and one.sender != "browser"]
    called = [one for one in came if to == "orders" or one.what.startswith("tools/call")]
    return [one.status for one in called]


def wire(run, to):
    said = [str(status or "silence") for status in answered(run, to)]
    broken = to == "refunds" and type(run.error).__name__ == "MalformedMessage"
    return " ".join(said + ["no JSON"] * broken) or "-"


for name in ("arguments", "unavailable", "timeout after a write"):
    print(
        f"{name:<22} refunds: {wire(runs[name], 'refunds'):<8} orders: {wire(runs[name], 'orders')}"
    )

# %% [markdown]
# What did the host do? It wrote that into the trace itself: each call that it sent, each that it denied.
# "Raised it" means that its caller got the exception.


# %%
def host_did(run):
    word = {"call": "sent", "denied": "denied"}
    events = [e for e in run.trace.events if e.layer == "host" and e.what in word]
    tools = [e.facts["tool"].replace("create_refund_", "").replace("get_", "") for e in events]
    done = Counter(f"{word[e.what]} {tool}" for e, tool in zip(events, tools, strict=True))
    words = [f"{what} x{times}" if times > 1 else what for what, times in done.items()]
    return ", ".join(words + ["raised it"] * bool(words and run.error)) or "-"


for name in ("unavailable", "hostile text", "malformed"):
    print(f"{name:<22} {host_did(runs[name])}")

# %% [markdown]
# What the model saw, in a word: the draft, the order, the code of a refusal, or the beginning of a text.


# %%
from textwrap import shorten


def stated(run):
    text = model_saw(run)
    said = json.loads(text) if text.startswith("{") else {}
    return said.get("error", said)


def in_a_word(run):
    said = stated(run)
    short = shorten(model_saw(run), 24, placeholder=" …")
    return said.get("draft_id") or said.get("order_id") or said.get("code") or short


print(*(in_a_word(runs[name]) for name in ("timeout after a write", "no access", "malformed")))

# %% [markdown]
# And who settled it? From the evidence, in order: withheld before any call; refused as no message, or
# for its token; decided by the service; refused by the server with a code; and else by the host.


# %%
def owner(run):
    if run.withheld:
        return "release process"
    if type(run.error).__name__ == "MalformedMessage":
        return "MCP client"
    if 401 in answered(run, "refunds"):
        return "MCP server"
    if any(status == 0 or 400 <= status < 500 for status in answered(run, "orders")):
        return "order service"
    return "MCP server" if "code" in stated(run) else "host"


# %% [markdown]
# Two of the eight have two lines. Behind each title stands who was claimed to be its owner.

# %%
CLAIM = {
    "arguments": ("wrong arguments", "host"),
    "arguments, unguarded": ("… with no host", "MCP server"),
    "token of another server": ("token not for here", "MCP server"),
    "expired token": ("token expired", "MCP server"),
    "no access": ("another's order", "order service"),
    "unavailable": ("server unavailable", "host"),
    "timeout after a write": ("timeout after write", "order service"),
    "malformed": ("no message", "MCP client"),
    "hostile text": ("orders in a text", "host"),
    "schema changed": ("schema changed", "release process"),
}

# %% tags=["covers-failure-schema-changed"]
columns = "{:<20}{:<16}{:<13}{:<13}{:<25}{}"
print(columns.format("failure", "owner", "at refunds", "at orders", "the model saw", "the host"))
for name, (title, claimed) in CLAIM.items():
    run = runs[name]
    seen = wire(run, "refunds"), wire(run, "orders"), in_a_word(run), host_did(run)
    print(columns.format(title, owner(run), *seen))
    assert owner(run) == claimed, name

# %% [markdown]
# Every owner is as claimed. And in no line has a model to guess whether to try again.

# %% [markdown]
# ## Under load
#
# One failure at a time is a lesson. `tests/test_refund_load.py` has all of them at once: 200 drafts, 32
# workers, silences, cuts, repeats and restarts. It asserts 200 drafts and an audit file without a gap.

# %%
import ast

import mini_agent

source = Path(mini_agent.__file__).parents[1] / "tests" / "test_refund_load.py"
print(ast.get_docstring(ast.parse(source.read_text("utf-8"))))

# %% [markdown]
# ## Try it
#
# Plan another fault, at either service, on a read or a write. Before you run it, say its row: owner,
# wire, model, host.

# %%
mine = ("orders", "wrong_shape", {"method": "GET"})
run = await experiment("mine", call("get_order", ORDER), plan=[mine])
print(owner(run), wire(run, "orders"), in_a_word(run), host_did(run), sep=" | ")
folder.cleanup()

# %% [markdown]
# ## What changed
#
# | name | what it does |
# |---|---|
# | `wait_before_retry` | which exceptions are worth another try, and after how long |
# | `with_retries` | at most so many tries, each wait twice the one before |
# | `within`, `Bounds` | the same for the host's calls: where they take no harm by it |
# | `service_error` | a service's code, words and `retryable`, read from a result |
# | `operation_key` | the same key for the same call in the same run, filled in by the host |
# | `schema_tests` | five lists of calls from two schemas, each with its verdicts |
# | `RefundDesk.faults` | what goes wrong at the desk, on order |

# %% [markdown]
# ## Where the official SDK differs
#
# Its client sends a call once, as ours does; only one refused for its token goes out again. Retries,
# keys and pins are a host's. It knows no `retryable` either: the revision leaves the text of a tool
# error to the server, so code and flag are an agreement between this desk and this host.

# %% [markdown]
# The revision has `idempotentHint` among a tool's annotations. Our host does not read it: annotations
# are claims of the server, and a wrong one would cost a second refund.
#
# Specification: server/tools, "Tool".

# %% [markdown] taken="mini_agent.schema_change"
# ## Taken from the modules without showing it
#
# Of `mini_agent.schema_change`:
#
# | name | why |
# |---|---|
# | `Case`, `SchemaTests` | dataclasses, imported: their fields are the columns and lists above |
# | `schema_tests` | it calls what is shown, and two validators for the verdicts |
# | `valid_calls` | it begins at the fields of a schema, and makes a value for each |

# %% [markdown] taken="mini_agent.releasing.spoiled"
# Of `mini_agent.releasing.spoiled`:
#
# | name | why |
# |---|---|
# | `Path`, `Named`, `UNKNOWN`, `GONE` | names of types, the name of the unknown field, the mark that takes a value out |
# | `with_a_field_more` | as `without_a_field`, the other way round |
# | `kinds_of`, `paths`, `at`, `put`, `written` | walking through a JSON value, and copying it with one thing changed |

# %% [markdown]
# ## Exercises and next
#
# `exercises/15_when_it_fails.ipynb` has 3 tasks, each with a check that answers:
#
# - **15.1** Once more? (warm-up, 8 minutes)
# - **15.2** A field is renamed, and nobody breaks (solid, 15 minutes)
# - **15.3** Settle it (demanding, 30 minutes)
#
# And one without: give `wait_before_retry` a jitter. Where must its randomness come from, so that a
# test can still say what it waits?
#
# Next: **16, What if the loop had a place for them?** Resources and prompts, so far only counted.
