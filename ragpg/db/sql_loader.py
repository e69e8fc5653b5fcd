"""Reads the SQL files that make types, functions, policies and grants, in an order that can be run."""

from __future__ import annotations

import re
from collections.abc import Iterable
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from .resources import sql_dir

_BEFORE_FUNCTIONS = ("types.sql",)
_AFTER_FUNCTIONS = ("policies.sql", "triggers.sql", "grants.sql")
_REQUIRES = re.compile(r"^--\s*requires:\s*(.+)$", re.MULTILINE)

# What sqlalchemy.text() would take for a bind parameter or for an escaped colon: `:name`, but not `::type` or `[:alnum:]`.
_TEXT_SYNTAX = re.compile(r"(?<![:\w$\\]):(?=[\w$]+(?![:\w$]))|\\(?=:[\w$]*(?![:\w$]))")


def ordered_files(folder: Path) -> list[Path]:
    """List the SQL files of a source folder or of a frozen copy in the order to run them.

    Types come first, then functions, then policies, triggers and grants. Among the functions private helpers
    (``_x.sql``) come before public ones, otherwise it goes by name; a header ``-- requires: other, another`` (file
    names without the suffix) puts a file after those it needs, which is necessary where a ``begin atomic`` body
    binds its names at creation.

    Parameters
    ----------
    folder
        ``sql/`` or ``sql/frozen/<revision>/``.
    """
    functions = sorted(
        (folder / "functions").glob("*.sql"), key=lambda file: (file.name[0] != "_", file.name)
    )
    return [
        *(folder / name for name in _BEFORE_FUNCTIONS if (folder / name).is_file()),
        *_by_requirement(functions),
        *(folder / name for name in _AFTER_FUNCTIONS if (folder / name).is_file()),
    ]


def frozen_dir(revision: str) -> Path:
    """Return the folder that holds a revision's immutable copy of the SQL files."""
    return sql_dir() / "frozen" / revision


def load_sql(revision: str) -> list[str]:
    """Return a revision's frozen SQL files, each as one string for ``sqlalchemy.text``.

    Colons that ``text()`` would take for parameters are escaped, so ``:name``, ``::`` and ``%I`` reach the server
    unchanged.

    Parameters
    ----------
    revision
        The Alembic revision, e.g. ``"0001"``.
    """
    files = ordered_files(frozen_dir(revision))
    if not files:
        raise FileNotFoundError(f"{frozen_dir(revision)} holds no SQL: run tools/freeze_sql.py {revision}")
    return [escape(file.read_text(encoding="utf-8").strip().removesuffix(";")) for file in files]


def escape(sql: str) -> str:
    r"""Escape SQL so that ``sqlalchemy.text`` gives it back unchanged.

    Parameters
    ----------
    sql
        SQL without parameters.
    """
    return _TEXT_SYNTAX.sub(lambda match: "\\" + match.group(), sql)


def _by_requirement(files: Iterable[Path]) -> list[Path]:
    by_name = {file.stem: file for file in files}
    position = {name: index for index, name in enumerate(by_name)}
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for name, file in by_name.items():
        required = _requirements(file)
        if missing := required - by_name.keys():
            raise ValueError(f"{file}: requires {', '.join(sorted(missing))}, and there is no such file")
        sorter.add(name, *required)
    ordered: list[Path] = []
    try:
        sorter.prepare()
    except CycleError as error:
        raise ValueError(f"SQL files require each other: {' -> '.join(error.args[1])}") from error
    ready = set(sorter.get_ready())
    while ready:
        name = min(ready, key=position.__getitem__)
        ready.remove(name)
        ordered.append(by_name[name])
        sorter.done(name)
        ready.update(sorter.get_ready())
    return ordered


def _requirements(file: Path) -> set[str]:
    names: set[str] = set()
    for line in _REQUIRES.findall(file.read_text(encoding="utf-8")):
        names.update(name.strip().removesuffix(".sql") for name in line.split(","))
    return names
