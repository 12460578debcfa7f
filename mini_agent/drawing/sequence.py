"""Who said what to whom, in order: one row an event of the trace, lifelines for those that spoke.

mini_agent.drawing.rows says what each event is, an arrow or a note; here it is put on a sheet.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from mini_agent.dot import Drawing
from mini_agent.drawing.canvas import (
    BOLD,
    NEUTRAL,
    PALE,
    PLAIN,
    PROTOCOL,
    WHITE,
    Canvas,
    breadth,
    cut,
)
from mini_agent.drawing.rows import CAST, Row, rows, short
from mini_agent.drawing.which import check_call, of_call
from mini_agent.trace import Trace

WIDTH, ROW, MOST = 640.0, 28.0, 44
LABEL, NOTE = 230.0, 340.0
NOTHING = "Nothing to draw: the trace holds no event."


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
    place = _lifelines(sheet, cast, (min(len(told), MOST) + 1) * ROW)
    for index, row in enumerate(shortened(told)):
        _draw(sheet, row, place, (index + 1) * ROW + 6)
    if not told:
        sheet.words(WIDTH / 2, 0, WIDTH, NOTHING)
    return sheet.drawing(in_words(told, cast))


def shortened(told: Sequence[Row], most: int = MOST) -> list[Row]:
    """At most ``most`` rows: the middle of more becomes one note that counts what it hides."""
    if len(told) <= most:
        return list(told)
    half = (most - 1) // 2
    note = Row((), f"… {len(told) - 2 * half} events not drawn: trace.table() has them all …")
    return [*told[:half], note, *told[len(told) - half :]]


def _lifelines(sheet: Canvas, cast: Sequence[str], height: float) -> dict[str, float]:
    pitch = min(150.0, (WIDTH - 80) / max(len(cast) - 1, 1))
    place = {name: 40 + index * pitch for index, name in enumerate(cast)}
    for name, x in place.items():
        sheet.arrow([(x, 13), (x, height + 10)], PALE, head="none")
        sheet.box(x, 0, 76, 24, name=name, ours=name != "server")
        sheet.words(x, 0, 74, name, font=BOLD)
    return place


def _draw(sheet: Canvas, row: Row, place: dict[str, float], y: float) -> None:
    if len(row.path) < 2:
        _note(sheet, row, place[row.path[0]] if row.path else WIDTH / 2, y)
        return
    points = [place[name] for name in row.path]
    for start, end in itertools.pairwise(points):
        gap = 2 if end > start else -2
        dashed = "dashed" if row.reply and row.look is not PROTOCOL else ""
        sheet.arrow([(start, y), (end - gap, y)], row.look, line=dashed)
    _label(sheet, row, (min(points) + max(points)) / 2, y - 11)


def _label(sheet: Canvas, row: Row, x: float, y: float) -> None:
    text = cut(row.text, LABEL)
    width = breadth(text) + 4
    x = min(max(x, width / 2), WIDTH - width / 2)
    ink = row.look.ink
    sheet.words(
        x, y, width, text, ink=ink, font=PLAIN if row.look is NEUTRAL else BOLD, paper=WHITE
    )


def _note(sheet: Canvas, row: Row, x: float, y: float) -> None:
    text = cut(row.text, NOTE)
    width = breadth(text) + 14
    x = min(max(x, width / 2), WIDTH - width / 2)
    sheet.box(x, y - 4, width, 19, row.look, style=f"filled,{row.look.line}")
    sheet.words(x, y - 4, width, text, ink=row.look.ink)


def in_words(told: Sequence[Row], cast: Sequence[str]) -> str:
    """Who took part, and every row as "who to whom: what"."""
    if not told:
        return NOTHING
    steps = "; ".join(_step(row) for row in shortened(told))
    return f"Sequence between {', '.join(cast)}, {len(told)} steps: {steps}."


def _step(row: Row) -> str:
    ends = row.path[:: max(len(row.path) - 1, 1)]
    return f"{' to '.join(ends)}: {short(row.text)}" if ends else row.text
