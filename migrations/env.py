"""Alembic's environment: one transaction, one installer at a time, pgvector wherever it is."""

from __future__ import annotations

import os
import re
from logging.config import fileConfig
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from alembic import context

from ragpg.db.migrate import engine_for
from ragpg.db.models import SCHEMA, Base
from ragpg.db.sql_loader import escape

_PARTITION = re.compile(r"\b(?:chunk|embedding)_v\d+\b")
_PREFLIGHT = (Path(__file__).parent / "preflight.sql").read_text(encoding="utf-8")


def include_name(name: str | None, kind: str, parents: Any) -> bool:
    """Keep autogenerate inside the schema and away from the partitions, which SQL functions make and drop."""
    if kind == "schema":
        return name == SCHEMA
    return not (kind == "table" and name is not None and _PARTITION.fullmatch(name))


def include_object(thing: Any, name: str | None, kind: str, reflected: bool, compare_to: Any) -> bool:
    """Leave out a host application's own tables, and the foreign keys that Postgres derives for each partition."""
    if kind == "table":
        return thing.schema == SCHEMA
    if kind == "foreign_key_constraint" and reflected:
        return not any(_PARTITION.search(element.target_fullname) for element in thing.elements)
    return True


OPTIONS: dict[str, Any] = {
    "target_metadata": Base.metadata,
    "version_table_schema": SCHEMA,
    "include_schemas": True,
    "include_name": include_name,
    "include_object": include_object,
    "compare_type": True,
    "compare_server_default": True,
}


def run_offline() -> None:
    """Write a script for psql."""
    context.configure(
        dialect_name="postgresql", dialect_opts={"paramstyle": "named"}, literal_binds=True, **OPTIONS
    )
    with context.begin_transaction():
        context.execute(sa.text(escape(_PREFLIGHT.rstrip().removesuffix(";"))))
        context.run_migrations()


def run_online(connection: sa.Connection) -> None:
    """Migrate in the connection's transaction, which its owner commits."""
    search_path = connection.scalar(sa.text("select pg_catalog.current_setting('search_path')"))
    connection.execute(sa.text(escape(_PREFLIGHT)))
    context.configure(connection=connection, **OPTIONS)
    with context.begin_transaction():
        context.run_migrations()
    connection.execute(
        sa.text("select pg_catalog.set_config('search_path', :path, true)"), {"path": search_path}
    )


def run() -> None:
    """Do what ``ragpg migrate`` or the ``alembic`` command asks for."""
    if context.is_offline_mode():
        run_offline()
    elif (connection := context.config.attributes.get("connection")) is not None:
        run_online(connection)
    else:
        if context.config.config_file_name is not None:
            fileConfig(context.config.config_file_name, disable_existing_loggers=False)
        with engine_for(os.environ.get("RAGPG_DATABASE_URL")).begin() as own:
            run_online(own)


run()
