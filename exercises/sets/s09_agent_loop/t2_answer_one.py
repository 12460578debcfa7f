"""09.2: one call and its one result, on every path."""

import asyncio
from contextlib import suppress
from itertools import product

from exercises.machine import Task, doing, expect, refused_async, require
from mini_agent.blocks import result_block
from mini_agent.calls import Run, execute, marks, prepare, skip
from mini_agent.trace import Trace, following
from mini_agent.types import Approval, Tool, ToolCall, ToolResult, ToolSpec

TASK = Task(
    "09.2",
    "`answer_one`: one result, whatever happens",
    level="solid",
    minutes=15,
    section="`answer_one`",
    text="""
Write `answer_one(run, call, results)` without looking back. It puts the one `tool_result` of `call`
into the list `results`, whichever way the call goes, and lets through what was raised. Trace and
events can be left out.

You have `prepare(run, call)`: None, or the ToolResult that says why not; `execute(run, call)`: the
tool's ToolResult; `marks(failure)`: what to tell the model of this call, and of those after it;
`result_block(call, result)`. The first two are awaited, and may raise.

The check runs the 125 batches, five ways for each of three calls, and presses stop.
""",
    hints=(
        "Three paths lead to a result: it was not allowed to run, it ran, something was raised. "
        "Each must pass by `results.append` once.",
        "Keep the `try` around what may fail alone. An `append` inside of it, and another one in "
        "`except` or `finally`, may both run. And a cancelled call needs its result, too.",
        "`prepare` gives None or a result, and None is false: `or` joins it with `execute`. In "
        "`except BaseException`: append a ToolResult with the first of the two marks and is_error, "
        "then `raise` with nothing behind it. After the `try`: append the result.",
    ),
)


@TASK.solution
def append_on_both_paths():
    async def answer_one(run, call, results):
        ### BEGIN SOLUTION
        try:
            result = await prepare(run, call) or await execute(run, call)
        except BaseException as failure:
            told = ToolResult(marks(failure)[0], is_error=True)
            results.append(result_block(call, told))
            raise
        results.append(result_block(call, result))
        ### END SOLUTION

    return answer_one


@TASK.right
def append_in_finally():
    async def answer_one(run, call, results):
        told = None
        try:
            told = await prepare(run, call)
            if told is None:
                told = await execute(run, call)
        except (Exception, asyncio.CancelledError) as failure:
            told = ToolResult(content=marks(failure)[0], is_error=True)
            raise
        finally:
            results += [result_block(call, told)]

    return answer_one


# -- the check ------------------------------------------------------------------------------------


class ServiceDown(Exception):
    pass


DOWN = "db-7.internal refused the password 'hunter2'"


class Kitchen:
    """Five tools, one for each way that a call can go, and what ran."""

    ways = ("works", "says no", "raises", "is denied", "is unknown")

    def __init__(self):
        self.ran = []
        functions = {"works": self.works, "says no": self.says_no, "raises": self.raises}
        functions |= {"is denied": self.works, "hangs": self.hangs}
        tools = {name: Tool(ToolSpec(name, ""), f) for name, f in functions.items()}
        self.run = Run(tools, self.hook, None, Trace())
        self.at_work = asyncio.Event()

    def hook(self, call):
        return Approval(call.name != "is denied", "not before breakfast")

    async def works(self, arguments):
        self.ran.append("works")
        return ToolResult("09:00 Team standup")

    async def says_no(self, arguments):
        self.ran.append("says no")
        return ToolResult("that is no day", is_error=True)

    async def raises(self, arguments):
        self.ran.append("raises")
        raise ServiceDown(DOWN)

    async def hangs(self, arguments):
        self.at_work.set()
        await asyncio.Event().wait()


async def batch(answer_one, kitchen, calls, results):
    """What the loop does with a turn's calls."""
    try:
        for call in calls:
            with following(call.id):
                await answer_one(kitchen.run, call, results)
    except BaseException as failure:
        skip(kitchen.run, calls[len(results) :], results, marks(failure)[1])
        raise


async def one(answer_one, name):
    """The kitchen after one call, and the blocks that came of it."""
    kitchen, results = Kitchen(), []
    with doing(f"the call {name}"), suppress(ServiceDown):
        await answer_one(kitchen.run, ToolCall("t1", name, {}), results)
    came = [block for block in results if isinstance(block, dict)]
    require(came == results, "blocks in the list", came=results, when=f"the call {name}")
    return kitchen, came


async def told_of(answer_one, name):
    """What the model reads of one call, and whether it is an error."""
    _, results = await one(answer_one, name)
    require(results, "a result", came="none", when=f"the call {name}")
    return results[0].get("content"), results[0].get("is_error")


@TASK.part(
    "every batch has its three results",
    idea="Each tool_use must have one tool_result, once and in order, in the next message. One too "
    "few, or one too many, and the model's service refuses this conversation for ever.",
)
async def three_results(answer_one):
    for names in product(Kitchen.ways, repeat=3):
        calls, results = [ToolCall(f"t{n}", name, {}) for n, name in enumerate(names)], []
        with doing(f"three calls: {', '.join(names)}"), suppress(ServiceDown):
            await batch(answer_one, Kitchen(), calls, results)
        came = [b.get("tool_use_id") if isinstance(b, dict) else b for b in results]
        expect(came, ["t0", "t1", "t2"], when=f"three calls: {', '.join(names)}")


@TASK.part(
    "the model reads what the tool said",
    idea="A result is the tool's, to the letter, and so is its is_error: the loop neither softens "
    "a no nor makes one up.",
)
async def what_the_tool_said(answer_one):
    for name, wanted in (
        ("works", ("09:00 Team standup", False)),
        ("says no", ("that is no day", True)),
    ):
        expect(await told_of(answer_one, name), wanted, when=f"the call {name}")


@TASK.part(
    "what may not run does not run",
    idea="A denied call and a call to no tool have a result too: it says why not. The tool itself "
    "is never reached, and the loop goes on.",
)
async def does_not_run(answer_one):
    for name in ("is denied", "is unknown"):
        kitchen, results = await one(answer_one, name)
        expect(kitchen.ran, [], when=f"the call {name}: the tools that ran")
        came = [block.get("is_error") for block in results]
        require(all(came), "a result with is_error", came=results, when=f"the call {name}")


@TASK.part(
    "what was raised goes on, the same object",
    idea="The conversation is whole, and the caller must hear of it all the same: with class, "
    "attributes and traceback. Swallowed here, a dead service looks like a bad day of the model.",
)
async def goes_on(answer_one):
    kitchen, boom = Kitchen(), ServiceDown(DOWN)

    async def raises(arguments):
        raise boom

    run = Run({"raises": Tool(ToolSpec("raises", ""), raises)}, None, None, kitchen.run.trace)
    waiting = answer_one(run, ToolCall("t1", "raises", {}), [])
    error = await refused_async(ServiceDown, waiting, when="the tool raises")
    require(error is boom, "the same exception object", came="another one", when="the tool raises")


@TASK.part(
    "the model reads no details",
    idea="An exception's text is the host's business: here it holds a password. A fixed sentence "
    "takes its place, for the model and for whoever reads the session file.",
)
async def no_details(answer_one):
    wanted = (marks(ServiceDown(DOWN))[0], True)
    expect(await told_of(answer_one, "raises"), wanted, when="the tool raises")


@TASK.part(
    "a cancelled call has its result",
    idea="CancelledError is no Exception. The user pressed stop, and tomorrow goes on in the same "
    "session: with a hole in it, no further request is accepted.",
)
async def a_cancelled_call(answer_one):
    kitchen, results, when = Kitchen(), [], "it is cancelled while the tool is at work"
    calls = [ToolCall("t0", "hangs", {}), ToolCall("t1", "works", {})]
    task = asyncio.create_task(batch(answer_one, kitchen, calls, results))
    at_work = asyncio.create_task(kitchen.at_work.wait())
    await asyncio.wait([task, at_work], return_when=asyncio.FIRST_COMPLETED)
    task.cancel()
    await asyncio.wait([task])
    with doing(when), suppress(asyncio.CancelledError):
        task.result()
    require(task.cancelled(), "a cancel that goes on", came="none", when=when)
    came = [block.get("content") for block in results if isinstance(block, dict)]
    expect(came, list(marks(asyncio.CancelledError())), when=when)


# -- what people write ----------------------------------------------------------------------------


def answering(**other):
    """The solution with one thing changed."""
    kinds = other.get("kinds", BaseException)

    async def answer_one(run, call, results):
        try:
            result = await prepare(run, call)
            if result is not None and other.get("forgets"):
                return
            result = result or await execute(run, call)
        except kinds as failure:
            told = str(failure) if other.get("tells") else marks(failure)[0]
            told = marks(failure)[0] if isinstance(failure, asyncio.CancelledError) else told
            results.append(result_block(call, ToolResult(told, is_error=True)))
            if other.get("swallows") and isinstance(failure, Exception):
                return
            raise
        if other.get("softens") and call.name in run.tools:
            result = ToolResult(result.content, is_error=result.content.startswith("denied"))
        results.append(result_block(call, result))

    return answer_one


@TASK.wrong("One too few")
def forgets_what_was_denied():
    answer_one = answering(forgets=True)
    return answer_one


@TASK.wrong("one too many")
def once_more_in_finally():
    async def answer_one(run, call, results):
        result = ToolResult("no result", is_error=True)
        try:
            result = await prepare(run, call) or await execute(run, call)
        except BaseException as failure:
            results.append(result_block(call, ToolResult(marks(failure)[0], is_error=True)))
            raise
        finally:
            results.append(result_block(call, result))

    return answer_one


@TASK.wrong("neither softens a no")
def every_result_is_good():
    answer_one = answering(softens=True)
    return answer_one


@TASK.wrong("never reached")
def nobody_is_asked():
    async def answer_one(run, call, results):
        if call.name not in run.tools:
            no = ToolResult(f"there is no tool {call.name}", is_error=True)
            results.append(result_block(call, no))
            return
        await append_on_both_paths()(Run(run.tools, None, None, run.trace), call, results)

    return answer_one


@TASK.wrong("Swallowed here")
def swallowed():
    answer_one = answering(swallows=True)
    return answer_one


@TASK.wrong("holds a password")
def the_text_of_the_exception():
    answer_one = answering(tells=True)
    return answer_one


@TASK.wrong("no Exception")
def except_exception():
    answer_one = answering(kinds=Exception)
    return answer_one
