"""An approval holds for one call to the letter: any change of it voids the approval."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mini_agent.approval import HostCall
from mini_agent.difference import canonical
from mini_agent.hosting.grants import Grants, binding
from mini_agent.trace import following

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8
)
ARGUMENTS = st.dictionaries(st.text(), VALUES, max_size=4)
WORDS = st.text(max_size=4)
CALLS = st.builds(HostCall, st.just("t"), WORDS, ARGUMENTS, server=WORDS, tool=WORDS, pin=WORDS)


def granted(call: HostCall) -> Grants:
    grants = Grants()
    grants.give(binding(call), call.decision)
    return grants


@given(call=CALLS)
def test_an_approval_is_used_once(call: HostCall) -> None:
    grants = granted(call)
    again = copy.deepcopy(call)
    assert grants.take(binding(again)) == "ask"
    assert grants.take(binding(again)) is None


@given(call=CALLS, data=st.data(), what=st.sampled_from(["server", "tool", "pin", "input"]))
def test_any_other_server_tool_pin_or_argument_has_no_approval(
    call: HostCall, data: st.DataObject, what: str
) -> None:
    other = data.draw(ARGUMENTS if what == "input" else WORDS)
    assume(canonical(other) != canonical(getattr(call, what)))
    grants = granted(call)
    assert grants.take(binding(replace(call, **{what: other}))) is None
    assert grants.take(binding(call)) == "ask"


def some_place(value: Any, data: st.DataObject) -> tuple[Any, Any]:
    """A container somewhere in ``value``, and a key or an index of it."""
    while True:
        key = data.draw(
            st.sampled_from(sorted(value) if isinstance(value, dict) else range(len(value)))
        )
        if not isinstance(value[key], dict | list) or not value[key] or data.draw(st.booleans()):
            return value, key
        value = value[key]


@given(call=CALLS, data=st.data(), new=VALUES)
def test_a_change_anywhere_inside_the_arguments_has_no_approval(
    call: HostCall, data: st.DataObject, new: Any
) -> None:
    assume(call.input)
    changed = copy.deepcopy(call)
    holder, key = some_place(changed.input, data)
    assume(canonical(holder[key]) != canonical(new))
    holder[key] = new
    assert granted(call).take(binding(changed)) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, True),
        (1, 1.0),
        (0, -0.0),
        (0, False),
        (None, "null"),
        ("é", "e\u0301"),
        ([], {}),
        ("", None),
    ],
)
def test_values_that_python_or_a_reader_takes_for_one_are_two(one: Any, other: Any) -> None:
    call = HostCall("t", "n", {"a": one}, server="s", tool="n")
    assert granted(call).take(binding(replace(call, input={"a": other}))) is None


def test_the_order_of_keys_is_no_change() -> None:
    call = HostCall("t", "n", {"a": 1, "b": {"c": 2, "d": 3}}, server="s", tool="n")
    turned = replace(call, input={"b": {"d": 3, "c": 2}, "a": 1})
    assert granted(call).take(binding(turned)) == "ask"


def test_what_one_call_was_granted_serves_no_other() -> None:
    call = HostCall("t", "n", {}, server="s", tool="n")
    with following("toolu_1"):
        grants = granted(call)
        with following("toolu_2"):
            assert grants.take(binding(call)) is None
        assert grants.take(binding(call)) == "ask"


def test_what_a_call_was_granted_ends_with_it_also_for_one_of_the_same_id() -> None:
    call = HostCall("t", "n", {}, server="s", tool="n")
    with following("toolu_1"):
        grants = granted(call)
    with following("toolu_1"):
        assert grants.take(binding(call)) is None
    assert grants.take(binding(call)) is None


def test_two_approvals_of_the_same_are_two() -> None:
    call = HostCall("t", "n", {}, server="s", tool="n", decision="allow")
    grants = granted(call)
    grants.give(binding(call), "ask")
    assert {grants.take(binding(call)), grants.take(binding(call))} == {"allow", "ask"}
    assert grants.take(binding(call)) is None
