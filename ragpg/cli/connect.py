"""Which database a command talks to, and the client for it."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ragpg.config import Settings
from ragpg.errors import ConfigError

if TYPE_CHECKING:
    from ragpg.client import Client

_PASSWORD_IN_URL = re.compile(r"^([a-z+0-9]+://[^/?#:@]*:)[^/?#]*@")
_PASSWORD_AS_KEY = re.compile(r"((?:^|[?&\s])password\s*=\s*)('(?:[^'\\]|\\.)*'|[^&\s]*)")
_LIBPQ_VARIABLES = ("PGHOST", "PGHOSTADDR", "PGDATABASE", "PGSERVICE")


@dataclass(frozen=True, slots=True)
class Database:
    """A database, and where its address came from.

    ``data_dir`` is the embedded server's directory, or ``None`` for somebody's own PostgreSQL.
    """

    url: str
    data_dir: Path | None = None

    @property
    def shown(self) -> str:
        """The address without its password."""
        return hide_password(self.url)


def find_database(url: str | None, *, create: bool = False) -> Database:
    """Find the database: ``--url``, ``RAGPG_DATABASE_URL``, the embedded server, libpq's variables, in this order.

    An embedded server that is not running is started.

    Parameters
    ----------
    url
        The value of ``--url``.
    create
        Make the embedded server where nothing else names a database.

    Returns
    -------
    Database
        The database.

    Raises
    ------
    ConfigError
        Where nothing names a database.
    """
    settings = Settings.load()
    named = url or settings.database_url
    if named:
        return Database(named)
    if (settings.data_dir / "pgdata").exists():
        return start_embedded(settings.data_dir)
    if any(os.environ.get(name) for name in _LIBPQ_VARIABLES):
        return Database("postgresql://")
    if create:
        return start_embedded(settings.data_dir)
    raise ConfigError(
        f"no database: pass --url postgresql://…, or set RAGPG_DATABASE_URL or PGHOST/PGDATABASE, or make an embedded "
        f"one in {settings.data_dir} with `ragpg quickstart` (with examples) or `ragpg init` (empty)"
    )


def start_embedded(data_dir: Path) -> Database:
    """Start the embedded server, or find it running.

    Parameters
    ----------
    data_dir
        Its directory, made where it is missing.

    Returns
    -------
    Database
        The database in it.
    """
    from ragpg.db.embedded import start

    return Database(start(data_dir), data_dir)


def open_client(url: str | None, *, database: Database | None = None) -> Client:
    """Open the client for the database that the options and the environment name.

    Parameters
    ----------
    url
        The value of ``--url``.
    database
        The database, where it was found before.

    Returns
    -------
    Client
        A client to use in a ``with`` block.
    """
    target = database or find_database(url)

    from ragpg.client import Client

    return Client(target.url)


def hide_password(url: str) -> str:
    """Take the password out of a URL, for showing it.

    Parameters
    ----------
    url
        A connection URL, or a ``key=value`` connection string.

    Returns
    -------
    str
        The same with ``***`` for the password.
    """
    url = _PASSWORD_IN_URL.sub(r"\1***@", url)
    return _PASSWORD_AS_KEY.sub(r"\1***", url)
