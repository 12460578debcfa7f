"""Each check of the doctor breaks through its seam, and says what mends it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from mini_agent import doctor
from mini_agent.doctor import Check
from mini_agent.dot import Dot


def test_this_machine_is_ready() -> None:
    assert [str(check) for check in doctor.checks() if not check.ok] == []


def test_a_good_report_is_the_same_text_everywhere() -> None:
    assert doctor.report() == (
        "OK    Python 3.11 or newer\n"
        "OK    mini-agent is installed in this Python\n"
        "OK    the notebooks' kernel is this Python\n"
        "OK    ipykernel 7.4 or newer\n"
        "OK    ipywidgets and its JupyterLab extension\n"
        "OK    dot draws SVG\n"
        "OK    a port can be opened on this machine\n"
        "OK    a child process answers through pipes"
    )


def test_a_failure_is_shown_with_what_was_found_and_what_mends_it() -> None:
    assert doctor.report([Check("a thing", False, "get it", "none"), Check("b", True, "x")]) == (
        "FAIL  a thing (found: none)\n      to mend it: get it\nOK    b"
    )


@pytest.mark.parametrize(
    ("version", "ok"), [((3, 10, 13), False), ((3, 11, 0), True), ((3, 13, 0), True)]
)
def test_an_old_python_fails(version: tuple[int, ...], ok: bool) -> None:
    assert doctor.python_version(version).ok is ok


@pytest.mark.parametrize(("version", "ok"), [("", False), ("0.1.0", True)])
def test_a_kit_that_is_only_in_the_current_folder_fails(version: str, ok: bool) -> None:
    assert doctor.package_installed(lambda _: version).ok is ok


@pytest.mark.parametrize(
    ("command", "ok"),
    [
        ("python", True),
        ("/env/bin/python3", True),
        ("/other/bin/python3", False),
        ("", False),
    ],
)
def test_a_kernel_of_another_environment_fails(command: str, ok: bool) -> None:
    check = doctor.kernel_is_this_python(lambda: command, "/env/bin/python")
    assert (check.ok, check.mend.startswith("python -m ipykernel install")) == (ok, True)


@pytest.mark.parametrize(
    ("version", "ok"),
    [("", False), ("6.31.0", False), ("7.3.9", False), ("7.4.0", True), ("7.10.1", True),
     ("8.0.0a1", True)],
)  # fmt: skip
def test_a_kernel_in_which_no_click_arrives_fails(version: str, ok: bool) -> None:
    assert doctor.ipykernel_version(lambda _: version).ok is ok


def test_either_half_of_the_widgets_missing_fails(tmp_path: Path) -> None:
    there, gone = str(tmp_path), str(tmp_path / "gone")
    assert doctor.widgets(lambda _: "8.1.9", lambda: [gone, there]).ok
    assert doctor.widgets(lambda _: "", lambda: [there]).found == "no the Python package"
    assert not doctor.widgets(lambda _: "8.1.9", lambda: [gone]).ok


def test_no_dot_and_a_dot_that_does_not_draw_fail() -> None:
    assert not doctor.dot_draws(lambda: None).ok
    assert not doctor.dot_draws(lambda: Dot(sys.executable)).ok
    assert not doctor.dot_draws(lambda: Dot("/no/such/program")).ok


@pytest.mark.parametrize("body", ["printf '\\377'", "echo hello", "true", "echo '<svg>'"])
def test_a_dot_that_writes_something_else_fails(tmp_path: Path, body: str) -> None:
    program = tmp_path / "dot"
    program.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    program.chmod(0o755)
    check = doctor.dot_draws(lambda: Dot(str(program)))
    assert (check.ok, "wrote" in check.found) == (False, True)


@pytest.mark.parametrize(
    "body", [b"{", b'{"argv": []}', b"[]", b"\xff", b"{}", b'{"argv": 3}', b'"python"', b"null"]
)
def test_a_kernel_whose_file_is_broken_fails(
    tmp_path: Path, body: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "kernels" / "python3").mkdir(parents=True)
    (tmp_path / "kernels" / "python3" / "kernel.json").write_bytes(body)
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    check = doctor.kernel_is_this_python()
    assert (check.ok, check.found) == (False, "a python3 kernel whose kernel.json is broken")


def test_an_address_that_cannot_be_bound_fails() -> None:
    check = doctor.loopback_port("192.0.2.1")
    assert (check.ok, bool(check.found)) == (False, True)


@pytest.mark.parametrize(
    "command",
    [
        ("/no/such/program",),
        (sys.executable, "-c", "raise SystemExit(3)"),
        (sys.executable, "-c", "print('other')"),
    ],
)
def test_a_child_that_does_not_answer_fails(command: tuple[str, ...]) -> None:
    assert not doctor.child_process(command).ok


def test_the_command_exits_1_when_a_check_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(doctor, "CHECKS", (lambda: Check("a thing", False, "get it"),))
    assert doctor.main() == 1
    assert capsys.readouterr().out == "FAIL  a thing\n      to mend it: get it\n"


def test_the_command_exits_0_here() -> None:
    command = [sys.executable, "-m", "mini_agent.doctor"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, doctor.report() + "\n")


def test_every_check_of_the_module_is_run() -> None:
    returning = {
        name for name, value in vars(doctor).items()
        if getattr(value, "__annotations__", {}).get("return") == "Check"
    }  # fmt: skip
    assert {check.__name__ for check in doctor.CHECKS} == returning
