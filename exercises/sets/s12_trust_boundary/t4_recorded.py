"""12.4: mend a log that is written when all is over."""

import asyncio
from contextlib import suppress
from dataclasses import replace

from exercises.machine import Task, Unmet, doing, expect, refused_async, require
from mini_agent.audit import AuditRecord
from mini_agent.errors import AuditError, McpError, TransportClosed
from mini_agent.types import ToolCall, ToolResult

TASK = Task(
    "12.4",
    "Mend it: a log that is written when all is over",
    level="demanding",
    minutes=30,
    section="What was recorded?",
    text="""
`recorded(call, send, log)` makes a call and writes down that it did, as long as all goes well. Mend
it, so that after any end somebody can tell what may have happened. `log.intent(record)` and
`log.outcome(record)` keep a record before they return; each raises AuditError when it cannot.

- The intent is kept before the call is sent. Where it cannot be kept, nothing is sent, and the
  caller gets the AuditError.
- Each intent that this program lives to see end has one outcome: `"ok"`, `"tool error"`, or the
  class name of what `send` raised, a cancel included.
- What `send` returns or raises reaches the caller, the same object. An outcome that cannot be kept
  hides no failure of the call; after a call that went well, the caller gets the AuditError.
""",
    hints=(
        "Draw the ends of a call: it returns, it returns a tool error, it raises, it is cancelled. "
        "For each write down the log, then cut the program off at every line and read it again.",
        "A cancel is no Exception. An outcome that is written inside the `try` is taken for a "
        "failure of the call when the log fails. And an exception on its way up must not be "
        "replaced by one from the log: `except` and `raise` may have a `try` between them.",
        "Intent first, in no `try`. Around `send` alone: `except BaseException`, in which the "
        "outcome is written with AuditError suppressed or noted, then a bare `raise`. After it, "
        "the outcome of the result, in no `try`, then return.",
    ),
)


@TASK.stub
def when_all_is_over():
    async def recorded(call, send, log):
        record = AuditRecord(call=call.id, tool=call.name, arguments=call.input)
        result = await send(call.name, call.input)
        log.intent(record)
        log.outcome(replace(record, outcome="ok"))
        return result

    return recorded


@TASK.solution
def around_the_send_alone():
    async def recorded(call, send, log):
        record = AuditRecord(call=call.id, tool=call.name, arguments=call.input)
        log.intent(record)
        try:
            result = await send(call.name, call.input)
        except BaseException as failure:
            try:
                log.outcome(replace(record, outcome=type(failure).__name__))
            except AuditError as lost:
                failure.add_note(f"its outcome could not be kept: {lost}")
            raise
        log.outcome(replace(record, outcome="tool error" if result.is_error else "ok"))
        return result

    return recorded


@TASK.right
def with_a_task_and_else():
    import contextlib

    async def recorded(call, send, log):
        facts = {"call": call.id, "tool": call.name, "arguments": dict(call.input)}
        log.intent(AuditRecord(**facts))
        words, lost = {False: "ok", True: "tool error"}, contextlib.nullcontext()
        try:
            result = await send(call.name, call.input)
            word = words[result.is_error]
        except BaseException as failure:
            word, lost = type(failure).__name__, contextlib.suppress(AuditError)
            raise
        finally:
            with lost:
                log.outcome(AuditRecord(**facts, outcome=word))
        return result

    return recorded


# -- the check ------------------------------------------------------------------------------------

CALL = ("calendar_delete", {"id": "apt-3"})
OK, NO = ToolResult("Deleted."), ToolResult("There is no apt-3.", is_error=True)


class Scene:
    """A log and a server in one list: what happened, in order. One that ends in None never ends."""

    def __init__(self, recorded, ends, lost=""):
        self.recorded, self.ends, self.lost = recorded, ends, lost
        self.happened = []
        self.at_work = asyncio.Event()

    def intent(self, record):
        self.keep("intent", record, "")

    def outcome(self, record):
        self.keep("outcome", record, getattr(record, "outcome", ""))

    def keep(self, kind, record, word):
        require(isinstance(record, AuditRecord), "an AuditRecord", came=record)
        self.happened.append(f"{kind} {word}".strip())
        expect((record.call, record.tool), ("t1", CALL[0]), when=f"the {kind} is written")
        expect(record.arguments, CALL[1], when=f"the {kind} is written: its arguments")
        if kind == self.lost:
            raise AuditError(f"the {kind} could not be written")

    async def send(self, name, arguments):
        self.happened.append("sent")
        self.at_work.set()
        await (asyncio.Event().wait() if self.ends is None else asyncio.sleep(0))
        if isinstance(self.ends, BaseException):
            raise self.ends
        return self.ends

    def run(self):
        return self.recorded(ToolCall("t1", *CALL), self.send, self)


async def raised(scene, when):
    """What the caller gets as an exception. The scene's own must come through as it is."""
    error = await refused_async(Exception, scene.run(), when=when)
    if isinstance(error, Unmet):
        raise error
    return error


@TASK.part(
    "no intent, no call",
    idea="A log that is written when the call has ended knows nothing of the call during which the "
    "program died. So the intent comes first, and who cannot write down what it does must not do "
    "it.",
)
async def no_intent_no_call(recorded):
    scene = Scene(recorded, OK)
    with doing("a call goes well"):
        came = await scene.run()
        expect(scene.happened, ["intent", "sent", "outcome ok"])
        require(came is OK, "the result of send", came=came)
    scene = Scene(recorded, OK, lost="intent")
    when = "the intent cannot be kept"
    error = await raised(scene, when)
    require(isinstance(error, AuditError), "AuditError", came=error, when=when)
    require("sent" not in scene.happened, "nothing sent", came="it was sent", when=when)


@TASK.part(
    "a tool error is no success",
    idea="isError comes as a result, so nothing was raised, and yet nothing was deleted. In a "
    "month somebody reads that it went well.",
)
async def a_tool_error(recorded):
    scene = Scene(recorded, NO)
    with doing("the tool says no"):
        came = await scene.run()
        require(came is NO, "the result of send", came=came)
        expect(scene.happened[2:], ["outcome tool error"])


@TASK.part(
    "what is raised is written down, and goes on",
    idea="The outcome is for the log, the exception is for the caller: the same object, with its "
    "class, attributes and cause. A tool error in its place hides a dead connection. And send may "
    "raise anything: whatever it is, the call has ended.",
)
async def what_is_raised(recorded):
    for broken in (TransportClosed("it broke", exit_code=3), KeyError("id")):
        scene, name = Scene(recorded, broken), type(broken).__name__
        error = await raised(scene, f"send raises {name}")
        require(error is broken, "the same exception object", came=error, when=f"{name} is raised")
        expect(scene.happened[2:], [f"outcome {name}"], when=f"send raises {name}")


@TASK.part(
    "a cancelled call has its outcome",
    idea="CancelledError is no Exception. A person pressed stop, the call may have acted, and the "
    "log says only that it began.",
)
async def cancelled(recorded):
    scene = Scene(recorded, None)
    task, when = asyncio.create_task(scene.run()), "the call is cancelled while it is under way"
    at_work = asyncio.create_task(scene.at_work.wait())
    await asyncio.wait([task, at_work], return_when=asyncio.FIRST_COMPLETED)
    task.cancel()
    await asyncio.wait([task])
    with doing(when), suppress(asyncio.CancelledError):
        task.result()
    require(task.cancelled(), "a cancel that goes on", came="none", when=when)
    expect(scene.happened[2:], ["outcome CancelledError"], when=when)


@TASK.part(
    "a lost outcome hides no failure",
    idea="Two things went wrong, and the caller can hear of one. The call that broke may have "
    "acted: that comes first, and what the log could not do is a note on it.",
)
async def hides_no_failure(recorded):
    broken = TransportClosed("it broke")
    scene = Scene(recorded, broken, lost="outcome")
    when = "send raises TransportClosed, and the outcome cannot be kept"
    error = await raised(scene, when)
    require(error is broken, "the TransportClosed of send", came=error, when=when)


@TASK.part(
    "a lost outcome is heard of",
    idea="A log that drops records in silence is worse than none: people rely on it. And the call "
    "went well: it has no second outcome that says the log's failure was its own.",
)
async def heard_of(recorded):
    scene = Scene(recorded, OK, lost="outcome")
    when = "the call went well, and its outcome cannot be kept"
    error = await raised(scene, when)
    require(isinstance(error, AuditError), "AuditError", came=error, when=when)
    came = [what for what in scene.happened if what.startswith("outcome")]
    expect(came, ["outcome ok"], when=when)


# -- what people write ----------------------------------------------------------------------------


def without(**other):
    """The solution with one of its rules changed."""
    kinds = other.get("kinds", BaseException)

    async def recorded(call, send, log):
        record = AuditRecord(call=call.id, tool=call.name, arguments=call.input)
        try:
            log.intent(record)
        except AuditError:
            if not other.get("send_anyway"):
                raise
        try:
            result = await send(call.name, call.input)
        except kinds as failure:
            try:
                log.outcome(replace(record, outcome=type(failure).__name__))
            except AuditError:
                if other.get("loud"):
                    raise
            if other.get("swallow") and isinstance(failure, Exception):
                return ToolResult(str(failure), is_error=True)
            raise
        word = "tool error" if result.is_error and not other.get("all_is_well") else "ok"
        try:
            log.outcome(replace(record, outcome=word))
        except AuditError:
            if not other.get("silent"):
                raise
        return result

    return recorded


@TASK.wrong("during which the program died")
def both_afterwards():
    async def recorded(call, send, log):
        record = AuditRecord(call=call.id, tool=call.name, arguments=call.input)
        word = "CancelledError"
        try:
            result = await send(call.name, call.input)
            word = "tool error" if result.is_error else "ok"
            return result
        except Exception as failure:
            word = type(failure).__name__
            raise
        finally:
            log.intent(record)
            log.outcome(replace(record, outcome=word))

    return recorded


@TASK.wrong("must not do it")
def sent_anyway():
    recorded = without(send_anyway=True)
    return recorded


@TASK.wrong("it went well")
def every_result_is_ok():
    recorded = without(all_is_well=True)
    return recorded


@TASK.wrong("hides a dead connection")
def made_a_tool_error():
    recorded = without(swallow=True)
    return recorded


@TASK.wrong("raise anything")
def the_errors_that_we_know():
    recorded = without(kinds=(McpError, asyncio.CancelledError))
    return recorded


@TASK.wrong("no Exception")
def except_exception():
    recorded = without(kinds=Exception)
    return recorded


@TASK.wrong("a note on it")
def the_log_speaks_louder():
    recorded = without(loud=True)
    return recorded


@TASK.wrong("drops records in silence")
def lost_in_silence():
    recorded = without(silent=True)
    return recorded


@TASK.wrong("no second outcome")
def the_outcome_inside_the_try():
    async def recorded(call, send, log):
        record = AuditRecord(call=call.id, tool=call.name, arguments=call.input)
        log.intent(record)
        try:
            result = await send(call.name, call.input)
            log.outcome(replace(record, outcome="tool error" if result.is_error else "ok"))
        except BaseException as failure:
            try:
                log.outcome(replace(record, outcome=type(failure).__name__))
            except AuditError:
                pass
            raise
        return result

    return recorded
