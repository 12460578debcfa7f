"""Every drawing: what is in it, what it says in words, and that nothing in it can do harm."""

from __future__ import annotations

import base64
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest
import traces

from mini_agent import draw
from mini_agent.dot import NO_DOT, OTHER_DOT, SVG, Dot, DotError, Drawing, find_dot
from mini_agent.drawing.canvas import (
    BUSINESS,
    LIT,
    NEUTRAL,
    PALE,
    PROTOCOL,
    WHITE,
    Canvas,
    breadth,
    cut,
    wrapped,
)
from mini_agent.drawing.cast import CAST
from mini_agent.drawing.chain import PITCH
from mini_agent.trace import LAYERS, Trace, following

HOSTILE = '<b>x</b>"\\N\\G</text><script>alert(1)</script>\x1b[31m\x00\u202e\ud800&amp;' + "W" * 500

DRAWINGS: dict[str, Callable[[], Drawing]] = {
    "layers": draw.layers,
    "a lit layer": lambda: draw.layers("transport"),
    "both error paths": draw.error_paths,
    "failure states": draw.failure_states,
    "bars": lambda: draw.bars({"JSON lines": 7123, "CBOR": 5819.0}, "bytes", lit="CBOR"),
    "hostile text in bars": lambda: draw.bars({HOSTILE: 1, "nothing": 0}, HOSTILE, digits=1),
    "a full round": lambda: draw.sequence(traces.full_round()),
    "a sequence with a dead server": lambda: draw.sequence(traces.server_dies()),
    "an empty sequence": lambda: draw.sequence(Trace()),
    "a call that worked": lambda: draw.chain(traces.full_round(), "toolu_1"),
    "a tool error": lambda: draw.chain(traces.full_round(), "toolu_2"),
    "a denied call": lambda: draw.chain(traces.full_round(), "toolu_3"),
    "a protocol error": lambda: draw.chain(traces.server_dies()),
    "a tool that is gone": lambda: draw.chain(traces.tool_is_gone()),
    "an empty chain": lambda: draw.chain(Trace()),
    "hostile text in a sequence": lambda: draw.sequence(hostile()),
    "hostile text in a chain": lambda: draw.chain(hostile()),
}
every_drawing = pytest.mark.parametrize("make", DRAWINGS.values(), ids=DRAWINGS)


def hostile() -> Trace:
    trace = traces.begun(HOSTILE)
    trace.add("loop", "text", text=HOSTILE)
    traces.a_call(trace, "toolu_1", HOSTILE, HOSTILE, is_error=True)
    with following("toolu_1"):
        trace.add("transport", "junk", excerpt=HOSTILE)
        trace.add("client", "note", text=HOSTILE)
        trace.add("adapter", "refused", tool=HOSTILE, reason=HOSTILE)
    return trace


def texts(drawing: Drawing) -> list[str]:
    """Every line of text that is seen in the picture."""
    return ["".join(node.itertext()) for node in ET.fromstring(drawing.svg()).iter(f"{SVG}text")]


# -- every drawing --------------------------------------------------------------------------------


@every_drawing
def test_a_drawing_is_the_same_bytes_every_time(make: Callable[[], Drawing]) -> None:
    assert make().source == make().source
    assert make().svg() == make().svg()


@every_drawing
def test_a_drawing_fits_a_notebook_column_and_can_be_read(make: Callable[[], Drawing]) -> None:
    svg = make().svg()
    root = ET.fromstring(svg)
    width = float(root.get("width", "").removesuffix("pt"))
    sizes = [float(node.get("font-size", "0")) for node in root.iter(f"{SVG}text")]
    assert width <= 675  # points: 900 pixels
    assert min(sizes) >= 11


@every_drawing
def test_a_drawing_has_an_opaque_background(make: Callable[[], Drawing]) -> None:
    polygon = ET.fromstring(make().svg()).find(f"{SVG}g/{SVG}polygon")
    assert polygon is not None
    assert polygon.get("fill", "").upper() == WHITE


@every_drawing
def test_a_drawing_holds_no_script_no_link_and_no_address(make: Callable[[], Drawing]) -> None:
    root = ET.fromstring(make().svg())
    tags = {node.tag.removeprefix(SVG) for node in root.iter()}
    names = {name for node in root.iter() for name in node.attrib}
    assert tags <= {"svg", "title", "g", "polygon", "path", "polyline", "ellipse", "text"}
    assert not [name for name in names if name.startswith("on") or "href" in name]


@every_drawing
def test_a_drawing_says_in_words_what_is_seen(make: Callable[[], Drawing]) -> None:
    drawing = make()
    root = ET.fromstring(drawing.svg())
    assert root.get("role") == "img"
    assert root.get("aria-label") == drawing.alt == root.findtext(f"{SVG}title")
    assert drawing.alt.endswith(".")
    assert drawing.alt.isprintable()
    assert len(drawing.alt) < 4_000


@every_drawing
def test_a_notebook_gets_the_picture_and_the_words(make: Callable[[], Drawing]) -> None:
    drawing = make()
    bundle = drawing._repr_mimebundle_()
    assert bundle == {
        "text/html": drawing.html(),
        "image/svg+xml": drawing.svg(),
        "text/plain": drawing.alt,
    }


@every_drawing
def test_as_html_a_drawing_is_one_image_that_says_its_words(make: Callable[[], Drawing]) -> None:
    drawing = make()
    image = ET.fromstring(drawing.html().removesuffix(">") + "/>")
    kind, data = image.get("src", "").split(",")
    assert (image.tag, set(image.attrib), kind) == (
        "img", {"alt", "src"}, "data:image/svg+xml;base64",
    )  # fmt: skip
    assert image.get("alt") == drawing.alt
    assert base64.b64decode(data).decode() == drawing.svg()


# -- the looks ------------------------------------------------------------------------------------


@pytest.mark.parametrize("look", [BUSINESS, PROTOCOL, NEUTRAL, LIT])
def test_words_stand_out_from_their_paper_and_from_white(look: draw.Look) -> None:
    assert contrast(look.ink, look.paper) >= 4.5
    assert contrast(look.ink, WHITE) >= 4.5
    assert contrast(NEUTRAL.ink, look.paper) >= 4.5


def test_no_two_looks_differ_by_colour_alone() -> None:
    lines = {(look.line, look.width) for look in (BUSINESS, PROTOCOL, NEUTRAL, LIT)}
    assert len(lines) == 4
    assert contrast(PALE.ink, WHITE) < contrast(NEUTRAL.ink, WHITE)


def contrast(one: str, other: str) -> float:
    """WCAG's contrast ratio of two colours."""
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(weight * p for weight, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


# -- the declared layers --------------------------------------------------------------------------


def test_layers_shows_each_layer_with_its_module_and_all_it_may_know() -> None:
    seen = texts(draw.layers())
    for layer in LAYERS:
        assert {layer.title, layer.module, layer.knows} <= set(seen)
        assert layer.knows in draw.layers().alt
    for asked in ("execute", "call", "send", "messages"):
        assert any(text.startswith(asked) for text in seen)


def test_layers_lights_one_and_says_so_in_words_too() -> None:
    lit = draw.layers("client")
    assert lit.svg().lower().count(LIT.paper.lower()) == 1
    assert "you are here" in texts(lit)
    assert "McpClient is lit." in lit.alt
    assert LIT.paper.lower() not in draw.layers().svg().lower()


def test_a_layer_that_is_not_there_is_refused_by_naming_those_that_are() -> None:
    with pytest.raises(ValueError, match="loop, adapter, client, transport, server"):
        draw.layers("handshake")


def test_error_paths_shows_every_layer_and_both_paths_to_their_ends() -> None:
    seen = texts(draw.error_paths())
    assert {layer.title for layer in LAYERS} <= set(seen)
    for words in ("isError: true", "ToolResult(is_error=True)", "The model sees why"):
        assert words in seen and words in draw.error_paths().alt
    for words in ("TransportError, MalformedMessage", '"tool execution failed"'):
        assert words in seen and words in draw.error_paths().alt
    assert "The caller gets the exception" in seen and any("exits 1" in text for text in seen)


def test_error_paths_names_each_class_at_the_layers_that_raise_it() -> None:
    told = draw.error_paths().alt.partition("Protocol error")[2].split("; ")
    late, garbled = "RequestTimeout", "MalformedMessage"
    at = {name: [step.split(", ")[0] for step in told if name in step] for name in (late, garbled)}
    assert "late" not in " ".join(told)
    assert at == {late: ["McpClient"], garbled: ["McpTransport", "McpClient"]}


def test_failure_states_asks_one_question_and_answers_it_both_ways() -> None:
    seen = texts(draw.failure_states())
    assert "result.isError === true?" in seen
    assert {"yes", "no", "Business error", "Protocol error"} <= set(seen)
    assert "Yes: Business error" in draw.failure_states().alt
    assert "No: Protocol error" in draw.failure_states().alt


# -- bars -----------------------------------------------------------------------------------------


def test_bars_are_drawn_to_one_scale_with_name_and_number() -> None:
    drawing = draw.bars({"long": 2000, "half": 1000, "none": 0}, "bytes")
    assert {"long", "half", "none", "bytes", "2,000", "1,000", "0"} <= set(texts(drawing))
    widths = [float(w) for w in re.findall(r"shape=box.*?width=([\d.]+)", drawing.source)]
    assert widths[0] == pytest.approx(2 * widths[1], abs=0.001) and widths[2] < 0.1
    assert drawing.alt == "Bars, bytes: long, 2,000; half, 1,000; none, 0."


def test_only_the_bar_to_look_at_is_lit() -> None:
    figures = {"a": 1.25, "b": 2.5}
    assert LIT.paper.lower() not in draw.bars(figures, "µs").svg().lower()
    assert draw.bars(figures, "µs", lit="a", digits=1).svg().lower().count(LIT.paper.lower()) == 1


@pytest.mark.parametrize(
    ("figures", "lit"),
    [({}, None), ({"a": -1.0}, None), ({"a": float("nan")}, None), ({"a": 1}, "b")],
)
def test_bars_refuse_what_cannot_be_drawn(figures: dict[str, float], lit: str | None) -> None:
    with pytest.raises(ValueError, match=r"bars need figures|no bar is called 'b'; there are a"):
        draw.bars(figures, "bytes", lit=lit)


# -- sequence -------------------------------------------------------------------------------------


def test_a_sequence_has_lifelines_only_for_those_that_took_part() -> None:
    alone = Trace()
    traces.answered(alone, 1, "calendar_query", "2 appointments")
    assert headings(alone) == ["client", "transport", "server"]
    assert headings(traces.tool_is_gone()) == ["adapter", "client", "transport", "server"]
    assert headings(traces.full_round())[:3] == ["policy, person", "model", "loop"]


def headings(trace: Trace) -> list[str]:
    return [text for text in texts(draw.sequence(trace)) if text in CAST]


def steps(trace: Trace, call: str | None = None) -> list[str]:
    """Each row of the sequence in words."""
    return draw.sequence(trace, call).alt.removesuffix(".").partition("The steps: ")[2].split("; ")


def test_no_lifeline_decides_when_nobody_was_asked_and_a_note_says_so() -> None:
    trace = traces.begun()
    trace.add("loop", "approved", name="read", reason="no approval hook")
    assert headings(trace) == ["model", "loop"]
    assert steps(trace)[-1] == "loop: no hook: nobody is asked about read"


def hosted(verdict: str, reason: str) -> Trace:
    """A call of which the host says ``verdict``, and the loop after it."""
    trace = traces.begun()
    traces.used(trace, "toolu_1", "calendar_create")
    with following("toolu_1"):
        facts = {"server": "calendar", "tool": "calendar_create", "reason": reason}
        trace.add("host", verdict, policy="ask", **facts)
        trace.add("loop", verdict, name="calendar_create", reason=reason)
    return trace


def test_what_the_host_decides_and_the_loop_says_is_drawn_once() -> None:
    drawn = draw.sequence(hosted("approved", "yes"))
    assert "host" not in texts(drawn) and drawn.alt.count("approved: yes") == 1


def test_what_the_host_decides_by_itself_has_a_lane_of_its_own() -> None:
    trace = hosted("approved", "yes")
    with following("toolu_1"):
        facts = {"server": "calendar", "tool": "calendar_create"}
        trace.add("host", "denied", policy="ask", reason="the tool has changed", **facts)
        trace.add("loop", "tool_result", name="calendar_create", content="no", is_error=True)
    trace.add("host", "approved", policy="ask", reason="the difference is fine", **facts)
    trace.add("host", "gone", **facts)
    told = draw.sequence(trace).alt
    assert "host: calendar_create denied: the tool has changed" in told
    assert "host: calendar_create approved: the difference is fine" in told
    assert "host: calendar no longer has calendar_create" in told


def test_each_answer_of_policy_or_person_comes_after_the_question() -> None:
    trace = traces.begun()
    for verdict, reason in (("approved", "it only reads"), ("approved", ""), ("denied", "by name")):
        trace.add("loop", verdict, name="read", reason=reason)
    asked = "loop to policy, person: may read run?"
    assert steps(trace)[2:] == [
        asked, "policy, person to loop: approved: it only reads",
        asked, "policy, person to loop: approved",
        asked, "policy, person to loop: denied: by name",
    ]  # fmt: skip
    assert {"may read run?", "approved: it only reads", "denied: by name"} <= set(
        texts(draw.sequence(trace))
    )


def test_a_reason_that_says_the_verdict_is_not_led_by_it_again() -> None:
    trace = traces.begun()
    trace.add("loop", "approved", name="create", reason="approved in the notebook")
    assert "approved in the notebook" in texts(draw.sequence(trace))


def test_a_call_shows_all_its_arguments_as_the_terminal_does() -> None:
    trace = traces.begun()
    hour = {"start": "2026-08-03T15:00", "end": "2026-08-03T16:00"}
    traces.used(trace, "toolu_1", "calendar_create", title="Design team", **hour)
    seen = texts(draw.sequence(trace))
    first = seen.index('calendar_create {"title": "Design team",')
    assert seen[first + 1 : first + 3] == [
        '"start": "2026-08-03T15:00",',
        '"end": "2026-08-03T16:00"}',
    ]
    assert steps(trace)[-1].endswith('"end": "2026-08-03T16:00"}')


def test_a_long_result_is_wrapped_between_the_lifelines_beside_its_own() -> None:
    trace = traces.begun()
    traces.a_call(trace, "toolu_1", "calendar_query", "one two three " * 40)
    source = draw.sequence(trace).source
    lines = next(line for line in source.splitlines() if "result recorded" in line)
    assert lines.count("\\n") == 4
    assert "…" in lines
    place = dict(re.findall(r"^\t(model|loop|adapter) .*pos=\"([\d.]+),", source, re.MULTILINE))
    width = 72 * float(re.findall(r"width=([\d.]+)", lines)[0])
    assert width / 2 < float(place["loop"]) - float(place["model"])


def test_what_the_transport_shows_is_not_said_again_on_the_client() -> None:
    trace = Trace()
    traces.listed(trace, 1)
    traces.answered(trace, 2, "calendar_query", "2 appointments")
    assert steps(trace) == [
        "client to server: tools/list id 1", "server to client: result id 1",
        "client to server: tools/call calendar_query id 2", "server to client: result id 2",
    ]  # fmt: skip


def test_a_client_without_a_transport_in_the_trace_says_what_it_asked_and_got() -> None:
    trace = Trace()
    trace.add("client", "request", server="calendar", method="tools/list", id=1, tool="")
    trace.add("client", "response", method="tools/list", id=1)
    assert steps(trace) == ["client: list_tools", "client: result of tools/list"]


def test_what_the_adapter_asks_of_the_client_is_always_drawn() -> None:
    seen = steps(traces.full_round(), "toolu_1")
    assert "adapter to client: call" in seen
    assert "client to adapter: result of tools/call" in seen


def test_without_a_connection_a_message_ends_at_the_transport() -> None:
    trace = Trace()
    traces.request(trace, 1, "tools/list")
    trace.add("transport", "failed", error="ConnectFailed")
    trace.add("client", "error", method="tools/list", error="ConnectFailed", code=None)
    assert steps(trace) == [
        "client to transport: tools/list id 1",
        "transport to client: raises ConnectFailed",
        "client: the caller gets ConnectFailed",
    ]


@pytest.mark.parametrize(
    ("make", "means"),
    [
        (lambda: traces.begun(), "solid: a request"),
        (traces.full_round, "solid: a request · dashed: an answer · blue: a tool error"),
        (
            traces.server_dies,
            "solid: a request · dashed: an answer · red, dotted: a protocol error",
        ),
    ],
)
def test_a_legend_explains_the_lines_that_are_there(make: Callable[[], Trace], means: str) -> None:
    assert texts(draw.sequence(make()))[-1] == means


def test_without_any_mcp_an_exception_is_not_called_a_protocol_error() -> None:
    trace = traces.begun()
    trace.add("loop", "failed", name="read", error="OSError")
    assert texts(draw.sequence(trace))[-1] == "solid: a request · red, dotted: an exception"


def test_what_a_server_sends_unasked_is_drawn_and_explained_as_no_answer() -> None:
    trace = Trace()
    traces.request(trace, 1, "tools/list")
    changed = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
    trace.add("transport", "received", message=changed)
    source = draw.sequence(trace).source
    assert "dashed" not in "".join(line for line in source.splitlines() if "->" in line)
    assert texts(draw.sequence(trace))[-1] == "solid: a request or a notification"


def test_requests_are_solid_replies_dashed_and_protocol_errors_dotted() -> None:
    source = draw.sequence(traces.server_dies()).source
    edges = [line for line in source.splitlines() if "->" in line]
    assert any("style=solid" in edge and NEUTRAL.ink in edge for edge in edges)
    assert any("style=dashed" in edge and NEUTRAL.ink in edge for edge in edges)
    assert all("style=dotted" in edge for edge in edges if PROTOCOL.ink in edge)
    assert any(PROTOCOL.ink in edge for edge in edges)


def test_a_tool_error_is_drawn_in_its_own_look() -> None:
    edges = [
        line for line in draw.sequence(traces.full_round()).source.splitlines() if "->" in line
    ]
    assert any(BUSINESS.ink in edge for edge in edges)
    assert not any(PROTOCOL.ink in edge for edge in edges)


def test_a_sequence_of_one_call_holds_that_call_only() -> None:
    seen = " ".join(texts(draw.sequence(traces.full_round(), "toolu_2")))
    assert "calendar_create" in seen and "Room 4 is taken" in seen
    assert "calendar_query" not in seen


def test_a_response_that_the_client_refuses_is_not_drawn_as_handed_up() -> None:
    steps = draw.sequence(traces.tool_is_gone()).alt
    assert "client to adapter: result of tools/call" not in steps
    assert "client to adapter: raises JsonRpcError -32602" in steps


def test_a_long_trace_is_cut_in_the_middle_and_says_by_how_much() -> None:
    trace = traces.begun()
    for number in range(200):
        trace.add("loop", "text", text=f"piece {number}")
    seen = " ".join(texts(draw.sequence(trace)))
    assert "piece 0" in seen and "piece 199" in seen
    assert "piece 100" not in seen
    assert "160 steps not drawn" in seen


def test_events_that_fell_out_of_the_trace_are_counted_in_the_drawing() -> None:
    trace = Trace(limit=2)
    for number in range(5):
        trace.add("loop", "model_request", turn=number)
    assert any("3 earlier events" in text for text in texts(draw.sequence(trace)))


@pytest.mark.parametrize("make", [draw.sequence, draw.chain])
def test_a_call_that_is_not_in_the_trace_is_refused(
    make: Callable[[Trace, str], Drawing],
) -> None:
    with pytest.raises(ValueError, match="toolu_1, toolu_2, toolu_3"):
        make(traces.full_round(), "toolu_9")


# -- chain ----------------------------------------------------------------------------------------


def lit(drawing: Drawing) -> list[str]:
    """The names of the lit layers, as the DOT text has them."""
    return [
        line.split()[0]
        for line in drawing.source.splitlines()
        if LIT.paper in line and "->" not in line
    ]


EVERY_LAYER = [layer.name for layer in LAYERS]


def test_a_call_that_worked_lights_every_layer_and_ends_at_the_model() -> None:
    drawing = draw.chain(traces.full_round(), "toolu_1")
    assert lit(drawing) == EVERY_LAYER
    assert "The model sees the result" in texts(drawing)
    assert "stopped" not in drawing.alt
    assert BUSINESS.ink not in drawing.source and PROTOCOL.ink not in drawing.source


def test_a_tool_error_begins_in_the_server_and_stops_in_the_loop() -> None:
    drawing = draw.chain(traces.full_round(), "toolu_2")
    assert lit(drawing) == EVERY_LAYER
    assert "The error began in MCP server and stopped at run_agent." in drawing.alt
    assert "“Room 4 is taken”" in texts(drawing)
    assert PROTOCOL.ink not in drawing.source


def test_a_denied_call_stops_in_the_loop_and_lights_nothing_below() -> None:
    drawing = draw.chain(traces.full_round())  # the last call of that trace
    assert lit(drawing) == ["loop"]
    assert "it stopped here" in texts(drawing)
    assert "denied by name" in texts(drawing)


def test_a_protocol_error_begins_in_the_transport_and_leaves_to_the_caller() -> None:
    drawing = draw.chain(traces.server_dies())
    assert lit(drawing) == EVERY_LAYER[:-1]
    assert "The error began in McpTransport and stopped at the caller." in drawing.alt
    seen = texts(drawing)
    assert {"raises TransportClosed", "the process ended, exit code 3"} <= set(seen)
    assert {"gave no answer", "was it reached? the client cannot know"} <= set(seen)
    assert 'the model sees only "tool execution failed"' in seen
    assert BUSINESS.ink not in drawing.source


def test_a_connection_closed_at_the_end_does_not_make_an_old_call_the_last() -> None:
    trace = traces.full_round()
    with following("toolu_1"):
        trace.add("transport", "closed", exit_code=0)
    assert "calendar_delete" in texts(draw.chain(trace))


def test_a_skipped_call_can_be_asked_for_but_is_not_the_default() -> None:
    trace = traces.server_dies()
    assert "calendar_create" in texts(draw.chain(trace))
    assert lit(draw.chain(trace, "toolu_2")) == ["loop"]


def test_a_server_that_was_never_reached_is_not_lit() -> None:
    trace = traces.begun()
    traces.used(trace, "toolu_1", "calendar_create")
    with following("toolu_1"):
        trace.add("adapter", "call", tool="calendar_create")
        traces.request(trace, 4, "tools/call", "calendar_create")
        traces.failed_upwards(trace, "calendar_create", "ConnectFailed")
    assert lit(draw.chain(trace)) == EVERY_LAYER[:-1]
    assert "never reached" in texts(draw.chain(trace))
    assert "MCP server: never reached." in draw.chain(trace).alt


@pytest.mark.parametrize(
    ("error", "says"),
    [
        ("TransportClosed", "was it reached? the client cannot know"),
        ("RequestTimeout", "was it reached? the client cannot know"),
        ("MalformedMessage", "it may have acted"),
        ("ConnectFailed", "never reached"),
    ],
)
def test_of_a_server_that_gave_no_answer_only_what_the_error_says_is_said(
    error: str, says: str
) -> None:
    trace = Trace()
    traces.request(trace, 1, "tools/call", "calendar_query")
    trace.add("transport", "failed", error=error)
    trace.add("client", "error", method="tools/call", error=error, code=None)
    told = {"was it reached? the client cannot know", "it may have acted", "never reached"}
    assert told & set(texts(draw.chain(trace))) == {says}
    assert ("server" in lit(draw.chain(trace))) == (says == "it may have acted")


def test_a_tool_that_is_gone_turns_from_one_path_to_the_other_in_the_adapter() -> None:
    drawing = draw.chain(traces.tool_is_gone())
    assert lit(drawing) == EVERY_LAYER[1:]
    assert "The error began in MCP server and stopped at mcp_tool_to_tool." in drawing.alt
    assert PROTOCOL.ink in drawing.source and BUSINESS.ink in drawing.source


def test_a_refusal_of_the_adapter_sends_nothing() -> None:
    trace = traces.begun()
    traces.used(trace, "toolu_1", "calendar_create")
    with following("toolu_1"):
        trace.add("adapter", "refused", tool="calendar_create", reason="start: not a date")
        trace.add("loop", "tool_result", name="calendar_create", content="no", is_error=True)
    drawing = draw.chain(trace)
    assert lit(drawing) == ["loop", "adapter"]
    assert "start: not a date" in texts(drawing)
    assert "The error began in mcp_tool_to_tool and stopped at run_agent." in drawing.alt


def test_a_client_used_alone_is_drawn_from_the_client_down() -> None:
    trace = Trace()
    traces.listed(trace, 1)
    traces.answered(trace, 2, "calendar_query", "2 appointments")
    traces.request(trace, 3, "tools/list")
    traces.response(trace, 3, "tools/list", error={"code": -32603, "message": "not now"})
    trace.add("client", "error", method="tools/list", error="JsonRpcError", code=-32603)
    drawing = draw.chain(trace)
    assert lit(drawing) == ["client", "transport", "server"]
    assert "“2 appointments”" in texts(drawing)
    assert "run_agent" not in texts(drawing) and "run_agent" not in drawing.alt
    assert {"CallResult", "the answer in MCP's shape"} <= set(texts(drawing))
    assert "The caller gets the result" in texts(drawing)


def test_the_call_comes_in_at_the_first_layer_used_and_the_end_stands_above_it() -> None:
    trace = Trace()
    traces.answered(trace, 2, "calendar_query", "2 appointments")
    alone, whole = draw.chain(trace), draw.chain(traces.full_round(), "toolu_1")
    for drawing, first, end in (
        (alone, "client", "The caller gets the result"),
        (whole, "loop", "The model sees the result"),
    ):
        assert height(drawing, f"\t{first} ") == PITCH
        assert height(drawing, f'label="{end}') > -10
        assert "0,-44!" in drawing.source  # where the arrow from the tool's name ends


def height(drawing: Drawing, mark: str) -> float:
    """How far down, in points, the first line of the DOT text with ``mark`` is drawn."""
    line = next(line for line in drawing.source.splitlines() if mark in line)
    return -float(re.findall(r'pos="[-\d.]+,([-\d.]+)!"', line)[0])


def test_a_layer_that_the_loop_went_round_is_not_used() -> None:
    trace = traces.begun()
    traces.used(trace, "toolu_1", "calendar_query")
    with following("toolu_1"):
        traces.answered(trace, 1, "calendar_query", "2 appointments")
    assert texts(draw.chain(trace)).count("not used") == 1


def test_of_several_calls_without_a_loop_the_last_is_drawn() -> None:
    trace = Trace()
    traces.adapted(trace, 1, "calendar_create", "before", is_error=True)
    traces.answered(trace, 2, "calendar_query", "by the client alone")
    assert lit(draw.chain(trace)) == ["client", "transport", "server"]
    assert BUSINESS.ink not in draw.chain(trace).source
    trace.add("adapter", "refused", tool="calendar_create", reason="start: not a date")
    assert lit(draw.chain(trace)) == ["adapter"]
    traces.adapted(trace, 3, "calendar_query", "after")
    assert lit(draw.chain(trace)) == EVERY_LAYER[1:]
    assert "“after”" in texts(draw.chain(trace))


def test_a_trace_with_no_tool_call_shows_its_last_request() -> None:
    trace = Trace()
    traces.listed(trace, 1)
    assert {"tools/list", "a good answer"} <= set(texts(draw.chain(trace)))


def test_garbage_begins_at_the_server_that_wrote_it() -> None:
    trace = Trace()
    traces.request(trace, 1, "tools/call", "calendar_query")
    trace.add("transport", "junk", excerpt="Traceback (most recent call last)")
    trace.add("transport", "failed", error="MalformedMessage")
    trace.add("client", "error", method="tools/call", error="MalformedMessage", code=None)
    trace.add("transport", "closed", exit_code=-15)
    seen = texts(draw.chain(trace))
    assert {"writes what is no message", "Traceback (most recent call last)"} <= set(seen)
    assert "what came is no message" in seen
    assert "The error began in MCP server" in draw.chain(trace).alt
    assert "the process ended by signal 15" in texts(draw.sequence(trace))


def test_an_answer_that_came_too_late_is_drawn_as_ignored_and_answers_nothing() -> None:
    trace = Trace()
    traces.request(trace, 1, "tools/call", "calendar_query")
    cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {}}
    trace.add("transport", "sent", message=cancelled)
    trace.add("client", "error", method="tools/call", error="RequestTimeout", code=None)
    late = traces.message(1, result={"content": [{"type": "text", "text": "late"}]})
    trace.add("transport", "received", message=late, ignored="nobody waits for it")
    assert "nothing came back in time" in texts(draw.chain(trace))
    assert {"notifications/cancelled", "ignored: result id 1"} <= set(texts(draw.sequence(trace)))


def test_progress_belongs_to_the_call_that_waits() -> None:
    trace = traces.begun()
    traces.used(trace, "toolu_1", "calendar_query")
    with following("toolu_1"):
        traces.request(trace, 1, "tools/call", "calendar_query")
    progress = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {}}
    trace.add("transport", "received", message=progress)
    assert "notifications/progress" in texts(draw.sequence(trace, "toolu_1"))


@pytest.mark.parametrize("make", [draw.sequence, draw.chain])
def test_what_the_reader_met_while_a_call_waited_is_part_of_that_call(
    make: Callable[[Trace, str], Drawing],
) -> None:
    trace = traces.begun()
    trace.add("transport", "closed", exit_code=1)
    traces.used(trace, "toolu_1", "calendar_create")
    with following("toolu_1"):
        trace.add("adapter", "call", tool="calendar_create")
        traces.request(trace, 4, "tools/call", "calendar_create")
    trace.add("transport", "closed", exit_code=2)  # noted by the reader, which follows no call
    with following("toolu_1"):
        traces.failed_upwards(trace, "calendar_create", "TransportClosed")
        trace.add("transport", "closed", exit_code=0)  # at the end, by the same reader
    seen = [text for text in texts(make(trace, "toolu_1")) if "exit code" in text]
    assert seen == ["the process ended, exit code 2"]


@pytest.mark.parametrize("noted_under", ["", "toolu_1"])
def test_an_answer_belongs_to_the_call_that_asked_whoever_noted_it(noted_under: str) -> None:
    trace = traces.begun()
    traces.a_call(trace, "toolu_1", "calendar_query", "2 appointments")
    traces.used(trace, "toolu_2", "calendar_create")
    with following("toolu_2"):
        traces.request(trace, 7, "tools/call", "calendar_create")
    with following(noted_under):  # a reader's task keeps the id of whoever started it
        trace.add("transport", "received", message=traces.message(7, result={"content": []}))
    assert "server to client: result id 7" in steps(trace, "toolu_2")
    assert "server to client: result id 7" not in steps(trace, "toolu_1")
    assert "calendar_create" in texts(draw.chain(trace))


def test_of_two_servers_with_the_same_ids_each_answer_stays_with_its_call() -> None:
    trace = Trace()
    with following("toolu_1"):
        traces.request(trace, 1, "tools/call", "calendar_query")
    traces.request(trace, 1, "tools/list")
    with following("toolu_1"):
        trace.add("transport", "received", message=traces.message(1, result={"isError": True}))
    trace.add("transport", "received", message=traces.message(1, result={"tools": []}))
    assert steps(trace, "toolu_1")[1:] == ["server to client: isError: true id 1"]


def test_what_happens_after_a_deadline_is_not_the_late_calls() -> None:
    trace = traces.begun()
    traces.used(trace, "toolu_1", "calendar_query")
    with following("toolu_1"):
        traces.request(trace, 1, "tools/call", "calendar_query")
        trace.add("client", "error", method="tools/call", error="RequestTimeout", code=None)
    trace.add("transport", "closed", exit_code=0)
    assert "closed" not in " ".join(steps(trace, "toolu_1"))
    assert "exit code" not in " ".join(steps(trace, "toolu_1"))


def test_a_client_used_alone_after_a_loop_is_the_last_call_whoever_noted_its_answer() -> None:
    trace = traces.begun()
    traces.a_call(trace, "toolu_1", "calendar_query", "2 appointments")
    traces.request(trace, 9, "tools/call", "calendar_create")
    with following("toolu_1"):
        trace.add("transport", "received", message=traces.message(9, result={"content": []}))
    trace.add("client", "response", method="tools/call", id=9)
    assert lit(draw.chain(trace)) == ["client", "transport", "server"]
    assert "calendar_create" in texts(draw.chain(trace))


def test_a_list_that_fails_after_a_refusal_is_not_the_calls_own_failure() -> None:
    trace = Trace()
    trace.add("adapter", "call", tool="calendar_create")
    traces.request(trace, 2, "tools/call", "calendar_create")
    traces.response(trace, 2, "tools/call", error={"code": -32602, "message": "Unknown tool"})
    trace.add("client", "error", method="tools/call", error="JsonRpcError", code=-32602)
    traces.request(trace, 3, "tools/list")
    trace.add("transport", "failed", error="TransportClosed")
    trace.add("client", "error", method="tools/list", error="TransportClosed", code=None)
    trace.add("adapter", "error", tool="calendar_create", error="JsonRpcError")
    seen = texts(draw.chain(trace))
    assert {"answers error -32602", "carries one message back"} <= set(seen)
    assert "raises TransportClosed" not in seen


def test_an_http_status_without_a_message_begins_at_the_server() -> None:
    trace = Trace()
    traces.request(trace, 1, "tools/call", "calendar_query")
    trace.add("transport", "failed", error="HttpStatusError")
    trace.add("client", "error", method="tools/call", error="HttpStatusError", code=None)
    assert "answers with an HTTP status" in texts(draw.chain(trace))
    assert "The error began in MCP server" in draw.chain(trace).alt


def test_a_deadline_that_passes_begins_in_the_client() -> None:
    trace = Trace()
    traces.request(trace, 1, "tools/call", "calendar_query")
    trace.add("client", "error", method="tools/call", error="RequestTimeout", code=None)
    drawing = draw.chain(trace)
    assert "The error began in McpClient and stopped at the caller." in drawing.alt
    assert "nothing came back in time" in texts(drawing)


def test_of_two_runs_with_the_same_ids_the_last_is_drawn() -> None:
    trace = traces.begun()
    traces.a_call(trace, "toolu_1", "calendar_query", "before", is_error=True)
    traces.a_call(trace, "toolu_1", "calendar_query", "after")
    seen = " ".join(texts(draw.chain(trace, "toolu_1")))
    assert "after" in seen and "before" not in seen


# -- untrusted text -------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [draw.sequence, draw.chain])
def test_hostile_text_is_shown_as_text_with_its_controls_visible(
    make: Callable[[Trace], Drawing],
) -> None:
    seen = "".join(texts(make(hostile())))
    assert '<b>x</b>"\\N\\G</text>' in seen
    assert not [c for c in seen if not c.isprintable()]


def test_a_line_is_cut_to_its_width_and_says_so() -> None:
    assert cut("short", 100) == "short"
    assert cut("W" * 500, 100).endswith("W…")
    assert breadth(cut("W" * 500, 100)) <= 100
    assert cut("a\x1b[31m\u202eb", 500) == "a\\x1b[31m\\u202eb"


def test_a_text_is_as_wide_on_each_python() -> None:
    assert breadth("the model asks for a tool") == 133.39999999999998  # sum() differs from 3.12 on


def test_a_long_text_is_wrapped_at_spaces_and_cut_on_its_last_line() -> None:
    assert wrapped("short", 100, 3) == ["short"]
    lines = wrapped("one two three four five six seven eight nine ten", 60, 3)
    assert len(lines) == 3 and lines[-1].endswith("…")
    assert all(breadth(line) <= 60 for line in lines)
    assert " ".join(lines).startswith("one two three four")
    assert wrapped("W" * 30, 100, 9)[0].startswith("WWW")
    assert "".join(wrapped("W" * 30, 100, 9)) == "W" * 30
    assert wrapped('a {"bb": "cc"}', breadth('{"bb": "cc"}'), 2) == ["a", '{"bb": "cc"}']


def test_a_line_that_looks_like_html_or_dot_stays_as_it_is() -> None:
    for text in ("<b>x</b>", "<>", "a\\l", "\\N", 'x"; b -> c', "{a|b}"):
        sheet = Canvas()
        sheet.words(0, 0, 300, text)
        assert texts(sheet.drawing("One line.")) == [text]


# -- the dot program ------------------------------------------------------------------------------


def test_graphviz_pure_beside_the_interpreter_comes_first(tmp_path: Path) -> None:
    (tmp_path / "graphviz-pure").touch()
    assert find_dot(str(tmp_path / "python")) == Dot(str(tmp_path / "graphviz-pure"))


def test_another_dot_is_taken_from_the_path_and_is_not_ours(tmp_path: Path) -> None:
    other = a_program(tmp_path / "dot", "")
    assert find_dot(str(tmp_path / "python"), path=str(tmp_path)) == Dot(str(other), ours=False)


def test_without_any_dot_the_reader_gets_a_sentence_and_the_dot_text(tmp_path: Path) -> None:
    assert find_dot(str(tmp_path / "python"), path=str(tmp_path)) is None
    drawing = Drawing("digraph {}", "A drawing.", find=lambda: None)
    bundle = drawing._repr_mimebundle_()
    assert bundle == {"text/plain": f"A drawing.\n\n{NO_DOT}\n\ndigraph {{}}"}
    with pytest.raises(DotError):
        drawing.svg()


def test_a_notebook_has_a_drawing_drawn_once() -> None:
    found: list[Dot | None] = []

    def find() -> Dot | None:
        found.append(find_dot())
        return found[-1]

    drawing = draw.layers()
    bundle = Drawing(drawing.source, drawing.alt, find=find)._repr_mimebundle_()
    assert set(bundle) == {"text/html", "image/svg+xml", "text/plain"}
    assert len(found) == 1


def test_another_dot_is_named_in_the_picture() -> None:
    ours = find_dot()
    assert ours is not None
    other = Dot(ours.program, ours=False)
    drawing = draw.layers()
    drawn = Drawing(drawing.source, drawing.alt, find=lambda: other)
    assert OTHER_DOT in texts(drawn)


def test_a_dot_that_fails_is_shown_in_words_instead(tmp_path: Path) -> None:
    broken = Dot(str(a_program(tmp_path / "dot", "echo out of paper >&2; exit 1")))
    bundle = Drawing("digraph {}", "A drawing.", find=lambda: broken)._repr_mimebundle_()
    assert "image/svg+xml" not in bundle
    assert "out of paper" in bundle["text/plain"]


def test_a_dot_that_cannot_be_run_is_shown_in_words_instead(tmp_path: Path) -> None:
    drawing = Drawing("digraph {}", "A drawing.", find=lambda: Dot(str(tmp_path / "absent")))
    assert "could not be run" in drawing._repr_mimebundle_()["text/plain"]


@pytest.mark.parametrize("body", ["printf '\\377'", "echo hello", "true"])
def test_a_dot_that_writes_something_else_is_shown_in_words_instead(
    tmp_path: Path, body: str
) -> None:
    odd = Dot(str(a_program(tmp_path / "dot", body)))
    bundle = Drawing("digraph {}", "A drawing.", find=lambda: odd)._repr_mimebundle_()
    assert list(bundle) == ["text/plain"] and "wrote" in bundle["text/plain"]


def a_program(path: Path, body: str) -> Path:
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def test_importing_draw_loads_no_heavy_library() -> None:
    heavy = "{'graphviz', 'IPython', 'ipywidgets', 'httpx', 'pydantic', 'jsonschema', 'anthropic'}"
    code = f"import sys, mini_agent.draw; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_short_arrow_still_shows_its_dots() -> None:
    dashes = set(re.findall(r'stroke-dasharray="([^"]*)"', draw.error_paths().svg()))
    assert "1,5" not in dashes
    assert "2.4,2.4" in dashes
