"""Installs and upgrades the schema: ``ragpg migrate``, or one call on a host application's connection."""

from __future__ import annotations

import io
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import TextIO

import alembic.context
import alembic.op
import psycopg
import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy.exc import DBAPIError

from ragpg.errors import ConfigError

from .connect import connection_string
from .errors_map import translate
from .models import SCHEMA
from .resources import migrations_dir

# Alembic keeps the running environment in module globals.
_alembic = threading.Lock()


def migrate(url: str | None = None, *, connection: sa.Connection | None = None) -> str:
    """Bring the schema to the newest revision, in one transaction, and return that revision.

    Safe to run at any time, from any number of processes at once. Needs a role that owns the database (or may
    create a schema in it), and pgvector installed where that role may not install it.

    Parameters
    ----------
    url
        Connection URL (or libpq connection string) of the database.
    connection
        A host application's connection instead. Its transaction is used and left open: the host commits it.

    Raises
    ------
    UnsupportedServer
        PostgreSQL or pgvector is missing or too old; the message says what to upgrade.
    ConfigError
        There is no URL, or it is malformed.
    DatabaseUnavailable
        The database can't be reached.
    """
    with _transaction(url, connection) as target:
        _upgrade(target)
    return head_revision()


def migration_script() -> str:
    """Return the SQL that installs the schema in an empty database, for ``psql -v ON_ERROR_STOP=1 -f``."""
    script = io.StringIO()
    with _environment():
        command.upgrade(_config(script), "head", sql=True)
    return script.getvalue()


def head_revision() -> str:
    """Return the newest revision this version of ragpg knows."""
    head = ScriptDirectory.from_config(_config()).get_current_head()
    assert head is not None
    return head


def current_revision(url: str | None = None, *, connection: sa.Connection | None = None) -> str | None:
    """Return the revision the database is at, ``None`` where ragpg is not installed.

    Parameters
    ----------
    url
        Connection URL (or libpq connection string) of the database.
    connection
        A host application's connection instead.

    Returns
    -------
    str | None
        The revision.

    Raises
    ------
    ConfigError
        There is no URL, or it is malformed.
    DatabaseUnavailable
        The database can't be reached.
    """
    with _transaction(url, connection) as target:
        context = MigrationContext.configure(target, opts={"version_table_schema": SCHEMA})
        return context.get_current_revision()


def uninstall(url: str | None = None, *, connection: sa.Connection | None = None) -> None:
    """Drop the schema with everything in it. pgvector stays.

    Parameters
    ----------
    url
        Connection URL (or libpq connection string) of the database.
    connection
        A host application's connection instead; committing is up to the host.

    Raises
    ------
    ConfigError
        There is no URL, or it is malformed.
    DatabaseUnavailable
        The database can't be reached.
    AccessDenied
        The role doesn't own the schema.
    """
    with _transaction(url, connection) as target:
        target.execute(sa.text(f"drop schema if exists {SCHEMA} cascade"))


def engine_for(url: str | None) -> sa.Engine:
    """Return an engine without a pool that connects through libpq, so every URL psycopg takes is fine here too.

    Parameters
    ----------
    url
        Connection URL (or libpq connection string) of the database.

    Returns
    -------
    sqlalchemy.Engine
        Gives up on a host that does not answer after 10 seconds, unless the URL or ``PGCONNECT_TIMEOUT`` says otherwise.

    Raises
    ------
    ConfigError
        There is no URL, or it is malformed.
    """
    if not url:
        raise ConfigError(
            "no database given: set RAGPG_DATABASE_URL or pass a URL like postgresql://user@host/database"
        )
    conninfo = connection_string(url)
    return sa.create_engine(
        "postgresql+psycopg://", creator=lambda: psycopg.connect(conninfo), poolclass=sa.NullPool
    )


def _upgrade(connection: sa.Connection) -> None:
    config = _config()
    config.attributes["connection"] = connection
    with _environment():
        command.upgrade(config, "head")


def _config(output: TextIO | None = None) -> Config:
    config = Config(output_buffer=output) if output is not None else Config()
    # ConfigParser interpolates %.
    config.set_main_option("script_location", str(migrations_dir()).replace("%", "%%"))
    return config


@contextmanager
def _environment() -> Generator[None]:
    """One run of Alembic at a time; a host's own run, if this is called from one of its revisions, goes on after it."""
    with _alembic:
        hosts = [
            proxy for module in (alembic.context, alembic.op) if (proxy := getattr(module, "_proxy", None))
        ]
        try:
            yield
        finally:
            for proxy in hosts:
                proxy._install_proxy()


@contextmanager
def _transaction(url: str | None, connection: sa.Connection | None) -> Generator[sa.Connection]:
    """The host's open transaction, or one of our own that is committed at the end."""
    try:
        if connection is not None:
            yield connection
        else:
            with engine_for(url).begin() as own:
                yield own
    except psycopg.Error as error:
        raise translate(error, installing=True) from error
    except DBAPIError as error:
        if isinstance(error.orig, psycopg.Error):
            raise translate(error.orig, installing=True) from error.orig
        raise
