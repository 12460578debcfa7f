"""May this call reach that server for the user who is signed in? Asked before anybody else is."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import TypeAlias

from mini_agent.approval import HostCall
from mini_agent.types import Approval
from mini_agent.visible import visible

Access: TypeAlias = (
    Mapping[str, Collection[str]] | Callable[[str, HostCall], Approval | Awaitable[Approval]]
)
"""The servers that each user may reach, by their configured names; or a check of user and call."""


async def may_reach(access: Access | None, user: str | None, call: HostCall) -> Approval:
    """Yes without a check, and for a local tool. With one, nobody who is not signed in gets by."""
    if access is None or not call.server:
        return Approval(True)
    if not user:
        return Approval(False, f"nobody is signed in who may use server {visible(call.server)}")
    if isinstance(access, Mapping):
        return listed(access, user, call.server)
    answer = access(user, call)
    return await answer if inspect.isawaitable(answer) else answer


def listed(access: Mapping[str, Collection[str]], user: str, server: str) -> Approval:
    """What the table says.

    Raises: TypeError for one string in place of a list: parts of it would count as names.
    """
    servers = access.get(user, ())
    if isinstance(servers, str):
        raise TypeError(f"access of {user}: give a list of servers, not one string")
    if server in servers:
        return Approval(True)
    return Approval(False, f"{visible(user)} may not use server {visible(server)}")
