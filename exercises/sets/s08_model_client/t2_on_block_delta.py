"""08.2: the handler of a piece, and the nine broken streams."""

from exercises.machine import Task, doing, expect, require
from fake_servers.anthropic_events import raw_events
from mini_agent.model_stream import ModelStreamError, StreamState, on_raw_event
from mini_agent.types import Done, Text, ToolCall

TASK = Task(
    "08.2",
    "`on_block_delta`: a piece, and where it belongs",
    level="solid",
    minutes=15,
    section="`content_block_delta`: JSON in pieces",
    text="""
Write `on_block_delta(state, raw)`, the handler of `content_block_delta`. `state.blocks` maps an
index to its `Block`, or to None once that block has stopped. Return the list of ModelEvents that
this piece completes.

- A piece of text (`text_delta`) for a `text` block goes on at once. Where nothing is said, nothing
  goes on.
- A piece of JSON (`input_json_delta`) for a `tool_use` block waits in the block's `json_pieces`.
- A piece for a block that never started, or has stopped, is ModelStreamError. So is a piece of text
  for a call, a piece of JSON for a text, and a text that is no string.
- A delta of any other type, or for another kind of block, is passed over.

A KeyError, TypeError or AttributeError counts as ModelStreamError: the caller makes one of it. The
other handlers are those of the package. The check runs your handler on whole streams, among them
the nine broken ones of the notebook.
""",
    hints=(
        "First find the block, by the index. Then there are two things to look at: what kind of "
        "block it is, and what type the delta has.",
        "The pairs are four: text and text, call and JSON, and the two that do not fit. All other "
        "pairs are passed over, a citation for a text for instance.",
        "`match` on the two of them, `block.kind` and the delta's type: one case hands on a Text "
        "if the string is not empty, one appends, one raises for both misfits, and behind the "
        "match an empty list is returned.",
    ),
)


@TASK.solution
def by_pairs():
    def on_block_delta(state, raw):
        ### BEGIN SOLUTION
        block, delta = state.blocks.get(raw["index"]), raw["delta"]
        if block is None:
            raise ModelStreamError(f"a piece for block {raw['index']}, which is not open")
        match block.kind, delta["type"]:
            case "text", "text_delta":
                if not isinstance(delta["text"], str):
                    raise ModelStreamError("a text that is no string")
                return [Text(delta["text"])] if delta["text"] else []
            case "tool_use", "input_json_delta":
                block.json_pieces.append(delta["partial_json"])
            case ("text", "input_json_delta") | ("tool_use", "text_delta"):
                raise ModelStreamError(f"a {delta['type']} for a {block.kind} block")
        return []
        ### END SOLUTION

    return on_block_delta


@TASK.right
def by_what_each_kind_takes():
    takes = {"text": "text_delta", "tool_use": "input_json_delta"}

    def on_block_delta(state, raw):
        block, kind = state.blocks[raw["index"]], raw["delta"]["type"]
        fits = takes.get(block.kind) == kind
        if not fits and block.kind in takes and kind in takes.values():
            raise ModelStreamError("it does not fit")
        if fits and kind == "input_json_delta":
            block.json_pieces += [raw["delta"]["partial_json"]]
        if fits and kind == "text_delta" and len(raw["delta"]["text"]):
            return (Text(raw["delta"]["text"] + ""),)
        return ()

    return on_block_delta


# -- the check ------------------------------------------------------------------------------------

QUERY = ToolCall("t1", "calendar_query", {"date": "2026-08-03", "room": "añil"})
SHOW = ToolCall("t2", "calendar_show", {"id": "apt-1"})
TURN = [Text("Let me look at Monday."), QUERY, Done("tool_use")]


def translated(on_block_delta, events):
    """What the package's handlers make of a stream, with this one among them."""
    state, found = StreamState(), []
    for raw in events:
        ours = raw.get("type") == "content_block_delta" and state.started and not state.over
        found += taken(on_block_delta, state, raw) if ours else on_raw_event(state, raw)
    if not state.over:
        raise ModelStreamError("the stream ended before message_stop")
    return found


def taken(on_block_delta, state, raw):
    try:
        came = on_block_delta(state, raw)
    except (KeyError, TypeError, AttributeError) as cause:
        raise ModelStreamError(f"an event of the wrong shape: {cause!r}") from cause
    require(isinstance(came, list | tuple), "a list of ModelEvents", came=came, when=f"{raw}")
    return came


def joined(events):
    text = "".join(event.text for event in events if isinstance(event, Text))
    return [text, *(event for event in events if not isinstance(event, Text))]


def start(index, **block):
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index, kind, **piece):
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **piece}}


def stop(index):
    return {"type": "content_block_stop", "index": index}


def stream(*events, reason="tool_use"):
    end = [{"type": "message_delta", "delta": {"stop_reason": reason}}, {"type": "message_stop"}]
    return [{"type": "message_start", "message": {}}, *events, *end]


TEXT = (start(0, type="text", text=""), delta(0, "text_delta", text="Let me look."), stop(0))


def must_throw(on_block_delta, events, when):
    with doing(when):
        try:
            came = translated(on_block_delta, events)
        except ModelStreamError:
            return
    require(False, "ModelStreamError", came=came, when=when)


@TASK.part(
    "text goes on at once, piece by piece",
    idea="A person watches it come. A Text for which nothing was said is an event about nothing, "
    "and whoever counts or draws events sees it.",
)
def text_at_once(on_block_delta):
    when = "a turn of a text and a call comes"
    expect(joined(translated(on_block_delta, raw_events(TURN))), joined(TURN), when=when)
    pieces = [delta(0, "text_delta", text=piece) for piece in ("Mon", "", "day")]
    came = translated(on_block_delta, stream(start(0, type="text", text=""), *pieces, stop(0)))
    expect(came[:-1], [Text("Mon"), Text("day")], when="the pieces are 'Mon', '', 'day'")


@TASK.part(
    "each call keeps its own pieces",
    idea="The index says whose piece it is, whatever came in between. Given to the block that "
    "started last, the pieces of two calls become one text, or change places.",
)
def its_own_pieces(on_block_delta):
    one, *first, end_one = list(raw_events([QUERY]))[2:-2]
    two, *second, end_two = [{**raw, "index": 1} for raw in list(raw_events([SHOW]))[2:-2]]
    turns = [piece for pair in zip(first, second, strict=False) for piece in pair]
    turns += first[len(second) :] + second[len(first) :]
    came = translated(on_block_delta, stream(one, two, *turns, end_two, end_one))
    expect(came[:-1], [SHOW, QUERY], when="the pieces of two calls come in turns")


def broken():
    """The nine of the notebook."""
    whole = list(raw_events(TURN))
    calls = [raw for raw in whole if raw.get("index") == 1]
    by_type = {raw["type"]: raw for raw in whole}
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}

    def without(event):
        return [raw for raw in whole if raw is not event]

    def behind(event, more):
        place = [raw is event for raw in whole].index(True) + 1
        return [*whole[:place], more, *whole[place:]]

    return {
        "a delta without its start": without(calls[0]),
        "a block started twice": behind(calls[0], calls[0]),
        "a piece of JSON lost": without(calls[2]),
        "a block that never stops": without(calls[-1]),
        "no stop_reason": without(by_type["message_delta"]),
        "cut before message_stop": without(by_type["message_stop"]),
        "an event after the end": behind(by_type["message_stop"], calls[1]),
        "the service fails midway": behind(calls[0], error),
        "an event without a type": [{"kind": "ping"}],
    }


@TASK.part(
    "the nine broken streams, and a piece outside of its block",
    idea="A piece whose block never started, or is over, belongs to nothing that we know. Dropped, "
    "the rest of the stream is read as if nothing were missing.",
)
def outside_of_its_block(on_block_delta):
    for name, events in broken().items():
        must_throw(on_block_delta, events, name)
    stray = delta(9, "text_delta", text="or Tuesday")
    must_throw(on_block_delta, stream(*TEXT, stray), "a piece comes for block 9, never started")
    late = delta(0, "text_delta", text="or Tuesday")
    must_throw(on_block_delta, stream(*TEXT, late), "a piece comes for block 0, which has stopped")


@TASK.part(
    "a piece that does not fit its block throws",
    idea="Text for a call and JSON for a text are known events in a wrong place: two blocks were "
    "mixed up, and nobody can tell which of the pieces before are right.",
)
def does_not_fit(on_block_delta):
    json_piece = delta(0, "input_json_delta", partial_json="{}")
    events = stream(TEXT[0], json_piece, TEXT[1], TEXT[2])
    must_throw(on_block_delta, events, "a piece of JSON comes for a text")
    call = start(0, type="tool_use", id="t1", name="calendar_query", input={})
    text_piece = delta(0, "text_delta", text="Let me")
    must_throw(
        on_block_delta, stream(call, text_piece, stop(0)), "a piece of text comes for a call"
    )


@TASK.part(
    "what we do not know is passed over",
    idea="Thinking, signatures, citations: providers add kinds of pieces. They shift nothing of "
    "what we know, and a client that throws at them breaks with the next model.",
)
def passed_over(on_block_delta):
    thinking = start(1, type="thinking")
    odd = [delta(1, "thinking_delta", thinking="Hm"), delta(1, "signature_delta", signature="x")]
    cited = delta(0, "citations_delta", citation={})
    events = stream(thinking, *odd, stop(1), TEXT[0], cited, *TEXT[1:], reason="end_turn")
    came = translated(on_block_delta, events)
    expect(came, [Text("Let me look."), Done("end_turn")], when="thinking and a citation come")


@TASK.part(
    "a text that is none",
    idea="What the loop gets it shows, joins and saves. A None among the texts fails there, far "
    "from where it came from, and the error blames the loop.",
)
def a_text_that_is_none(on_block_delta):
    for text in (None, 7, ["Mon"]):
        piece = delta(0, "text_delta", text=text)
        must_throw(on_block_delta, stream(TEXT[0], piece, TEXT[2]), f"the text is {text!r}")
    must_throw(on_block_delta, stream(TEXT[0], delta(0, "text_delta"), TEXT[2]), "no text is there")


# -- what people write ----------------------------------------------------------------------------


@TASK.wrong("an event about nothing")
def every_piece_is_a_text():
    def on_block_delta(state, raw):
        came = by_pairs()(state, raw)
        said_nothing = raw["delta"]["type"] == "text_delta" and raw["delta"].get("text") == ""
        return [Text("")] if said_nothing else came

    return on_block_delta


@TASK.wrong("started last")
def to_the_last_start():
    def on_block_delta(state, raw):
        by_pairs()(state, {**raw, "delta": {"type": "another"}})
        last = list(state.blocks)[-1]
        calls = raw["delta"]["type"] == "input_json_delta" and state.blocks[last] is not None
        return by_pairs()(state, {**raw, "index": last} if calls else raw)

    return on_block_delta


@TASK.wrong("Dropped")
def a_stray_piece_is_dropped():
    def on_block_delta(state, raw):
        return by_pairs()(state, raw) if state.blocks.get(raw["index"]) else []

    return on_block_delta


@TASK.wrong("in a wrong place")
def by_the_type_of_the_delta():
    def on_block_delta(state, raw):
        block, piece = state.blocks[raw["index"]], raw["delta"]
        if "partial_json" in piece:
            block.json_pieces.append(piece["partial_json"])
            return []
        misfit = block.kind == "tool_use" and piece["type"] == "text_delta"
        return [Text(piece["text"])] if misfit else by_pairs()(state, raw)

    return on_block_delta


@TASK.wrong("breaks with the next model")
def an_unknown_delta_throws():
    def on_block_delta(state, raw):
        if raw["delta"]["type"] not in ("text_delta", "input_json_delta"):
            raise ModelStreamError("an unknown delta")
        return by_pairs()(state, raw)

    return on_block_delta


@TASK.wrong("the error blames the loop")
def whatever_stands_under_text():
    def on_block_delta(state, raw):
        text = raw["delta"].get("text", "")
        if raw["delta"]["type"] == "text_delta" and not isinstance(text, str):
            return [Text(text)]
        return by_pairs()(state, raw)

    return on_block_delta
