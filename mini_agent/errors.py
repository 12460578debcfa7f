"""Every way the protocol path can fail. None of these is shown to the model.

    McpError                        out of Tool.execute, up to the caller of run_agent
    ├─ TransportError               no answer arrived
    │  ├─ ConnectFailed             never reached the server
    │  ├─ TransportClosed           the process or the stream ended before the answer
    │  ├─ RequestTimeout            our deadline passed
    │  ├─ HttpStatusError           an HTTP status with no JSON-RPC body
    │  └─ AuthorizationError        401 or 403 that could not be settled
    ├─ MalformedMessage             the peer broke the format
    ├─ JsonRpcError                 the peer said no
    │  ├─ UnsupportedProtocolVersion    -32022
    │  ├─ MissingClientCapability       -32021
    │  └─ HeaderMismatch                -32020
    └─ InputRequired                the peer said "not yet", and nobody here can answer

Each class answers three questions: whose fault it is, whether the server may have acted, and
whether the object (client, transport) can still be used. The first two are attributes as well
(``fault``, ``may_have_acted``), so that a host decides by them and never by a message's text.

Misuse of our own API is TypeError or ValueError and stands outside this tree, and so does
AuditError: a record that could not be written is the host's own failure.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from mini_agent.visible import visible

LONGEST_TEXT = 500  # characters of a peer's own words in an error's text


class McpError(Exception):
    """The protocol path. McpClient fills in ``server``, ``method``, ``tool`` and ``hint``."""

    fault: ClassVar[str] = "the connection"
    may_have_acted: bool = True

    server: str = ""
    method: str = ""
    tool: str = ""
    hint: str = ""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

    def __reduce__(self) -> tuple[Any, ...]:
        return _revived, (type(self), self.args, self.__dict__)

    def _text(self) -> str:
        return self.message

    def __str__(self) -> str:
        about = f"{self.method} {_brief(self.tool)}".strip()
        where = ", ".join(filter(None, (self.server and f"server {self.server}", about)))
        return self._text() + (f" [{where}]" if where else "") + (self.hint and f". {self.hint}")


def _brief(text: str) -> str:
    """A peer's words for a screen: nothing in them acts on it, and a cut shows."""
    return visible(text[:LONGEST_TEXT]) + ("…" if len(text) > LONGEST_TEXT else "")


def _revived(cls: type[McpError], args: tuple[Any, ...], held: dict[str, Any]) -> McpError:
    """An error as it was before it was pickled, whatever its class asks for when it is made."""
    error = cls.__new__(cls, *args)
    error.args = args
    error.__dict__.update(held)
    return error


class TransportError(McpError):
    """No answer arrived. A failure of this side or of the way between, never the peer's "no"."""


class ConnectFailed(TransportError):
    """The command could not be started, or the connection was refused.

    Fault: this machine's configuration, or a server that is not there. The server cannot have
    acted. The client can be used again: the next request tries afresh.
    """

    fault = "the connection: the server was never reached"
    may_have_acted = False


class TransportClosed(TransportError):
    """The process ended, the pipe broke, or the response stream was cut before the answer.

    Fault: the server's process, or the network. The server may have acted. A stdio transport
    starts a fresh process at the next request; an HTTP transport is usable at once.
    """

    fault = "the connection: it broke before the answer came"

    def __init__(
        self, message: str, *, exit_code: int | None = None, stderr_tail: str = ""
    ) -> None:
        super().__init__(message)
        self.exit_code = exit_code
        self.stderr_tail = stderr_tail


class RequestTimeout(TransportError):
    """Our own deadline passed and the request was cancelled.

    Fault: a slow server, or a deadline too short. The server may have acted. The client can be
    used again: a late answer is ignored.
    """

    fault = "the server: it did not answer in time"

    def __init__(self, message: str, *, seconds: float) -> None:
        super().__init__(message)
        self.seconds = seconds


class HttpStatusError(TransportError):
    """An HTTP status that carried no JSON-RPC message: a proxy, a gateway, a wrong address.

    Fault: whatever stands at that address. The server may have acted on a 5xx; a 4xx was refused
    first. The client can be used again. ``retry_after`` is in seconds, None when not given.
    """

    fault = "the server's web address: it did not answer with MCP"

    def __init__(
        self, message: str, *, status: int, retry_after: float | None = None, excerpt: str = ""
    ) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after
        self.excerpt = excerpt
        self.may_have_acted = status >= 500


class AuthorizationError(TransportError):
    """401 or 403. ``challenge`` is the WWW-Authenticate header, "" when there was none.

    Fault: the credentials, or their absence. The server has not acted. The client can be used
    again once the credentials are mended.
    """

    fault = "the credentials: the server did not accept them"
    may_have_acted = False

    def __init__(self, message: str, *, status: int, challenge: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.challenge = challenge


class MalformedMessage(McpError):
    """The peer sent something that is no message of this protocol, or a result of a wrong shape.

    Fault: the server. It may have acted. After a broken stream of messages (stdio) the process
    is closed, since nothing after the break can be trusted; over HTTP only that request is lost.
    ``server_info`` is the server's own name and version where known; ``excerpt`` is at most 80
    bytes of what came.
    """

    fault = "the server: it broke the protocol's format"

    def __init__(
        self, message: str, *, excerpt: str = "", server_info: dict[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.excerpt = excerpt
        self.server_info = server_info


class JsonRpcError(McpError):
    """The peer answered with an error object. ``code``, ``message`` and ``data`` are its own.

    They are whole; the text of the exception shows LONGEST_TEXT characters of the message.

    Fault: the request, or the server's state; the code says which. It is not known to have
    acted, and may have for an internal error (-32603). The client can be used again.
    """

    fault = "the request: the server refused it"

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.args = (code, message, data)
        self.code = code
        self.data = data
        self.may_have_acted = code not in REFUSED_BEFORE_ACTING

    def _text(self) -> str:
        return f"{_brief(self.message)} (code {self.code})"


REFUSED_BEFORE_ACTING = frozenset({-32700, -32600, -32601, -32602, -32020, -32021, -32022})


class UnsupportedProtocolVersion(JsonRpcError):
    """-32022. The server does not speak the version we asked for.

    Fault: neither; the two do not fit. It has not acted. The client can be used again, but the
    answer will be the same unless ``supported`` holds a version that it speaks too.
    """

    fault = "nobody: client and server share no protocol version"

    def _text(self) -> str:
        spoken = _brief(", ".join(self.supported)) or "no version"
        return f"{super()._text()}; the server speaks {spoken}"

    @property
    def supported(self) -> Sequence[str]:
        """The versions that the server says it speaks."""
        value = self.data.get("supported") if isinstance(self.data, dict) else None
        return [v for v in value if isinstance(v, str)] if isinstance(value, list) else []

    @property
    def requested(self) -> str:
        """The version that was asked for, "" when the server did not say."""
        value = self.data.get("requested") if isinstance(self.data, dict) else None
        return value if isinstance(value, str) else ""


class MissingClientCapability(JsonRpcError):
    """-32021. The server needs something of the client that this client did not declare.

    Fault: the client's configuration. It has not acted. The client can be used again.
    """

    fault = "this client: it lacks a capability that the server needs"

    @property
    def required(self) -> dict[str, Any]:
        """The capabilities that the server requires, {} when it did not say."""
        value = self.data.get("requiredCapabilities") if isinstance(self.data, dict) else None
        return value if isinstance(value, dict) else {}


class HeaderMismatch(JsonRpcError):
    """-32020. The HTTP headers and the body disagree, or a mirrored header is missing.

    Fault: the client, most often with a catalogue that went stale. It has not acted. The client
    can be used again after listing the tools afresh.
    """

    fault = "this client: its headers did not match its body"


class InputRequired(McpError):
    """The server needs more before it can finish, and nobody here can answer.

    Fault: nobody. The server has not finished; it may have begun. The client can be used again:
    ``call(…, input_responses=…, request_state=error.state)`` goes on from here. ``requests`` maps
    the server's keys to its requests; ``state`` is opaque and goes back byte for byte.
    """

    fault = "nobody: the server asks for input that no handler here gives"

    def __init__(
        self, message: str, *, requests: dict[str, Any] | None = None, state: str | None = None
    ) -> None:
        super().__init__(message)
        self.requests = requests or {}
        self.state = state


class AuditError(Exception):
    """An audit record could not be written. By default the call it was about is not made.

    ``path`` is the audit file; ``__cause__`` says why.
    """

    def __init__(self, message: str, *, path: Path | str = "") -> None:
        super().__init__(message)
        self.path = Path(path)
