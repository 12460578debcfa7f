"""07.4: mend an adapter that is friendly to every exception."""

import asyncio
import functools

from exercises.machine import Task, doing, expect, refused_async, require
from fake_servers.faults import FAULTS
from fake_servers.memory import FaultyTransport
from mini_agent import draw
from mini_agent.errors import JsonRpcError, MalformedMessage, McpError, TransportClosed
from mini_agent.mcp.adapter import argument_fault, format_result
from mini_agent.mcp.client import McpClient
from mini_agent.mcp.shapes import McpTool
from mini_agent.mcp.transport import FakeTransport
from mini_agent.trace import Trace
from mini_agent.types import Tool, ToolResult, ToolSpec

TASK = Task(
    "07.4",
    "Mend it: the friendly adapter",
    level="demanding",
    minutes=30,
    section="`mcp_tool_to_tool`",
    text="""
This adapter never raises. Whatever happens becomes a kind word to the model, and many adapters do
so. Mend it, so that `execute` has three ways out: a ToolResult for what the model may see, the
exception as it was for all else, and one translation between them.

- A tool that failed says so to the loop as well: `is_error`.
- Arguments that break the tool's schema are a tool error, and nothing is sent.
  `argument_fault(tool, arguments)` says why, or `""`.
- A refusal with -32602 is a tool error if a fresh list (`client.list_tools(refresh=True)`) no
  longer holds the tool. If the list holds it, or cannot be had, the refusal goes out, the same
  object.
- Everything else goes out as it came.
""",
    hints=(
        "Go through what can come out of `client.call`, class by class. For which of them can the "
        "model do something about it in its next turn?",
        "Catch as little as can be: JsonRpcError, and of that one code. A `raise` with nothing "
        "behind it sends on the object that was caught. The second request, for the list, can fail "
        "as well, and then the first refusal is still the news.",
        "First the arguments. Then `try` the call; `except JsonRpcError`: raise unless the code is "
        "-32602; `try` the list, and on an McpError raise the refusal; raise it if the tool's name "
        "is among those listed; else return a tool error. Behind the try, one ToolResult with text "
        "and flag.",
    ),
)


@TASK.stub
def kind_to_everybody():
    def adapt(client, tool):
        async def execute(arguments):
            try:
                result = await client.call(tool.name, arguments)
                return ToolResult(format_result(result))
            except BaseException as error:
                if "unknown tool" in str(error).lower():
                    return ToolResult(f"{tool.name} is no longer available", is_error=True)
                return ToolResult(f"Sorry, that did not work: {error}", is_error=True)

        return Tool(ToolSpec(tool.name, tool.description, tool.input_schema), execute)

    return adapt


@TASK.solution
def three_ways_out():
    def adapt(client, tool):
        async def execute(arguments):
            fault = argument_fault(tool, arguments)
            if fault:
                return ToolResult(f"{tool.name} was not called: {fault}", is_error=True)
            try:
                result = await client.call(tool.name, arguments)
            except JsonRpcError as refusal:
                if refusal.code != -32602:
                    raise
                try:
                    listed = await client.list_tools(refresh=True)
                except McpError:
                    raise refusal from None
                if tool.name in [other.name for other in listed]:
                    raise
                return ToolResult(f"{tool.name} is no longer available", is_error=True)
            return ToolResult(format_result(result), result.is_error)

        return Tool(ToolSpec(tool.name, tool.description, tool.input_schema), execute)

    return adapt


@TASK.right
def with_two_helpers():
    async def still_listed(client, name):
        try:
            return any(tool.name == name for tool in await client.list_tools(refresh=True))
        except McpError:
            return True

    def no(text):
        return ToolResult(text, is_error=True)

    def adapt(client, tool):
        async def execute(arguments):
            if why := argument_fault(tool, arguments):
                return no(why)
            gone = None
            try:
                said = await client.call(tool.name, arguments)
            except JsonRpcError as error:
                gone = error
            if gone is None:
                return ToolResult(content=format_result(said), is_error=said.is_error)
            if gone.code == -32602 and not await still_listed(client, tool.name):
                return no("It is gone. Try another tool.")
            raise gone

        return Tool(ToolSpec(tool.name, tool.description, tool.input_schema), execute)

    return adapt


# -- the check ------------------------------------------------------------------------------------

DAY = {"type": "object", "properties": {"date": {"type": "string"}}, "required": ["date"]}
MONDAY = {"date": "2026-08-03"}


def said(text, **more):
    content = [{"type": "text", "text": text}]
    return {"result": {"resultType": "complete", "content": content, **more}}


def listing(*names):
    tools = [{"name": name, "inputSchema": {"type": "object"}} for name in names]
    return {"result": {"resultType": "complete", "tools": tools}}


def refusing(code, text):
    return {"error": {"code": code, "message": text}}


class Desk:
    """An adapted tool over a script; ``sent`` says which methods left."""

    def __init__(self, adapt, *script, transport=None):
        self.trace = Trace()
        self.wire = transport or FakeTransport(script)
        client = McpClient(self.wire, server="calendar", trace=self.trace)
        tool = McpTool("calendar_query", "The appointments of a day.", dict(DAY))
        self.tool = adapt(client, tool)
        require(isinstance(self.tool, Tool), "a Tool", came=self.tool)

    async def run(self, arguments=MONDAY, when=""):
        with doing(when):
            came = await self.tool.execute(dict(arguments))
        require(isinstance(came, ToolResult), "a ToolResult", came=came, when=when)
        return came

    @property
    def sent(self):
        return [message["method"] for message in self.wire.sent]

    @property
    def picture(self):
        return functools.partial(draw.sequence, self.trace)


async def must_go_out(adapt, error, *script, when):
    """Out of execute comes ``error``, the same object, or the refusal of that kind."""
    desk = Desk(adapt, *script)
    kind = type(error)
    came = await refused_async(kind, desk.tool.execute(dict(MONDAY)), when=when, draw=desk.picture)
    return came, desk


@TASK.part(
    "an answer, and a tool's own no",
    idea="Both are results and both have a text. What tells them apart is the flag, for the loop, "
    "the trace and the model's own service. A no without it is a yes.",
)
async def an_answer_and_a_no(adapt):
    came = await Desk(adapt, said("Nothing on that day.")).run(when="the tool answers")
    expect((came.content, came.is_error), ("Nothing on that day.", False))
    no = said("no such day", isError=True)
    came = await Desk(adapt, no).run(when="the tool fails")
    expect((came.content, came.is_error), ("no such day", True), when="the tool fails")


@TASK.part(
    "arguments that break the schema",
    idea="The schema was in the list, so the mistake need not travel to be found. It is the "
    "model's, it reads why, and it can mend it in its next turn.",
)
async def broken_arguments(adapt):
    desk = Desk(adapt, said("Nothing on that day."))
    when = "the arguments are {'date': 4}, and the schema wants a text"
    came = await desk.run({"date": 4}, when=when)
    expect((came.is_error, desk.sent), (True, []), when=f"{when}; is_error, and what was sent")
    require("date" in came.content, "where the fault is", came=came.content, when=when)


@TASK.part(
    "a break goes out as it came",
    idea="A dead connection is nothing that a model can mend. As a tool error it reads it, calls "
    "again, and again; and the host, who could do something, is never told.",
)
async def a_break(adapt):
    for broken in (TransportClosed("the pipe broke", exit_code=3), MalformedMessage("no message")):
        when = f"{type(broken).__name__} comes out of the call"
        came, _ = await must_go_out(adapt, broken, broken, when=when)
        require(came is broken, "the same object", came="another of its class", when=when)


@TASK.part(
    "the server's other refusals go out",
    idea="A JSON-RPC error says no in the protocol's name: an internal error, a missing "
    "capability. One code alone can mean a tool that is gone.",
)
async def other_refusals(adapt):
    for code in (-32603, -32601):
        when = f"the server refuses with {code}"
        error = JsonRpcError(code, "no")
        came, desk = await must_go_out(
            adapt, error, refusing(code, "Internal error"), listing(), when=when
        )
        expect((came.code, desk.sent), (code, ["tools/call"]), when=f"{when}; what was sent")


@TASK.part(
    "gone: only a fresh list can tell",
    idea="The connection is fine and the request was good: only our list is old. The model is told "
    "and can try something else. The refusal's text may be in any words.",
)
async def gone(adapt):
    for text in ("Unknown tool: calendar_query", "herramienta desconocida"):
        when = f"the refusal says {text!r}, and a fresh list holds another tool alone"
        desk = Desk(adapt, refusing(-32602, text), listing("calendar_show"))
        came = await desk.run(when=when)
        expect(came.is_error, True, when=when)
        expect(desk.sent, ["tools/call", "tools/list"], when=f"{when}; what was sent")


@TASK.part(
    "the same code, and the tool is there",
    idea="-32602 means many things, and its text is whatever somebody wrote. A tool is known by "
    "its name, also with a new schema. Told that it is gone, the model gives up something that "
    "works, and nobody looks for the cause.",
)
async def not_gone(adapt):
    when = "the refusal says 'Unknown tool', and a fresh list holds the tool"
    refusal = refusing(-32602, "Unknown tool: calendar_query")
    error = JsonRpcError(-32602, "")
    came, _ = await must_go_out(adapt, error, refusal, listing("calendar_query"), when=when)
    expect((came.code, came.method), (-32602, "tools/call"), when=when)


@TASK.part(
    "a list that fails proves nothing",
    idea="Whether the tool is gone is not known then. The first refusal is what happened to the "
    "call, and the list was only our question about it.",
)
async def no_list(adapt):
    when = "the refusal is -32602, and then the list breaks"
    refusal = refusing(-32602, "Unknown tool: calendar_query")
    error = JsonRpcError(-32602, "")
    came, _ = await must_go_out(adapt, error, refusal, TransportClosed("it ended"), when=when)
    expect((came.code, came.method), (-32602, "tools/call"), when=when)


@TASK.part(
    "a cancel passes through",
    idea="Stop is a cancel of the task, and a cancel is an exception that nobody may keep. Caught, "
    "the run goes on after the user has stopped it.",
)
async def a_cancel(adapt):
    desk = Desk(adapt, transport=FaultyTransport(FAULTS["silence"]))
    task = asyncio.create_task(desk.tool.execute(dict(MONDAY)))
    await asyncio.sleep(5)
    if task.done():
        task.result()
    require(not task.done(), "to wait for the silent server", came="it has ended after 5 seconds")
    task.cancel()
    await asyncio.wait([task], timeout=600)
    came = "the cancel" if task.cancelled() else task.exception() or task.result()
    require(task.cancelled(), "the cancel", came=came, when="the server is silent, the user stops")


@TASK.part(
    "a mistake of ours is no tool error",
    idea="A bug on this side is for whoever maintains it. The model cannot mend it, and an "
    "exception's text may hold what a model should never read.",
)
async def our_mistake(adapt):
    bug = ZeroDivisionError("a mistake on this side")
    when = "the transport raises ZeroDivisionError"
    await must_go_out(adapt, bug, bug, when=when)


# -- what people write ----------------------------------------------------------------------------


def adapting(without=""):
    """The solution with one rule left out, for the answers that forget it."""

    def adapt(client, tool):
        def note(error):
            return ToolResult(f"It did not work: {error}", is_error=True)

        async def is_listed():
            try:
                listed = await client.list_tools(refresh=True)
            except McpError:
                if without == "no list":
                    return False
                if without == "the list's own":
                    raise
                return True
            if without == "name":
                return tool in listed
            return tool.name in [other.name for other in listed]

        async def call(arguments):
            try:
                return await client.call(tool.name, arguments)
            except JsonRpcError as refusal:
                if without == "codes" and refusal.code != -32602:
                    return note(refusal)
                if refusal.code != -32602 or (without == "gone" and refusal.code):
                    raise
                if without == "text" and "Unknown" not in str(refusal):
                    raise
                if without != "list" and await is_listed():
                    raise
                return note("it is gone")
            except McpError as error:
                if without != "break":
                    raise
                return note(error)

        async def execute(arguments):
            fault = "" if without == "arguments" else argument_fault(tool, arguments)
            if fault:
                return note(fault)
            try:
                came = await call(arguments)
            except (asyncio.CancelledError, ZeroDivisionError) as error:
                if without != type(error).__name__:
                    raise
                return note(error)
            if isinstance(came, ToolResult):
                return came
            return ToolResult(format_result(came), came.is_error and without != "flag")

        return Tool(ToolSpec(tool.name, tool.description, tool.input_schema), execute)

    return adapt


@TASK.wrong("A no without it is a yes")
def the_flag_is_lost():
    adapt = adapting(without="flag")
    return adapt


@TASK.wrong("need not travel")
def the_server_will_check():
    adapt = adapting(without="arguments")
    return adapt


@TASK.wrong("calls again, and again")
def a_break_is_a_tool_error():
    adapt = adapting(without="break")
    return adapt


@TASK.wrong("in the protocol's name")
def every_refusal_is_a_tool_error():
    adapt = adapting(without="codes")
    return adapt


@TASK.wrong("only our list is old")
def nothing_is_translated():
    adapt = adapting(without="gone")
    return adapt


@TASK.wrong("may be in any words")
def by_the_words_of_the_refusal():
    adapt = adapting(without="text")
    return adapt


@TASK.wrong("gives up something that works")
def the_code_is_enough():
    adapt = adapting(without="list")
    return adapt


@TASK.wrong("is known by its name")
def the_very_same_tool():
    adapt = adapting(without="name")
    return adapt


@TASK.wrong("is not known then")
def no_list_no_tool():
    adapt = adapting(without="no list")
    return adapt


@TASK.wrong("only our question about it")
def the_list_breaks_over_it():
    adapt = adapting(without="the list's own")
    return adapt


@TASK.wrong("nobody may keep")
def a_cancel_is_caught():
    adapt = adapting(without="CancelledError")
    return adapt


@TASK.wrong("for whoever maintains it")
def every_exception_is_caught():
    adapt = adapting(without="ZeroDivisionError")
    return adapt
