"""01.3: eight jobs, the boundary that each needs, and the fact that decides it."""

from exercises.machine import Task, expect, require

TASK = Task(
    "01.3",
    "Eight jobs: which boundary, and why?",
    level="solid",
    minutes=15,
    section="One question, five boundaries",
    text="""
Each of these `JOBS` has three facts. Choose its boundary, `"direct function"`, `"CLI"`, `"REST"`,
`"function calling"` or `"MCP"`, and defend the choice with the one fact that decides it: `"a"`,
`"b"` or `"c"`. So each answer is a pair, such as `("CLI", "b")`.

Where the boundaries stack, name the one that this job adds.
""",
    hints=(
        "For each job: who has to be able to ask, beside those who can already? The other two "
        "facts would be the same with another boundary.",
        "A fact about size, speed, language or fashion decides nothing. A rule that every caller "
        "must meet stands below all boundaries, in the code that they lead to.",
        "Two direct functions, one CLI, one REST, two function calling, two MCP. The fact that "
        "decides says in each case who asks.",
    ),
    given="JOBS",
)

JOBS = {
    "add up the hours of a week": {
        "a": "it is called ten thousand times a day",
        "b": "nobody but the program that keeps the hours needs the sum",
        "c": "a model could do it, too",
    },
    "the export of all bookings": {
        "a": "Ann starts it now and then, and a script at night",
        "b": "it takes an hour",
        "c": "it is written in another language than the rest",
    },
    "bookings for a web page, two phone apps and a partner": {
        "a": "one of the four has begun to use a model",
        "b": "there are four million bookings",
        "c": "programs of other people, in any language, rely on it for years",
    },
    "the time of day for the assistant in our app": {
        "a": "the model of this one app asks for it",
        "b": "the model is somebody else's service",
        "c": "an MCP server for it can be had for nothing",
    },
    "our ticket system, for assistants": {
        "a": "it has three hundred functions",
        "b": "the hosts of five departments, each another product, are to use it",
        "c": "the tickets are in a database",
    },
    "a search in our own notes, twelve lines long": {
        "a": "everybody uses MCP now",
        "b": "it may grow",
        "c": "our assistant's model is to use it, and there is no other host",
    },
    "no booking may end before it begins": {
        "a": "models get it wrong now and then",
        "b": "whoever books, by app, script or assistant, must meet the rule",
        "c": "it is one line",
    },
    "the company's search, which has a REST API": {
        "a": "its answers are long",
        "b": "it needs a key",
        "c": "assistants of other makers, which know nothing of that API, are to have it",
    },
}


@TASK.stub
def nothing_said_yet():
    needs = {
        "add up the hours of a week": ...,
        "the export of all bookings": ...,
        "bookings for a web page, two phone apps and a partner": ...,
        "the time of day for the assistant in our app": ...,
        "our ticket system, for assistants": ...,
        "a search in our own notes, twelve lines long": ...,
        "no booking may end before it begins": ...,
        "the company's search, which has a REST API": ...,
    }
    return needs


@TASK.solution
def by_who_asks():
    needs = {
        "add up the hours of a week": ("direct function", "b"),
        "the export of all bookings": ("CLI", "a"),
        "bookings for a web page, two phone apps and a partner": ("REST", "c"),
        "the time of day for the assistant in our app": ("function calling", "a"),
        "our ticket system, for assistants": ("MCP", "b"),
        "a search in our own notes, twelve lines long": ("function calling", "c"),
        "no booking may end before it begins": ("direct function", "b"),
        "the company's search, which has a REST API": ("MCP", "c"),
    }
    return needs


@TASK.right
def as_lists():
    words = ["direct function", "CLI", "REST", "function calling", "MCP", "function calling"]
    facts = "bacabcbc"
    pairs = zip([*words, "direct function", "MCP"], facts, strict=True)
    needs = dict(zip(JOBS, map(list, pairs), strict=True))
    return needs


# -- the check ------------------------------------------------------------------------------------

BOUNDARIES = ("direct function", "CLI", "REST", "function calling", "MCP")


def pair(needs, job):
    came = needs.get(job)
    good = isinstance(came, list | tuple) and len(came) == 2
    good = good and came[0] in BOUNDARIES and came[1] in ("a", "b", "c")
    require(good, 'a pair of a boundary and a fact, such as ("CLI", "b")', came=came, when=job)
    return tuple(came)


def compare(needs, *starts):
    for start in starts:
        job = next(known for known in JOBS if known.startswith(start))
        expect(pair(needs, job)[0], by_who_asks()[job][0], when=job)


@TASK.part(
    "code of the same program",
    idea="Where nobody else asks there is nothing to stand between. And a rule that everybody must "
    "meet belongs below every boundary: put at one of them, it holds for those who come that way.",
)
def the_same_program(needs):
    compare(needs, "add up", "no booking")


@TASK.part(
    "people, scripts and other programs",
    idea="They need no model. Who can start a program is served by a command line, who can reach a "
    "network by an API that stays as it is.",
)
def people_and_programs(needs):
    compare(needs, "the export", "bookings for")


@TASK.part(
    "the model of one host",
    idea="With one host MCP saves nothing: a process, a protocol and a review, for a function that "
    "this program can call. Function calling is the boundary between a model and its own host.",
)
def one_host(needs):
    compare(needs, "the time of day", "a search in our own")


@TASK.part(
    "hosts of other people",
    idea="Here it pays: written once, behind a server, for every host that speaks MCP. What stands "
    "behind it, a database or an API, stays what it is.",
)
def hosts_of_others(needs):
    compare(needs, "our ticket", "the company's search")


@TASK.part(
    "the fact that decides",
    idea="What decides is who else must be able to ask. Size, speed, language and fashion would "
    "be the same with another boundary, and so they are no reason for this one.",
)
def the_fact(needs):
    for job, (_, fact) in by_who_asks().items():
        expect(pair(needs, job)[1], fact, when=job)


# -- what people write ----------------------------------------------------------------------------


def but(start, boundary, fact=None):
    job = next(known for known in JOBS if known.startswith(start))
    return {**by_who_asks(), job: (boundary, fact or by_who_asks()[job][1])}


@TASK.wrong("below every boundary")
def the_rule_in_the_tool():
    needs = but("no booking", "function calling")
    return needs


@TASK.wrong("They need no model")
def one_client_has_a_model():
    needs = but("bookings for", "MCP")
    return needs


@TASK.wrong("With one host MCP saves nothing")
def mcp_for_one_host():
    needs = but("a search in our own", "MCP")
    return needs


@TASK.wrong("every host that speaks MCP")
def an_api_is_enough():
    needs = but("the company's search", "REST")
    return needs


@TASK.wrong("no reason for this one")
def because_it_may_grow():
    needs = but("a search in our own", "function calling", "b")
    return needs


@TASK.wrong("no reason for this one")
def because_it_is_called_often():
    needs = but("add up", "direct function", "a")
    return needs
