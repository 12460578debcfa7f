"""10.2: two faults that a host cannot tell apart."""

from exercises.machine import Task, expect, require
from fake_servers.calendar import Calendar, calendar_server
from fake_servers.fault_call import Fault, fault
from fake_servers.memory import FaultyTransport
from mini_agent.errors import McpError
from mini_agent.mcp import McpClient

TASK = Task(
    "10.2",
    "Twins: booked, and not booked",
    level="solid",
    minutes=15,
    section='"Maybe" is all there is to know',
    text="""
Write two faults. On the server with the first, `calendar_create` books the hour, once; on the
server with the second it books nothing. And whoever called it gets the same exception of both: one
class, the same attributes. It says that the server may have acted.

`call.right_answer()` lets the good calendar do its work and gives its answer, unsent. How a fault
then goes on is up to you; `fake_servers/faults.py` has many ways.

Say beforehand what the host gets: the name of the class, and its `may_have_acted`.
""",
    hints=(
        "Which exceptions say that the server may have acted? Choose one, and look in the "
        "catalogue for what makes a client raise it.",
        "The two differ in a single line: in the one the good calendar works before it goes wrong. "
        "The rest must be the same, down to the exit code and the last words on stderr.",
        "The first awaits `right_answer` and then ends the process with some code. The second ends "
        "it at once, with the same code. Of both the host gets TransportClosed. Or neither of them "
        "answers at all: a function may end without a word.",
    ),
)


@TASK.stub
def two_that_say_nothing():
    @fault("memory")
    async def books(call):
        """It books the hour, and then …"""

    @fault("memory")
    async def books_nothing(call):
        """It …"""

    twins = {
        "books": books,
        "books nothing": books_nothing,
        "the host gets": ...,
        "may_have_acted": ...,
    }
    return twins


@TASK.solution
def both_die():
    @fault("memory")
    async def books(call):
        """It books the hour, and the process ends before it has said so."""
        await call.right_answer()
        call.exit(3)

    @fault("memory")
    async def books_nothing(call):
        """The process ends before it has done anything."""
        call.exit(3)

    twins = {
        "books": books,
        "books nothing": books_nothing,
        "the host gets": "TransportClosed",
        "may_have_acted": True,
    }
    return twins


@TASK.right
def both_are_silent():
    @fault("memory")
    async def books(call):
        """It books, and never answers."""
        await call.right_answer()

    @fault("memory")
    async def silent(call):
        """It never answers."""

    twins = {
        "books": books,
        "books nothing": silent,
        "the host gets": "RequestTimeout",
        "may_have_acted": True,
    }
    return twins


@TASK.right
def both_say_internal_error():
    async def says(call):
        await call.error(-32603, "Internal error")

    async def books_and_says(call):
        await call.right_answer()
        await says(call)

    twins = {
        "books": Fault("books", "", ("memory",), "tools/call", books_and_says),
        "books nothing": Fault("says", "", ("memory",), "tools/call", says),
        "the host gets": "JsonRpcError",
        "may_have_acted": True,
    }
    return twins


# -- the check ------------------------------------------------------------------------------------

HOUR = {"title": "Design team", "start": "2026-08-05T15:00", "end": "2026-08-05T16:00"}


async def booked(twins, name):
    """What the caller gets of that fault, and how many hours it has booked."""
    bad = twins.get(name)
    require(isinstance(bad, Fault), "a fault: a function below @fault", came=bad, when=name)
    calendar = Calendar()
    before = len(calendar.appointments)
    transport = FaultyTransport(bad, calendar_server(calendar))
    came = None
    async with McpClient(transport, server="calendar") as client:
        try:
            came = await client.call("calendar_create", HOUR)
        except McpError as error:
            came = error
    return came, len(calendar.appointments) - before


def looks(error):
    """All that a host can see of an exception."""
    held = {name: value for name, value in vars(error).items() if not name.startswith("_")}
    return {"class": type(error).__name__, **held}


@TASK.part(
    "the one books",
    idea="That nothing came back is no sign that nothing was done: the work comes before the "
    "answer, and only the answer was lost.",
)
async def the_one_books(twins):
    _, count = await booked(twins, "books")
    expect(count, 1, when='the hour is booked on the server "books": hours booked')


@TASK.part(
    "the other does not",
    idea="It ended before the work, and nobody has an hour. A host that took every break for a "
    "booking would tell its user of a meeting that is in no calendar.",
)
async def the_other_does_not(twins):
    _, count = await booked(twins, "books nothing")
    expect(count, 0, when='the hour is booked on the server "books nothing": hours booked')


@TASK.part(
    "from above they are one",
    idea="Whatever differs, an exit code or a word on stderr, a host would soon decide by it. What "
    "it must decide by is that it cannot know.",
)
async def from_above_they_are_one(twins):
    seen = []
    for name in ("books", "books nothing"):
        came, _ = await booked(twins, name)
        require(isinstance(came, McpError), "an exception", came=came, when=f"the server {name}")
        seen.append(looks(came))
    expect(seen[1], seen[0], when="what the host sees of the second is held against the first")


@TASK.part(
    "you have said what the host gets",
    idea="may_have_acted is the one honest answer: maybe. A class that says no, on a server that "
    "has booked, makes the host book once more.",
)
async def said_beforehand(twins):
    for name in ("books", "books nothing"):
        came, _ = await booked(twins, name)
        when = f"the server {name}"
        expect(twins.get("the host gets"), type(came).__name__, when=when)
        expect(getattr(came, "may_have_acted", None), True, when=f"{when}: may_have_acted")
    expect(twins.get("may_have_acted"), True, when='what you say of "may_have_acted"')


# -- what people write ----------------------------------------------------------------------------


@fault("memory")
async def dies(call):
    """It ends with another code."""
    call.exit(4)


@fault("memory")
async def refuses(call):
    """It says that the arguments are wrong."""
    await call.right_answer()
    await call.error(-32602, "wrong arguments")


@fault("memory")
async def refuses_at_once(call):
    """It says so at once."""
    await call.error(-32602, "wrong arguments")


@TASK.wrong("no sign that nothing was done")
def neither_books():
    twins = {**both_die(), "books": both_die()["books nothing"]}
    return twins


@TASK.wrong("in no calendar")
def both_book():
    twins = {**both_die(), "books nothing": both_die()["books"]}
    return twins


@TASK.wrong("an exit code or a word on stderr")
def another_exit_code():
    twins = {**both_die(), "books nothing": dies}
    return twins


@TASK.wrong("book once more")
def refused_and_booked():
    said = {"the host gets": "JsonRpcError", "may_have_acted": False}
    twins = {"books": refuses, "books nothing": refuses_at_once, **said}
    return twins
