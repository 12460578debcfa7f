"""What one learner costs: memory and CPU of each notebook's kernel, with the servers it starts.

python tests/benchmarks/learner.py [NN …]     the README's section "Teach with it" quotes it
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from dataclasses import dataclass

import psutil
from nbclient import NotebookClient

from notebooks.build import HERE, SECONDS_A_CELL, SOURCES, assemble

EVERY = 0.05  # seconds between two looks


@dataclass
class Cost:
    """The most memory at one moment, in MB, and the seconds of CPU of all processes together."""

    memory: float = 0.0
    cpu: float = 0.0


def look(process: psutil.Process, cost: Cost, spent: dict[int, float]) -> None:
    """Add what the process and its children use now."""
    memory = 0.0
    for each in [process, *process.children(recursive=True)]:
        with contextlib.suppress(psutil.NoSuchProcess):  # it may end while we look
            memory += each.memory_full_info().uss / 1e6
            times = each.cpu_times()
            spent[each.pid] = times.user + times.system
    cost.memory, cost.cpu = max(cost.memory, memory), sum(spent.values())


async def watch(process: psutil.Process, cost: Cost) -> None:
    """Look until cancelled."""
    spent: dict[int, float] = {}
    while True:
        with contextlib.suppress(psutil.NoSuchProcess):
            look(process, cost, spent)
        await asyncio.sleep(EVERY)


async def cost_of(name: str) -> Cost:
    """Run one notebook as a learner's Run All does, live cells apart."""
    notebook, cost = assemble(SOURCES / f"{name}.py"), Cost()
    client = NotebookClient(notebook, timeout=SECONDS_A_CELL, kernel_name="python3")
    async with client.async_setup_kernel(cwd=str(HERE)):
        watching = asyncio.create_task(watch(psutil.Process(client.km.provisioner.pid), cost))
        for index, cell in enumerate(notebook.cells):
            await client.async_execute_cell(cell, index)
        watching.cancel()
    return cost


def main() -> None:
    """Print a line for each notebook whose name begins as the arguments say."""
    wanted = tuple(sys.argv[1:]) or ("",)
    names = [path.stem for path in sorted(SOURCES.glob("*.py")) if path.stem.startswith(wanted)]
    print(f"{'notebook':<28} {'memory':>9} {'CPU':>8}")
    for name in names:
        cost = asyncio.run(cost_of(name))
        print(f"{name:<28} {cost.memory:>6.0f} MB {cost.cpu:>6.1f} s", flush=True)


if __name__ == "__main__":
    main()
