"""Asking the client for input: which kinds it declared, and a state that it cannot forge.

The state goes through the client, so it is attacker-controlled: it is signed, and bound to the
request it was issued for and to a time (basic/patterns/mrtr).
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from typing import Any

from fake_servers.declare import ABSENT, NeedInput
from fake_servers.request import Request
from fake_servers.wire import INVALID_PARAMS, MISSING_CAPABILITY, Message, Rejection

LIFETIME = 600.0
"""Seconds for which a state is accepted."""


def input_required(need: NeedInput, request: Request, secret: bytes, now: float) -> Message:
    """The result that asks for input.

    Raises: Rejection -32021 for a kind that the client did not declare; ValueError when there is
    neither a request nor a state.
    """
    if not need.requests and need.state is ABSENT:
        raise ValueError("NeedInput needs requests or a state")
    for asked in need.requests.values():
        require(request.capabilities, needed_capability(asked))
    result: Message = {"resultType": "input_required"}
    if need.requests:
        result["inputRequests"] = dict(need.requests)
    if need.state is not ABSENT:
        result["requestState"] = seal(need.state, request, secret, now)
    return result


def needed_capability(asked: Message) -> Message:
    """The client capability that an input request leans on."""
    params = asked.get("params", {})
    match asked["method"]:
        case "elicitation/create":
            return {"elicitation": {params.get("mode", "form"): {}}}
        case "sampling/createMessage":
            return {"sampling": {"tools": {}} if "tools" in params else {}}
        case "roots/list":
            return {"roots": {}}
        case other:
            raise ValueError(f"{other} is no input request")


def require(declared: Message, required: Message) -> None:
    """Check that ``declared`` holds every capability of ``required``.

    Raises: Rejection -32021 with the missing ones in ``data.requiredCapabilities``.
    """
    missing = {
        name: wanted for name, wanted in required.items() if not _has(declared, name, wanted)
    }
    if missing:
        raise Rejection(
            MISSING_CAPABILITY,
            f"Missing required client capability: {', '.join(missing)}",
            {"requiredCapabilities": missing},
        )


def _has(declared: Message, name: str, wanted: Message) -> bool:
    have = declared.get(name)
    if not isinstance(have, dict):
        return False
    if name == "elicitation" and not have:  # {} declares the form mode
        have = {"form": {}}
    return all(mode in have for mode in wanted)


def seal(state: Any, request: Request, secret: bytes, now: float) -> str:
    """``state`` as an opaque signed string, good for this request until ``LIFETIME`` has passed."""
    payload = {"state": state, "for": _digest(request), "until": now + LIFETIME}
    body = json.dumps(payload, sort_keys=True).encode()
    return _b64(body) + "." + _b64(_sign(body, secret))


def unseal(sealed: str, request: Request, secret: bytes, now: float) -> Any:
    """The state again.

    Raises: Rejection -32602 when it was altered, belongs to another request, or has expired.
    """
    body, _, signature = sealed.partition(".")
    try:
        raw, sign = _unb64(body), _unb64(signature)
    except ValueError as cause:
        raise _bad_state("was altered") from cause
    if not hmac.compare_digest(sign, _sign(raw, secret)):
        raise _bad_state("was altered")
    payload = json.loads(raw)
    if payload["for"] != _digest(request):
        raise _bad_state("belongs to another request")
    if payload["until"] < now:
        raise _bad_state("has expired")
    return payload["state"]


def _bad_state(why: str) -> Rejection:
    return Rejection(INVALID_PARAMS, f'Invalid params: "requestState" {why}')


def _digest(request: Request) -> str:
    about = {k: v for k, v in request.params.items() if k not in ("inputResponses", "requestState")}
    text = json.dumps([request.method, about], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _sign(body: bytes, secret: bytes) -> bytes:
    return hmac.new(secret, body, hashlib.sha256).digest()


def _b64(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _unb64(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
