"""The examples of docs/sql-api.md run and show what they show; every function, word and code is on the page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from ragpg.errors import RagpgError

from .pages import DOCS, ROOT, sections

if TYPE_CHECKING:
    from tests.conftest import PgServer

PAGE = DOCS / "sql-api.md"
PAGE_TEXT = PAGE.read_text(encoding="utf-8")
ROLES = ("ana", "dashboard", "web_server")
# RG010 is raised by the clients, RG012 by the migration
SQLSTATES_OF_FUNCTIONS = RagpgError.by_code.keys() - {"RG010", "RG012"}

_BLOCK = re.compile(
    r"^```sql\n(?P<code>.*?)^```\n(?:```text\n(?P<shown>.*?)^```\n)?", re.MULTILINE | re.DOTALL
)
_ROLE = re.compile(r"-- as (?:an )?(\w+)\n")
_SQLSTATE = re.compile(r"^-- (?=\w*\d)([0-9A-Z]{5})\b", re.MULTILINE)

Table = list[list[str]]


@dataclass
class Example:
    """A block of SQL: the role that runs it (none: the owner), the error it ends in, the table it shows."""

    line: int
    code: str
    role: str | None
    sqlstate: str | None
    shown: str | None


def examples() -> list[Example]:
    found: list[Example] = []
    for match in _BLOCK.finditer(PAGE_TEXT):
        role = _ROLE.match(match["code"])
        sqlstate = _SQLSTATE.search(match["code"])
        found.append(
            Example(
                line=PAGE_TEXT.count("\n", 0, match.start()) + 2,
                code=match["code"],
                role=role[1] if role else None,
                sqlstate=sqlstate[1] if sqlstate else None,
                shown=match["shown"],
            )
        )
    return found


def parsed(shown: str) -> Table:
    """Return the cells of a table in psql's form, names first, after a check of its row count."""
    header, rule, *rows, count = shown.splitlines()
    assert set(rule) <= set("-+"), rule
    assert count == f"({len(rows)} row{'' if len(rows) == 1 else 's'})", shown
    return [[cell.strip() for cell in line.split("|")] for line in (header, *rows)]


def last_table(cursor: psycopg.Cursor[Any]) -> Table | None:
    """Return the last result that has columns, as the server's own text."""
    table = None
    while True:
        result = cursor.pgresult
        assert result is not None
        if result.nfields:
            names = [(result.fname(column) or b"").decode() for column in range(result.nfields)]
            table = [names] + [
                [(result.get_value(row, column) or b"").decode() for column in range(result.nfields)]
                for row in range(result.ntuples)
            ]
        if not cursor.nextset():
            return table


@pytest.fixture
def roles(pg_server: PgServer) -> Iterator[None]:
    """Drop the roles that the examples make; requested before the database, so that it goes first."""
    statement = f"drop role if exists {', '.join(ROLES)}"
    pg_server.run(statement)
    yield
    pg_server.run(statement)


def run(database: str, blocks: list[Example]) -> Iterator[tuple[Example, str | None, Table | None]]:
    """Run examples in order, each role on one connection, and yield what came of it: SQLSTATE, table."""
    with ExitStack() as stack:
        connections: dict[str | None, psycopg.Connection[Any]] = {}
        for example in blocks:
            if example.role not in connections:
                user = "postgres" if example.role == "administrator" else example.role
                url = make_conninfo(database, **({"user": user} if user else {}))
                connections[example.role] = stack.enter_context(psycopg.connect(url, autocommit=True))
            sqlstate = table = None
            try:
                table = last_table(connections[example.role].execute(example.code.encode()))
            except psycopg.Error as error:
                sqlstate = error.sqlstate
            yield example, sqlstate, table


def test_the_examples_are_found() -> None:
    found = examples()
    assert len(found) == PAGE_TEXT.count("```sql\n")
    assert {example.role for example in found} == {None, "administrator", *ROLES}
    assert len([example for example in found if example.shown]) > 25
    assert {example.sqlstate for example in found} >= SQLSTATES_OF_FUNCTIONS


def test_the_examples_run_and_show_what_they_show(roles: None, database: str) -> None:
    for example, sqlstate, table in run(database, examples()):
        where = f"docs/sql-api.md, line {example.line}"
        assert sqlstate == example.sqlstate, where
        if example.shown is not None:
            assert table == parsed(example.shown), where


def test_ids_are_those_of_the_python_recipe(conn: psycopg.Connection[Any]) -> None:
    recipe: dict[str, Any] = {}
    exec(
        compile(re.search(r"^```python\n(.*?)^```", PAGE_TEXT, re.M | re.S)[1], "docs/sql-api.md", "exec"),
        recipe,
    )
    conn.execute("select ragpg.create_collection('Bücher')")
    conn.execute(
        "select ragpg.upsert_document('Bücher', 'ä 1', 'twice – twice –', p_tenant_id => 'acme', p_chunks => %s)",
        (
            '[{"char_start": 0, "char_end": 7}, {"char_start": 8, "char_end": 15}, {"char_start": 0, "char_end": 5}]',
        ),
    )
    rows = conn.execute("select document_id, id, content from ragpg.chunk order by ordinal").fetchall()
    document = recipe["document_id"]("Bücher", "acme", "ä 1")
    assert rows == [
        (document, recipe["chunk_id"](document, "twice –", 0), "twice –"),
        (document, recipe["chunk_id"](document, "twice –", 1), "twice –"),
        (document, recipe["chunk_id"](document, "twice"), "twice"),
    ]


def public_functions(conn: psycopg.Connection[Any]) -> dict[str, tuple[str, str]]:
    """Return the arguments and the result of every public function, as the catalogue prints them."""
    return {
        name: (arguments, result)
        for name, arguments, result in conn.execute(
            "select proname, pg_get_function_arguments(oid), pg_get_function_result(oid) from pg_proc"
            " where pronamespace = 'ragpg'::regnamespace and not starts_with(proname, '_')"
        )
    }


def parameters(arguments: str) -> list[tuple[str, str, str | None]]:
    """Return name, type and default of each input parameter."""
    found: list[tuple[str, str, str | None]] = []
    for argument in arguments.split(", "):
        if not argument.startswith("OUT "):
            name, _, rest = argument.partition(" ")
            type_name, _, default = rest.partition(" DEFAULT ")
            found.append(
                (name, type_name, re.sub(r"::[\w .\[\]]+$", "", default).replace("NULL", "null") or None)
            )
    return found


def test_every_public_function_has_a_section_and_no_other_is_described(conn: psycopg.Connection[Any]) -> None:
    signatures = set(re.findall(r"^```\nragpg\.(\w+)\($", PAGE_TEXT, re.M))
    assert signatures == public_functions(conn).keys()
    assert signatures <= sections(PAGE).keys()


def test_signatures_are_those_of_the_catalogue(conn: psycopg.Connection[Any]) -> None:
    for name, (arguments, result) in public_functions(conn).items():
        shown = re.search(r"^```\n(ragpg\..*?)^```", sections(PAGE)[name], re.M | re.S)
        assert shown, name
        inputs = [
            f"{parameter} {type_name}" + (f" default {default}" if default else "")
            for parameter, type_name, default in parameters(arguments)
        ]
        outputs = [
            argument.replace("OUT ", "out ")
            for argument in arguments.split(", ")
            if argument.startswith("OUT ")
        ]
        result = result.replace("SETOF ", "setof ").replace("TABLE(", "table(")
        expected = f"ragpg.{name}({', '.join(inputs + outputs)}) returns {result}"
        assert " ".join(shown[1].split()).replace("( ", "(").replace(" )", ")") == expected


def test_parameter_tables_are_those_of_the_catalogue(conn: psycopg.Connection[Any]) -> None:
    for name, (arguments, _) in public_functions(conn).items():
        rows = re.findall(r"^\| `(p_\w+)` \| ([^|]+) \| ([^|]+) \| \S", sections(PAGE)[name], re.M)
        shown = [(parameter, type_name, default.strip("`")) for parameter, type_name, default in rows]
        assert shown == [
            (parameter, kind, default or "–") for parameter, kind, default in parameters(arguments)
        ], name


def test_columns_of_a_hit_are_those_of_the_catalogue(conn: psycopg.Connection[Any]) -> None:
    columns = conn.execute(
        "select attname, format_type(atttypid, atttypmod) from pg_attribute"
        " where attrelid = 'ragpg.search_hit'::regclass and attnum > 0 order by attnum"
    ).fetchall()
    assert re.findall(r"^\| `(\w+)` \| ([^|]+) \| \S", sections(PAGE)["search_hit"], re.M) == columns


def test_degraded_words_are_those_of_the_functions() -> None:
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "sql" / "functions").glob("*.sql")]
    # words are added to the list as array['…'] or || '…'::text; all of them have an underscore
    said = re.compile(r"(?:\|\| |array\[)'([a-z]+(?:_[a-z]+)+)'(?:::text|\])")
    words = {word for source in sources for word in said.findall(source)}
    assert set(re.findall(r"^\| `(\w+)` \|", sections(PAGE)["degraded"], re.M)) == words


def test_codes_are_those_of_the_errors() -> None:
    table = re.findall(r"^\| `(RG\d+)` \| `(\w+)` \|", sections(PAGE)["Errors"], re.M)
    assert table == [(code, error.__name__) for code, error in sorted(RagpgError.by_code.items())]


def test_links_within_the_page_lead_to_sections() -> None:
    anchors = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in sections(PAGE)}
    assert set(re.findall(r"\]\(#([^)]+)\)", PAGE_TEXT)) <= anchors
