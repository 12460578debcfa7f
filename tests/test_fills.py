"""Arguments that the host fills in: not in the model's schema, and the same for the same call."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mini_agent.approval import HostCall
from mini_agent.hosting.fills import Fill, current_run, filled, operation_key, running, without

DRAFT = HostCall(
    "t",
    "refunds_create",
    {"order_id": "ord_4821", "amount_minor": 4250, "currency": "EUR"},
    server="refunds",
    tool="create",
)
KEY = operation_key("refunds", "create")
SOME = operation_key("refunds", "create", of=("order_id", "amount_minor"))


def key(call: HostCall = DRAFT, run: str = "r1", user: str = "robin", fill: Fill = KEY) -> Any:
    with running(run, user):
        return filled(call, [fill]).input["operation_key"]


def but(**changes: Any) -> HostCall:
    return replace(DRAFT, input={**DRAFT.input, **changes})


def test_the_same_call_asked_again_in_the_same_run_has_the_same_key() -> None:
    again = replace(DRAFT, id="another", input=dict(reversed(DRAFT.input.items())))
    assert key() == key(again) and len(key()) == 64


@pytest.mark.parametrize(
    "other",
    [
        {"run": "r2"},
        {"user": "kim"},
        {"call": but(amount_minor=4251)},
        {"call": but(order_id="ord_4822")},
        {"call": but(note="please")},
        {"call": replace(DRAFT, tool="create_other")},
        {"call": replace(DRAFT, server="other")},
    ],
)
def test_another_run_user_tool_or_argument_has_another_key(other: dict[str, Any]) -> None:
    assert key(**other) != key()


def test_one_string_is_no_list_of_arguments() -> None:
    with pytest.raises(TypeError, match="a list of arguments"):
        operation_key("refunds", "create", of="order_id")


def test_a_key_may_be_made_of_some_arguments_only() -> None:
    assert key(but(note="please"), fill=SOME) == key(fill=SOME)
    assert key(but(amount_minor=1), fill=SOME) != key(fill=SOME)


@given(amount=st.integers(-(2**53), 2**53))
def test_a_whole_number_written_with_a_point_is_the_same_amount(amount: int) -> None:
    assert key(but(deep=[{"a": amount}])) == key(but(deep=[{"a": float(amount)}]))


def test_true_is_not_one() -> None:
    assert key(but(amount_minor=True)) != key(but(amount_minor=1))


def test_what_is_filled_in_stands_beside_what_the_model_gave() -> None:
    def run_of(run: Any, call: HostCall) -> str:
        return f"{run.user}, {run.id}, {call.input['order_id']}"

    with running("r1", "robin"):
        made = filled(DRAFT, [Fill("refunds", "create", "why", run_of), KEY])
    assert made.input["why"] == "robin, r1, ord_4821"
    assert made.input.items() >= DRAFT.input.items() and "why" not in DRAFT.input


SCHEMA = {
    "type": "object",
    "properties": {"order_id": {"type": "string"}, "operation_key": {"type": "string"}},
    "required": ["order_id", "operation_key"],
    "additionalProperties": False,
}


def test_the_models_schema_has_nothing_of_it() -> None:
    shown = without(SCHEMA, ["operation_key"])
    assert "operation_key" not in str(shown)
    assert shown["properties"].keys() == {"order_id"} and shown["required"] == ["order_id"]
    assert "operation_key" in SCHEMA["properties"]
    assert without(SCHEMA, []) is SCHEMA and without({"type": "object"}, ["x"]) == {
        "type": "object"
    }


# -- the run --------------------------------------------------------------------------------------


def test_outside_of_a_run_a_key_would_be_shared_so_there_is_none() -> None:
    with pytest.raises(ValueError, match=r"with host.run\(\)"):
        filled(DRAFT, [KEY])
    assert filled(DRAFT, []) == DRAFT


def test_a_run_without_a_name_is_another_each_time() -> None:
    with running("", "robin") as one, running("", "robin") as other:
        assert one.id and one.id != other.id and current_run() == other
    with pytest.raises(ValueError):
        current_run()


async def test_two_runs_at_once_keep_their_own() -> None:
    both = asyncio.Barrier(2)

    async def run(name: str) -> Any:
        with running(name, "robin"):
            await both.wait()
            return filled(DRAFT, [KEY]).input["operation_key"]

    one, other, again = await asyncio.gather(run("r1"), run("r2"), asyncio.sleep(0, key()))
    assert one == again != other
