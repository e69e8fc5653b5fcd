"""Turns the driver's errors into ragpg's own, by SQLSTATE."""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import contextmanager

import psycopg

from ragpg.errors import (
    AccessDenied,
    DatabaseError,
    DatabaseUnavailable,
    InvalidArgument,
    RagpgError,
    SchemaNotInstalled,
)

# invalid schema name, undefined function, undefined table, undefined object (a type)
_UNDEFINED = {"3F000", "42883", "42P01", "42704"}
_OURS = re.compile(r"\bragpg\b")
# PostgreSQL's own words are all there is to tell these apart by; in another language the advice is the general one.
_DATABASE = re.compile("permission denied for database (.+)")
_FUNCTION = re.compile(r"permission denied for function (\w+)")
_MISSING = re.compile('(database|role) (".+") does not exist')
_READING = ("search_", "explain_search", "_index_version", "_current_")
_OWNERS_FUNCTIONS = {"find_document", "grant_access", "revoke_access"}
_DISK_FULL = "53100"
# a number beyond its type, a malformed literal, a vector with NaN or infinity
_UNREADABLE = {"22003", "22P02", "22000"}


def translate(error: psycopg.Error, *, installing: bool = False) -> RagpgError:
    """Return the ragpg error for an error of the driver.

    Parameters
    ----------
    error
        What psycopg raised. Its SQLSTATE decides; an ``RG…`` state keeps the message that the function wrote.
    installing
        Whether the schema itself is installed, changed or dropped, which no level of ``grant_access`` allows.
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
        advice = _advice_for_owner(message) if installing else _advice(message)
        return AccessDenied(f"{message}: {advice}{hint}")
    if state in _UNREADABLE:
        return InvalidArgument(f"{message}{hint}")
    if state == _DISK_FULL:
        return DatabaseError(
            f"the database server's disk is full, free some space and run this again: {message}"
        )
    if _connection_lost(error, state):
        return DatabaseUnavailable(_why_unavailable(message, state))
    return DatabaseError(f"{message}{hint}" + (f" [SQLSTATE {state}]" if state else ""))


def _advice(message: str) -> str:
    """Whom to ask for what, where PostgreSQL refuses a statement."""
    if _DATABASE.search(message):
        return _advice_for_owner(message)
    function = _FUNCTION.search(message)
    if function is None:
        levels = "'reader'), or 'writer' to store documents"
    elif function[1] in _OWNERS_FUNCTIONS:
        return "only the owner of schema ragpg may call it"
    else:
        levels = "'reader')" if function[1].startswith(_READING) else "'writer')"
    return f"ask the owner of schema ragpg for ragpg.grant_access(role, {levels}"


def _advice_for_owner(message: str) -> str:
    if database := _DATABASE.search(message):
        return f"let the database's owner run `grant create on database {database[1]} to …`, with this role's name"
    return "run this as the owner of schema ragpg"


def _why_unavailable(message: str, state: str | None) -> str:
    if missing := _MISSING.search(message):
        return f"there is no {missing[1]} {missing[2]}: create it, or name another in the connection URL ({message})"
    if state is None and "FATAL:" in message:
        return f"the database server refused the connection: {message}"
    return f"the database can't be reached, or the connection was lost: {message}"


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
