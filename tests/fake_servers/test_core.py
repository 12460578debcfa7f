"""The parts of the core that no carrier shows: bytes, schemas, states, cancelling."""

from __future__ import annotations

import asyncio
import base64
import json
from contextlib import aclosing
from typing import Any

import pytest
from fakes_sample import Held, sample
from fakes_wire import call, request
from hypothesis import given, settings
from hypothesis import strategies as st

from fake_servers.context import Context
from fake_servers.core import Server
from fake_servers.declare import NeedInput, Tool
from fake_servers.headers import annotated, same
from fake_servers.methods import METHODS, match_template
from fake_servers.mrtr import input_required, seal, unseal
from fake_servers.request import Request, read_request
from fake_servers.validate import problems
from fake_servers.wire import Rejection, decode, encode, is_request

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner),
    max_leaves=10,
)  # fmt: skip


# -- bytes ----------------------------------------------------------------------------------------


@settings(deadline=None)
@given(st.dictionaries(st.text(st.characters(codec="utf-8")), JSON))
def test_a_message_survives_and_stays_on_one_line(message: dict[str, Any]) -> None:
    raw = encode(message)
    assert b"\n" not in raw and b"\r" not in raw
    assert decode(raw) == message


@given(st.binary())
def test_any_bytes_are_an_object_or_a_rejection(raw: bytes) -> None:
    try:
        assert isinstance(decode(raw), dict)
    except Rejection as rejection:
        assert rejection.code in (-32700, -32600)


@pytest.mark.parametrize(
    "raw",
    [
        b'{"a":NaN}',
        b'{"a":-Infinity}',
        b'{"a":"\\ud800"}',
        b'\xef\xbb\xbf{"a":1}',
        b'{"a":1}{"b":2}',
        b'{"a":1,}',
        b"{'a':1}",
        b"",
        b"[" * 10**6,
    ],
)
def test_what_is_not_json_is_a_parse_error(raw: bytes) -> None:
    with pytest.raises(Rejection) as raised:
        decode(raw)
    assert raised.value.code == -32700


def test_a_pair_of_surrogates_is_a_character() -> None:
    assert decode(b'{"a":"\\ud83d\\ude00"}') == {"a": "😀"}


@pytest.mark.parametrize("odd", [float("nan"), float("inf"), "\udc00"])
def test_what_json_cannot_say_is_not_sent(odd: object) -> None:
    with pytest.raises(ValueError):
        encode({"a": odd})


def test_a_message_with_a_method_and_an_id_is_a_request_whatever_the_id() -> None:
    assert is_request({"method": "x", "id": None}) and is_request({})
    assert not is_request({"method": "x"}) and not is_request({"id": 1, "result": {}})


# -- schemas --------------------------------------------------------------------------------------


def test_problems_name_path_and_rule_in_a_fixed_order_and_are_few() -> None:
    schema = {"properties": {"b": {"minimum": 5}, "a": {"items": {"type": "string"}}}}
    assert problems(schema, {"b": 1, "a": ["x", 2]}) == [
        "$.a[1]: 2 is not of type 'string' (type)",
        "$.b: 1 is less than the minimum of 5 (minimum)",
    ]
    assert len(problems({"items": {"type": "string"}}, list(range(50)))) == 5


def test_a_long_value_is_cut_in_the_message() -> None:
    (line,) = problems({"type": "integer"}, "x" * 10_000)
    assert len(line) < 200 and line.endswith("… (type)")


async def test_no_reference_is_fetched() -> None:
    from referencing.exceptions import Unresolvable

    visitors: list[object] = []

    def visited(reader: object, writer: asyncio.StreamWriter) -> None:
        visitors.append(writer)
        writer.close()

    canary = await asyncio.start_server(visited, "127.0.0.1", 0)
    port = canary.sockets[0].getsockname()[1]
    with pytest.raises(Unresolvable):
        await asyncio.to_thread(problems, {"$ref": f"http://127.0.0.1:{port}/schema"}, 1)
    canary.close()
    assert visitors == []


def test_a_reference_inside_the_schema_is_followed() -> None:
    schema = {"$ref": "#/$defs/n", "$defs": {"n": {"type": "integer"}}}
    assert problems(schema, 1) == [] and problems(schema, "1") != []


# -- states ---------------------------------------------------------------------------------------


def checked(**params: Any) -> Request:
    return read_request(request("tools/call", name="x", **params), ["2026-07-28"])


@given(JSON, st.binary(min_size=1))
def test_a_sealed_state_opens_again(state: Any, secret: bytes) -> None:
    asked = checked()
    assert unseal(seal(state, asked, secret, 5.0), asked, secret, 6.0) == state


def test_a_state_does_not_open_with_another_secret() -> None:
    sealed = seal(1, checked(), b"a", 0)
    with pytest.raises(Rejection):
        unseal(sealed, checked(), b"b", 0)


def test_the_answers_do_not_change_which_request_a_state_is_for() -> None:
    sealed = seal(1, checked(), b"a", 0)
    retry = checked(inputResponses={"k": {}}, requestState=sealed)
    assert unseal(sealed, retry, b"a", 0) == 1
    with pytest.raises(Rejection):
        unseal(sealed, checked(arguments={"other": True}), b"a", 0)


@given(st.integers(0, 500), st.integers(1, 255))
def test_one_changed_byte_is_noticed(where: int, change: int) -> None:
    sealed = seal({"paid": False}, checked(), b"a", 0)
    body, signature = sealed.split(".")
    raw = bytearray(base64.urlsafe_b64decode(body + "=="))
    raw[where % len(raw)] ^= change
    forged = base64.urlsafe_b64encode(raw).decode().rstrip("=") + "." + signature
    with pytest.raises(Rejection):
        unseal(forged, checked(), b"a", 0)


def test_asking_for_nothing_is_a_bug() -> None:
    with pytest.raises(ValueError):
        input_required(NeedInput(), checked(), b"a", 0)


# -- headers and templates ------------------------------------------------------------------------


def test_annotations_are_found_through_properties_alone() -> None:
    leaf = {"type": "string", "x-mcp-header": "A"}
    schema = {
        "properties": {
            "a": leaf,
            "deep": {"properties": {"b": {**leaf, "x-mcp-header": "B"}}},
            "list": {"items": {"properties": {"c": leaf}}},
            "either": {"anyOf": [{"properties": {"d": leaf}}]},
        }
    }
    assert list(annotated(schema)) == [("A", ("a",)), ("B", ("deep", "b"))]


@pytest.mark.parametrize(
    "sent, value, equal",
    [
        ("42", 42, True), ("42.0", 42, True), ("-7", -7, True), ("42", 42.0, True),
        ("42.5", 42, False), ("4e1", 40, False), ("1_0", 10, False), ("٤٢", 42, False),
        ("", 0, False), ("inf", 1, False), ("9" * 41, 1, False),
        ("true", True, True), ("True", True, False), ("1", True, False), ("false", False, True),
        ("x", "x", True), ("X", "x", False), ("42.0", "42", False),
    ],
)  # fmt: skip
def test_a_header_says_a_value(sent: str, value: object, equal: bool) -> None:
    assert same(sent, value) is equal


@pytest.mark.parametrize(
    "template, uri, found",
    [
        ("a://{x}/b/{y}", "a://1/b/2", {"x": "1", "y": "2"}),
        ("a://{x}", "a://1/2", None),
        ("a://{x}", "a://", None),
        ("a.b://{x}", "a!b://1", None),
        ("a://{x}", "a://1?q", None),
        ("a://{x}", "a://..", {"x": ".."}),
    ],
)
def test_a_variable_stands_for_one_segment(template: str, uri: str, found: object) -> None:
    assert match_template(template, uri) == found


# -- cancelling -----------------------------------------------------------------------------------


async def test_closing_the_answers_cancels_the_work() -> None:
    held = Held()
    async with aclosing(sample(held).handle(call("held"))) as answers:
        waiting = asyncio.ensure_future(anext(answers))
        await held.began.wait()
        waiting.cancel()
        await asyncio.wait([waiting])
    assert held.cancelled.is_set()


async def test_breaking_off_between_two_messages_waits_until_the_work_has_ended() -> None:
    ended: list[bool] = []

    async def long_farewell(arguments: dict[str, Any], context: Context) -> str:
        try:
            await context.progress(1)
            await asyncio.Event().wait()
        finally:
            for _ in range(5):
                await asyncio.sleep(0)
            ended.append(True)
        return "never"

    server = Server("s", tools=[Tool("t", "Takes its time to end.", long_farewell)])
    async with aclosing(server.handle(call("t", meta={"progressToken": 1}))) as answers:
        assert (await anext(answers))["params"]["progress"] == 1
    assert ended == [True]


def test_the_methods_are_those_of_the_revision() -> None:
    import mcp_types.methods

    known = {m for m, version in mcp_types.methods.CLIENT_REQUESTS if version == "2026-07-28"}
    assert set(METHODS) <= known
    assert known == set(METHODS)


def test_a_sample_request_is_right_by_the_official_types() -> None:
    import mcp_types.methods

    message = json.loads(encode(call("echo", {"x": 1})))
    mcp_types.methods.validate_client_request("tools/call", "2026-07-28", message["params"])
