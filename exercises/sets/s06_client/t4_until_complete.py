"""06.4: rounds with a server that asks back, and a user who may say "never mind"."""

import asyncio

from exercises.machine import Task, expect, refused_async, require
from mini_agent.errors import InputRequired, MalformedMessage
from mini_agent.mcp.shapes import parse_input_required

TASK = Task(
    "06.4",
    "`until_complete`, and a user who says: never mind",
    level="demanding",
    minutes=30,
    section="`until_complete`",
    text="""
Write `until_complete(ask, handler)`. `await ask(extra)` sends the call with `extra` added to its
params, and returns the result. `await handler(questions)` gets the server's questions by key and
returns the answers by key, or None: the user does not want the call any more.

- The first request adds nothing. A result that is not `input_required` is returned as it is.
- After questions the call goes out again with `inputResponses`, one answer for each question and
  no other, and with the `requestState` of this round, if it had one, as it came. A decline
  (`{"action": "decline"}`) is an answer: the server decides what to do about it.
- A handler that leaves a question out is a ValueError, and nothing is sent.
- After a state with no question the call goes out again, and nobody is asked: at once would be too
  soon, so after a short pause.
- Never mind: nothing more is sent. The caller gets InputRequired, which holds the questions
  (`requests`) and the `state`, so that somebody may take it up tomorrow. The same where the server
  still asks in answer to the tenth request.

`parse_input_required(result)` gives questions and state, or raises MalformedMessage.
""",
    hints=(
        "Draw two rounds: what goes out first, what comes back, what goes out second. What of it "
        "must not be remembered any longer than one round?",
        "The server keeps nothing: what it has to know travels in the state. So never mind needs "
        "no message, and an InputRequired is all that is needed to go on. A question left out and "
        "a question declined are two things.",
        "Ten times: ask with the extra, return unless input_required, parse. Then build the extra "
        "anew, from an empty dict: the state if it is not None; with questions the handler's "
        "answers, None and missing keys looked at first; without, a sleep. After the tenth raise.",
    ),
)


@TASK.solution
def a_new_extra_each_round():
    async def until_complete(ask, handler):
        ### BEGIN SOLUTION
        extra = {}
        for round_number in range(1, 11):
            result = await ask(extra)
            if result.get("resultType") != "input_required":
                return result
            questions, state = parse_input_required(result)
            held = {"requests": questions, "state": state}
            if round_number == 10:
                raise InputRequired("the server still asks after ten requests", **held)
            extra = {} if state is None else {"requestState": state}
            if not questions:
                await asyncio.sleep(0.05 * 2**round_number)
                continue
            given = await handler(questions)
            if given is None:
                raise InputRequired("the user does not want it any more", **held)
            missing = questions.keys() - given.keys()
            if missing:
                raise ValueError(f"no answer for {', '.join(sorted(missing))}")
            extra["inputResponses"] = {key: given[key] for key in questions}
        ### END SOLUTION

    return until_complete


@TASK.right
def round_by_recursion():
    async def until_complete(ask, handler):
        async def answered(questions, state):
            given = await handler(dict(questions))
            if given is None:
                raise InputRequired("never mind", requests=questions, state=state)
            if set(questions) - set(given):
                raise ValueError("a question was left out")
            return {"inputResponses": {key: given[key] for key in given if key in questions}}

        async def go_on(result, left):
            if result.get("resultType", "complete") == "complete":
                return result
            questions, state = parse_input_required(result)
            if not left:
                raise InputRequired("still not", requests=questions, state=state)
            extra = await answered(questions, state) if questions else await asyncio.sleep(0.1, {})
            kept = {"requestState": state} if state is not None else {}
            return await go_on(await ask(extra | kept), left - 1)

        return await go_on(await ask({}), 9)

    return until_complete


# -- the check ------------------------------------------------------------------------------------


def not_yet(*keys, **more):
    asks = {key: {"method": "elicitation/create", "params": {"message": f"{key}?"}} for key in keys}
    return {"resultType": "input_required", **({"inputRequests": asks} if keys else {}), **more}


def done():
    return {"resultType": "complete", "content": [{"type": "text", "text": "Booked."}]}


def accept(text):
    return {"action": "accept", "content": {"value": text}}


class TooMany(Exception):
    """What the server of the check says when it has been asked too often."""


class Desk:
    """A server that is a list of results. ``asked`` holds what each request added."""

    def __init__(self, *results):
        self.results, self.asked = list(results), []

    async def ask(self, extra):
        require(isinstance(extra, dict), "a dict to add to the params", came=extra)
        self.asked.append(dict(extra))
        if len(self.asked) > 30:
            raise TooMany("30 requests, and it goes on")
        return self.results[min(len(self.asked), len(self.results)) - 1]


class Somebody:
    """A user who gives these answers, one dict a round; the last one again and again."""

    def __init__(self, *answers):
        self.answers, self.heard = list(answers), []

    async def __call__(self, questions):
        self.heard.append(sorted(questions))
        return self.answers[min(len(self.heard), len(self.answers)) - 1]


@TASK.part(
    "a complete result at once",
    idea="Nearly every call ends with its first answer. Nobody is asked, nothing is added, and a "
    "tool that failed is complete as well.",
)
async def complete_at_once(until_complete):
    for result in (done(), {"content": [], "isError": True}):
        desk, user = Desk(result), Somebody({})
        expect(await until_complete(desk.ask, user), result)
        expect((desk.asked, user.heard), ([{}], []), when="the first answer was complete")


@TASK.part(
    "answers under their keys, and the state as it came",
    idea="The retry is a request of its own and must say all: each question answered under its "
    "key, and the server's memory byte for byte. What was not asked is not told.",
)
async def under_their_keys(until_complete):
    desk = Desk(not_yet("room", "who", requestState=' {"n": 1} '), done())
    given = {"room": accept("2"), "who": accept("Kim"), "phone": accept("555-0100")}
    expect(await until_complete(desk.ask, Somebody(given)), done())
    answers = {"room": given["room"], "who": given["who"]}
    wanted = [{}, {"inputResponses": answers, "requestState": ' {"n": 1} '}]
    expect(desk.asked, wanted, when="two questions and a state came, and the user knows more")


@TASK.part(
    "each round says only what it was asked",
    idea="A state lives for one round. Sent with a later one, the server goes on from where it was "
    "before, or books twice. No state is no state: not null, and not the last one.",
)
async def one_round_long(until_complete):
    desk = Desk(not_yet("room", requestState="s1"), not_yet("who"), done())
    await until_complete(desk.ask, Somebody({"room": accept("2")}, {"who": accept("Kim")}))
    wanted = [
        {},
        {"inputResponses": {"room": accept("2")}, "requestState": "s1"},
        {"inputResponses": {"who": accept("Kim")}},
    ]
    expect(desk.asked, wanted, when="the first round has a state, the second has none")


@TASK.part(
    "a decline is an answer",
    idea='"Not this room" is something that the server can use: it may offer another. Only the '
    "user who wants nothing of it any more ends the call.",
)
async def a_decline(until_complete):
    desk = Desk(not_yet("room"), done())
    declined = {"room": {"action": "decline"}}
    expect(await until_complete(desk.ask, Somebody(declined)), done(), when="the user declines")
    expect(desk.asked[1:], [{"inputResponses": declined}], when="the user declines")


@TASK.part(
    "never mind: nothing is sent, the caller is told",
    idea="The server waits for nobody, so there is nothing to call off. The caller must not get an "
    "empty result: it was not done. What was asked and the state are all that is needed to go on.",
)
async def never_mind(until_complete):
    desk = Desk(not_yet("room", requestState="s1"), not_yet("who", requestState="s2"), done())
    user = Somebody({"room": accept("2")}, None)
    when = "the first question is answered, and at the second the user says never mind"
    error = await refused_async(InputRequired, until_complete(desk.ask, user), when=when)
    expect(len(desk.asked), 2, when=f"{when}; requests sent")
    expect((list(error.requests), error.state), (["who"], "s2"), when=when)


@TASK.part(
    "a question left out",
    idea="Half of the answers bring the same question again, ten times. It is the handler's "
    "mistake, so it is no McpError, and the server need not hear of it.",
)
async def left_out(until_complete):
    desk = Desk(not_yet("room", "who"), done())
    when = "two questions came and the handler answers one"
    user = Somebody({"room": accept("2")})
    await refused_async(ValueError, until_complete(desk.ask, user), when=when)
    expect(len(desk.asked), 1, when=f"{when}; requests sent")


@TASK.part(
    "a state and no question",
    idea="The server wants more time, and nobody can answer nothing: the user is not disturbed. "
    "Without a pause we would ask it as fast as the wire allows.",
)
async def no_question(until_complete):
    desk, user = Desk(not_yet(requestState="s1"), done()), Somebody({})
    clock = asyncio.get_running_loop().time
    before = clock()
    expect(await until_complete(desk.ask, user), done(), when="a state came and no question")
    expect(desk.asked, [{}, {"requestState": "s1"}], when="a state came and no question")
    expect(user.heard, [], when="we look at what the user was asked")
    require(clock() - before > 0.01, "a short pause", came="none", when="a state came alone")


@TASK.part(
    "ten requests, and no more",
    idea="A server may ask for ever. Whoever was asked ten times has had enough, and the caller "
    "learns what the last question was.",
)
async def ten_requests(until_complete):
    desk = Desk(not_yet("room", requestState="s1"))
    user = Somebody({"room": accept("2")})
    when = "the server asks for the room in every answer"
    error = await refused_async(InputRequired, until_complete(desk.ask, user), when=when)
    expect(len(desk.asked), 10, when=f"{when}; requests sent")
    expect((list(error.requests), error.state), (["room"], "s1"), when=when)


@TASK.part(
    "neither question nor state",
    idea="Not yet, and no word on what is missing: the server broke the format. Asking again with "
    "nothing added brings the same.",
)
async def neither(until_complete):
    desk = Desk(not_yet())
    when = "input_required came with neither questions nor state"
    await refused_async(MalformedMessage, until_complete(desk.ask, Somebody({})), when=when)


# -- what people write ----------------------------------------------------------------------------


async def rounds(ask, handler, without="", most=10):
    """The solution with one rule left out, for the answers that forget it."""
    extra = {}
    for number in range(1, 41):
        result = await ask(extra)
        if result.get("resultType") != "input_required":
            if without == "error" and result.get("isError"):
                raise MalformedMessage("the tool failed")
            return result
        if without == "neither":
            questions, state = result.get("inputRequests", {}), result.get("requestState")
        else:
            questions, state = parse_input_required(result)
        held = {"requests": questions, "state": state}
        if number == most:
            raise InputRequired("no more", **held)
        extra = extra if without == "round" else {}
        if state is not None:
            extra = {**extra, "requestState": state.strip() if without == "bytes" else state}
        elif without == "null":
            extra = {"requestState": None}
        if not questions:
            if without != "pause":
                await asyncio.sleep(0.1)
            if without == "disturbed":
                await handler({})
            continue
        given = await handler(questions)
        declined = without == "decline" and given and "decline" in str(given)
        if given is None or declined:
            if without == "call off":
                cancel = {key: {"action": "cancel"} for key in questions}
                await ask({**extra, "inputResponses": cancel})
            if without == "mind":
                return {"resultType": "complete", "content": []}
            raise InputRequired("never mind", **held)
        if questions.keys() - given.keys() and without != "missing":
            raise ValueError("a question was left out")
        kept = given if without == "keys" else {k: given[k] for k in questions if k in given}
        extra = {**extra, "inputResponses": kept}


def doing_rounds(**options):
    async def until_complete(ask, handler):
        return await rounds(ask, handler, **options)

    return until_complete


@TASK.wrong("is complete as well")
def a_tool_error_is_raised():
    until_complete = doing_rounds(without="error")
    return until_complete


@TASK.wrong("byte for byte")
def the_state_is_tidied_up():
    until_complete = doing_rounds(without="bytes")
    return until_complete


@TASK.wrong("is not told")
def all_that_the_user_said():
    until_complete = doing_rounds(without="keys")
    return until_complete


@TASK.wrong("lives for one round")
def the_extra_grows():
    until_complete = doing_rounds(without="round")
    return until_complete


@TASK.wrong("it may offer another")
def a_decline_ends_it():
    until_complete = doing_rounds(without="decline")
    return until_complete


@TASK.wrong("it was not done")
def never_mind_is_an_empty_result():
    until_complete = doing_rounds(without="mind")
    return until_complete


@TASK.wrong("nothing to call off")
def the_server_is_told_to_cancel():
    until_complete = doing_rounds(without="call off")
    return until_complete


@TASK.wrong("bring the same question again")
def half_of_the_answers():
    until_complete = doing_rounds(without="missing")
    return until_complete


@TASK.wrong("the user is not disturbed")
def the_handler_is_always_asked():
    until_complete = doing_rounds(without="disturbed")
    return until_complete


@TASK.wrong("as fast as the wire allows")
def at_once_again():
    until_complete = doing_rounds(without="pause")
    return until_complete


@TASK.wrong("has had enough")
def until_it_is_content():
    until_complete = doing_rounds(most=0)
    return until_complete


@TASK.wrong("broke the format")
def whatever_came():
    until_complete = doing_rounds(without="neither")
    return until_complete
