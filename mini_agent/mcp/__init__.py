"""The protocol side: messages, transports, the client, and the adapter that makes a Tool of it."""

from mini_agent.mcp.adapter import format_result, mcp_tool_to_tool
from mini_agent.mcp.client import McpClient
from mini_agent.mcp.http import HttpTransport
from mini_agent.mcp.shapes import CallResult, McpTool
from mini_agent.mcp.stdio import StdioTransport
from mini_agent.mcp.transport import FakeTransport, McpTransport

__all__ = [
    "CallResult",
    "FakeTransport",
    "HttpTransport",
    "McpClient",
    "McpTool",
    "McpTransport",
    "StdioTransport",
    "format_result",
    "mcp_tool_to_tool",
]
