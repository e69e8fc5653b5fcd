"""Very long documents, words, chunks and queries: taken in and found, or refused with a reason; nothing is dropped in silence."""

from __future__ import annotations

import random
import time

import psycopg
import pytest

from tests.sql.helpers import call, create, ids, upsert


def keyword(connection: psycopg.Connection, query: str) -> list[str]:
    return ids(call(connection, "search_keyword", p_collection="c", p_query=query))


def test_a_document_of_five_megabytes_is_found_by_its_last_word(conn: psycopg.Connection) -> None:
    create(conn, dimensions=None)
    source = random.Random(1)
    words = ["".join(source.choices("abcdefghiklmnoprstu", k=source.randint(2, 12))) for _ in range(2000)]
    text = "first " + "\n\n".join(" ".join(source.choices(words, k=150)) for _ in range(4400))
    content = text[:5_000_000] + " zebra"
    assert len(content) > 4_900_000
    row = call(conn, "upsert_document", p_collection="c", p_external_id="big", p_content=content)[0]
    assert row["chunks_written"] > 3000
    for query in ("first", "zebra"):
        assert keyword(conn, query) == ["big"]


@pytest.mark.parametrize("language", ["english", "german", "simple"])
def test_40000_words_in_one_chunk(conn: psycopg.Connection, language: str) -> None:
    create(conn, dimensions=None)
    source = random.Random(2)
    words = ["".join(source.choices("abcdefghiklmnoprstuüé", k=9)) for _ in range(40_000)]
    started = time.monotonic()
    upsert(conn, "many", [" ".join(words)], language=language)
    assert time.monotonic() - started < 60, "an unlucky plan is quadratic: minutes"
    upsert(conn, "other", ["something else"], language=language)
    for place in (0, 1, 16_382, 16_383, 16_384, 20_000, 39_999):
        assert keyword(conn, words[place]) == ["many"], place


def test_a_chunk_with_more_words_than_a_tsvector_holds_is_refused(conn: psycopg.Connection) -> None:
    create(conn, dimensions=None)
    with pytest.raises(psycopg.errors.ProgramLimitExceeded, match="tsvector"), conn.transaction():
        upsert(conn, "huge", [" ".join(f"word{number}x{number}" for number in range(150_000))])
    assert conn.execute("select count(*) from ragpg.document").fetchone() == (0,)


def test_a_word_of_10000_characters(conn: psycopg.Connection) -> None:
    create(conn, dimensions=None)
    upsert(conn, "long", ["x" * 10_000 + " and " + "é" * 10_000])
    upsert(conn, "other", ["xx"])
    assert keyword(conn, "x" * 10_000) == ["long"]
    assert keyword(conn, "e" * 10_000) == ["long"]


def test_a_word_that_occurs_1000_times_counts_255_times(conn: psycopg.Connection) -> None:
    create(conn, dimensions=None)
    upsert(conn, "often", ["needle " * 1000])
    assert conn.execute("select lexeme_count from ragpg.chunk").fetchone() == (255,)
    assert keyword(conn, "needle") == ["often"]


@pytest.mark.parametrize("idf", ["corpus", "visible"])
def test_one_known_word_among_10000_unknown_ones(conn: psycopg.Connection, idf: str) -> None:
    create(conn, dimensions=None)
    upsert(conn, "known", ["an ox"])
    upsert(conn, "other", ["a cow"])
    letters = "abcdefghijklmnop"
    unknown = [
        f"qq{letters[n % 16]}{letters[n // 16 % 16]}{letters[n // 256 % 16]}{letters[n // 4096]}zz"
        for n in range(10_000)
    ]
    for query in (" ".join(["ox", *unknown]), " ".join([*unknown, *unknown[:5000], "ox"])):
        rows = call(conn, "search_keyword", p_collection="c", p_query=query, p_idf=idf)
        assert ids(rows) == ["known"]
        assert rows[0]["degraded"] == ["term_cap"]
