"""Hostile text in every field that a card, a trace viewer and a drawing show: read, never run."""

from __future__ import annotations

import base64
import xml.etree.ElementTree as ET
from typing import Any

import pytest

from browser.hostile import PAYLOADS, arguments, everywhere, reviewed, seen
from browser.sheet import Sheet
from mini_agent.visible import visible, visible_json

FIELDS = ("Server", "Tool", "Why")

# Whatever could act, in what the cell put out: kinds of elements, attributes, addresses.
ACTIVE = """() => {
  const all = [...document.querySelectorAll('.jp-Cell-outputArea *')];
  const kinds = ['SCRIPT', 'IFRAME', 'OBJECT', 'EMBED', 'FORM', 'LINK', 'META', 'BASE', 'VIDEO',
    'AUDIO', 'MJX-CONTAINER'];
  const ours = 'data:image/svg+xml;base64,';
  const bad = element =>
    kinds.includes(element.tagName.toUpperCase())
    || [...element.attributes].some(each => each.name.toLowerCase().startsWith('on'))
    || /^\\s*(javascript|data|vbscript):/i.test(element.getAttribute('href') || '')
    || (element.tagName.toLowerCase() === 'svg' && !element.dataset.icon) // JupyterLab's icons
    || (element.tagName === 'IMG' && !element.getAttribute('src').startsWith(ours));
  return all.filter(bad).map(element => element.outerHTML.slice(0, 200));
}"""

DRAWN = """() => [...document.querySelectorAll('.jp-Cell-outputArea img')]
  .map(image => [image.getAttribute('alt'), image.getAttribute('src')])"""


@pytest.fixture(params=PAYLOADS.values(), ids=PAYLOADS.keys())
def payload(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_hostile_text_is_shown_everywhere_and_runs_nowhere(
    sheet: Sheet, payload: str, request: pytest.FixtureRequest
) -> None:
    sheet.run(everywhere(payload))
    for name in FIELDS:
        assert sheet.field(name) == visible(payload)
    assert sheet.field("Arguments") == visible_json(arguments(payload))
    sheet.card().get_by_label("Reason").fill(payload)
    sheet.screenshot(f"hostile-{request.node.callspec.id}")
    sheet.press("Deny")
    sheet.finished()
    assert sheet.field("Reason") == visible(one_line(payload))
    viewer = sheet.page.get_by_label("Events").input_value()
    assert seen(viewer, payload) >= 10
    drawings = sheet.page.evaluate(DRAWN)
    assert len(drawings) == 2
    for alt, source in drawings:
        assert seen(alt, payload)
        assert active_in_svg(source) == []
    assert seen(sheet.page.locator(".jp-Cell-outputArea").inner_text(), payload) >= 3
    assert sheet.page.evaluate(ACTIVE) == []
    assert sheet.page.evaluate("typeof window.__pwned") == "undefined"
    assert (sheet.dialogs, sheet.strangers) == ([], [])


def test_a_review_shows_it_and_so_does_its_checklist_as_markdown(
    sheet: Sheet, payload: str
) -> None:
    sheet.run(reviewed(payload))
    page = sheet.shows(".jp-RenderedMarkdown")
    sheet.finished()
    assert seen(sheet.page.locator(".jp-OutputArea-output pre").first.inner_text(), payload) >= 3
    page.get_by_role("heading", name="Ten questions before connecting").wait_for()
    assert seen(page.inner_text(), payload) >= 3
    assert sheet.page.evaluate(ACTIVE) == []
    assert sheet.page.evaluate("typeof window.__pwned") == "undefined"
    assert (sheet.dialogs, sheet.strangers) == ([], [])


def one_line(text: str) -> str:
    """What an input of one line keeps of ``text``: no line break, no spaces around it."""
    return text.replace("\r", "").replace("\n", "").strip()


def active_in_svg(source: str) -> list[str]:
    """What in a drawing could act, had it been put into the page itself."""
    root = ET.fromstring(base64.b64decode(source.partition(",")[2]))
    return [what for element in root.iter() for what in _active(element)]


def _active(element: Any) -> list[str]:
    tag = element.tag.rpartition("}")[2]
    kinds = {"svg", "g", "title", "polygon", "polyline", "path", "ellipse", "text", "tspan"}
    names = [name.rpartition("}")[2].lower() for name in element.attrib]
    found = [name for name in names if name.startswith("on") or name == "href"]
    return found + ([] if tag in kinds else [tag])


def test_the_same_text_runs_where_it_is_taken_for_markup(sheet: Sheet) -> None:
    """The proof that the proof above can fail: the same payload, shown by something else."""
    sheet.run(
        "from IPython.display import HTML, display",
        f"display(HTML({PAYLOADS['img-onerror']!r}), HTML({PAYLOADS['script']!r}))",
    )
    sheet.finished()
    sheet.page.wait_for_function("window.__pwned === 1")
    assert sheet.strangers
    assert len(sheet.page.evaluate(ACTIVE)) >= 1
    sheet.page.evaluate("delete window.__pwned")
