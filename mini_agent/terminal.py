"""What a terminal shows of a run. Everything a peer wrote is printed with its controls visible."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable

from mini_agent.calls import AgentEvent, Decided, ToolFinished
from mini_agent.mcp.shapes import McpTool
from mini_agent.types import Done, Text, ToolCall
from mini_agent.visible import visible

MARGIN = 11
LONGEST = 2_000  # characters of one result; the model sees more than a reader wants to


def say(who: str, text: str) -> None:
    """One entry: ``who`` in the margin, the text beside it, line by line."""
    lines = visible(text, keep_newlines=True).split("\n")
    for name, line in zip([who, *[""] * len(lines)], lines, strict=False):
        sys.stdout.write(f"{name:<{MARGIN}}{line}".rstrip() + "\n")
    sys.stdout.flush()


class Screen:
    """An ``on_event`` for run_agent that prints each event as it happens."""

    def __init__(self) -> None:
        self._spoken = ""

    def __call__(self, event: AgentEvent) -> None:
        """Print one event. A model's text arrives in pieces and is printed when it is whole."""
        if isinstance(event, Text):
            self._spoken += event.text
            return
        if self._spoken:
            say("model", self._spoken)
            self._spoken = ""
        match event:
            case ToolCall():
                say("asks for", f"{event.name} {json.dumps(event.input, ensure_ascii=False)}")
            case Decided():
                word = "approved" if event.approval.approved else "denied"
                why = event.approval.reason
                say(word, f"{event.call.name}: {why}" if why else event.call.name)
            case ToolFinished():
                say("error" if event.result.is_error else "result", short(event.result.content))
            case Done() if event.stop_reason not in ("end_turn", "tool_use"):
                say("stopped", event.stop_reason)


def short(text: str) -> str:
    """``text``, cut visibly where it is longer than a reader wants."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}\n[{len(text) - LONGEST} more]"


def tool_lines(tools: Iterable[McpTool]) -> Iterable[tuple[str, str]]:
    """Each tool's name and what a caller must know of it."""
    for tool in tools:
        required = tool.input_schema.get("required", [])
        arguments = ", ".join(
            name if name in required else f"[{name}]"
            for name in tool.input_schema.get("properties", {})
        )
        yield f"{tool.name}({arguments})", tool.description


def fault_line(error: Exception) -> str:
    """One line for stderr: what happened, where, and whose fault it was, where that is known."""
    fault = getattr(error, "fault", "")
    return visible(f"mini-agent: {error}" + (f". Fault: {fault}" if fault else ""))
