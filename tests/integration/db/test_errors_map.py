from __future__ import annotations

import psycopg
import pytest
from psycopg import errors

from ragpg.db.errors_map import translate, translating
from ragpg.errors import (
    AccessDenied,
    CollectionNotFound,
    DatabaseError,
    DatabaseUnavailable,
    InvalidArgument,
    RagpgError,
    SchemaNotInstalled,
    UnsupportedServer,
)
from tests.conftest import PgServer


def failure(connection: psycopg.Connection, sql: str) -> RagpgError:
    with pytest.raises(RagpgError) as caught, connection.transaction(), translating():
        connection.execute(sql)
    assert isinstance(caught.value.__cause__, psycopg.Error)
    return caught.value


def raising(state: str, message: str = "told", hint: str = "") -> str:
    return f"do $$ begin raise exception '{message}' using errcode = '{state}', hint = '{hint}'; end $$"


@pytest.mark.parametrize(("state", "expected"), sorted(RagpgError.by_code.items()))
def test_every_own_state_has_its_class(
    conn: psycopg.Connection, state: str, expected: type[RagpgError]
) -> None:
    error = failure(conn, raising(state))
    assert type(error) is expected
    assert str(error) == "told"


def test_hint_is_kept(conn: psycopg.Connection) -> None:
    error = failure(conn, raising("RG001", "no collection x", "create it"))
    assert type(error) is CollectionNotFound
    assert str(error) == "no collection x (create it)"


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("select ragpg.no_such_function()", SchemaNotInstalled),
        ("select from ragpg.no_such_table", SchemaNotInstalled),
        ("select null::ragpg.no_such_type", SchemaNotInstalled),
        ("select no_such_function()", DatabaseError),
        ("select from no_such_table", DatabaseError),
        ("select from no_such_schema.no_such_table", DatabaseError),
        ("select from pg_authid", AccessDenied),
        ("select 1 / 0", DatabaseError),
        (raising("53100", "could not extend file: No space left on device"), DatabaseError),
        (raising("57014", "canceling statement due to statement timeout"), DatabaseError),
        (raising("57P01", "terminating connection due to administrator command"), DatabaseUnavailable),
        (raising("53300", "too many clients"), DatabaseUnavailable),
        (raising("08006", "connection failure"), DatabaseUnavailable),
        (raising("3D000", "database x does not exist"), DatabaseUnavailable),
    ],
)
def test_by_state(conn: psycopg.Connection, sql: str, expected: type[RagpgError]) -> None:
    assert type(failure(conn, sql)) is expected


def test_no_schema_at_all(conn: psycopg.Connection) -> None:
    conn.execute("drop schema ragpg cascade")
    for sql in ("select ragpg.search_keyword('a', 'b')", "select from ragpg.collection"):
        error = failure(conn, sql)
        assert type(error) is SchemaNotInstalled
        assert "ragpg migrate" in str(error)


def test_disk_full_says_so(conn: psycopg.Connection) -> None:
    assert "disk is full" in str(failure(conn, raising("53100")))


def test_refused_connection() -> None:
    with pytest.raises(DatabaseUnavailable, match="can't be reached"), translating():
        psycopg.connect("postgresql://nobody@127.0.0.1:1/nothing")


@pytest.mark.parametrize(("user", "database"), [("nobody_at_all", None), (None, "no_such_database")])
def test_a_role_or_database_that_is_missing_is_called_so(
    pg_server: PgServer, shared_database: str, user: str | None, database: str | None
) -> None:
    name = database or str(psycopg.conninfo.conninfo_to_dict(shared_database)["dbname"])
    url = pg_server.url(name, user) if user else pg_server.url(name)
    with pytest.raises(DatabaseUnavailable) as caught, translating():
        psycopg.connect(url)
    missing = f'role "{user}"' if user else f'database "{database}"'
    assert str(caught.value).startswith(f"there is no {missing}: create it")
    assert "can't be reached" not in str(caught.value)


def test_a_server_that_refuses_is_not_called_unreachable() -> None:
    refused = errors.OperationalError(
        'connection failed: FATAL:  password authentication failed for user "x"'
    )
    error = translate(refused)
    assert type(error) is DatabaseUnavailable
    assert str(error).startswith("the database server refused the connection: ")


@pytest.mark.parametrize(
    ("message", "advice"),
    [
        ("permission denied for schema ragpg", "grant_access(role, 'reader'), or 'writer'"),
        ("permission denied for function search_hybrid", "grant_access(role, 'reader')"),
        ("permission denied for function collection_stats", "grant_access(role, 'writer')"),
        ("permission denied for function grant_access", "only the owner of schema ragpg"),
        ("permission denied for database app", "grant create on database app to"),
    ],
)
def test_a_refusal_says_whom_to_ask_for_what(conn: psycopg.Connection, message: str, advice: str) -> None:
    error = failure(conn, raising("42501", message))
    assert type(error) is AccessDenied
    assert advice in str(error)


def test_closed_connection(shared_database: str) -> None:
    connection = psycopg.connect(shared_database)
    connection.close()
    with pytest.raises(DatabaseUnavailable), translating():
        connection.execute("select 1")


def test_mistake_in_the_call_is_no_lost_connection() -> None:
    assert (
        type(translate(errors.ProgrammingError("the query has 1 placeholder but 0 parameters")))
        is DatabaseError
    )


@pytest.mark.parametrize(
    "statement",
    ["select 99999999999::int", "select '[1'::vector", "select '[NaN]'::vector", "select '{a'::text[]"],
)
def test_a_value_that_cannot_be_read_is_an_invalid_argument(conn: psycopg.Connection, statement: str) -> None:
    assert type(failure(conn, statement)) is InvalidArgument


def test_a_mistake_of_our_own_is_not_the_callers(conn: psycopg.Connection) -> None:
    assert type(failure(conn, "select 1 / 0")) is DatabaseError


def test_unsupported_server_keeps_its_text(conn: psycopg.Connection) -> None:
    assert type(failure(conn, raising("RG012"))) is UnsupportedServer
