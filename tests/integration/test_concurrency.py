"""A search waits for nobody, and nobody waits for a search; what has to wait is told in docs/operations.md."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from tests.sql.helpers import create, upsert

if TYPE_CHECKING:
    from tests.conftest import PgServer

Connection = psycopg.Connection[Any]

SEARCHES = {
    "search_keyword": "select external_id from ragpg.search_keyword('c', 'refunds', p_principals => '{group:hr}', p_expand => 'parent')",
    "search_vector": "select external_id from ragpg.search_vector('c', '[1,0,0]', p_filter => '$.year == 2024', p_expand => 'document')",
    "search_hybrid": "select external_id from ragpg.search_hybrid('c', 'refunds', '[1,0,0]', p_feedback => 3, p_expand => 'neighbors:1')",
    "search_hybrid without an embedding": "select external_id from ragpg.search_hybrid('c', 'refunds -pay', p_fusion => 'score')",
    "search_keyword, visible idf": "select external_id from ragpg.search_keyword('c', 'refunds', p_idf => 'visible')",
    "explain_search": "select ragpg.explain_search('c', 'refunds', '[1,0,0]')",
    "find_document": "select ragpg.find_document('c', 'd1', 'refunds', '[1,0,0]')",
    "collection_stats": "select name from ragpg.collection_stats()",
}
# Each is left open in a transaction while another session searches, and the other way round.
CHANGES = {
    "ingest, new": "select ragpg.upsert_document('c', 'new', 'Refunds, again.')",
    "ingest, changed": "select ragpg.upsert_document('c', 'd1', 'Refunds take one day.')",
    "ingest into another version": "select ragpg.upsert_document('c', 'd1', 'Refunds take ten days.', p_index_version => {other})",
    "set_acl": "select ragpg.set_acl('c', 'd1', array['group:hr'])",
    "delete_document": "select ragpg.delete_document('c', 'd1')",
    "refresh_statistics": "select ragpg.refresh_statistics('c')",
    "create_index_version": "select ragpg.create_index_version('c')",
    "activate_index_version": "select ragpg.activate_index_version('c', {other})",
    "create_collection": "select ragpg.create_collection('more')",
}
DROPS = {
    "drop_index_version": "select ragpg.drop_index_version('c', {empty})",
    "drop_collection": "select ragpg.drop_collection('d')",
}


@pytest.fixture(scope="module")
def filled(pg_server: PgServer, template: str) -> Iterator[tuple[str, dict[str, int]]]:
    """A database to clone: a collection ``c`` with three index versions, the last of them empty, and a collection ``d``."""
    name = pg_server.create_database(template=template)
    with psycopg.connect(pg_server.url(name), autocommit=True) as connection:
        create(connection)
        create(connection, "d")
        for number in range(4):
            upsert(
                connection,
                f"d{number}",
                [f"Refunds take ten days, number {number}.", "Nobody knows why."],
                [[1.0, number, 0.0], [0.0, 1.0, number]],
                metadata='{"year": 2024}',
            )
        (other,) = connection.execute("select ragpg.create_index_version('c')").fetchone() or (0,)
        (empty,) = connection.execute("select ragpg.create_index_version('c')").fetchone() or (0,)
        connection.execute(
            "select ragpg.upsert_document('c', external_id, content, p_metadata => metadata, p_index_version => %s)"
            " from ragpg.document",
            (other,),
        )
        connection.execute("select ragpg.refresh_statistics('c')")
    yield name, {"other": other, "empty": empty}
    pg_server.drop_database(name)


@pytest.fixture
def versions(filled: tuple[str, dict[str, int]]) -> dict[str, int]:
    """The ids of index versions of ``c`` that are not active."""
    return filled[1]


@pytest.fixture
def database(pg_server: PgServer, filled: tuple[str, dict[str, int]]) -> Iterator[str]:
    """The owner's URL of a clone."""
    name = pg_server.create_database(template=filled[0])
    yield pg_server.url(name)
    pg_server.drop_database(name)


@pytest.fixture
def sessions(database: str) -> Iterator[tuple[Connection, Connection]]:
    """Two connections that rather fail than wait."""
    with psycopg.connect(database) as first, psycopg.connect(database) as second:
        for connection in (first, second):
            connection.execute("set lock_timeout = '100ms'")
            connection.commit()
        yield first, second


def test_a_search_locks_nothing_but_the_tables_it_reads(sessions: tuple[Connection, Connection]) -> None:
    connection = sessions[0]
    locks = "select locktype, mode, relation::regclass::text from pg_locks where pid = pg_backend_pid()"
    for name, search in SEARCHES.items():
        assert connection.execute(search).fetchall(), name
        held = connection.execute(locks).fetchall()
        assert any("chunk_v" in relation for kind, _, relation in held if kind == "relation"), name
        assert {(kind, mode) for kind, mode, _ in held} == {
            ("relation", "AccessShareLock"),
            # every transaction's on itself
            ("virtualxid", "ExclusiveLock"),
        }, name
        assert connection.execute("select pg_current_xact_id_if_assigned()").fetchone() == (None,), name
        connection.rollback()


@pytest.mark.parametrize("change", CHANGES)
def test_neither_waits_for_the_other(
    sessions: tuple[Connection, Connection], versions: dict[str, int], change: str
) -> None:
    first, second = sessions
    statement = CHANGES[change].format(**versions)
    before = [second.execute(search).fetchall() for search in SEARCHES.values() if "explain" not in search]
    second.rollback()

    first.execute(statement)
    during = [second.execute(search).fetchall() for search in SEARCHES.values() if "explain" not in search]
    assert during == before
    first.rollback()

    # the searches' transaction is still open
    first.execute(statement)
    first.commit()
    assert all(second.execute(search).fetchall() is not None for search in SEARCHES.values())


@pytest.mark.parametrize("drop", DROPS)
def test_a_drop_gives_way_to_searches_until_it_can_be_done(
    database: str, versions: dict[str, int], drop: str
) -> None:
    statement = DROPS[drop].format(**versions)
    with (
        psycopg.connect(database, autocommit=True) as reading,
        psycopg.connect(database, autocommit=True) as dropping,
        psycopg.connect(database, autocommit=True) as searching,
        ThreadPoolExecutor(1) as thread,
    ):
        reading.execute("begin")
        reading.execute(SEARCHES["search_hybrid"])
        task = thread.submit(dropping.execute, statement)
        # the reader's transaction stays open, the drop waits, and others search on all the time
        searching.execute("set lock_timeout = '1s'")
        waited = 0
        while waited < 3:
            assert searching.execute(SEARCHES["search_hybrid"]).fetchall()
            query = "select count(*) from pg_locks where not granted and mode = 'AccessExclusiveLock'"
            row = searching.execute(query).fetchone()
            assert row is not None
            waited += row[0]
            assert not task.done()
        reading.execute("commit")
        task.result(timeout=10)
        assert searching.execute(SEARCHES["search_hybrid"]).fetchall()


@pytest.mark.parametrize("drop", DROPS)
def test_a_drop_gives_up_after_the_callers_lock_timeout(
    sessions: tuple[Connection, Connection], versions: dict[str, int], drop: str
) -> None:
    first, second = sessions
    first.execute(SEARCHES["search_keyword"])
    with pytest.raises(psycopg.errors.LockNotAvailable, match="stayed open") as caught:
        second.execute(DROPS[drop].format(**versions))
    assert "pg_stat_activity" in (caught.value.diag.message_hint or "")
    second.rollback()
    assert second.execute("show lock_timeout").fetchone() == ("100ms",)
    first.rollback()
    second.execute(DROPS[drop].format(**versions))
    assert second.execute("show lock_timeout").fetchone() == ("100ms",)
