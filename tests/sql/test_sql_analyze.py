from __future__ import annotations

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.sql.helpers import call, create, ids, upsert


def lexemes(conn: psycopg.Connection, text: str, config: str = "english") -> set[str]:
    row = conn.execute("select tsvector_to_array(ragpg._analyze(%s, %s))", (config, text)).fetchone()
    assert row is not None
    return set(row[0])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ERR-1042", {"err-1042", "err", "1042"}),
        ("foo_bar", {"foo_bar", "foo", "bar"}),
        ("C++ and C#", {"c++", "c#"}),
        ("on .NET today", {".net", "net"}),
        ("version 3.11", {"3.11", "3", "11"}),
        ("src/app/main.py", {"src/app/main.py", "src", "app", "main", "py"}),
        ("ana.lee@example.org", {"ana.lee@example.org", "ana", "lee", "org"}),
        ("https://example.org/a?x=1", {"https://example.org/a?x=1", "https", "1"}),
        ("getUserName", {"getusernam", "get", "user", "name"}),
        ("SKU12345", {"sku12345", "sku", "12345"}),
        ("CVE-2024-12345", {"cve-2024-12345", "2024", "12345"}),
        ("2001:db8::1", {"2001:db8::1", "2001"}),
        ("-1042 degrees", {"1042", "degre"}),
        ("HTTPServer", {"httpserver", "http", "server"}),
        ("C#/.NET", {"c#/.net", "c#", ".net"}),
        ("see v2.14.3", {"v2.14.3", "2.14.3"}),
        ("ERR\u20111042", {"err-1042"}),
        ("done 🚀", {"🚀"}),
        ("MÜLLER-4711", {"muller-4711", "muller", "4711"}),
    ],
)
def test_identifiers_are_indexed_whole_and_by_part(
    conn: psycopg.Connection, text: str, expected: set[str]
) -> None:
    assert expected <= lexemes(conn, text)


def test_scripts_without_spaces_become_bigrams(conn: psycopg.Connection) -> None:
    assert {"研究", "究所"} <= lexemes(conn, "研究所で働く", "simple")
    assert "研究所で働く" not in lexemes(conn, "研究所で働く", "simple")
    assert lexemes(conn, "犬と猫", "simple") == {"犬と", "と猫", "^犬", "^と", "^猫"}
    assert lexemes(conn, "犬", "simple") == {"^犬"}
    assert lexemes(conn, "ก ไทย", "simple") == {"ก", "ไท", "ทย"}


def test_full_width_forms_match_plain_ones(conn: psycopg.Connection) -> None:
    assert "abc" in lexemes(conn, "ＡＢＣ", "simple")


def test_a_word_of_ten_thousand_characters_is_kept_in_pieces(conn: psycopg.Connection) -> None:
    found = lexemes(conn, "x" * 10_000, "simple")
    assert found == {"x" * 255, "x" * (10_000 % 255)}


def test_quotes_and_backslashes_are_no_syntax(conn: psycopg.Connection) -> None:
    create(conn, dimensions=None)
    upsert(conn, "windows", [r"Open C:\Users\ana and O'Brien's 'file'"])
    for query in (r"C:\Users\ana", "O'Brien's", "'file'", '"', "\\", ":*", "a & b | !c"):
        call(conn, "search_hybrid", p_collection="c", p_query=query + " ana")
    assert ids(call(conn, "search_keyword", p_collection="c", p_query=r"C:\Users\ana")) == ["windows"]


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=80))
def test_any_text_is_found_by_itself(conn: psycopg.Connection, text: str) -> None:
    row = conn.execute(
        "select ragpg._analyze('simple', %(text)s) @@ ragpg._any_of(tsvector_to_array(ragpg._analyze('simple', %(text)s)))",
        {"text": text},
    ).fetchone()
    assert row is not None
    assert row[0] in (True, None), "every lexeme of the query is one of the document"


def test_a_lexeme_counts_as_often_as_it_occurs(conn: psycopg.Connection) -> None:
    row = conn.execute(
        "select cardinality(positions) from unnest(ragpg._analyze('english', %s)) where lexeme = 'err-1042'",
        ("ERR-1042 then ERR-1042 and err-1042 again",),
    ).fetchone()
    assert row == (3,)
