"""The command line, as a user types it: exit codes, one clear line an error, nothing spoofed."""

from __future__ import annotations

import asyncio
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from fake_servers.calendar import calendar_server
from fake_servers.http import serve
from mini_agent.__main__ import main
from mini_agent.terminal import say

CALENDAR = f"{sys.executable} -m fake_servers.calendar"
Output = pytest.CaptureFixture[str]


def mini_agent(*arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    """``mini-agent`` in a process of its own, with no terminal and no key."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("ANTHROPIC_")}
    return subprocess.run(
        [sys.executable, "-m", "mini_agent", *arguments],
        capture_output=True,
        text=True,
        timeout=30,
        env={**clean, **env},
        stdin=subprocess.DEVNULL,
        check=False,
    )


def one_line(text: str) -> str:
    """The only line of ``text``: no traceback, no second thought."""
    (line,) = text.splitlines()
    return line


def test_the_demo_plays_a_whole_round_and_shows_the_trace() -> None:
    ran = mini_agent("demo", "--yes")
    assert ran.returncode == 0 and ran.stderr == ""
    order = ["user", "asks for   calendar_query", "result", "asks for   calendar_create"]
    order += [
        "approved   calendar_create",
        "Created apt-7",
        "model      Done",
        "What each layer saw",
    ]
    places = [ran.stdout.index(part) for part in order]
    assert places == sorted(places)
    assert all(layer in ran.stdout.split("What each layer saw")[1] for layer in ("loop", "adapter"))


def test_without_a_terminal_nobody_approves_and_nothing_is_written() -> None:
    ran = mini_agent("demo")
    assert ran.returncode == 0
    assert "denied     calendar_create" in ran.stdout and "Created" not in ran.stdout
    assert "did not book it" in ran.stdout


@pytest.mark.parametrize(("key", "booked"), [(b"y\n", True), (b"n\n", False), (b"\n", False)])
def test_in_a_terminal_a_person_decides(key: bytes, booked: bool) -> None:
    assert ("Created apt-7" in in_a_terminal(["demo"], key, until=b"[y/N]")) is booked


def in_a_terminal(arguments: list[str], key: bytes, until: bytes) -> str:
    """Everything that a pseudo-terminal shows when ``key`` is typed once ``until`` has come."""
    master, slave = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-m", "mini_agent", *arguments], stdin=slave, stdout=slave, stderr=slave
    )
    os.close(slave)
    seen = b""
    try:
        while True:
            try:
                read = os.read(master, 65536)
            except OSError:  # Linux reports the closed terminal this way
                break
            if not read:
                break
            if until in seen + read and until not in seen:
                os.write(master, key)
            seen += read
        assert child.wait(timeout=20) == 0
    finally:
        child.kill()
        child.wait()
        os.close(master)
    return seen.decode()


def test_tools_lists_what_a_server_offers(capsys: Output) -> None:
    assert main(["--server", CALENDAR, "tools"]) == 0
    shown = capsys.readouterr().out
    assert "calendar_query(date, [owner])" in shown and "Delete an appointment for good." in shown


def test_options_may_stand_after_the_command_too(capsys: Output) -> None:
    assert main(["tools", "--server", CALENDAR]) == 0
    assert "calendar_query" in capsys.readouterr().out


def test_call_prints_the_result(capsys: Output) -> None:
    given = '{"date": "2026-08-04"}'
    assert main(["--server", CALENDAR, "call", "calendar_query", given]) == 0
    assert "Budget planning" in capsys.readouterr().out


def test_a_tool_error_has_an_exit_code_of_its_own(capsys: Output) -> None:
    given = '{"date": "2026-02-31"}'
    assert main(["--server", CALENDAR, "call", "calendar_query", given]) == 3
    assert capsys.readouterr().out.startswith("error")


async def test_a_url_reaches_a_server_over_http(capsys: Output) -> None:
    async with serve(calendar_server()) as served:
        code = await asyncio.to_thread(main, ["--server", served.url, "tools"])
    assert code == 0 and "calendar_create" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("server", "fault"),
    [
        ("nope-xyz", "never reached"),
        (f"{sys.executable} nope.py", "it broke before the answer came"),
        (f"{sys.executable} -c \"print('hello')\"", "broke the protocol's format"),
        ("http://127.0.0.1:9/mcp", "never reached"),
    ],
)
def test_a_protocol_error_is_exit_code_1_and_one_line_with_the_fault(
    server: str, fault: str
) -> None:
    ran = mini_agent("--server", server, "tools")
    assert ran.returncode == 1 and ran.stdout == ""
    line = one_line(ran.stderr)
    assert line.startswith("mini-agent: ") and "Fault: " in line and fault in line


def test_debug_adds_the_traceback() -> None:
    ran = mini_agent("--server", "nope-xyz", "tools", "--debug")
    assert ran.returncode == 1 and "Traceback" in ran.stderr
    assert ran.stderr.splitlines()[-1].startswith("mini-agent: ")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "--server"),
        (["tools"], "--server"),
        (["--server", " ", "tools"], "--server"),
        (["--server", "'unclosed", "tools"], "--server"),
        (["--server", "http://example.com/mcp", "tools"], "https"),
        (["--server", CALENDAR, "call", "nope"], "calendar_query"),
        (["--server", CALENDAR, "call", "calendar_query", "{date:"], "JSON"),
        (["--server", CALENDAR, "call", "calendar_query", "[1]"], "object"),
    ],
)
def test_what_cannot_be_used_is_exit_code_2_and_one_line(arguments: list[str], told: str) -> None:
    ran = mini_agent(*arguments)
    assert ran.returncode == 2
    assert told in one_line(ran.stderr)


@pytest.mark.parametrize(
    "arguments", [["--nonsense"], ["nonsense"], ["tools", "--timeout", "0"], ["--timeout", "x"]]
)
def test_bad_flags_are_exit_code_2(arguments: list[str]) -> None:
    ran = mini_agent(*arguments)
    assert ran.returncode == 2 and "Traceback" not in ran.stderr
    assert ran.stderr.splitlines()[-1].startswith("mini-agent")


def test_a_chat_without_a_key_is_one_clear_line() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "mini_agent", "--server", CALENDAR],
        input="What is on today?\n",
        capture_output=True,
        text=True,
        timeout=30,
        env={k: v for k, v in os.environ.items() if not k.startswith("ANTHROPIC_")},
        check=False,
    )
    assert ran.returncode == 2
    assert "ANTHROPIC_API_KEY" in one_line(ran.stderr)


@pytest.mark.parametrize("bad", ['{"date": NaN}', '{"date": 1e999}', '{"date": "\\ud800"}'])
def test_arguments_that_json_cannot_carry_are_one_line(bad: str) -> None:
    ran = mini_agent("--server", CALENDAR, "call", "calendar_query", bad)
    assert ran.returncode == 2
    assert "arguments" in one_line(ran.stderr)


def test_a_model_that_cannot_be_reached_is_one_line() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "mini_agent", "--server", CALENDAR],
        input="What is on today?\n",
        capture_output=True,
        text=True,
        timeout=60,
        env={
            **os.environ,
            "ANTHROPIC_API_KEY": "hunter2",
            "ANTHROPIC_BASE_URL": "http://127.0.0.1:9",
            "NO_PROXY": "127.0.0.1",
        },
        check=False,
    )
    assert ran.returncode == 1
    assert "Fault: the model's service" in one_line(ran.stderr) and "hunter2" not in ran.stderr


@pytest.mark.parametrize("secret", ["hunter2", "hun/ter2"])
def test_no_secret_of_a_url_is_shown(secret: str) -> None:
    ran = mini_agent("--server", f"https://user:{secret}@127.0.0.1:9/mcp?t={secret}", "tools")
    assert ran.returncode in (1, 2)
    assert secret.split("/")[-1] not in ran.stdout + ran.stderr


def test_what_a_peer_wrote_cannot_act_on_the_screen(capsys: Output) -> None:
    say("result", "\x1b[2K\rapproved\u202e\nsecond line")
    shown = capsys.readouterr().out
    assert "\x1b" not in shown and "\r" not in shown and "\u202e" not in shown
    assert shown.count("\n") == 2


def test_a_broken_session_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_text("{not json\n")
    ran = subprocess.run(
        [sys.executable, "-m", "mini_agent", "--server", CALENDAR, "--session", str(path)],
        input="hello\n",
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert ran.returncode == 2
    assert "line 1" in one_line(ran.stderr) and "session.jsonl" in ran.stderr


def test_importing_the_package_is_quick_and_loads_nothing_heavy() -> None:
    heavy = ["httpx", "jsonschema", "anthropic", "graphviz", "IPython", "ipywidgets"]
    code = (
        "import sys, time; t = time.process_time(); import mini_agent.mcp, mini_agent.agent; "
        f"print([m for m in {heavy} if m in sys.modules]); print(time.process_time() - t)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded, seconds = ran.stdout.splitlines()
    assert loaded == "[]"
    assert float(seconds) < 3 * 0.15  # the goal is 0.15 s; a busy machine gets three times that


def test_the_loop_loads_no_mcp_module() -> None:
    code = "import sys, mini_agent.agent; print([m for m in sys.modules if 'mcp' in m])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
