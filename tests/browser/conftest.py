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
from browsing import STARTS_WITHIN, Lab, run_all, start_lab, stop, when_started, write_notebook

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
PROGRAMS = ("chromium", "chromium-browser", "google-chrome")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One worker for all of them: one JupyterLab, one browser."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.xdist_group("browser"))


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A browser. Of module scope: while it is open, asyncio.run cannot be used in this thread."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = next((found for name in PROGRAMS if (found := shutil.which(name))), None)
    if program is None:
        pytest.skip("no chromium on PATH: install the package chromium to run the browser tests")
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=program, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def lab(chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A running JupyterLab; not started where there is no browser to look at it."""
    home, folder = tmp_path_factory.mktemp("jupyter"), tmp_path_factory.mktemp("notebooks")
    server = start_lab(home, folder)
    try:
        yield when_started(server, home, folder)
    finally:
        stop(server)


@pytest.fixture
def open_notebook(lab: Lab, chromium: Any) -> Iterator[Callable[..., Any]]:
    """``open_notebook(cell, …, run=True)``: a page with that notebook; dialogs are collected."""
    pages = []

    def open_it(*cells: str, run: bool = True) -> Any:
        path = lab.folder / f"test_{len(list(lab.folder.iterdir()))}.ipynb"
        write_notebook(path, cells)
        page = chromium.new_page(viewport={"width": 1280, "height": 1000})
        pages.append(page)
        page.dialogs = []
        page.on("dialog", lambda dialog: (page.dialogs.append(dialog.message), dialog.dismiss()))
        page.goto(f"{lab.url}doc/tree/{path.name}?token={lab.token}&reset")
        page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=STARTS_WITHIN * 1000)
        if run:
            run_all(page)
        return page

    yield open_it
    for page in pages:
        page.close()
