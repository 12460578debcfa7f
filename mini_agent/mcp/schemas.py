"""JSON Schema 2020-12, with everything closed that a hostile schema could open.

No ``$ref`` is ever fetched; depth, number of subschemas and time are bounded. Revision 2026-07-28,
basic/index#json-schema-usage. Dialects: 2020-12 (the default), 2019-09, draft-07, -06, -04, -03.
"""

from __future__ import annotations

from typing import Any, cast

from mini_agent.mcp.rules import SchemaError, TimeLimit, stoppable
from mini_agent.types import JsonObject

__all__ = ["SchemaError", "Validator", "check_bounds"]

MAX_DEPTH = 64
MAX_NODES = 20_000
MAX_SECONDS = 1.0
TRIPPED = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What the library raises over a schema that its metaschema lets pass."""


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
        import jsonschema.validators  # noqa: F401 - before the clock starts: loading takes long
        import jsonschema_specifications  # type: ignore[import-untyped]  # noqa: F401
        import regex  # noqa: F401

        token = TimeLimit.current.set(TimeLimit(MAX_SECONDS))
        try:
            return self._fault(value)
        finally:
            TimeLimit.current.reset(token)

    def _fault(self, value: Any) -> str:
        from jsonschema.exceptions import UndefinedTypeCheck, UnknownType, best_match
        from referencing.exceptions import Unresolvable

        try:
            if self._compiled is None:
                self._compiled = _compile(self._schema)
            error = best_match(self._compiled.iter_errors(value))
            return _describe(error) if error else ""
        except SchemaError:
            raise
        except Unresolvable as cause:
            raise SchemaError(f"it refers to {cause.ref!r:.80}, which is not fetched") from cause
        except RecursionError as cause:
            raise SchemaError("it refers to itself without end, or goes too deep") from cause
        except (*TRIPPED, UndefinedTypeCheck, UnknownType) as cause:
            raise SchemaError(f"a rule of it cannot be applied: {cause!s:.120}") from cause


def _describe(error: Any) -> str:
    where = "/" + "/".join(str(step) for step in error.absolute_path)
    text = error.message if len(error.message) <= 200 else error.message[:199] + "…"
    return f'at {where}: {text} (rule "{error.validator}")'


def _compile(schema: JsonObject) -> Any:
    from jsonschema.exceptions import best_match
    from jsonschema_specifications import REGISTRY

    check_bounds(schema)
    dialect = _dialect(schema)
    judge = dialect(dialect.META_SCHEMA, registry=REGISTRY)
    wrong = best_match(judge.iter_errors(schema))
    if wrong:
        raise SchemaError(f"it is no valid schema: {_describe(wrong)}")
    return dialect(schema, registry=REGISTRY)


def _dialect(schema: JsonObject) -> Any:
    """The validator class for the schema's dialect, with rules that a deadline stops."""
    from jsonschema.validators import Draft202012Validator, extend, validator_for

    named = schema.get("$schema", Draft202012Validator.META_SCHEMA["$id"])
    known = isinstance(named, str) and validator_for({"$schema": named}, default=cast(Any, None))
    if not known:
        raise SchemaError(f"its dialect {named!r:.80} is not supported; use 2020-12")
    dialect: Any = cast(Any, extend)(known, stoppable(known.VALIDATORS))
    dialect.evolve = _evolve
    return dialect


def _evolve(validator: Any, **changes: Any) -> Any:
    """The same rules for another schema: its own ``$schema`` must not bring the unbounded ones."""
    kept = {"registry": validator._registry, "_resolver": validator._resolver}
    return type(validator)(**{"schema": validator.schema, **kept, **changes})


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
