"""The five tests of a changed tool: true to their names, with the verdicts that a judge gives."""

from __future__ import annotations

import copy
import json
import re
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fake_servers.refunds.desk import RefundDesk
from fake_servers.refunds.schemas import FIRST, SECOND
from mini_agent.mcp import HttpTransport, McpClient
from mini_agent.releasing.patterns import matching
from mini_agent.releasing.spoiled import UNKNOWN
from mini_agent.releasing.values import Values
from mini_agent.schema_change import SchemaTests, schema_tests

OLD, NEW = FIRST.draft_in, SECOND.draft_in


def tool(required: list[str] | None = None, **properties: Any) -> dict[str, Any]:
    """An input schema that takes these properties and nothing else."""
    known = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**known, "required": list(properties) if required is None else required}


def takes(schema: dict[str, Any], arguments: Any) -> bool:
    """What the official library says."""
    return jsonschema.Draft202012Validator(schema).is_valid(arguments)


def abouts(tests: SchemaTests) -> dict[str, list[str]]:
    return {name: [case.about for case in cases] for name, cases in tests}


# -- a release of the refund desk -----------------------------------------------------------------


def test_a_field_that_becomes_required_breaks_every_call_of_yesterday() -> None:
    tests = schema_tests(OLD, NEW)
    assert all(case.breaks for case in tests.old_valid)
    assert tests.breaking == tests.old_valid
    assert [case.about for case in tests.missing if case.breaks] == ["without reason"]


def test_the_desks_five_lists_hold_what_their_names_say() -> None:
    tests = schema_tests(OLD, NEW)
    fields = list(NEW["properties"])
    assert all(case.old for case in tests.old_valid) and all(case.new for case in tests.new_valid)
    assert {case.arguments["reason"] for case in tests.new_valid} == {
        "late_delivery", "damaged", "returned",
    }  # fmt: skip
    assert abouts(tests)["missing"] == [f"without {name}" for name in fields]
    assert abouts(tests)["additional"] == [f"with {UNKNOWN}"]
    for case in (*tests.missing, *tests.additional, *tests.wrong_type):
        assert not case.new, case
    wrong = {case.about.partition(" ")[0] for case in tests.wrong_type}
    assert wrong == set(fields)


async def test_the_new_release_answers_each_call_as_the_verdict_says() -> None:
    tests = schema_tests(OLD, NEW)
    async with RefundDesk(release="2.0.0") as desk:
        transport = HttpTransport(desk.url, client=desk.client(desk.issue_token()))
        async with McpClient(transport) as client:
            for _, cases in tests:
                for case in cases:
                    before = len(desk.traffic)
                    result = await client.call("create_refund_draft", case.arguments)
                    code = json.loads(result.content[0]["text"])["error"]["code"]
                    assert (code != "INVALID_ARGUMENTS") is case.new, case
                    reached = any(one.to == "orders" for one in desk.traffic[before:])
                    assert reached is case.new, case
        assert desk.store.drafts() == []


def test_the_table_counts_what_the_lists_hold() -> None:
    tests = schema_tests(OLD, NEW)
    rows = [line.split() for line in tests.table().splitlines()[1:]]
    assert [row[0] for row in rows] == [name for name, _ in tests]
    for (name, *counts), (_, cases) in zip(rows, tests, strict=True):
        old, new = sum(case.old for case in cases), sum(case.new for case in cases)
        breaks = sum(case.breaks for case in cases)
        assert [int(count) for count in counts] == [len(cases), old, new, breaks], name


# -- kinds of changes -----------------------------------------------------------------------------

TEXT, COUNT = {"type": "string"}, {"type": "integer", "minimum": 1, "maximum": 9}
BREAKING = {
    "a field is gone": (tool(a=TEXT, b=TEXT), tool(a=TEXT)),
    "a field is required now": (tool(["a"], a=TEXT, b=TEXT), tool(a=TEXT, b=TEXT)),
    "a field has another type": (tool(a=COUNT), tool(a=TEXT)),
    "a choice is gone": (tool(a={"enum": ["x", "y"]}), tool(a={"enum": ["x"]})),
    "the lowest number is higher": (tool(a=COUNT), tool(a={**COUNT, "minimum": 2})),
    "the highest number is lower": (tool(a=COUNT), tool(a={**COUNT, "maximum": 8})),
    "a text has to be longer": (tool(a=TEXT), tool(a={**TEXT, "minLength": 1})),
    "null was fine": (tool(a={"type": ["string", "null"]}), tool(a=TEXT)),
    "an empty list was fine": (
        tool(a={"type": "array", "items": TEXT}),
        tool(a={"type": "array", "items": TEXT, "minItems": 1}),
    ),
    "one of two forms is gone": (tool(a={"anyOf": [TEXT, COUNT]}), tool(a=TEXT)),
    "deep inside": (tool(a=tool(b=tool(c=COUNT))), tool(a=tool(b=tool(c=TEXT)))),
}


@pytest.mark.parametrize("name", BREAKING)
def test_a_change_that_refuses_what_was_right_is_found(name: str) -> None:
    old, new = BREAKING[name]
    assert schema_tests(old, new).breaking
    assert not schema_tests(new, new).breaking and not schema_tests(old, old).breaking


def test_an_optional_field_more_breaks_nothing_and_both_kinds_of_calls_are_tried() -> None:
    tests = schema_tests(tool(a=TEXT), tool(["a"], a=TEXT, b=COUNT))
    assert tests.breaking == []
    tried = [case.arguments.keys() for case in tests.new_valid]
    assert {"a", "b"} in tried and {"a"} in tried
    assert [case.new for case in tests.missing] == [False, True]


def test_a_field_that_is_gone_is_tried_as_an_additional_one() -> None:
    tests = schema_tests(tool(a=TEXT, b=TEXT), tool(a=TEXT))
    assert abouts(tests)["additional"] == [f"with {UNKNOWN}", "with b, which was there before"]


def test_a_schema_that_lets_everything_through_is_seen_in_the_verdicts() -> None:
    open_one = {"type": "object", "properties": {"a": {}}}
    tests = schema_tests(open_one, open_one)
    for _, cases in tests:
        assert cases and all(case.new for case in cases)


def test_a_text_that_looks_like_the_number_and_a_true_that_looks_like_one_are_tried() -> None:
    tests = schema_tests(tool(a=COUNT), tool(a=COUNT))
    tried = [case.arguments["a"] for case in tests.wrong_type]
    assert "1" in tried and any(value is True for value in tried) and 1.5 in tried


def test_objects_and_lists_inside_are_spoiled_too() -> None:
    inner = {"type": "array", "items": tool(name=TEXT)}
    tests = schema_tests(tool(a=inner), tool(a=inner))
    assert abouts(tests)["missing"] == ["without a", "without a[0].name"]
    assert f"with a[0].{UNKNOWN}" in abouts(tests)["additional"]
    assert "a[0] is of type string" in abouts(tests)["wrong_type"]


def test_calls_that_were_really_made_are_tried_first() -> None:
    seen: list[dict[str, Any]] = [{"a": "ord_9"}, {"a": 3}]
    narrower = {**TEXT, "pattern": "^ord_[A-Z]+$", "examples": ["ord_A"]}
    tests = schema_tests(tool(a={**TEXT, "pattern": "^ord_"}), tool(a=narrower), seen=seen)
    assert tests.old_valid[0].arguments == seen[0] and tests.old_valid[0].breaks
    assert seen[1] not in [case.arguments for case in tests.old_valid]


def test_a_default_that_does_not_fit_is_no_valid_call() -> None:
    schema = tool(a={"type": ["integer", "null"], "minimum": 3, "default": None, "examples": ["x"]})
    tests = schema_tests(schema, schema)
    assert [case.arguments["a"] for case in tests.new_valid] == [None, 3]


def test_references_and_parts_are_read_into_the_schema() -> None:
    named: dict[str, Any] = {
        "$defs": {"id": {"type": "string", "pattern": "^x[0-9]{3}$"}, "base": tool(a=TEXT)},
        "allOf": [{"$ref": "#/$defs/base"}],
        "type": "object",
        "properties": {"id": {"$ref": "#/$defs/id"}},
        "required": ["id"],
    }
    del named["$defs"]["base"]["additionalProperties"]
    tests = schema_tests(named, named)
    assert tests.new_valid[0].arguments == {"a": "text", "id": "x000"}


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": False}, "required": ["a"]},
        tool(a={"type": "string", "pattern": "^(?=.*[a-z]).{8}$"}),
        tool(a={"type": "string", "minLength": 10**9}),
        tool(a={"type": "array", "minItems": 10**9}),
        tool(a={"type": "string", "pattern": "^a+$", "maxLength": 0}),
        {"$ref": "#"},
        {"$ref": "https://198.51.100.7/schema"},
        {"type": "string"},
        {"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]},
        {"type": 7},
        tool(a={"type": 7}),
    ],
)
def test_a_schema_for_which_no_call_is_found_is_refused(schema: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        schema_tests(schema, schema)


def test_an_example_helps_where_a_pattern_is_not_read() -> None:
    hard = {"type": "string", "pattern": "^(?=.*[0-9])[a-z0-9]{3}$"}
    with pytest.raises(ValueError, match="give the schema examples"):
        schema_tests(tool(a=hard), tool(a=hard))
    helped = tool(a={**hard, "examples": ["ab1"]})
    assert schema_tests(helped, helped).new_valid[0].arguments == {"a": "ab1"}


# -- for every schema -----------------------------------------------------------------------------

leaves = st.one_of(
    st.builds(lambda low, more: {"type": "integer", "minimum": low, "maximum": low + more},
              st.integers(-9, 9), st.integers(0, 9)),
    st.builds(lambda low: {"type": "number", "exclusiveMinimum": low}, st.integers(-9, 9)),
    st.builds(lambda low, more: {"type": "string", "minLength": low, "maxLength": low + more},
              st.integers(0, 9), st.integers(0, 9)),
    st.builds(lambda values: {"enum": values}, st.lists(st.text(max_size=3), min_size=1)),
    st.sampled_from([{"type": "boolean"}, {"type": ["null", "integer"]}, {"const": 3}, {}, True,
                     {"type": "string", "pattern": "^ord_[A-Za-z0-9]+$"},
                     {"anyOf": [{"type": "integer"}, {"type": "string"}]}]),
)  # fmt: skip


@st.composite
def objects(draw: st.DrawFn, inner: st.SearchStrategy[Any] = leaves) -> dict[str, Any]:
    properties = draw(st.dictionaries(st.sampled_from("abcd"), inner, min_size=1))
    required = [name for name in properties if draw(st.booleans())]
    closed = {"additionalProperties": False} if draw(st.booleans()) else {}
    return {"type": "object", "properties": properties, "required": required, **closed}


schemas = objects(
    st.recursive(
        leaves,
        lambda inner: st.one_of(
            objects(inner),
            st.builds(
                lambda items, least: {"type": "array", "items": items, "minItems": least},
                inner, st.integers(0, 2),
            ),
        ),
        max_leaves=6,
    )
)  # fmt: skip


@settings(deadline=None, max_examples=60)
@given(old=schemas, new=schemas)
def test_every_verdict_is_the_official_librarys_and_the_schemas_stay_as_they_were(
    old: dict[str, Any], new: dict[str, Any]
) -> None:
    before = copy.deepcopy((old, new))
    tests = schema_tests(old, new)
    for _, cases in tests:
        for case in cases:
            assert case.old is takes(old, case.arguments), case
            assert case.new is takes(new, case.arguments), case
        assert len({json.dumps(case.arguments, sort_keys=True) for case in cases}) == len(cases)
    assert all(case.old for case in tests.old_valid) and all(case.new for case in tests.new_valid)
    assert (old, new) == before
    assert schema_tests(old, new) == tests


@settings(deadline=None, max_examples=60)
@given(schema=schemas)
def test_without_a_required_field_every_call_is_refused(schema: dict[str, Any]) -> None:
    tests = schema_tests(schema, schema)
    left_out = {case.about.removeprefix("without "): case.new for case in tests.missing}
    for name in schema["properties"]:
        if name in left_out:
            assert left_out[name] is (name not in schema["required"])


@settings(deadline=None, max_examples=60)
@given(schema=schemas)
def test_an_unknown_field_is_refused_where_the_schema_is_closed(schema: dict[str, Any]) -> None:
    tests = schema_tests(schema, schema)
    [case] = [case for case in tests.additional if case.about == f"with {UNKNOWN}"]
    assert case.new is ("additionalProperties" not in schema)


# -- texts for patterns ---------------------------------------------------------------------------

pieces = st.sampled_from([
    "a", "Z", "_", "\\.", "\\d", "\\w", "\\s", "[abc]", "[^a-z]", "[\\w.-]", "[]", "(?:x|y)", "(z)",
    "(?<name>q)", ".", "\\u0041", "\\x2d", "é",
]).filter(lambda piece: piece != "[]")  # fmt: skip
patterns = st.lists(
    st.builds(
        str.__add__, pieces, st.sampled_from(["", "*", "+", "?", "{2}", "{1,3}", "{2,}", "+?"])
    )
).map("".join)


@given(begin=st.sampled_from(["", "^"]), pattern=patterns, other=patterns, whole=st.booleans())
def test_a_pattern_is_found_in_its_text(begin: str, pattern: str, other: str, whole: bool) -> None:
    written = f"{begin}(?:{pattern}|{other}){'$' if whole else ''}"
    assert re.search(
        written.replace("(?<", "(?P<", 1).replace("(?<name>", "(?:"), matching(written)
    )


@pytest.mark.parametrize(
    "pattern",
    ["(?=a)", "(?!a)", "(?<=a)b", "(a)\\1", "\\p{L}", "a)", "(a", "[a", "a{1000000}",
     "(a{1000}){1000}", "*", "\\"],
)  # fmt: skip
def test_a_pattern_that_is_not_read_says_so(pattern: str) -> None:
    with pytest.raises(ValueError):
        matching(pattern)


def test_every_format_that_is_known_is_one() -> None:
    checker = jsonschema.FormatChecker()
    for name in ("date", "email", "ipv4", "ipv6", "uuid"):
        [value, *_] = Values({}).of({"type": "string", "format": name})
        assert checker.conforms(value, name), name
