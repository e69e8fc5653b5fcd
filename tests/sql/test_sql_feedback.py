"""Feedback: a query without an embedding takes the vector of its first keyword hits, one with an embedding moves towards its hits."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from tests.sql.helpers import Row, call, create, ids, upsert, vector

SHOWN = ("external_id", "score", "vector_rank", "vector_distance", "keyword_rank", "degraded")
# Same length each, so that the idf is all that a further document could change: p_idf => 'visible' takes that away too.
READABLE = {
    "leave": ("annual leave for everybody here", [0, 1, 0]),
    "sick": ("sick leave with a certificate", [0.1, 1, 0.1]),
    "holiday": ("holiday calendar of this year", [0.2, 1, 0]),
    "vpn": ("tunnel for work from home", [1, 0, 0]),
    "pay": ("salaries come with each month", [0, 0.3, 1]),
}
# By its words the best hit of all, by its vector near what nobody asks for.
HIDDEN = ("annual leave annual leave annual", [-1, 0, 0.2])

Connection = psycopg.Connection[Any]


def fill(connection: Connection, collection: str) -> None:
    create(connection, collection)
    for name, (text, embedding) in READABLE.items():
        upsert(connection, name, [text], [embedding], collection=collection, acl=["group:all"])


def search(connection: Connection, collection: str, principals: list[str], **arguments: Any) -> list[Row]:
    rows = call(
        connection,
        "search_hybrid",
        p_collection=collection,
        p_query="annual leave",
        p_principals=principals,
        p_idf="visible",
        **arguments,
    )
    return [{name: row[name] for name in SHOWN} for row in rows]


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"p_fusion": "score"},
        {"p_embedding": vector([0, 1, 0]), "p_feedback": 5},
        {"p_embedding": vector([0, 1, 0]), "p_feedback": 3, "p_fusion": "score"},
    ],
    ids=["no embedding", "no embedding, score", "feedback", "feedback, score"],
)
@pytest.mark.parametrize(
    "hidden",
    [{"acl": ["group:board"]}, {"tenant_id": "other"}, {"expires_at": "2020-01-01"}],
    ids=["acl", "tenant", "expired"],
)
def test_a_hidden_document_changes_nothing(conn: Connection, hidden: Row, arguments: Row) -> None:
    text, embedding = HIDDEN
    for name in ("without", "with", "open"):
        fill(conn, name)
    upsert(conn, "secret", [text], [embedding], collection="with", **{"acl": ["group:all"], **hidden})
    upsert(conn, "secret", [text], [embedding], collection="open", acl=["group:all"])

    assert search(conn, "with", ["group:all"], **arguments) == search(
        conn, "without", ["group:all"], **arguments
    )
    # Not because it would not matter: seen, it is the first of the keyword hits, and moves the query.
    seen = search(conn, "open", ["group:all"], **arguments)
    assert {row["external_id"]: row["keyword_rank"] for row in seen}["secret"] == 1
    without = {
        row["external_id"]: row["vector_distance"]
        for row in search(conn, "without", ["group:all"], **arguments)
    }
    assert any(
        abs(row["vector_distance"] - without[row["external_id"]]) > 0.01
        for row in seen
        if row["external_id"] in without
    )


def test_a_filter_holds_for_feedback_too(conn: Connection) -> None:
    text, embedding = HIDDEN
    for name in ("without", "with"):
        create(conn, name)
        for key, (words, place) in READABLE.items():
            upsert(conn, key, [words], [place], collection=name, metadata='{"year": 2026}')
    upsert(conn, "old", [text], [embedding], collection="with", metadata='{"year": 1999}')
    given = {"p_filter": "$.year == 2026", "p_query": "annual leave", "p_idf": "visible"}
    found = {name: call(conn, "search_hybrid", p_collection=name, **given) for name in ("with", "without")}
    distances = {
        name: {row["external_id"]: row["vector_distance"] for row in rows} for name, rows in found.items()
    }
    assert "old" not in ids(found["with"])
    # A filter, unlike a permission, leaves the idf alone; had the old document fed back, the distances would be far off.
    assert distances["with"] == pytest.approx(distances["without"], abs=0.01)
    assert ids(found["with"])[0] == "leave"


def test_the_first_hits_count_by_the_fourth_power_of_their_scores(conn: Connection) -> None:
    create(conn)
    upsert(conn, "first", ["alpha beta"], [[1, 0, 0]])
    upsert(conn, "second", ["alpha beta and something more"], [[0, 1, 0]])
    upsert(conn, "third", ["a chunk that is longer and holds alpha once"], [[0, 0, 1]])
    upsert(conn, "fourth", ["a chunk that is longer still, and holds alpha once"], [[-1, 0, 0]])
    keyword = call(conn, "search_keyword", p_collection="c", p_query="alpha beta")
    assert ids(keyword) == ["first", "second", "third", "fourth"]
    weights = [(row["keyword_score"] / keyword[0]["keyword_score"]) ** 4 for row in keyword[:3]]
    length = sum(weight**2 for weight in weights) ** 0.5
    found = {
        row["external_id"]: row["vector_distance"]
        for row in call(conn, "search_hybrid", p_collection="c", p_query="alpha beta")
    }
    expected = [1 - weight / length for weight in weights]
    assert [found[name] for name in ("first", "second", "third")] == pytest.approx(expected, abs=0.002)
