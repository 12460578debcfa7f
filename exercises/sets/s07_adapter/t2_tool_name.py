"""07.2: two servers that both offer search.all."""

import hashlib
import itertools
import re

from exercises.machine import Task, doing, expect, require
from mini_agent.mcp.adapter import model_name

TASK = Task(
    "07.2",
    "Two servers, and each offers `search.all`",
    level="solid",
    minutes=15,
    section="Two servers, one name",
    text="""
The loop refuses two tools of one name. Write `tool_name(server, tool)`: what the model is told.
`server` is the name that this host gave the server: letters, digits, `_` and `-`, 20 of them at
most. `tool` is the server's own name for the tool, and may be anything.

- The model's service takes it: 1 to 64 letters, digits, `_` and `-`.
- Two tools never have one name: not of two servers, not of one, and not when a server tries. A
  server may offer a tool called `anything_it_likes`, and it knows how you make your names.
- One tool has one name: today, tomorrow, and whatever else is connected.
- Somebody who reads it can tell which server and which tool, as far as the length allows.
""",
    hints=(
        "`model_name` takes care of the first point, and of some of the second. Which names does "
        "it leave as they are, and what does that mean for a server that can choose its names?",
        "`a` with `b_c` and `a_b` with `c`: joined with `_` they are one. And a plain name can be "
        "made to look like one that ends in a hash. What a name ends in must depend on the whole "
        "pair, in every case.",
        "Join the two with a sign that can stand in no server's name, so that the joined text "
        "tells where the one ends. A `/` does, and `model_name` has to change it, so its hash of "
        "the whole is always there.",
    ),
)


@TASK.solution
def joined_so_that_it_shows():
    def tool_name(server, tool):
        ### BEGIN SOLUTION
        return model_name(f"{server}/{tool}")
        ### END SOLUTION

    return tool_name


@TASK.right
def with_a_hash_of_its_own():
    def tool_name(server, tool):
        digest = hashlib.blake2b(f"{len(server)} {server} {tool}".encode(), digest_size=6)
        begins = re.sub(r"[^A-Za-z0-9_-]+", "-", f"{server}--{tool}")
        return f"{begins[:50]}-{digest.hexdigest()}"

    return tool_name


# -- the check ------------------------------------------------------------------------------------

LONG = "free_in_the_building_at_the_corner_of_the_long_street_{}_entrance"
PAIRS = (
    ("home", "search.all"),
    ("work", "search.all"),
    ("home", "search/all"),
    ("home", "search_all"),
    ("a", "b_c"),
    ("a_b", "c"),
    ("a", "b-c"),
    ("a-b", "c"),
    ("home", "añadir cita"),
    ("home", "anadir_cita"),
    ("home", LONG.format("north")),
    ("home", LONG.format("south")),
    ("home_of_the_calendar", "desk.free/today"),
    ("home", "予定"),
    ("home", "検索"),
)
SERVERS = sorted({server for server, _ in PAIRS})


def name_of(tool_name, server, tool):
    with doing(f"the server is {server!r}, the tool {tool!r}"):
        came = tool_name(server, tool)
    require(isinstance(came, str), "a text", came=came)
    return came


SERVERS = sorted({server for server, _ in PAIRS})


@TASK.part(
    "the model's service takes it",
    idea="One bad name, and the whole request is refused, with every good tool in it. Services ask "
    "for less than MCP allows: no dots, no accents, 64 characters.",
)
def the_service_takes_it(tool_name):
    for server, tool in PAIRS:
        came = name_of(tool_name, server, tool)
        fits = re.fullmatch(r"[A-Za-z0-9_-]{1,64}", came)
        when = f"the server is {server!r}, the tool {tool!r}"
        require(fits, "1 to 64 letters, digits, _ and -", came=came, when=when)


@TASK.part(
    "no two of one name",
    idea="What is joined must be taken apart again in one way only, and what is replaced or cut "
    "off must still make a difference. Else the model asks one server, and another is called.",
)
def no_two(tool_name):
    for one, other in itertools.combinations(PAIRS, 2):
        names = name_of(tool_name, *one), name_of(tool_name, *other)
        require(
            names[0] != names[1], "two names", came=f"{names[0]}, twice", when=f"{one}, {other}"
        )


@TASK.part(
    "not when a server tries",
    idea="A server that knows how names are made can offer a tool whose plain name is the changed "
    "name of another. A rule with an exception for good names has a door in it.",
)
def not_when_a_server_tries(tool_name):
    for server, tool in PAIRS:
        taken = name_of(tool_name, server, tool)
        for other, mark in itertools.product(SERVERS, ("_", "-", "--", "__")):
            forged = taken.removeprefix(f"{other}{mark}")
            if forged != taken and (other, forged) not in PAIRS:
                came = name_of(tool_name, other, forged)
                when = f"{server} has {tool!r}, and {other} offers {forged!r}"
                require(came != taken, "two names", came=f"{came}, twice", when=when)


@TASK.part(
    "one tool, one name, each time",
    idea="Approvals, logs and tests rest on a name. A number in the order of connecting is another "
    "one tomorrow, when the other server is slower.",
)
def each_time(tool_name):
    first = [name_of(tool_name, *pair) for pair in PAIRS]
    again = [name_of(tool_name, *pair) for pair in reversed(PAIRS)][::-1]
    expect(again, first, when="the same tools are named again, in another order")


@TASK.part(
    "it can be read",
    idea="The user sees the name when asked for approval, and the model chooses by it. A hash "
    "alone says nothing to either.",
)
def it_can_be_read(tool_name):
    for server, tool, words in (("home", "search.all", "search"), ("work", "book_room", "book")):
        came = name_of(tool_name, server, tool)
        both = server in came and words in came
        when = f"the server is {server!r}, the tool {tool!r}"
        require(both, f"{server!r} and {words!r} in it", came=came, when=when)


# -- what people write ----------------------------------------------------------------------------


@TASK.wrong("Services ask for less")
def joined_with_a_dot():
    def tool_name(server, tool):
        return f"{server}.{tool}"

    return tool_name


@TASK.wrong("in one way only")
def prefixed_and_then_made_safe():
    def tool_name(server, tool):
        joined = f"{server}_{tool}"
        return model_name(joined if re.search(r"_[0-9a-f]{8}$", joined) is None else joined + "/")

    return tool_name


@TASK.wrong("must still make a difference")
def replaced_and_cut():
    def tool_name(server, tool):
        return re.sub(r"[^A-Za-z0-9_-]", "_", f"{server}--{tool}")[:64]

    return tool_name


@TASK.wrong("has a door in it")
def a_hash_only_where_it_is_needed():
    def tool_name(server, tool):
        joined = f"{server}/{tool}"
        plain = re.fullmatch(r"[A-Za-z0-9-]+", server) and re.fullmatch(r"\w+", tool, re.ASCII)
        return f"{server}_{tool}" if plain and len(joined) < 64 else model_name(joined)

    return tool_name


@TASK.wrong("another one tomorrow")
def numbered_as_they_come():
    numbers = itertools.count(1)

    def tool_name(server, tool):
        return f"{model_name(f'{server}/{tool}')[:55]}_{next(numbers)}"

    return tool_name


@TASK.wrong("says nothing to either")
def a_hash_alone():
    def tool_name(server, tool):
        return "tool_" + hashlib.sha256(f"{server}/{tool}".encode()).hexdigest()[:16]

    return tool_name
