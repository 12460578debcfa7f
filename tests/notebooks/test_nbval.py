"""nbval is strict: the line users run passes on what is built, and a changed output is red."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import nbformat
import notebook_rules as rules
import pytest
from nbformat import NotebookNode
from sample import CI_FLAGS

from notebooks.build import HERE

Nbval = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Named as the notebooks' own, since a cell of the sample shows where it runs."""
    (tmp_path / HERE.name).mkdir()
    return tmp_path / HERE.name


def changed(output: NotebookNode) -> bool:
    """Change what is compared of one output; False where nothing is."""
    data = output.get("data", {})
    texts = [key for key in data if isinstance(data[key], str)]
    if "text" in output:
        output.text += "!"
    elif "evalue" in output:
        output.evalue += "!"
    elif texts:
        data[texts[0]] += "!"
    return "text" in output or "evalue" in output or bool(texts)


def tampered(text: str) -> tuple[str, int]:
    """The notebook with the first output of every compared cell changed, and how many those are."""
    notebook = nbformat.reads(text, as_version=4)
    compared = [c for c in rules.code(notebook) if c.id not in rules.ignored(notebook)]
    count = sum(changed(cell.outputs[0]) for cell in compared if cell.outputs)
    return nbformat.writes(notebook), count


@pytest.mark.parametrize("flags", [(), CI_FLAGS], ids=["bare", "CI"])
def test_a_built_notebook_passes(
    sample_text: str, folder: Path, nbval: Nbval, flags: tuple[str, ...]
) -> None:
    (folder / "98_sample.ipynb").write_text(sample_text, encoding="utf-8")
    done = nbval(folder, *flags)
    assert (done.returncode, "7 passed, 1 skipped" in done.stdout) == (0, True), done.stdout


def test_every_changed_output_turns_red(sample_text: str, folder: Path, nbval: Nbval) -> None:
    text, count = tampered(sample_text)
    (folder / "98_sample.ipynb").write_text(text, encoding="utf-8")
    done = nbval(folder, "--nbval-current-env")
    assert (done.returncode, f"{count} failed" in done.stdout) == (1, True), done.stdout
    assert count == 6


@pytest.mark.parametrize("path", sorted(HERE.glob("*.ipynb"))[:1], ids=lambda path: path.stem)
def test_every_changed_output_of_a_real_notebook_turns_red(
    path: Path, folder: Path, nbval: Nbval
) -> None:
    text, count = tampered(path.read_text("utf-8"))
    (folder / path.name).write_text(text, encoding="utf-8")
    done = nbval(folder, "--nbval-current-env", "--nbval-cell-timeout=60")
    assert (done.returncode, f"{count} failed" in done.stdout) == (1, True), done.stdout


def test_a_folder_with_sources_collects_notebooks_only(
    sample_source: Path, sample_text: str, folder: Path, nbval: Nbval
) -> None:
    (folder / "source").mkdir()
    (folder / "source" / sample_source.name).write_text(sample_source.read_text("utf-8"), "utf-8")
    (folder / "build.py").write_text((HERE / "build.py").read_text("utf-8"), "utf-8")
    (folder / "98_sample.ipynb").write_text(sample_text, encoding="utf-8")
    listed = nbval(folder, "--collect-only", "-q")
    assert listed.returncode == 0 and listed.stdout.count("98_sample.ipynb::") == 8, listed.stdout
