"""The script of `ragpg migrate --sql`, and the frozen files it and the migrations are made of."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

from ragpg.db.migrate import current_revision, head_revision, migration_script
from tools import freeze_sql
from tools.dump_schema import GOLDEN, dump

from .conftest import schema_exists

if TYPE_CHECKING:
    from tests.conftest import PgServer

Psql = Callable[[str, str], subprocess.CompletedProcess[str]]


@pytest.mark.parametrize("vector_schema", ["public", "My Ext"])
def test_script_builds_the_same_schema(
    pg_server: PgServer, empty_database: Callable[..., str], psql: Psql, database: str, vector_schema: str
) -> None:
    url = pg_server.url(empty_database(vector_schema=vector_schema))
    done = psql(url, migration_script())
    assert (done.returncode, done.stderr) == (0, "")
    expected = dump(database, pg_server.programs)
    if vector_schema != "public":
        expected = re.sub(r"\bpublic\.(?=[\w<=])", f'"{vector_schema}".', expected)
    assert dump(url, pg_server.programs) == expected
    assert current_revision(url) == head_revision()


def test_script_that_fails_leaves_nothing(
    pg_server: PgServer, empty_database: Callable[..., str], psql: Psql
) -> None:
    url = pg_server.url(empty_database())
    script = migration_script()
    assert script.rstrip().endswith("COMMIT;")
    done = psql(url, script.replace("COMMIT;", "select 1/0; COMMIT;"))
    assert "division by zero" in done.stderr
    assert not schema_exists(url)


def test_script_names_what_is_missing(
    pg_server: PgServer, empty_database: Callable[..., str], psql: Psql
) -> None:
    done = psql(pg_server.url(empty_database(vector_schema=None)), migration_script())
    assert done.returncode != 0
    assert "run as a superuser: create extension vector" in done.stderr


def test_frozen_files_are_the_current_ones() -> None:
    assert freeze_sql.problems() == []


def test_golden_schema(pg_server: PgServer, database: str) -> None:
    if pg_server.major != 18:
        pytest.skip("the golden dump is made with PostgreSQL 18")
    assert dump(database, pg_server.programs) == GOLDEN.read_text(encoding="utf-8")


def test_backup_can_be_restored(
    pg_server: PgServer, empty_database: Callable[..., str], database: str, tmp_path: Path
) -> None:
    with psycopg.connect(database) as connection:
        connection.execute("select ragpg.create_collection('kept')")
        connection.execute("select ragpg.upsert_document('kept', 'one', 'Refunds take ten days.')")
    backup = tmp_path / "backup"
    restored = pg_server.url(empty_database(vector_schema=None))
    with psycopg.connect(
        pg_server.url(psycopg.conninfo.conninfo_to_dict(restored)["dbname"], "postgres")
    ) as admin:
        admin.execute("create extension vector")
    dump_command = [
        pg_server.programs / "pg_dump",
        "-Fc",
        "--schema=ragpg",
        f"--file={backup}",
        f"--dbname={database}",
    ]
    restore = [pg_server.programs / "pg_restore", "--exit-on-error", f"--dbname={restored}", backup]
    for command in (dump_command, restore):
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
    assert dump(restored, pg_server.programs) == dump(database, pg_server.programs)
    with psycopg.connect(restored) as connection:
        found = connection.execute(
            "select external_id from ragpg.search_keyword('kept', 'refunds')"
        ).fetchall()
    assert found == [("one",)]


class TestFreezing:
    @pytest.fixture(autouse=True)
    def _project(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        for folder in ("sql/functions", "sql/frozen", "migrations/versions"):
            (tmp_path / folder).mkdir(parents=True)
        (tmp_path / "sql/types.sql").write_text("create type a;")
        (tmp_path / "sql/functions/f.sql").write_text("create function f();")
        (tmp_path / "sql/frozen/released.json").write_text("{}")
        (tmp_path / "migrations/versions/0001_initial.py").write_text("pass")
        monkeypatch.setattr(freeze_sql, "ROOT", tmp_path)
        monkeypatch.setattr(freeze_sql, "SQL", tmp_path / "sql")
        monkeypatch.setattr(freeze_sql, "FROZEN", tmp_path / "sql/frozen")
        monkeypatch.setattr(freeze_sql, "HASHES", tmp_path / "sql/frozen/released.json")
        self.root = tmp_path

    def test_change_is_seen_until_it_is_frozen(self) -> None:
        assert freeze_sql.problems() == [
            "sql/functions/f.sql differs from sql/frozen/0001/functions/f.sql",
            "sql/types.sql differs from sql/frozen/0001/types.sql",
        ]
        freeze_sql.freeze()
        assert freeze_sql.problems() == []

    def test_removed_file_is_removed_from_the_copy(self) -> None:
        freeze_sql.freeze()
        (self.root / "sql/functions/f.sql").unlink()
        assert len(freeze_sql.problems()) == 1
        freeze_sql.freeze()
        assert freeze_sql.problems() == []
        assert not (self.root / "sql/frozen/0001/functions/f.sql").exists()

    def test_released_revision_is_immutable(self) -> None:
        freeze_sql.freeze()
        freeze_sql.release()
        assert freeze_sql.problems() == []
        with pytest.raises(SystemExit, match="0001 is released"):
            freeze_sql.freeze()
        (self.root / "sql/frozen/0001/types.sql").write_text("create type b;")
        assert (
            "revision 0001 is released and was changed: restore it and write a new migration"
            in freeze_sql.problems()
        )

    def test_released_migration_is_immutable_too(self) -> None:
        freeze_sql.freeze()
        freeze_sql.release()
        (self.root / "migrations/versions/0001_initial.py").write_text("raise SystemExit")
        assert len(freeze_sql.problems()) == 1

    def test_next_revision_is_frozen_beside_it(self) -> None:
        freeze_sql.freeze()
        freeze_sql.release()
        (self.root / "migrations/versions/0002_next.py").write_text("pass")
        (self.root / "sql/types.sql").write_text("create type b;")
        freeze_sql.freeze()
        assert freeze_sql.problems() == []
        assert (self.root / "sql/frozen/0001/types.sql").read_text() == "create type a;"
