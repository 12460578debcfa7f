"""Text that would like to be more than text, and a cell in which a server puts it everywhere."""

from __future__ import annotations

import json

from mini_agent.visible import visible

RUN = "window.__pwned=1"
AWAY = "https://stranger.invalid"

PAYLOADS = {
    "script": f"<script>{RUN}</script>",
    "img-onerror": f'<img src="{AWAY}/a.png" onerror="{RUN}">',
    "svg-onload": f'<svg onload="{RUN}"><a href="javascript:{RUN}">x</a></svg>',
    "iframe": f"<iframe srcdoc='<script>parent.{RUN}</script>'></iframe>",
    "out-of-the-field": f"</textarea></option></style></div><script>{RUN}</script>",
    "out-of-the-attribute": f'" autofocus onfocus="{RUN}" x="',
    "markdown-link": f"[here](javascript:{RUN}) **bold**",
    "markdown-image": f"![here]({AWAY}/b.png)",
    "latex": rf"$\href{{javascript:{RUN}}}{{x}}$ $$\color{{white}}{{hidden}}$$",
    "ansi": "\x1b[31mred\x1b[0m \x1b[2J\x1b[1A \x1b]8;;file:///x\x07link\x1b]8;;\x07 \x9b31m\r",
    "bidi": "\u202egpj.exe\u202c \u2066x\u2069 \u200f",
    "tags": "safe\U000e0064\U000e0065\U000e006c \u200b\u2063\ufe0f\u3164",
    "lines": "one\u2028two\u2029three\x85four\x0bfive",
}

EVERYWHERE = """
from IPython.display import display
from mini_agent import draw
from mini_agent.agent import run_agent
from mini_agent.approval import HostCall
from mini_agent.errors import McpError
from mini_agent.mcp import FakeTransport, McpClient, mcp_tool_to_tool
from mini_agent.model_client import ScriptedModel
from mini_agent.trace import Trace
from mini_agent.types import Approval, Text, ToolCall
from mini_agent.widgets import ask_in_notebook, trace_viewer

text = {payload!r}
tool = {{"name": text, "title": text, "description": text, "inputSchema": {{"type": "object"}}}}
complete = {{"resultType": "complete"}}
told = {{"type": "text", "text": text}}
server = FakeTransport([
    {{"result": {{**complete, "tools": [tool], "ttlMs": 0, "cacheScope": "private"}}}},
    {{"result": {{**complete, "content": [told], "isError": True}}}},
    {{"error": {{"code": -32603, "message": text, "data": text}}}},
])
trace = Trace()
client = McpClient(server, server=text, trace=trace)
tools = [mcp_tool_to_tool(client, each) for each in await client.connect(discover=False)]
name = tools[0].spec.name
asks = iter([ask_in_notebook(), *[lambda call, why: Approval(True, text)] * 2])

async def approver(call):
    answer = next(asks)(HostCall(call.id, text, call.input, text, text, "0" * 64), text)
    return answer if isinstance(answer, Approval) else await answer

calls = [ToolCall(str(n), name, {{text: text, "deep": [{{text: [text]}}]}}) for n in range(3)]
turns = [[Text(text), ToolCall("x", text, {{text: text}})], *[[call] for call in calls]]
failure = None
try:
    await run_agent(
        text, model=ScriptedModel(turns), tools=tools, before_tool_call=approver, trace=trace
    )
except McpError as error:
    failure = error
print(failure)
display(trace_viewer(trace), draw.sequence(trace), draw.chain(trace))
raise failure
"""

REVIEWED = """
from IPython.display import Markdown, display
from mini_agent.catalog import Catalogue, review_of
from mini_agent.mcp.shapes import parse_tool

text = {payload!r}
schema = {{"type": "object", "properties": {{text: {{"type": "string", "description": text}}}}}}
tool = {{"name": text, "title": text, "description": text, "inputSchema": schema}}
offered = Catalogue(
    tools=[parse_tool(tool)],
    resources=[{{"uri": text, "name": text, "description": text}}],
    prompts=[{{"name": text, "description": text}}],
    instructions=text,
    info={{"name": text, "version": text}},
)
seen = review_of(text, offered).decide(text, "deny", why=text, kind="tool").answer(1, text)
display(seen, Markdown(seen.to_markdown()))
"""


def reviewed(payload: str) -> str:
    """A cell that shows the review of a server which wrote ``payload`` wherever it could."""
    return REVIEWED.format(payload=payload)


def everywhere(payload: str) -> str:
    """A cell in which ``payload`` is in every field that a card, a trace or a drawing shows."""
    return EVERYWHERE.format(payload=payload)


def arguments(payload: str) -> dict[str, object]:
    """The arguments of the call about which that cell asks."""
    return {payload: payload, "deep": [{payload: [payload]}]}


def seen(text: str, payload: str, length: int = 18) -> int:
    """How often ``text`` shows ``payload`` made visible, as it is or as JSON, or its beginning."""
    forms = {visible(payload)[:length], visible(json.dumps(payload, ensure_ascii=False))[1:length]}
    return max(text.count(form) for form in forms)
