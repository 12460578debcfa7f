"""What an answer says about a server's era, and how messages pass between the two: tables."""

from __future__ import annotations

from typing import Any

import pytest

from mini_agent.errors import (
    AuthorizationError,
    ConnectFailed,
    HttpStatusError,
    InputRequired,
    JsonRpcError,
    MalformedMessage,
    McpError,
    RequestTimeout,
    TransportClosed,
    UnsupportedProtocolVersion,
)
from mini_agent.mcp.eras import (
    Era,
    as_discovery,
    both_failed,
    checked_welcome,
    era_of,
    fresh,
    in_older_words,
    initialize_for,
    older_headers,
    probe_for,
    reply_to,
    session_in,
    why_not_modern,
)
from mini_agent.mcp.messages import build_meta, build_request
from mini_agent.mcp.shapes import parse_discovery

NOW, BEFORE = "2026-07-28", "2025-11-25"


def error(code: Any, data: Any = None) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "error": {"code": code, "message": "no", "data": data}}


def discovered(*versions: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "result": {"supportedVersions": list(versions)}}


MODERN = [
    discovered(NOW),
    discovered(BEFORE, NOW),
    discovered("2027-01-01"),  # nothing shared, and no handshake would help
    discovered(),
    error(-32020),
    error(-32021, {"requiredCapabilities": {}}),
    error(-32022, {"supported": [NOW], "requested": NOW}),
    error(-32022, {"supported": [NOW, BEFORE]}),
    error(-32022, {"supported": ["2027-01-01"]}),
    error(-32022, {"supported": []}),
    error(-32022),
    error(-32022, "2025-11-25"),
]
OLDER = [
    error(-32601),
    error(-32602),
    error(-32600),
    error(-32700),
    error(-32603),
    error(-32000),
    error(-32001),
    error(0),
    error("what?"),
    error(-32022, {"supported": [BEFORE]}),
    error(-32022, {"supported": ["2024-11-05", "2025-03-26"]}),
    discovered(BEFORE),
    discovered("2024-11-05", "2027-01-01"),
    {"jsonrpc": "2.0", "id": 1, "result": {}},
    {"jsonrpc": "2.0", "id": 1, "result": {"supportedVersions": NOW}},
    RequestTimeout("silence", seconds=10),
]


@pytest.mark.must("C23")
@pytest.mark.parametrize("answer", MODERN, ids=str)
@pytest.mark.parametrize("status", [None, 200, 400, 404])
def test_a_modern_answer_never_leads_to_the_handshake(answer: Any, status: int | None) -> None:
    assert era_of(answer, status) is Era.MODERN


@pytest.mark.must("C22")
@pytest.mark.case("L02")
@pytest.mark.parametrize("answer", OLDER, ids=str)
@pytest.mark.parametrize("status", [None, 200, 400, 404, 405])
def test_any_other_error_and_silence_mean_an_older_server(answer: Any, status: int | None) -> None:
    assert era_of(answer, status) is Era.OLDER


@pytest.mark.case("L01")
def test_an_exit_means_an_older_server_and_a_broken_connection_means_nothing() -> None:
    assert era_of(TransportClosed("gone", exit_code=1), None) is Era.OLDER
    assert era_of(TransportClosed("reset"), 0) is Era.UNKNOWN
    assert era_of(TransportClosed("cut"), 200) is Era.UNKNOWN


@pytest.mark.must("C56")
@pytest.mark.parametrize("status", [400, 404, 405])
def test_a_web_address_that_never_heard_of_it_means_an_older_server(status: int) -> None:
    assert era_of(HttpStatusError("no", status=status), status) is Era.OLDER


@pytest.mark.parametrize("status", [301, 302, 307, 406, 415, 429, 500, 502, 503])
def test_no_other_status_says_anything_with_a_body_or_without(status: int) -> None:
    assert era_of(HttpStatusError("no", status=status), status) is Era.UNKNOWN
    assert era_of(error(-32603), status) is Era.UNKNOWN


@pytest.mark.parametrize("status", [401, 403])
def test_a_login_says_nothing_with_a_body_or_without(status: int) -> None:
    assert era_of(AuthorizationError("who?", status=status), status) is Era.UNKNOWN
    assert era_of(error(-32600), status) is Era.UNKNOWN


def test_a_server_that_was_not_reached_or_is_garbled_says_nothing() -> None:
    assert era_of(ConnectFailed("refused"), 0) is Era.UNKNOWN
    assert era_of(ConnectFailed("no such program"), None) is Era.UNKNOWN
    assert era_of(MalformedMessage("HTML"), 200) is Era.UNKNOWN


# -- words ----------------------------------------------------------------------------------------


def request(method: str = "tools/call", **params: Any) -> dict[str, Any]:
    meta = build_meta(client_info={"name": "me", "version": "3"}, progress_token=7)
    return build_request(5, method, params, meta=meta)


def test_only_the_meta_that_modern_servers_read_is_left_out() -> None:
    asked = request(name="t", arguments={"_meta": {"io.modelcontextprotocol/x": 1}})
    asked["params"]["_meta"]["traceparent"] = "00-1-1-00"
    before = {**asked["params"]["_meta"]}
    assert in_older_words(asked) == {
        "jsonrpc": "2.0",
        "id": 5,
        "method": "tools/call",
        "params": {
            "name": "t",
            "arguments": {"_meta": {"io.modelcontextprotocol/x": 1}},
            "_meta": {"progressToken": 7, "traceparent": "00-1-1-00"},
        },
    }
    assert asked["params"]["_meta"] == before


def test_a_meta_that_holds_nothing_else_is_left_out_whole() -> None:
    asked = build_request(1, "tools/list", meta=build_meta())
    assert in_older_words(asked)["params"] == {}


@pytest.mark.parametrize("params", [{}, {"_meta": {"progressToken": 1}}, {"_meta": None}, None])
def test_what_holds_no_such_meta_passes_as_it_is(params: Any) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "x", "params": params}
    assert in_older_words(message) is message
    assert in_older_words({"jsonrpc": "2.0", "method": "x"}) == {"jsonrpc": "2.0", "method": "x"}


def test_the_probe_says_who_asks_and_nothing_of_the_call() -> None:
    probe = probe_for(request(name="t"), "probe-1")
    meta = build_meta(client_info={"name": "me", "version": "3"})
    assert (probe["method"], probe["id"]) == ("server/discover", "probe-1")
    assert probe["params"] == {"_meta": meta}


def test_a_message_that_says_nothing_of_its_sender_is_probed_for_all_the_same() -> None:
    probe = probe_for({"jsonrpc": "2.0", "method": "notifications/x"}, "probe-1")
    assert probe["params"] == {"_meta": build_meta()}


def test_initialize_names_the_client_and_declares_nothing_that_would_be_refused() -> None:
    params = initialize_for(request(), "initialize-1")["params"]
    assert params == {
        "protocolVersion": BEFORE,
        "capabilities": {},
        "clientInfo": {"name": "me", "version": "3"},
    }
    assert initialize_for({"method": "x"}, "i")["params"]["clientInfo"]["name"] == "mini-agent"


def test_a_ping_is_answered_and_everything_else_refused() -> None:
    ping = {"jsonrpc": "2.0", "id": "a", "method": "ping"}
    assert reply_to(ping) == {"jsonrpc": "2.0", "id": "a", "result": {}}
    refused = reply_to({**ping, "id": 0, "method": "roots/list"})
    assert (refused["id"], refused["error"]["code"]) == (0, -32601)


def test_a_session_travels_with_its_version_and_its_id_where_it_has_one() -> None:
    assert older_headers(BEFORE, None) == {"MCP-Protocol-Version": BEFORE}
    assert older_headers(BEFORE, "s")["Mcp-Session-Id"] == "s"
    assert older_headers(None, None) == {}


@pytest.mark.parametrize("session", ["", "a b", "a\r\nEvil: 1", "é", "\x7f"])
def test_a_session_id_that_no_header_can_carry_is_malformed(session: str) -> None:
    with pytest.raises(MalformedMessage):
        session_in({"mcp-session-id": session})


def test_a_session_id_is_taken_as_it_is() -> None:
    assert session_in({"mcp-session-id": "!~1868a90c"}) == "!~1868a90c"
    assert session_in({}) is None


# -- the InitializeResult -------------------------------------------------------------------------


def test_what_initialize_found_reads_as_a_discovery() -> None:
    welcome = {
        "protocolVersion": "2024-11-05",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "s", "version": "1"},
        "instructions": "Ask.",
    }
    response = as_discovery(checked_welcome(welcome), request("server/discover"))
    found = parse_discovery(response["result"])
    assert response["id"] == 5
    assert found.versions == [NOW, "2024-11-05"]
    assert found.capabilities == {"tools": {}} and found.instructions == "Ask."
    assert found.server_info == {"name": "s", "version": "1"}


def test_what_initialize_left_out_stays_out() -> None:
    response = as_discovery({"protocolVersion": BEFORE}, request("server/discover"))
    found = parse_discovery(response["result"])
    assert (found.capabilities, found.instructions, found.server_info) == ({}, "", None)


@pytest.mark.parametrize(
    "welcome", [{}, {"protocolVersion": 1}, {"protocolVersion": BEFORE, "capabilities": []}]
)
def test_what_is_no_initialize_result_is_malformed(welcome: dict[str, Any]) -> None:
    with pytest.raises(MalformedMessage):
        checked_welcome(welcome)


@pytest.mark.parametrize("version", ["1.0", "2027-01-01", NOW])
def test_a_handshake_at_a_version_not_spoken_here_fails(version: str) -> None:
    with pytest.raises(UnsupportedProtocolVersion) as raised:
        checked_welcome({"protocolVersion": version})
    assert raised.value.supported == [version]


# -- errors ---------------------------------------------------------------------------------------


def test_the_first_error_is_the_one_raised_and_the_second_its_note() -> None:
    first = why_not_modern(error(-32601))
    told = both_failed(first, TransportClosed("gone"))
    assert told is first and isinstance(told, JsonRpcError) and told.code == -32601
    assert "gone" in told.__notes__[0]


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (error(-32602), JsonRpcError),
        (error("?"), MalformedMessage),
        (discovered(BEFORE), UnsupportedProtocolVersion),
        ({"jsonrpc": "2.0", "id": 1, "result": {}}, MalformedMessage),
        (TransportClosed("gone"), TransportClosed),
    ],
)
def test_every_answer_that_is_not_modern_has_its_error(answer: Any, kind: type) -> None:
    assert type(why_not_modern(answer)) is kind


@pytest.mark.parametrize(
    "original",
    [
        TransportClosed("gone", exit_code=3, stderr_tail="boom"),
        HttpStatusError("no", status=503, retry_after=2.0, excerpt="x"),
        RequestTimeout("late", seconds=1.5),
        AuthorizationError("who", status=401, challenge="Bearer"),
        JsonRpcError(-32601, "no", {"a": [1]}),
        UnsupportedProtocolVersion(-32022, "no", {"supported": [BEFORE]}),
        MalformedMessage("what", excerpt="??"),
        InputRequired("more", requests={"a": {}}, state="s"),
        ConnectFailed("refused"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_fresh_error_says_the_same_and_shares_nothing(original: McpError) -> None:
    original.add_note("tried")
    twin = fresh(original)
    assert type(twin) is type(original) and twin is not original
    assert str(twin) == str(original) and twin.args == original.args
    assert vars(twin) == vars(original)
    twin.add_note("again")
    assert original.__notes__ == ["tried"]
