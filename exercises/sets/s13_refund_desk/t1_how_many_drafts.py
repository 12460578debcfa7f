"""13.1: nine afternoons at the refund desk, and how many drafts accounting finds."""

from exercises.machine import Task, expect
from fake_servers.refunds.categories import Refusal
from fake_servers.refunds.desk import RefundDesk
from mini_agent.mcp import HttpTransport, McpClient

TASK = Task(
    "13.1",
    "How many drafts does accounting find?",
    level="warm-up",
    minutes=8,
    section="The service keeps the key",
    text="""
Nine afternoons at nine fresh desks. A client calls `create_refund_draft` for `ord_4821`, of which
42.50 EUR can be refunded: all of it, where nothing else is said. How many drafts are in the
database in the evening? Fill in numbers.

The check runs each of them.
""",
    hints=(
        "What does the database look for when a POST arrives? Only that decides.",
        "User and key together are unique there. The same two with the same draft give back what "
        "is there, with another draft a refusal. A draft moves no money: 42.50 stay refundable.",
        "Two drafts three times, one draft in all the others.",
    ),
)


@TASK.stub
def nothing_said_yet():
    drafts = {
        "one key, the same call twice": ...,
        "one key, the answer is lost, the same call again": ...,
        "one key, the request is lost, the same call again": ...,
        "no key, at a service that wants none, the answer is lost, the same call again": ...,
        "a new key for each try, the answer is lost, a second try": ...,
        "one key, then the same key with one cent less": ...,
        "one key, one cent more than can be refunded, then 42.50": ...,
        "one key, the second call at another server in front of the same database": ...,
        "Robin and Kim use the same key, each for an order of their own": ...,
    }
    return drafts


@TASK.solution
def as_it_runs():
    drafts = {
        "one key, the same call twice": 1,
        "one key, the answer is lost, the same call again": 1,
        "one key, the request is lost, the same call again": 1,
        "no key, at a service that wants none, the answer is lost, the same call again": 2,
        "a new key for each try, the answer is lost, a second try": 2,
        "one key, then the same key with one cent less": 1,
        "one key, one cent more than can be refunded, then 42.50": 1,
        "one key, the second call at another server in front of the same database": 1,
        "Robin and Kim use the same key, each for an order of their own": 2,
    }
    return drafts


@TASK.right
def one_but_for_three():
    drafts = dict.fromkeys(as_it_runs(), 1)
    for name in drafts:
        if name.startswith(("no key", "a new key", "Robin")):
            drafts[name] += 1
    return drafts


# -- the check: each afternoon, as it goes --------------------------------------------------------

FIRST = 20  # seconds: the first desk of a process imports what a desk needs
REFUND = {"order_id": "ord_4821", "amount_minor": 4250, "currency": "EUR"}
KIMS = {"order_id": "ord_7001", "amount_minor": 9900, "currency": "USD"}
ONE, OTHER = {"operation_key": "run-7.first"}, {"operation_key": "run-7.second"}


async def call(desk, arguments, user="robin"):
    wire = HttpTransport(desk.url, client=desk.client(desk.issue_token(user)))
    await McpClient(wire, server="refunds").call("create_refund_draft", arguments)


def calls(*arguments, fault="", **options):
    """An afternoon: these calls, the first of them with that fault of the order service."""

    async def afternoon():
        async with RefundDesk(**options) as desk:
            if fault:
                desk.faults.plan("orders", fault, method="POST")
            for each in arguments:
                await call(desk, each)
            return len(desk.store.drafts())

    return afternoon


async def without_a_key():
    async with RefundDesk(key_required=False) as desk:
        desk.faults.plan("orders", "silent_after", method="POST")
        orders = desk.orders_for(desk.issue_token())
        for _ in range(2):
            try:
                await orders.create_draft(REFUND)
            except Refusal:
                pass
        return len(desk.store.drafts())


async def robin_and_kim():
    async with RefundDesk() as desk:
        await call(desk, REFUND | ONE)
        await call(desk, KIMS | ONE, user="kim")
        return len(desk.store.drafts())


ROWS = list(as_it_runs())
AFTERNOONS = dict(
    zip(
        ROWS,
        (
            calls(REFUND | ONE, REFUND | ONE),
            calls(REFUND | ONE, REFUND | ONE, fault="silent_after"),
            calls(REFUND | ONE, REFUND | ONE, fault="silent_before"),
            without_a_key,
            calls(REFUND | ONE, REFUND | OTHER, fault="silent_after"),
            calls(REFUND | ONE, REFUND | ONE | {"amount_minor": 4249}),
            calls(REFUND | ONE | {"amount_minor": 4251}, REFUND | ONE),
            calls(REFUND | ONE, REFUND | ONE, instances=2),
            robin_and_kim,
        ),
        strict=True,
    )
)


async def compare(drafts, *rows):
    for row in rows:
        expect(drafts.get(row), await AFTERNOONS[row](), when=row)


@TASK.part(
    "one key, once or twice",
    idea="The service knows the key and gives the draft that is there. Whether the first request "
    "was lost or its answer, nobody outside can tell, and with a key nobody has to.",
    seconds=FIRST,
)
async def once_or_twice(drafts):
    await compare(drafts, *ROWS[:3])


@TASK.part(
    "no key, or a new one each time",
    idea="What has no name cannot be recognised, and a name that is new each time is none. The "
    "amount does not help: a draft moves no money, so both find 42.50 to refund.",
    seconds=FIRST,
)
async def no_name(drafts):
    await compare(drafts, *ROWS[3:5])


@TASK.part(
    "one key, and not the same draft",
    idea="A key is used up by a draft and by nothing else. With another amount it is refused, "
    "since somebody means two things by one name. A refusal wrote nothing, and keeps no key.",
    seconds=FIRST,
)
async def not_the_same(drafts):
    await compare(drafts, *ROWS[5:7])


@TASK.part(
    "another server, another user",
    idea="That a key makes one draft is a rule of the database, so it holds for every server in "
    "front of it. And it is unique for each user: nobody can take a key away from somebody else.",
    seconds=FIRST,
)
async def another_server_or_user(drafts):
    await compare(drafts, *ROWS[7:])


# -- what people write ----------------------------------------------------------------------------


def but(row, number):
    return {**as_it_runs(), ROWS[row]: number}


@TASK.wrong("nobody outside can tell")
def a_lost_answer_means_two():
    drafts = but(1, 2)
    return drafts


@TASK.wrong("gives the draft that is there")
def a_lost_answer_means_none():
    drafts = but(1, 0)
    return drafts


@TASK.wrong("a name that is new each time")
def any_key_is_safe():
    drafts = but(4, 1)
    return drafts


@TASK.wrong("so both find 42.50")
def the_money_is_gone_after_the_first():
    drafts = {**but(3, 1), ROWS[4]: 1}
    return drafts


@TASK.wrong("two things by one name")
def another_amount_is_another_draft():
    drafts = but(5, 2)
    return drafts


@TASK.wrong("keeps no key")
def a_refusal_uses_the_key_up():
    drafts = but(6, 0)
    return drafts


@TASK.wrong("a rule of the database")
def each_server_remembers_for_itself():
    drafts = but(7, 2)
    return drafts


@TASK.wrong("unique for each user")
def a_key_is_one_for_all():
    drafts = but(8, 1)
    return drafts
