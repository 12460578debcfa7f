"""Every way the refund desk says no: a code that stays, a sentence, and whether to try again.

``retryable`` is True when the same call, unchanged, may succeed later and cannot act twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fake_servers.wire import Message


@dataclass(frozen=True)
class Category:
    """What a code means. ``status`` is the order service's HTTP status, 0 where it has none."""

    status: int
    message: str
    retryable: bool = False


class Refusal(Exception):
    """The operation is refused, or could not be carried out; ``code`` is a key of CATEGORIES."""

    def __init__(self, code: str, message: str = "", *, retryable: bool | None = None) -> None:
        category = CATEGORIES[code]
        super().__init__(code, message)
        self.code = code
        self.message = message or category.message
        self.retryable = category.retryable if retryable is None else retryable
        self.status = category.status

    def to_json(self) -> Message:
        """The object that the service and the MCP server answer with."""
        error = {"code": self.code, "message": self.message, "retryable": self.retryable}
        return {"error": error}


CATEGORIES: Mapping[str, Category] = {
    # of the order service
    "INVALID_REQUEST": Category(400, "The request is not what this endpoint takes."),
    "INVALID_TOKEN": Category(401, "The access token is not valid here."),
    "INSUFFICIENT_SCOPE": Category(403, "The access token does not allow this."),
    "ORDER_NOT_FOUND": Category(404, "There is no such order for this user."),
    "DRAFT_NOT_FOUND": Category(404, "There is no draft with this operation key for this user."),
    "OPERATION_KEY_CONFLICT": Category(
        409, "This operation key was used for another draft. Nothing was changed."
    ),
    "ORDER_NOT_REFUNDABLE": Category(422, "This order has no refundable amount."),
    "AMOUNT_EXCEEDS_REFUNDABLE": Category(422, "The amount is more than can be refunded."),
    "CURRENCY_MISMATCH": Category(422, "The order was paid in another currency."),
    "SERVICE_UNAVAILABLE": Category(503, "The order service cannot answer now.", retryable=True),
    # of the MCP server in front of it
    "INVALID_ARGUMENTS": Category(0, "The arguments break the tool's input schema."),
    "ACCESS_DENIED": Category(0, "The order service does not accept this user's request."),
    "AUTHORIZATION_UNAVAILABLE": Category(
        0, "The authorization server cannot answer now.", retryable=True
    ),
    "ORDER_SERVICE_TIMEOUT": Category(0, "The order service did not answer in time.", True),
    "ORDER_SERVICE_MALFORMED": Category(0, "The order service's answer made no sense."),
    "OUTCOME_UNKNOWN": Category(
        0,
        "The order service did not answer: the draft may exist. The same call with the same "
        "operation key is safe, and get_refund_draft looks it up.",
        retryable=True,
    ),
    "DESTINATION_REFUSED": Category(0, "The server may not connect there."),
}
