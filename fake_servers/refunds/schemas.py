"""What the desk's tools accept and return, as JSON Schema, release by release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fake_servers.refunds.rules import OPERATION_KEY, REASONS
from fake_servers.wire import Message

RELEASE = "1.0.0"


@dataclass(frozen=True)
class Schemas:
    """The schemas of one release's tools."""

    order_in: Message
    order_out: Message
    draft_in: Message
    draft_out: Message
    key_in: Message


def _object(required: list[str], **properties: Any) -> Message:
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _whole(**properties: Any) -> Message:
    return _object(list(properties), **properties)


_ORDER_ID = {"type": "string", "pattern": "^ord_[A-Za-z0-9]+$"}
_CURRENCY = {"type": "string", "pattern": "^[A-Z]{3}$"}
_AMOUNT = {
    "type": "integer",
    "minimum": 1,
    "description": "In the currency's minor unit: 4250 is 42.50 EUR.",
}
_KEY = {
    "type": "string",
    "pattern": OPERATION_KEY,
    "description": "Names this one operation: the same key never makes a second draft.",
}
_REASON = {"type": "string", "enum": list(REASONS)}
_TEXT = {"type": "string"}

FIRST = Schemas(
    order_in=_whole(order_id=_ORDER_ID),
    order_out=_whole(
        order_id=_TEXT,
        status=_TEXT,
        currency=_TEXT,
        refundable_amount_minor={"type": "integer", "minimum": 0},
        policy_version=_TEXT,
    ),
    draft_in=_whole(
        order_id=_ORDER_ID, amount_minor=_AMOUNT, currency=_CURRENCY, operation_key=_KEY
    ),
    draft_out=_whole(
        draft_id=_TEXT,
        order_id=_TEXT,
        status={"const": "draft"},
        amount_minor={"type": "integer", "minimum": 1},
        currency=_TEXT,
        policy_version=_TEXT,
    ),
    key_in=_whole(operation_key=_KEY),
)

SECOND = Schemas(
    order_in=FIRST.order_in,
    order_out=FIRST.order_out,
    draft_in=_whole(
        order_id=_ORDER_ID,
        amount_minor=_AMOUNT,
        currency=_CURRENCY,
        operation_key=_KEY,
        reason=_REASON,
    ),
    draft_out=FIRST.draft_out,
    key_in=FIRST.key_in,
)

RELEASES: Mapping[str, Schemas] = {RELEASE: FIRST, "2.0.0": SECOND}
"""2.0.0 asks for a reason in each draft: calls that were right before are wrong after."""
