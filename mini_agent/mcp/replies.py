"""What an HTTP reply to one message means: pure functions, each a value or an exception.

Revision 2026-07-28, basic/transports/streamable-http.
"""

from __future__ import annotations

import contextlib
import email.utils
import http
import json
from collections.abc import Callable, Iterator, Mapping
from urllib.parse import quote, urlsplit

from mini_agent.errors import (
    AuthorizationError,
    ConnectFailed,
    HttpStatusError,
    MalformedMessage,
    TransportClosed,
    TransportError,
)
from mini_agent.mcp.endpoint import Endpoint
from mini_agent.mcp.messages import decode, excerpt, kind
from mini_agent.redact import GONE, looks_secret
from mini_agent.types import JsonObject
from mini_agent.visible import visible

DECODED = ("", "identity", "gzip", "deflate")  # one at a time: several multiply what comes out
PAGE = 1024  # characters of a body that an error keeps
SHORTEST = 4  # characters of a secret; fewer are found in any text


def media_type(value: str) -> str:
    """The type of a Content-Type header, without parameters, in small letters."""
    return value.partition(";")[0].strip().lower()


def foreign_encoding(headers: Mapping[str, str]) -> str:
    """The Content-Encoding when we did not offer it, else ""."""
    encoding = headers.get("content-encoding", "").strip().lower()
    return "" if encoding in DECODED else visible(encoding[:40])


def retry_after(value: str, now: float) -> float | None:
    """Seconds to wait by a Retry-After header, None when it says nothing. ``now`` is epoch time."""
    if value.strip().isdecimal():
        return float(value)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - now)
    except (ValueError, TypeError, OverflowError):
        return None


def answer(message: JsonObject, request: JsonObject) -> JsonObject:
    """``message`` as the response to ``request``.

    An error without an id, or with a null one, answers it too: there is no other request that the
    server could mean, and it says so when it could not read the body.

    Raises: MalformedMessage for any other message.
    """
    if kind(message) != "response":
        raise MalformedMessage(f"not a response: {excerpt(message)}", excerpt=excerpt(message))
    request_id, got = request["id"], message.get("id")
    if got is None and "error" in message:
        return {**message, "id": request_id}
    if got != request_id:
        text = f"the response to request {request_id!r} came with the id {got!r:.80}"
        raise MalformedMessage(text, excerpt=excerpt(message))
    return message


def answer_despite(body: bytes, request: JsonObject) -> JsonObject | None:
    """The response in the body of an error status, None when it holds none."""
    try:
        return answer(decode(body), request)
    except MalformedMessage:
        return None


def no_answer(status: int, content_type: str, body: bytes) -> MalformedMessage:
    """For a success status whose body cannot be a response: empty, or of another type."""
    if not body:
        return MalformedMessage(f"status {status} with no body, where an answer was due")
    text = (
        f"status {status} with {visible(content_type[:80]) or 'no content type'}: {excerpt(body)}"
    )
    return MalformedMessage(text, excerpt=excerpt(body))


def refusal(
    where: str, status: int, headers: Mapping[str, str], body: bytes, now: float
) -> TransportError:
    """The exception for a status that is no success and whose body is no JSON-RPC message."""
    page = excerpt(body, PAGE)[:PAGE]
    if status in (401, 403):
        challenge = headers.get("www-authenticate", "")
        text = f"{where} answered {named(status)}: {excerpt(challenge or page or 'no challenge')}"
        return AuthorizationError(text, status=status, challenge=challenge)
    text = f"{where} answered {named(status)}"
    if status == 404:
        text = f"there is no MCP endpoint at {where} (404)"
    if 300 <= status < 400:
        text += f", to {elsewhere(headers.get('location', ''))}: not followed, "
        text += "so that credentials stay where they were meant to go"
    if page:
        text += f": {excerpt(body)}"
    seconds = retry_after(headers.get("retry-after", ""), now)
    return HttpStatusError(text, status=status, retry_after=seconds, excerpt=page)


def hidden(text: str, sent: Mapping[str, str]) -> str:
    """``text`` of a server without the secrets in the headers that were ``sent`` to it."""
    values = [value for name, value in sent.items() if looks_secret(name)]
    values += [value.partition(" ")[2].strip() for value in values]  # without its scheme
    for value in values:
        for spelling in (value, json.dumps(value)[1:-1], quote(value, safe="")):
            if len(value) >= SHORTEST:
                text = text.replace(spelling, GONE)
    return text


def hidden_in(body: bytes, sent: Mapping[str, str]) -> bytes:
    """The same for a body. Before it is cut: half a secret would not be found."""
    return hidden(body.decode("latin-1"), sent).encode("latin-1")


def without_secrets(
    read: Callable[[bytes], JsonObject], body: bytes, sent: Mapping[str, str]
) -> JsonObject:
    """``read(body)``. Where that fails, it fails on a ``body`` without the secrets ``sent``.

    Raises: MalformedMessage, with none of them in its text or its excerpt.
    """
    with contextlib.suppress(MalformedMessage):
        return read(body)
    read(hidden_in(body, sent))
    raise MalformedMessage("the body is no message because of a secret in it, which is not shown")


def elsewhere(location: str) -> str:
    """Where a redirect points, without what could be a secret: user-info, query and fragment."""
    try:
        parts = urlsplit(location)
        port = f":{parts.port}" if parts.port else ""
        return excerpt(f"{parts.scheme}://{parts.hostname or ''}{port}{parts.path}")
    except ValueError:
        return "an address that is none"


def named(status: int) -> str:
    """``502 Bad Gateway``; the number alone where it has no name."""
    try:
        return f"{status} {http.HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)


@contextlib.contextmanager
def translated(endpoint: Endpoint) -> Iterator[None]:
    """Every error of httpx and of the network below it leaves as one of ours.

    Raises: ConnectFailed when nothing can have been sent, MalformedMessage for a body that does
    not decompress, TransportClosed for all else.
    """
    import httpx

    no_way = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError)
    no_address = (httpx.UnsupportedProtocol, httpx.InvalidURL)
    try:
        yield
    except httpx.LocalProtocolError:
        # A header or a body that HTTP cannot carry. Its text repeats the value: it stays here.
        text = f"the request to {endpoint.shown} is no valid HTTP: look at client=, auth= and hooks"
        raise ConnectFailed(text) from None
    except (*no_way, *no_address) as cause:
        raise ConnectFailed(why_no_connection(endpoint, cause)) from cause
    except httpx.DecodingError as cause:
        raise MalformedMessage("the body does not decompress") from cause
    except httpx.HTTPStatusError as cause:
        # Only a hook of a given client raises it. Its text holds the whole URL, so it stays here.
        status = cause.response.status_code
        raise HttpStatusError(f"{endpoint.shown} answered {named(status)}", status=status) from None
    except (httpx.HTTPError, httpx.StreamError, httpx.CookieConflict, OSError) as cause:
        text = f"the connection to {endpoint.shown} broke before the answer ({words(cause)})"
        raise TransportClosed(text) from cause


def why_no_connection(endpoint: Endpoint, cause: Exception) -> str:
    """One sentence for a connection that never was."""
    text = f"cannot reach {endpoint.shown} ({words(cause)})"
    if endpoint.host == "localhost":
        text += "; localhost was tried as ::1 and as 127.0.0.1: does the server listen on either?"
    return text


def words(cause: Exception) -> str:
    """The class and what it says, on one line. httpx puts no address into its texts."""
    return f"{type(cause).__name__}: {excerpt(str(cause))}" if str(cause) else type(cause).__name__
