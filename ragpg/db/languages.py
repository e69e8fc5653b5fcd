"""The text-search configurations of the database, which documents name as their language."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from ragpg.db.flow import Call
from ragpg.db.rows import Row

# PostgreSQL's own for ISO 639 codes; which of them a database has depends on its version.
_CONFIGURATIONS: Final = {
    "ar": "arabic",
    "ca": "catalan",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "eo": "esperanto",
    "es": "spanish",
    "et": "estonian",
    "eu": "basque",
    "fi": "finnish",
    "fr": "french",
    "ga": "irish",
    "hi": "hindi",
    "hu": "hungarian",
    "hy": "armenian",
    "id": "indonesian",
    "it": "italian",
    "lt": "lithuanian",
    "ne": "nepali",
    "nl": "dutch",
    "no": "norwegian",
    "pl": "polish",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sr": "serbian",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
}
_ANY_LANGUAGE: Final = "simple"


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


def is_known(language: str, known: Collection[str]) -> bool:
    """Whether the database may have this language; quotation marks and case are left to it."""
    return language.replace('"', "").lower() in known


def configuration_for(code: str, known: Collection[str]) -> str:
    """The configuration for an ISO 639 code; ``simple`` where the database has none for that language."""
    name = _CONFIGURATIONS.get(code, _ANY_LANGUAGE)
    return name if name in known else _ANY_LANGUAGE


def is_of_one_language(configuration: str) -> bool:
    """Whether it is one of PostgreSQL's own for a language: neither ``simple`` nor made by somebody."""
    return configuration in _CONFIGURATIONS.values()


def _names(rows: Sequence[Row]) -> frozenset[str]:
    plain = {row["name"] for row in rows if row["schema"] == "pg_catalog"}
    return frozenset(name.lower() for name in plain | {f"{row['schema']}.{row['name']}" for row in rows})
