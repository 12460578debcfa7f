"""One record of the audit log, and the line of JSON that it is in the file."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import UnionType
from typing import Any, Literal, TypeAlias

from mini_agent.types import JsonObject
from mini_agent.visible import BLANKS, visible

Kind: TypeAlias = Literal["", "decision", "intent", "outcome", "torn"]


@dataclass(frozen=True)
class AuditRecord:
    """One line of the file; the fields are in the file's order. "" is "not known".

    ``kind``, ``at`` (seconds since the epoch) and ``run`` (which AuditLog wrote it) are the log's
    to fill in. ``call`` is the model's id of the call, ``exposed`` the tool's name as the model
    knows it, ``schema_hash`` the pin; ``duration`` is in seconds. ``outcome`` is a word such as
    "ok", "tool error" or the class of an exception, and ``reason`` says why. A record of kind
    "torn" is a line that could not be read.
    """

    kind: Kind = ""
    at: float = 0.0
    run: str = ""
    call: str = ""
    server: str = ""
    tool: str = ""
    exposed: str = ""
    arguments: JsonObject = field(default_factory=dict)
    protocol_version: str = ""
    server_release: str = ""
    schema_hash: str = ""
    user: str = ""
    decision: str = ""
    reason: str = ""
    duration: float | None = None
    outcome: str = ""


FIELDS: dict[str, type | UnionType] = {
    **{item.name: str for item in fields(AuditRecord)},
    **{"at": int | float, "arguments": dict, "duration": int | float | None},
}
"""What each field of a line must hold."""

LONGEST_EXCERPT = 80  # bytes of a line that could not be read

_UNUSUAL = re.compile(r"[^\x20-\x7e]")


def to_line(record: AuditRecord) -> bytes:
    """The record as one line of JSON, keys in the order of the fields.

    What acts on a screen or hides on it is written as JSON's escape, so the file may be looked at.

    Raises: TypeError for a field of a wrong type; TypeError, ValueError, RecursionError for
    arguments that JSON cannot say.
    """
    check_types(vars(record))
    text = json.dumps(vars(record), ensure_ascii=False, allow_nan=False)
    return (_UNUSUAL.sub(_escaped, text) + "\n").encode()


def check_types(held: Mapping[str, Any]) -> None:
    """Raises: TypeError for a field that does not hold what a record holds there."""
    for name, wanted in FIELDS.items():
        if name in held and not isinstance(held[name], wanted):
            raise TypeError(f"{name} is of type {type(held[name]).__name__}")


def _escaped(found: re.Match[str]) -> str:
    char = found[0]
    return char if char.isprintable() and char not in BLANKS else json.dumps(char)[1:-1]


def from_line(raw: bytes, number: int) -> AuditRecord:
    """The record in a line, or one of kind "torn" that says which line it was, and what it is."""
    try:
        held = json.loads(raw)
        known = {name: held[name] for name in FIELDS if name in held}
        check_types(known)
        if known["kind"] not in ("decision", "intent", "outcome"):
            raise ValueError("its kind is none")
        return AuditRecord(**known)
    except (ValueError, TypeError, KeyError, RecursionError) as cause:
        what = "has no end: it was cut by a crash" if raw[-1:] != b"\n" else "is no record"
        begins = visible(raw[:LONGEST_EXCERPT].decode("utf-8", "replace"))
        why = f"{type(cause).__name__}; it begins {begins}"
        return AuditRecord(kind="torn", reason=f"line {number} {what} ({why})")
