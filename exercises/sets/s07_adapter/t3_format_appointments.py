"""07.3: forty appointments, as a model can use them."""

from exercises.machine import Task, doing, expect, require
from mini_agent.mcp.adapter import format_result
from mini_agent.mcp.shapes import CallResult

TASK = Task(
    "07.3",
    "Forty appointments, and a text that says: 40 found",
    level="solid",
    minutes=20,
    section="The format is the adapter's choice",
    text="""
A search in the calendar returns one text block, `40 found`, and the appointments as structured
content: `{"appointments": [{"title": …, "start": …, "end": …}, …]}`, three texts each.
`format_result` would show the model the text alone. Write `format_appointments(result)`, to be
passed as `format_result=` to the adapter. It takes a CallResult and returns what the model reads.

- One line for each appointment, in their order, with start, end and title in it. A title may hold
  line breaks, and is one line all the same.
- At most 2000 characters. What does not fit is left out by whole lines, and the text says how many
  appointments are missing.
- None found is said, too.
- An error, and structured content of any other shape, are for `format_result`. Whatever comes,
  nothing is raised.
""",
    hints=(
        "First decide when this format applies at all: no error, and a shape that you can use. All "
        "else goes to `format_result` at once.",
        "`structured_content` may be ABSENT, None, a list, a dict with anything in it. An "
        "exception out of a format ends the whole run. For a title, think of a line break and then "
        "a line that looks like another appointment.",
        "Check with isinstance: a dict, a list under its key, a dict with three texts each. Join "
        "the words of each line anew with split and join. Add lines as long as they and a last "
        "line still fit; that one says how many of how many are not shown.",
    ),
)


@TASK.solution
def line_by_line():
    def format_appointments(result):
        ### BEGIN SOLUTION
        data = result.structured_content
        found = data.get("appointments") if isinstance(data, dict) else None
        if result.is_error or not isinstance(found, list):
            return format_result(result)
        lines = []
        for one in found:
            told = [one.get(key) for key in ("start", "end", "title")] if type(one) is dict else []
            if not told or not all(isinstance(text, str) for text in told):
                return format_result(result)
            lines.append(" ".join(" ".join(told).split()))
        if not lines:
            return "No appointments found."
        kept = list(lines)
        while len("\n".join(kept)) > 1900:
            kept.pop()
        if len(kept) == len(lines):
            return "\n".join(lines)
        return "\n".join([*kept, f"[{len(lines) - len(kept)} of {len(lines)} are not shown]"])
        ### END SOLUTION

    return format_appointments


@TASK.right
def by_pattern_and_a_sum():
    def line_of(one):
        match one:
            case {"title": str(title), "start": str(start), "end": str(end)}:
                return f"- {start} to {end}: " + title.replace("\r", " ").replace("\n", " / ")
        raise TypeError("no appointment")

    def format_appointments(result):
        try:
            lines = [line_of(one) for one in result.structured_content["appointments"]]
        except (TypeError, KeyError):
            lines = None
        if result.is_error or lines is None:
            return format_result(result)
        text = f"{len(lines)} appointments:"
        for number, line in enumerate(lines):
            if len(text) + len(line) > 1950:
                return f"{text}\n(cut here: {len(lines) - number} more)"
            text += f"\n{line}"
        return text

    return format_appointments


# -- the check ------------------------------------------------------------------------------------


def slot(number, title=""):
    hour = f"2026-08-{number % 28 + 1:02}T{8 + number // 28:02}"
    return {"title": title or f"Review {number:02}", "start": f"{hour}:00", "end": f"{hour}:45"}


def found(count, *more, text=None):
    said = [{"type": "text", "text": text or f"{count} found"}]
    return CallResult(said, {"appointments": [*map(slot, range(count)), *more]})


def shown_of(format_appointments, result, when):
    with doing(when):
        came = format_appointments(result)
    require(isinstance(came, str) and came.strip(), "a text", came=came, when=when)
    return came


@TASK.part(
    "every appointment, on a line of its own",
    idea='"40 found" is of no use to a model that must choose one of them. The data is there, and '
    "the adapter is the last place that has it as data.",
)
def every_one(format_appointments):
    when = "7 appointments come"
    lines = shown_of(format_appointments, found(7), when).splitlines()
    held = [line for line in lines if "Review" in line]
    expect(len(held), 7, when=f"{when}, and we count the lines with a title")
    for one, line in zip(map(slot, range(7)), held, strict=True):
        there = all(one[key] in line for key in ("title", "start", "end"))
        require(there, "start, end and title in their order", came=line, when=when)


@TASK.part(
    "a title is one line",
    idea="A title is somebody else's text. With a line break in it, one appointment looks like "
    "two, and whoever wrote it decides what the second one says.",
)
def one_line(format_appointments):
    for line_break in ("\n", "\r\n", "\r"):
        odd = slot(3, f"Lunch{line_break}2026-08-09T09:00 2026-08-09T18:00 Closed")
        when = f"the title of the second of two appointments is {odd['title']!r}"
        lines = shown_of(format_appointments, found(1, odd), when).splitlines()
        held = [line for line in lines if "Lunch" in line or "Closed" in line]
        expect(len(held), 1, when=f"{when}, and we count its lines")


@TASK.part(
    "2000 characters, and whole lines",
    idea="Text is paid for by the token, and read again with every turn. Cut in the middle of a "
    "line, an end becomes another end: 17:45 cut is 17:4, or a title that says the opposite.",
)
def whole_lines(format_appointments):
    when = "400 appointments come"
    came = shown_of(format_appointments, found(400), when)
    require(len(came) <= 2000, "2000 characters at most", came=f"{len(came)}", when=when)
    held = [line for line in came.splitlines() if "2026-" in line]
    require(len(held) >= 20, "20 lines at least", came=f"{len(held)} lines", when=when)
    for one, line in zip(map(slot, range(len(held))), held, strict=True):
        there = all(one[key] in line for key in ("title", "start", "end"))
        require(there, "whole lines, in order", came=line, when=when)


@TASK.part(
    "a cut is said",
    idea='Without a word, "the first part" becomes "all of it": the model counts what it sees, and '
    "calls it the year. How many are missing tells it whether to ask more narrowly.",
)
def a_cut_is_said(format_appointments):
    when = "400 appointments come, and the text says how many are missing"
    came = shown_of(format_appointments, found(400), when)
    held = [line for line in came.splitlines() if "2026-" in line]
    rest = "\n".join(line for line in came.splitlines() if "2026-" not in line)
    said = len(held) == 400 or str(400 - len(held)) in rest
    wanted = f"{400 - len(held)} in a line of its own"
    require(said, wanted, came=rest or "no such line", when=when)


@TASK.part(
    "none found is an answer",
    idea='An empty text could be anything: a failure, a cut, a bug. "None" is what the user wanted '
    "to know.",
)
def none_found(format_appointments):
    result = CallResult([], {"appointments": []})
    came = format_appointments(result)
    require(isinstance(came, str), "a text", came=came, when="no appointment was found")
    says = bool(came.strip()) and came.strip() not in ("[]", '{"appointments":[]}')
    require(says, "a text that says so", came=came, when="no appointment was found")


@TASK.part(
    "an error keeps its reason",
    idea="On an error the reason stands in the text, and the data, if there is any, is what was "
    "left half done. A list of appointments in its place looks like success.",
)
def an_error(format_appointments):
    said = [{"type": "text", "text": "The calendar is locked for a backup."}]
    for data in ({"appointments": []}, {"appointments": [slot(1)]}):
        result = CallResult(said, data, is_error=True)
        when = f"an error comes with {data}"
        came = shown_of(format_appointments, result, when)
        require("locked for a backup" in came, "the reason", came=came, when=when)


@TASK.part(
    "any other shape is shown as it is",
    idea="A server changes its results when it likes. An exception out of a format ends the run, "
    "and a guess shows something else: format_result can show whatever came.",
)
def any_other_shape(format_appointments):
    said = [{"type": "text", "text": "3 found, see the page"}]
    for data in (None, [], "3", {}, {"appointments": None}, {"appointments": "three"}):
        came = shown_of(format_appointments, CallResult(said, data), f"the data is {data!r}")
        require("see the page" in came, "the server's own text", came=came, when=f"data: {data!r}")
    for item in ("Lunch", None, {"title": "Lunch"}, {**slot(1), "start": 9}):
        result = CallResult(said, {"appointments": [slot(2), item]})
        when = f"one of two appointments is {item!r}"
        shown_of(format_appointments, result, when)
    absent = CallResult(said)
    came = shown_of(format_appointments, absent, "there is no structured content")
    require("see the page" in came, "the server's own text", came=came)


# -- what people write ----------------------------------------------------------------------------


def but(**rules):
    """The solution with another rule in places, for the answers that have it."""

    def format_appointments(result):
        data = result.structured_content
        items = data.get("appointments") if isinstance(data, dict) else None
        if not isinstance(items, list) or (result.is_error and not rules.get("errors")):
            return format_result(result)
        lines = []
        for one in items:
            if not isinstance(one, dict) or not all(isinstance(v, str) for v in one.values()):
                return format_result(result)
            told = " ".join(one.get(key, "") for key in ("start", "end", "title"))
            lines.append(told if rules.get("raw") else " ".join(told.split()))
        if not lines and not rules.get("empty"):
            return "Nothing found."
        text = "\n".join(lines)
        if len(text) <= 1900 or rules.get("all"):
            return text
        if rules.get("characters"):
            rest = len(text[1900:].splitlines()) - 1
            return f"{text[:1900]}\n[{rest} not shown]"
        kept = text[:1900].rpartition("\n")[0]
        if rules.get("silent"):
            return kept
        return f"{kept}\n[{len(lines) - len(kept.splitlines())} not shown]"

    return format_appointments


@TASK.wrong("is of no use to a model")
def the_text_is_enough():
    def format_appointments(result):
        text = format_result(result)
        few = text.startswith("7 found")
        return text if few else line_by_line()(result)

    return format_appointments


@TASK.wrong("looks like two")
def titles_as_they_are():
    format_appointments = but(raw=True)
    return format_appointments


@TASK.wrong("paid for by the token")
def all_of_them():
    format_appointments = but(all=True)
    return format_appointments


@TASK.wrong("an end becomes another end")
def cut_at_a_character():
    format_appointments = but(characters=True)
    return format_appointments


@TASK.wrong("calls it the year")
def cut_without_a_word():
    format_appointments = but(silent=True)
    return format_appointments


@TASK.wrong("could be anything")
def nothing_for_nothing():
    format_appointments = but(empty=True)
    return format_appointments


@TASK.wrong("looks like success")
def errors_like_any_other():
    format_appointments = but(errors=True)
    return format_appointments


@TASK.wrong("ends the run")
def it_will_have_that_shape():
    def format_appointments(result):
        if not result.is_error:
            for one in result.structured_content["appointments"]:
                one["start"], one["end"], one["title"]
        return line_by_line()(result)

    return format_appointments
