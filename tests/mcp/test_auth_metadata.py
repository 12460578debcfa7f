"""Where the two documents are looked for, and what makes each of no use."""

from __future__ import annotations

import asyncio
import gzip
import json
from typing import Any

import httpx
import pytest
from auth_peers import ISSUER, ISSUER_PLACE, RESOURCE_PLACE, URL, Peers, ask, metadata

from mini_agent.errors import AuthorizationError
from mini_agent.mcp.addresses import Reach, Unusable
from mini_agent.mcp.auth_discovery import choose_issuer
from mini_agent.mcp.auth_metadata import (
    Issuer,
    ProtectedResource,
    canonical,
    covers,
    issuer_metadata_urls,
    parse_issuer,
    parse_resource,
    resource_metadata_urls,
)
from mini_agent.mcp.endpoint import checked_endpoint

pytestmark = pytest.mark.timeout(20)

REACH = Reach(checked_endpoint(URL))
WELL_KNOWN = "/.well-known/oauth-"
AT_PATH, AT_ROOT = resource_metadata_urls(URL)


@pytest.mark.must("C111")
@pytest.mark.parametrize(
    ("url", "places"),
    [
        ("https://a.example/public/mcp", ["/public/mcp", ""]),
        ("https://a.example/public/mcp/", ["/public/mcp", ""]),
        ("https://a.example/mcp?key=s3cret#x", ["/mcp", ""]),
        ("https://a.example", [""]),
        ("https://a.example/", [""]),
    ],
)
def test_the_places_of_a_servers_metadata(url: str, places: list[str]) -> None:
    base = f"https://a.example{WELL_KNOWN}protected-resource"
    assert resource_metadata_urls(url) == [base + place for place in places]


@pytest.mark.must("C112")
def test_the_places_of_an_issuers_metadata_are_in_the_revisions_order() -> None:
    base = "https://auth.example.com"
    assert (
        issuer_metadata_urls(base)
        == issuer_metadata_urls(f"{base}/")
        == [
            f"{base}/.well-known/oauth-authorization-server",
            f"{base}/.well-known/openid-configuration",
        ]
    )
    assert issuer_metadata_urls(f"{base}/tenant1") == [
        f"{base}/.well-known/oauth-authorization-server/tenant1",
        f"{base}/.well-known/openid-configuration/tenant1",
        f"{base}/tenant1/.well-known/openid-configuration",
    ]


@pytest.mark.must("C113")
@pytest.mark.parametrize(
    ("resource", "covered"),
    [
        (URL, True),
        (f"{URL}/", True),
        ("https://mcp.example", False),
        ("HTTPS://MCP.Example/mcp", True),
        ("https://mcp.example/mc", False),
        ("https://mcp.example/mcp/more", False),
        ("https://mcp.example:8443/mcp", False),
        ("http://mcp.example/mcp", False),
        ("https://evil.example/mcp", False),
        ("https://mcp.example.evil/mcp", False),
        ("https://mcp.example@evil.example/mcp", False),
        ("https://[", False),
        ("", False),
    ],
)
def test_a_document_is_about_the_server_that_it_names(resource: str, covered: bool) -> None:
    assert covers(resource, URL, AT_PATH) is covered
    assert covers(resource, URL, "https://mcp.example/elsewhere") is covered


@pytest.mark.parametrize("resource", ["https://mcp.example", "https://mcp.example/", URL])
def test_at_the_root_it_may_name_the_origin(resource: str) -> None:
    assert covers(resource, URL, AT_ROOT)
    assert not covers(resource, "https://other.example/mcp", AT_ROOT)


@pytest.mark.parametrize("place", [AT_ROOT, AT_PATH])
def test_a_part_of_the_path_is_another_resource(place: str) -> None:
    assert not covers(URL, f"{URL}/tenant", place)


@pytest.mark.must("C113")
def test_the_canonical_name_has_no_query_fragment_or_last_slash() -> None:
    assert canonical("HTTPS://Mcp.Example/MCP/?key=s3cret#x") == "https://mcp.example/MCP"
    assert canonical("https://mcp.example/") == "https://mcp.example"


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"resource": 1, "authorization_servers": [ISSUER]},
        {"resource": "https://evil.example/mcp", "authorization_servers": [ISSUER]},
        {"resource": URL},
        {"resource": URL, "authorization_servers": []},
        {"resource": URL, "authorization_servers": "https://login.example"},
        {"resource": URL, "authorization_servers": [1]},
    ],
)
def test_a_resource_document_of_no_use(document: dict[str, Any]) -> None:
    with pytest.raises(Unusable):
        parse_resource(document, URL, AT_PATH)


def test_a_resource_document_of_use() -> None:
    document = {"resource": URL, "authorization_servers": [ISSUER, 1], "scopes_supported": ["a"]}
    assert parse_resource(document, URL, AT_PATH) == ProtectedResource(URL, (ISSUER,), ("a",))


@pytest.mark.must("C112", "C119")
@pytest.mark.parametrize(
    "changed",
    [
        {"issuer": "https://honest.example"},
        {"issuer": f"{ISSUER}/"},
        {"issuer": "https://Login.example"},
        {"issuer": None},
        {"token_endpoint": None},
        {"token_endpoint": "http://login.example/token"},
        {"token_endpoint": "https://u:p@login.example/token"},
        {"token_endpoint": 7},
        {"authorization_endpoint": "javascript:alert(1)"},
        {"authorization_endpoint": "file:///etc/passwd"},
        {"authorization_endpoint": "http://localhost/authorize"},
        {"registration_endpoint": "https://169.254.169.254/latest"},
    ],
)
def test_an_issuers_document_of_no_use(changed: dict[str, Any]) -> None:
    with pytest.raises(Unusable):
        parse_issuer(metadata(ISSUER, **changed), ISSUER, REACH)


def test_an_issuers_document_that_says_little_is_read_by_the_defaults() -> None:
    document = {"issuer": ISSUER, "token_endpoint": f"{ISSUER}/token"}
    assert parse_issuer(document, ISSUER, REACH) == Issuer(ISSUER, f"{ISSUER}/token")
    assert Issuer("i", "t").token_auth_methods == ("client_secret_basic",)


def test_the_issuer_that_is_known_goes_before_the_first() -> None:
    assert choose_issuer(["a", "b"]) == choose_issuer(["a", "b"], "c") == "a"
    assert choose_issuer(["a", "b"], "b") == "b"


# -- looked for -----------------------------------------------------------------------------------


async def message_of(peers: Peers) -> str:
    with pytest.raises(AuthorizationError) as raised:
        await peers.transport().send(ask())
    return raised.value.message


@pytest.mark.must("C111")
async def test_the_place_in_the_challenge_is_the_only_one_that_is_asked() -> None:
    peers = Peers()
    peers.challenge = 'Bearer resource_metadata="https://mcp.example/elsewhere"'
    assert "https://mcp.example/elsewhere: status 404" in await message_of(peers)
    assert peers.seen == [f"POST {URL}", "GET https://mcp.example/elsewhere"]


@pytest.mark.must("C112")
async def test_each_place_of_an_issuer_is_tried_and_each_reason_told() -> None:
    peers = Peers()
    tenant = f"{ISSUER}/t"
    oauth, inserted, appended = issuer_metadata_urls(tenant)
    peers.documents[RESOURCE_PLACE]["authorization_servers"] = [tenant]
    peers.documents[oauth] = metadata("https://honest.example")
    peers.refuses[inserted] = httpx.Response(200, text="<html>")
    told = await message_of(peers)
    assert peers.seen[2:] == [f"GET {oauth}", f"GET {inserted}", f"GET {appended}"]
    assert "honest.example" in told and "no JSON object" in told and "status 404" in told


@pytest.mark.must("C112")
async def test_a_document_about_another_issuer_is_passed_over_for_the_right_one() -> None:
    peers = Peers()
    peers.documents[ISSUER_PLACE] = metadata("https://honest.example")
    peers.documents[f"{ISSUER}/.well-known/openid-configuration"] = metadata(ISSUER)
    assert await peers.transport().send(ask())
    assert {place for place in peers.seen if "honest" in place} == set()


async def test_a_document_that_is_too_large_or_compressed_counts_as_none() -> None:
    peers = Peers()
    peers.refuses[RESOURCE_PLACE] = httpx.Response(200, content=b" " * (1024 * 1024) + b"{}")
    assert "no JSON object" in await message_of(peers)
    body = gzip.compress(json.dumps(peers.documents[RESOURCE_PLACE]).encode())
    packed = httpx.Response(200, headers={"Content-Encoding": "gzip"}, content=body)
    peers.refuses[RESOURCE_PLACE] = packed
    assert "no JSON object" in await message_of(peers)


async def test_a_document_without_end_is_not_read_to_it() -> None:
    class Endless(httpx.AsyncByteStream):
        def __aiter__(self) -> Endless:
            return self

        async def __anext__(self) -> bytes:
            return b" " * 65536

    peers = Peers()
    peers.refuses[RESOURCE_PLACE] = httpx.Response(200, stream=Endless())
    assert "no JSON object" in await message_of(peers)
    for _ in range(5):
        await asyncio.sleep(0)  # the event loop ends what httpx left of the body
