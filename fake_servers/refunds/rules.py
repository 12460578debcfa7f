"""What a refund draft must satisfy: pure functions over an order and what is wanted."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from fake_servers.refunds.categories import Refusal
from fake_servers.refunds.data import Order

OPERATION_KEY = r"^[A-Za-z0-9._:-]{8,128}$"
REASONS = ("late_delivery", "damaged", "returned")
MOST = 2**53 - 1  # what every JSON reader holds exactly


@dataclass(frozen=True)
class Wanted:
    """A refund draft as it is asked for; the amount is in the currency's minor unit.

    The same key with another of these is a conflict. Without a key, nothing recognises a repeat.
    """

    order_id: str
    amount_minor: int
    currency: str
    operation_key: str | None = None
    reason: str | None = None


@dataclass(frozen=True)
class Draft:
    """A refund draft. It moves no money. ``actor`` is the client that asked for ``subject``."""

    draft_id: str
    wanted: Wanted
    policy_version: str
    subject: str
    actor: str = ""

    def record(self) -> dict[str, Any]:
        """The draft as the service gives it."""
        about = {"draft_id": self.draft_id, "status": "draft", **vars(self.wanted)}
        by = {"drafted_by": self.subject, "drafted_through": self.actor}
        return {**about, "policy_version": self.policy_version, **by}


def read_wanted(body: Any, *, key_required: bool) -> Wanted:
    """What a request body asks for.

    Raises: Refusal INVALID_REQUEST naming the field.
    """
    if not isinstance(body, dict):
        raise Refusal("INVALID_REQUEST", "The body is a JSON object.")
    unknown = sorted(set(body) - set(Wanted.__dataclass_fields__))
    if unknown:
        raise Refusal("INVALID_REQUEST", f"Unknown field: {unknown[0]!r:.80}.")
    wanted = Wanted(
        order_id=_text(body, "order_id", r"^ord_[A-Za-z0-9]+$"),
        amount_minor=_amount(body.get("amount_minor")),
        currency=_text(body, "currency", r"^[A-Z]{3}$"),
        operation_key=_optional(body, "operation_key", OPERATION_KEY),
        reason=_optional(body, "reason", f"^({'|'.join(REASONS)})$"),
    )
    if key_required and wanted.operation_key is None:
        raise Refusal("INVALID_REQUEST", "operation_key is required.")
    return wanted


def _text(body: dict[str, Any], name: str, pattern: str) -> str:
    value = body.get(name)
    if not isinstance(value, str) or not re.fullmatch(pattern.strip("^$"), value):
        raise Refusal("INVALID_REQUEST", f"{name} is a string that matches {pattern}.")
    return value


def _optional(body: dict[str, Any], name: str, pattern: str) -> str | None:
    return None if body.get(name) is None else _text(body, name, pattern)


def _amount(value: Any) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # JSON has one kind of number: 4250.0 is the integer 4250
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < value <= MOST:
        raise Refusal("INVALID_REQUEST", f"amount_minor is an integer from 1 to {MOST}.")
    return value


def check_refund(order: Order, wanted: Wanted) -> None:
    """Compare what is wanted with the order.

    Raises: Refusal ORDER_NOT_REFUNDABLE, CURRENCY_MISMATCH, AMOUNT_EXCEEDS_REFUNDABLE.
    """
    most = order.refundable_amount_minor
    if most == 0:
        raise Refusal("ORDER_NOT_REFUNDABLE")
    if wanted.currency != order.currency:
        text = f"The order was paid in {order.currency}, not in {wanted.currency}."
        raise Refusal("CURRENCY_MISMATCH", text)
    if wanted.amount_minor > most:
        text = f"At most {most} {order.currency} (minor units) can be refunded on this order."
        raise Refusal("AMOUNT_EXCEEDS_REFUNDABLE", text)


def same_draft(earlier: Draft, wanted: Wanted) -> Draft:
    """The earlier draft of the same key, when it is what is wanted again.

    Raises: Refusal OPERATION_KEY_CONFLICT.
    """
    if earlier.wanted != wanted:
        raise Refusal("OPERATION_KEY_CONFLICT")
    return earlier
