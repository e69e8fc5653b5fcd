"""Search on a streaming standby, and where nothing may be written: the same rows as on the primary."""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from ragpg import Client
from ragpg.db.account import Account
from ragpg.db.embedded import OWNER, EmbeddedServer
from ragpg.errors import DatabaseError
from tests.proofs.broad_narrow import STATEMENTS, questions
from tests.proofs.synthetic import BROAD, COLLECTION, NARROW, Corpus

if TYPE_CHECKING:
    from tests.conftest import PgServer

Planted = tuple[str, Corpus]


@pytest.fixture(scope="module")
def standby(pg_server: PgServer, planted: Planted) -> Iterator[EmbeddedServer]:
    """A streaming replica of the server of this run."""
    with tempfile.TemporaryDirectory(prefix="ragpg-test-", dir="/tmp") as name:
        home = Path(name)
        server = EmbeddedServer(
            home, binaries=pg_server.programs, settings={"max_connections": "100"}, durable=False
        )
        account = Account.for_server(pg_server.server.data)
        account.own_folder(server.data)
        account.open_path(home)
        backup = [
            *(str(pg_server.programs / "pg_basebackup"), f"--dbname={pg_server.superuser_url}"),
            *(f"--pgdata={server.data}", "--checkpoint=fast", "--wal-method=stream", "--write-recovery-conf"),
            "--no-sync",
        ]
        subprocess.run(backup, check=True, capture_output=True, cwd=home, **account.popen_options())
        server.start()
        try:
            yield server
        finally:
            server.remove()


def test_a_standby_gives_the_rows_of_the_primary(
    pg_server: PgServer, planted: Planted, standby: EmbeddedServer
) -> None:
    name, corpus = planted
    with (
        psycopg.connect(pg_server.url(name), autocommit=True) as primary,
        psycopg.connect(standby.url_of(name, OWNER), autocommit=True) as replica,
    ):
        assert replica.execute("select pg_is_in_recovery()").fetchone() == (True,)
        statements = {mode: sql.replace("select chunk_id", "select *") for mode, sql in STATEMENTS.items()}
        statements["stats"] = "select * from ragpg.collection_stats(%(collection)s)"
        for who in (BROAD, NARROW):
            for question in questions(corpus, who, 5):
                for mode, statement in statements.items():
                    rows = primary.execute(statement, question.parameters).fetchall()
                    assert len(rows) == (1 if mode == "stats" else 10)
                    assert replica.execute(statement, question.parameters).fetchall() == rows


def test_a_standby_follows(pg_server: PgServer, planted: Planted, standby: EmbeddedServer) -> None:
    name = planted[0]
    with (
        psycopg.connect(pg_server.url(name), autocommit=True) as primary,
        psycopg.connect(standby.url_of(name, OWNER), autocommit=True) as replica,
    ):
        primary.execute("select ragpg.create_collection('late', p_default_acl => %s)", ([NARROW],))
        primary.execute("select ragpg.upsert_document('late', 'one', 'Refunds take ten days.')")
        wait_for(primary, replica)
        search = "select external_id from ragpg.search_hybrid('late', 'refunds', p_principals => %s)"
        assert replica.execute(search, ([NARROW],)).fetchall() == [("one",)]
        primary.execute("select ragpg.set_acl('late', 'one', %s)", ([BROAD],))
        wait_for(primary, replica)
        assert replica.execute(search, ([NARROW],)).fetchall() == []
        primary.execute("select ragpg.drop_collection('late')")


def wait_for(primary: psycopg.Connection[Any], replica: psycopg.Connection[Any]) -> None:
    (position,) = primary.execute("select pg_current_wal_insert_lsn()").fetchone() or (None,)
    for _ in range(500):
        row = replica.execute("select pg_last_wal_replay_lsn() >= %s", (position,)).fetchone()
        if row == (True,):
            return
        time.sleep(0.02)
    pytest.fail("the standby does not follow")


def test_the_client_searches_on_a_standby_and_says_that_it_can_not_write(
    pg_server: PgServer, planted: Planted, standby: EmbeddedServer
) -> None:
    name, corpus = planted
    question = questions(corpus, NARROW, 1)[0]
    with closing(Client(standby.url_of(name, OWNER))) as rag:
        hits = rag.search(COLLECTION, question.parameters["query"], principals=[NARROW], mode="keyword")
        assert [str(hit.chunk_id) for hit in hits] == question.expected(corpus, "keyword")
        with pytest.raises(DatabaseError, match="read-only"):
            rag.delete_document(COLLECTION, "d1")


@pytest.mark.parametrize("setting", ["begin read only", "set default_transaction_read_only = on"])
def test_a_search_writes_nothing(pg_server: PgServer, planted: Planted, setting: str) -> None:
    name, corpus = planted
    question = questions(corpus, NARROW, 1)[0]
    explain = "select ragpg.explain_search(%(collection)s, %(query)s, %(embedding)s, p_principals => %(principals)s)"
    with psycopg.connect(pg_server.url(name), autocommit=True) as connection:
        connection.execute(setting)
        for statement in (*STATEMENTS.values(), explain, "select ragpg.collection_stats(%(collection)s)"):
            assert connection.execute(statement, question.parameters).fetchall()
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            connection.execute("select ragpg.delete_document(%s, 'd1')", (COLLECTION,))
