"""JSON Schema 2020-12, with everything closed that a hostile schema could open.

No ``$ref`` is ever fetched; depth, number of subschemas and time are bounded. Revision 2026-07-28,
basic/index#json-schema-usage. Dialects: 2020-12 (the default), 2019-09, draft-07, -06, -04, -03.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any, cast

from mini_agent.types import JsonObject

MAX_DEPTH = 64
MAX_NODES = 20_000
MAX_SECONDS = 1.0

_deadline: ContextVar[float] = ContextVar("schema_deadline")


class SchemaError(ValueError):
    """The schema itself cannot be used; the message says why."""


class Validator:
    """One schema, compiled at first use and kept: compiling costs forty times what a check does."""

    def __init__(self, schema: JsonObject) -> None:
        self._schema = schema
        self._compiled: Any = None

    def fault(self, value: Any) -> str:
        """Where and by which rule ``value`` breaks the schema, "" when it fits.

        Raises: SchemaError when the schema is too large, of an unknown dialect, not valid, refers
        to something that is not in it, or takes longer than MAX_SECONDS.
        """
        from jsonschema.exceptions import best_match
        from referencing.exceptions import Unresolvable

        if self._compiled is None:
            self._compiled = _compile(self._schema)
        token = _deadline.set(time.monotonic() + MAX_SECONDS)
        try:
            error = best_match(self._compiled.iter_errors(value))
        except Unresolvable as cause:
            raise SchemaError(f"it refers to {cause.ref!r}, which is not fetched") from cause
        except RecursionError as cause:
            raise SchemaError("it refers to itself without end") from cause
        finally:
            _deadline.reset(token)
        return _describe(error) if error else ""


def _describe(error: Any) -> str:
    where = "/" + "/".join(str(step) for step in error.absolute_path)
    text = error.message if len(error.message) <= 200 else error.message[:199] + "…"
    return f'at {where}: {text} (rule "{error.validator}")'


def _compile(schema: JsonObject) -> Any:
    from jsonschema.exceptions import SchemaError as Invalid
    from jsonschema.validators import Draft202012Validator, extend, validator_for
    from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]  # no way out

    check_bounds(schema)
    cls: Any = Draft202012Validator
    if "$schema" in schema:
        cls = validator_for(schema, default=cast(Any, None))
    if cls is None:
        raise SchemaError(f"its dialect {schema['$schema']!r:.80} is not supported; use 2020-12")
    try:
        cls.check_schema(schema)
    except Invalid as cause:
        raise SchemaError(f"it is no valid schema: {_describe(cause)}") from cause
    rules = {name: _bounded(rule) for name, rule in cls.VALIDATORS.items()}
    return cast(Any, extend)(cls, rules)(schema, registry=REGISTRY)


def _bounded(rule: Any) -> Any:
    """``rule``, stopped when the time of this check is up: schemas can be made exponential."""

    def bounded(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        if time.monotonic() > _deadline.get():
            raise SchemaError(f"checking it took longer than {MAX_SECONDS:g} s")
        yield from rule(validator, value, instance, schema) or ()

    return bounded


def check_bounds(schema: Any) -> None:
    """Refuse a schema that is deeper than MAX_DEPTH or holds more than MAX_NODES values.

    Raises: SchemaError saying which bound is broken.
    """
    level, nodes = [schema], 0
    for _ in range(MAX_DEPTH):
        level = [inner for value in level for inner in _inside(value)]
        nodes += len(level)
        if nodes > MAX_NODES:
            raise SchemaError(f"it holds more than {MAX_NODES} values")
        if not level:
            return
    raise SchemaError(f"it is nested deeper than {MAX_DEPTH} levels")


def _inside(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []
