"""Which servers a user may reach: a table or a check, and nobody who is not signed in."""

from __future__ import annotations

from typing import Any

import pytest

from mini_agent.approval import HostCall
from mini_agent.hosting.access import Access, may_reach
from mini_agent.types import Approval

CALL = HostCall("t", "refunds_get_order", {"order_id": "ord_1"}, server="refunds", tool="get_order")
LOCAL = HostCall("t", "read", {}, server="", tool="read")
TABLE = {"robin": ["refunds", "calendar"], "kim": ["calendar"]}


@pytest.mark.parametrize(
    ("user", "approved", "reason"),
    [
        ("robin", True, ""),
        ("kim", False, "kim may not use server refunds"),
        ("mallory", False, "mallory may not use server refunds"),
        ("", False, "nobody is signed in who may use server refunds"),
        (None, False, "nobody is signed in who may use server refunds"),
    ],
)
async def test_a_table_names_each_users_servers(
    user: str | None, approved: bool, reason: str
) -> None:
    assert await may_reach(TABLE, user, CALL) == Approval(approved, reason)


async def test_without_a_check_everybody_may_and_a_local_tool_needs_none() -> None:
    assert (await may_reach(None, None, CALL)).approved
    assert (await may_reach(TABLE, None, LOCAL)).approved


def owns(user: str, call: HostCall) -> Approval:
    return Approval(call.input["order_id"] == "ord_1" and user == "robin", "orders are one's own")


async def later(user: str, call: HostCall) -> Approval:
    return owns(user, call)


@pytest.mark.parametrize("check", [owns, later])
async def test_a_check_is_given_the_user_and_the_whole_call(check: Any) -> None:
    assert (await may_reach(check, "robin", CALL)).approved
    assert await may_reach(check, "kim", CALL) == Approval(False, "orders are one's own")


async def test_a_check_is_not_asked_about_nobody() -> None:
    def check(user: str, call: HostCall) -> Approval:
        raise AssertionError("nobody is signed in")

    assert not (await may_reach(check, None, CALL)).approved


async def test_one_string_is_no_list_of_servers() -> None:
    access: Access = {"kim": "refunds and more"}
    with pytest.raises(TypeError):
        await may_reach(access, "kim", CALL)


async def test_a_users_name_cannot_act_on_the_screen() -> None:
    assert "\\x1b" in (await may_reach(TABLE, "kim\x1b[2K", CALL)).reason
