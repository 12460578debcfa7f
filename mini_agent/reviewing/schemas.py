"""Arguments that are too open to be checked, that are programs, or that carry a secret.

A schema holds the model to what the tool needs. One that takes anything checks nothing, and what
is copied into a header is read by every proxy on the way.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from mini_agent.mcp.headers import mirror_fault
from mini_agent.mcp.schemas import SchemaError, check_bounds
from mini_agent.redact import SECRET_PARTS
from mini_agent.reviewing.finding import Finding, quoted
from mini_agent.reviewing.names import fold
from mini_agent.types import JsonObject
from mini_agent.visible import visible

BINDING = frozenset(
    {"$ref", "$dynamicRef", "allOf", "anyOf", "const", "enum", "if", "not", "oneOf", "type"}
)
"""Keywords of which a subschema needs one, or it takes anything."""

SHAPED = BINDING - {"type", "not"} | {"patternProperties", "propertyNames", "items", "prefixItems"}
MAPS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
ONE = ("items", "additionalProperties", "contains", "then", "else", "not")
LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")

PROGRAMS = frozenset(
    {"cmd", "code", "command", "commands", "eval", "exec", "expression", "script", "shell", "sql"}
)
PERSONAL = re.compile(r"e-?mail|phone|birth|passport|socialsecurity|\bssn\b|taxid|iban")

Argument = tuple[str, str, Any]
"""Where a property stands, its name, and its subschema."""


def schema_findings(schema: JsonObject) -> Iterator[Finding]:
    """What a reader should know of an input schema; of one that cannot be used, only that."""
    try:
        check_bounds(schema)
    except SchemaError as fault:
        yield Finding("schema", "input_schema", f"cannot be used: {fault}", serious=True)
        return
    if fault_ := mirror_fault(schema):
        yield Finding("header", "input_schema", f"breaks the rules of headers: {visible(fault_)}")
    yield from _open_objects(schema, "input_schema", "any arguments at all")
    for where, name, sub in arguments(schema):
        yield from _open_value(where, name, sub)
        yield from _secret(where, name, sub)


def arguments(schema: Any, path: str = "input_schema") -> Iterator[Argument]:
    """Every named property, however deep; definitions count as if they were used."""
    if not isinstance(schema, dict):
        return
    for key in MAPS:
        held = schema.get(key)
        for name, sub in held.items() if isinstance(held, dict) else ():
            where = f"{path}.{key}.{visible(name[:60])}"
            if key == "properties":
                yield where, name, sub
            yield from arguments(sub, where)
    for key in ONE:
        yield from arguments(schema.get(key), f"{path}.{key}")
    for key in LISTS:
        held = schema.get(key)
        for at, sub in enumerate(held if isinstance(held, list) else ()):
            yield from arguments(sub, f"{path}.{key}[{at}]")


def is_open(schema: JsonObject) -> bool:
    """Does this schema of an object say nothing of what may be in it?"""
    named = schema.get("properties") or SHAPED & schema.keys()
    return not named and schema.get("additionalProperties", True) in (True, {})


def _open_objects(schema: JsonObject, where: str, what: str) -> Iterator[Finding]:
    if is_open(schema):
        yield Finding("open", where, f"takes {what}")
    elif "additionalProperties" in schema and schema["additionalProperties"] in (True, {}):
        yield Finding("open", where, "takes more than it names, by its own word")


def _open_value(where: str, name: str, sub: Any) -> Iterator[Finding]:
    if sub is True or (isinstance(sub, dict) and not BINDING & sub.keys()):
        yield Finding("open", where, "takes anything")
    elif isinstance(sub, dict) and sub.get("type") == "object":
        yield from _open_objects(sub, where, "any object")
    elif isinstance(sub, dict) and fold(name) in PROGRAMS and not {"enum", "const"} & sub.keys():
        what = "may be a program: what it can do is what the program can"
        yield Finding("program", where, what)


def _secret(where: str, name: str, sub: Any) -> Iterator[Finding]:
    """A secret among the arguments; worse where ``x-mcp-header`` puts it into a header."""
    held = sub if isinstance(sub, dict) else {}
    header = held.get("x-mcp-header")
    told = [name, held.get("title"), *((header, held.get("description")) if header else ())]
    words = " ".join(_joined(text) for text in told if isinstance(text, str))
    secret = SECRET_PARTS.search(words) or held.get("format") == "password"
    if header is not None and (secret or PERSONAL.search(words)):
        looks = "looks like a secret" if secret else "looks personal"
        into = f"is copied into the header {quoted(f'Mcp-Param-{header}')}"
        what = f"{looks} and {into}, which proxies and logs see"
        yield Finding("header", where, what, serious=bool(secret))
    elif secret:
        yield Finding("secret", where, "looks like a secret, which the model would have to know")


def _joined(text: str) -> str:
    """``text`` folded, with nothing between the parts of a name: ``Api-Key`` is ``apikey``."""
    return re.sub(r"(?<=\w)[ _.-](?=\w)|_", "", fold(text[:500]))
