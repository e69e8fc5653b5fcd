"""``init``, ``migrate``, ``uninstall``: on one's own PostgreSQL, and on the embedded one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from typer.testing import Result

Cli = Callable[..., Result]
Json = Callable[..., Any]


def test_migrate_prints_the_script_without_a_database(bare: Cli) -> None:
    result = bare("migrate", "--sql")
    assert result.exit_code == 0
    assert "create table ragpg.document" in result.stdout.lower()
    assert "search_hybrid" in result.stdout


def test_migrate_and_init_can_be_repeated(as_json: Json, cli: Cli) -> None:
    first = as_json("migrate")
    assert first["before"] == first["after"]
    assert "already" in cli("migrate").stdout
    ready = as_json("init")
    assert ready["revision"] == first["after"]
    assert ready["embedded"] is False


def test_uninstall_needs_yes(as_json: Json, cli: Cli, handbook: object) -> None:
    refused = cli("uninstall")
    assert refused.exit_code == 2
    assert "--yes" in refused.stderr
    assert as_json("status")["collections"][0]["documents"] == 2

    assert as_json("uninstall", "--yes")["dropped"]
    missing = cli("status")
    assert missing.exit_code == 1
    assert "ragpg migrate" in missing.stderr

    migrated = as_json("migrate")
    assert migrated["before"] is None
    assert as_json("status")["collections"] == []
