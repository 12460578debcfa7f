"""Where an address that somebody else names may lead: over https, and to no private network.

Specification: docs/tutorials/security/security_best_practices, "Server-Side Request Forgery".
An address is judged twice: as it is written, and as its name resolves; what was judged is what is
then connected to.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from mini_agent.mcp.endpoint import Endpoint, is_loopback
from mini_agent.mcp.replies import elsewhere

if TYPE_CHECKING:
    import httpx

Ip: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolve: TypeAlias = Callable[[str, int], Awaitable[list[str]]]
"""host, port → its addresses, best first. Raises OSError."""

HOST = re.compile(r"[A-Za-z0-9._-]+|[0-9A-Fa-f:.]+")  # a name, or an IPv6 address
NOT_PUBLIC = (  # that is_global lets through: site-local, and the anycast of the 6to4 relays
    ipaddress.ip_network("fec0::/10"),
    ipaddress.ip_network("192.88.99.0/24"),
)
TRANSLATED = ipaddress.ip_network("64:ff9b::/96")  # IPv6 that a gateway turns into IPv4


class Unusable(Exception):
    """What one address is, or gave, is of no use. The text says why; another may do."""


@dataclass(frozen=True)
class Reach:
    """How far addresses named by others may lead. ``home`` is the server that was configured."""

    home: Endpoint
    allow_private: bool = False

    @property
    def this_machine(self) -> bool:
        """Whether they may lead to this machine: only where the server itself is on it."""
        return self.home.loopback or self.allow_private


def checked_address(url: str, reach: Reach) -> httpx.URL:
    """``url``, judged as it is written.

    Raises: Unusable for what is no https address (http to this machine excepted, where the server
    is on it too), for one with credentials or a fragment, and for a private address.
    """
    import httpx

    try:
        parsed = httpx.URL(url)
    except (httpx.InvalidURL, TypeError):
        raise Unusable("it is no address") from None
    if parsed.scheme not in ("https", "http") or not parsed.host:
        raise Unusable("it does not begin with https://")
    if not HOST.fullmatch(ascii_host(parsed)) or not 0 < (parsed.port or 443) < 2**16:
        raise Unusable("its host or its port is none")
    if parsed.userinfo or parsed.fragment:
        raise Unusable("it holds user-info or a fragment")
    if not same_origin(parsed, httpx.URL(reach.home.url)):
        _judge_elsewhere(parsed, reach)
    return parsed


def _judge_elsewhere(parsed: httpx.URL, reach: Reach) -> None:
    address = written_address(ascii_host(parsed))
    here = is_this_machine(ascii_host(parsed), address)
    if here and not reach.this_machine:
        raise Unusable("it leads to this machine, and the server is not on it")
    if parsed.scheme != "https" and not here:
        raise Unusable("it is not https, so what is sent could be read on the way")
    if address is not None and not (here or reach.allow_private or is_public(address)):
        raise Unusable("it is a private address; allow_private=True where that is meant")


def ascii_host(url: httpx.URL) -> str:
    """The host as it is resolved and connected to."""
    return url.raw_host.decode("ascii")


def same_origin(one: httpx.URL, other: httpx.URL) -> bool:
    """Same scheme, host and port; httpx has lowered the case and dropped a default port."""
    return (one.scheme, one.host, one.port) == (other.scheme, other.host, other.port)


def written_address(host: str) -> Ip | None:
    """The IP address that ``host`` is, None for a name.

    127.1, 0x7f000001 and 2130706433 are spellings of 127.0.0.1, to every resolver.
    """
    try:
        return ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        pass
    try:
        return ipaddress.IPv4Address(socket.inet_aton(host))
    except (OSError, ValueError):
        return None


def is_this_machine(host: str, address: Ip | None) -> bool:
    """True for localhost, a name below it, and the loopback network however it is spelt."""
    if address is not None:
        return inner(address).is_loopback
    name = host.lower().rstrip(".")
    return is_loopback(name) or name.endswith(".localhost")


def inner(address: Ip) -> Ip:
    """The IPv4 address inside an IPv6 one that stands for it, else ``address`` itself."""
    if not isinstance(address, ipaddress.IPv6Address):
        return address
    if address in TRANSLATED:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or address


def is_public(address: Ip) -> bool:
    """False for private, loopback, link-local (cloud metadata), reserved and multicast ones."""
    found = inner(address)
    if any(found in network for network in NOT_PUBLIC):
        return False
    return found.is_global and not found.is_multicast and not found.is_reserved


async def resolved(host: str, port: int) -> list[str]:
    """The addresses of ``host``, by this machine's resolver. Raises: OSError."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


async def public_addresses(url: httpx.URL, reach: Reach, resolve: Resolve) -> list[str]:
    """What to connect to for ``url``, best first; [] where its own host says enough.

    Raises: Unusable when any of them is private; OSError when it does not resolve.
    """
    import httpx

    host = ascii_host(url)
    address = written_address(host)
    known = address is not None or is_this_machine(host, address)
    if known or reach.allow_private or url.host == httpx.URL(reach.home.url).host:
        return []
    found = await resolve(host, url.port or 443)
    if not all(is_public(ipaddress.ip_address(one.partition("%")[0])) for one in found):
        where = elsewhere(str(url))
        text = f"{where} leads to a private network; allow_private=True where that is meant"
        raise Unusable(text)
    return found
