"""One full round on the calendar, with a model that is a script: no key, no network.

Notebook 00 and ``mini-agent demo`` play the same round.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from mini_agent.model_client import Request, ScriptedModel
from mini_agent.types import ModelEvent, Text, ToolCall

PROMPT = "I need an hour with the design team on Monday. Is 15:00 free? If it is, book it."
SERVER = (sys.executable, "-P", "-m", "fake_servers.calendar")
"""-P: a file of that name in the working directory is not what is meant."""


def demo_model() -> ScriptedModel:
    """A model that looks first, then asks to book, then says what came of it."""
    return ScriptedModel(
        [
            [
                Text("Let me look at Monday."),
                ToolCall("toolu_1", "calendar_query", {"date": "2026-08-03"}),
            ],
            [
                Text("15:00 is free. I will book the hour."),
                ToolCall(
                    "toolu_2",
                    "calendar_create",
                    {
                        "title": "Design team",
                        "start": "2026-08-03T15:00",
                        "end": "2026-08-03T16:00",
                    },
                ),
            ],
            _answer,
        ]
    )


def _answer(request: Request) -> Sequence[ModelEvent]:
    last = request.messages[-1]["content"][-1]
    if last.get("is_error"):
        return [Text(f"15:00 on Monday is free, but I did not book it ({last['content']}).")]
    return [Text("Done: the design team, Monday 15:00 to 16:00.")]
