"""10.4: a client that is wrong and passes the three tests, and the assertion that catches it."""

import tempfile
from pathlib import Path

from exercises.machine import Task, require, why_red
from fake_servers.calendar import Calendar, calendar_server
from fake_servers.faults import FAULTS
from fake_servers.memory import FaultyTransport, InMemoryTransport
from mini_agent.agent import run_agent
from mini_agent.calls import FAILED, SKIPPED
from mini_agent.errors import ConnectFailed, McpError, RequestTimeout, TransportClosed
from mini_agent.mcp import CallResult, FakeTransport, McpClient, mcp_tool_to_tool
from mini_agent.mcp.messages import PROTOCOL_VERSION
from mini_agent.model_client import ScriptedModel
from mini_agent.session import load_session
from mini_agent.types import Text, ToolCall

TASK = Task(
    "10.4",
    "The sixth wrong client, and what catches it",
    level="demanding",
    minutes=30,
    section="Can they turn red?",
    text="""
Five clients are wrong, and the three tests of the notebook catch each. Three tests are not many.
Write two things:

- `Sixth`, a client that passes all three and still does something that a host must not accept. It
  differs from McpClient in what its caller gets, or in what it sends.
- `catches(make_client)`, a fourth test. It makes its client with `make_client(transport)`, raises
  AssertionError on yours, and passes on McpClient, whatever the class is called.

The check runs the three on `Sixth`, holds it against McpClient on every fault that memory can have,
and runs your test on both.
""",
    hints=(
        "What do the three tests never let happen? They know a refusal, an isError and a break, "
        "and one call that ends in each. Look through the catalogue of faults for the others.",
        "Silence, garbage, a question, a result of an unknown type: none of them is in the three. "
        "Choose one, and treat it as one of the five wrong clients treats a break.",
        "`Sixth.call` awaits `super().call(…)` in a `try`, and returns an empty `CallResult()` on "
        "RequestTimeout alone. `catches` scripts a FakeTransport with a RequestTimeout (it needs "
        "`seconds`), makes a client, calls once, and asserts in `except`, `else` and behind it "
        "what a host relies on.",
    ),
)


@TASK.stub
def as_good_as_the_first():
    class Sixth(McpClient):
        async def call(self, *given, **options):
            return await super().call(*given, **options)

    async def catches(make_client):
        raise NotImplementedError  # your code here

    both = (Sixth, catches)
    return both


@TASK.solution
def silence_is_an_empty_day():
    class Sixth(McpClient):
        async def call(self, *given, **options):
            try:
                return await super().call(*given, **options)
            except RequestTimeout:
                return CallResult()

    async def catches(make_client):
        late = RequestTimeout("no answer in time", seconds=30)
        try:
            await make_client(FakeTransport([late])).call("calendar_query", {"date": "2026-08-03"})
        except McpError as error:
            assert error is late
        else:
            raise AssertionError("nobody answered, and the caller got a result")

    both = (Sixth, catches)
    return both


@TASK.right
def lists_the_first_page_only():
    class Sixth(McpClient):
        async def list_tools(self, *given, **options):
            return (await super().list_tools(*given, **options))[:3]

        async def connect(self, discover=True):
            return (await super().connect(discover))[:1]

    async def catches(make_client):
        tools = await make_client(InMemoryTransport(calendar_server())).connect()
        assert {tool.name for tool in tools} >= {"calendar_query", "calendar_delete"}

    both = (Sixth, catches)
    return both


@TASK.right
def asks_twice_to_be_sure():
    import pytest

    class Sixth(McpClient):
        async def call(self, name, arguments=None, **options):
            result = await super().call(name, arguments, **options)
            if name == "calendar_create":
                result = await super().call(name, arguments, **options)
            return result

    async def catches(make_client):
        calendar = Calendar()
        before = len(calendar.appointments)
        client = make_client(InMemoryTransport(calendar_server(calendar)))
        await client.call("calendar_create", HOUR)
        if len(calendar.appointments) != before + 1:
            pytest.fail("booked twice")

    both = (Sixth, catches)
    return both


# -- the three tests of the notebook --------------------------------------------------------------

HOUR = {"title": "Design team", "start": "2026-08-05T15:00", "end": "2026-08-05T16:00"}


def told(text, **more):
    return {"result": {"content": [{"type": "text", "text": text}], **more}}


DISCOVERED = {"result": {"supportedVersions": [PROTOCOL_VERSION], "capabilities": {"tools": {}}}}
LISTED = {
    "result": {"tools": [{"name": "calendar_query", "inputSchema": {"type": "object"}}]},
}
FREE = told("Nothing on that day.")


def monday(call_id):
    return ToolCall(call_id, "calendar_query", {"date": "2026-08-03"})


async def ask_the_agent(client, model, session):
    async with client:
        tools = [mcp_tool_to_tool(client, tool) for tool in await client.connect()]
        return await run_agent("Is it free?", model=model, tools=tools, session_path=session)


async def failure_of(run):
    try:
        await run
    except McpError as error:
        return error
    raise AssertionError("nothing was raised")


async def refused_connection(client_class, session):
    refused = ConnectFailed("nobody listens there")
    fake, model = FakeTransport([refused, DISCOVERED, LISTED]), ScriptedModel([[Text("It is.")]])
    client = client_class(fake, server="calendar")
    error = await failure_of(ask_the_agent(client, model, session))
    assert error is refused, "another exception"
    assert (error.server, error.method) == ("calendar", "server/discover"), "it says not where"
    assert len(fake.sent) == 1 and fake.closed and model.requests == [], "something went on"


async def is_error(client_class, session):
    fake = FakeTransport([DISCOVERED, LISTED, told("The calendar is locked.", isError=True)])
    model = ScriptedModel([[monday("t1")], [Text("I cannot see it.")]])
    result = await ask_the_agent(client_class(fake, server="calendar"), model, session)
    (block,) = model.requests[1].messages[-1]["content"]
    assert (block["content"], block["is_error"]) == ("The calendar is locked.", True), "not read"
    assert result.text == "I cannot see it." and len(fake.sent) == 3, "the loop did not go on"


async def break_mid_call(client_class, session):
    broke = TransportClosed("the process ended", exit_code=3, stderr_tail="password hunter2")
    fake = FakeTransport([DISCOVERED, LISTED, broke, FREE, FREE])
    model = ScriptedModel([[monday("t1"), monday("t2")], [Text("It is.")]])
    client = client_class(fake, server="calendar")
    error = await failure_of(ask_the_agent(client, model, session))
    assert error is broke, "another exception"
    assert (error.method, error.tool) == ("tools/call", "calendar_query"), "it says not where"
    assert error.may_have_acted and len(fake.sent) == 3, "it was sent again"
    *_, results = load_session(session)
    assert [block["content"] for block in results["content"]] == [FAILED, SKIPPED], "not marked"


THREE = {
    "a refused connection": refused_connection,
    "a tool that says isError": is_error,
    "a break in the middle of a call": break_mid_call,
}

# -- what a client does ---------------------------------------------------------------------------


async def outcome(client_class, transport, work):
    """What whoever uses the client gets, whether it is closed, and what it has sent."""
    client, got = client_class(transport, server="calendar"), []
    try:
        async with client:
            async for came in work(client):
                got.append(came)
    except NotImplementedError:
        raise
    except Exception as error:  # whatever comes out of a wrong client
        cause, acted = type(error.__cause__).__name__, getattr(error, "may_have_acted", None)
        got.append((type(error).__name__, cause, str(error), acted))
    sent = [(e.sender, e.message) for e in getattr(transport, "transcript", ())]
    sent += [("client", message) for message in getattr(transport, "sent", ())]
    return got, sent, getattr(transport, "closed", None)


async def all_that_it_does(client):
    yield await client.connect()
    yield await client.list_tools(refresh=True)
    yield await client.call("calendar_query", {"date": "2026-08-03"})
    yield await client.call("calendar_create", HOUR)
    yield await client.list_resources()


async def the_call_alone(client):
    yield await client.call("calendar_create", HOUR)
    yield await client.list_tools()


def situations():
    """Every fault that memory can have, the good calendar, and a script."""
    for name, bad in FAULTS.items():
        if "memory" in bad.carriers:
            for work in (all_that_it_does, the_call_alone):
                yield name, lambda bad=bad: FaultyTransport(bad, calendar_server()), work
    yield "no fault", lambda: InMemoryTransport(calendar_server()), all_that_it_does
    script = [DISCOVERED, LISTED, FREE, FREE]
    yield "a script", lambda: FakeTransport(list(script)), all_that_it_does


async def differs(client_class):
    """Where it does something else than McpClient, "" where nowhere."""
    for name, make, work in situations():
        wanted = await outcome(McpClient, make(), work)
        if await outcome(client_class, make(), work) != wanted:
            return name
    return ""


# -- the check ------------------------------------------------------------------------------------


def two(both):
    good = isinstance(both, tuple) and len(both) == 2
    good = good and isinstance(both[0], type) and issubclass(both[0], McpClient)
    require(good, "a pair: a subclass of McpClient and a test", came=both)
    return both


@TASK.part(
    "it passes the three tests",
    idea="A test knows the mistakes that its author thought of. A client that fails one of the "
    "three is caught already, and teaches nothing about what they miss.",
)
async def passes_the_three(both):
    Sixth, _ = two(both)
    for name, case in THREE.items():
        with tempfile.TemporaryDirectory() as folder:
            red = await why_red(case, Sixth, Path(folder, "session"))
        require(not red, "green", came=f"red, {red}", when=f"the test of {name}")


@TASK.part(
    "it is wrong all the same",
    idea="Wrong is what a caller can notice: another result, another exception, another message on "
    "the wire. What nobody can notice is another way to write the same client.",
)
async def is_wrong(both):
    Sixth, _ = two(both)
    where = await differs(Sixth)
    require(where, "something that McpClient does not do", came="the same in every situation")


@TASK.part(
    "your test is green on the package's client",
    idea="A test holds for what is right, whatever the class is called: it looks at what comes, "
    "and a name proves nothing. Red on everything, it would be switched off in a week.",
)
async def green_on_the_good_one(both):
    Sixth, catches = two(both)
    namesake = type(Sixth.__name__, (McpClient,), {"__module__": Sixth.__module__})
    for client_class, what in ((McpClient, "McpClient"), (namesake, "a good one of that name")):
        red = await why_red(catches, lambda wire, c=client_class: c(wire, server="calendar"))
        require(not red, "green", came=f"red, {red}", when=f"the client is {what}")


@TASK.part(
    "your test is red on the sixth",
    idea="A test that has never been red proves nothing. An except with no else passes when "
    "nothing is raised, and that is just what a swallowed failure looks like.",
)
async def red_on_the_sixth(both):
    Sixth, catches = two(both)
    red = await why_red(catches, lambda wire: Sixth(wire, server="calendar"))
    require(red, "red", came="green", when="the client is your Sixth")


# -- what people write ----------------------------------------------------------------------------

LATE = RequestTimeout("no answer in time", seconds=30)


@TASK.wrong("caught already")
def one_of_the_five():
    class Sixth(McpClient):
        async def call(self, *given, **options):
            try:
                return await super().call(*given, **options)
            except McpError:
                return CallResult()

    both = (Sixth, silence_is_an_empty_day()[1])
    return both


@TASK.wrong("another way to write the same client")
def it_only_looks_different():
    class Sixth(McpClient):
        wrong = True

    async def catches(make_client):
        assert not hasattr(make_client(FakeTransport([])), "wrong")

    both = (Sixth, catches)
    return both


@TASK.wrong("a name proves nothing")
def by_its_name():
    Sixth, _ = silence_is_an_empty_day()

    async def catches(make_client):
        assert type(make_client(FakeTransport([]))).__name__ != Sixth.__name__

    both = (Sixth, catches)
    return both


@TASK.wrong("switched off in a week")
def red_on_everything():
    async def catches(make_client):
        client = make_client(FakeTransport([RequestTimeout("no answer", seconds=30)]))
        result = await client.call("calendar_query", {"date": "2026-08-03"})
        assert result.content

    both = (silence_is_an_empty_day()[0], catches)
    return both


@TASK.wrong("never been red")
def an_except_with_no_else():
    async def catches(make_client):
        client = make_client(FakeTransport([RequestTimeout("no answer", seconds=30)]))
        try:
            await client.call("calendar_query", {"date": "2026-08-03"})
        except McpError as error:
            assert isinstance(error, RequestTimeout)

    both = (silence_is_an_empty_day()[0], catches)
    return both
