"""URL, pool, connection: whose transaction it is, what is left behind, what happens when it breaks."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import psycopg.conninfo
import pytest
from psycopg_pool import AsyncConnectionPool, ConnectionPool
from sqlalchemy import create_engine

from ragpg import AsyncClient, Client
from ragpg.errors import (
    AccessDenied,
    CollectionExists,
    CollectionNotFound,
    ConfigError,
    SchemaNotInstalled,
)

Query = Callable[..., list[tuple[Any, ...]]]


def everything(rag: Client, folder: Path) -> None:
    rag.create_collection("mine", embedder="hash")
    rag.upsert_document("mine", external_id="faq", content="Refunds take ten days.")
    rag.ingest("mine", folder, sync=True)
    rag.set_acl("mine", "faq", ["public"])
    assert rag.search("mine", "refunds")[0].external_id in {"faq", "refunds.md"}
    assert rag.ask("mine", "How long do refunds take?").answered
    rag.refresh_statistics("mine")
    rag.delete_document("mine", "faq")
    assert rag.stats("mine").documents == 3


def test_a_handed_connection_is_the_callers_transaction(database: str, folder: Path, query: Query) -> None:
    with psycopg.connect(database) as connection:
        with Client(connection=connection, chat_model="none") as rag:
            everything(rag, folder)
        assert not connection.closed
        assert connection.info.transaction_status == psycopg.pq.TransactionStatus.INTRANS
        assert query("select * from ragpg.collection") == []
        connection.rollback()
        for table in (
            "collection",
            "document",
            "chunk",
            "embedding",
            "embedding_cache",
            "lexeme_stat",
            "index_version",
        ):
            assert connection.execute(f"select count(*) from ragpg.{table}").fetchone() == (0,)


def test_the_callers_commit_keeps_it(database: str, folder: Path, query: Query) -> None:
    with psycopg.connect(database) as connection:
        with Client(connection=connection, chat_model="none") as rag:
            everything(rag, folder)
        connection.commit()
    assert query("select count(*) from ragpg.document") == [(3,)]


def test_an_apps_write_and_ours_are_one_transaction(database: str, query: Query) -> None:
    engine = create_engine(database.replace("postgresql://", "postgresql+psycopg://"))
    with Client(database) as rag:
        rag.create_collection("articles", embedder="hash")
    with engine.begin() as connection:
        connection.exec_driver_sql("create table public.article (id int)")
    for keep in (False, True):
        with engine.connect() as connection:
            connection.exec_driver_sql("insert into public.article values (7)")
            driver = connection.connection.driver_connection
            rag = Client(connection=driver)
            rag.upsert_document(
                "articles", external_id="7", content="Refunds take ten days.", metadata={"a": [1]}
            )
            (hit,) = rag.search("articles", "refunds", filter={"a": 1})
            assert hit.metadata == {"a": [1]}
            connection.commit() if keep else connection.rollback()
        counts = "select (select count(*) from public.article), (select count(*) from ragpg.document)"
        assert query(counts) == [(int(keep), int(keep))]
    engine.dispose()


async def test_a_handed_async_connection_is_the_callers_transaction(
    database: str, folder: Path, query: Query
) -> None:
    async with await psycopg.AsyncConnection.connect(database) as connection:
        async with AsyncClient(connection=connection) as rag:
            await rag.create_collection("mine", embedder="hash")
            await rag.ingest("mine", folder)
            assert len(await rag.search("mine", "refunds", k=1)) == 1
        assert not connection.closed
        await connection.rollback()
    assert query("select * from ragpg.collection") == []


def test_an_autocommit_connection_commits_each_call(database: str, query: Query) -> None:
    with psycopg.connect(database, autocommit=True) as connection:
        rag = Client(connection=connection)
        rag.create_collection("mine", embedder="hash")
        rag.upsert_document("mine", external_id="faq", content="Refunds take ten days.")
        assert query("select count(*) from ragpg.document") == [(1,)]
        assert connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE


def test_an_error_in_the_callers_transaction_ends_an_ingest(database: str, folder: Path) -> None:
    with psycopg.connect(database) as connection:
        rag = Client(connection=connection, embedder="hash")
        rag.create_collection("mine")
        connection.execute("alter table ragpg.document add constraint ck_test check (content !~ 'VPN')")
        with pytest.raises(Exception, match="ck_test") as caught:
            rag.ingest("mine", folder)
        assert "run again" in caught.value.__notes__[0]
        assert connection.info.transaction_status == psycopg.pq.TransactionStatus.INERROR
        connection.rollback()


def test_a_handed_pool_stays_open_and_each_call_is_committed(
    database: str, folder: Path, query: Query
) -> None:
    with ConnectionPool(database, min_size=1, max_size=2, open=True) as pool:
        with Client(pool=pool, chat_model="none") as rag:
            everything(rag, folder)
            rag.close()
        assert query("select count(*) from ragpg.document") == [(3,)]
        with pool.connection() as connection:
            assert connection.execute("select 1").fetchone() == (1,)


async def test_a_handed_async_pool_stays_open(database: str, query: Query) -> None:
    async with AsyncConnectionPool(database, min_size=1, max_size=2, open=False) as pool:
        async with AsyncClient(pool=pool) as rag:
            await rag.create_collection("mine", embedder="hash")
        assert query("select name from ragpg.collection") == [("mine",)]
        async with pool.connection() as connection:
            await connection.execute("select 1")


def test_nothing_is_left_on_a_session(database: str, folder: Path) -> None:
    # PgBouncer in transaction mode gives each transaction another session: neither a setting nor a prepared
    # statement may be needed or left.
    settings = "select name, setting from pg_settings where source in ('session', 'user') order by name"
    with ConnectionPool(database, min_size=1, max_size=1, open=True) as pool:
        with pool.connection() as connection:
            connection.prepare_threshold = 1
            before = connection.execute(settings, prepare=False).fetchall()
        with Client(pool=pool, chat_model="none") as rag:
            everything(rag, folder)
            for _ in range(8):
                rag.search("mine", "refunds")
        with pool.connection() as connection:
            assert connection.execute(settings, prepare=False).fetchall() == before
            assert (
                connection.execute("select name from pg_prepared_statements", prepare=False).fetchall() == []
            )
            assert connection.execute(
                "select count(*) from pg_locks where locktype = 'advisory'"
            ).fetchone() == (0,)


def test_a_url_opens_on_first_use_and_closes_with_the_client(database: str, query: Query) -> None:
    sessions = "select count(*) from pg_stat_activity where application_name = 'ragpg' and datname = current_database()"
    with Client(database) as rag:
        assert query(sessions) == [(0,)]
        rag.collections()
        assert query(sessions) == [(1,)]
    for _ in range(100):
        if query(sessions) == [(0,)]:
            break
        query("select pg_sleep(0.02)")
    assert query(sessions) == [(0,)]


def test_many_threads_share_a_client(rag: Client) -> None:
    rag.upsert_document("docs", external_id="faq", content="Refunds take ten days.")
    with ThreadPoolExecutor(12) as threads:
        found = list(threads.map(lambda _: rag.search("docs", "refunds")[0].external_id, range(60)))
    assert found == ["faq"] * 60


async def test_many_tasks_share_a_client_and_the_loop_goes_on(database: str, folder: Path) -> None:
    async with AsyncClient(database) as rag:
        await rag.create_collection("docs", embedder="hash")
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                await asyncio.sleep(0.001)
                ticks += 1

        ticking = asyncio.create_task(tick())
        await rag.ingest("docs", folder)
        results = await asyncio.gather(*(rag.search("docs", "refunds", k=1) for _ in range(30)))
        ticking.cancel()
        assert [hits[0].external_id for hits in results] == ["refunds.md"] * 30
        assert ticks > 5


def test_a_search_survives_a_server_that_ended_its_sessions(rag: Client, query: Query) -> None:
    rag.upsert_document("docs", external_id="faq", content="Refunds take ten days.")
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda _: rag.search("docs", "refunds"), range(8)))
    query("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'ragpg'")
    assert len(rag.search("docs", "refunds")) == 1
    query("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'ragpg'")
    assert rag.delete_document("docs", "faq") is True


def test_errors_keep_their_cause(database: str) -> None:
    with Client(database) as rag:
        rag.create_collection("docs", embedder="hash")
        with pytest.raises(CollectionExists) as exists:
            rag.create_collection("docs", embedder="hash")
        assert isinstance(exists.value.__cause__, psycopg.Error)
        assert exists.value.__cause__.sqlstate == "RG002"
        with pytest.raises(CollectionNotFound, match="docz"):
            rag.ingest("docz", ".")


def test_a_database_without_the_schema_says_what_to_run(pg_server: Any) -> None:
    name = pg_server.create_database()
    with Client(pg_server.url(name)) as rag, pytest.raises(SchemaNotInstalled, match="ragpg migrate"):
        rag.collections()
    pg_server.drop_database(name)


def test_a_malformed_url_is_an_error_of_ours() -> None:
    with pytest.raises(ConfigError, match="names of its options"):
        Client("host=localhost nonsense=1")


def test_a_reader_searches_but_may_not_write(pg_server: Any, database: str, query: Query) -> None:
    with Client(database) as owner:
        owner.create_collection("docs", embedder="hash")
        owner.upsert_document("docs", external_id="faq", content="Refunds take ten days.", acl=["public"])
        owner.upsert_document("docs", external_id="pay", content="Salaries and refunds.", acl=["group:hr"])
    pg_server.run("drop role if exists reader_of_client")
    pg_server.run("create role reader_of_client login")
    query("select ragpg.grant_access('reader_of_client', 'reader')")
    url = database.replace("://ragpg_owner@", "://reader_of_client@")
    assert url != database
    with Client(url) as reader:
        assert [hit.external_id for hit in reader.search("docs", "refunds")] == ["faq"]
        with pytest.raises(AccessDenied):
            reader.search("docs", "refunds", principals=["group:hr"])
        with pytest.raises(AccessDenied, match=r"grant_access\(role, 'writer'\)"):
            reader.stats("docs")
        with pytest.raises(AccessDenied):
            reader.upsert_document("docs", external_id="x", content="text")
        with pytest.raises(AccessDenied):
            reader.delete_document("docs", "faq")
    pg_server.run("drop owned by reader_of_client", psycopg.conninfo.conninfo_to_dict(database)["dbname"])
    pg_server.run("drop role reader_of_client")
