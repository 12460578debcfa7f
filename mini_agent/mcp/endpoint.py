"""One HTTP address and what may be sent to it: checked once, when the transport is made.

Guarantee: nothing here repeats a secret; ``shown`` is all of the address that errors say.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass

from mini_agent.mcp.headers import TOKEN

HEADER_VALUE = re.compile(r"[\x20-\x7e\t]*")
OURS: tuple[str, ...] = ("accept", "accept-encoding", "content-type", "content-length")
OURS += ("transfer-encoding", "mcp-protocol-version", "mcp-method", "mcp-name")


@dataclass(frozen=True)
class Endpoint:
    """``url`` is what is asked, ``shown`` the same without its query."""

    url: str
    shown: str
    host: str
    loopback: bool


def checked_endpoint(url: str, *, allow_cleartext: bool = False) -> Endpoint:
    """The endpoint at ``url``.

    Raises: ValueError for an address that is none, that holds credentials (they would end up in
    logs), or that is neither https nor on this machine, unless ``allow_cleartext``.
    """
    import httpx

    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL:  # its text repeats parts of the address, perhaps a password
        raise ValueError("this is no URL; write it as https://HOST/PATH") from None
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise ValueError("the URL must start with https:// or http:// and name a host")
    if parsed.port is not None and not 0 < parsed.port < 2**16:  # not shown: it may be a secret
        raise ValueError("the port of the URL must be from 1 to 65535")
    if parsed.userinfo:
        raise ValueError("the URL holds credentials; pass them as auth= or headers= instead")
    loopback = is_loopback(parsed.host)
    if parsed.scheme == "http" and not loopback and not allow_cleartext:
        raise ValueError(
            f"http:// to {parsed.host} could be read on the way; use https://, or "
            "allow_cleartext=True where the network is trusted"
        )
    shown = str(parsed.copy_with(query=None, fragment=None))
    return Endpoint(str(parsed.copy_with(fragment=None)), shown, parsed.host, loopback)


def is_loopback(host: str) -> bool:
    """True for ``localhost`` and for the addresses of this machine's loopback network."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def checked_headers(
    headers: Mapping[str, str] | None, *, reserved: tuple[str, ...] = OURS
) -> dict[str, str]:
    """``headers`` when each can be sent as it stands.

    Raises: ValueError naming the header, never its value, for a name that is no token, a value
    with a line break or a character outside ASCII, or a name that the transport sets itself.
    """
    for name, value in (headers or {}).items():
        if not TOKEN.fullmatch(name):
            raise ValueError(f"{name!r} is no header name")
        if name.lower() in reserved:
            raise ValueError(f"the header {name} is set by the transport itself")
        if not HEADER_VALUE.fullmatch(value):
            raise ValueError(f"the value of header {name} holds a line break or is not ASCII")
    return dict(headers or {})
