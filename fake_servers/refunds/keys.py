"""An issuer's keys: the pair that signs, the published half, and the check of what was signed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from fake_servers.refunds.tokens import (
    ALGORITHM,
    TYPE,
    Claims,
    Clock,
    TokenRefused,
    key_name,
    verify,
)
from fake_servers.wire import Message

if TYPE_CHECKING:
    from jwt import PyJWK


class SigningKey:
    """A fresh key pair for ES256, under the name ``kid``."""

    def __init__(self, kid: str) -> None:
        from cryptography.hazmat.primitives.asymmetric import ec

        self.kid = kid
        self._private = ec.generate_private_key(ec.SECP256R1())

    def sign(self, claims: Mapping[str, Any], *, kind: str = TYPE) -> str:
        """The claims as a signed token; ``kind`` is its ``typ`` header."""
        import jwt

        headers = {"kid": self.kid, "typ": kind}
        return jwt.encode(dict(claims), self._private, algorithm=ALGORITHM, headers=headers)

    def public(self) -> Message:
        """The public half, as a JWK (RFC 7517)."""
        from jwt.algorithms import ECAlgorithm

        key = ECAlgorithm.to_jwk(self._private.public_key(), as_dict=True)
        return {**key, "kid": self.kid, "use": "sig", "alg": ALGORITHM}


def read_keys(document: Any) -> dict[str, PyJWK]:
    """The keys of a JWK set by name; those of another algorithm are left out.

    Raises: TokenRefused when it is no key set.
    """
    import jwt

    try:
        keys = jwt.PyJWKSet.from_dict(document).keys
    except (jwt.PyJWTError, AttributeError, TypeError) as cause:
        raise TokenRefused("the issuer's keys cannot be read") from cause
    return {key.key_id: key for key in keys if key.key_id and key.algorithm_name == ALGORITHM}


class Verifier:
    """Checks tokens of one ``issuer`` for one ``audience``.

    ``fetch`` gives the issuer's JWK set. It is asked again when a token names a key that is not
    known, at most every ``patience`` seconds, so that made-up names cannot make it busy.
    """

    def __init__(
        self,
        issuer: str,
        audience: str,
        fetch: Callable[[], Awaitable[Any]],
        clock: Clock,
        *,
        patience: float = 10.0,
    ) -> None:
        self.issuer = issuer
        self.audience = audience
        self._fetch = fetch
        self._clock = clock
        self._patience = patience
        self._keys: dict[str, PyJWK] = {}
        self._fetched = float("-inf")

    async def verify(self, token: str) -> Claims:
        """What ``token`` says.

        Raises: TokenRefused, and what ``fetch`` raises.
        """
        name = key_name(token)
        if name not in self._keys and self._clock() - self._fetched >= self._patience:
            self._keys = read_keys(await self._fetch())
            self._fetched = self._clock()
        if name not in self._keys:
            raise TokenRefused("its key is not one of the issuer's")
        now = self._clock()
        key = self._keys[name]
        return verify(token, key, issuer=self.issuer, audience=self.audience, now=now)
