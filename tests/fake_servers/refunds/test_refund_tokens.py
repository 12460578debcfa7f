"""Access tokens: what is signed is read, and nothing else is."""

from __future__ import annotations

import asyncio
import base64
import hmac
import json
from typing import Any

import jwt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_servers.refunds.keys import SigningKey, Verifier
from fake_servers.refunds.tokens import Claims, TokenRefused

NOW = 1000.0
KEY = SigningKey("key-1")
SAID: dict[str, Any] = {
    "iss": "https://auth.example",
    "aud": "https://refunds.example/mcp",
    "sub": "robin",
    "scope": "orders:read refunds:draft",
    "client_id": "refund-agent",
    "iat": 900,
    "exp": 1200,
    "jti": "token-1",
}
TOKEN = KEY.sign(SAID)


class Issuer:
    """Publishes ``keys``, and counts how often it was asked."""

    def __init__(self, *keys: SigningKey) -> None:
        self.keys = keys
        self.asked = 0

    async def fetch(self) -> Any:
        self.asked += 1
        return {"keys": [key.public() for key in self.keys]}


def verifier(issuer: Issuer | None = None, now: float = NOW) -> Verifier:
    fetch = (issuer or Issuer(KEY)).fetch
    return Verifier(SAID["iss"], SAID["aud"], fetch, lambda: now)


async def why_not(token: str) -> str:
    with pytest.raises(TokenRefused) as refused:
        await verifier().verify(token)
    assert token == "" or token not in str(refused.value)
    return refused.value.reason


def segment(value: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


async def test_a_good_token_says_who_and_what() -> None:
    scope = frozenset({"orders:read", "refunds:draft"})
    assert await verifier().verify(TOKEN) == Claims(
        SAID["iss"], SAID["aud"], "robin", scope, 1200, "refund-agent", "token-1"
    )


async def test_who_acts_for_the_user_is_read() -> None:
    token = KEY.sign({**SAID, "act": {"sub": "refunds-mcp"}})
    assert (await verifier().verify(token)).actor == "refunds-mcp"


async def test_algorithm_none_is_refused() -> None:
    unsigned = jwt.encode(SAID, None, "none", headers={"kid": "key-1", "typ": "at+jwt"})
    assert await why_not(unsigned) == "its algorithm is not ES256"
    for spelling in ("none", "None", "NONE", ""):
        header = {"alg": spelling, "kid": "key-1", "typ": "at+jwt"}
        assert await why_not(f"{segment(header)}.{segment(SAID)}.") == "its algorithm is not ES256"


async def test_the_public_key_used_as_a_shared_secret_is_refused() -> None:
    signed = f"{segment({'alg': 'HS256', 'kid': 'key-1', 'typ': 'at+jwt'})}.{segment(SAID)}"
    secret = json.dumps(KEY.public()).encode()
    mac = base64.urlsafe_b64encode(hmac.digest(secret, signed.encode(), "sha256"))
    forged = f"{signed}.{mac.rstrip(b'=').decode()}"
    assert await why_not(forged) == "its algorithm is not ES256"


async def test_a_key_that_the_token_brings_along_is_not_used() -> None:
    thief = SigningKey("key-1")
    private = thief._private
    headers = {"kid": "key-1", "typ": "at+jwt", "jwk": thief.public()}
    assert await why_not(jwt.encode(SAID, private, "ES256", headers)) == "its signature is wrong"


async def test_another_kind_of_signed_token_is_no_access_token() -> None:
    assert await why_not(KEY.sign(SAID, kind="JWT")) == "it is not an access token"
    assert await why_not(KEY.sign(SAID, kind="logout+jwt")) == "it is not an access token"


@pytest.mark.parametrize("text", ["", ".", "..", "a.b.c", "Bearer x", TOKEN[:-10], TOKEN + ".x"])
async def test_what_is_no_token_is_refused(text: str) -> None:
    await why_not(text)


@given(place=st.integers(0, len(TOKEN) - 1), bit=st.integers(0, 5))
def test_a_token_that_was_changed_anywhere_is_refused(place: int, bit: int) -> None:
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_."
    old = TOKEN[place]
    new = alphabet[(alphabet.index(old) + (1 << bit)) % 65]
    changed = TOKEN[:place] + new + TOKEN[place + 1 :]
    try:
        same = asyncio.run(verifier().verify(changed))
    except TokenRefused:
        return
    # The last character of a segment has bits that mean nothing: it decodes to the same bytes.
    assert [_bytes(part) for part in changed.split(".")] == [_bytes(p) for p in TOKEN.split(".")]
    assert same.subject == "robin"


def _bytes(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


@pytest.mark.parametrize("name", ["iss", "aud", "sub", "exp", "iat", "scope", "client_id", "jti"])
async def test_every_claim_must_be_there(name: str) -> None:
    kept = {key: value for key, value in SAID.items() if key != name}
    assert await why_not(KEY.sign(kept)) == f"it has no {name}"


@pytest.mark.parametrize(
    "name, value",
    [
        ("exp", "1200"), ("exp", True), ("exp", None), ("iat", "x"), ("iat", True), ("nbf", []),
        ("sub", 7), ("scope", ["orders:read"]), ("client_id", {}), ("act", "refunds-mcp"),
        ("aud", ["https://refunds.example/mcp"]), ("aud", 1),
    ],
)  # fmt: skip
async def test_a_claim_of_another_type_is_refused(name: str, value: Any) -> None:
    await why_not(KEY.sign({**SAID, name: value}))


async def test_the_last_second_counts_as_expired() -> None:
    assert (await verifier(now=1199.9).verify(TOKEN)).expires == 1200
    with pytest.raises(TokenRefused, match="expired"):
        await verifier(now=1200.0).verify(TOKEN)


async def test_a_new_key_is_fetched_once_and_made_up_names_do_not_make_it_busy() -> None:
    now = [NOW]
    issuer = Issuer(KEY)
    checks = Verifier(SAID["iss"], SAID["aud"], issuer.fetch, lambda: now[0])
    await checks.verify(TOKEN)
    await checks.verify(TOKEN)
    assert issuer.asked == 1
    newer = SigningKey("key-2")
    issuer.keys = (KEY, newer)
    for number in range(5):
        with pytest.raises(TokenRefused):
            await checks.verify(SigningKey(f"made-up-{number}").sign(SAID))
    assert issuer.asked == 1
    now[0] += 10
    assert (await checks.verify(newer.sign(SAID))).subject == "robin"
    assert issuer.asked == 2


async def test_keys_that_are_none_are_the_issuers_fault_and_let_nobody_in() -> None:
    for document in ({}, {"keys": []}, [], None, {"keys": [{"kty": "oct", "k": "x"}]}):

        async def fetch(said: Any = document) -> Any:
            return said

        with pytest.raises(TokenRefused):
            await Verifier(SAID["iss"], SAID["aud"], fetch, lambda: NOW).verify(TOKEN)
