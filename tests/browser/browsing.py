"""Starting a JupyterLab, writing a notebook for it, and the page that shows it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat

STARTS_WITHIN = 60.0  # seconds

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


def start_lab(home: Path, folder: Path) -> subprocess.Popen[bytes]:
    """JupyterLab on a free port of loopback, with settings of its own below ``home``."""
    kinds = ("CONFIG", "DATA", "RUNTIME")
    environment = {**os.environ, **{f"JUPYTER_{kind}_DIR": str(home / kind) for kind in kinds}}
    environment["JUPYTERLAB_SETTINGS_DIR"] = str(write_settings(home / "settings"))
    environment["IPYTHONDIR"] = str(home / "ipython")
    command = [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1"),
        *("--port=0", "--expose-app-in-browser", f"--ServerApp.root_dir={folder}"),
    ]
    with (home / "log").open("wb") as log:
        return subprocess.Popen(command, env=environment, stdout=log, stderr=log)


def stop(server: subprocess.Popen[bytes]) -> None:
    """End the server, which ends its kernels."""
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
