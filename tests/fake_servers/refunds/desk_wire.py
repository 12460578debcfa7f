"""Requests to the refund desk as raw as they come: httpx, and messages written out by hand."""

from __future__ import annotations

import json
from typing import Any

import httpx

P = "io.modelcontextprotocol/"
KEY = "run-1.ord_4821.4250"
WANTED = {
    "order_id": "ord_4821",
    "amount_minor": 4250,
    "currency": "EUR",
    "operation_key": KEY,
}


def message(method: str, **params: Any) -> dict[str, Any]:
    meta = {P + "protocolVersion": "2026-07-28", P + "clientCapabilities": {}}
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}


def headers_for(sent: dict[str, Any]) -> dict[str, str]:
    params = sent["params"]
    return {
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": sent["method"],
        "mcp-name": params.get("uri" if sent["method"] == "resources/read" else "name", ""),
    }


async def ask(http: httpx.AsyncClient, url: str, method: str, **params: Any) -> httpx.Response:
    sent = message(method, **params)
    return await http.post(url, json=sent, headers=headers_for(sent))


async def call(
    http: httpx.AsyncClient, url: str, name: str, arguments: dict[str, Any] | None = None
) -> dict[str, Any]:
    """The result of a tool call."""
    answer = await ask(http, url, "tools/call", name=name, arguments=arguments or {})
    assert answer.status_code == 200, (answer.status_code, answer.text)
    result: dict[str, Any] = answer.json()["result"]
    return result


def category(result: dict[str, Any]) -> dict[str, Any]:
    """The error that an isError result holds."""
    assert result["isError"] is True and "structuredContent" not in result
    (block,) = result["content"]
    error: dict[str, Any] = json.loads(block["text"])["error"]
    assert set(error) == {"code", "message", "retryable"}
    return error


async def refused(
    http: httpx.AsyncClient, url: str, name: str, arguments: dict[str, Any]
) -> tuple[str, bool]:
    """Code and retryable of a call that fails."""
    error = category(await call(http, url, name, arguments))
    return error["code"], error["retryable"]
