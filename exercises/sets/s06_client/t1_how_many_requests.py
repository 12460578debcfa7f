"""06.1: twelve servers, how often each is asked, and what the caller gets."""

import functools

from exercises.machine import Task, expect
from fake_servers import faults
from fake_servers.fault_call import fault
from fake_servers.memory import FaultyTransport
from mini_agent import draw
from mini_agent.errors import McpError, TransportClosed
from mini_agent.mcp.client import McpClient
from mini_agent.mcp.transport import FakeTransport
from mini_agent.trace import Trace

TASK = Task(
    "06.1",
    "Twelve servers: how often are they asked?",
    level="warm-up",
    minutes=10,
    section="`_complete`, `call`",
    text="""
The host calls a tool once, or lists the tools where the row says so. Say for each row how many
requests reach the server, and what the caller gets: `"an answer"`, `"the first answer"`,
`"the second answer"`, or the exception's own class, not one above it:
`"UnsupportedProtocolVersion"`, `"JsonRpcError"`, `"TransportClosed"`, `"RequestTimeout"` or
`"InputRequired"`. `(1, "an answer")`, for instance.

A notification is no request. The check then runs them all.
""",
    hints=(
        "A client asks again by itself for few reasons only: another version, another page, a list "
        "that changed midway, an answer to a question. None of them is a failure.",
        "In another version it is tried once more, and once. A call that failed is not sent again, "
        "whatever the class. A list that is fresh is not asked for.",
        "The numbers, from the top: 2, 2, 1; then six times 1, among them the one that answers "
        "twice, where what comes first counts; 2 when somebody answers; lists: 3, 4.",
    ),
)

ROWS = (
    "refuses the version once, and names ours",
    "refuses the version each time, and names ours",
    "speaks only 2025-11-25",
    "breaks in the middle of the call",
    "never answers",
    "says that the tool failed",
    "answers twice, with two results",
    "is asked for its list twice, which is fresh for a minute",
    "asks the user, and nobody is there",
    "asks the user, and somebody answers",
    'lists three pages, the cursors are "" and "x1"',
    "lists two pages, and refuses a cursor once (-32602)",
)


@TASK.stub
def nothing_said_yet():
    asked = {
        "refuses the version once, and names ours": ...,
        "refuses the version each time, and names ours": ...,
        "speaks only 2025-11-25": ...,
        "breaks in the middle of the call": ...,
        "never answers": ...,
        "says that the tool failed": ...,
        "answers twice, with two results": ...,
        "is asked for its list twice, which is fresh for a minute": ...,
        "asks the user, and nobody is there": ...,
        "asks the user, and somebody answers": ...,
        'lists three pages, the cursors are "" and "x1"': ...,
        "lists two pages, and refuses a cursor once (-32602)": ...,
    }
    return asked


@TASK.solution
def as_it_runs():
    asked = {
        "refuses the version once, and names ours": (2, "an answer"),
        "refuses the version each time, and names ours": (2, "UnsupportedProtocolVersion"),
        "speaks only 2025-11-25": (1, "UnsupportedProtocolVersion"),
        "breaks in the middle of the call": (1, "TransportClosed"),
        "never answers": (1, "RequestTimeout"),
        "says that the tool failed": (1, "an answer"),
        "answers twice, with two results": (1, "the first answer"),
        "is asked for its list twice, which is fresh for a minute": (1, "an answer"),
        "asks the user, and nobody is there": (1, "InputRequired"),
        "asks the user, and somebody answers": (2, "an answer"),
        'lists three pages, the cursors are "" and "x1"': (3, "an answer"),
        "lists two pages, and refuses a cursor once (-32602)": (4, "an answer"),
    }
    return asked


@TASK.right
def row_by_row():
    version = "UnsupportedProtocolVersion"
    counts = [2, 2, 1, 1, 1, 1, 1, 1, 1, 2, 3, 4]
    got = ["an answer", version, version, "TransportClosed", "RequestTimeout", "an answer"]
    got += ["the first answer", "an answer", "InputRequired", *["an answer"] * 3]
    asked = {row: [n, what] for row, n, what in zip(ROWS, counts, got, strict=True)}
    return asked


# -- the servers ----------------------------------------------------------------------------------


@fault("memory")
async def two_results(call):
    """Two answers under one id, and they differ."""
    for text in ("the first answer", "the second answer"):
        answer = {"content": [{"type": "text", "text": text}]}
        await call.say({"jsonrpc": "2.0", "id": call.message["id"], "result": answer})


def refusing(*supported):
    data = {"supported": list(supported), "requested": "2026-07-28"}
    return {"error": {"code": -32022, "message": "no such version", "data": data}}


def page(name, **more):
    return {"result": {"tools": [{"name": name, "inputSchema": {"type": "object"}}], **more}}


SAID = {"result": {"content": [{"type": "text", "text": "an answer"}]}}
STALE = {"error": {"code": -32602, "message": "no such cursor"}}
THREE = [page("a", nextCursor=""), page("b", nextCursor="x1"), page("c")]
TWICE = [page("a", nextCursor="x1"), STALE, page("b", nextCursor="x2"), page("c")]
SERVERS = {
    ROWS[0]: lambda: FakeTransport([refusing("2026-07-28"), SAID]),
    ROWS[1]: lambda: FakeTransport([refusing("2026-07-28")] * 20),
    ROWS[2]: lambda: FakeTransport([refusing("2025-11-25"), SAID]),
    ROWS[3]: lambda: FakeTransport([TransportClosed("it broke"), SAID]),
    ROWS[4]: lambda: faults.transport("silence"),
    ROWS[5]: lambda: faults.transport("is_error"),
    ROWS[6]: lambda: FaultyTransport(two_results),
    ROWS[7]: lambda: FakeTransport([page("a", ttlMs=60_000)] * 2),
    ROWS[8]: lambda: faults.transport("input_required"),
    ROWS[9]: lambda: faults.transport("input_required"),
    ROWS[10]: lambda: FakeTransport(THREE),
    ROWS[11]: lambda: FakeTransport(TWICE),
}
LISTED = {ROWS[7]: 2, ROWS[10]: 1, ROWS[11]: 1}


# -- the check ------------------------------------------------------------------------------------


async def somebody(questions):
    return {key: {"action": "accept", "content": {"room": "2"}} for key in questions}


async def what_comes(client, row):
    for _ in range(LISTED.get(row, 0)):
        await client.list_tools()
    if row in LISTED:
        return "an answer"
    text = (await client.call("calendar_query", {"date": "2026-08-04"})).content[0]["text"]
    return text if text.endswith("answer") else "an answer"


async def run_row(row, trace):
    answering = somebody if row == ROWS[9] else None
    transport = SERVERS[row]()
    options = {"server": "calendar", "trace": trace, "on_input_required": answering}
    async with McpClient(transport, **options) as client:
        try:
            got = await what_comes(client, row)
        except McpError as error:
            got = type(error).__name__
    sent = [event.facts["message"] for event in trace.events if event.what == "sent"]
    return sum("id" in message for message in sent), got


async def compare(asked, *rows):
    for row in rows:
        trace = Trace()
        wanted = await run_row(row, trace)
        came = asked.get(row)
        came = tuple(came) if isinstance(came, list) else came
        picture = functools.partial(draw.sequence, trace)
        expect(came, wanted, when=f"the server {row}", draw=picture)


@TASK.part(
    "a version that both speak",
    idea="A refused version costs one more request, and no more: a server that refuses what it "
    "proposes would be asked for ever. With nothing in common there is nothing to try.",
)
async def a_version(asked):
    await compare(asked, *ROWS[:3])


@TASK.part(
    "a call is sent once",
    idea="After a break or a deadline the server may have booked, so the client sends nothing "
    "again by itself. A tool that failed has answered.",
)
async def a_call_is_sent_once(asked):
    await compare(asked, *ROWS[3:6])


@TASK.part(
    "the first answer under an id counts",
    idea="When it comes, nobody waits under that id any more: the second one reaches `_heard`, has "
    "no method, and is dropped.",
)
async def the_first_counts(asked):
    await compare(asked, ROWS[6])


@TASK.part(
    "not yet",
    idea="input_required is no result and no failure. With somebody to ask, the same call goes out "
    "once more with the answers; with nobody, the caller is told, and nothing is sent.",
)
async def not_yet(asked):
    await compare(asked, *ROWS[8:10])


@TASK.part(
    "a whole list, and no more often than needed",
    idea='`""` is a cursor like any other, and only a missing one ends the list. A cursor that is '
    "no longer taken means that the list changed: from the first page again. What is fresh is "
    "not asked for.",
)
async def a_whole_list(asked):
    await compare(asked, ROWS[7], *ROWS[10:])


# -- what people write ----------------------------------------------------------------------------


def but(number, *pair):
    return {**as_it_runs(), ROWS[number]: pair}


@TASK.wrong("would be asked for ever")
def until_it_works():
    asked = but(1, 20, "UnsupportedProtocolVersion")
    return asked


@TASK.wrong("nothing to try")
def an_older_version_is_tried():
    asked = but(2, 2, "an answer")
    return asked


@TASK.wrong("may have booked")
def a_break_is_tried_again():
    asked = but(3, 2, "an answer")
    return asked


@TASK.wrong("has answered")
def a_tool_error_is_an_exception():
    asked = but(5, 1, "JsonRpcError")
    return asked


@TASK.wrong("nobody waits under that id")
def the_last_word_counts():
    asked = but(6, 1, "the second answer")
    return asked


@TASK.wrong("is no result")
def an_empty_answer():
    asked = but(8, 1, "an answer")
    return asked


@TASK.wrong("only a missing one ends")
def an_empty_cursor_ends():
    asked = but(10, 1, "an answer")
    return asked


@TASK.wrong("from the first page again")
def only_the_page_again():
    asked = but(11, 3, "an answer")
    return asked


@TASK.wrong("What is fresh")
def listed_each_time():
    asked = but(7, 2, "an answer")
    return asked
