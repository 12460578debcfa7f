"""What a person brings back: whose answer it is, who gave it, and only then what it holds."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from auth_peers import BACK, ISSUER, URL, Peers, ask
from hypothesis import given
from hypothesis import strategies as st

from mini_agent.errors import AuthorizationError
from mini_agent.mcp.auth_code import Pending, authorization_request, code_in
from mini_agent.mcp.auth_metadata import Issuer
from mini_agent.mcp.auth_registration import Registered

pytestmark = [pytest.mark.timeout(60), pytest.mark.must("C114", "C115")]

PENDING = Pending(ISSUER, False, BACK, "the-state", "the-verifier")
NAMES_ITSELF = replace(PENDING, names_itself=True)
GOOD = {"code": "the-code", "state": "the-state"}
CLIENT = Registered("desk", ISSUER)
SERVER = Issuer(ISSUER, "t", f"{ISSUER}/authorize?tenant=1", code_challenge_methods=("S256",))


def came_back(**said: str) -> str:
    return f"{BACK}?{urlencode(said)}"


def refused(redirected: str, pending: Pending = PENDING) -> str:
    with pytest.raises(AuthorizationError) as raised:
        code_in(redirected, pending)
    assert "the-code" not in raised.value.message and "the-state" not in raised.value.message
    return raised.value.message


@pytest.mark.parametrize("pending", [PENDING, NAMES_ITSELF])
def test_a_right_issuer_is_taken_whether_it_was_announced_or_not(pending: Pending) -> None:
    assert code_in(came_back(**GOOD, iss=ISSUER), pending) == "the-code"


def test_no_issuer_is_taken_where_none_was_announced_and_refused_where_one_was() -> None:
    assert code_in(came_back(**GOOD), PENDING) == "the-code"
    refused(came_back(**GOOD), NAMES_ITSELF)


@pytest.mark.parametrize("pending", [PENDING, NAMES_ITSELF])
@pytest.mark.parametrize(
    "iss",
    ["https://evil.example", f"{ISSUER}/", "https://LOGIN.example", f"{ISSUER}:443", "",
     "https://login%2Eexample", " https://login.example"],
)  # fmt: skip
def test_another_issuer_is_refused_letter_by_letter(pending: Pending, iss: str) -> None:
    refused(came_back(**GOOD, iss=iss), pending)


def test_an_error_of_another_issuer_is_not_shown() -> None:
    said = {"error": "access_denied", "error_description": "call 0800", "state": "the-state"}
    told = refused(came_back(**said, iss="https://evil.example"))
    assert "access_denied" not in told and "0800" not in told
    assert "access_denied, call 0800" in refused(came_back(**said, iss=ISSUER))


@pytest.mark.parametrize("state", ["", "another", "the-state ", "the-state\udcff"])
def test_another_state_is_refused_before_anything_else_is_looked_at(state: str) -> None:
    said = {"error": "access_denied", "iss": "https://evil.example"}
    told = refused(f"{BACK}?{urlencode(said)}&state={state}")
    assert "state" in told and "evil" not in told and "access_denied" not in told


@pytest.mark.parametrize("name", ["code", "state", "iss", "error"])
def test_a_parameter_that_is_there_twice_is_refused(name: str) -> None:
    said = {"code": "the-code", "state": "the-state", "iss": ISSUER, "error": "e"}
    more = urlencode({name: said[name]})
    assert name in refused(f"{came_back(**said)}&{more}")


@pytest.mark.parametrize(
    "redirected", ["", "x", "http://[", BACK, f"{BACK}#code=1&state=the-state"]
)
def test_an_address_without_an_answer_is_refused(redirected: str) -> None:
    refused(redirected)


def test_an_answer_without_a_code_is_refused() -> None:
    refused(came_back(state="the-state"))
    refused(came_back(state="the-state", code=""))


@given(st.text(max_size=200))
def test_whatever_comes_back_is_an_answer_or_an_authorization_error(redirected: str) -> None:
    for address in (redirected, f"{BACK}?{redirected}"):
        with pytest.raises(AuthorizationError):
            code_in(address, PENDING)


# -- the address that is opened -------------------------------------------------------------------


def test_the_request_holds_what_the_revision_asks_for_and_keeps_the_endpoints_own_query() -> None:
    url, pending = authorization_request(SERVER, CLIENT, BACK, ("a", "b"), URL)
    said = parse_qs(urlsplit(url).query)
    assert said == {
        "tenant": ["1"],
        "response_type": ["code"],
        "client_id": ["desk"],
        "redirect_uri": [BACK],
        "scope": ["a b"],
        "state": [pending.state],
        "resource": [URL],
        "code_challenge": said["code_challenge"],
        "code_challenge_method": ["S256"],
    }
    assert len(pending.state) >= 32 and 43 <= len(pending.verifier) <= 128
    assert pending.verifier not in url and pending.issuer == ISSUER
    assert pending.verifier not in repr(pending) and pending.state not in repr(pending)


@pytest.mark.parametrize("scopes", [None, ()])
def test_without_scopes_the_parameter_is_left_out(scopes: tuple[str, ...] | None) -> None:
    url, _ = authorization_request(SERVER, CLIENT, BACK, scopes, URL)
    assert "scope" not in parse_qs(urlsplit(url).query)


def test_a_refresh_token_is_asked_for_in_the_words_of_openid_connect() -> None:
    url, _ = authorization_request(SERVER, CLIENT, BACK, ("offline_access",), URL)
    assert parse_qs(urlsplit(url).query)["prompt"] == ["consent"]


def test_a_server_without_a_page_or_without_pkce_is_not_asked() -> None:
    for server in (replace(SERVER, authorization_endpoint=""),
                   replace(SERVER, code_challenge_methods=())):  # fmt: skip
        with pytest.raises(AuthorizationError):
            authorization_request(server, CLIENT, BACK, None, URL)


async def test_nothing_wrong_that_comes_back_reaches_the_token_endpoint() -> None:
    for wrong in ({"iss": "https://evil.example"}, {"state": "x"}, {"code": ""}):
        peers = Peers(authorization_response_iss_parameter_supported=True)
        peers.back_extra = wrong
        with pytest.raises(AuthorizationError):
            await peers.transport().send(ask())
        assert len(peers.asked) == 1 and peers.forms == []
