"""11.2: three hooks that remember a yes, and the second calls that each lets through."""

import json

from exercises.machine import Task, expect, require, shown
from mini_agent.types import Approval, ToolCall

TASK = Task(
    "11.2",
    "Three hooks: which second calls get through?",
    level="solid",
    minutes=10,
    section="What is a yes good for?",
    text="""
`remembering` makes a hook that asks a person once for each key, and remembers the answer. Here are
three keys. A person has said yes to `FIRST`. Then one of the `SECOND` calls comes.

Say for each key which of them run with nobody asked again: a list of their names, perhaps an empty
one. The check then runs all fifteen.
""",
    hints=(
        "Work out the key of `FIRST`, then that of each second call. Equal keys: nobody is asked.",
        "Equal is what Python calls equal. Which pairs of values of different types does it call "
        "equal? And which of the three keys notices that two keys of a dict have changed places?",
        "By name: everything that is a delete, four of them. By value: three, since `1 == True` in "
        "Python. By text: one, and it is the one that a key can never tell apart.",
    ),
    given="FIRST SECOND KEYS remembering",
)

FIRST = ToolCall("t1", "calendar_delete", {"id": "apt-3", "days": 1})

SECOND = {
    "the same again": ToolCall("t2", "calendar_delete", {"id": "apt-3", "days": 1}),
    "another id": ToolCall("t2", "calendar_delete", {"id": "apt-1", "days": 1}),
    "its keys turned round": ToolCall("t2", "calendar_delete", {"days": 1, "id": "apt-3"}),
    "true in place of 1": ToolCall("t2", "calendar_delete", {"id": "apt-3", "days": True}),
    "another tool": ToolCall("t2", "calendar_move", {"id": "apt-3", "days": 1}),
}

KEYS = {
    "by name": lambda call: call.name,
    "by value": lambda call: (call.name, tuple(sorted(call.input.items()))),
    "by text": lambda call: (call.name, json.dumps(call.input)),
}


def remembering(key_of, ask):
    said = {}

    def hook(call):
        key = key_of(call)
        if key not in said:
            said[key] = ask(call)
        return said[key]

    return hook


@TASK.stub
def nothing_said_yet():
    get_through = {
        "by name": ...,
        "by value": ...,
        "by text": ...,
    }
    return get_through


@TASK.solution
def as_they_run():
    get_through = {
        "by name": [
            "the same again",
            "another id",
            "its keys turned round",
            "true in place of 1",
        ],
        "by value": ["the same again", "its keys turned round", "true in place of 1"],
        "by text": ["the same again"],
    }
    return get_through


@TASK.right
def as_sets():
    every = {"the same again"}
    no_order = every | {"true in place of 1", "its keys turned round"}
    get_through = {"by text": every, "by value": no_order, "by name": no_order | {"another id"}}
    return get_through


# -- the check ------------------------------------------------------------------------------------


def unasked(key_of):
    """The names of the second calls that run with nobody asked."""
    found = []
    for name, call in SECOND.items():
        asked = []

        def ask(call, asked=asked):
            asked.append(call)
            return Approval(True)

        hook = remembering(key_of, ask)
        for each in (FIRST, call):
            hook(each)
        found += [name] if len(asked) == 1 else []
    return found


def compare(get_through, key):
    came = get_through.get(key)
    good = isinstance(came, list | tuple | set | frozenset) and set(came) <= set(SECOND)
    require(good, "a list of names of SECOND", came=shown(came), when=f"the key is {key}")
    inorder = [name for name in SECOND if name in came]
    expect(inorder, unasked(KEYS[key]), when=f"the key is {key}")


@TASK.part(
    "by name",
    idea="A yes to a name is a yes to arguments that nobody has seen: every later delete gets "
    "through, whatever it deletes.",
)
def by_name(get_through):
    compare(get_through, "by name")


@TASK.part(
    "by value",
    idea="In Python 1 == True == 1.0, and so are tuples that hold them. On the wire they differ: "
    "one day, or all of them. What a server tells apart, a binding must tell apart.",
)
def by_value(get_through):
    compare(get_through, "by value")


@TASK.part(
    "by text",
    idea="The order of an object's keys means nothing in JSON, and plain json.dumps keeps it: a "
    "person is asked twice about one thing. And no key at all can tell a call from the same call "
    "again. A second booking is stopped only by a yes that its call uses up.",
)
def by_text(get_through):
    compare(get_through, "by text")


# -- what people write ----------------------------------------------------------------------------


@TASK.wrong("arguments that nobody has seen")
def a_name_means_these_arguments():
    names = ["the same again", "its keys turned round", "true in place of 1"]
    get_through = {**as_they_run(), "by name": names}
    return get_through


@TASK.wrong("1 == True")
def true_is_no_number():
    get_through = {**as_they_run(), "by value": ["the same again", "its keys turned round"]}
    return get_through


@TASK.wrong("means nothing in JSON")
def text_has_no_order():
    get_through = {**as_they_run(), "by text": ["the same again", "its keys turned round"]}
    return get_through


@TASK.wrong("uses up")
def an_exact_key_is_good_once():
    get_through = {**as_they_run(), "by text": []}
    return get_through
