"""The exception tree is what its docstring draws, and each class answers the three questions."""

from __future__ import annotations

import pickle
import re

import pytest

from mini_agent import errors
from mini_agent.errors import (
    AuthorizationError,
    ConnectFailed,
    HttpStatusError,
    InputRequired,
    JsonRpcError,
    MalformedMessage,
    McpError,
    MissingClientCapability,
    RequestTimeout,
    TransportClosed,
    TransportError,
    UnsupportedProtocolVersion,
)


def family(cls: type[McpError]) -> list[type[McpError]]:
    return [cls, *(c for child in cls.__subclasses__() for c in family(child))]


def test_the_docstring_draws_the_whole_tree_and_nothing_else() -> None:
    drawing = (errors.__doc__ or "").split("\n\n")[1]
    drawn = re.findall(r"^[ │├└─]*([A-Z]\w+)", drawing, re.MULTILINE)
    ours = [cls.__name__ for cls in family(McpError) if cls.__module__ == errors.__name__]
    assert sorted(drawn) == sorted(ours)


@pytest.mark.parametrize(
    "cls", [c for c in family(McpError) if c not in (McpError, TransportError)], ids=str
)
def test_each_class_says_whose_fault_and_what_can_still_be_used(cls: type[McpError]) -> None:
    told = " ".join((cls.__doc__ or "").split())
    assert "Fault:" in told
    assert "acted" in told or "finished" in told
    assert "used again" in told or "only that request is lost" in told or "usable" in told
    assert cls.fault != McpError.fault


@pytest.mark.must("C10")
def test_local_failures_never_wear_a_wire_code() -> None:
    local = [error for error in MADE if isinstance(error, TransportError)]
    assert len(local) == 5
    assert all(not hasattr(error, "code") for error in local)
    assert hasattr(JsonRpcError(-32601, "x"), "code")


def test_the_text_names_server_method_and_tool_once_they_are_known() -> None:
    error = TransportClosed("the process ended", exit_code=1)
    assert str(error) == "the process ended"
    error.server, error.method, error.tool = "calendar", "tools/call", "calendar_query"
    error.hint = "Start it by hand"
    assert str(error) == (
        "the process ended [server calendar, tools/call calendar_query]. Start it by hand"
    )


def test_a_peers_own_words_are_shown_in_part_and_kept_whole() -> None:
    said = "\x1b[2J\n" + "x" * 3_000_000
    error = UnsupportedProtocolVersion(-32022, said, {"supported": [said, said]})
    error.tool = said
    assert len(str(error)) < 2_000 and str(error).isprintable() and "…" in str(error)
    assert error.message == said


@pytest.mark.parametrize(("status", "acted"), [(404, False), (429, False), (502, True)])
def test_a_gateway_may_have_let_the_request_through(status: int, acted: bool) -> None:
    assert HttpStatusError("x", status=status).may_have_acted is acted


@pytest.mark.parametrize(("code", "acted"), [(-32602, False), (-32022, False), (-32603, True)])
def test_a_refusal_before_acting_is_known_by_its_code(code: int, acted: bool) -> None:
    assert JsonRpcError(code, "x").may_have_acted is acted


@pytest.mark.parametrize("data", [None, "x", {}, {"supported": "x", "requiredCapabilities": 1}])
def test_odd_data_of_a_peer_is_read_as_nothing(data: object) -> None:
    version = UnsupportedProtocolVersion(-32022, "x", data)
    assert (version.supported, version.requested) == ([], "")
    assert MissingClientCapability(-32021, "x", data).required == {}


MADE = [
    ConnectFailed("x"),
    TransportClosed("x", exit_code=3, stderr_tail="tail"),
    RequestTimeout("x", seconds=1.5),
    HttpStatusError("x", status=502, retry_after=3.0, excerpt="page"),
    AuthorizationError("x", status=401, challenge="Bearer"),
    MalformedMessage("x", excerpt="odd", server_info={"name": "s"}),
    JsonRpcError(-32601, "no", {"a": 1}),
    UnsupportedProtocolVersion(-32022, "no", {"supported": ["v"]}),
    InputRequired("x", requests={"a": {}}, state="s"),
]


@pytest.mark.parametrize("error", MADE, ids=lambda error: type(error).__name__)
def test_errors_survive_pickling_with_what_they_hold(error: McpError) -> None:
    error.server = "calendar"
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error) and again.__dict__ == error.__dict__
    assert (str(again), again.args) == (str(error), error.args)
