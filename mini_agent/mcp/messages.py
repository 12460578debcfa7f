"""JSON-RPC 2.0 as MCP 2026-07-28 uses it: build and parse, pure functions. Nothing is guessed.

What goes in is bytes or parsed JSON; what comes out is a value or an exception.
"""

from __future__ import annotations

import json
from typing import Any, Literal

from pydantic_core import from_json, to_json

from mini_agent.errors import (
    HeaderMismatch,
    JsonRpcError,
    MalformedMessage,
    MissingClientCapability,
    UnsupportedProtocolVersion,
)
from mini_agent.types import JsonObject
from mini_agent.visible import visible

PROTOCOL_VERSION = "2026-07-28"
META = "io.modelcontextprotocol/"
INVALID_PARAMS = -32602

ERRORS: dict[int, type[JsonRpcError]] = {
    -32022: UnsupportedProtocolVersion,
    -32021: MissingClientCapability,
    -32020: HeaderMismatch,
}

# -- build ----------------------------------------------------------------------------------------


def build_meta(
    *,
    version: str = PROTOCOL_VERSION,
    capabilities: JsonObject | None = None,
    client_info: JsonObject | None = None,
    progress_token: str | int | None = None,
) -> JsonObject:
    """The ``_meta`` that every request carries, since no request leans on an earlier one.

    Revision 2026-07-28, basic/index#meta: version and capabilities are required (an empty object
    declares none), the client's name and version should be there.
    """
    meta: JsonObject = {
        f"{META}protocolVersion": version,
        f"{META}clientCapabilities": capabilities or {},
    }
    if client_info is not None:
        meta[f"{META}clientInfo"] = client_info
    if progress_token is not None:
        meta["progressToken"] = progress_token
    return meta


def build_request(
    request_id: int | str, method: str, params: JsonObject | None = None, *, meta: JsonObject
) -> JsonObject:
    """One request. ``params`` is copied and gets ``meta`` as its ``_meta``."""
    return {
        "jsonrpc": "2.0",
        "id": request_id,
        "method": method,
        "params": {**(params or {}), "_meta": meta},
    }


def build_notification(method: str, params: JsonObject) -> JsonObject:
    """One notification: no id, so nobody answers it."""
    return {"jsonrpc": "2.0", "method": method, "params": params}


def encode(message: JsonObject) -> bytes:
    """The message as compact UTF-8 JSON with no line break inside.

    Raises: ValueError for what JSON cannot say (NaN, Infinity, a lone surrogate, an object).
    """
    raw = to_json(message, inf_nan_mode="constants")
    # From the end: four times as fast. Perhaps only inside a string: then the slow path decides.
    if raw.rfind(b"NaN") >= 0 or raw.rfind(b"Infinity") >= 0:
        try:
            json.dumps(message, allow_nan=False)
        except ValueError as cause:
            raise ValueError("JSON has no NaN and no Infinity; send null instead") from cause
    return raw


# -- parse ----------------------------------------------------------------------------------------


def decode(raw: bytes) -> JsonObject:
    """One JSON-RPC message out of the bytes of one line, body or event.

    Raises: MalformedMessage when it is not UTF-8 JSON, holds NaN or Infinity, or is no single
    JSON-RPC 2.0 message (batches are gone since 2025-06-18).
    """
    try:
        value = from_json(raw, allow_inf_nan=False)
    except ValueError as cause:
        raise MalformedMessage(f"not JSON: {cause}", excerpt=excerpt(raw)) from cause
    return check_message(value)


def check_message(value: Any) -> JsonObject:
    """``value`` itself when it is shaped like one JSON-RPC 2.0 message.

    Only the envelope is judged: what a response holds is for parse_response.

    Raises: MalformedMessage saying what is wrong.
    """
    if not isinstance(value, dict):
        raise _malformed("a message must be a JSON object", value)
    if value.get("jsonrpc") != "2.0":
        raise _malformed('"jsonrpc" must be "2.0"', value)
    if "method" in value and not isinstance(value["method"], str):
        raise _malformed('"method" must be a string', value)
    if not is_request_id(value.get("id")):
        raise _malformed('"id" must be a string or an integer', value)
    return value


def is_request_id(value: Any) -> bool:
    """True for a string, an integer, or None (an error to a request that could not be read)."""
    return value is None or (isinstance(value, (int, str)) and not isinstance(value, bool))


def kind(message: JsonObject) -> Literal["response", "request", "notification"]:
    """What a checked message is. A message with a method is never a response."""
    if "method" not in message:
        return "response"
    return "request" if "id" in message else "notification"


def parse_response(message: JsonObject) -> JsonObject:
    """The ``result`` of a response.

    An absent ``resultType`` means "complete" (basic/index#resulttype); ``complete`` and
    ``input_required`` are passed on, any other makes the result invalid.

    Raises: JsonRpcError (or the subclass for its code) when the peer said no; MalformedMessage
    when the message is no response, holds both result and error or neither, or a wrong shape.
    """
    check_message(message)
    if "method" in message:
        raise _malformed("a request came where a response was expected", message)
    if ("result" in message) == ("error" in message):
        raise _malformed('a response holds either "result" or "error"', message)
    if "error" in message:
        raise parse_error(message["error"])  # without an id when the request could not be read
    if message.get("id") is None:
        raise _malformed("a result must carry the id of its request", message)
    result = message["result"]
    if not isinstance(result, dict):
        raise _malformed('"result" must be an object', message)
    if result.get("resultType", "complete") not in ("complete", "input_required"):
        raise _malformed(f"unknown resultType {excerpt(result['resultType'])}", message)
    return result


def parse_error(error: Any) -> JsonRpcError | MalformedMessage:
    """The exception for an ``error`` object, its class chosen by its code and nothing else."""
    if not isinstance(error, dict):
        return _malformed('"error" must be an object', error)
    code, text = error.get("code"), error.get("message")
    if not isinstance(code, int) or isinstance(code, bool):
        return _malformed('"error.code" must be an integer', error)
    if not isinstance(text, str):
        return _malformed('"error.message" must be a string', error)
    return ERRORS.get(code, JsonRpcError)(code, text, error.get("data"))


def excerpt(value: Any, limit: int = 80) -> str:
    """At most ``limit`` characters of what came, what would hide or act on a screen spelt out."""
    if isinstance(value, bytes):
        text = value[: limit + 1].decode("utf-8", "backslashreplace")
    else:
        text = value if isinstance(value, str) else json.dumps(value, default=str)
    return visible(text[:limit]) + ("…" if len(text) > limit else "")


def _malformed(what: str, value: Any) -> MalformedMessage:
    return MalformedMessage(f"{what}, got {excerpt(value)}", excerpt=excerpt(value))
