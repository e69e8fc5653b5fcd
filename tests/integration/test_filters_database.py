"""Compiled filters, evaluated by PostgreSQL, mean what they say."""

import json
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragpg.retrieval.filters import compile_filter

KEYS = ["a", "b", 'odd "key"', "nested"]
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.floats(-2, 2, allow_nan=False).map(lambda number: round(number, 1)),
    st.sampled_from(["", "x", "y", "2026-01-01", "ß", 'quo"te', "back\\slash", "new\nline", "\x1f", "😀"]),
)
METADATA = st.dictionaries(
    st.sampled_from(KEYS),
    st.one_of(SCALARS, st.lists(SCALARS, max_size=3), st.dictionaries(st.sampled_from(["c"]), SCALARS)),
    max_size=4,
)
FIELDS = st.sampled_from(["a", "b", 'odd "key"', "nested.c", "missing"])
OPERATORS = st.recursive(
    st.one_of(
        st.tuples(st.sampled_from(["$eq", "$ne", "$gt", "$gte", "$lt", "$lte"]), SCALARS),
        st.tuples(st.sampled_from(["$in", "$nin"]), st.lists(SCALARS, max_size=3)),
        st.tuples(st.just("$exists"), st.booleans()),
    ).map(lambda pair: dict([pair])),
    lambda inner: inner.map(lambda operators: {"$not": operators}),
    max_leaves=2,
)
CONDITIONS = st.recursive(
    st.dictionaries(FIELDS, st.one_of(SCALARS, OPERATORS), min_size=1, max_size=2),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: {"$and": parts}),
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: {"$or": parts}),
        inner.map(lambda part: {"$not": part}),
    ),
    max_leaves=5,
)


def kind(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return type(value).__name__
    return "number" if isinstance(value, int | float) else type(value).__name__


def compares(operator: str, stored: Any, asked: Any) -> bool:
    if kind(stored) != kind(asked) or isinstance(stored, dict | list):
        return False
    if operator == "$eq":
        return stored == asked
    if stored is None:
        # JSON null equals itself, so it is also at least and at most itself.
        return operator in ("$gte", "$lte")
    return {
        "$gt": stored > asked,
        "$gte": stored >= asked,
        "$lt": stored < asked,
        "$lte": stored <= asked,
    }[operator]


def values(metadata: dict[str, Any], path: str) -> list[Any]:
    """The values at a path; a list stands for its elements."""
    found: list[Any] = [metadata]
    for step in path.split("."):
        found = [value[step] for value in found if isinstance(value, dict) and step in value]
        if step == path.split(".")[-1]:
            break
        found = [item for value in found for item in (value if isinstance(value, list) else [value])]
    return found


def elements(found: list[Any]) -> list[Any]:
    return [item for value in found for item in (value if isinstance(value, list) else [value])]


def field(metadata: dict[str, Any], path: str, condition: Any) -> bool:
    found = values(metadata, path)
    if not isinstance(condition, dict):
        condition = {"$eq": condition}

    def holds(operator: str, operand: Any) -> bool:
        match operator:
            case "$ne":
                return not holds("$eq", operand)
            case "$in":
                return any(holds("$eq", each) for each in operand)
            case "$nin":
                return not holds("$in", operand)
            case "$exists":
                return bool(found) is operand
            case "$not":
                return not field(metadata, path, operand)
            case _:
                return any(compares(operator, item, operand) for item in elements(found))

    return all(holds(operator, operand) for operator, operand in condition.items())


def evaluate(metadata: dict[str, Any], conditions: dict[str, Any]) -> bool:
    def holds(key: str, value: Any) -> bool:
        match key:
            case "$and":
                return all(evaluate(metadata, part) for part in value)
            case "$or":
                return any(evaluate(metadata, part) for part in value)
            case "$not":
                return not evaluate(metadata, value)
            case _:
                return field(metadata, key, value)

    return all(holds(key, value) for key, value in conditions.items())


@pytest.fixture(scope="module")
def connection(shared_database: str) -> Any:
    with psycopg.connect(shared_database, autocommit=True) as connection:
        yield connection


@settings(max_examples=600, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(metadata=METADATA, conditions=CONDITIONS)
def test_postgres_and_the_definition_agree(
    connection: psycopg.Connection, metadata: dict[str, Any], conditions: dict[str, Any]
) -> None:
    predicate = compile_filter(conditions)
    row = connection.execute(
        "select coalesce(%s::jsonb @@ %s::jsonpath, false), ragpg._predicate(%s::jsonpath, 'p_filter')::text",
        (json.dumps(metadata), predicate, predicate),
    ).fetchone()
    assert row is not None
    assert row[0] is evaluate(metadata, conditions)


def test_an_equality_can_use_the_index(connection: psycopg.Connection) -> None:
    predicate = compile_filter({"product": "ProMax", "year": {"$gte": 2024}})
    with connection.transaction(force_rollback=True):
        connection.execute("set local enable_seqscan = off")
        plan = "\n".join(
            row[0]
            for row in connection.execute(
                "explain select from ragpg.document where metadata @@ %s::jsonpath", (predicate,)
            )
        )
    assert "Bitmap Index Scan" in plan
