"""Building and parsing JSON-RPC: what is accepted, what is refused, and that nothing is guessed."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mini_agent.errors import (
    HeaderMismatch,
    JsonRpcError,
    MalformedMessage,
    MissingClientCapability,
    UnsupportedProtocolVersion,
)
from mini_agent.mcp.messages import (
    build_meta,
    build_request,
    check_message,
    decode,
    encode,
    excerpt,
    kind,
    parse_response,
)

OK = {"jsonrpc": "2.0", "id": 1, "result": {"resultType": "complete"}}
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@pytest.mark.must("C05", "C06")
def test_every_request_carries_version_capabilities_and_client_info() -> None:
    meta = build_meta(client_info={"name": "x", "version": "1"})
    request = build_request(1, "tools/list", meta=meta)
    assert request == {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/list",
        "params": {
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": {"name": "x", "version": "1"},
            }
        },
    }


def test_building_a_request_leaves_the_callers_params_alone() -> None:
    params = {"name": "x"}
    build_request(1, "tools/call", params, meta=build_meta())
    assert params == {"name": "x"}


@pytest.mark.must("C01", "C30")
@given(json_values)
def test_a_message_is_one_line_of_utf8_and_comes_back_as_it_was(value: Any) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "m", "params": {"v": value}}
    raw = encode(message)
    assert b"\n" not in raw and b"\r" not in raw
    assert decode(raw) == message


@pytest.mark.case("F12")
@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf"), "\ud800", object()])
def test_what_json_cannot_say_is_never_sent(bad: Any) -> None:
    with pytest.raises(ValueError):
        encode({"jsonrpc": "2.0", "method": "m", "params": {"v": bad}})


def test_the_words_nan_and_infinity_inside_a_string_are_just_words() -> None:
    message = {"jsonrpc": "2.0", "method": "m", "params": {"v": "NaN and Infinity"}}
    assert decode(encode(message)) == message


@pytest.mark.case("F12", "F14", "F06")
@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"Starting v1.2",
        b"Content-Length: 20",
        b'{"jsonrpc":"2.0","id":1,"result":{"x":NaN}}',
        b'{"jsonrpc":"2.0","id":1,"result":{"t":"\x97"}}',
        b'{"jsonrpc":"2.0","id":1,"result":{}',
        b'[{"jsonrpc":"2.0","id":1,"result":{}}]',
        b'"text"',
        b"null",
        b'{"id":1,"result":{}}',
        b'{"jsonrpc":"1.0","id":1,"result":{}}',
        b'{"jsonrpc":"2.0","id":true,"result":{}}',
        b'{"jsonrpc":"2.0","id":1.5,"result":{}}',
        b'{"jsonrpc":"2.0","id":{},"result":{}}',
        b'{"jsonrpc":"2.0","method":7}',
        b"[" * 5000,
    ],
)
def test_bytes_that_are_no_message_are_malformed(raw: bytes) -> None:
    with pytest.raises(MalformedMessage) as caught:
        decode(raw)
    assert len(caught.value.excerpt) <= 81


@given(st.binary(max_size=200))
def test_decode_returns_a_message_or_says_malformed_and_nothing_else(raw: bytes) -> None:
    with contextlib.suppress(MalformedMessage):
        assert check_message(decode(raw))


def test_kinds() -> None:
    assert kind(OK) == "response"
    assert kind({"jsonrpc": "2.0", "id": 7, "method": "ping"}) == "request"
    assert kind({"jsonrpc": "2.0", "method": "notifications/progress"}) == "notification"


@pytest.mark.must("C07")
@pytest.mark.case("R13")
def test_an_absent_result_type_means_complete() -> None:
    assert parse_response({"jsonrpc": "2.0", "id": 1, "result": {"a": 1}}) == {"a": 1}


def test_input_required_is_passed_on_for_the_client_to_handle() -> None:
    result = {"resultType": "input_required", "requestState": "s"}
    assert parse_response({"jsonrpc": "2.0", "id": 1, "result": result}) == result


@pytest.mark.must("C08")
@pytest.mark.case("F18", "R13")
@pytest.mark.parametrize(
    "change",
    [
        {"result": None},
        {"result": []},
        {"result": "text"},
        {"error": {"code": 1, "message": "and a result"}},
        {"result": {"resultType": "task"}},
        {"result": {"resultType": None}},
        {"result": {"resultType": ["complete"]}},
        {"id": None},
        {"jsonrpc": "1.0"},
        {"method": "sampling/createMessage"},
    ],
)
def test_a_response_of_a_wrong_shape_is_malformed(change: dict[str, Any]) -> None:
    with pytest.raises(MalformedMessage):
        parse_response({**OK, **change})


@pytest.mark.case("F18")
@pytest.mark.parametrize(
    "error",
    [None, "no", {}, {"code": "x", "message": "m"}, {"code": True, "message": "m"}, {"code": 1}],
)
def test_an_error_of_a_wrong_shape_is_malformed(error: Any) -> None:
    with pytest.raises(MalformedMessage):
        parse_response({"jsonrpc": "2.0", "id": 1, "error": error})


def test_a_result_without_an_id_answers_nobody() -> None:
    with pytest.raises(MalformedMessage):
        parse_response({"jsonrpc": "2.0", "result": {}})


def test_neither_result_nor_error_is_malformed() -> None:
    with pytest.raises(MalformedMessage):
        parse_response({"jsonrpc": "2.0", "id": 1})


@pytest.mark.must("C09")
@pytest.mark.parametrize(
    ("code", "cls"),
    [
        (-32022, UnsupportedProtocolVersion),
        (-32021, MissingClientCapability),
        (-32020, HeaderMismatch),
        (-32001, JsonRpcError),
        (-32602, JsonRpcError),
        (7, JsonRpcError),
    ],
)
def test_the_code_alone_chooses_the_class(code: int, cls: type[JsonRpcError]) -> None:
    error = {"code": code, "message": "unsupported timeout", "data": {"x": 1}}
    with pytest.raises(JsonRpcError) as caught:
        parse_response({"jsonrpc": "2.0", "id": 1, "error": error})
    assert type(caught.value) is cls
    assert (caught.value.code, caught.value.message, caught.value.data) == (
        code,
        "unsupported timeout",
        {"x": 1},
    )


def test_an_error_without_an_id_is_still_the_peers_no() -> None:
    with pytest.raises(JsonRpcError):
        parse_response({"jsonrpc": "2.0", "error": {"code": -32600, "message": "?"}})


@given(st.one_of(st.text(), st.binary(), json_values))
def test_an_excerpt_is_short_and_printable(value: Any) -> None:
    shown = excerpt(value)
    assert shown.isprintable()
    assert len(shown) <= 80 * 10 + 1  # a character may need ten to be made visible


def test_an_excerpt_shows_a_cut() -> None:
    assert excerpt("x" * 100) == "x" * 80 + "…"
    assert excerpt(json.dumps({"a": "\x1b[2K"})).count("\x1b") == 0
