"""09.3: mend a conversation that was saved with holes in it."""

import copy
import itertools

from exercises.machine import Task, doing, expect, require
from fake_servers.anthropic_api import refusal
from mini_agent.blocks import result_block, text_block, tool_use_block, tool_use_ids
from mini_agent.types import ToolCall, ToolResult

TASK = Task(
    "09.3",
    "A conversation with holes in it",
    level="solid",
    minutes=20,
    section="Break 3: a `tool_use` without its `tool_result`",
    text="""
A program with the naive loop has crashed, now and then, and saved its conversations all the same.
`HOLED` is one of them. Write `mended(messages)`: a new list of messages which the model's service
accepts again.

- Nothing that was said is lost or changed, and nothing else is said but the results that are
  missing.
- A result that is there stays as it is. Each one that is missing comes into the message right after
  its call, before whatever else is said there, in the order of the calls.
- Nobody knows whether such a call was made. Say so, with `is_error`.
- `messages` itself stays as it is.
""",
    hints=(
        "The service looks at each pair of neighbours: the ids of the calls in the one, the ids of "
        "the results in the next. `verdict(messages)` says what it thinks of a list.",
        "Two places are easily forgotten: the last message, which has no neighbour, and a batch of "
        "which one result is there. The order of the results is that of the calls.",
        "Go through the messages with an index. For a message with calls: collect the results of "
        "the message after it by their id, if there is one. Make the list of results in the order "
        "of the calls, with a new one where none is. What else that next message held comes "
        "behind them. Build new dicts all along.",
    ),
    given="HOLED verdict",
)

HOLED = [
    {"role": "user", "content": [{"type": "text", "text": "Book Wednesday, then show it."}]},
    {
        "role": "assistant",
        "content": [
            {"type": "tool_use", "id": "t1", "name": "calendar_create", "input": {"hour": 15}},
            {"type": "tool_use", "id": "t2", "name": "calendar_query", "input": {"day": 5}},
        ],
    },
    {"role": "user", "content": [{"type": "text", "text": "Are you still there?"}]},
]


def verdict(messages):
    body = {"model": "any", "max_tokens": 100, "stream": True, "messages": messages}
    return refusal("POST", "/v1/messages", {"x-api-key": "none"}, body)


@TASK.solution
def results_before_the_rest():
    def mended(messages):
        ### BEGIN SOLUTION
        whole, calls = [], []
        for message in [*messages, {"role": "user", "content": []}]:
            content = message["content"]
            had = {b["tool_use_id"]: b for b in content if b["type"] == "tool_result"}
            results = [had.get(call["id"]) or unknown(call) for call in calls]
            rest = [block for block in content if block["type"] != "tool_result"]
            if results or rest:
                whole.append({**message, "content": [*results, *rest]})
            calls = [block for block in content if block["type"] == "tool_use"]
        return whole

    def unknown(call):
        said = f"no result was kept: {call['name']} may have been done, look first"
        return {
            "type": "tool_result",
            "tool_use_id": call["id"],
            "content": said,
            "is_error": True,
        }
        ### END SOLUTION

    return mended


@TASK.right
def a_message_of_its_own():
    def mended(messages):
        messages = copy.deepcopy(messages)
        for at in range(len(messages) - 1, -1, -1):
            ids = tool_use_ids(messages[at])
            after = messages[at + 1]["content"] if messages[at + 1 :] else []
            there = {b["tool_use_id"]: b for b in after if b["type"] == "tool_result"}
            if ids and list(there) != ids:
                after[:] = [block for block in after if block["type"] != "tool_result"]
                filled = [there.get(call_id) or made(call_id) for call_id in ids]
                messages.insert(at + 1, {"role": "user", "content": filled})
        return [message for message in messages if message["content"]]

    def made(call_id):
        told = ToolResult("it is not known what became of this", is_error=True)
        return result_block(ToolCall(call_id, "", {}), told)

    return mended


# -- the check ------------------------------------------------------------------------------------


def asks(*ids):
    calls = [tool_use_block(ToolCall(i, "calendar_create", {"hour": 15})) for i in ids]
    return {"role": "assistant", "content": calls}


def says(text):
    return {"role": "user", "content": [text_block(text)]}


def answers(*ids, also=()):
    calls = [ToolCall(i, "calendar_create", {}) for i in ids]
    done = [result_block(call, ToolResult(f"booked for {call.id}")) for call in calls]
    return {"role": "user", "content": [*done, *also]}


HELLO = {"role": "assistant", "content": [text_block("Hello.")]}


def after_mending(mended, messages, when):
    """The mended list, once it is a list of messages that the service accepts."""
    with doing(when):
        new = mended(copy.deepcopy(messages))
    require(isinstance(new, list), "a list of messages", came=new, when=when)
    why = verdict(new)
    require(why is None, "what the service accepts", came=f"refused: {why}", when=when)
    return new


def spoken(messages):
    """What was said but for the results that are made up, block by block with its speaker."""
    blocks = [(m["role"], block) for m in messages for block in m["content"]]
    return [pair for pair in blocks if not is_new(pair[1])]


def is_new(block):
    told = str(block.get("content"))
    return block["type"] == "tool_result" and not told.startswith("booked for ")


@TASK.part(
    "what is whole stays as it is",
    idea="A tool that mends must leave alone what is not broken, or nobody dares to run it on all "
    "files. Two messages of the user in a row are odd, and legal.",
)
def whole(mended):
    good = [says("Book it."), asks("t1"), answers("t1"), HELLO, says("And?"), says("Hello?")]
    for messages in ([], [says("Hi.")], good):
        when = f"a whole conversation of {len(messages)} messages"
        new = mended(copy.deepcopy(messages))
        expect(new, messages, when=when)


@TASK.part(
    "a hole in the middle",
    idea="The results stand in the message right after the calls, and before all else in it. At "
    "the end of the conversation they answer nothing: the service looks at neighbours.",
)
def in_the_middle(mended):
    messages = [says("Book it."), asks("t1"), says("Hello?"), HELLO, says("And?")]
    when = "after a call the user speaks, with no result before"
    new = after_mending(mended, messages, when)
    expect(spoken(new), spoken(messages), when=f"{when}: what was said")
    blocks = [block["type"] for message in new[2:4] for block in message["content"]]
    expect(blocks[:2], ["tool_result", "text"], when=f"{when}: what stands behind the call")


@TASK.part(
    "a hole at the end",
    idea="The crash came right after the model's turn, so nothing follows it. It has no neighbour, "
    "and whoever goes through pairs never looks at it.",
)
def at_the_end(mended):
    messages = [says("Book it."), HELLO, says("Now."), asks("t1", "t2")]
    when = "the last message is the model's, with two calls"
    new = after_mending(mended, messages, when)
    came = new[-1]["content"] if new and new[-1]["role"] == "user" else new[-1:]
    ids = [block.get("tool_use_id") for block in came]
    expect(ids, ["t1", "t2"], when=f"{when}: the results at the end")


@TASK.part(
    "a batch that is half answered",
    idea='A result that is there is the only one that somebody has seen: replaced by "unknown", a '
    "booking is made a second time. And the order is that of the calls.",
)
def half_answered(mended):
    for there in (("t1",), ("t2",), ("t1", "t3")):
        also = [text_block("Go on.")]
        messages = [says("Book it."), asks("t1", "t2", "t3"), answers(*there, also=also)]
        when = f"of the calls t1, t2, t3 these have a result: {', '.join(there)}"
        new = after_mending(mended, messages, when)
        results = [b for m in new for b in m["content"] if b["type"] == "tool_result"]
        expect([b for b in results if not is_new(b)], answers(*there)["content"], when=when)


@TASK.part(
    "nobody knows what became of it",
    idea="The call may have been made, and what is booked is booked. A result that says so lets "
    "the model look first; one that claims success or an empty day lets it build on nothing.",
)
def nobody_knows(mended):
    when = "two calls have no result"
    new = after_mending(mended, HOLED, when)
    made = [b for m in new for b in m["content"] if b["type"] == "tool_result"]
    for block in made:
        expect(block.get("is_error"), True, when=when)
        require(block["content"].strip(), "a sentence as its content", came="none", when=when)


@TASK.part(
    "the messages that were given stay as they are",
    idea="They are the only copy of what happened. Who mends in place has nothing left to look at "
    "when the mending was wrong.",
)
def given_stay(mended):
    messages = [says("Book it."), asks("t1", "t2"), answers("t2", also=[text_block("And?")])]
    before = copy.deepcopy([*messages, asks("t3")])
    given = [*messages, asks("t3")]
    mended(given)
    expect(given, before, when="it was mended: the list that was given")


# -- what people write ----------------------------------------------------------------------------


@TASK.wrong("odd, and legal")
def neighbours_joined():
    def mended(messages):
        new = []
        for message in results_before_the_rest()(messages):
            if new and new[-1]["role"] == message["role"] == "user":
                new[-1]["content"] += message["content"]
            else:
                new.append(message)
        return new

    return mended


@TASK.wrong("before all else in it")
def behind_what_the_user_said():
    def mended(messages):
        new = results_before_the_rest()(messages)
        for message in new:
            message["content"].sort(key=lambda block: block["type"] == "tool_result")
        return new

    return mended


@TASK.wrong("looks at neighbours")
def all_at_the_end():
    def mended(messages):
        have = {b.get("tool_use_id") for m in messages for b in m["content"]}
        filled = results_before_the_rest()(messages)
        made = [b for m in filled for b in m["content"] if b.get("tool_use_id", "") not in have]
        made = [block for block in made if block["type"] == "tool_result"]
        return [*messages, {"role": "user", "content": made}] if made else messages

    return mended


@TASK.wrong("has no neighbour")
def pair_by_pair():
    def mended(messages):
        new = copy.deepcopy(messages)
        for before, message in itertools.pairwise(new):
            ids = tool_use_ids(before)
            had = {b["tool_use_id"]: b for b in message["content"] if "tool_use_id" in b}
            rest = [block for block in message["content"] if "tool_use_id" not in block]
            made = {"type": "tool_result", "content": "not known", "is_error": True}
            results = [had.get(i) or {**made, "tool_use_id": i} for i in ids]
            message["content"] = [*results, *rest]
        return new

    return mended


@TASK.wrong("made a second time")
def all_of_them_unknown():
    def mended(messages):
        bare = copy.deepcopy(messages)
        for before, message in itertools.pairwise(bare):
            there = [b for b in message["content"] if b["type"] == "tool_result"]
            if len(there) < len(tool_use_ids(before)):
                message["content"] = [b for b in message["content"] if b not in there]
        return results_before_the_rest()(bare)

    return mended


@TASK.wrong("the order is that of the calls")
def the_missing_ones_behind():
    def mended(messages):
        new = results_before_the_rest()(messages)
        for message in new:
            message["content"].sort(key=lambda b: (b["type"] == "text", is_new(b)))
        return new

    return mended


@TASK.wrong("build on nothing")
def an_empty_success():
    def mended(messages):
        new = results_before_the_rest()(messages)
        return [
            {**m, "content": [{**b, "is_error": False} if is_new(b) else b for b in m["content"]]}
            for m in new
        ]

    return mended


@TASK.wrong("in place")
def in_place():
    def mended(messages):
        messages[:] = results_before_the_rest()(messages)
        return messages

    return mended
