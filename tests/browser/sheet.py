"""One notebook open in a page: run a cell in it, look at its card, see what the page did.

Opening a page and starting a kernel takes seconds, a cell takes a tenth of one: tests share a
sheet, and each begins by emptying it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from browser.browsing import STARTS_WITHIN, Lab
from browser.in_page import (
    ALL_OVER,
    CELL_BELOW,
    CELLS,
    FOCUSED,
    KERNEL,
    ONE_CELL,
    READY,
    STARTED,
    TIMED,
)

SCREENSHOTS = Path(__file__).with_name("screenshots")
THEMES = ("JupyterLab Light", "JupyterLab Dark")
MILLISECONDS = 30_000


class Sheet:
    """A page with one notebook, and what it did: dialogs, requests to elsewhere."""

    def __init__(self, browser: Any, lab: Lab, notebook: str) -> None:
        self.page = browser.new_page(viewport={"width": 1280, "height": 1000})
        self.page.set_default_timeout(MILLISECONDS)
        self.dialogs: list[str] = []
        self.strangers: list[str] = []
        self.page.on("dialog", self._dialog)
        self.page.on("request", self._request)
        self.page.goto(lab.address(notebook))
        self.page.wait_for_selector(".jp-Notebook", timeout=STARTS_WITHIN * 1000)
        self.page.wait_for_function("window.jupyterapp?.shell.currentWidget?.sessionContext")
        self.page.evaluate(READY)

    def _dialog(self, dialog: Any) -> None:
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    def _request(self, request: Any) -> None:
        parts = urlsplit(request.url)
        if parts.scheme not in ("data", "blob") and parts.hostname != "127.0.0.1":
            self.strangers.append(request.url)

    # -- cells ------------------------------------------------------------------------------------

    def run(self, *lines: str) -> None:
        """Empty the notebook and start these lines as its only cell; it may wait for a click."""
        self.page.evaluate(ONE_CELL, "\n".join(lines))
        self.page.wait_for_function(f"{CELLS}.some({STARTED})")

    def run_below(self, *lines: str) -> None:
        """Start these lines as a cell below the others."""
        self.page.evaluate(CELL_BELOW, "\n".join(lines))

    def run_all(self) -> None:
        """Start Run All; the cells may wait for a click."""
        self.page.evaluate("() => { window.jupyterapp.commands.execute('notebook:run-all-cells') }")

    def cells(self) -> list[dict[str, Any]]:
        """The cells as they would be saved now."""
        return list(self.page.evaluate(f"{CELLS}.map(cell => cell.toJSON())"))

    def outputs(self) -> list[dict[str, Any]]:
        """What the code cells have put out until now, in order."""
        return [out for cell in self.cells() for out in cell.get("outputs", [])]

    def printed(self, text: str) -> None:
        """Wait for a line that the cell wrote or displayed as text, and that holds ``text``."""
        self.page.locator(".jp-OutputArea-output pre", has_text=text).first.wait_for()

    def over(self) -> bool:
        """Is no cell running, and none waiting to run?"""
        return bool(self.page.evaluate(ALL_OVER))

    def finished(self) -> None:
        """Wait until no cell runs and none waits to run."""
        self.page.wait_for_function(ALL_OVER)

    def interrupt(self) -> None:
        """What the stop button does."""
        self.page.evaluate("() => window.jupyterapp.commands.execute('notebook:interrupt-kernel')")

    def restart(self) -> None:
        """Restart the kernel, and wait until the new one answers."""
        self.page.evaluate(f"async () => {{ await {KERNEL}.restart(); await {KERNEL}.info }}")

    # -- what is in the page ----------------------------------------------------------------------

    def shows(self, selector: str) -> Any:
        """What the selector finds, once there is something.

        Raises: AssertionError with the outputs when the cells ended without it.
        """
        found = self.page.locator(selector)
        self.page.wait_for_function(
            f"found => document.querySelector(found) || {ALL_OVER}", arg=selector
        )
        assert found.count(), f"the cells ended without {selector}: {self.outputs()}"
        return found

    def card(self, index: int = -1) -> Any:
        """The last card, or the one of that index, once it can be answered or has been."""
        found = self.shows(".mini-agent-approval")
        return found.last if index == -1 else found.nth(index)

    def cards(self) -> int:
        """How many cards there are."""
        return int(self.page.locator(".mini-agent-approval").count())

    def nth_card(self, index: int) -> None:
        """Wait for the card of that index."""
        self.page.locator(".mini-agent-approval").nth(index).wait_for()

    def next_tick(self) -> None:
        """Wait for the countdown's next second: by then the page shows all that came before."""
        timer = "document.querySelector('.mini-agent-approval [role=timer]').textContent"
        self.page.wait_for_function(f"before => {timer} !== before", arg=self.page.evaluate(timer))

    def said(self) -> str:
        """How the last card was decided, in its own words, once it is."""
        return str(self.card().get_by_role("alert").inner_text())

    def tab_until(self, name: str, presses: int) -> dict[str, str]:
        """Press Tab until the focus is on what is so named: its name and its outline.

        Raises: AssertionError when it is not reached with that many presses.
        """
        met = []
        for _ in range(presses):
            self.page.keyboard.press("Tab")
            met.append(self.page.evaluate(FOCUSED))
            if met[-1]["name"].strip() == name:
                return dict(met[-1])
        raise AssertionError(f"Tab did not reach {name!r} but {[one['name'] for one in met]}")

    def press(self, name: str, index: int = -1) -> None:
        """Click that button of a card."""
        self.card(index).get_by_role("button", name=name).click()

    def field(self, name: str, index: int = -1) -> str:
        """What a card's field of that name shows."""
        return str(self.card(index).get_by_label(name, exact=True).input_value())

    def seconds_to_answer(self, name: str) -> float:
        """Click that button, and measure in the page how long the cell took to go on."""
        self.page.evaluate(TIMED)
        self.press(name)
        return float(self.page.evaluate("window.__answered"))

    def wear(self, theme: str) -> None:
        """Switch to one of THEMES, and wait until the page has it."""
        self.page.evaluate(
            "theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})", theme
        )
        self.page.wait_for_selector(f"body[data-jp-theme-name='{theme}']", state="attached")

    def screenshot(self, name: str) -> None:
        """Keep what the page shows, for a person to look at."""
        SCREENSHOTS.mkdir(exist_ok=True)
        self.page.screenshot(path=SCREENSHOTS / f"{name}.png")
