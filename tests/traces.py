"""Traces written by hand, in the words that the layers use: the drawings' test material."""

from __future__ import annotations

from typing import Any

from mini_agent.trace import Trace, following

ARGUMENTS = {"title": "Design review", "start": "2026-08-07T10:00"}


def message(request_id: int, **rest: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request_id, **rest}


def request(trace: Trace, request_id: int, method: str, tool: str | None = None) -> None:
    params = {"name": tool, "arguments": ARGUMENTS} if tool else {}
    trace.add("client", "request", server="calendar", method=method, id=request_id, tool=tool)
    trace.add("transport", "sent", message=message(request_id, method=method, params=params))


def response(trace: Trace, request_id: int, method: str, **rest: Any) -> None:
    trace.add("transport", "received", message=message(request_id, **rest))
    trace.add("client", "response", method=method, id=request_id)


def answered(
    trace: Trace, request_id: int, tool: str, text: str, *, is_error: bool = False
) -> None:
    """One tools/call that the server answers, seen by client and transport."""
    request(trace, request_id, "tools/call", tool)
    result = {"content": [{"type": "text", "text": text}], "isError": is_error}
    response(trace, request_id, "tools/call", result=result)


def adapted(trace: Trace, request_id: int, tool: str, text: str, *, is_error: bool = False) -> None:
    """The same with the adapter above it."""
    trace.add("adapter", "call", tool=tool)
    answered(trace, request_id, tool, text, is_error=is_error)
    trace.add("adapter", "result", tool=tool, is_error=is_error)


def listed(trace: Trace, request_id: int) -> None:
    request(trace, request_id, "tools/list")
    response(trace, request_id, "tools/list", result={"tools": []})


def used(trace: Trace, call: str, tool: str, **arguments: Any) -> None:
    with following(call):
        trace.add("loop", "tool_use", name=tool, input=arguments)


def begun(prompt: str = "Is Friday free?") -> Trace:
    trace = Trace()
    trace.add("loop", "prompt", text=prompt)
    trace.add("loop", "model_request", turn=1)
    return trace


def a_call(trace: Trace, call: str, tool: str, text: str, *, is_error: bool = False) -> None:
    """One approved call through every layer, its result recorded."""
    used(trace, call, tool, **ARGUMENTS)
    with following(call):
        trace.add("loop", "approved", name=tool, reason="")
        adapted(trace, 3, tool, text, is_error=is_error)
        trace.add("loop", "tool_result", name=tool, content=text, is_error=is_error)


def full_round() -> Trace:
    """Connected, one call that worked, one that the server could not do, one denied."""
    trace = Trace()
    listed(trace, 1)
    trace.add("loop", "prompt", text="Is Friday free?")
    trace.add("loop", "model_request", turn=1)
    trace.add("loop", "text", text="I look first.")
    a_call(trace, "toolu_1", "calendar_query", "2 appointments")
    a_call(trace, "toolu_2", "calendar_create", "Room 4 is taken", is_error=True)
    denied(trace, "toolu_3", "calendar_delete")
    trace.add("loop", "done", stop_reason="end_turn")
    return trace


def denied(trace: Trace, call: str, tool: str, reason: str = "denied by name") -> None:
    used(trace, call, tool)
    with following(call):
        trace.add("loop", "denied", name=tool, reason=reason)
        trace.add("loop", "tool_result", name=tool, content=f"denied: {reason}", is_error=True)


def server_dies() -> Trace:
    """Two calls in one turn; the server's process ends during the first."""
    trace = begun()
    used(trace, "toolu_1", "calendar_create", **ARGUMENTS)
    used(trace, "toolu_2", "calendar_query")
    with following("toolu_1"):
        trace.add("loop", "approved", name="calendar_create", reason="")
        trace.add("adapter", "call", tool="calendar_create")
        request(trace, 4, "tools/call", "calendar_create")
        trace.add("transport", "closed", exit_code=3)
        failed_upwards(trace, "calendar_create", "TransportClosed")
    with following("toolu_2"):
        trace.add("loop", "skipped", name="calendar_query")
    return trace


def failed_upwards(trace: Trace, tool: str, error: str) -> None:
    trace.add("transport", "failed", error=error)
    trace.add("client", "error", method="tools/call", error=error, code=None)
    trace.add("adapter", "error", tool=tool, error=error)
    trace.add("loop", "failed", name=tool, error=error)


def tool_is_gone() -> Trace:
    """An adapter used without a loop: the server refuses, and no longer lists the tool."""
    trace = Trace()
    listed(trace, 1)
    trace.add("adapter", "call", tool="calendar_create")
    request(trace, 2, "tools/call", "calendar_create")
    refused = {"code": -32602, "message": "Unknown tool: calendar_create"}
    response(trace, 2, "tools/call", error=refused)
    trace.add("client", "error", method="tools/call", error="JsonRpcError", code=-32602)
    listed(trace, 3)
    trace.add("adapter", "gone", tool="calendar_create")
    return trace
