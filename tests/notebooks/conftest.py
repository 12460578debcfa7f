"""The sample notebook, built once, and nbval in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from sample import SAMPLE

from notebooks.build import build
from notebooks.paste import ROOT


@pytest.fixture(scope="session")
def sample_source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = tmp_path_factory.mktemp("source") / "98_sample.py"
    source.write_text(SAMPLE, encoding="utf-8")
    return source


@pytest.fixture(scope="session")
def sample_text(sample_source: Path) -> str:
    return build(sample_source)


@pytest.fixture
def nbval() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run pytest --nbval on a folder, with the project's configuration and no sanitiser."""

    def run(folder: Path, *flags: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "pytest", "--nbval", "-p", "no:cacheprovider", *flags]
        place = ["-c", str(ROOT / "pyproject.toml"), "--rootdir", str(folder), str(folder)]
        return subprocess.run([*command, *place], capture_output=True, text=True, timeout=110)

    return run
