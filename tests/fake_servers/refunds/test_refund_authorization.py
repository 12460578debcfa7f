"""The authorization server: discovery, consent, codes, refresh, exchange, and each refusal."""

from __future__ import annotations

import base64
import hashlib
from typing import Any
from urllib.parse import parse_qsl, urlencode

import httpx
import pytest

from fake_servers.refunds.assembling import MCP_CLIENT
from fake_servers.refunds.desk import RefundDesk
from fake_servers.refunds.exchange import ACCESS_TOKEN, GRANT
from fake_servers.refunds.keys import SigningKey, read_keys
from fake_servers.refunds.registration import Client, same_redirect
from fake_servers.refunds.tokens import Claims, key_name, verify

AUTH = "https://auth.example"
MCP = "https://refunds.example/mcp"
ORDERS = "https://orders.example"
CALLBACK = "http://127.0.0.1:8123/callback"
DOCUMENT = "https://client.example/oauth/client.json"
NATIVE = {"application_type": "native"}
WEB = {"redirect_uris": ["https://app.example/cb"]}
VERIFIER = "v" * 43
CHALLENGE = (
    base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()
)


def asked(**change: Any) -> dict[str, str]:
    """The parameters of a right request; a None takes one away."""
    right = {
        "response_type": "code",
        "client_id": "refund-agent",
        "redirect_uri": CALLBACK,
        "scope": "orders:read",
        "state": "st/ate=1&x",
        "resource": MCP,
        "code_challenge": CHALLENGE,
        "code_challenge_method": "S256",
        **change,
    }
    return {name: value for name, value in right.items() if value is not None}


async def visit(desk: RefundDesk, query: Any) -> httpx.Response:
    return await desk.client().get(f"{AUTH}/authorize?{urlencode(query)}")


async def redirected(desk: RefundDesk, **change: Any) -> dict[str, str]:
    """What the browser carries back."""
    location = (await visit(desk, asked(**change))).headers["location"]
    base, _, query = location.partition("?")
    assert base == change.get("redirect_uri", CALLBACK)
    return dict(parse_qsl(query))


async def redeem(desk: RefundDesk, given: str, **change: Any) -> httpx.Response:
    right = {
        "grant_type": "authorization_code",
        "client_id": "refund-agent",
        "code": given,
        "redirect_uri": CALLBACK,
        "code_verifier": VERIFIER,
        "resource": MCP,
        **change,
    }
    form = {name: value for name, value in right.items() if value is not None}
    return await desk.client().post(f"{AUTH}/token", data=form)


async def signed_in(desk: RefundDesk, **change: Any) -> dict[str, Any]:
    """The answer of a whole flow."""
    code = (await redirected(desk, **change))["code"]
    answer = await redeem(desk, code, client_id=change.get("client_id", "refund-agent"))
    assert answer.status_code == 200, answer.text
    tokens: dict[str, Any] = answer.json()
    return tokens


def error(answer: httpx.Response) -> tuple[int, str]:
    assert answer.headers["cache-control"] == "no-store"
    return answer.status_code, answer.json()["error"]


def read(desk: RefundDesk, token: str, audience: str = MCP) -> Claims:
    key = read_keys(desk.authorization.issuer.keys())[key_name(token)]
    return verify(token, key, issuer=AUTH, audience=audience, now=desk.clock())


# -- discovery ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["oauth-authorization-server", "openid-configuration"])
async def test_it_describes_itself_under_both_well_known_names(name: str) -> None:
    async with RefundDesk() as desk:
        document = (await desk.client().get(f"{AUTH}/.well-known/{name}")).json()
        assert (await desk.client().get(document["jwks_uri"])).json()["keys"][0]["kid"] == "key-1"
    assert document["issuer"] == AUTH
    assert document["code_challenge_methods_supported"] == ["S256"]
    assert document["authorization_response_iss_parameter_supported"] is True
    assert document["client_id_metadata_document_supported"] is True
    assert {"authorization_endpoint", "token_endpoint", "registration_endpoint"} <= set(document)


async def test_the_published_key_is_public_only() -> None:
    async with RefundDesk() as desk:
        (key,) = (await desk.client().get(f"{AUTH}/jwks")).json()["keys"]
    assert key["kty"] == "EC" and "d" not in key


async def test_what_it_says_of_itself_can_be_changed_and_left_out() -> None:
    async with RefundDesk(metadata={"registration_endpoint": None, "issuer": "https://x"}) as desk:
        url = f"{AUTH}/.well-known/oauth-authorization-server"
        document = (await desk.client().get(url)).json()
    assert "registration_endpoint" not in document and document["issuer"] == "https://x"


# -- authorize ------------------------------------------------------------------------------------


async def test_a_code_comes_back_with_the_state_and_the_issuer() -> None:
    async with RefundDesk() as desk:
        back = await redirected(desk)
        (consent,) = desk.authorization.consents
    assert set(back) == {"code", "state", "iss"}
    assert back["state"] == "st/ate=1&x" and back["iss"] == AUTH
    assert (consent.subject, consent.resource, consent.redirect_uri) == ("robin", MCP, CALLBACK)


@pytest.mark.parametrize(
    "change, code",
    [
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"response_type": None}, "unsupported_response_type"),
        ({"code_challenge": None}, "invalid_request"),
        ({"code_challenge": "short"}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": None}, "invalid_request"),
        ({"resource": None}, "invalid_target"),
        ({"resource": "https://evil.example/mcp"}, "invalid_target"),
        ({"resource": MCP + "/"}, "invalid_target"),
        ({"resource": MCP + "#x"}, "invalid_target"),
        ({"resource": "refunds"}, "invalid_target"),
        ({"scope": "admin"}, "invalid_scope"),
        ({"scope": "orders:read admin"}, "invalid_scope"),
        ({"scope": "offline_access"}, "access_denied"),
    ],
)
async def test_a_wrong_request_is_answered_by_redirect_with_state_and_issuer(
    change: dict[str, Any], code: str
) -> None:
    async with RefundDesk() as desk:
        back = await redirected(desk, **change)
    assert back["error"] == code and "code" not in back
    assert back["state"] == "st/ate=1&x" and back["iss"] == AUTH


@pytest.mark.parametrize(
    "change",
    [
        {"client_id": None},
        {"client_id": "nobody"},
        {"redirect_uri": "https://evil.example/callback"},
        {"redirect_uri": "http://127.0.0.1:8123/callback/../other"},
        {"redirect_uri": "http://127.0.0.1:8123/callback?x=1"},
        {"redirect_uri": "http://127.0.0.1:8123/callback#x"},
        {"redirect_uri": "http://127.0.0.1@evil.example:80/callback"},
        {"redirect_uri": "http://evil@127.0.0.1:8123/callback"},
        {"redirect_uri": "http://127.0.0.1.evil.example:80/callback"},
        {"redirect_uri": "https://127.0.0.1:8123/callback"},
        {"redirect_uri": "http://127.0.0.1:x/callback"},
        {"redirect_uri": "http://[::1/callback"},
        {"redirect_uri": None},
    ],
)
async def test_with_an_unknown_client_or_redirect_nobody_is_sent_anywhere(
    change: dict[str, Any],
) -> None:
    async with RefundDesk() as desk:
        answer = await visit(desk, asked(**change))
        assert desk.authorization.consents == []
    assert answer.status_code == 400 and "location" not in answer.headers


async def test_a_parameter_that_comes_twice_is_refused() -> None:
    async with RefundDesk() as desk:
        twice = [*asked().items(), ("state", "other")]
        assert (await visit(desk, twice)).status_code == 400


async def test_a_user_who_says_no_is_an_error_for_the_client() -> None:
    async with RefundDesk() as desk:
        desk.authorization.consenting = lambda consent: False
        assert (await redirected(desk))["error"] == "access_denied"


async def test_nobody_signed_in_grants_nothing() -> None:
    async with RefundDesk(signed_in="") as desk:
        assert (await redirected(desk))["error"] == "access_denied"


async def test_a_user_may_grant_less_than_was_asked() -> None:
    async with RefundDesk() as desk:
        desk.authorization.withheld = {"refunds:draft"}
        tokens = await signed_in(desk, scope="orders:read refunds:draft")
        assert tokens["scope"] == "orders:read"
        assert read(desk, tokens["access_token"]).scope == {"orders:read"}


def test_a_loopback_redirect_takes_any_port_and_nothing_else() -> None:
    own = "http://127.0.0.1/callback"
    assert same_redirect(own, "http://127.0.0.1:1/callback")
    assert same_redirect("http://localhost:9/cb", "http://localhost:8/cb")
    assert not same_redirect("https://app.example/cb", "https://app.example:8443/cb")
    assert not same_redirect(own, "http://localhost:1/callback")


# -- token ----------------------------------------------------------------------------------------


async def test_a_code_becomes_a_token_for_that_user_resource_and_scope() -> None:
    async with RefundDesk() as desk:
        desk.authorization.signed_in = "kim"
        tokens = await signed_in(desk, scope="orders:read refunds:draft offline_access")
        claims = read(desk, tokens["access_token"])
    assert (tokens["token_type"], tokens["expires_in"]) == ("Bearer", 300)
    assert tokens["scope"] == "offline_access orders:read refunds:draft"
    assert (claims.subject, claims.audience, claims.client_id) == ("kim", MCP, "refund-agent")
    assert claims.scope == {"orders:read", "refunds:draft"}


async def test_a_resource_is_known_in_upper_case_too() -> None:
    async with RefundDesk() as desk:
        code = (await redirected(desk, resource="HTTPS://Refunds.example/mcp"))["code"]
        answer = await redeem(desk, code, resource="https://REFUNDS.example/mcp")
        assert read(desk, answer.json()["access_token"]).audience == MCP


@pytest.mark.parametrize(
    "change, code",
    [
        ({"code": "made-up"}, "invalid_grant"),
        ({"code": None}, "invalid_request"),
        ({"code_verifier": "w" * 43}, "invalid_grant"),
        ({"code_verifier": "v" * 42}, "invalid_grant"),
        ({"code_verifier": CHALLENGE}, "invalid_grant"),
        ({"code_verifier": None}, "invalid_request"),
        ({"redirect_uri": "http://127.0.0.1:8124/callback"}, "invalid_grant"),
        ({"client_id": "other-agent"}, "invalid_grant"),
        ({"resource": None}, "invalid_target"),
        ({"resource": ORDERS}, "invalid_target"),
        ({"grant_type": "password"}, "unsupported_grant_type"),
        ({"grant_type": None}, "invalid_request"),
    ],
)
async def test_a_wrong_redemption_gets_no_token(change: dict[str, Any], code: str) -> None:
    other = Client("other-agent", "Other", (CALLBACK,))
    async with RefundDesk(clients=[other]) as desk:
        answer = await redeem(desk, (await redirected(desk))["code"], **change)
        assert error(answer) == (400, code)


async def test_a_code_is_good_for_a_minute() -> None:
    async with RefundDesk() as desk:
        code = (await redirected(desk))["code"]
        desk.advance(60)
        assert error(await redeem(desk, code)) == (400, "invalid_grant")


async def test_a_code_that_is_used_twice_ends_what_came_of_it() -> None:
    async with RefundDesk() as desk:
        code = (await redirected(desk))["code"]
        refresh_token = (await redeem(desk, code)).json()["refresh_token"]
        assert error(await redeem(desk, code)) == (400, "invalid_grant")
        assert error(await refresh(desk, refresh_token)) == (400, "invalid_grant")


async def refresh(desk: RefundDesk, token: str, **change: Any) -> httpx.Response:
    form = {
        "grant_type": "refresh_token",
        "client_id": "refund-agent",
        "refresh_token": token,
        "resource": MCP,
        **change,
    }
    return await desk.client().post(f"{AUTH}/token", data=form)


async def test_a_refresh_token_is_replaced_and_its_second_use_ends_the_family() -> None:
    async with RefundDesk() as desk:
        first = (await signed_in(desk))["refresh_token"]
        second = (await refresh(desk, first)).json()["refresh_token"]
        assert second != first
        assert error(await refresh(desk, first)) == (400, "invalid_grant")
        assert error(await refresh(desk, second)) == (400, "invalid_grant")


@pytest.mark.parametrize(
    "change, code",
    [
        ({"scope": "orders:read refunds:draft"}, "invalid_scope"),
        ({"resource": ORDERS}, "invalid_target"),
        ({"client_id": "other-agent"}, "invalid_grant"),
        ({"refresh_token": "made-up"}, "invalid_grant"),
    ],
)
async def test_a_refresh_grants_no_more_and_a_wrong_one_spends_nothing(
    change: dict[str, str], code: str
) -> None:
    async with RefundDesk(clients=[Client("other-agent", "Other", (CALLBACK,))]) as desk:
        token = (await signed_in(desk))["refresh_token"]
        assert error(await refresh(desk, token, **change)) == (400, code)
        assert (await refresh(desk, token)).status_code == 200


async def test_a_refresh_may_ask_for_less() -> None:
    async with RefundDesk() as desk:
        token = (await signed_in(desk, scope="orders:read refunds:draft"))["refresh_token"]
        less = (await refresh(desk, token, scope="orders:read")).json()
        assert read(desk, less["access_token"]).scope == {"orders:read"}
        again = (await refresh(desk, less["refresh_token"])).json()
        assert read(desk, again["access_token"]).scope == {"orders:read", "refunds:draft"}


async def test_a_client_that_did_not_ask_for_refresh_tokens_gets_none() -> None:
    async with RefundDesk(clients=[Client("other-agent", "Other", (CALLBACK,))]) as desk:
        assert "refresh_token" not in await signed_in(desk, client_id="other-agent")


async def test_a_revoked_refresh_token_is_over() -> None:
    async with RefundDesk() as desk:
        token = (await signed_in(desk))["refresh_token"]
        form = {"client_id": "refund-agent", "token": token}
        assert (await desk.client().post(f"{AUTH}/revoke", data=form)).status_code == 200
        assert error(await refresh(desk, token)) == (400, "invalid_grant")


# -- clients --------------------------------------------------------------------------------------


async def test_a_client_registers_and_is_known_from_then_on() -> None:
    metadata = {
        "client_name": "Agent",
        "redirect_uris": [CALLBACK],
        "application_type": "native",
        "token_endpoint_auth_method": "none",
        "grant_types": ["authorization_code", "refresh_token", "client_credentials"],
    }
    async with RefundDesk() as desk:
        answer = await desk.client().post(f"{AUTH}/register", json=metadata)
        client = answer.json()
        assert "refresh_token" in await signed_in(desk, client_id=client["client_id"])
    assert answer.status_code == 201 and "client_secret" not in client
    assert client["client_id"] == "client-1" and client["application_type"] == "native"
    assert client["grant_types"] == ["authorization_code", "refresh_token"]


@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post"])
async def test_a_confidential_client_proves_itself_in_the_way_it_registered(method: str) -> None:
    metadata = {
        "redirect_uris": ["https://app.example/callback"],
        "token_endpoint_auth_method": method,
    }
    async with RefundDesk() as desk:
        client = (await desk.client().post(f"{AUTH}/register", json=metadata)).json()
        name, secret = client["client_id"], client["client_secret"]
        code = (await redirected(desk, client_id=name, redirect_uri=metadata["redirect_uris"][0]))[
            "code"
        ]
        form = {
            "grant_type": "authorization_code", "code": code, "code_verifier": VERIFIER,
            "resource": MCP,
        }  # fmt: skip
        posted = {**form, "client_id": name, "client_secret": secret}
        http = desk.client()
        wrong = await http.post(f"{AUTH}/token", data=form, auth=(name, "guess"))
        assert error(wrong) == (401, "invalid_client")
        assert error(await http.post(f"{AUTH}/token", data={**form, "client_id": name}))[0] == 401
        both = await http.post(f"{AUTH}/token", data=posted, auth=(name, secret))
        assert error(both) == (400, "invalid_request")
        basic = method == "client_secret_basic"
        other = await http.post(
            f"{AUTH}/token", data=posted if basic else form, auth=None if basic else (name, secret)
        )
        assert error(other) == (401, "invalid_client")
        right = await http.post(
            f"{AUTH}/token", data=form if basic else posted, auth=(name, secret) if basic else None
        )
    assert right.status_code == 200


@pytest.mark.parametrize(
    "metadata, code",
    [
        ({}, "invalid_redirect_uri"),
        ({"redirect_uris": []}, "invalid_redirect_uri"),
        ({"redirect_uris": "http://127.0.0.1/"}, "invalid_redirect_uri"),
        ({"redirect_uris": [CALLBACK]}, "invalid_redirect_uri"),  # web is the default
        ({"redirect_uris": ["https://localhost/cb"]}, "invalid_redirect_uri"),
        ({"redirect_uris": ["http://app.example/cb"], **NATIVE}, "invalid_redirect_uri"),
        ({"redirect_uris": ["https://app.example/cb#x"]}, "invalid_redirect_uri"),
        ({"redirect_uris": ["javascript:alert(1)"], **NATIVE}, "invalid_redirect_uri"),
        ({"redirect_uris": ["https://[x/"]}, "invalid_redirect_uri"),
        ({**WEB, "application_type": "tv"}, "invalid_client_metadata"),
        ({**WEB, "token_endpoint_auth_method": "x"}, "invalid_client_metadata"),
        ({**WEB, "grant_types": "x"}, "invalid_client_metadata"),
        ([], "invalid_client_metadata"),
    ],
)  # fmt: skip
async def test_a_registration_that_will_not_do_says_why(metadata: Any, code: str) -> None:
    async with RefundDesk() as desk:
        assert error(await desk.client().post(f"{AUTH}/register", json=metadata)) == (400, code)


def document(**change: Any) -> dict[str, Any]:
    right = {"client_id": DOCUMENT, "client_name": "Agent", "redirect_uris": [CALLBACK], **change}
    return {name: value for name, value in right.items() if value is not None}


async def test_a_client_is_what_its_document_says() -> None:
    async with RefundDesk(documents={DOCUMENT: document()}) as desk:
        tokens = await signed_in(desk, client_id=DOCUMENT)
        assert read(desk, tokens["access_token"]).client_id == DOCUMENT


@pytest.mark.parametrize(
    "change",
    [
        {"client_id": DOCUMENT + "?x"},
        {"client_id": None},
        {"client_name": None},
        {"redirect_uris": None},
        {"redirect_uris": []},
        {"redirect_uris": [1]},
        {"redirect_uris": ["https://other.example/callback"]},
        {"client_secret": "shared with the world"},
        {"token_endpoint_auth_method": "client_secret_post"},
        {"grant_types": "authorization_code"},
        {"client_name": "x" * 6000},
    ],
)
async def test_a_document_that_does_not_fit_makes_no_client(change: dict[str, Any]) -> None:
    async with RefundDesk(documents={DOCUMENT: document(**change)}) as desk:
        answer = await visit(desk, asked(client_id=DOCUMENT))
    assert answer.status_code == 400 and "location" not in answer.headers


@pytest.mark.parametrize("url", ["https://client.example/", "https://client.example/a/../b.json"])
async def test_a_document_at_an_odd_url_makes_no_client_though_it_fits(url: str) -> None:
    fits = document(client_id=url)
    at = {url: fits, "https://client.example/b.json": fits}
    async with RefundDesk(documents=at) as desk:
        assert (await visit(desk, asked(client_id=url))).status_code == 400
        assert [exchange.to for exchange in desk.traffic] == ["authorization"]


@pytest.mark.parametrize(
    "client_id",
    [
        "https://127.0.0.1/client.json",
        "https://2130706433/client.json",
        "https://0x7f.1/client.json",
        "https://[::1]/client.json",
        "https://[::ffff:10.0.0.3]/client.json",
        "https://169.254.169.254/latest/meta-data/",
        "https://orders.example/orders/ord_4821",
        "https://inside.example/client.json",
        "https://both.example/client.json",
        "https://nowhere.example/client.json",
        "http://client.example/oauth/client.json",
        "https://client.example/",
        "https://client.example",
        "https://client.example/oauth/../oauth/client.json",
        "https://user@client.example/oauth/client.json",
        "https://client.example/oauth/client.json#x",
        "https://client.example/absent.json",
        "https://[client.example/x",
    ],
)
async def test_a_client_id_leads_the_server_to_no_forbidden_address(client_id: str) -> None:
    async with RefundDesk(documents={DOCUMENT: document()}) as desk:
        desk.network.names["inside.example"] = ["10.0.0.3"]
        desk.network.names["both.example"] = ["93.184.215.14", "169.254.169.254"]
        answer = await visit(desk, asked(client_id=client_id))
        assert [exchange.to for exchange in desk.traffic] == ["authorization"]
    assert answer.status_code == 400 and "location" not in answer.headers


# -- exchange -------------------------------------------------------------------------------------


async def exchange(desk: RefundDesk, token: str, **change: Any) -> httpx.Response:
    right = {
        "grant_type": GRANT,
        "subject_token": token,
        "subject_token_type": ACCESS_TOKEN,
        "resource": ORDERS,
        "scope": "orders:read",
        **change,
    }
    form = {name: value for name, value in right.items() if value is not None}
    secret = desk.running[0]._settings.client_secret
    return await desk.client().post(f"{AUTH}/token", data=form, auth=(MCP_CLIENT, secret))


async def test_an_exchange_keeps_the_user_narrows_the_scope_and_names_who_acts() -> None:
    async with RefundDesk() as desk:
        answer = (await exchange(desk, desk.issue_token("kim"))).json()
        claims = read(desk, answer["access_token"], ORDERS)
    assert answer["issued_token_type"] == ACCESS_TOKEN and answer["scope"] == "orders:read"
    assert (claims.subject, claims.actor, claims.audience) == ("kim", MCP_CLIENT, ORDERS)
    assert claims.scope == {"orders:read"} and "refresh_token" not in answer


async def test_what_comes_of_an_exchange_lasts_no_longer_than_what_went_in() -> None:
    async with RefundDesk() as desk:
        answer = (await exchange(desk, desk.issue_token(expires_in=7))).json()
        assert answer["expires_in"] == 7
        assert read(desk, answer["access_token"], ORDERS).expires == desk.clock() + 7


async def test_the_broader_scope_may_be_exchanged_for_the_narrower_and_not_the_other_way() -> None:
    async with RefundDesk() as desk:
        broad, narrow = (
            desk.issue_token(scope="refunds:draft"),
            desk.issue_token(scope="orders:read"),
        )
        assert (await exchange(desk, broad)).status_code == 200
        assert error(await exchange(desk, narrow, scope="refunds:draft")) == (400, "invalid_scope")


@pytest.mark.parametrize(
    "options",
    [
        {"audience": ORDERS},
        {"audience": "https://other.example/mcp"},
        {"iss": "https://evil.example"},
        {"expires_in": 0},
        {"key": SigningKey("key-1")},
        {"key": SigningKey("key-9")},
        {"sub": None},
    ],
)
async def test_a_token_that_was_not_issued_for_the_mcp_server_is_not_exchanged(
    options: dict[str, Any],
) -> None:
    async with RefundDesk() as desk:
        answer = await exchange(desk, desk.issue_token(**options))
        assert error(answer) == (400, "invalid_request")


@pytest.mark.parametrize(
    "change, code",
    [
        ({"resource": MCP}, "invalid_target"),
        ({"resource": "https://payments.example"}, "invalid_target"),
        ({"resource": None}, "invalid_target"),
        ({"scope": "admin"}, "invalid_scope"),
        ({"subject_token": None}, "invalid_request"),
        ({"subject_token": "x"}, "invalid_request"),
        ({"subject_token_type": "urn:ietf:params:oauth:token-type:jwt"}, "invalid_request"),
        ({"requested_token_type": ACCESS_TOKEN + "s"}, "invalid_request"),
        ({"actor_token": "x"}, "invalid_request"),
    ],
)  # fmt: skip
async def test_an_exchange_for_more_is_refused(change: dict[str, Any], code: str) -> None:
    async with RefundDesk() as desk:
        assert error(await exchange(desk, desk.issue_token(), **change)) == (400, code)


async def test_only_the_mcp_server_may_exchange() -> None:
    async with RefundDesk() as desk:
        form = {
            "grant_type": GRANT,
            "client_id": "refund-agent",
            "subject_token": desk.issue_token(),
            "subject_token_type": ACCESS_TOKEN,
            "resource": ORDERS,
        }
        answer = await desk.client().post(f"{AUTH}/token", data=form)
        assert error(answer) == (400, "unauthorized_client")


@pytest.mark.parametrize("path", ["/token", "/register", "/revoke"])
async def test_a_body_without_end_is_not_read(path: str) -> None:
    async with RefundDesk() as desk:
        answer = await desk.client().post(f"{AUTH}{path}", content=b"x" * 70_000)
        assert error(answer)[0] == 413
