"""08.4: a model client for a provider that nobody has seen yet."""

import contextlib
import inspect
import json

from exercises.machine import Task, doing, expect, require
from mini_agent.agent import run_agent
from mini_agent.model_stream import ModelStreamError
from mini_agent.types import Done, Text, Tool, ToolCall, ToolResult, ToolSpec

TASK = Task(
    "08.4",
    "Courier: a provider of our own invention",
    level="demanding",
    minutes=40,
    section="`AnthropicModelClient` only wires",
    text="""
Courier is a service with a model behind it, and it speaks its own language. Write
`CourierModel(service)`, so that the loop can use it and does not change by a line. Its
`stream(*, system, messages, tools)` is an async generator of ModelEvents.

`async with service.ask(order) as lines` sends an order, and `lines` are the answer, to be read with
`async for`. An order is `{"rules": system, "can": […], "talk": […]}`:

| of ours | in the order |
|---|---|
| a ToolSpec | `{"do": name, "about": description, "takes": input_schema}` |
| a text block of the user | `{"from": "user", "says": text}` |
| a text block of the assistant | `{"from": "model", "says": text}` |
| a `tool_use` block | `{"from": "model", "does": name, "with": input, "ref": id}` |
| a `tool_result` block | `{"from": "tool", "ref": …, "says": content, "failed": is_error}` |

And the lines of an answer:

| line | what it says |
|---|---|
| `{"say": piece}` | a piece of text |
| `{"do": name, "ref": id}` | a call begins |
| `{"ref": id, "with": piece}` | a piece of its input, as JSON; none at all is `{}` |
| `{"did": id}` | the call is complete |
| `{"end": reason}` | the last line: `"done"`, `"tools"` (it waits for results), `"full"` |
| `{"oops": text}` | the service failed |

Lines of other kinds are for others. What makes no sense is ModelStreamError. `"full"` means that
the model ran out of room: a call that is half then is nobody's fault.
""",
    hints=(
        "Two translations, as in notebook 08: our conversation to an order, and lines to events. "
        "Write each as a function or a `match` of its own, the second with a memory of which calls "
        "are open.",
        "Our stop_reasons are Anthropic's: end_turn, tool_use, max_tokens. A piece goes on as soon "
        "as it is read. `async with` inside the generator closes the answer on every way out. What "
        "is left when the lines end without an end?",
        "A dict from ref to name and pieces. do: refuse a ref that was used, add. with: refuse one "
        "that is not open, append. did: take it out, join, parse, refuse what is no object, hand "
        "on. end: with open calls refuse unless full, then Done in our words, and return. Behind "
        "the loop: raise.",
    ),
    given="Courier",
)


class Courier:
    """The service as a list of answers. ``orders`` is what it was asked."""

    def __init__(self, *answers):
        self.answers, self.orders, self.open, self.read = list(answers), [], 0, 0

    @contextlib.asynccontextmanager
    async def ask(self, order):
        self.orders.append(order)
        self.open += 1
        try:
            yield self.lines(self.answers[len(self.orders) - 1])
        finally:
            self.open -= 1

    async def lines(self, answer):
        for line in answer:
            self.read += 1
            yield line


@TASK.stub
def nothing_yet():
    class CourierModel:
        def __init__(self, service):
            self.service = service

        async def stream(self, *, system, messages, tools):
            raise NotImplementedError  # your code here

    return CourierModel


@TASK.solution
def two_translations():
    REASONS = {"done": "end_turn", "tools": "tool_use", "full": "max_tokens"}

    def talk_of(messages):
        for message in messages:
            who = "model" if message["role"] == "assistant" else "user"
            for block in message["content"]:
                match block:
                    case {"type": "text", "text": text}:
                        yield {"from": who, "says": text}
                    case {"type": "tool_use", "id": ref, "name": name, "input": given}:
                        yield {"from": "model", "does": name, "with": given, "ref": ref}
                    case {"type": "tool_result", "tool_use_id": ref, "content": text}:
                        failed = block.get("is_error", False)
                        yield {"from": "tool", "ref": ref, "says": text, "failed": failed}

    def input_of(pieces):
        try:
            value = json.loads("".join(pieces) or "{}")
        except ValueError as cause:
            raise ModelStreamError(f"the input of a call is no JSON: {cause}") from cause
        if not isinstance(value, dict):
            raise ModelStreamError("the input of a call is no object")
        return value

    class CourierModel:
        def __init__(self, service):
            self.service = service

        async def stream(self, *, system, messages, tools):
            can = [
                {"do": tool.name, "about": tool.description, "takes": tool.input_schema}
                for tool in tools
            ]
            order = {"rules": system, "can": can, "talk": list(talk_of(messages))}
            used, calls = set(), {}
            async with self.service.ask(order) as lines:
                async for line in lines:
                    match line:
                        case {"say": text}:
                            if text:
                                yield Text(text)
                        case {"do": name, "ref": ref}:
                            if ref in used:
                                raise ModelStreamError(f"two calls share the ref {ref}")
                            used.add(ref)
                            calls[ref] = (name, [])
                        case {"ref": ref, "with": piece}:
                            if ref not in calls:
                                raise ModelStreamError(f"no call {ref} is open")
                            calls[ref][1].append(piece)
                        case {"did": ref}:
                            if ref not in calls:
                                raise ModelStreamError(f"no call {ref} is open")
                            name, pieces = calls.pop(ref)
                            yield ToolCall(ref, name, input_of(pieces))
                        case {"oops": text}:
                            raise ModelStreamError(f"the service failed: {text}")
                        case {"end": reason}:
                            if calls and reason != "full":
                                raise ModelStreamError("the answer ended in the middle of a call")
                            yield Done(REASONS[reason])
                            return
            raise ModelStreamError("the answer stopped before its end")

    return CourierModel


@TASK.right
def with_handlers_by_key():
    class Answer:
        def __init__(self):
            self.started, self.finished, self.over = {}, {}, False

        def take(self, line):
            for key in ("say", "do", "with", "did", "oops", "end"):
                if key in line:
                    return getattr(self, f"on_{key}")(line)
            return ()

        def on_say(self, line):
            return [Text(line["say"])] if line["say"] else []

        def on_do(self, line):
            if line["ref"] in self.started:
                raise ModelStreamError("twice")
            self.started[line["ref"]] = [line["do"], ""]
            return ()

        def on_with(self, line):
            if line["ref"] in self.finished or line["ref"] not in self.started:
                raise ModelStreamError("for whom?")
            self.started[line["ref"]][1] += line["with"]
            return ()

        def on_did(self, line):
            ref = line["did"]
            if ref in self.finished or ref not in self.started:
                raise ModelStreamError("what?")
            name, text = self.started[ref]
            try:
                call = self.finished[ref] = ToolCall(ref, name, {**json.loads(text or "{}")})
            except (ValueError, TypeError) as cause:
                raise ModelStreamError("no object") from cause
            return (call,)

        def on_oops(self, line):
            raise ModelStreamError(line["oops"])

        def on_end(self, line):
            if line["end"] != "full" and len(self.finished) < len(self.started):
                raise ModelStreamError("half")
            self.over = True
            return [Done({"done": "end_turn", "tools": "tool_use"}.get(line["end"], "max_tokens"))]

    def entry(role, block):
        kind = block["type"]
        if kind == "tool_result":
            failed = bool(block.get("is_error"))
            said = block["content"]
            return {"from": "tool", "ref": block["tool_use_id"], "says": said, "failed": failed}
        if kind == "tool_use":
            does = {"does": block["name"], "with": block["input"], "ref": block["id"]}
            return {"from": "model", **does}
        return {"from": {"assistant": "model"}.get(role, role), "says": block["text"]}

    class CourierModel:
        def __init__(self, service):
            self.service = service

        async def stream(self, *, system, messages, tools):
            talk = [entry(m["role"], block) for m in messages for block in m["content"]]
            can = [{"do": t.name, "about": t.description, "takes": t.input_schema} for t in tools]
            answer = Answer()
            async with self.service.ask({"rules": system, "can": can, "talk": talk}) as lines:
                async for line in lines:
                    for event in answer.take(line):
                        yield event
            if not answer.over:
                raise ModelStreamError("cut")

    return CourierModel


# -- the check ------------------------------------------------------------------------------------

HELLO = [{"role": "user", "content": [{"type": "text", "text": "What is on Monday?"}]}]
SPEC = ToolSpec("calendar_query", "The appointments of a day.", {"type": "object"})


class Checked:
    """A model whose stream is judged before it is read."""

    def __init__(self, CourierModel, service):
        self.model = CourierModel(service)

    async def stream(self, **request):
        came = self.model.stream(**request)
        if inspect.isawaitable(came):
            came = await came
        generator = hasattr(came, "__aiter__") and hasattr(came, "aclose")
        require(generator, "an async generator: async def with a yield", came=came)
        try:
            async for event in came:
                yield event
        finally:
            await came.aclose()


async def events_of(CourierModel, *lines):
    model = Checked(CourierModel, Courier(lines))
    return [e async for e in model.stream(system="", messages=HELLO, tools=[])]


async def must_throw(CourierModel, *lines, when):
    with doing(when):
        try:
            came = await events_of(CourierModel, *lines)
        except ModelStreamError:
            return
    require(False, "ModelStreamError", came=came, when=when)


def begins(ref, *pieces, name="calendar_query"):
    return [{"do": name, "ref": ref}, *({"ref": ref, "with": piece} for piece in pieces)]


DAY = ('{"date": "2026', '-08-03"}')


@TASK.part(
    "text at once, and Done last",
    idea="A person watches it come: what has been read goes on before the next line is waited for. "
    "A piece with nothing in it is no event.",
)
async def text_at_once(CourierModel):
    lines = [{"say": "Mon"}, {"say": ""}, {"say": "day is free."}, {"end": "done"}]
    wanted = [Text("Mon"), Text("day is free."), Done("end_turn")]
    expect(await events_of(CourierModel, *lines), wanted, when="a text comes in three pieces")
    service = Courier(lines)
    async for _ in Checked(CourierModel, service).stream(system="", messages=HELLO, tools=[]):
        break
    expect(service.read, 1, when="the first event is there, and we count the lines that were read")


@TASK.part(
    "each call gets its own pieces",
    idea="A piece names its call, and calls may come in turns. A call is handed on whole, when it "
    "is complete, and with no piece its input is {}.",
)
async def its_own_pieces(CourierModel):
    one, two = begins("a", *DAY), begins("b", '{"id": ', '"apt-1"}', name="calendar_show")
    turns = [line for pair in zip(one, two, strict=True) for line in pair]
    lines = [*turns, {"did": "b"}, {"did": "a"}, *begins("c", name="tidy_up"), {"did": "c"}]
    wanted = [ToolCall("b", "calendar_show", {"id": "apt-1"})]
    wanted += [
        ToolCall("a", "calendar_query", {"date": "2026-08-03"}),
        ToolCall("c", "tidy_up", {}),
    ]
    came = await events_of(CourierModel, *lines, {"end": "tools"})
    expect(came[:-1], wanted, when="two calls come in turns, then one without arguments")


@TASK.part(
    "a whole round: what the service is told",
    idea="The loop runs as it is. In the second order the result stands behind its call, tied to "
    "it by the ref, and a tool that failed says so: else the model takes a no for an answer.",
)
async def a_whole_round(CourierModel):
    asks = [{"say": "Let me look."}, *begins("a", *DAY), {"did": "a"}, {"end": "tools"}]
    service = Courier(asks, [{"say": "It is locked."}, {"end": "done"}])

    async def locked(arguments):
        return ToolResult("the calendar is locked", is_error=True)

    model = Checked(CourierModel, service)
    options = {"model": model, "tools": [Tool(SPEC, locked)], "system": "Be brief."}
    with doing("the model asks for a tool, the tool fails, the model answers"):
        result = await run_agent("What is on Monday?", **options)
    expect(result.text, "It is locked.")
    call = {"does": "calendar_query", "with": {"date": "2026-08-03"}, "ref": "a"}
    talk = [{"from": "user", "says": "What is on Monday?"}]
    after = [{"from": "model", "says": "Let me look."}, {"from": "model", **call}]
    said = {"ref": "a", "says": "the calendar is locked", "failed": True}
    can = [{"do": SPEC.name, "about": SPEC.description, "takes": SPEC.input_schema}]
    fixed = {"rules": "Be brief.", "can": can}
    expect(service.orders[0], {**fixed, "talk": talk}, when="the first order")
    wanted = [*talk, *after, {"from": "tool", **said}]
    expect(service.orders[1], {**fixed, "talk": wanted}, when="the second order")


@TASK.part(
    "why it ended, in our words",
    idea="The loop knows max_tokens and no word of Courier's. Under it the half call is dropped, "
    "and Done says why: run with half of its arguments, a call does something else.",
)
async def why_it_ended(CourierModel):
    for theirs, ours in (("done", "end_turn"), ("tools", "tool_use"), ("full", "max_tokens")):
        came = await events_of(CourierModel, {"say": "Well"}, {"end": theirs})
        expect(came[-1], Done(ours), when=f"the last line is end, {theirs}")
    lines = [{"say": "Let me look."}, *begins("a", DAY[0]), {"end": "full"}]
    when = "the room ends in the middle of a call"
    expect(
        await events_of(CourierModel, *lines), [Text("Let me look."), Done("max_tokens")], when=when
    )


@TASK.part(
    "what makes no sense throws",
    idea="A piece of a call that never began, two calls of one ref, an input that is no object: "
    "each could be read in two ways, and one of them deletes the wrong appointment.",
)
async def no_sense(CourierModel):
    did, end = {"did": "a"}, {"end": "tools"}
    broken = {
        "a piece comes for a call that never began": [{"ref": "a", "with": "{}"}, end],
        "a call is complete that never began": [did, end],
        "a piece comes after its call was complete": [
            *begins("a"), did, {"ref": "a", "with": "{}"}, end,
        ],
        "two calls have one ref": [*begins("a"), did, *begins("a"), did, end],
        "the input is half an object": [*begins("a", DAY[0]), did, end],
        "the input is a list": [*begins("a", "[1]"), did, end],
        "the end is tools, and a call is half": [*begins("a", *DAY), end],
    }  # fmt: skip
    for when, lines in broken.items():
        await must_throw(CourierModel, *lines, when=when)


@TASK.part(
    "no end is no answer",
    idea="An answer that stops early looks like one that is whole. The loop must hear whose fault "
    "it was: a turn without Done would be blamed on the client, and a failure on nobody.",
)
async def no_end(CourierModel):
    text = {"say": "Monday is free, except"}
    await must_throw(CourierModel, text, when="the lines stop before any end")
    oops = {"oops": "overloaded"}
    when = "the service fails after a piece of text"
    await must_throw(CourierModel, text, oops, {"end": "done"}, when=when)


@TASK.part(
    "lines of other kinds are for others",
    idea="A service adds kinds of lines. One that we never knew shifts nothing of what we do know.",
)
async def for_others(CourierModel):
    odd = [{"tick": 1}, {"mood": "cheerful"}, {"ref": "a", "cost": 3}]
    lines = [odd[0], {"say": "Hello."}, odd[1], *begins("a", DAY[0]), odd[2]]
    lines += [{"ref": "a", "with": DAY[1]}, {"did": "a"}, {"end": "tools"}]
    wanted = [Text("Hello."), ToolCall("a", "calendar_query", {"date": "2026-08-03"})]
    came = await events_of(CourierModel, *lines)
    expect(came, [*wanted, Done("tool_use")], when="three kinds of lines are new")


@TASK.part(
    "the answer is closed on every way out",
    idea="A loop that was cancelled, a stream that broke: somebody still holds the connection. "
    "What is opened in the generator must be closed by it.",
)
async def closed(CourierModel):
    lines = [{"say": "Mon"}, {"say": "day"}, {"end": "done"}]
    service = Courier(lines, [{"say": "Mon"}, {"did": "x"}], lines)
    model, request = Checked(CourierModel, service), {"system": "", "messages": HELLO, "tools": []}
    _ = [event async for event in model.stream(**request)]
    expect(service.open, 0, when="the answer was read to its end, and we count what is open")
    with contextlib.suppress(ModelStreamError):
        _ = [event async for event in model.stream(**request)]
    expect(service.open, 0, when="the stream made no sense, and we count what is open")
    events = model.stream(**request)
    await anext(events)
    await events.aclose()
    expect(service.open, 0, when="the loop left after the first event, and we count what is open")


# -- what people write ----------------------------------------------------------------------------


class Between:
    """A service between the client and the real one: it changes what passes."""

    def __init__(self, service, order=dict, lines=None, closing=True):
        self.service, self.order, self.change, self.closing = service, order, lines, closing
        self.held = []

    @contextlib.asynccontextmanager
    async def ask(self, order):
        answer = self.service.ask(self.order(order))
        self.held.append(answer)
        lines = await answer.__aenter__()
        try:
            yield lines if self.change is None else self.change(lines)
        finally:
            if self.closing:
                await answer.__aexit__(None, None, None)


def between(events=None, **changes):
    """The solution, with a change of what it sends, reads or yields."""

    class CourierModel(two_translations()):
        def __init__(self, service):
            super().__init__(Between(service, **changes))

        async def stream(self, **request):
            came = super().stream(**request)
            try:
                async for event in came if events is None else events(came):
                    yield event
            finally:
                await came.aclose()

    return CourierModel


@TASK.wrong("before the next line is waited for")
def the_whole_answer_first():
    async def collected(came):
        for event in [event async for event in came]:
            yield event

    CourierModel = between(collected)
    return CourierModel


@TASK.wrong("names its call")
def to_the_call_that_began_last():
    async def lines(came):
        last = None
        async for line in came:
            last = line["ref"] if "do" in line else last
            yield {**line, "ref": last} if "with" in line else line

    CourierModel = between(lines=lines)
    return CourierModel


@TASK.wrong("takes a no for an answer")
def every_result_is_a_yes():
    def order(asked):
        talk = [{**one, "failed": False} if "failed" in one else one for one in asked["talk"]]
        return {**asked, "talk": talk}

    CourierModel = between(order=order)
    return CourierModel


@TASK.wrong("by the ref")
def a_result_is_what_the_user_says():
    def order(asked):
        said = [{"from": "user", "says": one.get("says")} for one in asked["talk"]]
        both = zip(asked["talk"], said, strict=True)
        talk = [theirs if one["from"] == "tool" else one for one, theirs in both]
        return {**asked, "talk": talk}

    CourierModel = between(order=order)
    return CourierModel


@TASK.wrong("no word of Courier's")
def full_is_an_end_like_any_other():
    async def events(came):
        async for event in came:
            yield Done("end_turn") if event == Done("max_tokens") else event

    CourierModel = between(events)
    return CourierModel


@TASK.wrong("the half call is dropped")
def half_a_call_always_throws():
    async def lines(came):
        calls = set()
        async for line in came:
            calls |= {line["ref"]} if "do" in line else set()
            calls -= {line.get("did")}
            if calls and "end" in line:
                raise ModelStreamError("half a call")
            yield line

    CourierModel = between(lines=lines)
    return CourierModel


@TASK.wrong("could be read in two ways")
def a_stray_piece_is_dropped():
    async def lines(came):
        calls = set()
        async for line in came:
            calls |= {line["ref"]} if "do" in line else set()
            calls -= {line.get("did")}
            if "with" not in line or line["ref"] in calls:
                yield line

    CourierModel = between(lines=lines)
    return CourierModel


@TASK.wrong("an input that is no object")
def a_list_is_an_input():
    async def lines(came):
        async for line in came:
            listed = line.get("with", "")[:1] == "["
            yield {**line, "with": f'{{"items": {line["with"]}}}'} if listed else line

    CourierModel = between(lines=lines)
    return CourierModel


@TASK.wrong("looks like one that is whole")
def what_came_is_the_answer():
    async def lines(came):
        async for line in came:
            yield line
        yield {"end": "done"}

    CourierModel = between(lines=lines)
    return CourierModel


@TASK.wrong("whose fault")
def a_failure_is_one_more_line():
    async def lines(came):
        async for line in came:
            if "oops" not in line:
                yield line

    CourierModel = between(lines=lines)
    return CourierModel


@TASK.wrong("shifts nothing")
def the_unknown_throws():
    async def lines(came):
        async for line in came:
            if not line.keys() & {"say", "do", "with", "did", "oops", "end"}:
                raise ModelStreamError("an unknown line")
            yield line

    CourierModel = between(lines=lines)
    return CourierModel


@TASK.wrong("must be closed by it")
def opened_and_never_closed():
    CourierModel = between(closing=False)
    return CourierModel
