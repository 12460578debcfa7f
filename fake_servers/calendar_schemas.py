"""What the calendar's tools accept and return, as JSON Schema."""

from __future__ import annotations

from typing import Any

from fake_servers.calendar_data import ME, OWNERS
from fake_servers.wire import Message

DAY = r"^\d{4}-\d{2}-\d{2}$"
MINUTE = r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$"


def _object(required: list[str], **properties: Any) -> Message:
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _text(description: str, **more: Any) -> Message:
    return {"type": "string", "description": description, **more}


_OWNER = _text("Whose calendar.", enum=list(OWNERS), default=ME)
_START = _text("Local time, YYYY-MM-DDTHH:MM.", pattern=MINUTE)
_END = _text("Local time, YYYY-MM-DDTHH:MM, after start.", pattern=MINUTE)

APPOINTMENT = _object(
    ["id", "title", "start", "end", "owner", "description"],
    id={"type": "string"},
    title={"type": "string"},
    start={"type": "string", "pattern": MINUTE},
    end={"type": "string", "pattern": MINUTE},
    owner={"type": "string", "enum": list(OWNERS)},
    description=_text("Written by whoever made the appointment."),
)

QUERY_IN = _object(
    ["date"],
    date=_text("The day, YYYY-MM-DD.", pattern=DAY),
    owner=_text("Whose appointments.", enum=[*OWNERS, "all"], default=ME),
)
QUERY_OUT = _object(
    ["date", "owner", "appointments"],
    date={"type": "string", "pattern": DAY},
    owner={"type": "string", "enum": [*OWNERS, "all"]},
    appointments={"type": "array", "items": APPOINTMENT},
)

CREATE_IN = _object(
    ["title", "start", "end"],
    title=_text("What the appointment is about.", minLength=1, maxLength=200),
    start=_START,
    end=_END,
    owner=_OWNER,
    description=_text("Notes for the appointment.", maxLength=2000, default=""),
)
CREATE_OUT = _object(
    ["created", "overlaps"],
    created=APPOINTMENT,
    overlaps={
        "type": "array",
        "items": {"type": "string"},
        "description": "Ids of the owner's other appointments at that time.",
    },
)

DELETE_IN = _object(["id"], id=_text("The appointment's id, as calendar_query gives it."))
DELETE_OUT = _object(["deleted"], deleted=APPOINTMENT)
