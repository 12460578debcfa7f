"""A learner's folder of its own for each test, and the helpers of the notebook tests."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from exercises.machine.store import WORK

sys.path.append(str(Path(__file__).resolve().parent.parent / "notebooks"))  # notebook_rules, taken


@pytest.fixture(autouse=True)
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where copies and progress go, and nothing is yet."""
    monkeypatch.setenv(WORK, str(tmp_path / "work"))
    return tmp_path / "work" / "exercises"
