"""The audit log: what is kept, what is left out, and what becomes of a record that is lost."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import signal
import stat
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_servers.calendar import calendar_server
from fake_servers.memory import InMemoryTransport
from mini_agent.agent import run_agent
from mini_agent.approval import calendar_policy
from mini_agent.audit import AuditLog, AuditRecord, read_audit, unfinished
from mini_agent.errors import AuditError, McpError
from mini_agent.host import Host
from mini_agent.mcp.client import McpClient
from mini_agent.model_client import ScriptedModel
from mini_agent.types import Text, ToolCall
from mini_agent.visible import BLANKS

CREATE = AuditRecord(
    call="toolu_1",
    server="calendar",
    tool="calendar.create",
    exposed="calendar_create",
    arguments={"title": "Dentist", "date": "2026-08-03"},
    protocol_version="2026-07-28",
    server_release="calendar 1.4.2",
    schema_hash="sha256:00",
    user="ann",
    decision="ask",
    reason="approved in the terminal",
)
DONE = replace(CREATE, duration=0.25, outcome="ok")


def log_to(path: Path, **options: Any) -> AuditLog:
    return AuditLog(path, clock=iter(range(1, 10_000)).__next__, **options)


def numbered(number: int) -> AuditRecord:
    return replace(CREATE, call=f"toolu_{number}")


# -- what is kept ---------------------------------------------------------------------------------


def test_a_call_leaves_its_decision_its_intent_and_its_outcome(tmp_path: Path) -> None:
    log = log_to(tmp_path / "audit.jsonl")
    log.decision(CREATE)
    log.intent(CREATE)
    log.outcome(DONE)
    records = read_audit(log.path)
    assert [(record.kind, record.at) for record in records] == [
        ("decision", 1), ("intent", 2), ("outcome", 3),
    ]  # fmt: skip
    (run,) = {record.run for record in records}
    told = [replace(record, kind="", at=0.0, run="") for record in records]
    assert run and told == [CREATE, CREATE, DONE]


def test_every_line_is_one_object_with_its_keys_in_the_order_of_the_fields(tmp_path: Path) -> None:
    log = log_to(tmp_path / "a")
    log.intent(CREATE)
    log.outcome(DONE)
    *lines, end = log.path.read_bytes().split(b"\n")
    assert (len(lines), end) == (2, b"")
    for line in lines:
        assert list(json.loads(line)) == [item.name for item in fields(AuditRecord)]


def test_what_is_there_is_only_added_to(tmp_path: Path) -> None:
    log_to(tmp_path / "a").intent(CREATE)
    before = (tmp_path / "a").read_bytes()
    log_to(tmp_path / "a").intent(CREATE)
    assert (tmp_path / "a").read_bytes().startswith(before)
    assert len({record.run for record in read_audit(tmp_path / "a")}) == 2


def test_an_intent_is_on_the_disk_before_it_returns(tmp_path: Path) -> None:
    synced: list[tuple[str, int]] = []

    def fsync(descriptor: int) -> None:
        held = "names" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file"
        synced.append((held, len(read_audit(log.path))))

    log = log_to(tmp_path / "a", fsync=fsync)
    log.decision(CREATE)
    assert synced == []
    log.intent(CREATE)
    assert synced == [("file", 2), ("names", 2)]  # a new file is to be found again, too
    log.outcome(CREATE)
    log.intent(CREATE)
    assert synced[2:] == [("file", 4)]
    log.path.unlink()
    log.intent(CREATE)
    assert synced[3:] == [("file", 1), ("names", 1)]


@pytest.mark.parametrize("umask", [0o000, 0o077])
def test_only_its_owner_may_read_the_file(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        log_to(tmp_path / "a").intent(CREATE)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o600


def test_a_log_that_recorded_nothing_makes_no_file(tmp_path: Path) -> None:
    AuditLog(tmp_path / "a")
    assert list(tmp_path.iterdir()) == []


@given(text=st.text(st.characters(exclude_categories=())))
def test_any_text_comes_back_and_nothing_in_the_file_acts_on_a_screen(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    log = log_to(tmp_path_factory.mktemp("audit") / "a")
    log.intent(
        replace(CREATE, arguments={"note": [text, {"k": "\x1b[2J\u202e\U000e0041\u2028\u3164"}]})
    )
    (record,) = read_audit(log.path)
    assert record.arguments["note"][1] == {"k": "\x1b[2J\u202e\U000e0041\u2028\u3164"}
    assert record.arguments["note"][0] == log._redactor.text(text)
    (line,) = log.path.read_text("utf-8").split("\n")[:-1]
    assert line.isprintable() and not BLANKS & set(line)


def test_a_long_argument_is_kept_whole(tmp_path: Path) -> None:
    body = "x" * 5_000_000 + "; rm -rf /"
    log = log_to(tmp_path / "a")
    log.intent(replace(CREATE, arguments={"body": body}))
    assert read_audit(log.path)[0].arguments == {"body": body}


# -- what is left out -----------------------------------------------------------------------------


def test_no_secret_is_in_any_field_of_the_file(tmp_path: Path) -> None:
    texts = [item.name for item in fields(AuditRecord) if item.type == "str"]
    for name in set(texts) - {"run"}:
        record = replace(CREATE, **{name: "x hunter2 Bearer xyzzy https://ann:pw@h/p?q=sesame"})
        log = log_to(tmp_path / name, secrets=["hunter2"])
        log.intent(record)
        log.outcome(record)
        written = log.path.read_text()
        assert not any(secret in written for secret in ("hunter2", "xyzzy", "pw@", "sesame")), name
        assert getattr(read_audit(log.path)[0], name).startswith("x [redacted] Bearer [redacted]")


def test_secrets_in_nested_arguments_and_in_an_errors_text_are_left_out(tmp_path: Path) -> None:
    error = McpError('401 for https://ann:pw@h/p?q=sesame, sent {"apiKey": "hunter2"}')
    arguments = {"to": [{"password": "hunter2", "day": "monday"}], "note": "Bearer hunter2"}
    log = log_to(tmp_path / "a")
    log.outcome(replace(CREATE, arguments=arguments, reason=str(error)))
    assert not any(word in log.path.read_text() for word in ("hunter2", "pw", "sesame"))
    (record,) = read_audit(log.path)
    assert record.arguments["to"] == [{"password": "[redacted]", "day": "monday"}]


def test_the_record_given_is_not_changed(tmp_path: Path) -> None:
    record = replace(CREATE, arguments={"password": "hunter2"})
    log_to(tmp_path / "a").intent(record)
    assert record.arguments == {"password": "hunter2"} and record.kind == ""


# -- a record that is lost ------------------------------------------------------------------------


def cannot_be_written(folder: Path) -> dict[str, tuple[Path, int]]:
    (folder / "read_only").write_bytes(b"")
    (folder / "read_only").chmod(0o444)
    (folder / "file").write_bytes(b"")
    os.mkfifo(folder / "pipe")
    return {
        "full": (Path("/dev/full"), errno.ENOSPC),
        "read-only": (folder / "read_only", errno.EACCES),
        "no folder": (folder / "none" / "a", errno.ENOENT),
        "below a file": (folder / "file" / "a", errno.ENOTDIR),
        "a folder": (folder, errno.EISDIR),
        "a pipe": (folder / "pipe", errno.ESPIPE),
    }


WAYS = ["full", "read-only", "no folder", "below a file", "a folder", "a pipe"]
needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")


@needs_full
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", ["decision", "intent", "outcome"])
def test_a_record_that_is_lost_is_an_error_naming_file_and_cause(
    tmp_path: Path, way: str, kind: str
) -> None:
    path, number = cannot_be_written(tmp_path)[way]
    with pytest.raises(AuditError) as caught:
        getattr(log_to(path), kind)(CREATE)
    cause = caught.value.__cause__
    assert caught.value.path == path
    assert isinstance(cause, OSError) and cause.errno == number
    assert str(path) in str(caught.value) and str(cause.strerror) in str(caught.value)


def test_an_intent_that_the_disk_does_not_confirm_is_lost(tmp_path: Path) -> None:
    def fails(_: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    log = log_to(tmp_path / "a", fsync=fails)
    with pytest.raises(AuditError) as caught:
        log.intent(CREATE)
    assert isinstance(caught.value.__cause__, OSError)
    log.outcome(DONE)


@pytest.mark.parametrize("value", [float("nan"), object(), {1, 2}])
def test_arguments_that_json_cannot_say_are_an_error_and_nothing_is_written(
    tmp_path: Path, value: Any
) -> None:
    with pytest.raises(AuditError):
        log_to(tmp_path / "a", secrets=["x"]).intent(replace(CREATE, arguments={"a": value}))
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize("field", [{"user": None}, {"arguments": []}, {"duration": "1"}])
def test_a_field_that_could_not_be_read_back_is_not_written(
    tmp_path: Path, field: dict[str, Any]
) -> None:
    with pytest.raises(AuditError) as caught:
        log_to(tmp_path / "a").intent(replace(CREATE, **field))
    assert isinstance(caught.value.__cause__, TypeError)
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize("field", ["call", "tool", "exposed", "reason", "outcome", "decision"])
def test_a_record_with_nothing_in_a_field_is_an_error_that_names_the_field(
    tmp_path: Path, field: str
) -> None:
    with pytest.raises(AuditError, match=f"{field} is of type NoneType.*; mend the record first"):
        log_to(tmp_path / "a").outcome(replace(AuditRecord(), **{field: None}))


def test_arguments_nested_without_end_are_an_error_and_no_secret_gets_out(
    tmp_path: Path,
) -> None:
    endless: list[Any] = ["hunter2"]
    endless.append(endless)
    lost: list[AuditRecord] = []
    log = log_to(tmp_path / "a", on_lost=lambda record, _: lost.append(record))
    log.intent(replace(CREATE, arguments={"a": endless}, reason="Bearer hunter2"))
    assert lost[0].arguments == {} and lost[0].reason == "Bearer [redacted]"


def test_the_separate_channel_is_given_the_redacted_record_and_the_error(tmp_path: Path) -> None:
    lost: list[tuple[AuditRecord, AuditError]] = []
    log = log_to(tmp_path / "none" / "a", on_lost=lambda *both: lost.append(both))
    log.intent(replace(CREATE, arguments={"password": "hunter2"}))
    ((record, error),) = lost
    assert (record.kind, record.at, record.call) == ("intent", 1, "toolu_1")
    assert record.arguments == {"password": "[redacted]"}
    assert error.path == log.path and isinstance(error.__cause__, FileNotFoundError)


def test_the_separate_channel_can_be_another_log(tmp_path: Path) -> None:
    other = log_to(tmp_path / "other")
    log = log_to(tmp_path / "none" / "a", on_lost=lambda record, _: other.intent(record))
    log.intent(CREATE)
    assert [record.call for record in read_audit(other.path)] == ["toolu_1"]


def test_a_separate_channel_that_fails_too_is_an_error(tmp_path: Path) -> None:
    def no_pager(record: AuditRecord, error: AuditError) -> None:
        raise ConnectionRefusedError("no pager")

    log = log_to(tmp_path / "none" / "a", on_lost=no_pager)
    with pytest.raises(AuditError) as caught:
        log.intent(CREATE)
    assert isinstance(caught.value.__cause__, ConnectionRefusedError)
    assert isinstance(caught.value.__cause__.__context__, FileNotFoundError)
    assert str(log.path) in str(caught.value) and "ConnectionRefusedError" in str(caught.value)


def test_a_separate_channel_that_would_have_to_be_awaited_is_refused(tmp_path: Path) -> None:
    async def pager(record: AuditRecord, error: AuditError) -> None: ...

    with pytest.raises(TypeError):
        AuditLog(tmp_path / "a", on_lost=pager)  # type: ignore[arg-type]


def test_what_can_be_written_again_is_written_again(tmp_path: Path) -> None:
    log = log_to(tmp_path / "later" / "a")
    with pytest.raises(AuditError):
        log.intent(CREATE)
    (tmp_path / "later").mkdir()
    log.intent(CREATE)
    assert [record.kind for record in read_audit(log.path)] == ["intent"]


def test_the_names_in_an_error_cannot_act_on_a_screen(tmp_path: Path) -> None:
    with pytest.raises(AuditError) as caught:
        log_to(tmp_path / "none" / "a").intent(replace(CREATE, exposed="x\x1b[2J\u202e\n"))
    assert str(caught.value).isprintable()


# -- torn lines -----------------------------------------------------------------------------------


def torn(records: list[AuditRecord]) -> list[str]:
    return [record.reason for record in records if record.kind == "torn"]


def test_a_last_line_cut_anywhere_loses_nothing_before_it_and_is_reported(tmp_path: Path) -> None:
    log = log_to(tmp_path / "a")
    log.intent(CREATE)
    log.outcome(DONE)
    whole = log.path.read_bytes()
    first = whole.index(b"\n") + 1
    for end in range(first + 1, len(whole) - 1):
        log.path.write_bytes(whole[:end])
        records = read_audit(log.path)
        assert [record.kind for record in records] == ["intent", "torn"]
        assert records[1].reason.startswith("line 2 has no end: it was cut by a crash")
        assert [record.call for record in unfinished(records)] == ["toolu_1"]


def test_only_the_line_break_missing_is_a_whole_record(tmp_path: Path) -> None:
    log = log_to(tmp_path / "a")
    log.intent(CREATE)
    log.path.write_bytes(log.path.read_bytes()[:-1])
    log.outcome(DONE)
    assert [record.kind for record in read_audit(log.path)] == ["intent", "outcome"]


def test_after_a_torn_line_the_next_record_starts_on_a_fresh_one(tmp_path: Path) -> None:
    log = log_to(tmp_path / "a")
    log.intent(CREATE)
    log.outcome(DONE)
    log.path.write_bytes(log.path.read_bytes()[:-20])
    before = log.path.read_bytes()
    log.intent(numbered(2))
    assert log.path.read_bytes().startswith(before + b"\n")
    records = read_audit(log.path)
    assert [(record.kind, record.call) for record in records] == [
        ("intent", "toolu_1"), ("torn", ""), ("intent", "toolu_2"),
    ]  # fmt: skip
    assert records[1].reason.startswith("line 2 is no record")


BROKEN = {
    "no json": b"{oops",
    "a list": b"[1]",
    "a number": b"1",
    "a torn tail": b'mit", "duration": null}',
    "not utf-8": b'{"kind": "\xff"}',
    "an unknown kind": b'{"kind": "guess"}',
    "no kind": b"{}",
    "a kind that is a list": b'{"kind": ["intent"]}',
    "a call that is a number": b'{"kind": "intent", "call": 7}',
    "arguments that are a list": b'{"kind": "intent", "arguments": []}',
    "too deep": b"[" * 100_000,
    "what acts on a screen": b"\x1b[2J\xe2\x80\xae",
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_line_in_the_middle_that_is_no_record_is_reported_in_its_place(
    tmp_path: Path, what: str
) -> None:
    log = log_to(tmp_path / "a")
    log.intent(CREATE)
    with log.path.open("ab") as file:
        file.write(BROKEN[what] + b"\n")
    log.outcome(DONE)
    records = read_audit(log.path)
    assert [record.kind for record in records] == ["intent", "torn", "outcome"]
    (reason,) = torn(records)
    assert reason.startswith("line 2 ") and reason.isprintable() and len(reason) < 600
    assert unfinished(records) == []


def test_a_field_of_a_later_version_is_no_fault(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b'{"kind": "intent", "call": "1", "new": {}}\n\n')
    assert read_audit(tmp_path / "a") == [AuditRecord(kind="intent", call="1")]


def test_a_file_that_is_not_there_is_not_an_empty_log(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_audit(tmp_path / "a")


HALF_FULL = """
import resource, sys
from dataclasses import replace
from mini_agent.audit import AuditLog, AuditRecord
from mini_agent.errors import AuditError

log = AuditLog(sys.argv[1])
log.intent(AuditRecord(call="1"))
room = log.path.stat().st_size + 50
resource.setrlimit(resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))
try:
    log.outcome(AuditRecord(call="1"))
except AuditError as error:
    print(type(error.__cause__).__name__, log.path.stat().st_size - room)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
log.intent(AuditRecord(call="2"))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit on a file's size")
def test_a_disk_that_fills_up_in_the_middle_of_a_record_costs_that_record_only(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a"
    child = subprocess.run(
        [sys.executable, "-c", HALF_FULL, str(path)], capture_output=True, text=True, check=True
    )
    assert child.stdout == "OSError 0\n"  # the file took 50 bytes of it, and no more
    records = read_audit(path)
    assert [(record.kind, record.call) for record in records] == [
        ("intent", "1"), ("torn", ""), ("intent", "2"),
    ]  # fmt: skip
    assert [record.call for record in unfinished(records)] == ["1", "2"]


# -- a crash between the two ----------------------------------------------------------------------

DIES = """
import sys
from mini_agent.audit import AuditLog, AuditRecord

log = AuditLog(sys.argv[1])
log.intent(AuditRecord(call="1", tool="calendar.query"))
log.outcome(AuditRecord(call="1", tool="calendar.query", outcome="ok"))
log.intent(AuditRecord(call="2", tool="calendar.delete"))
print("sent", flush=True)
sys.stdin.read()
"""


def test_a_process_killed_between_intent_and_outcome_leaves_its_intent_unfinished(
    tmp_path: Path,
) -> None:
    command = [sys.executable, "-c", DIES, str(tmp_path / "a")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None and child.stdout.readline() == b"sent\n"
        child.kill()
        assert child.wait() == -signal.SIGKILL
    (left,) = unfinished(read_audit(tmp_path / "a"))
    assert (left.call, left.tool) == ("2", "calendar.delete")


def test_a_run_with_the_same_ids_finishes_nothing_of_another(tmp_path: Path) -> None:
    one, other = log_to(tmp_path / "a"), log_to(tmp_path / "a")
    one.intent(replace(CREATE, user="ann"))
    other.intent(replace(CREATE, user="bob"))
    one.outcome(replace(DONE, user="ann"))
    assert [record.user for record in unfinished(read_audit(tmp_path / "a"))] == ["bob"]


def test_an_outcome_ends_the_latest_intent_of_its_call(tmp_path: Path) -> None:
    log = log_to(tmp_path / "a")
    log.intent(replace(CREATE, reason="first"))
    log.intent(replace(CREATE, reason="second"))
    log.outcome(DONE)
    log.outcome(replace(DONE, server="mail"))
    assert [record.reason for record in unfinished(read_audit(log.path))] == ["first"]


def test_unfinished_intents_come_oldest_first() -> None:
    calls = ["b", "a", "c", "a"]
    records = [AuditRecord(kind="intent", call=call, user=str(n)) for n, call in enumerate(calls)]
    assert [record.user for record in unfinished(records)] == ["0", "1", "2", "3"]
    assert unfinished([]) == unfinished([AuditRecord(kind="outcome")]) == []


# -- at once --------------------------------------------------------------------------------------


async def test_64_calls_at_once_leave_64_whole_intents_and_outcomes(tmp_path: Path) -> None:
    log = AuditLog(tmp_path / "a")

    async def call(number: int) -> None:
        record = replace(numbered(number), arguments={"note": "x" * 20_000})
        await asyncio.to_thread(log.intent, record)
        await asyncio.to_thread(log.outcome, record)

    await asyncio.gather(*map(call, range(64)))
    records = read_audit(log.path)
    assert torn(records) == [] and unfinished(records) == []
    assert len({(record.kind, record.call) for record in records}) == len(records) == 128
    assert b"\n\n" not in log.path.read_bytes()


MANY = """
import sys
from mini_agent.audit import AuditLog, AuditRecord

log = AuditLog(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
for number in range(200):
    log.intent(AuditRecord(call=str(number), arguments={"note": "x" * 30_000}))
"""


def test_two_processes_on_one_file_do_not_tear_each_others_records(tmp_path: Path) -> None:
    command = [sys.executable, "-c", MANY, str(tmp_path / "a")]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, **pipes) as one, subprocess.Popen(command, **pipes) as two:  # type: ignore[call-overload]
        for child in (one, two):
            assert child.stdout.readline() == b"ready\n"
        for child in (one, two):
            child.stdin.write(b"go\n")
            child.stdin.flush()
    records = read_audit(tmp_path / "a")
    assert torn(records) == []
    assert len({(record.run, record.call) for record in records}) == len(records) == 400


# -- behind a host --------------------------------------------------------------------------------


async def asks_for_today(host: Host) -> None:
    call = ToolCall("toolu_1", "calendar_query", {"date": "2026-08-03"})
    model = ScriptedModel([[call], [Text("Three.")]])
    await run_agent(
        "What is on?", model=model, tools=host.tools, before_tool_call=host.before_tool_call
    )


def was_called(transport: InMemoryTransport) -> bool:
    return any(entry.message.get("method") == "tools/call" for entry in transport.transcript)


@pytest.mark.parametrize("taken", [False, True])
async def test_a_call_whose_intent_is_lost_is_not_made_unless_another_channel_takes_it(
    tmp_path: Path, taken: bool
) -> None:
    def fails(_: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    lost: list[AuditRecord] = []
    on_lost = (lambda record, error: lost.append(record)) if taken else None
    log = AuditLog(tmp_path / "a", fsync=fails, on_lost=on_lost)
    transport = InMemoryTransport(calendar_server())
    async with Host(
        {"calendar": McpClient(transport)}, policy=calendar_policy(), audit=log
    ) as host:
        if taken:
            await asks_for_today(host)
        else:
            with pytest.raises(AuditError):
                await asks_for_today(host)
    assert was_called(transport) is taken
    assert [record.kind for record in lost] == (["intent"] if taken else [])


HOST_DIES = """
import asyncio, sys
from fake_servers.core import Server
from fake_servers.declare import Tool
from fake_servers.memory import InMemoryTransport
from mini_agent.agent import run_agent
from mini_agent.approval import Policy
from mini_agent.audit import AuditLog
from mini_agent.host import Host
from mini_agent.mcp.client import McpClient
from mini_agent.model_client import ScriptedModel
from mini_agent.types import ToolCall

async def pay(arguments, context):
    print("sent", flush=True)
    await asyncio.Event().wait()

async def main():
    client = McpClient(InMemoryTransport(Server("bank", "2.1", tools=[Tool("pay", "Pays.", pay)])))
    log, policy = AuditLog(sys.argv[1]), Policy([], default="allow")
    async with Host({"bank": client}, policy=policy, audit=log, user="ann") as host:
        model = ScriptedModel([[ToolCall("1", "bank_pay", {"amount": 9})]])
        await run_agent("Go.", model=model, tools=host.tools,
                        before_tool_call=host.before_tool_call)

asyncio.run(main())
"""


def test_a_host_killed_during_a_call_leaves_what_it_had_sent_and_for_whom(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOST_DIES, str(tmp_path / "a")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None and child.stdout.readline() == b"sent\n"
        child.kill()
    (left,) = unfinished(read_audit(tmp_path / "a"))
    assert (left.server, left.tool, left.exposed) == ("bank", "pay", "bank_pay")
    assert (left.arguments, left.user, left.server_release) == ({"amount": 9}, "ann", "bank 2.1")
    assert left.protocol_version and left.schema_hash
