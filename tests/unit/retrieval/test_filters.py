from datetime import UTC, date, datetime

import pytest

from ragpg.errors import InvalidFilter
from ragpg.retrieval.filters import compile_filter


@pytest.mark.parametrize(
    ("filter", "jsonpath"),
    [
        (None, None),
        ({}, None),
        ("$.year >= 2024", "$.year >= 2024"),
        ({"year": 2024}, '$."year" == 2024'),
        ({"year": {"$gte": 2024}}, '$."year" >= 2024'),
        ({"year": {"$gt": 1, "$lte": 2.5}}, '($."year" > 1) && ($."year" <= 2.5)'),
        ({"a": 1, "b": None}, '($."a" == 1) && ($."b" == null)'),
        ({"a.b": True}, '$."a"."b" == true'),
        ({"a": {"$ne": "x"}}, '!exists($ ? ($."a" == "x"))'),
        ({"a": {"$in": [1, "x"]}}, '($."a" == 1) || ($."a" == "x")'),
        ({"a": {"$in": []}}, "1 == 0"),
        ({"a": {"$nin": []}}, "1 == 1"),
        ({"a": {"$nin": [1]}}, '!exists($ ? ($."a" == 1))'),
        ({"a": {"$exists": True}}, 'exists($."a")'),
        ({"a": {"$exists": False}}, '!exists($."a")'),
        ({"a": {"$not": {"$lt": 3}}}, '!exists($ ? ($."a" < 3))'),
        ({"$or": [{"a": 1}, {"b": 2}]}, '($."a" == 1) || ($."b" == 2)'),
        ({"$and": [{"a": 1}]}, '$."a" == 1'),
        ({"$not": {"a": 1}}, '!exists($ ? ($."a" == 1))'),
        ({"day": date(2026, 3, 1)}, '$."day" == "2026-03-01"'),
        ({"at": datetime(2026, 3, 1, tzinfo=UTC)}, '$."at" == "2026-03-01T00:00:00+00:00"'),
        ({'a"b': 'c"\\\n'}, r'$."a\"b" == "c\"\\\n"'),
        ({"ключ": "é"}, '$."ключ" == "é"'),
    ],
)
def test_compiles(filter: dict[str, object] | str | None, jsonpath: str | None) -> None:
    assert compile_filter(filter) == jsonpath


@pytest.mark.parametrize(
    ("filter", "message"),
    [
        ("  ", "jsonpath"),
        ("$.a == \0", "jsonpath"),
        ({"$where": 1}, r"\$where"),
        ({"a": {"$regex": "x"}}, r"\$regex"),
        ({"a": {"b": 1}}, r"'a\.b'"),
        ({"a": {}}, "empty"),
        ({"$and": []}, "at least one"),
        ({"$or": [{}]}, "at least one"),
        ({"$or": {"a": 1}}, "list"),
        ({"a": {"$in": "abc"}}, "list"),
        ({"a": [1, 2]}, r"\$in"),
        ({"a": {"$exists": 1}}, "True or False"),
        ({"a": {"$not": 3}}, "dict"),
        ({"a": float("nan")}, "compared"),
        ({"a": object()}, "compared"),
        ({"a..b": 1}, "empty step"),
        ({"": 1}, "empty step"),
        ({1: 2}, "strings"),
        ({"a": {1: 2}}, "no string"),
        ({"a": "\0"}, "can't store"),
        ({"a": "\ud800"}, "can't store"),
        (["a"], "dict"),
    ],
)
def test_refuses(filter: object, message: str) -> None:
    with pytest.raises(InvalidFilter, match=message):
        compile_filter(filter)  # type: ignore[arg-type]


def test_refuses_endless_nesting() -> None:
    filter: dict[str, object] = {"a": 1}
    for _ in range(100):
        filter = {"$not": filter}
    with pytest.raises(InvalidFilter, match="deep"):
        compile_filter(filter)
