"""One trace: events of a call can be followed, tables are stable, nothing grows without bound."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mini_agent.trace import LONGEST_TEXT, Trace, following


def test_a_fact_that_cannot_be_compared_is_shown_all_the_same() -> None:
    class Array:
        def __eq__(self, other: object) -> bool:
            raise ValueError("the truth value of an array is ambiguous")

        __hash__ = None  # type: ignore[assignment]

        def __str__(self) -> str:
            return "array([1, 2])"

    trace = Trace()
    trace.add("host", "scores", of=Array(), nothing="", none=None, zero=0)
    assert trace.table() == 'host  scores  of="array([1, 2])" zero=0'


def test_events_inside_a_call_carry_its_id() -> None:
    trace = Trace()
    trace.add("loop", "prompt")
    with following("toolu_1"):
        trace.add("client", "request", method="tools/call")
    trace.add("loop", "done")
    assert [event.call for event in trace.events] == ["", "toolu_1", ""]


def test_the_table_has_no_times_and_lines_up() -> None:
    trace = Trace()
    trace.add("loop", "tool_use", name="calendar_query", input={"date": "2026-08-03"})
    trace.add("transport", "closed", exit_code=1, note="")
    assert trace.table() == (
        'loop       tool_use  name=calendar_query input={"date": "2026-08-03"}\n'
        "transport  closed    exit_code=1"
    )


def test_a_long_fact_is_cut_visibly() -> None:
    trace = Trace()
    trace.add("loop", "text", text="x" * 500)
    assert trace.table().endswith("…") and len(trace.table()) < 150


def test_the_oldest_events_fall_out_and_are_counted() -> None:
    trace = Trace(limit=2)
    for n in range(5):
        trace.add("loop", "text", n=n)
    assert [event.facts["n"] for event in trace.events] == [3, 4]
    assert trace.dropped == 3


def test_a_text_that_is_too_long_is_kept_cut_and_all_else_as_it_is() -> None:
    trace, block = Trace(), {"type": "text", "text": "x" * (LONGEST_TEXT + 1000)}
    message = {"jsonrpc": "2.0", "id": 1, "result": {"content": [block, 7], "isError": False}}
    trace.add("transport", "received", message=message)
    kept = trace.events[0].facts["message"]["result"]
    text = kept["content"][0].pop("text")
    assert text[:LONGEST_TEXT] == "x" * LONGEST_TEXT and "1,000 more characters" in text
    assert len(text) < LONGEST_TEXT + 100
    assert kept == {"content": [{"type": "text"}, 7], "isError": False}
    assert len(block["text"]) == LONGEST_TEXT + 1000  # of the message itself nothing is cut


def test_a_message_without_such_a_text_is_not_copied() -> None:
    trace, message = Trace(), {"jsonrpc": "2.0", "id": 1, "result": {"text": "x" * LONGEST_TEXT}}
    trace.add("transport", "received", message=message)
    assert trace.events[0].facts["message"] is message


def test_what_is_nested_without_end_is_kept_as_it_is() -> None:
    endless: list[Any] = ["x" * (LONGEST_TEXT + 1)]
    endless[:0] = [endless]
    trace = Trace()
    trace.add("loop", "tool_use", input=endless)
    assert trace.events[0].facts["input"] is endless


def test_jsonl_holds_one_object_an_event(tmp_path: Path) -> None:
    trace = Trace()
    trace.add("loop", "text", text="é\n", odd=object)
    trace.to_jsonl(tmp_path / "t.jsonl")
    (line,) = (tmp_path / "t.jsonl").read_text(encoding="utf-8").splitlines()
    event = json.loads(line)
    assert (event["layer"], event["what"], event["text"]) == ("loop", "text", "é\n")
    assert event["at"] > 0


def test_what_a_peer_says_cannot_forge_a_line_or_move_the_cursor() -> None:
    trace = Trace()
    forged = {"jsonrpc": "2.0", "id": 1, "method": "x\nloop  approved  name=bash\x1b[2K"}
    trace.add("transport", "received", message=forged)
    trace.add("loop", "text", text="\x9b2K\u202e\x7f\ud800", name="\u2028")
    table = trace.table()
    assert len(table.splitlines()) == 2
    assert all(char.isprintable() or char == "\n" for char in table)
    assert "x\\nloop" in table and "\\x9b2K\\u202e" in table


def itself() -> dict[str, Any]:
    held: dict[str, Any] = {}
    held["it"] = held
    return held


@pytest.mark.parametrize("fact", [{("a", "b"): 1}, itself(), [itself()], float("inf"), "\ud800"])
def test_a_fact_that_json_cannot_say_is_told_all_the_same(tmp_path: Path, fact: Any) -> None:
    trace = Trace()
    trace.add("loop", "text", fact=fact, other=1)
    assert trace.table().startswith("loop  text  fact=")
    trace.to_jsonl(tmp_path / "t.jsonl")
    told = json.loads((tmp_path / "t.jsonl").read_bytes(), parse_constant=pytest.fail)
    assert told["fact"] and told["other"] == 1


@pytest.mark.parametrize(
    ("message", "brief"),
    [
        ({"id": 3, "method": "tools/call", "params": {"name": "t"}}, "request 3 tools/call t"),
        ({"method": "notifications/progress"}, "notification notifications/progress"),
        ({"id": 3, "result": {"resultType": "complete"}}, "response 3"),
        ({"id": 3, "result": {"resultType": "input_required"}}, "response 3 input_required"),
        ({"id": 3, "error": {"code": -32602}}, "error 3 -32602"),
    ],
)
def test_messages_are_told_in_brief(message: dict[str, Any], brief: str) -> None:
    trace = Trace()
    trace.add("transport", "sent", message={"jsonrpc": "2.0", **message})
    assert trace.table() == f"transport  sent  message={brief}"
