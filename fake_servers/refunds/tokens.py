"""Access tokens: signed JWTs (RFC 9068) with issuer, audience, subject, scope and an end.

PyJWT does the cryptography. The clock is injected, so the times are compared here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jwt import PyJWK

ALGORITHM = "ES256"
TYPE = "at+jwt"  # so that no other kind of signed token passes for an access token
REQUIRED = ("iss", "aud", "sub", "exp", "iat", "scope", "client_id", "jti")

Clock = Callable[[], float]


class TokenRefused(Exception):
    """The token is not valid here. ``reason`` says why and repeats nothing of it."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class Claims:
    """What a verified token says. ``expires`` is epoch seconds; ``actor`` acts for ``subject``."""

    issuer: str
    audience: str
    subject: str
    scope: frozenset[str]
    expires: int
    client_id: str
    token_id: str
    actor: str = ""


def key_name(token: str) -> str:
    """The name of the key that a token says it was signed with.

    Raises: TokenRefused when it is no token of our kind, whatever it was signed with.
    """
    import jwt

    try:
        header = jwt.get_unverified_header(token)
    except jwt.PyJWTError as cause:
        raise TokenRefused("it is no signed token") from cause
    if header.get("alg") != ALGORITHM:
        raise TokenRefused(f"its algorithm is not {ALGORITHM}")
    if str(header.get("typ")).lower().removeprefix("application/") != TYPE:
        raise TokenRefused("it is not an access token")
    return str(header.get("kid", ""))


def verify(token: str, key: PyJWK, *, issuer: str, audience: str, now: float) -> Claims:
    """What ``token`` says, once everything about it has been checked.

    One audience exactly: a token that is good in two places can be used by one in the other.

    Raises: TokenRefused.
    """
    import jwt

    try:
        claims = jwt.decode(
            token,
            key,
            algorithms=[ALGORITHM],
            audience=audience,
            issuer=issuer,
            options={
                "require": list(REQUIRED),
                "strict_aud": True,
                "verify_exp": False,  # by our clock, below
                "verify_iat": False,
                "verify_nbf": False,
            },
        )
    except jwt.PyJWTError as cause:
        raise TokenRefused(_why(cause)) from cause
    _check_times(claims, now)
    return _claims(claims)


def _why(cause: Exception) -> str:
    import jwt

    match cause:
        case jwt.InvalidAudienceError():
            return "it is for another audience"
        case jwt.InvalidIssuerError():
            return "it is from another issuer"
        case jwt.InvalidSignatureError():
            return "its signature is wrong"
        case jwt.MissingRequiredClaimError():
            return f"it has no {cause.claim}"
        case _:
            return "it is malformed"


def _check_times(claims: Mapping[str, Any], now: float) -> None:
    for name in ("exp", "iat", "nbf"):
        value = claims.get(name, 0)
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise TokenRefused(f"its {name} is no time")
    if claims["exp"] <= now:
        raise TokenRefused("it has expired")
    if max(claims["iat"], claims.get("nbf", 0)) > now:
        raise TokenRefused("it is not valid yet")


def _claims(claims: Mapping[str, Any]) -> Claims:
    actor = claims.get("act", {})
    texts = [claims[name] for name in ("sub", "scope", "client_id", "jti")]
    if not all(isinstance(text, str) and text for text in texts) or not isinstance(actor, dict):
        raise TokenRefused("it is malformed")
    subject, scope, client_id, token_id = texts
    return Claims(
        issuer=claims["iss"],
        audience=claims["aud"],
        subject=subject,
        scope=frozenset(scope.split()),
        expires=int(claims["exp"]),
        client_id=client_id,
        token_id=token_id,
        actor=str(actor.get("sub", "")),
    )
