"""08.3: a test that translation undoes streaming."""

from dataclasses import replace

from exercises.machine import Task, require, why_red
from fake_servers.anthropic_events import raw_events
from mini_agent.model_stream import to_model_events
from mini_agent.types import Done, Text, ToolCall

TASK = Task(
    "08.3",
    "The round trip: which turns would notice?",
    level="solid",
    minutes=20,
    section="`to_model_events`",
    text="""
`raw_events(turn)` streams a turn, `to_model_events` reads the stream. Write
`check_round_trip(translate)`, a test that `translate` gives back what was streamed: the texts
joined, the same calls, the same Done. You choose the turns, a list of Text, ToolCall and Done each.
Raise AssertionError where they differ.

The check runs your test on `to_model_events`, where it must pass, and on six translations with one
fault each, where it must turn red. A turn that cannot come back the same, you have to leave out:
which are these?
""",
    hints=(
        "What would a translation get wrong that looks right on one text and one call? For each "
        "idea that you have, write the turn that would notice.",
        "More than one of something; something empty; something behind a call; something that is "
        "no ASCII, or no text; a reason that cannot be guessed from the turn. A text comes back in "
        "pieces: join before you compare.",
        "Turns: a call with {} alone; two calls with a text behind each; é and 予 in a text and in "
        "an input; an input with numbers, lists and objects in it; a turn that ends with Done of "
        "max_tokens. Not a turn with a lone surrogate, NaN, or one id twice, nor one without Done, "
        "unless you say what follows.",
    ),
    given="stream_of",
)


async def stream_of(events):
    for event in events:
        yield event


@TASK.solution
def turn_by_turn():
    async def check_round_trip(translate):
        ### BEGIN SOLUTION
        odd = {"date": "2026-08-03", "minutes": 90, "who": ["Renée", {"room": None}], "予": True}
        first, second = ToolCall("t1", "query", odd), ToolCall("t2", "tidy_up", {})
        turns = [
            [Text("Nothing on  that day,\nRenée.  "), Done("end_turn")],
            [Text("Let me look."), first, Text("And tidy up. 予"), second, Done("tool_use")],
            [second, Text("and then"), Done("max_tokens")],
            [Done("refusal")],
        ]
        for turn in turns:
            came = [event async for event in translate(stream_of(raw_events(turn)))]
            for events in (came, turn):
                assert isinstance(events[-1], Done)
            texts = ["".join(e.text for e in es if isinstance(e, Text)) for es in (came, turn)]
            assert texts[0] == texts[1], texts
            rest = [[e for e in es if not isinstance(e, Text)] for es in (came, turn)]
            assert rest[0] == rest[1], rest
        ### END SOLUTION

    return check_round_trip


@TASK.right
def one_long_turn_for_each_reason():
    async def check_round_trip(translate):
        def summary(events):
            text = "".join(getattr(event, "text", "") for event in events)
            calls = [(c.id, c.name, c.input) for c in events if isinstance(c, ToolCall)]
            return text, calls, [e.stop_reason for e in events if isinstance(e, Done)]

        inputs = [{}, {"n": 1.5, "deep": {"list": [1, "é", False]}}, {"text": " \n "}, {}]
        for reason in ("end_turn", "tool_use", "max_tokens", "refusal"):
            turn = []
            for number, value in enumerate(inputs):
                turn += [Text(f" … {number} ü"), ToolCall(f"t{number}", "query", value)]
            turn += [Text("That is all."), Done(reason)]
            came = [event async for event in translate(stream_of(raw_events(turn)))]
            if summary(came) != summary(turn):
                raise AssertionError(f"{turn} came back as {came}")

    return check_round_trip


# -- the translations it is run on ----------------------------------------------------------------


async def silent_after_a_call(raw):
    called = False
    async for event in to_model_events(raw):
        called = called or isinstance(event, ToolCall)
        if not (called and isinstance(event, Text)):
            yield event


async def one_id_for_all(raw):
    first = None
    async for event in to_model_events(raw):
        if isinstance(event, ToolCall):
            first = first or event.id
            event = replace(event, id=first)
        yield event


async def no_call_without_arguments(raw):
    async for event in to_model_events(raw):
        if not isinstance(event, ToolCall) or event.input:
            yield event


def in_ascii(value):
    if isinstance(value, dict):
        return {in_ascii(key): in_ascii(held) for key, held in value.items()}
    if isinstance(value, list):
        return [in_ascii(held) for held in value]
    return value.encode("ascii", "replace").decode() if isinstance(value, str) else value


async def ascii_alone(raw):
    async for event in to_model_events(raw):
        if isinstance(event, Text):
            event = Text(in_ascii(event.text))
        elif isinstance(event, ToolCall):
            event = replace(event, input=in_ascii(event.input))
        yield event


async def inputs_of_texts(raw):
    async for event in to_model_events(raw):
        if isinstance(event, ToolCall):
            event = replace(event, input={key: str(value) for key, value in event.input.items()})
        yield event


async def a_reason_by_guess(raw):
    called = False
    async for event in to_model_events(raw):
        called = called or isinstance(event, ToolCall)
        yield Done("tool_use" if called else "end_turn") if isinstance(event, Done) else event


async def must_turn_red(check_round_trip, translate, what):
    red = await why_red(check_round_trip, translate)
    require(red, "a red test", came="green", when=f"the translation {what}")


@TASK.part(
    "green on the package's translation",
    idea="A test must hold for what is right. A text comes in pieces; a lone surrogate, NaN, one "
    "id twice are refused or changed on purpose, and a Done that was not said is added.",
)
async def green_on_the_good_one(check_round_trip):
    red = await why_red(check_round_trip, to_model_events)
    require(not red, "green", came=f"red, {red}", when="the translation is to_model_events")


@TASK.part(
    "red where text behind a call is lost",
    idea="A turn need not end with its calls. With one text before one call, half of the orders "
    "that a stream can have is never tried.",
)
async def red_on_text_behind(check_round_trip):
    what = "hands on no text after the first call"
    await must_turn_red(check_round_trip, silent_after_a_call, what)


@TASK.part(
    "red where all calls get one id",
    idea="A result finds its call by the id. One call in a turn can never show that two are mixed "
    "up.",
)
async def red_on_one_id(check_round_trip):
    await must_turn_red(check_round_trip, one_id_for_all, "gives every call the id of the first")


@TASK.part(
    "red where a call without arguments is lost",
    idea="An empty input comes with no piece of JSON at all, so it takes a way of its own through "
    "the code. What is empty is the case that nobody writes down.",
)
async def red_on_no_arguments(check_round_trip):
    what = "drops calls whose input is {}"
    await must_turn_red(check_round_trip, no_call_without_arguments, what)


@TASK.part(
    "red where only ASCII survives",
    idea="Names of people and places are not in ASCII. Encodings go wrong where bytes become text, "
    "and a test in plain English never notices.",
)
async def red_on_ascii(check_round_trip):
    await must_turn_red(check_round_trip, ascii_alone, "replaces all but ASCII by ?")


@TASK.part(
    "red where every argument becomes a text",
    idea="A tool's schema wants 90 and not '90'. With dates alone as arguments, numbers, lists and "
    "objects are never on the way.",
)
async def red_on_texts(check_round_trip):
    await must_turn_red(check_round_trip, inputs_of_texts, "makes a text of each argument")


@TASK.part(
    "red where the reason is guessed",
    idea="Mostly the reason follows from the turn: tool_use after a call, else end_turn. The loop "
    "runs half a call, or ends without a word, exactly when it does not.",
)
async def red_on_a_guess(check_round_trip):
    what = "says tool_use after a call and end_turn else"
    await must_turn_red(check_round_trip, a_reason_by_guess, what)


# -- what people write ----------------------------------------------------------------------------

ODD = {"minutes": 90, "who": ["Renée", None]}
FULL = (
    [Text("Let me see, é. "), ToolCall("t1", "query", ODD), Done("tool_use")],
    [ToolCall("t1", "query", ODD), Text("and"), ToolCall("t2", "tidy", {}), Done("tool_use")],
    [Text("and"), Done("max_tokens")],
)


async def same(translate, turn, joining=True):
    came = [event async for event in translate(stream_of(raw_events(turn)))]
    texts = [[e.text for e in events if isinstance(e, Text)] for events in (came, turn)]
    if joining:
        texts = ["".join(pieces) for pieces in texts]
    assert texts[0] == texts[1]
    rest = [[e for e in events if not isinstance(e, Text)] for events in (came, turn)]
    assert rest[0] == rest[1]


def checking(*turns, joining=True):
    async def check_round_trip(translate):
        for turn in turns:
            await same(translate, turn, joining)

    return check_round_trip


@TASK.wrong("comes in pieces")
def piece_for_piece():
    check_round_trip = checking(*FULL, joining=False)
    return check_round_trip


@TASK.wrong("changed on purpose")
def every_text_there_is():
    check_round_trip = checking(*FULL, [Text("half a \ud83d"), Done("end_turn")])
    return check_round_trip


@TASK.wrong("that was not said is added")
def turns_without_done():
    check_round_trip = checking(*FULL, [Text("Nothing on that day.")])
    return check_round_trip


@TASK.wrong("need not end with its calls")
def calls_last():
    turn = [ToolCall("t1", "query", ODD), ToolCall("t2", "tidy", {}), Done("tool_use")]
    check_round_trip = checking(FULL[0], turn, FULL[2])
    return check_round_trip


@TASK.wrong("two are mixed")
def one_call_a_turn():
    turns = [[Text("a"), ToolCall("t1", "query", given), Text("b")] for given in (ODD, {})]
    check_round_trip = checking(FULL[0], *([*t, Done("tool_use")] for t in turns), FULL[2])
    return check_round_trip


@TASK.wrong("nobody writes down")
def each_call_has_arguments():
    other = ToolCall("t2", "show", {"id": "apt-1"})
    turn = [FULL[0][1], Text("and"), other, Done("tool_use")]
    check_round_trip = checking(FULL[0], turn, FULL[2])
    return check_round_trip


@TASK.wrong("in plain English")
def all_in_english():
    turns = [[in_plain(event) for event in turn] for turn in FULL]
    check_round_trip = checking(*turns)
    return check_round_trip


def in_plain(event):
    if isinstance(event, ToolCall):
        return replace(event, input=in_ascii(event.input))
    return Text(in_ascii(event.text)) if isinstance(event, Text) else event


@TASK.wrong("numbers, lists and objects")
def dates_alone():
    date = ToolCall("t1", "query", {"date": "2026-08-03"})
    turn = [date, Text("and"), ToolCall("t2", "tidy", {}), Done("tool_use")]
    check_round_trip = checking([FULL[0][0], date, Done("tool_use")], turn, FULL[2])
    return check_round_trip


@TASK.wrong("follows from the turn")
def the_usual_reasons():
    check_round_trip = checking(*FULL[:2], [Text("and"), Done("end_turn")])
    return check_round_trip
