"""Values that fit a JSON Schema: the plainest first, then the ends of what it allows. Pure.

A sample and no proof. ``examples`` and ``default`` of a schema go first, so whoever writes one can
help; what is said in other ways than by fields, ranges and choices (``if``, ``not``) is not read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from mini_agent.difference import canonical
from mini_agent.releasing.patterns import LONGEST, matching
from mini_agent.types import JsonObject

T = TypeVar("T")

DEEPEST = 12  # levels of a value
MOST = 10_000  # values inside a value
FORMATS = {
    "date": "2026-08-03",
    "date-time": "2026-08-03T09:00:00Z",
    "time": "09:00:00Z",
    "email": "robin@example.com",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.com/",
    "uuid": "6f1ed002-ab5a-4d3e-8a5e-000000000001",
}
IMPLIED = {
    "object": ("properties", "required"),
    "array": ("items", "minItems", "prefixItems"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
}
"""The type of a schema that names none and says this; any other value is a string."""


@dataclass(frozen=True)
class Values:
    """Values of the schemas inside ``root``, to which their ``$ref`` point."""

    root: JsonObject

    def of(self, schema: Any, depth: int = 0) -> list[Any]:
        """What fits ``schema``, the plainest first; [] where nothing is found.

        Raises: ValueError for a pattern that is not read, and no example; for a value too large.
        """
        if schema is False or depth > DEEPEST:
            return []
        flat = self.flat({} if schema is True else schema)
        given = [*flat.get("examples", []), *([flat["default"]] if "default" in flat else [])]
        return distinct([*given, *self._made(flat, bool(given), depth)])

    def _made(self, schema: JsonObject, given: bool, depth: int) -> Iterator[Any]:
        if "const" in schema:
            yield schema["const"]
        elif "enum" in schema:
            yield from schema["enum"]
        elif branches := schema.get("anyOf") or schema.get("oneOf"):
            rest = {key: rule for key, rule in schema.items() if key not in ("anyOf", "oneOf")}
            for branch in branches:
                yield from self.of(merged(rest, self.flat(branch)), depth + 1)
        else:
            for kind in kinds(schema):
                yield from self._of_kind(kind, schema, given, depth)

    def _of_kind(self, kind: str, schema: JsonObject, given: bool, depth: int) -> Iterator[Any]:
        match kind:
            case "object":
                yield from (value for _, value in self.objects(schema, depth))
            case "array":
                yield from self._arrays(schema, depth)
            case "string" if not (given and "pattern" in schema):
                yield from texts(schema)
            case "integer" | "number":
                yield from numbers(schema, whole=kind == "integer")
            case "boolean":
                yield from (True, False)
            case "null":
                yield None

    def objects(self, schema: JsonObject, depth: int = 0) -> Iterator[tuple[str, JsonObject]]:
        """Objects of a flat schema, each with what is particular about it.

        Every field; only what is required; then every field, one of them with another value.
        """
        fields, required = schema.get("properties", {}), schema.get("required", [])
        found = {name: self.of(rule, depth + 1) for name, rule in fields.items()}
        found |= {name: ["text"] for name in required if name not in fields}
        whole = {name: values[0] for name, values in found.items() if values}
        if any(name not in whole for name in required):
            return
        least = {name: value for name, value in whole.items() if name in required}
        yield "every field", whole
        yield "only what is required", least
        for name, values in found.items():
            for value in values[1:]:
                yield f"{name} is {canonical(value):.40}", {**whole, name: value}

    def _arrays(self, schema: JsonObject, depth: int) -> Iterator[list[Any]]:
        first = [self.of(rule, depth + 1) for rule in schema.get("prefixItems", [])]
        if not all(first):
            return
        start, least = [values[0] for values in first], schema.get("minItems", 0)
        items = self.of(schema.get("items", True), depth + 1)
        for value in items:
            yield [*start, *repeated(value, max(least - len(start), 1))]
        if least <= len(start):
            yield start

    def flat(self, schema: Mapping[str, Any]) -> JsonObject:
        """``schema`` with its ``$ref`` and ``allOf`` read into it.

        Raises: ValueError for a reference that leads nowhere, or round and round.
        """
        found = dict(schema)
        for _ in range(DEEPEST):
            parts = [*found.pop("allOf", [])]
            if "$ref" in found:
                parts.append(self._at(found.pop("$ref")))
            if not parts:
                return found
            for part in parts:
                found = merged(found, {} if part is True else part)
        raise ValueError("its references do not end")

    def _at(self, reference: str) -> JsonObject:
        place: Any = self.root
        for step in reference.removeprefix("#").strip("/").split("/"):
            name = step.replace("~1", "/").replace("~0", "~")
            place = place.get(name) if isinstance(place, dict) and name else place
        if not isinstance(place, dict) or not reference.startswith("#"):
            raise ValueError(f"it refers to {reference!r:.80}, which is not in it")
        return place


def merged(one: JsonObject, other: JsonObject) -> JsonObject:
    """What fits both, as far as fields and requirements go; for the rest ``other`` counts."""
    both = {**one, **other}
    if "properties" in one and "properties" in other:
        shared = one["properties"].keys() & other["properties"].keys()
        meet = {n: {"allOf": [one["properties"][n], other["properties"][n]]} for n in shared}
        both["properties"] = {**one["properties"], **other["properties"], **meet}
    if "required" in one and "required" in other:
        both["required"] = [*one["required"], *other["required"]]
    if "allOf" in one and "allOf" in other:
        both["allOf"] = [*one["allOf"], *other["allOf"]]
    return both


def kinds(schema: JsonObject) -> Sequence[str]:
    """The types that ``schema`` names, or the one that its rules are about."""
    named = schema.get("type")
    if named is not None:
        return [named] if isinstance(named, str) else list(named)
    return [kind for kind, rules in IMPLIED.items() if any(r in schema for r in rules)] or [
        "string"
    ]


def texts(schema: JsonObject) -> Iterator[str]:
    """A text, the shortest and the longest; one of the format or the pattern where one is said."""
    least, most = schema.get("minLength", 0), schema.get("maxLength", LONGEST)
    if "pattern" in schema:
        yield matching(schema["pattern"])
    elif schema.get("format") in FORMATS:
        yield FORMATS[schema["format"]]
    elif least > LONGEST:
        raise ValueError(f"a text of {least} characters is asked for")
    else:
        yield "text"[:most].ljust(least, "x")
        yield "x" * least
        if most < LONGEST:
            yield "x" * most


def numbers(schema: JsonObject, *, whole: bool) -> Iterator[float]:
    """The lowest number and the highest; 1, or 0.5, where there are no ends."""
    step = schema.get("multipleOf", 1 if whole else 0.5)
    low, high = schema.get("minimum"), schema.get("maximum")
    if "exclusiveMinimum" in schema:
        low = max(schema["exclusiveMinimum"] + step, schema.get("minimum", -math.inf))
    if "exclusiveMaximum" in schema:
        high = min(schema["exclusiveMaximum"] - step, schema.get("maximum", math.inf))
    ends = [on_step(low, step, math.ceil), on_step(high, step, math.floor)]
    yield from [end for end in ends if end is not None] or [step]


def on_step(end: float | None, step: float, rounded: Any) -> float | None:
    """The multiple of ``step`` next to ``end``, on the side that ``rounded`` says."""
    return None if end is None else rounded(end / step) * step


def repeated(value: Any, times: int) -> list[Any]:
    """Raises: ValueError for more than MOST values inside."""
    if size(value) * times > MOST:
        raise ValueError(f"a list of {times} items is asked for")
    return [value] * times


def size(value: Any) -> int:
    """How many values there are in a value, itself counted."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + sum(map(size, inner))


def distinct(items: Iterable[T], key: Callable[[T], Any] = lambda item: item) -> list[T]:
    """Each item once, where it stands first. They are told apart by ``key``, as JSON is."""
    found: dict[str, T] = {}
    for item in items:
        found.setdefault(canonical(key(item)), item)
    return list(found.values())
