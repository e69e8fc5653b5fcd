"""What holds for every object of the schema, read from the catalogue."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

# Runs with the owner's rights, so each of them checks what its caller may do.
SECURITY_DEFINER = {
    "_cache_embeddings",
    "_cached_embeddings",
    "_chunk_states",
    "_current_principals",
    "_current_tenant_id",
    "_document_states",
    "_external_ids",
    "_index_version",
    "_pending_chunks",
    "_set_embeddings",
    "activate_index_version",
    "collection_stats",
    "create_collection",
    "create_index_version",
    "delete_document",
    "drop_collection",
    "drop_index_version",
    "explain_search",
    "find_document",
    "grant_access",
    "refresh_statistics",
    "revoke_access",
    "search_hybrid",
    "search_keyword",
    "search_vector",
    "set_acl",
    "upsert_document",
}
PINNED = "search_path=pg_catalog, pg_temp"


def column(connection: psycopg.Connection, query: str) -> list[Any]:
    return [row[0] for row in connection.execute(query).fetchall()]


def test_functions_that_run_as_the_owner(catalog: psycopg.Connection) -> None:
    definers = column(
        catalog, "select proname from pg_proc where pronamespace = 'ragpg'::regnamespace and prosecdef"
    )
    assert set(definers) == SECURITY_DEFINER
    assert len(definers) == len(SECURITY_DEFINER), "overloaded: give the second one another name"


def test_public_functions_run_as_the_owner(catalog: psycopg.Connection) -> None:
    public = column(
        catalog,
        "select proname from pg_proc where pronamespace = 'ragpg'::regnamespace and proname not like '\\_%'",
    )
    assert set(public) <= SECURITY_DEFINER


def test_search_path_is_pinned(catalog: psycopg.Connection) -> None:
    loose = catalog.execute(
        """
        select proname, proconfig from pg_proc join pg_language on pg_language.oid = prolang
        where pronamespace = 'ragpg'::regnamespace and not (lanname = 'sql' and prosqlbody is not null)
            and not %s = any (coalesce(proconfig, '{}'))
        """,
        [PINNED],
    ).fetchall()
    assert loose == []


def test_inlinable_helpers_have_no_settings(catalog: psycopg.Connection) -> None:
    """A SET clause would stop them from being inlined, and their index from being used."""
    assert (
        column(
            catalog,
            """
            select proname from pg_proc join pg_language on pg_language.oid = prolang
            where pronamespace = 'ragpg'::regnamespace and lanname = 'sql'
                and (prosqlbody is null or proconfig is not null or prosecdef)
            """,
        )
        == []
    )


def test_public_may_do_nothing(catalog: psycopg.Connection) -> None:
    granted = catalog.execute(
        """
        select 'function', oid::regprocedure::text, (aclexplode(coalesce(proacl, acldefault('f', proowner)))).*
        from pg_proc where pronamespace = 'ragpg'::regnamespace
        union all
        select 'relation', oid::regclass::text, (aclexplode(coalesce(relacl, acldefault('r', relowner)))).*
        from pg_class where relnamespace = 'ragpg'::regnamespace and relkind in ('r', 'p', 'v', 'm', 'S')
        union all
        select 'schema', nspname, (aclexplode(coalesce(nspacl, acldefault('n', nspowner)))).*
        from pg_namespace where nspname = 'ragpg'
        """
    ).fetchall()
    assert granted
    assert [row for row in granted if row[3] == 0] == []


def test_functions_made_later_are_not_public_either(catalog: psycopg.Connection) -> None:
    """What a later revision creates is covered by grants.sql, which every revision runs last."""
    catalog.execute("create function ragpg._later() returns int language sql begin atomic select 1; end")
    catalog.execute("revoke all on all functions in schema ragpg from public")
    may = "select has_function_privilege('public', 'ragpg._later()', 'execute')"
    assert catalog.execute(may).fetchone() == (False,)


def test_every_table_has_row_level_security(catalog: psycopg.Connection) -> None:
    tables = catalog.execute(
        """
        select relname, relrowsecurity from pg_class
        where relnamespace = 'ragpg'::regnamespace and relkind in ('r', 'p')
        """
    ).fetchall()
    assert {"document", "chunk", "alembic_version"} <= {name for name, _ in tables}
    assert sum("_v" in name for name, _ in tables) >= 3, "the partitions are looked at too"
    assert [name for name, secured in tables if not secured] == []


def test_every_foreign_key_has_an_index(catalog: psycopg.Connection) -> None:
    unindexed = column(
        catalog,
        """
        select conrelid::regclass || '.' || conname from pg_constraint
        where contype = 'f' and connamespace = 'ragpg'::regnamespace and not exists (
            select from pg_index
            where indrelid = conrelid and indisvalid and indpred is null
                and (indkey::int2[])[0:cardinality(conkey) - 1] @> conkey
        )
        """,
    )
    assert unindexed == []


@pytest.mark.parametrize(
    ("kind", "query"),
    [
        ("schema", "select oid, nspname, 0 as part from pg_namespace where nspname = 'ragpg'"),
        (
            "table",
            """
            select oid, relname, 0 as part from pg_class
            where relnamespace = 'ragpg'::regnamespace and relkind in ('r', 'p', 'v', 'm') and not relispartition
            """,
        ),
        (
            "column",
            """
            select attrelid as oid, relname || '.' || attname, attnum as part
            from pg_attribute join pg_class on pg_class.oid = attrelid
            where relnamespace = 'ragpg'::regnamespace and relkind in ('r', 'p', 'v', 'm') and not relispartition
                and attnum > 0 and not attisdropped
            """,
        ),
        (
            "function",
            "select oid, oid::regprocedure::text, 0 as part from pg_proc where pronamespace = 'ragpg'::regnamespace",
        ),
        (
            "type",
            """
            select pg_type.oid, typname, 0 as part from pg_type left join pg_class on pg_class.oid = typrelid
            where typnamespace = 'ragpg'::regnamespace and (typrelid = 0 or relkind = 'c') and typcategory <> 'A'
            """,
        ),
        (
            "policy",
            """
            select pg_policy.oid, polname, 0 as part from pg_policy join pg_class on pg_class.oid = polrelid
            where relnamespace = 'ragpg'::regnamespace
            """,
        ),
    ],
)
def test_every_object_has_a_comment(catalog: psycopg.Connection, kind: str, query: str) -> None:
    objects = catalog.execute(
        f"""
        select name, description from ({query}) as thing (oid, name, part)
        left join pg_description on objoid = thing.oid and objsubid = part
        """
    ).fetchall()
    assert objects
    assert [name for name, comment in objects if not comment] == []


def test_extension_is_not_touched(catalog: psycopg.Connection) -> None:
    """Nothing of ours depends on pgvector being in a certain schema, and pgvector isn't part of our schema."""
    assert column(
        catalog, "select extnamespace::regnamespace::text from pg_extension where extname = 'vector'"
    ) == ["public"]
    assert (
        column(
            catalog,
            "select proname from pg_proc where pronamespace = 'ragpg'::regnamespace and prosrc ~ '\\mpublic[.]'",
        )
        == []
    )
