"""Starting a JupyterLab on loopback, and stopping it by its process id."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import nbformat

STARTS_WITHIN = 60.0  # seconds
SETTINGS = {
    # No question about news, no look for updates: nothing leaves this machine.
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    # Every cell stays in the page, also out of sight, so that all of it can be searched.
    "notebook-extension/tracker": {"windowingMode": "none"},
}


@dataclass(frozen=True)
class Lab:
    """A running JupyterLab: where it is, its token, the folder it serves."""

    url: str
    token: str
    folder: Path

    def address(self, notebook: str) -> str:
        """Where that notebook is opened, alone in the page."""
        return f"{self.url}doc/tree/{notebook}?token={self.token}&reset"


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
    """Write SETTINGS where JupyterLab reads them."""
    for name, values in SETTINGS.items():
        path = folder / f"@jupyterlab/{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values), encoding="utf-8")
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


def write_notebook(path: Path, cells: Iterable[str] = ()) -> None:
    """A notebook of these code cells that have not been run."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3"}
    nbformat.write(notebook, path)
