"""Does a narrow caller pay for what the connection did before? ``python -m tests.proofs.plan_safety``.

For each way to prepare statements, and through PgBouncer: a connection serves 20 queries of a caller who reads 90 % of the chunks, then
50 of one who reads 0.1 %. Counted are the full pages and how many of the exact nearest are in them; timed are the 50, against the
same 50 on connections that served nobody before.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg

from ragpg.db.embedded import OWNER, EmbeddedServer
from ragpg.db.migrate import migrate
from tests.proofs import bouncer
from tests.proofs.broad_narrow import (
    BROAD_QUERIES,
    NARROW_QUERIES,
    STATEMENTS,
    K,
    Question,
    Search,
    page,
    questions,
)
from tests.proofs.synthetic import BROAD, NARROW, Corpus, plant

Connect = Callable[[], Any]


@contextmanager
def _psycopg(url: str, threshold: int | None, setting: str | None = None) -> Iterator[Search]:
    with psycopg.connect(url, autocommit=True, prepare_threshold=threshold) as connection:
        if setting is not None:
            connection.execute(f"set {setting}")
        yield lambda statement, parameters: connection.execute(statement, parameters).fetchall()


def _timed(search: Search, question: Question, mode: str) -> tuple[float, list[str]]:
    started = time.perf_counter()
    ids = page(search, question, mode)
    return (time.perf_counter() - started) * 1000, ids


def _fresh(connect: Connect, asked: list[Question], mode: str) -> list[float]:
    """The times on connections that served nobody but this caller: each is opened, warmed up by one of its queries, and timed."""
    times: list[float] = []
    for start in range(0, len(asked), 5):
        with connect() as search:
            page(search, asked[start - 1], mode)
            times += [_timed(search, question, mode)[0] for question in asked[start : start + 5]]
    return times


def _prove(name: str, connect: Connect, corpus: Corpus, *, anew: Connect | None = None) -> bool:
    # behind a pooler a new connection may get a used session: `anew` is the way around it
    passed = True
    for mode in STATEMENTS:
        asked = questions(corpus, NARROW, NARROW_QUERIES)
        fresh = statistics.median(_fresh(anew or connect, asked, mode))
        with connect() as search:
            for question in questions(corpus, BROAD, BROAD_QUERIES):
                page(search, question, mode)
            results = [_timed(search, question, mode) for question in asked]
        used = statistics.median(took for took, _ in results)
        pages = [
            (ids, question.expected(corpus, mode)) for (_, ids), question in zip(results, asked, strict=True)
        ]
        full = sum(len(ids) == min(K, len(expected)) for ids, expected in pages)
        found = sum(len(set(ids) & set(expected)) for ids, expected in pages)
        recall = found / sum(len(expected) for _, expected in pages)
        print(
            f"{name:38} {mode:8} {full:3d}/{len(asked)} {recall:8.3f} {fresh:9.2f} {used:9.2f} {used / fresh:7.2f}",
            flush=True,
        )
        passed = passed and full == len(asked) and recall == 1 and used <= 1.5 * fresh
    return passed


def main() -> int:
    """Build the collection, run every setting, and say whether each held: full exact pages, at most 1.5 times as slow."""
    parser = argparse.ArgumentParser(prog="python -m tests.proofs.plan_safety", description=__doc__)
    parser.add_argument("--chunks", type=int, default=200_000)
    parser.add_argument("--dimensions", type=int, default=384)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ragpg-proof-", dir="/tmp") as home:
        server = EmbeddedServer(
            home, settings={"shared_buffers": "1GB", "maintenance_work_mem": "1GB"}, durable=False
        )
        try:
            url = server.start()
            migrate(url)
            started = time.perf_counter()
            with psycopg.connect(url, autocommit=True) as connection:
                corpus = plant(connection, arguments.chunks, arguments.dimensions, narrow=0.001)
            print(
                f"{arguments.chunks} chunks × {arguments.dimensions} in {time.perf_counter() - started:.0f} s\n"
            )
            return 0 if _run(server, url, corpus) else 1
        finally:
            server.remove()


def _run(server: EmbeddedServer, url: str, corpus: Corpus) -> bool:
    print(f"{'':38} {'':8} {'full':>6} {'recall':>8} {'fresh':>9} {'after':>9} {'ratio':>7}")
    ways: dict[str, Connect] = {
        "never prepared": lambda: _psycopg(url, None),
        "psycopg's default": lambda: _psycopg(url, 5),
        "prepared from the first": lambda: _psycopg(url, 0),
        "prepared, force_generic_plan": lambda: _psycopg(url, 0, "plan_cache_mode = force_generic_plan"),
    }
    passed = [_prove(name, connect, corpus) for name, connect in ways.items()]
    if bouncer.program() is None:
        print("PgBouncer is not installed: not tried")
        return all(passed)
    with bouncer.running(server, sessions=1, users=(OWNER,)) as pgbouncer:
        through = pgbouncer.url("ragpg", OWNER)
        passed.append(
            _prove(
                "PgBouncer, transaction mode, 1 session",
                lambda: _psycopg(through, None),
                corpus,
                anew=ways["never prepared"],
            )
        )
    return all(passed)


if __name__ == "__main__":
    raise SystemExit(main())
