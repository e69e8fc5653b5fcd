"""Connection strings: checked before libpq sees them, and never waiting for a dead host without an end."""

from __future__ import annotations

import os

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from ragpg.config import checked_database_url
from ragpg.errors import ConfigError

_CONNECT_TIMEOUT = 10


def connection_string(url: str) -> str:
    """Return what to connect with.

    Parameters
    ----------
    url
        A ``postgresql://`` URL or libpq string, also with SQLAlchemy's ``postgresql+psycopg://``. An empty one leaves everything to
        libpq: ``PGHOST``, ``PGDATABASE``, ``PGSERVICE``, its defaults.

    Returns
    -------
    str
        The same, with a time-out for connecting where neither it nor ``PGCONNECT_TIMEOUT`` sets one.

    Raises
    ------
    ConfigError
        Where it is neither. The message doesn't quote it, because it may hold a password.
    """
    plain = url.replace("postgresql+psycopg://", "postgresql://", 1)
    if plain:
        checked_database_url(plain, "the database URL")
    try:
        given = conninfo_to_dict(plain)
    except psycopg.ProgrammingError:
        # libpq's message quotes the part that it stumbles over.
        raise ConfigError(
            "the database URL can't be read: check the names of its options; in a URL, write special characters of a "
            "password as %XX (p%40ss for p@ss); in a libpq string, put a value with spaces into single quotes"
        ) from None
    if "connect_timeout" in given or "PGCONNECT_TIMEOUT" in os.environ:
        return plain
    return make_conninfo(plain, connect_timeout=_CONNECT_TIMEOUT)
