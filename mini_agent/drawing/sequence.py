"""Who said what to whom, in order: one row an event of the trace, lifelines for those that spoke.

mini_agent.drawing.rows says what each event is, an arrow or a note; here it is put on a sheet.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from mini_agent.dot import Drawing
from mini_agent.drawing.canvas import (
    BOLD,
    BUSINESS,
    NEUTRAL,
    PALE,
    PLAIN,
    PROTOCOL,
    SIZE,
    WHITE,
    Canvas,
    breadth,
    wrapped,
)
from mini_agent.drawing.cast import CAST, Row
from mini_agent.drawing.phrases import short
from mini_agent.drawing.rows import rows
from mini_agent.drawing.which import check_call, of_call
from mini_agent.trace import Trace

WIDTH, ROW, LINE, MOST = 650.0, 28.0, SIZE * 1.2, 44
LABEL, LABEL_LINES = 230.0, 3
NOTE, NOTE_LINES, ASIDE = 230.0, 4, 340.0
HEAD, PITCH, TOP, SMALL = 76.0, 150.0, 8.0, 11.0
NOTHING = "Nothing to draw: the trace holds no event."


@dataclass(frozen=True)
class Placed:
    """A row with its words in lines and ``y``, where its arrow is or its note stands."""

    row: Row
    lines: Sequence[str]
    y: float


def sequence(trace: Trace, call: str | None = None) -> Drawing:
    """What happened, as a sequence drawing; only the events of ``call`` when one is given.

    Solid arrows ask, dashed ones answer; tool errors are blue, protocol errors red and dotted.
    A long trace loses its middle, visibly.

    Raises: ValueError when ``call`` is not in the trace.
    """
    events = trace.events
    check_call(events, call)
    told = rows(events if call is None else of_call(events, call))
    if trace.dropped:
        told.insert(0, Row((), f"… {trace.dropped} earlier events are no longer in the trace …"))
    cast = [name for name in CAST if any(name in row.path for row in told)]
    sheet = Canvas()
    if told:
        _draw(sheet, shortened(told), cast)
    else:
        sheet.words(WIDTH / 2, 0, WIDTH, NOTHING)
    return sheet.drawing(in_words(told, cast))


def shortened(told: Sequence[Row], most: int = MOST) -> list[Row]:
    """At most ``most`` rows: the middle of more becomes one note that counts what it hides."""
    if len(told) <= most:
        return list(told)
    half = (most - 1) // 2
    note = Row((), f"… {len(told) - 2 * half} steps not drawn: trace.table() has all events …")
    return [*told[:half], note, *told[len(told) - half :]]


def _draw(sheet: Canvas, told: Sequence[Row], cast: Sequence[str]) -> None:
    place = places(cast)
    placed = _placed(told, place)
    end = placed[-1].y + ROW
    for name, x in place.items():
        sheet.arrow([(x, 13), (x, end)], PALE, head="none")
        sheet.box(x, 0, head(name), 24, name=name, ours=name != "server")
        sheet.words(x, 0, head(name) - 2, name, font=BOLD)
    for item in placed:
        if len(item.row.path) < 2:
            _note(sheet, item, place)
        else:
            _arrow(sheet, item, place)
    means = legend(told)
    wide = breadth(means, SMALL) + 2
    sheet.words(2 + wide / 2, end + 18, wide, means, align="l", size=SMALL)


def head(name: str) -> float:
    """How wide the box with ``name`` is at the top of its lifeline."""
    return max(HEAD, breadth(name) + 18)


def places(cast: Sequence[str]) -> dict[str, float]:
    """Where each lifeline stands."""
    if not cast:
        return {}
    first, last = head(cast[0]) / 2 + 2, WIDTH - head(cast[-1]) / 2 - 2
    pitch = min(PITCH, (last - first) / max(len(cast) - 1, 1))
    return {name: first + index * pitch for index, name in enumerate(cast)}


def _placed(told: Sequence[Row], place: dict[str, float]) -> list[Placed]:
    """The rows one below the other, each as high as its words."""
    xs = list(place.values())
    note = min([NOTE, *(2 * (b - a) - 8 for a, b in itertools.pairwise(xs))])
    placed, y = [], TOP
    for row in told:
        match len(row.path):
            case 0:
                lines = wrapped(row.text, ASIDE, 1)
            case 1:
                lines = wrapped(row.text, note - 14, NOTE_LINES)
            case _:
                lines = wrapped(row.text, LABEL, LABEL_LINES)
        y += ROW + (len(lines) - 1) * LINE
        placed.append(Placed(row, lines, y))
    return placed


def _arrow(sheet: Canvas, item: Placed, place: dict[str, float]) -> None:
    row, y = item.row, item.y
    points = [place[name] for name in row.path]
    for start, end in itertools.pairwise(points):
        gap = 2 if end > start else -2
        dashed = "dashed" if row.reply and row.look is not PROTOCOL else ""
        sheet.arrow([(start, y), (end - gap, y)], row.look, line=dashed)
    width = max(breadth(line) for line in item.lines) + 4
    x = _inside((min(points) + max(points)) / 2, width)
    font = PLAIN if row.look is NEUTRAL else BOLD
    middle = y - 4 - len(item.lines) * LINE / 2
    sheet.block(x, middle, width, item.lines, ink=row.look.ink, font=font, paper=WHITE)


def _note(sheet: Canvas, item: Placed, place: dict[str, float]) -> None:
    row, high = item.row, 5.5 + len(item.lines) * LINE
    width = max(breadth(line) for line in item.lines) + 14
    middle = sum(place.values()) / len(place) if place else WIDTH / 2
    x = _inside(place[row.path[0]] if row.path else middle, width)
    y = item.y + 5.5 - high / 2
    sheet.box(x, y, width, high, row.look, style=f"filled,{row.look.line}")
    sheet.block(x, y, width, item.lines, ink=row.look.ink)


def _inside(x: float, width: float) -> float:
    """The centre nearest to ``x`` of something ``width`` wide that stays on the sheet."""
    return min(max(x, width / 2), WIDTH - width / 2)


def legend(told: Sequence[Row]) -> str:
    """What the lines and colours of these rows mean; no word for what is not there."""
    arrows = [row for row in told if len(row.path) > 1 and row.look is not PROTOCOL]
    asked = [row.text for row in arrows if not row.reply]
    unasked = any(text.startswith("notifications/") for text in asked)
    looks = {row.look for row in told}
    mcp = any({"adapter", "client", "transport"} & set(row.path) for row in told)
    entries = {
        "solid: a request" + (" or a notification" if unasked else ""): asked,
        "dashed: an answer": any(row.reply for row in arrows),
        "blue: a tool error": BUSINESS in looks,
        "red, dotted: " + ("a protocol error" if mcp else "an exception"): PROTOCOL in looks,
    }
    return " · ".join(text for text, present in entries.items() if present)


def in_words(told: Sequence[Row], cast: Sequence[str]) -> str:
    """Who took part, and every row as "who to whom: what"."""
    if not told:
        return NOTHING
    steps = "; ".join(_step(row) for row in shortened(told))
    return f"Sequence of {len(told)} steps between {'; '.join(cast)}. The steps: {steps}."


def _step(row: Row) -> str:
    ends = row.path[:: max(len(row.path) - 1, 1)]
    return f"{' to '.join(ends)}: {short(row.text, 120)}" if ends else row.text
