"""What Streamable HTTP mirrors from the body into headers, as pure functions over messages.

Revision 2026-07-28, basic/transports/streamable-http#request-metadata.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from typing import Any

from mini_agent.mcp.messages import META
from mini_agent.types import JsonObject

NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
SAFE_INTEGER = 2**53 - 1

_ONE: tuple[str, ...] = ("items", "contains", "unevaluatedItems", "additionalProperties")
_ONE += ("propertyNames", "unevaluatedProperties", "not", "if", "then", "else", "contentSchema")
_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
_MAPS = ("patternProperties", "dependentSchemas", "$defs", "definitions")

Path = tuple[str, ...]


def standard_headers(message: JsonObject) -> dict[str, str]:
    """``MCP-Protocol-Version``, ``Mcp-Method`` and, where the method names a thing, ``Mcp-Name``.

    They are read from the body, so they cannot differ from it. A notification carries only its
    method: this revision defines no more for it.
    """
    params = message.get("params", {})
    version = params.get("_meta", {}).get(f"{META}protocolVersion")
    name = params.get(NAMED_BY.get(message["method"], ""))
    headers = {"Mcp-Method": header_value(message["method"])}
    if version is not None:
        headers["MCP-Protocol-Version"] = header_value(version)
    if name is not None:
        headers["Mcp-Name"] = header_value(name)
    return headers


def header_value(value: str | int | bool) -> str:
    """``value`` as a header: plain where that is safe, else ``=?base64?…?=`` (#value-encoding).

    Raises: ValueError for an integer beyond ±(2**53 - 1).
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        if abs(value) > SAFE_INTEGER:
            raise ValueError(f"{value} is beyond the integers that a header may carry (2**53 - 1)")
        return str(value)
    looks_encoded = value.startswith("=?base64?") and value.endswith("?=")
    plain = all(" " <= c <= "~" or c == "\t" for c in value) and value == value.strip(" \t")
    if plain and not looks_encoded:
        return value
    return f"=?base64?{base64.b64encode(value.encode()).decode()}?="


def mirror_fault(schema: JsonObject) -> str:
    """Why a tool's ``x-mcp-header`` annotations are invalid, "" when they are fine.

    A tool with a fault must be left out of the catalogue over HTTP (#schema-extension).
    """
    seen: set[str] = set()
    for path, annotated in _annotated(schema):
        header, type_ = annotated["x-mcp-header"], annotated.get("type")
        where = "/".join(path or ("(not on a chain of properties)",))
        if not path:
            return f"x-mcp-header {header!r} is not reachable from the root by properties alone"
        if not isinstance(header, str) or not TOKEN.fullmatch(header):
            return f"x-mcp-header of {where} is no header name: {header!r:.60}"
        if type_ not in ("string", "integer", "boolean"):
            return f"x-mcp-header of {where} needs type string, integer or boolean"
        if header.lower() in seen:
            return f"x-mcp-header {header!r} is used twice"
        seen.add(header.lower())
    return ""


def mirrored_headers(schema: JsonObject, arguments: JsonObject) -> dict[str, str]:
    """The ``Mcp-Param-*`` headers of one call: annotated arguments that are present and not null.

    Raises: ValueError for a value that no header can carry, naming the argument.
    """
    headers: dict[str, str] = {}
    for path, annotated in _annotated(schema):
        value = _at(path or (), arguments)
        if value is None:
            continue
        if isinstance(value, float) and value.is_integer():
            value = int(value)  # JSON Schema calls 42.0 an integer
        if not isinstance(value, str | int):
            raise ValueError(f"argument {'/'.join(path or ())} cannot travel in a header")
        headers[f"Mcp-Param-{annotated['x-mcp-header']}"] = header_value(value)
    return headers


def _annotated(schema: Any) -> Iterator[tuple[Path | None, JsonObject]]:
    """Every annotated subschema with its chain of property names; None where the chain breaks."""
    stack: list[tuple[Path | None, Any]] = [((), schema)]
    while stack:
        path, here = stack.pop()
        if not isinstance(here, dict):
            continue
        if "x-mcp-header" in here:
            yield path, here
        stack += [(None, here[key]) for key in _ONE if key in here]
        for key in _LISTS:
            stack += [(None, sub) for sub in _values(here.get(key))]
        for key in _MAPS:
            stack += [(None, sub) for sub in _values(here.get(key))]
        for name, sub in reversed(list(_items(here.get("properties")))):
            stack.append((None if path is None else (*path, name), sub))


def _values(value: Any) -> list[Any]:
    return (
        list(value.values())
        if isinstance(value, dict)
        else value
        if isinstance(value, list)
        else []
    )


def _items(value: Any) -> list[tuple[str, Any]]:
    return list(value.items()) if isinstance(value, dict) else []


def _at(path: Path, arguments: Any) -> Any:
    for name in path:
        if not isinstance(arguments, dict):
            return None
        arguments = arguments.get(name)
    return arguments
