"""From a good call to bad ones: a field less, a field more, a value of another type. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from mini_agent.difference import canonical
from mini_agent.types import JsonObject

Path: TypeAlias = tuple[str | int, ...]
Named: TypeAlias = tuple[str, JsonObject]
"""What is particular about a call, and its arguments."""

UNKNOWN = "unknown_field"
GONE: Any = object()
"""Put in place of a value, it takes the value out."""


def without_a_field(call: JsonObject) -> Iterator[Named]:
    """``call`` without each of its fields, at any depth."""
    for path in paths(call):
        if isinstance(path[-1], str):
            yield f"without {written(path)}", put(call, path, GONE)


def with_a_field_more(call: JsonObject, earlier: JsonObject) -> Iterator[Named]:
    """``call`` with a field that nobody knows in each object, and with those of ``earlier``."""
    for path in [(), *paths(call)]:
        if isinstance(at(call, path), dict):
            more = (*path, UNKNOWN)
            yield f"with {written(more)}", put(call, more, "text")
    for name, value in earlier.items():
        if name not in call:
            yield f"with {name}, which was there before", put(call, (name,), value)


def with_a_wrong_type(call: JsonObject) -> Iterator[Named]:
    """``call`` with each of its values replaced by one of every other JSON type.

    The text is the one that looks like the value: "4250" for 4250.
    """
    for path in paths(call):
        value = at(call, path)
        others = {
            "null": None,
            "boolean": True,
            "integer": 1,
            "number": 1.5,
            "string": canonical(value),
            "array": [value],
            "object": {"value": value},
        }
        for kind, other in others.items():
            if kind not in kinds_of(value):
                yield f"{written(path)} is of type {kind}", put(call, path, other)


def kinds_of(value: Any) -> tuple[str, ...]:
    """The JSON types that ``value`` is of: a whole number may stand for any number."""
    match value:
        case None:
            return ("null",)
        case bool():
            return ("boolean",)
        case int():
            return ("integer",)
        case float():
            return ("number", "integer")
        case str():
            return ("string",)
        case list():
            return ("array",)
    return ("object",)


def paths(value: Any, begin: Path = ()) -> Iterator[Path]:
    """The way to every value inside ``value``."""
    inner = value.items() if isinstance(value, dict) else ()
    for step, item in enumerate(value) if isinstance(value, list) else inner:
        yield (*begin, step)
        yield from paths(item, (*begin, step))


def at(value: Any, path: Path) -> Any:
    """What stands at ``path``."""
    for step in path:
        value = value[step]
    return value


def put(value: Any, path: Path, new: Any) -> Any:
    """A copy of ``value`` with ``new`` at ``path``; GONE takes out what is there."""
    if not path:
        return new
    copy: Any = value.copy()
    if new is GONE and len(path) == 1:
        del copy[path[0]]
    else:
        copy[path[0]] = put(copy[path[0]], path[1:], new) if len(path) > 1 else new
    return copy


def written(path: Path) -> str:
    """``customer.items[0].name``."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "".join(steps).removeprefix(".")
