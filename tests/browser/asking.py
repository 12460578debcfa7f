"""The cells in which a card asks: a whole agent round whose one tool leaves a file when it runs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

PLAIN: Mapping[str, Any] = {"start": "2026-08-03T15:00", "title": "Review"}

ROUND = """
import json
from pathlib import Path
from mini_agent.agent import run_agent
from mini_agent.approval import Policy, Rule, guard
from mini_agent.model_client import ScriptedModel
from mini_agent.types import Text, Tool, ToolCall, ToolResult, ToolSpec
from mini_agent.widgets import ask_in_notebook

async def leave_a_mark(arguments):
    with Path({marker!r}).open("a") as file:
        file.write(arguments["title"] + "|")
    return ToolResult("booked")

book = Tool(ToolSpec("calendar_create", "Books an appointment."), leave_a_mark)
calls = [ToolCall(f"toolu_{{n}}", "calendar_create", i) for n, i in enumerate({inputs!r})]
policy = Policy([Rule("calendar_create", "ask", why="it writes an appointment")])
result = await run_agent(
    "Book it.",
    model=ScriptedModel([calls, [Text("Over.")]]),
    tools=[book],
    before_tool_call=guard(policy, ask_in_notebook(timeout={timeout})),
)
blocks = [block for message in result.messages for block in message["content"]]
results = [block["content"] for block in blocks if block["type"] == "tool_result"]
print("the model saw", json.dumps(results))
"""

ONE = """
from mini_agent.approval import HostCall
from mini_agent.types import ToolCall
from mini_agent.widgets import ask_in_notebook
call = {call}
answer = await ask_in_notebook(timeout=60)(call, {why!r})
"""

TWO_AT_ONCE = """
import asyncio
from mini_agent.types import ToolCall
from mini_agent.widgets import ask_in_notebook
approver = ask_in_notebook()
calls = [ToolCall(name, name, {}) for name in ("first", "second")]
answers = await asyncio.gather(*[approver(call, "") for call in calls])
print([answer.approved for answer in answers])
"""


def a_round(marker: Path, *inputs: Mapping[str, Any], timeout: float = 60) -> str:
    """A run in which the model calls ``calendar_create`` once with each of ``inputs``."""
    given = [dict(one) for one in inputs or (PLAIN,)]
    return ROUND.format(marker=str(marker), inputs=given, timeout=timeout)


def a_card(
    arguments: Mapping[str, Any] = PLAIN,
    why: str = "it writes an appointment",
    *,
    name: str = "calendar_create",
    server: str = "",
    tool: str = "",
    pin: str = "",
) -> str:
    """One question; about a call as the host knows it when ``tool`` is given."""
    call = f"ToolCall('toolu_1', {name!r}, {dict(arguments)!r})"
    if tool:
        call = f"HostCall('toolu_1', {name!r}, {dict(arguments)!r}, {server!r}, {tool!r}, {pin!r})"
    return ONE.format(call=call, why=why)


def seen_by_the_model(outputs: Sequence[Mapping[str, Any]]) -> list[str]:
    """The tool results that a round printed."""
    text = "".join(out["text"] for out in outputs if out["output_type"] == "stream")
    return list(json.loads(text.partition("the model saw ")[2]))
