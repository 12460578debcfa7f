"""What a subscription asks for and is told, as pure functions over messages.

Revision 2026-07-28, basic/patterns/subscriptions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mini_agent.errors import MalformedMessage
from mini_agent.mcp.messages import META, excerpt
from mini_agent.types import JsonObject

ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
UPDATED = "notifications/resources/updated"
LISTS = ("tools", "prompts", "resources")
URIS = "resourceSubscriptions"


@dataclass(frozen=True)
class Change:
    """What changed: the list of "tools", "prompts" or "resources", or the "resource" at ``uri``.

    "everything" says that the subscription broke and is open again: whatever it was to tell of may
    have changed in between.
    """

    what: str
    uri: str = ""


def listen_filter(
    *, tools: bool, prompts: bool, resources: bool, uris: Sequence[str]
) -> JsonObject:
    """The ``notifications`` of the request (#notification-filter).

    Raises: ValueError when nothing is asked for; TypeError for one string in place of a list.
    """
    if isinstance(uris, str):
        raise TypeError("uris must be a list of URIs, not one string")
    flags = zip(LISTS, (tools, prompts, resources), strict=True)
    wanted: JsonObject = {f"{name}ListChanged": True for name, flag in flags if flag}
    if uris:
        wanted[URIS] = list(uris)
    if not wanted:
        raise ValueError("say what to listen for: tools, prompts, resources or uris")
    return wanted


def not_granted(wanted: JsonObject, granted: JsonObject) -> list[str]:
    """The names and URIs of ``wanted`` that ``granted`` leaves out."""
    told = granted.get(URIS)
    flags = [name for name in wanted if name != URIS and granted.get(name) is not True]
    return flags + [uri for uri in wanted.get(URIS, []) if uri not in (told or [])]


def parse_acknowledgement(message: JsonObject) -> JsonObject:
    """What the server agreed to tell of.

    Raises: MalformedMessage for any other message: this one comes first (#acknowledgment).
    """
    params = message.get("params")
    granted = params.get("notifications") if isinstance(params, dict) else None
    if message.get("method") != ACKNOWLEDGED or not isinstance(granted, dict):
        raise MalformedMessage(
            "a subscription must begin with its acknowledgement", excerpt=excerpt(message)
        )
    return granted


def change_of(message: JsonObject) -> Change | None:
    """What a notification of a subscription tells, None where it tells of no change."""
    method, params = message["method"], message.get("params")
    if method == UPDATED:
        uri = params.get("uri") if isinstance(params, dict) else None
        return Change("resource", uri) if isinstance(uri, str) else None
    for name in LISTS:
        if method == f"notifications/{name}/list_changed":
            return Change(name)
    return None


def subscription_id(message: JsonObject) -> int | str | None:
    """The id of the request that a notification belongs to, None when it belongs to none."""
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    value = meta.get(f"{META}subscriptionId") if isinstance(meta, dict) else None
    return value if isinstance(value, int | str) and not isinstance(value, bool) else None
