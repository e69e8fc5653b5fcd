from __future__ import annotations

import random
from collections import Counter
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.sql.helpers import call, create, upsert
from tests.sql.reference import bm25

Corpus = dict[str, tuple[dict[str, int], int]]

# Marks of lexemes that a chunk's length leaves out and that a query with other words is not searched for.
UNCOUNTED = "~^"


def corpus_of(connection: psycopg.Connection[Any], collection: str = "c") -> Corpus:
    """Lexeme counts and length of every chunk, by chunk id, read from the stored tsvectors."""
    rows = connection.execute(
        "select chunk.id::text, array_agg(word.lexeme), array_agg(coalesce(cardinality(word.positions), 1))"
        " from ragpg.chunk cross join lateral unnest(chunk.content_tsv) as word"
        " where chunk.index_version_id = (select active_index_version_id from ragpg.collection where name = %s)"
        " group by chunk.id",
        (collection,),
    ).fetchall()
    corpus: Corpus = {}
    for key, lexemes, counts in rows:
        frequencies = dict(zip(lexemes, counts, strict=True))
        corpus[key] = (
            frequencies,
            sum(count for lexeme, count in frequencies.items() if lexeme[0] not in UNCOUNTED),
        )
    return corpus


def expected_scores(
    corpus: Corpus, query: dict[str, int], *, chunks: int | None = None, average: float | None = None
) -> dict[str, float]:
    frequencies = Counter(lexeme for counts, _ in corpus.values() for lexeme in counts)
    chunks = len(corpus) if chunks is None else chunks
    average = sum(length for _, length in corpus.values()) / len(corpus) if average is None else average
    scores = {
        key: bm25(
            query, counts, length, chunks=chunks, average_length=average, document_frequencies=frequencies
        )
        for key, (counts, length) in corpus.items()
    }
    return {key: score for key, score in scores.items() if score > 0}


def lexemes_of(connection: psycopg.Connection[Any], query: str, language: str = "english") -> dict[str, int]:
    rows = connection.execute(
        "select lexeme, cardinality(positions) from unnest(ragpg._analyze(%s::regconfig, %s))",
        (language, query),
    ).fetchall()
    return {lexeme: count for lexeme, count in rows if lexeme[0] not in UNCOUNTED}


def keyword(connection: psycopg.Connection[Any], query: str, k: int = 1000) -> dict[str, float]:
    rows = call(connection, "search_keyword", p_collection="c", p_query=query, p_k=k)
    return {str(row["chunk_id"]): row["keyword_score"] for row in rows}


def test_scores_equal_the_formula(conn: psycopg.Connection) -> None:
    create(conn, dimensions=None)
    words = ["valve", "pump", "pressure", "leak", "seal", "the", "motor"]
    random.seed(1)
    for number in range(60):
        upsert(conn, f"d{number}", [" ".join(random.choices(words, k=random.randint(2, 80)))])
    for query in (
        "valve",
        "valve valve pump",
        "leaking seals of the motor",
        "pressure pump motor leak seal valve",
    ):
        found = keyword(conn, query)
        wanted = expected_scores(corpus_of(conn), lexemes_of(conn, query))
        assert found == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize(
    ("language", "separator", "words", "query"),
    [
        (
            "german",
            " ",
            ["die", "Größe", "Häuser", "Ventile", "Straße", "größer"],
            "Größe der Häuser an der Straße",
        ),
        ("french", " ", ["les", "élèves", "écoles", "pompe", "pressée", "à"], "l'école des élèves pressés"),
        (
            "russian",
            " ",
            ["и", "насосы", "клапан", "давление", "дома", "домами"],
            "давления в домах и насосах",
        ),
        ("arabic", " ", ["المضخة", "صمام", "الضغط", "في", "البيوت"], "ضغط المضخات في البيت"),
        ("simple", "", ["水泵", "压力", "阀门", "房子", "泄漏"], "阀门压力泄漏"),
        ("simple", "", ["ปั๊ม", "แรงดัน", "วาล์ว", "บ้าน"], "แรงดันวาล์ว"),
    ],
)
def test_scores_equal_the_formula_in_other_languages(
    conn: psycopg.Connection, language: str, separator: str, words: list[str], query: str
) -> None:
    create(conn, dimensions=None)
    source = random.Random(3)
    for number in range(30):
        text = separator.join(source.choices(words, k=source.randint(2, 40)))
        upsert(conn, f"d{number}", [text], language=language)
    found = keyword(conn, query)
    assert len(found) > 10
    wanted = expected_scores(corpus_of(conn), lexemes_of(conn, query, language))
    assert found == pytest.approx(wanted, abs=1e-6)


def test_every_term_frequency_up_to_255_is_read_from_the_rank(conn: psycopg.Connection) -> None:
    create(conn, dimensions=None)
    for tf in range(1, 256):
        upsert(conn, f"d{tf}", ["needle " * tf + "filler " * 20])
    found = keyword(conn, "needle")
    assert len(found) == 255
    assert found == pytest.approx(expected_scores(corpus_of(conn), {"needl": 1}), abs=1e-6)


def test_the_length_of_the_corpus_follows_every_write(conn: psycopg.Connection) -> None:
    create(conn, dimensions=None)
    upsert(conn, "a", ["alpha beta"])
    upsert(conn, "b", ["alpha gamma gamma delta"])
    before = keyword(conn, "alpha")
    upsert(conn, "c", ["alpha " + "word " * 50])
    call(conn, "delete_document", p_collection="c", p_external_id="b")
    assert keyword(conn, "alpha") == pytest.approx(expected_scores(corpus_of(conn), {"alpha": 1}), abs=1e-6)
    assert keyword(conn, "alpha") != before


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    documents=st.lists(
        st.lists(st.sampled_from("abcdefghij"), min_size=1, max_size=12), min_size=1, max_size=25
    ),
    query=st.lists(st.sampled_from("abcdefghij"), min_size=1, max_size=12),
    fresh=st.integers(0, 5),
    deleted=st.integers(0, 3),
    k=st.integers(1, 12),
    hidden=st.sets(st.integers(0, 24)),
    narrow=st.booleans(),
)
def test_the_boolean_threshold_returns_the_top_k_of_full_scoring(
    conn: psycopg.Connection,
    documents: list[list[str]],
    query: list[str],
    fresh: int,
    deleted: int,
    k: int,
    hidden: set[int],
    narrow: bool,
) -> None:
    """The statistics are taken before the last documents come and some go; the collection then passes for a large one."""
    with conn.transaction(force_rollback=True):
        if not narrow:
            pass_for_a_broad_caller(conn)
        create(conn, dimensions=None)
        words = [" ".join(f"word{letter}" for letter in letters) for letters in documents]
        for number, text in enumerate(words[fresh:]):
            upsert(conn, f"d{number}", [text], acl=["group:x"] if number in hidden else ["public"])
        make_statistics(conn)
        for number, text in enumerate(words[:fresh]):
            upsert(
                conn,
                f"fresh{number}",
                [text + " wordz"],
                acl=["group:x"] if number + 20 in hidden else ["public"],
            )
        for number in range(deleted):
            call(conn, "delete_document", p_collection="c", p_external_id=f"d{number}")
        text = " ".join(f"word{letter}" for letter in query)
        visible = {
            str(row[0])
            for row in conn.execute(
                "select chunk.id from ragpg.chunk join ragpg.document on document.id = chunk.document_id"
                " where document.acl && '{public}'"
            )
        }
        everything = {key: score for key, score in full_scores(conn, text).items() if key in visible}
        best = sorted(everything.items(), key=lambda item: (-item[1], item[0]))[:k]
        found = keyword(conn, text, k)
        assert list(found.values()) == pytest.approx([score for _, score in best], abs=1e-9)
        assert found.keys() <= everything.keys()
        for key, score in found.items():
            assert score == pytest.approx(everything[key], abs=1e-9)


def pass_for_a_broad_caller(connection: psycopg.Connection[Any]) -> None:
    """Whatever the caller sees counts as much."""
    row = connection.execute(
        "select pg_get_functiondef('ragpg._narrow_limit(ragpg._scope)'::regprocedure)"
    ).fetchone()
    assert row is not None
    assert "greatest(\n        1000," in row[0]
    connection.execute(row[0].replace("greatest(\n        1000,", "least(\n        0,"))


def make_statistics(connection: psycopg.Connection[Any]) -> None:
    """As refresh_statistics leaves a large collection: a bound for every lexeme, and more chunks than are counted live."""
    call(connection, "refresh_statistics", p_collection="c")
    connection.execute("select pg_sleep(0.002)")
    connection.execute(
        "update ragpg.index_version set chunk_count = 30000, average_length = greatest(average_length, 1),"
        " statistics_horizon = clock_timestamp()"
    )
    connection.execute(
        "insert into ragpg.lexeme_stat (index_version_id, lexeme, document_frequency, max_impact)"
        " select chunk.index_version_id, word.lexeme, count(*),"
        " max(1 - norm.k / (norm.k + cardinality(word.positions)))"
        " from ragpg.chunk join ragpg.index_version as version on version.id = chunk.index_version_id"
        " cross join lateral unnest(chunk.content_tsv) as word"
        " cross join lateral (select 1.2 * (0.25 + 0.75 * chunk.lexeme_count / version.average_length) as k) as norm"
        " group by chunk.index_version_id, word.lexeme"
    )


def full_scores(connection: psycopg.Connection[Any], query: str) -> dict[str, float]:
    """Every chunk's score under the stored statistics, from the Python formula."""
    corpus = corpus_of(connection)
    row = connection.execute("select chunk_count, average_length from ragpg.index_version").fetchone()
    assert row is not None
    stored = dict(connection.execute("select lexeme, document_frequency from ragpg.lexeme_stat").fetchall())
    live = Counter(lexeme for counts, _ in corpus.values() for lexeme in counts)
    frequencies = {**live, **stored}
    query_lexemes = lexemes_of(connection, query)
    scores = {
        key: bm25(
            query_lexemes,
            counts,
            length,
            chunks=row[0],
            average_length=row[1],
            document_frequencies=frequencies,
        )
        for key, (counts, length) in corpus.items()
    }
    return {key: score for key, score in scores.items() if score > 0}


def test_rows_written_by_a_transaction_that_outlives_the_refresh_are_fresh(database: str) -> None:
    with psycopg.connect(database, autocommit=True) as owner, psycopg.connect(database) as writer:
        create(owner, dimensions=None)
        upsert(writer, "slow", ["alpha beta"])
        written = writer.execute("select max(written_at) from ragpg.chunk").fetchone()
        call(owner, "refresh_statistics", p_collection="c")
        writer.commit()
        horizon = owner.execute("select statistics_horizon from ragpg.index_version").fetchone()
        assert written is not None
        assert horizon is not None
        assert written[0] >= horizon[0]


def test_the_refresh_waits_for_no_writer(database: str) -> None:
    with psycopg.connect(database, autocommit=True) as owner, psycopg.connect(database) as writer:
        create(owner, dimensions=None)
        upsert(writer, "slow", ["alpha beta"])
        owner.execute("set statement_timeout = '10s'")
        call(owner, "refresh_statistics", p_collection="c")
        writer.rollback()


def test_statistics_that_the_collection_outgrew_are_not_trusted(conn: psycopg.Connection) -> None:
    create(conn, dimensions=None)
    upsert(conn, "small", ["alpha beta"])
    call(conn, "refresh_statistics", p_collection="c")
    for number in range(21):
        upsert(
            conn,
            f"d{number}",
            [f"alpha x{piece}" if piece % 2 else f"gamma x{piece}" for piece in range(500)],
        )
    rows = call(conn, "search_keyword", p_collection="c", p_query="alpha x7", p_k=100)
    assert "stale_statistics" in rows[0]["degraded"]
    corpus = corpus_of(conn)
    wanted = expected_scores(corpus, {"alpha": 1, "x7": 1, "x": 1, "7": 1})
    assert rows[0]["keyword_score"] == pytest.approx(max(wanted.values()), abs=1e-6)
