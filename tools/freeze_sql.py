"""Freezes the SQL sources into the copy that a migration loads.

    python tools/freeze_sql.py            copy sql/*.sql and sql/functions/*.sql into sql/frozen/<working revision>/
    python tools/freeze_sql.py --check    fail where that copy differs, or where a released revision was changed
    python tools/freeze_sql.py --release  record the working revision's hashes: from then on it is immutable

The working revision is the newest migration. Once it is released, the next change of a function needs a new migration
(``alembic revision -m "..."``), which is then the working revision.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SQL = ROOT / "sql"
FROZEN = SQL / "frozen"
HASHES = FROZEN / "released.json"
SOURCES = ("types.sql", "policies.sql", "triggers.sql", "grants.sql")


def working_revision() -> str:
    names = (path.name for path in (ROOT / "migrations" / "versions").glob("*.py"))
    return max(match.group(1) for name in names if (match := re.match(r"(\d+)_", name)))


def sources() -> dict[str, bytes]:
    files = [*(SQL / name for name in SOURCES if (SQL / name).is_file()), *(SQL / "functions").glob("*.sql")]
    return {file.relative_to(SQL).as_posix(): file.read_bytes() for file in sorted(files)}


def frozen(revision: str) -> dict[str, bytes]:
    folder = FROZEN / revision
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in sorted(folder.rglob("*.sql"))}


def released() -> dict[str, str]:
    return json.loads(HASHES.read_text(encoding="utf-8"))


def digest(revision: str) -> str:
    """Hash a revision: its migration and its frozen SQL, file names included."""
    total = hashlib.sha256()
    (migration,) = (ROOT / "migrations" / "versions").glob(f"{revision}_*.py")
    for name, content in {migration.name: migration.read_bytes(), **frozen(revision)}.items():
        total.update(f"{name}\0{hashlib.sha256(content).hexdigest()}\n".encode())
    return total.hexdigest()


def problems() -> list[str]:
    """List what is wrong; empty when all is well."""
    revision = working_revision()
    current, copy = sources(), frozen(revision)
    found = [
        f"sql/{name} differs from sql/frozen/{revision}/{name}"
        for name in sorted(current.keys() | copy.keys())
        if current.get(name) != copy.get(name)
    ]
    found += [
        f"revision {name} is released and was changed: restore it and write a new migration"
        for name, expected in released().items()
        if digest(name) != expected
    ]
    return found


def freeze() -> None:
    revision = working_revision()
    if revision in released():
        sys.exit(f'revision {revision} is released: make a new one first (alembic revision -m "...")')
    folder = FROZEN / revision
    if folder.is_dir():
        shutil.rmtree(folder)
    for name, content in sources().items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    print(f"froze {len(sources())} files into {folder.relative_to(ROOT)}")


def release() -> None:
    revision = working_revision()
    HASHES.write_text(
        json.dumps(released() | {revision: digest(revision)}, indent=2) + "\n", encoding="utf-8"
    )
    print(f"revision {revision} is released")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--check", action="store_true")
    action.add_argument("--release", action="store_true")
    arguments = parser.parse_args()
    if not arguments.check and not arguments.release:
        freeze()
        return
    if found := problems():
        sys.exit("\n".join([*found, "run: python tools/freeze_sql.py"]))
    if arguments.release:
        release()


if __name__ == "__main__":
    main()
