"""15.1: nine calls that fail, and which of them the host makes again."""

import functools

from exercises.machine import Task, expect
from fake_servers.refunds.desk import RefundDesk
from mini_agent import draw
from mini_agent.agent import run_agent
from mini_agent.approval import Policy, Rule
from mini_agent.errors import McpError
from mini_agent.host import Host
from mini_agent.hosting.attempts import Bounds
from mini_agent.hosting.fills import operation_key
from mini_agent.mcp import HttpTransport, McpClient
from mini_agent.model_client import ScriptedModel
from mini_agent.trace import Trace
from mini_agent.types import Text, ToolCall

TASK = Task(
    "15.1",
    "Once more?",
    level="warm-up",
    minutes=8,
    section="The rules in one table",
    text="""
The model asks once, and the call fails. Say for each whether the host makes it `"again"` by itself,
or `"once"`. The policy vouches for `get_order` except where it says that nobody did; the key of a
draft is the host's or the model's own.

The check then lets each of them fail at the refund desk, and counts.
""",
    hints=(
        "Two questions for each, and both need a yes. Does it take no harm if it is made twice, "
        "and who says so? And is it worth it?",
        "Whose word counts: the reviewer's on a tool, the host's own key, the service's retryable. "
        "A model's key is a promise that nobody can hold it to. And who breaks the format once "
        "will do so again.",
        "Four times again: vouched for and cut, or 503, or the order service down; and the draft "
        "with the host's key whose answer is lost.",
    ),
)


@TASK.stub
def nothing_said_yet():
    host_sends = {
        "get_order: the connection is cut": ...,
        "get_order: 503, come back in a second": ...,
        "get_order, nobody vouched: 503, come back in a second": ...,
        "get_order: under status 200 comes no JSON": ...,
        "get_order: somebody else's order": ...,
        "get_order: the order service behind it is down": ...,
        "a draft, the host's key: the answer is lost": ...,
        "a draft, the model's key: the answer is lost": ...,
        "a draft, the host's key: nothing is left to refund": ...,
    }
    return host_sends


@TASK.solution
def as_it_runs():
    host_sends = {
        "get_order: the connection is cut": "again",
        "get_order: 503, come back in a second": "again",
        "get_order, nobody vouched: 503, come back in a second": "once",
        "get_order: under status 200 comes no JSON": "once",
        "get_order: somebody else's order": "once",
        "get_order: the order service behind it is down": "again",
        "a draft, the host's key: the answer is lost": "again",
        "a draft, the model's key: the answer is lost": "once",
        "a draft, the host's key: nothing is left to refund": "once",
    }
    return host_sends


@TASK.right
def by_two_questions():
    unsafe = {
        "get_order, nobody vouched: 503, come back in a second",
        "a draft, the model's key: the answer is lost",
    }
    useless = {
        "get_order: under status 200 comes no JSON",
        "get_order: somebody else's order",
        "a draft, the host's key: nothing is left to refund",
    }
    host_sends = {call: "once" if call in unsafe | useless else "again" for call in as_it_runs()}
    return host_sends


# -- the check ------------------------------------------------------------------------------------

READ, DRAFT = Rule("get_*", "allow", read_only=True), Rule("create_refund_draft", "allow")
KEY = operation_key("refunds", "create_refund_draft")
ORDER = {"order_id": "ord_4821"}
WISH = {**ORDER, "amount_minor": 4250, "currency": "EUR"}
DOWN = ("refunds", "unavailable", {"tool": "get_order"})
LOST = ("refunds", "dropped_after", {"tool": "create_refund_draft"})

CALLS = {
    "get_order: the connection is cut": (
        *("get_order", ORDER, {}),
        ("refunds", "dropped_after", {"tool": "get_order"}),
    ),
    "get_order: 503, come back in a second": ("get_order", ORDER, {}, DOWN),
    "get_order, nobody vouched: 503, come back in a second": (
        *("get_order", ORDER, {"policy": Policy([Rule("get_*", "allow")])}),
        DOWN,
    ),
    "get_order: under status 200 comes no JSON": (
        *("get_order", ORDER, {}),
        ("refunds", "malformed", {"tool": "get_order"}),
    ),
    "get_order: somebody else's order": ("get_order", {"order_id": "ord_7001"}, {}, None),
    "get_order: the order service behind it is down": (
        *("get_order", ORDER, {}),
        ("orders", "unavailable", {"method": "GET"}),
    ),
    "a draft, the host's key: the answer is lost": ("create_refund_draft", WISH, {}, LOST),
    "a draft, the model's key: the answer is lost": (
        *("create_refund_draft", {**WISH, "operation_key": "the-models-own"}, {"fills": []}),
        LOST,
    ),
    "a draft, the host's key: nothing is left to refund": (
        *("create_refund_draft", {**WISH, "order_id": "ord_4822", "amount_minor": 100}, {}),
        None,
    ),
}


async def no_wait(seconds):
    """The host asks for a pause, and gets none."""


async def outcome(call, trace):
    tool, arguments, options, fault = CALLS[call]
    usual = {"policy": Policy([READ, DRAFT]), "fills": [KEY], "user": "robin"}
    model = ScriptedModel([[ToolCall("toolu_1", f"refunds_{tool}", arguments)], [Text("Well.")]])
    async with RefundDesk() as desk:
        http = desk.client(desk.issue_token("robin"))
        client = McpClient(HttpTransport(desk.url, client=http), server="refunds", trace=trace)
        bounds = Bounds(attempts=2, sleep=no_wait)
        async with Host({"refunds": client}, **{**usual, **options}, bounds=bounds) as host:
            desk.traffic.clear()
            if fault is not None:
                desk.faults.plan(fault[0], fault[1], **fault[2], times=None)
            with host.run("task-1"):
                try:
                    hook = host.before_tool_call
                    tools = host.tools
                    await run_agent("Help.", model=model, tools=tools, before_tool_call=hook)
                except McpError:
                    pass  # how often it was sent is the question, and the traffic tells
            sent = [one for one in desk.traffic if one.what.startswith("tools/call")]
    return {1: "once", 2: "again"}[len(sent)]


RUN = {}  # each call is run once for all answers: it does not look at them


async def compare(host_sends, *calls):
    for call in calls:
        if call not in RUN:
            trace = Trace()
            RUN[call] = await outcome(call, trace), trace
        wanted, trace = RUN[call]
        picture = functools.partial(draw.sequence, trace)
        expect(host_sends.get(call), wanted, when=f"the call is {call}", draw=picture)


@TASK.part(
    "a read that somebody vouches for",
    idea="To read twice does no harm, and that this tool only reads is the word of the person who "
    "reviewed it. A cut and a 503 may be over in a moment.",
)
async def a_read(host_sends):
    await compare(host_sends, "get_order: the connection is cut")
    await compare(host_sends, "get_order: 503, come back in a second")


@TASK.part(
    "a name is no evidence",
    idea="A name that begins with get is a claim of the server. Without somebody's word the host "
    "treats the tool as one that acts.",
)
async def a_name(host_sends):
    await compare(host_sends, "get_order, nobody vouched: 503, come back in a second")


@TASK.part(
    "a broken format stays broken",
    idea="No JSON is not a bad moment but a bad release. It wants a person who mends it, and the "
    "record says which release it was.",
)
async def a_format(host_sends):
    await compare(host_sends, "get_order: under status 200 comes no JSON")


@TASK.part(
    "the service's word",
    idea="Where an answer came, its retryable decides. Harmless is not yet useful: neither an "
    "order of somebody else nor one with nothing left changes by asking again.",
)
async def its_word(host_sends):
    await compare(host_sends, "get_order: somebody else's order")
    await compare(host_sends, "get_order: the order service behind it is down")
    await compare(host_sends, "a draft, the host's key: nothing is left to refund")


@TASK.part(
    "a write, and whose key it is",
    idea="The draft may be there already. Under the same key the service gives it back instead of "
    "making another, and that it is the same key only the host knows that made it.",
)
async def whose_key(host_sends):
    await compare(host_sends, "a draft, the host's key: the answer is lost")
    await compare(host_sends, "a draft, the model's key: the answer is lost")


# -- what people write ----------------------------------------------------------------------------


@TASK.wrong("may be over in a moment")
def a_cut_may_have_acted():
    host_sends = {**as_it_runs(), "get_order: the connection is cut": "once"}
    return host_sends


@TASK.wrong("is a claim of the server")
def it_is_called_get():
    host_sends = {**as_it_runs()}
    host_sends["get_order, nobody vouched: 503, come back in a second"] = "again"
    return host_sends


@TASK.wrong("a bad release")
def reads_always_again():
    host_sends = {**as_it_runs(), "get_order: under status 200 comes no JSON": "again"}
    return host_sends


@TASK.wrong("Harmless is not yet useful")
def safe_is_enough():
    host_sends = {**as_it_runs(), "a draft, the host's key: nothing is left to refund": "again"}
    return host_sends


@TASK.wrong("its retryable decides")
def an_answer_came():
    host_sends = {**as_it_runs(), "get_order: the order service behind it is down": "once"}
    return host_sends


@TASK.wrong("instead of making another")
def a_write_is_never_sent_again():
    host_sends = {**as_it_runs(), "a draft, the host's key: the answer is lost": "once"}
    return host_sends


@TASK.wrong("only the host knows")
def a_key_is_a_key():
    host_sends = {**as_it_runs(), "a draft, the model's key: the answer is lost": "again"}
    return host_sends
