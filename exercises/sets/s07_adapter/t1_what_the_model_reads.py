"""07.1: ten results, and what of each reaches the model."""

from exercises.machine import Task, expect
from mini_agent.mcp.adapter import format_result
from mini_agent.mcp.shapes import CallResult

TASK = Task(
    "07.1",
    "Ten results: what does the model read?",
    level="warm-up",
    minutes=6,
    section="`format_result`: text as text",
    text="""
Each of these results goes through `format_result`. Say for each what the model reads of it:
`"the text"`, `"the data"` (the structured content), `"a note"` (a line by the adapter, in place of
something else), `"the text and a note"`, or `"the data and a note"`.

The check then formats them all.
""",
    hints=(
        "`format_result` goes block by block, and then asks whether the structured content is "
        "needed. For what?",
        "Text wins over data, since a server that sends both means the same with both. Only text "
        "that says something counts as text. Whatever cannot be shown is named.",
        "The data comes where no text block says anything: alone, with an image, beside an empty "
        "text, and also when it is null. Nothing at all is a note, and so is an image alone and a "
        "new kind of block. A text with an image or in a file comes with a note.",
    ),
    given="TEXT EMPTY IMAGE FILE RESULTS",
)

TEXT = {"type": "text", "text": "40 found"}
EMPTY = {"type": "text", "text": ""}
IMAGE = {"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgo="}
FILE = {"type": "resource", "resource": {"uri": "desk://plan", "text": "40 found"}}
RESULTS = {
    "a text and data": CallResult([TEXT], {"count": 40}),
    "data alone": CallResult([], {"count": 40}),
    "an empty text and data": CallResult([EMPTY], {"count": 40}),
    "a text and an image": CallResult([TEXT, IMAGE]),
    "an image and data": CallResult([IMAGE], {"count": 40}),
    "a file with a text in it": CallResult([FILE]),
    "a kind of block that is new": CallResult([{"type": "hologram", "frames": 40}]),
    "no block, no data": CallResult([]),
    "no block, and the data is null": CallResult([], None),
    "an error with a text and data": CallResult([TEXT], {"count": 40}, is_error=True),
}


@TASK.stub
def nothing_said_yet():
    reads = {
        "a text and data": ...,
        "data alone": ...,
        "an empty text and data": ...,
        "a text and an image": ...,
        "an image and data": ...,
        "a file with a text in it": ...,
        "a kind of block that is new": ...,
        "no block, no data": ...,
        "no block, and the data is null": ...,
        "an error with a text and data": ...,
    }
    return reads


@TASK.solution
def as_it_runs():
    reads = {
        "a text and data": "the text",
        "data alone": "the data",
        "an empty text and data": "the data",
        "a text and an image": "the text and a note",
        "an image and data": "the data and a note",
        "a file with a text in it": "the text and a note",
        "a kind of block that is new": "a note",
        "no block, no data": "a note",
        "no block, and the data is null": "the data",
        "an error with a text and data": "the text",
    }
    return reads


@TASK.right
def by_what_is_in_the_text():
    def what(result):
        text = format_result(result)
        signs = {"the text": "40 found", "the data": "count", "a note": "["}
        found = [name for name, sign in signs.items() if sign in text]
        return " and ".join(found) or {"null": "the data"}.get(text, "a note")

    reads = {name: what(result) for name, result in RESULTS.items()}
    return reads


# -- the check ------------------------------------------------------------------------------------


def read_of(result):
    lines = format_result(result).splitlines()
    kinds = {
        "the text": any("40 found" in line for line in lines),
        "the data": any(line in ('{"count":40}', "null") for line in lines),
        "a note": any(line.startswith(("[", "(")) for line in lines),
    }
    return " and ".join(kind for kind, there in kinds.items() if there)


def compare(reads, *names):
    for name in names:
        expect(reads.get(name), read_of(RESULTS[name]), when=f"the result is {name}")


@TASK.part(
    "text wins over data",
    idea="A server that sends both means the same with both, and text is made for readers. An "
    "error is formatted like any result: its reason is what the model needs.",
)
def text_wins(reads):
    compare(reads, "a text and data", "an error with a text and data")


@TASK.part(
    "data where no text says anything",
    idea="An empty text block is no answer, and a picture says nothing to a model that reads. Then "
    "the data is all there is, and it is given as JSON.",
)
def data_instead(reads):
    compare(reads, "data alone", "an empty text and data", "an image and data")


@TASK.part(
    "what cannot be shown is named",
    idea="Left out without a word, a picture or a block of next year would be missed by nobody. As "
    "base64 it would be paid for by the token. A line says what it was.",
)
def it_is_named(reads):
    compare(reads, "a text and an image", "a file with a text in it")
    compare(reads, "a kind of block that is new")


@TASK.part(
    "nothing, and null",
    idea="An empty text says nothing, not even that nothing came, so the adapter says it. null is "
    "a value that the server gave: absent and null are two things.",
)
def nothing_and_null(reads):
    compare(reads, "no block, no data", "no block, and the data is null")


# -- what people write ----------------------------------------------------------------------------


@TASK.wrong("means the same with both")
def both_are_shown():
    reads = {**as_it_runs(), "a text and data": "the text and the data"}
    return reads


@TASK.wrong("its reason is what the model needs")
def an_error_is_only_a_note():
    reads = {**as_it_runs(), "an error with a text and data": "a note"}
    return reads


@TASK.wrong("An empty text block is no answer")
def an_empty_text_is_a_text():
    reads = {**as_it_runs(), "an empty text and data": "the text"}
    return reads


@TASK.wrong("missed by nobody")
def images_are_left_out():
    reads = {**as_it_runs(), "a text and an image": "the text"}
    return reads


@TASK.wrong("absent and null are two things")
def null_is_nothing():
    reads = {**as_it_runs(), "no block, and the data is null": "a note"}
    return reads
