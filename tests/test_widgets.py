"""The approval card without a front end: its real buttons, in the event loop, on a fake display."""

from __future__ import annotations

import asyncio
import html
import re
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import ipywidgets as w
import nbformat
import pytest
import traces
from ipywidgets.widgets.widget import _instances
from nbclient import NotebookClient

from mini_agent.approval import HostCall
from mini_agent.card import LONGEST_LINE, Card, facts, seconds
from mini_agent.fields import STYLE, height, how_long
from mini_agent.types import Approval, ToolCall
from mini_agent.visible import visible_json
from mini_agent.widgets import NO_FRONT_END, NO_NOTEBOOK, TOO_DEEP, ask_in_notebook, trace_viewer

WIDGET = "application/vnd.jupyter.widget-view+json"
HOSTILE = (
    '<img src=x onerror="alert(1)"> $\\color{white}{x}$ **b** \x1b[31m\u202e\u200b\u2028\ud800'
)
CALL = ToolCall("toolu_1", "calendar_create", {"title": "Review", "start": "10:00"})


class Desk:
    """Where cards are displayed: remembers what was shown, finds the cards, tells of each."""

    def __init__(self) -> None:
        self.shown: list[dict[str, Any]] = []
        self.cards: asyncio.Queue[w.VBox] = asyncio.Queue()

    def __call__(self, bundle: dict[str, Any]) -> None:
        self.shown.append(bundle)
        if WIDGET in bundle:
            self.cards.put_nowait(widget(bundle))

    def lines(self) -> list[str]:
        return [bundle["text/plain"] for bundle in self.shown]


def widget(bundle: dict[str, Any]) -> Any:
    return _instances[bundle[WIDGET]["model_id"]]


def walk(box: w.Widget) -> Iterator[w.Widget]:
    yield box
    for child in getattr(box, "children", ()):
        yield from walk(child)


def button(box: w.Widget, name: str) -> w.Button:
    return next(b for b in walk(box) if isinstance(b, w.Button) and b.description == name)


def field(box: w.Widget, name: str) -> Any:
    return next(
        f for f in walk(box) if isinstance(f, w.Text | w.Textarea) and f.description == name
    )


def status(box: w.Widget) -> str:
    """What the last line of the card says, without its markup."""
    return html.unescape(re.sub(r"<[^>]*>", "", role(box)))


def role(box: w.Widget) -> str:
    return [each.value for each in walk(box) if isinstance(each, w.HTML)][-1]


async def over_at_once(future: asyncio.Future[Approval], seconds: float) -> None:
    """A clock on which every wait is over at once."""


class Asked:
    """One call in front of a card: ``box`` once it is shown, ``answer`` once it is decided."""

    def __init__(self, approver: Callable[[ToolCall, str], Awaitable[Approval]], **more: Any):
        self.task = asyncio.ensure_future(approver(more.get("call", CALL), more.get("why", "")))

    async def answer(self) -> Approval:
        return await asyncio.wait_for(self.task, 5)


# -- deciding -------------------------------------------------------------------------------------


async def test_a_press_on_approve_lets_the_call_run() -> None:
    desk = Desk()
    asked = Asked(ask_in_notebook(show=desk))
    box = await desk.cards.get()
    button(box, "Approve").click()
    assert await asked.answer() == Approval(True, "approved in the notebook")


async def test_a_press_on_deny_stops_it_for_the_reason_in_the_field() -> None:
    desk = Desk()
    asked = Asked(ask_in_notebook(show=desk))
    box = await desk.cards.get()
    field(box, "Reason").value = "  not on Fridays "
    button(box, "Deny").click()
    assert await asked.answer() == Approval(False, "not on Fridays")


async def test_a_press_handled_on_another_thread_is_decided_in_the_event_loop() -> None:
    desk, threads = Desk(), []
    asked = Asked(ask_in_notebook(show=desk))
    box = await desk.cards.get()
    button(box, "Approve").observe(lambda _: threads.append(threading.get_ident()), "disabled")
    await asyncio.to_thread(button(box, "Approve").click)
    assert (await asked.answer()).approved
    assert threads == [threading.get_ident()]


async def test_nobody_in_time_is_no() -> None:
    desk = Desk()
    approval = await ask_in_notebook(3, show=desk, wait=over_at_once)(CALL, "")
    assert approval == Approval(False, "nobody answered within 3 s")


async def test_the_card_counts_down_and_says_what_happens_at_the_end() -> None:
    desk, seen = Desk(), []

    async def look(future: asyncio.Future[Approval], seconds: float) -> None:
        seen.append((status(await desk.cards.get()), seconds))
        desk.cards.put_nowait(widget(desk.shown[0]))

    await ask_in_notebook(2.5, show=desk, wait=look)(CALL, "")
    assert seen == [
        ("Denied in 2.5 s unless you decide.", 1.0),
        ("Denied in 1.5 s unless you decide.", 1.0),
        ("Denied in 0.5 s unless you decide.", 0.5),
    ]


def test_the_looks_at_the_clock_add_up_to_the_timeout() -> None:
    assert sum(step for _, step in seconds(60)) == 60
    assert [left for left, _ in seconds(2)] == [2, 1]


async def test_nobody_in_time_closes_the_card_and_it_says_so() -> None:
    desk = Desk()
    await ask_in_notebook(3, show=desk, wait=over_at_once)(CALL, "")
    assert status(await desk.cards.get()) == "Denied: nobody answered within 3 s."


async def test_the_real_clock_denies_too() -> None:
    approval = await ask_in_notebook(0.01, show=Desk())(CALL, "")
    assert not approval.approved


async def test_cancelling_the_cell_denies_closes_the_card_and_goes_on_as_cancelled() -> None:
    desk = Desk()
    asked = Asked(ask_in_notebook(show=desk))
    box = await desk.cards.get()
    asked.task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked.answer()
    assert button(box, "Approve").disabled
    assert status(box) == "Denied: the cell was cancelled."
    assert desk.lines()[-1] == "calendar_create: denied, the cell was cancelled"


async def test_a_cell_cancelled_right_after_an_approval_does_not_say_that_the_call_runs() -> None:
    desk = Desk()

    async def approved_then_cancelled(future: asyncio.Future[Approval], seconds: float) -> None:
        button(await desk.cards.get(), "Approve").click()
        await future
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await ask_in_notebook(show=desk, wait=approved_then_cancelled)(CALL, "")
    assert status(widget(desk.shown[0])) == "Denied: the cell was cancelled."


async def test_the_first_answer_counts() -> None:
    desk = Desk()
    asked = Asked(ask_in_notebook(show=desk))
    box = await desk.cards.get()
    button(box, "Deny").click()
    button(box, "Approve").click()
    assert not (await asked.answer()).approved
    button(box, "Approve").click()
    await asyncio.sleep(0)
    assert status(box) == "Denied. The call does not run."


@pytest.mark.parametrize(
    ("name", "said"),
    [("Approve", "Approved. The call runs."), ("Deny", "Denied. The call does not run.")],
)
async def test_a_decided_card_says_so_and_takes_no_other_answer(name: str, said: str) -> None:
    desk = Desk()
    asked = Asked(ask_in_notebook(show=desk))
    box = await desk.cards.get()
    button(box, name).click()
    approval = await asked.answer()
    assert status(box) == said
    assert field(box, "Reason").value == approval.reason
    for each in (button(box, "Approve"), button(box, "Deny"), field(box, "Reason")):
        assert each.disabled


async def test_two_calls_at_once_are_asked_about_one_after_the_other() -> None:
    desk = Desk()
    approver = ask_in_notebook(show=desk)
    first, second = (Asked(approver, call=ToolCall(name, name, {})) for name in ("one", "two"))
    box = await desk.cards.get()
    await asyncio.sleep(0)
    assert desk.cards.empty()
    assert field(box, "Tool").value == "one"
    button(box, "Approve").click()
    assert (await first.answer()).approved
    button(await desk.cards.get(), "Deny").click()
    assert not (await second.answer()).approved


async def test_a_cancelled_question_lets_the_next_one_be_asked() -> None:
    desk = Desk()
    approver = ask_in_notebook(show=desk)
    first, second = Asked(approver), Asked(approver)
    await desk.cards.get()
    first.task.cancel()
    button(await desk.cards.get(), "Approve").click()
    assert (await second.answer()).approved
    assert first.task.cancelled()


async def test_outside_a_notebook_the_answer_is_no_and_says_why() -> None:
    approval = await ask_in_notebook()(CALL, "")
    assert approval == Approval(False, NO_NOTEBOOK)


async def test_arguments_too_deep_to_be_shown_are_not_approved() -> None:
    desk, deep = Desk(), {}
    for _ in range(100_000):
        deep = {"a": deep}
    approval = await ask_in_notebook(show=desk)(ToolCall("t", "tool", deep), "")
    assert approval == Approval(False, TOO_DEEP)
    assert desk.shown == []


async def test_a_reason_that_is_changed_twice_is_the_last_one() -> None:
    desk = Desk()
    asked = Asked(ask_in_notebook(show=desk))
    box = await desk.cards.get()
    first = field(box, "Reason")
    first.value = "not on Fri"
    await asyncio.sleep(0)
    second = field(box, "Reason")
    assert (second is first, second.value) == (False, "not on Fri")
    second.value = "not on Fridays"
    button(box, "Deny").click()
    assert (await asked.answer()).reason == "not on Fridays"
    assert field(box, "Reason").disabled


def test_with_no_front_end_the_answer_is_no_at_once_and_the_page_says_so() -> None:
    """A notebook executed by nbclient, then exported: the way of nbconvert --execute."""
    cell = (
        "from mini_agent.types import ToolCall\n"
        "from mini_agent.widgets import ask_in_notebook\n"
        "call = ToolCall('t', 'calendar_create', {'title': '<b>Review</b>'})\n"
        "print(await ask_in_notebook(timeout=60)(call, 'it writes'))\n"
        "print(await ask_in_notebook(press=['approve'])(call, 'it writes'))\n"
    )
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell)])
    NotebookClient(notebook, kernel_name="python3", timeout=30, store_widget_state=False).execute()
    printed = "".join(out["text"] for out in notebook.cells[0].outputs if "text" in out)
    assert printed.split("\n")[:2] == [
        str(Approval(False, NO_FRONT_END)),
        str(Approval(True, "approved in the notebook")),
    ]
    page, _ = pytest.importorskip("nbconvert").HTMLExporter().from_notebook_node(notebook)
    text = html.unescape(page)
    assert text.count('Approval card: calendar_create {"title": "<b>Review</b>"} (it writes)') == 2
    assert f"calendar_create: denied, {NO_FRONT_END}" in text
    assert "calendar_create: approved in the notebook" in text
    assert "<b>Review</b>" not in page.partition("<body")[2]


# -- scripted presses -----------------------------------------------------------------------------


async def test_a_script_presses_the_real_buttons_one_word_a_card() -> None:
    desk = Desk()
    approver = ask_in_notebook(press=("approve", "deny: not today", "deny"), show=desk)
    answers = [await approver(CALL, "") for _ in range(3)]
    assert answers == [
        Approval(True, "approved in the notebook"),
        Approval(False, "not today"),
        Approval(False, "denied in the notebook"),
    ]
    assert all(button(widget(b), "Deny").disabled for b in desk.shown if WIDGET in b)


async def test_when_the_script_has_run_out_nobody_presses() -> None:
    approver = ask_in_notebook(press=("approve",), show=Desk(), timeout=0.1)
    assert (await approver(CALL, "")).approved
    assert (await approver(CALL, "")).reason == "nobody answered within 0.1 s"


async def test_a_script_whose_card_is_decided_first_presses_nothing_later() -> None:
    desk = Desk()
    await ask_in_notebook(1, press=("approve",), show=desk, wait=over_at_once)(CALL, "")
    left = [handle for handle in asyncio.get_running_loop()._scheduled if not handle.cancelled()]
    assert left == []


@pytest.mark.parametrize("words", [("yes",), ("approve", ""), ("Approve",)])
def test_a_word_that_is_no_button_is_refused_at_once(words: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="approve"):
        ask_in_notebook(press=words)


@pytest.mark.parametrize("timeout", [0, -1, float("nan")])
def test_a_timeout_that_is_not_above_zero_is_refused_at_once(timeout: float) -> None:
    with pytest.raises(ValueError, match="above zero"):
        ask_in_notebook(timeout)


# -- what the card shows --------------------------------------------------------------------------


async def test_the_card_shows_the_tool_why_it_is_asked_and_every_argument_in_full() -> None:
    call = ToolCall("t", "calendar_create", {"title": "W" * 5_000, "a": {"b": [1, None, "é"]}})
    box = Card(call, "it writes an appointment").box
    assert field(box, "Tool").value == "calendar_create"
    assert field(box, "Why").value == "it writes an appointment"
    shown = field(box, "Arguments")
    assert "W" * 5_000 in shown.value
    assert shown.value.index('"a"') < shown.value.index('"title"')
    assert shown.rows > 5_000 // 100


async def test_somebody_elses_text_is_only_in_fields_that_show_it_letter_by_letter() -> None:
    call = ToolCall("t", HOSTILE, {HOSTILE: HOSTILE})
    for widget in walk(Card(call, HOSTILE).box):
        texts = [v for v in widget.get_state().values() if isinstance(v, str)]
        if any("onerror" in text for text in texts):
            assert type(widget) is w.Textarea
            assert widget.disabled
            assert "onerror" not in widget.description + widget.placeholder + str(widget.tooltip)


async def test_the_html_in_the_card_is_ours_alone() -> None:
    box = Card(ToolCall("t", HOSTILE, {"x": HOSTILE * 1_000}), HOSTILE).box
    assert {type(widget) for widget in walk(box)} == {
        w.VBox, w.HBox, w.HTML, w.Button, w.Text, w.Textarea,
    }  # fmt: skip
    style, *ours = [each.value for each in walk(box) if isinstance(each, w.HTML)]
    assert style == STYLE
    assert ours[0] == '<div role="heading" aria-level="3">May this call run?</div>'
    assert ours[1].startswith('<div role="note">The arguments are long: ')
    assert ours[2:] == [""]


async def test_the_last_line_is_a_timer_and_then_an_alert() -> None:
    desk = Desk()
    asked = Asked(ask_in_notebook(show=desk))
    box = await desk.cards.get()
    assert role(box).startswith('<div role="timer">')
    button(box, "Deny").click()
    await asked.answer()
    assert role(box).startswith('<div role="alert">')


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (CALL, [("Tool", "calendar_create"), ("Why", "it writes")]),
        (
            HostCall("t", "calendar_create", {}, "calendar", "create", "9f86", "ask"),
            [
                ("Server", "calendar"),
                ("Tool", "create"),
                ("Known as", "calendar_create"),
                ("Policy", "ask"),
                ("Why", "it writes"),
                ("Pin", "9f86"),
            ],
        ),
        (
            HostCall("t", "read", {}, server="", tool="read"),
            [
                ("Server", "(none: a tool of this program)"),
                ("Tool", "read"),
                ("Policy", "ask"),
                ("Why", "it writes"),
            ],
        ),
    ],
    ids=["a call", "a server's", "a local one"],
)
def test_a_card_says_of_a_call_all_that_the_host_knows(
    call: ToolCall, told: list[tuple[str, str]]
) -> None:
    assert facts(call, "it writes") == told


def test_a_reason_of_many_lines_keeps_them_and_a_name_does_not() -> None:
    told = dict(facts(ToolCall("t", "a\nb", {}), "- was\n+ is \u202e"))
    assert told == {"Tool": "a\\nb", "Why": "- was\n+ is \\u202e"}


async def test_a_dangerous_end_five_kilobytes_down_is_shown_and_the_length_said() -> None:
    arguments = {"a": "ls " + "x" * 5_000 + "; rm -rf important"}
    box = Card(ToolCall("t", "run", arguments), "").box
    assert field(box, "Arguments").value.endswith('; rm -rf important"\n}')
    notes = [each.value for each in walk(box) if isinstance(each, w.HTML) and "note" in each.value]
    assert "5,034 characters, about 65 lines" in notes[0]


def test_only_what_does_not_fit_on_a_screen_is_called_long() -> None:
    assert how_long(visible_json(CALL.input)) == ""
    assert how_long("x\n" * 29) == ""
    assert how_long("x\n" * 30).startswith("The arguments are long: 60 characters, about 31 lines")


def test_wide_characters_take_two_columns() -> None:
    assert (height("a" * 79), height("中" * 79), height("a\nb")) == (1, 2, 2)


async def test_control_bidi_and_invisible_characters_are_spelt_out() -> None:
    box = Card(ToolCall("t", HOSTILE, {"x": HOSTILE}), HOSTILE).box
    for name in ("Tool", "Why", "Arguments"):
        value = field(box, name).value.replace("\n", "")
        assert value.isprintable()
        assert "\\u202e" in value


async def test_where_widgets_are_not_drawn_lines_say_what_was_asked_and_decided() -> None:
    desk = Desk()
    await ask_in_notebook(press=("approve",), show=desk)(CALL, "it writes")
    await ask_in_notebook(press=("deny: full\u202e",), show=desk)(CALL, "")
    asked = 'calendar_create {"start": "10:00", "title": "Review"}'
    assert desk.lines() == [
        f"Approval card: {asked} (it writes)",
        "calendar_create: approved in the notebook",
        f"Approval card: {asked}",
        "calendar_create: denied, full\\u202e",
    ]


async def test_the_line_for_a_card_is_cut_visibly_and_cannot_act_on_a_screen() -> None:
    desk = Desk()
    call = ToolCall("t", "tool", {"x": HOSTILE + "W" * 5_000})
    await ask_in_notebook(1, show=desk, wait=over_at_once)(call, HOSTILE)
    assert all(line.isprintable() for line in desk.lines())
    line, _, cut = desk.lines()[0].partition("…")
    assert len(line) == LONGEST_LINE
    assert re.fullmatch(r" \(4,\d{3} more characters\)", cut)


async def test_the_line_for_a_card_names_the_server_where_it_is_known() -> None:
    desk = Desk()
    call = HostCall("t", "calendar_create", {}, "calendar\u202e", "create")
    await ask_in_notebook(1, show=desk, wait=over_at_once)(call, "it writes")
    assert desk.lines()[0] == ("Approval card: create of server calendar\\u202e {} (it writes)")


async def test_buttons_say_what_they_do_and_fields_have_names() -> None:
    box = Card(CALL, "why").box
    for name in ("Approve", "Deny"):
        assert button(box, name).tooltip
    for each in walk(box):
        if isinstance(each, w.Text | w.Textarea):
            assert each.description


# -- the trace ------------------------------------------------------------------------------------


def test_the_viewer_shows_the_table_and_one_layer_of_it() -> None:
    trace = traces.full_round()
    viewer = trace_viewer(trace)
    assert viewer.table.value == trace.table()
    viewer.layer.value = "adapter"
    lines = viewer.table.value.split("\n")
    assert len(lines) == 4
    assert all(line.startswith("adapter ") for line in lines)


def test_the_viewer_offers_whoever_is_in_the_trace() -> None:
    trace = traces.begun()
    trace.add("host", "denied", server="calendar", tool="x", reason="changed")
    viewer = trace_viewer(trace)
    viewer.layer.value = "host"
    assert viewer.table.value.startswith("host") and "\n" not in viewer.table.value


def test_the_viewer_is_its_table_where_widgets_are_not_drawn() -> None:
    trace = traces.full_round()
    bundle = trace_viewer(trace)._repr_mimebundle_()
    assert bundle["text/plain"] == trace.table()
    assert WIDGET in bundle


def test_the_viewer_shows_hostile_text_letter_by_letter() -> None:
    viewer = trace_viewer(traces.begun(HOSTILE))
    assert viewer.table.value.replace("\n", "").isprintable()
    for widget in walk(viewer.box):
        texts = [v for v in widget.get_state().values() if isinstance(v, str)]
        if any("onerror" in text for text in texts):
            assert type(widget) is w.Textarea


def test_importing_widgets_loads_no_heavy_library() -> None:
    code = "import sys, mini_agent.widgets; print({'ipywidgets', 'IPython'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
