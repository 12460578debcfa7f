"""One sentence for an argument of a wrong type: which it is, what is wanted, and what came."""

from __future__ import annotations

from typing import Any


def check_type(name: str, value: object, kind: Any, wanted: str) -> None:
    """``kind`` is what isinstance takes, ``wanted`` how a sentence says it.

    Raises: TypeError. The value itself is not in its text: it may be a secret.
    """
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be {wanted}, not {type(value).__name__}")
