"""What only happens in a collection over the limits: the boolean threshold on real statistics, and HNSW."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from tests.sql.helpers import Row, call, create, upsert, vector
from tests.sql.reference import bm25, cosine_distance
from tests.sql.test_sql_bm25 import corpus_of, lexemes_of

if TYPE_CHECKING:
    from tests.conftest import PgServer

DOCUMENTS = 24
CHUNKS = 500
DIMENSIONS = 8
WORDS = [f"term{number}" for number in range(3000)]
WEIGHTS = [1 / (number + 1) for number in range(3000)]


def random_chunk(source: random.Random) -> str:
    return " ".join(source.choices(WORDS, WEIGHTS, k=source.randint(5, 30)))


def random_vector(source: random.Random) -> list[float]:
    return [source.gauss(0, 1) for _ in range(DIMENSIONS)]


@pytest.fixture(scope="module")
def large(pg_server: PgServer, template: str) -> Iterator[psycopg.Connection[Any]]:
    name = pg_server.create_database(template=template)
    source = random.Random(7)
    with psycopg.connect(pg_server.url(name), autocommit=True) as connection:
        create(connection, dimensions=DIMENSIONS)
        for number in range(DOCUMENTS):
            upsert(
                connection,
                f"d{number}",
                [random_chunk(source) for _ in range(CHUNKS)],
                [random_vector(source) for _ in range(CHUNKS)],
                acl=["public"] if number else ["group:few"],
            )
        call(connection, "refresh_statistics", p_collection="c")
        connection.execute("analyze")
        yield connection
    pg_server.drop_database(name)


def test_the_keyword_leg_is_exact_and_does_not_score_everything(large: psycopg.Connection[Any]) -> None:
    corpus = corpus_of(large)
    row = large.execute("select chunk_count, average_length from ragpg.index_version").fetchone()
    assert row is not None
    assert row[0] == len(corpus)
    frequencies: dict[str, int] = {}
    for counts, _ in corpus.values():
        for lexeme in counts:
            frequencies[lexeme] = frequencies.get(lexeme, 0) + 1
    source = random.Random(3)
    paths: set[str] = set()
    for terms in (1, 2, 3, 5, 8, 12, 30):
        for _ in range(4):
            text = " ".join(source.choices(WORDS, WEIGHTS, k=terms))
            query = lexemes_of(large, text)
            scores = {
                key: bm25(
                    query,
                    counts,
                    length,
                    chunks=row[0],
                    average_length=row[1],
                    document_frequencies=frequencies,
                )
                for key, (counts, length) in corpus.items()
            }
            best = sorted((score for score in scores.values() if score > 0), reverse=True)[:50]
            found = call(large, "search_keyword", p_collection="c", p_query=text, p_k=50, p_principals=["*"])
            assert [hit["keyword_score"] for hit in found] == pytest.approx(best, abs=1e-6)
            for hit in found:
                assert hit["keyword_score"] == pytest.approx(scores[str(hit["chunk_id"])], abs=1e-6)
            paths.add(explain(large, text)["keyword"]["path"])
    assert "boolean threshold" in paths


def explain(connection: psycopg.Connection[Any], query: str, **more: Any) -> Row:
    return call(connection, "explain_search", p_collection="c", p_query=query, p_principals=["*"], **more)[0][
        "explain_search"
    ]


def nearest(connection: psycopg.Connection[Any], embedding: list[float], **more: Any) -> list[Row]:
    return call(connection, "search_vector", p_collection="c", p_embedding=vector(embedding), **more)


def test_hnsw_serves_the_broad_caller_and_exact_search_the_narrow_one(large: psycopg.Connection[Any]) -> None:
    source = random.Random(5)
    stored = {
        str(key): [float(x) for x in text.strip("[]").split(",")]
        for key, text in large.execute("select chunk_id, embedding::text from ragpg.embedding").fetchall()
    }
    few = {
        str(row[0])
        for row in large.execute(
            "select chunk.id from ragpg.chunk join ragpg.document on document.id = chunk.document_id"
            " where document.acl && '{group:few}'"
        ).fetchall()
    }
    found = 0
    for _ in range(20):
        query = random_vector(source)
        distances = sorted((cosine_distance(value, query), key) for key, value in stored.items())
        hits = nearest(large, query, p_k=10, p_principals=["*"])
        assert len(hits) == 10
        assert [hit["vector_distance"] for hit in hits] == sorted(hit["vector_distance"] for hit in hits)
        found += len({str(hit["chunk_id"]) for hit in hits} & {key for _, key in distances[:10]})

        narrow = nearest(large, query, p_k=10, p_principals=["group:few"], p_filter=None, p_tenant_id="")
        assert len(narrow) == 10
        hidden = nearest(large, query, p_k=10)
        assert not few & {str(hit["chunk_id"]) for hit in hidden}
    assert found / 200 >= 0.98
    assert explain(large, "term1", p_embedding=vector(random_vector(source)))["vector"]["path"] == "hnsw"


def test_what_is_visible_far_from_the_query_fills_the_page_all_the_same(
    pg_server: PgServer, template: str
) -> None:
    """Half of the chunks may be seen, all of them on the other side: the graph's way to them is long."""
    name = pg_server.create_database(template=template)
    pg_server.run("create role large_reader login")
    source = random.Random(2)
    try:
        with psycopg.connect(pg_server.url(name), autocommit=True) as connection:
            create(connection, dimensions=DIMENSIONS)
            for number in range(16):
                near = number < 8
                upsert(
                    connection,
                    f"d{number}",
                    [random_chunk(source) for _ in range(CHUNKS)],
                    [
                        [(9.0 if near else -9.0) + source.gauss(0, 1)]
                        + [source.gauss(0, 1) for _ in range(DIMENSIONS - 1)]
                        for _ in range(CHUNKS)
                    ],
                    acl=["group:near" if near else "group:far"],
                )
            call(connection, "refresh_statistics", p_collection="c")
            connection.execute("analyze")
            query = [9.0] + [0.0] * (DIMENSIONS - 1)
            far = nearest(connection, query, p_k=50, p_principals=["group:far"])
            wanted = connection.execute(
                "select embedding.chunk_id from ragpg.embedding"
                " join ragpg.document on document.id = embedding.document_id where document.acl && '{group:far}'"
                " order by ragpg._cosine_distance(embedding, %s::halfvec) + 0 limit 50",
                (vector(query),),
            ).fetchall()
            assert [hit["chunk_id"] for hit in far] == [row[0] for row in wanted]
            assert far[0]["degraded"] == ["exact_fallback"]
            connection.execute("select ragpg.grant_access('large_reader', 'reader')")
        with psycopg.connect(pg_server.url(name, user="large_reader"), autocommit=True) as reader:
            reader.execute("set ragpg.principals = 'group:far'")
            hits = nearest(reader, query, p_k=50)
            assert [hit["chunk_id"] for hit in hits] == [row[0] for row in wanted]
            assert hits[0]["degraded"] == [], "a reader is told nothing of what lies between"
    finally:
        pg_server.drop_database(name)
        pg_server.run("drop role large_reader")


def test_few_long_documents_are_not_taken_for_few_chunks(large: psycopg.Connection[Any]) -> None:
    """23 documents are few, their 11,500 chunks are not."""
    row = large.execute(
        "select (measured).is_narrow, (measured).visible_chunks, (measured).narrow_documents"
        " from (select ragpg._measure_visibility(ragpg._open_search('c', null, null, null, null, null), 2000) as measured"
        " offset 0) as one"
    ).fetchone()
    assert row is not None
    assert row[0] is False
    assert row[1] > 2000
    assert row[2] is None


def test_a_narrow_caller_after_many_broad_ones_gets_full_exact_pages(large: psycopg.Connection[Any]) -> None:
    source = random.Random(11)
    large.execute("update ragpg.document set acl = '{group:only}' where external_id = 'd0'")
    for _ in range(20):
        assert len(nearest(large, random_vector(source), p_principals=["*"])) == 10
    for _ in range(50):
        hits = nearest(large, random_vector(source), p_principals=["group:only"])
        assert len(hits) == 10
    large.execute("update ragpg.document set acl = '{group:few}' where external_id = 'd0'")


def test_rows_written_since_the_statistics_are_found(large: psycopg.Connection[Any]) -> None:
    upsert(large, "fresh", ["term0 term1 term2 " * 4], [[1.0] * DIMENSIONS])
    hits = call(large, "search_keyword", p_collection="c", p_query="term0 term1 term2", p_k=5)
    assert hits[0]["external_id"] == "fresh"
    call(large, "delete_document", p_collection="c", p_external_id="fresh")
    hits = call(large, "search_keyword", p_collection="c", p_query="term0 term1 term2", p_k=5)
    assert "fresh" not in {hit["external_id"] for hit in hits}
