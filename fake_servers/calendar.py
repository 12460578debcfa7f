"""The good server: a calendar. ``python -m fake_servers.calendar`` serves it over stdio.

Every fresh start has the same data and the same "today", so its answers never change.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import date, datetime

from fake_servers.calendar_data import APPOINTMENTS, ME, TODAY, Appointment
from fake_servers.calendar_schemas import (
    CREATE_IN,
    CREATE_OUT,
    DELETE_IN,
    DELETE_OUT,
    QUERY_IN,
    QUERY_OUT,
)
from fake_servers.context import Context
from fake_servers.core import Server
from fake_servers.declare import Output, Prompt, PromptArgument, Resource, Tool, ToolFailure
from fake_servers.wire import Message

INSTRUCTIONS = (
    f"A calendar for two people, robin (the user) and kim. Today is {TODAY}, a Monday. "
    "Times are local. Query a day before you book on it."
)


class Calendar:
    """Appointments by id, and what may be done with them."""

    def __init__(self, appointments: Iterable[Appointment] = APPOINTMENTS) -> None:
        self.appointments = {a.id: a for a in appointments}
        self._last = len(self.appointments)

    def on(self, day: str, owner: str) -> list[Appointment]:
        """The appointments that begin on ``day``, in order; ``owner`` "all" gives everybody's."""
        found = (a for a in self.appointments.values() if owner in (a.owner, "all"))
        return sorted((a for a in found if a.start[:10] == day), key=lambda a: (a.start, a.id))

    async def query(self, arguments: Message, context: Context) -> Output:
        """The tool calendar_query."""
        day, owner = _day(arguments["date"]), arguments.get("owner", ME)
        found = self.on(day, owner)
        structured = {"date": day, "owner": owner, "appointments": [asdict(a) for a in found]}
        return Output(_day_text(day, owner, found), structured)

    async def create(self, arguments: Message, context: Context) -> Output:
        """The tool calendar_create. It books twice when it is called twice."""
        start, end = _minute("start", arguments["start"]), _minute("end", arguments["end"])
        if end <= start:
            raise ToolFailure(f"end must be after start, got {start} to {end}.")
        self._last += 1
        owner, notes = arguments.get("owner", ME), arguments.get("description", "")
        made = Appointment(f"apt-{self._last}", arguments["title"], start, end, owner, notes)
        overlaps = self._overlapping(made)
        self.appointments[made.id] = made
        text = f"Created {_line(made)}."
        if overlaps:
            text += f" It overlaps {', '.join(overlaps)}."
        return Output(text, {"created": asdict(made), "overlaps": overlaps})

    async def delete(self, arguments: Message, context: Context) -> Output:
        """The tool calendar_delete. There is no way back."""
        gone = self.appointments.pop(arguments["id"], None)
        if gone is None:
            raise ToolFailure(
                f"There is no appointment {arguments['id']}; calendar_query lists the ids of a day."
            )
        return Output(f"Deleted {_line(gone)}.", {"deleted": asdict(gone)})

    def _overlapping(self, new: Appointment) -> list[str]:
        others = (a for a in self.appointments.values() if a.owner == new.owner)
        return sorted(a.id for a in others if a.start < new.end and new.start < a.end)

    async def today(self, context: Context) -> str:
        """The resource calendar://today."""
        return _day_text(TODAY, ME, self.on(TODAY, ME))

    async def plan_day(self, arguments: Mapping[str, str], context: Context) -> str:
        """The prompt plan_day."""
        return (
            f"Plan my day on {arguments.get('date', TODAY)}. Read my appointments with "
            "calendar_query first. Propose when to do focused work, and book nothing without "
            "asking me."
        )


def calendar_server(calendar: Calendar | None = None) -> Server:
    """A fresh server, on its own copy of the data unless ``calendar`` is given."""
    calendar = calendar or Calendar()
    return Server(
        "calendar",
        instructions=INSTRUCTIONS,
        tools=_tools(calendar),
        resources=[
            Resource(
                "calendar://today",
                "today",
                calendar.today,
                description="The user's appointments of today.",
            )
        ],
        prompts=[
            Prompt(
                "plan_day",
                "Plan a day around its appointments.",
                calendar.plan_day,
                [PromptArgument("date", "The day, YYYY-MM-DD; today when it is left out.")],
            )
        ],
    )


def _tools(calendar: Calendar) -> list[Tool]:
    closed = {"openWorldHint": False}
    return [
        Tool(
            "calendar_query",
            "The appointments of a day.",
            calendar.query,
            QUERY_IN,
            QUERY_OUT,
            {"readOnlyHint": True, **closed},
        ),
        Tool(
            "calendar_create",
            "Create an appointment. It does not stop at an overlap, but names it.",
            calendar.create,
            CREATE_IN,
            CREATE_OUT,
            {"readOnlyHint": False, "destructiveHint": False, "idempotentHint": False, **closed},
        ),
        Tool(
            "calendar_delete",
            "Delete an appointment for good.",
            calendar.delete,
            DELETE_IN,
            DELETE_OUT,
            {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": True, **closed},
        ),
    ]


def _day(text: str) -> str:
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise ToolFailure(
            f'date must be a real day, written YYYY-MM-DD like {TODAY}, got "{text}".'
        ) from None


def _minute(name: str, text: str) -> str:
    try:
        return datetime.fromisoformat(text).isoformat(timespec="minutes")
    except ValueError:
        accepted = f"a real time, written YYYY-MM-DDTHH:MM like {TODAY}T15:00"
        raise ToolFailure(f'{name} must be {accepted}, got "{text}".') from None


def _day_text(day: str, owner: str, found: list[Appointment]) -> str:
    whose = "everybody" if owner == "all" else owner
    if not found:
        return f"{day}, {whose}: no appointments."
    return "\n".join([f"{day}, {whose}:", *(_entry(a, owner) for a in found)])


def _entry(a: Appointment, owner: str) -> str:
    whose = f", {a.owner}" if owner == "all" else ""
    notes = f": {a.description}" if a.description else ""
    return f"- {a.start[11:]} to {a.end[11:]} {a.title} ({a.id}{whose}){notes}"


def _line(a: Appointment) -> str:
    return f"{a.id}: {a.title}, {a.start.replace('T', ' ')} to {a.end[11:]}, {a.owner}"


if __name__ == "__main__":
    from fake_servers.stdio import main

    main(calendar_server())
