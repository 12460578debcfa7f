"""Where an address that a server names may lead, and what is then connected to."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import httpx
import pytest
from auth_peers import ISSUER, RESOURCE_PLACE, URL, Peers, ask, metadata
from hypothesis import given
from hypothesis import strategies as st

from mini_agent.errors import AuthorizationError, ConnectFailed
from mini_agent.mcp.addresses import Reach, Unusable, checked_address, resolved
from mini_agent.mcp.auth_web import Web, proxied
from mini_agent.mcp.endpoint import checked_endpoint

pytestmark = [pytest.mark.timeout(20), pytest.mark.must("C119"), pytest.mark.case("H06")]

FAR = Reach(checked_endpoint(URL))
NEAR = Reach(checked_endpoint("http://127.0.0.1:9/mcp"))
INSIDE = Reach(checked_endpoint(URL), allow_private=True)

THIS_MACHINE = [
    "https://localhost/", "https://a.localhost/", "https://LOCALHOST./", "https://127.0.0.1/",
    "https://127.9.9.9/", "https://[::1]/", "https://[::ffff:127.0.0.1]/", "https://2130706433/",
    "https://0x7f000001/", "https://127.1/", "https://[64:ff9b::7f00:1]/",
]  # fmt: skip
PRIVATE = [
    "https://10.0.0.1/", "https://172.16.9.9/", "https://192.168.1.1/", "https://169.254.169.254/x",
    "https://100.64.0.1/", "https://0.0.0.0/", "https://224.0.0.1/", "https://255.255.255.255/",
    "https://[fc00::1]/", "https://[fe80::1]/", "https://[ff02::1]/", "https://[::]/",
    "https://[::ffff:10.0.0.1]/", "https://[2002:a00:1::]/", "https://167772161/",
    "https://[64:ff9b::a00:1]/", "https://[fec0::1]/", "https://192.88.99.1/",
    "https://[2002:c058:6301::]/",
]  # fmt: skip
NO_ADDRESS = [
    "", "x", "//a.example/", "ftp://a.example/", "file:///etc/passwd", "javascript:alert(1)",
    "data:text/html,x", "https://", "https:///x", "https://u:p@a.example/", "https://a.example/#x",
    "http://a.example/", "https://0177.0.0.1/", "https://[", "https://a.b.example%00/", "https://a.example:99999/",
]  # fmt: skip


@pytest.mark.parametrize("url", [*THIS_MACHINE, *PRIVATE, *NO_ADDRESS])
def test_a_server_elsewhere_may_not_lead_to(url: str) -> None:
    with pytest.raises(Unusable):
        checked_address(url, FAR)


@pytest.mark.parametrize(
    "url", ["https://8.8.8.8/", "https://a.example/", "https://[2606:4700::1]/"]
)
def test_a_server_elsewhere_may_lead_to(url: str) -> None:
    assert str(checked_address(url, FAR)) == url


@pytest.mark.parametrize("url", THIS_MACHINE)
def test_a_server_on_this_machine_may_lead_to_it_also_by_http(url: str) -> None:
    checked_address(url, NEAR)
    checked_address(url.replace("https", "http"), NEAR)


@pytest.mark.parametrize("url", [*PRIVATE, *NO_ADDRESS, "https://evillocalhost/x?http://"])
def test_and_no_further(url: str) -> None:
    if url.startswith("https://evil"):
        checked_address(url, NEAR)  # a name like any other
        url = url.replace("https", "http", 1)
    with pytest.raises(Unusable):
        checked_address(url, NEAR)


@pytest.mark.parametrize("url", [*THIS_MACHINE, *PRIVATE])
def test_private_addresses_are_reached_where_that_is_meant_and_by_https(url: str) -> None:
    checked_address(url, INSIDE)
    if url in PRIVATE:
        with pytest.raises(Unusable):
            checked_address(url.replace("https", "http"), INSIDE)


def test_the_servers_own_origin_is_what_was_configured() -> None:
    at_home = Reach(checked_endpoint("http://10.0.0.1:8/mcp", allow_cleartext=True))
    checked_address("http://10.0.0.1:8/.well-known/x", at_home)
    for other in ("http://10.0.0.1:9/", "https://10.0.0.1:8/", "http://10.0.0.2:8/"):
        with pytest.raises(Unusable):
            checked_address(other, at_home)


@given(st.text(max_size=60))
def test_any_text_is_an_address_or_is_not(text: str) -> None:
    for url in (text, f"https://{text}", f"https://{text}/x"):
        try:
            checked_address(url, FAR)
        except Unusable:
            continue


# -- as a name resolves ---------------------------------------------------------------------------


class Names:
    """A resolver that is a table; it counts how often it is asked."""

    def __init__(self, *addresses: str) -> None:
        self.addresses, self.asked = list(addresses), 0

    async def __call__(self, host: str, port: int) -> list[str]:
        self.asked += 1
        if not self.addresses:
            raise socket.gaierror("no such name")
        return self.addresses


class Wire:
    """Answers with ``{}`` unless the host is in ``dead``; remembers what it was asked."""

    def __init__(self, *dead: str) -> None:
        self.dead, self.requests = dead, list[httpx.Request]()
        self.client = httpx.AsyncClient(transport=httpx.MockTransport(self.handle))

    async def handle(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        if request.url.host in self.dead:
            raise httpx.ConnectError("refused")
        return httpx.Response(200, json={"a": 1})


def nothing(*_: Any, **__: Any) -> None:
    """No trace."""


async def get(
    wire: Wire, names: Names, url: str = "https://a.example/x", reach: Reach = FAR
) -> Any:
    async with Web(reach, nothing, client=wire.client, resolve=names) as web:
        return await web.get(url, "x")


async def test_what_was_judged_is_what_is_connected_to_under_the_name_that_was_meant() -> None:
    wire, names = Wire(), Names("93.184.216.34")
    assert (await get(wire, names)).document == {"a": 1}
    [request] = wire.requests
    assert request.url.host == "93.184.216.34" and request.headers["host"] == "a.example"
    assert request.extensions["sni_hostname"] == "a.example" and names.asked == 1
    # Another name at that address must not come over a connection that was verified for this one.
    assert request.headers["connection"] == "close"


@pytest.mark.parametrize("bad", ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "fe80::1%eth0"])
async def test_a_name_that_leads_inside_is_refused_whatever_else_it_leads_to(bad: str) -> None:
    wire = Wire()
    with pytest.raises(Unusable):
        await get(wire, Names("93.184.216.34", bad))
    assert wire.requests == []


async def test_the_next_address_is_tried_where_nobody_answers_at_the_first() -> None:
    wire = Wire("2606:4700::1")
    assert (await get(wire, Names("2606:4700::1", "93.184.216.34"))).status == 200
    with pytest.raises(ConnectFailed):
        await get(wire, Names("2606:4700::1"))


async def test_a_name_that_does_not_resolve_is_never_reached() -> None:
    with pytest.raises(ConnectFailed):
        await get(Wire(), Names())


@pytest.mark.parametrize(
    ("url", "reach"),
    [
        ("https://mcp.example/x", FAR),  # the server's own host
        ("https://a.example/x", INSIDE),
        ("http://localhost/x", NEAR),
        ("https://8.8.8.8/x", FAR),
    ],
)
async def test_no_name_is_resolved_where_the_address_says_enough(url: str, reach: Reach) -> None:
    wire, names = Wire(), Names("10.0.0.1")
    await get(wire, names, url, reach)
    assert names.asked == 0 and str(wire.requests[0].url) == url


async def test_this_machines_resolver_gives_addresses_each_once() -> None:
    found = await resolved("127.0.0.1", 80)
    assert found == ["127.0.0.1"]


def test_no_proxy_is_asked_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example:3128")
    monkeypatch.setenv("NO_PROXY", "inside.example")
    assert proxied(httpx.URL("https://a.example/"))
    assert not proxied(httpx.URL("https://inside.example/"))
    assert not proxied(httpx.URL("https://localhost/"))


async def test_an_answer_that_does_not_come_is_not_waited_for() -> None:
    async def silent(request: httpx.Request) -> httpx.Response:
        await asyncio.Event().wait()
        raise AssertionError

    client = httpx.AsyncClient(transport=httpx.MockTransport(silent))
    async with Web(FAR, nothing, client=client, seconds=0.01) as web:
        with pytest.raises(AuthorizationError):
            await web.get("https://a.example/x", "x")


# -- from a server that means ill -----------------------------------------------------------------

INWARD = "https://169.254.169.254/latest/meta-data"


async def message_of(peers: Peers) -> str:
    with pytest.raises(AuthorizationError) as raised:
        await peers.transport().send(ask())
    return raised.value.message


async def test_a_challenge_that_leads_inside_is_not_followed() -> None:
    peers = Peers()
    peers.challenge = f'Bearer resource_metadata="{INWARD}"'
    assert "private" in await message_of(peers) and peers.seen == [f"POST {URL}"]


async def test_an_authorization_server_inside_is_not_asked() -> None:
    peers = Peers()
    peers.documents[RESOURCE_PLACE]["authorization_servers"] = ["https://10.0.0.1"]
    assert "private" in await message_of(peers)
    assert not [place for place in peers.seen if "10.0.0.1" in place]


@pytest.mark.parametrize("name", ["token_endpoint", "registration_endpoint"])
async def test_no_endpoint_inside_is_asked_and_none_is_redirected_to(name: str) -> None:
    peers = Peers(**{name: INWARD})
    assert "private" in await message_of(peers) and len(peers.seen) == 4
    peers = Peers()
    place = metadata(ISSUER)[name]
    peers.refuses[place] = httpx.Response(307, headers={"Location": INWARD})
    assert "307" in await message_of(peers)
    assert not [seen for seen in peers.seen if "169.254" in seen]
