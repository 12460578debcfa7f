"""The faults that only HTTP has: statuses, headers, streams that break."""

from __future__ import annotations

from fake_servers.fault_call import HttpCall, fault
from fake_servers.wire import encode, notification

JSON = {"Content-Type": "application/json"}
HTML = {"Content-Type": "text/html; charset=utf-8"}


@fault("http")
async def stream_cut(call: HttpCall) -> None:
    """The event stream begins, reports progress, and is cut before the response."""
    token = call.message["params"]["_meta"].get("progressToken", "not asked for")
    await call.say(notification("notifications/progress", {"progressToken": token, "progress": 1}))
    call.cut()


@fault("http")
async def slow(call: HttpCall) -> None:
    """The event stream begins at once; its response comes only after the next request."""
    await call.write(b": still working\n\n")
    await call.later.wait()
    await call.say(await call.right_answer())


@fault("http")
async def status_401(call: HttpCall) -> None:
    """Who are you? The challenge says where to ask for a token."""
    where = 'resource_metadata="https://calendar.example/.well-known/oauth-protected-resource"'
    await call.reply(401, {"WWW-Authenticate": f"Bearer {where}"})


@fault("http")
async def status_403(call: HttpCall) -> None:
    """You are known, and may not: the token lacks a scope."""
    lacks = 'error="insufficient_scope", scope="calendar.write"'
    await call.reply(403, {"WWW-Authenticate": f"Bearer {lacks}"})


@fault("http")
async def status_404_bare(call: HttpCall) -> None:
    """A web server that has never heard of MCP: 404 with a page."""
    await call.reply(404, HTML, b"<html><body><h1>Not Found</h1></body></html>")


@fault("http")
async def status_404_jsonrpc(call: HttpCall) -> None:
    """An MCP server that lacks this method: 404 with a JSON-RPC error."""
    error = {"code": -32601, "message": "Method not found: tools/call"}
    body = encode({"jsonrpc": "2.0", "id": call.message["id"], "error": error})
    await call.reply(404, JSON, body)


@fault("http")
async def status_429(call: HttpCall) -> None:
    """Too many requests: come back in an hour."""
    await call.reply(429, {"Retry-After": "3600", "Content-Type": "text/plain"}, b"slow down")


@fault("http")
async def status_502_html(call: HttpCall) -> None:
    """A gateway answers in place of the server, with a page."""
    page = b"<html><head><title>502 Bad Gateway</title></head><body>upstream down</body></html>"
    await call.reply(502, HTML, page)


@fault("http")
async def wrong_content_type(call: HttpCall) -> None:
    """The right answer, labelled as a web page."""
    await call.reply(200, HTML, encode(await call.right_answer()))


@fault("http")
async def cut_body(call: HttpCall) -> None:
    """The connection closes before the body is as long as its header promised."""
    raw = encode(await call.right_answer())
    await call.reply(200, JSON, raw[: len(raw) // 2], missing=len(raw) - len(raw) // 2)


ALL = (
    stream_cut, slow, status_401, status_403, status_404_bare, status_404_jsonrpc, status_429,
    status_502_html, wrong_content_type, cut_body,
)  # fmt: skip
