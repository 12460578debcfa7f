"""03.3: the fake transport test for a transport that breaks mid-call."""

from exercises.machine import Task, require, why_red
from mini_agent.errors import ConnectFailed, McpError, TransportClosed, TransportError
from mini_agent.mcp.client import McpClient
from mini_agent.mcp.shapes import CallResult
from mini_agent.mcp.transport import FakeTransport

TASK = Task(
    "03.3",
    "The test that a break must pass",
    level="demanding",
    minutes=25,
    section="A test with no process and no network",
    text="""
Write `check_a_break(make_client)`, a test: the transport breaks in the middle of a call. It makes
a client with `make_client(transport)`, on a FakeTransport, and calls `calendar_query` with a date.
It asserts what a host relies on, and raises AssertionError where the client gets it wrong.

- The caller hears the break, as the exception of the class that says what may have happened.
- The exception says which server (`calendar`), method and tool it was about.
- Nothing is sent a second time: the server may have booked.

The check runs your test on the client of the package, where it must pass, and on five clients with
one fault each, where it must turn red.
""",
    hints=(
        "Three things can go wrong after a break: no exception comes, another comes, or something "
        "happened in between. For each: what could you assert that would notice?",
        "An `except` alone cannot notice that nothing was raised. A class that is too wide lets "
        "another through. And `transport.sent` remembers each message. The client is connected or "
        "not, as you like: `call` needs no `connect`.",
        'Script: `[TransportClosed("…"), SAID]`, so that a second try finds an answer. '
        "`try` the call; in `except`, name TransportClosed alone, and assert the three names; in "
        "`else`, raise AssertionError. Last, count what was sent.",
    ),
    given="SAID",
)

SAID = {"result": {"content": [{"type": "text", "text": "Nothing on that day."}]}}


@TASK.solution
def with_try_and_else():
    async def check_a_break(make_client):
        ### BEGIN SOLUTION
        transport = FakeTransport([TransportClosed("it broke before the answer"), SAID])
        client = make_client(transport)
        try:
            await client.call("calendar_query", {"date": "2026-08-03"})
        except TransportClosed as error:
            where = (error.server, error.method, error.tool)
            assert where == ("calendar", "tools/call", "calendar_query"), where
        else:
            raise AssertionError("the break was swallowed")
        assert len(transport.sent) == 1, "it was sent again"
        ### END SOLUTION

    return check_a_break


@TASK.right
def connected_and_by_identity():
    async def check_a_break(make_client):
        broken = TransportClosed("cut", exit_code=9)
        discovered = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}
        listed = {"tools": [{"name": "calendar_query", "inputSchema": {"type": "object"}}]}
        script = [{"result": discovered}, {"result": listed}, broken, SAID, SAID]
        fake, caught = FakeTransport(script), None
        async with make_client(fake) as client:
            await client.connect()
            try:
                await client.call("calendar_query", {"date": "2026-08-03"})
            except McpError as error:
                caught = error
        assert caught is broken
        assert caught.server == "calendar" and caught.tool == "calendar_query"
        assert [m["method"] for m in fake.sent].count("tools/call") == 1

    return check_a_break


@TASK.right
def as_pytest_has_it():
    import pytest

    async def check_a_break(make_client):
        transport = FakeTransport([TransportClosed("cut")] * 2)
        with pytest.raises(TransportClosed) as caught:
            await make_client(transport).call("calendar_query", {"date": "2026-08-03"})
        assert (caught.value.server, caught.value.tool) == ("calendar", "calendar_query")
        assert len(transport.sent) == 1

    return check_a_break


# -- the clients it is run on ---------------------------------------------------------------------


class Swallows(McpClient):
    async def call(self, *args, **options):
        try:
            return await super().call(*args, **options)
        except TransportClosed:
            return CallResult()


class MakesItAToolError(McpClient):
    async def call(self, *args, **options):
        try:
            return await super().call(*args, **options)
        except TransportClosed as error:
            return CallResult([{"type": "text", "text": str(error)}], is_error=True)


class TriesAgain(McpClient):
    async def call(self, *args, **options):
        try:
            return await super().call(*args, **options)
        except TransportClosed as error:
            try:
                await super().call(*args, **options)
            finally:
                raise error


class SaysItNeverReached(McpClient):
    async def call(self, *args, **options):
        try:
            return await super().call(*args, **options)
        except TransportClosed as error:
            other = ConnectFailed(error.message)
            other.server, other.method, other.tool = error.server, error.method, error.tool
            raise other from error


class SaysNotWhere(McpClient):
    async def call(self, *args, **options):
        try:
            return await super().call(*args, **options)
        except TransportClosed as error:
            error.server = error.method = error.tool = ""
            raise


async def run_on(client_class, check_a_break):
    return await why_red(check_a_break, lambda wire: client_class(wire, server="calendar"))


async def must_turn_red(check_a_break, client_class, what):
    red = await run_on(client_class, check_a_break)
    require(red, "a red test", came="green", when=f"the client {what}")


@TASK.part(
    "green on the client of the package",
    idea="A test must hold for what is right. Errors are told apart by class and attribute: the "
    "text is for people, and the client adds to it.",
)
async def green_on_the_good_one(check_a_break):
    red = await run_on(McpClient, check_a_break)
    require(not red, "green", came=f"red, {red}", when="the client is the package's own")


@TASK.part(
    "red on a client that swallows the break",
    idea="A try with an except and nothing else passes when nothing is raised: such a test cannot "
    "fail. An empty result here is a free Monday that nobody looked at.",
)
async def red_on_swallowing(check_a_break):
    await must_turn_red(check_a_break, Swallows, "returns an empty result instead")


@TASK.part(
    "red on a client that makes a tool error of it",
    idea="A break is no business result. As isError the model would read it and call again, on a "
    "connection that is dead.",
)
async def red_on_a_tool_error(check_a_break):
    await must_turn_red(check_a_break, MakesItAToolError, "returns a result with is_error")


@TASK.part(
    "red on a client that tries again",
    idea="After a break the server may have acted. A second try may book twice, and the exception "
    "that comes in the end looks as it should: only what was sent tells.",
)
async def red_on_a_second_try(check_a_break):
    await must_turn_red(check_a_break, TriesAgain, "sends the call again, then raises the break")


@TASK.part(
    "red on a client that says it never reached the server",
    idea="ConnectFailed says that nothing can have happened, so a host may try again. A class that "
    "is too wide in the test lets that lie through.",
)
async def red_on_another_class(check_a_break):
    await must_turn_red(check_a_break, SaysItNeverReached, "raises ConnectFailed instead")


@TASK.part(
    "red on a client that does not say where",
    idea='With five servers, "it broke" helps nobody. The transport knows no names; the client '
    "adds server, method and tool, and only a test keeps it doing so.",
)
async def red_on_no_place(check_a_break):
    await must_turn_red(check_a_break, SaysNotWhere, "leaves server, method and tool empty")


# -- what people write ----------------------------------------------------------------------------


async def broken_call(make_client, script=None):
    transport = FakeTransport(script or [TransportClosed("it broke"), SAID])
    error = result = None
    try:
        result = await make_client(transport).call("calendar_query", {"date": "2026-08-03"})
    except Exception as caught:
        error = caught
    return error, result, transport.sent


def names_the_place(error):
    return (error.server, error.method, error.tool) == ("calendar", "tools/call", "calendar_query")


@TASK.wrong("the text is for people")
def compares_the_text():
    async def check_a_break(make_client):
        error, _, sent = await broken_call(make_client)
        assert type(error) is TransportClosed and names_the_place(error)
        assert len(sent) == 1 and str(error) == "it broke"

    return check_a_break


@TASK.wrong("such a test cannot fail")
def a_try_without_an_else():
    async def check_a_break(make_client):
        error, result, sent = await broken_call(make_client)
        assert len(sent) == 1
        if error is not None:
            assert isinstance(error, TransportClosed) and names_the_place(error)
        else:
            assert not result.is_error

    return check_a_break


@TASK.wrong("no business result")
def a_tool_error_will_do():
    async def check_a_break(make_client):
        error, result, sent = await broken_call(make_client)
        assert len(sent) == 1
        if result is None or not result.is_error:
            assert isinstance(error, TransportClosed) and names_the_place(error)

    return check_a_break


@TASK.wrong("may book twice")
def looks_at_the_exception_alone():
    async def check_a_break(make_client):
        error, _, _ = await broken_call(make_client)
        assert isinstance(error, TransportClosed) and names_the_place(error)

    return check_a_break


@TASK.wrong("too wide")
def any_transport_error():
    async def check_a_break(make_client):
        error, _, sent = await broken_call(make_client)
        assert isinstance(error, TransportError) and names_the_place(error)
        assert len(sent) == 1

    return check_a_break


@TASK.wrong("helps nobody")
def the_class_is_enough():
    async def check_a_break(make_client):
        error, _, sent = await broken_call(make_client)
        assert isinstance(error, TransportClosed)
        assert len(sent) == 1

    return check_a_break
