"""Internet addresses as attackers write them: pure functions, no look-up.

One address has many spellings. 127.0.0.1 is also 127.1, 0177.0.0.1, 0x7f000001, 2130706433,
::ffff:127.0.0.1 and 64:ff9b::7f00:1, and connecting to any of them arrives at the same place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TypeAlias

Address: TypeAlias = IPv4Address | IPv6Address

NAT64 = IPv6Network("64:ff9b::/96")
COMPATIBLE = IPv6Network("::/96")
NOT_PUBLIC = (
    ip_network("192.88.99.0/24"),  # anycast of the 6to4 relays
    ip_network("64:ff9b:1::/48"),  # translation within one network, RFC 8215
    ip_network("fec0::/10"),  # site-local
)
"""What ``is_global`` of the standard library lets through."""


def literal(host: str) -> Address | None:
    """The address that ``host`` is, in whatever spelling; None for a name."""
    host = host.removeprefix("[").removesuffix("]").removesuffix(".")
    try:
        address = ip_address(host)
    except ValueError:
        return loose_ipv4(host)
    return IPv6Address(int(address)) if isinstance(address, IPv6Address) else address


def loose_ipv4(text: str) -> IPv4Address | None:
    """What ``inet_aton`` reads: one to four numbers, decimal, octal or hex, the last one long."""
    parts = text.lower().split(".")
    numbers = [_number(part) for part in parts]
    if len(parts) > 4 or None in numbers:
        return None
    *first, last = (number for number in numbers if number is not None)
    room = 256 ** (4 - len(first))
    if last >= room or any(number > 255 for number in first):
        return None
    high = sum(number << 8 * (3 - place) for place, number in enumerate(first))
    return IPv4Address(high + last)


def _number(text: str) -> int | None:
    for pattern, base in (("0x([0-9a-f]*)", 16), ("0([0-7]+)", 8), ("([0-9]+)", 10)):
        found = re.fullmatch(pattern, text, re.ASCII)
        if found and len(text) <= 40:
            return int(found[1] or "0", base)
    return None


def within(address: Address) -> Iterator[IPv4Address]:
    """The IPv4 addresses that an IPv6 address stands for, or carries."""
    if isinstance(address, IPv4Address):
        return
    if address.ipv4_mapped:
        yield address.ipv4_mapped
    if address.sixtofour:
        yield address.sixtofour
    if address in NAT64 or address in COMPATIBLE:
        yield IPv4Address(int(address) & 0xFFFFFFFF)


def is_public(address: Address) -> bool:
    """True for an address of the open internet, whatever is carried within it as well."""
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        return is_public(address.ipv4_mapped)
    special = address.is_multicast or (address.is_reserved and address not in NAT64)
    listed = any(address in network for network in NOT_PUBLIC)
    own = address.is_global and not special and not listed
    return own and all(is_public(inner) for inner in within(address))
