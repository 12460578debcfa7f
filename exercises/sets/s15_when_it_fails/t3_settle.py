"""15.3: a write whose answer is lost, settled without a second one."""

import json

from exercises.machine import Task, expect, refused_async
from mini_agent.errors import (
    AuthorizationError,
    HttpStatusError,
    McpError,
    RequestTimeout,
    TransportClosed,
)
from mini_agent.hosting.attempts import service_error
from mini_agent.types import ToolResult

TASK = Task(
    "15.3",
    "Settle it",
    level="demanding",
    minutes=30,
    section="Three times silence: look it up",
    text="""
Write `settle(write, look_up, pause)`. `await write()` asks for a draft, under the same key each
time: it returns a ToolResult or raises an McpError. `await look_up()` reads what is under the key:
a draft, None, or an McpError. `await pause()` waits. The answer is a word:

- `"made"` or `"refused"` when an answer of `write` says so. That settles it, and nothing is looked
  up. A `service_error` that is `retryable` is no such answer.
- What may have acted leaves it open: an exception whose `may_have_acted` is true, or a retryable
  error. Then look it up. A draft: `"made"`. None, or a look-up that fails, proves nothing: pause,
  and write again, three times in all. Still open after the last look-up: `"unknown"`.
- An exception that cannot have acted is raised, at once. But `"unknown"` where an earlier attempt
  was left open.
""",
    hints=(
        "Write down what is known after each attempt: it is there, it is not there, it may be "
        "there. Which of the three can one more exception take back?",
        "`may_have_acted` speaks of one request and not of the operation: a 401 on the second try "
        "says nothing of the first. And the key that is in use by another draft (409) is an "
        "answer: what a look-up finds there is not yours.",
        "A loop of three. In `try` the write; in `except`, one that cannot have acted is raised in "
        "the first round and is unknown in a later one. A result without error is made, one that "
        "is not retryable is refused. What is left: look up with its own `try`; pause, except "
        "after the third.",
    ),
)


@TASK.solution
def three_rounds():
    async def settle(write, look_up, pause):
        ### BEGIN SOLUTION
        for attempt in (1, 2, 3):
            try:
                result = await write()
            except McpError as error:
                if not error.may_have_acted:
                    if attempt > 1:
                        return "unknown"
                    raise
            else:
                failure = service_error(result)
                if not result.is_error:
                    return "made"
                if failure is None or not failure.retryable:
                    return "refused"
            try:
                if await look_up() is not None:
                    return "made"
            except McpError:
                pass  # it is a read, and decides nothing by failing
            if attempt < 3:
                await pause()
        return "unknown"
        ### END SOLUTION

    return settle


@TASK.right
def by_what_is_known():
    from contextlib import suppress

    async def settle(write, look_up, pause):
        async def known(first):
            try:
                result = await write()
            except McpError as error:
                if error.may_have_acted:
                    return ""
                if first:
                    raise
                return "unknown"
            match result:
                case ToolResult(is_error=False):
                    return "made"
                case ToolResult() if (failure := service_error(result)) and failure.retryable:
                    return ""
            return "refused"

        left = 3
        while left:
            if word := await known(left == 3):
                return word
            left -= 1
            with suppress(McpError):
                if await look_up():
                    return "made"
            await (pause() if left else nothing())
        return "unknown"

    async def nothing(): ...

    return settle


# -- the check ------------------------------------------------------------------------------------

MADE = ToolResult('{"draft_id": "draft_1"}')
PLAIN = ToolResult("There is no such currency.", is_error=True)
THERE = {"draft_id": "draft_1"}


def failed(code, retryable):
    error = {"code": code, "message": "No.", "retryable": retryable}
    return ToolResult(json.dumps({"error": error}), is_error=True)


def cut():
    return TransportClosed("cut")


class Desk:
    """Gives the next of its answers to each write and look-up; the last one stays."""

    def __init__(self, writes, looks=(None,)):
        self.writes, self.looks, self.happened = list(writes), list(looks), []

    def next_of(self, what, answers):
        self.happened.append(what)
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def write(self):
        if self.happened.count("write") == 9:
            raise AssertionError("written nine times, and no end")
        return self.next_of("write", self.writes)

    async def look_up(self):
        return self.next_of("look up", self.looks)

    async def pause(self):
        self.happened.append("pause")

    def run(self, settle):
        return settle(self.write, self.look_up, self.pause)


async def settled(settle, word, *, when, steps=None, writes, looks=(None,)):
    desk = Desk(writes, looks)
    came = await desk.run(settle)
    expect(came, word, when=when)
    if steps is not None:
        expect(desk.happened, steps, when=f"{when}: what happened")


@TASK.part(
    "an answer settles it",
    idea="Whoever owns the drafts has spoken. A no that is not retryable stays a no, also as a "
    "plain text: asked again, it costs time and says the same.",
)
async def an_answer(settle):
    await settled(settle, "made", when="the draft is made", steps=["write"], writes=[MADE])
    no = [failed("NOT_REFUNDABLE", False)]
    await settled(settle, "refused", when="it is refused", steps=["write"], writes=no)
    await settled(settle, "refused", when="a plain text says no", steps=["write"], writes=[PLAIN])


@TASK.part(
    "a key that another draft has",
    idea="Under that key lies somebody else's draft, so a look-up finds one and it is not ours. "
    "The conflict is the host's own failure, and no new key mends it: a person has to look.",
)
async def a_conflict(settle):
    conflict = [failed("OPERATION_KEY_CONFLICT", False)]
    when = "the key is in use by another draft, which a look-up would find"
    await settled(settle, "refused", when=when, writes=conflict, looks=[THERE])


@TASK.part(
    "a lost answer is looked up",
    idea="The draft may be there. To look is a read, and answers more than a second write: whether "
    "it was the connection or the service that lost the answer is all the same.",
)
async def looked_up(settle):
    steps = ["write", "look up"]
    for lost in (cut(), RequestTimeout("late", seconds=30.0), HttpStatusError("", status=502)):
        when = f"{type(lost).__name__}, and the draft is there"
        await settled(settle, "made", when=when, steps=steps, writes=[lost, MADE], looks=[THERE])
    writes = [failed("OUTCOME_UNKNOWN", True), MADE]
    when = "OUTCOME_UNKNOWN, retryable, and the draft is there"
    await settled(settle, "made", when=when, steps=steps, writes=writes, looks=[THERE])


@TASK.part(
    "nothing there proves nothing, three times",
    idea="The request may still be on its way. Under the same key it is harmless to write again, "
    "after a pause. A bound holds, whatever happens, and after it the honest word is unknown: "
    "refused would let somebody draft the same refund by hand.",
)
async def written_again(settle):
    steps = ["write", "look up", "pause", "write"]
    when = "the first answer is lost, nothing is there, the second arrives"
    await settled(settle, "made", when=when, steps=steps, writes=[cut(), MADE])
    steps = ["write", "look up", "pause"] * 2 + ["write", "look up"]
    await settled(settle, "unknown", when="every answer is lost", steps=steps, writes=[cut()])


@TASK.part(
    "the last look counts",
    idea="The third write may have been the one that arrived. Who stops after it without looking "
    "calls unknown what could be known.",
)
async def the_last_look(settle):
    when = "every answer is lost, and the third look-up finds the draft"
    looks = [None, None, THERE]
    await settled(settle, "made", when=when, writes=[cut()], looks=looks)


@TASK.part(
    "a look-up that fails decides nothing",
    idea="It is a read, on the same bad connection. Its failure says nothing about the draft, and "
    "raised, it would hide that a write is open.",
)
async def a_failed_look(settle):
    when = "the first answer is lost, and so is that of the look-up; the second write succeeds"
    await settled(settle, "made", when=when, writes=[cut(), MADE], looks=[cut(), THERE])


@TASK.part(
    "what cannot have acted is raised",
    idea="Nothing has happened, so there is nothing to settle. A 401 is for the part of the host "
    "that can get a token, and no word of the three would tell it.",
)
async def cannot_have_acted(settle):
    desk = Desk([AuthorizationError("no token", status=401)], [THERE])
    when = "the first write is refused with 401"
    await refused_async(AuthorizationError, desk.run(settle), when=when)
    expect(desk.happened, ["write"], when=f"{when}: what happened")


@TASK.part(
    "and takes nothing back",
    idea="may_have_acted speaks of one request. The one before it is still open, and a caller who "
    "gets an exception that cannot have acted would believe that nothing did.",
)
async def takes_nothing_back(settle):
    writes = [cut(), AuthorizationError("expired", status=401)]
    when = "the first answer is lost, nothing is there, the second write is refused with 401"
    await settled(settle, "unknown", when=when, writes=writes)


# -- what people write ----------------------------------------------------------------------------


def variant(
    *, looks_at_refusals=False, plain="refused", rounds=3, last="unknown", last_look=True,
    stop_at_none=False, suppressed=True, raises=True, later="unknown",
    looks_at_retryable=True,
):  # fmt: skip
    """The solution with one of its rules left out or turned."""

    async def settle(write, look_up, pause):
        for attempt in range(1, rounds + 1):
            look = last_look or attempt < rounds
            try:
                result = await write()
            except McpError as error:
                if raises and not error.may_have_acted:
                    if attempt > 1 and later == "unknown":
                        return "unknown"
                    raise
            else:
                failure = service_error(result)
                if not result.is_error:
                    return "made"
                if failure is None:
                    return plain
                if not failure.retryable:
                    conflict = looks_at_refusals and "CONFLICT" in failure.code
                    return "made" if conflict and await look_up() else "refused"
                look = look and looks_at_retryable
            try:
                if look and await look_up() is not None:
                    return "made"
            except McpError:
                if not suppressed:
                    raise
            if stop_at_none:
                return "refused"
            if attempt < rounds:
                await pause()
        return last

    return settle


@TASK.wrong("says the same")
def a_plain_text_is_open():
    settle = variant(plain="unknown")
    return settle


@TASK.wrong("it is not ours")
def what_is_under_the_key_is_ours():
    settle = variant(looks_at_refusals=True)
    return settle


@TASK.wrong("answers more than a second write")
def retryable_is_written_again():
    settle = variant(looks_at_retryable=False)
    return settle


@TASK.wrong("may still be on its way")
def nothing_there_is_a_no():
    settle = variant(stop_at_none=True)
    return settle


@TASK.wrong("the honest word is unknown")
def three_failures_are_a_no():
    settle = variant(last="refused")
    return settle


@TASK.wrong("A bound holds")
def until_it_works():
    settle = variant(rounds=8)
    return settle


@TASK.wrong("what could be known")
def no_look_after_the_last():
    async def settle(write, look_up, pause):
        looks = []

        async def looked():
            looks.append(1)
            found = await look_up()
            return None if len(looks) == 3 else found

        return await variant()(write, looked, pause)

    return settle


@TASK.wrong("on the same bad connection")
def a_failed_look_is_raised():
    settle = variant(suppressed=False)
    return settle


@TASK.wrong("nothing to settle")
def every_exception_is_open():
    async def settle(write, look_up, pause):
        try:
            return await variant()(write, look_up, pause)
        except McpError:
            return "unknown"

    return settle


@TASK.wrong("speaks of one request")
def raised_whenever_it_comes():
    settle = variant(later="raised")
    return settle
