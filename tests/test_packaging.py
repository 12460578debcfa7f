"""What installs the kit agrees with itself: pyproject, constraints, environment.yml, make, CI."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
PINS = {
    canonicalize_name(line.split("==")[0]): line.split("==")[1]
    for line in (ROOT / "constraints.txt").read_text("utf-8").splitlines()
}
CONDA_TO_PYPI = {"python-graphviz": "graphviz"}
PROGRAMS = {"python", "pip", "graphviz"}  # conda packages that are no requirement of the project


def requirements(extra: str = "") -> list[Requirement]:
    extras = PROJECT["optional-dependencies"]
    return [Requirement(line) for line in (extras[extra] if extra else PROJECT["dependencies"])]


def all_requirements() -> dict[str, Requirement]:
    every = [r for extra in ("", "lab", "dev", "conformance") for r in requirements(extra)]
    return {canonicalize_name(r.name): r for r in every if r.name != "mini-agent"}


def installed_closure(name: str, extras: frozenset[str], seen: set[tuple[str, str]]) -> set[str]:
    """Every distribution that installing ``name[extras]`` brings to this interpreter."""
    found: set[str] = set()
    for line in metadata.requires(name) or []:
        needed = Requirement(line)
        wanted = any(
            needed.marker is None or needed.marker.evaluate({"extra": extra})
            for extra in extras | {""}
        )
        key = (canonicalize_name(needed.name), ",".join(sorted(needed.extras)))
        if wanted and key not in seen:
            seen.add(key)
            found |= {key[0]} | installed_closure(needed.name, frozenset(needed.extras), seen)
    return found


# -- constraints.txt ------------------------------------------------------------------------------


def test_each_constraint_is_one_exact_version_and_no_address_or_path() -> None:
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    assert [line for line in lines if not re.fullmatch(r"[A-Za-z0-9._-]+==[0-9a-z.+]+", line)] == []
    assert len(PINS) == len(lines)


def test_everything_that_the_dev_extra_installs_is_pinned_at_what_is_installed() -> None:
    closure = installed_closure("mini-agent", frozenset({"dev"}), set()) - {"mini-agent"}
    assert len(closure) > 50
    loose = {name for name in closure if PINS.get(name) != metadata.version(name)}
    assert loose == set()


def test_the_kit_itself_is_not_pinned_and_dot_is_pinned_exactly() -> None:
    assert "mini-agent" not in PINS
    pure = all_requirements()["graphviz-pure"]
    assert str(pure.specifier) == f"=={PINS['graphviz-pure']}"


def test_every_pin_satisfies_the_project() -> None:
    loose = {name for name, r in all_requirements().items() if not r.specifier.contains(PINS[name])}
    assert loose == set()


# -- environment.yml ------------------------------------------------------------------------------


def conda() -> tuple[dict[str, Requirement], list[str]]:
    environment = yaml.safe_load((ROOT / "environment.yml").read_text("utf-8"))
    assert environment["channels"] == ["conda-forge"]
    entries = environment["dependencies"]
    packages = [Requirement(entry) for entry in entries if isinstance(entry, str)]
    (pip,) = [entry["pip"] for entry in entries if isinstance(entry, dict)]
    return {package.name: package for package in packages}, pip


def test_conda_gets_the_packages_that_the_readme_promises() -> None:
    packages, _ = conda()
    assert packages.keys() >= {
        "python", "jupyterlab", "ipywidgets", "anthropic", "httpx", "pydantic", "nbval",
        "python-graphviz", "graphviz",
    }  # fmt: skip


def test_conda_s_python_is_the_range_of_the_project() -> None:
    packages, _ = conda()
    assert str(packages["python"].specifier) == PROJECT["requires-python"]


def test_conda_s_requirements_agree_with_the_project() -> None:
    packages, _ = conda()
    ours = all_requirements()
    for name in packages.keys() - PROGRAMS:
        assert packages[name].specifier == ours[CONDA_TO_PYPI.get(name, name)].specifier, name


def test_conda_s_pip_part_installs_the_kit_with_extras_that_exist() -> None:
    _, pip = conda()
    (line,) = pip
    found = re.fullmatch(r"-e \.\[([\w,]+)\]", line)
    assert found and set(found[1].split(",")) <= PROJECT["optional-dependencies"].keys()


# -- make, CI, licence ----------------------------------------------------------------------------


needs_make = pytest.mark.skipif(not shutil.which("make"), reason="make is not installed here")


def make(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = ["make", "--no-print-directory", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)


@needs_make
def test_a_bare_make_prints_a_help_line_for_every_target() -> None:
    printed = [line.split(maxsplit=2) for line in make().stdout.splitlines()]
    assert {target: len(words) > 10 for _, target, words in printed} == dict.fromkeys(
        (
            *("lab", "exercises", "test", "conformance", "peers", "bench", "demo"),
            *("doctor", "notebooks", "nbgrader", "check", "clean"),
        ),
        True,
    )


@needs_make
def test_an_old_python_is_refused_in_one_sentence(tmp_path: Path) -> None:
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    done = make("-C", str(tmp_path), "doctor", "PYTHON=false")
    assert done.returncode != 0 and not (tmp_path / ".venv").exists()
    assert done.stdout.startswith("Python 3.11 or newer is needed, and 'false' is not.")


def test_make_and_the_workflow_run_nbval_strictly() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert "--nbval --nbval-current-env --nbval-cell-timeout=60 -n 2 --dist loadfile" in makefile
    assert "lax" not in makefile and "sanitize" not in makefile


def test_the_workflow_covers_the_python_range_and_shows_the_users_own_line() -> None:
    text = (ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8")
    job = yaml.safe_load(text)["jobs"]["test"]
    runs = [step.get("run", "") for step in job["steps"]]
    assert f">={job['strategy']['matrix']['python'][0]}" == PROJECT["requires-python"]
    assert "pytest --nbval notebooks/" in runs and ".ci/run" in runs


def test_ci_run_can_be_executed() -> None:
    script = ROOT / ".ci" / "run"
    assert script.stat().st_mode & 0o111
    assert subprocess.run(["bash", "-n", str(script)], timeout=20).returncode == 0


@pytest.mark.parametrize(
    "name", ["Makefile", "pyproject.toml", "constraints.txt", "environment.yml", ".ci/run"]
)
def test_no_file_that_installs_names_a_host(name: str) -> None:
    assert not re.search(r"https?://|index[-]url|find-links", (ROOT / name).read_text("utf-8"))


def test_the_licence_file_holds_both_licences_that_the_project_names() -> None:
    text = (ROOT / "LICENSE").read_text("utf-8")
    assert PROJECT["license"] == "MIT AND CC-BY-4.0" and PROJECT["license-files"] == ["LICENSE"]
    assert "Copyright (c) 2026 the mini-agent contributors" in text and "CC BY 4.0" in text
