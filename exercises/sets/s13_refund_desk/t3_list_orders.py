"""13.3: one more read in front of the order service."""

import contextlib
import json
import logging

from exercises.machine import Task, Unmet, doing, expect, require
from fake_servers.core import Server
from fake_servers.declare import Output, ToolFailure
from fake_servers.declare import Tool as ServerTool
from fake_servers.memory import InMemoryTransport
from fake_servers.refunds.categories import Refusal
from fake_servers.refunds.schemas import FIRST
from fake_servers.refunds.server import failure, shaped, told
from fake_servers.validate import problems
from mini_agent.errors import JsonRpcError
from mini_agent.hosting.attempts import service_error
from mini_agent.mcp import McpClient
from mini_agent.types import ToolResult

TASK = Task(
    "13.3",
    "`list_orders`: which of the ten steps does it need?",
    level="demanding",
    minutes=35,
    section="Step 4 · A result for the next decision",
    text="""
The team of the order service has added a read. `await service.orders(after)` gives the orders of
the user in whose name it was made: a list of whole records, up to 100, by order number. `after` is
the order number behind which it begins; None: at the beginning. It raises Refusal.

Write `list_orders(service)`: the ServerTool of that name in front of it. After its name, a
description and its function it takes `input_schema`, `output_schema` and `annotations`.

- It takes `after`, which may be left out, and nothing else.
- Its structured result is `{"orders": […], "more": …}`: at most 20 orders, each with the fields
  that `get_order` shows, and whether there are more behind them.
- Both schemas say so, and let nothing else pass.
- A refusal reaches the caller with its code. A record that lacks a field is refused as
  `get_order` refuses it.
- It says that it only reads.

A Server runs your tool in the check, and a service that tomorrow knows a field more.
""",
    hints=(
        "Go through steps 2 to 5 of the notebook, and ask of each what it was there for. What of "
        "FIRST, `shaped` and `told` can you take as it is? And what in a list is new?",
        "`FIRST.order_out` is the schema of one order: closed, and good as the items of an array. "
        "Around it comes an object that must be closed as well. `told` takes any awaitable: what "
        "is refused inside it becomes a tool error.",
        "Write an async function that asks the service, shapes the first twenty with "
        "FIRST.order_out, and says whether there were more than twenty. The tool's function awaits "
        "it through `told`. In the input schema `after` has the rule that order_id has in "
        "FIRST.order_in, and nothing is required.",
    ),
)


@TASK.solution
def with_the_desks_own():
    def list_orders(service):
        ### BEGIN SOLUTION
        async def page(after):
            records = await service.orders(after)
            orders = [shaped(record, FIRST.order_out) for record in records[:20]]
            return {"orders": orders, "more": len(records) > 20}

        async def run(arguments, context):
            return Output(structured=await told(page(arguments.get("after"))))

        takes = {
            "type": "object",
            "properties": {"after": FIRST.order_in["properties"]["order_id"]},
            "additionalProperties": False,
        }
        gives = {
            "type": "object",
            "properties": {
                "orders": {"type": "array", "items": FIRST.order_out, "maxItems": 20},
                "more": {"type": "boolean"},
            },
            "required": ["orders", "more"],
            "additionalProperties": False,
        }
        reads = {"readOnlyHint": True}
        about = "List the orders of this user, twenty at a time."
        return ServerTool("list_orders", about, run, takes, gives, reads)
        ### END SOLUTION

    return list_orders


@TASK.right
def by_hand():
    FIELDS = {"order_id": "string", "status": "string", "currency": "string"}
    FIELDS |= {"refundable_amount_minor": "integer", "policy_version": "string"}

    def closed(**properties):
        return {"type": "object", "properties": properties, "additionalProperties": False}

    class Lister:
        def __init__(self, service):
            self.service = service

        async def run(self, arguments, context):
            try:
                found = await self.service.orders(arguments.get("after", None))
                orders = [{name: one[name] for name in FIELDS} for one in found]
            except Refusal as refusal:
                raise ToolFailure(json.dumps(refusal.to_json())) from refusal
            except KeyError as missing:
                raise failure(Refusal("ORDER_SERVICE_MALFORMED")) from missing
            return Output(structured={"orders": orders[:20], "more": orders[20:] != []})

    def list_orders(service):
        order = closed(**{name: {"type": kind} for name, kind in FIELDS.items()})
        order["required"] = list(FIELDS)
        gives = closed(more={"type": "boolean"}, orders={"type": "array", "items": order})
        gives["required"] = ["more", "orders"]
        takes = closed(after={"type": "string", "pattern": "^ord_[A-Za-z0-9]+$"})
        return ServerTool(
            "list_orders", "Orders.", Lister(service).run, takes, gives, {"readOnlyHint": True}
        )

    return list_orders


# -- the check ------------------------------------------------------------------------------------

INTERNAL = ("account_id", "customer", "warehouse_notes", "fraud_score")


def record(number, **more):
    """A whole record, as the service has it today."""
    return {
        "order_id": f"ord_{number:04}",
        "account_id": "acc_1001",
        "status": "delivered_late",
        "currency": "EUR",
        "refundable_amount_minor": number,
        "policy_version": "returns-2026-08",
        "customer": {"email": "customer@harbourton.example", "address": "Quay 7, Harbourton"},
        "warehouse_notes": "Box reopened in bay 4.",
        "fraud_score": 0.07,
        **more,
    }


class Service:
    """The order service, as one user sees it. ``refusal`` is what it raises instead."""

    def __init__(self, records=(), refusal=None):
        self.records, self.refusal = list(records), refusal

    async def orders(self, after):
        if self.refusal is not None:
            raise self.refusal
        return [one for one in self.records if one["order_id"] > (after or "")][:100]


def tool_of(list_orders, service=None):
    tool = list_orders(service or Service())
    require(isinstance(tool, ServerTool), "a ServerTool", came=tool)
    require(tool.name == "list_orders", "the name list_orders", came=tool.name)
    return tool


class Noted(logging.Handler):
    """Keeps the exceptions that a server logs, and lets nobody else print them."""

    def emit(self, record):
        self.error = record.exc_info[1] if record.exc_info else None


@contextlib.contextmanager
def noted():
    log, handler = logging.getLogger("fake_servers"), Noted()
    spread = log.propagate
    log.addHandler(handler)
    log.propagate = False
    try:
        yield handler
    finally:
        log.removeHandler(handler)
        log.propagate = spread


async def call(list_orders, service, **arguments):
    """What a client gets of a server with that tool; its log, where it gets an internal error."""
    server = Server("refunds", tools=[tool_of(list_orders, service)])
    client = McpClient(InMemoryTransport(server), server="refunds")
    with noted() as log:
        try:
            return await client.call("list_orders", arguments)
        except JsonRpcError as error:
            inside = getattr(log, "error", None)
            if isinstance(inside, NotImplementedError):
                raise inside from error
            came = f"JsonRpcError: {error}; in the server's log: {type(inside).__name__}: {inside}"
            raise Unmet("a result, or a tool error", came) from error


async def listed(list_orders, records, when, **arguments):
    """The structured result, judged for its shape."""
    with doing(when):
        result = await call(list_orders, Service(records), **arguments)
    text = result.content[0]["text"] if result.content else "nothing"
    require(not result.is_error, "a result", came=f"a tool error: {text}", when=when)
    came = result.structured_content
    fits = isinstance(came, dict) and isinstance(came.get("orders"), list)
    require(fits, "structured content with a list of orders", came=came, when=when)
    require(
        all(isinstance(one, dict) for one in came["orders"]), "dicts in it", came=came, when=when
    )
    return came


def numbers(came):
    found = [str(one.get("order_id")) for one in came["orders"]]
    return f"{len(found)} orders" + (f", {found[0]} to {found[-1]}" if found else "")


@TASK.part(
    "twenty orders, and whether there are more",
    idea="A list grows, and a conversation holds it to the end: so it has a bound. And a bound "
    "that nobody speaks of makes the model say that these are all.",
)
async def twenty_and_more(list_orders):
    orders = [record(number) for number in range(1, 101)]
    for count, more in ((0, False), (1, False), (20, False), (21, True), (100, True)):
        when = f"the service gives {count} orders"
        came = await listed(list_orders, orders[:count], when)
        first = {"orders": orders[: min(count, 20)]}
        expect(numbers(came), numbers(first), when=when)
        expect(came.get("more"), more, when=when)


@TASK.part(
    "the next page",
    idea="Where the next page begins is an argument that everybody can see, so any instance of the "
    "server can answer: it keeps nothing between two requests.",
)
async def the_next_page(list_orders):
    orders, when = [record(number) for number in range(1, 31)], "after is ord_0020, of 30 orders"
    came = await listed(list_orders, orders, when, after="ord_0020")
    expect(numbers(came), numbers({"orders": orders[20:]}), when=when)
    expect(came.get("more"), False, when=when)


@TASK.part(
    "the five fields, and none that comes tomorrow",
    idea="The schema is the list of what may leave. Who takes out what is known to be secret has "
    "to think of each new field. On the day that nobody does, it leaks, or nothing works any more.",
)
async def the_five_fields(list_orders):
    when = "the service knows a field more: the customer's phone"
    came = await listed(list_orders, [record(4821, phone="555 0147")], when)
    names = sorted(came["orders"][0]) if came["orders"] else []
    expect(names, sorted(FIRST.order_out["properties"]), when=when)


@TASK.part(
    "an output schema that is closed, inside too",
    idea="A server holds its result against its own schema: a forgotten field is stopped there, "
    "but only where the schema is closed. Closed outside, it lets anything pass inside each order.",
)
def the_output_schema(list_orders):
    schema = tool_of(list_orders).output_schema
    require(isinstance(schema, dict), "an output schema", came=schema)
    order = {name: record(1)[name] for name in FIRST.order_out["properties"]}
    good = {"orders": [order], "more": False}
    short = {name: value for name, value in order.items() if name != "currency"}
    expect(list(problems(schema, good)), [], when=f"the result is {good}")
    for bad, when in (
        ({**good, "note": "x"}, "a result with a field more"),
        ({"orders": [order]}, "a result without more"),
        ({**good, "orders": [{**order, "fraud_score": 0.07}]}, "an order with a field more"),
        ({**good, "orders": [short]}, "an order without its currency"),
    ):
        require(problems(schema, bad), "the schema refuses it", came="it is fine", when=when)


@TASK.part(
    "an input schema that takes `after` and nothing else",
    idea="Whoever writes what a model reads may choose its arguments: an account is the token's to "
    "say, and a text that is no order number becomes a part of an address.",
)
def the_input_schema(list_orders):
    schema = tool_of(list_orders).input_schema
    for good in ({}, {"after": "ord_4821"}):
        expect(list(problems(schema, good)), [], when=f"the arguments are {good}")
    for bad in (
        {"after": "../refund-drafts/shop-0001"},
        {"after": 4821},
        {"account_id": "acc_2002"},
        {"limit": 100000},
    ):
        when = f"the arguments are {bad}"
        require(problems(schema, bad), "the schema refuses it", came="it is fine", when=when)


async def code_of(list_orders, service, when):
    with doing(when):
        result = await call(list_orders, service)
    text = result.content[0]["text"] if result.content else ""
    error = service_error(ToolResult(text, result.is_error))
    kind = "a tool error" if result.is_error else "a result"
    require(error is not None, "a tool error with a code", came=f"{kind}: {text}", when=when)
    return error.code, error.retryable


@TASK.part(
    "a refusal keeps its code",
    idea="An empty list says that there are no orders, and a failure without a code says nothing. "
    "Code and retryable are what a host can decide by, without guessing at words.",
)
async def a_refusal(list_orders):
    for code, again in (("SERVICE_UNAVAILABLE", True), ("ACCESS_DENIED", False)):
        when = f"the service refuses: {code}"
        came = await code_of(list_orders, Service(refusal=Refusal(code)), when)
        expect(came, (code, again), when=when)


@TASK.part(
    "one broken record",
    idea="A list from which something was dropped looks whole. An order that cannot be read is a "
    "fault of the service, and who is told so can ask; the others are no answer to the question.",
)
async def one_broken_record(list_orders):
    broken = {name: value for name, value in record(2).items() if name != "currency"}
    when = "the second of three records has no currency"
    came = await code_of(list_orders, Service([record(1), broken, record(3)]), when)
    expect(came, ("ORDER_SERVICE_MALFORMED", False), when=when)


@TASK.part(
    "it says that it only reads",
    idea="An annotation is a claim, and no host has to believe it. It is what the reviewer of the "
    "host's policy begins with: a tool that says nothing counts as one that writes.",
)
def it_only_reads(list_orders):
    hints = tool_of(list_orders).annotations
    came = hints.get("readOnlyHint") if isinstance(hints, dict) else None
    expect(came, True, when="its annotations: readOnlyHint")


# -- what people write ----------------------------------------------------------------------------


def another(page=None, refused=None, takes=None, gives=None, hints=None):
    """The solution with something of it done in another way. ``page`` makes the result."""

    def list_orders(service):
        good = with_the_desks_own()(service)

        async def run(arguments, context):
            if page is None:
                return await good.run(arguments, context)
            try:
                result = page(await service.orders(arguments.get("after")))
            except Refusal as refusal:
                raise failure(refusal) from refusal
            return Output(structured=result)

        return ServerTool(
            good.name,
            good.description,
            refused(run) if refused else run,
            good.input_schema if takes is None else takes,
            good.output_schema if gives is None else gives(good.output_schema),
            good.annotations if hints is None else hints,
        )

    return list_orders


def five(records):
    return [shaped(one, FIRST.order_out) for one in records]


def unbounded(schema):
    return {
        **schema,
        "properties": {
            **schema["properties"],
            "orders": {"type": "array", "items": FIRST.order_out},
        },
    }


@TASK.wrong("so it has a bound")
def all_of_them():
    def page(records):
        return {"orders": five(records), "more": False}

    list_orders = another(page, gives=unbounded)
    return list_orders


@TASK.wrong("that these are all")
def cut_without_a_word():
    def page(records):
        return {"orders": five(records[:20]), "more": False}

    list_orders = another(page)
    return list_orders


@TASK.wrong("that these are all")
def a_full_page_means_more():
    def page(records):
        return {"orders": five(records[:20]), "more": len(records) >= 20}

    list_orders = another(page)
    return list_orders


@TASK.wrong("an argument that everybody can see")
def always_from_the_beginning():
    def list_orders(service):
        class FromTheStart:
            async def orders(self, after):
                return await service.orders(None)

        return with_the_desks_own()(FromTheStart())

    return list_orders


@TASK.wrong("think of each new field")
def without_what_is_secret():
    def page(records):
        if any("currency" not in one for one in records):
            raise Refusal("ORDER_SERVICE_MALFORMED")
        orders = [{k: v for k, v in one.items() if k not in INTERNAL} for one in records[:20]]
        return {"orders": orders, "more": len(records) > 20}

    list_orders = another(page)
    return list_orders


@TASK.wrong("lets anything pass inside")
def closed_outside_only():
    def gives(schema):
        orders = {"type": "array", "items": {"type": "object", "required": ["currency"]}}
        return {**schema, "properties": {**schema["properties"], "orders": orders}}

    list_orders = another(gives=gives)
    return list_orders


@TASK.wrong("an account is the token's to say")
def takes_whatever_comes():
    list_orders = another(takes={"type": "object"})
    return list_orders


@TASK.wrong("a part of an address")
def after_is_any_text():
    takes = {"type": "object", "properties": {"after": {"type": "string"}}}
    list_orders = another(takes={**takes, "additionalProperties": False})
    return list_orders


@TASK.wrong("there are no orders")
def nothing_found_when_it_fails():
    def refused(run):
        async def quiet(arguments, context):
            try:
                return await run(arguments, context)
            except ToolFailure as told_so:
                if "MALFORMED" in str(told_so):
                    raise
                return Output(structured={"orders": [], "more": False})

        return quiet

    list_orders = another(refused=refused)
    return list_orders


@TASK.wrong("says nothing")
def sorry():
    def refused(run):
        async def in_words(arguments, context):
            try:
                return await run(arguments, context)
            except ToolFailure as told_so:
                if "MALFORMED" in str(told_so):
                    raise
                raise ToolFailure("Sorry, please try again later.") from told_so

        return in_words

    list_orders = another(refused=refused)
    return list_orders


@TASK.wrong("was dropped looks whole")
def what_can_be_read():
    def page(records):
        whole = [one for one in records if set(FIRST.order_out["properties"]) <= set(one)]
        return {"orders": five(whole[:20]), "more": len(whole) > 20}

    list_orders = another(page)
    return list_orders


@TASK.wrong("counts as one that writes")
def it_says_nothing():
    list_orders = another(hints={})
    return list_orders
