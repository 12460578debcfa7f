"""What a WWW-Authenticate header says, whatever is in it, and the scopes that follow from it."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mini_agent.mcp.auth_challenge import (
    Challenge,
    parse_challenge,
    parse_challenges,
    scopes_in,
    scopes_to_ask,
    union,
)

pytestmark = [pytest.mark.timeout(60), pytest.mark.must("C111")]

TOKEN = st.text(
    "abcdefghijklmnopqrstuvwxyzABCXYZ0123456789!#$%&'*+-.^_`|~", min_size=1, max_size=12
)
VALUE = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=30)
PARAMS = st.dictionaries(TOKEN.map(str.lower), VALUE, min_size=1, max_size=4)
CHALLENGES = st.lists(st.tuples(TOKEN.map(str.lower), PARAMS), max_size=4)


def quoted(value: str) -> str:
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def written(scheme: str, params: dict[str, str]) -> str:
    return f"{scheme} " + ", ".join(f"{name}={quoted(value)}" for name, value in params.items())


@given(CHALLENGES)
def test_what_is_written_to_the_grammar_is_read_back(challenges: list[tuple[str, dict]]) -> None:
    header = ", ".join(written(scheme, params) for scheme, params in challenges)
    found = [(one.scheme, dict(one.params)) for one in parse_challenges(header)]
    assert found == challenges


@given(st.text(max_size=300))
def test_no_text_is_too_odd_to_be_read(header: str) -> None:
    for one in parse_challenges(header):
        assert one.scheme == one.scheme.lower() and isinstance(one.scopes, tuple | None)


@pytest.mark.parametrize("part", ['a="', 'a="\\', "a=,", "Bearer ", '"', "= ", "a ", "a\t=\t", ","])
def test_no_header_takes_long_to_read(part: str) -> None:
    began = time.perf_counter()
    parse_challenges(part * 100_000)
    assert time.perf_counter() - began < 5  # it takes a few milliseconds; the square of it, minutes


BEARER = [
    ("Bearer", {}),
    ("bearer realm=x", {"realm": "x"}),
    ('Bearer realm="a, b", Scope="r w"', {"realm": "a, b", "scope": "r w"}),
    ('Basic realm="x", Bearer error="e"', {"error": "e"}),
    ("Negotiate dG9rZW4=, Bearer error=e", {"error": "e"}),
    ('Bearer a="1", a="2"', {"a": "1"}),
    ('Bearer a = "1" b="2"', {"a": "1", "b": "2"}),
    ("Bearer resource_metadata=https://x.example/p?q=1", {"resource_metadata": "https://x.example/p?q=1"}),
    ('Bearer a="un\\"quoted", b=2', {"a": 'un"quoted', "b": "2"}),
    ('Bearer a="never closed, b=2', {"b": "2"}),
    ("Bearer ;;;, b=2", {"b": "2"}),
]  # fmt: skip


@pytest.mark.parametrize(("header", "params"), BEARER)
def test_the_bearer_challenge_is_found_in(header: str, params: dict[str, str]) -> None:
    assert parse_challenge(header) == Challenge("bearer", params)


@pytest.mark.parametrize("header", ["", "   ,, ", "Basic realm=x", "realm=x", "=x", "\x00\x01"])
def test_a_header_without_one_gives_an_empty_challenge(header: str) -> None:
    found = parse_challenge(header)
    assert (found.scheme, found.error, found.resource_metadata, found.scopes) == ("", "", "", None)


def test_the_first_of_several_schemes_that_are_spoken_counts() -> None:
    header = 'Bearer error="b", DPoP error="d"'
    assert parse_challenge(header, ("dpop",)).error == "d"
    assert parse_challenge(header, ("dpop", "bearer")).error == "b"


# -- scopes ---------------------------------------------------------------------------------------


def test_what_is_no_scope_is_left_out() -> None:
    assert scopes_in('a  b\ta "c" d\\e f\x07 g:h/i') == ("a", "b", "g:h/i")


@pytest.mark.must("C118")
@pytest.mark.parametrize(
    ("challenged", "resource", "issuer", "before", "asked"),
    [
        (("a",), ("b", "c"), None, None, ("a",)),
        (None, ("b", "c"), None, None, ("b", "c")),
        (None, None, None, None, None),
        (None, None, ("offline_access",), None, None),
        ((), ("b",), None, None, ()),
        (("a",), None, ("a", "offline_access"), None, ("a", "offline_access")),
        (("a",), None, ("a",), None, ("a",)),
        (("b",), ("x",), None, ("a",), ("a", "b")),
        (None, None, None, ("a",), ("a",)),
        (("a", "b"), None, None, ("b",), ("b", "a")),
    ],
)
def test_the_scopes_to_ask_for(
    challenged: tuple[str, ...] | None,
    resource: tuple[str, ...] | None,
    issuer: tuple[str, ...] | None,
    before: tuple[str, ...] | None,
    asked: tuple[str, ...] | None,
) -> None:
    assert scopes_to_ask(challenged, resource, issuer=issuer, before=before) == asked


def test_a_union_keeps_the_order_and_each_once() -> None:
    assert union("ab", "bca", "d") == ("a", "b", "c", "d")
