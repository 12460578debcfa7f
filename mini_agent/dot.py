"""The `dot` program: which one to use, and the Drawing it makes. Nothing runs until it is shown.

The binary of graphviz-pure beside the interpreter comes first, since it draws the same bytes on
every platform. Another `dot` on PATH is used with a line in the picture that says so. Where there
is none, the drawing shows a sentence and its DOT text.
"""

from __future__ import annotations

import base64
import html
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

OTHER_DOT = "drawn by the dot on PATH: graphviz-pure is missing, so sizes may differ"
NO_DOT = (
    "There is no dot program to draw with. Run `pip install graphviz-pure`, or paste this DOT "
    "text into any Graphviz."
)
SECONDS = 20.0
SVG = "{http://www.w3.org/2000/svg}"
FONTS = {
    "Helvetica": "Helvetica, Arial, 'Liberation Sans', sans-serif",
    "Courier": "Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', monospace",
}
CLOSE_DOTS = "2.4,2.4"  # Graphviz's own dots stand too far apart to be seen on a short arrow


class DotError(RuntimeError):
    """There is no dot program, or it refused the DOT text. The message says what to do."""


@dataclass(frozen=True)
class Dot:
    """A program that draws; ``ours`` is True for graphviz-pure."""

    program: str
    ours: bool = True


def find_dot(beside: str = sys.executable, path: str | None = None) -> Dot | None:
    """graphviz-pure in the folder of ``beside``, else `dot` on ``path`` (None: PATH), else None."""
    suffix = ".exe" if sys.platform == "win32" else ""
    pure = Path(beside).with_name("graphviz-pure" + suffix)
    if pure.is_file():
        return Dot(str(pure))
    other = shutil.which("dot", path=path)
    return Dot(other, ours=False) if other else None


@dataclass(frozen=True)
class Drawing:
    """A picture as DOT text (``source``) and in words (``alt``); a notebook shows it as SVG."""

    source: str
    alt: str
    find: Callable[[], Dot | None] = field(default=find_dot, repr=False, compare=False)

    def svg(self) -> str:
        """The picture as SVG text: opaque, no script, no link, named by ``alt``.

        Raises: DotError when there is no dot program or it fails.
        """
        dot = self.find()
        if dot is None:
            raise DotError(NO_DOT)
        return tidy(render(dot, self.source), self.alt)

    def html(self) -> str:
        """The picture as an ``<img>`` that says ``alt``.

        JupyterLab gives an SVG output no name, and shows none before a notebook is trusted; this
        it shows at once, and names.

        Raises: DotError, as svg() does.
        """
        return image(self.svg(), self.alt)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        # JupyterLab names no SVG for a screen reader, and hides it until a notebook is trusted; an
        # <img> with its alt text is named and shown. The SVG stays for viewers that take no HTML.
        try:
            svg = self.svg()
        except DotError as error:
            return {"text/plain": f"{self.alt}\n\n{error}\n\n{self.source}"}
        return {
            "text/html": image(svg, self.alt),
            "image/svg+xml": svg,
            "text/plain": self.alt,
        }

    def __str__(self) -> str:
        return self.alt


def image(svg: str, alt: str) -> str:
    """``svg`` inside an ``<img>`` that says ``alt``, with nothing to fetch."""
    data = base64.b64encode(svg.encode()).decode()
    return f'<img alt="{html.escape(alt, quote=True)}" src="data:image/svg+xml;base64,{data}">'


def render(dot: Dot, source: str) -> str:
    """What the program makes of ``source``, as raw SVG text.

    Raises: DotError with the program's own first words, or when it wrote no UTF-8.
    """
    caption = [] if dot.ours else [f"-Glabel={OTHER_DOT}", "-Glabelloc=b", "-Gfontsize=11"]
    try:
        done = subprocess.run(
            [dot.program, "-Tsvg", *caption],
            input=source.encode(), capture_output=True, timeout=SECONDS, check=True,
        )  # fmt: skip
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode("utf-8", "replace").strip()[:200]
        raise DotError(f"{dot.program} could not draw this: {said or 'it said nothing'}") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise DotError(f"{dot.program} could not be run: {error}") from error
    try:
        return done.stdout.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DotError(f"{dot.program} wrote something that is not UTF-8") from error


def tidy(svg: str, alt: str) -> str:
    """The same picture with a name for screen readers, and without comments, ids and node titles.

    Fonts get fallbacks of the same width. The same input gives the same bytes.

    Raises: DotError when it is no SVG.
    """
    ET.register_namespace("", SVG.strip("{}"))
    try:
        root = ET.fromstring(svg)
    except ET.ParseError as error:
        raise DotError(f"the dot program wrote no SVG: {svg.strip()[:60]!r}") from error
    for parent in list(root.iter()):
        for child in [c for c in parent if c.tag == f"{SVG}title"]:
            parent.remove(child)
        for name in ("id", "class"):
            parent.attrib.pop(name, None)
        if parent.get("stroke-dasharray") == "1,5":
            parent.set("stroke-dasharray", CLOSE_DOTS)
        family = parent.get("font-family", "").split(",")[0]
        if family in FONTS:
            parent.set("font-family", FONTS[family])
    title = ET.Element(f"{SVG}title")
    title.text = alt
    title.tail = "\n"
    root.insert(0, title)
    root.set("role", "img")
    root.set("aria-label", alt)
    return ET.tostring(root, encoding="unicode") + "\n"
