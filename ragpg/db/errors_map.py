"""Turns the driver's errors into ragpg's own, by SQLSTATE."""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import contextmanager

import psycopg

from ragpg.errors import AccessDenied, DatabaseError, DatabaseUnavailable, RagpgError, SchemaNotInstalled

# invalid schema name, undefined function, undefined table, undefined object (a type)
_UNDEFINED = {"3F000", "42883", "42P01", "42704"}
_OURS = re.compile(r"\bragpg\b")
_DISK_FULL = "53100"


def translate(error: psycopg.Error) -> RagpgError:
    """Return the ragpg error for an error of the driver.

    Parameters
    ----------
    error
        What psycopg raised. Its SQLSTATE decides; an ``RG…`` state keeps the message that the function wrote.
    """
    state = error.sqlstate
    message = error.diag.message_primary or str(error).strip() or type(error).__name__
    hint = f" ({error.diag.message_hint})" if error.diag.message_hint else ""
    if state in RagpgError.by_code:
        return RagpgError.by_code[state](message + hint)
    if state in _UNDEFINED and _OURS.search(message):
        return SchemaNotInstalled(
            f"the database has no ragpg schema, or an older one: run `ragpg migrate` ({message})"
        )
    if state == "42501":
        return AccessDenied(f"{message}: ask the database's owner for `select ragpg.grant_access(…)`{hint}")
    if state == _DISK_FULL:
        return DatabaseError(
            f"the database server's disk is full, free some space and run this again: {message}"
        )
    if _connection_lost(error, state):
        return DatabaseUnavailable(f"the database can't be reached, or the connection was lost: {message}")
    return DatabaseError(f"{message}{hint}" + (f" [SQLSTATE {state}]" if state else ""))


@contextmanager
def translating() -> Generator[None]:
    """Raise ragpg's errors in place of the driver's, which stay as their ``__cause__``."""
    try:
        yield
    except psycopg.Error as error:
        raise translate(error) from error


def _connection_lost(error: psycopg.Error, state: str | None) -> bool:
    if state is None:
        return isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
    # lost connection, login refused; server stopping or starting, too many connections, no such database
    return state[:2] in {"08", "28"} or state in {"57P01", "57P02", "57P03", "57P05", "53300", "3D000"}
