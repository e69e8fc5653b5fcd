"""Installing: as whom, where pgvector is, how many at once, in whose transaction."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

import psycopg
import pytest
import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.operations import Operations

from ragpg.db.embedded import OWNER
from ragpg.db.migrate import current_revision, engine_for, head_revision, migrate, uninstall
from ragpg.db.resources import migrations_dir
from ragpg.errors import AccessDenied, ConfigError, DatabaseUnavailable, UnsupportedServer
from tools.dump_schema import dump

from .conftest import schema_exists

if TYPE_CHECKING:
    from tests.conftest import PgServer

MakeDatabase = Callable[..., str]
USE = """
    select ragpg.create_collection('things', p_embedding_provider => 'hash', p_embedding_model => 'hash',
        p_embedding_dimensions => 3);
    select ragpg.upsert_document('things', 'one', 'Refunds take ten days.',
        p_chunks => '[{"char_start": 0, "char_end": 22}]', p_embeddings => '{"[1,0,0]"}');
"""
SEARCH = (
    "select external_id, keyword_rank, vector_rank from ragpg.search_hybrid('things', 'refunds', '[1,0,0]')"
)


def use(url: str) -> None:
    """Do what needs every type and index of pgvector."""
    with psycopg.connect(url) as connection:
        connection.execute(USE)
        assert connection.execute(SEARCH).fetchall() == [("one", 1, 1)]


def test_owner_without_superuser_rights_installs(pg_server: PgServer, empty_database: MakeDatabase) -> None:
    url = pg_server.url(empty_database())
    with psycopg.connect(url) as connection:
        rights = "select rolsuper, rolcreaterole, rolcreatedb from pg_roles where rolname = current_user"
        assert connection.execute(rights).fetchone() == (False, False, False)
    assert current_revision(url) is None
    assert migrate(url) == head_revision() == current_revision(url)
    use(url)


def test_installing_again_changes_nothing(pg_server: PgServer, database: str) -> None:
    before = dump(database, pg_server.programs)
    migrate(database)
    assert dump(database, pg_server.programs) == before


@pytest.mark.parametrize("schema", ["extensions", "My Ext", 'odd "name", %I :x'])
def test_pgvector_in_any_schema(pg_server: PgServer, empty_database: MakeDatabase, schema: str) -> None:
    url = pg_server.url(empty_database(vector_schema=schema))
    migrate(url)
    use(url)


def test_superuser_gets_pgvector_installed(pg_server: PgServer, empty_database: MakeDatabase) -> None:
    url = pg_server.url(empty_database(vector_schema=None), "postgres")
    migrate(url)
    use(url)


def test_schema_that_is_there_already_is_used(pg_server: PgServer, empty_database: MakeDatabase) -> None:
    name = empty_database()
    pg_server.run(f"create schema ragpg authorization {OWNER}", name)
    pg_server.run(f"revoke create on database {name} from {OWNER}", name)
    migrate(pg_server.url(name))
    use(pg_server.url(name))


def test_twenty_installs_at_once_leave_one_schema(
    pg_server: PgServer, empty_database: MakeDatabase, database: str
) -> None:
    url = pg_server.url(empty_database())
    program = "import sys; from ragpg.db.migrate import migrate; print(migrate(sys.argv[1]))"
    installers = [
        subprocess.Popen(
            [sys.executable, "-W", "error", "-c", program, url],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        for _ in range(20)
    ]
    outcomes = [(*installer.communicate(), installer.returncode) for installer in installers]
    assert outcomes == [(head_revision() + "\n", "", 0)] * 20
    assert dump(url, pg_server.programs) == dump(database, pg_server.programs)


def test_hosts_transaction_is_left_to_the_host(pg_server: PgServer, empty_database: MakeDatabase) -> None:
    url = pg_server.url(empty_database())
    with engine_for(url).connect() as connection:
        connection.execute(sa.text("create schema app"))
        connection.execute(sa.text("set local search_path = app"))
        migrate(connection=connection)
        assert connection.in_transaction()
        assert connection.scalar(sa.text("show search_path")) == "app"
        assert current_revision(connection=connection) == head_revision()
        assert not schema_exists(url)
        connection.rollback()
        assert not schema_exists(url)

        migrate(connection=connection)
        connection.commit()
    assert current_revision(url) == head_revision()


def test_from_a_revision_of_the_hosts_own_alembic(pg_server: PgServer, empty_database: MakeDatabase) -> None:
    from alembic import op

    url = pg_server.url(empty_database())
    with engine_for(url).begin() as connection, Operations.context(MigrationContext.configure(connection)):
        op.execute("create table app_before (id int)")
        migrate(connection=op.get_bind())
        op.execute("create table app_after (id int)")
    with psycopg.connect(url) as check:
        assert check.execute("select to_regclass('app_after') is not null").fetchone() == (True,)
    use(url)


def test_lost_connection_leaves_nothing(
    pg_server: PgServer, empty_database: MakeDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = empty_database()
    url = pg_server.url(name)
    monkeypatch.setattr("ragpg.db.sql_loader.load_sql", lambda revision: ["select pg_sleep(60)"])
    errors: list[BaseException] = []

    def install() -> None:
        try:
            migrate(url)
        except DatabaseUnavailable as error:
            errors.append(error)

    installer = threading.Thread(target=install)
    installer.start()
    kill = f"select pg_terminate_backend(pid) from pg_stat_activity where datname = '{name}' and query like '%pg_sleep%'"
    with psycopg.connect(pg_server.superuser_url, autocommit=True) as admin:
        while not admin.execute(kill).fetchall():
            assert installer.is_alive()
    installer.join()
    assert len(errors) == 1
    assert not schema_exists(url)

    monkeypatch.undo()
    migrate(url)
    use(url)


def test_pgvector_not_installed_and_not_allowed(pg_server: PgServer, empty_database: MakeDatabase) -> None:
    url = pg_server.url(empty_database(vector_schema=None))
    with pytest.raises(UnsupportedServer, match="run as a superuser: create extension vector"):
        migrate(url)
    assert not schema_exists(url)


def test_server_without_pgvector(pg_server: PgServer, empty_database: MakeDatabase) -> None:
    if pg_server.major < 18:
        pytest.skip("needs extension_control_path, which came with PostgreSQL 18")
    name = empty_database(vector_schema=None)
    pg_server.run(f"alter database {name} set extension_control_path = '/nowhere'")
    with pytest.raises(UnsupportedServer, match=r"has no pgvector: install version 0\.8\.4 or newer"):
        migrate(pg_server.url(name))


@pytest.mark.parametrize(
    ("version", "accepted"), [("0.8.3", False), ("0.7", False), ("0.8.4", True), ("0.10.0", True)]
)
def test_floor_of_pgvector(
    pg_server: PgServer, empty_database: MakeDatabase, version: str, accepted: bool
) -> None:
    name = empty_database()
    pg_server.run(f"update pg_extension set extversion = '{version}' where extname = 'vector'", name)
    if accepted:
        migrate(pg_server.url(name))
        return
    with pytest.raises(
        UnsupportedServer, match=rf"pgvector {version} is too old.*alter extension vector update"
    ):
        migrate(pg_server.url(name))
    assert not schema_exists(pg_server.url(name))


def test_floor_of_postgres(conn: psycopg.Connection) -> None:
    preflight = (migrations_dir() / "preflight.sql").read_text(encoding="utf-8")
    assert preflight.count("< 150000") == 1
    with pytest.raises(psycopg.DatabaseError, match="needs PostgreSQL 15 or newer") as caught:
        conn.execute(preflight.replace("< 150000", "< 990000"))
    assert caught.value.sqlstate == "RG012"


def test_role_that_may_not_create_a_schema(pg_server: PgServer, empty_database: MakeDatabase) -> None:
    name = empty_database()
    pg_server.run("create role visitor login")
    try:
        with pytest.raises(AccessDenied, match="permission denied for database") as caught:
            migrate(pg_server.url(name, "visitor"))
        assert f"grant create on database {name} to" in str(caught.value)
        assert "grant_access" not in str(caught.value)
    finally:
        pg_server.run("drop role visitor")


def test_no_server_there() -> None:
    with pytest.raises(DatabaseUnavailable, match="can't be reached"):
        migrate("postgresql://nobody@127.0.0.1:1/nothing")


@pytest.mark.parametrize("url", [None, ""])
def test_no_url(url: str | None) -> None:
    with pytest.raises(ConfigError, match="RAGPG_DATABASE_URL"):
        migrate(url)


def test_uninstall_leaves_the_rest(pg_server: PgServer, database: str) -> None:
    use(database)
    with psycopg.connect(database) as connection:
        connection.execute("create schema app create table app.kept (id int, embedding vector(3))")
    uninstall(database)
    uninstall(database)
    assert current_revision(database) is None
    with psycopg.connect(database) as connection:
        assert connection.execute("select count(*) from app.kept").fetchone() == (0,)
    migrate(database)
    use(database)


def test_models_match_the_migrations(database: str) -> None:
    use(database)
    with psycopg.connect(database) as connection:
        connection.execute("create table not_ours (id int primary key)")
    with engine_for(database).begin() as connection:
        config = Config()
        config.set_main_option("script_location", str(migrations_dir()))
        config.attributes["connection"] = connection
        command.check(config)
