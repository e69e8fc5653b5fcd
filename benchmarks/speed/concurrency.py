"""Several connections at once: throughput, p95, and whether anybody waits for a lock."""

from __future__ import annotations

import multiprocessing
import time
from multiprocessing.context import SpawnContext
from typing import Any

import numpy as np
import psycopg

from .hybrid import RAGPG
from .keyword import CANDIDATES, parameters
from .source import Source, literal
from .timing import Session
from .vector import fetching, nearest_sql

CONNECTIONS = (1, 2, 4, 8)
K = 10


def measure_concurrency(
    url: str, source: Source, version: int, seconds: float, connections: tuple[int, ...] = CONNECTIONS
) -> list[dict[str, Any]]:
    """Clients in processes of their own; raw pgvector as the measure of what the machine gives."""
    session = Session(url)
    questions = next(iter(source.questions().values()))
    asked = [
        {
            **parameters(session, source, version, question),
            "vector": literal(vector),
            "candidates": CANDIDATES,
            "k": K,
        }
        for question, vector in zip(questions, source.query_vectors(len(questions)), strict=True)
    ]
    session.close()
    statements = {
        "search_hybrid": RAGPG,
        "raw pgvector": fetching(nearest_sql(version, source.dimensions, exact=False)),
    }
    results: list[dict[str, Any]] = []
    for number in connections:
        for name, statement in statements.items():
            times, waiting = _run(url, statement, asked, number, seconds)
            results.append(
                {
                    "search": name,
                    "connections": number,
                    "per_second": round(len(times) / seconds, 1),
                    "p50_ms": round(float(np.percentile(times, 50)), 2),
                    "p95_ms": round(float(np.percentile(times, 95)), 2),
                    "seen_waiting_for_locks": waiting,
                }
            )
    return results


def _run(
    url: str, statement: str, asked: list[dict[str, Any]], connections: int, seconds: float
) -> tuple[list[float], int]:
    context: SpawnContext = multiprocessing.get_context("spawn")
    times: Any = context.Queue()
    ready = context.Barrier(connections + 1)
    clients = [
        context.Process(target=_client, args=(url, statement, asked, number, seconds, ready, times))
        for number in range(connections)
    ]
    for client in clients:
        client.start()
    ready.wait()
    waiting = _watch_locks(url, seconds)
    collected = [value for _ in clients for value in times.get()]
    for client in clients:
        client.join()
    return collected, waiting


def _client(
    url: str, statement: str, asked: list[dict[str, Any]], number: int, seconds: float, ready: Any, times: Any
) -> None:
    session = Session(url)
    session.rows(statement, asked[number % len(asked)])
    ready.wait()
    mine: list[float] = []
    started = time.perf_counter()
    item = number * 7
    while (before := time.perf_counter()) - started < seconds:
        session.rows(statement, asked[item % len(asked)])
        mine.append((time.perf_counter() - before) * 1000)
        item += 1
    times.put(mine)
    session.close()


def _watch_locks(url: str, seconds: float) -> int:
    """How often a session was seen waiting for a lock, looking twenty times a second."""
    seen = 0
    with psycopg.connect(url, autocommit=True) as connection:
        until = time.perf_counter() + seconds
        while time.perf_counter() < until:
            seen += connection.execute(
                "select count(*) from pg_stat_activity where wait_event_type = 'Lock'"
            ).fetchall()[0][0]
            time.sleep(0.05)
    return seen
