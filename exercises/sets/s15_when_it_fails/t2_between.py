"""15.2: the schema between two releases, under which nobody breaks."""

import copy
import json

from exercises.machine import Task, expect, require
from mini_agent.mcp.schemas import SchemaError, Validator
from mini_agent.mcp.shapes import parse_tools
from mini_agent.schema_change import valid_calls

TASK = Task(
    "15.2",
    "A field is renamed, and nobody breaks",
    level="solid",
    minutes=15,
    section="Run before a model is shown it",
    text="""
`amount_minor` is to be called `amount`. From `OLD` to `NEW` in one step breaks every host that runs
today. So there is a release in the middle: write `BETWEEN`, its input schema, of type `"object"`.

- Every call that fits OLD fits it, and every call that fits NEW.
- A call with both amounts is refused, and so is one with none.
- Whatever else OLD and NEW both refuse, it refuses too.
""",
    hints=(
        "Both fields have to be known to it. Then three sets of fields must be told apart: one of "
        "the two, both, none. Which word of JSON Schema counts like that?",
        "`oneOf` takes what fits exactly one of its schemas, and `anyOf` what fits at least one. "
        "It may stand beside `properties`.",
        "Both amounts among the properties, each with its limits, and the order required. Beside "
        "them `oneOf` with two short schemas: each requires one of the amounts, and no more.",
    ),
    given="AMOUNT ORDER OLD NEW",
)

AMOUNT = {"type": "integer", "minimum": 1}
ORDER = {"type": "string", "pattern": "^ord_[0-9]{4}$"}
OLD = {
    "type": "object",
    "properties": {"order_id": ORDER, "amount_minor": AMOUNT},
    "required": ["order_id", "amount_minor"],
    "additionalProperties": False,
}
NEW = {
    "type": "object",
    "properties": {"order_id": ORDER, "amount": AMOUNT},
    "required": ["order_id", "amount"],
    "additionalProperties": False,
}


@TASK.stub
def the_old_one():
    BETWEEN = {
        "type": "object",
        "properties": {"order_id": ORDER, "amount_minor": AMOUNT},
        "required": ["order_id", "amount_minor"],
        "additionalProperties": False,
    }
    return BETWEEN


@TASK.solution
def one_of_two():
    BETWEEN = {
        "type": "object",
        "properties": {"order_id": ORDER, "amount_minor": AMOUNT, "amount": AMOUNT},
        "required": ["order_id"],
        "oneOf": [{"required": ["amount_minor"]}, {"required": ["amount"]}],
        "additionalProperties": False,
    }
    return BETWEEN


@TASK.right
def both_whole():
    BETWEEN = {"type": "object", "anyOf": [OLD, NEW]}
    return BETWEEN


@TASK.right
def two_fields_of_three():
    fields = {"order_id": ORDER, "amount_minor": AMOUNT, "amount": AMOUNT}
    BETWEEN = {"type": "object", "properties": fields, "required": ["order_id"]}
    BETWEEN |= {"minProperties": 2, "maxProperties": 2, "additionalProperties": False}
    return BETWEEN


# -- the check ------------------------------------------------------------------------------------

GOOD = {"order_id": "ord_4821"}


def as_json(between):
    """A copy as it goes over the wire."""
    require(isinstance(between, dict), "a schema, which is a dict", came=between)
    try:
        return json.loads(json.dumps(between))
    except (TypeError, ValueError) as error:
        require(False, "a schema that JSON can express", came=f"{type(error).__name__}: {error}")


def judged(between, call):
    try:
        fault = Validator(as_json(between)).fault(call)
    except SchemaError as error:
        require(False, "a schema that can be used", came=str(error))
    return "refused" if fault else "taken"


def compare(between, wanted, *calls):
    for call in calls:
        expect(judged(between, copy.deepcopy(call)), wanted, when=f"the call is {call}")


@TASK.part(
    "it is a tool's schema",
    idea="A tool's arguments are an object, and the schema has to say so at its root. A client "
    "leaves a tool out whose schema says less.",
)
def a_tools_schema(between):
    listed = [{"name": "draft", "inputSchema": as_json(between)}]
    tools = parse_tools(listed)[0]
    require(tools, "a tool that a client takes", came="left out", when="a client lists it")


@TASK.part(
    "the calls of yesterday",
    idea="Every host that runs today makes these calls. The first of the five tests makes them, "
    "and a rename in one step fails it: for a host, a field that has another name is gone.",
)
def of_yesterday(between):
    compare(between, "taken", *(call for _, call in valid_calls(OLD)))


@TASK.part(
    "the calls of tomorrow",
    idea="A release in the middle is there so that hosts can move. While it runs, whoever has "
    "moved is right, and who has not is right too.",
)
def of_tomorrow(between):
    compare(between, "taken", *(call for _, call in valid_calls(NEW)))


@TASK.part(
    "both at once",
    idea="Two amounts in one call may be two different ones, and then somebody has to choose. A "
    "service that guesses with money pays the wrong one.",
)
def both_at_once(between):
    compare(between, "refused", {**GOOD, "amount_minor": 4250, "amount": 4250})
    compare(between, "refused", {**GOOD, "amount_minor": 4250, "amount": 42})


@TASK.part(
    "none at all",
    idea="Made optional, both may be left out. What was required yesterday and will be tomorrow is "
    "required today, under one of its names.",
)
def none_at_all(between):
    compare(between, "refused", GOOD)


@TASK.part(
    "a field too many",
    idea="In an open schema a typing error passes for a field that nobody knows. In a rename, of "
    "all times, that is what people write.",
)
def too_many(between):
    for name in ("amount", "amount_minor"):
        compare(between, "refused", {**GOOD, name: 4250, "amount_minro": 4250})


@TASK.part(
    "the values",
    idea="Another name is no reason for other limits. A field that was copied without them takes "
    "what the service behind it does not.",
)
def the_values(between):
    for name in ("amount", "amount_minor"):
        compare(between, "refused", {**GOOD, name: 0}, {**GOOD, name: "4250"})
        compare(between, "refused", {"order_id": "4821", name: 4250}, {name: 4250})


# -- what people write ----------------------------------------------------------------------------


@TASK.wrong("at its root")
def without_its_type():
    BETWEEN = {"oneOf": [OLD, NEW]}
    return BETWEEN


@TASK.wrong("a field that has another name is gone")
def the_new_one():
    BETWEEN = {**NEW}
    return BETWEEN


@TASK.wrong("so that hosts can move")
def the_old_one_stays():
    BETWEEN = {**OLD, "properties": {**OLD["properties"], "amount": AMOUNT}}
    BETWEEN["not"] = {"required": ["amount"]}
    return BETWEEN


@TASK.wrong("somebody has to choose")
def any_of_the_two():
    BETWEEN = {**one_of_two(), "anyOf": one_of_two()["oneOf"]}
    del BETWEEN["oneOf"]
    return BETWEEN


@TASK.wrong("both may be left out")
def not_both():
    BETWEEN = {**one_of_two(), "not": {"required": ["amount", "amount_minor"]}}
    del BETWEEN["oneOf"]
    return BETWEEN


@TASK.wrong("a typing error passes")
def an_open_schema():
    BETWEEN = {**one_of_two()}
    del BETWEEN["additionalProperties"]
    return BETWEEN


@TASK.wrong("no reason for other limits")
def a_new_field_without_limits():
    fields = {**one_of_two()["properties"], "amount": {"type": "integer"}}
    BETWEEN = {**one_of_two(), "properties": fields}
    return BETWEEN
