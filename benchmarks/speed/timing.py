"""Takes turns, so that whatever else the machine does hits all candidates alike."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import psycopg

Row = tuple[Any, ...]


@dataclass
class Measured:
    """The times in milliseconds, and the rows of each item's first run."""

    times: list[float] = field(default_factory=list)
    rows: list[list[Row]] = field(default_factory=list)

    def summary(self) -> dict[str, float]:
        return {
            "p50_ms": round(float(np.percentile(self.times, 50)), 3),
            "p95_ms": round(float(np.percentile(self.times, 95)), 3),
        }


def take_turns(
    candidates: Mapping[str, Callable[[int], list[Row]]], items: int, rounds: int = 1
) -> dict[str, Measured]:
    """Run every candidate on every item, one item after the other, in changing order.

    The first item is run once beforehand: it opens files, fills caches and plans.
    """
    measured = {name: Measured() for name in candidates}
    for candidate in candidates.values():
        candidate(0)
    names = list(candidates)
    for turn in range(rounds):
        for item in range(items):
            shift = (item + turn) % len(names)
            for name in names[shift:] + names[:shift]:
                started = time.perf_counter()
                rows = candidates[name](item)
                measured[name].times.append((time.perf_counter() - started) * 1000)
                if turn == 0:
                    measured[name].rows.append(rows)
    return measured


class Session:
    """A connection of its own with settings of its own.

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
        self.set(**settings)

    def set(self, **settings: str) -> None:
        for name, value in settings.items():
            self.connection.execute("select set_config(%s, %s, false)", (name.replace("__", "."), value))

    def rows(self, statement: str, parameters: Mapping[str, Any] | None = None) -> list[Row]:
        return self.connection.execute(statement, parameters).fetchall()  # pyright: ignore[reportArgumentType]

    def runs(
        self, statement: str, parameters: Sequence[Mapping[str, Any]]
    ) -> Callable[[int], list[Row]]:
        """A candidate that runs a statement, with other parameters for each item."""
        return lambda item: self.rows(statement, parameters[item])

    def memory(self) -> float | None:
        """Megabytes that the backend has for itself, shared buffers aside; unknown off Linux or for other users."""
        process = self.rows("select pg_backend_pid()")[0][0]
        try:
            status = Path(f"/proc/{process}/status").read_text()
        except OSError:
            return None
        fields = dict(line.split(":", 1) for line in status.splitlines())
        return round(int(fields["RssAnon"].split()[0]) / 1024, 1)

    def buffers(self, statement: str, parameters: Mapping[str, Any]) -> int:
        """Pages of 8 kB that a statement touches, cached or not."""
        plan = self.rows("explain (analyze, buffers, format json) " + statement, parameters)[0][0][0]["Plan"]
        return plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]

    def close(self) -> None:
        self.connection.close()


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
