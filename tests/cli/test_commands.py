"""Every command on a real database: what it prints, and its exit code."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from typer.testing import Result

from ragpg.types import SearchHit

Cli = Callable[..., Result]
Json = Callable[..., Any]


def test_collection_life(as_json: Json, cli: Cli) -> None:
    made = as_json(
        *("collection", "create", "policies", "--embedder", "hash", "--chunking", "recursive"),
        *("--max-tokens", 64, "--overlap", 8, "--language", "german", "--default-acl", "group:hr"),
    )
    assert made["name"] == "policies"
    assert made["language"] == "german"
    assert made["embedding_provider"] == "hash"
    assert made["chunking"]["strategy"] == "recursive"
    assert made["chunking"]["max_tokens"] == 64
    assert made["chunking"]["overlap"] == 8
    assert [row["name"] for row in as_json("collection", "list")["collections"]] == ["policies"]
    assert "policies" in cli("collection", "list").stdout

    refused = cli("collection", "drop", "policies")
    assert refused.exit_code == 2
    assert "--yes" in refused.stderr
    assert len(as_json("collection", "list")["collections"]) == 1

    assert as_json("collection", "drop", "policies", "--yes")["dropped"] == "policies"
    assert as_json("collection", "list")["collections"] == []


def test_default_acl_applies(as_json: Json, cli: Cli, docs: Path) -> None:
    cli("collection", "create", "policies", "--embedder", "hash", "--default-acl", "group:hr")
    as_json("ingest", "policies", docs)
    assert as_json("search", "policies", "refund")["hits"] == []
    assert as_json("search", "policies", "refund", "--as", "group:hr")["hits"]


def test_create_twice(cli: Cli, handbook: Path) -> None:
    result = cli("collection", "create", "handbook", "--embedder", "hash")
    assert result.exit_code == 1
    assert "handbook" in result.stderr
    assert result.stdout == ""


def test_search_json_has_the_fields_of_search_hit(as_json: Json, handbook: Path) -> None:
    found = as_json("search", "handbook", "refund working days", "--k", 2)
    assert set(found) == {"hits", "degraded"}
    hit = found["hits"][0]
    assert set(hit) == {field.name for field in fields(SearchHit)}
    UUID(hit["chunk_id"])
    UUID(hit["document_id"])
    assert hit["external_id"].endswith("refunds.md")
    assert hit["keyword_rank"] == 1
    assert hit["score"] > 0
    assert len(found["hits"]) <= 2


def test_search_as_text(cli: Cli, handbook: Path) -> None:
    result = cli("search", "handbook", "refund", "--mode", "keyword")
    assert result.exit_code == 0
    assert "refunds.md" in result.stdout
    assert "five working days" in result.stdout
    assert "keyword 1" in result.stdout
    assert "vector" not in result.stdout


def test_search_modes_differ(as_json: Json, handbook: Path) -> None:
    keyword = as_json("search", "handbook", "ERR-1042", "--mode", "keyword")["hits"]
    assert [hit["vector_rank"] for hit in keyword] == [None] * len(keyword)
    assert "ERR-1042" in keyword[0]["content"]
    vector = as_json("search", "handbook", "ERR-1042", "--mode", "vector")["hits"]
    assert vector
    assert all(hit["keyword_rank"] is None and hit["vector_rank"] is not None for hit in vector)


def test_search_explain(as_json: Json, cli: Cli, handbook: Path) -> None:
    found = as_json("search", "handbook", "refund", "--explain")
    assert found["explain"]["visible_chunks"] >= 2
    assert found["explain"]["terms"][0]["lexeme"] == "refund"
    assert "How it was found" in cli("search", "handbook", "refund", "--explain").stdout


def test_idf_of_the_visible_chunks(as_json: Json, cli: Cli, handbook: Path) -> None:
    text = "A refund for the board."
    cli("ingest", "handbook", "-", "--id", "board.txt", "--acl", "group:board", stdin=text)
    for idf, frequency in (("corpus", 3), ("visible", 2)):
        found = as_json("search", "handbook", "refund", "--mode", "keyword", "--idf", idf, "--explain")
        assert found["explain"]["terms"][0]["document_frequency"] == frequency
        assert as_json("ask", "handbook", "how long does a refund take", "--idf", idf)["answered"] is True


def test_search_expand(as_json: Json, handbook: Path) -> None:
    whole = as_json("search", "handbook", "refund", "--expand", "document")["hits"][0]["content"]
    assert "refund takes" in whole
    assert "ERR-1042" in whole


def test_search_without_hits_is_a_success_that_says_why(as_json: Json, cli: Cli, handbook: Path) -> None:
    found = as_json("search", "handbook", "zyzzyva", "--mode", "keyword")
    assert found["hits"] == []
    assert "keyword_empty" in found["degraded"]
    result = cli("search", "handbook", "zyzzyva", "--mode", "keyword")
    assert result.exit_code == 0
    assert result.stdout == ""
    assert "no hits" in result.stderr
    assert "keyword_empty" in result.stderr


def test_principals_tenant_and_filter(as_json: Json, cli: Cli, docs: Path) -> None:
    cli("collection", "create", "mixed", "--embedder", "hash")
    report = as_json(
        *("ingest", "mixed", docs, "--acl", "group:hr", "--acl", "user:ana", "--tenant", "acme"),
        *("--metadata", "year=2026", "--metadata", "team=hr", "--metadata", "version=1.10"),
    )
    assert report["created"] == 2

    def names(*options: object) -> list[str]:
        return [hit["external_id"] for hit in as_json("search", "mixed", "annual leave", *options)["hits"]]

    assert names() == []
    assert names("--as", "group:hr") == []
    assert names("--tenant", "acme") == []
    assert names("--tenant", "acme", "--as", "group:sales") == []
    everything = names("--tenant", "acme", "--as", "group:sales", "--as", "user:ana")
    assert any(name.endswith("leave.txt") for name in everything)
    allowed = ("--tenant", "acme", "--as", "group:hr")
    assert names(*allowed, "--filter", "$.year >= 2026") == everything
    assert names(*allowed, "--filter", "$.year >= 2027") == []
    assert names(*allowed, "--filter", '$.version == "1.10"') == everything


def test_ask(as_json: Json, cli: Cli, handbook: Path) -> None:
    answer = as_json("ask", "handbook", "How many days of annual leave does everybody have?")
    assert answer["answered"] is True
    assert answer["extractive"] is True
    assert "27 days" in answer["text"]
    assert "[1]" in answer["text"]
    assert answer["citations"][0]["number"] == 1
    UUID(answer["citations"][0]["chunk_id"])
    assert answer["context"]

    result = cli("ask", "handbook", "How many days of annual leave does everybody have?")
    assert result.exit_code == 0
    assert "[1] " in result.stdout
    assert "leave.txt" in result.stdout
    assert "no language model" in result.stdout


def test_ask_without_an_answer_is_a_success(as_json: Json, cli: Cli) -> None:
    cli("collection", "create", "empty", "--embedder", "hash")
    answer = as_json("ask", "empty", "How high is the Zugspitze?")
    assert answer["answered"] is False
    assert answer["citations"] == []


def test_ingest_again_changes_nothing(as_json: Json, handbook: Path) -> None:
    report = as_json("ingest", "handbook", handbook)
    assert report["unchanged"] == 2
    assert report["created"] == report["updated"] == report["chunks_written"] == report["embedded"] == 0


def test_ingest_sync_deletes_what_is_gone(as_json: Json, handbook: Path) -> None:
    (handbook / "leave.txt").unlink()
    assert as_json("ingest", "handbook", handbook)["deleted"] == 0
    assert as_json("ingest", "handbook", handbook, "--sync")["deleted"] == 1
    assert as_json("status", "handbook")["collections"][0]["documents"] == 1


def test_one_bad_file_among_good_ones(as_json: Json, cli: Cli, docs: Path) -> None:
    (docs / "binary.md").write_bytes(bytes(range(256)) * 20)
    (docs / "empty.md").write_bytes(b"")
    cli("collection", "create", "handbook", "--embedder", "hash")
    result = cli("ingest", "handbook", docs)
    assert result.exit_code == 3
    assert "2 created" in result.stdout
    assert "2 failed" in result.stdout
    assert "binary.md" in result.stderr
    assert "empty.md" in result.stderr
    report = as_json("ingest", "handbook", docs, exit_code=3)
    assert report["unchanged"] == 2
    assert len(report["failures"]) == 2
    assert {Path(failure["path"]).name for failure in report["failures"]} == {"binary.md", "empty.md"}


def test_ingest_from_standard_input(as_json: Json, handbook: Path) -> None:
    text = "# Gardening\n\nTomatoes want six hours of sun.\n"
    report = as_json("ingest", "handbook", "-", "--id", "garden.md", "--title", "Gardening", stdin=text)
    assert report["created"] == 1
    hit = as_json("search", "handbook", "tomatoes", "--mode", "keyword")["hits"][0]
    assert hit["external_id"] == "garden.md"
    assert hit["title"] == "Gardening"
    as_html = as_json(
        *("ingest", "handbook", "-", "--id", "page", "--media-type", "text/html"),
        stdin="<html><body><h1>Bees</h1><p>Bees like <b>clover</b>.</p></body></html>",
    )
    assert as_html["created"] == 1
    assert "<b>" not in as_json("search", "handbook", "clover", "--mode", "keyword")["hits"][0]["content"]


def test_delete(as_json: Json, cli: Cli, handbook: Path) -> None:
    name = as_json("search", "handbook", "refund", "--mode", "keyword")["hits"][0]["external_id"]
    assert as_json("delete", "handbook", name)["deleted"] == name
    assert as_json("search", "handbook", "refund", "--mode", "keyword")["hits"] == []
    again = cli("delete", "handbook", name)
    assert again.exit_code == 1
    assert name in again.stderr


def test_status(as_json: Json, cli: Cli, handbook: Path) -> None:
    status = as_json("status")
    (row,) = status["collections"]
    assert row["name"] == "handbook"
    assert row["documents"] == 2
    assert row["chunks"] == row["embeddings"]
    assert row["pending"] == 0
    text = cli("status", "handbook").stdout
    assert "handbook" in text
    assert "hash" in text


@pytest.mark.parametrize(
    "arguments",
    [
        ("search", "nowhere", "refund"),
        ("ask", "nowhere", "refund"),
        ("status", "nowhere"),
        ("delete", "nowhere", "refunds.md"),
        ("collection", "drop", "nowhere", "--yes"),
    ],
)
def test_unknown_collection(cli: Cli, arguments: tuple[str, ...]) -> None:
    result = cli(*arguments)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert "nowhere" in result.stderr
    assert "Traceback" not in result.stderr


def test_ingest_into_an_unknown_collection(cli: Cli, docs: Path) -> None:
    result = cli("ingest", "nowhere", docs, "--json")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert "nowhere" in result.stderr


@pytest.mark.parametrize("query", ["", "   ", "& | ! ()"])
def test_query_that_holds_nothing(cli: Cli, handbook: Path, query: str) -> None:
    result = cli("search", "handbook", query, "--mode", "keyword")
    assert result.exit_code == 1
    assert result.stderr.startswith("error: ")
    assert result.stdout == ""


def test_filter_that_is_no_jsonpath(cli: Cli, handbook: Path) -> None:
    result = cli("search", "handbook", "refund", "--filter", "$.year >>> 3")
    assert result.exit_code == 1
    assert "the filter is no jsonpath" in result.stderr
    assert "Traceback" not in result.stderr


def test_control_characters_do_not_reach_the_terminal(cli: Cli, as_json: Json, handbook: Path) -> None:
    as_json(
        "ingest",
        "handbook",
        "-",
        "--id",
        "evil.txt",
        stdin="Evil text \x1b[2J\x1b]0;owned\x07 clears screens.\n",
    )
    result = cli("search", "handbook", "evil", "--mode", "keyword")
    assert "evil.txt" in result.stdout
    assert "\x1b[2J" not in result.stdout
    assert "\x07" not in result.stdout


def test_json_escapes_nothing_but_stays_json(cli: Cli, as_json: Json, handbook: Path) -> None:
    as_json("ingest", "handbook", "-", "--id", "ü.txt", stdin="Größe „XL“ – 漢字\n")
    result = cli("search", "handbook", "Größe", "--mode", "keyword", "--json")
    assert "Größe" in result.stdout
    assert json.loads(result.stdout)["hits"][0]["external_id"] == "ü.txt"
