"""What must stay true so that the schema can be spread over several servers by document."""

from __future__ import annotations

import re
from typing import Any

import psycopg
import pytest

# Table → the column that holds the document's uuid.
BY_DOCUMENT = {"document": "id", "chunk": "document_id", "embedding": "document_id"}
DISTRIBUTED = (*BY_DOCUMENT, "collection", "index_version", "lexeme_stat")
MENTIONS = re.compile(rf"\bragpg\.(?:{'|'.join(DISTRIBUTED)})\b(?!%)")
LEGS = (
    "_count_visible",
    "_best_matches",
    "_keyword_leg",
    "_keyword_scores",
    "_nearest_exact",
    "_nearest_hnsw",
    "_vector_leg",
)


@pytest.fixture
def functions(catalog: psycopg.Connection) -> dict[str, tuple[str, str, list[str]]]:
    """Name → (language, source, settings) of every function."""
    rows = catalog.execute(
        """
        select proname, lanname, coalesce(pg_get_function_sqlbody(pg_proc.oid), prosrc), coalesce(proconfig, '{}')
        from pg_proc join pg_language on pg_language.oid = prolang where pronamespace = 'ragpg'::regnamespace
        """
    ).fetchall()
    return {
        name: (language, re.sub(r"--[^\n]*", "", source), settings)
        for name, language, source, settings in rows
    }


def relations(kind: str) -> str:
    """A condition on a table and its partitions."""
    return rf"relnamespace = 'ragpg'::regnamespace and relname ~ '^({kind})(_v\d+)?$'"


def test_every_key_holds_the_document(catalog: psycopg.Connection) -> None:
    keys = catalog.execute(
        f"""
        select relname, indisprimary, array(
            select attname::text from pg_attribute where attrelid = indrelid and attnum = any (indkey::int2[])
        )
        from pg_index join pg_class on pg_class.oid = indrelid
        where indisunique and {relations("|".join(BY_DOCUMENT))}
        """
    ).fetchall()
    assert {name for name, _, _ in keys} >= set(BY_DOCUMENT)
    for name, primary, columns in keys:
        table = re.sub(r"_v\d+$", "", name)
        assert primary, f"{name} has a unique index besides its key"
        assert BY_DOCUMENT[table] in columns


def test_every_constraint_is_named(catalog: psycopg.Connection) -> None:
    names: list[tuple[Any, ...]] = catalog.execute(
        """
        select contype, conname from pg_constraint join pg_class on pg_class.oid = conrelid
        where connamespace = 'ragpg'::regnamespace and not relispartition and conparentid = 0
            and contype not in ('n', 't') and relname <> 'alembic_version'
        """
    ).fetchall()
    prefixes = {"p": "pk_", "f": "fk_", "u": "uq_", "c": "ck_"}
    assert {kind for kind, _ in names} == set(prefixes)
    assert [name for kind, name in names if not name.startswith(prefixes[kind])] == []


def test_no_triggers(catalog: psycopg.Connection) -> None:
    triggers = catalog.execute(
        f"""
        select relname, tgname from pg_trigger join pg_class on pg_class.oid = tgrelid
        where not tgisinternal and {relations("|".join(DISTRIBUTED))}
        """
    ).fetchall()
    assert triggers == []


def test_functions_over_the_tables_are_plpgsql(functions: dict[str, tuple[str, str, list[str]]]) -> None:
    over_tables = {
        name: language for name, (language, source, _) in functions.items() if MENTIONS.search(source)
    }
    assert {"upsert_document", "_nearest_exact", "refresh_statistics"} <= over_tables.keys()
    assert [name for name, language in over_tables.items() if language != "plpgsql"] == []


def test_functions_over_the_big_tables_force_custom_plans(
    functions: dict[str, tuple[str, str, list[str]]],
) -> None:
    """Statements run by EXECUTE are planned each time; all others need the setting, their own or their caller's."""
    big = re.compile(
        r"\b(?:from|join|into|update|using)\s+ragpg\.(?:document|chunk|embedding)\b(?!%)", re.IGNORECASE
    )
    free = [
        name
        for name, (_, source, settings) in functions.items()
        if big.search(re.sub(r"'(?:[^']|'')*'", "''", source))
        and "plan_cache_mode=force_custom_plan" not in settings
    ]
    assert free == []


def test_legs_take_principals_as_parameters(functions: dict[str, tuple[str, str, list[str]]]) -> None:
    readers = {
        name
        for name in LEGS
        if re.search(
            r"current_setting|_current_principals|_current_tenant_id|session_user", functions[name][1]
        )
    }
    assert readers == set()


def test_exact_search_is_forced_by_an_expression(functions: dict[str, tuple[str, str, list[str]]]) -> None:
    _, source, settings = functions["_nearest_exact"]
    assert re.search(r"_cosine_distance\([^)]*\)\s*\)?\s*\+\s*0", source)
    assert [setting for setting in settings if setting.startswith("enable_")] == []


def test_upserts_can_be_routed(functions: dict[str, tuple[str, str, list[str]]]) -> None:
    clock = re.compile(r"\bnow\(\)|\bcurrent_timestamp\b|\bclock_timestamp\(\)", re.IGNORECASE)
    for name, (_, source, _) in functions.items():
        for update in re.findall(r"on conflict[^;]*?do update([^;]*)", source, re.IGNORECASE):
            assert not clock.search(update), f"{name}: take the time from VALUES (excluded)"
        for values in re.findall(r"\bvalues\s*\(([^;]*)", source, re.IGNORECASE):
            assert not re.search(r"\(\s*select\b", values, re.IGNORECASE), f"{name}: no subquery in VALUES"
