"""Through PgBouncer in transaction mode, where each transaction may get another session, which others had before."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from ragpg import Client
from ragpg.db.embedded import OWNER
from tests.proofs import bouncer
from tests.proofs.bouncer import PgBouncer
from tests.proofs.broad_narrow import Question, broad_then_narrow, page, questions
from tests.proofs.synthetic import BROAD, COLLECTION, NARROW, Corpus

if TYPE_CHECKING:
    from tests.conftest import PgServer

pytestmark = pytest.mark.skipif(
    bouncer.program() is None,
    reason="PgBouncer is not installed (on Debian and Ubuntu: apt-get install pgbouncer)",
)

Planted = tuple[str, Corpus]


@pytest.fixture(scope="module")
def pgbouncer(pg_server: PgServer) -> Iterator[PgBouncer]:
    """With one session of the server for all clients of a role, so that they follow each other on it."""
    with bouncer.running(pg_server.server, sessions=1, users=(OWNER, "reader_of_planted")) as running:
        yield running


def connect(url: str) -> psycopg.Connection[Any]:
    return psycopg.connect(url, autocommit=True, prepare_threshold=None)


def run(connection: psycopg.Connection[Any]) -> Any:
    return lambda statement, parameters: connection.execute(statement, parameters).fetchall()


def test_a_narrow_client_after_a_broad_one(pgbouncer: PgBouncer, planted: Planted) -> None:
    name, corpus = planted
    url = pgbouncer.url(name, OWNER)
    with connect(url) as first, connect(url) as second:
        broad, narrow = run(first), run(second)
        pids = {connection.execute("select pg_backend_pid()").fetchone() for connection in (first, second)}
        assert len(pids) == 1
        # the broad caller's questions go through one client, the narrow one's through the other
        broad_then_narrow(
            lambda statement, parameters: (broad if parameters["principals"] == [BROAD] else narrow)(
                statement, parameters
            ),
            corpus,
            "hybrid",
        )


def test_the_client_needs_nothing_of_the_session(pgbouncer: PgBouncer, planted: Planted) -> None:
    name, corpus = planted
    # PgBouncer itself gives each client's application_name to the session
    settings = "select name, setting, source from pg_settings where name <> 'application_name' order by name"
    asked = [question for who in (BROAD, NARROW) * 20 for question in questions(corpus, who, 1)]
    with connect(pgbouncer.url(name, OWNER)) as session, Client(pgbouncer.url(name, OWNER)) as rag:
        session.execute("select '[1]'::vector")
        before = session.execute(settings).fetchall()

        def ask(question: Question) -> list[str]:
            hits = rag.search(
                COLLECTION,
                question.parameters["query"],
                principals=[question.principal or ""],
                mode="keyword",
            )
            return [str(hit.chunk_id) for hit in hits]

        with ThreadPoolExecutor(4) as threads:
            pages = list(threads.map(ask, asked))
        assert session.execute(settings).fetchall() == before
        assert session.execute("select name from pg_prepared_statements").fetchall() == []
    for question, got in zip(asked, pages, strict=True):
        assert len(got) == 10
        if question.principal == NARROW:
            assert got == question.expected(corpus, "keyword")


def test_principals_are_set_for_the_transaction(
    pgbouncer: PgBouncer, planted: Planted, planted_reader: str
) -> None:
    name, corpus = planted
    asked = questions(corpus, NARROW, 1)[0]
    anonymous = Question(None, asked.words, asked.vector)
    url = pgbouncer.url(name, planted_reader)
    with connect(url) as first, connect(url) as second:
        for statement in (
            "select set_config('ragpg.principals', 'group:narrow', true)",
            "set local ragpg.principals = 'group:narrow'",
        ):
            with first.transaction():
                first.execute(statement)
                assert page(run(first), anonymous, "vector") == asked.expected(corpus, "vector")
            assert page(run(second), anonymous, "vector") == []


def test_a_setting_of_the_session_reaches_the_next_client_unless_principals_are_passed(
    pgbouncer: PgBouncer, planted: Planted
) -> None:
    # what docs/permissions.md warns of, and the way around it: as an argument, principals are nobody else's
    name, corpus = planted
    asked = questions(corpus, NARROW, 1)[0]
    url = pgbouncer.url(name, OWNER)
    with connect(url) as first, Client(url) as rag:
        first.execute("set ragpg.principals = 'group:narrow'")
        try:
            query = asked.parameters["query"]
            inherited = rag.search(COLLECTION, query, mode="keyword")
            assert [str(hit.chunk_id) for hit in inherited] == asked.expected(corpus, "keyword")
            assert rag.search(COLLECTION, query, mode="keyword", principals=[]) == []
        finally:
            first.execute("reset ragpg.principals")
