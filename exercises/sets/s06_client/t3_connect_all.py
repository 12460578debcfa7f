"""06.3: several servers at once, and one of them is silent."""

import asyncio

from exercises.machine import Task, doing, expect, refused_async, require
from fake_servers.calendar import calendar_server
from fake_servers.fault_call import fault
from fake_servers.faults import FAULTS
from fake_servers.memory import FaultyTransport, InMemoryTransport
from mini_agent.errors import McpError, TransportClosed
from mini_agent.mcp.client import McpClient

TASK = Task(
    "06.3",
    "`connect_all`: several servers, and one is silent",
    level="solid",
    minutes=20,
    section="The host's start",
    text="""
Write `connect_all(clients)`. `clients` is a dict from the name that this host gives a server to its
McpClient. It returns two dicts by the same names, `(tools, failed)`: the tools of those that
connected, and the exception of those that did not.

- All connect at once: the slowest one says how long it takes.
- A server that fails, in whatever way of an McpError, takes nothing from the others. The host works
  with what it has.
- Whoever failed is closed. Whoever connected stays open.
- Whatever else ends it goes out: a mistake on this side, or a cancel. After a cancel no client
  stays open.
""",
    hints=(
        "`asyncio.gather` waits for all of them. What does it do when one of them raises, and what "
        "becomes of the others?",
        "Give each client a small coroutine of its own that never raises an McpError: it returns "
        "the tools, or closes the client and returns the error. A CancelledError is no Exception.",
        "Gather these small coroutines over the clients. Around it `try` and `except "
        "BaseException`: close every client and raise. Then sort what came by its class, under the "
        "names of the dict.",
    ),
)


@TASK.solution
def one_coroutine_each():
    async def connect_all(clients):
        ### BEGIN SOLUTION
        async def connect(client):
            try:
                return await client.connect()
            except McpError as error:
                await client.close()
                return error

        try:
            came = await asyncio.gather(*map(connect, clients.values()))
        except BaseException:
            for client in clients.values():
                await client.close()
            raise
        outcomes = dict(zip(clients, came, strict=True))
        failed = {name: it for name, it in outcomes.items() if isinstance(it, McpError)}
        return {name: it for name, it in outcomes.items() if name not in failed}, failed
        ### END SOLUTION

    return connect_all


@TASK.right
def in_a_task_group():
    async def connect_all(clients):
        tools, failed = {}, {}

        async def connect(name):
            try:
                tools[name] = await clients[name].connect()
            except McpError as error:
                failed[name] = error

        try:
            async with asyncio.TaskGroup() as group:
                for name in clients:
                    group.create_task(connect(name))
        except BaseException:
            await asyncio.gather(*(c.close() for c in clients.values()))
            raise
        for name in failed:
            await clients[name].close()
        return tools, failed

    return connect_all


# -- the check ------------------------------------------------------------------------------------


@fault("memory", at="every request")
async def silent(call):
    """No answer, whatever is asked."""


class Watched:
    """A transport that says whether it was closed."""

    closed = False

    async def close(self):
        self.closed = True
        await super().close()


class Good(Watched, InMemoryTransport): ...


class Bad(Watched, FaultyTransport): ...


class Broken(Good):
    """A transport of ours with a mistake in it."""

    async def send(self, message, *, envelope=None):
        raise ZeroDivisionError("a mistake on this side")


SERVERS = {
    "good": lambda: Good(calendar_server()),
    "silent": lambda: Bad(silent),
    "refused": lambda: Bad(FAULTS["refused"]),
    "old": lambda: Bad(FAULTS["old_version"]),
    "broken": lambda: Broken(calendar_server()),
}
NAMES = ["calendar_query", "calendar_create", "calendar_delete"]


def clients_of(**kinds):
    return {name: McpClient(SERVERS[kind](), server=name) for name, kind in kinds.items()}


async def outcome(connect_all, clients):
    came = await connect_all(dict(clients))
    two = isinstance(came, tuple | list) and len(came) == 2
    require(two and all(isinstance(it, dict) for it in came), "two dicts", came=came)
    tools, failed = came
    named = {name: names_of(listed) for name, listed in tools.items()}
    return named, {name: type(error).__name__ for name, error in failed.items()}


def names_of(listed):
    require(isinstance(listed, list), "a list of tools", came=listed)
    return [getattr(tool, "name", tool) for tool in listed]


def who_is_open(clients):
    return [name for name, client in clients.items() if not client.transport.closed]


@TASK.part(
    "two servers of one kind",
    idea="The host's own names keep them apart. What a server says of itself is the same for both, "
    "and one may say the other's on purpose.",
)
async def two_of_a_kind(connect_all):
    clients = clients_of(work="good", home="good")
    expect(await outcome(connect_all, clients), ({"work": NAMES, "home": NAMES}, {}))


@TASK.part(
    "one fails, the others do not",
    idea="A calendar at work that is down is no reason to lose the one at home. Each server fails "
    "for itself, whether it is silent, absent, or of another version.",
)
async def one_fails(connect_all):
    clients = clients_of(a="silent", home="good", b="refused", c="old")
    failed = {"a": "RequestTimeout", "b": "ConnectFailed", "c": "UnsupportedProtocolVersion"}
    when = "a is silent, b is not there, c speaks another version"
    with doing(when):
        expect(await outcome(connect_all, clients), ({"home": NAMES}, failed))


@TASK.part(
    "all at once",
    idea="Three silent servers are one deadline and not three. A user waits for the start of a "
    "host, and every server that is added would make it longer.",
)
async def at_once(connect_all):
    clock = asyncio.get_running_loop().time
    before = clock()
    with doing("three servers are silent"):
        await outcome(connect_all, clients_of(a="silent", b="silent", c="silent"))
    seconds = round(clock() - before)
    require(
        seconds <= 45,
        "about 30 seconds",
        came=f"{seconds} seconds",
        when="three servers are silent, and the deadline of each is 30 seconds",
    )


@TASK.part(
    "who failed is closed, who connected is not",
    idea="A client owns its transport, and that may be a process. Nobody will ever close the one "
    "that nobody uses. And a host that closes a good one has connected for nothing.",
)
async def closed(connect_all):
    clients = clients_of(a="silent", home="good")
    with doing("a is silent and home connects"):
        await outcome(connect_all, clients)
    expect(who_is_open(clients), ["home"], when="a was silent; which clients are open now?")


@TASK.part(
    "a cancel goes out, and nothing stays open",
    idea="The user closes the host while it starts. A cancel that is swallowed is a host that does "
    "not end, and a client that stays open is a process that nobody knows of.",
)
async def cancelled(connect_all):
    clients = clients_of(home="good", a="silent")
    task = asyncio.create_task(connect_all(dict(clients)))
    await asyncio.sleep(5)
    if task.done():
        task.result()
    require(not task.done(), "to wait for the silent one", came="it has ended after 5 seconds")
    task.cancel()
    with doing("it was cancelled after 5 seconds"):
        await refused_async(asyncio.CancelledError, as_error(task))
    expect(who_is_open(clients), [], when="it was cancelled; which clients are open now?")


async def as_error(task):
    """Wait for the task, and raise what it raised, a cancel too."""
    await asyncio.wait([task], timeout=600)
    if task.cancelled():
        raise Cancelled
    return task.result()


class Cancelled(asyncio.CancelledError, Exception):
    """A cancel that `refused_async` sees."""


@TASK.part(
    "a mistake on this side is no server's failure",
    idea="ZeroDivisionError is a bug in the host. Written down as one more server that failed, it "
    "is found by nobody.",
)
async def our_mistake(connect_all):
    clients = clients_of(home="good", a="broken")
    when = "the transport of a raises ZeroDivisionError"
    error = await refused_async(Exception, connect_all(clients), when=when)
    if isinstance(error, ExceptionGroup):  # as a TaskGroup raises it
        error = error.exceptions[0]
    wanted = isinstance(error, ZeroDivisionError)
    require(wanted, "ZeroDivisionError", came=type(error).__name__, when=when)


# -- what people write ----------------------------------------------------------------------------


async def close_all(clients):
    for client in clients.values():
        await client.close()


@TASK.wrong("keep them apart")
def by_what_the_server_says():
    async def connect_all(clients):
        tools, failed = await one_coroutine_each()(clients)
        if failed:
            return tools, failed
        return {clients[name].server_info["name"]: tools[name] for name in tools}, failed

    return connect_all


@TASK.wrong("no reason to lose")
def gathered_as_they_are():
    async def connect_all(clients):
        try:
            tools = await asyncio.gather(*(client.connect() for client in clients.values()))
        except BaseException:
            await close_all(clients)
            raise
        return dict(zip(clients, tools, strict=True)), {}

    return connect_all


@TASK.wrong("Each server fails")
def only_what_broke_has_failed():
    async def connect_all(clients):
        tools, failed = await one_coroutine_each()(clients)
        for error in failed.values():
            if type(error).__name__ == "UnsupportedProtocolVersion":
                raise error
        return tools, failed

    return connect_all


@TASK.wrong("one deadline and not three")
def one_after_the_other():
    async def connect_all(clients):
        tools, failed = {}, {}
        for name, client in clients.items():
            try:
                tools[name] = await client.connect()
            except McpError as error:
                failed[name] = error
                await client.close()
            except BaseException:
                await close_all(clients)
                raise
        return tools, failed

    return connect_all


@TASK.wrong("Nobody will ever close")
def the_failed_one_stays_open():
    async def connect_all(clients):
        async def connect(client):
            try:
                return await client.connect()
            except McpError as error:
                return error

        try:
            came = await asyncio.gather(*map(connect, clients.values()))
        except BaseException:
            await close_all(clients)
            raise
        both = dict(zip(clients, came, strict=True))
        failed = {name: it for name, it in both.items() if isinstance(it, McpError)}
        return {name: it for name, it in both.items() if name not in failed}, failed

    return connect_all


@TASK.wrong("has connected for nothing")
def async_with_around_it():
    async def connect_all(clients):
        try:
            return await one_coroutine_each()(clients)
        finally:
            await close_all(clients)

    return connect_all


@TASK.wrong("that nobody knows of")
def nobody_closes_after_a_cancel():
    async def connect_all(clients):
        async def connect(client):
            try:
                return await client.connect()
            except McpError as error:
                await client.close()
                return error

        came = await asyncio.gather(*map(connect, clients.values()))
        both = dict(zip(clients, came, strict=True))
        failed = {name: it for name, it in both.items() if isinstance(it, McpError)}
        return {name: it for name, it in both.items() if name not in failed}, failed

    return connect_all


@TASK.wrong("does not end")
def a_cancel_is_one_more_failure():
    async def connect_all(clients):
        try:
            return await one_coroutine_each()(clients)
        except asyncio.CancelledError:
            return {}, dict.fromkeys(clients, TransportClosed("stopped"))

    return connect_all


@TASK.wrong("is found by nobody")
def every_exception_is_the_servers():
    async def connect_all(clients):
        try:
            return await one_coroutine_each()(clients)
        except Exception as error:
            return {}, dict.fromkeys(clients, error)

    return connect_all
