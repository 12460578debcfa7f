"""The seam between a transport and whoever holds credentials; the deadline that waits for it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import httpx
import pytest

from mini_agent.errors import AuthorizationError, HttpStatusError
from mini_agent.mcp.credentials import MOST_ROUNDS, Credentials, Refusal
from mini_agent.mcp.http import HttpTransport
from mini_agent.mcp.messages import build_meta, build_request
from mini_agent.mcp.shared import Shared

pytestmark = pytest.mark.timeout(20)

URL = "https://mcp.example/mcp"


class Keys:
    """A key for each try, in order; the last is the good one."""

    def __init__(self, *keys: str, gives_up: bool = False) -> None:
        self.keys = list(keys)
        self.gives_up = gives_up
        self.refusals: list[Refusal] = []
        self.closed = 0

    async def headers(self, endpoint: Any, method: str, note: Any) -> Mapping[str, str]:
        return {"X-Key": self.keys[len(self.refusals)]}

    async def settle(self, endpoint: Any, refusal: Refusal, note: Any) -> bool:
        self.refusals.append(refusal)
        return not self.gives_up

    async def close(self) -> None:
        self.closed += 1


class Server:
    """Takes one key."""

    def __init__(self, key: str, status: int = 401) -> None:
        self.key, self.status = key, status
        self.seen: list[httpx.Request] = []
        self.client = httpx.AsyncClient(
            transport=httpx.MockTransport(self.handle), auth=("somebody", "else")
        )

    async def handle(self, request: httpx.Request) -> httpx.Response:
        self.seen.append(request)
        if request.headers["x-key"] != self.key:
            return httpx.Response(self.status, headers={"WWW-Authenticate": "Key"})
        answer = {"jsonrpc": "2.0", "id": json.loads(request.content)["id"], "result": {}}
        return httpx.Response(200, json=answer)


def ask() -> dict[str, Any]:
    return build_request(1, "tools/call", {"name": "t"}, meta=build_meta())


def test_keys_are_credentials_and_httpx_s_own_kinds_are_none() -> None:
    assert isinstance(Keys(), Credentials)
    assert not isinstance(httpx.BasicAuth("u", "p"), Credentials)
    assert not isinstance(("u", "p"), Credentials)


@pytest.mark.parametrize("status", [401, 403])
async def test_a_refusal_that_is_settled_is_not_the_end(status: int) -> None:
    server, keys = Server("c", status), Keys("a", "b", "c")
    await HttpTransport(URL, client=server.client, auth=keys).send(ask())
    assert [request.headers["x-key"] for request in server.seen] == ["a", "b", "c"]
    assert len({request.content for request in server.seen}) == 1
    told = [(r.status, r.headers["www-authenticate"], r.sent, r.round) for r in keys.refusals]
    assert told == [(status, "Key", {"X-Key": key}, n) for n, key in enumerate("ab", start=1)]


async def test_the_clients_own_auth_is_not_used_beside_them() -> None:
    server = Server("a")
    await HttpTransport(URL, client=server.client, auth=Keys("a")).send(ask())
    assert "authorization" not in server.seen[0].headers


async def test_what_is_not_settled_and_what_has_no_end_is_the_servers_refusal() -> None:
    for keys, tries in ((Keys("a", gives_up=True), 1), (Keys(*"abcdefgh"), MOST_ROUNDS + 1)):
        server = Server("z")
        with pytest.raises(AuthorizationError) as raised:
            await HttpTransport(URL, client=server.client, auth=keys).send(ask())
        assert raised.value.challenge == "Key" and len(server.seen) == tries


async def test_no_other_status_is_shown_to_them() -> None:
    server, keys = Server("z", 500), Keys("a")
    with pytest.raises(HttpStatusError):
        await HttpTransport(URL, client=server.client, auth=keys).send(ask())
    assert keys.refusals == []


async def test_a_refused_reply_is_closed_whatever_settling_it_comes_to() -> None:
    class Broken(Keys):
        async def settle(self, endpoint: Any, refusal: Refusal, note: Any) -> bool:
            raise LookupError("mine")

    class Body(httpx.AsyncByteStream):
        closed = False

        async def __aiter__(self) -> Any:
            yield b"{}"

        async def aclose(self) -> None:
            Body.closed = True

    def refuse(request: httpx.Request) -> httpx.Response:
        return httpx.Response(401, stream=Body())

    client = httpx.AsyncClient(transport=httpx.MockTransport(refuse))
    with pytest.raises(LookupError):
        await HttpTransport(URL, client=client, auth=Broken("a")).send(ask())
    assert Body.closed


async def test_they_are_closed_with_the_transport() -> None:
    keys = Keys("a")
    transport = HttpTransport(URL, auth=keys)
    await transport.close()
    assert keys.closed == 1


# -- shared work ----------------------------------------------------------------------------------


async def test_work_is_done_once_for_all_who_wait_and_anew_for_who_comes_later() -> None:
    shared, done = Shared(), []

    async def work() -> None:
        await asyncio.sleep(0)
        done.append(1)

    await asyncio.gather(*(shared.join(work) for _ in range(5)))
    assert (done, shared.busy) == ([1], False)
    await shared.join(work)
    await shared.join()
    assert done == [1, 1]


async def test_work_that_was_cancelled_before_its_first_step_is_over() -> None:
    shared, done = Shared(), []

    async def work() -> None:
        done.append(1)

    before = asyncio.all_tasks()
    asyncio.create_task(shared.join(work))  # noqa: RUF006 - it is among those below
    await asyncio.sleep(0)
    begun = asyncio.all_tasks() - before
    for task in begun:  # as at the end of an event loop
        task.cancel()
    await asyncio.wait(begun)
    assert done == [] and not shared.busy
    await shared.join(work)
    assert done
