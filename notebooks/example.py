"""The worked example: the calendar's design notes, as notebook 19 makes them for your service.

python -m notebooks.example     write notebooks/design-notes-example
"""

from __future__ import annotations

import asyncio
from pathlib import Path

from fake_servers.calendar import calendar_server
from fake_servers.memory import InMemoryTransport
from mini_agent.approval import Decision
from mini_agent.catalog import Review, review
from mini_agent.design_notes import Notes, write
from mini_agent.mcp import McpClient
from mini_agent.types import JsonObject
from notebooks.path import HERE

FOLDER = HERE / "design-notes-example"
EXAMPLES: dict[str, JsonObject] = {
    "calendar_query": {"date": "2026-08-04"},
    "calendar_create": {
        "title": "Lunch",
        "start": "2026-08-04T12:00",
        "end": "2026-08-04T12:30",
    },
    "calendar_delete": {"id": "apt-3"},
}
DECISIONS: tuple[tuple[str, Decision, str], ...] = (
    (
        "calendar_query",
        "allow",
        "It only reads: its source was read. It can return kim's appointments, so it is allowed in "
        "robin's own host and nowhere else.",
    ),
    (
        "calendar_create",
        "ask",
        "It writes what others will see. Each booking is shown; with nobody to ask it is denied by "
        "its name.",
    ),
    (
        "calendar_delete",
        "deny",
        "It cannot be undone. Where it is needed, this becomes ask: then each deletion is "
        "confirmed by hand.",
    ),
)
ANSWERS = {
    2: "Create and delete change it, query does not: all three were run and the store compared.",
    3: "None. The server runs on robin's machine, as robin, and is not told who asks.",
    4: "No destination: it opens no connection. Nothing holds it back if it did.",
    5: "None. It has the file of appointments and nothing else.",
    7: "By the kit's own release; the pins above notice a tool that changed in between.",
    8: "Decision, intent and outcome of each call; robin reads it, and keeps it for a year.",
    9: "Take it out of the host's list of servers. It holds no credentials to withdraw.",
    10: "In wrong hands it can read and lose appointments until the next pin; robin would see it "
    "in the audit log.",
}
OURS = {
    "invalid arguments": "calendar_query of a date that is none is refused; nothing is sent.",
    "expired or foreign token": "No token: the server is a child process on this machine.",
    "user without access": "Kim's private appointments are in reach of robin's host. Open.",
    "server unavailable": "The terminal ends with code 1; only calendar_query is tried again.",
    "timeout after a write": "No key yet: look the day up before booking once more. Open.",
    "malformed response": "The process is ended, and the record names its release.",
    "hostile text in a result": "The invitation of apt-2 stays a result; deleting is denied.",
    "a tool's schema changed": "The tool is withheld and the difference shown.",
}


async def calendar_review() -> Review:
    """The calendar's review, with the decisions and answers of its user."""
    async with McpClient(InMemoryTransport(calendar_server()), server="calendar") as client:
        reviewed = await review(client)
    for name, decision, why in DECISIONS:
        reads = decision == "allow"
        reviewed = reviewed.decide(name, decision, why=why, read_only=reads)
    for number, text in ANSWERS.items():
        reviewed = reviewed.answer(number, text)
    return reviewed


async def calendar_notes() -> Notes:
    """The calendar's design notes."""
    purpose = "Robin's assistant reads the day, and books what robin has seen and approved."
    notes = Notes(await calendar_review(), purpose, "Robin, who runs it.", EXAMPLES)
    for what, ours in OURS.items():
        notes = notes.failing(what, ours)
    return notes


async def write_example(folder: Path = FOLDER) -> Path:
    """Write the folder."""
    return await write(await calendar_notes(), folder)


if __name__ == "__main__":
    asyncio.run(write_example())
