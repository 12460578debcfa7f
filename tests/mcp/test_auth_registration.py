"""Who this client is to an authorization server: the three ways and their order."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import Any

import httpx
import pytest
from auth_peers import BACK, ISSUER, Peers, ask

from mini_agent.errors import AuthorizationError
from mini_agent.mcp.auth import AuthorizationCode, OAuth, PreRegistered, metadata_document
from mini_agent.mcp.auth_metadata import Issuer
from mini_agent.mcp.auth_registration import known_as, way_to_register

pytestmark = [pytest.mark.timeout(20), pytest.mark.must("C116")]

OWN = "https://app.example/oauth/client.json"
ALL = Issuer(ISSUER, "t", registration_endpoint="r", takes_metadata_url=True)
KNOWN = PreRegistered("desk", ISSUER)


def test_the_ways_are_taken_in_the_revisions_order() -> None:
    assert way_to_register(ALL, KNOWN, OWN) == "pre-registered"
    assert way_to_register(ALL, None, OWN) == "metadata document"
    assert way_to_register(ALL, None, "") == "dynamic"
    assert way_to_register(replace(ALL, takes_metadata_url=False), None, OWN) == "dynamic"
    with pytest.raises(AuthorizationError):
        way_to_register(replace(ALL, registration_endpoint="", takes_metadata_url=False), None, OWN)


@pytest.mark.must("C117")
def test_a_client_of_another_issuer_is_an_error_and_no_other_way_is_tried() -> None:
    with pytest.raises(AuthorizationError):
        way_to_register(ALL, PreRegistered("desk", f"{ISSUER}/"), OWN)


async def test_a_metadata_document_is_named_by_its_address_and_proves_nothing() -> None:
    peers = Peers(client_id_metadata_document_supported=True)
    await peers.transport(peers.oauth(metadata_url=OWN)).send(ask())
    assert peers.asked[0]["client_id"] == peers.forms[0]["client_id"] == OWN
    assert peers.registrations == []


def test_the_document_holds_what_the_revision_asks_for_and_its_own_address() -> None:
    document = metadata_document(OWN, name="Desk", redirect_uri=BACK)
    assert document["client_id"] == OWN and document["client_name"] == "Desk"
    assert document["redirect_uris"] == [BACK]
    assert document["token_endpoint_auth_method"] == "none"
    assert "refresh_token" in document["grant_types"]


@pytest.mark.parametrize(
    "url",
    ["http://app.example/c", "https://app.example", "https://app.example/", "https://u@a.example/c",
     "https://app.example/c#x", "app.example/c"],
)  # fmt: skip
def test_what_cannot_be_a_client_id_is_refused_at_once(url: str) -> None:
    with pytest.raises(ValueError):
        OAuth(AuthorizationCode(Peers().says_yes), metadata_url=url)
    with pytest.raises(ValueError):
        metadata_document(url, name="x", redirect_uri=BACK)


@pytest.mark.parametrize(
    ("back", "kind"),
    [
        (BACK, "native"),
        ("http://localhost:1/cb", "native"),
        ("http://[::1]:1/cb", "native"),
        ("https://app.example/cb", "web"),
    ],
)
async def test_a_dynamic_registration_says_what_kind_of_client_it_is(back: str, kind: str) -> None:
    peers = Peers()
    peers.challenge += ', scope="read"'
    await peers.transport(peers.oauth(AuthorizationCode(peers.says_yes, back))).send(ask())
    [document] = peers.registrations
    assert document == {
        "client_name": "mini-agent",
        "redirect_uris": [back],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
        "application_type": kind,
        "scope": "read",
    }


async def test_scopes_beyond_those_of_a_registration_are_registered_anew() -> None:
    peers = Peers()
    peers.challenge += ', scope="read"'
    peers.needs = {"write": "desk:write"}
    transport = peers.transport()
    await transport.send(ask())
    await transport.send(ask(2, "write"))
    assert [found["scope"] for found in peers.registrations] == ["read", "read desk:write"]


async def test_scopes_that_the_server_lists_are_registered_with_those_that_are_asked_for() -> None:
    peers = Peers()
    peers.challenge += ', scope="read"'
    peers.needs = {"write": "desk:write"}
    place = next(place for place in peers.documents if "protected" in place)
    peers.documents[place]["scopes_supported"] = ["read", "desk:write"]
    transport = peers.transport()
    await transport.send(ask())
    await transport.send(ask(2, "write"))
    assert [found["scope"] for found in peers.registrations] == ["read desk:write"]
    assert peers.asked[0]["scope"] == "read"


async def test_a_registration_that_is_refused_says_why_and_what_to_change() -> None:
    peers = Peers()
    said = {"error": "invalid_redirect_uri", "error_description": "only https here"}
    peers.refuses[f"{ISSUER}/register"] = httpx.Response(400, json=said)
    with pytest.raises(AuthorizationError) as raised:
        await peers.transport().send(ask())
    for word in ("invalid_redirect_uri", "only https here", BACK, "native", ISSUER):
        assert word in raised.value.message


# -- proof at the token endpoint ------------------------------------------------------------------


def basic(request: httpx.Request) -> list[str]:
    encoded = request.headers["authorization"].removeprefix("Basic ")
    return base64.b64decode(encoded).decode().split(":")


@pytest.mark.parametrize(
    ("methods", "expected"),
    [
        (None, "basic"),  # what a server without the field supports
        (["client_secret_basic", "client_secret_post"], "basic"),
        (["client_secret_post"], "post"),
        (["none"], "none"),
        (["tls_client_auth"], "none"),
    ],
)
async def test_a_secret_is_shown_in_the_way_that_the_server_supports(
    methods: list[str] | None, expected: str
) -> None:
    peers = Peers(token_endpoint_auth_methods_supported=methods)
    known = PreRegistered("de:sk", ISSUER, client_secret="s3 cret+ü")
    await peers.transport(peers.oauth(client=known)).send(ask())
    [request] = [r for r in peers.requests if r.url.path == "/token"]
    form = peers.forms[0]
    if expected == "basic":
        assert basic(request) == ["de%3Ask", "s3+cret%2B%C3%BC"]  # encoded first: RFC 6749, 2.3.1
        assert "client_secret" not in form
    else:
        assert "authorization" not in request.headers and form["client_id"] == "de:sk"
        assert form.get("client_secret") == ("s3 cret+ü" if expected == "post" else None)


ASSIGNED: list[tuple[dict[str, Any], str]] = [
    ({"client_secret": "s"}, "client_secret_basic"),
    ({"client_secret": "s", "token_endpoint_auth_method": "client_secret_post"}, "post"),
    ({"client_secret": "s", "token_endpoint_auth_method": "none"}, "none"),
    ({}, "none"),
]


@pytest.mark.parametrize(("found", "method"), ASSIGNED)
async def test_a_new_client_proves_itself_as_it_was_told(
    found: dict[str, Any], method: str
) -> None:
    peers = Peers(token_endpoint_auth_methods_supported=None)
    answer = httpx.Response(201, json={"client_id": "c", **found})
    peers.refuses[f"{ISSUER}/register"] = answer
    await peers.transport().send(ask())
    [request] = [r for r in peers.requests if r.url.path == "/token"]
    assert ("authorization" in request.headers) == (method == "client_secret_basic")
    assert ("client_secret" in peers.forms[0]) == (method == "post")


@pytest.mark.parametrize("method", ["private_key_jwt", "client_secret_post", 7])
async def test_a_way_to_prove_itself_that_it_cannot_go_is_an_error(method: Any) -> None:
    peers = Peers()
    found = {"client_id": "c", "token_endpoint_auth_method": method}
    peers.refuses[f"{ISSUER}/register"] = httpx.Response(201, json=found)
    with pytest.raises(AuthorizationError):
        await peers.transport().send(ask())


def test_a_client_with_a_key_signs_and_sends_no_secret() -> None:
    keyed = PreRegistered("desk", ISSUER, private_key="-----BEGIN")
    assert known_as(keyed, ALL).method == "private_key_jwt"
    assert known_as(KNOWN, ALL).method == "none"
