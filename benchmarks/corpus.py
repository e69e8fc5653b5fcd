"""Builds the corpus that benchmarks/search.py measures on, on a server of its own that keeps running.

    python benchmarks/corpus.py --chunks 200000 --data-dir DIR
    python benchmarks/corpus.py --stop --data-dir DIR

A corpus that is there is left as it is. The collection is called ``bench``.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import psycopg
from speed.load import load
from speed.source import Source
from speed.synthetic import Synthetic

from ragpg.db.embedded import EmbeddedServer
from ragpg.db.migrate import migrate

SHOWN = (
    "shared_buffers",
    "effective_cache_size",
    "work_mem",
    "maintenance_work_mem",
    "max_parallel_maintenance_workers",
    "max_wal_size",
)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--chunks", type=int, default=200_000)
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--stop", action="store_true", help="stop the server, and keep the corpus")
    arguments = parser.parse_args()
    if arguments.stop:
        EmbeddedServer(arguments.data_dir).stop()
        return
    server, report = build(arguments.data_dir, Synthetic(arguments.chunks))
    print(json.dumps(report, indent=2))
    print(server.url)


def build(home: Path, source: Source) -> tuple[EmbeddedServer, dict[str, Any]]:
    """Start the server of a folder and make sure that it holds the corpus; return what building it cost."""
    server = EmbeddedServer(home, settings=settings(source.key["chunks"]))
    url = server.start()
    for name, value in shown_settings(url).items():
        print(f"  {name} = {value}")
    record = home / "corpus.json"
    if record.exists():
        report = json.loads(record.read_text())
        if report["key"] != source.key:
            raise SystemExit(
                f"{home} holds another corpus: {report['key']}; remove it or choose another folder"
            )
        return server, report
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("drop schema if exists ragpg cascade")
    migrate(url)
    report = {"key": source.key, **load(url, source)}
    record.write_text(json.dumps(report, indent=2) + "\n")
    return server, report


def settings(chunks: int) -> dict[str, str]:
    """Memory for the corpus to be cached and for its HNSW graph to be built in memory."""
    shared = max(256, min(4096, chunks * 10 // 1024))
    return {
        "shared_buffers": f"{shared}MB",
        "effective_cache_size": f"{2 * shared}MB",
        "maintenance_work_mem": f"{max(256, min(3072, chunks * 5 // 1024))}MB",
        "max_parallel_maintenance_workers": "2",
        "max_wal_size": "8GB",
    }


def shown_settings(url: str) -> dict[str, str]:
    with psycopg.connect(url) as connection:
        rows = connection.execute(
            "select name, current_setting(name) from pg_settings where name = any (%s)"
            " union all select 'server_version', version()"
            " union all select 'pgvector', extversion from pg_extension where extname = 'vector'",
            (list(SHOWN),),
        ).fetchall()
    return dict(rows)


if __name__ == "__main__":
    main()
