"""What ``ragpg search --explain`` says of a search, whatever of it was told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from typer.testing import Result

from ragpg.cli.explain import print_explanation
from tests.conftest import PgServer

Cli = Callable[..., Result]


def lines(capsys: pytest.CaptureFixture[str], **explained: Any) -> list[str]:
    print_explanation(explained)
    return capsys.readouterr().out.splitlines()


def test_of_a_real_search(cli: Cli, handbook: Path) -> None:
    result = cli("search", "handbook", "how long does a refund take", "--explain", "--as", "user:ana")
    shown = result.stdout.split("How it was found\n")[1]
    assert "asked as:       public, user:ana\n" in shown
    assert "visible chunks: 3\n" in shown
    assert "keyword leg:    exact: every match was scored" in shown
    assert "vector leg:     exact: every visible chunk was compared" in shown
    assert "after fusion:   3 candidates\n" in shown
    assert "time:           analyse " in shown
    header, *rows = shown.split("\n\n")[1].splitlines()
    assert header.split() == ["word", "chunks", "idf"]
    shown_words = {word: (count, float(idf)) for word, count, idf in map(str.split, rows)}
    assert shown_words["refund"][0] == "2"
    assert shown_words["take"][0] == "1"
    assert shown_words["take"][1] > shown_words["refund"][1] > 0


def test_a_reader_is_told_why_it_sees_no_words(
    cli: Cli, handbook: Path, database: str, pg_server: PgServer
) -> None:
    pg_server.run("create role looker login")
    try:
        with psycopg.connect(database, autocommit=True) as owner:
            owner.execute("select ragpg.grant_access('looker', 'reader')")
        url = make_conninfo(database, user="looker")
        shown = cli("search", "handbook", "refund", "--explain", "--url", url).stdout
        assert "words:          not told" in shown
        assert "word  chunks" not in shown
        assert "visible chunks: 3\n" in shown
        assert "words:" not in cli("search", "handbook", "refund", "--explain").stdout
    finally:
        with psycopg.connect(make_conninfo(database, user="postgres"), autocommit=True) as administrator:
            administrator.execute("drop owned by looker")
        pg_server.run("drop role looker")


def test_hnsw_and_why(capsys: pytest.CaptureFixture[str]) -> None:
    shown = lines(
        capsys,
        mode="vector",
        tenant_id="acme",
        principals=["public"],
        visible_chunks=20000,
        vector={"path": "hnsw", "why": "more than 10,000 chunks are visible", "candidates": 50},
    )
    assert "asked as:       public in tenant acme" in shown
    assert "visible chunks: 20,000" in shown
    assert (
        "vector leg:     approximate: the HNSW index was walked until the page was full; "
        "more than 10,000 chunks are visible; 50 candidates" in shown
    )
    assert not any(line.startswith("words") for line in shown)


def test_chunks_are_counted_through_phrases_and_exclusions(cli: Cli, handbook: Path) -> None:
    shown = cli("search", "handbook", "refund -working", "--explain").stdout
    assert "visible chunks: 2 that pass the phrases and exclusions\n" in shown
    assert "exclusions:     'work'\n" in shown


def test_what_the_database_says_of_the_why_comes_first(capsys: pytest.CaptureFixture[str]) -> None:
    shown = lines(
        capsys,
        keyword={
            "path": "boolean threshold",
            "why": "the collection is large",
            "candidates": 1,
            "threshold": 12.5,
            "fresh_chunks": True,
        },
        vector={"path": "something new", "why": "of a later release", "candidates": 50},
        timings_ms={"fuse": 0.25, "analyse": 1.0, "later": 2.0},
    )
    assert (
        "keyword leg:    exact: only chunks that can reach the page were scored; the collection is large; 1 candidate; "
        "a score of 12.500 was to be reached; chunks written since the last statistics were scored too"
        in shown
    )
    assert "vector leg:     something new; of a later release; 50 candidates" in shown
    assert "time:           analyse 1.0 ms, fuse 0.2 ms, later 2.0 ms" in shown


def test_a_leg_that_did_not_run(capsys: pytest.CaptureFixture[str]) -> None:
    shown = lines(
        capsys,
        mode="keyword",
        visible_chunks=1200,
        vector={"path": "none", "why": "no query embedding"},
        keyword={},
    )
    assert "visible chunks: 1,200" in shown
    assert "vector leg:     did not run; no query embedding" in shown


@pytest.mark.parametrize("explained", [{}, {"keyword": {}, "vector": {}, "terms": [], "timings_ms": {}}])
def test_what_is_not_told_is_not_said(capsys: pytest.CaptureFixture[str], explained: dict[str, Any]) -> None:
    assert lines(capsys, mode="vector", **explained) == ["", "How it was found"]


def test_control_characters_of_the_query_stay_out(capsys: pytest.CaptureFixture[str]) -> None:
    term = {"lexeme": "a\x1b[31m", "document_frequency": 1, "idf": 0.5}
    shown = lines(capsys, phrases="'x\x1b'", terms=[term])
    assert not any("\x1b" in line for line in shown)
