"""Runs the command line: in the process for speed, as a program where the process matters."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from ragpg.cli import app

CLEARED = (
    "RAGPG_DATABASE_URL",
    "RAGPG_DATA_DIR",
    "RAGPG_EMBEDDER",
    "RAGPG_CHAT_MODEL",
    "RAGPG_DEBUG",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "PGHOST",
    "PGHOSTADDR",
    "PGDATABASE",
    "PGSERVICE",
)

COMMAND = [
    sys.executable,
    "-c",
    "import sys; from ragpg.cli import app; sys.argv[0] = 'ragpg'; sys.exit(app())",
]

Cli = Callable[..., Result]


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in CLEARED:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def bare() -> Cli:
    """The command line without a database."""

    def run(*arguments: object, stdin: str | bytes | None = None) -> Result:
        return CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)

    return run


@pytest.fixture
def cli(bare: Cli, database: str, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """The command line on a migrated database of its own."""
    monkeypatch.setenv("RAGPG_DATABASE_URL", database)
    return bare


@pytest.fixture
def as_json(cli: Cli) -> Callable[..., Any]:
    """Runs a command with ``--json`` that must succeed, and returns what it printed."""

    def run(*arguments: object, stdin: str | bytes | None = None, exit_code: int = 0) -> Any:
        result = cli(*arguments, "--json", stdin=stdin)
        assert result.exit_code == exit_code, result.output
        return json.loads(result.stdout)

    return run


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """A small folder: two good documents."""
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "refunds.md").write_text(
        "# Refunds\n\nA refund takes five working days.\n\n# Codes\n\nERR-1042 means that the clock is wrong.\n"
    )
    (folder / "leave.txt").write_text("Everybody has 27 days of annual leave.\n")
    return folder


@pytest.fixture
def handbook(cli: Cli, docs: Path) -> Path:
    """A collection ``handbook`` with the folder ``docs`` in it."""
    assert cli("collection", "create", "handbook", "--embedder", "hash").exit_code == 0
    result = cli("ingest", "handbook", docs)
    assert result.exit_code == 0, result.output
    return docs


def environment(**changes: str) -> dict[str, str]:
    """The environment without what would point ragpg somewhere."""
    return {key: value for key, value in os.environ.items() if key not in CLEARED} | changes


def program(
    *arguments: object, env: dict[str, str] | None = None, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run ``ragpg`` as a program of its own."""
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=180,
        env=environment(**(env or {})),
        cwd=cwd,
        check=False,
    )
