"""Tokens: read, dated, bound to a key; and the grants that ask no person."""

from __future__ import annotations

import asyncio
import hashlib
from base64 import urlsafe_b64encode
from typing import Any

import httpx
import pytest
from auth_peers import ISSUER, URL, Peers, ask
from joserfc import jwt
from joserfc.jwk import ECKey, OKPKey, RSAKey

from mini_agent.errors import AuthorizationError
from mini_agent.mcp.auth import ClientCredentials, JwtBearer, PreRegistered
from mini_agent.mcp.auth_answers import Answer, said_no
from mini_agent.mcp.auth_forms import client_assertion
from mini_agent.mcp.auth_metadata import Issuer
from mini_agent.mcp.auth_tokens import Tokens, end_of, tokens_in

pytestmark = pytest.mark.timeout(20)

SERVER = Issuer(ISSUER, f"{ISSUER}/token")
GOOD = {"access_token": "t", "token_type": "bearer"}


def read(document: dict[str, Any], status: int = 200, **options: Any) -> Tokens:
    return tokens_in(Answer(status, document, {}), SERVER, URL, 1000.0, **options)


# -- what a token endpoint gives ------------------------------------------------------------------


def test_what_an_answer_leaves_out_is_as_it_was_asked_for_or_before() -> None:
    assert read(GOOD, asked=("a",)).scopes == ("a",)
    before = Tokens("x", ISSUER, URL, ("b",), "refresh-1")
    found = read(GOOD, asked=("a",), before=before)
    assert (found.scopes, found.refresh) == (("b",), "refresh-1")
    said = read({**GOOD, "scope": "c d", "refresh_token": "r2"}, before=before)
    assert (said.scopes, said.refresh) == (("c", "d"), "r2")


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"token_type": "bearer"},
        {"access_token": "", "token_type": "bearer"},
        {"access_token": 7, "token_type": "bearer"},
        {"access_token": "a\r\nEvil: 1", "token_type": "bearer"},
        {"access_token": "a b", "token_type": "bearer"},
        {"access_token": "t\u00fc", "token_type": "bearer"},
        {"access_token": "t"},
        {"access_token": "t", "token_type": "mac"},
        {"access_token": "t", "token_type": "DPoP"},
        {"access_token": "t", "token_type": None},
    ],
)
def test_what_is_no_bearer_token_is_not_used(document: dict[str, Any]) -> None:
    with pytest.raises(AuthorizationError):
        read(document)


@pytest.mark.parametrize(
    ("expires_in", "ends_at"),
    [
        (3600, 4590.0), (3600.0, 4590.0), ("3600", 4590.0), (10, 1005.0), (0, 1000.0),
        (-5, 1000.0), (10**400, 1000.0 + 10**9 - 10), ("9" * 400, 1000.0 + 10**9 - 10),
        (None, None), (True, None), ("soon", None), ([], None), ("٣", None),
    ],
)  # fmt: skip
def test_a_token_is_over_a_little_before_its_time(expires_in: Any, ends_at: float | None) -> None:
    assert end_of(expires_in, 1000.0) == ends_at


@pytest.mark.must("C119")
def test_no_secret_is_in_the_words_of_a_refusal_or_in_a_repr() -> None:
    said = {"error": "invalid_grant", "error_description": "code%3D1 is not s3cret or t0ken"}
    told = said_no(Answer(400, said, {}), ["s3cret", "t0ken", "", "code=1"])
    assert told == "400 Bad Request, invalid_grant, [redacted] is not [redacted] or [redacted]"
    tokens = Tokens("t0ken", ISSUER, URL, None, "s3cret")
    assert "t0ken" not in repr(tokens) and "s3cret" not in repr(tokens)


@pytest.mark.parametrize("odd", [7, None, {}, "x" * 100_000, "\x1b[2J\u202e"])
def test_a_refusal_in_odd_words_is_short_and_plain(odd: Any) -> None:
    told = said_no(Answer(418, {"error": odd, "error_description": odd}, {}))
    assert len(told) < 500 and told.isprintable()


# -- without a person -----------------------------------------------------------------------------


async def test_a_client_asks_in_its_own_name_and_again_when_the_time_is_over() -> None:
    now = [1000.0]
    peers = Peers(token_endpoint_auth_methods_supported=["client_secret_post"])
    peers.token_extra = {"expires_in": 60}
    peers.challenge += ', scope="read"'
    known = PreRegistered("desk", ISSUER, client_secret="s3cret")
    auth = peers.oauth(ClientCredentials(), client=known, clock=lambda: now[0])
    transport = peers.transport(auth)
    await transport.send(ask())
    now[0] += 60
    await transport.send(ask(2))
    expected = {
        "grant_type": "client_credentials",
        "resource": URL,
        "scope": "read",
        "client_id": "desk",
        "client_secret": "s3cret",
    }
    assert peers.forms == [expected, expected] and peers.asked == []
    assert sum(place == f"POST {URL}" for place in peers.seen) == 3  # one refusal, at the first


async def test_a_client_with_a_key_signs_who_it_is_for_its_issuer_alone() -> None:
    key = ECKey.generate_key("P-256")
    pem = key.as_pem(private=True).decode()
    peers = Peers(token_endpoint_auth_methods_supported=["private_key_jwt"])
    known = PreRegistered("desk", ISSUER, private_key=pem)
    auth = peers.oauth(ClientCredentials(), client=known)
    await peers.transport(auth).send(ask())
    [form] = peers.forms
    found = jwt.decode(form["client_assertion"], key, algorithms=["ES256"]).claims
    assert (found["iss"], found["sub"], found["aud"]) == ("desk", "desk", ISSUER)
    assert found["exp"] - found["iat"] == 300 and found["jti"]
    assert form["client_assertion_type"].endswith(":jwt-bearer") and pem not in repr(known)


EC, ED = ECKey.generate_key("P-256"), OKPKey.generate_key("Ed25519")


@pytest.mark.parametrize(
    ("pem", "algorithm"),
    [
        ("s3cret", "ES256"),
        (EC.as_pem(private=False).decode(), "ES256"),
        (EC.as_pem(private=True).decode(), "ES512"),
        (EC.as_pem(private=True).decode(), "RS256"),
        (EC.as_pem(private=True).decode(), "none"),
        (ED.as_pem(private=True).decode(), "ES256"),
    ],
)
def test_a_key_that_cannot_sign_is_the_callers_mistake(pem: str, algorithm: str) -> None:
    with pytest.raises(ValueError) as raised:
        client_assertion("desk", pem, algorithm, ISSUER)
    assert algorithm in str(raised.value) and "s3cret" not in str(raised.value)


def test_other_kinds_of_keys_sign_too() -> None:
    rsa = RSAKey.generate_key(2048)
    for key, algorithm in ((ED, "Ed25519"), (rsa, "RS256"), (rsa, "PS256")):
        signed = client_assertion("desk", key.as_pem(private=True).decode(), algorithm, ISSUER)
        assert jwt.decode(signed, key, algorithms=[algorithm]).claims["aud"] == ISSUER


async def test_somebody_vouches_for_this_resource_to_this_issuer() -> None:
    told = []

    async def vouched(issuer: str, resource: str) -> str:
        told.append((issuer, resource))
        return "a.signed.statement"

    peers = Peers()
    auth = peers.oauth(JwtBearer(vouched), client=PreRegistered("desk", ISSUER))
    await peers.transport(auth).send(ask())
    assert told == [(ISSUER, URL)]
    assert peers.forms[0]["grant_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer"
    assert peers.forms[0]["assertion"] == "a.signed.statement"


async def test_a_statement_that_is_refused_is_not_sent_again() -> None:
    async def vouched(issuer: str, resource: str) -> str:
        return "a.signed.statement"

    peers = Peers()
    said = {"error": "invalid_grant", "error_description": "a.signed.statement is too old"}
    peers.refuses[f"{ISSUER}/token"] = httpx.Response(400, json=said)
    auth = peers.oauth(JwtBearer(vouched), client=PreRegistered("desk", ISSUER))
    with pytest.raises(AuthorizationError) as raised:
        await peers.transport(auth).send(ask())
    assert "a.signed.statement" not in raised.value.message and "too old" in raised.value.message
    assert sum("token" in place for place in peers.seen) == 1


# -- bound to a key -------------------------------------------------------------------------------


class Bound(Peers):
    """Gives tokens of the kind DPoP; wants a nonce at either place that is named."""

    def __init__(self, *nonces: str) -> None:
        super().__init__()
        self.challenge = self.challenge.replace("Bearer", "DPoP")
        self.nonces = nonces
        self.proofs: list[tuple[httpx.Request, dict[str, Any]]] = []

    async def handle(self, request: httpx.Request) -> httpx.Response:
        if "dpop" in request.headers:
            [proof] = request.headers.get_list("dpop")
            header = jwt.decode(proof, self.key_of(proof), algorithms=["ES256"]).header
            assert header["typ"] == "dpop+jwt" and "d" not in header["jwk"]
            claims = jwt.decode(proof, self.key_of(proof), algorithms=["ES256"]).claims
            self.proofs.append((request, claims))
            host = request.url.host
            if host in self.nonces and claims.get("nonce") != "n1":
                return self.wants_nonce(host)
        if "authorization" in request.headers:
            request.headers["authorization"] = request.headers["authorization"].replace(
                "DPoP ", "Bearer "
            )
        return await super().handle(request)

    @staticmethod
    def key_of(proof: str) -> ECKey:
        from joserfc import jws

        return ECKey.import_key(jws.extract_compact(proof.encode()).headers()["jwk"])

    @staticmethod
    def wants_nonce(host: str) -> httpx.Response:
        headers = {"DPoP-Nonce": "n1", "WWW-Authenticate": 'DPoP error="use_dpop_nonce"'}
        status = 401 if host == "mcp.example" else 400
        return httpx.Response(status, headers=headers, json={"error": "use_dpop_nonce"})

    def give(self, request: httpx.Request) -> httpx.Response:
        document = super().give(request).json()
        return httpx.Response(200, json={**document, "token_type": "DPoP"})


async def test_a_bound_token_goes_with_a_fresh_proof_for_each_request() -> None:
    peers = Bound()
    transport = peers.transport(peers.oauth(dpop=True))
    for number in (1, 2):
        await transport.send(ask(number))
    at = [(c["htm"], c["htu"], "ath" in c) for _, c in peers.proofs]
    assert at == [("POST", f"{ISSUER}/token", False), *[("POST", URL, True)] * 2]
    digest = urlsafe_b64encode(hashlib.sha256(b"token-1").digest()).rstrip(b"=").decode()
    assert peers.proofs[1][1]["ath"] == digest
    assert len({claims["jti"] for _, claims in peers.proofs}) == 3
    assert len({str(peers.key_of(r.headers["dpop"]).as_dict()) for r, _ in peers.proofs}) == 1


async def test_a_nonce_that_a_server_wants_is_put_into_the_next_proof() -> None:
    peers = Bound("login.example", "mcp.example")
    transport = peers.transport(peers.oauth(dpop=True))
    for number in (1, 2):
        await transport.send(ask(number))
    assert [claims.get("nonce") for _, claims in peers.proofs] == [None, "n1", None, "n1", "n1"]
    assert len(peers.asked) == 1


async def test_a_server_that_always_wants_another_nonce_is_left() -> None:
    peers = Bound("login.example")
    peers.wants_nonce = lambda host: httpx.Response(  # type: ignore[method-assign,assignment]
        400, headers={"DPoP-Nonce": f"n{len(peers.proofs)}x"}, json={"error": "use_dpop_nonce"}
    )
    with pytest.raises(AuthorizationError):
        await peers.transport(peers.oauth(dpop=True)).send(ask())
    assert len(peers.proofs) == 2


async def test_a_token_that_is_not_bound_is_refused_where_one_was_asked_for() -> None:
    peers = Peers()
    with pytest.raises(AuthorizationError):
        await peers.transport(peers.oauth(dpop=True)).send(ask())


async def test_an_assertion_that_does_not_come_is_an_authorization_error() -> None:
    async def never(issuer: str, resource: str) -> str:
        await asyncio.Event().wait()
        return ""

    peers = Peers(token_endpoint_auth_methods_supported=["client_secret_post"])
    known = PreRegistered("desk", ISSUER, client_secret="s3cret")
    auth = peers.oauth(JwtBearer(never, patience=0.01), client=known)
    with pytest.raises(AuthorizationError) as raised:
        await peers.transport(auth).send(ask())
    assert ISSUER in raised.value.message and "assertion" in raised.value.message


async def test_a_timeout_of_the_assertions_own_passes() -> None:
    async def broken(issuer: str, resource: str) -> str:
        raise TimeoutError("mine")

    peers = Peers(token_endpoint_auth_methods_supported=["client_secret_post"])
    known = PreRegistered("desk", ISSUER, client_secret="s3cret")
    with pytest.raises(TimeoutError, match="mine"):
        await peers.transport(peers.oauth(JwtBearer(broken), client=known)).send(ask())
