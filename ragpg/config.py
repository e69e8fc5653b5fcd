"""Settings: an argument comes first, then the environment, then the default. Reads nothing at import."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ragpg.errors import ConfigError

_KEY_VALUE = re.compile(r"\s*\w+\s*=")
_SCHEME = re.compile(r"[A-Za-z][\w+.-]*")
_DEFAULT_DATA_DIR = Path(".ragpg")
_DEFAULT_CHAT_MODEL = "gpt-4o-mini"
_DEFAULT_TIMEOUT = 60.0
_DEFAULT_CONCURRENCY = 4


@dataclass(frozen=True, slots=True)
class Settings:
    """What ragpg needs to know about its surroundings.

    ``Settings()`` holds the defaults of a machine without any variable set; :meth:`from_env` reads the environment.

    Attributes
    ----------
    database_url
        ``RAGPG_DATABASE_URL``: a ``postgresql://`` URL or a libpq connection string. ``None`` leaves the choice to
        libpq's own ``PG*`` variables or to the embedded server.
    data_dir
        ``RAGPG_DATA_DIR``: directory of the embedded server.
    embedder
        ``RAGPG_EMBEDDER``: embedder of new collections, by default ``openai:text-embedding-3-small`` where
        ``OPENAI_API_KEY`` is set, else ``local``.
    chat_model
        ``RAGPG_CHAT_MODEL``: model that writes answers, by default ``gpt-4o-mini`` where ``OPENAI_API_KEY`` is set.
        ``None`` (the word ``none`` in the variable) means extractive answers.
    openai_base_url
        ``RAGPG_OPENAI_BASE_URL``, else ``OPENAI_BASE_URL``: an OpenAI-compatible endpoint other than OpenAI's.
    request_timeout
        ``RAGPG_REQUEST_TIMEOUT``: seconds that one request to a remote model may take.
    embed_concurrency
        ``RAGPG_EMBED_CONCURRENCY``: requests to a remote embedding model that may run at the same time.
    """

    # A connection string may hold a password, so it stays out of repr and with it out of logs and tracebacks.
    database_url: str | None = field(default=None, repr=False)
    data_dir: Path = _DEFAULT_DATA_DIR
    embedder: str = "local"
    chat_model: str | None = None
    openai_base_url: str | None = None
    request_timeout: float = _DEFAULT_TIMEOUT
    embed_concurrency: int = _DEFAULT_CONCURRENCY

    @classmethod
    def from_env(cls, environ: Mapping[str, str] | None = None, **overrides: Any) -> Settings:
        """Read the settings from the environment.

        Parameters
        ----------
        environ
            The variables; ``os.environ`` by default.
        **overrides
            Fields of :class:`Settings` that win over the environment; ``None`` means "not given".

        Returns
        -------
        Settings
            The settings.

        Raises
        ------
        ConfigError
            Where a variable is malformed. The message names it.
        """
        env = os.environ if environ is None else environ
        given = {name: value for name, value in overrides.items() if value is not None}
        unknown = given.keys() - {item.name for item in fields(cls)}
        if unknown:
            raise ConfigError(f"unknown setting {', '.join(sorted(unknown))}; there are: {_names()}")
        has_key = _text(env, "OPENAI_API_KEY") is not None
        settings = cls(
            database_url=None if "database_url" in given else _database_url(env),
            data_dir=Path(_text(env, "RAGPG_DATA_DIR") or _DEFAULT_DATA_DIR).expanduser(),
            embedder=_text(env, "RAGPG_EMBEDDER")
            or ("openai:text-embedding-3-small" if has_key else "local"),
            chat_model=_chat_model(env, has_key=has_key),
            openai_base_url=None if "openai_base_url" in given else _base_url(env),
            request_timeout=_DEFAULT_TIMEOUT if "request_timeout" in given else _timeout(env),
            embed_concurrency=_DEFAULT_CONCURRENCY if "embed_concurrency" in given else _concurrency(env),
        )
        return replace(settings, **given)


def checked_database_url(value: str, name: str) -> str:
    """Return a database URL or libpq connection string as it is, if it is one.

    Parameters
    ----------
    value
        The URL or string.
    name
        Where it comes from, for the message.

    Raises
    ------
    ConfigError
        Where it is neither.
    """
    if value.startswith(("postgresql://", "postgres://")) or _KEY_VALUE.match(value):
        return value
    scheme, separator, _ = value.partition("://")
    # Only the scheme is quoted: the rest may hold a password.
    found = f"starts with {scheme}://" if separator and _SCHEME.fullmatch(scheme) else "is neither"
    raise ConfigError(
        f"{name} must be postgresql://user@host/database or a libpq string such as "
        f"'host=localhost dbname=app', but it {found}"
    )


def _names() -> str:
    return ", ".join(item.name for item in fields(Settings))


def _text(env: Mapping[str, str], name: str) -> str | None:
    return env.get(name, "").strip() or None


def _database_url(env: Mapping[str, str]) -> str | None:
    value = _text(env, "RAGPG_DATABASE_URL")
    return None if value is None else checked_database_url(value, "RAGPG_DATABASE_URL")


def _chat_model(env: Mapping[str, str], *, has_key: bool) -> str | None:
    value = _text(env, "RAGPG_CHAT_MODEL")
    if value is None:
        return _DEFAULT_CHAT_MODEL if has_key else None
    return None if value.lower() == "none" else value


def _base_url(env: Mapping[str, str]) -> str | None:
    for name in ("RAGPG_OPENAI_BASE_URL", "OPENAI_BASE_URL"):
        value = _text(env, name)
        if value is None:
            continue
        try:
            parts = urlsplit(value)
            usable = parts.scheme in ("http", "https") and bool(parts.hostname)
        except ValueError:
            usable = False
        if not usable:
            raise ConfigError(f"{name} must be an http:// or https:// URL such as http://localhost:11434/v1")
        return value
    return None


def _timeout(env: Mapping[str, str]) -> float:
    value = _text(env, "RAGPG_REQUEST_TIMEOUT")
    if value is None:
        return _DEFAULT_TIMEOUT
    try:
        seconds = float(value)
    except ValueError:
        seconds = math.nan
    if not (math.isfinite(seconds) and seconds > 0):
        raise ConfigError(f"RAGPG_REQUEST_TIMEOUT must be a number of seconds over 0, not {value!r}")
    return seconds


def _concurrency(env: Mapping[str, str]) -> int:
    value = _text(env, "RAGPG_EMBED_CONCURRENCY")
    if value is None:
        return _DEFAULT_CONCURRENCY
    if not (value.isascii() and value.isdigit() and 1 <= int(value) <= 64):
        raise ConfigError(f"RAGPG_EMBED_CONCURRENCY must be a whole number from 1 to 64, not {value!r}")
    return int(value)
