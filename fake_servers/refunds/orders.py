"""The order service as the MCP server sees it: one user's calls, each with a token of its own.

Guarantee: what comes back is the service's record, or a Refusal with a stable code; nothing of
httpx leaves, and nothing of a body that was not understood is repeated.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any, Protocol
from urllib.parse import quote

import httpx

from fake_servers.refunds.bearer import DRAFT, READ
from fake_servers.refunds.categories import CATEGORIES, Refusal
from fake_servers.refunds.outbound import DestinationRefused
from fake_servers.wire import Message

TokenFor = Callable[[str], Awaitable[str]]
"""Gives a token of the order service for the scope it is asked for."""

NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
NO_KEY = "The order service did not answer: the draft may exist. Without a key, asking again may "
NO_KEY += "make a second one."


class OrdersApi(Protocol):
    """What the MCP server needs of the order service."""

    async def order(self, order_id: str) -> Message:
        """The record of one order. Raises: Refusal."""
        ...

    async def create_draft(self, wanted: Message) -> Message:
        """The record of the draft for what is wanted. Raises: Refusal."""
        ...

    async def draft(self, operation_key: str) -> Message:
        """The record of the draft made under a key. Raises: Refusal."""
        ...


class Orders:
    """OrdersApi over HTTP at ``origin``. ``timeout`` is in seconds, for one request in all."""

    def __init__(
        self, http: httpx.AsyncClient, origin: str, token: TokenFor, *, timeout: float = 5.0
    ) -> None:
        self._http = http
        self._origin = origin
        self._token = token
        self._timeout = timeout

    async def order(self, order_id: str) -> Message:
        """GET /orders/{order_id}.

        Raises: Refusal.
        """
        return await self._read(f"/orders/{quote(order_id, safe='')}")

    async def draft(self, operation_key: str) -> Message:
        """GET /refund-drafts/{operation_key}.

        Raises: Refusal.
        """
        return await self._read(f"/refund-drafts/{quote(operation_key, safe='')}")

    async def create_draft(self, wanted: Message) -> Message:
        """POST /refund-drafts. Whatever leaves the outcome open is said to do so.

        Raises: Refusal; OUTCOME_UNKNOWN is retryable when ``wanted`` has an operation key.
        """
        unknown = Refusal("OUTCOME_UNKNOWN")
        if not wanted.get("operation_key"):
            unknown = Refusal("OUTCOME_UNKNOWN", NO_KEY, retryable=False)
        token = await self._token(DRAFT)
        record = await self._asked("POST", "/refund-drafts", token, wanted, unknown)
        if "draft_id" not in record:
            raise unknown
        return record

    async def _read(self, path: str) -> Message:
        return await self._asked("GET", path, await self._token(READ))

    async def _asked(
        self,
        method: str,
        path: str,
        token: str,
        body: Message | None = None,
        unknown: Refusal | None = None,
    ) -> Message:
        headers = {"Authorization": f"Bearer {token}"}
        try:
            async with asyncio.timeout(self._timeout):
                answer = await self._http.request(
                    method, self._origin + path, json=body, headers=headers
                )
        except DestinationRefused as cause:
            raise Refusal("DESTINATION_REFUSED") from cause
        except NEVER_SENT as cause:
            raise Refusal("SERVICE_UNAVAILABLE") from cause
        except (TimeoutError, httpx.TimeoutException) as cause:
            raise unknown or Refusal("ORDER_SERVICE_TIMEOUT") from cause
        except httpx.HTTPError as cause:
            raise unknown or Refusal("SERVICE_UNAVAILABLE") from cause
        return read_answer(answer.status_code, answer.content, unknown)


def read_answer(status: int, content: bytes, unknown: Refusal | None = None) -> Message:
    """The record in an answer of the order service.

    Raises: Refusal with the service's own code where it is a known one, ACCESS_DENIED where it did
    not accept the token; ``unknown``, if given, for an answer that leaves open what happened.
    """
    body = _object(content)
    if status in (200, 201) and body is not None:
        return body
    if status in (401, 403):
        raise Refusal("ACCESS_DENIED")
    error = body.get("error") if body else None
    if isinstance(error, dict) and _speaks_of(error.get("code"), status):
        raise Refusal(error["code"], str(error.get("message", "")))
    if unknown is not None:
        raise unknown
    raise Refusal("SERVICE_UNAVAILABLE" if status >= 500 else "ORDER_SERVICE_MALFORMED")


def _object(content: bytes) -> Message | None:
    try:
        value: Any = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _speaks_of(code: Any, status: int) -> bool:
    return isinstance(code, str) and code in CATEGORIES and CATEGORIES[code].status == status
