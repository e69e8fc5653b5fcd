"""``find_document``: every cause of absence, with its evidence, against searches that show the truth."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from tests.sql.helpers import Row, call, create, upsert, vector

if TYPE_CHECKING:
    from tests.conftest import PgServer

QUERY = "how long do refunds take"


@pytest.fixture
def handbook(conn: psycopg.Connection) -> psycopg.Connection:
    """Ten documents about refunds, each further from ``[1, 0, 0]`` and with fewer of the query's words."""
    create(conn)
    for number in range(10):
        words = "refunds take long " * (10 - number) + "filler " * 3 * number
        upsert(
            conn,
            f"d{number}",
            [words + f"nr{number}"],
            [[1, number / 10, 0]],
            acl=["group:hr"] if number == 1 else ["public"],
            metadata=f'{{"year": {2020 + number}}}',
            chunk_metadata=[{"page": number}],
        )
    return conn


def find(
    connection: psycopg.Connection,
    external_id: str,
    query: str | None = QUERY,
    embedding: list[float] | None = None,
    **more: Any,
) -> Row:
    values = {f"p_{name}": value for name, value in more.items()}
    if embedding is not None:
        values["p_embedding"] = vector(embedding)
    (row,) = call(
        connection, "find_document", p_collection="c", p_external_id=external_id, p_query=query, **values
    )
    return row["find_document"]


def causes(found: Row) -> list[str]:
    return [cause["cause"] + (f" {cause['leg']}" if "leg" in cause else "") for cause in found["causes"]]


def cause(found: Row, name: str) -> Row:
    (one,) = [item for item in found["causes"] if item["cause"] == name]
    return one


def test_a_document_in_the_result_has_its_rank_and_no_cause(handbook: psycopg.Connection) -> None:
    found = find(handbook, "d2", embedding=[1, 0, 0], k=5)
    assert (found["found"], found["rank"], found["causes"]) == (True, 2, [])
    assert found["keyword"]["rank"] == found["vector"]["rank"] == found["fused"]["rank"] == 2
    assert found["degraded"] == []


def test_no_such_document_names_the_tenants_that_have_it(handbook: psycopg.Connection) -> None:
    assert find(handbook, "nowhere")["causes"] == [{"cause": "no_such_document", "other_tenants": []}]
    upsert(handbook, "abroad", ["refunds"], tenant_id="globex")
    upsert(handbook, "abroad", ["refunds"], tenant_id="acme")
    found = find(handbook, "abroad")
    assert found["found"] is False
    assert found["causes"] == [{"cause": "no_such_document", "other_tenants": ["acme", "globex"]}]
    assert find(handbook, "abroad", tenant_id="acme")["found"] is True


def test_not_indexed_in_this_version(handbook: psycopg.Connection) -> None:
    (row,) = call(handbook, "create_index_version", p_collection="c")
    found = find(handbook, "d0", index_version=row["create_index_version"])
    assert found["causes"] == [{"cause": "not_indexed", "index_version": row["create_index_version"]}]
    assert found["document"]["chunks"] == 0


def test_vectors_that_are_pending_or_zero(handbook: psycopg.Connection) -> None:
    upsert(handbook, "late", ["something else", "entirely"], [[1, 0, 0], None])
    found = find(handbook, "late", embedding=[0, 0, 1], k=3, candidate_k=3)
    assert cause(found, "vectors_pending") == {"cause": "vectors_pending", "chunks": 2, "embeddings": 1}
    upsert(handbook, "zero", ["something else"], [[0, 0, 0]])
    found = find(handbook, "zero", embedding=[1, 0, 0])
    assert causes(found) == ["no_query_word", "vectors_of_zeros"]


def test_expired_and_when(handbook: psycopg.Connection) -> None:
    upsert(handbook, "old", ["refunds take long"], [[1, 0, 0]], expires_at="2020-01-31 12:00+00")
    found = find(handbook, "old", embedding=[1, 0, 0])
    assert causes(found) == ["expired"]
    assert found["causes"][0]["expires_at"].startswith("2020-01-31T")


def test_hidden_from_these_principals(handbook: psycopg.Connection) -> None:
    found = find(handbook, "d1", embedding=[1, 0, 0], principals=["user:ana"])
    assert found["causes"] == [{"cause": "hidden", "acl": ["group:hr"], "principals": ["public", "user:ana"]}]
    # the rank it would have, were it visible
    assert found["keyword"]["rank"] == found["vector"]["rank"] == 2
    assert "fused" not in found
    assert find(handbook, "d1", principals=["group:hr"])["found"] is True
    assert find(handbook, "d1", principals=["*"])["found"] is True


@pytest.mark.parametrize(
    ("query", "more", "expected"),
    [
        (
            QUERY,
            {"filter": "$.year > 2021"},
            [{"by": "p_filter", "condition": '($."year" > 2021)', "metadata": {"year": 2020}}],
        ),
        (
            QUERY,
            {"chunk_filter": "$.page > 0"},
            [{"by": "p_chunk_filter", "condition": '($."page" > 0)'}],
        ),
        (
            f'{QUERY} "refunds take"',
            {"chunk_filter": "$.page > 0"},
            [{"by": "p_chunk_filter", "condition": '($."page" > 0)'}],
        ),
        (f'{QUERY} "take refunds" "refunds take"', {}, [{"by": "phrase", "condition": '"take refunds"'}]),
        (f"{QUERY} -nr0 -nr5", {}, [{"by": "exclusion", "condition": "-nr0"}]),
        (f'{QUERY} -"take long"', {}, [{"by": "exclusion", "condition": '-"take long"'}]),
        (
            f'{QUERY} "take refunds" -nr0',
            {"chunk_filter": "$.page > 0", "filter": "$.year > 2021"},
            [{"by": "p_filter"}, {"by": "p_chunk_filter"}, {"by": "phrase"}, {"by": "exclusion"}],
        ),
    ],
)
def test_filtered_out_and_by_what(
    handbook: psycopg.Connection, query: str, more: dict[str, Any], expected: list[Row]
) -> None:
    found = find(handbook, "d0", query, **more)
    assert found["found"] is False
    assert [cause | {"cause": "filtered"} for cause in found["causes"]] == found["causes"]
    assert len(found["causes"]) == len(expected)
    for one, wanted in zip(found["causes"], expected, strict=True):
        assert wanted.items() <= one.items()
    assert find(handbook, "d0")["found"] is True


def test_conditions_that_no_single_chunk_meets(handbook: psycopg.Connection) -> None:
    upsert(handbook, "split", ["early refunds", "late payment"], [[1, 0, 0], [1, 0, 0]])
    found = find(handbook, "split", 'refunds "early refunds" "late payment"')
    assert found["causes"] == [{"cause": "filtered", "by": "combination"}]


def test_none_of_the_words(handbook: psycopg.Connection) -> None:
    upsert(handbook, "leave", ["Parental leave is long enough."], [[0, 0, 1]])
    found = find(handbook, "leave", mode="keyword")
    assert found["found"] is True
    assert [(word["lexeme"], word["held"]) for word in found["keyword"]["words"]] == [
        ("refund", False),
        ("take", False),
        ("long", True),
    ]
    assert found["keyword"]["words"][0]["document_frequency"] == 10
    found = find(handbook, "leave", "zebra refunds", mode="keyword")
    assert found["causes"] == [{"cause": "no_query_word", "words": ["zebra", "refund"]}]
    assert find(handbook, "leave", "the of", mode="keyword")["causes"] == [
        {"cause": "no_query_word", "words": ["~of", "~the"]}
    ]


def test_frequencies_of_the_visible_chunks(handbook: psycopg.Connection) -> None:
    for idf, frequency in (("corpus", 10), ("visible", 9)):
        words = find(handbook, "d0", "refunds", idf=idf)["keyword"]["words"]
        assert [word["document_frequency"] for word in words] == [frequency]


def test_all_causes_at_once(handbook: psycopg.Connection) -> None:
    upsert(
        handbook,
        "worst",
        ["nothing of it"],
        [[-1, 0, 0]],
        acl=["group:board"],
        metadata='{"year": 2000}',
        expires_at="2020-01-31",
    )
    found = find(
        handbook, "worst", f'{QUERY} "refunds take"', [1, 0, 0], filter="$.year > 2001", k=2, candidate_k=2
    )
    assert causes(found) == ["expired", "hidden", "filtered", "filtered", "no_query_word", "outranked vector"]
    assert found["vector"] | {"rank": 10, "compared": 9, "last_rank": 2} == found["vector"]


def test_outranked_in_the_fusion(handbook: psycopg.Connection) -> None:
    found = find(handbook, "d5", embedding=[1, 0, 0], k=3, candidate_k=50)
    assert causes(found) == ["outranked fused"]
    outranked = found["causes"][0]
    assert (outranked["rank"], outranked["last_rank"], outranked["compared"]) == (5, 3, 9)
    assert outranked["score"] < outranked["last_score"]


def test_the_page_is_that_of_the_search_with_expansion(handbook: psycopg.Connection) -> None:
    upsert(handbook, "two", ["refunds " * 9, "refunds " * 9], [[1, 0, 0], [1, 0, 0]])
    for expand, k, rank in ((None, 4, 4), ("document", 4, 3), ("document", 3, 3)):
        hits = call(handbook, "search_keyword", p_collection="c", p_query="refunds", p_k=k, p_expand=expand)
        found = find(handbook, "d2", "refunds", mode="keyword", k=k, expand=expand)
        assert [hit["external_id"] for hit in hits].index("d2") + 1 == found["rank"] == rank


def test_without_a_vector_the_leg_of_the_feedback_is_explained(handbook: psycopg.Connection) -> None:
    found = find(handbook, "d9", k=2, candidate_k=2)
    assert found["degraded"] == ["query_embedding_from_feedback"]
    assert causes(found) == ["outranked keyword", "outranked vector"]
    create(handbook, "plain", None)
    upsert(handbook, "p", ["refunds"], collection="plain")
    (row,) = call(handbook, "find_document", p_collection="plain", p_external_id="p", p_query="zebra")
    assert causes(row["find_document"]) == ["no_query_word"]
    assert row["find_document"]["vector"] == {"compared": 0}
    assert "no_query_embedding" in row["find_document"]["degraded"]


def test_feedback_moves_the_vector_as_in_the_search(handbook: psycopg.Connection) -> None:
    arguments = {"embedding": [0.2, 1.0, 0.0], "feedback": 2, "k": 9}
    hits = call(
        handbook,
        "search_hybrid",
        p_collection="c",
        p_query=QUERY,
        p_embedding=vector([0.2, 1, 0]),
        p_feedback=2,
    )
    for hit in hits:
        found = find(handbook, hit["external_id"], **arguments)
        assert found["vector"]["distance"] == hit["vector_distance"]


@pytest.mark.parametrize("fusion", ["rrf", "score"])
def test_ranks_are_those_of_a_search_that_shows_everything(conn: psycopg.Connection, fusion: str) -> None:
    """Random documents of one to three chunks, some hidden: a wide search is the oracle of the narrow one."""
    source = random.Random(7)
    create(conn)
    documents = [f"d{number}" for number in range(40)]
    for external_id in documents:
        pieces = [
            " ".join(source.choices(["alpha", "beta", "gamma", "delta", "epsilon"], k=6))
            for _ in range(source.randint(1, 3))
        ]
        upsert(
            conn,
            external_id,
            pieces,
            [[source.gauss(0, 1) for _ in range(3)] for _ in pieces],
            acl=["public"] if source.random() < 0.7 else ["group:hr"],
        )
    asked = {
        "p_collection": "c",
        "p_query": "alpha beta",
        "p_embedding": vector([1, 0.5, 0]),
        "p_fusion": fusion,
    }
    wide = call(conn, "search_hybrid", **asked, p_k=1000, p_candidate_k=1000)
    narrow = call(conn, "search_hybrid", **asked, p_k=5, p_candidate_k=8)
    page = [hit["external_id"] for hit in narrow]
    visible = {hit["external_id"] for hit in wide}
    assert 5 < len(visible) < len(documents)
    seen: set[str] = set()
    for external_id in documents:
        found = find(conn, external_id, "alpha beta", [1, 0.5, 0], k=5, candidate_k=8, fusion=fusion)
        assert found["found"] is (external_id in page)
        assert bool(found["causes"]) is not found["found"]
        seen.update(causes(found))
        if external_id not in visible:
            assert causes(found)[0] == "hidden"
            continue
        assert found["rank"] == (page.index(external_id) + 1 if external_id in page else None)
        for leg in ("keyword", "vector"):
            ranks = [hit[f"{leg}_rank"] for hit in wide if hit["external_id"] == external_id]
            best = min((rank for rank in ranks if rank is not None), default=None)
            assert found[leg]["rank"] == best
            assert (f"outranked {leg}" in causes(found)) is (
                not found["found"] and best is not None and best > 8
            )
            last = max(
                (hit for hit in wide if (hit[f"{leg}_rank"] or 99) <= 8), key=lambda hit: hit[f"{leg}_rank"]
            )
            name = "score" if leg == "keyword" else "distance"
            assert found[leg][f"last_{name}"] == pytest.approx(last[f"{leg}_{name}"], abs=1e-12)
    assert {"hidden", "outranked keyword", "outranked vector", "outranked fused"} <= seen


def test_a_near_chunk_that_the_approximate_index_missed(handbook: psycopg.Connection) -> None:
    """The vector leg is replaced by one that finds nothing, as a bad graph would."""
    handbook.execute(
        """
        create or replace function ragpg._vector_leg(p_scope ragpg._scope, p_embedding halfvec, p_limit integer)
        returns ragpg._leg language sql as
        $$ select ('{}', '{}', '{}', '{}', '{}')::ragpg._leg $$
        """
    )
    found = find(handbook, "d0", "nothing", embedding=[1, 0, 0])
    assert causes(found) == ["no_query_word", "missed_by_index"]
    assert found["causes"][1]["rank"] == 1


def test_arguments_are_checked_as_in_a_search(handbook: psycopg.Connection) -> None:
    for sqlstate, more in (
        ("RG007", {"mode": "both"}),
        ("RG007", {"k": 0}),
        ("RG007", {"idf": "mine"}),
        ("RG008", {"query": "?!"}),
        ("RG005", {"embedding": [1.0]}),
        ("RG004", {"index_version": 999}),
        ("RG009", {"filter": "$.year ? (@ > 1)"}),
    ):
        with pytest.raises(psycopg.Error) as refused, handbook.transaction():
            find(handbook, "d0", **more)
        assert refused.value.sqlstate == sqlstate


@pytest.fixture
def finder(pg_server: PgServer) -> Iterator[str]:
    """A role; requested before the database, so that it goes after it."""
    pg_server.run("create role finder login")
    yield "finder"
    pg_server.run("drop role finder")


def test_only_the_owner_is_told(finder: str, database: str) -> None:
    """Neither a level nor a grant by hand lets another role ask."""
    with (
        psycopg.connect(database, autocommit=True) as owner,
        psycopg.connect(make_conninfo(database, user=finder), autocommit=True) as other,
    ):
        create(owner)
        upsert(owner, "d0", ["refunds"])
        for level in ("trusted_reader", "writer"):
            owner.execute("select ragpg.grant_access(%s, %s)", (finder, level))
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            find(other, "d0")
        owner.execute("grant execute on all functions in schema ragpg to finder")
        with pytest.raises(psycopg.Error) as refused:
            find(other, "d0")
        assert refused.value.sqlstate == "RG006"
        assert find(owner, "d0")["found"] is True
