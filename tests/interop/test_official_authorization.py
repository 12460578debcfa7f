"""Our OAuth against the official SDK's authorization server, over real connections."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from mini_agent.errors import AuthorizationError
from mini_agent.mcp import HttpTransport, McpClient
from mini_agent.mcp.auth import AuthorizationCode, OAuth

pytestmark = pytest.mark.timeout(60)

PEER = Path(__file__).with_name("official_authorization.py")


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """The peer: one process for all tests of this file."""
    with subprocess.Popen([sys.executable, str(PEER)], stdout=subprocess.PIPE, text=True) as peer:
        try:
            assert peer.stdout is not None
            yield peer.stdout.readline().strip()
        finally:
            peer.terminate()


class Person:
    """Follows the redirect that the SDK's page answers with, and counts."""

    def __init__(self) -> None:
        self.asked = 0

    async def __call__(self, url: str) -> str:
        self.asked += 1
        async with httpx.AsyncClient(trust_env=False) as browser:
            return str((await browser.get(url)).headers["location"])


async def who(client: McpClient) -> str:
    return str((await client.call("who")).content[0]["text"])


async def test_it_registers_signs_in_and_gets_a_token_for_this_server(url: str) -> None:
    person = Person()
    auth = OAuth(AuthorizationCode(person))
    async with McpClient(HttpTransport(url, auth=auth), server="guarded") as client:
        await client.connect()
        assert await who(client) == f"['notes:read'] {url}"
    origin = f"http://{urlsplit(url).netloc}"
    assert (person.asked, auth.issuer, auth.scopes) == (1, origin, ("notes:read",))


async def test_64_calls_at_once_sign_in_once_and_renew_once(url: str) -> None:
    now, person = [1000.0], Person()
    auth = OAuth(AuthorizationCode(person), clock=lambda: now[0])
    async with McpClient(HttpTransport(url, auth=auth), server="guarded") as client:
        for _ in range(2):
            assert len(set(await asyncio.gather(*(who(client) for _ in range(64))))) == 1
            now[0] += 60
    assert person.asked == 1


async def test_a_token_that_is_worth_nothing_any_more_is_renewed_at_the_refusal(url: str) -> None:
    person = Person()
    first = OAuth(AuthorizationCode(person))
    second = OAuth(AuthorizationCode(person))
    async with McpClient(HttpTransport(url, auth=first), server="guarded") as client:
        await who(client)
        async with McpClient(HttpTransport(url, auth=second), server="guarded") as other:
            await who(other)  # and the first one's token is gone
        await who(client)
    assert person.asked == 2


async def test_a_person_who_is_sent_back_without_a_yes_is_an_authorization_error(url: str) -> None:
    async def says_no(address: str) -> str:
        back = await Person()(address)
        return back.split("code=")[0] + "error=access_denied&state=" + back.split("state=")[1]

    auth = OAuth(AuthorizationCode(says_no))
    async with McpClient(HttpTransport(url, auth=auth), server="guarded") as client:
        with pytest.raises(AuthorizationError) as raised:
            await client.connect()
    assert "access_denied" in raised.value.message and raised.value.server == "guarded"
