"""JSON from an address that may not answer: what comes back, or one kind of failure.

Guarantee: nothing of httpx leaves.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx

from fake_servers.refunds.outbound import DestinationRefused

MAX_DOCUMENT = 64 * 1024  # bytes
TIMEOUT = 5.0  # seconds


class FetchFailed(Exception):
    """No usable answer came; ``reason`` says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


async def fetch_json(
    http: httpx.AsyncClient,
    method: str,
    url: str,
    *,
    max_bytes: int = MAX_DOCUMENT,
    **options: Any,
) -> tuple[int, Any]:
    """The status and the JSON value of one answer.

    Raises: FetchFailed.
    """
    plain = {"Accept-Encoding": "identity"}
    try:
        async with (
            asyncio.timeout(TIMEOUT),
            http.stream(method, url, headers=plain, **options) as answer,
        ):
            return answer.status_code, json.loads(await _bounded(answer, max_bytes))
    except DestinationRefused as cause:
        raise FetchFailed(f"the destination is refused: {cause.reason}") from cause
    except (TimeoutError, httpx.HTTPError) as cause:
        raise FetchFailed(f"no answer came ({type(cause).__name__})") from cause
    except (ValueError, RecursionError) as cause:
        raise FetchFailed("the answer is no JSON") from cause


async def _bounded(answer: httpx.Response, max_bytes: int) -> bytes:
    """The body as it was sent: nothing is decompressed, which could make much out of little.

    One that is a little too long is read to its end, so that it closes by itself.
    """
    body, size = b"", 0
    async for piece in answer.aiter_raw():
        size += len(piece)
        body += piece if size <= max_bytes else b""
        if size > 16 * max_bytes:
            break
    if size > max_bytes:
        raise FetchFailed(f"the answer has more than {max_bytes} bytes")
    return body
