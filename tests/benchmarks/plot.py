"""A run as one picture: calls a second and CPU a call, by carrier; import and memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from measured import CARRIERS, CELLS, NAMES, Measured
from report import SIZES, TIMES

COLOURS = {
    "ours": "#1b6ca8",
    "traced": "#8fbfe0",
    "sdk": "#b5651d",
    "fastmcp": "#d9a441",
    "raw": "#b8b8b8",
}
WIDTH = 0.16
LOAD = ("import", "", "import, ms"), ("memory", "stdio", "memory (stdio), MB")


def plot(run: Measured, path: Path) -> None:
    """Draw into ``path``, a PNG."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(16, 8), layout="constrained")
    axes = figure.subplots(2, len(CARRIERS) + 1)
    for column, carrier in enumerate(CARRIERS):
        bars(axes[0][column], run, "rate", carrier)
        bars(axes[1][column], run, "cpu", carrier)
        axes[0][column].set_title(CARRIERS[carrier])
    axes[0][0].set_ylabel("calls a second (more is better)")
    axes[1][0].set_ylabel("CPU a call, µs (less is better)")
    for row, (what, carrier, title) in enumerate(LOAD):
        single(axes[row][-1], run, what, carrier, title)
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(NAMES), frameon=False)
    figure.savefig(path, dpi=110)


def bars(ax: Any, run: Measured, what: str, carrier: str) -> None:
    """Four groups, a bar for each client, on a logarithmic scale."""
    for place, (client, name) in enumerate(NAMES.items()):
        for cell, (size, workers) in enumerate(CELLS):
            value = run.middle(what, client, carrier=carrier, size=size, workers=workers)
            if value is not None:
                label = name if cell == 0 else None
                ax.bar(cell + (place - 2) * WIDTH, value, WIDTH, color=COLOURS[client], label=label)
    ax.set_yscale("log")
    ax.set_xticks(range(len(CELLS)), [f"{SIZES[size]}\n{TIMES[n]}" for size, n in CELLS])
    ax.spines[["top", "right"]].set_visible(False)


def single(ax: Any, run: Measured, what: str, carrier: str, title: str) -> None:
    """One bar a client."""
    for place, client in enumerate(("ours", "sdk", "fastmcp")):
        value = run.middle(what, client, carrier=carrier) or 0.0
        (bar,) = ax.bar(place, value, 0.6, color=COLOURS[client])
        ax.bar_label(ax.containers[-1], fmt="%.0f")
        bar.set_label(None)
    ax.set_xticks(range(3), [NAMES[c] for c in ("ours", "sdk", "fastmcp")])
    ax.set_title(title)
    ax.spines[["top", "right"]].set_visible(False)
