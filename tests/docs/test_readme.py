"""The README's runnable blocks run, each on a database of its own, and do what the text says."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
import sqlalchemy as sa

from .pages import ROOT, runnable_blocks

README = ROOT / "README.md"


def run_python(block: str, url: str) -> dict[str, Any]:
    names: dict[str, Any] = {"url": url}
    try:
        exec(compile(block, "README.md", "exec"), names)
    finally:
        for value in names.values():
            if isinstance(value, sa.Engine):
                value.dispose()
    return names


def test_the_blocks_are_found() -> None:
    assert len(runnable_blocks(README, "python")) == 2
    assert len(runnable_blocks(README, "sql")) == 1


def test_sql_door(database: str) -> None:
    with psycopg.connect(database) as connection:
        statements = runnable_blocks(README, "sql")[0].split(";\n")
        rows = [
            connection.execute(statement.encode()).fetchall() for statement in statements if statement.strip()
        ]
    external_id, content, score = rows[-1][0]
    assert external_id == "faq-1"
    assert "10 business days" in content
    assert score > 0


def test_python_door(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    names = run_python(runnable_blocks(README, "python")[0], database)
    assert names["hits"][0].external_id == "public/returns-and-refunds.md"
    assert names["answer"].answered
    assert names["answer"].citations


def test_application_door(database: str, capsys: pytest.CaptureFixture[str]) -> None:
    run_python(runnable_blocks(README, "python")[1], database)
    assert "Refunds" in capsys.readouterr().out
    with psycopg.connect(database) as connection:
        count = connection.execute("select count(*) from ragpg.document where external_id = '7'").fetchone()
    assert count == (1,)
