"""``make bench``: our client, the official one, fastmcp's and raw bytes, measured side by side.

In each round every client runs in a fresh process per carrier. All of them are open at the same
time and take turns, a slice of a fraction of a second each, so that what else the machine does
meets them alike. Written to build/bench: results.md, results.json, results.png.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clients import IMPORTS
from machine import Load, described
from measured import CELLS, NAMES, SMALL, Measured
from plot import plot
from report import report, summary

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = ROOT / "build" / "bench"
CACHE = {"PYTHONPYCACHEPREFIX": str(BUILD / "pycache"), "PYTHONDONTWRITEBYTECODE": ""}
"""Everybody's modules are compiled beforehand, wherever they are installed."""


@dataclass(frozen=True)
class Plan:
    """``rounds`` of fresh processes, in each ``turns`` a cell of ``seconds``; ``imports`` each."""

    rounds: int
    turns: int
    seconds: float
    imports: int


FULL = Plan(rounds=3, turns=2, seconds=0.35, imports=5)
QUICK = Plan(rounds=1, turns=3, seconds=0.03, imports=3)


def main() -> None:
    """Measure, write the three files, print the summary."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="half a minute, for a first look")
    plan = QUICK if options.parse_args().quick else FULL
    BUILD.mkdir(parents=True, exist_ok=True)
    begun, load = time.monotonic(), Load()
    run = Measured(described())
    measure_imports(run, plan)
    with http_server() as port:
        for number in range(plan.rounds):
            for carrier in ("stdio", "json", "stream"):
                tell(f"round {number + 1} of {plan.rounds}: {carrier}")
                address = carrier if carrier == "stdio" else f"http://127.0.0.1:{port}/{carrier}"
                measure_carrier(run, plan, carrier, address, number * plan.turns)
    run.about["Load"] = load.said()
    run.about["Took"] = f"{time.monotonic() - begun:.0f} s"
    run.save(BUILD / "results.json")
    (BUILD / "results.md").write_text(report(run), encoding="utf-8")
    plot(run, BUILD / "results.png")
    print(summary(run))
    tell(f"every figure is in {BUILD.relative_to(ROOT)}: results.md, results.json, results.png")


def measure_imports(run: Measured, plan: Plan) -> None:
    """Each import in fresh processes; the first, which compiles, does not count."""
    for turn in range(plan.imports + 1):
        for client, statement in IMPORTS.items():
            found = once("import", statement)
            if turn:
                run.add(client, found, turn=turn)
    for turn in range(3):
        run.add("ours", once("notes"), turn=turn)


def once(*arguments: str) -> dict[str, float]:
    """What fresh.py says."""
    command = [sys.executable, str(HERE / "fresh.py"), *arguments]
    done = subprocess.run(
        command, cwd=ROOT, env=environment(), stdout=subprocess.PIPE, check=True, timeout=60
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def measure_carrier(run: Measured, plan: Plan, carrier: str, address: str, first: int) -> None:
    """One round over one carrier: every client in a fresh process, slice by slice in turn."""
    names = [name for name in NAMES if carrier == "stdio" or name != "traced"]
    with contextlib.ExitStack() as stack:
        workers = {name: stack.enter_context(worker(name, address)) for name in names}
        for name, each in workers.items():
            run.add(name, each.read(), carrier=carrier, turn=first)
        for size, many in CELLS:
            if size != SMALL and many == 1:  # before large texts come in
                for name, each in workers.items():
                    run.add(name, each.ask({}), carrier=carrier, turn=first)
            order = {"size": size, "workers": many, "seconds": plan.seconds}
            for turn in range(first, first + plan.turns):
                for name in names if turn % 2 else reversed(names):
                    found = workers[name].ask(order)
                    run.add(name, found, carrier=carrier, size=size, workers=many, turn=turn)


class Worker:
    """One client's process."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def read(self) -> dict[str, float]:
        """The next line that it says.

        Raises: RuntimeError when it has ended instead.
        """
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self._process.args!r} ended; its last words are above")
        found: dict[str, float] = json.loads(line)
        return found

    def ask(self, order: dict[str, Any]) -> dict[str, float]:
        """Send an order, take the figures."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return self.read()


@contextlib.contextmanager
def worker(name: str, address: str) -> Iterator[Worker]:
    """A worker, ended afterwards by the end of its orders."""
    with child("worker.py", name, address) as process:
        yield Worker(process)


@contextlib.contextmanager
def http_server() -> Iterator[int]:
    """The port of the echo server over HTTP."""
    with child("echo_http.py") as server:
        assert server.stdout is not None
        yield int(server.stdout.readline())


@contextlib.contextmanager
def child(script: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A program of this folder; closing its stdin ends it."""
    pipe = subprocess.PIPE
    command = [sys.executable, str(HERE / script), *arguments]
    with subprocess.Popen(
        command, cwd=ROOT, env=environment(), stdin=pipe, stdout=pipe, text=True
    ) as process:
        try:
            yield process
        finally:
            assert process.stdin is not None
            process.stdin.close()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


def environment() -> dict[str, str]:
    """Ours, with the compiled modules in one place."""
    return {**os.environ, **CACHE}


def tell(text: str) -> None:
    """Progress, apart from the table."""
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
