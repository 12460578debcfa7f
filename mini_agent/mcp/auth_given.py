"""What OAuth is given, held against what it can use: a mistake is told by the argument's name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mini_agent.mcp.auth_grants import AuthorizationCode, Grant
from mini_agent.mcp.auth_registration import PreRegistered
from mini_agent.mcp.misuse import check_type

WANTED: Mapping[str, tuple[Any, str]] = {
    "grant": (Grant, "AuthorizationCode(…), ClientCredentials() or JwtBearer(…)"),
    "client": (PreRegistered | None, "PreRegistered(client_id, issuer), or None"),
    "name": (str, "text"),
    "resolve": (Callable | None, "an async function of host and port, or None"),
    "clock": (Callable, "a function that gives seconds"),
}
"""For each argument its type, and how a sentence says it."""


def check_given(*, http: object, **given: object) -> None:
    """Raises: TypeError for a wrong type; ValueError for a grant that cannot do without client."""
    import httpx

    for name, value in given.items():
        check_type(name, value, *WANTED[name])
    check_type("http", http, httpx.AsyncClient | None, "an httpx.AsyncClient, or None")
    if given["client"] is None and not isinstance(given["grant"], AuthorizationCode):
        raise ValueError("a grant that asks no person needs client=PreRegistered(…)")
