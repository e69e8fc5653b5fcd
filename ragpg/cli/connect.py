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
        Make the embedded server where neither option nor variable names a database.

    Returns
    -------
    Database
        The database.

    Raises
    ------
    ConfigError
        Where nothing names a database.
    """
    settings = Settings.from_env(database_url=url or None)
    if settings.database_url:
        return Database(settings.database_url)

    from ragpg.db.embedded import EmbeddedServer

    server = EmbeddedServer(settings.data_dir)
    if create or server.data.exists():
        return Database(server.start(), settings.data_dir)
    if libpq_names_one():
        return Database("postgresql://")
    raise ConfigError(
        f"no database: pass --url postgresql://…, or set RAGPG_DATABASE_URL or PGHOST/PGDATABASE, or make an embedded "
        f"one in {settings.data_dir} with `ragpg quickstart` (with examples) or `ragpg init` (empty)"
    )


def libpq_names_one() -> bool:
    """Tell whether libpq's own variables name a database.

    Returns
    -------
    bool
        True where they name a host, a database or a service.
    """
    return any(os.environ.get(name) for name in _LIBPQ_VARIABLES)


def open_client(
    url: str | None, *, database: Database | None = None, chat_model: str | None = None
) -> Client:
    """Open the client for the database that the options and the environment name.

    Parameters
    ----------
    url
        The value of ``--url``.
    database
        The database, where it was found before.
    chat_model
        The model that writes answers; by default what the environment says.

    Returns
    -------
    Client
        A client to use in a ``with`` block.
    """
    target = database or find_database(url)

    from ragpg.client import Client

    return Client(target.url, chat_model=chat_model)


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
