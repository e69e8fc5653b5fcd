from __future__ import annotations

from typing import Any

import psycopg
import pytest

from tests.sql.helpers import Row, call, create, ids, upsert, vector
from tests.sql.reference import cosine_distance, rrf

REFUND = "Refunds are paid within thirty days of the return."
CODE = "ERR-1042 means that the card was refused by the bank."
LEAVE = "Every employee has thirty days of annual leave."
TRAVEL = "Travel costs are reimbursed after the trip."


@pytest.fixture
def handbook(conn: psycopg.Connection) -> psycopg.Connection:
    create(conn)
    upsert(conn, "refund", [REFUND], [[1, 0, 0]], metadata='{"year": 2024, "team": "support"}')
    upsert(conn, "code", [CODE], [[0, 1, 0]], metadata='{"year": 2025, "team": "support"}')
    upsert(conn, "leave", [LEAVE], [[0, 0, 1]], metadata='{"year": 2026, "team": "hr"}')
    upsert(conn, "travel", [TRAVEL], [[0.9, 0.1, 0]], metadata='{"year": 2026, "team": "finance"}')
    return conn


def hybrid(
    connection: psycopg.Connection, query: str | None, embedding: list[float] | None = None, **more: Any
) -> list[Row]:
    given = {f"p_{name}": value for name, value in more.items()}
    return call(
        connection,
        "search_hybrid",
        p_collection="c",
        p_query=query,
        p_embedding=None if embedding is None else vector(embedding),
        **given,
    )


def test_rrf_is_the_sum_of_reciprocal_ranks(handbook: psycopg.Connection) -> None:
    rows = hybrid(handbook, "thirty days", [1, 0, 0], vector_weight=0.5, keyword_weight=2)
    assert {row["external_id"] for row in rows} == {"refund", "code", "leave", "travel"}
    for row in rows:
        assert row["score"] == pytest.approx(
            rrf([row["vector_rank"], row["keyword_rank"]], [0.5, 2]), abs=1e-9
        )
    by_id = {row["external_id"]: row for row in rows}
    assert (by_id["refund"]["vector_rank"], by_id["travel"]["vector_rank"]) == (1, 2)
    assert by_id["travel"]["keyword_rank"] is None
    assert round(rrf([1, 1], [1, 1]), 4) == 0.0328
    assert [row["score"] for row in rows] == sorted((row["score"] for row in rows), reverse=True)


def test_distances_are_cosine(handbook: psycopg.Connection) -> None:
    for row in hybrid(handbook, "thirty", [0.5, 0.2, 0.1]):
        stored = {"refund": [1, 0, 0], "code": [0, 1, 0], "leave": [0, 0, 1], "travel": [0.9, 0.1, 0]}[
            row["external_id"]
        ]
        assert row["vector_distance"] == pytest.approx(cosine_distance(stored, [0.5, 0.2, 0.1]), abs=2e-3)


def test_score_fusion_of_nothing_is_nothing(handbook: psycopg.Connection) -> None:
    nowhere = {"filter": "$.year == 1900"}
    assert hybrid(handbook, "thirty days", [1, 0, 0], fusion="score", **nowhere) == []
    assert hybrid(handbook, "xylophone", [1, 0, 0], fusion="score", **nowhere) == []


def test_score_fusion_uses_both_true_scores_of_every_candidate(handbook: psycopg.Connection) -> None:
    rows = hybrid(handbook, "thirty days", [1, 0, 0], fusion="score", vector_weight=0.7, keyword_weight=0.3)
    assert {row["keyword_rank"] for row in rows} == {1, 2, None}
    assert all(row["keyword_score"] is not None and row["vector_distance"] is not None for row in rows)
    scores, distances = ([row[name] for row in rows] for name in ("keyword_score", "vector_distance"))
    for row in rows:
        expected = 0.0
        if max(distances) > min(distances):
            expected += 0.7 * (max(distances) - row["vector_distance"]) / (max(distances) - min(distances))
        if max(scores) > min(scores):
            expected += 0.3 * (row["keyword_score"] - min(scores)) / (max(scores) - min(scores))
        assert row["score"] == pytest.approx(expected, abs=1e-6)


def test_a_single_leg_keeps_its_own_score(handbook: psycopg.Connection) -> None:
    keyword = call(handbook, "search_keyword", p_collection="c", p_query="thirty days leave")
    assert [row["score"] for row in keyword] == [row["keyword_score"] for row in keyword]
    assert ids(keyword)[0] == "leave"
    near = call(handbook, "search_vector", p_collection="c", p_embedding="[1,0,0]")
    assert ids(near)[:2] == ["refund", "travel"]
    assert [row["score"] for row in near] == pytest.approx([1 - row["vector_distance"] for row in near])


def test_natural_questions_match_without_every_word(handbook: psycopg.Connection) -> None:
    rows = call(
        handbook,
        "search_keyword",
        p_collection="c",
        p_query="what on earth does the code ERR-1042 tell me please",
    )
    assert ids(rows)[0] == "code"


@pytest.mark.parametrize("query", ["thirty -leave", '-"annual leave" thirty', "thirty -annual"])
def test_exclusions_hold_in_both_legs(handbook: psycopg.Connection, query: str) -> None:
    rows = hybrid(handbook, query, [0, 0, 1])
    assert "leave" not in ids(rows)
    assert "refund" in ids(rows)


def test_phrases_hold_in_both_legs(handbook: psycopg.Connection) -> None:
    rows = hybrid(handbook, '"annual leave" card', [0, 1, 0])
    assert ids(rows) == ["leave"]
    assert ids(hybrid(handbook, '"leave annual"', [0, 1, 0])) == []
    near = call(handbook, "search_vector", p_collection="c", p_embedding="[1,0,0]", p_query='"ERR-1042"')
    assert ids(near) == ["code"]


def test_a_hyphen_inside_a_word_excludes_nothing(handbook: psycopg.Connection) -> None:
    assert ids(call(handbook, "search_keyword", p_collection="c", p_query="ERR-1042")) == ["code"]


def test_phrases_and_exclusions_mean_identifiers_whole(conn: psycopg.Connection) -> None:
    create(conn, dimensions=None)
    upsert(conn, "c", ["code in C, version 3 11"])
    upsert(conn, "cpp", ["code in C++, version 3.11"])
    assert ids(call(conn, "search_keyword", p_collection="c", p_query="code -C++")) == ["c"]
    assert ids(call(conn, "search_keyword", p_collection="c", p_query='code "C++"')) == ["cpp"]
    assert ids(call(conn, "search_keyword", p_collection="c", p_query='"3.11"')) == ["cpp"]


def test_a_key_called_like_a_method_is_no_method(handbook: psycopg.Connection) -> None:
    upsert(
        handbook,
        "dated",
        ["thirty dates"],
        [[1, 0, 0]],
        metadata='{"date": "2026-01-31", "note": "x.date()"}',
    )
    rows = hybrid(handbook, "thirty", [1, 0, 0], filter='$.date >= "2026-01-01" && $.note == "x.date()"')
    assert ids(rows) == ["dated"]


def test_filters_are_jsonpath_predicates(handbook: psycopg.Connection) -> None:
    rows = hybrid(handbook, "thirty days", [1, 0, 0], filter='$.year >= 2025 && $.team != "hr"')
    assert sorted(ids(rows)) == ["code", "travel"]
    assert hybrid(handbook, "thirty", [1, 0, 0], filter="$.nothing == 1") == []


def test_chunk_filters(conn: psycopg.Connection) -> None:
    create(conn)
    upsert(
        conn,
        "d",
        ["alpha one", "alpha two"],
        [[1, 0, 0], [0, 1, 0]],
        chunk_metadata=[{"page": 1}, {"page": 2}],
    )
    rows = hybrid(conn, "alpha", [1, 0, 0], chunk_filter="$.page == 2")
    assert [row["content"] for row in rows] == ["alpha two"]
    assert rows[0]["metadata"]["page"] == 2


def test_the_answer_is_the_same_every_time(conn: psycopg.Connection) -> None:
    create(conn)
    for number in range(30):
        upsert(conn, f"d{number}", ["the same words everywhere"], [[1, 1, 1]])
    first = [row["chunk_id"] for row in hybrid(conn, "same words", [1, 1, 1], k=30)]
    assert len(first) == 30
    assert first == sorted(first, key=str), "ties go to the smaller chunk id"
    assert first == [row["chunk_id"] for row in hybrid(conn, "same words", [1, 1, 1], k=30)]


@pytest.mark.parametrize("k", [1, 3, 10])
def test_the_page_is_full_when_enough_is_visible(conn: psycopg.Connection, k: int) -> None:
    create(conn)
    for number in range(12):
        upsert(conn, f"d{number}", [f"alpha {number}"], [[1, number, 0]])
    assert len(hybrid(conn, "alpha", [1, 0, 0], k=k, candidate_k=1)) == k


def test_degraded_says_what_is_missing(handbook: psycopg.Connection) -> None:
    assert hybrid(handbook, "thirty", [1, 0, 0])[0]["degraded"] == []
    assert hybrid(handbook, "xylophone", [1, 0, 0])[0]["degraded"] == ["keyword_empty"]
    feedback = hybrid(handbook, "annual leave")
    assert feedback[0]["degraded"] == ["query_embedding_from_feedback"]
    assert feedback[0]["vector_rank"] == 1
    upsert(handbook, "new", ["thirty new words"])
    assert "stale_embeddings" in hybrid(handbook, "thirty", [1, 0, 0])[0]["degraded"]


def test_a_collection_without_a_model_is_searched_by_keyword(conn: psycopg.Connection) -> None:
    create(conn, dimensions=None)
    upsert(conn, "d", ["alpha beta"])
    rows = hybrid(conn, "alpha")
    assert ids(rows) == ["d"]
    assert rows[0]["degraded"] == ["no_query_embedding"]


def test_a_query_that_was_embedded_before_is_looked_up(handbook: psycopg.Connection) -> None:
    handbook.execute(
        "select ragpg._cache_embeddings('test:test:3:query', array[sha256(convert_to('Wie lange?', 'UTF8'))], '{\"[0,0,1]\"}')"
    )
    rows = hybrid(handbook, "Wie lange?")
    assert ids(rows)[0] == "leave"
    assert rows[0]["degraded"] == ["keyword_empty"]


def test_feedback_moves_the_query_towards_its_first_hits(handbook: psycopg.Connection) -> None:
    plain = {
        row["external_id"]: row["vector_distance"] for row in hybrid(handbook, "annual leave", [1, 0, 0])
    }
    moved = {
        row["external_id"]: row["vector_distance"]
        for row in hybrid(handbook, "annual leave", [1, 0, 0], feedback=3)
    }
    assert moved["leave"] < plain["leave"]


def test_an_embedding_is_enough_where_there_is_no_query(handbook: psycopg.Connection) -> None:
    assert ids(hybrid(handbook, None, [0, 0, 1]))[0] == "leave"
    assert "leave" not in ids(hybrid(handbook, "-annual", [0, 0, 1]))


def test_a_very_long_query_keeps_its_rarest_words(conn: psycopg.Connection) -> None:
    create(conn, dimensions=None)
    upsert(conn, "d", [" ".join(f"w{number}x" for number in range(200)) + " needle"])
    rows = call(
        conn,
        "search_keyword",
        p_collection="c",
        p_query=" ".join(f"w{number}x" for number in range(10_000)) + " needle",
    )
    assert ids(rows) == ["d"]
    assert rows[0]["degraded"] == ["term_cap"]


def test_expansion_returns_exact_ranges_and_merges(conn: psycopg.Connection) -> None:
    create(conn)
    pieces = ["alpha one", "alpha two", "alpha three", "alpha four"]
    content = "\n\n".join(pieces)
    middle = content.index("alpha three")
    upsert(
        conn,
        "d",
        pieces,
        [[1, 0, 0], [0.9, 0, 0.1], [0, 1, 0], [0, 0.9, 0.1]],
        parents=[(0, middle - 2), (0, middle - 2), (middle, len(content)), (middle, len(content))],
    )
    parents = hybrid(conn, "alpha", [1, 0, 0], expand="parent")
    assert sorted(row["content"] for row in parents) == [
        "alpha one\n\nalpha two",
        "alpha three\n\nalpha four",
    ]
    around = hybrid(conn, "two", [0.9, 0, 0.1], expand="neighbors:1", k=1, candidate_k=1)
    assert [row["content"] for row in around] == ["alpha one\n\nalpha two\n\nalpha three"]
    whole = hybrid(conn, "alpha", [1, 0, 0], expand="document")
    assert [row["content"] for row in whole] == [content]
    for row in parents + around + whole:
        assert content[row["char_start"] : row["char_end"]] == row["content"]


def test_neighbours_never_cross_a_document(conn: psycopg.Connection) -> None:
    create(conn)
    upsert(conn, "a", ["alpha first"], [[1, 0, 0]])
    upsert(conn, "b", ["beta secret"], [[0, 1, 0]], acl=["group:x"])
    rows = hybrid(conn, "alpha", [1, 0, 0], expand="neighbors:5")
    assert [row["content"] for row in rows] == ["alpha first"]


def test_expired_documents_are_hidden(handbook: psycopg.Connection) -> None:
    upsert(handbook, "leave", [LEAVE], [[0, 0, 1]], expires_at="2020-01-01")
    assert "leave" not in ids(hybrid(handbook, "annual leave thirty", [0, 0, 1]))


@pytest.mark.parametrize(
    ("function", "parameters", "code"),
    [
        ("search_hybrid", {"p_collection": "nowhere", "p_query": "x"}, "RG001"),
        ("search_keyword", {"p_collection": "c", "p_query": "x", "p_index_version": 987654}, "RG004"),
        ("search_vector", {"p_collection": "c", "p_embedding": "[1,2]"}, "RG005"),
        ("search_hybrid", {"p_collection": "c", "p_query": "x", "p_embedding": "[0,0,0]"}, "RG007"),
        ("search_hybrid", {"p_collection": "c", "p_query": "x", "p_k": 0}, "RG007"),
        ("search_keyword", {"p_collection": "c", "p_query": "x", "p_k": -3}, "RG007"),
        ("search_vector", {"p_collection": "c", "p_embedding": "[1,0,0]", "p_k": 100000}, "RG007"),
        ("search_hybrid", {"p_collection": "c", "p_query": "x", "p_k": None}, "RG007"),
        ("search_hybrid", {"p_collection": "c", "p_query": "x", "p_candidate_k": 0}, "RG007"),
        ("search_hybrid", {"p_collection": "c", "p_query": "x", "p_rrf_k": -1}, "RG007"),
        ("search_hybrid", {"p_collection": "c", "p_query": "x", "p_vector_weight": -1}, "RG007"),
        ("search_hybrid", {"p_collection": "c", "p_query": "x", "p_keyword_weight": None}, "RG007"),
        ("search_hybrid", {"p_collection": "c", "p_query": "x", "p_keyword_weight": float("nan")}, "RG007"),
        ("search_hybrid", {"p_collection": "c", "p_query": "x", "p_fusion": "sum"}, "RG007"),
        ("search_hybrid", {"p_collection": "c", "p_query": "x", "p_feedback": -1}, "RG007"),
        ("search_hybrid", {"p_collection": "c", "p_query": "thirty", "p_expand": "page"}, "RG007"),
        ("search_keyword", {"p_collection": "c", "p_query": ""}, "RG008"),
        ("search_keyword", {"p_collection": "c", "p_query": None}, "RG008"),
        ("search_hybrid", {"p_collection": "c", "p_query": "  && || !! ()"}, "RG008"),
        ("search_keyword", {"p_collection": "c", "p_query": "-refunds"}, "RG008"),
        ("search_hybrid", {"p_collection": "c", "p_query": "&|!", "p_embedding": "[1,0,0]"}, "RG008"),
        ("search_hybrid", {"p_collection": "c", "p_query": "", "p_embedding": "[1,0,0]"}, "RG008"),
        ("search_vector", {"p_collection": "c", "p_query": '""', "p_embedding": "[1,0,0]"}, "RG008"),
        ("search_vector", {"p_collection": "c", "p_embedding": None}, "RG008"),
        ("search_keyword", {"p_collection": "c", "p_query": "x", "p_filter": "$.year"}, "RG009"),
        ("search_keyword", {"p_collection": "c", "p_query": "x", "p_filter": "$.a ? (@ > 1)"}, "RG009"),
        ("search_keyword", {"p_collection": "c", "p_query": "x", "p_filter": "$.a == $b"}, "RG009"),
        ("search_keyword", {"p_collection": "c", "p_query": "x", "p_chunk_filter": "$.year"}, "RG009"),
        (
            "search_keyword",
            {
                "p_collection": "c",
                "p_query": "x",
                "p_filter": '$.a > 1 && $.b.datetime() > "2020".datetime()',
            },
            "RG009",
        ),
        (
            "search_keyword",
            {
                "p_collection": "c",
                "p_query": "x",
                "p_chunk_filter": '"2020-01-01".datetime() == $.t.datetime()',
            },
            "RG009",
        ),
        ("search_hybrid", {"p_collection": "c", "p_query": "x", "p_rrf_k": 2147483647}, "RG007"),
        ("search_hybrid", {"p_collection": "c", "p_query": "x", "p_vector_weight": 1e308}, "RG007"),
        ("search_hybrid", {"p_collection": "c", "p_query": "x", "p_vector_weight": 1e-310}, "RG007"),
        ("search_hybrid", {"p_collection": "c", "p_query": "x", "p_embedding": "[1e-30,0,0]"}, "RG007"),
        ("explain_search", {"p_collection": "c", "p_query": "x", "p_mode": "fuzzy"}, "RG007"),
    ],
)
def test_bad_arguments_are_refused_by_name(
    handbook: psycopg.Connection, function: str, parameters: Row, code: str
) -> None:
    with pytest.raises(psycopg.Error) as refused:
        call(handbook, function, **parameters)
    assert refused.value.sqlstate == code


def test_explain_tells_terms_paths_and_timings(handbook: psycopg.Connection) -> None:
    row = call(
        handbook,
        "explain_search",
        p_collection="c",
        p_query='thirty "annual leave" -card',
        p_embedding="[1,0,0]",
    )
    explained = row[0]["explain_search"]
    assert {"keyword", "vector", "terms", "timings_ms", "degraded", "principals"} <= explained.keys()
    assert {term["lexeme"]: term["document_frequency"] for term in explained["terms"]}["thirti"] == 2
    assert explained["vector"]["path"] == "exact"
    assert explained["visible_chunks"] == 1, "what the phrase leaves"
    assert explained["phrases"] == "'annual' <-> 'leav'"


def test_feedback_has_a_direction_however_small_its_weights(conn: psycopg.Connection) -> None:
    """Next to the score of a best hit without a vector, those of the others come to nothing in half precision."""

    def weighted(vectors: str, weights: list[float]) -> Any:
        row = conn.execute("select ragpg._weighted_sum(%s, %s)::text", (vectors, weights)).fetchone()
        assert row is not None
        return row[0]

    assert weighted('{"[1,2,0]"}', [1e-12]) == weighted('{"[1,2,0]"}', [1]) == "[0.5,1,0]"
    assert weighted('{"[1,2,0]","[-1,-2,0]"}', [1, 1]) is None


def test_vectors_of_zeros_are_no_answer_to_score_fusion(handbook: psycopg.Connection) -> None:
    upsert(handbook, "nothing", ["thirty days of nothing"], [[0, 0, 0]])
    rows = hybrid(handbook, "thirty days", [1, 0, 0], fusion="score")
    assert "nothing" in ids(rows)
    assert all(row["score"] == row["score"] for row in rows), "no NaN"


def test_a_number_beyond_half_precision_is_named(handbook: psycopg.Connection) -> None:
    with pytest.raises(psycopg.Error, match="half precision") as refused:
        hybrid(handbook, "thirty days", [1e30, 0, 0])
    assert refused.value.sqlstate == "RG007"


def test_search_leaves_no_setting_behind(handbook: psycopg.Connection) -> None:
    before = handbook.execute("select name, setting from pg_settings order by name").fetchall()
    for _ in range(50):
        hybrid(handbook, "thirty days", [1, 0, 0])
    assert handbook.execute("select name, setting from pg_settings order by name").fetchall() == before


def test_search_runs_read_only(database: str) -> None:
    with psycopg.connect(database, autocommit=True) as connection:
        create(connection)
        upsert(connection, "d", ["alpha beta"], [[1, 0, 0]])
        connection.execute("set default_transaction_read_only = on")
        assert ids(hybrid(connection, "alpha", [1, 0, 0])) == ["d"]
        assert ids(hybrid(connection, "alpha")) == ["d"]
