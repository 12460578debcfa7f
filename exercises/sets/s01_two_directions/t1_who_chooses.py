"""01.1: eight things that a server could offer, and who chooses each."""

from exercises.machine import Task, expect

TASK = Task(
    "01.1",
    "Tool, resource or prompt: who chooses?",
    level="warm-up",
    minutes=8,
    section="Tool, resource, prompt",
    text="""
A travel server could offer these eight. Say for each as what, and defend it by who chooses it: a
pair of `"tool"`, `"resource"` or `"prompt"`, and `"the model"`, `"the host program"` or `"the
user"`.
""",
    hints=(
        "Read each for the one who decides that it is used now. What it is made of, a text or a "
        "number, long or short, says nothing.",
        "Two of them are the same travel policy. In the one the host has decided that it is read; "
        "in the other the model decides when.",
        "Three are chosen by the model, three by the host program, two by the user. Who chooses "
        "gives the kind.",
    ),
)


@TASK.stub
def nothing_said_yet():
    offers = {
        "trains from A to B, when an answer needs one": (..., ...),
        "the travel policy, read at the start of every conversation": ...,
        "the travel policy, searched when a question turns up": ...,
        '"Plan my trip", an entry in a menu that asks for a city': ...,
        "booking a hotel, when the conversation comes to it": ...,
        "the ticket that is open on the screen, shown beside the chat": ...,
        "/expenses, typed in, for a conversation that begins well": ...,
        "today's exchange rates, which the program loads each morning": ...,
    }
    return offers


@TASK.solution
def by_who_chooses():
    offers = {
        "trains from A to B, when an answer needs one": ("tool", "the model"),
        "the travel policy, read at the start of every conversation": (
            "resource",
            "the host program",
        ),
        "the travel policy, searched when a question turns up": ("tool", "the model"),
        '"Plan my trip", an entry in a menu that asks for a city': ("prompt", "the user"),
        "booking a hotel, when the conversation comes to it": ("tool", "the model"),
        "the ticket that is open on the screen, shown beside the chat": (
            "resource",
            "the host program",
        ),
        "/expenses, typed in, for a conversation that begins well": ("prompt", "the user"),
        "today's exchange rates, which the program loads each morning": (
            "resource",
            "the host program",
        ),
    }
    return offers


@TASK.right
def as_lists():
    kinds = {"the model": "tool", "the host program": "resource", "the user": "prompt"}
    who = ["model", "host program", "model", "user", "model", "host program", "user"]
    names = [f"the {name}" for name in [*who, "host program"]]
    offers = {what: [kinds[name], name] for what, name in zip(by_who_chooses(), names, strict=True)}
    return offers


# -- the check ------------------------------------------------------------------------------------


def compare(offers, kind, who, *starts):
    for start in starts:
        what = next(known for known in by_who_chooses() if known.startswith(start))
        came = offers.get(what)
        pair = tuple(came) if isinstance(came, list | tuple) else came
        expect(pair, (kind, who), when=what)


@TASK.part(
    "what the model decides",
    idea="A tool is an action that the model may choose in the middle of an answer. That it only "
    "reads, or that what comes back is a text, makes no resource of it.",
)
def the_model_decides(offers):
    compare(offers, "tool", "the model", "trains", "booking")


@TASK.part(
    "what the host program decides",
    idea="A resource has an address, and the host reads it when the host sees fit. No model asked, "
    "and no tool ran.",
)
def the_host_decides(offers):
    compare(offers, "resource", "the host program", "the ticket", "today's")


@TASK.part(
    "what the user decides",
    idea="A prompt is a template that a person picks, from a menu or by typing its name. It "
    "becomes the beginning of a conversation; the model never calls it.",
)
def the_user_decides(offers):
    compare(offers, "prompt", "the user", '"Plan', "/expenses")


@TASK.part(
    "one text, twice",
    idea="The travel policy is a text both times, and that does not settle it. Read at the start, "
    "the host has chosen it, and the loop needs a place for it; searched when needed, the model "
    "has, and it stands in the list of tools.",
)
def one_text_twice(offers):
    compare(offers, "resource", "the host program", "the travel policy, read")
    compare(offers, "tool", "the model", "the travel policy, searched")


# -- what people write ----------------------------------------------------------------------------


def but(start, kind, who):
    what = next(known for known in by_who_chooses() if known.startswith(start))
    return {**by_who_chooses(), what: (kind, who)}


@TASK.wrong("makes no resource of it")
def reading_is_a_resource():
    offers = but("trains", "resource", "the host program")
    return offers


@TASK.wrong("No model asked")
def a_number_is_fetched_by_a_tool():
    offers = but("today's", "tool", "the model")
    return offers


@TASK.wrong("the model never calls it")
def with_an_argument_it_is_a_tool():
    offers = but('"Plan', "tool", "the user")
    return offers


@TASK.wrong("does not settle it")
def a_text_is_a_resource():
    offers = but("the travel policy, searched", "resource", "the host program")
    return offers
