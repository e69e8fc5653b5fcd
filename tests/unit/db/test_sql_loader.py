from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa
from hypothesis import example, given
from hypothesis import strategies as st
from sqlalchemy.dialects.postgresql import psycopg

from ragpg.db.resources import sql_dir
from ragpg.db.sql_loader import escape, load_sql, ordered_files


def write(folder: Path, **functions: str) -> None:
    (folder / "functions").mkdir()
    for name, text in functions.items():
        (folder / "functions" / f"{name}.sql").write_text(text)


def names(folder: Path) -> list[str]:
    return [file.relative_to(folder).as_posix() for file in ordered_files(folder)]


def test_order(tmp_path: Path) -> None:
    write(tmp_path, search="", _helper="", _any="", attach="")
    for name in ("grants", "triggers", "policies", "types"):
        (tmp_path / f"{name}.sql").write_text("")
    assert names(tmp_path) == [
        "types.sql",
        "functions/_any.sql",
        "functions/_helper.sql",
        "functions/attach.sql",
        "functions/search.sql",
        "policies.sql",
        "triggers.sql",
        "grants.sql",
    ]


def test_requirements_come_first_and_nothing_else_moves(tmp_path: Path) -> None:
    write(
        tmp_path,
        _a="-- About a.\n-- requires: _d, _c.sql\ncreate function a();",
        _b="",
        _c="-- requires: zoo",
        _d="",
        attach="-- not a header: requires: zoo",
        zoo="",
    )
    assert [Path(name).stem for name in names(tmp_path)] == ["_b", "_d", "attach", "zoo", "_c", "_a"]


def test_requirement_that_is_not_there(tmp_path: Path) -> None:
    write(tmp_path, _a="-- requires: _b")
    with pytest.raises(ValueError, match=r"_a\.sql: requires _b, and there is no such file"):
        names(tmp_path)


def test_circle(tmp_path: Path) -> None:
    write(tmp_path, _a="-- requires: _b", _b="-- requires: _a")
    with pytest.raises(ValueError, match="require each other: "):
        names(tmp_path)


def test_every_sql_file_is_loaded() -> None:
    found = {file.relative_to(sql_dir()).as_posix() for file in ordered_files(sql_dir())}
    present = {
        file.relative_to(sql_dir()).as_posix()
        for file in [*sql_dir().glob("*.sql"), *sql_dir().glob("functions/**/*")]
        if file.name != "schema.sql"
    }
    assert found == present


def test_unknown_revision() -> None:
    with pytest.raises(FileNotFoundError, match="freeze_sql"):
        load_sql("nothing")


def compiled(sql: str, paramstyle: str) -> str:
    dialect = psycopg.PGDialect_psycopg(paramstyle=paramstyle)
    return str(sa.text(escape(sql)).compile(dialect=dialect))


@given(st.text(alphabet=":\\%'ax_1é \n"))
@example("select 'a:b', x::text, y[1:2], :name, \\:name, '%I', format('%s: %L', 1, 2)")
@example("array[1:n]::int[] \\::x ::: :a:b a:=b")
def test_text_gives_the_sql_back(sql: str) -> None:
    assert compiled(sql, "named") == sql
    assert compiled(sql, "pyformat") == sql.replace("%", "%%")
    assert not sa.text(escape(sql))._bindparams
