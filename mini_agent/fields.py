"""What a card is made of: fields that show somebody else's text letter by letter, and our words.

``shown`` is where such text goes, and the only place: a Textarea shows what it holds, while a Label
would typeset ``$…$`` in it and HTML would execute it. ``ours`` makes HTML, of our own words alone.
"""

from __future__ import annotations

import html
import unicodedata
from typing import Any

APPROVE, DENY, WHITE = "#0B4F94", "#A12C0B", "#FFFFFF"
COLUMNS = 80
SCREEN = 30  # lines: a text of more does not fit on it together with the buttons

# The notebook's theme fades what is disabled, and here that is what has to be read. Spaces take
# up room, so that a long run of them cannot hide what comes after it.
STYLE = """<style>
.mini-agent-card { border: 2px solid var(--jp-ui-font-color2, #666); border-radius: 6px;
  padding: 8px 12px; color: var(--jp-ui-font-color1, inherit) }
.mini-agent-card textarea:disabled, .mini-agent-card input:disabled { opacity: 1 !important;
  color: var(--jp-ui-font-color0, inherit) !important; field-sizing: content; resize: none;
  font-family: var(--jp-code-font-family, monospace); width: 100%; box-sizing: border-box;
  white-space: break-spaces }
.mini-agent-card .widget-box { overflow: visible }
.mini-agent-card button { font-weight: 600; margin: 2px 10px 2px 2px }
.mini-agent-card button:disabled { opacity: 0.5 }
.mini-agent-card :is(button, input, select):focus-visible { outline-offset: 2px;
  outline: 3px solid var(--jp-ui-font-color1, #000) !important }
.mini-agent-card [role=heading], .mini-agent-card [role=alert] { font-weight: bold }
</style>"""


def how_long(text: str) -> str:
    """A sentence about arguments that do not fit on one screen; "" for those that do."""
    lines = height(text)
    if lines <= SCREEN:
        return ""
    size = f"{len(text):,} characters, about {lines:,} lines"
    return f"The arguments are long: {size}. All of them are above."


def height(text: str) -> int:
    """How many lines of COLUMNS columns ``text`` takes; wide characters take two columns."""
    return sum(1 + breadth(line) // COLUMNS for line in text.split("\n"))


def breadth(line: str) -> int:
    """The columns that ``line`` takes in a monospaced font."""
    return len(line) + sum(unicodedata.east_asian_width(char) in "WF" for char in line)


def shown(name: str, text: str) -> Any:
    """A text field that nobody can write in, high enough for all of ``text``."""
    import ipywidgets as w

    return w.Textarea(
        value=text, description=name, disabled=True, rows=height(text), layout={"width": "auto"}
    )


def ours(sentence: str, role: str) -> str:
    """HTML that tells a screen reader what ``sentence``, always one of ours, is there for."""
    level = ' aria-level="3"' if role == "heading" else ""
    return f'<div role="{role}"{level}>{html.escape(sentence)}</div>'


def button(text: str, colour: str, tooltip: str) -> Any:
    """A button with a colour of its own, the same in every theme."""
    import ipywidgets as w

    style = {"button_color": colour, "text_color": WHITE}
    return w.Button(description=text, tooltip=tooltip, style=style)
