"""Is a message right? The official SDK's wire types decide, not ours."""

from __future__ import annotations

from typing import Any

import mcp_types
from mcp_types import methods

VERSION = "2026-07-28"
ERROR_DATA = {
    -32021: mcp_types.MissingRequiredClientCapabilityErrorData,
    -32022: mcp_types.UnsupportedProtocolVersionErrorData,
}
DEFINED = {-32700, -32600, -32601, -32602, -32603, -32020, -32021, -32022}


def judge(request: dict[str, Any], messages: list[dict[str, Any]]) -> None:
    """Assert that ``messages`` are a right answer to ``request``: notifications, response last."""
    *before, last = messages
    for notification in before:
        judge_notification(notification, request)
    assert "method" not in last and ("result" in last) != ("error" in last)
    assert set(last) <= {"jsonrpc", "id", "result", "error"} and last["jsonrpc"] == "2.0"
    if "error" in last:
        judge_error(last)
    else:
        mcp_types.JSONRPCResponse.model_validate(last, strict=True)
        assert last["id"] == request["id"]
        judge_result(request["method"], last["result"])


def judge_result(method: str, result: dict[str, Any]) -> None:
    """The SDK's dump drops what the schema does not know: nothing may have been dropped."""
    dumped = methods.serialize_server_result(method, VERSION, result)
    assert without_nulls(dumped) == without_nulls(result)
    assert result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"]
    cacheable = method in methods.CACHEABLE_METHODS and result["resultType"] == "complete"
    assert cacheable == ("ttlMs" in result) == ("cacheScope" in result)


def judge_error(message: dict[str, Any]) -> None:
    if "id" in message:  # the SDK's own type requires the id that the schema makes optional
        mcp_types.JSONRPCError.model_validate(message, strict=True)
    error = mcp_types.ErrorData.model_validate(message["error"], strict=True)
    assert error.code in DEFINED and error.message
    if error.code in ERROR_DATA:
        ERROR_DATA[error.code].model_validate(error.data)


def judge_notification(message: dict[str, Any], request: dict[str, Any]) -> None:
    assert "id" not in message
    methods.parse_server_notification(message["method"], VERSION, message["params"])
    assert message["method"] == "notifications/progress"
    assert message["params"]["progressToken"] == request["params"]["_meta"]["progressToken"]


def without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: without_nulls(v) for k, v in value.items() if v is not None}
    return [without_nulls(v) for v in value] if isinstance(value, list) else value
