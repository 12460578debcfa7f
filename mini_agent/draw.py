"""Pictures of the chain: from the declared layers, and from what a trace says happened.

Each returns a Drawing: a notebook shows it, ``.svg()`` is its text, ``.alt`` says it in words.
Colour, line and label always speak together: tool errors are blue and solid, protocol errors red
and dotted, the lit layer yellow with a heavy border.
"""

from __future__ import annotations

from collections.abc import Sequence

from mini_agent.dot import Drawing
from mini_agent.drawing.bars import bars
from mini_agent.drawing.canvas import (
    BOLD,
    BUSINESS,
    LIT,
    MONO,
    NEUTRAL,
    PLAIN,
    PROTOCOL,
    Canvas,
    Look,
    cell,
    is_ours,
)
from mini_agent.drawing.chain import ASKS, PITCH, ask, chain
from mini_agent.drawing.sequence import sequence
from mini_agent.trace import LAYERS, Layer

__all__ = ["Drawing", "bars", "chain", "error_paths", "failure_states", "layers", "sequence"]

LEFT, MIDDLE, RIGHT, SIDE = 105.0, 320.0, 535.0, 228.0

# One row a layer, from the top: where the path ends, then what each layer makes of the error.
TOOL_ERROR = (
    ("The model sees why", "it reads the reason and adjusts"),
    ("Recorded; the loop goes on", "one tool_result with its reason"),
    ("ToolResult(is_error=True)", "translated here: a business result"),
    ("CallResult(is_error=True)", "a good answer that says no"),
    ("One message like any other", "bytes arrived and were whole"),
    ("isError: true", "the tool ran and could not do it"),
)
PROTOCOL_ERROR = (
    ("The caller gets the exception", "the same object; the terminal exits 1"),
    ('"tool execution failed"', "all the model sees; the rest is skipped"),
    ("Not caught: out of execute", "no ToolResult is made of it"),
    ("JsonRpcError, MalformedMessage", "or RequestTimeout; adds server, tool"),
    ("TransportError, MalformedMessage", "no answer came, or no message"),
    ("Refuses, garbles or is gone", "a JSON-RPC error, nonsense, silence"),
)

YES = (
    ("Business error", "the server reported it"),
    ("Recorded in messages", "with the server's own words"),
    ("The loop goes on", "its next turn carries the result"),
    ("The model sees the cause", "and adjusts"),
)
NO = (
    ("Protocol error", "no answer, bad format, or a refusal"),
    ('Recorded: "tool execution failed"', "and the rest of the batch as skipped"),
    ("Raised to the caller, unchanged", "the model never sees its details"),
    ("The terminal exits 1", "one line says whose fault it was"),
)


def layers(lit: str | None = None) -> Drawing:
    """The declared layers, top to bottom, with what each may know and asks of the next one down.

    Raises: ValueError when ``lit`` names no layer.
    """
    names = [layer.name for layer in LAYERS]
    if lit is not None and lit not in names:
        raise ValueError(f"no layer is called {lit!r}; there are {', '.join(names)}")
    sheet = Canvas()
    for row, layer in enumerate(LAYERS):
        _storey(sheet, layer, row * 66.0, lit=layer.name == lit)
        if layer.name in ASKS:
            sheet.arrow([(60, row * 66 + 19), (60, row * 66 + 47)])
            sheet.words(205, row * 66 + 33, 270, ASKS[layer.name], font=MONO, align="l")
    return sheet.drawing(_layers_in_words(lit))


def _storey(sheet: Canvas, layer: Layer, y: float, *, lit: bool) -> None:
    sheet.box(300, y, 600, 38, LIT if lit else NEUTRAL, name=layer.name, ours=is_ours(layer))
    sheet.words(85, y, 150, layer.title, font=BOLD, align="l", size=13)
    sheet.words(284, y, 230, layer.knows, align="l")
    where = MONO if is_ours(layer) else PLAIN
    sheet.words(490, y, 200, layer.module, font=where, align="r", size=11)
    if lit:
        sheet.words(545, y - 28, 110, "you are here", ink=LIT.ink, font=BOLD, align="r")


def _layers_in_words(lit: str | None) -> str:
    told = "; ".join(
        f"{layer.title} {layer.knows}"
        + (f" and asks {ASKS[layer.name]} of the next" if layer.name in ASKS else "")
        for layer in LAYERS
    )
    here = next((f" {layer.title} is lit." for layer in LAYERS if layer.name == lit), "")
    return f"The layers of the chain, top to bottom: {told}.{here}"


def error_paths() -> Drawing:
    """Both ways a call can fail, layer by layer from the server up: acceptance item 1."""
    sheet = Canvas()
    _path(sheet, LEFT, "TOOL ERROR: a result", TOOL_ERROR, BUSINESS)
    _path(sheet, RIGHT, "PROTOCOL ERROR: an exception", PROTOCOL_ERROR, PROTOCOL)
    sheet.words(MIDDLE, PITCH - 34, 150, "THE CALL", font=BOLD, size=13)
    for row, layer in enumerate(LAYERS, start=1):
        y = row * PITCH
        sheet.box(MIDDLE, y, 150, 40, name=layer.name, ours=is_ours(layer))
        sheet.words(MIDDLE, y, 140, layer.title, font=BOLD, size=12.5)
        if layer.name in ASKS:
            ask(sheet, MIDDLE, y, ASKS[layer.name].partition("(")[0])
    server = len(LAYERS) * PITCH
    sheet.arrow([(MIDDLE - 75, server), (LEFT + SIDE / 2 + 2, server)], BUSINESS)
    sheet.arrow([(MIDDLE + 75, server), (RIGHT - SIDE / 2 - 2, server)], PROTOCOL)
    titles = ["the outcome", *(layer.title for layer in LAYERS)]
    return sheet.drawing(
        "The call chain with both error paths, from the server up. "
        f"Tool error, a result: {_upwards_in_words(titles, TOOL_ERROR)}. "
        f"Protocol error, an exception: {_upwards_in_words(titles, PROTOCOL_ERROR)}."
    )


def _path(sheet: Canvas, x: float, title: str, path: Sequence[tuple[str, str]], look: Look) -> None:
    sheet.words(x, -34, SIDE, title, ink=look.ink, font=BOLD, size=13)
    for row, (says, more) in enumerate(path):
        y = row * PITCH
        cell(sheet, x, y, SIDE, [says, more], look)
        if row:
            sheet.arrow([(x, y - 20), (x, y - PITCH + 22)], look)


def failure_states() -> Drawing:
    """The one question that decides which path a failed call takes, and where each path ends."""
    sheet = Canvas()
    sheet.box(MIDDLE, 0, 190, 32, name="failed")
    sheet.words(MIDDLE, 0, 180, "An MCP tool call fails", font=BOLD)
    sheet.arrow([(MIDDLE, 16), (MIDDLE, 46)])
    sheet.box(MIDDLE, 78, 250, 62, LIT, name="question", shape="diamond", style="filled")
    sheet.words(MIDDLE, 78, 200, "result.isError === true?", font=MONO, ink=LIT.ink)
    _branch(sheet, LEFT, -1, "yes", YES, BUSINESS)
    _branch(sheet, RIGHT, 1, "no", NO, PROTOCOL)
    return sheet.drawing(
        "State diagram: an MCP tool call fails; is result.isError === true? "
        f"Yes: {_column_in_words(YES)}. No: {_column_in_words(NO)}."
    )


def _branch(
    sheet: Canvas, x: float, side: int, answer: str, path: Sequence[tuple[str, str]], look: Look
) -> None:
    sheet.arrow([(MIDDLE + side * 125, 78), (x, 78), (x, 118)], look)
    sheet.words(x - side * 40, 68, 60, answer, ink=look.ink, font=BOLD, size=13)
    for row, (says, more) in enumerate(path):
        y = 140 + row * PITCH
        cell(sheet, x, y, SIDE, [says, more], look)
        if row:
            sheet.arrow([(x, y - PITCH + 20), (x, y - 22)], look)


def _column_in_words(path: Sequence[tuple[str, str]]) -> str:
    return "; ".join(f"{says} ({more})" for says, more in path)


def _upwards_in_words(titles: Sequence[str], path: Sequence[tuple[str, str]]) -> str:
    steps = [f"{title}, {says} ({more})" for title, (says, more) in zip(titles, path, strict=True)]
    return "; ".join(reversed(steps))
