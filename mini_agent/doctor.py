"""Is this machine ready? Each check says OK, or FAIL with the one command that mends it.

``python -m mini_agent.doctor`` prints the report and exits 1 when something fails. The report of
a machine that is ready is the same text everywhere: no version, no path.
"""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from mini_agent.dot import Dot, DotError, find_dot, render, tidy

INSTALL = "python -m pip install -e '.[dev]' -c constraints.txt"
DEADLINE = 20.0  # seconds for a child process; a healthy one answers in a fraction of the first


@dataclass(frozen=True)
class Check:
    """One thing that the kit needs. ``found`` and ``mend`` are shown when it fails."""

    needs: str
    ok: bool
    mend: str
    found: str = ""

    def __str__(self) -> str:
        if self.ok:
            return f"OK    {self.needs}"
        found = f" (found: {self.found})" if self.found else ""
        return f"FAIL  {self.needs}{found}\n      to mend it: {self.mend}"


def version_of(package: str) -> str:
    """The installed version of ``package``, "" when it is not installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def python_version(version: tuple[int, ...] = tuple(sys.version_info[:3])) -> Check:
    """Python 3.11 brought what the notebooks use: asyncio.timeout, task groups."""
    mend = "install Python 3.11 or newer, then: make clean lab PYTHON=python3.12"
    return Check("Python 3.11 or newer", version >= (3, 11), mend, ".".join(map(str, version)))


def package_installed(version: Callable[[str], str] = version_of) -> Check:
    """The kit is installed in this interpreter, and not only found in the current folder."""
    return Check("mini-agent is installed in this Python", bool(version("mini-agent")), INSTALL)


def kernel_command() -> str:
    """The program of the ``python3`` kernel, "" when there is no such kernel.

    Raises: ValueError when its kernel.json is broken.
    """
    try:
        from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel
        from traitlets import TraitError
    except ImportError:
        return ""
    try:
        return str(KernelSpecManager().get_kernel_spec("python3").argv[0])
    except NoSuchKernel:
        return ""
    except (OSError, ValueError, TypeError, AttributeError, LookupError, TraitError) as cause:
        raise ValueError("a python3 kernel whose kernel.json is broken") from cause


def kernel_is_this_python(
    command: Callable[[], str] = kernel_command, executable: str = sys.executable
) -> Check:
    """A notebook runs in this environment. A bare ``python`` means the one that runs Jupyter."""
    try:
        program, found = command(), "no python3 kernel"
    except ValueError as error:
        program, found = "", str(error)
    same_folder = os.path.dirname(program) in ("", os.path.dirname(executable))
    return Check(
        "the notebooks' kernel is this Python",
        bool(program) and same_folder,
        "python -m ipykernel install --sys-prefix --name python3",
        program or found,
    )


def ipykernel_version(version: Callable[[str], str] = version_of) -> Check:
    """From 7.4 on, a click on a button reaches a cell that awaits it."""
    found = version("ipykernel")
    ok = tuple(map(int, re.findall(r"\d+", found)[:2])) >= (7, 4)
    return Check("ipykernel 7.4 or newer", ok, INSTALL, found or "none")


def widget_folders() -> Iterable[str]:
    """Where JupyterLab would look for the part of ipywidgets that runs in the browser."""
    try:
        from jupyter_core.paths import jupyter_path
    except ImportError:
        return []
    return jupyter_path("labextensions", "@jupyter-widgets", "jupyterlab-manager")


def widgets(
    version: Callable[[str], str] = version_of,
    folders: Callable[[], Iterable[str]] = widget_folders,
) -> Check:
    """Buttons need both halves: the Python package, and JupyterLab's extension for it."""
    halves = {
        "the Python package": version("ipywidgets"),
        "JupyterLab's extension": any(Path(folder).is_dir() for folder in folders()),
    }
    missing = " and ".join(half for half, there in halves.items() if not there)
    return Check("ipywidgets and its JupyterLab extension", not missing, INSTALL, f"no {missing}")


def dot_draws(find: Callable[[], Dot | None] = find_dot) -> Check:
    """The drawings are made by ``dot``: graphviz-pure's beside this interpreter, else PATH's."""
    dot = find()
    try:
        drawn = dot is not None and bool(tidy(render(dot, "digraph { a -> b }"), "a to b"))
        found = "no dot program"
    except DotError as error:
        drawn, found = False, str(error)
    return Check("dot draws SVG", drawn, INSTALL, found)


def loopback_port(host: str = "127.0.0.1") -> Check:
    """The fake HTTP servers listen on this machine only."""
    found = ""
    try:
        with socket.create_server((host, 0)) as server:
            socket.create_connection(server.getsockname()[:2], timeout=DEADLINE).close()
    except OSError as error:
        found = error.strerror or type(error).__name__
    mend = f"allow Python to listen on {host} (firewall or sandbox settings)"
    return Check("a port can be opened on this machine", not found, mend, found)


def child_process(command: tuple[str, ...] = (sys.executable, "-c", "print(input())")) -> Check:
    """A stdio server is a child process that is spoken to through pipes."""
    mend = "allow Python to start programs (sandbox or antivirus settings)"
    answer = _output(list(command), "ping\n").strip()
    return Check("a child process answers through pipes", answer == "ping", mend, "no answer")


def _output(command: list[str], stdin: str) -> str:
    """What ``command`` prints, "" when it cannot be started, fails or takes too long."""
    try:
        done = subprocess.run(
            command, input=stdin, capture_output=True, text=True, timeout=DEADLINE, check=True
        )
    except (OSError, subprocess.SubprocessError, UnicodeError):
        return ""
    return done.stdout


CHECKS: tuple[Callable[[], Check], ...] = (
    python_version,
    package_installed,
    kernel_is_this_python,
    ipykernel_version,
    widgets,
    dot_draws,
    loopback_port,
    child_process,
)


def checks() -> list[Check]:
    """Run every check, in order, and return what each found."""
    return [check() for check in CHECKS]


def report(results: Iterable[Check] | None = None) -> str:
    """One line a check, and below a FAIL the command that mends it; runs the checks if not given.

    Where all is well the text holds no version and no path.
    """
    return "\n".join(str(check) for check in (checks() if results is None else results))


def main() -> int:
    """Print the report; 1 when a check failed."""
    results = checks()
    sys.stdout.write(report(results) + "\n")
    return 0 if all(check.ok for check in results) else 1


if __name__ == "__main__":
    sys.exit(main())
