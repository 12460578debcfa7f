"""The five tests of a changed tool: calls made from its schema before and after, with verdicts.

Pure: two schemas in, calls out. A release process makes the calls at the new release and holds its
answers against the verdicts, before any host shows the changed tool to a model.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields

from mini_agent.mcp.schemas import Validator
from mini_agent.releasing.spoiled import (
    Named,
    with_a_field_more,
    with_a_wrong_type,
    without_a_field,
)
from mini_agent.releasing.values import Values, distinct, size
from mini_agent.types import JsonObject


@dataclass(frozen=True)
class Case:
    """One call. ``old`` and ``new`` are the verdicts: does that schema take it?

    ``about`` says what is particular about it.
    """

    about: str
    arguments: JsonObject
    old: bool
    new: bool

    @property
    def breaks(self) -> bool:
        """Who calls like this today is refused tomorrow."""
        return self.old and not self.new


@dataclass(frozen=True)
class SchemaTests:
    """The five lists.

    What is in ``missing``, ``additional`` and ``wrong_type`` is one step away from a call that the
    new schema takes. Most of it should be refused; ``new`` says whether it is.
    """

    old_valid: list[Case]
    new_valid: list[Case]
    missing: list[Case]
    additional: list[Case]
    wrong_type: list[Case]

    def __iter__(self) -> Iterator[tuple[str, list[Case]]]:
        """Each list with its name."""
        return ((field.name, getattr(self, field.name)) for field in fields(self))

    @property
    def breaking(self) -> list[Case]:
        """The calls that were right and no longer are, each once. [] is a compatible change."""
        found = [case for _, cases in self for case in cases if case.breaks]
        return distinct(found, key=lambda case: case.arguments)

    def table(self) -> str:
        """One line a list: how many calls, how many each schema takes, how many break."""
        lines = [f"{'test':<12}{'calls':>6}{'old takes':>11}{'new takes':>11}{'breaking':>10}"]
        for name, cases in self:
            old, new, broken = (
                sum(getattr(case, word) for case in cases) for word in ("old", "new", "breaks")
            )
            lines.append(f"{name:<12}{len(cases):>6}{old:>11}{new:>11}{broken:>10}")
        return "\n".join(lines)


def schema_tests(
    old: JsonObject, new: JsonObject, *, seen: Iterable[JsonObject] = ()
) -> SchemaTests:
    """The five tests for a tool whose input schema was ``old`` and becomes ``new``.

    The calls are samples: of a pattern that became narrower, for example, only a call that it no
    longer takes will tell. ``seen`` are arguments of real calls, from an audit file perhaps; those
    that the old schema takes are the first of ``old_valid``.

    Raises: ValueError for a schema that is unusable, or for which no call can be made.
    """
    before, after = Validator(old), Validator(new)

    def judged(calls: Iterable[Named]) -> list[Case]:
        return [
            Case(about, call, not before.fault(call), not after.fault(call))
            for about, call in distinct(calls, key=lambda named: named[1])
        ]

    real = [("a call that was made", call) for call in seen]
    old_valid = [case for case in judged([*real, *valid_calls(old)]) if case.old]
    new_valid = [case for case in judged(valid_calls(new)) if case.new]
    for which, cases in (("old", old_valid), ("new", new_valid)):
        if not cases:
            raise ValueError(f"no call can be made that fits the {which} schema; give it examples")
    was, now = (max((c.arguments for c in cases), key=size) for cases in (old_valid, new_valid))
    return SchemaTests(
        old_valid,
        new_valid,
        missing=judged(without_a_field(now)),
        additional=judged(with_a_field_more(now, was)),
        wrong_type=judged(with_a_wrong_type(now)),
    )


def valid_calls(schema: JsonObject) -> list[Named]:
    """Calls made to fit ``schema``: every field, only what is required, one field different.

    Raises: ValueError for a schema that is unusable, or not about an object.
    """
    Validator(schema).fault({})  # its bounds, before anything walks through it
    values = Values(schema)
    flat = values.flat(schema)
    if flat.get("type", "object") != "object":
        raise ValueError(f"a tool's arguments are an object, not of type {flat['type']}")
    return list(values.objects(flat))
