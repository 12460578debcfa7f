"""The command line, as a user types it: exit codes, one clear line an error, nothing spoofed."""

from __future__ import annotations

import asyncio
import os
import pty
import select
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from fake_servers.anthropic_api import AnthropicApi, Broken, Turn
from fake_servers.calendar import calendar_server
from fake_servers.core import Server
from fake_servers.declare import Tool as Declared
from fake_servers.http import serve
from mini_agent.__main__ import main
from mini_agent.approval import DROPPED
from mini_agent.mcp.shapes import McpTool
from mini_agent.servers import server_name
from mini_agent.terminal import Screen, say, tool_lines
from mini_agent.types import Text, ToolCall

CALENDAR = f"{sys.executable} -m fake_servers.calendar"
MINI_AGENT = (sys.executable, "-m", "mini_agent")
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
    code, seen = played(arguments, (until, key))
    assert code == 0
    return seen


Step = tuple[bytes, bytes | signal.Signals]


def played(arguments: list[str], *steps: Step, **env: str) -> tuple[int, str]:
    """The exit code, and what a pseudo-terminal shows. A step is what is typed (or the signal that
    is sent) once something has come on the screen after the step before.
    """
    pid, master = pty.fork()
    if pid == 0:
        os.environ.update(env)
        os.execv(sys.executable, [sys.executable, "-m", "mini_agent", *arguments])
    seen, left = b"", list(steps)
    try:
        while select.select([master], [], [], 20)[0]:
            try:
                read = os.read(master, 65536)
            except OSError:  # Linux reports the closed terminal this way
                read = b""
            seen += read
            if left and left[0][0] in seen:
                act = left.pop(0)[1]
                os.write(master, act) if isinstance(act, bytes) else os.kill(pid, act)
            if not read:
                return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), seen.decode()
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        raise AssertionError(f"it hangs, after: {seen.decode()}")
    finally:
        os.close(master)


async def chatted(
    turns: list[Turn], *steps: Step, more: Sequence[str] = (), **env: str
) -> tuple[int, str, AnthropicApi]:
    """A chat about the calendar with a scripted service, in a pseudo-terminal."""
    async with AnthropicApi(turns) as api:
        here = {"ANTHROPIC_API_KEY": "hunter2", "ANTHROPIC_BASE_URL": api.url, "NO_PROXY": "*"}
        arguments = ["--server", CALENDAR, *more]
        code, seen = await asyncio.to_thread(played, arguments, *steps, **here, **env)
    assert "hunter2" not in seen and "Traceback" not in seen
    return code, seen, api


# -- chat in a terminal ---------------------------------------------------------------------------

BOOK: Turn = [
    ToolCall(
        "toolu_1",
        "calendar_create",
        {"title": "Rest", "start": "2026-08-03T15:00", "end": "2026-08-03T16:00"},
    )
]
FIRST = b"> "


async def test_pasted_lines_approve_nothing() -> None:
    paste = b"please look at this text I paste\ny\nthanks\n"
    code, seen, api = await chatted(
        [BOOK, [Text("So be it.")]], (FIRST, paste), (b"[y/N]", b"\n"), (b"So be it", b"\x04")
    )
    assert code == 0 and "denied     calendar_create" in seen and "Created" not in seen
    assert DROPPED.strip() in seen and len(api.requests) == 2


async def test_what_is_typed_at_the_question_approves() -> None:
    code, seen, _ = await chatted(
        [BOOK, [Text("Booked it.")]], (FIRST, b"go\n"), (b"[y/N]", b"y\n"), (b"Booked", b"\x04")
    )
    assert code == 0 and "Created apt-" in seen


async def test_ctrl_c_at_the_prompt_ends_the_chat_at_once_in_one_line() -> None:
    code, seen, _ = await chatted([], (b"> ", b"\x03"))
    assert code == 130
    assert one_line(seen.partition("\n")[2]).endswith("mini-agent: interrupted")


async def test_a_line_that_the_terminal_cut_is_not_sent_and_said_to_be_cut() -> None:
    long = b"x" * 5000 + b"\n"
    code, seen, api = await chatted(
        [[Text("Short.")]], (FIRST, long), (b"too long", b"hi\n"), (b"Short.", b"\x04")
    )
    assert code == 0 and "4,095" in seen
    assert [r["messages"][0]["content"][0]["text"] for r in api.requests] == ["hi"]


@pytest.mark.parametrize("how", ["error", "cut", "abort"])
async def test_an_answer_cut_in_the_middle_is_one_line_after_what_was_said(how: Any) -> None:
    code, seen, _ = await chatted([Broken([Text("Half of it")], how)], (FIRST, b"go\n"))
    assert code == 1
    said, line = seen.splitlines()[-2:]
    assert said == "model      Half of it"
    assert line.startswith("mini-agent: the model's") and "Fault: the model's service" in line


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_signal_that_ends_the_program_ends_its_server(name: str, tmp_path: Path) -> None:
    number = signal.Signals[name]
    server = tmp_path / "stubborn.py"
    server.write_text(
        "import os, signal, sys, time\n"
        "for number in (signal.SIGTERM, signal.SIGHUP): signal.signal(number, signal.SIG_IGN)\n"
        "print('my pid:', os.getpid(), file=open(sys.argv[1], 'w'), flush=True)\n"
        "while True: time.sleep(1)\n"
    )
    os.mkfifo(pids := tmp_path / "pids")
    child = subprocess.Popen(
        [*MINI_AGENT, "--server", f"{sys.executable} {server} {pids}", "tools"],
        stderr=subprocess.PIPE,
        text=True,
        # Under nohup a child starts with SIGHUP ignored, and keeps to it: not what is tried here.
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),
    )
    pid = int(pids.read_text().split()[-1])
    child.send_signal(number)
    _, told = child.communicate(timeout=30)
    assert child.returncode == 128 + number and name in one_line(told)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_tools_lists_what_a_server_offers(capsys: Output) -> None:
    assert main(["--server", CALENDAR, "tools"]) == 0
    shown = capsys.readouterr().out
    assert "calendar_query(date, [owner])" in shown and "Delete an appointment for good." in shown


def test_options_may_stand_after_the_command_too(capsys: Output) -> None:
    assert main(["tools", "--server", CALENDAR]) == 0
    assert "calendar_query" in capsys.readouterr().out


TWICE = ["--server", CALENDAR, "--server", CALENDAR]


def notes() -> Server:
    async def note(arguments: object, context: object) -> str:
        return "Noted."

    return Server("notes", tools=[Declared("note", "Keeps a note.", note)])


@pytest.mark.parametrize(
    "arguments",
    [[*TWICE, "tools"], ["tools", *TWICE], ["--server", CALENDAR, "tools", "--server", CALENDAR]],
)
def test_each_server_that_is_named_is_asked_under_a_name_of_its_own(
    arguments: list[str], capsys: Output
) -> None:
    assert main(arguments) == 0
    told = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [line[1] for line in told if line[:1] == ["server"]] == ["calendar", "calendar-2"]


async def test_a_call_goes_to_the_server_that_has_the_tool(capsys: Output) -> None:
    async with serve(notes()) as served:
        arguments = ["--server", CALENDAR, "--server", served.url, "call", "note"]
        code = await asyncio.to_thread(main, arguments)
    assert code == 0 and "Noted." in capsys.readouterr().out


def test_a_tool_that_two_servers_have_is_not_called(capsys: Output) -> None:
    assert main([*TWICE, "call", "calendar_query"]) == 2
    assert "calendar and calendar-2 have a tool calendar_query" in one_line(capsys.readouterr().err)


async def test_a_chat_has_the_tools_of_every_server() -> None:
    async with serve(notes()) as served:
        call = ToolCall("toolu_1", "calendar_query", {"date": "2026-08-04"})
        steps = [(FIRST, b"go\n"), (b"[y/N]", b"y\n"), (b"Done", b"\x04")]
        more = ["--server", served.url]
        code, seen, api = await chatted([[call], [Text("Done.")]], *steps, more=more)
    names = [tool["name"] for tool in api.requests[0]["tools"]]
    assert code == 0 and "Server: calendar" in seen and "Budget planning" in seen
    assert "calendar_query" in names and any("_note" in name for name in names)


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
        (["--server", "''", "tools"], "--server: command is empty"),
        (["--server", "'https://example.com/mcp'", "tools"], "no quotes of its own"),
        (["--server", "KEY=hunter2 npx server", "tools"], "env NAME=VALUE PROGRAM"),
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


@pytest.mark.parametrize("key", [{}, {"ANTHROPIC_API_KEY": ""}])
def test_a_chat_without_a_key_is_one_clear_line_before_a_word_is_typed(key: Any) -> None:
    ran = mini_agent("--server", CALENDAR, **key)
    assert ran.returncode == 2 and ran.stdout == ""
    assert "ANTHROPIC_API_KEY" in one_line(ran.stderr)


@pytest.mark.parametrize(
    "env",
    [
        {"HTTPS_PROXY": "ftp://user:hunter2@proxy:1"},
        {"ALL_PROXY": "user:hunter2@proxy:port"},
        {"SSL_CERT_FILE": "/nowhere/hunter2.pem"},
        {"ANTHROPIC_BASE_URL": "http://user:hunter2@host:port"},
    ],
)
def test_an_environment_that_no_client_can_be_made_of_is_one_line(env: Any) -> None:
    ran = mini_agent("--server", CALENDAR, **env, ANTHROPIC_API_KEY="hunter2")
    assert ran.returncode == 2
    assert "environment" in one_line(ran.stderr) and "hunter2" not in ran.stderr


@pytest.mark.parametrize(
    "bad",
    [
        '{"date": NaN}',
        '{"date": 1e999}',
        '{"date": "\\ud800"}',
        '{"date": ' + "9" * 5000 + "}",
        "[" * 100_000,
        *('{"date": ' + "[" * depth + "]" * depth + "}" for depth in (930, 960, 980, 20_000)),
    ],
    ids=range(9),
)
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


@pytest.mark.parametrize(
    "server",
    [
        "https://user:{}@127.0.0.1:9/mcp?t={}",
        "https:/user:{}@127.0.0.1:9/mcp",
        "https:user:{}@127.0.0.1",
        "https//user:{}@127.0.0.1",
        "htp://user:{}@127.0.0.1",
        " HTTPS:/user:{}@127.0.0.1",
        "user:{}@127.0.0.1/mcp",
        "https://user:{}@[127.0.0.1",
        "'https://user:{}@127.0.0.1'",
        "\"'https://user:{}@127.0.0.1'\"",
        "//user:{}@127.0.0.1",
        "API_KEY={} nope-xyz",
    ],
)
@pytest.mark.parametrize("secret", ["hunter2", "hun/ter2"])
def test_no_secret_of_a_url_is_shown(server: str, secret: str) -> None:
    if secret == "hun/ter2" and not server.startswith("https://"):
        return
    url = server.replace("{}", secret)
    for arguments in (["--server", url, "tools"], [url]):
        ran = mini_agent(*arguments)
        assert ran.returncode in (1, 2)
        assert "ter2" not in ran.stdout + ran.stderr


@pytest.mark.parametrize(
    ("server", "name"),
    [
        ("python -m fake_servers.calendar", "calendar"),
        ("/usr/bin/python3 -P -m server", "server"),
        ("python server.py", "python"),
        ("python -m", "python"),
        ("python server.py -m hunter2", "python"),
        ("python -c hunter2", "python"),
        ("notes -m hunter2", "notes"),
        ("https://example.com/mcp?key=hunter2", "example.com"),
    ],
)
def test_a_server_is_called_by_its_program_its_module_or_its_host(server: str, name: str) -> None:
    assert server_name(server) == name


@pytest.mark.parametrize("url", ["http://example.com/mcp", "https://user:pw@example.com/mcp"])
def test_a_url_is_refused_in_words_that_somebody_at_a_command_line_can_follow(url: str) -> None:
    told = one_line(mini_agent("--server", url, "tools").stderr)
    assert "--server: " in told and "=" not in told


def test_a_command_may_have_a_url_among_its_arguments() -> None:
    ran = mini_agent("--server", "nope-xyz --upstream https://example.com", "tools")
    assert "cannot start nope-xyz" in one_line(ran.stderr)


def test_what_a_peer_wrote_cannot_act_on_the_screen(capsys: Output) -> None:
    say("result", "\x1b[2K\rapproved\u202e\nsecond line")
    shown = capsys.readouterr().out
    assert "\x1b" not in shown and "\r" not in shown and "\u202e" not in shown
    assert shown.count("\n") == 2


def test_a_name_takes_no_line_of_its_own() -> None:
    tool = McpTool("a\nresult", "", {"properties": {"b\n": {}}, "type": "object"})
    ((line, _),) = tool_lines([tool])
    assert "\n" not in line


def test_a_call_of_the_model_takes_one_line(capsys: Output) -> None:
    Screen()(ToolCall("t", "a\nresult     done", {"x": "\n"}))
    assert capsys.readouterr().out.count("\n") == 1


def test_a_call_nested_too_deeply_to_be_shown_ends_nothing(capsys: Output) -> None:
    deep: list[Any] = []
    for _ in range(100_000):  # newer interpreters show 5,000
        deep = [deep]
    Screen()(ToolCall("t", "a", {"x": deep}))
    assert "nested too deeply" in capsys.readouterr().out


async def test_a_server_without_tools_is_said_to_have_none(capsys: Output) -> None:
    async with serve(Server("empty", tools=[])) as served:
        code = await asyncio.to_thread(main, ["--server", served.url, "tools"])
    assert code == 0 and "no tools" in capsys.readouterr().out


# -- the streams that the shell gives -------------------------------------------------------------


def in_a_shell(script: str, **env: str) -> subprocess.CompletedProcess[str]:
    """``script`` with $MA for mini-agent on the calendar; its own stdout comes on ``.stdout``."""
    tools = f"{sys.executable} -m mini_agent --server '{CALENDAR}'"
    return subprocess.run(
        ["bash", "-c", f'ma() {{ {tools} "$@"; }}\n{script}'],
        capture_output=True,
        text=True,
        timeout=30,
        env={**os.environ, "PYTHONUNBUFFERED": "", **env},
        check=False,
    )


@pytest.mark.parametrize("command", ["tools", "demo --yes", "--help"])
def test_a_reader_that_has_read_enough_ends_it_without_a_word(command: str) -> None:
    there, here = os.pipe()
    os.close(there)
    ran = subprocess.run(
        [*MINI_AGENT, "--server", CALENDAR, *command.split()],
        stdout=here,
        stderr=subprocess.PIPE,
        timeout=30,
        env={**os.environ, "PYTHONUNBUFFERED": ""},
        check=False,
    )
    os.close(here)
    assert (ran.returncode, ran.stderr) == (141, b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
@pytest.mark.parametrize("command", ["tools", "demo --yes", "--help"])
def test_an_output_that_is_full_is_one_line(command: str) -> None:
    ran = in_a_shell(f"ma {command} > /dev/full")
    assert ran.returncode == 1
    assert "the output cannot be written" in one_line(ran.stderr)


def test_a_stderr_that_is_gone_changes_no_exit_code() -> None:
    assert in_a_shell("ma call nope 2> /dev/full; exit $?").returncode == 2
    assert in_a_shell("ma call nope 2>&-; exit $?").returncode == 2


@pytest.mark.parametrize("closed", ["<&-", ">&-", "<&- >&-", "<&- >&- 2>&-"])
def test_closed_streams_approve_nothing_and_break_nothing(closed: str) -> None:
    ran = in_a_shell(f"ma demo {closed}; exit $?")
    assert ran.returncode == 0 and ran.stderr == ""
    assert "Created" not in ran.stdout


def test_an_ascii_terminal_gets_escapes_for_what_it_cannot_show() -> None:
    given = """ma call calendar_query '{"date": "\N{HIRAGANA LETTER A}"}'"""
    ran = in_a_shell(given, PYTHONIOENCODING="ascii")
    assert ran.returncode == 3 and ran.stderr == ""
    assert "\\u3042" in ran.stdout


def test_the_demo_does_not_depend_on_what_lies_in_the_working_directory(tmp_path: Path) -> None:
    for name in ("types.py", "json.py", "fake_servers/__init__.py", "fake_servers/calendar.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("raise SystemExit('the wrong file')\n")
    ran = subprocess.run(
        [sys.executable, "-P", "-m", "mini_agent", "demo", "--yes"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert ran.returncode == 0 and "Created apt-7" in ran.stdout, ran.stderr


def test_a_broken_session_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_text("{not json\n")
    ran = subprocess.run(
        [sys.executable, "-m", "mini_agent", "--server", CALENDAR, "--session", str(path)],
        input="hello\n",
        capture_output=True,
        text=True,
        timeout=30,
        env={**os.environ, "ANTHROPIC_API_KEY": "hunter2"},
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
