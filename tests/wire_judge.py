"""Is what the code sends right? The official SDK's wire types decide, on every message of a run.

Every transport notes each message as it leaves (``OneListener.note("sent", …)``): that is the one
seam. A test that sends wrong messages on purpose is marked ``@pytest.mark.sends_wrong("why")``, one
that speaks an older revision ``@pytest.mark.speaks("2025-11-25")``.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, NamedTuple

from mcp_types import methods
from pydantic import BaseModel, ValidationError

from mini_agent.mcp.messages import META, encode, is_request_id
from mini_agent.mcp.transport import OneListener

OWN = "test/"
"""Methods of the tests themselves: only the envelope is judged."""


class Wrong(NamedTuple):
    """A message that was sent, and what is wrong with it."""

    message: dict[str, Any]
    why: str


def fault(message: dict[str, Any], otherwise: str = "2026-07-28") -> str:
    """What is wrong with a message of a client, one sentence; '' when it is right.

    ``otherwise`` is the revision of a message that does not name its own.
    """
    if message.get("jsonrpc") != "2.0" or "method" not in message:
        return "it is no request and no notification of JSON-RPC 2.0"
    if "id" in message and (message["id"] is None or not is_request_id(message["id"])):
        return f"its id is {message['id']!r}"
    if message["method"].startswith(OWN):
        return ""
    return _fault_of_shape(message, _version(message) or otherwise)


def _version(message: dict[str, Any]) -> str | None:
    meta = message.get("params", {}).get("_meta", {})
    version = meta.get(f"{META}protocolVersion")
    return version if isinstance(version, str) else None


def _fault_of_shape(message: dict[str, Any], version: str) -> str:
    table = methods.CLIENT_REQUESTS if "id" in message else methods.CLIENT_NOTIFICATIONS
    shape = table.get((message["method"], version))
    if shape is None:
        return f"{version} has no such message of a client"
    try:
        judged = shape.model_validate_json(encode(message), strict=True, by_name=False)
    except ValidationError as error:
        return str(error)
    lost = _lost(message, _said_by(judged))
    return f"the schema does not know {lost}" if lost else ""


def _said_by(judged: BaseModel) -> Any:
    return judged.model_dump(mode="json", by_alias=True, exclude_unset=True)


def _lost(said: Any, kept: Any, path: str = "") -> str:
    """The first thing of ``said`` that ``kept`` has not: the types drop what they do not know."""
    if isinstance(said, dict) and isinstance(kept, dict):
        for key, value in said.items():
            if key not in kept:
                return f"{path}/{key}"
            if found := _lost(value, kept[key], f"{path}/{key}"):
                return found
    if isinstance(said, list) and isinstance(kept, list):
        for number, (value, other) in enumerate(zip(said, kept, strict=False)):
            if found := _lost(value, other, f"{path}/{number}"):
                return found
    return ""


def judged_note(tell: Callable[[Wrong], None]) -> Callable[..., None]:
    """``OneListener.note`` that judges each message sent and tells what is wrong with it."""
    note = OneListener.note

    def judge(self: OneListener, what: str, **facts: Any) -> None:
        if what == "sent" and (why := fault(facts["message"])):
            tell(Wrong(copy.deepcopy(facts["message"]), why))
        note(self, what, **facts)

    return judge
