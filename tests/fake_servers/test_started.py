"""Servers that stop while somebody is on the way in."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import socket
import sys
import warnings
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from fakes_sample import sample

from fake_servers.anthropic_api import AnthropicApi
from fake_servers.fault_server import FaultServer
from fake_servers.faults import FAULTS
from fake_servers.http import serve
from fake_servers.legacy_http import LegacyHttp

SERVERS: dict[str, Callable[[], Any]] = {
    "asgi": lambda: serve(sample()),
    "faults": lambda: FaultServer(FAULTS["slow"]),
    "legacy": LegacyHttp,
    "anthropic": lambda: AnthropicApi([]),
}


@pytest.mark.parametrize("turns", range(6))  # of the event loop, between the visit and the stop
@pytest.mark.parametrize("name", SERVERS)
async def test_who_comes_while_a_server_stops_is_sent_away_and_not_lost(
    name: str, turns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    unraisable: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", unraisable.append)
    with warnings.catch_warnings(
        record=True, category=ResourceWarning, action="always"
    ) as unclosed:
        await visit_and_stop(SERVERS[name](), turns)
        gc.collect()
    assert not unraisable
    assert not [str(each.message) for each in unclosed]


async def visit_and_stop(server: Any, turns: int) -> None:
    await server.start()
    port = httpx.URL(server.url).port
    with socket.create_connection(("127.0.0.1", port or 0), timeout=5) as person:
        for _ in range(turns):
            await asyncio.sleep(0)
        await asyncio.wait_for(server.stop(), 5)
        await asyncio.sleep(0)
        with contextlib.suppress(ConnectionResetError):
            assert person.recv(1) == b""
