from __future__ import annotations

import json
import random
from typing import Any

import psycopg
import pytest

from ragpg.db.errors_map import translate
from tests.sql.helpers import call, create, upsert


def fill(connection: psycopg.Connection[Any], collection: str, *, hidden: bool) -> None:
    create(connection, collection, dimensions=None)
    rng = random.Random(4)
    words = ["valve", "pump", "seal", "motor", "leak"]
    for number in range(30):
        text = " ".join(rng.choices(words, k=rng.randint(3, 12)))
        upsert(connection, f"open{number}", [text], collection=collection)
    if hidden:
        for number in range(40):
            upsert(connection, f"hidden{number}", ["valve " * 30], collection=collection, acl=["group:other"])
        upsert(connection, "elsewhere", ["pump " * 90], collection=collection, tenant_id="acme")
        upsert(connection, "over", ["seal " * 90], collection=collection, expires_at="2020-01-01")


def scores(
    connection: psycopg.Connection[Any], collection: str, **parameters: Any
) -> list[tuple[str, float]]:
    rows = call(
        connection,
        "search_keyword",
        p_collection=collection,
        p_query="valve pump seal",
        p_k=100,
        **parameters,
    )
    return [(row["external_id"], row["score"]) for row in rows]


@pytest.mark.parametrize("every_match_limit", [10_000, 5])
def test_with_idf_of_the_visible_hidden_chunks_change_no_score(
    conn: psycopg.Connection, every_match_limit: int
) -> None:
    if every_match_limit != 10_000:
        definition = conn.execute(
            "select pg_get_functiondef('ragpg._visible_counts(ragpg._scope)'::regprocedure)"
        ).fetchone()
        assert definition is not None
        assert ":= 10000" in definition[0]
        conn.execute(definition[0].replace(":= 10000", f":= {every_match_limit}"))
    fill(conn, "alone", hidden=False)
    fill(conn, "shared", hidden=True)
    assert scores(conn, "shared") != scores(conn, "alone")
    visible = dict(scores(conn, "shared", p_idf="visible"))
    assert visible == pytest.approx(dict(scores(conn, "alone")), abs=1e-9)
    assert visible == pytest.approx(dict(scores(conn, "alone", p_idf="visible")), abs=1e-9)


def test_idf_of_the_visible_is_not_that_of_the_filtered(conn: psycopg.Connection) -> None:
    create(conn, dimensions=None)
    for number in range(10):
        upsert(conn, f"d{number}", ["valve"], metadata=json.dumps({"year": number}))
    every = call(conn, "search_keyword", p_collection="c", p_query="valve", p_idf="visible")
    few = call(
        conn, "search_keyword", p_collection="c", p_query="valve", p_idf="visible", p_filter="$.year < 2"
    )
    assert {row["score"] for row in few} == {row["score"] for row in every}


@pytest.mark.parametrize("idf", ["hidden", None])
def test_another_idf_is_refused(conn: psycopg.Connection, idf: str | None) -> None:
    create(conn, dimensions=None)
    with pytest.raises(psycopg.Error) as caught:
        call(conn, "search_keyword", p_collection="c", p_query="valve", p_idf=idf)
    assert caught.value.sqlstate == "RG007"
    assert "corpus or visible" in str(translate(caught.value))
