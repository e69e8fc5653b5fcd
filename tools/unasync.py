"""Generate the sync client from the async one.

python tools/unasync.py            write the files
python tools/unasync.py --check    fail where they are not what would be written
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

CLIENT = Path(__file__).resolve().parent.parent / "ragpg" / "client"
MODULES = ("database", "base", "documents", "client")

HEADER = """\
# Generated from {source} by tools/unasync.py: edit that file and run the tool again.
"""

# Whole words, in this order.
WORDS = {
    r"The async client, written by hand\. The sync one is generated from it\.": "The sync client.",
    r"async with": "with",
    r"async def": "def",
    r"async for": "for",
    r"await ": "",
    r"AsyncClient": "Client",
    r"AsyncBase": "Base",
    r"AsyncDatabase": "Database",
    r"AsyncDocuments": "Documents",
    r"AsyncConnectionPool": "ConnectionPool",
    r"AsyncConnection": "Connection",
    r"AsyncCursor": "Cursor",
    r"AsyncIterator": "Iterator",
    r"__aenter__": "__enter__",
    r"__aexit__": "__exit__",
    r"async_runtime": "sync_runtime",
    r"async_database": "sync_database",
    r"async_base": "sync_base",
    r"async_documents": "sync_documents",
    r"async_client": "sync_client",
    r"The async client": "The sync client",
    r"the async client": "the sync client",
}
PATTERNS = [
    (re.compile(rf"(?<![A-Za-z_]){word}(?![A-Za-z_])" if word[-1] != " " else word), to)
    for word, to in WORDS.items()
]


def convert(text: str, source: str) -> str:
    """Return the sync form of a module's text, formatted."""
    for pattern, replacement in PATTERNS:
        text = pattern.sub(replacement, text)
    text = HEADER.format(source=source) + text
    text = ruff(text, "check", "--select", "I,SIM117", "--fix", "--quiet")
    return ruff(text, "format")


def ruff(text: str, *command: str) -> str:
    """Pass a text through ruff, with the project's configuration."""
    process = subprocess.run(
        [sys.executable, "-m", "ruff", *command, "--stdin-filename", str(CLIENT / "sync_client.py"), "-"],
        input=text,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    if process.returncode:
        raise SystemExit(f"ruff {command[0]} failed:\n{process.stderr}")
    return process.stdout


def main() -> int:
    """Write or check the generated modules."""
    check = "--check" in sys.argv[1:]
    stale: list[str] = []
    for module in MODULES:
        source, target = CLIENT / f"async_{module}.py", CLIENT / f"sync_{module}.py"
        text = convert(source.read_text("utf-8"), source.name)
        if target.exists() and target.read_text("utf-8") == text:
            continue
        if check:
            stale.append(target.name)
        else:
            target.write_text(text, "utf-8")
            print(f"wrote {target.name}")
    if stale:
        print(f"out of date: {', '.join(stale)}; run python tools/unasync.py", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    raise SystemExit(main())
