"""One call through the layers: which it passed, where an error began and where it stopped.

mini_agent.drawing.passage reads it out of the trace; here it is put on a sheet.
"""

from __future__ import annotations

import itertools

from mini_agent.dot import Drawing
from mini_agent.drawing.canvas import (
    BOLD,
    LIT,
    NEUTRAL,
    PALE,
    SLANTED,
    Canvas,
    Look,
    cell,
    is_ours,
)
from mini_agent.drawing.passage import Passage, passage
from mini_agent.drawing.phrases import short
from mini_agent.drawing.saw import Saw
from mini_agent.trace import LAYERS, Layer, Trace

LEFT, RIGHT, BOX, CELL, PITCH = 90.0, 415.0, 180.0, 380.0, 66.0
ASKS = {
    "loop": "execute(arguments)",
    "adapter": "call(name, arguments)",
    "client": "send(message)",
    "transport": "messages",
}  # what each layer asks of the next one down
NAMES = {"caller": "the caller"} | {layer.name: layer.title for layer in LAYERS}


def chain(trace: Trace, call: str | None = None) -> Drawing:
    """The layers, those that ``call`` reached lit, with what each saw; by default the last call.

    Layers above the first one used are left out: there was no loop, or no adapter.

    Raises: ValueError when ``call`` is not in the trace.
    """
    way = passage(trace.events, call)
    sheet = Canvas()
    _down(sheet, way)
    _up(sheet, way)
    return sheet.drawing(in_words(way))


def _down(sheet: Canvas, way: Passage) -> None:
    """The layers on the left, and the call's way down through those it reached."""
    sheet.words(LEFT, 0, BOX, way.name or "no call in this trace", font=BOLD, size=13)
    if way.saw:
        sheet.arrow([(LEFT, 10), (LEFT, PITCH - 22)])
    above = ""
    for row, layer in enumerate(used(way), start=1):
        _layer(sheet, way, layer, row * PITCH)
        if layer.name in way.saw and above:
            ask(sheet, LEFT, (row - 1) * PITCH, ASKS[above].partition("(")[0])
        above = layer.name if layer.name in way.saw else ""


def used(way: Passage) -> list[Layer]:
    """The layers from the first one that the call passed, or all when there was no call."""
    return list(itertools.dropwhile(lambda layer: way.saw and layer.name not in way.saw, LAYERS))


def _layer(sheet: Canvas, way: Passage, layer: Layer, y: float) -> None:
    saw = way.saw.get(layer.name)
    look = PALE if saw is None else LIT if saw.reached else NEUTRAL
    ink = LIT.ink if look is LIT else NEUTRAL.ink
    sheet.box(LEFT, y, BOX, 40, look, name=layer.name, ours=is_ours(layer))
    sheet.words(LEFT, y - (8 if saw is None else 0), BOX - 12, layer.title, font=BOLD, ink=ink)
    if saw is None:
        sheet.words(LEFT, y + 9, BOX - 12, absent(way, layer.name), font=SLANTED)


def ask(sheet: Canvas, x: float, y: float, words: str) -> None:
    """The arrow from the layer at ``y`` down to the next one, and what is asked along it."""
    sheet.arrow([(x, y + 20), (x, y + PITCH - 22)])
    sheet.words(x + 42, y + PITCH / 2, 70, words, font=SLANTED, align="l")


def absent(way: Passage, name: str) -> str:
    """Why a layer is not lit: the call went round it, ended above it, or never left this side."""
    names = [layer.name for layer in LAYERS]
    if any(lower in way.saw for lower in names[names.index(name) :]):
        return "not used"
    return "never reached" if name == "server" and "transport" in way.saw else "not reached"


def _up(sheet: Canvas, way: Passage) -> None:
    """What each layer saw on the right, and the way back up from where it turned."""
    rows = {"caller": 0} | {layer.name: row for row, layer in enumerate(used(way), start=1)}
    told = {} if way.end is None else {"caller": way.end}
    told |= {name: way.saw[name] for name in rows if name in way.saw}
    turned = way.began or list(told)[-1] if told else ""
    for name, saw in told.items():
        y = rows[name] * PITCH
        cell(sheet, RIGHT, y, CELL, [saw.says, saw.more] if saw.more else [saw.says], saw.look)
        _tag(sheet, way, name, y, saw.look)
        if name != next(iter(told)) and rows[name] <= rows[turned]:
            sheet.arrow([(RIGHT, y - 20), (RIGHT, y - PITCH + 22)], saw.look)
        if name == turned and way.end is not None:
            sheet.arrow([(LEFT + BOX / 2, y), (RIGHT - CELL / 2 - 2, y)], saw.look)


def _tag(sheet: Canvas, way: Passage, name: str, y: float, look: Look) -> None:
    tags = {way.began: "the error began here", way.stopped: "the error stopped here"}
    if way.began == way.stopped:
        tags = {way.began: "it stopped here"}
    if name in tags:
        sheet.words(RIGHT + 90, y - 28, 190, tags[name], ink=look.ink, font=BOLD, align="r")


def in_words(way: Passage) -> str:
    """The whole drawing as sentences."""
    if not way.saw:
        return "The call chain with no layer lit: this trace holds no call."
    lines = [
        f"{layer.title}: {_words(way.saw.get(layer.name) or Saw(absent(way, layer.name)))}"
        for layer in used(way)
    ]
    text = f"The call of {way.name} through the layers, top to bottom: {'; '.join(lines)}."
    if way.end is not None:
        text += f" {_words(way.end)}."
    if way.began:
        began, stopped = NAMES[way.began], NAMES[way.stopped]
        who = "It" if began == stopped else f"The error began in {began} and"
        text += f" {who} stopped at {stopped}."
    return text


def _words(saw: Saw) -> str:
    return f"{saw.says} ({short(saw.more)})" if saw.more else saw.says
