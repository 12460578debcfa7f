"""JSON Schema with everything closed: no fetching, bounded depth, size and time."""

from __future__ import annotations

import socket
from typing import Any

import pytest

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


def test_the_schema_is_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[Any] = []
    real = schemas._compile
    monkeypatch.setattr(schemas, "_compile", lambda s: compiled.append(s) or real(s))
    validator = Validator(DATE)
    validator.fault({})
    validator.fault({"date": "x"})
    assert len(compiled) == 1
