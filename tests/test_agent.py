"""The loop: whatever its tools, hooks and model do, the conversation stays well formed."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mini_agent.agent import (
    CANCELLED,
    FAILED,
    NOT_RUN,
    SKIPPED,
    Decided,
    ToolFinished,
    run_agent,
)
from mini_agent.calls import SKIPPED_AFTER_CANCEL
from mini_agent.model_client import ScriptedModel
from mini_agent.session import SessionError, check_message, load_session
from mini_agent.trace import Trace
from mini_agent.types import Approval, Done, Text, Tool, ToolCall, ToolResult, ToolSpec


class Boom(Exception):
    """A host failure with a detail that the model must not see."""


def tool(name: str, execute: Callable[[dict[str, Any]], Awaitable[Any]]) -> Tool:
    return Tool(ToolSpec(name, f"the tool {name}"), execute)


def returning(name: str, result: Any) -> Tool:
    async def execute(arguments: dict[str, Any]) -> Any:
        return result

    return tool(name, execute)


def raising(name: str, error: BaseException) -> Tool:
    async def execute(arguments: dict[str, Any]) -> ToolResult:
        raise error

    return tool(name, execute)


OK = returning("ok", ToolResult("fine"))
SAYS_NO = returning("says_no", ToolResult("no such day", is_error=True))


def call(name: str, call_id: str = "t1", **arguments: Any) -> ToolCall:
    return ToolCall(call_id, name, arguments)


def results(message: dict[str, Any]) -> list[tuple[str, str, bool]]:
    return [(b["tool_use_id"], b["content"], b["is_error"]) for b in message["content"]]


def assert_well_formed(messages: list[dict[str, Any]]) -> None:
    before = None
    for message in messages:
        check_message(message, after=before)
        before = message


# -- the ordinary way -----------------------------------------------------------------------------


async def test_an_answer_without_tools_is_one_turn() -> None:
    model = ScriptedModel([[Text("Hel"), Text("lo")]])
    result = await run_agent("hi", model=model, tools=[], system="be brief")
    assert (result.text, result.stop_reason) == ("Hello", "end_turn")
    assert result.messages == [
        {"role": "user", "content": [{"type": "text", "text": "hi"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "Hello"}]},
    ]
    assert model.requests[0].system == "be brief"


async def test_a_tools_result_goes_back_to_the_model_in_anthropics_shape() -> None:
    model = ScriptedModel([[Text("Let me see."), call("ok", day="mon")], [Text("Done.")]])
    result = await run_agent("go", model=model, tools=[OK])
    use = {"type": "tool_use", "id": "t1", "name": "ok", "input": {"day": "mon"}}
    answer = {"type": "tool_result", "tool_use_id": "t1", "content": "fine", "is_error": False}
    assert result.messages[1:3] == [
        {"role": "assistant", "content": [{"type": "text", "text": "Let me see."}, use]},
        {"role": "user", "content": [answer]},
    ]
    assert model.requests[1].messages == result.messages[:3]
    assert model.requests[0].tools == [OK.spec]
    assert result.text == "Done."


async def test_a_tool_error_is_shown_to_the_model_and_the_loop_goes_on() -> None:
    model = ScriptedModel([[call("says_no"), call("ok", "t2")], [Text("I see.")]])
    result = await run_agent("go", model=model, tools=[OK, SAYS_NO])
    assert results(result.messages[2]) == [("t1", "no such day", True), ("t2", "fine", False)]
    assert result.stop_reason == "end_turn"


async def test_any_stop_reason_without_a_call_ends_the_run() -> None:
    model = ScriptedModel([[Text("..."), Done("pause_turn")]])
    assert (await run_agent("go", model=model, tools=[])).stop_reason == "pause_turn"


async def test_a_call_runs_whatever_the_stop_reason_is_called() -> None:
    model = ScriptedModel([[call("ok"), Done("end_turn")], [Text("so")]])
    result = await run_agent("go", model=model, tools=[OK])
    assert results(result.messages[2]) == [("t1", "fine", False)]


async def test_an_invented_tool_name_is_answered_with_the_names_that_exist() -> None:
    asked: list[str] = []

    def hook(c: ToolCall) -> Approval:
        asked.append(c.name)
        return Approval(True)

    model = ScriptedModel([[call("nope"), call("ok", "t2")], [Text("sorry")]])
    result = await run_agent("go", model=model, tools=[OK, SAYS_NO], before_tool_call=hook)
    (_, content, is_error), second = results(result.messages[2])
    assert is_error and all(name in content for name in ("nope", "ok", "says_no"))
    assert second == ("t2", "fine", False)
    assert asked == ["ok"]


@pytest.mark.parametrize("blank", [[], [Text("")], [Text(" \n")]])
async def test_a_turn_that_says_nothing_leaves_no_empty_message(blank: list[Text]) -> None:
    result = await run_agent("go", model=ScriptedModel([blank]), tools=[])
    assert [m["role"] for m in result.messages] == ["user"]
    assert result.text == ""


async def test_blank_text_before_a_call_is_left_out_since_the_service_refuses_it() -> None:
    model = ScriptedModel([[Text("\n\n"), call("ok")], [Text("x")]])
    result = await run_agent("go", model=model, tools=[OK])
    assert [b["type"] for b in result.messages[1]["content"]] == ["tool_use"]


# -- limits ---------------------------------------------------------------------------------------


async def test_max_turns_stops_after_the_last_turns_calls_are_answered() -> None:
    model = ScriptedModel([[Text("again"), call("ok", f"t{n}")] for n in range(9)])
    result = await run_agent("go", model=model, tools=[OK], max_turns=3)
    assert (result.stop_reason, result.text, len(model.requests)) == ("max_turns", "again", 3)
    assert results(result.messages[-1]) == [("t2", "fine", False)]


async def test_an_answer_in_the_last_allowed_turn_is_an_ordinary_end() -> None:
    model = ScriptedModel([[call("ok")], [Text("done")]])
    assert (await run_agent("go", model=model, tools=[OK], max_turns=2)).stop_reason == "end_turn"


@pytest.mark.parametrize("reason", ["max_tokens", "model_context_window_exceeded", "refusal"])
async def test_calls_of_an_answer_that_was_cut_are_not_run(reason: str) -> None:
    model = ScriptedModel([[Text("I"), call("boom"), call("boom", "t2"), Done(reason)]])
    tools = [raising("boom", Boom())]
    result = await run_agent("go", model=model, tools=tools)
    assert result.stop_reason == reason
    assert results(result.messages[-1]) == [("t1", NOT_RUN, True), ("t2", NOT_RUN, True)]


@pytest.mark.parametrize("turns", [0, -1])
async def test_max_turns_below_one_is_a_misuse(turns: int) -> None:
    with pytest.raises(ValueError, match="max_turns"):
        await run_agent("go", model=ScriptedModel([]), tools=[], max_turns=turns)


async def test_an_empty_prompt_is_a_misuse_and_reaches_no_session(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="prompt"):
        await run_agent(" ", model=ScriptedModel([]), tools=[], session_path=tmp_path / "s")
    assert not (tmp_path / "s").exists()


async def test_two_tools_of_one_name_are_refused_at_start() -> None:
    model = ScriptedModel([])
    with pytest.raises(ValueError, match="ok"):
        await run_agent("go", model=model, tools=[OK, SAYS_NO, OK])
    assert model.requests == []


async def test_the_tools_may_be_any_iterable() -> None:
    model = ScriptedModel([[call("ok")], [Text("Done.")]])
    result = await run_agent("go", model=model, tools=(t for t in [OK, SAYS_NO]))
    assert results(result.messages[2]) == [("t1", "fine", False)]
    with pytest.raises(ValueError, match="ok"):
        await run_agent("go", model=ScriptedModel([]), tools=(t for t in [OK, OK]))


async def test_a_model_that_never_says_done_is_refused() -> None:
    class Forgetful:
        async def stream(self, **_: Any) -> Any:
            yield Text("and then")

    with pytest.raises(ValueError, match="Done"):
        await run_agent("go", model=Forgetful(), tools=[])


# -- the exception path ---------------------------------------------------------------------------


async def test_an_exception_out_of_a_tool_is_recorded_and_raised_unchanged(tmp_path: Path) -> None:
    error = Boom("the password is hunter2")
    model = ScriptedModel([[call("ok"), call("boom", "t2"), call("ok", "t3"), call("ok", "t4")]])
    session = tmp_path / "session.jsonl"
    with pytest.raises(Boom) as caught:
        await run_agent("go", model=model, tools=[OK, raising("boom", error)], session_path=session)
    assert caught.value is error
    messages = load_session(session)
    assert results(messages[-1]) == [
        ("t1", "fine", False),
        ("t2", FAILED, True),
        ("t3", SKIPPED, True),
        ("t4", SKIPPED, True),
    ]
    assert "hunter2" not in session.read_text()
    assert FAILED == "tool execution failed"


async def test_a_hook_that_raises_stops_the_call_before_it_runs(tmp_path: Path) -> None:
    ran: list[str] = []
    error = Boom("no policy file")

    async def execute(arguments: dict[str, Any]) -> ToolResult:
        ran.append("ran")
        return ToolResult("")

    def hook(c: ToolCall) -> Approval:
        raise error

    model = ScriptedModel([[call("write"), call("write", "t2")]])
    with pytest.raises(Boom) as caught:
        await run_agent(
            "go", model=model, tools=[tool("write", execute)], before_tool_call=hook,
            session_path=tmp_path / "s",
        )  # fmt: skip
    assert caught.value is error and ran == []
    assert results(load_session(tmp_path / "s")[-1]) == [
        ("t1", FAILED, True),
        ("t2", SKIPPED, True),
    ]


@pytest.mark.parametrize("answer", [None, True, "yes", ("approved",)])
async def test_a_hook_that_returns_no_approval_approves_nothing(answer: Any) -> None:
    model = ScriptedModel([[call("boom")]])
    with pytest.raises(TypeError, match="before_tool_call"):
        await run_agent(
            "go", model=model, tools=[raising("boom", Boom())],
            before_tool_call=lambda c: answer,
        )  # fmt: skip


ODD_RESULTS = [
    None,
    "text",
    {"content": "x"},
    ToolResult(3),  # type: ignore[arg-type]
    ToolResult("x", is_error=None),  # type: ignore[arg-type]
    ToolResult("x", is_error=1),  # type: ignore[arg-type]
]


@pytest.mark.parametrize("result", ODD_RESULTS)
async def test_a_tool_that_returns_no_tool_result_is_the_hosts_fault(
    result: Any, tmp_path: Path
) -> None:
    model = ScriptedModel([[call("odd")]])
    with pytest.raises(TypeError, match="odd"):
        await run_agent(
            "go", model=model, tools=[returning("odd", result)], session_path=tmp_path / "s"
        )
    assert results(load_session(tmp_path / "s")[-1]) == [("t1", FAILED, True)]


def deep(levels: int) -> Any:
    return [deep(levels - 1)] if levels else []


ODD_EVENTS: list[tuple[Any, type[Exception]]] = [
    (ToolCall("t1", "ok", None), TypeError),  # type: ignore[arg-type]
    (ToolCall("t1", "ok", []), TypeError),  # type: ignore[arg-type]
    (ToolCall(1, "ok", {}), TypeError),  # type: ignore[arg-type]
    (ToolCall("t1", None, {}), TypeError),  # type: ignore[arg-type]
    (Text(None), TypeError),  # type: ignore[arg-type]
    (Done(3), TypeError),  # type: ignore[arg-type]
    ("hello", TypeError),
    (call("ok", a=float("inf")), ValueError),
    (call("ok", a=[float("nan")]), ValueError),
    (call("ok", a=10**5000), ValueError),
    (call("ok", a={1: 2}), ValueError),
    (call("ok", a={("x",): 2}), ValueError),
    (call("ok", a=object()), ValueError),
    (call("ok", a=deep(250)), ValueError),
    (call("ok", a="\ud800"), ValueError),
    (call("ok", **{"\ud800": 1}), ValueError),
    (call("\ud800"), ValueError),
    (call("ok", call_id="t0"), ValueError),
]


@pytest.mark.parametrize(("event", "error"), ODD_EVENTS)
async def test_no_call_runs_whose_record_could_not_be_kept(
    event: Any, error: type[Exception], tmp_path: Path
) -> None:
    ran: list[Any] = []

    async def execute(arguments: dict[str, Any]) -> ToolResult:
        ran.append(arguments)
        return ToolResult("")

    model = ScriptedModel([[call("ok", "t0"), event, Done("end_turn")]])
    with pytest.raises(error):
        await run_agent("go", model=model, tools=[tool("ok", execute)], session_path=tmp_path / "s")
    assert ran == [] and [m["role"] for m in load_session(tmp_path / "s")] == ["user"]


# -- saving fails as well -------------------------------------------------------------------------


def unsaveable(folder: Path, then: Callable[[], Awaitable[Any]]) -> Tool:
    """A tool that takes the session's folder away, and goes on with ``then``."""

    async def execute(arguments: dict[str, Any]) -> Any:
        shutil.rmtree(folder)
        return await then()

    return tool("breaks", execute)


async def test_a_failure_stays_itself_when_saving_fails_too(tmp_path: Path) -> None:
    error = Boom("first")

    async def then() -> None:
        raise error

    (folder := tmp_path / "f").mkdir()
    with pytest.raises(Boom) as caught:
        await run_agent(
            "go", model=ScriptedModel([[call("breaks")]]), tools=[unsaveable(folder, then)],
            session_path=folder / "s",
        )  # fmt: skip
    assert caught.value is error
    assert "could not be saved" in error.__notes__[0] and str(folder) in error.__notes__[0]


async def test_saving_that_fails_alone_is_a_session_error(tmp_path: Path) -> None:
    async def then() -> ToolResult:
        return ToolResult("fine")

    (folder := tmp_path / "f").mkdir()
    with pytest.raises(SessionError):
        await run_agent(
            "go", model=ScriptedModel([[call("breaks")]]), tools=[unsaveable(folder, then)],
            session_path=folder / "s",
        )  # fmt: skip


async def test_a_cancel_stays_a_cancel_when_saving_fails_too(tmp_path: Path) -> None:
    (folder := tmp_path / "f").mkdir()
    waits = asyncio.Event()
    breaks = unsaveable(folder, waits.wait)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await run_agent(
                "go", model=ScriptedModel([[call("breaks")]]), tools=[breaks],
                session_path=folder / "s",
            )  # fmt: skip


async def test_a_failure_stays_itself_when_closing_the_models_stream_fails_too() -> None:
    error = Boom("first")

    class Model:
        async def stream(self, **_: Any) -> Any:
            try:
                yield Text("a")
            finally:
                raise OSError("second")

    def on_event(event: Any) -> None:
        raise error

    with pytest.raises(Boom) as caught:
        await run_agent("go", model=Model(), tools=[], on_event=on_event)
    assert caught.value is error and isinstance(error.__cause__, OSError)


async def test_a_failing_event_listener_cannot_lose_a_result(tmp_path: Path) -> None:
    def on_event(event: Any) -> None:
        if isinstance(event, ToolFinished):
            raise Boom

    model = ScriptedModel([[call("ok"), call("ok", "t2")]])
    with pytest.raises(Boom):
        await run_agent(
            "go", model=model, tools=[OK], on_event=on_event, session_path=tmp_path / "s"
        )
    assert results(load_session(tmp_path / "s")[-1]) == [
        ("t1", "fine", False),
        ("t2", SKIPPED, True),
    ]


async def test_a_model_that_fails_mid_turn_leaves_nothing_of_that_turn(tmp_path: Path) -> None:
    error = Boom()
    model = ScriptedModel([[call("ok")], [Text("half"), call("ok", "t2"), error]])
    with pytest.raises(Boom) as caught:
        await run_agent("go", model=model, tools=[OK], session_path=tmp_path / "s")
    assert caught.value is error
    assert [m["role"] for m in load_session(tmp_path / "s")] == ["user", "assistant", "user"]


async def test_the_models_stream_is_closed_when_a_listener_fails() -> None:
    closed = asyncio.Event()

    class Model:
        async def stream(self, **_: Any) -> Any:
            try:
                yield Text("a")
                yield Text("b")
            finally:
                closed.set()

    def on_event(event: Any) -> None:
        raise Boom

    with pytest.raises(Boom):
        await run_agent("go", model=Model(), tools=[], on_event=on_event)
    assert closed.is_set()


# -- cancelling -----------------------------------------------------------------------------------


async def test_cancelling_records_every_call_and_saves(tmp_path: Path) -> None:
    begun = asyncio.Event()

    async def hang(arguments: dict[str, Any]) -> ToolResult:
        begun.set()
        await asyncio.Event().wait()
        raise AssertionError

    model = ScriptedModel([[call("ok"), call("hang", "t2"), call("ok", "t3")]])
    running = asyncio.create_task(
        run_agent("go", model=model, tools=[OK, tool("hang", hang)], session_path=tmp_path / "s")
    )
    await begun.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert results(load_session(tmp_path / "s")[-1]) == [
        ("t1", "fine", False),
        ("t2", CANCELLED, True),
        ("t3", SKIPPED_AFTER_CANCEL, True),
    ]


async def test_cancelling_while_somebody_is_asked_runs_nothing(tmp_path: Path) -> None:
    asked = asyncio.Event()

    async def hook(c: ToolCall) -> Approval:
        asked.set()
        await asyncio.Event().wait()
        return Approval(True)

    model = ScriptedModel([[call("boom")]])
    running = asyncio.create_task(
        run_agent(
            "go",
            model=model,
            tools=[raising("boom", Boom())],
            before_tool_call=hook,
            session_path=tmp_path / "s",
        )
    )
    await asked.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert results(load_session(tmp_path / "s")[-1]) == [("t1", CANCELLED, True)]


async def test_cancelling_while_the_model_speaks_leaves_the_prompt(tmp_path: Path) -> None:
    speaking = asyncio.Event()

    class Model:
        async def stream(self, **_: Any) -> Any:
            yield call("ok")
            speaking.set()
            await asyncio.Event().wait()

    running = asyncio.create_task(
        run_agent("go", model=Model(), tools=[OK], session_path=tmp_path / "s")
    )
    await speaking.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert [m["role"] for m in load_session(tmp_path / "s")] == ["user"]


# -- approval -------------------------------------------------------------------------------------


async def test_a_denied_call_is_an_error_result_with_the_reason_and_the_loop_goes_on() -> None:
    async def hook(c: ToolCall) -> Approval:
        return Approval(c.name == "ok", "not on a Sunday")

    model = ScriptedModel([[call("boom"), call("ok", "t2")], [Text("then not")]])
    result = await run_agent(
        "go", model=model, tools=[OK, raising("boom", Boom())], before_tool_call=hook
    )
    (_, content, is_error), second = results(result.messages[2])
    assert is_error and "not on a Sunday" in content
    assert second == ("t2", "fine", False)
    assert result.stop_reason == "end_turn"


async def test_only_the_word_true_approves() -> None:
    model = ScriptedModel([[call("boom")], [Text("x")]])
    result = await run_agent(
        "go", model=model, tools=[raising("boom", Boom())],
        before_tool_call=lambda c: Approval("no"),  # type: ignore[arg-type]
    )  # fmt: skip
    assert results(result.messages[2])[0][2] is True


async def test_without_a_hook_everything_is_allowed() -> None:
    model = ScriptedModel([[call("ok")], [Text("x")]])
    events: list[Any] = []
    await run_agent("go", model=model, tools=[OK], on_event=events.append)
    assert [e.approval.approved for e in events if isinstance(e, Decided)] == [True]


async def test_what_a_hook_or_listener_does_to_its_copy_changes_nothing() -> None:
    seen: list[dict[str, Any]] = []
    finished: list[ToolCall] = []

    async def execute(arguments: dict[str, Any]) -> ToolResult:
        seen.append(dict(arguments))
        arguments["to"] = "changed by the tool"
        return ToolResult("sent")

    def hook(c: ToolCall) -> Approval:
        c.input["to"] = "changed by the hook"
        return Approval(True)

    def on_event(event: Any) -> None:
        if isinstance(event, ToolCall):
            event.input["to"] = "changed by the listener"
        if isinstance(event, ToolFinished):
            finished.append(event.call)
        if isinstance(event, Decided):
            event.call.input["to"] = "changed by the listener"

    model = ScriptedModel([[call("send", to="me")], [Text("x")]])
    result = await run_agent(
        "go", model=model, tools=[tool("send", execute)], before_tool_call=hook, on_event=on_event
    )
    assert seen == [{"to": "me"}]
    assert finished == [call("send", to="me")]
    assert result.messages[1]["content"][0]["input"] == {"to": "me"}


async def test_calls_are_asked_about_and_run_one_after_another() -> None:
    order: list[str] = []

    async def hook(c: ToolCall) -> Approval:
        order.append(f"ask {c.id}")
        await asyncio.sleep(0)
        order.append(f"said {c.id}")
        return Approval(True)

    async def execute(arguments: dict[str, Any]) -> ToolResult:
        order.append("run")
        await asyncio.sleep(0)
        return ToolResult("")

    model = ScriptedModel([[call("x"), call("x", "t2")], [Text("end")]])
    await run_agent("go", model=model, tools=[tool("x", execute)], before_tool_call=hook)
    assert order == ["ask t1", "said t1", "run", "ask t2", "said t2", "run"]


# -- events and trace -----------------------------------------------------------------------------


@pytest.mark.parametrize("as_coroutine", [False, True])
async def test_every_event_reaches_the_listener_in_order(as_coroutine: bool) -> None:
    events: list[Any] = []

    async def listen(event: Any) -> None:
        await asyncio.sleep(0)
        events.append(event)

    first = call("ok")
    model = ScriptedModel([[Text("a"), Text("b"), first], [Text("c")]])
    on_event = listen if as_coroutine else events.append
    await run_agent("go", model=model, tools=[OK], on_event=on_event)
    assert events == [
        Text("a"),
        Text("b"),
        first,
        Done("tool_use"),
        Decided(first, Approval(True, "no approval hook")),
        ToolFinished(first, ToolResult("fine")),
        Text("c"),
        Done("end_turn"),
    ]


async def test_the_trace_tells_the_whole_round_and_which_call_it_was() -> None:
    trace = Trace()
    inner: list[str] = []

    async def execute(arguments: dict[str, Any]) -> ToolResult:
        trace.add("adapter", "call", tool="lower")
        inner.append("ran")
        return ToolResult("fine")

    def hook(c: ToolCall) -> Approval:
        return Approval(c.id == "t1", "because")

    model = ScriptedModel([[Text("a"), Text("b"), call("x"), call("x", "t2")], [Text("end")]])
    await run_agent(
        "go", model=model, tools=[tool("x", execute)], before_tool_call=hook, trace=trace
    )
    assert [(e.what, e.call) for e in trace.events] == [
        ("prompt", ""),
        ("model_request", ""),
        ("text", ""),
        ("tool_use", "t1"),
        ("tool_use", "t2"),
        ("approved", "t1"),
        ("call", "t1"),
        ("tool_result", "t1"),
        ("denied", "t2"),
        ("tool_result", "t2"),
        ("model_request", ""),
        ("text", ""),
        ("done", ""),
    ]
    by_what = {e.what: dict(e.facts) for e in trace.events}
    assert by_what["denied"] == {"name": "x", "reason": "because"}
    assert by_what["done"] == {"stop_reason": "end_turn"}
    assert [e.facts["text"] for e in trace.events if e.what == "text"] == ["ab", "end"]


async def test_the_trace_names_the_failure_by_its_class_and_what_was_skipped() -> None:
    trace = Trace()
    model = ScriptedModel([[call("boom"), call("ok", "t2")]])
    with pytest.raises(Boom):
        await run_agent("go", model=model, tools=[OK, raising("boom", Boom())], trace=trace)
    tail = [(e.layer, e.what, e.call, dict(e.facts)) for e in trace.events[-2:]]
    assert tail == [
        ("loop", "failed", "t1", {"name": "boom", "error": "Boom"}),
        ("loop", "skipped", "t2", {"name": "ok"}),
    ]


# -- sessions -------------------------------------------------------------------------------------


async def test_a_session_is_resumed_where_it_ended(tmp_path: Path) -> None:
    session = tmp_path / "session.jsonl"
    await run_agent(
        "one", model=ScriptedModel([[call("ok")], [Text("1")]]), tools=[OK], session_path=session
    )
    model = ScriptedModel([[Text("2")]])
    second = await run_agent("two", model=model, tools=[OK], session_path=session)
    assert len(second.messages) == 6
    assert model.requests[0].messages[:4] == load_session(session)[:4]
    assert load_session(session) == second.messages


async def test_a_session_goes_on_after_a_failed_turn(tmp_path: Path) -> None:
    session = tmp_path / "session.jsonl"
    model = ScriptedModel([[call("boom")]])
    with pytest.raises(Boom):
        await run_agent("one", model=model, tools=[raising("boom", Boom())], session_path=session)
    result = await run_agent(
        "two", model=ScriptedModel([[Text("2")]]), tools=[], session_path=session
    )
    assert_well_formed(result.messages)


async def test_a_session_that_cannot_be_kept_fails_before_the_model_is_asked(
    tmp_path: Path,
) -> None:
    model = ScriptedModel([[Text("1")]])
    with pytest.raises(Exception, match="cannot be written"):
        await run_agent("go", model=model, tools=[], session_path=tmp_path / "none" / "s")
    assert model.requests == []


# -- the law --------------------------------------------------------------------------------------

KINDS = ["fine", "tool_error", "denied", "unknown", "raises", "hook_raises", "cancelled"]
EXPECTED = {
    "fine": ("fine", False),
    "tool_error": ("no such day", True),
    "denied": ("denied: no", True),
    "unknown": (None, True),
    "raises": (FAILED, True),
    "hook_raises": (FAILED, True),
    "cancelled": (CANCELLED, True),
}
ENDS_THE_RUN = {"raises": Boom, "hook_raises": Boom, "cancelled": asyncio.CancelledError}


@settings(max_examples=150, deadline=None)
@given(
    batches=st.lists(st.lists(st.sampled_from(KINDS), min_size=1, max_size=5), max_size=4),
    cut_last=st.booleans(),
    max_turns=st.integers(1, 5),
)
def test_every_tool_use_has_exactly_one_tool_result_whatever_happens(
    batches: list[list[str]], cut_last: bool, max_turns: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        session = Path(folder) / "session.jsonl"
        asyncio.run(_run_script(batches, cut_last, max_turns, session))
        messages = load_session(session)
    assert_well_formed(messages)
    answered = [b for m in messages for b in m["content"] if b["type"] == "tool_result"]
    expected = list(_expected(batches, cut_last, max_turns))
    assert [b["tool_use_id"] for b in answered] == [call_id for call_id, _, _ in expected]
    for block, (_, content, is_error) in zip(answered, expected, strict=True):
        assert content is None or block["content"] == content
        assert block["is_error"] is is_error


def _expected(batches: list[list[str]], cut_last: bool, max_turns: int) -> Any:
    for turn, batch in enumerate(batches[:max_turns]):
        ended = ""
        for place, kind in enumerate(batch):
            call_id = f"{turn}.{place}"
            if cut_last and turn == len(batches) - 1:
                yield call_id, NOT_RUN, True
            elif ended:
                after = SKIPPED_AFTER_CANCEL if ended == "cancelled" else SKIPPED
                yield call_id, after, True
            else:
                yield (call_id, *EXPECTED[kind])
                ended = kind if kind in ENDS_THE_RUN else ""
        if ended:
            return


async def _run_script(
    batches: list[list[str]], cut_last: bool, max_turns: int, session: Path
) -> None:
    tools = [
        returning("fine", ToolResult("fine")),
        SAYS_NO,
        returning("tool_error", ToolResult("no such day", is_error=True)),
        returning("denied", ToolResult("never")),
        raising("raises", Boom()),
        returning("hook_raises", ToolResult("never")),
        raising("cancelled", asyncio.CancelledError()),
    ]

    def hook(c: ToolCall) -> Approval:
        if c.name == "hook_raises":
            raise Boom
        return Approval(c.name != "denied", "no")

    turns: list[Any] = [
        [call(kind, f"{turn}.{place}") for place, kind in enumerate(batch)]
        for turn, batch in enumerate(batches)
    ]
    if turns and cut_last:
        turns[-1].append(Done("max_tokens"))
    try:
        result = await run_agent(
            "go",
            model=ScriptedModel([*turns, [Text("end")]]),
            tools=tools,
            before_tool_call=hook,
            max_turns=max_turns,
            session_path=session,
        )
    except (Boom, asyncio.CancelledError):
        return
    assert load_session(session) == result.messages


# -- the layers -----------------------------------------------------------------------------------


def test_the_loop_loads_nothing_of_mcp_and_nothing_heavy() -> None:
    code = (
        "import sys, json, mini_agent.agent\n"
        "heavy = ('mini_agent.mcp', 'httpx', 'anthropic', 'pydantic', 'jsonschema', 'graphviz')\n"
        "print(json.dumps([m for m in sys.modules if m.startswith(heavy)]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert json.loads(done.stdout) == []
