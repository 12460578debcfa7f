"""Which era a server is of, and how messages pass between the two: values in, values out.

Modern: each request stands alone, from revision 2026-07-28 on. Older: a session that begins with
``initialize``. Revision 2026-07-28, basic/versioning#backward-compatibility-…; 2025-11-25,
basic/lifecycle.
"""

from __future__ import annotations

import copy
import enum
import re
from collections.abc import Mapping, Sequence
from typing import Any

from mini_agent import __version__
from mini_agent.errors import (
    HttpStatusError,
    MalformedMessage,
    McpError,
    RequestTimeout,
    TransportClosed,
    UnsupportedProtocolVersion,
)
from mini_agent.mcp.exchange import SPOKEN
from mini_agent.mcp.messages import (
    META,
    PROTOCOL_VERSION,
    build_meta,
    build_notification,
    excerpt,
    parse_error,
)
from mini_agent.types import JsonObject

OLDER = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")  # best first
NEVER_HEARD_OF_IT = (400, 404, 405)  # how an older server's web address refuses a modern request
PLAIN = (200, *NEVER_HEARD_OF_IT)  # with these, an error in the body is the server's own word
SESSION_ID = re.compile(r"[\x21-\x7e]+")
INITIALIZED: JsonObject = {"jsonrpc": "2.0", "method": "notifications/initialized"}


class Era(enum.Enum):
    """What is known of a server. UNKNOWN: what came says nothing about it."""

    UNKNOWN = "unknown"
    MODERN = "modern"
    OLDER = "older"


def era_of(answer: JsonObject | McpError, status: int | None = None) -> Era:
    """What the answer to ``server/discover``, or its absence, says about the server.

    ``status`` is that of the HTTP reply, 0 where none came, None on a pipe. No one code means
    older (transports/stdio#backward-compatibility): each error does that is not a modern one.
    What a gateway, a login or a network says is no word of the server's.
    """
    match answer:
        case {"result": {"supportedVersions": [*versions]}}:
            return era_among(versions)
        case {"error": {"code": -32022, "data": {"supported": [*versions]}}}:
            return era_among(versions)
        case {"error": {"code": -32020 | -32021 | -32022}}:
            return Era.MODERN
        case dict() if status is None or status in PLAIN:
            return Era.OLDER
        case HttpStatusError() if answer.status in NEVER_HEARD_OF_IT:
            return Era.OLDER
        case RequestTimeout():
            return Era.OLDER
        case TransportClosed() if status is None:  # a process that exits at what it does not know
            return Era.OLDER
        case _:
            return Era.UNKNOWN


def era_among(versions: Sequence[Any]) -> Era:
    """The era of a server that names its versions: older only where nothing modern is shared."""
    shared = [version for version in versions if version in (*SPOKEN, *OLDER)]
    return Era.OLDER if shared and not set(SPOKEN) & set(shared) else Era.MODERN


# -- what is sent ---------------------------------------------------------------------------------


def probe_for(message: JsonObject, request_id: str) -> JsonObject:
    """The ``server/discover`` to send before ``message``, with what that says of its sender."""
    meta = {name: value for name, value in meta_of(message).items() if name.startswith(META)}
    params = {"_meta": meta or build_meta()}
    return {"jsonrpc": "2.0", "id": request_id, "method": "server/discover", "params": params}


def initialize_for(message: JsonObject, request_id: str) -> JsonObject:
    """The ``initialize`` that opens a session for the sender of ``message``.

    No capability is declared: in a session, a server would use them by requests of its own.
    """
    default = {"name": "mini-agent", "version": __version__}
    params = {
        "protocolVersion": OLDER[0],
        "capabilities": {},
        "clientInfo": meta_of(message).get(f"{META}clientInfo", default),
    }
    return {"jsonrpc": "2.0", "id": request_id, "method": "initialize", "params": params}


def in_older_words(message: JsonObject) -> JsonObject:
    """``message`` without the ``_meta`` that only modern servers read. The rest of it stays."""
    meta = meta_of(message)
    kept = {name: value for name, value in meta.items() if not name.startswith(META)}
    if kept == meta:
        return message
    params = {name: value for name, value in message["params"].items() if name != "_meta"}
    return {**message, "params": {**params, "_meta": kept} if kept else params}


def cancelled(request: JsonObject) -> JsonObject:
    """The notification that nobody waits for ``request`` any more."""
    params = {"requestId": request["id"], "reason": "the caller stopped waiting"}
    return build_notification("notifications/cancelled", params)


def reply_to(request: JsonObject) -> JsonObject:
    """What an older server gets for a request of its own: a ping is answered, all else refused."""
    reply: JsonObject = {"jsonrpc": "2.0", "id": request["id"]}
    if request["method"] == "ping":
        return {**reply, "result": {}}
    text = f"this client offers no {excerpt(request['method'])}"
    return {**reply, "error": {"code": -32601, "message": text}}


def older_headers(version: str | None, session: str | None) -> Mapping[str, str]:
    """What goes with every HTTP request of a session (2025-11-25, basic/transports)."""
    headers = {"MCP-Protocol-Version": version, "Mcp-Session-Id": session}
    return {name: value for name, value in headers.items() if value is not None}


# -- what came ------------------------------------------------------------------------------------


def meta_of(message: JsonObject) -> JsonObject:
    """The ``_meta`` of a message's params, {} where there is none."""
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    return meta if isinstance(meta, dict) else {}


def session_in(headers: Mapping[str, str]) -> str | None:
    """The session that a reply to ``initialize`` names, None where it names none.

    Raises: MalformedMessage for one that no header could carry back.
    """
    session = headers.get("mcp-session-id")
    if session is not None and not SESSION_ID.fullmatch(session):
        raise MalformedMessage(f"the session id is no visible ASCII: {excerpt(session)}")
    return session


def checked_welcome(result: JsonObject) -> JsonObject:
    """``result`` itself, when it is an InitializeResult of a version spoken here.

    Raises: MalformedMessage, UnsupportedProtocolVersion.
    """
    version = result.get("protocolVersion")
    if not isinstance(version, str) or not isinstance(result.get("capabilities", {}), dict):
        text = f"no result of initialize: {excerpt(result)}"
        raise MalformedMessage(text, excerpt=excerpt(result))
    if version not in OLDER:
        data = {"supported": [version], "requested": OLDER[0]}
        raise UnsupportedProtocolVersion(-32022, "initialize found no version in common", data)
    return result


def as_discovery(welcome: JsonObject, discover: JsonObject) -> JsonObject:
    """A response to ``discover`` that says what ``welcome``, the InitializeResult, said.

    The version that was asked for stands first, since the transport speaks it for the server.
    """
    asked = meta_of(discover).get(f"{META}protocolVersion", PROTOCOL_VERSION)
    result = {
        "resultType": "complete",
        "supportedVersions": [asked, welcome["protocolVersion"]],
        "capabilities": welcome.get("capabilities", {}),
        "ttlMs": 0,
        "cacheScope": "private",
    }
    if isinstance(welcome.get("instructions"), str):
        result["instructions"] = welcome["instructions"]
    if isinstance(welcome.get("serverInfo"), dict):
        result["_meta"] = {f"{META}serverInfo": welcome["serverInfo"]}
    return {"jsonrpc": "2.0", "id": discover["id"], "result": result}


# -- what went wrong ------------------------------------------------------------------------------


def why_not_modern(answer: JsonObject | McpError) -> McpError:
    """The error that ``answer`` to ``server/discover`` is for who hoped for a modern server."""
    match answer:
        case McpError():
            return answer
        case {"error": error}:
            return parse_error(error)
        case {"result": {"supportedVersions": [*versions]}}:
            data = {"supported": versions, "requested": PROTOCOL_VERSION}
            return UnsupportedProtocolVersion(-32022, "no version in common", data)
        case _:
            text = f"this is no DiscoverResult: {excerpt(answer)}"
            return MalformedMessage(text, excerpt=excerpt(answer))


def both_failed(first: McpError, second: McpError) -> McpError:
    """``first``, with ``second`` as a note."""
    first.add_note(f"the handshake of {OLDER[0]} failed too: {second}")
    first.hint = f"The handshake of {OLDER[0]} failed too"
    return first


def fresh(error: McpError) -> McpError:
    """Another exception that says the same: who waits together shares no traceback."""
    twin = type(error).__new__(type(error), *error.args)
    twin.__dict__.update(copy.deepcopy(error.__dict__))
    return twin
