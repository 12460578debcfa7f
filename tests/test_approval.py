"""Who says yes: rules, approvers, and a question that nobody can dress up."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import io
import json
import os
import select
import subprocess
import sys
from collections.abc import Iterator
from typing import Any, TextIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mini_agent.agent import run_agent
from mini_agent.approval import (
    DROPPED,
    Approver,
    Policy,
    Rule,
    ask_in_terminal,
    calendar_policy,
    deny_bash_by_default,
    guard,
    question,
    scripted,
)
from mini_agent.keyboard import Lines
from mini_agent.model_client import ScriptedModel
from mini_agent.types import Approval, Text, Tool, ToolCall, ToolResult, ToolSpec
from mini_agent.visible import MOST_LEVELS, visible, visible_json


def call(name: str, **arguments: Any) -> ToolCall:
    return ToolCall("t1", name, arguments)


async def answer(given: Any) -> Approval:
    approval: Approval = await given if asyncio.iscoroutine(given) else given
    return approval


# -- rules ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "approved"), [("bash", False), ("read", True), ("Bash", True)])
def test_bash_is_denied_by_its_name(name: str, approved: bool) -> None:
    approval = deny_bash_by_default(call(name))
    assert approval.approved is approved and bool(approval.reason) is not approved


POLICY = Policy(
    [
        Rule("read_*", "allow", why="reads"),
        Rule("*", "deny", server="untrusted", why="not reviewed"),
        Rule("drop", "deny"),
        Rule("write", "ask", server="files", why="writes"),
        Rule("write", "allow"),
    ]
)


@pytest.mark.parametrize(
    ("server", "tool", "decision", "why"),
    [
        ("any", "read_file", "allow", "reads"),
        ("untrusted", "read_file", "allow", "reads"),  # the first match wins
        ("untrusted", "other", "deny", "not reviewed"),
        ("any", "drop", "deny", ""),
        ("files", "write", "ask", "writes"),
        ("Files", "write", "allow", ""),
        ("any", "READ_file", "ask", "no rule names this tool"),
        ("any", "drop2", "ask", "no rule names this tool"),
        ("", "", "ask", "no rule names this tool"),
    ],
)
def test_the_first_rule_that_matches_decides(
    server: str, tool: str, decision: str, why: str
) -> None:
    rule = POLICY.decide(server, tool)
    assert (rule.decision, rule.why) == (decision, why)


def test_what_no_rule_names_falls_to_the_default() -> None:
    assert Policy([], default="deny").decide("s", "t").decision == "deny"
    assert Policy([]).decide("s", "t").decision == "ask"


@pytest.mark.parametrize("word", ["Allow", "yes", "", "allow ", None, True])
def test_a_decision_that_is_none_is_refused(word: Any) -> None:
    with pytest.raises(ValueError, match="allow, ask or deny"):
        Rule("t", word)
    with pytest.raises(ValueError, match="allow, ask or deny"):
        Policy([], default=word)


def test_rules_and_policies_cannot_be_changed_afterwards() -> None:
    rules = [Rule("t", "deny")]
    policy = Policy(rules)
    rules.insert(0, Rule("t", "allow"))
    assert policy.decide("", "t").decision == "deny"
    with pytest.raises(dataclasses.FrozenInstanceError):
        policy.default = "allow"  # type: ignore[misc]


# -- guard ----------------------------------------------------------------------------------------

ALLOW, DENY, ASK = (Policy([Rule("*", word, why="because")]) for word in ("allow", "deny", "ask"))


@pytest.mark.parametrize(
    ("policy", "approver", "approved", "says"),
    [
        (ALLOW, None, True, "because"),
        (ALLOW, scripted([False]), True, "because"),
        (DENY, None, False, "because"),
        (DENY, scripted([True]), False, "because"),
        (ASK, None, False, "nobody is here"),
        (ASK, scripted([True]), True, "yes"),
        (ASK, scripted([False]), False, "no"),
        (ASK, scripted([]), False, "run out"),
        (Policy([Rule("*", "deny")]), None, False, "policy"),
        (Policy([]), None, False, "no rule names this tool"),
    ],
)
async def test_a_guard_holds_a_call_to_the_policy(
    policy: Policy, approver: Approver | None, approved: bool, says: str
) -> None:
    approval = await answer(guard(policy, approver)(call("t")))
    assert approval.approved is approved and says in approval.reason


@pytest.mark.parametrize("as_coroutine", [False, True])
async def test_the_approver_gets_the_call_and_the_reason(as_coroutine: bool) -> None:
    seen: list[Any] = []

    def approve(c: ToolCall, why: str) -> Approval:
        seen.append((c, why))
        return Approval(True, "ok")

    async def approve_later(c: ToolCall, why: str) -> Approval:
        await asyncio.sleep(0)
        return approve(c, why)

    approver = approve_later if as_coroutine else approve
    approval = await answer(guard(ASK, approver)(call("t", a=1)))
    assert approval == Approval(True, "ok") and seen == [(call("t", a=1), "because")]


async def test_a_guard_speaks_for_one_server() -> None:
    policy = Policy([Rule("t", "allow", server="mine")], default="deny")
    assert (await answer(guard(policy, server="mine")(call("t")))).approved
    assert not (await answer(guard(policy, server="other")(call("t")))).approved
    assert not (await answer(guard(policy)(call("t")))).approved


@pytest.mark.parametrize(
    ("options", "decisions"),
    [
        ({}, ("allow", "deny", "deny", "ask")),
        ({"create": "ask"}, ("allow", "ask", "deny", "ask")),
        ({"create": "allow", "delete": "ask"}, ("allow", "allow", "ask", "ask")),
    ],
)
def test_the_calendars_policy(options: Any, decisions: tuple[str, ...]) -> None:
    policy = calendar_policy(**options)
    tools = ("calendar_query", "calendar_create", "calendar_delete", "calendar_purge")
    assert tuple(policy.decide("calendar", tool).decision for tool in tools) == decisions
    assert all(policy.decide("calendar", tool).why for tool in tools)


@pytest.mark.must("C91")
async def test_a_denied_write_never_reaches_the_tool_and_the_model_reads_why() -> None:
    async def create(arguments: dict[str, Any]) -> ToolResult:
        raise AssertionError("it ran")

    model = ScriptedModel([[call("calendar_create")], [Text("I may not.")]])
    result = await run_agent(
        "go",
        model=model,
        tools=[Tool(ToolSpec("calendar_create", ""), create)],
        before_tool_call=guard(calendar_policy()),
    )
    assert "writes an appointment" in result.messages[2]["content"][0]["content"]


# -- scripted -------------------------------------------------------------------------------------


def test_scripted_answers_come_in_order_and_then_it_is_no() -> None:
    approve = scripted([True, Approval(False, "not today"), False])
    given = [approve(call("t"), "") for _ in range(5)]
    assert [a.approved for a in given] == [True, False, False, False, False]  # type: ignore[union-attr]
    assert given[1] == Approval(False, "not today")
    assert given[3] == given[4] and given[3] != given[2]


@pytest.mark.parametrize("word", ["yes", 1, None])
def test_a_scripted_answer_that_is_none_is_a_misuse(word: Any) -> None:
    with pytest.raises(TypeError):
        scripted([True, word])


# -- the terminal ---------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("typed", "approved"),
    [
        ("y\n", True),
        ("Y\n", True),
        (" yes \n", True),
        ("n\n", False),
        ("\n", False),
        ("", False),
        ("yy\n", False),
        ("ok\n", False),
        ("no\ny\n", False),
        ("\x1b[Ay\n", False),
    ],
)
async def test_only_y_is_yes_in_a_terminal(typed: str, approved: bool) -> None:
    approval = await answer(ask_in_terminal(Terminal(typed), Terminal())(call("t"), "why"))
    assert approval.approved is approved and "terminal" in approval.reason


@pytest.mark.parametrize(
    ("stdin", "stdout"), [(io.StringIO, Terminal), (Terminal, io.StringIO), (io.StringIO,) * 2]
)
async def test_where_there_is_no_terminal_the_answer_is_no(stdin: Any, stdout: Any) -> None:
    shown = stdout()
    approval = await answer(ask_in_terminal(stdin("y\n"), shown)(call("t"), "why"))
    assert not approval.approved and "no terminal" in approval.reason
    assert shown.getvalue() == ""


def test_a_piped_yes_is_nobodys_word() -> None:
    code = (
        "import asyncio\n"
        "from mini_agent.approval import ask_in_terminal\n"
        "from mini_agent.types import ToolCall\n"
        "print(asyncio.run(ask_in_terminal()(ToolCall('t', 'bash', {}), '')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input="y\n", capture_output=True, text=True, check=True
    )
    assert "approved=False" in done.stdout


@pytest.mark.must("C91")
async def test_the_whole_call_is_shown() -> None:
    shown = Terminal()
    arguments = {"z": "x" * 5000, "a": {"list": [1, None, True, 1.5]}, "n": "line\nbreak", "ü": "☀"}
    await answer(
        ask_in_terminal(Terminal("n\n"), shown)(ToolCall("t1", "send", arguments), "it sends")
    )
    text = shown.getvalue()
    assert "Tool: send\n" in text and "it sends" in text and text.endswith("Allow send? [y/N] ")
    body = text[text.index("{") : text.rindex("}") + 1]
    assert json.loads(body) == arguments
    assert body.index('"a"') < body.index('"n"') < body.index('"z"')


class Watched(Terminal):
    """A screen that says when the question is on it."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = asyncio.Event()

    def write(self, text: str) -> int:
        if "[y/N]" in text:
            self.asked.set()
        return super().write(text)


@contextlib.contextmanager
def keyboard() -> Iterator[tuple[int, TextIO]]:
    """A pseudo-terminal: where a person types, and the stdin that a program has of it."""
    person, ours = os.openpty()
    with os.fdopen(ours, "r") as stdin:
        yield person, stdin
    os.close(person)


needs_a_pty = pytest.mark.skipif(not hasattr(os, "openpty"), reason="no pseudo-terminals here")


@needs_a_pty
async def test_the_event_loop_goes_on_while_a_person_thinks() -> None:
    screen = Watched()
    with keyboard() as (person, stdin):
        asking = asyncio.ensure_future(answer(ask_in_terminal(stdin, screen)(call("t"), "")))
        await screen.asked.wait()
        assert not asking.done() and DROPPED not in screen.getvalue()
        os.write(person, b"y\n")
        assert (await asking).approved


@needs_a_pty
@pytest.mark.parametrize("typed", [b"y\n", b"thanks\ny\nyes\n", b"y", b"\x04", b"y\n" * 1000])
async def test_what_was_typed_before_the_question_does_not_answer_it(typed: bytes) -> None:
    screen = Watched()
    with keyboard() as (person, stdin):
        os.write(person, typed)
        asking = asyncio.ensure_future(answer(ask_in_terminal(stdin, screen)(call("t"), "")))
        await screen.asked.wait()
        os.write(person, b"\n")
        assert not (await asking).approved
        assert (DROPPED in screen.getvalue()) is (typed != b"y")


@needs_a_pty
async def test_a_paste_that_is_still_coming_in_does_not_answer_the_question() -> None:
    screen, paste = Watched(), b"y\n" * 20_000
    with keyboard() as (person, stdin):
        os.set_blocking(person, False)
        loop, left = asyncio.get_running_loop(), bytearray(paste)

        def take_the_echo() -> None:
            with contextlib.suppress(BlockingIOError):
                os.read(person, 65536)

        def type_more() -> None:
            with contextlib.suppress(BlockingIOError):
                del left[: os.write(person, left[:4096])]

        os.write(person, b"look at this\n")
        assert await Lines(stdin).read() == "look at this\n"
        loop.add_reader(person, take_the_echo)
        loop.add_writer(person, type_more)
        asking = asyncio.ensure_future(answer(ask_in_terminal(stdin, screen)(call("t"), "")))
        await screen.asked.wait()
        loop.remove_writer(person)
        loop.remove_reader(person)
        assert not left and not asking.done()
        os.write(person, b"\n")
        assert not (await asking).approved


@needs_a_pty
async def test_what_a_reader_before_us_has_buffered_does_not_answer_the_question() -> None:
    screen = Watched()
    with keyboard() as (person, stdin):
        os.write(person, b"first\n")
        assert stdin.read(1) == "f"  # "irst" and its newline are in Python's buffer now
        asking = asyncio.ensure_future(answer(ask_in_terminal(stdin, screen)(call("t"), "")))
        await screen.asked.wait()
        assert not asking.done()
        os.write(person, b"y\n")
        assert (await asking).approved


@needs_a_pty
async def test_half_a_line_and_ctrl_d_leave_the_event_loop_free() -> None:
    screen = Watched()
    with keyboard() as (person, stdin):
        asking = asyncio.ensure_future(answer(ask_in_terminal(stdin, screen)(call("t"), "")))
        await screen.asked.wait()
        os.write(person, b"y\x04")
        assert select.select([stdin], [], [], 10)[0]  # the kernel hands it on in its own time
        for _ in range(20):
            await asyncio.sleep(0)  # the asker takes what there is, and has no whole line
        assert not select.select([stdin], [], [], 0)[0] and not asking.done()
        os.write(person, b"\x04")
        assert (await asking).approved  # the whole of what was typed is "y"


@needs_a_pty
async def test_a_terminal_that_hangs_up_says_no() -> None:
    screen = Watched()
    person, ours = os.openpty()
    with os.fdopen(ours, "r") as stdin:
        asking = asyncio.ensure_future(answer(ask_in_terminal(stdin, screen)(call("t"), "")))
        await screen.asked.wait()
        os.close(person)
        assert not (await asking).approved


@needs_a_pty
@pytest.mark.parametrize(("length", "cut"), [(4094, False), (4095, True), (9000, True)])
async def test_a_line_that_the_terminal_cut_is_known_to_be_cut(length: int, cut: bool) -> None:
    with keyboard() as (person, stdin):
        for start in range(0, length, 1000):
            os.write(person, b"x" * min(1000, length - start))
            with contextlib.suppress(BlockingIOError):
                os.set_blocking(person, False)
                os.read(person, 65536)  # the echo
            os.set_blocking(person, True)
        os.write(person, b"\n")
        lines = Lines(stdin)
        assert len(await lines.read()) == min(length, 4095) + 1 and lines.cut is cut


async def test_lines_of_a_pipe_come_one_by_one_and_the_last_needs_no_end() -> None:
    there, here = os.pipe()
    os.write(here, "grüße\n\nlast ".encode() + b"\xff")
    os.close(here)
    with os.fdopen(there, "r", encoding="utf-8") as stdin:
        lines = Lines(stdin)
        read = [await lines.read() for _ in range(5)]
    assert read == ["grüße\n", "\n", "last \N{REPLACEMENT CHARACTER}", "", ""]


@pytest.mark.parametrize("streams", ["in", "out", "both"])
async def test_a_program_without_a_console_approves_nothing(
    streams: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", None if streams != "out" else Terminal("y\n"))
    monkeypatch.setattr(sys, "stdout", None if streams != "in" else Terminal())
    assert not (await answer(ask_in_terminal()(call("t"), ""))).approved


async def test_a_closed_stdin_approves_nothing() -> None:
    stdin = Terminal("y\n")
    stdin.close()
    assert not (await answer(ask_in_terminal(stdin, Terminal())(call("t"), ""))).approved


@pytest.mark.parametrize("levels", [MOST_LEVELS, 100_000])
async def test_what_cannot_be_shown_cannot_be_approved(levels: int) -> None:
    approve = ask_in_terminal(Terminal("y\n"), Terminal())
    approval = await answer(approve(call("t", a=nested(levels)), ""))
    assert not approval.approved and "nested too deeply" in approval.reason


def test_as_many_levels_as_are_shown_are_shown_in_full() -> None:
    shown = visible_json({"a": nested(MOST_LEVELS - 1)})  # the object around it is a level too
    assert shown.count("[") == shown.count("]") == MOST_LEVELS - 1


def nested(levels: int) -> list[Any]:
    deep: list[Any] = []
    for _ in range(levels - 1):
        deep = [deep]
    return deep


@needs_a_pty
def test_a_question_can_be_cancelled_and_nothing_waits_for_the_person() -> None:
    code = (
        "import asyncio, io\n"
        "from mini_agent.approval import ask_in_terminal\n"
        "from mini_agent.types import ToolCall\n"
        "class Terminal(io.StringIO):\n"
        "    def isatty(self): return True\n"
        "async def main():\n"
        "    approve = ask_in_terminal(stdout=Terminal())\n"
        "    try: await asyncio.wait_for(approve(ToolCall('t', 'bash', {}), ''), 0.5)\n"
        "    except TimeoutError: print('gave up')\n"
        "asyncio.run(main())"
    )
    person, theirs = os.openpty()
    done = subprocess.run(
        [sys.executable, "-c", code], stdin=theirs, capture_output=True, text=True, timeout=20
    )
    os.close(person)
    os.close(theirs)
    assert done.stdout == "gave up\n", done.stderr


# -- text that wants to be seen as something else -------------------------------------------------

SPOOFS = {
    "erase the line and write another": "\x1b[2K\rAllow? (safe)",
    "move the cursor up": "rm -rf /\x1b[1A\x1b[2K",
    "a terminal title": "\x1b]0;safe\x07",
    "a hyperlink": "\x1b]8;;http://evil\x1b\\click\x1b]8;;\x1b\\",
    "C1 CSI": "\x9b2K",
    "backspaces": "rm\x08\x08ls",
    "carriage return": "rm -rf /\rls      ",
    "delete": "a\x7f",
    "NUL": "a\0b",
    "right-to-left override": "\u202egpj.exe",
    "bidi isolate": "\u2066x\u2069",
    "right-to-left mark": "a\u200fb",
    "zero-width space": "re\u200bad",
    "zero-width joiner": "re\u200dad",
    "word joiner": "re\u2060ad",
    "byte order mark": "\ufeffread",
    "soft hyphen": "re\u00adad",
    "tag characters": "read\U000e0072\U000e006d",
    "variation selector": "read\ufe0f\U000e0101",
    "hangul filler": "read\u3164",
    "braille blank": "read\u2800",
    "no-break space": "read\u00a0file",
    "line separator": "a\u2028b",
    "paragraph separator": "a\u2029b",
    "next line": "a\x85b",
    "vertical tab and form feed": "a\x0b\x0cb",
    "lone surrogate": "a\ud800",
    "a newline and a forged question": "x\nTool: read\nAllow read? [y/N] y",
    "a tab": "a\tb",
}


@pytest.mark.parametrize("what", SPOOFS)
@pytest.mark.parametrize("where", ["name", "key", "value", "deep", "why"])
@pytest.mark.case("X03")
def test_nothing_in_a_call_can_act_on_the_screen(what: str, where: str) -> None:
    text = SPOOFS[what]
    tool_call, why = {
        "name": (ToolCall("t", text, {}), ""),
        "key": (ToolCall("t", "n", {text: 1}), ""),
        "value": (ToolCall("t", "n", {"a": text}), ""),
        "deep": (ToolCall("t", "n", {"a": [{"b": [text]}]}), ""),
        "why": (ToolCall("t", "n", {}), text),
    }[where]
    shown = question(tool_call, why)
    plain = question(
        *{
            "name": (ToolCall("t", "NAME", {}), ""),
            "key": (ToolCall("t", "n", {"KEY": 1}), ""),
            "value": (ToolCall("t", "n", {"a": "V"}), ""),
            "deep": (ToolCall("t", "n", {"a": [{"b": ["V"]}]}), ""),
            "why": (ToolCall("t", "n", {}), "WHY"),
        }[where]
    )
    assert all(char.isprintable() or char == "\n" for char in shown)
    assert shown.count("\n") == plain.count("\n")
    assert "\\" in shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text", "plain text"),
        ("Grüße ☀ 日本語 😀 مرحبا", "Grüße ☀ 日本語 😀 مرحبا"),
        ("\x1b[2K\rAllow? (safe)", "\\x1b[2K\\rAllow? (safe)"),
        ("\u202e", "\\u202e"),
        ("\U000e0041", "\\U000e0041"),
        ("\x9b", "\\x9b"),
        ("\ud800", "\\ud800"),
        ("a\nb", "a\\nb"),
        ("\u2800\ufe0f", "\\u2800\\ufe0f"),
        ("", ""),
    ],
)
def test_a_hidden_character_becomes_its_escape(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_newlines_stay_where_they_are_wanted_and_nothing_else_does() -> None:
    assert visible("a\nb\r\x1b", keep_newlines=True) == "a\nb\\r\\x1b"


@settings(deadline=None)
@given(text=st.text(st.characters(exclude_categories=())))
def test_no_text_at_all_gets_a_character_through_that_is_not_printed(text: str) -> None:
    assert visible(text).isprintable()
    assert visible(visible(text)) == visible(text)


def test_arguments_are_shown_the_same_however_they_were_ordered() -> None:
    assert visible_json({"b": 1, "a": {"d": 2, "c": 3}}) == visible_json(
        {"a": {"c": 3, "d": 2}, "b": 1}
    )
    assert visible_json({"a": object}).count("class") == 1
