"""JSON Schema, Draft 2020-12, with a closed registry: no ``$ref`` is ever fetched."""

from __future__ import annotations

import contextlib
import functools
import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator


def problems(schema: Any, value: Any, root: str = "$", limit: int = 5) -> list[str]:
    """At most ``limit`` broken rules, each as ``path: what (rule)``, in a fixed order.

    ``root`` is what the path begins with. An empty list means that the value is valid.

    Raises: referencing.exceptions.Unresolvable for a ``$ref`` that leads outside the schema.
    """
    found = _validator(json.dumps(schema)).iter_errors(value)
    lines = (f"{root}{e.json_path[1:]}: {_cut(e.message)} ({e.validator})" for e in found)
    return sorted(lines)[:limit]


@functools.lru_cache(maxsize=256)
def _validator(schema: str) -> Draft202012Validator:
    with _without("rfc3987_syntax"):  # its grammar takes 0.7 s to build; no format is checked here
        from jsonschema import Draft202012Validator
    from referencing import Registry

    return Draft202012Validator(json.loads(schema), registry=Registry())


@contextlib.contextmanager
def _without(module: str) -> Iterator[None]:
    """Importing ``module`` fails inside, as if it were not installed, unless it is loaded."""
    if module in sys.modules:
        yield
        return
    sys.modules[module] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules[module]


def _cut(text: str, limit: int = 160) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
