"""Finds the files that are not Python: ``sql/``, ``migrations/`` and the example handbook.

A wheel carries them in ``ragpg/_resources``; in a checkout (an editable install) they lie at its root.
"""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent
_BUNDLED = _PACKAGE / "_resources"


def sql_dir() -> Path:
    """Return the folder with the frozen SQL that migrations load; in a checkout also the sources."""
    return _find("sql", "sql")


def migrations_dir() -> Path:
    """Return Alembic's script location."""
    return _find("migrations", "migrations")


def handbook_dir() -> Path:
    """Return the example documents that ``ragpg quickstart`` ingests."""
    return _find("handbook", "examples/handbook")


def _find(bundled: str, in_checkout: str) -> Path:
    for folder in (_BUNDLED / bundled, _PACKAGE.parent / in_checkout):
        if folder.is_dir():
            return folder
    raise FileNotFoundError(
        f"{_BUNDLED / bundled} is missing: this installation of ragpg is incomplete, install it again"
    )
