"""What a person sees: both themes, long arguments, a drawing, a trace; screenshots to look at."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from browser.asking import a_card
from browser.sheet import THEMES, Sheet
from mini_agent import draw
from mini_agent.visible import visible_json

READABLE = 4.5  # contrast, WCAG 2.2 AA for text of this size
FACTS = ("Server", "Tool", "Known as", "Policy", "Why", "Pin", "Arguments")
CALL = a_card(server="calendar", tool="create", pin="9f86d081884c7d65" * 4)

CONTRAST = """element => {
  const channels = colour => colour.match(/[\\d.]+/g).map(Number);
  const over = (top, below) => {
    const a = top.length > 3 ? top[3] : 1;
    return [0, 1, 2].map(i => top[i] * a + below[i] * (1 - a));
  };
  const chain = [];
  for (let e = element; e; e = e.parentElement) chain.unshift(e);
  let paper = [255, 255, 255], ink = null;
  for (const e of chain) {
    paper = over(channels(getComputedStyle(e).backgroundColor), paper);
  }
  const style = getComputedStyle(element);
  ink = over([...channels(style.color).slice(0, 3), Number(style.opacity)], paper);
  const light = c => c.map(v => v / 255)
    .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const [high, low] = [light(ink), light(paper)].sort((a, b) => b - a);
  return (high + 0.05) / (low + 0.05);
}"""

HIDDEN_LINES = "element => element.scrollHeight - element.clientHeight"
TOP_OF_THE_BUTTONS = "element => element.getBoundingClientRect().top"

END = "; rm -rf important"
LONG = {"a": "ls " + "x" * 2_500 + " " * 2_500 + END, "z": "\u202egpj.exe"}


@pytest.fixture
def light_again(sheet: Sheet) -> Iterator[Sheet]:
    yield sheet
    sheet.wear(THEMES[0])


@pytest.mark.parametrize("theme", THEMES)
def test_a_card_is_readable_and_whole(light_again: Sheet, theme: str) -> None:
    sheet, short = light_again, theme.split()[-1].lower()
    sheet.wear(theme)
    sheet.run(CALL)
    card = sheet.card()
    for name in FACTS:
        field = card.get_by_label(name, exact=True)
        assert field.evaluate(CONTRAST) >= READABLE
        assert field.evaluate(HIDDEN_LINES) <= 2
    for name in ("Approve", "Deny"):
        assert card.get_by_role("button", name=name).evaluate(CONTRAST) >= READABLE
    for role in ("heading", "timer"):
        assert card.get_by_role(role).evaluate(CONTRAST) >= READABLE
    sheet.screenshot(f"card-{short}")
    card.get_by_role("button", name="Approve").focus()
    sheet.page.keyboard.press("Tab")
    sheet.screenshot(f"focus-{short}")
    sheet.press("Deny")
    sheet.finished()
    assert card.get_by_role("alert").evaluate(CONTRAST) >= READABLE
    assert card.get_by_label("Reason").evaluate(CONTRAST) >= READABLE
    sheet.screenshot(f"decided-{short}")


def test_a_long_argument_is_there_to_its_dangerous_end(sheet: Sheet) -> None:
    sheet.run(a_card(LONG))
    field = sheet.card().get_by_label("Arguments")
    assert sheet.field("Arguments") == visible_json(LONG)
    assert field.evaluate(HIDDEN_LINES) <= 2
    lines = field.evaluate("e => e.clientHeight / parseFloat(getComputedStyle(e).fontSize)")
    assert lines > 5_000 / 80  # the spaces take up room as well
    note = sheet.card().get_by_role("note")
    assert note.inner_text().startswith("The arguments are long: 5,0")
    below = sheet.card().get_by_role("button", name="Approve").evaluate(TOP_OF_THE_BUTTONS)
    assert below > 1_000 > field.evaluate(TOP_OF_THE_BUTTONS)  # they cannot be pressed unread
    sheet.screenshot("long-top")
    sheet.card().get_by_role("button", name="Deny").focus()
    sheet.screenshot("long-end")
    sheet.page.keyboard.press("PageUp")
    sheet.page.wait_for_function("document.activeElement.getBoundingClientRect().top > 1000")
    sheet.press("Deny")
    sheet.finished()


def test_a_drawing_has_a_name_and_fits_the_page(sheet: Sheet) -> None:
    sheet.run("from mini_agent import draw", "draw.error_paths()")
    named = sheet.page.get_by_role("img", name=draw.error_paths().alt)
    named.wait_for()
    width, column = named.evaluate("e => [e.naturalWidth, e.parentElement.clientWidth]")
    assert 0 < width <= column
    sheet.screenshot("drawing")


def test_a_trace_is_looked_through_by_layer(sheet: Sheet) -> None:
    sheet.run(
        "from mini_agent.trace import Trace",
        "from mini_agent.widgets import trace_viewer",
        "trace = Trace()",
        "trace.add('loop', 'prompt', text='Is Friday free?')",
        "trace.add('client', 'request', server='calendar', method='tools/call', id=1)",
        "trace.add('loop', 'done', stop_reason='end_turn')",
        "trace_viewer(trace)",
    )
    choice = sheet.page.get_by_role("combobox", name="Layer")
    choice.wait_for()
    sheet.screenshot("trace")
    events = sheet.page.get_by_label("Events")
    assert len(events.input_value().split("\n")) == 3
    choice.select_option("client")
    sheet.page.wait_for_function("document.querySelector('textarea').value.startsWith('client')")
    assert len(events.input_value().split("\n")) == 1
