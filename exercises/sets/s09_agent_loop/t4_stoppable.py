"""09.4: stop a run between two turns, with nothing lost."""

import asyncio
import tempfile
from contextlib import aclosing
from pathlib import Path

from exercises.machine import Task, doing, expect, require
from mini_agent.agent import run_agent
from mini_agent.blocks import tool_use_ids
from mini_agent.model_client import ScriptedModel
from mini_agent.session import load_session
from mini_agent.types import Done, Text, Tool, ToolCall, ToolResult, ToolSpec

TASK = Task(
    "09.4",
    "`Stoppable`: an end between two turns",
    level="demanding",
    minutes=25,
    section="`ask_model`",
    text="""
A person wants to stop a long run. A cancel ends it in the middle of a call. They want an end with
nothing half done, and to go on tomorrow. Without a change in the loop: only what you hand to it.

Write `Stoppable(model, stop)`, a model around a model. `stop` is an `asyncio.Event`.

- As long as `stop` is not set, nothing is different: each event passes when it comes.
- A turn that has begun is finished, and its calls are answered. Then the model is not asked again,
  and `run_agent` returns with `stop_reason` `"stopped"`.
- When `stop` is cleared, the next run on the same session goes on.
- Whoever closes its stream closes the model's.
""",
    hints=(
        "What is there already: the loop saves after every turn, and it returns when a turn has no "
        "calls. What does the loop do between two turns that you could stand in the way of?",
        "It calls `model.stream`. A turn is a number of events, the last of which is `Done`; a "
        "turn may be nothing else. `stream` is an async generator, and so can yours be.",
        "When `stop` is set as `stream` begins: yield one Done with that reason, and return. "
        "Otherwise hand on every event of the model's stream, inside `async with "
        "contextlib.aclosing(…)` around it, and do not look at `stop` meanwhile.",
    ),
)


@TASK.stub
def no_way_to_stop():
    class Stoppable:
        def __init__(self, model, stop):
            self.model = model
            self.stop = stop

        def stream(self, *, system, messages, tools):
            return self.model.stream(system=system, messages=messages, tools=tools)

    return Stoppable


@TASK.solution
def a_turn_that_is_only_done():
    class Stoppable:
        def __init__(self, model, stop):
            self.model = model
            self.stop = stop

        async def stream(self, *, system, messages, tools):
            if self.stop.is_set():
                yield Done("stopped")
                return
            turn = self.model.stream(system=system, messages=messages, tools=tools)
            async with aclosing(turn):
                async for event in turn:
                    yield event

    return Stoppable


@TASK.right
def one_of_two_streams():
    class Stoppable:
        def __init__(self, model, stop):
            self.model, self.is_stopped = model, stop.is_set

        def stream(self, **request):
            return stopped() if self.is_stopped() else self.model.stream(**request)

    async def stopped():
        yield Done(stop_reason="stopped")

    return Stoppable


# -- the check ------------------------------------------------------------------------------------

PROMPT = "Book Monday and Tuesday."


class Watched(ScriptedModel):
    """Sets ``stop`` after as many events, and notes what it has said and whether it was closed."""

    def __init__(self, turns, stop=None, after=0):
        super().__init__(turns)
        self.stop, self.after = stop, after
        self.said, self.closed = [], False

    async def stream(self, **request):
        try:
            async for event in super().stream(**request):
                self.said.append(event)
                if self.stop is not None and len(self.said) == self.after:
                    self.stop.set()
                yield event
        finally:
            self.closed = True


class Checked:
    """A model whose stream must be one."""

    def __init__(self, model, when):
        self.model, self.when = model, when

    def stream(self, **request):
        turn = self.model.stream(**request)
        require(hasattr(turn, "__aiter__"), "a stream of events", came=turn, when=self.when)
        return turn


class Scene:
    """A run with one tool, on a session file."""

    def __init__(self, Stoppable, folder):
        self.Stoppable, self.stop = Stoppable, asyncio.Event()
        self.path = Path(folder, "session")
        self.booked = []
        self.at_work = lambda: None

    async def book(self, arguments):
        self.at_work()
        self.booked.append(arguments["day"])
        return ToolResult("booked")

    async def run(self, model, prompt=PROMPT, when="it runs", **options):
        tool = Tool(ToolSpec("calendar_create", "Books an hour."), self.book)
        stoppable = Checked(self.Stoppable(model, self.stop), when)
        options |= {"session_path": self.path}
        with doing(when):
            return await run_agent(prompt, model=stoppable, tools=[tool], **options)

    def whole(self, when):
        """The conversation in the file, in which each call has its result."""
        messages = load_session(self.path)
        asked = [i for m in messages for i in tool_use_ids(m)]
        had = [b["tool_use_id"] for m in messages for b in m["content"] if "tool_use_id" in b]
        expect(had, asked, when=f"{when}: the calls that have a result")
        return messages


def book(*days):
    return [ToolCall(f"t{day}", "calendar_create", {"day": day}) for day in days]


DONE = [Text("Both are booked.")]


@TASK.part(
    "as long as nobody stops it, nothing is different",
    idea="A model around a model is no better than the one inside if it shows a turn only when all "
    "of it has come: whoever watches sees nothing for a minute.",
)
async def nothing_is_different(Stoppable):
    with tempfile.TemporaryDirectory() as folder:
        scene = Scene(Stoppable, folder)
        model = Watched([[Text("I "), Text("book.")], DONE])
        behind = []

        def look(event):
            behind.append(len(model.said))

        came = await scene.run(model, on_event=look)
        expect((came.text, came.stop_reason), ("I book.", "end_turn"))
        expect(behind, [1, 2, 3], when="each event comes out: how many have gone in")


@TASK.part(
    "the calls under way are answered, then it ends",
    idea="The end of a turn is the one place where nothing is half done: all calls have results, "
    "and the file is written. So the question to stand in the way of is the next one to the model.",
)
async def calls_are_answered(Stoppable):
    with tempfile.TemporaryDirectory() as folder:
        scene, when = Scene(Stoppable, folder), "stop is pressed during the first of two calls"
        scene.at_work = scene.stop.set
        model = Watched([book(3, 4), DONE])
        came = await scene.run(model, when=when)
        expect(scene.booked, [3, 4], when=f"{when}: the calls that were made")
        expect(len(model.requests), 1, when=f"{when}: how often the model was asked")
        expect(came.stop_reason, "stopped", when=when)
        scene.whole(when)


@TASK.part(
    "a turn that has begun is finished",
    idea="A turn that is cut in the middle is half of what the model meant, and looks complete. "
    "The person wanted an end with nothing half done.",
)
async def a_turn_is_finished(Stoppable):
    with tempfile.TemporaryDirectory() as folder:
        scene, when = Scene(Stoppable, folder), "stop is pressed while the model speaks"
        model = Watched([[Text("I book."), *book(3, 4)], DONE], scene.stop, after=2)
        await scene.run(model, when=when)
        expect(scene.booked, [3, 4], when=f"{when}: the calls that were made")
        scene.whole(when)


@TASK.part(
    "tomorrow it goes on",
    idea="Stopping is no failure: the same object, the same file, another prompt. A stop that is "
    "remembered apart from the event, or an empty message in the file, ends it for ever.",
)
async def tomorrow(Stoppable):
    with tempfile.TemporaryDirectory() as folder:
        scene, when = Scene(Stoppable, folder), "it was stopped after Monday, and cleared"
        scene.at_work = scene.stop.set
        model = Watched([book(3), DONE, DONE])
        stoppable = Stoppable(model, scene.stop)
        scene.Stoppable = lambda model, stop: stoppable
        await scene.run(model, when=when)
        scene.at_work = lambda: None
        before = scene.whole(when)
        scene.stop.clear()
        came = await scene.run(model, "Go on.", when=when)
        expect((came.text, came.stop_reason), ("Both are booked.", "end_turn"), when=when)
        expect(model.requests[-1].messages[:-1], before, when=f"{when}: what the model reads")


@TASK.part(
    "stopped before it began",
    idea="Between two turns is also before the first. The model is not asked, and what the person "
    "wrote is kept.",
)
async def before_it_began(Stoppable):
    with tempfile.TemporaryDirectory() as folder:
        scene, when = Scene(Stoppable, folder), "stop was pressed before the run"
        scene.stop.set()
        model = Watched([book(3), DONE])
        came = await scene.run(model, when=when)
        expect((len(model.requests), came.stop_reason), (0, "stopped"), when=when)
        kept = [block.get("text") for m in scene.whole(when) for block in m["content"]]
        expect(kept, [PROMPT], when=when)


@TASK.part(
    "whoever closes it closes the model's stream",
    idea="The loop closes a stream when something fails in the middle of a turn. Behind the "
    "model's stream is a connection: left open, it answers on, for nobody, and is paid for.",
)
async def closed_inside(Stoppable):
    model = Watched([[Text("I "), Text("book.")], DONE])
    turn = Stoppable(model, asyncio.Event()).stream(system="", messages=[], tools=[])
    when = "its stream is closed after the first event"
    require(hasattr(turn, "aclose"), "an async generator", came=turn, when=when)
    expect(await anext(turn, None), Text("I "), when="its stream is asked for one event")
    await turn.aclose()
    expect(model.closed, True, when=f"{when}: the model's stream is closed")


# -- what people write ----------------------------------------------------------------------------


@TASK.wrong("sees nothing for a minute")
def the_whole_turn_at_once():
    class Stoppable(a_turn_that_is_only_done()):
        async def stream(self, **request):
            async with aclosing(super().stream(**request)) as turn:
                events = [event async for event in turn]
            for event in events:
                yield event

    return Stoppable


@TASK.wrong("the next one to the model")
def looked_at_when_it_was_made():
    class Stoppable(a_turn_that_is_only_done()):
        def __init__(self, model, stop):
            super().__init__(model, stop)
            self.stopped = stop.is_set()

        async def stream(self, **request):
            inner = super() if self.stopped else self.model
            async with aclosing(inner.stream(**request)) as turn:
                async for event in turn:
                    yield event

    return Stoppable


@TASK.wrong("looks complete")
def in_the_middle_of_a_turn():
    class Stoppable(a_turn_that_is_only_done()):
        async def stream(self, **request):
            async with aclosing(super().stream(**request)) as turn:
                async for event in turn:
                    yield event
                    if self.stop.is_set() and not isinstance(event, Done):
                        yield Done("stopped")
                        return

    return Stoppable


@TASK.wrong("remembered apart from the event")
def stopped_for_ever():
    class Stoppable(a_turn_that_is_only_done()):
        stopped = False

        async def stream(self, **request):
            self.stopped = self.stopped or self.stop.is_set()
            if self.stopped:
                yield Done("stopped")
                return
            async with aclosing(super().stream(**request)) as turn:
                async for event in turn:
                    yield event

    return Stoppable


@TASK.wrong("also before the first")
def only_after_a_turn():
    class Stoppable(a_turn_that_is_only_done()):
        async def stream(self, **request):
            begun = len(request["messages"]) > 1
            inner = super() if begun else self.model
            async with aclosing(inner.stream(**request)) as turn:
                async for event in turn:
                    yield event

    return Stoppable


@TASK.wrong("for nobody")
def left_open():
    class Stoppable(a_turn_that_is_only_done()):
        async def stream(self, **request):
            if self.stop.is_set():
                yield Done("stopped")
                return
            async for event in self.model.stream(**request):
                yield event

    return Stoppable


@TASK.wrong("no failure")
def an_exception_to_stop():
    class Stoppable(a_turn_that_is_only_done()):
        async def stream(self, **request):
            if self.stop.is_set():
                raise RuntimeError("stopped")
            async with aclosing(super().stream(**request)) as turn:
                async for event in turn:
                    yield event

    return Stoppable
