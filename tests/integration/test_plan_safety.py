"""Whatever a connection did before, a search gives the same full page, and leaves the session as it was."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg_pool import ConnectionPool
from sqlalchemy import create_engine, text

from tests.proofs.broad_narrow import (
    PATHS,
    STATEMENTS,
    Question,
    Search,
    broad_then_narrow,
    page,
    questions,
)
from tests.proofs.synthetic import BROAD, NARROW, Corpus

if TYPE_CHECKING:
    from tests.conftest import PgServer

Planted = tuple[str, Corpus]
TYPES = {"collection": "text", "query": "text", "embedding": "vector", "k": "int", "principals": "text[]"}


def on(connection: psycopg.Connection[Any]) -> Search:
    return lambda statement, parameters: connection.execute(statement, parameters).fetchall()


@contextmanager
def psycopg_with(url: str, threshold: int | None, *settings: str) -> Iterator[Search]:
    with psycopg.connect(url, autocommit=True, prepare_threshold=threshold) as connection:
        for setting in settings:
            connection.execute(f"set {setting}")
        yield on(connection)


@contextmanager
def psycopg_default(url: str) -> Iterator[Search]:
    with psycopg.connect(url) as connection:
        yield on(connection)


@contextmanager
def sql_prepare(url: str) -> Iterator[Search]:
    """PREPARE and EXECUTE, as psql and stored scripts have them."""
    with psycopg.connect(url, autocommit=True, prepare_threshold=None) as connection:
        names: dict[str, str] = {}

        def search(statement: str, parameters: dict[str, Any]) -> list[tuple[Any, ...]]:
            used = [name for name in parameters if f"%({name})s" in statement]
            if statement not in names:
                names[statement] = f"search_{len(names)}"
                body = statement % {name: f"${place}" for place, name in enumerate(used, 1)}
                types = ", ".join(TYPES[name] for name in used)
                connection.execute(f"prepare {names[statement]} ({types}) as {body}")
            with psycopg.ClientCursor(connection) as cursor:
                arguments = ", ".join(f"%({name})s" for name in used)
                return cursor.execute(f"execute {names[statement]} ({arguments})", parameters).fetchall()

        yield search


@contextmanager
def sqlalchemy_engine(url: str) -> Iterator[Search]:
    """An engine whose pool gives one connection to every caller in turn."""
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"), pool_size=1, max_overflow=0)

    def search(statement: str, parameters: dict[str, Any]) -> list[tuple[Any, ...]]:
        names = {name: f":{name}" for name in parameters}
        used = {name: value for name, value in parameters.items() if f"%({name})s" in statement}
        with engine.connect() as connection:
            return [tuple(row) for row in connection.execute(text(statement % names), used)]

    yield search
    engine.dispose()


DRIVERS: dict[str, Callable[[str], Any]] = {
    "psycopg": psycopg_default,
    "prepared from the first": lambda url: psycopg_with(url, 0),
    "force_generic_plan": lambda url: psycopg_with(url, 0, "plan_cache_mode = force_generic_plan"),
    "SQL PREPARE": sql_prepare,
    "SQLAlchemy": sqlalchemy_engine,
}


@pytest.mark.parametrize(
    ("driver", "mode"),
    [
        *(("psycopg", mode) for mode in STATEMENTS),
        ("prepared from the first", "vector"),
        ("force_generic_plan", "hybrid"),
        ("SQL PREPARE", "vector"),
        ("SQLAlchemy", "vector"),
    ],
)
def test_a_narrow_caller_after_a_broad_one(
    pg_server: PgServer, planted: Planted, driver: str, mode: str
) -> None:
    name, corpus = planted
    with DRIVERS[driver](pg_server.url(name)) as search:
        broad_then_narrow(search, corpus, mode)


def test_a_broad_caller_after_a_narrow_one(pg_server: PgServer, planted: Planted) -> None:
    name, corpus = planted
    with psycopg_with(pg_server.url(name), 0) as search:
        for question in questions(corpus, NARROW, 10):
            assert page(search, question, "vector") == question.expected(corpus, "vector")
            assert search(PATHS, question.parameters)[0][0] == "exact"
        found = 0
        for question in questions(corpus, BROAD, 20):
            hits = page(search, question, "vector")
            assert len(hits) == 10
            found += len(set(hits) & set(question.expected(corpus, "vector")))
            assert search(PATHS, question.parameters)[0][0] == "hnsw"
        assert found / 200 >= 0.98


def test_no_plan_inside_a_search_is_generic(pg_server: PgServer, planted: Planted) -> None:
    name, corpus = planted
    plans: list[str] = []
    with psycopg.connect(pg_server.url(name, "postgres"), autocommit=True, prepare_threshold=0) as connection:
        try:
            connection.execute("load 'auto_explain'")
        except psycopg.errors.UndefinedFile:
            pytest.skip("this server comes without auto_explain")
        for setting in ("log_nested_statements = on", "log_min_duration = 0", "log_level = notice"):
            connection.execute(f"set auto_explain.{setting}")
        connection.execute("set plan_cache_mode = force_generic_plan")
        search = on(connection)
        for principal in (BROAD, NARROW):
            for question in questions(corpus, principal, 7):
                for mode in STATEMENTS:
                    page(search, question, mode)
        # only now: the caller's own statement is generic by the setting, those inside are what is looked at
        connection.add_notice_handler(lambda notice: plans.append(notice.message_primary or ""))
        for mode in STATEMENTS:
            page(search, questions(corpus, NARROW, 1)[0], mode)
    assert any("Function Scan on search_hybrid" in plan and "$" in plan for plan in plans)
    over_tables = [
        plan for plan in plans if "Query Text" in plan and " on chunk_v" in plan.partition("\n")[2]
    ]
    assert len(over_tables) > 5
    for plan in over_tables:
        conditions = [line for line in plan.splitlines() if "Cond:" in line or "Filter:" in line]
        assert not [line for line in conditions if "$" in line], plan


# What a search could leave on a session. A library that is loaded on the way brings settings of its own, at their defaults.
SESSION = {
    "settings": "select name, setting, unit, source, boot_val, reset_val, pending_restart from pg_settings",
    "principals": "select current_setting('ragpg.principals', true), current_setting('ragpg.tenant_id', true)",
    "search_path": "select current_schemas(true)::text, current_user, session_user, current_setting('role')",
    "prepared": "select name from pg_prepared_statements",
    "cursors": "select name from pg_cursors where statement not like '%pg_cursors%'",
    "locks": "select locktype, mode from pg_locks where pid = pg_backend_pid() and locktype not in ('virtualxid', 'relation')",
    "listening": "select pg_listening_channels()",
}


def session_state(connection: psycopg.Connection[Any]) -> dict[str, Any]:
    return {
        name: sorted(map(repr, connection.execute(query, prepare=False).fetchall()))
        for name, query in SESSION.items()
    }


CALLS = [
    *STATEMENTS.values(),
    PATHS,
    "select ragpg.search_hybrid(%(collection)s, %(query)s, p_principals => %(principals)s, p_idf => 'visible')",
    "select ragpg.search_hybrid(%(collection)s, %(query)s, %(embedding)s, p_principals => %(principals)s, p_fusion => 'score',"
    " p_feedback => 3, p_expand => 'parent', p_filter => '$.a != 1')",
    "select ragpg.search_vector(%(collection)s, %(embedding)s, p_expand => 'neighbors:1', p_query => '-xbabax')",
    "select ragpg.search_keyword(%(collection)s, %(query)s, p_expand => 'document', p_chunk_filter => '$.a == 1')",
    "select ragpg.find_document(%(collection)s, 'd1', %(query)s, %(embedding)s, p_principals => %(principals)s)",
    "select ragpg.collection_stats(%(collection)s)",
]
FAILING = {
    "RG001": "select ragpg.search_hybrid('nowhere', 'x')",
    "RG004": "select ragpg.search_keyword(%(collection)s, 'x', p_index_version => -1)",
    "RG005": "select ragpg.search_vector(%(collection)s, '[1,2]')",
    "RG007": "select ragpg.search_keyword(%(collection)s, 'x', p_k => -1)",
    "RG008": "select ragpg.search_vector(%(collection)s, null)",
    "RG009": "select ragpg.explain_search(%(collection)s, 'x', p_filter => '$.a.datetime() > 1')",
    # in the middle of the vector leg, where settings of pgvector are in force
    # a thousandth of a second is over somewhere inside, where settings of the functions and of pgvector are in force
    "57014": "select ragpg.search_hybrid(%(collection)s, %(query)s, %(embedding)s, 1000, '{*}', p_fusion => 'score')",
}


def failing_call(connection: psycopg.Connection[Any], code: str, asked: Question) -> None:
    with connection.transaction():
        if code == "57014":
            connection.execute("set local statement_timeout = 1")
        connection.execute(FAILING[code], asked.parameters, prepare=False)


def one_call(connection: psycopg.Connection[Any], number: int, asked: Question) -> None:
    """One of the calls that an app makes; two of three fail."""
    if number % 3 == 0:
        statement = CALLS[number // 3 % len(CALLS)]
        connection.execute(statement, asked.parameters, prepare=False).fetchall()
        return
    codes = list(FAILING)
    code = codes[number % len(codes)]
    in_transaction = connection.info.transaction_status == psycopg.pq.TransactionStatus.INTRANS
    with pytest.raises(psycopg.Error) as caught:
        failing_call(connection, code, asked)
    assert caught.value.sqlstate == code
    assert in_transaction == (connection.info.transaction_status == psycopg.pq.TransactionStatus.INTRANS)


@pytest.mark.parametrize("in_transaction", [False, True])
def test_a_thousand_calls_leave_the_session_as_it_was(
    pg_server: PgServer, planted: Planted, in_transaction: bool
) -> None:
    name, corpus = planted
    few, nearly_all = questions(corpus, NARROW, 10), questions(corpus, BROAD, 10)
    with psycopg.connect(pg_server.url(name), autocommit=True, prepare_threshold=None) as connection:
        for setting in ("hnsw.ef_search = 77", "work_mem = '5MB'", "enable_memoize = off", "jit = on"):
            connection.execute(f"set {setting}")
        connection.execute("select '[1]'::vector")
        connection.execute("do $$ begin end $$")
        if in_transaction:
            connection.execute("begin")
            connection.execute("set local enable_seqscan = off")
            connection.execute("set local ragpg.principals = 'group:mine'")
        before = session_state(connection)
        for number in range(500):
            one_call(connection, number, (few if number % 7 else nearly_all)[number % 10])
        assert session_state(connection) == before


def test_principals_set_for_a_transaction_stay_in_it(
    pg_server: PgServer, planted: Planted, planted_reader: str
) -> None:
    name, corpus = planted
    asked = [question for who in (BROAD, NARROW) * 30 for question in questions(corpus, who, 1)]
    expected = [question.expected(corpus, "vector") for question in asked]

    with ConnectionPool(pg_server.url(name, planted_reader), min_size=3, max_size=3, open=True) as pool:

        def ask(question: Question) -> list[str]:
            with pool.connection() as connection:
                connection.execute("select set_config('ragpg.principals', %s, true)", (question.principal,))
                return page(on(connection), Question(None, question.words, question.vector), "vector")

        with ThreadPoolExecutor(6) as threads:
            pages = list(threads.map(ask, asked))
        for question, got, wanted in zip(asked, pages, expected, strict=True):
            assert len(got) == 10
            if question.principal == NARROW:
                assert got == wanted
            else:
                assert len(set(got) & set(wanted)) >= 8
        for _ in range(3):
            with pool.connection() as connection:
                # nobody's: what is left is public, and nothing here is
                assert page(on(connection), Question(None, asked[0].words, asked[0].vector), "vector") == []
