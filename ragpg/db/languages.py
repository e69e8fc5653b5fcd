"""The text-search configurations of the database, which documents name as their language."""

from __future__ import annotations

from collections.abc import Sequence

from ragpg.db.flow import Call
from ragpg.db.rows import Row


def known_languages() -> Call[frozenset[str]]:
    """What a language can be called, in lower case: ``english``, and ``schema.name``."""
    return Call(
        """
        select namespace.nspname as schema, config.cfgname as name
        from pg_catalog.pg_ts_config as config
        join pg_catalog.pg_namespace as namespace on namespace.oid = config.cfgnamespace
        """,
        {},
        _names,
    )


def is_known(language: str, known: frozenset[str]) -> bool:
    """Whether the database may have this language; quotation marks and case are left to it."""
    return language.replace('"', "").lower() in known


def _names(rows: Sequence[Row]) -> frozenset[str]:
    plain = {row["name"] for row in rows if row["schema"] == "pg_catalog"}
    return frozenset(name.lower() for name in plain | {f"{row['schema']}.{row['name']}" for row in rows})
