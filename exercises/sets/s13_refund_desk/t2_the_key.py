"""13.2: the key that makes create_refund_draft safe."""

import hashlib
import json
import re
from unittest import mock

from exercises.machine import Task, expect, require
from fake_servers.refunds.desk import RefundDesk
from fake_servers.refunds.rules import OPERATION_KEY
from mini_agent.agent import run_agent
from mini_agent.approval import HostCall, Policy, Rule, scripted
from mini_agent.difference import canonical
from mini_agent.host import Host
from mini_agent.hosting.fills import Fill, Run
from mini_agent.mcp import HttpTransport, McpClient
from mini_agent.model_client import ScriptedModel
from mini_agent.types import Text, ToolCall

TASK = Task(
    "13.2",
    "The key that makes `create_refund_draft` safe",
    level="solid",
    minutes=20,
    section="`_key`: the same call, the same key",
    text="""
The tool `create_refund_draft` of the server `refunds` wants an `operation_key`. Write
`key_of(run, call)`, which makes it, and `KEY`, the Fill by which a host gives it in the model's
place. The package's `operation_key` would do; today it is yours to make.

A Fill is `Fill(server, tool, argument, value, repeatable=…)`. `run` has `id` and `user`, `call` has
`id`, `server`, `tool` and, as `input`, what the model gave.

- One operation, one key: also when the model asks again in the same run, under another `id`, with
  the arguments in another order or 4250.0 for 4250; and when the host was started again meanwhile.
- Two operations, two keys: in another run, for another user, for any other argument.
- The service takes letters, digits and `. _ : -`, 8 to 128 of them. Ids of runs and names of users
  may be any text.

And where the answer is lost, the host shall call again by itself.
""",
    hints=(
        "Go through what `run` and `call` hold. For each: when it is another, is it another "
        "operation? And what here is another every time, although nothing else is?",
        "Text put together loses its seams: what tells the user kim-lee in run 7 from kim in run "
        "lee-7? `canonical` of mini_agent.difference writes a value as JSON, always alike. And of "
        "any text a digest makes one that fits.",
        "Canonical JSON of a list: user, run, server, tool and the input, with floats that are "
        "whole made into int. SHA-256 of it, as hex digits. In the Fill say repeatable: it is what "
        "allows the host a second call.",
    ),
)


@TASK.stub
def nothing_made_yet():
    def key_of(run, call):
        raise NotImplementedError  # your code here

    KEY = Fill("refunds", "create_refund_draft", "operation_key", key_of)
    return KEY


@TASK.solution
def a_digest_of_all():
    def whole(value):
        return int(value) if isinstance(value, float) and value.is_integer() else value

    def key_of(run, call):
        given = {name: whole(value) for name, value in call.input.items()}
        told = canonical([run.user, run.id, call.server, call.tool, given])
        return hashlib.sha256(told.encode()).hexdigest()

    KEY = Fill("refunds", "create_refund_draft", "operation_key", key_of, repeatable=True)
    return KEY


@TASK.right
def by_json_and_named_fields():
    def key_of(run, call):
        amount = round(float(call.input["amount_minor"]))
        about = [call.input["order_id"], amount, call.input["currency"], call.tool]
        told = json.dumps([run.id, run.user, *about])
        return "refund:" + hashlib.blake2b(told.encode(), digest_size=20).hexdigest()

    KEY = Fill(
        server="refunds",
        tool="create_refund_draft",
        argument="operation_key",
        value=key_of,
        repeatable=True,
    )
    return KEY


@TASK.right
def the_packages_own():
    from mini_agent.hosting.fills import operation_key

    KEY = operation_key("refunds", "create_refund_draft")
    return KEY


# -- the check ------------------------------------------------------------------------------------

FIRST = 20  # seconds: the first desk of a process imports what a desk needs
REFUND = {"order_id": "ord_4821", "amount_minor": 4250, "currency": "EUR"}
POLICY = Policy([Rule("create_refund_draft", "allow", "refunds", "for this check")], default="deny")


def key(KEY, run="run-7", user="robin", id="toolu_1", **given):
    """The key that the Fill makes."""
    require(isinstance(KEY, Fill), "a Fill", came=KEY)
    wanted = HostCall(
        id,
        "refunds_create_refund_draft",
        {**REFUND, **given},
        server="refunds",
        tool="create_refund_draft",
    )
    return KEY.value(Run(run, user), wanted)


def must_equal(KEY, when, **changed):
    first, second = key(KEY), key(KEY, **changed)
    require(first == second, "the same key twice", came=f"{first!r}, then {second!r}", when=when)


def must_differ(KEY, when, one, other):
    first, second = key(KEY, **one), key(KEY, **other)
    require(first != second, "two keys", came=f"{first!r} twice", when=when)


async def a_round(KEY, desk, *given):
    """A model that calls with each of these in turn, in one run. What it is told."""
    require(isinstance(KEY, Fill), "a Fill", came=KEY)
    calls = [
        [ToolCall(f"toolu_{number}", "refunds_create_refund_draft", dict(arguments))]
        for number, arguments in enumerate(given, 1)
    ]
    wire = HttpTransport(desk.url, client=desk.client(desk.issue_token("robin")))
    client = McpClient(wire, server="refunds")
    model = ScriptedModel([*calls, [Text("Done.")]])
    host = Host(
        {"refunds": client}, policy=POLICY, approver=scripted([]), user="robin", fills=[KEY]
    )
    async with host:
        with host.run("run-7"):
            hook = host.before_tool_call
            ran = await run_agent(
                "It came late.", model=model, tools=host.tools, before_tool_call=hook
            )
    told = [m["content"][0] for m in ran.messages if m["role"] == "user"][1:]
    return [block["content"] for block in told]


@TASK.part(
    "an answer is lost: one draft, and nobody hears of it",
    idea="A key makes a second call harmless; that it is so, somebody must say. A Fill that is not "
    "repeatable leaves the host no choice: it hands the model a perhaps.",
    seconds=FIRST,
)
async def an_answer_is_lost(KEY):
    when = "the order service drafts, and its answer is lost"
    async with RefundDesk() as desk:
        desk.faults.plan("orders", "silent_after", method="POST")
        [told] = await a_round(KEY, desk, REFUND)
        require("draft_1" in told, "the model is told of draft_1", came=told, when=when)
        expect([draft.draft_id for draft in desk.store.drafts()], ["draft_1"], when=when)


@TASK.part(
    "the model asks again: one draft",
    idea="Each time it asks, a model makes a new id, and may write the same in another way. What "
    "is the same operation is for the host to say: the same run, the same arguments. JSON Schema "
    "takes 4250.0 for an integer, so both arrive.",
    seconds=FIRST,
)
async def asked_again(KEY):
    must_equal(KEY, "the model asks again, under another id", id="toolu_9")
    must_equal(KEY, "the amount is 4250, then 4250.0", amount_minor=4250.0)
    turned = dict(reversed(REFUND.items()))
    async with RefundDesk() as desk:
        when = "the arguments come again, in another order"
        for told in await a_round(KEY, desk, REFUND, turned):
            require("draft_1" in told, "the model is told of draft_1", came=told, when=when)


@TASK.part(
    "the host is started again: the same key",
    idea="After a restart the run goes on under its name, and the key must be the one of before. "
    "What the process draws for itself is gone then: a random number, a counter, and the seed of "
    "Python's hash.",
)
def started_again(KEY):
    before = key(KEY)
    real = hash
    with mock.patch("builtins.hash", lambda value: real((value, "another seed"))):
        after = key(KEY)
    came = f"{before!r}, then {after!r}"
    require(before == after, "the same key twice", came=came, when="the host was started again")


@TASK.part(
    "another argument is another operation",
    idea="In one run Robin may refund two orders, or an order in two halves. Under one key the "
    "second is refused: somebody means two things by one name.",
)
def another_argument(KEY):
    for name, value in {"order_id": "ord_5050", "amount_minor": 1500, "currency": "USD"}.items():
        must_differ(KEY, f"in one run, another {name}", {}, {name: value})


@TASK.part(
    "another run is another operation",
    idea="Another run is another task, and there Robin may well want a second draft. Without the "
    "run in it the key gives back the old one, and everybody believes that it is new.",
)
def another_run(KEY):
    must_differ(KEY, "in another run, the same arguments", {}, {"run": "run-8"})


@TASK.part(
    "whose run it is",
    idea="Two users may name their runs alike. This service keeps its users apart; the next one "
    "may not, and then Kim is given Robin's draft. And joined without seams, kim's run lee-7 is "
    "kim-lee's run 7.",
)
def whose_run(KEY):
    must_differ(KEY, "another user, with a run of the same id", {}, {"user": "kim"})
    for seam in ("", "-", ":", ".", "/", "|", " ", ","):
        one = {"user": "kim", "run": f"lee{seam}7"}
        other = {"user": f"kim{seam}lee", "run": "7"}
        must_differ(KEY, f"user kim with run lee{seam}7, kim{seam}lee with run 7", one, other)


@TASK.part(
    "a key that the service takes",
    idea="The name of a run is somebody's free text. As a part of the key it breaks the service's "
    "pattern one day, or its length, and on that day no refund can be drafted.",
)
def that_the_service_takes(KEY):
    for run in ("7", "ord_4821 came late, è peccato", "r" * 200):
        came = key(KEY, run=run, user="Robin of Support")
        fits = isinstance(came, str) and re.fullmatch(OPERATION_KEY, came)
        require(fits, f"a text that matches {OPERATION_KEY}", came=came, when=f"the run is {run}")


# -- what people write ----------------------------------------------------------------------------


def fill(make, repeatable=True):
    return Fill("refunds", "create_refund_draft", "operation_key", make, repeatable)


def digest(*facts):
    return hashlib.sha256(canonical(list(facts)).encode()).hexdigest()


def given(call):
    return {name: int(v) if isinstance(v, float) else v for name, v in call.input.items()}


@TASK.wrong("somebody must say")
def safe_and_nobody_says_so():
    KEY = fill(a_digest_of_all().value, repeatable=False)
    return KEY


@TASK.wrong("makes a new id")
def the_models_id_is_in_it():
    def key_of(run, call):
        return digest(run.user, run.id, call.id, given(call))

    KEY = fill(key_of)
    return KEY


@TASK.wrong("4250.0")
def as_the_model_wrote_it():
    def key_of(run, call):
        return digest(run.user, run.id, call.input)

    KEY = fill(key_of)
    return KEY


@TASK.wrong("a random number")
def a_new_one_each_time():
    import uuid

    def key_of(run, call):
        return uuid.uuid4().hex

    KEY = fill(key_of)
    return KEY


@TASK.wrong("the seed of Python's hash")
def by_pythons_hash():
    def key_of(run, call):
        return f"key:{hash(canonical([run.user, run.id, given(call)])):x}".replace("-", "m")

    KEY = fill(key_of)
    return KEY


@TASK.wrong("an order in two halves")
def one_draft_for_each_order():
    def key_of(run, call):
        return digest(run.user, run.id, call.input["order_id"])

    KEY = fill(key_of)
    return KEY


@TASK.wrong("another task")
def of_the_arguments_alone():
    def key_of(run, call):
        return digest(run.user, given(call))

    KEY = fill(key_of)
    return KEY


@TASK.wrong("Kim is given Robin's draft")
def the_run_is_enough():
    def key_of(run, call):
        return digest(run.id, given(call))

    KEY = fill(key_of)
    return KEY


@TASK.wrong("joined without seams")
def joined_with_a_dash():
    def key_of(run, call):
        return digest(f"{run.user}-{run.id}", given(call))

    KEY = fill(key_of)
    return KEY


@TASK.wrong("breaks the service's pattern")
def readable_in_the_books():
    def key_of(run, call):
        return f"{run.id}:{digest(run.user, run.id, given(call))}"

    KEY = fill(key_of)
    return KEY
