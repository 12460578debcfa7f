"""11.3: an approver that answers by itself what it has looked at, and asks a person the rest."""

import inspect
from datetime import date

from exercises.machine import Task, doing, expect, require
from mini_agent.types import Approval, ToolCall

TASK = Task(
    "11.3",
    "An approver that does not ask about tomorrow",
    level="solid",
    minutes=15,
    section="`scripted`: an approver for tests",
    text="""
Robin is asked about every query, and is tired of it. What lies ahead may be looked at; what is past
is Robin's own business. Write `careful(today, person)`. `today` is a `datetime.date`, `person` is
an approver. It returns an approver, a function of a call and the reason why it is asked:

- `calendar_query` with a `date` of today or later, and with no other argument: yes, with a reason,
  and nobody is asked.
- Everything else goes to `person`, as it came, and their answer is the answer.

A `date` is text like `"2026-08-03"`, in the calendar's own way. But arguments come from a model:
they may be anything.
""",
    hints=(
        "Two questions: is this a call that I know entirely? Is its day a real one, not before "
        "today? Only two times yes is a yes.",
        'As text, "tomorrow" comes after every date, and "2026-02-31" looks like one. '
        "`date.fromisoformat` knows. It raises two kinds of exception, for text that is no day and "
        "for what is no text. `person` may be an async function: an approver may hand on what it "
        "gets without awaiting it.",
        "A helper that gives the day, or None: None unless the name fits and `date` is the only "
        "key, None when `fromisoformat` raises ValueError or TypeError. The approver: a day that "
        "is at least `today` makes an Approval; in every other case it returns what `person` "
        "returns.",
    ),
)


@TASK.solution
def a_helper_for_the_day():
    def careful(today, person):
        ### BEGIN SOLUTION
        def known_day(call):
            if call.name != "calendar_query" or set(call.input) != {"date"}:
                return None
            try:
                return date.fromisoformat(call.input["date"])
            except (ValueError, TypeError):
                return None

        def approver(call, why):
            day = known_day(call)
            if day is not None and day >= today:
                return Approval(True, f"{day} is not in the past")
            return person(call, why)  # perhaps a coroutine: whoever asks us awaits it

        return approver
        ### END SOLUTION

    return careful


@TASK.right
def awaited_and_by_pattern():
    def careful(today, person):
        async def approver(call, why):
            match call:
                case ToolCall(name="calendar_query", input={"date": str(text), **more}) if not more:
                    parts = text.split("-")
                    if [len(part) for part in parts] == [4, 2, 2] and text.replace(
                        "-", ""
                    ).isdigit():
                        try:
                            if date(*map(int, parts)) >= today:
                                return Approval(True, "the day lies ahead")
                        except ValueError:
                            pass
            said = person(call, why)
            return await said if inspect.isawaitable(said) else said

        return approver

    return careful


# -- the check ------------------------------------------------------------------------------------

TODAY = date(2026, 8, 3)
WHY = "each query is asked about"


def query(**arguments):
    return ToolCall("t1", "calendar_query", arguments)


class Robin:
    """A person who notes what they are asked, and gives one answer."""

    def __init__(self, answer):
        self.answer = answer
        self.asked = []

    def __call__(self, call, why):
        self.asked.append((call, why))
        return self.answer


async def answer_of(careful, person, call):
    with doing(f"the call is {call.name} {call.input}"):
        approver = careful(TODAY, person)
        require(callable(approver), "an approver, a function of a call and why", came=approver)
        came = approver(call, WHY)
        came = await came if inspect.isawaitable(came) else came
        require(isinstance(came, Approval), "an Approval", came=came)
    return came


YES, NO = Approval(True, "go on"), Approval(False, "that is mine")


async def goes_to_robin(careful, call, answer=YES):
    robin = Robin(answer)
    came = await answer_of(careful, robin, call)
    says = "yes" if answer.approved else "no"
    when = f"the call is {call.name} {call.input}, and Robin says {says}"
    expect(robin.asked, [(call, WHY)], when=when)
    expect(came, answer, when=when)


@TASK.part(
    "today and what lies ahead",
    idea="Today is not in the past. What an approver answers by itself it must answer by itself in "
    "every such case: a person who is asked needlessly stops reading.",
)
async def what_lies_ahead(careful):
    for day in ("2026-08-03", "2026-08-04", "2026-10-01", "2027-01-01"):
        robin = Robin(NO)
        came = await answer_of(careful, robin, query(date=day))
        when = f"today is {TODAY}, and the day is {day}"
        require(not robin.asked, "nobody asked", came="Robin was asked", when=when)
        expect(came.approved, True, when=when)
        require(came.reason, "a reason", came="none", when=when)


@TASK.part(
    "the past goes to the person, whose answer holds",
    idea="An Approval that says no is an object, and objects are true. The answer is what the "
    "person said, with their reason, and never that they said something.",
)
async def the_past(careful):
    for day in ("2026-08-02", "2025-12-31", "1999-09-09"):
        for answer in (YES, NO):
            await goes_to_robin(careful, query(date=day), answer)


@TASK.part(
    "what is no day goes to the person",
    idea='Arguments come from a model and may be anything. Compared as text, "tomorrow" lies '
    "ahead of every date. And an approver that raises ends the whole run, over a slip of the "
    "model.",
)
async def no_day(careful):
    for odd in ("tomorrow", "", "9999-99-99", "2027-02-30", "next 2026-08-04"):
        await goes_to_robin(careful, query(date=odd))
    for odd in (None, True, 20270101, 2027.5, ["2027-01-01"], {"date": "2027-01-01"}):
        await goes_to_robin(careful, query(date=odd))
    await goes_to_robin(careful, query())


@TASK.part(
    "a yes only to what it has looked at",
    idea="It has looked at a day. It knows nothing of what a delete does on that day, or of what "
    "an argument means that it has never heard of.",
)
async def only_what_it_looked_at(careful):
    ahead = "2026-08-04"
    await goes_to_robin(careful, ToolCall("t1", "calendar_clear", {"date": ahead}))
    await goes_to_robin(careful, query(date=ahead, owner="kim"))
    await goes_to_robin(careful, query(date=ahead, until="2026-01-01"))


@TASK.part(
    "a person who takes time",
    idea="An approver may be an async function: a card waits for its button. Then what it returns "
    "at first is a coroutine, which is no answer yet.",
)
async def takes_time(careful):
    async def slow(call, why):
        return Approval(True, "I looked it up")

    came = await answer_of(careful, slow, query(date="2026-08-02"))
    expect(came, Approval(True, "I looked it up"), when="the person is an async function")


# -- what people write ----------------------------------------------------------------------------


def with_day(read, compare=lambda day, today: day >= today, only_date=True):
    """The solution with another way to read the day, or to compare it."""

    def careful(today, person):
        def approver(call, why):
            known = call.name == "calendar_query" and (not only_date or "date" in call.input)
            if known and (len(call.input) == 1 or not only_date):
                day = read(call.input)
                if day is not None and compare(day, today):
                    return Approval(True, "not in the past")
            return person(call, why)

        return approver

    return careful


def day_or_none(arguments):
    try:
        return date.fromisoformat(arguments["date"])
    except (ValueError, TypeError, KeyError):
        return None


@TASK.wrong("Today is not in the past")
def later_than_today():
    careful = with_day(day_or_none, lambda day, today: day > today)
    return careful


@TASK.wrong("objects are true")
def an_object_is_true():
    def careful(today, person):
        async def approver(call, why):
            said = a_helper_for_the_day()(today, person)(call, why)
            said = await said if inspect.isawaitable(said) else said
            return Approval(True, said.reason) if said else said

        return approver

    return careful


@TASK.wrong("Compared as text")
def compared_as_text():
    careful = with_day(
        lambda arguments: arguments["date"] if isinstance(arguments["date"], str) else None,
        lambda day, today: day >= today.isoformat(),
    )
    return careful


@TASK.wrong("over a slip of the model")
def a_slip_raises():
    careful = with_day(lambda arguments: date.fromisoformat(arguments["date"]))
    return careful


@TASK.wrong("a delete does on that day")
def any_tool_with_a_day():
    def careful(today, person):
        def approver(call, why):
            renamed = ToolCall(call.id, "calendar_query", call.input)
            said = a_helper_for_the_day()(today, lambda *_: None)(renamed, why)
            return said or person(call, why)

        return approver

    return careful


@TASK.wrong("has never heard of")
def any_other_argument():
    careful = with_day(day_or_none, only_date=False)
    return careful


@TASK.wrong("no answer yet")
def never_awaited():
    def careful(today, person):
        def approver(call, why):
            said = a_helper_for_the_day()(today, person)(call, why)
            if inspect.isawaitable(said):
                said.close()  # or Python would warn of a coroutine that nobody awaits
                return Approval(False, "it gave no Approval")
            return said

        return approver

    return careful
