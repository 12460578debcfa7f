"""Tokens that only the holder of a key can use: a signed proof goes with each request.

The extension io.modelcontextprotocol/auth/dpop; RFC 9449.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from mini_agent.mcp.auth_forms import new_key, public_half, s256, signed

ALGORITHM = "ES256"
WANTS_NONCE = "use_dpop_nonce"  # the error of a server that wants its own nonce in the proof


class ProofKey:
    """A key made for one client, in memory only, and the nonces that servers want to see."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._key: Any = None  # made at the first proof
        self._nonces: dict[str, str] = {}  # by origin
        self._clock = clock

    def proof(self, method: str, url: str, access: str = "") -> dict[str, str]:
        """The header that proves the key for one request, and for the token that it carries."""
        if self._key is None:
            self._key = new_key()
        parts = urlsplit(url)
        claims = {
            "jti": secrets.token_urlsafe(16),
            "htm": method,
            "htu": f"{parts.scheme}://{parts.netloc}{parts.path}",
            "iat": int(self._clock()),
        }
        if access:
            claims["ath"] = s256(access)
        if nonce := self._nonces.get(parts.netloc):
            claims["nonce"] = nonce
        header = {"typ": "dpop+jwt", "alg": ALGORITHM, "jwk": public_half(self._key)}
        return {"DPoP": signed(header, claims, self._key)}

    def learn(self, url: str, headers: Mapping[str, str]) -> bool:
        """Keep the nonce that a reply brings. True when it is a new one, so a retry may help."""
        where, nonce = urlsplit(url).netloc, headers.get("dpop-nonce", "")
        if not nonce or self._nonces.get(where) == nonce:
            return False
        self._nonces[where] = nonce
        return True
