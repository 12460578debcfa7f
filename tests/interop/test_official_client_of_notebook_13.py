"""What notebook 13 says that the official SDK's client prints and sends is run here, and judged.

The cell is live, so that the notebook is the same where the package mcp is not installed. What it
claims is proved from its own text: the cell is executed as it stands.
"""

from __future__ import annotations

import ast
import asyncio
import contextlib
import io
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat import NotebookNode

from fake_servers.refunds.desk import RefundDesk

NOTEBOOK = Path(__file__).resolve().parents[2] / "notebooks" / "13_refund_desk.ipynb"
RECORDED = ("SDK_META", "SDK_SENT")


def cells(kind: str) -> Iterator[NotebookNode]:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    return (cell for cell in notebook.cells if cell.cell_type == kind)


def live_cell() -> str:
    """The one cell that readers run for themselves."""
    [cell] = [cell for cell in cells("code") if "nbval-skip" in cell.metadata.get("tags", [])]
    return str(cell.source)


def promised() -> str:
    """The block below it, which says what it prints."""
    [text] = [cell.source for cell in cells("markdown") if "```text" in cell.source]
    found = re.search(r"```text\n(.*?)```", text, re.DOTALL)
    assert found is not None
    return found[1]


def recorded() -> list[dict[str, Any]]:
    """The requests that the notebook sends in the SDK's place."""
    [cell] = [cell for cell in cells("code") if cell.source.startswith(RECORDED)]
    held: dict[str, Any] = {}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(cell.source, held)
    meta = {"_meta": held["SDK_META"]}
    return [
        {"jsonrpc": "2.0", "id": number, "method": method, "params": params | meta}
        for number, (method, params) in enumerate(held["SDK_SENT"], start=1)
    ]


async def run(source: str) -> tuple[str, dict[str, Any]]:
    """What a cell prints, and the names that it leaves."""
    code = compile(source, "cell", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    held: dict[str, Any] = {"RefundDesk": RefundDesk}
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        await eval(code, held)
    for _ in range(10):  # the SDK leaves its event streams to the collector: let them end
        await asyncio.sleep(0)
    return printed.getvalue(), held


async def test_it_prints_what_the_notebook_says_and_sends_what_the_notebook_replays() -> None:
    printed, held = await run(live_cell())
    assert printed == promised()
    assert held["heard"] == recorded()


async def test_where_the_sdk_is_missing_the_cell_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    printed, _ = await run(live_cell())
    assert printed == (
        "The official SDK is not installed here. Install it with: pip install 'mcp>=2.3'\n"
    )
