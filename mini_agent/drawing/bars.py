"""Figures side by side as bars, each with its name and its number, drawn to one scale."""

from __future__ import annotations

import math
from collections.abc import Mapping

from mini_agent.dot import Drawing
from mini_agent.drawing.canvas import BOLD, LIT, NEUTRAL, Canvas

NAME, LONGEST, NUMBER, ROW = 150.0, 340.0, 90.0, 30.0  # points


def bars(
    figures: Mapping[str, float], unit: str, *, lit: str | None = None, digits: int = 0
) -> Drawing:
    """One bar a figure, from the top, the longest at full width; ``unit`` says what is counted.

    ``lit`` names the bar to look at. ``digits`` are those behind the point.

    Raises: ValueError for no figures, one that is negative or no number, or an unknown ``lit``.
    """
    if not figures or not all(math.isfinite(figure) and figure >= 0 for figure in figures.values()):
        raise ValueError("bars need figures, each of them 0 or more")
    if lit is not None and lit not in figures:
        raise ValueError(f"no bar is called {lit!r}; there are {', '.join(figures)}")
    sheet, most = Canvas(), max(figures.values()) or 1.0
    sheet.words(NAME + 10 + LONGEST / 2, -26, LONGEST, unit, font=BOLD, align="l")
    for row, (name, figure) in enumerate(figures.items()):
        y, width = row * ROW, max(LONGEST * figure / most, 2.0)
        sheet.words(NAME / 2, y, NAME, name, align="r")
        sheet.box(NAME + 10 + width / 2, y, width, 18, LIT if name == lit else NEUTRAL)
        number = f"{figure:,.{digits}f}"
        sheet.words(NAME + 16 + width + NUMBER / 2, y, NUMBER, number, font=BOLD, align="l")
    return sheet.drawing(_in_words(figures, unit, digits))


def _in_words(figures: Mapping[str, float], unit: str, digits: int) -> str:
    told = "; ".join(f"{name}, {figure:,.{digits}f}" for name, figure in figures.items())
    return f"Bars, {unit}: {told}."
