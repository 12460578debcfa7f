"""03.1: a script for an answer, a tool error and a break."""

from exercises.machine import Task, expect, refused_async, require
from mini_agent.errors import ConnectFailed, McpError, TransportClosed
from mini_agent.mcp.client import McpClient
from mini_agent.mcp.messages import build_meta, build_request
from mini_agent.mcp.transport import FakeTransport

TASK = Task(
    "03.1",
    "Three calls on paper",
    level="warm-up",
    minutes=8,
    section="`FakeTransport`",
    text="""
Write `three_calls()`: the script of a FakeTransport, a list of three items, for a client that calls
a tool three times.

1. The tool answers: one text block, `09:00 Standup`.
2. The tool runs and cannot do it: one text block, `no such day`.
3. The connection breaks before the answer has come.
""",
    hints=(
        "An item is what `send` gets back, or an exception. `SAID` in notebook 03 is the first of "
        "the three.",
        "The second is an answer like the first: bytes arrived and were whole. Only a flag inside "
        "its result differs.",
        'The flag is `"isError": True`, beside `content`. The third item is an instance of the '
        "class that says: it broke, and the server may have acted.",
    ),
)


@TASK.solution
def as_the_wire_has_them():
    def three_calls():
        ### BEGIN SOLUTION
        standup = {"content": [{"type": "text", "text": "09:00 Standup"}]}
        no_day = {"content": [{"type": "text", "text": "no such day"}], "isError": True}
        return [
            {"result": {"resultType": "complete", **standup}},
            {"result": {"resultType": "complete", **no_day}},
            TransportClosed("the server ended before it answered"),
        ]
        ### END SOLUTION

    return three_calls


@TASK.right
def with_functions_of_the_request():
    def answer(request, text, **more):
        result = {"content": [{"type": "text", "text": text}], "isError": False, **more}
        return {"jsonrpc": "2.0", "id": request["id"], "result": result}

    def three_calls():
        return [
            lambda request: answer(request, "09:00 Standup"),
            lambda request: answer(request, "no such day", isError=True),
            lambda request: TransportClosed("cut"),
        ]

    return three_calls


# -- the check ------------------------------------------------------------------------------------


def items(three_calls):
    script = three_calls()
    require(isinstance(script, list) and len(script) == 3, "a list of three items", came=script)
    return script


async def call(three_calls, number):
    client = McpClient(FakeTransport([items(three_calls)[number - 1]]), server="calendar")
    return await client.call("calendar_query", {"date": "2026-08-03"})


def text_of(result):
    return [block.get("text") for block in result.content]


@TASK.part(
    "the first call is answered",
    idea="A tool's answer is a list of blocks for a reader, under content in the result.",
)
async def the_first_is_answered(three_calls):
    result = await call(three_calls, 1)
    expect((result.is_error, text_of(result)), (False, ["09:00 Standup"]))


@TASK.part(
    "the second is a tool error",
    idea="A tool that could not do it is a business result: an answer with isError, which the "
    "model reads. An error object is the peer's protocol saying no, and becomes an exception.",
)
async def the_second_is_a_tool_error(three_calls):
    result = await call(three_calls, 2)
    expect((result.is_error, text_of(result)), (True, ["no such day"]))


@TASK.part(
    "the third breaks, and may have acted",
    idea="A break is no message: nobody spoke, so there is no code to read. ConnectFailed would "
    "say that the server was never reached and cannot have acted; here it may have.",
)
async def the_third_breaks(three_calls):
    items(three_calls)
    error = await refused_async(McpError, call(three_calls, 3))
    came = (type(error).__name__, error.may_have_acted)
    expect(came, ("TransportClosed", True))


@TASK.part(
    "each answer carries the id of its request",
    idea="Ids are the client's. A server repeats what it was asked under; FakeTransport fills that "
    "in where the script leaves it out.",
)
async def the_ids_fit(three_calls):
    fake = FakeTransport(items(three_calls))
    for number in (41, 42):
        request = build_request(number, "tools/call", {"name": "calendar_query"}, meta=build_meta())
        expect((await fake.send(request))["id"], number, when=f"request {number} was sent")


# -- what people write ----------------------------------------------------------------------------


def with_item(number, item):
    def three_calls():
        script = as_the_wire_has_them()()
        script[number - 1] = item
        return script

    return three_calls


@TASK.wrong("a list of blocks")
def content_is_a_text():
    three_calls = with_item(1, {"result": {"content": "09:00 Standup"}})
    return three_calls


@TASK.wrong("a business result")
def the_tool_error_as_the_peers_no():
    three_calls = with_item(2, {"error": {"code": -32000, "message": "no such day"}})
    return three_calls


@TASK.wrong("nobody spoke")
def the_break_as_an_error_object():
    three_calls = with_item(3, {"error": {"code": -32000, "message": "Connection closed"}})
    return three_calls


@TASK.wrong("cannot have acted")
def never_reached():
    three_calls = with_item(3, ConnectFailed("the connection broke"))
    return three_calls


@TASK.wrong("Ids are the client's")
def every_answer_to_request_one():
    def three_calls():
        script = as_the_wire_has_them()()
        return [{"id": 1, **item} for item in script[:2]] + script[2:]

    return three_calls
