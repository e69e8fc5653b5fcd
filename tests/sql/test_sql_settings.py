"""What the setting ragpg.principals may hold."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

Connection = psycopg.Connection[Any]


def principals(connection: Connection, setting: str) -> list[str]:
    connection.execute("select set_config('ragpg.principals', %s, true)", (setting,))
    row = connection.execute("select ragpg._setting_principals()").fetchone()
    assert row is not None
    return sorted(row[0])


@pytest.mark.parametrize(
    "setting",
    [
        "{",
        "{a",
        "{a,}",
        "{,a}",
        '{"a}',
        '{a"b"}',
        "{a}}",
        "{{a}}",
        "{{a},{b}}",
        "{a}b",
        "{a\\",
        '{"a"\u2003}',
    ],
)
def test_a_malformed_array_is_refused(conn: Connection, setting: str) -> None:
    with pytest.raises(psycopg.Error, match=r"ragpg\.principals") as refused:
        principals(conn, setting)
    assert refused.value.sqlstate == "RG007"


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("{}", []),
        (" { } ", []),
        ("a,b", ["a", "b"]),
        (" a , b ,, ", ["a", "b"]),
        ("{a,b}", ["a", "b"]),
        (
            '{ "a" , b c ,"d,e", "f\\"g" , h\\,i, NULL, "NULL", "" , * }',
            ["NULL", "a", "b c", "d,e", 'f"g', "h,i"],
        ),
        ('{"{a}"}', ["{a}"]),
        ("\ta\n", ["a"]),
        ('x"y, {z', ['x"y', "{z"]),
        ("group:médecins,组:一", ["group:médecins", "组:一"]),
        ("user:ana,*", ["user:ana"]),
    ],
)
def test_a_list_or_an_array_literal(conn: Connection, setting: str, expected: list[str]) -> None:
    assert principals(conn, setting) == expected


def test_nothing_set_is_not_an_empty_list(conn: Connection) -> None:
    conn.execute("select set_config('ragpg.principals', ' ', true)")
    assert conn.execute("select ragpg._setting_principals()").fetchone() == (None,)
