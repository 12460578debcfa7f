"""04.1: ten servers, and what each lets the caller hear."""

import functools

from exercises.machine import Task, expect
from fake_servers.fault_call import fault
from fake_servers.faults import FAULTS
from fake_servers.memory import FaultyTransport
from mini_agent import draw
from mini_agent.errors import McpError
from mini_agent.mcp.client import McpClient
from mini_agent.trace import Trace

TASK = Task(
    "04.1",
    "Ten servers: what does the caller hear?",
    level="warm-up",
    minutes=8,
    section="`Conversation`: one process, and who waits for it",
    text="""
Request 1 is a call, and each of these servers does something else with it. Say for each what the
caller gets: `"an answer"`, or the name of the exception: `"ConnectFailed"`, `"TransportClosed"`,
`"MalformedMessage"`, `"RequestTimeout"`, `"JsonRpcError"`.

The check then runs them all. Nothing is waited for: its clock jumps.
""",
    hints=(
        "For each, ask in this order: was the server reached? did bytes come? were they messages? "
        "did one of them carry the id that somebody waits for?",
        'One of the five exceptions is not among the right answers. The ids 1 and "1" differ, and '
        "an id that nobody waits for is no reason to end anything.",
        "ConnectFailed once, TransportClosed twice, MalformedMessage twice, RequestTimeout twice, "
        "an answer three times.",
    ),
)


@fault("memory")
async def id_as_text(call):
    """The answer carries the id "1" instead of 1."""
    answer = await call.right_answer()
    await call.say({**answer, "id": str(answer["id"])})


SERVERS = {
    "is not there": FAULTS["refused"],
    "dies before it answers": FAULTS["dies_mid_call"],
    "dies in the middle of its answer": FAULTS["half_line"],
    "prints what is no JSON": FAULTS["garbage"],
    "answers in Latin-1": FAULTS["not_utf8"],
    'answers under the id "1"': id_as_text,
    "never answers": FAULTS["silence"],
    "answers twice": FAULTS["duplicate"],
    "answers, then exits": FAULTS["exits_between_calls"],
    "says that the tool failed": FAULTS["is_error"],
}


@TASK.stub
def nothing_said_yet():
    hears = {
        "is not there": ...,
        "dies before it answers": ...,
        "dies in the middle of its answer": ...,
        "prints what is no JSON": ...,
        "answers in Latin-1": ...,
        'answers under the id "1"': ...,
        "never answers": ...,
        "answers twice": ...,
        "answers, then exits": ...,
        "says that the tool failed": ...,
    }
    return hears


@TASK.solution
def as_it_runs():
    hears = {
        "is not there": "ConnectFailed",
        "dies before it answers": "TransportClosed",
        "dies in the middle of its answer": "TransportClosed",
        "prints what is no JSON": "MalformedMessage",
        "answers in Latin-1": "MalformedMessage",
        'answers under the id "1"': "RequestTimeout",
        "never answers": "RequestTimeout",
        "answers twice": "an answer",
        "answers, then exits": "an answer",
        "says that the tool failed": "an answer",
    }
    return hears


@TASK.right
def with_more_servers():
    hears = {**as_it_runs(), "answers late": "RequestTimeout"}
    return hears


# -- the check ------------------------------------------------------------------------------------


async def compare(hears, *names):
    for name in names:
        trace = Trace()
        transport = FaultyTransport(SERVERS[name])
        async with McpClient(transport, server="calendar", trace=trace) as client:
            try:
                await client.call("calendar_query", {"date": "2026-08-04"})
                wanted = "an answer"
            except McpError as error:
                wanted = type(error).__name__
        picture = functools.partial(draw.sequence, trace)
        expect(hears.get(name), wanted, when=f"the server {name}", draw=picture)


@TASK.part(
    "no answer came",
    idea="ConnectFailed: never reached, so nothing can have happened. TransportClosed: it broke "
    "after that, and the server may have acted. Half a line is no wrong message, it is the place "
    "where the server ended.",
)
async def no_answer_came(hears):
    await compare(hears, "is not there", "dies before it answers")
    await compare(hears, "dies in the middle of its answer")


@TASK.part(
    "bytes came that are no message",
    idea="Who writes what is no message breaks the format, and the caller hears so at once. Passed "
    "over, it costs a whole deadline, and nobody learns why.",
)
async def no_message(hears):
    await compare(hears, "prints what is no JSON", "answers in Latin-1")


@TASK.part(
    "a message came, and not ours",
    idea='The id "1" is not the id 1. The message is a good one, so nothing is malformed; nobody '
    "waits for it, so it is ignored; and whoever waits for 1 waits until the deadline.",
)
async def not_ours(hears):
    await compare(hears, 'answers under the id "1"', "never answers")


@TASK.part(
    "an answer came, and something else",
    idea="The first answer under an id counts; what comes after it finds nobody. That the process "
    "ends later is the next caller's business, and isError is the tool's own no, inside an answer.",
)
async def an_answer_came(hears):
    await compare(hears, "answers twice", "answers, then exits", "says that the tool failed")


# -- what people write ----------------------------------------------------------------------------


@TASK.wrong("never reached")
def every_break_alike():
    hears = {**as_it_runs(), "is not there": "TransportClosed"}
    return hears


@TASK.wrong("Half a line is no wrong message")
def half_a_line_is_malformed():
    hears = {**as_it_runs(), "dies in the middle of its answer": "MalformedMessage"}
    return hears


@TASK.wrong("costs a whole deadline")
def junk_is_passed_over():
    hears = {**as_it_runs(), "prints what is no JSON": "RequestTimeout"}
    return hears


@TASK.wrong("is not the id 1")
def one_is_one():
    hears = {**as_it_runs(), 'answers under the id "1"': "an answer"}
    return hears


@TASK.wrong("nothing is malformed")
def an_odd_id_is_malformed():
    hears = {**as_it_runs(), 'answers under the id "1"': "MalformedMessage"}
    return hears


@TASK.wrong("inside an answer")
def a_tool_error_is_an_exception():
    hears = {**as_it_runs(), "says that the tool failed": "JsonRpcError"}
    return hears


@TASK.wrong("finds nobody")
def twice_is_a_break():
    hears = {**as_it_runs(), "answers twice": "MalformedMessage"}
    return hears
