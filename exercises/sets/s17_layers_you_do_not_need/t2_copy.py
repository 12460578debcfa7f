"""17.2: a copy of somebody's state that knows when it has missed a change."""

from exercises.machine import Task, require
from exercises.machine.expect import shown

TASK = Task(
    "17.2",
    "`Copy`: I have missed a change",
    level="solid",
    minutes=20,
    section="Snapshots",
    text="""
Another protocol than MCP: a calendar sends its whole day once, then each change with a number, over
a wire that may lose a message, bring one twice or bring two in the wrong order. Write `Copy`, the
side that receives. `day` is a dict, from time to title.

- `snapshot(number, day)`: the whole day, as it was after change `number`.
- `change(number, at, title)`: change `number`. The title at that time is now this one; None: it is
  gone. The first change is number 1.
- `alive(number)`: a heartbeat. The calendar has made `number` changes so far.

Each returns whether the caller shall ask for a snapshot: True as long as there is none, and
whenever the copy has heard of a change that it does not hold; otherwise False.

At every moment `day` is the day as it was after some change: nothing left out in between, nothing
twice, and it never goes back. Before the first snapshot it is empty.
""",
    hints=(
        "Two numbers say everything: up to which change you hold the day, and the highest number "
        "that anybody has mentioned to you.",
        "A change is either the next one, or one that you have, or one too early. Only the first "
        "may touch the day. And a snapshot may have been made before a change that overtook it on "
        "the way: does it clear everything up?",
        "In all three methods: first raise the highest number that was mentioned. A snapshot is "
        "taken if it is newer than what you hold, a change if it is exactly the next. Last, return "
        "whether you hold less than was mentioned, or nothing at all.",
    ),
)


@TASK.solution
def two_numbers():
    class Copy:
        def __init__(self):
            self.day = {}
            self.held = None  # up to which change; None: no snapshot yet
            self.known = 0  # the highest number that was mentioned

        def snapshot(self, number, day):
            ### BEGIN SOLUTION
            if self.held is None or number > self.held:
                self.held, self.day = number, dict(day)
            return self.missing(number)
            ### END SOLUTION

        def change(self, number, at, title):
            ### BEGIN SOLUTION
            if self.held is not None and number == self.held + 1:
                self.held = number
                self.day = {**self.day, at: title}
                if title is None:
                    del self.day[at]
            return self.missing(number)
            ### END SOLUTION

        def alive(self, number):
            ### BEGIN SOLUTION
            return self.missing(number)

        def missing(self, number):
            self.known = max(self.known, number)
            return self.held is None or self.held < self.known
            ### END SOLUTION

    return Copy


@TASK.right
def keeps_what_came_too_early():
    class Copy:
        def __init__(self):
            self.states, self.early, self.last = [], {}, 0
            self.day = {}

        def snapshot(self, number, day):
            if not self.states or self.states[-1] < number:
                self.states.append(number)
                self.day = dict(day)
            return self.settle(number)

        def change(self, number, at, title):
            self.early[number] = (at, title)
            return self.settle(number)

        def alive(self, number):
            return self.settle(number)

        def settle(self, number):
            self.last = max(self.last, number)
            while self.states and self.states[-1] + 1 in self.early:
                at, title = self.early.pop(self.states[-1] + 1)
                self.states[-1] += 1
                self.day.pop(at, None)
                if title is not None:
                    self.day[at] = title
            return not self.states or self.last > self.states[-1]

    return Copy


# -- the check ------------------------------------------------------------------------------------

CHANGES = [
    ("10:00", "Budget"),
    ("12:00", "Lunch"),
    ("10:00", "Review"),
    ("16:00", "Call"),
    ("14:00", None),
]


def after(number):
    """The day after that many changes. No two of these are equal."""
    day = {"09:00": "Standup", "14:00": "Dentist"} | dict(CHANGES[:number])
    return {at: title for at, title in day.items() if title is not None}


def told(event):
    kind, number = event
    return f"{kind} {number}"


def played(Copy, *events):
    """Give a new copy these events; judge the day and what is returned after each."""
    copy, least, known = Copy(), None, 0
    for place, (kind, number) in enumerate(events):
        when = "it is given " + ", ".join(map(told, events[: place + 1]))
        if kind == "snapshot":
            came = copy.snapshot(number, after(number))
        elif kind == "change":
            came = copy.change(number, *CHANGES[number - 1])
        else:
            came = copy.alive(number)
        known = max(known, number)
        least = at_least(least, kind, number)
        held = judged(copy.day, least, when)
        wanted = held is None or known > held
        why = "the day holds everything that was mentioned"
        if wanted:
            why = "there is no snapshot" if held is None else f"it has heard of change {known}"
        require(came is wanted, f"{wanted}: {why}", came=came, when=when)


def at_least(held, kind, number):
    """Up to which change the day must reach now."""
    if kind == "snapshot":
        return number if held is None else max(held, number)
    if kind == "change" and held is not None and number == held + 1:
        return number
    return held


def judged(day, least, when):
    """Which change the day reaches; Unmet when it is no day that ever was, or an older one."""
    if least is None:
        require(day == {}, "an empty day", came=day, when=when)
        return None
    fitting = [n for n in range(least, len(CHANGES) + 1) if after(n) == day]
    wanted = f"the day after change {least}, {shown(after(least))}"
    require(fitting, wanted, came=day, when=when)
    return fitting[0]


S, C, A = "snapshot", "change", "alive"


@TASK.part(
    "a snapshot, then each change",
    idea="A change is applied to what was there, and None takes something away: it is no title.",
)
def in_order(Copy):
    played(Copy, (S, 0), (C, 1), (C, 2), (C, 3), (C, 4), (C, 5))
    played(Copy, (S, 2), (C, 3), (A, 3), (C, 4))


@TASK.part(
    "a change is lost",
    idea="What comes after a gap is built on what is not there. Applied all the same it makes a "
    "day that never was, and nothing will ever correct it: the dentist stays for ever.",
)
def one_is_lost(Copy):
    played(Copy, (S, 0), (C, 1), (C, 3))
    played(Copy, (S, 0), (C, 1), (C, 3), (C, 4), (S, 4))


@TASK.part(
    "a change comes twice",
    idea="Who has it passes it over. Applied again it would bring back what a later change has "
    "replaced; taken for a gap it would cost a snapshot each time.",
)
def one_comes_twice(Copy):
    played(Copy, (S, 0), (C, 1), (C, 2), (C, 3), (C, 1), (C, 4))
    played(Copy, (S, 0), (C, 1), (C, 1))
    played(Copy, (S, 3), (C, 2), (C, 3), (C, 4))


@TASK.part(
    "the snapshot was made before the change that overtook it",
    idea="A snapshot is not the present, it is change number n. Who takes it for the end of all "
    "gaps forgets the change that came before it on the wire and after it in the calendar.",
)
def overtaken(Copy):
    played(Copy, (S, 0), (C, 1), (C, 3), (S, 2))
    played(Copy, (S, 0), (C, 4), (S, 2), (S, 4))


@TASK.part(
    "an old snapshot comes late",
    idea="Two snapshots were asked for, or one came twice. The older one would take the copy back "
    "to a day that is over, and each change since then would be a change too early.",
)
def an_old_snapshot(Copy):
    played(Copy, (S, 0), (C, 1), (C, 2), (S, 1), (C, 3))
    played(Copy, (S, 3), (S, 0), (C, 4))


@TASK.part(
    "the last change is lost",
    idea="A number notices a gap when the next one comes, and after the last change none comes. A "
    "heartbeat with the number in it is what ends that silence.",
)
def the_last_is_lost(Copy):
    played(Copy, (S, 0), (C, 1), (A, 1), (A, 2))
    played(Copy, (S, 0), (A, 2), (C, 1), (C, 2), (A, 1))


@TASK.part(
    "nothing before the first snapshot",
    idea="Empty is a day too, and not the one that the calendar began with. Change 1 is a change "
    "of something, and until that is here even a heartbeat of 0 finds a copy that holds nothing.",
)
def before_the_first(Copy):
    played(Copy, (C, 1), (C, 2))
    played(Copy, (A, 0), (S, 0))


# -- what people write ----------------------------------------------------------------------------


@TASK.wrong("it is no title")
def none_is_a_title():
    class Copy(two_numbers()):
        def change(self, number, at, title):
            asks = super().change(number, at, title)
            if title is None and number == self.held:
                self.day = {**self.day, at: None}
            return asks

    return Copy


@TASK.wrong("a day that never was")
def asks_once_and_goes_on():
    class Copy(two_numbers()):
        def change(self, number, at, title):
            if self.held is not None and self.held < number - 1 == self.known:
                self.held = self.known
            return super().change(number, at, title)

    return Copy


@TASK.wrong("a day that never was")
def better_than_nothing():
    class Copy(two_numbers()):
        def change(self, number, at, title):
            if self.held is not None and number > self.held + 1:
                self.known = max(self.known, number)
                self.day = {**self.day, at: title}
                return True
            return super().change(number, at, title)

    return Copy


@TASK.wrong("bring back")
def whatever_comes_is_applied():
    class Copy(two_numbers()):
        def change(self, number, at, title):
            asks = super().change(number, at, title)
            if self.held is not None and number <= self.held and title:
                self.day = {**self.day, at: title}
            return asks

    return Copy


@TASK.wrong("cost a snapshot")
def not_the_next_is_a_gap():
    class Copy(two_numbers()):
        def change(self, number, at, title):
            fits = self.held is not None and number == self.held + 1
            return super().change(number, at, title) or not fits

    return Copy


@TASK.wrong("the end of all gaps")
def a_snapshot_settles_it():
    class Copy(two_numbers()):
        def snapshot(self, number, day):
            if self.held is None or number > self.held:
                self.known = number
            return super().snapshot(number, day)

    return Copy


@TASK.wrong("a day that is over")
def the_latest_to_come_is_the_latest():
    class Copy(two_numbers()):
        def snapshot(self, number, day):
            self.held = None
            return super().snapshot(number, day)

    return Copy


@TASK.wrong("ends that silence")
def a_heartbeat_is_a_sign_of_life():
    class Copy(two_numbers()):
        def alive(self, number):
            return self.held is None or self.held < self.known

    return Copy


@TASK.wrong("ends that silence")
def a_heartbeat_must_say_the_same():
    class Copy(two_numbers()):
        def alive(self, number):
            super().alive(number)
            return self.held != number

    return Copy


@TASK.wrong("holds nothing")
def empty_is_where_it_begins():
    class Copy(two_numbers()):
        def __init__(self):
            super().__init__()
            self.held = 0

        def snapshot(self, number, day):
            if number == 0 and self.held == 0:
                self.day = dict(day)
            return super().snapshot(number, day)

    return Copy
