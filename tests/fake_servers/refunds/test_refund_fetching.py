"""JSON from somebody else's address: bounded, and one kind of failure."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import pytest

from fake_servers.refunds.fetching import FetchFailed, fetch_json
from fake_servers.refunds.outbound import DestinationRefused

URL = "https://client.example/client.json"
Handler = Callable[[httpx.Request], httpx.Response]


class Pieces(httpx.AsyncByteStream):
    """A body that comes in pieces."""

    def __init__(self, *pieces: bytes) -> None:
        self.left = list(pieces)

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        if not self.left:
            raise StopAsyncIteration
        return self.left.pop(0)


async def fetched(handler: Handler, limit: int = 20) -> tuple[int, Any]:
    async with httpx.AsyncClient(transport=httpx.MockTransport(handler)) as http:
        return await fetch_json(http, "GET", URL, max_bytes=limit)


async def why_not(handler: Handler) -> str:
    with pytest.raises(FetchFailed) as failed:
        await fetched(handler)
    return failed.value.reason


async def test_status_and_value_come_back_whatever_the_status() -> None:
    assert await fetched(lambda _: httpx.Response(404, stream=Pieces(b'{"a": 1}'))) == (
        404,
        {"a": 1},
    )


async def test_a_body_whose_beginning_would_do_is_refused_when_it_goes_on() -> None:
    body = Pieces(b'{"a": 1}', b" " * 100)
    assert "more than 20 bytes" in await why_not(lambda _: httpx.Response(200, stream=body))


async def test_a_body_without_end_is_not_read_to_its_end() -> None:
    body = Pieces(*[b"x" * 20] * 1000)
    assert "more than 20 bytes" in await why_not(lambda _: httpx.Response(200, stream=body))
    assert len(body.left) > 900
    for _ in range(5):  # httpx leaves its generators to the collector: let them end
        await asyncio.sleep(0)


async def test_a_compressed_body_is_not_unpacked() -> None:
    packed = Pieces(gzip.compress(b'{"a": 1}' + b" " * 1_000_000))
    headers = {"content-encoding": "gzip"}
    with pytest.raises(FetchFailed, match="no JSON"):
        await fetched(lambda _: httpx.Response(200, headers=headers, stream=packed), limit=9000)


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[" * 20])
async def test_what_is_no_json_is_a_failure(body: bytes) -> None:
    assert (
        await why_not(lambda _: httpx.Response(200, stream=Pieces(body))) == "the answer is no JSON"
    )


@pytest.mark.parametrize(
    "error, why",
    [
        (httpx.ConnectError("secret.example"), "no answer came (ConnectError)"),
        (httpx.ReadTimeout("secret.example"), "no answer came (ReadTimeout)"),
        (DestinationRefused("its name leads nowhere"), "the destination is refused: its name"),
    ],
)
async def test_no_answer_is_a_failure_and_names_no_address(error: Exception, why: str) -> None:
    def fail(request: httpx.Request) -> httpx.Response:
        raise error

    assert (await why_not(fail)).startswith(why)
