"""A JupyterLab on loopback and a headless Chromium, for what only a real browser can show.

Skipped, visibly, where there is no chromium or no playwright. The server lives in a temporary
folder with its own settings, and is stopped by its process id.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from browser.browsing import Lab, start_lab, stop, when_started, write_notebook
from browser.sheet import Sheet

# No name but loopback's resolves: what a payload asks for is seen, and goes nowhere.
FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"),
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
]
PROGRAMS = ("chromium", "chromium-browser", "google-chrome")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One worker for all of them: one JupyterLab, one browser."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.xdist_group("browser"))


@pytest.fixture(scope="package")
def chromium() -> Iterator[Any]:
    """A browser. Closed before other folders' tests: while it is open, asyncio.run is not."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = next((found for name in PROGRAMS if (found := shutil.which(name))), None)
    if program is None:
        pytest.skip("no chromium on PATH: install the package chromium to run the browser tests")
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=program, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def lab(chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A running JupyterLab; not started where there is no browser to look at it."""
    home, folder = tmp_path_factory.mktemp("jupyter"), tmp_path_factory.mktemp("notebooks")
    server = start_lab(home, folder)
    try:
        yield when_started(server, home, folder)
    finally:
        stop(server)


@pytest.fixture(scope="package")
def open_sheet(lab: Lab, chromium: Any) -> Iterator[Callable[[str], Sheet]]:
    """Opens a notebook of the lab's folder by its name, in a page of its own."""
    sheets = []

    def open_it(notebook: str) -> Sheet:
        sheets.append(Sheet(chromium, lab, notebook))
        return sheets[-1]

    yield open_it
    for sheet in sheets:
        sheet.page.close()


@pytest.fixture(scope="package")
def shared_sheet(lab: Lab, open_sheet: Callable[[str], Sheet]) -> Sheet:
    """An empty notebook with a kernel, for every test that runs one cell."""
    write_notebook(lab.folder / "sheet.ipynb")
    return open_sheet("sheet.ipynb")


@pytest.fixture
def sheet(shared_sheet: Sheet) -> Iterator[Sheet]:
    """The shared sheet with nothing held against it. A cell that a test left waiting is ended."""
    shared_sheet.dialogs.clear()
    shared_sheet.strangers.clear()
    yield shared_sheet
    if not shared_sheet.over():
        shared_sheet.restart()
