"""``ragpg find``: a sentence for each cause, the whole report as JSON, and a collection that need not be named."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from typer.testing import Result

from ragpg.cli.find import print_report
from tests.conftest import PgServer

Cli = Callable[..., Result]
Json = Callable[..., Any]

REPORT = {
    "collection": "handbook",
    "external_id": "faq-1",
    "tenant_id": "",
    "found": False,
    "causes": [],
    "degraded": [],
}


def test_a_hit_has_its_rank(as_json: Json, cli: Cli, handbook: Path) -> None:
    found = as_json("find", "handbook", "refunds.md", "--query", "refund working days")
    assert (found["found"], found["rank"], found["causes"]) == (True, 1, [])
    shown = cli("find", "handbook", "refunds.md", "--query", "refund zebra").stdout
    assert shown.splitlines()[0] == "refunds.md is hit 1 of at most 10."
    assert "keyword leg: it has rank 1 of 2, score " in shown
    assert "vector leg: it has rank 1 of 3, distance " in shown
    assert "words it holds: refund\n" in shown
    assert "words it lacks: zebra\n" in shown


def test_all_causes_of_a_hidden_document(as_json: Json, cli: Cli, handbook: Path) -> None:
    text = "A refund for the board alone."
    cli("ingest", "handbook", "-", "--id", "board.txt", "--acl", "group:board", stdin=text)
    arguments = ("find", "handbook", "board.txt", "--query", "refund -alone", "--as", "user:ana")
    arguments += ("--filter", "$.year == 2026", "--idf", "visible")
    found = as_json(*arguments)
    assert [cause["cause"] for cause in found["causes"]] == ["hidden", "filtered", "filtered"]
    result = cli(*arguments)
    assert result.exit_code == 0
    assert result.stdout.splitlines()[:4] == [
        "board.txt is not among the first 10 hits:",
        "- hidden: only group:board may read it, and the search was asked as public, user:ana",
        '- filtered out: the filter ($."year" == 2026) does not hold for its metadata {}',
        "- filtered out: every chunk holds what -alone excludes",
    ]
    assert "keyword leg: it would have rank 1 of 1, score " in result.stdout
    shown = as_json("find", "handbook", "board.txt", "--query", "refund", "--as", "group:board")
    assert shown["found"] is True


def test_outranked_by_mode_and_k(cli: Cli, handbook: Path) -> None:
    cli("ingest", "handbook", "-", "--id", "more.txt", stdin="refund refund refund")
    result = cli("find", "handbook", "refunds.md", "--query", "refund", "--k", 1, "--mode", "keyword")
    assert result.stdout.splitlines()[0] == "refunds.md is not the first hit:"
    assert "- outranked in the keyword leg: it has rank 2 of 3, score " in result.stdout
    assert "; the last candidate, number 1, has score " in result.stdout
    assert "\nkeyword leg: " not in result.stdout


def test_the_only_collection_need_not_be_named(cli: Cli, as_json: Json, handbook: Path) -> None:
    assert as_json("find", "refunds.md", "--query", "refund")["collection"] == "handbook"
    shown = cli("find", "nowhere.md", "--query", "refund")
    assert shown.exit_code == 0
    assert "no such document: collection handbook has none of this id in the default tenant\n" in shown.stdout


def test_of_several_collections_the_one_that_holds_the_document(
    cli: Cli, as_json: Json, handbook: Path
) -> None:
    cli("collection", "create", "policies", "--embedder", "none")
    cli("ingest", "policies", "-", "--id", "travel.txt", stdin="Trains first.")
    assert as_json("find", "refunds.md", "--query", "refund")["collection"] == "handbook"
    assert as_json("find", "travel.txt", "--query", "trains")["collection"] == "policies"

    nowhere = cli("find", "nowhere.md", "--query", "refund")
    assert nowhere.exit_code == 1
    assert "none of the 2 collections" in nowhere.stderr

    cli("ingest", "policies", "-", "--id", "refunds.md", stdin="No refund.")
    several = cli("find", "refunds.md", "--query", "refund")
    assert several.exit_code == 2
    assert "handbook, policies" in several.stderr
    assert as_json("find", "policies", "refunds.md", "--query", "refund")["found"] is True


def test_other_tenants_are_named(cli: Cli, handbook: Path) -> None:
    cli("ingest", "handbook", "-", "--id", "a.txt", "--tenant", "acme", stdin="refund")
    shown = cli("find", "handbook", "a.txt", "--query", "refund").stdout
    assert "has none of this id in the default tenant; it is in acme\n" in shown
    assert "is hit 1" in cli("find", "handbook", "a.txt", "--query", "refund", "--tenant", "acme").stdout


def test_only_for_the_owner(cli: Cli, handbook: Path, database: str, pg_server: PgServer) -> None:
    pg_server.run("create role seeker login")
    try:
        with psycopg.connect(database, autocommit=True) as owner:
            owner.execute("select ragpg.grant_access('seeker', 'trusted_reader')")
        url = make_conninfo(database, user="seeker")
        assert "1. " in cli("search", "handbook", "refund", "--url", url).stdout
        refused = cli("find", "handbook", "refunds.md", "--query", "refund", "--url", url)
        assert refused.exit_code == 1
        assert "find_document" in refused.stderr
    finally:
        with psycopg.connect(make_conninfo(database, user="postgres"), autocommit=True) as administrator:
            administrator.execute("drop owned by seeker")
        pg_server.run("drop role seeker")


@pytest.mark.parametrize(
    ("cause", "sentence"),
    [
        (
            {"cause": "no_such_document", "other_tenants": ["", "acme"]},
            "no such document: collection handbook has none of this id in the default tenant; "
            "it is in the default tenant, acme",
        ),
        (
            {"cause": "not_indexed", "index_version": 3},
            "not indexed: it has no chunks in index version 3",
        ),
        ({"cause": "expired", "expires_at": "2026-01-31T12:00:00"}, "expired: since 2026-01-31T12:00:00"),
        (
            {"cause": "hidden", "acl": [], "principals": ["public"]},
            "hidden: nobody may read it, and the search was asked as public",
        ),
        (
            {"cause": "filtered", "by": "p_chunk_filter", "condition": "$.page > 3"},
            "filtered out: the chunk filter $.page > 3 holds for none of its chunks",
        ),
        (
            {"cause": "filtered", "by": "phrase", "condition": '"in time"'},
            'filtered out: none of its chunks holds the phrase "in time"',
        ),
        (
            {"cause": "filtered", "by": "combination"},
            "filtered out: each condition is met by one of its chunks, but no chunk meets all of them",
        ),
        (
            {"cause": "no_query_word", "words": ["refund", "take"]},
            "no word of the query: it holds none of refund, take",
        ),
        (
            {"cause": "no_query_word", "words": []},
            "no word of the query: the query has only words that are not indexed",
        ),
        (
            {"cause": "vectors_pending", "chunks": 5, "embeddings": 2},
            "vectors pending: 3 of its 5 chunks have no vector yet, so the vector leg can't find them",
        ),
        (
            {"cause": "vectors_of_zeros", "chunks": 1},
            "vectors of zeros: they have no direction, so the vector leg can't find them",
        ),
        (
            {
                "cause": "outranked",
                "leg": "vector",
                "rank": 1234,
                "compared": 5000,
                "distance": 0.5,
                "last_rank": 50,
                "last_distance": 0.25,
            },
            "outranked in the vector leg: it has rank 1,234 of 5,000, distance 0.5000; "
            "the last candidate, number 50, has distance 0.2500",
        ),
        (
            {
                "cause": "outranked",
                "leg": "fused",
                "rank": 12,
                "compared": 80,
                "score": 0.01,
                "last_rank": 10,
                "last_score": 0.02,
            },
            "outranked after the fusion: it has rank 12 of 80, score 0.0100; the last hit, number 10, has score 0.0200",
        ),
        (
            {"cause": "missed_by_index", "rank": 3, "distance": 0.125},
            "missed by the HNSW index, which is approximate: by its distance of 0.1250 it has rank 3",
        ),
    ],
)
def test_a_sentence_for_each_cause(
    capsys: pytest.CaptureFixture[str], cause: dict[str, Any], sentence: str
) -> None:
    print_report({**REPORT, "causes": [cause]}, 10)
    assert capsys.readouterr().out == f"faq-1 is not among the first 10 hits:\n- {sentence}\n"


def test_the_rank_of_a_hidden_document_is_one_it_would_have(capsys: pytest.CaptureFixture[str]) -> None:
    hidden = {"cause": "hidden", "acl": ["group:hr"], "principals": ["public"]}
    outranked = {
        "cause": "outranked",
        "leg": "keyword",
        "rank": 60,
        "compared": 90,
        "score": 1.0,
        "last_rank": 50,
        "last_score": 2.0,
    }
    print_report({**REPORT, "causes": [hidden, outranked]}, 10)
    assert "outranked in the keyword leg: it would have rank 60 of 91" in capsys.readouterr().out


def test_every_cause_is_documented_and_has_a_sentence() -> None:
    root = Path(__file__).parents[2]
    page = (root / "docs" / "sql-api.md").read_text(encoding="utf-8")
    section = page.split("\n## find_document\n")[1].split("\n## ")[0]
    table = section.split("| cause |")[1]
    documented = {line.split("`")[1] for line in table.splitlines() if line.startswith("| `")}
    named = {
        cause
        for path in (root / "sql" / "functions").glob("*.sql")
        for cause in re.findall(r"'cause', '(\w+)'", path.read_text(encoding="utf-8"))
    }
    source = (root / "ragpg" / "cli" / "find.py").read_text(encoding="utf-8")
    sentences = re.search(r"def _sentence\(.*?\n\n\n", source, re.DOTALL)
    assert sentences
    assert documented == named == set(re.findall(r'case "(\w+)"', sentences[0]))
