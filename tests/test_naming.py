"""One name for each tool of several servers: injective, stable, and what the model's API takes."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mini_agent.hosting.naming import Key, exposed_names, plain_name

# Few letters, so that names which run into each other are common.
NAME = st.text("ab_.é", min_size=1, max_size=6)
KEYS = st.lists(st.tuples(NAME, NAME), unique=True, max_size=8)


@pytest.mark.parametrize(
    ("server", "tool", "name"),
    [
        ("web", "search", "web_search"),
        ("calendar", "calendar_create", "calendar_create"),
        ("calendar", "calendar-create", "calendar-create"),
        ("calendar", "calendars", "calendar_calendars"),
        ("fetch", "fetch", "fetch"),
        ("a", "ab", "a_ab"),
    ],
)
def test_a_name_carries_its_server_once(server: str, tool: str, name: str) -> None:
    assert plain_name(server, tool) == name


@given(keys=KEYS, taken=st.lists(NAME, max_size=3), long=st.booleans())
def test_no_two_tools_share_a_name_and_none_takes_a_local_one(
    keys: list[Key], taken: list[str], long: bool
) -> None:
    keys = [(server, tool * 40) for server, tool in keys] if long else keys
    names = exposed_names(keys, taken)
    assert names.keys() == set(keys)
    assert len({*names.values()}) == len(keys) and not {*names.values()} & {*taken}
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name) for name in names.values())


@given(keys=KEYS, data=st.data())
def test_the_order_of_servers_and_lists_changes_no_name(
    keys: list[Key], data: st.DataObject
) -> None:
    again = data.draw(st.permutations(keys))
    assert exposed_names(again) == exposed_names(keys)


@given(keys=KEYS, added=st.tuples(NAME, NAME))
def test_a_tool_that_is_added_never_gets_the_name_that_another_had(
    keys: list[Key], added: Key
) -> None:
    before = exposed_names(keys)
    after = exposed_names([*keys, added])
    had = {name: key for key, name in before.items() if key != added}
    assert after[added] not in had


COLLIDING: list[list[Key]] = [
    [("s", "a.b"), ("s", "a_b")],
    [("a", "b_c"), ("a_b", "c")],
    [("calendar", "create"), ("calendar", "calendar_create")],
]


@pytest.mark.parametrize("keys", COLLIDING)
@pytest.mark.case("T05")
def test_names_that_would_run_into_each_other_are_told_apart_the_same_way_tomorrow(
    keys: list[Key],
) -> None:
    names = exposed_names(keys)
    assert len(set(names.values())) == 2
    assert exposed_names(reversed(keys)) == names


def test_these_names_are_those_of_yesterday() -> None:
    assert exposed_names(COLLIDING[1]) == {
        ("a", "b_c"): "a_b_c_1f2902ec",
        ("a_b", "c"): "a_b_c_c4ffd816",
    }


def test_a_local_tool_may_have_a_name_that_looks_hashed() -> None:
    names = exposed_names(COLLIDING[1], ["a_b_c_1f2902ec"])
    assert "a_b_c_1f2902ec" not in names.values() and len(set(names.values())) == 2


def test_a_server_cannot_take_a_hashed_name_by_guessing_it() -> None:
    keys: list[Key] = [("a", "b_c"), ("a_b", "c")]
    guessed = exposed_names(keys)["a", "b_c"].removeprefix("a_")
    names = exposed_names([*keys, ("a", guessed)])
    assert len(set(names.values())) == 3
    assert names["a", guessed] != exposed_names(keys)["a", "b_c"]
