"""JSON Schema with everything closed: no fetching, bounded depth, size and time."""

from __future__ import annotations

import socket
from typing import Any

import pytest
from jsonschema.validators import Draft202012Validator, validator_for

from mini_agent.mcp import schemas
from mini_agent.mcp.schemas import SchemaError, Validator

DATE = {"type": "object", "properties": {"date": {"type": "string"}}, "required": ["date"]}


@pytest.mark.parametrize(
    ("value", "path", "rule"),
    [({"date": 3}, "/date", "type"), ({}, "/", "required"), ([], "/", "type")],
)
def test_a_fault_names_path_and_rule(value: Any, path: str, rule: str) -> None:
    fault = Validator(DATE).fault(value)
    assert f"at {path}:" in fault and f'"{rule}"' in fault


def test_what_fits_has_no_fault() -> None:
    assert Validator(DATE).fault({"date": "2026-08-03"}) == ""


@pytest.mark.must("C15")
@pytest.mark.parametrize(
    "dialect",
    ["https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-07/schema#"],
)
def test_known_dialects_are_used(dialect: str) -> None:
    assert Validator({"$schema": dialect, "type": "string"}).fault(1)


@pytest.mark.must("C15")
def test_2020_12_is_the_default_dialect() -> None:
    assert Validator({"prefixItems": [{"type": "string"}]}).fault([1])


@pytest.mark.must("C15")
def test_an_unknown_dialect_is_a_clear_error() -> None:
    with pytest.raises(SchemaError, match="urn:other"):
        Validator({"$schema": "urn:other"}).fault({})


@pytest.mark.must("C16", "C17")
@pytest.mark.case("T08")
def test_a_ref_is_never_fetched() -> None:
    with socket.create_server(("127.0.0.1", 0)) as canary:
        canary.setblocking(False)
        url = f"http://127.0.0.1:{canary.getsockname()[1]}/schema.json"
        with pytest.raises(SchemaError):
            Validator({"$ref": url}).fault({})
        with pytest.raises(BlockingIOError):
            canary.accept()


@pytest.mark.case("T07")
def test_local_refs_work() -> None:
    schema = {"$defs": {"A": {"type": "integer"}}, "properties": {"a": {"$ref": "#/$defs/A"}}}
    assert Validator(schema).fault({"a": 1}) == ""
    assert Validator(schema).fault({"a": "x"})


def nested(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object"}
    for _ in range(depth):
        schema = {"allOf": [schema]}
    return schema


@pytest.mark.must("C18")
@pytest.mark.parametrize(
    "schema",
    [
        nested(10_000),
        {"enum": list(range(schemas.MAX_NODES + 1))},
        {"type": 3},
        {"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}]}}},
    ],
)
def test_a_schema_without_bounds_is_refused(schema: dict[str, Any]) -> None:
    with pytest.raises(SchemaError):
        Validator(schema).fault({})


@pytest.mark.must("C18")
@pytest.mark.timeout(20)
def test_an_exponential_schema_is_stopped_by_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schemas, "MAX_SECONDS", 0.05)
    twice = lambda name: [{"$ref": f"#/$defs/{name}"}] * 2  # noqa: E731
    defs: dict[str, Any] = {f"a{i}": {"allOf": twice(f"a{i + 1}")} for i in range(40)}
    defs["a40"] = {"type": "string"}
    with pytest.raises(SchemaError, match="longer"):
        Validator({"$ref": "#/$defs/a0", "$defs": defs}).fault("x")


ONCE = {"uniqueItems": True}
DRAFT_04 = "http://json-schema.org/draft-04/schema#"
SLOW = "^(a|a)*$"
LONG = "a" * 36 + "!"
EVERY_OTHER = [{"i": i} for i in range(6_000)]


def marked(schema: dict[str, Any]) -> dict[str, Any]:
    """Under a ``$schema`` of its own, by which the library would go back to its own rules."""
    return {"allOf": [{"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}]}


@pytest.mark.must("C18")
@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"pattern": SLOW}, LONG),
        (marked({"pattern": SLOW}), LONG),
        ({"patternProperties": {SLOW: {}}}, {LONG: 1}),
        ({"patternProperties": {SLOW: {}}, "additionalProperties": False}, {LONG: 1}),
        ({"unevaluatedProperties": False, "allOf": [{"patternProperties": {SLOW: {}}}]}, {LONG: 1}),
        ({"pattern": "(" * 3_000 + ")" * 3_000}, "x"),
    ],
)
def test_a_pattern_that_takes_for_ever_is_stopped(
    schema: dict[str, Any], value: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schemas, "MAX_SECONDS", 0.2)
    with pytest.raises(SchemaError, match="longer"):
        Validator(schema).fault(value)


@pytest.mark.must("C18")
@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (ONCE, EVERY_OTHER),
        (marked(ONCE), EVERY_OTHER),
        ({"$schema": DRAFT_04, "enum": EVERY_OTHER}, EVERY_OTHER[-1]),
        ({"contains": {"const": 1}, "unevaluatedItems": {"const": 2}}, [1] * 20_000 + [2]),
    ],
)
def test_many_items_are_compared_in_linear_time(schema: dict[str, Any], value: Any) -> None:
    assert Validator(schema).fault(value) == ""


@pytest.mark.parametrize(
    ("items", "unique"),
    [
        ([1, 1.0], False),
        ([{"a": 1, "b": 2}, {"b": 2.0, "a": 1}], False),
        ([1, True, "1", None, "true"], True),
        ([[0], [False], [""], []], True),
    ],
)
def test_equal_is_what_json_calls_equal(items: list[Any], unique: bool) -> None:
    assert (Validator(ONCE).fault(items) == "") is unique


@pytest.mark.must("C15")
@pytest.mark.parametrize(
    "schema",
    [
        {"patternProperties": {"^a": {"type": "integer"}}, "additionalProperties": False},
        {"patternProperties": {"^a": {}}, "additionalProperties": {"type": "integer"}},
        {"patternProperties": {"^a": {}}, "unevaluatedProperties": False},
        {"properties": {"a": {}}, "unevaluatedProperties": {"type": "string"}},
        {"allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": False},
        {"anyOf": [{"required": ["b"], "properties": {"b": {}}}, {"properties": {"a": {}}}]}
        | {"unevaluatedProperties": False},
        {"if": {"required": ["a"], "properties": {"a": {}}}, "then": {"properties": {"b": {}}}}
        | {"unevaluatedProperties": False},
        {"$ref": "#/$defs/x", "$defs": {"x": {"properties": {"a": {}, "b": {}}}}}
        | {"unevaluatedProperties": False},
        {"dependentSchemas": {"a": {"properties": {"a": {}, "b": {}}}}}
        | {"unevaluatedProperties": False},
        {"allOf": [{"unevaluatedProperties": True}], "unevaluatedProperties": False},
        {"prefixItems": [{}], "unevaluatedItems": False},
        {"contains": {"type": "string"}, "unevaluatedItems": False},
        {"allOf": [{"items": True}], "unevaluatedItems": False},
        {"oneOf": [{"prefixItems": [{"const": 1}]}], "unevaluatedItems": {"type": "string"}},
        {"$schema": "https://json-schema.org/draft/2019-09/schema", "items": [{}]}
        | {"unevaluatedItems": False},
    ],
)
def test_what_was_rewritten_judges_as_the_library_does(schema: dict[str, Any]) -> None:
    theirs = validator_for(schema, default=Draft202012Validator)(schema)
    values = [{}, {"a": 1}, {"b": 1}, {"a": "x", "b": "y"}, {"a": 1, "c": 2}, {"bc": 1, "ab": 2}]
    for value in [*values, [], [1], ["x"], [1, "x"], ["x", 1, "y"], 3, "x", None]:
        assert (Validator(schema).fault(value) == "") is theirs.is_valid(value), value


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"title": "t", "properties": {"a": {"$ref": "#/title"}}}, {"a": 1}),
        ({"required": ["b"], "properties": {"a": {"$ref": "#/required"}}}, {"a": 1, "b": 1}),
        ({"required": ["b"], "properties": {"a": {"$ref": "#/required/x"}}}, {"a": 1, "b": 1}),
        ({"x": 5, "properties": {"a": {"$ref": "#/x"}}}, {"a": 1}),
        ({"x": None, "properties": {"a": {"$ref": "#/x"}}}, {"a": 1}),
        ({"unevaluatedProperties": False, "anyOf": [{"$ref": "#/title"}], "title": "t"}, {"a": 1}),
        ({"$ref": "http://["}, 1),
        ({"$schema": ["x"]}, 1),
        ({"$schema": 5}, 1),
        ({"$schema": "http://json-schema.org/draft-03/schema#", "type": [{"$ref": "#/x"}]}, 1),
        ({"multipleOf": 0.5}, 10**400),
        pytest.param({"type": "string"}, 10**5000, id="a number of 5000 digits"),
        ({"pattern": "["}, "x"),
        ({"patternProperties": {"(": {}}}, {"a": 1}),
    ],
)
def test_a_schema_that_trips_the_library_is_one_that_cannot_be_used(
    schema: dict[str, Any], value: Any
) -> None:
    with pytest.raises(SchemaError):
        Validator(schema).fault(value)


@pytest.mark.must("C18")
@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "pattern",
    [
        "(a?){1000000000}",
        "a{1000000000,}",
        "(?:(?:(?:a?){1000}){1000}){1000}b",
        "[]](a?){999999999}",
        "(?x)#[\n(a?){1000000000}#]",
        "(?V1)[[a](a?){1000000000}]",
        "^((?1)?a|(?1)b)*$",
        "(?#[)(a?){1000000000}(?#])",
        "(?R)",
    ],
)
def test_a_pattern_that_would_fill_the_memory_is_not_tried(pattern: str) -> None:
    with pytest.raises(SchemaError, match=r"repeats more|of a kind"):
        Validator({"pattern": pattern}).fault("a" * 200)


@pytest.mark.must("C18")
def test_a_text_that_is_too_long_for_patterns_is_not_tried() -> None:
    with pytest.raises(SchemaError, match="text longer"):
        Validator({"pattern": "(a|b)*"}).fault("ab" * 2_000_000)


@pytest.mark.parametrize(
    ("pattern", "fits", "not_fits"),
    [
        (r"^\d{4}-\d{2}-\d{2}$", "2026-08-03", "2026-8-3"),
        (r"^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$", "0" * 8 + "-0000" * 3 + "-" + "0" * 12, "0"),
        (r"^(?!xn--)(?=.{1,253}$)[a-z\d-]{1,63}(\.[a-z\d-]{1,63}){1,8}$", "a.example", "xn--a.b"),
        (r"^(?<year>\d+)(?:st|nd)?(?<=\d|t|d)(?<!9)$", "1st", "9"),
        (r"^(?P<a>x)(?i)$|^(?i:y)$", "Y", "z"),
        (r"^[\]{}()]{2}\{a\}\((.+)\)$", "](" + "{a}(b)", "{a}"),
    ],
)
def test_patterns_as_they_are_written_are_tried(pattern: str, fits: str, not_fits: str) -> None:
    assert Validator({"pattern": pattern}).fault(fits) == ""
    assert Validator({"pattern": pattern}).fault(not_fits)


def test_a_pattern_may_be_written_as_json_schema_writes_it() -> None:
    assert Validator({"pattern": r"^\p{L}+$"}).fault("été") == ""


def test_the_schema_is_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[Any] = []
    real = schemas._compile
    monkeypatch.setattr(schemas, "_compile", lambda s: compiled.append(s) or real(s))
    validator = Validator(DATE)
    validator.fault({})
    validator.fault({"date": "x"})
    assert len(compiled) == 1
