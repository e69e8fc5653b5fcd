"""What an ingest costs, and what an edit costs: texts embedded, rows written, seconds.

    python benchmarks/ingest.py                    # a document of 200 chunks, and examples/handbook
    python benchmarks/ingest.py --folder DIR --json out.json

Rows written are counted by comparing the place and the transaction of every row before and after, so a row that was rewritten with
the same content counts too.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import psycopg
from scratch import scratch_database

from ragpg import Client

ROWS = (
    "select 'document', id::text, ctid::text, xmin::text from ragpg.document"
    " union all select 'chunk', id::text, ctid::text, xmin::text from ragpg.chunk"
    " union all select 'embedding', chunk_id::text, ctid::text, xmin::text from ragpg.embedding"
    " union all select 'embedding_cache', input_hash::text, ctid::text, xmin::text from ragpg.embedding_cache"
)
TOPICS = ("pumps", "valves", "seals", "motors", "filters", "sensors", "cables", "tanks", "hoses", "fans")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, default=Path(__file__).parents[1] / "examples" / "handbook")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()

    results: list[dict[str, Any]] = []
    with (
        tempfile.TemporaryDirectory(prefix="ragpg-manual-") as name,
        scratch_database() as url,
        Client(url) as rag,
        psycopg.connect(url, autocommit=True) as connection,
    ):
        manual = Path(name)
        rag.create_collection("manual", embedder="local")
        paragraphs = [paragraph(number) for number in range(200)]
        for label, edit in (
            ("200 paragraphs, first time", {}),
            ("again", {}),
            ("one paragraph edited", {100: " The interval was shortened in spring."}),
            ("again", {}),
            (
                "one paragraph inserted at the start",
                {0: "\n\nAn introduction that was not there before."},
            ),
        ):
            for place, addition in edit.items():
                paragraphs[place] += addition
            (manual / "manual.md").write_text("# Manual\n\n" + "\n\n".join(paragraphs), encoding="utf-8")
            results.append(measure(rag, connection, "manual", manual, label))
        rag.create_collection("folder", embedder="local")
        for label in (f"{arguments.folder.name}, first time", "again"):
            results.append(measure(rag, connection, "folder", arguments.folder, label))
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=2) + "\n")


def paragraph(number: int) -> str:
    """One paragraph that fills most of a chunk, different from all the others."""
    topic = TOPICS[number % len(TOPICS)]
    return " ".join(
        f"Step {number}.{part}: check the {topic} of unit {number * 7 + part} and write reading {number * 13 + part} into the log."
        for part in range(8)
    )


def measure(
    rag: Client, connection: psycopg.Connection[Any], collection: str, folder: Path, label: str
) -> dict[str, Any]:
    before = set(connection.execute(ROWS).fetchall())
    started = time.perf_counter()
    report = rag.ingest(collection, folder)
    seconds = time.perf_counter() - started
    after = set(connection.execute(ROWS).fetchall())
    row = {
        "label": label,
        "chunks": rag.stats(collection).chunks,
        "embedded": report.embedded,
        "rows_written": len(after - before),
        "failures": len(report.failures),
        "seconds": round(seconds, 2),
    }
    print(
        f"{label:38s} chunks {row['chunks']:4d}   embedded {row['embedded']:4d}   rows written {row['rows_written']:5d}   {seconds:6.2f} s"
    )
    return row


if __name__ == "__main__":
    main()
