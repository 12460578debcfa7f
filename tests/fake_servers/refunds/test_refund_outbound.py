"""The outbound guard: no spelling of an address, and no name, leads where it should not."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_servers.refunds.addresses import is_public, literal
from fake_servers.refunds.network import InMemoryNetwork
from fake_servers.refunds.outbound import (
    Allowed,
    DestinationRefused,
    Guard,
    GuardedTransport,
    choose,
    pinned,
)

ORDERS = Guard((Allowed("https://orders.example", frozenset({"10.0.0.3"})),))
OPEN = Guard(public=True)

INSIDE = [
    IPv4Network(net)
    for net in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16",
        "172.16.0.0/12", "192.168.0.0/16", "198.18.0.0/15", "224.0.0.0/4", "240.0.0.0/4",
    )
]  # fmt: skip
INSIDE_6 = [
    IPv6Network(net)
    for net in (
        "::1/128",
        "::/128",
        "fc00::/7",
        "fe80::/10",
        "fec0::/10",
        "ff00::/8",
        "64:ff9b:1::/48",
    )
]


@st.composite
def inside(draw: Any) -> IPv4Address:
    """An IPv4 address that is not of the open internet."""
    net = draw(st.sampled_from(INSIDE))
    return net[draw(st.integers(0, net.num_addresses - 1))]


@st.composite
def inside_6(draw: Any) -> IPv6Address:
    net = draw(st.sampled_from(INSIDE_6))
    return net[draw(st.integers(0, net.num_addresses - 1))]


def number(draw: Any, value: int) -> str:
    """One number as inet_aton reads it."""
    zeros = "0" * draw(st.integers(0, 3))
    return str(draw(st.sampled_from([str(value), f"0{zeros}{value:o}", f"0x{zeros}{value:x}"])))


@st.composite
def spelled(draw: Any, addresses: Any) -> tuple[IPv4Address, str]:
    """An IPv4 address, and one of the many ways to write it."""
    address = draw(addresses)
    whole = int(address)
    parts = draw(st.integers(1, 4))
    first = [whole >> 8 * (3 - place) & 255 for place in range(parts - 1)]
    last = whole & (1 << 8 * (5 - parts)) - 1
    return address, ".".join(number(draw, value) for value in (*first, last))


def carried(address: IPv4Address) -> list[IPv6Address]:
    """IPv6 addresses that stand for an IPv4 one, or carry it."""
    low = int(address)
    return [
        IPv6Address((0xFFFF << 32) | low),  # mapped
        IPv6Address(low),  # compatible
        IPv6Address((0x0064FF9B << 96) | low),  # NAT64
        IPv6Address((0x2002 << 112) | low << 80 | 1),  # 6to4
        IPv6Address((0x20010000 << 96) | (low ^ 0xFFFFFFFF)),  # Teredo
    ]


def refused(guard: Guard, url: str) -> str:
    with pytest.raises(DestinationRefused) as raised:
        guard.admit(url)
    return raised.value.reason


# -- addresses ------------------------------------------------------------------------------------


@given(spelled(st.builds(IPv4Address, st.integers(0, 2**32 - 1))))
def test_every_spelling_of_an_address_is_that_address(pair: tuple[IPv4Address, str]) -> None:
    address, text = pair
    assert literal(text) == address
    assert literal(text + ".") == address


@given(spelled(st.builds(IPv4Address, st.integers(0, 2**32 - 1))))
def test_the_c_library_reads_the_same(pair: tuple[IPv4Address, str]) -> None:
    address, text = pair
    assert socket.inet_aton(text) == address.packed


@given(inside())
def test_an_inside_address_is_not_public_in_any_dress(address: IPv4Address) -> None:
    assert not is_public(address)
    for dressed in carried(address):
        assert not is_public(dressed), dressed
        assert literal(f"[{dressed}]") == dressed


@given(inside_6(), st.sampled_from(["", "%eth0", "%251"]))
def test_an_inside_ipv6_address_is_not_public_with_or_without_its_zone(
    address: IPv6Address, zone: str
) -> None:
    found = literal(f"{address}{zone}")
    assert found == address and not is_public(found)


@pytest.mark.parametrize("text", ["8.8.8.8", "93.184.215.14", "2606:4700::1111", "::ffff:8.8.8.8"])
def test_an_address_of_the_open_internet_is_public(text: str) -> None:
    address = literal(text)
    assert address is not None and is_public(address)


@pytest.mark.parametrize(
    "name", ["orders.example", "localhost", "1.2.3.4.5", "256.1.1.1", "1.2.3.256", "", "x", "0x1g"]
)
def test_a_name_is_no_address(name: str) -> None:
    assert literal(name) is None


# -- which requests may leave ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    [
        "https://orders.example/orders/ord_1",
        "https://ORDERS.example:443/",
        "https://orders.example",
    ],
)
def test_the_one_origin_is_let_out(url: str) -> None:
    wanted, fine = ORDERS.admit(url)
    assert (wanted.scheme, wanted.host, wanted.port) == ("https", "orders.example", 443)
    assert fine == {IPv4Address("10.0.0.3")}


@pytest.mark.parametrize(
    "url",
    [
        "http://orders.example/",
        "https://orders.example:8443/",
        "https://orders.example./",
        "https://api.orders.example/",
        "https://orders.example.evil.example/",
        "https://evil.example/orders.example",
        "https://evil.example/?https://orders.example",
        "https://orders.example@evil.example/",
        "https://user:password@orders.example/",
        "https://evil.example@orders.example/",
        "https://evil.example\\@orders.example/",
        "https://evil.example#@orders.example/",
        "https://orders.example:443@evil.example/",
        "https://orders.example%2eevil.example/",
        "https://orders.example%00.evil.example/",
        "https://orders\u3002example/",
        "https://ordér.example/",
        "https://\u24de\u24e1ders.example/",
        "//orders.example/",
        "orders.example",
        "",
        "https:/orders.example/",
        "https:///orders.example/",
        "ftp://orders.example/",
        "file:///etc/passwd",
        "gopher://orders.example/",
        "https://orders.example /",
        "https://orders.example\n/",
        "https://orders.example\t/",
        "https://orders.example:0x1bb/",
        "https://orders.example:99999999/",
        "https://[::ffff:10.0.0.3]/",
        "https://10.0.0.3/",
        "https://[orders.example]/",
    ],
)
def test_nothing_that_only_looks_like_it_is(url: str) -> None:
    assert refused(ORDERS, url)


@given(spelled(inside()), st.sampled_from(["http", "https"]))
def test_an_inside_address_is_no_destination(pair: tuple[IPv4Address, str], scheme: str) -> None:
    address, text = pair
    for host in (text, f"{text}:443", *(f"[{dressed}]" for dressed in carried(address))):
        assert refused(ORDERS, f"{scheme}://{host}/latest/meta-data/")


def test_a_reason_repeats_no_credentials_and_no_query() -> None:
    for url in ("https://user:secret@evil.example/?secret", "https://evil.example/?secret#secret"):
        assert "secret" not in refused(ORDERS, url)


def test_an_allowed_address_is_allowed_as_it_is_written_and_nowhere_else() -> None:
    guard = Guard((Allowed("http://127.0.0.1:8403"),))
    wanted, fine = guard.admit("http://127.0.0.1:8403/orders/ord_1")
    assert choose([wanted.host], fine) == IPv4Address("127.0.0.1")
    for other in ("127.0.0.1:8404", "127.0.0.1", "localhost:8403", "127.1:8403", "[::1]:8403"):
        assert refused(guard, f"http://{other}/")


def test_a_guard_without_a_list_lets_nothing_out_and_an_open_one_https_alone() -> None:
    assert refused(Guard(), "https://orders.example/")
    assert refused(OPEN, "http://client.example/")
    assert OPEN.admit("https://client.example/oauth/client.json")[1] == frozenset()


# -- where a name leads ---------------------------------------------------------------------------


@given(inside(), st.lists(st.just("93.184.215.14"), max_size=2))
def test_a_name_that_leads_inside_is_refused_also_among_good_addresses(
    address: IPv4Address, good: list[str]
) -> None:
    for text in (str(address), *map(str, carried(address))):
        for found in ([text, *good], [*good, text]):
            with pytest.raises(DestinationRefused):
                choose(found, frozenset())


def test_a_name_may_lead_to_the_inside_address_that_it_is_listed_with_and_to_no_other() -> None:
    _, fine = ORDERS.admit("https://orders.example/")
    assert str(choose(["10.0.0.3"], fine)) == "10.0.0.3"
    for found in (["10.0.0.4"], ["10.0.0.3", "10.0.0.4"], [], ["not an address"]):
        with pytest.raises(DestinationRefused):
            choose(found, fine)


class Rebinding:
    """A resolver whose answer is another at each question."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self.answers = list(answers)

    async def __call__(self, name: str) -> Sequence[str]:
        return self.answers.pop(0)


class Recording(httpx.AsyncBaseTransport):
    """Answers everything, and remembers where it was sent."""

    def __init__(self, status: int = 200, **headers: str) -> None:
        self.sent: list[httpx.Request] = []
        self._answer = (status, headers)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.sent.append(request)
        status, headers = self._answer
        return httpx.Response(status, headers=headers, text="{}")


async def test_the_connection_goes_to_the_address_that_was_judged() -> None:
    inner = Recording()
    resolve = Rebinding(["93.184.215.14"], ["169.254.169.254"])
    async with httpx.AsyncClient(transport=GuardedTransport(OPEN, inner, resolve)) as http:
        await http.get("https://client.example/doc.json")
        with pytest.raises(DestinationRefused):
            await http.get("https://client.example/doc.json")
    (sent,) = inner.sent
    assert str(sent.url) == "https://93.184.215.14/doc.json"
    assert sent.headers["host"] == "client.example"
    assert sent.extensions["sni_hostname"] == "client.example"


async def test_an_address_in_the_url_is_judged_like_one_that_was_looked_up() -> None:
    inner = Recording()

    async def never(name: str) -> Sequence[str]:
        raise AssertionError(f"looked up {name}")

    async with httpx.AsyncClient(transport=GuardedTransport(OPEN, inner, never)) as http:
        for host in (
            "127.1",
            "2130706433",
            "0x7f000001",
            "[::1]",
            "[::ffff:7f00:1]",
            "169.254.169.254",
        ):
            with pytest.raises(DestinationRefused):
                await http.get(f"https://{host}/")
        await http.get("https://93.184.215.14/")
    assert len(inner.sent) == 1


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("follow", [True, False])
async def test_a_redirect_is_refused_wherever_it_leads(status: int, follow: bool) -> None:
    inner = Recording(status, location="https://orders.example/other")
    resolve = Rebinding(["10.0.0.3"], ["10.0.0.3"])
    transport = GuardedTransport(ORDERS, inner, resolve)
    async with httpx.AsyncClient(transport=transport, follow_redirects=follow) as http:
        with pytest.raises(DestinationRefused, match="redirects"):
            await http.get("https://orders.example/orders/ord_1")
    assert len(inner.sent) == 1


async def test_nothing_is_sent_where_nothing_may_be() -> None:
    inner = Recording()
    async with httpx.AsyncClient(transport=GuardedTransport(ORDERS, inner, Rebinding())) as http:
        for url in ("http://169.254.169.254/latest/meta-data/", "https://evil.example/"):
            with pytest.raises(DestinationRefused):
                await http.post(url, json={"token": "secret"})
    assert inner.sent == []


def test_a_pinned_request_keeps_method_body_and_headers() -> None:
    request = httpx.Request("POST", "https://orders.example:8443/x?y=1", content=b"z")
    sent = pinned(request, "fd00::3")
    assert str(sent.url) == "https://[fd00::3]:8443/x?y=1"
    assert sent.headers["host"] == "orders.example:8443" and sent.method == "POST"
    assert sent.stream is request.stream


async def test_the_in_memory_network_answers_at_the_right_address_alone() -> None:
    network = InMemoryNetwork()

    async def hello(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"hello"})

    network.add("https://site.example", hello, "10.0.0.9")
    async with httpx.AsyncClient(transport=network) as http:
        assert (await http.get("https://site.example/")).text == "hello"
        named = {"host": "site.example"}
        assert (await http.get("https://10.0.0.9/", headers=named)).text == "hello"
        for url in ("https://10.0.0.8/", "https://other.example/"):
            with pytest.raises(httpx.ConnectError):
                await http.get(url, headers=named)
