"""16.1: nine wishes of a library, and which primitive each is."""

from exercises.machine import Task, expect

TASK = Task(
    "16.1",
    "Document, query or opening?",
    level="warm-up",
    minutes=6,
    section="Eight to decide",
    text="""
A city library wants an MCP server. Say for each of its nine wishes what it becomes: `"resource"`,
`"tool"`, `"prompt"`, or `"none of the three"`.

Where two seem to fit, take the order of the notebook's three questions.
""",
    hints=(
        "Three questions, in this order. Does a person begin with it? Does it change something or "
        "find an answer? Does it stand at an address?",
        "A table that is written anew each night still stands at its address. What is on the shelf "
        "at this moment has to be looked up. And what must never happen is no text to be read.",
        "Three documents, three tools, two prompts, and one that none of them can do.",
    ),
)


@TASK.stub
def nothing_said_yet():
    becomes = {
        "the opening hours": ...,
        "the page of one book, by its ISBN": ...,
        "last night's list of fees, as CSV": ...,
        "which books are about bees": ...,
        "whether a copy is on the shelf at this moment": ...,
        "reserve a copy": ...,
        "pick three books with me for the holiday, from the menu": ...,
        "write to a reader whose book is late, from the menu": ...,
        "nobody borrows more than ten": ...,
    }
    return becomes


@TASK.solution
def by_three_questions():
    becomes = {
        "the opening hours": "resource",
        "the page of one book, by its ISBN": "resource",
        "last night's list of fees, as CSV": "resource",
        "which books are about bees": "tool",
        "whether a copy is on the shelf at this moment": "tool",
        "reserve a copy": "tool",
        "pick three books with me for the holiday, from the menu": "prompt",
        "write to a reader whose book is late, from the menu": "prompt",
        "nobody borrows more than ten": "none of the three",
    }
    return becomes


@TASK.right
def with_a_function():
    def which(begins=False, works=False, stands=False):
        kinds = {"prompt": begins, "tool": works, "resource": stands, "none of the three": True}
        return next(kind for kind, fits in kinds.items() if fits)

    becomes = {
        "the opening hours": which(stands=True),
        "the page of one book, by its ISBN": which(stands=True),
        "last night's list of fees, as CSV": which(stands=True),
        "which books are about bees": which(works=True),
        "whether a copy is on the shelf at this moment": which(works=True, stands=True),
        "reserve a copy": which(works=True),
        "pick three books with me for the holiday, from the menu": which(begins=True, works=True),
        "write to a reader whose book is late, from the menu": which(begins=True, works=True),
        "nobody borrows more than ten": which(),
    }
    return becomes


# -- the check ------------------------------------------------------------------------------------


def compare(becomes, kind, *wishes):
    for wish in wishes:
        expect(becomes.get(wish), kind, when=f"the wish is: {wish}")


@TASK.part(
    "what stands at an address",
    idea="A document is read, and nobody works for it. One address for each book is a template. "
    "That a text changes every night does not make it a query: it is read at the same address.",
)
def documents(becomes):
    compare(becomes, "resource", "the opening hours", "the page of one book, by its ISBN")
    compare(becomes, "resource", "last night's list of fees, as CSV")


@TASK.part(
    "what has to be found out",
    idea="A search takes words that no address holds, and what is true at this moment is worked "
    "out when it is asked. Kept as a document, such an answer is old as soon as it is read.",
)
def queries(becomes):
    compare(becomes, "tool", "which books are about bees")
    compare(becomes, "tool", "whether a copy is on the shelf at this moment")


@TASK.part(
    "what changes something",
    idea="Reading must be harmless, so that anybody may do it, twice, and keep what was read. What "
    "changes the world is a tool, and passes the door at which somebody says yes.",
)
def changes(becomes):
    compare(becomes, "tool", "reserve a copy")


@TASK.part(
    "what a person begins with",
    idea="A menu is for people: who picks there begins a conversation. As a tool it would be the "
    "model that picks, and nobody would have asked for a letter.",
)
def openings(becomes):
    compare(becomes, "prompt", "pick three books with me for the holiday, from the menu")
    compare(becomes, "prompt", "write to a reader whose book is late, from the menu")


@TASK.part(
    "what must never happen",
    idea="A rule that is only read stops nobody, neither in a prompt nor in a document. It belongs "
    "where the loan is written: into the service.",
)
def rules(becomes):
    compare(becomes, "none of the three", "nobody borrows more than ten")


# -- what people write ----------------------------------------------------------------------------


@TASK.wrong("does not make it a query")
def what_changes_is_a_query():
    becomes = {**by_three_questions(), "last night's list of fees, as CSV": "tool"}
    return becomes


@TASK.wrong("is a template")
def whatever_takes_a_number_is_a_tool():
    becomes = {**by_three_questions(), "the page of one book, by its ISBN": "tool"}
    return becomes


@TASK.wrong("old as soon as it is read")
def it_has_an_address():
    becomes = {**by_three_questions()}
    becomes["whether a copy is on the shelf at this moment"] = "resource"
    return becomes


@TASK.wrong("Reading must be harmless")
def an_address_that_reserves():
    becomes = {**by_three_questions(), "reserve a copy": "resource"}
    return becomes


@TASK.wrong("the model that picks")
def letters_are_work():
    becomes = {**by_three_questions()}
    becomes["write to a reader whose book is late, from the menu"] = "tool"
    return becomes


@TASK.wrong("stops nobody")
def told_to_the_model():
    becomes = {**by_three_questions(), "nobody borrows more than ten": "prompt"}
    return becomes
