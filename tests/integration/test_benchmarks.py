"""The speed benchmark works, at a size that says nothing about speed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from benchmarks.speed.concurrency import measure_concurrency
from benchmarks.speed.filters import FORMS, measure_filters
from benchmarks.speed.load import load
from benchmarks.speed.synthetic import Synthetic

ROOT = Path(__file__).parents[2]


def test_the_command_measures_builds_tables_and_plots(tmp_path: Path) -> None:
    report = tmp_path / "out.json"
    done = subprocess.run(
        [
            *(
                sys.executable,
                "-W",
                "error",
                ROOT / "benchmarks" / "search.py",
                "--chunks",
                "800",
                "--queries",
                "2",
            ),
            *("--checked", "2", "--only", "keyword,vector,hybrid", "--json", report, "--plots", tmp_path),
        ],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "MPLCONFIGDIR": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    corpora = json.loads(report.read_text())["corpora"]
    assert set(corpora) == {"800"}
    figures = {section: corpora["800"][section]["figures"] for section in ("keyword", "vector", "hybrid")}
    for kind in Synthetic(800).questions():
        assert (figures["keyword"][kind]["checked"], figures["keyword"][kind]["wrong"]) == (2, 0)
    assert figures["vector"]["ragpg, by acl"]["recall"] >= 0.9
    assert figures["hybrid"]["search_hybrid"]["p50_ms"] > 0
    assert corpora["800"]["build"]["sizes"]
    assert "### Hybrid, 800 chunks" in done.stdout
    assert (tmp_path / "benchmark-growth.svg").stat().st_size > 1000


@pytest.fixture
def loaded(database: str) -> tuple[str, Synthetic, int]:
    source = Synthetic(400)
    load(database, source)
    with psycopg.connect(database) as connection:
        (version,) = connection.execute("select active_index_version_id from ragpg.collection").fetchall()[0]
    return database, source, version


def test_every_way_to_hide_chunks_leaves_the_share_it_should(loaded: tuple[str, Synthetic, int]) -> None:
    url, source, version = loaded
    rows = measure_filters(url, source, version, count=1, fractions=(0.02, 0.4))
    assert [row["form"] for row in rows] == list(FORMS) * 4
    for row in rows:
        assert row["visible_chunks"] == round(row["visible_percent"] * 4), row
        assert (row["ragpg"]["short_pages"], row["ragpg"]["recall"]) == (0, 1.0), row


def test_connections_at_once_are_counted(loaded: tuple[str, Synthetic, int]) -> None:
    url, source, version = loaded
    rows = measure_concurrency(url, source, version, seconds=0.3, connections=(2,))
    assert {(row["search"], row["connections"]) for row in rows} == {
        ("search_hybrid", 2),
        ("raw pgvector", 2),
    }
    assert all(row["per_second"] > 0 and row["seen_waiting_for_locks"] == 0 for row in rows)
