"""The approval card and the drawings in a real JupyterLab, clicked by a real browser."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from browsing import use_theme

from mini_agent import draw

ANSWER_WITHIN = 0.3  # seconds, the goal; red at three times that, since machines differ
HOSTILE = '<img src=x onerror="alert(1)"><script>alert(2)</script> $\\color{white}{hidden}$ \u202e'

ASK = f"""
from mini_agent.types import ToolCall
from mini_agent.widgets import ask_in_notebook
call = ToolCall({HOSTILE!r}, {HOSTILE!r}, {{"title": {HOSTILE!r}, "long": "word " * 200}})
answer = await ask_in_notebook(timeout=60)(call, {HOSTILE!r})
"""
TELL = 'f"{answer.approved}: {answer.reason}"'

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


def ask(open_notebook: Callable[..., Any]) -> Any:
    page = open_notebook(ASK, TELL)
    card(page).get_by_role("button", name="Approve").wait_for(timeout=60_000)
    return page


def card(page: Any) -> Any:
    return page.locator(".mini-agent-card")


def test_a_click_on_approve_is_answered_at_once(open_notebook: Callable[..., Any]) -> None:
    page = ask(open_notebook)
    started = time.perf_counter()
    card(page).get_by_role("button", name="Approve").click()
    page.get_by_text("Approved. The call runs.").wait_for()
    took = time.perf_counter() - started
    print(f"answered in {took:.2f} s")
    assert took < 3 * ANSWER_WITHIN
    page.get_by_text("'True: approved in the notebook'").wait_for()
    assert card(page).get_by_role("button", name="Approve").is_disabled()


def test_a_click_on_deny_carries_the_reason(open_notebook: Callable[..., Any]) -> None:
    page = ask(open_notebook)
    card(page).get_by_label("Reason").fill("not on Fridays")
    card(page).get_by_role("button", name="Deny").click()
    page.get_by_text("'False: not on Fridays'").wait_for()


def test_the_card_works_from_the_keyboard(open_notebook: Callable[..., Any]) -> None:
    page = ask(open_notebook)
    card(page).get_by_role("button", name="Approve").focus()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Deny"
    page.keyboard.press("Enter")
    page.get_by_text("'False: denied in the notebook'").wait_for()


def test_hostile_text_is_read_and_never_executed(open_notebook: Callable[..., Any]) -> None:
    page = ask(open_notebook)
    for name in ("Tool", "Why", "Arguments"):
        shown = card(page).get_by_label(name).input_value()
        assert "<script>alert(2)</script>" in shown
        assert "color{white}{hidden}$" in shown
        assert "\\u202e" in shown
    assert card(page).locator("img, script").count() == 0
    assert card(page).locator("mjx-container").count() == 0
    card(page).get_by_role("button", name="Deny").click()
    page.get_by_text("'False: denied in the notebook'").wait_for()
    assert page.dialogs == []


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
def test_the_card_is_readable_and_whole_in_both_themes(
    open_notebook: Callable[..., Any], theme: str
) -> None:
    page = ask(open_notebook)
    use_theme(page, theme)
    for name in ("Tool", "Why", "Arguments"):
        field = card(page).get_by_label(name)
        assert field.evaluate(CONTRAST) >= 4.5
        assert field.evaluate("e => e.scrollHeight - e.clientHeight") <= 2  # nothing below the edge
    for name in ("Approve", "Deny"):
        assert card(page).get_by_role("button", name=name).evaluate(CONTRAST) >= 4.5
    assert card(page).get_by_text("May this call run?").evaluate(CONTRAST) >= 4.5
    card(page).get_by_role("button", name="Deny").click()
    page.get_by_text("Denied.", exact=True).wait_for()
    assert card(page).get_by_label("Reason").evaluate(CONTRAST) >= 4.5


def test_a_drawing_has_a_name_and_fits_the_page(open_notebook: Callable[..., Any]) -> None:
    page = open_notebook("from mini_agent import draw\ndraw.error_paths()")
    named = page.get_by_role("img", name=draw.error_paths().alt)
    named.wait_for(timeout=60_000)
    width, column = named.evaluate("e => [e.naturalWidth, e.parentElement.clientWidth]")
    assert 0 < width <= column
