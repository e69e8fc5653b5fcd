from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

if TYPE_CHECKING:
    from tests.conftest import PgServer


@pytest.fixture
def empty_database(pg_server: PgServer) -> Iterator[Callable[..., str]]:
    """Makes databases that ragpg is not installed in, and returns their names."""
    names: list[str] = []

    def make(vector_schema: str | None = "public") -> str:
        names.append(pg_server.create_database(vector_schema=vector_schema))
        return names[-1]

    yield make
    for name in names:
        pg_server.drop_database(name)


@pytest.fixture
def psql(pg_server: PgServer, tmp_path: Path) -> Callable[[str, str], subprocess.CompletedProcess[str]]:
    """Runs a script with psql, as `ragpg migrate --sql | psql` does."""

    def run(url: str, script: str) -> subprocess.CompletedProcess[str]:
        command = [pg_server.programs / "psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", url]
        return subprocess.run(command, input=script, capture_output=True, encoding="utf-8", check=False)

    return run


def schema_exists(url: str) -> bool:
    with psycopg.connect(url) as connection:
        row = connection.execute("select to_regnamespace('ragpg') is not null").fetchone()
        return row == (True,)
