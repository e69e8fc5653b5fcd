"""Takes turns, so that whatever else the machine does hits all candidates alike."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import psycopg

Row = tuple[Any, ...]
FEWEST = 5
PATIENCE = 90


@dataclass
class Measured:
    """The times in milliseconds, and the rows of each item's first run.

    ``cpu`` is what the backend itself computed: on a machine that does other things too, it tells more than the clock. Parallel
    workers, where a session has them, are not in it.
    """

    times: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    rows: list[list[Row]] = field(default_factory=list)

    def summary(self) -> dict[str, float]:
        figures = {"p50_ms": percentile(self.times, 50), "p95_ms": percentile(self.times, 95)}
        return figures | {"cpu_p50_ms": percentile(self.cpu, 50)} if self.cpu else figures


def percentile(times: list[float], percent: float) -> float:
    return round(float(np.percentile(times, percent)), 3)


def ratio(one: Mapping[str, float], other: Mapping[str, float]) -> dict[str, float]:
    """How many times as long one takes as the other, at the median: by the clock, and in CPU time."""
    by = {"p50_ms": "ratio", "cpu_p50_ms": "cpu_ratio"}
    return {
        name: round(one[key] / max(other[key], 1e-3), 2)
        for key, name in by.items()
        if key in one and key in other
    }


def take_turns(candidates: Mapping[str, Candidate], items: int, rounds: int = 1) -> dict[str, Measured]:
    """Run every candidate on every item, one item after the other, in changing order.

    The first item is run once beforehand: it opens files, fills caches and plans. What takes minutes stops early, after at least
    :data:`FEWEST` items.
    """
    measured = {name: Measured() for name in candidates}
    for candidate in candidates.values():
        candidate(0)
    names = list(candidates)
    until = time.perf_counter() + PATIENCE
    for turn in range(rounds):
        for item in range(items):
            if item >= FEWEST and time.perf_counter() > until:
                return measured
            shift = (item + turn) % len(names)
            for name in names[shift:] + names[:shift]:
                used, started = candidates[name].cpu(), time.perf_counter()
                rows = candidates[name](item)
                measured[name].times.append((time.perf_counter() - started) * 1000)
                if used is not None and (now := candidates[name].cpu()) is not None:
                    measured[name].cpu.append(now - used)
                if turn == 0:
                    measured[name].rows.append(rows)
    return measured


class Session:
    """A connection of its own with settings of its own. One core each: without parallel workers, unless they are asked for.

    Parameters
    ----------
    url
        Where the corpus is.
    settings
        Server settings of this session.
    """

    def __init__(self, url: str, **settings: str) -> None:
        self.connection: psycopg.Connection[Row] = psycopg.connect(url, autocommit=True)
        # loads pgvector, whose settings are unknown before
        self.connection.execute("select '[1]'::vector")
        self.process: int = self.connection.info.backend_pid
        self.set(**{"max_parallel_workers_per_gather": "0", **settings})

    def set(self, **settings: str) -> None:
        for name, value in settings.items():
            self.connection.execute("select set_config(%s, %s, false)", (name.replace("__", "."), value))

    def rows(self, statement: str, parameters: Mapping[str, Any] | None = None) -> list[Row]:
        return self.connection.execute(statement, parameters).fetchall()  # pyright: ignore[reportArgumentType]

    def runs(self, statement: str, parameters: Sequence[Mapping[str, Any]]) -> Candidate:
        return Candidate(self, statement, parameters)

    def process_file(self, name: str) -> str | None:
        """What Linux tells of the backend; nothing elsewhere, and nothing of other users' processes."""
        try:
            return Path(f"/proc/{self.process}/{name}").read_text()
        except OSError:
            return None

    def memory(self) -> float | None:
        """Megabytes that the backend has for itself, shared buffers aside."""
        if (status := self.process_file("status")) is None:
            return None
        fields = dict(line.split(":", 1) for line in status.splitlines())
        return round(int(fields["RssAnon"].split()[0]) / 1024, 1)

    def buffers(self, statement: str, parameters: Mapping[str, Any]) -> int:
        """Pages of 8 kB that a statement touches, cached or not."""
        plan = self.rows("explain (analyze, buffers, format json) " + statement, parameters)[0][0][0]["Plan"]
        return plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]

    def close(self) -> None:
        self.connection.close()


@dataclass(frozen=True)
class Candidate:
    """A statement, with other parameters for each item, on a session of its own or a shared one."""

    session: Session
    statement: str
    parameters: Sequence[Mapping[str, Any]]

    def __call__(self, item: int) -> list[Row]:
        return self.session.rows(self.statement, self.parameters[item])

    def cpu(self) -> float | None:
        """Milliseconds that the backend has computed so far."""
        known = self.session.process_file("schedstat")
        return None if known is None else int(known.split()[0]) / 1e6


def recall(found: Sequence[Sequence[Row]], exact: Sequence[Sequence[Row]]) -> float:
    """The share of the exact pages' rows that were found; a row as near as the exact page's last one counts.

    Every row ends with its distance.
    """
    hits = total = 0
    for rows, best in zip(found, exact, strict=True):
        if best:
            hits += min(len(best), sum(row[-1] <= best[-1][-1] + 1e-6 for row in rows))
            total += len(best)
    return hits / max(total, 1)


def load_average() -> float:
    return round(os.getloadavg()[0], 1)
