"""The MCP server in front of the order service: which operation implements which tool.

It holds no business rule and no identity of its own. ``refund_server`` is given the order service
as one user sees it, so there is nobody else whom a call could act for.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence

from fake_servers.context import Context
from fake_servers.core import Server
from fake_servers.declare import Output, Prompt, PromptArgument, Resource, Tool, ToolFailure
from fake_servers.refunds.categories import Refusal
from fake_servers.refunds.data import POLICY, POLICY_URI, POLICY_VERSION
from fake_servers.refunds.orders import OrdersApi
from fake_servers.refunds.schemas import RELEASE, RELEASES
from fake_servers.wire import Message

Shape = Callable[[Message, Message], Message]

INSTRUCTIONS = (
    "Orders and refund drafts. Read an order before you draft a refund for it. A draft moves no "
    f"money. The policy is the resource {POLICY_URI}."
)


def shaped(record: Message, schema: Message) -> Message:
    """The fields of ``record`` that ``schema`` names, and none of the others.

    Raises: Refusal ORDER_SERVICE_MALFORMED when one is missing.
    """
    missing = [name for name in schema["properties"] if name not in record]
    if missing:
        raise Refusal("ORDER_SERVICE_MALFORMED")
    return {name: record[name] for name in schema["properties"]}


class RefundTools:
    """The three tools over ``orders``. ``shape`` makes the result out of the upstream record."""

    def __init__(self, orders: OrdersApi, release: str = RELEASE, shape: Shape = shaped) -> None:
        self._orders = orders
        self._schemas = RELEASES[release]
        self._shape = shape

    async def get_order(self, arguments: Message, context: Context) -> Output:
        """The tool get_order."""
        record = await told(self._orders.order(arguments["order_id"]))
        return self._output(record, self._schemas.order_out)

    async def create_refund_draft(self, arguments: Message, context: Context) -> Output:
        """The tool create_refund_draft."""
        record = await told(self._orders.create_draft(arguments))
        return self._output(record, self._schemas.draft_out)

    async def get_refund_draft(self, arguments: Message, context: Context) -> Output:
        """The tool get_refund_draft."""
        record = await told(self._orders.draft(arguments["operation_key"]))
        return self._output(record, self._schemas.draft_out)

    def _output(self, record: Message, schema: Message) -> Output:
        try:
            return Output(structured=self._shape(record, schema))
        except Refusal as refusal:
            raise failure(refusal) from refusal

    def declared(self) -> list[Tool]:
        """The tools, for ``Server``."""
        schemas, closed = self._schemas, {"openWorldHint": False}
        reads = {"readOnlyHint": True, **closed}
        writes = {"readOnlyHint": False, "destructiveHint": False, "idempotentHint": True, **closed}
        return [
            Tool(
                "get_order",
                "Read the current status and refundable amount for one order.",
                self.get_order,
                schemas.order_in,
                schemas.order_out,
                reads,
            ),
            Tool(
                "create_refund_draft",
                "Draft a refund for one order. It issues no money.",
                self.create_refund_draft,
                schemas.draft_in,
                schemas.draft_out,
                writes,
            ),
            Tool(
                "get_refund_draft",
                "Look up the refund draft of an operation key: is it there, and what does it say?",
                self.get_refund_draft,
                schemas.key_in,
                schemas.draft_out,
                reads,
            ),
        ]


async def told(answer: Awaitable[Message]) -> Message:
    """The answer of the order service; its refusal as a tool error.

    Raises: ToolFailure.
    """
    try:
        return await answer
    except Refusal as refusal:
        raise failure(refusal) from refusal


def failure(refusal: Refusal) -> ToolFailure:
    """A refusal as the text of a tool error: JSON, so that a host can read it."""
    return ToolFailure(json.dumps(refusal.to_json()))


class RefundServer(Server):
    """A Server whose refusal of arguments is a category, as its other refusals are."""

    def invalid_arguments(self, tool: str, wrong: Sequence[str]) -> str:
        """The category INVALID_ARGUMENTS, naming path and rule."""
        return str(failure(Refusal("INVALID_ARGUMENTS", f"{tool}: {'; '.join(wrong)}")))


def refund_server(
    orders: OrdersApi, *, release: str = RELEASE, shape: Shape = shaped
) -> RefundServer:
    """A server for the one user whose order service is ``orders``. It keeps nothing."""
    return RefundServer(
        "refunds",
        release,
        instructions=INSTRUCTIONS,
        tools=RefundTools(orders, release, shape).declared(),
        resources=[
            Resource(
                POLICY_URI,
                POLICY_VERSION,
                read_policy,
                description="What may be refunded, and who decides.",
                ttl_ms=3_600_000,
            )
        ],
        prompts=[
            Prompt(
                "review_change",
                "Review a proposed refund before anybody drafts it.",
                review_change,
                [
                    PromptArgument("order_id", "The order.", required=True),
                    PromptArgument("amount_minor", "The amount proposed, in the minor unit."),
                ],
            ),
            Prompt(
                "incident_summary",
                "Prepare a summary of what went wrong with an order.",
                incident_summary,
                [PromptArgument("order_id", "The order.", required=True)],
            ),
        ],
    )


async def read_policy(context: Context) -> str:
    """The resource policy://returns/2026-08."""
    return POLICY


async def review_change(arguments: Mapping[str, str], context: Context) -> str:
    """The prompt review_change."""
    amount = arguments.get("amount_minor", "its whole refundable amount")
    return (
        f"Review this change: a refund of {amount} (minor unit) on order {arguments['order_id']}. "
        f"Read the order with get_order and the policy at {POLICY_URI}. Say whether amount, "
        "currency and policy version agree, and what speaks against it. Draft nothing."
    )


async def incident_summary(arguments: Mapping[str, str], context: Context) -> str:
    """The prompt incident_summary."""
    return (
        f"Prepare an incident summary for order {arguments['order_id']}. Read it with get_order. "
        "State its status, what was promised, and what may be refunded under the policy it names. "
        "Separate what you read from what you conclude."
    )
