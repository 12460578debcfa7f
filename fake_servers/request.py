"""One request, checked: what the revision demands of its envelope and its ``_meta``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fake_servers.wire import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    PREFIX,
    UNSUPPORTED_VERSION,
    Message,
    Rejection,
    is_id,
)

LOG_LEVELS = (
    "debug", "info", "notice", "warning", "error", "critical", "alert", "emergency",
)  # fmt: skip


@dataclass(frozen=True)
class Request:
    """What a handler may know of a request. ``params`` is without ``_meta``."""

    id: str | int
    method: str
    params: Message
    version: str
    capabilities: Message
    client_info: Message | None
    progress_token: str | int | None
    log_level: str | None

    def text(self, name: str) -> str:
        """The string parameter ``name``.

        Raises: Rejection -32602 when it is absent or no string.
        """
        value = self.params.get(name)
        if not isinstance(value, str):
            raise Rejection(INVALID_PARAMS, f'Invalid params: "{name}" must be a string')
        return value

    def mapping(self, name: str) -> Message:
        """The object parameter ``name``, {} when absent.

        Raises: Rejection -32602 when it is no object.
        """
        value = self.params.get(name, {})
        if not isinstance(value, dict):
            raise Rejection(INVALID_PARAMS, f'Invalid params: "{name}" must be an object')
        return value


def read_request(message: Message, supported: Sequence[str]) -> Request:
    """The checked request, its version one of ``supported``.

    Raises: Rejection -32600 for a broken envelope, -32602 for a missing or malformed ``_meta``
    field, -32022 for another version (basic/index#meta, basic/versioning).
    """
    _check_envelope(message)
    params = message.get("params", {})
    meta = _meta(params, supported)
    version = _field(meta, "protocolVersion", str, supported)
    if version not in supported:
        data = {"supported": list(supported), "requested": version}
        raise Rejection(UNSUPPORTED_VERSION, "Unsupported protocol version", data)
    return Request(
        id=message["id"],
        method=message["method"],
        params={name: value for name, value in params.items() if name != "_meta"},
        version=version,
        capabilities=_field(meta, "clientCapabilities", dict, supported),
        client_info=_client_info(meta),
        progress_token=_progress_token(meta),
        log_level=_log_level(meta),
    )


def _check_envelope(message: Message) -> None:
    if message.get("jsonrpc") != "2.0":
        raise Rejection(INVALID_REQUEST, 'Invalid request: "jsonrpc" must be "2.0"')
    if not isinstance(message.get("method"), str):
        raise Rejection(INVALID_REQUEST, 'Invalid request: "method" must be a string')
    if not is_id(message.get("id")):
        raise Rejection(INVALID_REQUEST, 'Invalid request: "id" must be a string or an integer')


def _meta(params: Any, supported: Sequence[str]) -> Message:
    if not isinstance(params, dict):
        raise Rejection(INVALID_PARAMS, 'Invalid params: "params" must be an object')
    meta = params.get("_meta", {})
    if not isinstance(meta, dict):
        raise Rejection(INVALID_PARAMS, 'Invalid params: "_meta" must be an object')
    return meta


def _field(meta: Message, name: str, kind: type, supported: Sequence[str]) -> Any:
    value = meta.get(PREFIX + name)
    if not isinstance(value, kind):  # an older client reads here which versions are spoken
        what = "a string" if kind is str else "an object"
        raise Rejection(
            INVALID_PARAMS,
            f'Invalid params: _meta["{PREFIX}{name}"] must be {what} on every request; '
            f"this server speaks {', '.join(supported)}",
            {"supported": list(supported)},
        )
    return value


def _client_info(meta: Message) -> Message | None:
    info = meta.get(PREFIX + "clientInfo")
    if info is None:
        return None
    named = isinstance(info, dict) and all(isinstance(info.get(k), str) for k in _IMPLEMENTATION)
    if not named:
        raise Rejection(INVALID_PARAMS, "Invalid params: clientInfo needs a name and a version")
    return dict(info)


_IMPLEMENTATION = ("name", "version")


def _progress_token(meta: Message) -> str | int | None:
    token: Any = meta.get("progressToken")
    if token is not None and not is_id(token):
        raise Rejection(
            INVALID_PARAMS, 'Invalid params: "progressToken" must be a string or an integer'
        )
    return token  # type: ignore[no-any-return]


def _log_level(meta: Message) -> str | None:
    level: Any = meta.get(PREFIX + "logLevel")
    if level is not None and level not in LOG_LEVELS:
        raise Rejection(INVALID_PARAMS, f"Invalid params: logLevel is one of {LOG_LEVELS}")
    return level  # type: ignore[no-any-return]
