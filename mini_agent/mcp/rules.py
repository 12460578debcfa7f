"""The rules of JSON Schema that could run for ever, rewritten so that a deadline stops them.

A regular expression can take exponential time, and comparing every item with every other takes
quadratic time. ``jsonschema`` runs both without a bound, and Python cannot interrupt either.
"""

from __future__ import annotations

import functools
import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from typing import Any, TypeAlias

Rule: TypeAlias = Callable[[Any, Any, Any, Any], Any]
"""``jsonschema``'s signature: validator, the keyword's value, instance, schema → errors."""

MAX_PATTERN = 2_000  # characters; compiling a pattern has no deadline of its own
MAX_REPEATED = 20_000  # items of a pattern, each as often as it is repeated
MAX_TEXT = 100_000  # characters that a pattern is matched with; it keeps notes on each
TOKENS = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]|\{(\d+)?(?:,(\d+)?)?\}|.", re.DOTALL)
GROUP = re.compile(r"\((?!\?)|\(\?(?:[:=!]|P?<\w|<[=!]|[imsu]*(?:-[imsu]+)?[:)])")
REFERENCES = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})


class SchemaError(ValueError):
    """The schema itself cannot be used; the message says why."""


class TimeLimit:
    """The end of one check, ``seconds`` from now."""

    current: ContextVar[TimeLimit] = ContextVar("schema_time_limit")

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """The seconds that are left, more than 0. Raises: SchemaError when none are."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise SchemaError(f"checking it took longer than {self._seconds:g} s")
        return left


def bounded(rule: Rule) -> Rule:
    """``rule``, not begun when the time is up: schemas can be made exponential."""

    def begun(validator: Any, value: Any, instance: Any, schema: Any) -> Any:
        TimeLimit.current.get().left()
        return rule(validator, value, instance, schema)

    return begun


def matches(pattern: str, text: str) -> bool:
    """True when ``pattern`` is found in ``text``. Raises: SchemaError when it cannot be used."""
    import regex

    left = TimeLimit.current.get().left()
    fault = pattern_fault(pattern)
    if not fault and len(text) > MAX_TEXT:
        fault = f"is asked of a text longer than {MAX_TEXT} characters"
    try:
        if not fault:
            return regex.search(pattern, text, timeout=left) is not None
    except TimeoutError:
        fault = "took longer than a check may"
    except (regex.error, RecursionError, MemoryError) as cause:
        fault = f"cannot be used: {cause}"
    raise SchemaError(f"its pattern {pattern!r:.80} {fault}")


@functools.lru_cache
def pattern_fault(pattern: str) -> str:
    """Why ``pattern`` is not even compiled, "" when it may be: compiling unrolls what is repeated.

    Groups of this engine's own (recursion above all) are no part of JSON Schema's patterns.
    """
    if len(pattern) > MAX_PATTERN:
        return f"is longer than {MAX_PATTERN} characters"
    sizes, last = [0], 0  # of each group that is open; of the last item
    for token in TOKENS.finditer(pattern):
        if token[0] == "(":
            if not GROUP.match(pattern, token.start()):
                return "has a group of a kind that JSON Schema does not know"
            sizes.append(0)
            continue
        counts = [int(count) for count in token.groups() if count]
        if token[0] == ")" and len(sizes) > 1:
            last = sizes.pop()
        elif not counts and token[0] not in "*+?":
            last = 1
        last *= max(counts, default=1)
        sizes[-1] += last
        if max(sizes) > MAX_REPEATED:
            return f"repeats more than {MAX_REPEATED} times"
    return ""


def pattern(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
    """The text matches."""
    from jsonschema import ValidationError

    if isinstance(instance, str) and not matches(value, instance):
        yield ValidationError(f"{instance!r} does not match {value!r}")


def pattern_properties(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
    """What stands under a name that matches fits."""
    for wanted, subschema in value.items() if isinstance(instance, dict) else ():
        for name in filter(lambda name: matches(wanted, name), instance):
            yield from validator.descend(instance[name], subschema, path=name, schema_path=wanted)


def additional(rule: Rule) -> Rule:
    """``additionalProperties``, told only of the names that no pattern matches."""

    def told(validator: Any, value: Any, instance: Any, schema: Any) -> Any:
        if "patternProperties" not in schema or not isinstance(instance, dict):
            return rule(validator, value, instance, schema)
        patterns = schema["patternProperties"]
        rest = {name: held for name, held in instance.items() if not _any(patterns, name)}
        plain = {key: held for key, held in schema.items() if key != "patternProperties"}
        return rule(validator, value, rest, plain)

    return told


def _any(patterns: Iterable[str], name: str) -> bool:
    return any(matches(pattern, name) for pattern in patterns)


# -- no two items are equal -----------------------------------------------------------------------


def unique_items(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
    """No two items are equal: each is written as canonical JSON and looked up."""
    from jsonschema import ValidationError

    seen: set[str] = set()  # of text: Python salts its hashes, those of numbers it does not
    for index, item in enumerate(instance if value and isinstance(instance, list) else ()):
        TimeLimit.current.get().left()
        text = json.dumps(_canonical(item), sort_keys=True)
        if text in seen:
            yield ValidationError(f"item {index} is equal to one before it")
            return
        seen.add(text)


def _canonical(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _canonical(held) for name, held in value.items()}
    if isinstance(value, list):
        return [_canonical(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


# -- what no other rule has looked at -------------------------------------------------------------


def unevaluated(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
    """``unevaluatedProperties`` and ``unevaluatedItems``, each for its kind of instance."""
    from jsonschema import ValidationError

    own = "unevaluatedProperties" if isinstance(instance, dict) else "unevaluatedItems"
    if not isinstance(instance, dict | list) or schema.get(own) is not value:
        return
    others = {key: held for key, held in schema.items() if key != own}
    seen = _seen(validator, instance, others)
    left = validator.evolve(schema=value)
    for part, held in _parts(instance):
        if part not in seen and not left.is_valid(held):
            yield ValidationError(f"{part!r} is not allowed: no other rule of the schema has it")


def _parts(instance: Any) -> Iterable[tuple[Any, Any]]:
    return instance.items() if isinstance(instance, dict) else enumerate(instance)


def _seen(validator: Any, instance: Any, schema: Any) -> set[Any]:
    """The names, or indexes, of ``instance`` at which the rules of ``schema`` look."""
    TimeLimit.current.get().left()
    if not isinstance(schema, dict):
        return set()
    seen = (
        _names(instance, schema)
        if isinstance(instance, dict)
        else {*_indexes(validator, instance, schema)}
    )
    for there in _in_place(validator, instance, schema):
        if there.is_valid(instance):
            seen |= _seen(there, instance, there.schema)
    return seen


def _names(instance: dict[str, Any], schema: Any) -> set[str]:
    if "additionalProperties" in schema or "unevaluatedProperties" in schema:
        return set(instance)
    patterns = schema.get("patternProperties", {})
    return {name for name in instance if name in schema.get("properties", {})} | {
        name for name in instance if _any(patterns, name)
    }


def _indexes(validator: Any, instance: list[Any], schema: Any) -> Iterable[int]:
    items = schema.get("items")
    every = isinstance(items, dict | bool) or "additionalItems" in schema
    if every or "unevaluatedItems" in schema:
        return range(len(instance))
    first = range(len(items if isinstance(items, list) else schema.get("prefixItems", [])))
    if "contains" not in schema:
        return first
    fits = validator.evolve(schema=schema["contains"]).is_valid
    return {*first, *(index for index, item in enumerate(instance) if fits(item))}


def _in_place(validator: Any, instance: Any, schema: Any) -> Iterator[Any]:
    """The validators that ``schema`` applies to the same instance."""
    for key in REFERENCES & schema.keys():
        found = validator._resolver.lookup(schema[key])
        yield validator.evolve(schema=found.contents, _resolver=found.resolver)
    subschemas = [sub for key in ("allOf", "anyOf", "oneOf") for sub in schema.get(key, ())]
    depending = schema.get("dependentSchemas", {})
    subschemas += [sub for name, sub in depending.items() if name in instance]
    if "if" in schema:
        holds = validator.evolve(schema=schema["if"]).is_valid(instance)
        subschemas += [schema["if"], schema.get("then" if holds else "else", True)]
    for subschema in subschemas:
        yield validator.evolve(schema=subschema)


OWN: dict[str, Rule] = {
    "pattern": pattern,
    "patternProperties": pattern_properties,
    "uniqueItems": unique_items,
    "unevaluatedItems": unevaluated,
    "unevaluatedProperties": unevaluated,
}


def stoppable(rules: Mapping[str, Rule]) -> dict[str, Rule]:
    """``rules`` of one dialect, each of them so that the deadline stops it."""
    own = {name: rule for name, rule in OWN.items() if name in rules}
    if "additionalProperties" in rules:
        own["additionalProperties"] = additional(rules["additionalProperties"])
    return {name: bounded(rule) for name, rule in {**rules, **own}.items()}
