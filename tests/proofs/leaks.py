"""Looks for leaks: random documents, permissions, roles and searches, against a rule in Python and against a twin database.

    python -m tests.proofs.leaks --trials 10000 --seed 1

Two questions to every search. *Forbidden*: is there a row, a word or a number in it that the caller may not see, or a row missing
that it may? *Interference*: is the answer another one in a twin database, in which everything that is hidden from the caller was
deleted, or replaced by something else that is hidden? Ranks, rows, scores, errors, ``degraded`` and explanations have to be
identical, except where corpus-wide word frequencies are documented to count hidden documents (``p_idf`` ``corpus``).
"""

from __future__ import annotations

import argparse
import collections
import random
import sys
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import psycopg

from tests.proofs.oracle import Outcome, Place, differences, forbidden, is_approximate, wrong_tables
from tests.proofs.roles import KINDS, Caller, create_roles, drop_roles, grant_roles, make_caller
from tests.proofs.searches import Search, random_search
from tests.proofs.worlds import World, hide, make_large_world, make_world, write_world
from tests.sql.helpers import call

if TYPE_CHECKING:
    from tests.conftest import PgServer

Connection = psycopg.Connection[Any]


@dataclass
class Report:
    """What was looked at, and what was found."""

    trials: int = 0
    twins: int = 0
    rows: int = 0
    compared_exactly: int = 0
    kinds: collections.Counter[str] = field(default_factory=collections.Counter[str])
    functions: collections.Counter[str] = field(default_factory=collections.Counter[str])
    errors: collections.Counter[str] = field(default_factory=collections.Counter[str])
    degraded: collections.Counter[str] = field(default_factory=collections.Counter[str])
    forbidden: list[str] = field(default_factory=list[str])
    interference: list[str] = field(default_factory=list[str])

    def __str__(self) -> str:
        """The figures, then the first findings."""
        lines = [
            f"{self.trials} trials over {self.twins} twin databases; {self.rows} rows, {self.compared_exactly} compared exactly",
            f"callers   {dict(self.kinds)}",
            f"functions {dict(self.functions)}",
            f"errors    {dict(self.errors)}",
            f"degraded  {dict(self.degraded)}",
            f"forbidden: {len(self.forbidden)}   interference: {len(self.interference)}",
        ]
        return "\n".join([*lines, *(self.forbidden + self.interference)[:20]])


def ask(connection: Connection, search: Search, caller: Caller) -> Outcome:
    """Run one search."""
    try:
        rows = call(connection, search.function, **search.parameters, **caller.arguments)
    except psycopg.Error as error:
        return Outcome([], f"{error.sqlstate}: {error.diag.message_primary} ({error.diag.message_hint})")
    if search.function != "explain_search":
        return Outcome(rows)
    plan = rows[0]["explain_search"]
    del plan["timings_ms"]
    return Outcome([plan])


def places(owner: Connection, world: World) -> dict[Any, Place]:
    """Where each chunk of a world comes from, by its id."""
    documents = world.by_key()
    rows = owner.execute(
        "select chunk.id, document.tenant_id, document.external_id, chunk.ordinal"
        " from ragpg.chunk join ragpg.document on document.id = chunk.document_id"
    ).fetchall()
    first = min(ordinal for *_, ordinal in rows)
    return {chunk: Place(documents[tenant, name], ordinal - first) for chunk, tenant, name, ordinal in rows}


def examine(
    report: Report, source: random.Random, world: World, caller: Caller, pair: tuple[Connection, Connection],
    chunks: dict[Any, Place], trials: int,
) -> None:  # fmt: skip
    """Ask a database and its twin the same questions, as one caller."""
    for number in range(trials):
        search = random_search(source, world)
        here, there = (ask(connection, search, caller) for connection in pair)
        report.trials += 1
        report.rows += len(here.rows)
        report.kinds[caller.kind] += 1
        report.functions[search.function] += 1
        approximate = is_approximate(search, caller, chunks)
        report.compared_exactly += not (search.corpus_wide or approximate)
        if here.error:
            report.errors[here.error[:5]] += 1
        for reason in here.degraded:
            report.degraded[reason] += 1
        about = f"  {caller}\n  {search}\n  number {number}"
        report.forbidden += [f"{finding}\n{about}" for finding in forbidden(search, caller, here, chunks)]
        report.interference += [
            f"{finding}\n{about}"
            for finding in differences(search, caller, here, there, approximate=approximate)
        ]


def run(
    server: PgServer, template: str, *, trials: int, seed: int, a_twin: int = 100, large: bool = False
) -> Report:
    """Run trials, ``a_twin`` of them with each pair of databases; with ``large`` in collections of 24,000 chunks.

    The seed fixes every document, caller and search.
    """
    source = random.Random(seed)
    report = Report()
    create_roles(server)
    try:
        while report.trials < trials:
            world = (make_large_world if large else make_world)(source)
            run_world(report, source, server, template, world, trials, a_twin)
    finally:
        drop_roles(server)
    return report


def run_world(
    report: Report,
    source: random.Random,
    server: PgServer,
    template: str,
    world: World,
    trials: int,
    a_twin: int,
) -> None:
    """Let a caller of each kind look at one world."""
    database = server.create_database(template=template)
    twins: list[str] = []
    try:
        with psycopg.connect(server.url(database), autocommit=True) as owner:
            write_world(owner, world)
            grant_roles(owner)
            chunks = places(owner, world)
        for kind in KINDS:
            if report.trials >= trials:
                return
            caller = make_caller(source, kind)
            twins.append(server.create_database(template=database))
            report.twins += 1
            with psycopg.connect(server.url(twins[-1]), autocommit=True) as owner:
                hide(source, owner, world, caller.tenant_id, caller.principals)
            with ExitStack() as stack:
                here = caller.connect(server, database, stack)
                there = caller.connect(server, twins[-1], stack)
                report.forbidden += wrong_tables(caller, here, world)
                number = min(a_twin, trials - report.trials)
                examine(report, source, world, caller, (here, there), chunks, number)
            print(f"\r{report.trials} trials", end="", file=sys.stderr, flush=True)
    finally:
        for name in (*twins, database):
            server.drop_database(name)


def main() -> None:
    """Run from the command line; the exit code is 1 where anything was found."""
    from ragpg.db.migrate import migrate
    from tests.conftest import running_server

    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--trials", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--large", type=int, default=700, help="how many more, in collections of 24,000 chunks"
    )
    arguments = parser.parse_args()
    started = time.monotonic()
    with running_server() as server:
        template = server.create_database()
        migrate(server.url(template))
        reports: list[Report] = []
        for trials, large in ((arguments.trials, False), (arguments.large, True)):
            reports.append(run(server, template, trials=trials, seed=arguments.seed, large=large))
            print(f"\r{reports[-1]}\n", flush=True)
    print(f"{time.monotonic() - started:.0f} s, seed {arguments.seed}")
    sys.exit(any(report.forbidden or report.interference for report in reports))


if __name__ == "__main__":
    main()
