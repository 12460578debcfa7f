"""The first notebook as a reader meets it: opened in JupyterLab, Run All, one button pressed."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from browser.browsing import Lab
from browser.sheet import Sheet

NOTEBOOK = Path(__file__).resolve().parents[2] / "notebooks" / "00_start_here.ipynb"
LIVE = [
    "Approval card: calendar_create",
    "calendar_create: approved in the notebook",
    "Done: the design team, Monday 15:00 to 16:00.",
]
CARDS = 3  # two that a script presses, one that waits for the reader


def test_every_cell_of_the_first_notebook_runs_and_its_card_is_answered(
    lab: Lab, open_sheet: Callable[[str], Sheet]
) -> None:
    shutil.copy(NOTEBOOK, lab.folder)
    sheet = open_sheet(NOTEBOOK.name)
    sheet.run_all()
    sheet.nth_card(CARDS - 1)
    sheet.card().get_by_role("timer").wait_for()
    assert sheet.field("Tool") == "calendar_create"
    sheet.card().scroll_into_view_if_needed()
    sheet.screenshot("start-here-asks")
    sheet.press("Approve")
    sheet.finished()
    code = [cell for cell in sheet.cells() if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    assert [out for cell in code for out in cell["outputs"] if out["output_type"] == "error"] == []
    live = [cell for cell in code if "nbval-skip" in cell["metadata"].get("tags", [])]
    assert [shown(cell) for cell in live] == [LIVE]
    assert sheet.strangers == []
    sheet.screenshot("start-here-done")


def shown(cell: Mapping[str, Any]) -> list[str]:
    """The first words of each output of a cell."""
    texts = ["".join(out.get("text") or out["data"]["text/plain"]) for out in cell["outputs"]]
    return [text.partition(" {")[0].strip() for text in texts]
