"""What the command line refuses, and how it says so: no database needed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import Result

from ragpg.cli.connect import hide_password
from ragpg.cli.options import parse_metadata
from ragpg.cli.output import clean, one_line
from ragpg.cli.quickstart import collection_name

from .conftest import program

Cli = Callable[..., Result]

COMMANDS = [
    "quickstart",
    "init",
    "migrate",
    "status",
    "collection",
    "ingest",
    "delete",
    "search",
    "find",
    "ask",
]


def test_help_names_every_command_and_the_exit_codes(bare: Cli) -> None:
    result = bare("--help")
    assert result.exit_code == 0
    for command in COMMANDS:
        assert command in result.stdout
        assert bare(command, "--help").exit_code == 0
    assert "Exit codes" in result.stdout


def test_version(bare: Cli) -> None:
    result = bare("--version")
    assert result.exit_code == 0
    assert result.stdout.startswith("ragpg 0.")


@pytest.mark.parametrize(
    "arguments",
    [
        ("search",),
        ("search", "handbook"),
        ("search", "handbook", "refund", "--k", "0"),
        ("search", "handbook", "refund", "--k", "-3"),
        ("search", "handbook", "refund", "--k", "many"),
        ("search", "handbook", "refund", "--k", "1001"),
        ("search", "handbook", "refund", "--mode", "semantic"),
        ("search", "handbook", "refund", "--expand", "page"),
        ("search", "handbook", "refund", "--expand", "neighbors:"),
        ("search", "handbook", "refund", "--expand", "neighbors:-1"),
        ("search", "handbook", "refund", "--expand", "neighbors:1000"),
        ("search", "handbook", "refund", "--tenant", "é" * 501),
        ("search", "handbook", "refund", "--idf", "mine"),
        ("find", "faq-1"),
        ("find", "--query", "refund"),
        ("find", "handbook", "", "--query", "refund"),
        ("find", "handbook", "faq-1", "more", "--query", "refund"),
        ("find", "handbook", "faq-1", "--query", "refund", "--k", "0"),
        ("delete", "handbook", ""),
        ("delete", "handbook", "é" * 501),
        ("collection", "create", " "),
        ("collection", "create", "x" * 201),
        ("collection", "create", "x", "--default-acl", ""),
        ("ask", "handbook", "refund", "--k", "0"),
        ("ingest", "handbook"),
        ("ingest", "handbook", "no/such/file.md"),
        ("ingest", "handbook", "."),
        ("collection", "create", "x", "--chunking", "words"),
        ("collection", "create", "x", "--max-tokens", "0"),
        ("quickstart", "no/such/folder"),
        ("frobnicate",),
    ],
)
def test_wrong_usage(bare: Cli, arguments: tuple[str, ...]) -> None:
    if arguments == ("ingest", "handbook", "."):
        arguments = (*arguments, "--metadata", "no-equals-sign")
    result = bare(*arguments)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert result.stderr
    assert "p_" not in result.stderr, "the names of SQL parameters say nothing here"


@pytest.mark.parametrize(
    "arguments",
    [
        ("-",),
        ("-", ".", "--id", "x"),
        ("-", "--id", "x", "--sync"),
        ("-", "--id", ""),
        (".", "--id", "x"),
        (".", "--title", "x"),
        (".", "--media-type", "text/html"),
        (".", "--metadata", "=value"),
        (".", "--acl", ""),
        (".", "--acl", "group:hr", "--acl", " "),
        (".", "--acl", "*"),
    ],
)
def test_wrong_usage_of_ingest(bare: Cli, arguments: tuple[str, ...]) -> None:
    result = bare("ingest", "handbook", *arguments, stdin="text")
    assert result.exit_code == 2, result.output
    assert result.stdout == ""


def test_without_a_database_the_ways_to_one_are_named(bare: Cli) -> None:
    result = bare("search", "handbook", "refund")
    assert result.exit_code == 1
    for way in ("ragpg quickstart", "ragpg init", "--url", "RAGPG_DATABASE_URL"):
        assert way in result.stderr
    assert not Path(".ragpg").exists()


@pytest.mark.parametrize("command", [("status",), ("search", "handbook", "refund"), ("migrate",), ("init",)])
def test_unreachable_database(bare: Cli, command: tuple[str, ...]) -> None:
    result = bare(*command, "--url", "postgresql://user:secret@127.0.0.1:1/nowhere")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert "127.0.0.1" in result.stderr
    assert "Traceback" not in result.stderr
    assert "secret" not in result.stderr


def test_traceback_only_when_asked_for(bare: Cli) -> None:
    url = "postgresql://user@127.0.0.1:1/nowhere"
    assert "Traceback" in program("--debug", "status", "--url", url).stderr
    assert "Traceback" in program("status", "--url", url, env={"RAGPG_DEBUG": "1"}).stderr
    plain = program("status", "--url", url)
    assert plain.returncode == 1
    assert "Traceback" not in plain.stderr


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        (["team=hr"], {"team": "hr"}),
        (["year=2026", "share=0.5"], {"year": 2026, "share": 0.5}),
        (["ok=true", "none=null"], {"ok": True, "none": None}),
        (["version=1.10", "code=007", "big=1e3"], {"version": "1.10", "code": "007", "big": "1e3"}),
        (['tags=["a", "b"]'], {"tags": ["a", "b"]}),
        (["formula=a=b"], {"formula": "a=b"}),
        (["empty="], {"empty": ""}),
        (["odd=NaN", "far=Infinity"], {"odd": "NaN", "far": "Infinity"}),
    ],
)
def test_metadata(pairs: list[str], expected: dict[str, Any]) -> None:
    assert parse_metadata(pairs) == expected


@pytest.mark.parametrize("pair", ["team", "=hr", " =hr"])
def test_metadata_without_a_key(pair: str) -> None:
    with pytest.raises(typer.BadParameter, match="key=value"):
        parse_metadata([pair])


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://ana:s3cret@db/app", "postgresql://ana:***@db/app"),
        ("postgresql://ana@db/app", "postgresql://ana@db/app"),
        ("postgresql:///app?host=/run/pg", "postgresql:///app?host=/run/pg"),
        ("postgresql://db/app?user=ana&password=s3cret", "postgresql://db/app?user=ana&password=***"),
        ("host=db password=s3cret dbname=app", "host=db password=*** dbname=app"),
        ("host=db password='s3 cret' dbname=app", "host=db password=*** dbname=app"),
    ],
)
def test_password_is_hidden(url: str, shown: str) -> None:
    assert hide_password(url) == shown


def test_one_line() -> None:
    assert one_line("a\n\n  b\tc", 80) == "a b c"
    assert one_line("word " * 40, 12) == "word word w…"
    assert clean("a\x1b[31mb\x00\u009bc\nd") == "a[31mbc\nd"


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/home/ana/My Docs", "my_docs"),
        ("/srv/2026", "docs_2026"),
        ("/srv/Ärzte", "arzte"),
        ("/", "docs"),
        ("/srv/日本", "docs"),
    ],
)
def test_collection_name(path: str, name: str) -> None:
    assert collection_name(Path(path)) == name
