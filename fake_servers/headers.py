"""The headers that mirror a body: each must say what the body says, or the request is refused.

Revision 2026-07-28, transports/streamable-http, "Request Metadata" and "Server Validation".
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, Protocol

from fake_servers.core import Server
from fake_servers.declare import Tool
from fake_servers.wire import HEADER_MISMATCH, PREFIX, Message, Rejection

NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""The methods that carry Mcp-Name, and the parameter that it mirrors."""


class Headers(Protocol):
    """A case-insensitive multi-dictionary, as Starlette gives it."""

    def getlist(self, key: str) -> list[str]:
        """Every value sent under ``key``."""
        ...


def check_headers(message: Message, headers: Headers, server: Server) -> None:
    """Compare the headers of a request with its body. What only the body can be blamed for passes.

    Raises: Rejection -32020 naming the header.
    """
    if not headers.getlist("MCP-Protocol-Version"):  # an older client reads what is spoken here
        spoken = ", ".join(server.versions)
        raise mismatch(f"MCP-Protocol-Version is required; this server speaks {spoken}")
    params = message.get("params")
    params = params if isinstance(params, dict) else {}
    meta = params.get("_meta")
    version = meta.get(PREFIX + "protocolVersion") if isinstance(meta, dict) else None
    method = message.get("method")
    _compare("MCP-Protocol-Version", _required(headers, "MCP-Protocol-Version"), version)
    _compare("Mcp-Method", _required(headers, "Mcp-Method"), method)
    if isinstance(method, str) and method in NAMED_BY:
        _compare("Mcp-Name", decoded("Mcp-Name", headers), params.get(NAMED_BY[method]))
    if method == "tools/call":
        _check_parameters(params, headers, server.tools or ())


def _check_parameters(params: Message, headers: Headers, tools: Iterable[Tool]) -> None:
    arguments = params.get("arguments")
    for tool in tools:
        if tool.name == params.get("name") and isinstance(arguments, dict | None):
            for name, path in annotated(tool.input_schema):
                _check_parameter(f"Mcp-Param-{name}", headers, _at(arguments, path))


def _check_parameter(name: str, headers: Headers, value: Any) -> None:
    if value is None:
        if headers.getlist(name):
            raise mismatch(f"{name} was sent, but its argument is null or absent")
    elif isinstance(value, str | int | float):
        _compare(name, decoded(name, headers), value)


def annotated(schema: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Sequence[str]]]:
    """The ``x-mcp-header`` names of a schema and the path of each, through ``properties`` alone."""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    for key, inner in (properties or {}).items():
        if isinstance(inner, dict) and isinstance(inner.get("x-mcp-header"), str):
            yield inner["x-mcp-header"], (*path, key)
        yield from annotated(inner, (*path, key))


def _at(arguments: Any, path: Sequence[str]) -> Any:
    for key in path:
        arguments = arguments.get(key) if isinstance(arguments, Mapping) else None
    return arguments


def _required(headers: Headers, name: str) -> str:
    """The one value of a header.

    Raises: Rejection -32020 when it is absent, sent twice, or holds what a header may not.
    """
    values = headers.getlist(name)
    if not values:
        raise mismatch(f"{name} is required on this request")
    if len(values) > 1:
        raise mismatch(f"{name} was sent {len(values)} times")
    if not re.fullmatch(r"[\t\x20-\x7e]*", values[0]):
        raise mismatch(f"{name} holds characters that a header may not")
    return values[0]


def decoded(name: str, headers: Headers) -> str:
    """The text of a header that may be encoded (transports/streamable-http#value-encoding).

    Raises: Rejection -32020 when it is absent, sent twice, or decodes to nothing.
    """
    value = _required(headers, name)
    sentinel = re.fullmatch(r"=\?base64\?(.*)\?=", value)
    if sentinel is None:
        return value
    try:
        return base64.b64decode(sentinel[1], validate=True).decode()
    except ValueError as cause:
        raise mismatch(f"{name} holds no base64 of UTF-8 text") from cause


def _compare(name: str, sent: str, value: Any) -> None:
    if value is not None and not same(sent, value):
        raise mismatch(f"{name} header value {sent!r:.80} does not match body value {value!r:.80}")


def same(sent: str, value: Any) -> bool:
    """True when a header's text says ``value``: text exactly, numbers as numbers."""
    if isinstance(value, bool):
        return sent == ("true" if value else "false")
    if isinstance(value, int | float):
        number = re.fullmatch(r"-?\d{1,40}(\.\d{1,40})?", sent, re.ASCII)
        return number is not None and Decimal(sent) == Decimal(str(value))
    return sent == value if isinstance(value, str) else True


def mismatch(what: str) -> Rejection:
    """The rejection for headers that do not fit."""
    return Rejection(HEADER_MISMATCH, f"Header mismatch: {what}")
