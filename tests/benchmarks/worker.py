"""One client in a fresh process: ``worker.py NAME CARRIER``. Orders in on stdin, figures out.

An order is a JSON line: {"size": …, "workers": …, "seconds": …} is a slice, {} asks for the memory
held so far. The first line out says how long connecting took, from nothing to the list of tools.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import time
from pathlib import Path
from typing import Any

from clients import CLIENTS
from meter import measure, measure_raw


def main(name: str, carrier: str) -> None:
    """Work off orders until there are no more."""
    if name == "raw":
        work_raw(carrier)
    else:
        asyncio.run(work(name, carrier))


async def work(name: str, carrier: str) -> None:
    """Serve orders with an asyncio client. It is idle in between, so blocking does no harm."""
    begun = time.perf_counter()
    async with CLIENTS[name](carrier) as call:
        say({"connect": (time.perf_counter() - begun) * 1e3})
        for line in sys.stdin:
            order = json.loads(line)
            say(await measure(call, **order) if order else {"memory": peak_memory()})


def work_raw(carrier: str) -> None:
    """Serve orders with raw bytes."""
    from raw import RawLines, RawSockets

    raw = RawLines() if carrier == "stdio" else RawSockets(carrier)
    say({"connect": 0.0})
    for line in sys.stdin:
        order = json.loads(line)
        say(measure_raw(raw, **order) if order else {"memory": peak_memory()})
    raw.close()


def say(found: Any) -> None:
    """One JSON line out."""
    print(json.dumps(found), flush=True)


def peak_memory() -> float:
    """The largest resident size of this process so far, in MB.

    Linux counts the parent's into ru_maxrss (it survives exec), but not into VmHWM.
    """
    status = Path("/proc/self/status")
    if status.exists():
        lines = status.read_text("utf-8").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


if __name__ == "__main__":
    main(*sys.argv[1:])
