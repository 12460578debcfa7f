"""11.4: mend a yes that is remembered by name."""

import asyncio
import copy

from exercises.machine import Task, doing, expect, require
from mini_agent.difference import canonical
from mini_agent.types import Approval, ToolCall, ToolResult

TASK = Task(
    "11.4",
    "Mend it: a yes that is remembered by name",
    level="demanding",
    minutes=30,
    section="Changed between the yes and the call",
    text="""
`Door` stands between the loop and a server. `before_tool_call` asks a person, `execute` sends. A
yes is remembered by the tool's name. Mend it, so that nothing is sent but what a person has seen
and approved.

- A yes is good for one call: this tool, these arguments as JSON means them, the tool's pin as it
  was when the person was asked. Two yeses are good for two calls.
- What is not approved is not sent: `execute` returns a ToolResult with `is_error`.
- A person takes a minute. Meanwhile the program may change `call.input`, and the server its tool.

`pin_of(name)` gives the pin of a tool now; `approver(call)` and `send(name, arguments)` are
awaited. The check calls `execute(name, arguments)`, as a loop does, and looks at what was sent.
""",
    hints=(
        "A yes needs a value of its own that says all of what was shown. Two questions: what goes "
        "into it, and when is it made?",
        "Made before the `await`, since what comes later nobody has seen. `canonical` of "
        "`mini_agent.difference` makes one text of arguments, whatever the order of their keys, "
        "and tells 1 from true. `approval.approved` is the answer, not `approval`.",
        "Before asking, make the tuple of name, canonical arguments and pin. After a yes, add one "
        "to its count. In `execute`, make the same tuple of what came and the pin of now. No "
        "count: refuse. Otherwise take one away and send.",
    ),
)


@TASK.stub
def by_name():
    class Door:
        def __init__(self, approver, pin_of, send):
            self.approver, self.pin_of, self.send = approver, pin_of, send
            self.approved = set()

        async def before_tool_call(self, call):
            approval = await self.approver(call)
            if approval:
                self.approved.add(call.name)
            return approval

        async def execute(self, name, arguments):
            if name not in self.approved:
                return ToolResult(f"{name} was not approved", is_error=True)
            return await self.send(name, arguments)

    return Door


@TASK.solution
def by_everything_shown():
    class Door:
        def __init__(self, approver, pin_of, send):
            self.approver, self.pin_of, self.send = approver, pin_of, send
            self.grants = {}

        def bound(self, name, arguments):
            return name, canonical(arguments), self.pin_of(name)

        async def before_tool_call(self, call):
            shown = self.bound(call.name, call.input)
            approval = await self.approver(call)
            if approval.approved:
                self.grants[shown] = self.grants.get(shown, 0) + 1
            return approval

        async def execute(self, name, arguments):
            now = self.bound(name, arguments)
            if not self.grants.get(now):
                return ToolResult(f"{name} was not approved with these arguments", is_error=True)
            self.grants[now] -= 1
            return await self.send(name, arguments)

    return Door


@TASK.right
def a_list_of_calls_and_a_copy():
    class Door:
        def __init__(self, approver, pin_of, send):
            self.approver, self.pin_of, self.send, self.open = approver, pin_of, send, []

        async def before_tool_call(self, call):
            seen, pin = copy.deepcopy(call), self.pin_of(call.name)
            approval = await self.approver(copy.deepcopy(seen))
            if approval.approved is True:
                self.open.append((seen.name, pin, as_text(seen.input)))
            return approval

        async def execute(self, name, arguments):
            try:
                self.open.remove((name, self.pin_of(name), as_text(arguments)))
            except ValueError:
                return ToolResult("nobody has approved this", True)
            return await self.send(name, arguments)

    def as_text(value):
        if isinstance(value, dict):
            return sorted((key, as_text(inner)) for key, inner in value.items())
        return [as_text(v) for v in value] if isinstance(value, list) else repr(value)

    return Door


# -- the check ------------------------------------------------------------------------------------


def delete(**arguments):
    return ToolCall("t1", "calendar_delete", {"id": "apt-3", **arguments})


class Scene:
    """A Door with a person, a server's pins, and what was sent."""

    def __init__(self, Door, answer=True):
        self.answer = answer
        self.pins = {"calendar_delete": "a1", "calendar_clear": "b1"}
        self.sent = []
        self.meanwhile = lambda: None  # what happens while the person reads
        self.door = Door(self.person, self.pins.get, self.send)

    async def person(self, call):
        await asyncio.sleep(0)
        self.meanwhile()
        return Approval(self.answer, "the person has spoken")

    async def send(self, name, arguments):
        self.sent.append((name, copy.deepcopy(arguments)))
        return ToolResult("Deleted.")

    async def asked(self, call):
        came = await self.door.before_tool_call(call)
        require(
            isinstance(came, Approval), "an Approval", came=came, when="it has asked the person"
        )
        expect(came.approved, self.answer, when=f"the person says {self.answer}")

    async def runs(self, call, when):
        before = len(self.sent)
        with doing(when):
            came = await self.door.execute(call.name, copy.deepcopy(call.input))
            expect(self.sent[before:], [(call.name, call.input)], when=f"{when}: what was sent")
            expect(came, ToolResult("Deleted."), when=when)

    async def refuses(self, call, when):
        before = len(self.sent)
        with doing(when):
            came = await self.door.execute(call.name, copy.deepcopy(call.input))
            sent = self.sent[before:]
            require(not sent, "nothing sent", came=f"sent: {sent}", when=when)
            wanted = "a ToolResult with is_error"
            require(isinstance(came, ToolResult) and came.is_error, wanted, came=came, when=when)


@TASK.part(
    "what was approved is sent, whatever the order of its keys",
    idea="An object's keys have no order in JSON. A call that was approved and is refused for the "
    "order of its keys is asked about again, and nobody knows why.",
)
async def what_was_approved(Door):
    scene = Scene(Door)
    await scene.asked(delete(why={"a": 1, "b": [2, None]}))
    turned = ToolCall("t1", "calendar_delete", {"why": {"b": [2, None], "a": 1}, "id": "apt-3"})
    await scene.runs(turned, "the same arguments come, their keys turned round")


@TASK.part(
    "other arguments and other tools are not sent",
    idea="A yes to a name is a yes to arguments that nobody has seen. A yes to arguments alone is "
    "a yes to whatever tool takes them.",
)
async def others_are_not_sent(Door):
    scene = Scene(Door)
    await scene.asked(delete(why={"reason": "moved"}))
    await scene.refuses(delete(id="apt-1", why={"reason": "moved"}), "another id comes")
    await scene.refuses(delete(why={"reason": "over"}), "the change is deep inside")
    await scene.refuses(delete(), "an argument is left out")
    more = delete(why={"reason": "moved"}, all=True)
    await scene.refuses(more, "an argument is added")
    other = ToolCall("t1", "calendar_clear", more.input | {"all": None})
    await scene.refuses(other, "another tool comes")
    other = ToolCall("t1", "calendar_clear", delete(why={"reason": "moved"}).input)
    await scene.refuses(other, "another tool comes, with the same arguments")


@TASK.part(
    'on the wire 1, true and "1" are three',
    idea="Python says 1 == True == 1.0, so dicts that hold them are equal, too. A server that was "
    "sent true may do for all days what was approved for one.",
)
async def three_values(Door):
    for shown, sent in ((1, True), (0, False), (1, "1"), (True, 1), (None, "null")):
        scene = Scene(Door)
        await scene.asked(delete(days=shown))
        await scene.refuses(delete(days=sent), f"{shown!r} was approved and {sent!r} comes")


@TASK.part(
    "a no is a no",
    idea="An Approval that says no is an object, and every object is true. The answer stands in "
    "its field approved.",
)
async def a_no(Door):
    scene = Scene(Door, answer=False)
    await scene.asked(delete())
    await scene.refuses(delete(), "the person said no")


@TASK.part(
    "a yes is used up by its call",
    idea="To book twice is another act than to book once. A yes that stays lets a model that "
    "repeats itself act again, with nobody asked.",
)
async def used_up(Door):
    scene = Scene(Door)
    await scene.refuses(delete(), "nobody was asked yet")
    await scene.asked(delete())
    await scene.runs(delete(), "it was approved")
    await scene.refuses(delete(), "it comes a second time on one yes")


@TASK.part(
    "two yeses are good for two calls",
    idea="A model may ask for the same thing twice, and a person may say yes twice. Where the "
    "second yes falls onto the first, one approved call is refused.",
)
async def two_yeses(Door):
    scene = Scene(Door)
    await scene.asked(delete())
    await scene.asked(delete())
    for which in ("first", "second"):
        await scene.runs(delete(), f"it was approved twice, and comes for the {which} time")


@TASK.part(
    "what changes while the person reads was not approved",
    idea="A person says yes to what was on the card when it was shown. What is noted after the "
    "await is what things have become meanwhile.",
)
async def while_the_person_reads(Door):
    scene, call = Scene(Door), delete()
    scene.meanwhile = lambda: call.input.update(id="apt-1")
    await scene.asked(call)
    when = 'the program made "apt-1" of "apt-3" while the person read'
    await scene.refuses(delete(id="apt-1"), when)
    scene = Scene(Door)
    scene.meanwhile = lambda: scene.pins.update(calendar_delete="a2")
    await scene.asked(delete())
    await scene.refuses(delete(), "the server changed its tool while the person read")


@TASK.part(
    "what changes between the yes and the call was not approved",
    idea="The name is the same, the arguments too, and the tool behind it is another one. The pin "
    "must be looked at once more when the call is made.",
)
async def before_the_call(Door):
    scene = Scene(Door)
    await scene.asked(delete())
    scene.pins["calendar_delete"] = "a2"
    await scene.refuses(delete(), "the server changed its tool after the yes")


# -- what people write ----------------------------------------------------------------------------


@TASK.wrong("have no order in JSON")
def the_text_of_a_dict():
    class Door(by_everything_shown()):
        def bound(self, name, arguments):
            return name, repr(arguments), self.pin_of(name)

    return Door


@TASK.wrong("arguments that nobody has seen")
def the_name_and_its_pin():
    class Door(by_everything_shown()):
        def bound(self, name, arguments):
            days = [value for key, value in arguments.items() if key == "days"]
            return name, canonical(days), self.pin_of(name)

    return Door


@TASK.wrong("whatever tool takes them")
def the_arguments_alone():
    class Door(by_everything_shown()):
        def bound(self, name, arguments):
            return canonical(arguments), self.pin_of("calendar_delete")

    return Door


class Listed:
    """Values that are held against each other as Python does it."""

    def __init__(self, *values):
        self.values = values

    def __eq__(self, other):
        return self.values == other.values

    def __hash__(self):
        return hash(self.values[0])


@TASK.wrong("1 == True")
def equal_dicts_are_equal():
    class Door(by_everything_shown()):
        def bound(self, name, arguments):
            return Listed(name, copy.deepcopy(arguments), self.pin_of(name))

    return Door


@TASK.wrong("every object is true")
def the_object_is_the_answer():
    class Door(by_everything_shown()):
        async def before_tool_call(self, call):
            shown = self.bound(call.name, call.input)
            approval = await self.approver(call)
            if approval:
                self.grants[shown] = self.grants.get(shown, 0) + 1
            return approval

    return Door


@TASK.wrong("A yes that stays")
def never_used_up():
    class Door(by_everything_shown()):
        async def execute(self, name, arguments):
            if self.bound(name, arguments) not in self.grants:
                return ToolResult("not approved", is_error=True)
            return await self.send(name, arguments)

    return Door


@TASK.wrong("falls onto the first")
def a_set_of_grants():
    class Door(by_everything_shown()):
        async def before_tool_call(self, call):
            shown = self.bound(call.name, call.input)
            approval = await self.approver(call)
            if approval.approved:
                self.grants[shown] = 1
            return approval

    return Door


@TASK.wrong("when it was shown")
def noted_after_the_answer():
    class Door(by_everything_shown()):
        async def before_tool_call(self, call):
            approval = await self.approver(call)
            if approval.approved:
                shown = self.bound(call.name, call.input)
                self.grants[shown] = self.grants.get(shown, 0) + 1
            return approval

    return Door


@TASK.wrong("what things have become")
def the_pin_after_the_answer():
    class Door(by_everything_shown()):
        async def before_tool_call(self, call):
            shown = (call.name, canonical(call.input))
            approval = await self.approver(call)
            if approval.approved:
                bound = (*shown, self.pin_of(call.name))
                self.grants[bound] = self.grants.get(bound, 0) + 1
            return approval

    return Door


@TASK.wrong("once more when the call is made")
def the_pin_only_at_the_door():
    class Door(by_everything_shown()):
        def bound(self, name, arguments):
            return name, canonical(arguments)

        async def before_tool_call(self, call):
            pin = self.pin_of(call.name)
            shown = self.bound(call.name, call.input)
            approval = await self.approver(call)
            if approval.approved and self.pin_of(call.name) == pin:
                self.grants[shown] = self.grants.get(shown, 0) + 1
            return approval

    return Door
