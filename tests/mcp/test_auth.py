"""From a refusal to an answer: what is asked of whom, once for all who call, and no secret told."""

from __future__ import annotations

import asyncio
import traceback
from typing import Any

import httpx
import pytest
from auth_peers import BACK, ISSUER, ISSUER_PLACE, RESOURCE_PLACE, URL, Peers, ask, metadata

from mini_agent.errors import (
    AuthorizationError,
    ConnectFailed,
    McpError,
    RequestTimeout,
    TransportClosed,
)
from mini_agent.mcp.auth import (
    AuthorizationCode,
    ClientCredentials,
    JwtBearer,
    OAuth,
    PreRegistered,
)
from mini_agent.mcp.client import McpClient
from mini_agent.mcp.http import HttpTransport
from mini_agent.trace import Trace

pytestmark = pytest.mark.timeout(20)

OTHER = "https://other.example"
SECRETS = ("token-1", "refresh-1", "code-1", "s3cret")


async def failure(transport: HttpTransport, number: int = 1, tool: str = "t") -> McpError:
    with pytest.raises(McpError) as raised:
        await transport.send(ask(number, tool))
    return raised.value


async def token(transport: HttpTransport, number: int = 1, tool: str = "t") -> str:
    response = await transport.send(ask(number, tool))
    assert response is not None
    return f"token-{response['result']['content'][0]['text']}"


# -- the whole way --------------------------------------------------------------------------------


@pytest.mark.must("C57", "C111", "C112")
async def test_a_refusal_leads_to_metadata_registration_a_person_a_token_and_the_answer() -> None:
    peers = Peers()
    assert await token(peers.transport()) == "token-1"
    assert peers.seen == [
        f"POST {URL}",
        f"GET {RESOURCE_PLACE}",
        f"GET {ISSUER_PLACE}",
        f"POST {ISSUER}/register",
        f"PERSON {ISSUER}/authorize",
        f"POST {ISSUER}/token",
        f"POST {URL}",
    ]


@pytest.mark.must("C110")
async def test_the_token_goes_into_the_header_of_every_request_to_its_server_and_nowhere_else() -> (
    None
):
    peers = Peers()
    transport = peers.transport()
    for number in (1, 2, 3):
        await token(transport, number)
    sent = [r.headers.get("authorization") for r in peers.requests if str(r.url) == URL]
    assert sent == [None, "Bearer token-1", "Bearer token-1", "Bearer token-1"]
    others = [request for request in peers.requests if str(request.url) != URL]
    assert others and not [r for r in others if "authorization" in r.headers]
    assert "token-1" not in "".join(str(r.url) for r in peers.requests)


@pytest.mark.must("C110")
@pytest.mark.parametrize("status", [301, 307, 308])
async def test_no_redirect_takes_a_token_to_another_place(status: int) -> None:
    peers = Peers()
    transport = peers.transport()
    await token(transport)
    moved = httpx.Response(status, headers={"Location": f"{OTHER}/mcp"})
    peers.refuses[URL] = moved
    await failure(transport, 2)
    assert not [place for place in peers.seen if OTHER in place]


@pytest.mark.must("C110")
async def test_one_oauth_serves_one_server() -> None:
    peers = Peers()
    auth = peers.oauth()
    await token(peers.transport(auth))
    with pytest.raises(ValueError):
        await peers.transport(auth, f"{OTHER}/mcp").send(ask())
    assert not [place for place in peers.seen if OTHER in place]


@pytest.mark.must("C113")
async def test_both_requests_name_the_resource_as_the_server_published_it() -> None:
    peers = Peers()
    peers.challenge = ""
    root = RESOURCE_PLACE.removesuffix("/mcp")
    peers.documents[root] = {
        **peers.documents.pop(RESOURCE_PLACE),
        "resource": "https://mcp.example",
    }
    await token(peers.transport())
    assert peers.asked[0]["resource"] == peers.forms[0]["resource"] == "https://mcp.example"


@pytest.mark.must("C114")
async def test_the_code_is_bound_by_s256_and_state_and_verifier_are_new_each_time() -> None:
    peers = Peers()
    auth = peers.oauth()
    await token(peers.transport(auth))
    auth.forget()
    await token(peers.transport(auth), 2)
    for asked in peers.asked:
        assert asked["code_challenge_method"] == "S256"
    secrets = [peers.asked[n][name] for n in (0, 1) for name in ("state", "code_challenge")]
    secrets += [form["code_verifier"] for form in peers.forms]
    assert len(set(secrets)) == 6


@pytest.mark.must("C114")
@pytest.mark.parametrize("methods", [None, [], ["plain"]])
async def test_a_server_that_does_not_say_s256_is_refused(methods: list[str] | None) -> None:
    peers = Peers(code_challenge_methods_supported=methods)
    error = await failure(peers.transport())
    assert isinstance(error, AuthorizationError) and "S256" in error.message
    assert peers.asked == []


async def test_a_server_without_a_challenge_is_looked_up_at_its_well_known_places() -> None:
    peers = Peers()
    peers.challenge = ""
    root = "https://mcp.example/.well-known/oauth-protected-resource"
    peers.documents[root] = peers.documents.pop(RESOURCE_PLACE)
    assert await token(peers.transport()) == "token-1"
    assert peers.seen[1:3] == [f"GET {RESOURCE_PLACE}", f"GET {root}"]


async def test_without_metadata_a_client_that_is_known_to_its_issuer_goes_there() -> None:
    peers = Peers()
    peers.challenge = ""
    del peers.documents[RESOURCE_PLACE]
    known = PreRegistered("desk", ISSUER)
    assert await token(peers.transport(peers.oauth(client=known))) == "token-1"
    assert peers.forms[0]["client_id"] == "desk" and peers.forms[0]["resource"] == URL
    error = await failure(peers.transport(peers.oauth()), 2)
    assert RESOURCE_PLACE in error.message and "404" in error.message


async def test_a_refusal_that_is_about_neither_stays_what_it_was() -> None:
    peers = Peers()
    peers.refuses[URL] = httpx.Response(403, headers={"WWW-Authenticate": 'Bearer error="no"'})
    error = await failure(peers.transport())
    assert isinstance(error, AuthorizationError)
    assert (error.status, error.challenge) == (403, 'Bearer error="no"')
    assert peers.seen == [f"POST {URL}"]


async def test_ending_a_session_asks_nobody() -> None:
    peers = Peers()
    await peers.transport().end_session({})
    assert peers.seen == [f"DELETE {URL}"]


async def test_a_configured_authorization_header_and_oauth_exclude_each_other() -> None:
    peers = Peers()
    with pytest.raises(ValueError):
        HttpTransport(URL, auth=peers.oauth(), headers={"authorization": "Bearer x"})
    HttpTransport(URL, headers={"authorization": "Bearer x"})


# -- scopes ---------------------------------------------------------------------------------------


@pytest.mark.must("C118")
async def test_a_tool_that_needs_more_leads_to_one_step_up_with_the_union_of_scopes() -> None:
    peers = Peers()
    peers.challenge += ', scope="read"'
    peers.needs = {"write": "desk:write"}
    transport = peers.transport()
    assert await token(transport) == "token-1"
    assert await token(transport, 2, "write") == "token-2"
    assert [asked["scope"] for asked in peers.asked] == ["read", "read desk:write"]
    assert await token(transport, 3) == "token-2"


@pytest.mark.must("C118")
async def test_a_scope_that_was_not_granted_is_not_asked_for_again_until_told_to() -> None:
    peers = Peers()
    peers.token_extra = {"scope": "read"}
    peers.needs = {"write": "desk:write"}
    peers.give = narrowed(peers)  # type: ignore[method-assign]
    auth = peers.oauth()
    transport = peers.transport(auth)
    for number in (1, 2):
        error = await failure(transport, number, "write")
        assert isinstance(error, AuthorizationError) and "desk:write" in error.message
        assert error.status == 403
    assert len(peers.asked) == 2
    auth.forget()
    await failure(transport, 3, "write")
    assert len(peers.asked) == 4


def narrowed(peers: Peers) -> Any:
    """A token endpoint that grants ``read``, whatever was asked for."""

    def give(request: httpx.Request) -> httpx.Response:
        answer = Peers.give(peers, request)
        peers.granted[answer.json()["access_token"]] = {"read"}
        return answer

    return give


@pytest.mark.parametrize("once", ["nobody came", "token endpoint"])
async def test_what_failed_in_passing_may_be_asked_for_at_the_next_call(once: str) -> None:
    peers = Peers()
    peers.needs = {"write": "desk:write"}
    away = asyncio.Event()

    async def opens(url: str) -> str:
        if away.is_set():
            await asyncio.Event().wait()
        return await peers.says_yes(url)

    transport = peers.transport(peers.oauth(AuthorizationCode(opens, patience=0.5)))
    await token(transport)
    if once == "nobody came":
        away.set()
    else:
        peers.refuses[f"{ISSUER}/token"] = httpx.Response(503)
    error = await failure(transport, 2, "write")
    assert isinstance(error, AuthorizationError)
    away.clear()
    peers.refuses.clear()
    assert await token(transport, 3, "write") == "token-2"


async def test_a_person_who_says_no_to_a_scope_is_not_asked_for_it_again() -> None:
    peers = Peers()
    peers.needs = {"write": "desk:write"}
    transport = peers.transport()
    await token(transport)
    peers.back_extra = {"error": "access_denied", "code": ""}
    for number in (2, 3):
        assert isinstance(await failure(transport, number, "write"), AuthorizationError)
    assert len(peers.asked) == 2


@pytest.mark.must("C118")
async def test_a_server_that_wants_what_the_token_has_is_not_asked_for_it_again() -> None:
    peers = Peers()
    peers.challenge += ', scope="admin"'
    auth = peers.oauth()
    transport = peers.transport(auth)
    await token(transport)
    said = 'Bearer error="insufficient_scope", scope="admin"'
    peers.refuses[URL] = httpx.Response(403, headers={"WWW-Authenticate": said})
    error = await failure(transport, 2)
    assert isinstance(error, AuthorizationError)
    assert (error.status, error.challenge, len(peers.asked)) == (403, said, 1)


@pytest.mark.must("C118")
async def test_a_server_that_wants_ever_more_is_followed_a_few_times() -> None:
    peers = Peers()
    wanted = iter(range(100))

    def ever_more(request: httpx.Request) -> httpx.Response:
        said = f'Bearer error="insufficient_scope", scope="s{next(wanted)}"'
        return httpx.Response(403, headers={"WWW-Authenticate": said})

    peers.serve = ever_more  # type: ignore[method-assign]
    error = await failure(peers.transport())
    assert isinstance(error, AuthorizationError) and error.status == 403
    assert len(peers.asked) == 3


# -- renewal --------------------------------------------------------------------------------------


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.must("C119")
async def test_a_token_whose_time_is_over_is_renewed_before_it_is_sent() -> None:
    peers, clock = Peers(), Clock()
    peers.token_extra = {"expires_in": 60, "refresh_token": "refresh-1"}
    transport = peers.transport(peers.oauth(clock=clock))
    await token(transport)
    peers.good.clear()
    clock.now += 55  # a little before the end
    peers.seen.clear()
    assert await token(transport, 2) == "token-2"
    assert peers.seen == [f"POST {ISSUER}/token", f"POST {URL}"]
    assert peers.forms[1]["grant_type"] == "refresh_token"
    assert peers.forms[1]["refresh_token"] == "refresh-1" and peers.forms[1]["resource"] == URL


@pytest.mark.must("C119")
async def test_no_refresh_token_is_taken_for_granted() -> None:
    peers, clock = Peers(), Clock()
    peers.token_extra = {"expires_in": 60}
    transport = peers.transport(peers.oauth(clock=clock))
    await token(transport)
    clock.now += 60
    peers.good.clear()
    assert await token(transport, 2) == "token-2"
    assert [form["grant_type"] for form in peers.forms] == ["authorization_code"] * 2
    sent = [r.headers.get("authorization") for r in peers.requests if str(r.url) == URL]
    assert sent == [None, *["Bearer token-1"] * 2, "Bearer token-2"]


@pytest.mark.parametrize("lasts", [0, 5, 60])
async def test_a_person_who_takes_longer_than_a_token_lasts_is_asked_once(lasts: int) -> None:
    peers, clock = Peers(), Clock()
    peers.token_extra = {"expires_in": lasts}

    async def slow(url: str) -> str:
        clock.now += 120
        return await peers.says_yes(url)

    transport = peers.transport(peers.oauth(AuthorizationCode(slow), clock=clock))
    given = await asyncio.gather(*(token(transport, number) for number in range(8)))
    assert set(given) == {"token-1"} and len(peers.asked) == 1


async def test_a_short_token_that_is_refused_as_it_comes_is_not_asked_for_again() -> None:
    peers = Peers()
    peers.good = frozenset()  # type: ignore[assignment]
    peers.token_extra = {"expires_in": 0}
    peers.give = useless  # type: ignore[method-assign]
    error = await failure(peers.transport())
    assert isinstance(error, AuthorizationError) and len(peers.asked) == 1


async def test_a_token_that_can_be_renewed_and_lasts_for_no_time_is_sent_all_the_same() -> None:
    peers = Peers()
    peers.token_extra = {"expires_in": 0, "refresh_token": "refresh-1"}
    assert await token(peers.transport()) == "token-1" and len(peers.forms) == 1


async def test_a_refused_token_is_renewed_and_a_person_asked_where_that_fails() -> None:
    peers = Peers()
    peers.token_extra = {"refresh_token": "refresh-1"}
    transport = peers.transport()
    await token(transport)
    peers.good.clear()
    assert await token(transport, 2) == "token-2" and len(peers.asked) == 1
    peers.good.clear()
    peers.give = no_renewal(peers)  # type: ignore[method-assign]
    assert await token(transport, 3) == "token-4" and len(peers.asked) == 2


def no_renewal(peers: Peers) -> Any:
    def give(request: httpx.Request) -> httpx.Response:
        answer = Peers.give(peers, request)
        if peers.forms[-1]["grant_type"] == "refresh_token":
            return httpx.Response(400, json={"error": "invalid_grant"})
        return answer

    return give


async def test_a_renewal_that_is_refused_beforehand_ends_at_a_person_and_keeps_the_scopes() -> None:
    peers, clock = Peers(), Clock()
    peers.challenge += ', scope="read"'
    peers.needs = {"write": "desk:write"}
    peers.token_extra = {"expires_in": 60, "refresh_token": "refresh-1"}
    transport = peers.transport(peers.oauth(clock=clock))
    await token(transport)
    await token(transport, 2, "write")
    peers.give = no_renewal(peers)  # type: ignore[method-assign]
    clock.now += 60
    peers.good.clear()
    await token(transport, 3, "write")
    assert peers.asked[2]["scope"] == "read desk:write"
    assert sum(form["grant_type"] == "refresh_token" for form in peers.forms) == 1


async def test_a_token_that_was_just_given_and_is_refused_is_not_asked_for_again() -> None:
    peers = Peers()
    peers.good = frozenset()  # type: ignore[assignment]
    peers.give = useless  # type: ignore[method-assign]
    error = await failure(peers.transport())
    assert isinstance(error, AuthorizationError) and ISSUER in error.message
    assert len(peers.asked) == 1


def useless(request: httpx.Request) -> httpx.Response:
    return httpx.Response(200, json={"access_token": "nobody's", "token_type": "bearer"})


# -- many at once ---------------------------------------------------------------------------------


async def test_64_calls_at_once_sign_in_once() -> None:
    peers = Peers()
    transport = peers.transport()
    given = await asyncio.gather(*(token(transport, number) for number in range(64)))
    assert set(given) == {"token-1"} and len(peers.asked) == 1


async def test_64_calls_at_once_with_a_token_whose_time_is_over_renew_it_once() -> None:
    peers, clock = Peers(), Clock()
    peers.token_extra = {"expires_in": 60, "refresh_token": "refresh-1"}
    transport = peers.transport(peers.oauth(clock=clock))
    await token(transport)
    peers.good.clear()
    clock.now += 60
    given = await asyncio.gather(*(token(transport, number) for number in range(64)))
    assert set(given) == {"token-2"} and len(peers.forms) == 2


async def test_64_calls_at_once_that_are_refused_step_up_once() -> None:
    peers = Peers()
    peers.needs = {"write": "desk:write"}
    transport = peers.transport()
    await token(transport)
    given = await asyncio.gather(*(token(transport, number, "write") for number in range(64)))
    assert set(given) == {"token-2"} and len(peers.asked) == 2


def held(peers: Peers, *waits: asyncio.Event | asyncio.Barrier | None) -> None:
    """The MCP server answers its n-th request from now on once the n-th of ``waits`` lets it."""
    left = list(waits)

    async def handle(request: httpx.Request) -> httpx.Response:
        wait = left.pop(0) if str(request.url) == URL and left else None
        answer = await peers.handle(request)
        if wait is not None:
            await wait.wait()
        return answer

    peers.client = httpx.AsyncClient(transport=httpx.MockTransport(handle))


async def test_8_calls_that_are_refused_at_the_same_time_step_up_once() -> None:
    peers = Peers()
    peers.needs = {"write": "desk:write"}
    all_in = asyncio.Barrier(8)
    held(peers, None, None, *[all_in] * 8)
    transport = peers.transport()
    await token(transport)
    given = await asyncio.gather(*(token(transport, number, "write") for number in range(8)))
    assert set(given) == {"token-2"} and len(peers.asked) == 2


async def test_a_refusal_that_comes_after_somebody_else_signed_in_asks_nobody() -> None:
    peers = Peers()
    late = asyncio.Event()
    held(peers, late)
    transport = peers.transport()
    slow, quick = (asyncio.create_task(token(transport, number)) for number in (1, 2))
    assert await quick == "token-1"
    late.set()
    assert await slow == "token-1" and len(peers.asked) == 1
    assert peers.seen.count(f"POST {URL}") == 4  # both without a token, both with it


async def test_each_of_many_gets_an_exception_of_its_own() -> None:
    peers = Peers(code_challenge_methods_supported=None)
    transport = peers.transport()
    calls = (transport.send(ask(number)) for number in range(4))
    errors = await asyncio.gather(*calls, return_exceptions=True)
    assert {type(error) for error in errors} == {AuthorizationError}
    assert len({id(error) for error in errors}) == 4


class SlowPerson:
    """Comes back when told to."""

    def __init__(self, peers: Peers) -> None:
        self.peers = peers
        self.opened, self.go = asyncio.Event(), asyncio.Event()

    async def __call__(self, url: str) -> str:
        back = await self.peers.says_yes(url)
        self.opened.set()
        await self.go.wait()
        return back


async def test_the_deadline_of_a_call_does_not_count_while_a_person_is_asked() -> None:
    peers = Peers()
    person = SlowPerson(peers)
    transport = peers.transport(peers.oauth(AuthorizationCode(person)))
    async with McpClient(transport, timeout=1.0) as client:
        calls = [asyncio.create_task(client.call("t")) for _ in range(2)]
        await person.opened.wait()
        calls.append(asyncio.create_task(client.call("t")))  # one that comes later
        asyncio.get_running_loop().call_later(1.3, person.go.set)  # beyond the deadline
        for call in calls:
            assert (await call).content == [{"type": "text", "text": "1"}]


async def test_the_deadline_of_a_call_counts_while_only_servers_are_asked() -> None:
    peers = Peers()

    async def silent(request: httpx.Request) -> httpx.Response:
        if str(request.url) == ISSUER_PLACE:
            await asyncio.Event().wait()
        return await Peers.handle(peers, request)

    peers.client = httpx.AsyncClient(transport=httpx.MockTransport(silent))
    with pytest.raises(RequestTimeout):
        async with McpClient(peers.transport(), timeout=0.1) as client:
            await client.call("t")


async def test_who_stops_waiting_leaves_the_page_open_and_the_next_call_finds_a_token() -> None:
    peers = Peers()
    person = SlowPerson(peers)
    transport = peers.transport(peers.oauth(AuthorizationCode(person)))
    call = asyncio.create_task(transport.send(ask()))
    await person.opened.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    second = asyncio.create_task(token(transport, 2))
    await asyncio.sleep(0)
    person.go.set()
    assert await second == "token-1" and len(peers.asked) == 1
    assert peers.seen.count(f"POST {URL}") == 2  # the second waited for its token


async def test_closing_the_transport_ends_the_waiting() -> None:
    peers = Peers()
    person = SlowPerson(peers)
    transport = peers.transport(peers.oauth(AuthorizationCode(person)))
    call = asyncio.create_task(transport.send(ask()))
    await person.opened.wait()
    await transport.close()
    with pytest.raises(TransportClosed):
        await call


async def test_closing_one_of_two_transports_leaves_the_call_of_the_other() -> None:
    peers = Peers()
    person = SlowPerson(peers)
    auth = peers.oauth(AuthorizationCode(person))
    first, second = peers.transport(auth), peers.transport(auth)
    calls = [asyncio.create_task(t.send(ask(n))) for n, t in enumerate((first, second), start=1)]
    await person.opened.wait()
    await first.close()
    person.go.set()
    with pytest.raises(TransportClosed):
        await calls[0]
    assert await calls[1] is not None and len(peers.asked) == 1


async def test_what_is_signed_in_after_forget_is_forgotten_as_well() -> None:
    peers = Peers()
    person = SlowPerson(peers)
    auth = peers.oauth(AuthorizationCode(person))
    transport = peers.transport(auth)
    call = asyncio.create_task(transport.send(ask()))
    await person.opened.wait()
    call.cancel()
    auth.forget()
    person.go.set()
    assert await token(transport, 2) == "token-2"
    assert len(peers.asked) == len(peers.registrations) == 2


async def test_what_is_renewed_after_forget_is_forgotten_as_well() -> None:
    peers, clock = Peers(), Clock()
    peers.token_extra = {"expires_in": 60, "refresh_token": "refresh-1"}
    asked, go = asyncio.Event(), asyncio.Event()

    async def handle(request: httpx.Request) -> httpx.Response:
        answer = await Peers.handle(peers, request)
        if len(peers.forms) == 2 and str(request.url) == f"{ISSUER}/token":
            asked.set()
            await go.wait()
        return answer

    peers.client = httpx.AsyncClient(transport=httpx.MockTransport(handle))
    auth = peers.oauth(clock=clock)
    transport = peers.transport(auth)
    await token(transport)
    clock.now += 60
    call = asyncio.create_task(token(transport, 2))
    await asked.wait()
    auth.forget()
    go.set()
    assert await call == "token-3" and len(peers.asked) == 2


async def test_tokens_outlive_the_transport_and_end_with_forget() -> None:
    peers = Peers()
    auth = peers.oauth()
    first = peers.transport(auth)
    await token(first)
    await first.close()
    assert await token(peers.transport(auth), 2) == "token-1" and auth.issuer == ISSUER
    auth.forget()
    assert auth.issuer == "" and auth.scopes is None
    assert await token(peers.transport(auth), 3) == "token-2"


async def test_a_person_who_does_not_come_back_is_an_authorization_error() -> None:
    async def away(url: str) -> str:
        await asyncio.Event().wait()
        return url

    peers = Peers()
    error = await failure(peers.transport(peers.oauth(AuthorizationCode(away, patience=0.01))))
    assert isinstance(error, AuthorizationError) and error.status == 401


async def test_what_the_callers_own_function_raises_passes() -> None:
    async def broken(url: str) -> str:
        raise LookupError("no browser")

    peers = Peers()
    with pytest.raises(LookupError):
        await peers.transport(peers.oauth(AuthorizationCode(broken))).send(ask())


@pytest.mark.parametrize("kind", [OSError, TimeoutError, httpx.ReadError])
async def test_no_error_of_the_callers_own_function_is_taken_for_one_of_the_network(
    kind: type[Exception],
) -> None:
    async def broken(url: str) -> str:
        raise kind("mine")

    peers = Peers()
    with pytest.raises(kind, match="mine"):
        await peers.transport(peers.oauth(AuthorizationCode(broken))).send(ask())


# -- another authorization server -----------------------------------------------------------------


@pytest.mark.must("C117")
async def test_another_authorization_server_gets_nothing_that_the_first_one_gave() -> None:
    peers = Peers()
    peers.token_extra = {"refresh_token": "refresh-1"}
    transport = peers.transport()
    await token(transport)
    peers.good.clear()
    peers.documents[RESOURCE_PLACE]["authorization_servers"] = [OTHER]
    peers.documents[f"{OTHER}/.well-known/oauth-authorization-server"] = metadata(OTHER)
    assert await token(transport, 2) == "token-2"
    there = [r for r in peers.requests if r.url.host == "other.example"]
    told = " ".join(f"{r.url} {r.content.decode()} {dict(r.headers)}" for r in there)
    assert "client-2" in told and not [s for s in ("client-1", *SECRETS) if s in told]
    assert len(peers.registrations) == 2


@pytest.mark.must("C117")
async def test_a_client_known_to_one_issuer_is_shown_to_no_other() -> None:
    peers = Peers()
    known = PreRegistered("desk", OTHER, client_secret="s3cret")
    error = await failure(peers.transport(peers.oauth(client=known)))
    assert isinstance(error, AuthorizationError)
    assert OTHER in error.message and ISSUER in error.message
    assert peers.asked == peers.forms == []


async def test_the_issuer_that_a_client_belongs_to_is_chosen_among_several() -> None:
    peers = Peers()
    peers.documents[RESOURCE_PLACE]["authorization_servers"] = [OTHER, ISSUER]
    auth = peers.oauth(client=PreRegistered("desk", ISSUER))
    assert await token(peers.transport(auth)) == "token-1" and auth.issuer == ISSUER


@pytest.mark.must("C117")
async def test_a_registration_is_kept_and_made_anew_where_the_server_forgot_it() -> None:
    peers = Peers()
    transport = peers.transport()
    await token(transport)
    peers.good.clear()
    await token(transport, 2)
    assert len(peers.registrations) == 1
    peers.good.clear()
    peers.refuses[f"{ISSUER}/token"] = httpx.Response(401, json={"error": "invalid_client"})
    await failure(transport, 3)
    peers.refuses.clear()
    await token(transport, 4)
    assert len(peers.registrations) == 2


# -- failures and secrets -------------------------------------------------------------------------

FAILURES: dict[str, httpx.Response | Exception] = {
    RESOURCE_PLACE: httpx.Response(500),
    ISSUER_PLACE: httpx.Response(200, text="<html>"),
    f"{ISSUER}/register": httpx.Response(400, json={"error": "invalid_redirect_uri"}),
    f"{ISSUER}/token": httpx.Response(400, json={"error": "invalid_grant"}),
}


@pytest.mark.parametrize("where", FAILURES)
async def test_every_failure_names_where_and_says_that_the_server_has_not_acted(where: str) -> None:
    peers = Peers()
    peers.refuses[where] = FAILURES[where]  # type: ignore[assignment]
    error = await failure(peers.transport())
    assert isinstance(error, AuthorizationError) and not error.may_have_acted
    assert (error.status, error.challenge) == (401, peers.challenge)
    assert (where if ".well-known" in where else ISSUER) in error.message


@pytest.mark.parametrize(
    ("raised", "kind"),
    [
        (httpx.ConnectError("refused"), ConnectFailed),
        (httpx.ReadTimeout(""), AuthorizationError),
        (httpx.RemoteProtocolError("cut"), AuthorizationError),
    ],
)
async def test_an_authorization_server_that_cannot_be_reached_is_named(
    raised: Exception, kind: type[McpError]
) -> None:
    peers = Peers()

    async def handle(request: httpx.Request) -> httpx.Response:
        if request.url.host == "login.example":
            raise raised
        return await Peers.handle(peers, request)

    peers.client = httpx.AsyncClient(transport=httpx.MockTransport(handle))
    error = await failure(peers.transport())
    assert type(error) is kind and ISSUER in error.message and not error.may_have_acted


@pytest.mark.must("C119")
async def test_no_secret_is_in_any_message_trace_or_repr() -> None:
    peers = Peers(token_endpoint_auth_methods_supported=["client_secret_basic"])
    peers.token_extra = {"refresh_token": "refresh-1", "expires_in": 60}
    clock = Clock()
    known = PreRegistered("desk", ISSUER, client_secret="s3cret")
    auth = peers.oauth(client=known, clock=clock)
    transport = peers.transport(auth)
    transport.trace = Trace()
    await token(transport)
    verifier, state = peers.forms[0]["code_verifier"], peers.asked[0]["state"]
    clock.now += 60
    echo = {"error": "invalid_request", "error_description": "refresh-1 of s3cret code-1"}
    peers.refuses[f"{ISSUER}/token"] = httpx.Response(503, json=echo)
    error = await failure(transport, 2)
    peers.back_extra = {"error": "access_denied", "code": ""}
    auth.forget()
    denied = await failure(transport, 3)
    assert "access_denied" in denied.message
    told = [repr(x) for x in (auth, known, transport, auth.__dict__, error, denied)]
    told += [transport.trace.table(), str([e.facts for e in transport.trace.events])]
    told += traceback.format_exception(error) + traceback.format_exception(denied)
    for secret in ("token-1", "refresh-1", "s3cret", verifier, state):
        assert secret not in "".join(told), secret


async def test_a_server_that_repeats_the_token_does_not_get_it_into_an_error() -> None:
    peers = Peers()
    transport = peers.transport()
    transport.trace = Trace()
    await token(transport)

    def echo(request: httpx.Request) -> httpx.Response:
        said = f'Bearer error="insufficient_scope", scope="{request.headers["authorization"]}"'
        return httpx.Response(403, headers={"WWW-Authenticate": said})

    peers.serve = echo  # type: ignore[method-assign]
    error = await failure(transport, 2)
    assert isinstance(error, AuthorizationError) and "[redacted]" in error.challenge
    told = [repr(error), repr(error.__dict__), str([e.facts for e in transport.trace.events])]
    assert "token-1" not in "".join(told)


async def test_the_trace_shows_each_step_and_where_it_was_taken() -> None:
    peers = Peers()
    transport = peers.transport()
    transport.trace = Trace()
    await token(transport)
    steps = [e.facts["step"] for e in transport.trace.events if e.what == "authorization"]
    assert steps == [
        "refused",
        "protected resource metadata",
        "authorization server metadata",
        "registration",
        "a person is asked",
        "token",
        "signed in",
    ]


@pytest.mark.must("C119")
@pytest.mark.parametrize(
    "back", ["http://example.org/cb", "ftp://127.0.0.1/", "javascript:alert()"]
)
def test_a_redirect_uri_is_https_or_on_this_machine(back: str) -> None:
    with pytest.raises(ValueError):
        AuthorizationCode(Peers().says_yes, back)
    for good in (BACK, "https://example.org/cb", "http://localhost:1/x", "http://[::1]:1/x"):
        AuthorizationCode(Peers().says_yes, good)


def test_nothing_of_it_is_loaded_before_it_is_used() -> None:
    import subprocess
    import sys

    heavy = "('authlib', 'joserfc', 'cryptography', 'httpx', 'mini_agent.mcp.auth')"
    code = (
        "import sys, mini_agent, mini_agent.mcp\n"
        f"found = [m for m in sys.modules if m.startswith({heavy})]\n"
        "import mini_agent.mcp.auth\n"
        "found += [m for m in sys.modules if m.startswith(('authlib', 'joserfc'))]\n"
        "sys.exit(str(found) if found else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_a_grant_without_a_person_needs_a_client_that_is_known() -> None:
    with pytest.raises(ValueError):
        OAuth(ClientCredentials())


GOOD: dict[str, Any] = {"grant": AuthorizationCode(Peers().says_yes)}


@pytest.mark.parametrize(
    ("argument", "given"),
    [
        ("grant", Peers().says_yes),
        ("grant", ClientCredentials),
        ("client", "nobody"),
        ("metadata_url", None),
        ("name", None),
        ("http", httpx.Client()),
        ("resolve", "8.8.8.8"),
        ("clock", 0.0),
    ],
)
def test_a_wrong_argument_is_named_when_oauth_is_made(argument: str, given: Any) -> None:
    with pytest.raises(TypeError, match=f"^{argument} must be .*, not {type(given).__name__}$"):
        OAuth(**{**GOOD, argument: given})


@pytest.mark.parametrize(
    "make",
    [
        lambda: AuthorizationCode("https://login.example"),  # type: ignore[arg-type]
        lambda: AuthorizationCode(Peers().says_yes, None),  # type: ignore[arg-type]
        lambda: AuthorizationCode(Peers().says_yes, patience="long"),  # type: ignore[arg-type]
        lambda: JwtBearer("eyJ"),  # type: ignore[arg-type]
        lambda: PreRegistered("desk", ISSUER, b"s3cret"),  # type: ignore[arg-type]
        lambda: PreRegistered("desk", None),  # type: ignore[arg-type]
    ],
)
def test_a_grant_or_a_client_of_wrong_types_is_refused_in_one_sentence(make: Any) -> None:
    with pytest.raises(TypeError, match=r"^\w+ must be .*, not \w+$") as refused:
        make()
    assert "s3cret" not in str(refused.value) and "eyJ" not in str(refused.value)


@pytest.mark.parametrize(
    "make",
    [
        lambda: AuthorizationCode(Peers().says_yes, patience=0),
        lambda: PreRegistered("", ISSUER),
        lambda: PreRegistered("desk", ""),
    ],
)
def test_a_grant_or_a_client_that_could_never_do_is_refused(make: Any) -> None:
    with pytest.raises(ValueError):
        make()


async def says_nothing(*_: str) -> Any:
    return None


@pytest.mark.parametrize(
    ("gives", "told"),
    [(lambda *_: "https://back.example", "must be async"), (says_nothing, "returns must be text")],
)
@pytest.mark.parametrize("name", ["open_browser", "assertion"])
async def test_a_function_that_gives_something_else_is_named(
    name: str, gives: Any, told: str
) -> None:
    grant = AuthorizationCode(gives) if name == "open_browser" else JwtBearer(gives)
    client = None if name == "open_browser" else PreRegistered("desk", ISSUER)
    peers = Peers()
    with pytest.raises(TypeError, match=rf"{name} {told}"):
        await peers.transport(peers.oauth(grant, client=client)).send(ask())
