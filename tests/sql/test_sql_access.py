from __future__ import annotations

import random
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import sql

from tests.sql.helpers import Row, call, create, ids, upsert, vector

if TYPE_CHECKING:
    from tests.conftest import PgServer

PRINCIPALS = ["public", "user:ana", "user:bo", "group:hr", "group:eng", "group:board"]
TENANTS = ["", "acme", "globex"]
WORDS = ["alpha", "beta", "gamma", "delta"]
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


def test_no_trial_of_two_thousand_shows_a_forbidden_row(access: tuple[str, PgServer]) -> None:
    """Random documents, ACLs, tenants, roles, legs, filters and expansions against a rule written in Python."""
    source = random.Random(42)
    documents: dict[tuple[str, str], Row] = {}
    with connect(access) as owner:
        for number in range(90):
            tenant = source.choice(TENANTS)
            external_id = f"d{number % 40}"
            acl = source.sample(PRINCIPALS, source.randint(0, 3))
            year = source.choice([2023, 2024, 2025])
            expired = source.random() < 0.1
            pieces = [
                " ".join(source.choices(WORDS, k=4)) + f" doc{number} part{part}"
                for part in range(source.randint(1, 3))
            ]
            upsert(
                owner,
                external_id,
                pieces,
                [[source.gauss(0, 1) for _ in range(3)] for _ in pieces],
                acl=acl,
                tenant_id=tenant,
                metadata=f'{{"year": {year}}}',
                expires_at="2020-01-01" if expired else None,
            )
            documents[tenant, external_id] = {
                "acl": set(acl),
                "year": year,
                "expired": expired,
                "text": pieces,
            }

    connections = {role: connect(access, role) for role in ("app_reader", "app_server", "app_writer")}
    forbidden = found = trials = 0
    try:
        for _ in range(2000):
            trials += 1
            role = source.choice(list(connections))
            connection = connections[role]
            principals = source.sample(PRINCIPALS, source.randint(0, 3))
            tenant = source.choice(TENANTS)
            year = source.choice([None, 2024])
            # every document holds "doc…" words; a common word has both legs look at all of them
            query = (
                " ".join(source.sample(WORDS, 2)) if source.random() < 0.8 else f"doc{source.randrange(90)}"
            )
            parameters: Row = {
                "p_collection": "c",
                "p_k": 200,
                "p_filter": f"$.year >= {year}" if year else None,
            }
            parameters["p_expand"] = source.choice([None, None, "parent", "neighbors:2", "document"])
            if role == "app_server" and source.random() < 0.7:
                set_caller(connection, ["user:nobody"], "nowhere")
                parameters |= {"p_principals": principals, "p_tenant_id": tenant}
            else:
                set_caller(connection, principals, tenant)
            leg = source.choice(["search_keyword", "search_vector", "search_hybrid"])
            if leg != "search_vector":
                parameters["p_query"] = query
            if leg == "search_vector" or (leg == "search_hybrid" and source.random() < 0.5):
                parameters["p_embedding"] = vector([source.gauss(0, 1) for _ in range(3)])
            rows = call(connection, leg, **parameters)
            visible = {
                external_id
                for (owner_tenant, external_id), document in documents.items()
                if owner_tenant == tenant
                and document["acl"] & {*principals, "public"}
                and not document["expired"]
                and (year is None or document["year"] >= year)
            }
            for row in rows:
                text = documents.get((tenant, row["external_id"]), {}).get("text", [])
                if row["external_id"] not in visible or row["content"] not in "\n\n".join(text):
                    forbidden += 1
            found += len(rows)
            if leg == "search_vector":
                assert set(ids(rows)) == visible, "every visible document has a vector"
    finally:
        for connection in connections.values():
            connection.close()
    assert forbidden == 0
    assert trials == 2000
    assert found > 2000, "the trials looked at something"


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


def test_tables_show_a_reader_what_the_search_shows(
    access: tuple[str, PgServer], one_each: psycopg.Connection[Any]
) -> None:
    with connect(access, "app_reader") as reader:
        for principals, expected in (([], {"open"}), (["group:hr"], {"open", "staff"})):
            set_caller(reader, principals, "")
            assert {row[0] for row in reader.execute("select external_id from ragpg.document")} == expected
            for table in ("chunk", "embedding"):
                count = reader.execute(
                    sql.SQL("select count(*) from ragpg.{}").format(sql.Identifier(table))
                ).fetchone()
                assert count == (len(expected),)
        for table in ("lexeme_stat", "embedding_cache", "job", "source_table", "search_log"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                reader.execute(sql.SQL("select * from ragpg.{}").format(sql.Identifier(table)))
        version = reader.execute("select max(id) from ragpg.index_version").fetchone()
        assert version is not None
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            reader.execute(sql.SQL("select * from ragpg.{}").format(sql.Identifier(f"chunk_v{version[0]}")))


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
