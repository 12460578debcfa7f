"""What an event holds, in a few words: the same ones in every drawing. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from mini_agent.calls import CANCELLED, FAILED
from mini_agent.drawing.canvas import BUSINESS, NEUTRAL, PROTOCOL, Look
from mini_agent.trace import Event


def failure_mark(facts: Mapping[str, Any]) -> str:
    """What the conversation says of a call that raised: the marker, never the details."""
    return f'"{CANCELLED if facts.get("error") == "CancelledError" else FAILED}"'


def ended(exit_code: Any) -> str:
    """How a connection came to its end."""
    if not isinstance(exit_code, int):
        return "closed"
    how = f", exit code {exit_code}" if exit_code >= 0 else f" by signal {-exit_code}"
    return f"the process ended{how}"


def named(message: Any) -> str:
    """A request or notification by method, what it is about, and id."""
    if not isinstance(message, dict):
        return brief(message)
    params = message.get("params")
    about = params.get("name") or params.get("uri") if isinstance(params, dict) else None
    number = f"id {message['id']}" if "id" in message else ""
    return " ".join(str(part) for part in (message.get("method"), about, number) if part)


def answer(message: Any) -> tuple[str, Look]:
    """A message from the server in a few words, and which path it takes."""
    match message:
        case {"method": _}:
            return named(message), NEUTRAL
        case {"id": number, "error": {"code": code}}:
            return f"error {code} id {number}", PROTOCOL
        case {"id": number, "result": {"isError": True}}:
            return f"isError: true id {number}", BUSINESS
        case {"id": number, "result": {"resultType": "input_required"}}:
            return f"input_required id {number}", NEUTRAL
        case {"id": number, "result": _}:
            return f"result id {number}", NEUTRAL
    return brief(message), PROTOCOL


def quoted(text: Any) -> str:
    """Text on one line in quotation marks, so that it is seen where it ends."""
    return "“" + str(text).replace("\n", " ") + "”"


def short(text: str, most: int = 80) -> str:
    """At most ``most`` characters, cut visibly: for the words beside a drawing."""
    return text if len(text) <= most else text[: most - 1] + "…"


def brief(value: Any) -> str:
    """Any value as JSON on one line."""
    return json.dumps(value, ensure_ascii=False, default=str)


def told_plainly(event: Event) -> str:
    """An event that no row is made for, as it stands."""
    return f"{event.what} {brief(dict(event.facts))}"
