"""What a terminal shows of a run. Everything a peer wrote is printed with its controls visible."""

from __future__ import annotations

import json
from collections.abc import Iterable

from mini_agent.calls import AgentEvent, Decided, ToolFinished
from mini_agent.mcp.shapes import McpTool
from mini_agent.shell import put
from mini_agent.types import Done, JsonObject, Text, ToolCall
from mini_agent.visible import visible

MARGIN = 11
LONGEST = 2_000  # characters of one result; the model sees more than a reader wants to


def say(who: str, text: str) -> None:
    """One entry: ``who`` in the margin, the text beside it, line by line."""
    lines = visible(text, keep_newlines=True).split("\n")
    names = [who, *[""] * (len(lines) - 1)]
    put(
        "".join(
            f"{n:<{MARGIN}}{line}".rstrip() + "\n" for n, line in zip(names, lines, strict=True)
        )
    )


class Screen:
    """An ``on_event`` for run_agent that prints each event as it happens."""

    def __init__(self) -> None:
        self._spoken = ""

    def __call__(self, event: AgentEvent) -> None:
        """Print one event. A model's text arrives in pieces and is printed when it is whole."""
        if isinstance(event, Text):
            self._spoken += event.text
            return
        self.close()
        match event:
            case ToolCall():
                say("asks for", f"{visible(event.name)} {on_one_line(event.input)}")
            case Decided():
                word = "approved" if event.approval.approved else "denied"
                why, name = event.approval.reason, visible(event.call.name)
                say(word, f"{name}: {why}" if why else name)
            case ToolFinished():
                say("error" if event.result.is_error else "result", short(event.result.content))
            case Done() if event.stop_reason not in ("end_turn", "tool_use"):
                say("stopped", event.stop_reason)

    def close(self) -> None:
        """Print what the model has said so far, also when it was cut off in the middle."""
        spoken, self._spoken = self._spoken, ""
        if spoken:
            say("model", spoken)


def on_one_line(value: JsonObject) -> str:
    """``value`` as JSON, or what is the matter with it."""
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return "(nested too deeply to be shown)"


def short(text: str) -> str:
    """``text``, cut visibly where it is longer than a reader wants."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}\n[{len(text) - LONGEST} more]"


def tool_lines(tools: Iterable[McpTool]) -> Iterable[tuple[str, str]]:
    """Each tool's name and what a caller must know of it."""
    for tool in tools:
        required = tool.input_schema.get("required", [])
        arguments = ", ".join(
            visible(name if name in required else f"[{name}]")
            for name in tool.input_schema.get("properties", {})
        )
        yield f"{visible(tool.name)}({arguments})", tool.description


def fault_line(error: Exception) -> str:
    """One line for stderr: what happened, where, and whose fault it was, where that is known."""
    fault = getattr(error, "fault", "")
    what = f"mini-agent: {error}".removesuffix(".")
    return visible(what + (f". Fault: {fault}" if fault else ""))
