"""How fast the search is, against pgvector, ts_rank_cd and a fusion written by hand, on the same server at the same time.

    python benchmarks/search.py --chunks 50000,200000,1000000 --data-dir DIR --json out.json --plots docs
    python benchmarks/search.py --data ../shared/data/scifact           # real text
    python benchmarks/search.py --chunks 20000 --only keyword,hybrid    # a part, on a corpus that is thrown away

Every corpus is built on a server of its own, in DIR/<chunks>, and kept where --data-dir is given. Candidates take turns, query by
query. Figures are added to those that the JSON file holds already.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
from corpus import build, shown_settings
from speed.concurrency import measure_concurrency
from speed.filters import measure_filters
from speed.hybrid import measure_hybrid
from speed.keyword import measure_keyword
from speed.load import COLLECTION
from speed.real import Real
from speed.source import Source
from speed.synthetic import Synthetic
from speed.tables import tables
from speed.timing import load_average
from speed.vector import measure_vector

SECTIONS = ("keyword", "vector", "hybrid", "filters", "concurrency")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--chunks", default="50000,200000", help="sizes of the synthetic corpora")
    parser.add_argument("--data", type=Path, help="a folder with corpus.jsonl and queries.jsonl, instead")
    parser.add_argument("--data-dir", type=Path, help="where to keep the corpora")
    parser.add_argument("--only", default=",".join(SECTIONS), help="what to measure")
    parser.add_argument("--queries", type=int, default=40, help="questions of each kind")
    parser.add_argument("--checked", type=int, default=5, help="how many of them are compared with full BM25")
    parser.add_argument(
        "--filters-at", type=int, default=200_000, help="the corpus for filters and concurrency"
    )
    parser.add_argument("--seconds", type=float, default=10, help="for each number of connections")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--plots", type=Path, help="folder for the plots")
    arguments = parser.parse_args()
    sections = arguments.only.split(",")
    if unknown := set(sections) - set(SECTIONS):
        parser.error(f"--only: there is no {', '.join(sorted(unknown))}")

    results: dict[str, Any] = {"corpora": {}}
    if arguments.json and arguments.json.exists():
        results = json.loads(arguments.json.read_text())
    results["machine"] = machine()
    for name, source in sources(arguments.data, arguments.chunks):
        with kept_or_temporary(arguments.data_dir, name) as home:
            print(f"{name}: building, or using what is there", flush=True)
            server, report = build(home, source)
            corpus = results["corpora"].setdefault(name, {})
            corpus.update(build=report, settings=shown_settings(server.url))
            try:
                for section, measure in plan(server.url, source, name, sections, arguments):
                    print(f"{name}: {section}", flush=True)
                    before = load_average()
                    figures = measure()
                    corpus[section] = {
                        "figures": figures,
                        "load_average": [before, load_average()],
                        "measured_at": datetime.now(UTC).isoformat(timespec="seconds"),
                    }
                    if arguments.json:
                        arguments.json.write_text(json.dumps(results, indent=1) + "\n")
            finally:
                server.stop()
    print(tables(results))
    if arguments.plots:
        from speed.plots import plot

        for path in plot(results, arguments.plots):
            print(path)


def sources(data: Path | None, chunks: str) -> Iterator[tuple[str, Source]]:
    if data is not None:
        yield data.name, Real(data)
        return
    for size in chunks.split(","):
        yield size, Synthetic(int(size))


def plan(
    url: str, source: Source, name: str, sections: list[str], arguments: argparse.Namespace
) -> Iterator[tuple[str, Callable[[], Any]]]:
    """What to measure on a corpus: the long parts on one size only."""
    with psycopg.connect(url) as connection:
        version = connection.execute(
            "select active_index_version_id from ragpg.collection where name = %s", (COLLECTION,)
        ).fetchall()[0][0]
    count: int = arguments.queries
    here = name == str(arguments.filters_at) or arguments.data is not None
    every: dict[str, Callable[[], Any]] = {
        "keyword": lambda: measure_keyword(url, source, version, count, arguments.checked),
        "vector": lambda: measure_vector(url, source, version, 3 * count),
        "hybrid": lambda: measure_hybrid(url, source, version, count),
    }
    if here and isinstance(source, Synthetic):
        every["filters"] = lambda: measure_filters(url, source, version, count)
    if here:
        every["concurrency"] = lambda: measure_concurrency(url, source, version, arguments.seconds)
    return ((section, every[section]) for section in sections if section in every)


@contextmanager
def kept_or_temporary(folder: Path | None, name: str) -> Iterator[Path]:
    if folder is not None:
        yield folder / name
        return
    with tempfile.TemporaryDirectory(prefix="ragpg-search-") as temporary:
        yield Path(temporary)


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    model = "unknown"
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next(
            (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), model
        )
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**30
    return {"cores": os.cpu_count(), "processor": model, "memory_gb": memory, "system": platform.platform()}


if __name__ == "__main__":
    main()
