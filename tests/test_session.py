"""A conversation on disk: what is saved comes back, what is broken is named with its line."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mini_agent.session import SessionError, load_session, save_session

TEXT = {"type": "text", "text": "hi"}
USE = {"type": "tool_use", "id": "t1", "name": "look", "input": {"day": "monday"}}
USE_2 = {**USE, "id": "t2"}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "free", "is_error": False}
RESULT_2 = {**RESULT, "tool_use_id": "t2"}


def user(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


WHOLE = [user(TEXT), assistant(TEXT, USE, USE_2), user(RESULT, RESULT_2), assistant(TEXT)]


def test_what_is_saved_comes_back(tmp_path: Path) -> None:
    save_session(tmp_path / "s", WHOLE)
    assert load_session(tmp_path / "s") == WHOLE


def test_a_file_that_is_not_there_is_a_new_conversation(tmp_path: Path) -> None:
    assert load_session(tmp_path / "s") == []


def test_an_empty_conversation_comes_back_empty(tmp_path: Path) -> None:
    save_session(tmp_path / "s", [])
    assert load_session(tmp_path / "s") == []


def test_there_is_one_json_line_a_message_readable_as_it_is(tmp_path: Path) -> None:
    messages = [user({"type": "text", "text": "Grüße\nund \u2028 mehr"}), assistant(TEXT)]
    save_session(tmp_path / "s", messages)
    lines = (tmp_path / "s").read_bytes().split(b"\n")
    assert len(lines) == 3 and lines[-1] == b""
    assert "Grüße".encode() in lines[0]
    assert [json.loads(line) for line in lines[:2]] == messages
    assert load_session(tmp_path / "s") == messages


@settings(deadline=None)
@example(text="\ud800")
@given(text=st.text(st.characters(exclude_categories=()), min_size=1))
def test_any_text_at_all_comes_back_even_a_lone_surrogate(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    path = tmp_path_factory.mktemp("session") / "s"
    messages = [user({"type": "text", "text": text})]
    save_session(path, messages)
    path.read_bytes().decode("utf-8")
    assert load_session(path) == messages


@pytest.mark.parametrize("umask", [0o000, 0o077])
def test_only_its_owner_may_read_it_also_where_others_could_before(
    tmp_path: Path, umask: int
) -> None:
    path = tmp_path / "s"
    path.write_bytes(b"")
    path.chmod(0o644)
    before = os.umask(umask)
    try:
        save_session(path, WHOLE)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_save_that_fails_leaves_the_old_conversation_and_no_litter(tmp_path: Path) -> None:
    path = tmp_path / "s"
    save_session(path, WHOLE)
    with pytest.raises(ValueError):
        save_session(path, [*WHOLE, user({"type": "text", "text": float("nan")})])
    with pytest.raises(TypeError):
        save_session(path, [*WHOLE, user({"type": "text", "text": object()})])
    assert load_session(path) == WHOLE
    (tmp_path / "folder").mkdir()
    with pytest.raises(SessionError):
        save_session(tmp_path / "folder", WHOLE)
    assert sorted(tmp_path.iterdir()) == [tmp_path / "folder", path]


def test_a_reader_never_sees_a_half_written_file(tmp_path: Path) -> None:
    path = tmp_path / "s"
    save_session(path, WHOLE)
    with path.open("rb") as reader:
        save_session(path, [user(TEXT)])
        assert len(reader.read().splitlines()) == len(WHOLE)  # the old file, whole
    assert load_session(path) == [user(TEXT)]


def test_a_link_to_a_session_stays_a_link(tmp_path: Path) -> None:
    real = tmp_path / "real"
    save_session(real, [user(TEXT)])
    (tmp_path / "link").symlink_to(real)
    save_session(tmp_path / "link", WHOLE)
    assert (tmp_path / "link").is_symlink() and load_session(real) == WHOLE


def test_a_folder_that_is_not_there_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(SessionError) as caught:
        save_session(tmp_path / "none" / "s", WHOLE)
    assert (caught.value.path, caught.value.line) == (tmp_path / "none" / "s", 0)


# -- what does not load ---------------------------------------------------------------------------


def lines(*messages: Any) -> bytes:
    return b"".join(json.dumps(message).encode() + b"\n" for message in messages)


GOOD = lines(user(TEXT))
BROKEN: dict[str, tuple[bytes, int]] = {
    "no json": (GOOD + b"{oops\n", 2),
    "a line cut off": (GOOD + lines(assistant(TEXT))[:-9], 2),
    "an empty line": (GOOD + b"\n" + lines(assistant(TEXT)), 2),
    "not utf-8": (GOOD + b'{"role": "\xff"}\n', 2),
    "NaN": (b'{"role": "user", "content": [NaN]}\n', 1),
    "too deep": (b"[" * 100_000 + b"\n", 1),
    "a list": (lines([1]), 1),
    "no role": (lines({"content": [TEXT]}), 1),
    "an unknown role": (lines({"role": "system", "content": [TEXT]}), 1),
    "a role that is a list": (lines({"role": ["user"], "content": [TEXT]}), 1),
    "no content": (lines({"role": "user"}), 1),
    "content that is a string": (lines({"role": "user", "content": "hi"}), 1),
    "empty content": (lines(user()), 1),
    "a block that is a string": (lines(user("hi")), 1),
    "an unknown block": (lines(user({"type": "image"})), 1),
    "a call by the user": (lines(user(USE)), 1),
    "a result by the assistant": (GOOD + lines(assistant(RESULT)), 2),
    "text without text": (lines(user({"type": "text"})), 1),
    "a call without a name": (GOOD + lines(assistant({**USE, "name": None})), 2),
    "a call whose input is a list": (GOOD + lines(assistant({**USE, "input": []})), 2),
    "is_error that is a number": (
        lines(user(TEXT), assistant(USE), user({**RESULT, "is_error": 0})), 3),
    "a result that is a list": (
        lines(user(TEXT), assistant(USE), user({**RESULT, "content": []})), 3),
    "the assistant first": (lines(assistant(TEXT)), 1),
    "a call at the end": (lines(user(TEXT), assistant(USE)), 2),
    "a call without a result": (lines(user(TEXT), assistant(USE), user(TEXT)), 3),
    "one result too few": (lines(user(TEXT), assistant(USE, USE_2), user(RESULT)), 3),
    "one result too many": (lines(user(TEXT), assistant(USE), user(RESULT, RESULT_2)), 3),
    "a result twice": (lines(user(TEXT), assistant(USE), user(RESULT, RESULT)), 3),
    "results in another order": (
        lines(user(TEXT), assistant(USE, USE_2), user(RESULT_2, RESULT)), 3),
    "a result without a call": (lines(user(TEXT), user(RESULT)), 2),
    "a result one message late": (
        lines(user(TEXT), assistant(USE), assistant(TEXT), user(RESULT)), 3),
}  # fmt: skip


@pytest.mark.parametrize("what", BROKEN)
def test_a_line_that_is_wrong_is_named_with_its_file_and_number(what: str, tmp_path: Path) -> None:
    body, line = BROKEN[what]
    path = tmp_path / "session.jsonl"
    path.write_bytes(body)
    with pytest.raises(SessionError) as caught:
        load_session(path)
    assert (caught.value.path, caught.value.line) == (path, line)
    assert str(path) in str(caught.value) and f"line {line}" in str(caught.value)
    assert path.read_bytes() == body


def test_a_directory_is_no_session(tmp_path: Path) -> None:
    with pytest.raises(SessionError) as caught:
        load_session(tmp_path)
    assert (caught.value.path, caught.value.line) == (tmp_path, 0)


def test_a_pipe_is_no_session_and_nobody_waits_for_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(SessionError):
        load_session(tmp_path / "pipe")


def test_a_path_below_a_file_is_an_error_and_not_a_new_conversation(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(SessionError):
        load_session(tmp_path / "file" / "s")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "s").write_bytes(GOOD)
    (tmp_path / "s").chmod(0)
    with pytest.raises(SessionError):
        load_session(tmp_path / "s")


def test_a_file_that_is_read_only_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "s"
    path.write_bytes(GOOD)
    path.chmod(0o444)
    with pytest.raises(SessionError, match="read-only") as caught:
        save_session(path, WHOLE)
    assert (caught.value.path, path.read_bytes()) == (path, GOOD)
    assert [child.name for child in tmp_path.iterdir()] == ["s"]
