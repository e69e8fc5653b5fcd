from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import sql

from tests.sql.helpers import Row, call, create, ids, upsert

if TYPE_CHECKING:
    from tests.conftest import PgServer

ROLES = {"app_reader": "reader", "app_server": "trusted_reader", "app_writer": "writer", "stranger": None}


@pytest.fixture(scope="module")
def access(pg_server: PgServer, template: str) -> Iterator[tuple[str, PgServer]]:
    name = pg_server.create_database(template=template)
    for role in ROLES:
        pg_server.run(f"drop role if exists {role}")
        pg_server.run(f"create role {role} login")
    with psycopg.connect(pg_server.url(name), autocommit=True) as owner:
        create(owner)
        for role, level in ROLES.items():
            if level:
                owner.execute("select ragpg.grant_access(%s, %s)", (role, level))
    yield name, pg_server
    pg_server.drop_database(name)
    for role in ROLES:
        pg_server.run(f"drop role {role}")


def connect(access: tuple[str, PgServer], role: str | None = None) -> psycopg.Connection[Any]:
    name, server = access
    return psycopg.connect(server.url(name, role) if role else server.url(name), autocommit=True)


def set_caller(connection: psycopg.Connection[Any], principals: list[str], tenant: str) -> None:
    connection.execute(
        "select set_config('ragpg.principals', %s, false), set_config('ragpg.tenant_id', %s, false)",
        (",".join(principals), tenant),
    )


@pytest.fixture
def one_each(access: tuple[str, PgServer]) -> Iterator[psycopg.Connection[Any]]:
    with connect(access) as owner:
        call(owner, "drop_collection", p_name="c")
        create(owner)
        upsert(owner, "open", ["alpha for all"], [[1, 0, 0]], acl=["public"])
        upsert(owner, "staff", ["alpha for staff zebra"], [[0, 1, 0]], acl=["group:hr"])
        upsert(owner, "other", ["alpha elsewhere"], [[0, 0, 1]], acl=["public"], tenant_id="acme")
        yield owner


def test_a_reader_may_not_pass_principals(
    access: tuple[str, PgServer], one_each: psycopg.Connection[Any]
) -> None:
    with connect(access, "app_reader") as reader:
        for function in ("search_keyword", "search_hybrid", "explain_search"):
            with pytest.raises(psycopg.Error) as refused:
                call(reader, function, p_collection="c", p_query="alpha", p_principals=["group:hr"])
            assert refused.value.sqlstate == "RG006"
        assert ids(call(reader, "search_keyword", p_collection="c", p_query="alpha")) == ["open"]
        set_caller(reader, ["group:hr"], "")
        assert set(ids(call(reader, "search_keyword", p_collection="c", p_query="alpha"))) == {
            "open",
            "staff",
        }


def test_a_reader_stays_in_the_tenant_of_its_session(
    access: tuple[str, PgServer], one_each: psycopg.Connection[Any]
) -> None:
    with connect(access, "app_reader") as reader:
        for function in ("search_keyword", "search_hybrid", "explain_search"):
            with pytest.raises(psycopg.Error) as refused:
                call(reader, function, p_collection="c", p_query="alpha", p_tenant_id="acme")
            assert refused.value.sqlstate == "RG006"
        set_caller(reader, [], "acme")
        assert ids(call(reader, "search_keyword", p_collection="c", p_query="alpha", p_tenant_id="acme")) == [
            "other"
        ]


def test_who_only_reads_caches_queries_and_no_documents(
    access: tuple[str, PgServer], one_each: psycopg.Connection[Any]
) -> None:
    entry = {"p_input_hashes": [b"x" * 32], "p_embeddings": '{"[1,0,0]"}'}
    with connect(access, "app_server") as server:
        call(server, "_cache_embeddings", p_model_key="test:test:3:query", **entry)
        with pytest.raises(psycopg.Error) as refused:
            call(server, "_cache_embeddings", p_model_key="test:test:3", **entry)
        assert refused.value.sqlstate == "RG006"
        with pytest.raises(psycopg.Error) as refused:
            call(server, "_cache_embeddings", p_model_key="test:test:4:query", **entry)
        assert refused.value.sqlstate == "RG005"


def test_only_the_owner_passes_the_wildcard(
    access: tuple[str, PgServer], one_each: psycopg.Connection[Any]
) -> None:
    every = {"p_collection": "c", "p_query": "alpha", "p_principals": ["*"]}
    assert set(ids(call(one_each, "search_keyword", **every))) == {"open", "staff"}
    with connect(access, "app_server") as server:
        with pytest.raises(psycopg.Error) as refused:
            call(server, "search_keyword", **every)
        assert refused.value.sqlstate == "RG006"
        server.execute("set ragpg.principals = '{*}'")
        assert ids(call(server, "search_keyword", p_collection="c", p_query="alpha")) == ["open"]


def test_the_default_is_public_and_the_default_tenant_even_for_the_owner(
    access: tuple[str, PgServer], one_each: psycopg.Connection[Any]
) -> None:
    assert ids(call(one_each, "search_keyword", p_collection="c", p_query="alpha")) == ["open"]
    assert ids(call(one_each, "search_keyword", p_collection="c", p_query="alpha", p_tenant_id="acme")) == [
        "other"
    ]


def test_set_role_counts_as_the_caller(
    access: tuple[str, PgServer], one_each: psycopg.Connection[Any]
) -> None:
    name, server = access
    with psycopg.connect(server.url(name, "postgres"), autocommit=True) as superuser:
        superuser.execute("set role app_reader")
        with pytest.raises(psycopg.Error) as refused:
            call(superuser, "search_keyword", p_collection="c", p_query="alpha", p_principals=["group:hr"])
        assert refused.value.sqlstate == "RG006"


@pytest.mark.parametrize("role", ["app_reader", "app_server", "app_writer"])
def test_tables_show_what_the_search_shows(
    access: tuple[str, PgServer], one_each: psycopg.Connection[Any], role: str
) -> None:
    with connect(access, role) as reader:
        for principals, expected in (([], {"open"}), (["group:hr"], {"open", "staff"})):
            set_caller(reader, principals, "")
            assert {row[0] for row in reader.execute("select external_id from ragpg.document")} == expected
            for table in ("chunk", "embedding"):
                count = reader.execute(
                    sql.SQL("select count(*) from ragpg.{}").format(sql.Identifier(table))
                ).fetchone()
                assert count == (len(expected),)


def tables(owner: psycopg.Connection[Any]) -> set[str]:
    return {
        row[0]
        for row in owner.execute(
            "select relname from pg_class where relnamespace = 'ragpg'::regnamespace and relkind in ('r', 'p')"
        )
    }


@pytest.mark.parametrize("role", list(ROLES))
def test_no_other_table_is_readable(
    access: tuple[str, PgServer], one_each: psycopg.Connection[Any], role: str
) -> None:
    """Nor a partition by its own name, where the parent's policy would not hold."""
    readable = {"collection", "index_version", "document", "chunk", "embedding"} if ROLES.get(role) else set()
    closed = tables(one_each) - readable
    assert sum("_v" in table for table in closed) >= 2
    assert {"lexeme_stat", "embedding_cache", "job", "search_log", "role_principal"} <= closed
    with connect(access, role) as connection:
        for table in closed:
            count = sql.SQL("select count(*) from ragpg.{}").format(sql.Identifier(table))
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(count)


def test_row_level_security_holds_where_a_grant_is_too_wide(
    access: tuple[str, PgServer], one_each: psycopg.Connection[Any]
) -> None:
    """A role that may read every table sees the rows that the policies show it, and of tables without a policy none."""
    one_each.execute("grant usage on schema ragpg to stranger")
    one_each.execute("grant select on all tables in schema ragpg to stranger")
    one_each.execute("insert into ragpg.job (kind, key) values ('test', 'test')")
    one_each.execute("insert into ragpg.role_principal values ('stranger', '', '{}')")
    one_each.execute(
        "grant execute on function ragpg._current_principals(), ragpg._current_tenant_id() to stranger"
    )
    try:
        with connect(access, "stranger") as stranger:
            shown = {}
            for table in tables(one_each):
                count = sql.SQL("select count(*) from ragpg.{}").format(sql.Identifier(table))
                row = stranger.execute(count).fetchone()
                assert row is not None
                shown[table] = row[0]
    finally:
        call(one_each, "revoke_access", p_role="stranger")
    assert {table: rows for table, rows in shown.items() if rows} == {
        "collection": 1,
        "index_version": 1,
        "document": 1,
        "chunk": 1,
        "embedding": 1,
    }


def test_the_owner_of_the_tables_sees_all(
    access: tuple[str, PgServer], one_each: psycopg.Connection[Any]
) -> None:
    assert one_each.execute("select count(*) from ragpg.document").fetchone() == (3,)


@pytest.mark.parametrize("role", ["app_reader", "app_server"])
def test_readers_write_nothing(
    access: tuple[str, PgServer], one_each: psycopg.Connection[Any], role: str
) -> None:
    with connect(access, role) as reader:
        for statement in (
            "select ragpg.upsert_document('c', 'x', 'text')",
            "select ragpg.delete_document('c', 'open')",
            "select ragpg.set_acl('c', 'staff', '{public}')",
            "select ragpg.drop_collection('c')",
            "select ragpg.grant_access('app_reader', 'writer')",
            "select ragpg._set_embeddings('c', '{}', '{}', '{}')",
            "update ragpg.document set acl = '{public}'",
            "delete from ragpg.document",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                reader.execute(statement)


def test_a_stranger_may_do_nothing(access: tuple[str, PgServer], one_each: psycopg.Connection[Any]) -> None:
    with connect(access, "stranger") as stranger:
        for statement in (
            "select * from ragpg.search_keyword('c', 'alpha')",
            "select * from ragpg.document",
            "select ragpg._current_principals()",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                stranger.execute(statement)


def test_a_writer_writes_and_may_not_grant(
    access: tuple[str, PgServer], one_each: psycopg.Connection[Any]
) -> None:
    with connect(access, "app_writer") as writer:
        assert upsert(writer, "new", ["alpha new"], [[1, 1, 0]])["status"] == "created"
        call(writer, "set_acl", p_collection="c", p_external_id="new", p_acl=["group:hr"])
        assert "new" not in ids(call(writer, "search_keyword", p_collection="c", p_query="alpha"))
        call(writer, "create_collection", p_name="second")
        call(writer, "drop_collection", p_name="second")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            call(writer, "grant_access", p_role="app_reader", p_level="writer")


def test_hidden_documents_leave_no_trace(
    access: tuple[str, PgServer], one_each: psycopg.Connection[Any]
) -> None:
    """A word that only a hidden document holds looks like a word that nobody wrote."""
    with connect(access, "app_reader") as reader:

        def seen(query: str) -> list[Row]:
            hits = call(reader, "search_hybrid", p_collection="c", p_query=query, p_embedding="[1,0,0]")
            plan = call(reader, "explain_search", p_collection="c", p_query=query, p_embedding="[1,0,0]")[0][
                "explain_search"
            ]
            plan.pop("timings_ms")
            return [*hits, plan]

        assert seen("zebra") == seen("xylophone")


def test_the_language_of_hidden_documents_stems_no_query(
    access: tuple[str, PgServer], one_each: psycopg.Connection[Any]
) -> None:
    """German cuts Katzen to katz, English does not: who sees no German document gets the answer of English alone."""
    upsert(one_each, "visible", ["alpha katz"], [[1, 1, 1]], acl=["public"])
    upsert(one_each, "hidden", ["Katzen"], [[1, 1, 1]], acl=["group:hr"], language="german")
    with connect(access, "app_reader") as reader:
        assert ids(call(reader, "search_keyword", p_collection="c", p_query="Katzen")) == []
        set_caller(reader, ["group:hr"], "")
        assert set(ids(call(reader, "search_keyword", p_collection="c", p_query="Katzen"))) == {
            "visible",
            "hidden",
        }


def test_revoking_holds_at_once_for_every_chunk(
    access: tuple[str, PgServer], one_each: psycopg.Connection[Any]
) -> None:
    upsert(
        one_each,
        "many",
        [f"alpha {number}" for number in range(20)],
        [[1, number, 0] for number in range(20)],
    )
    assert "many" in ids(call(one_each, "search_keyword", p_collection="c", p_query="alpha", p_k=50))
    call(one_each, "set_acl", p_collection="c", p_external_id="many", p_acl=["group:board"])
    for leg in ({"p_query": "alpha"}, {"p_query": "alpha", "p_embedding": "[1,0,0]"}):
        assert "many" not in ids(call(one_each, "search_hybrid", p_collection="c", p_k=50, **leg))


@pytest.mark.parametrize(
    ("role", "level"),
    [
        ("app_reader", "admin"),
        ("nobody_there", "reader"),
        ('x"; drop schema ragpg', "reader"),
        ("app_reader", None),
    ],
)
def test_grants_to_nobody_are_refused(
    access: tuple[str, PgServer], one_each: psycopg.Connection[Any], role: str, level: str | None
) -> None:
    with pytest.raises(psycopg.Error) as refused:
        call(one_each, "grant_access", p_role=role, p_level=level)
    assert refused.value.sqlstate == "RG007"
