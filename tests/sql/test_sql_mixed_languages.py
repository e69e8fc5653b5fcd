"""One collection in several languages: the stop words of a question's language are no words of the others."""

from __future__ import annotations

import psycopg
import pytest

from tests.sql.helpers import call, create, ids, upsert

Connection = psycopg.Connection


def lexemes(connection: Connection, configs: list[str], query: str) -> set[str]:
    row = connection.execute(
        "select coalesce(o_lexemes, '{}') from ragpg._parse_query(%s, %s)", (configs, query)
    ).fetchone()
    assert row is not None
    return set(row[0])


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("What is the cover of an insurance?", {"cover", "cov", "insur", "insurance", "insuranc"}),
        # German by three stop words against none.
        (
            "Was zahlt die Versicherung bei einem Schaden",
            {"zahlt", "versicher", "versicherung", "schad", "schaden"},
        ),
        # One stop word shows no language: die casting is English.
        ("die casting", {"die", "cast", "casting"}),
        ("How does die casting work", {"die", "cast", "casting", "work"}),
    ],
)
def test_stop_words_of_the_questions_language(conn: Connection, query: str, expected: set[str]) -> None:
    assert lexemes(conn, ["english", "german", "simple"], query) == expected


def test_one_language_is_as_ever(conn: Connection) -> None:
    assert lexemes(conn, ["english"], "What is the cover of an insurance?") == {"cover", "insur"}
    assert lexemes(conn, ["simple"], "What is the cover") == {"what", "is", "the", "cover"}


@pytest.mark.parametrize(
    "text",
    [
        "“word”",
        "‘word’",
        "«word»",
        "—word—",
        "¿word¡",
        "l’word",
        "word…",
        "《word》",
        "【word】",
        "word。",
        "一、word",
    ],
)
def test_typographic_marks_are_no_letters(conn: Connection, text: str) -> None:
    create(conn, dimensions=None)
    upsert(conn, "d", [text])
    assert ids(call(conn, "search_keyword", p_collection="c", p_query="word")) == ["d"]
    upsert(conn, "d", ["plain word"])
    assert ids(call(conn, "search_keyword", p_collection="c", p_query=text)) == ["d"]


def test_a_title_in_a_foreign_text_does_not_win_by_its_stop_words(conn: Connection) -> None:
    create(conn, dimensions=None)
    for number in range(20):
        upsert(conn, f"en{number}", [f"Report {number}: a machine of this company and its parts."])
    upsert(conn, "warranty", ["The warranty of a machine is two years."])
    upsert(conn, "song", ["《What Is the Name of This Song》是一首歌。"], language="simple")
    found = ids(
        call(conn, "search_keyword", p_collection="c", p_query="What is the warranty of this machine")
    )
    assert found[0] == "warranty"
    assert "song" not in found
    # Its own words find it.
    assert ids(call(conn, "search_keyword", p_collection="c", p_query="song")) == ["song"]
    assert ids(call(conn, "search_keyword", p_collection="c", p_query="一首歌")) == ["song"]
