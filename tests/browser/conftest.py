"""A JupyterLab on loopback and a headless Chromium, for what only a real browser can show.

Skipped, visibly, where there is no chromium or no playwright. The server lives in a temporary
folder with its own settings, and is stopped by its process id.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import pytest

STARTS_WITHIN = 60.0  # seconds
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
PROGRAMS = ("chromium", "chromium-browser", "google-chrome")

RUN_ALL = """async () => {
  const { commands, restored, shell } = window.jupyterapp;
  await restored;
  const notebook = shell.currentWidget;
  await notebook.context.ready;
  await notebook.sessionContext.ready;
  await notebook.sessionContext.session.kernel.info;
  commands.execute('notebook:run-all-cells');
}"""


@dataclass(frozen=True)
class Lab:
    """A running JupyterLab: where it is, its token, the folder it serves."""

    url: str
    token: str
    folder: Path


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    home = tmp_path_factory.mktemp("jupyter")
    folder = tmp_path_factory.mktemp("notebooks")
    kinds = ("CONFIG", "DATA", "RUNTIME")
    environment = {**os.environ, **{f"JUPYTER_{kind}_DIR": str(home / kind) for kind in kinds}}
    environment["JUPYTERLAB_SETTINGS_DIR"] = str(write_settings(home / "settings"))
    environment["IPYTHONDIR"] = str(home / "ipython")
    command = [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1"),
        *("--port=0", "--expose-app-in-browser", f"--ServerApp.root_dir={folder}"),
    ]
    with (home / "log").open("wb") as log:
        server = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        try:
            yield when_started(server, home, folder)
        finally:
            server.terminate()
            try:
                server.wait(20)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def write_settings(folder: Path) -> Path:
    """No question about news, no look for updates: nothing leaves this machine."""
    path = folder / "@jupyterlab/apputils-extension/notification.jupyterlab-settings"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"fetchNews": "false", "checkForUpdates": False}), encoding="utf-8")
    return folder


def when_started(server: subprocess.Popen[bytes], home: Path, folder: Path) -> Lab:
    """Wait for the file in which a server says where it is."""
    told = home / "RUNTIME" / f"jpserver-{server.pid}.json"
    deadline = time.monotonic() + STARTS_WITHIN
    while not (told.exists() and told.stat().st_size):
        if server.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"JupyterLab did not start: {(home / 'log').read_text()[-2000:]}")
        time.sleep(0.05)
    facts = json.loads(told.read_text(encoding="utf-8"))
    return Lab(facts["url"], facts["token"], folder)


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


def write_notebook(path: Path, cells: tuple[str, ...]) -> None:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3"}
    nbformat.write(notebook, path)


def run_all(page: Any) -> None:
    """Start Run All, once the notebook has its kernel; the cells may wait for a click."""
    page.wait_for_function("window.jupyterapp?.shell.currentWidget?.sessionContext")
    page.evaluate(RUN_ALL)


def use_theme(page: Any, theme: str) -> None:
    """Switch to "JupyterLab Light" or "JupyterLab Dark", and wait until the page has it."""
    page.evaluate(
        "theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})", theme
    )
    page.wait_for_selector(f"body[data-jp-theme-name='{theme}']", state="attached")
