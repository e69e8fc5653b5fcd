"""Throws hostile and malformed values at every argument and setting.

    python -m tests.proofs.injection --examples 100000 --seed 1

Through psycopg's parameters into the search functions, through ``Client.search``, and into the functions that write. Of each
example it is asked: is the error, if any, a typed one? Does it bring a row that the rule does not allow, or too many? And at
intervals: has a setting of the session changed, has a table?
"""

from __future__ import annotations

import argparse
import collections
import random
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import hypothesis
import psycopg
from hypothesis import HealthCheck, Phase
from psycopg import sql
from psycopg.rows import dict_row

from ragpg import Client
from ragpg.db.errors_map import translate
from ragpg.errors import DatabaseError, RagpgError
from tests.proofs.examples import Example, client_searches, searches, writes
from tests.proofs.roles import create_roles, drop_roles, grant_roles
from tests.proofs.worlds import World, make_document, write_world
from tests.sql.helpers import Row

if TYPE_CHECKING:
    from tests.conftest import PgServer

Connection = psycopg.Connection[Any]

BOUND_TO = ["user:ana", "group:hr"]
# Errors of Postgres' own that SQL may end in: each is raised while an argument is read, before any function of ours is called.
ARGUMENT_ERRORS = {
    "22P02": "malformed literal of an array, a vector or a jsonpath",
    "42601": "jsonpath syntax",
    "2201B": "a regular expression in a jsonpath",
    "22003": "a number beyond its type",
    "22000": "a vector without numbers, or with NaN or infinity",
    "22P05": "the escape of a NUL in a jsonpath",
    "0A000": "a flag of regular expressions in a jsonpath that Postgres has not",
}
# Examples between two looks at the settings and the tables; hypothesis remembers all of a portion.
PORTION = 1000


@dataclass
class Tally:
    """What happened, and what should not have."""

    examples: int = 0
    rows: int = 0
    outcomes: collections.Counter[str] = field(default_factory=collections.Counter[str])
    checks: int = 0

    def __str__(self) -> str:
        """The figures."""
        return (
            f"{self.examples} examples, {self.rows} rows, settings and tables looked at {self.checks} times\n"
            f"outcomes {dict(self.outcomes.most_common())}"
        )


def allowed(world: World, names: Any, tenant_id: str) -> set[str]:
    """The documents that could be seen by who was named somewhere in a text, however it is read."""
    said = str(names).replace("\\", "")
    known = {name for document in world.documents for name in document.acl if name.replace("\\", "") in said}
    return {
        document.external_id for document in world.documents if document.is_visible(tenant_id, list(known))
    }


@dataclass
class Target:
    """The database under attack: its documents, connections of each role, and what must stay as it is."""

    world: World
    owner: Connection
    connections: dict[str, Connection]
    clients: dict[str, Client]
    tally: Tally = field(default_factory=Tally)
    before: Any = None

    def state(self) -> Any:
        """The settings of every session, and everything stored."""
        settings = [
            (role, setting)
            for role, connection in self.connections.items()
            for setting in connection.execute(
                "select name, setting from pg_settings where name not like 'ragpg.%' order by name"
            )
        ]
        tables = self.owner.execute(
            "select relname from pg_class where relnamespace = 'ragpg'::regnamespace and relkind in ('r', 'p')"
            # a server may cache the vectors of its queries
            " and relname <> 'embedding_cache' order by relname"
        ).fetchall()
        digest = "select md5(string_agg(item::text, '|' order by item::text)) from ragpg.{} as item"
        stored = [
            (table, self.owner.execute(sql.SQL(digest).format(sql.Identifier(table))).fetchone())
            for (table,) in tables
        ]
        functions = self.owner.execute(
            "select proname, md5(prosrc), proacl::text from pg_proc where pronamespace = 'ragpg'::regnamespace order by oid"
        ).fetchall()
        roles = self.owner.execute("select rolname from pg_roles order by 1").fetchall()
        return settings, stored, functions, roles

    def look(self) -> None:
        """Compare with the state at the beginning."""
        now = self.state()
        if self.before is None:
            self.before = now
        for old, new in zip(self.before, now, strict=True):
            assert old == new, [pair for pair in zip(old, new, strict=False) if pair[0] != pair[1]][:3]
        self.tally.checks += 1

    def count(self, outcome: str, rows: int = 0) -> None:
        """Note an example."""
        self.tally.examples += 1
        self.tally.rows += rows
        self.tally.outcomes[outcome] += 1


def check_error(target: Target, error: Exception) -> None:
    """Raise what is not a typed error, or one of the few of Postgres' own."""
    if isinstance(error, RagpgError):
        assert type(error) is not DatabaseError, f"no type for: {error}"
        target.count(type(error).__name__)
    elif isinstance(error, psycopg.Error) and error.sqlstate is not None:
        known = type(translate(error)) is not DatabaseError
        assert known or error.sqlstate in ARGUMENT_ERRORS, f"{error.sqlstate}: {error}"
        target.count(error.sqlstate)
    else:
        # a NUL, a lone surrogate: the driver sends nothing
        assert isinstance(error, UnicodeEncodeError | psycopg.DataError), repr(error)
        target.count("refused by the driver")


def check_rows(target: Target, rows: list[Row], may_see: set[str], condition: Any, k: int) -> None:
    """No row of another document, none that the filter excludes, no more than asked for."""
    by_name = {document.external_id: document for document in target.world.documents}
    assert len(rows) <= k
    for row in rows:
        assert row["external_id"] in may_see, f"forbidden: {row}"
        assert condition is None or condition(by_name[row["external_id"]].metadata), f"filtered out: {row}"
    target.count("rows" if rows else "no row", len(rows))


def attack_sql(target: Target, example: Example) -> None:
    """Send an example to its function."""
    connection = target.connections[example.role]
    arguments, settings = example.arguments, example.settings
    try:
        connection.execute(
            "select set_config('ragpg.principals', %(principals)s, false), set_config('ragpg.tenant_id', %(tenant)s, false)",
            settings,
        )
        with connection.cursor(row_factory=dict_row) as cursor:
            rows = cursor.execute(example.statement, arguments).fetchall()
    except (psycopg.Error, UnicodeEncodeError) as error:
        check_error(target, error)
        return
    if example.role == "bound":
        named = settings["principals"]
        may_see = allowed(target.world, [name for name in BOUND_TO if not named.strip() or name in named], "")
    elif "p_principals" in arguments:
        may_see = allowed(target.world, arguments["p_principals"], arguments["p_tenant_id"])
    else:
        may_see = allowed(target.world, settings["principals"], settings["tenant"])
    if example.function == "explain_search":
        target.count("explained")
    else:
        check_rows(target, rows, may_see, example.condition, int(arguments["p_k"]))


def attack_client(target: Target, example: Example) -> None:
    """Send an example through the Python client."""
    arguments = example.arguments
    try:
        hits = target.clients[example.role].search(**arguments)
    except RagpgError as error:
        check_error(target, error)
        return
    rows = [{"external_id": hit.external_id} for hit in hits]
    may_see = allowed(target.world, arguments["principals"], arguments["tenant_id"])
    check_rows(target, rows, may_see, example.condition, arguments["k"])


def attack_writes(target: Target, example: Example) -> None:
    """Send an example to its function as the owner; what it wrote is looked at and rolled back."""
    arguments = example.arguments
    documents = "select count(*) from ragpg.document"
    try:
        with target.owner.transaction(force_rollback=True):
            before = target.owner.execute(documents).fetchone()
            target.owner.execute(example.statement, arguments)
            after = target.owner.execute(documents).fetchone()
            assert before is not None
            assert after is not None
            if example.function != "drop_collection":
                assert abs(before[0] - after[0]) <= 1, "more than one document was written"
            if example.function == "upsert_document":
                stored = target.owner.execute(
                    "select content, title from ragpg.document where tenant_id = %(p_tenant_id)s"
                    " and external_id = %(p_external_id)s",
                    arguments,
                ).fetchall()
                assert stored == [(arguments["p_content"], arguments["p_title"])], "stored as it came"
    except (psycopg.Error, UnicodeEncodeError) as error:
        check_error(target, error)
    else:
        target.count("written")


def make_target_world() -> World:
    """Few documents, so that a search is quick, for each principal and in two tenants."""
    source = random.Random(7)
    documents = [make_document(source, number) for number in range(16)]
    acls = (["public"], ["user:ana"], ["group:hr"], ["group:eng", "user:bo"])
    for number, document in enumerate(documents):
        document.acl = acls[number % 4]
        document.tenant_id = "" if number < 12 else "acme"
        document.expired = number % 8 == 7
    return World(documents)


@contextmanager
def target_in(server: PgServer, template: str) -> Iterator[Target]:
    """Make the database and connect every role to it."""
    database = server.create_database(template=template)
    create_roles(server)
    world = make_target_world()
    try:
        with ExitStack() as stack:
            owner = stack.enter_context(psycopg.connect(server.url(database), autocommit=True))
            write_world(owner, world)
            owner.execute(
                "update ragpg.index_version set embedding_provider = 'hash', embedding_model = 'words'"
            )
            grant_roles(owner)
            owner.execute(
                "select ragpg.grant_access('proof_bound', 'reader', p_principals => %s)", (BOUND_TO,)
            )
            connections = {
                role: stack.enter_context(
                    psycopg.connect(server.url(database, f"proof_{role}"), autocommit=True)
                )
                for role in ("reader", "bound", "server")
            }
            clients = {
                role: Client(
                    connection=stack.enter_context(
                        psycopg.connect(server.url(database, f"proof_{role}"), autocommit=True)
                    )
                )
                for role in ("reader", "server")
            }
            for connection in connections.values():
                # libraries bring their settings when they are loaded
                connection.execute("select ragpg.search_vector('c', '[1,1,1,1]')")
            target = Target(world, owner, connections, clients)
            target.look()
            yield target
    finally:
        server.drop_database(database)
        drop_roles(server)


# the share of each door, in tenths
DOORS = ((searches(), attack_sql, 6), (client_searches(), attack_client, 2), (writes(), attack_writes, 2))


def run(server: PgServer, template: str, *, examples: int, seed: int) -> Tally:
    """Attack with at least so many examples. A finding is an exception, with its smallest example in its notes."""
    with target_in(server, template) as target:
        for strategy, attack, tenths in DOORS:
            goal = target.tally.examples + -(-examples * tenths // 10)
            while target.tally.examples < goal:
                portion = min(PORTION, goal - target.tally.examples)
                attack_with(target, strategy, attack, portion, seed + target.tally.examples)
                target.look()
                print(f"\r{target.tally.examples} examples", end="", file=sys.stderr, flush=True)
        return target.tally


def attack_with(target: Target, strategy: Any, attack: Any, examples: int, seed: int) -> None:
    """One portion of examples."""

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=examples,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink],
    )
    @hypothesis.given(strategy)
    def portion(example: Any) -> None:
        attack(target, example)

    portion()


def main() -> None:
    """Run from the command line."""
    from ragpg.db.migrate import migrate
    from tests.conftest import running_server

    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--examples", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    started = time.monotonic()
    with running_server() as server:
        template = server.create_database()
        migrate(server.url(template))
        tally = run(server, template, examples=arguments.examples, seed=arguments.seed)
    print(f"\r{tally}")
    print(f"{time.monotonic() - started:.0f} s, seed {arguments.seed}")


if __name__ == "__main__":
    main()
