"""The folder of the notes: drawings, a test file, the checklist, the pages that hold them together.

What is drawn happened: each tool is called on a fake transport that fails both ways, and the
drawing is made from the trace.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

from mini_agent import draw
from mini_agent.agent import run_agent
from mini_agent.design_notes.draft import draft_of, file_name
from mini_agent.design_notes.notes import Notes
from mini_agent.design_notes.page import html_page, markdown_page
from mini_agent.dot import Drawing
from mini_agent.errors import McpError, TransportClosed
from mini_agent.mcp import FakeTransport, McpClient, mcp_tool_to_tool
from mini_agent.mcp.adapter import model_name
from mini_agent.mcp.shapes import McpTool
from mini_agent.model_client import ScriptedModel
from mini_agent.trace import Trace
from mini_agent.types import JsonObject, Text, ToolCall

CHAIN = "chain"
NO: JsonObject = {"result": {"content": [{"type": "text", "text": "No."}], "isError": True}}
PATHS: dict[str, Callable[[JsonObject], object]] = {
    "tool-error": lambda request: NO,
    "protocol-error": lambda request: TransportClosed("the connection broke"),
}
"""How a call is made to fail for each of the two drawings of a tool."""


async def write(notes: Notes, folder: str | Path) -> Path:
    """Write the notes into ``folder``, made where it is missing, and return it.

    Files: notes.md, notes.html (one page, with the drawings in it), checklist.md, chain.svg, two
    drawings for each tool, and the test file. A file that is there already is replaced, but for
    the test file: what you changed in it is yours.

    Raises: ValueError for notes with no tool, or a tool whose example does not fit its schema.
    """
    if not notes.tools:
        raise ValueError(f"server {notes.server!r} has no tool, so there is no chain to draw")
    return saved(notes, await drawn(notes), Path(folder))


def saved(notes: Notes, drawings: dict[str, Drawing], folder: Path) -> Path:
    """Put everything into ``folder``; a test file that is there stays."""
    first = notes.tools[0]
    folder.mkdir(parents=True, exist_ok=True)
    for name, drawing in drawings.items():
        (folder / f"{name}.svg").write_text(drawing.svg(), "utf-8")
    (folder / "checklist.md").write_text(notes.review.to_markdown(), "utf-8")
    (folder / "notes.md").write_text(markdown_page(notes, drawings), "utf-8")
    (folder / "notes.html").write_text(html_page(notes, drawings), "utf-8")
    draft = folder / file_name(notes.server)
    if not draft.exists():
        draft.write_text(draft_of(notes.server, first, notes.example(first)), "utf-8")
    return folder


async def drawn(notes: Notes) -> dict[str, Drawing]:
    """By file name: the chain with both paths, then both failures of each tool.

    Raises: ValueError for a tool whose example does not fit its schema.
    """
    drawings = {CHAIN: draw.error_paths()}
    for tool in notes.tools:
        for path, answer in PATHS.items():
            trace = await failing(tool, notes.example(tool), answer)
            drawings[f"{path}-{model_name(tool.name)}"] = draw.chain(trace)
    return drawings


async def failing(
    tool: McpTool, example: JsonObject, answer: Callable[[JsonObject], object]
) -> Trace:
    """The trace of one call of ``tool`` that is answered with what ``answer`` gives."""
    trace = Trace()
    adapted = mcp_tool_to_tool(McpClient(FakeTransport([answer]), trace=trace), tool)
    call = ToolCall("toolu_1", adapted.spec.name, example)
    model = ScriptedModel([[call], [Text("It did not work.")]])
    with contextlib.suppress(McpError):  # that it is raised is what is drawn
        await run_agent("Do it.", model=model, tools=[adapted], trace=trace)
    return trace
