"""A sheet of boxes, words and arrows at exact places, written as DOT. All words are escaped.

Positions and sizes are points, x to the right and y down, (x, y) a centre. The four looks are
defined here once; each differs from the others by its line as well as by its colour.
"""

from __future__ import annotations

import functools
import itertools
import operator
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from mini_agent.dot import Drawing
from mini_agent.trace import Layer
from mini_agent.visible import visible

Point = tuple[float, float]


@dataclass(frozen=True)
class Look:
    """Ink for lines and words, paper behind them, the line's style and its width in points."""

    ink: str
    paper: str
    line: str
    width: float


BUSINESS = Look("#0B4F94", "#E4EFFA", "solid", 1.8)
PROTOCOL = Look("#A12C0B", "#FCE9E2", "dotted", 2.4)
NEUTRAL = Look("#3A414D", "#F3F4F6", "solid", 1.0)
LIT = Look("#5C4000", "#FFE08A", "bold", 2.2)
PALE = Look("#9AA3AF", "#FFFFFF", "solid", 1.0)  # for lifelines and what was not reached: no words
WHITE = "#FFFFFF"

PLAIN, BOLD, SLANTED, MONO = "Helvetica", "Helvetica-Bold", "Helvetica-Oblique", "Courier"
SIZE = 11.5
GAP = re.compile('(?<!":) ')  # where a line may break


class Canvas:
    """Collects what is to be drawn; ``drawing(alt)`` is the result."""

    def __init__(self) -> None:
        self._nodes: list[tuple[str, dict[str, str]]] = []
        self._edges: list[tuple[str, str, dict[str, str]]] = []

    def box(
        self, x: float, y: float, width: float, height: float, look: Look = NEUTRAL,
        *, name: str = "", ours: bool = True, **more: str,
    ) -> None:  # fmt: skip
        """A box with no words yet, dashed when it is not ours. ``name`` is its name in the DOT."""
        self._node(
            name, x, y, width=inches(width), height=inches(height), color=look.ink,
            fillcolor=look.paper, penwidth=f"{look.width:g}",
            **{"shape": "box", "style": "filled,rounded" + ("" if ours else ",dashed"), **more},
        )  # fmt: skip

    def words(
        self, x: float, y: float, width: float, text: str,
        *, ink: str = NEUTRAL.ink, font: str = PLAIN, align: str = "n", size: float = SIZE,
        paper: str = "",
    ) -> None:  # fmt: skip
        """One line of text inside ``width``, cut visibly; ``align`` is "l", "r" or "n" (centre)."""
        line = cut(text, width, size, mono=font == MONO)
        self.block(x, y, width, [line], ink=ink, font=font, align=align, size=size, paper=paper)

    def block(
        self, x: float, y: float, width: float, lines: Sequence[str],
        *, ink: str = NEUTRAL.ink, font: str = PLAIN, align: str = "n", size: float = SIZE,
        paper: str = "",
    ) -> None:  # fmt: skip
        """Lines that fit already, made by ``cut`` or ``wrapped``; ``y`` is the middle of all."""
        from graphviz import escape

        self._node(
            "", x, y, width=inches(width), height=inches(len(lines) * size * 1.2),
            shape="plaintext", label="".join(f"{escape(line)}\\{align}" for line in lines),
            fontname=font, fontsize=f"{size:g}", fontcolor=ink, margin="0",
            **({"style": "filled", "fillcolor": paper} if paper else {}),
        )  # fmt: skip

    def arrow(
        self, points: Sequence[Point], look: Look = NEUTRAL, *, head: str = "normal", line: str = ""
    ) -> None:
        """Straight lines through ``points``, with a head at the last one ("none" for no head)."""
        names = [
            self._node("", x, y, shape="point", width="0.01", style="invis") for x, y in points
        ]
        for start, end in itertools.pairwise(names):
            self._edges.append(
                (start, end, {
                    "color": look.ink, "penwidth": f"{look.width:g}", "style": line or look.line,
                    "arrowhead": head if end == names[-1] else "none", "arrowsize": "0.8",
                })
            )  # fmt: skip

    def drawing(self, alt: str) -> Drawing:
        """The sheet as a Drawing, with ``alt``, made visible, for those who do not see it."""
        from graphviz import Digraph

        sheet = Digraph(
            "drawing",
            graph_attr={
                "layout": "neato", "inputscale": "72", "splines": "line", "pad": "0.12",
                "bgcolor": WHITE, "outputorder": "edgesfirst",
            },
            node_attr={"label": "", "fixedsize": "true"},
        )  # fmt: skip
        for name, attributes in self._nodes:
            sheet.node(name, **attributes)
        for start, end, attributes in self._edges:
            sheet.edge(start, end, **attributes)
        return Drawing(sheet.source, visible(alt))

    def _node(self, name: str, x: float, y: float, **attributes: str) -> str:
        name = name or f"n{len(self._nodes)}"
        self._nodes.append((name, {"pos": f"{x:g},{-y:g}!", **attributes}))
        return name


def cell(sheet: Canvas, x: float, y: float, width: float, lines: Sequence[str], look: Look) -> None:
    """A box 40 points high with its first line bold in the look's ink and a second below it."""
    sheet.box(x, y, width, 40, look, style=f"filled,rounded,{look.line}")
    says, *more = lines
    sheet.words(x, y - (8 if more else 0), width - 12, says, ink=look.ink, font=BOLD)
    for line in more:
        sheet.words(x, y + 9, width - 12, line)


def is_ours(layer: Layer) -> bool:
    """False for the layer that somebody else runs."""
    return layer.module.startswith("mini_agent")


def inches(points: float) -> str:
    """DOT's unit for sizes."""
    return f"{points / 72:.4f}"


def cut(text: str, width: float, size: float = SIZE, *, mono: bool = False) -> str:
    """``text`` on one line, control characters visible, cut to ``width`` points with "…"."""
    text = visible(text)
    if breadth(text, size, mono=mono) <= width:
        return text
    room = width - breadth("…", size, mono=mono)
    ends = itertools.accumulate(breadth(c, size, mono=mono) for c in text)
    return text[: next(index for index, end in enumerate(ends) if end > room)] + "…"


def wrapped(text: str, width: float, most: int, size: float = SIZE) -> list[str]:
    """``text`` on up to ``most`` lines of ``width`` points each, the last one cut with "…".

    Lines break at spaces, but not between a JSON object's name and its value; a word that is
    longer than a line breaks where the line ends.
    """
    lines: list[str] = []
    rest = visible(text)
    while len(lines) < most - 1 and breadth(rest, size) > width:
        fits = max(len(cut(rest, width, size)) - 1, 1)
        spaces = [place.start() for place in GAP.finditer(rest[: fits + 1])]
        end = spaces[-1] if spaces and spaces[-1] else fits
        lines.append(rest[:end])
        rest = rest[end:].removeprefix(" ")
    return [*lines, cut(rest, width, size)]


def breadth(text: str, size: float = SIZE, *, mono: bool = False) -> float:
    """About how wide ``text`` is in points, a little generous."""
    if mono:
        return 0.61 * size * len(text)
    # Not sum(): since Python 3.12 it rounds otherwise, and drawings are compared byte by byte.
    return size * functools.reduce(operator.add, map(_breadth, text), 0.0)


def _breadth(c: str) -> float:
    """Helvetica's width of ``c``, rounded up, as a part of the font's size."""
    if c in "iljI.,:;'|!()[]{}ft/\\ ":
        return 0.29
    if c in "mwMW@%—…→" or unicodedata.east_asian_width(c) in "WF":
        return 1.0
    if c in 'ckrsvxyz"*-':
        return 0.5
    return 0.72 if c.isupper() else 0.57
