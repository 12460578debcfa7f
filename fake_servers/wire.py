"""JSON-RPC 2.0 as a server of revision 2026-07-28 speaks it: bytes in, messages out, rejections.

Standard library only. What is not a message becomes a Rejection, which is an error response.
"""

from __future__ import annotations

import json
from typing import Any, Literal, NamedTuple, NoReturn, TypeAlias

Message: TypeAlias = dict[str, Any]

VERSION = "2026-07-28"
PREFIX = "io.modelcontextprotocol/"

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
HEADER_MISMATCH = -32020
MISSING_CAPABILITY = -32021
UNSUPPORTED_VERSION = -32022


class Entry(NamedTuple):
    """One line of a transcript: who sent the message, and the message."""

    sender: Literal["client", "server"]
    message: Message


class Rejection(Exception):
    """The request is refused: ``code``, ``message`` and ``data`` become the error object."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(code, message, data)
        self.code = code
        self.message = message
        self.data = data


def encode(message: Message) -> bytes:
    """The message as compact UTF-8 JSON without a line break.

    Raises: ValueError for NaN, Infinity and lone surrogates; TypeError for what JSON cannot say.
    """
    text = json.dumps(message, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode()


def decode(raw: bytes) -> Message:
    """The JSON object in ``raw``, not yet judged as a request.

    Raises: Rejection -32700 when it is no UTF-8 JSON, -32600 when it is no single object.
    """
    try:
        value = json.loads(raw.decode(), parse_constant=_not_json)
        if b"\\u" in raw:  # an escaped half of a surrogate pair is text that UTF-8 cannot hold
            json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as cause:
        raise Rejection(PARSE_ERROR, "Parse error: not UTF-8 JSON") from cause
    if not isinstance(value, dict):
        raise Rejection(INVALID_REQUEST, "Invalid request: one JSON object a message")
    return value


def _not_json(token: str) -> NoReturn:
    raise ValueError(f"{token} is not JSON")


def is_id(value: Any) -> bool:
    """True for what may be a request id: a string or an integer."""
    return isinstance(value, str | int) and not isinstance(value, bool)


def is_request(message: Message) -> bool:
    """True when an answer is expected: anything but a notification or a response."""
    if "method" in message:
        return "id" in message
    return "result" not in message and "error" not in message


def result_message(request_id: str | int, result: Message) -> Message:
    """A response that carries a result."""
    return {"jsonrpc": "2.0", "id": request_id, "result": result}


def error_message(request_id: Any, rejection: Rejection) -> Message:
    """A response that carries an error; without an id where the request's could not be read."""
    error: Message = {"code": rejection.code, "message": rejection.message}
    if rejection.data is not None:
        error["data"] = rejection.data
    known = {"id": request_id} if is_id(request_id) else {}
    return {"jsonrpc": "2.0", **known, "error": error}


def notification(method: str, params: Message) -> Message:
    """A notification."""
    return {"jsonrpc": "2.0", "method": method, "params": params}
