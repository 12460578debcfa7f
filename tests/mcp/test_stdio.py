"""What a child process can do to a transport, and what the transport makes of it.

Each server is a script of a few lines: the process is the point here.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from mini_agent.errors import (
    ConnectFailed,
    JsonRpcError,
    MalformedMessage,
    McpError,
    TransportClosed,
)
from mini_agent.mcp.command import POSIX_NAMES, WINDOWS_NAMES, child_environment
from mini_agent.mcp.pending import InFlight
from mini_agent.mcp.process import LAST_SIGNAL, ServerProcess
from mini_agent.mcp.stdio import StdioTransport, pause_after
from mini_agent.trace import Trace, following

pytestmark = pytest.mark.timeout(20)

PRELUDE = """
import json, os, signal, subprocess, sys, time
def read():
    line = sys.stdin.buffer.readline()
    return json.loads(line) if line else sys.exit()
def write(raw):
    sys.stdout.buffer.write(raw)
    sys.stdout.buffer.flush()
def say(message):
    write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\\n")
def answer(request, **result):
    say({"id": request["id"], "result": result})
def for_ever():
    while True:
        time.sleep(60)
"""
ECHO = "while True: answer(read())"

Server = Callable[..., StdioTransport]


@pytest.fixture
def server(tmp_path: Path) -> Server:
    """Makes a transport to a server whose script is given."""

    def make(script: str, **options: Any) -> StdioTransport:
        path = tmp_path / "a server.py"
        path.write_text(PRELUDE + textwrap.dedent(script), encoding="utf-8")
        return StdioTransport([sys.executable, str(path)], **options)

    return make


def ask(number: int | str = 1, method: str = "test/call", **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def answered(number: int | str = 1, **result: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "result": result}


async def failure(sending: Any) -> McpError:
    with pytest.raises(McpError) as raised:
        await sending
    return raised.value


async def until(condition: Callable[[], bool]) -> None:
    """Let the event loop turn until ``condition`` holds; the test's own timeout bounds it."""
    while not condition():  # noqa: ASYNC110 - a process ends outside of our loop
        await asyncio.sleep(0.002)


def wait_until(condition: Callable[[], bool]) -> None:
    """The same without a turn of the event loop."""
    while not condition():
        time.sleep(0.002)


def over(transport: StdioTransport) -> bool:
    """True when the transport has noticed that its process is ending."""
    return transport._talk is not None and transport._talk.over


def runs(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def full(transport: StdioTransport, requests: int = 1) -> bool:
    """True while the pipe to the server takes no more, and so many requests have come to it."""
    talk = transport._talk
    if talk is None or talk.process._room.is_set():
        return False
    return len(talk._in_flight._waiting) == requests


@contextlib.asynccontextmanager
async def closing(transport: StdioTransport) -> Any:
    try:
        yield transport
    finally:
        await transport.close()


# -- start ----------------------------------------------------------------------------------------


def test_a_command_in_one_string_is_refused_with_advice() -> None:
    with pytest.raises(TypeError, match="list"):
        StdioTransport("python server.py")  # type: ignore[arg-type]


@pytest.mark.parametrize("command", [[], ["a\0b"], ["a", "b\ud800"]])
def test_a_command_that_cannot_be_one_is_refused(command: list[str]) -> None:
    with pytest.raises(ValueError, match="command"):
        StdioTransport(command)


def test_a_variable_that_is_no_string_is_refused() -> None:
    with pytest.raises(TypeError, match="PORT"):
        StdioTransport(["x"], env={"PORT": 1})  # type: ignore[dict-item]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("A=B", "s3cret"),
        ("A\0", "s3cret"),
        ("A", "s3cret\0"),
        ("A\ud800", "s3cret"),
        ("A", "\ud800"),
    ],
)
def test_a_variable_that_cannot_be_handed_over_is_refused_without_its_value(
    name: str, value: str
) -> None:
    with pytest.raises(ValueError, match="environment variable 'A") as raised:
        StdioTransport(["x"], env={name: value})
    assert "s3cret" not in str(raised.value)


@pytest.mark.parametrize("cwd", ["a\0b", "a\ud800", Path("a\0b")])
def test_a_directory_that_cannot_be_one_is_refused(cwd: str | Path) -> None:
    with pytest.raises(ValueError, match="cwd"):
        StdioTransport(["x"], cwd=cwd)


def test_bytes_of_a_file_name_that_are_no_utf_8_can_be_handed_over() -> None:
    StdioTransport(["x", os.fsdecode(b"\xff")], cwd=os.fsdecode(b"\xff"))


async def test_nothing_is_started_before_the_first_send(server: Server, tmp_path: Path) -> None:
    async with closing(server("open('started', 'w')\n" + ECHO, cwd=tmp_path)) as transport:
        await asyncio.sleep(0)
        assert not (tmp_path / "started").exists()
        assert await transport.send(ask()) == answered()
        assert (tmp_path / "started").exists()


@pytest.mark.case("P02")
async def test_a_program_that_does_not_exist_is_named() -> None:
    error = await failure(StdioTransport(["nope-xyz", "--key=secret"]).send(ask()))
    assert type(error) is ConnectFailed
    assert "nope-xyz" in str(error)
    assert "secret" not in str(error)
    assert isinstance(error.__cause__, FileNotFoundError)


@pytest.mark.case("P02")
async def test_a_file_that_may_not_be_run_is_named(tmp_path: Path) -> None:
    (tmp_path / "plain.txt").write_text("no program")
    error = await failure(StdioTransport([str(tmp_path / "plain.txt")]).send(ask()))
    assert type(error) is ConnectFailed
    assert "plain.txt" in str(error)


@pytest.mark.case("P02")
async def test_a_working_directory_that_does_not_exist_is_named(tmp_path: Path) -> None:
    transport = StdioTransport([sys.executable], cwd=tmp_path / "nowhere")
    error = await failure(transport.send(ask()))
    assert type(error) is ConnectFailed
    assert "nowhere" in str(error)


@pytest.mark.case("P02")
async def test_a_script_that_does_not_exist_fails_at_once_with_what_python_says() -> None:
    error = await failure(StdioTransport([sys.executable, "nope.py"]).send(ask()))
    assert isinstance(error, TransportClosed)
    assert error.exit_code == 2
    assert "nope.py" in error.stderr_tail


@pytest.mark.case("P16")
@pytest.mark.skipif(sys.platform == "win32", reason="a path with a quote in it")
async def test_arguments_reach_the_program_as_they_are(server: Server) -> None:
    transport = server("answer(read(), argv=sys.argv[1:]); read()")
    transport._command += ("a b", "$HOME", "'\"", "")
    async with closing(transport):
        response = await transport.send(ask())
    assert response == answered(argv=["a b", "$HOME", "'\"", ""])


@pytest.mark.case("P15", "P13")
async def test_the_server_gets_no_secret_of_ours_and_what_it_was_given(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "secret")
    monkeypatch.setenv("HTTPS_PROXY", "http://user:secret@proxy")
    script = "answer(read(), env=dict(os.environ)); read()"
    async with closing(server(script, env={"KEY": "1", "HOME": "/here"})) as transport:
        response = await transport.send(ask())
    assert response is not None
    env = response["result"]["env"]
    assert "secret" not in json.dumps(env)
    assert (env["KEY"], env["HOME"], env["PATH"]) == ("1", "/here", os.environ["PATH"])


@pytest.mark.case("P13")
async def test_giving_a_variable_does_not_hide_path(tmp_path: Path) -> None:
    transport = StdioTransport(["sh", "-c", "exit 7"], env={"KEY": "1"})
    error = await failure(transport.send(ask()))
    assert isinstance(error, TransportClosed)
    assert error.exit_code == 7


@pytest.mark.case("P14")
def test_each_platform_hands_on_what_its_programs_need() -> None:
    assert {"PATH", "HOME", "TMPDIR"} <= POSIX_NAMES
    assert {"PATHEXT", "COMSPEC", "SYSTEMROOT", "PROGRAMDATA", "APPDATA"} <= WINDOWS_NAMES
    ours = {"PATHEXT": ".EXE", "SYSTEMROOT": "C:/Windows", "API_KEY": "secret"}
    env = child_environment({"MORE": "1"}, inherited=ours, allowed=WINDOWS_NAMES)
    assert env == {"PATHEXT": ".EXE", "SYSTEMROOT": "C:/Windows", "MORE": "1"}


def test_the_whole_environment_is_handed_over_only_when_asked_for() -> None:
    assert child_environment({"API_KEY": "k"}, inherited={}) == {"API_KEY": "k"}


# -- ends -----------------------------------------------------------------------------------------


@pytest.mark.case("P01")
async def test_a_server_that_exits_at_start_fails_every_request_with_its_last_words(
    server: Server,
) -> None:
    async with closing(server("sys.exit('no key\x1b[31m')")) as transport:
        first, second = await asyncio.gather(
            failure(transport.send(ask(1))), failure(transport.send(ask(2)))
        )
    for error in (first, second):
        assert isinstance(error, TransportClosed)
        assert error.exit_code == 1
        assert "no key" in str(error)
        assert "\x1b" not in str(error) + error.stderr_tail
    assert first is not second


@pytest.mark.must("C37")
async def test_a_server_that_dies_mid_call_fails_all_that_wait_each_with_its_own_error(
    server: Server,
) -> None:
    script = "for _ in range(3): read()\nos.kill(os.getpid(), signal.SIGKILL)"
    async with closing(server(script)) as transport:
        errors = await asyncio.gather(*(failure(transport.send(ask(n))) for n in range(3)))
    assert len({id(error) for error in errors}) == 3
    for error in errors:
        assert isinstance(error, TransportClosed)
        assert error.exit_code == -signal.SIGKILL
        assert error.may_have_acted


async def test_an_answer_written_just_before_the_end_still_arrives(server: Server) -> None:
    async with closing(server("answer(read()); sys.exit(3)")) as transport:
        assert await transport.send(ask()) == answered()


async def test_half_a_line_at_the_end_is_no_answer_but_is_shown(server: Server) -> None:
    script = 'read(); write(b\'{"jsonrpc":"2.0","id":1\'); sys.exit(0)'
    async with closing(server(script)) as transport:
        error = await failure(transport.send(ask()))
    assert isinstance(error, TransportClosed)
    assert error.exit_code == 0
    assert '{"jsonrpc":"2.0","id":1' in str(error)


async def test_a_server_that_closes_its_output_but_lives_on_is_gone_too(server: Server) -> None:
    async with closing(server("read(); os.close(1); for_ever()", grace=0.2)) as transport:
        error = await failure(transport.send(ask()))
        assert isinstance(error, TransportClosed)
        assert error.exit_code is None


async def test_a_server_that_closes_its_input_is_gone_too(server: Server) -> None:
    async with closing(server("read(); os.close(0); for_ever()", grace=0.2)) as transport:
        assert isinstance(await failure(transport.send(ask())), TransportClosed)


@pytest.mark.case("P08")
async def test_a_child_of_the_server_that_holds_the_pipes_hides_no_exit(server: Server) -> None:
    script = """
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        sys.exit(4)
    """
    async with closing(server(script, grace=0.3)) as transport:
        error = await failure(transport.send(ask()))
    assert isinstance(error, TransportClosed)
    assert error.exit_code == 4


@pytest.mark.case("P11", "L07")
@pytest.mark.must("C37")
async def test_after_an_end_the_next_request_gets_a_fresh_process(server: Server) -> None:
    script = "answer(read(), pid=os.getpid()); read(); sys.exit(1)"
    async with closing(server(script)) as transport:
        first = await transport.send(ask(1))
        assert isinstance(await failure(transport.send(ask(2))), TransportClosed)
        second = await transport.send(ask(3))
        assert isinstance(await failure(transport.send(ask(4))), TransportClosed)
        third = await transport.send(ask(5))
    assert first and second and third
    assert len({response["result"]["pid"] for response in (first, second, third)}) == 3


@pytest.mark.case("P11")
async def test_a_server_killed_between_calls_is_started_again_without_an_error(
    server: Server,
) -> None:
    trace = Trace()
    async with closing(server("while True: answer(read(), pid=os.getpid())")) as transport:
        transport.trace = trace
        first = await transport.send(ask(1))
        assert first is not None
        os.kill(first["result"]["pid"], signal.SIGKILL)
        await until(lambda: any(event.what == "closed" for event in trace.events))
        second = await transport.send(ask(2))
    assert second is not None
    assert second["result"]["pid"] != first["result"]["pid"]


@pytest.mark.case("P11")
async def test_a_server_killed_in_the_moment_of_the_write_is_one_clear_error(
    server: Server,
) -> None:
    async with closing(server("while True: answer(read(), pid=os.getpid())")) as transport:
        first = await transport.send(ask(1))
        assert first is not None
        pid = first["result"]["pid"]
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not runs(pid))  # no turn of the event loop: we cannot know of it yet
        assert isinstance(await failure(transport.send(ask(2))), TransportClosed)
        assert (await transport.send(ask(3)) or {})["id"] == 3


async def test_a_server_that_never_answers_is_started_less_and_less_often(server: Server) -> None:
    now = 1000.0
    async with closing(server("sys.exit(1)", clock=lambda: now)) as transport:
        for number in range(3):
            assert isinstance(await failure(transport.send(ask(number))), TransportClosed)
        error = await failure(transport.send(ask(3)))
        assert isinstance(error, ConnectFailed)
        assert not error.may_have_acted
        assert "3 times" in str(error)
        now += 1.0
        assert isinstance(await failure(transport.send(ask(4))), TransportClosed)
        now += 1.0
        assert isinstance(await failure(transport.send(ask(5))), ConnectFailed)


async def test_one_answer_ends_the_pause(server: Server, tmp_path: Path) -> None:
    script = "answer(read()) if os.path.exists('well') else 0; read()"
    transport = server("if not os.path.exists('well'): sys.exit(1)\n" + script, cwd=tmp_path)
    async with closing(transport):
        for number in range(2):
            assert isinstance(await failure(transport.send(ask(number))), TransportClosed)
        (tmp_path / "well").touch()
        assert await transport.send(ask(2)) == answered(2)
        (tmp_path / "well").unlink()
        for number in range(3, 6):
            assert isinstance(await failure(transport.send(ask(number))), TransportClosed)


def test_the_pause_grows_to_a_limit() -> None:
    assert [pause_after(n) for n in (0, 1, 2, 3, 4, 5, 8, 100)] == [0, 0, 0, 1, 2, 4, 30, 30]


# -- what comes out -------------------------------------------------------------------------------


@pytest.mark.case("P03")
@pytest.mark.must("C33")
async def test_a_mebibyte_on_stderr_blocks_nobody_and_is_no_error(server: Server) -> None:
    script = "request = read(); sys.stderr.write('log ' * 262144); answer(request); read()"
    async with closing(server(script)) as transport:
        assert await transport.send(ask()) == answered()


@pytest.mark.case("P05")
async def test_only_the_end_of_stderr_is_kept(server: Server) -> None:
    script = "read(); sys.stderr.write('\\r50%' * 2500000 + 'the end'); sys.exit(1)"
    async with closing(server(script)) as transport:
        error = await failure(transport.send(ask()))
    assert isinstance(error, TransportClosed)
    assert error.stderr_tail.endswith("the end")
    assert len(error.stderr_tail) < 2 * 8192  # a \r shows as two characters
    assert len(str(error)) < 1000


@pytest.mark.case("F03")
async def test_a_line_of_ten_mebibytes_is_an_answer_like_any_other(server: Server) -> None:
    async with closing(server("answer(read(), text='x' * 10 * 2**20); read()")) as transport:
        response = await transport.send(ask())
    assert response is not None
    assert len(response["result"]["text"]) == 10 * 2**20


@pytest.mark.case("F04")
async def test_a_line_above_the_limit_is_a_clear_error_and_earlier_lines_count(
    server: Server,
) -> None:
    script = "answer(read()); read(); write(b'x' * 5000); for_ever()"
    async with closing(server(script, max_line=1000, grace=0.2)) as transport:
        assert await transport.send(ask(1)) == answered(1)
        error = await failure(transport.send(ask(2)))
    assert isinstance(error, MalformedMessage)
    assert error.excerpt.startswith("xxx")


@pytest.mark.case("F07")
async def test_a_character_in_two_writes_arrives_whole(server: Server) -> None:
    script = """
        raw = json.dumps({"jsonrpc": "2.0", "id": read()["id"], "result": {"t": "é"}},
                         ensure_ascii=False).encode() + b"\\n"
        cut = raw.index(b"\\xc3") + 1
        write(raw[:cut]); read(); write(raw[cut:]); read()
    """
    async with closing(server(script)) as transport:
        sending = asyncio.create_task(transport.send(ask()))
        await asyncio.sleep(0)
        await transport.send({"jsonrpc": "2.0", "method": "test/go", "params": {}})
        assert await sending == answered(t="é")


@pytest.mark.case("F09", "F10")
async def test_windows_line_ends_and_blank_lines_do_no_harm(server: Server) -> None:
    script = r"""
        request = read()
        write(b"\n \r\n\t\n" + json.dumps({"jsonrpc": "2.0", "id": 1, "result": {}}).encode())
        write(b"\r\n"); read()
    """
    async with closing(server(script)) as transport:
        assert await transport.send(ask()) == answered()


JUNK = {
    "a banner": b"Starting v1.2\n",
    "not UTF-8": b'{"jsonrpc":"2.0","id":1,"result":{"t":"\x97"}}\n',
    "another protocol's frames": b'Content-Length: 20\r\n\r\n{"jsonrpc":"2.0"}\n',
    "JSON that is no message": b"[1, 2]\n",
    "a batch": b'[{"jsonrpc":"2.0","id":1,"result":{}}]\n',
    "not a number": b'{"jsonrpc":"2.0","id":1,"result":{"x":NaN}}\n',
    "a boolean id": b'{"jsonrpc":"2.0","id":true,"result":{}}\n',
    "too long": b"x" * 3000 + b"\n",
}


@pytest.mark.case("F01", "F06", "F12", "F14")
@pytest.mark.parametrize("junk", JUNK.values(), ids=JUNK)
async def test_a_line_that_is_no_message_fails_what_waits_and_ends_the_process(
    server: Server, junk: bytes
) -> None:
    trace = Trace()
    script = f"read(); read(); write({junk!r}); answer({{'id': 1}}); for_ever()"
    async with closing(server(script, max_line=2000, grace=0.1)) as transport:
        transport.trace = trace
        errors = await asyncio.gather(*(failure(transport.send(ask(n))) for n in (1, 2)))
    assert errors[0] is not errors[1]
    for error in errors:
        assert isinstance(error, MalformedMessage)
        assert 0 < len(error.excerpt) <= 4 * 80 + 1
        assert error.excerpt.startswith(junk[:5].decode())
    assert [event.what for event in trace.events if event.what in ("junk", "closed")] == [
        "junk",
        "closed",
    ]


@pytest.mark.case("F01")
async def test_nothing_after_the_junk_is_believed(server: Server) -> None:
    script = r"""
        read()
        write(b'junk\n{"jsonrpc":"2.0","method":"x"}\n')
        write(b'{"jsonrpc":"2.0","method":"y"}\n')
        for_ever()
    """
    heard: list[Any] = []
    async with closing(server(script, grace=0.1)) as transport:
        transport.listener = heard.append
        assert isinstance(await failure(transport.send(ask())), MalformedMessage)
    assert heard == []


async def test_who_waits_for_room_in_the_pipe_fails_with_the_others(
    server: Server, tmp_path: Path
) -> None:
    script = """
        read()
        while not os.path.exists("go"): time.sleep(0.002)
        write(b"junk\\n")
        for_ever()
    """
    transport = server(script, cwd=tmp_path, grace=1.5)
    async with closing(transport):
        texts = ("", "x" * 2**20, "waits for room")
        sends = [asyncio.create_task(transport.send(ask(n, text=t))) for n, t in enumerate(texts)]
        await until(lambda: full(transport, 3))
        (tmp_path / "go").touch()
        async with asyncio.timeout(1):
            errors = await asyncio.gather(*sends, return_exceptions=True)
    assert [type(error) for error in errors] == [MalformedMessage] * 3


@pytest.mark.case("F01")
async def test_after_junk_the_next_request_gets_a_fresh_process(
    server: Server, tmp_path: Path
) -> None:
    script = """
        if not os.path.exists("second"):
            open("second", "w"); read(); write(b"banner\\n"); for_ever()
        while True: answer(read())
    """
    transport = server(script, cwd=tmp_path, grace=0.1)
    async with closing(transport):
        assert isinstance(await failure(transport.send(ask(1))), MalformedMessage)
        assert await transport.send(ask(2)) == answered(2)


@pytest.mark.case("F01")
@pytest.mark.parametrize("junk", JUNK.values(), ids=JUNK)
async def test_junk_can_be_skipped_with_one_warning(server: Server, junk: bytes) -> None:
    trace = Trace()
    script = f"read(); [write({junk!r}) for _ in range(3)]; answer({{'id': 9}}); read()"
    async with closing(server(script, on_junk="skip", max_line=2000)) as transport:
        transport.trace = trace
        with pytest.warns(UserWarning) as warned:
            assert await transport.send(ask(9)) == answered(9)
    assert len(warned) == 1
    assert [event.what for event in trace.events].count("junk") >= 3


@pytest.mark.case("F01")
async def test_a_warning_made_an_error_does_not_stop_the_reader(server: Server) -> None:
    script = r"""read(); write(b'banner\n{"jsonrpc":"2.0","id":1,"result":{}}\n'); read()"""
    noticed: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: noticed.append(context))
    async with closing(server(script, on_junk="skip")) as transport:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PYTHONWARNINGS", "error")
            import warnings

            with warnings.catch_warnings():
                warnings.simplefilter("error")
                assert await transport.send(ask()) == answered()
    assert len(noticed) == 1


def test_on_junk_knows_two_words() -> None:
    with pytest.raises(ValueError, match="on_junk"):
        StdioTransport(["x"], on_junk="ignore")  # type: ignore[arg-type]


@pytest.mark.case("F18")
@pytest.mark.parametrize(
    "broken",
    [b'{"id":1,"result":{}}', b'{"jsonrpc":"1.0","id":1,"result":{}}'],
    ids=["no version", "another version"],
)
async def test_a_broken_response_fails_the_request_it_names_and_no_other(
    server: Server, broken: bytes
) -> None:
    script = f"read(); second = read(); write({broken!r} + b'\\n'); answer(second); read()"
    async with closing(server(script)) as transport:
        error, response = await asyncio.gather(
            failure(transport.send(ask(1))), transport.send(ask(2))
        )
    assert isinstance(error, MalformedMessage)
    assert response == answered(2)


@pytest.mark.case("F18")
async def test_a_response_with_nothing_in_it_is_handed_to_its_request(server: Server) -> None:
    async with closing(server("say({'id': read()['id']}); read()")) as transport:
        assert await transport.send(ask()) == {"jsonrpc": "2.0", "id": 1}


@pytest.mark.case("F16")
@pytest.mark.must("C73")
async def test_answers_that_nobody_asked_for_are_noted_and_ignored(server: Server) -> None:
    script = """
        request = read()
        answer({"id": 999}); answer({"id": "1"}); answer(request); answer(request, again=True)
        answer(read())
        read()
    """
    trace = Trace()
    async with closing(server(script)) as transport:
        transport.trace = trace
        assert await transport.send(ask(1)) == answered(1)
        assert await transport.send(ask(2)) == answered(2)
    assert sum("ignored" in event.facts for event in trace.events) == 3


async def test_an_integer_and_its_digits_are_two_ids(server: Server) -> None:
    script = "a = read(); b = read(); answer(b, to=b['id']); answer(a, to=a['id']); read()"
    async with closing(server(script)) as transport:
        got = await asyncio.gather(transport.send(ask(1)), transport.send(ask("1")))
    assert got == [answered(1, to=1), answered("1", to="1")]


@pytest.mark.case("F19", "F20")
@pytest.mark.must("C04", "C31", "C32")
async def test_what_the_server_says_unasked_reaches_the_listener_and_gets_no_reply(
    server: Server,
) -> None:
    script = """
        first = read()
        say({"method": "codex/event", "params": {}})
        say({"id": 7, "method": "ping"})
        say({"id": first["id"], "method": "roots/list"})
        answer(first)
        answer(read(), then=True)
        read()
    """
    heard: list[Any] = []
    async with closing(server(script)) as transport:
        transport.listener = heard.append
        assert await transport.send(ask(1)) == answered(1)
        assert [message["method"] for message in heard] == ["codex/event", "ping", "roots/list"]
        assert await transport.send(ask(2)) == answered(2, then=True)


async def test_a_listener_that_raises_costs_no_answer(server: Server) -> None:
    script = """
        read()
        notes = [json.dumps({"jsonrpc": "2.0", "method": name}).encode() for name in "ab"]
        write(b"\\n".join(notes) + b'\\n{"jsonrpc":"2.0","id":1,"result":{}}\\n')
        read()
    """
    noticed: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: noticed.append(context))
    async with closing(server(script)) as transport:
        transport.listener = lambda message: {}["no such key"]
        assert await transport.send(ask()) == answered()
    assert [type(context["exception"]) for context in noticed] == [KeyError, KeyError]


# -- what goes in ---------------------------------------------------------------------------------


@pytest.mark.must("C30", "C31")
async def test_a_message_is_one_line_whatever_is_in_it(server: Server) -> None:
    text = "a\nb\r\n\u2028\u2029\x85 é 😀"
    script = "line = sys.stdin.buffer.readline(); answer({'id': 1}, got=json.loads(line)); read()"
    async with closing(server(script)) as transport:
        response = await transport.send(ask(text=text))
    assert response == answered(got=ask(text=text))


async def test_what_json_cannot_say_is_refused_before_anything_is_started(tmp_path: Path) -> None:
    transport = StdioTransport(["nope-xyz"])
    with pytest.raises(ValueError, match="JSON"):
        await transport.send(ask(x=float("nan")))


@pytest.mark.must("C32")
async def test_a_response_is_never_sent() -> None:
    with pytest.raises(ValueError, match="no responses"):
        await StdioTransport(["nope-xyz"]).send(answered())


@pytest.mark.must("C02", "C03")
async def test_an_id_in_use_or_no_id_is_refused() -> None:
    in_flight = InFlight()
    in_flight.add(1)
    in_flight.add("1")
    for bad in (1, None, True, 1.5):
        with pytest.raises(ValueError, match="id"):
            in_flight.add(bad)  # type: ignore[arg-type]
    assert in_flight.answer(answered(1)) == ""
    in_flight.add(1)


async def test_an_answer_to_who_is_being_cancelled_harms_nothing() -> None:
    in_flight = InFlight()
    in_flight.add(1).cancel()  # as a task does that is cancelled while it waits
    in_flight.add(2).cancel()
    assert in_flight.answer(answered(1)) == ""
    in_flight.fail_all(lambda: TransportClosed("gone"))
    with pytest.raises(TransportClosed):
        in_flight.add(3)


@pytest.mark.case("F23")
async def test_writers_at_the_same_time_do_not_cut_into_each_other(server: Server) -> None:
    script = "while True:\n  r = read(); answer(r, size=len(r['params']['text']))"
    async with closing(server(script)) as transport:
        sends = (transport.send(ask(n, text=str(n % 10) * 2**18)) for n in range(64))
        responses = await asyncio.gather(*sends)
    assert responses == [answered(n, size=2**18) for n in range(64)]


@pytest.mark.case("F24")
async def test_a_huge_request_does_not_lock_up_with_a_server_that_floods_us(
    server: Server,
) -> None:
    script = """
        for number in range(5000):
            say({"method": "notifications/message", "params": {"data": "x" * 1000}})
        answer(read())
        read()
    """
    heard: list[Any] = []
    async with closing(server(script)) as transport:
        transport.listener = heard.append
        assert await transport.send(ask(text="y" * 5 * 2**20)) == answered()
    assert len(heard) == 5000


# -- cancel ---------------------------------------------------------------------------------------


@pytest.mark.case("L06")
@pytest.mark.must("C35", "C70", "C72")
async def test_cancelling_tells_the_server_once_and_its_late_answer_goes_nowhere(
    server: Server,
) -> None:
    script = """
        first = read()
        say({"method": "notifications/working"})
        cancel = read()
        answer(first, late=True)
        answer(read(), cancel=cancel)
        answer(read())
        read()
    """
    trace, working = Trace(), asyncio.Event()
    async with closing(server(script)) as transport:
        transport.trace = trace
        transport.listener = lambda message: working.set()
        sending = asyncio.create_task(transport.send(ask(1)))
        await working.wait()
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending
        response = await transport.send(ask(2))
        assert await transport.send(ask(3)) == answered(3)
    assert response is not None
    cancel = response["result"]["cancel"]
    assert cancel["method"] == "notifications/cancelled"
    assert "id" not in cancel
    assert cancel["params"]["requestId"] == 1
    assert [event.facts["ignored"] for event in trace.events if "ignored" in event.facts] == [
        "late"
    ]


@pytest.mark.must("C35")
async def test_a_request_that_was_never_written_is_not_cancelled_on_the_wire(
    server: Server,
) -> None:
    script = "time.sleep(0.2); a = read(); answer(a, next=read()['method']); read()"
    async with closing(server(script)) as transport:
        blocking = asyncio.create_task(transport.send(ask(1, text="x" * 2**20)))
        await until(lambda: full(transport))
        waiting = asyncio.create_task(transport.send(ask(2, "never/sent")))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        last = asyncio.create_task(transport.send(ask(3, "test/next")))
        assert await blocking == answered(1, next="test/next")
        last.cancel()
        with pytest.raises(asyncio.CancelledError):
            await last


async def test_cancelling_after_the_answer_came_says_nothing(server: Server) -> None:
    script = "answer(read()); answer(read(), seen='request'); read()"
    async with closing(server(script)) as transport:
        sending = asyncio.create_task(transport.send(ask(1)))
        await until(lambda: transport._talk is not None and transport._talk.answered)
        sending.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await sending
        assert await transport.send(ask(2)) == answered(2, seen="request")


async def test_cancelling_in_the_moment_of_a_failure_prints_nothing(server: Server) -> None:
    noticed: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: noticed.append(context))
    async with closing(server("read(); for_ever()", grace=0.1)) as transport:
        sends = [asyncio.create_task(transport.send(ask(n, text="x" * 2**20))) for n in range(3)]
        await until(lambda: full(transport, 3))
        transport._talk.give_up(lambda: TransportClosed("gone"))
        sends[2].cancel()  # while it waits for room, with its future failed already
        with pytest.raises(asyncio.CancelledError):
            await sends[2]
        await asyncio.gather(*sends[:2], return_exceptions=True)
    del sends
    gc.collect()
    assert noticed == []


@pytest.mark.case("L07")
async def test_a_server_that_dies_of_a_cancellation_is_started_again(server: Server) -> None:
    script = """
        r = read()
        if r["id"] == 2: answer(r)
        say({"method": "notifications/working"})
        if read()["method"] == "notifications/cancelled": sys.exit(1)
    """
    working = asyncio.Event()
    async with closing(server(script)) as transport:
        transport.listener = lambda message: working.set()
        sending = asyncio.create_task(transport.send(ask(1)))
        await working.wait()
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending
        await until(lambda: over(transport))
        assert await transport.send(ask(2)) == answered(2)


async def test_cancelling_while_the_process_starts_leaves_none_behind(server: Server) -> None:
    transport = server(ECHO)
    sending = asyncio.create_task(transport.send(ask()))
    await asyncio.sleep(0)
    sending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await sending
    await transport.close()
    assert not psutil.Process().children(recursive=True)


# -- close ----------------------------------------------------------------------------------------

ENDINGS = {
    "exits at end of input": "answer(read(), pid=os.getpid()); read()",
    "ignores end of input": "answer(read(), pid=os.getpid()); for_ever()",
    "ignores SIGTERM": """
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        answer(read(), pid=os.getpid()); for_ever()
    """,
    "has a child that holds the pipes": """
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        answer(read(), pid=child.pid); read()
    """,
    "has a child that ignores SIGTERM": """
        code = ("import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
                "print(1, flush=True); time.sleep(60)")
        child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
        child.stdout.readline()
        answer(read(), pid=child.pid); for_ever()
    """,
}


@pytest.mark.case("P07", "P08")
@pytest.mark.must("C36")
@pytest.mark.skipif(sys.platform == "win32", reason="signals and process groups")
@pytest.mark.parametrize("script", ENDINGS.values(), ids=ENDINGS)
async def test_close_ends_the_process_and_its_children_in_bounded_time(
    server: Server, script: str
) -> None:
    transport = server(script, grace=0.2)
    response = await transport.send(ask())
    assert response is not None
    pid = response["result"]["pid"]
    assert runs(pid)
    async with asyncio.timeout(2):
        await transport.close()
    await until(lambda: not runs(pid))


class SlowToLetGo(ServerProcess):
    def _signal(self, number: signal.Signals) -> bool:
        """By the time it returns the process has ended, and the event loop has not looked yet."""
        reached = super()._signal(number)
        wait_until(lambda: number != LAST_SIGNAL or not runs(self._pid))
        return reached


@pytest.mark.skipif(sys.platform == "win32", reason="signals and process groups")
async def test_how_a_server_ended_that_had_to_be_killed_is_heard(
    caplog: pytest.LogCaptureFixture,
) -> None:
    stubborn = (
        "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint(1, flush=True)\n"
    )
    up = asyncio.Event()
    process = SlowToLetGo(lambda chunk: up.set(), lambda: None)
    await process.start([sys.executable, "-c", stubborn + "while True: signal.pause()"], {}, None)
    await up.wait()
    await process.stop(grace=0.05)
    assert process.exit_code == -signal.SIGKILL
    assert not caplog.records


@pytest.mark.must("C36")
async def test_a_server_has_time_to_end_well(server: Server, tmp_path: Path) -> None:
    script = """
        answer(read())
        sys.stdin.buffer.read()
        open("saved", "w").close()
    """
    transport = server(script, cwd=tmp_path)
    await transport.send(ask())
    await transport.close()
    assert (tmp_path / "saved").exists()


@pytest.mark.case("P18")
@pytest.mark.must("C11")
async def test_close_works_from_any_task_in_any_order_and_again(server: Server) -> None:
    first, second = server(ECHO), server(ECHO)
    await asyncio.create_task(first.send(ask()))  # type: ignore[arg-type]
    await second.send(ask())
    await first.close()
    await asyncio.gather(second.close(), second.close(), asyncio.create_task(second.close()))
    await first.close()
    assert not psutil.Process().children(recursive=True)


async def test_closing_what_was_never_used_is_fine() -> None:
    transport = StdioTransport(["nope-xyz"])
    await transport.close()
    assert isinstance(await failure(transport.send(ask())), TransportClosed)


async def test_close_fails_what_waits_and_whatever_comes(server: Server) -> None:
    transport = server("read(); say({'method': 'x'}); for_ever()", grace=0.1)
    working = asyncio.Event()
    transport.listener = lambda message: working.set()
    waiting = asyncio.create_task(transport.send(ask(1)))
    await working.wait()
    _, error = await asyncio.gather(transport.close(), failure(waiting))
    assert isinstance(error, TransportClosed)
    late = await failure(transport.send(ask(2)))
    assert isinstance(late, TransportClosed)
    assert "closed" in str(late)


async def test_close_while_a_process_starts_leaves_none_behind(server: Server) -> None:
    transport = server(ECHO, grace=0.3)
    sending = asyncio.create_task(failure(transport.send(ask())))
    await asyncio.sleep(0)
    await transport.close()
    assert isinstance(await sending, TransportClosed)
    assert not psutil.Process().children(recursive=True)


@pytest.mark.case("P10")
@pytest.mark.skipif(sys.platform == "win32", reason="kills with a signal")
async def test_a_client_that_is_killed_takes_its_servers_with_it(tmp_path: Path) -> None:
    echo, client = tmp_path / "echo.py", tmp_path / "client.py"
    echo.write_text(PRELUDE + "while True: answer(read(), pid=os.getpid())")
    client.write_text(f"""
import asyncio, sys
from mini_agent.mcp.stdio import StdioTransport
async def main():
    both = [StdioTransport([sys.executable, {str(echo)!r}]) for _ in range(2)]
    for transport in both:
        response = await transport.send({{"jsonrpc": "2.0", "id": 1, "method": "x"}})
        print(response["result"]["pid"], flush=True)
    await asyncio.Event().wait()
asyncio.run(main())
""")
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(client), stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    pids = [int(await process.stdout.readline()) for _ in range(2)]
    assert all(map(runs, pids))
    process.kill()
    await process.wait()
    await until(lambda: not any(map(runs, pids)))


@pytest.mark.parametrize("flags", [[], ["-X", "dev"]])
def test_who_forgets_to_close_is_not_sprayed_with_tracebacks(
    tmp_path: Path, flags: list[str]
) -> None:
    echo, client = tmp_path / "echo.py", tmp_path / "client.py"
    echo.write_text(PRELUDE + "while True: answer(read(), pid=os.getpid())")
    client.write_text(f"""
import asyncio, sys
from mini_agent.mcp.stdio import StdioTransport
async def main():
    transport = StdioTransport([sys.executable, {str(echo)!r}])
    response = await transport.send({{"jsonrpc": "2.0", "id": 1, "method": "x"}})
    print(response["result"]["pid"])
asyncio.run(main())
""")
    command = [sys.executable, *flags, str(client)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True)
    if flags:  # developer mode reports what was left open, and that is its purpose
        assert "Traceback" not in done.stderr and "Exception ignored" not in done.stderr
    else:
        assert done.stderr == ""
    wait_until(lambda: not runs(int(done.stdout)))


# -- another event loop ---------------------------------------------------------------------------


def test_another_event_loop_is_told_so_at_once_and_its_close_ends_the_process(
    server: Server,
) -> None:
    transport = server("while True: answer(read(), pid=os.getpid())")
    response = asyncio.run(transport.send(ask()))
    assert response is not None
    pid = response["result"]["pid"]
    with pytest.raises(RuntimeError, match="another event loop"):
        asyncio.run(transport.send(ask(2)))
    assert runs(pid)
    asyncio.run(transport.close())
    wait_until(lambda: not runs(pid))
    asyncio.run(transport.close())
    with contextlib.suppress(ChildProcessError):  # since 3.12 it is the closed loop's to reap
        os.waitpid(pid, 0)


def test_close_from_another_loop_while_a_server_is_being_ended_waits_for_nothing(
    server: Server,
) -> None:
    transport = server("answer(read(), pid=os.getpid())\nfor_ever()", grace=60.0)
    loop = asyncio.new_event_loop()
    response = loop.run_until_complete(transport.send(ask()))
    ending = loop.create_task(transport.close())
    loop.run_until_complete(asyncio.sleep(0))
    asyncio.run(transport.close())
    assert response is not None
    wait_until(lambda: not runs(response["result"]["pid"]))
    loop.run_until_complete(ending)
    loop.close()


# -- hook, trace ----------------------------------------------------------------------------------


async def test_on_start_is_awaited_on_each_new_process_before_anything_else(
    server: Server,
) -> None:
    async def greet(send: Any) -> None:
        greeting = await send(ask("hello", "test/hello"))
        assert greeting["result"]["first"] is True

    script = "a = read(); answer(a, first=a['method'] == 'test/hello'); answer(read()); sys.exit()"
    async with closing(server(script, on_start=greet)) as transport:
        for number in range(3):
            assert await transport.send(ask(number)) == answered(number)
            await until(lambda: over(transport))


async def test_a_greeting_that_fails_is_tried_again_on_a_fresh_process(server: Server) -> None:
    tries = []

    async def greet(send: Any) -> None:
        tries.append(await send(ask("hello")))
        if len(tries) == 1:
            raise JsonRpcError(-32601, "not yet")

    async with closing(server(ECHO, on_start=greet)) as transport:
        assert isinstance(await failure(transport.send(ask(1))), JsonRpcError)
        assert await transport.send(ask(2)) == answered(2)
    assert len(tries) == 2
    assert not psutil.Process().children(recursive=True)


async def test_close_ends_a_greeting_that_waits(server: Server) -> None:
    asked = asyncio.Event()

    async def greet(send: Any) -> None:
        asked.set()
        await send(ask("hello"))

    transport = server("read(); for_ever()", on_start=greet, grace=0.2)
    sending = asyncio.create_task(failure(transport.send(ask())))
    await asked.wait()
    await transport.close()
    assert isinstance(await sending, TransportClosed)


async def test_the_trace_ties_each_answer_to_the_call_that_asked(server: Server) -> None:
    trace = Trace()

    async def call(number: int) -> None:
        with following(f"call {number}"):
            await transport.send(ask(number))

    async with closing(
        server("a = read(); answer(read()); say({'method': 'x'}); answer(a); read()")
    ) as transport:
        transport.trace = trace
        await asyncio.gather(call(1), call(2))
    events = [(e.what, e.facts.get("message", {}).get("id"), e.call) for e in trace.events]
    assert sorted(events, key=str) == sorted(
        [
            ("sent", 1, "call 1"), ("sent", 2, "call 2"), ("received", None, ""),
            ("received", 1, "call 1"), ("received", 2, "call 2"), ("closed", None, ""),
        ],
        key=str,
    )  # fmt: skip


async def test_what_is_known_to_have_no_reader_is_not_written(server: Server) -> None:
    async with closing(server(ECHO, grace=0.1)) as transport:
        await transport.send(ask(1))
        process = transport._talk.process  # type: ignore[union-attr]
        process._stdin.abort()  # as asyncio does when the reader is gone; it tells a turn later
        assert process._writable
        assert not process.write(b"{}\n")
