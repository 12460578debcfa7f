"""09.1: eleven things that can happen in a turn, and how the run goes on."""

from exercises.machine import Task, expect
from mini_agent.agent import run_agent
from mini_agent.model_client import ScriptedModel
from mini_agent.types import Approval, Done, Text, Tool, ToolCall, ToolResult, ToolSpec

TASK = Task(
    "09.1",
    "Eleven things that happen to a run",
    level="warm-up",
    minutes=8,
    section="Every way through it",
    text="""
The model asks for `calendar_query`, and then one of these happens. Say for each how it goes on:

| write | when |
|---|---|
| `"goes on"` | the model reads what happened, and is asked again |
| `"raises"` | `run_agent` raises, whoever called it gets an exception |
| `"returns"` | `run_agent` returns, and the model is not asked again |

The check runs them all.
""",
    hints=(
        "For each, ask who could do something about it: the model, by asking otherwise, or whoever "
        "wrote the host?",
        "A hook that fails says neither yes nor no. A model cannot mend a hook, nor a tool that "
        "returns something else than a ToolResult.",
        "Goes on: three. Returns: two, one of them because a turn may be half, one because it was "
        "the last. Six raise.",
    ),
)


@TASK.stub
def nothing_said_yet():
    run = {
        "the tool returns is_error": ...,
        "the tool raises ValueError": ...,
        "the tool returns a text": ...,
        "there is no tool of that name": ...,
        "the hook says no": ...,
        "the hook says nothing: it returns None": ...,
        "the hook returns True": ...,
        "the hook raises KeyError": ...,
        "the model's service fails in the next turn": ...,
        "the turn was cut off at max_tokens": ...,
        "it was the last turn that max_turns allows": ...,
    }
    return run


@TASK.solution
def as_they_run():
    run = {
        "the tool returns is_error": "goes on",
        "the tool raises ValueError": "raises",
        "the tool returns a text": "raises",
        "there is no tool of that name": "goes on",
        "the hook says no": "goes on",
        "the hook says nothing: it returns None": "raises",
        "the hook returns True": "raises",
        "the hook raises KeyError": "raises",
        "the model's service fails in the next turn": "raises",
        "the turn was cut off at max_tokens": "returns",
        "it was the last turn that max_turns allows": "returns",
    }
    return run


@TASK.right
def by_where_it_goes():
    goes_on = ["the tool returns is_error", "there is no tool of that name", "the hook says no"]
    returns = [name for name in as_they_run() if "turn " in name and "next" not in name]
    run = dict.fromkeys(as_they_run(), "raises")
    run |= dict.fromkeys(goes_on, "goes on") | dict.fromkeys(returns, "returns")
    return run


# -- the check ------------------------------------------------------------------------------------


async def works(arguments):
    return ToolResult("nothing")


async def says_no(arguments):
    return ToolResult("that is no day", is_error=True)


async def raises(arguments):
    raise ValueError("no day")


async def returns_a_text(arguments):
    return "nothing"


def failing_hook(call):
    raise KeyError(call.name)


CALL = ToolCall("t1", "calendar_query", {"date": "2026-08-03"})
SAID = [Text("Monday is free.")]


def situation(name):
    """The tool, the model's turns, and what else run_agent is given."""
    match name:
        case "the tool returns is_error":
            return says_no, [[CALL], SAID], {}
        case "the tool raises ValueError":
            return raises, [[CALL], SAID], {}
        case "the tool returns a text":
            return returns_a_text, [[CALL], SAID], {}
        case "there is no tool of that name":
            return works, [[ToolCall("t1", "calendar_find", {})], SAID], {}
        case "the hook says no":
            return works, [[CALL], SAID], {"before_tool_call": lambda call: Approval(False)}
        case "the hook says nothing: it returns None":
            return works, [[CALL], SAID], {"before_tool_call": lambda call: None}
        case "the hook returns True":
            return works, [[CALL], SAID], {"before_tool_call": lambda call: True}
        case "the hook raises KeyError":
            return works, [[CALL], SAID], {"before_tool_call": failing_hook}
        case "the model's service fails in the next turn":
            return works, [[CALL], [OSError("no answer")]], {}
        case "the turn was cut off at max_tokens":
            return works, [[CALL, Done("max_tokens")], SAID], {}
        case "it was the last turn that max_turns allows":
            return works, [[CALL], SAID], {"max_turns": 1}
    raise AssertionError(name)


async def how_it_goes(name):
    function, turns, options = situation(name)
    model = ScriptedModel(turns)
    tool = Tool(ToolSpec("calendar_query", "The appointments of a day."), function)
    try:
        await run_agent("Is Monday free?", model=model, tools=[tool], **options)
    except Exception:
        return "raises"
    return "goes on" if len(model.requests) > 1 else "returns"


async def compare(run, *names):
    for name in names:
        expect(run.get(name), await how_it_goes(name), when=name)


@TASK.part(
    "a no is for the model",
    idea="The model chose the tool and its arguments, so only the model can choose others. It "
    "reads why not, and the loop goes on. Stopped here, a slip of the model ends the program.",
)
async def for_the_model(run):
    await compare(run, "the tool returns is_error", "there is no tool of that name")
    await compare(run, "the hook says no")


@TASK.part(
    "a failure is for the caller",
    idea="An exception says that the host is at fault, or something that it relies on. A model can "
    "do nothing about a broken tool; whoever wrote it must hear of it.",
)
async def for_the_caller(run):
    await compare(run, "the tool raises ValueError", "the tool returns a text")
    await compare(run, "the model's service fails in the next turn")


@TASK.part(
    "a hook that fails has not said no",
    idea="It has said nothing. It must not approve: True and None are no Approval. And it is no "
    "denial either: a model that reads a denial tries something else, while the guard at the door "
    "is broken and nobody knows.",
)
async def a_hook_that_fails(run):
    await compare(run, "the hook says nothing: it returns None", "the hook returns True")
    await compare(run, "the hook raises KeyError")


@TASK.part(
    "a run that is over returns",
    idea="Nothing failed, so nothing is raised: stop_reason says why it ended. The calls have "
    "their results all the same, or the conversation could not go on tomorrow.",
)
async def it_is_over(run):
    await compare(run, "the turn was cut off at max_tokens")
    await compare(run, "it was the last turn that max_turns allows")


# -- what people write ----------------------------------------------------------------------------


@TASK.wrong("a slip of the model")
def an_unknown_tool_ends_the_run():
    run = {**as_they_run(), "there is no tool of that name": "raises"}
    return run


@TASK.wrong("can do nothing about a broken tool")
def every_failure_is_told_to_the_model():
    run = {**as_they_run(), "the tool raises ValueError": "goes on"}
    return run


@TASK.wrong("True and None are no Approval")
def true_is_a_yes():
    run = {**as_they_run(), "the hook returns True": "goes on"}
    return run


@TASK.wrong("no denial either")
def a_hook_that_raises_denies():
    run = {**as_they_run(), "the hook raises KeyError": "goes on"}
    return run


@TASK.wrong("nothing is raised")
def the_limit_is_an_error():
    run = {**as_they_run(), "it was the last turn that max_turns allows": "raises"}
    return run


@TASK.wrong("Nothing failed")
def half_a_turn_is_asked_again():
    run = {**as_they_run(), "the turn was cut off at max_tokens": "goes on"}
    return run
