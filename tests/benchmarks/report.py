"""A run as Markdown: the goals, the comparison in short, every figure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from goals import goals, notes
from measured import CARRIERS, CELLS, LARGE, MANY, NAMES, ONE, SMALL, Measured

SIZES = {SMALL: "200 B", LARGE: "64 KiB"}
TIMES = {ONE: "one by one", MANY: "64 at once"}
HOW = (
    "Medians. × is against the official SDK, with the defaults of both: the median of the ratios "
    "of what was measured right after each other. A call's CPU is that of the client's process."
)


def report(run: Measured) -> str:
    """The whole report."""
    parts = ["# Our client beside others", about(run), goal_table(run), short_table(run)]
    parts += [carrier_table(run, carrier) for carrier in CARRIERS]
    return "\n\n".join(parts) + "\n"


def summary(run: Measured) -> str:
    """What a terminal shows."""
    return "\n\n".join([about(run), goal_table(run), short_table(run)])


def about(run: Measured) -> str:
    """The conditions, and how to read the figures."""
    known = ". ".join(f"{name}: {value}" for name, value in run.about.items())
    return f"{HOW}\n\n{known}."


def goal_table(run: Measured) -> str:
    """Each goal and whether it was reached; below it what the trace costs."""
    rows = [
        (
            goal.name,
            f"{'≤' if goal.at_most else '≥'} {goal.bound:g}×",
            times(goal.measured),
            "yes" if goal.reached else "no",
        )
        for goal in goals(run)
    ]
    return table(("goal", "asked", "measured", "reached"), rows) + "\n\n" + trace_lines(run)


def trace_lines(run: Measured) -> str:
    """What the trace costs when nobody looks, and when somebody does."""
    cells = {n: {"carrier": "stdio", "size": SMALL, "workers": n} for n in (ONE, MANY)}
    more = {n: run.ratio("cpu", "traced", "ours", **cell) for n, cell in cells.items()}
    return (
        f"Without a trace, the four notes of a call cost {number(run.middle('notes', 'ours'), 2)} "
        f"µs, {percent(notes(run))} of the CPU of a call of 200 B over stdio, 64 at once. With a "
        f"trace that CPU is {times(more[ONE])} one by one and {times(more[MANY])} 64 at once."
    )


def short_table(run: Measured) -> str:
    """One row a client."""
    cells = [(carrier, n) for carrier in CARRIERS for n in (ONE, MANY)]
    head = [f"200 B: {CARRIERS[carrier]}, {TIMES[n]}" for carrier, n in cells]
    rows = []
    for client, name in NAMES.items():
        found = [
            pair(run, "rate", client, "/s", carrier=carrier, size=SMALL, workers=n)
            for carrier, n in cells
        ]
        rows.append((name, *found, *start(run, client)))
    return table(("client", *head, "import", "memory, stdio", "memory, HTTP"), rows)


def start(run: Measured, client: str) -> tuple[str, str, str]:
    """Import and memory of one client."""
    if client == "raw":  # it is part of the measuring program
        return ("", "", "")
    return (
        pair(run, "import", client, " ms"),
        pair(run, "memory", client, " MB", carrier="stdio"),
        pair(run, "memory", client, " MB", carrier="json"),
    )


def carrier_table(run: Measured, carrier: str) -> str:
    """Every figure of one carrier."""
    rows = []
    for size, n in CELLS:
        for client, name in NAMES.items():
            where = {"carrier": carrier, "size": size, "workers": n}
            if run.middle("rate", client, **where) is not None:
                found = (pair(run, what, client, unit, **where) for what, unit in COLUMNS)
                rows.append((f"{SIZES[size]}, {TIMES[n]}", name, *found))
    connects = [
        f"{name} {pair(run, 'connect', client, ' ms', carrier=carrier)}"
        for client, name in NAMES.items()
        if client != "raw" and run.middle("connect", client, carrier=carrier) is not None
    ]
    head = ("cell", "client", "calls", "CPU a call", "p50", "p99")
    started = "From nothing to the list of tools, in a fresh process: " + "; ".join(connects)
    return f"## {CARRIERS[carrier]}\n\n{table(head, rows)}\n\n{started}."


COLUMNS = (("rate", "/s"), ("cpu", " µs"), ("p50", " µs"), ("p99", " µs"))


def pair(run: Measured, what: str, client: str, unit: str, **where: object) -> str:
    """A figure with its ratio to the SDK, "" where there is none."""
    value = run.middle(what, client, **where)
    if value is None:
        return ""
    ratio = "" if client == "sdk" else f" ({times(run.ratio(what, client, **where))})"
    return f"{number(value, 1 if value < 10 else 0)}{unit}{ratio}"


def number(value: float | None, digits: int = 0) -> str:
    """With thousands set apart."""
    return "—" if value is None else f"{value:,.{digits}f}"


def times(ratio: float | None) -> str:
    """A ratio to three figures at most."""
    return "—" if ratio is None else f"{ratio:.{0 if ratio >= 10 else 2}f}×"


def percent(share: float | None) -> str:
    """A share of one."""
    return "—" if share is None else f"{share:.1%}"


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A Markdown table, its columns aligned for readers of the plain text."""
    lines = [list(head), *(list(row) for row in rows)]
    wide = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    lines.insert(1, ["-" * width for width in wide])
    return "\n".join(_line(line, wide) for line in lines)


def _line(cells: list[str], wide: list[int]) -> str:
    padded: Iterator[str] = (f"{cell:<{width}}" for cell, width in zip(cells, wide, strict=True))
    return f"| {' | '.join(padded)} |"
