"""10.1: twelve failures, and who must know of each."""

import functools

from exercises.machine import Task, expect
from fake_servers.faults import FAULTS
from fake_servers.memory import FaultyTransport
from mini_agent import draw
from mini_agent.agent import run_agent
from mini_agent.errors import McpError
from mini_agent.mcp import McpClient, mcp_tool_to_tool
from mini_agent.model_client import ScriptedModel
from mini_agent.trace import Trace
from mini_agent.types import Text, ToolCall

TASK = Task(
    "10.1",
    "Twelve failures: who must know?",
    level="warm-up",
    minutes=8,
    section="One question, two ends",
    text="""
The model wants to see Monday, and one of these happens. Say for each who hears of it:

| write | when |
|---|---|
| `"the model"` | it reads why, and is asked again |
| `"the caller"` | `run_agent`, or the `connect` before it, raises |
| `"nobody"` | it did no harm |

The check then runs all twelve, from the server to the loop, and draws the first that is not as you
say.
""",
    hints=(
        "For each, ask who could do it better next time. The model has chosen the tool and its "
        "arguments, and nothing else.",
        "Two that look like errors of the protocol are the model's all the same: a tool that it "
        "must do without, and arguments that it must choose again.",
        "Three for the model, one for nobody, eight for the caller.",
    ),
)


@TASK.stub
def nothing_said_yet():
    who = {
        "the tool ran and says isError": ...,
        "the tool is gone since it was listed": ...,
        "the model left out the date": ...,
        "the process dies during the call": ...,
        "nothing is there when we connect": ...,
        "no answer comes, ever": ...,
        "the answer is no JSON": ...,
        "the result is of a type that nobody knows": ...,
        "the server speaks only an older version": ...,
        "the tool needs a capability that we lack": ...,
        "the server asks the user something": ...,
        "the same answer comes twice": ...,
    }
    return who


@TASK.solution
def as_they_run():
    who = {
        "the tool ran and says isError": "the model",
        "the tool is gone since it was listed": "the model",
        "the model left out the date": "the model",
        "the process dies during the call": "the caller",
        "nothing is there when we connect": "the caller",
        "no answer comes, ever": "the caller",
        "the answer is no JSON": "the caller",
        "the result is of a type that nobody knows": "the caller",
        "the server speaks only an older version": "the caller",
        "the tool needs a capability that we lack": "the caller",
        "the server asks the user something": "the caller",
        "the same answer comes twice": "nobody",
    }
    return who


@TASK.right
def the_few_that_are_not_the_callers():
    who = dict.fromkeys(as_they_run(), "the caller")
    who |= dict.fromkeys(list(who)[:3], "the model") | {"the same answer comes twice": "nobody"}
    return who


# -- the check ------------------------------------------------------------------------------------

HAPPENS = {
    "the tool ran and says isError": "is_error",
    "the tool is gone since it was listed": "unknown_tool",
    "the model left out the date": "duplicate",  # never reached: nothing is sent
    "the process dies during the call": "dies_mid_call",
    "nothing is there when we connect": "refused",
    "no answer comes, ever": "silence",
    "the answer is no JSON": "garbage",
    "the result is of a type that nobody knows": "unknown_result_type",
    "the server speaks only an older version": "old_version",
    "the tool needs a capability that we lack": "missing_capability",
    "the server asks the user something": "input_required",
    "the same answer comes twice": "duplicate",
}


async def who_hears(name, trace):
    arguments = {} if "left out" in name else {"date": "2026-08-03"}
    call = ToolCall("t1", "calendar_query", arguments)
    model = ScriptedModel([[call], [Text("So be it.")]])
    transport = FaultyTransport(FAULTS[HAPPENS[name]])
    async with McpClient(transport, server="calendar", trace=trace) as client:
        try:
            tools = [mcp_tool_to_tool(client, tool) for tool in await client.connect()]
            await run_agent("Is Monday free?", model=model, tools=tools, trace=trace)
        except McpError:
            return "the caller"
    read = model.requests[-1].messages[-1]["content"][0]
    return "the model" if read["is_error"] else "nobody"


async def compare(who, *names):
    for name in names:
        trace = Trace()
        hears = await who_hears(name, trace)
        expect(who.get(name), hears, when=name, draw=functools.partial(draw.chain, trace))


@TASK.part(
    "only the model can mend it",
    idea="The model has chosen the tool and its arguments. A result that says why not is the one "
    "thing that lets it choose better; the caller could only shrug.",
)
async def the_model_can_mend_it(who):
    await compare(who, "the tool ran and says isError", "the tool is gone since it was listed")
    await compare(who, "the model left out the date")


@TASK.part(
    "no answer came, or none that can be read",
    idea="Nobody at the other end has said anything. A model that is told so tries again, and "
    "again, on a connection that is dead.",
)
async def no_answer(who):
    await compare(who, "the process dies during the call", "nothing is there when we connect")
    await compare(who, "no answer comes, ever", "the answer is no JSON")


@TASK.part(
    "the server's no to the host",
    idea="The answer is whole, and about things that the model cannot change: the versions, what "
    "the client offers, a handler for questions. Whoever wrote the host can.",
)
async def a_no_to_the_host(who):
    await compare(who, "the result is of a type that nobody knows")
    await compare(who, "the server speaks only an older version")
    await compare(who, "the tool needs a capability that we lack")
    await compare(who, "the server asks the user something")


@TASK.part(
    "no harm was done",
    idea="A fault is not yet a failure. The first answer under an id is the answer, and what comes "
    "behind it finds nobody who waits.",
)
async def no_harm(who):
    await compare(who, "the same answer comes twice")


# -- what people write ----------------------------------------------------------------------------


@TASK.wrong("lets it choose better")
def an_error_is_an_error():
    who = {**as_they_run(), "the tool ran and says isError": "the caller"}
    return who


@TASK.wrong("chosen the tool and its arguments")
def a_missing_date_is_a_bug():
    who = {**as_they_run(), "the model left out the date": "the caller"}
    return who


@TASK.wrong("again, and again")
def the_model_shall_know_of_the_crash():
    who = {**as_they_run(), "the process dies during the call": "the model"}
    return who


@TASK.wrong("cannot change")
def a_refusal_is_read():
    who = {**as_they_run(), "the tool needs a capability that we lack": "the model"}
    return who


@TASK.wrong("A fault is not yet a failure")
def twice_is_malformed():
    who = {**as_they_run(), "the same answer comes twice": "the caller"}
    return who
