"""04.3: mend what matches answers by order."""

import asyncio

from exercises.machine import Task, doing, expect, refused_async, require
from mini_agent import draw
from mini_agent.errors import TransportClosed
from mini_agent.trace import Trace

TASK = Task(
    "04.3",
    "Mend it: answers matched by order",
    level="demanding",
    minutes=30,
    section="`InFlight`: which answer belongs to whom",
    text="""
`Answers` sits between callers and one pipe. `ask` writes a request and waits for its answer; the
reader calls `take` with each message that comes in, and `end` once, when the process is gone. It
works as long as every server answers in order. Mend it.

- Each caller gets the answer to its own request, whatever comes in between, twice, late or unasked.
- `take` never raises: nobody would read on.
- After `end(make_error)` every caller that waits gets an exception from `make_error()`, and so does
  everyone who asks later.
""",
    hints=(
        "Write down every message that `take` may get, and for each who waits for it: an answer, "
        "a notification, a question of the server, an answer to nobody, the same answer again.",
        'A dict from the id to the future. The ids 1 and "1" are two keys of it. A message with a '
        "`method` is never an answer. A caller may be gone: its future is cancelled, then.",
        "In `ask`: register before `write`, remove in `finally`. In `take`: return for a message "
        "with a `method`, `pop(id, None)`, set the result only if the future is not done. In "
        "`end`: keep `make_error`, give each future one of its own, and let `ask` raise one too.",
    ),
)


@TASK.stub
def by_order():
    class Answers:
        def __init__(self, write):
            self.write = write  # takes one message
            self.waiting = []

        async def ask(self, message):
            future = asyncio.get_running_loop().create_future()
            self.waiting.append(future)
            self.write(message)
            return await future

        def take(self, message):
            self.waiting.pop(0).set_result(message)

        def end(self, make_error):
            error = make_error()
            for future in self.waiting:
                future.set_exception(error)

    return Answers


@TASK.solution
def by_id():
    class Answers:
        def __init__(self, write):
            self.write = write  # takes one message
            self.waiting = {}
            self.make_error = None

        async def ask(self, message):
            if self.make_error is not None:
                raise self.make_error()
            future = asyncio.get_running_loop().create_future()
            self.waiting[message["id"]] = future
            try:
                self.write(message)
                return await future
            finally:
                self.waiting.pop(message["id"], None)

        def take(self, message):
            if "method" in message:
                return
            future = self.waiting.pop(message.get("id"), None)
            if future is not None and not future.done():
                future.set_result(message)

        def end(self, make_error):
            self.make_error = make_error
            for future in self.waiting.values():
                if not future.done():
                    future.set_exception(make_error())

    return Answers


@TASK.right
def with_a_condition_and_a_box():
    class Answers:
        def __init__(self, write):
            self.write, self.asked, self.came, self.over = write, set(), {}, None
            self.changed = asyncio.Event()

        def turn(self):
            self.changed.set()
            self.changed = asyncio.Event()

        async def ask(self, message):
            key = (type(message["id"]), message["id"])
            self.asked.add(key)
            try:
                if self.over is None:
                    self.write(message)
                while key not in self.came:
                    if self.over is not None:
                        raise self.over()
                    await self.changed.wait()
                return self.came.pop(key)
            finally:
                self.asked.discard(key)
                self.came.pop(key, None)

        def take(self, message):
            key = (type(message.get("id")), message.get("id"))
            if "method" not in message and key in self.asked and key not in self.came:
                self.came[key] = message
                self.turn()

        def end(self, make_error):
            self.over = make_error
            self.turn()

    return Answers


# -- the check ------------------------------------------------------------------------------------


def request(request_id):
    return {"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": {}}


def answer(request_id, text=""):
    said = text or f"to {request_id!r}"
    return {"jsonrpc": "2.0", "id": request_id, "result": {"said": said}}


class Pipe:
    """An Answers with a pipe that notes what passes; ``ask`` is a task of its own."""

    def __init__(self, Answers):
        self.trace = Trace()
        self.answers = Answers(lambda message: self.trace.add("transport", "sent", message=message))

    def take(self, message):
        self.trace.add("transport", "received", message=message)
        with doing(f"the server sends {message}"):
            self.answers.take(message)

    async def asked(self, *ids):
        tasks = [asyncio.create_task(self.answers.ask(request(n))) for n in ids]
        await settle()
        return tasks


async def settle():
    for _ in range(5):
        await asyncio.sleep(0)


async def heard(*tasks):
    """What each caller heard: the answer's text, or the name of an exception."""
    done, _ = await asyncio.wait(tasks, timeout=60)
    return [said_to(task) if task in done else "nothing" for task in tasks]


def said_to(task):
    if task.cancelled():
        return "a cancel"
    error = task.exception()
    if error is not None:
        return type(error).__name__
    answer = task.result()
    return answer["result"]["said"] if isinstance(answer, dict) else answer


@TASK.part(
    "answers in another order find who asked",
    idea="An answer carries the id of its request, and the order is free: a quick call overtakes a "
    "slow one. Matched by order, each caller gets somebody else's answer and no error says so.",
)
async def another_order(Answers):
    pipe = Pipe(Answers)
    tasks = await pipe.asked(1, 2)
    pipe.take(answer(2))
    pipe.take(answer(1))
    expect(
        await heard(*tasks), ["to 1", "to 2"], when="the second request is answered first",
        draw=lambda: draw.sequence(pipe.trace),
    )  # fmt: skip


@TASK.part(
    'the ids 1 and "1" are two',
    idea='The ids 1 and "1" differ on the wire. Who makes a text of every id, to be kind to a '
    "server, gives one caller's answer to another.",
)
async def two_ids(Answers):
    pipe = Pipe(Answers)
    tasks = await pipe.asked(1, "1")
    pipe.take(answer(1))
    pipe.take(answer("1"))
    expect(await heard(*tasks), ["to 1", "to '1'"], when='1 and "1" are asked, then answered')


@TASK.part(
    "what has a method is no answer",
    idea="A server also speaks unasked, and asks: its own ids begin at 1 as ours do. A message "
    "with a method is never an answer, whatever its id.",
)
async def no_answer(Answers):
    pipe = Pipe(Answers)
    (task,) = await pipe.asked(1)
    pipe.take({"jsonrpc": "2.0", "method": "notifications/progress", "params": {}})
    pipe.take({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {}})
    pipe.take(answer(1))
    expect(
        await heard(task), ["to 1"], when="a notification and a question come before the answer",
        draw=lambda: draw.sequence(pipe.trace),
    )  # fmt: skip


@TASK.part(
    "an answer to nobody harms nobody",
    idea="Answers come twice, or under an id that nobody used. The first one counts; any other "
    "finds nobody. An exception in the reader would end the reading for everybody.",
)
async def to_nobody(Answers):
    pipe = Pipe(Answers)
    tasks = await pipe.asked(1, 2)
    pipe.take(answer(999))
    pipe.take(answer(1))
    pipe.take(answer(1, "once more"))
    pipe.take({"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "?"}})
    pipe.take(answer(2))
    expect(await heard(*tasks), ["to 1", "to 2"], when="an answer comes twice, another to nobody")


@TASK.part(
    "a caller may leave",
    idea="Whoever stops waiting is gone, and its answer may still come: a future that is done "
    "takes no result, and says so by an exception in the reader.",
)
async def a_caller_leaves(Answers):
    pipe = Pipe(Answers)
    tasks = await pipe.asked(1, 2)
    tasks[0].cancel()
    pipe.take(answer(1))
    await settle()
    pipe.take(answer(1, "late"))
    pipe.take(answer(2))
    expect(await heard(*tasks), ["a cancel", "to 2"], when="the first caller was cancelled")


@TASK.part(
    "an answer may come while we write",
    idea="A server can be quicker than the line after write. Who registers afterwards waits for an "
    "answer that has come and gone.",
)
async def a_quick_answer(Answers):
    answers = Answers(lambda message: answers.take(answer(message["id"], "at once")))
    task = asyncio.create_task(answers.ask(request(1)))
    expect(await heard(task), ["at once"], when="the answer comes before write has returned")


@TASK.part(
    "the end reaches everyone who waits",
    idea="When the process is gone no answer can come. Each caller gets an exception of its own: "
    "two that share one share its traceback, and whatever one of them adds to it.",
)
async def the_end_reaches_all(Answers):
    pipe = Pipe(Answers)
    tasks = await pipe.asked(1, 2)
    pipe.answers.end(lambda: TransportClosed("the process is gone"))
    came = await heard(*tasks)
    expect(came, ["TransportClosed"] * 2, when="two callers wait and the process ends")
    first, second = (task.exception() for task in tasks)
    require(first is not second, "two exceptions", came="one object for both callers")


@TASK.part(
    "who asks after the end hears it too",
    idea="The end is a state, not a moment: whoever comes later would wait for an answer that "
    "nobody can give.",
)
async def after_the_end(Answers):
    pipe = Pipe(Answers)
    pipe.answers.end(lambda: TransportClosed("the process is gone"))
    with doing("somebody asks after the end"):
        await refused_async(TransportClosed, pipe.answers.ask(request(1)))


# -- what people write ----------------------------------------------------------------------------


@TASK.wrong("somebody else's answer")
def the_id_tells_only_that_it_is_ours():
    class Answers(by_id()):
        def take(self, message):
            if message.get("id") in self.waiting and "method" not in message:
                super().take({**message, "id": next(iter(self.waiting))})

    return Answers


@TASK.wrong("a text of every id")
def ids_as_texts():
    class Answers(by_id()):
        async def ask(self, message):
            return await super().ask({**message, "id": str(message["id"])})

        def take(self, message):
            super().take({**message, "id": str(message.get("id"))})

    return Answers


@TASK.wrong("never an answer")
def whatever_has_our_id():
    class Answers(by_id()):
        def take(self, message):
            future = self.waiting.pop(message.get("id"), None)
            if future is not None and not future.done():
                future.set_result({"result": {"said": "a question"}, **message})

    return Answers


@TASK.wrong("end the reading")
def an_unknown_id_is_an_error():
    class Answers(by_id()):
        async def ask(self, message):
            self.known = {*getattr(self, "known", ()), message["id"]}
            return await super().ask(message)

        def take(self, message):
            if "method" not in message and message.get("id") not in self.known:
                raise ValueError(f"no request has the id {message.get('id')!r}")
            super().take(message)

    return Answers


@TASK.wrong("finds nobody")
def straight_into_the_dict():
    class Answers(by_id()):
        def take(self, message):
            if "method" not in message:
                self.waiting.pop(message["id"]).set_result(message)

    return Answers


@TASK.wrong("takes no result")
def set_result_in_any_case():
    class Answers(by_id()):
        def take(self, message):
            future = None if "method" in message else self.waiting.pop(message.get("id"), None)
            if future is not None:
                future.set_result(message)

    return Answers


@TASK.wrong("has come and gone")
def registered_after_the_write():
    class Answers(by_id()):
        async def ask(self, message):
            if self.make_error is not None:
                raise self.make_error()
            self.write(message)
            future = self.waiting[message["id"]] = asyncio.get_running_loop().create_future()
            try:
                return await future
            finally:
                self.waiting.pop(message["id"], None)

    return Answers


@TASK.wrong("share its traceback")
def one_exception_for_all():
    class Answers(by_id()):
        def end(self, make_error):
            error = make_error()
            super().end(lambda: error)

    return Answers


@TASK.wrong("not a moment")
def forgotten_after_the_end():
    class Answers(by_id()):
        def end(self, make_error):
            super().end(make_error)
            self.make_error = None

    return Answers
