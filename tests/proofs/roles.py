"""Who asks: every kind of role, with principals that come from a binding, a setting or an argument."""

from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import psycopg

from tests.proofs.worlds import PRINCIPALS, TENANTS
from tests.sql.helpers import Row

if TYPE_CHECKING:
    from tests.conftest import PgServer

Connection = psycopg.Connection[Any]

# name → level; a bound role is bound anew for each caller
ROLES = {
    "proof_reader": "reader",
    "proof_bound": "reader",
    "proof_server": "trusted_reader",
    "proof_writer": "writer",
}
KINDS = ("reader", "bound", "member of bound", "set role", "server", "writer", "owner")
MEMBER = "proof_member"


def create_roles(server: PgServer) -> None:
    """Make the roles of all proofs, which are the server's."""
    for role in (*ROLES, MEMBER):
        server.run(f"drop role if exists {role}")
        server.run(f"create role {role} login")
    server.run(f"grant proof_bound to {MEMBER}")


def drop_roles(server: PgServer) -> None:
    """Drop the roles; the databases that know them have to be gone."""
    for role in (MEMBER, *ROLES):
        server.run(f"drop role if exists {role}")


def grant_roles(owner: Connection) -> None:
    """Give the roles their levels in a database; the bound one nothing but what is public."""
    for role, level in ROLES.items():
        owner.execute(
            "select ragpg.grant_access(%s, %s, p_principals => %s)",
            (role, level, [] if role == "proof_bound" else None),
        )


@dataclass
class Caller:
    """A kind of role and what it may see: the effective tenant and principals."""

    kind: str
    tenant_id: str
    principals: list[str]
    setting: str
    tenant_setting: str
    bound_to: list[str] | None = None

    @property
    def speaks_for_others(self) -> bool:
        """Whether tenant and principals are arguments, which wins over the settings."""
        return self.kind in ("server", "owner")

    @property
    def arguments(self) -> Row:
        """The arguments that say for whom a search is."""
        if not self.speaks_for_others:
            return {}
        return {"p_principals": self.principals, "p_tenant_id": self.tenant_id}

    def connect(self, server: PgServer, database: str, stack: ExitStack) -> Connection:
        """Connect as this caller, after the owner has bound its role."""
        if self.bound_to is not None:
            with psycopg.connect(server.url(database), autocommit=True) as owner:
                owner.execute(
                    "select ragpg.grant_access('proof_bound', 'reader', p_principals => %s, p_tenant_id => %s)",
                    (self.bound_to, self.tenant_id),
                )
        user = {
            "reader": "proof_reader",
            "bound": "proof_bound",
            "member of bound": MEMBER,
            "set role": "postgres",
            "server": "proof_server",
            "writer": "proof_writer",
        }.get(self.kind)
        url = server.url(database, user) if user else server.url(database)
        connection = stack.enter_context(psycopg.connect(url, autocommit=True))
        if self.kind == "set role":
            connection.execute("set role proof_reader")
        connection.execute(
            "select set_config('ragpg.principals', %s, false), set_config('ragpg.tenant_id', %s, false)",
            (self.setting, self.tenant_setting),
        )
        return connection


def array_literal(names: Sequence[str]) -> str:
    """The array literal of some principals."""
    quoted = (name.replace("\\", "\\\\").replace('"', '\\"') for name in names)
    return "{" + ",".join(f'"{name}"' for name in quoted) + "}"


def make_caller(source: random.Random, kind: str) -> Caller:
    """Make a caller of a kind with random principals."""
    tenant_id = source.choices(TENANTS, weights=(3, 2, 1))[0]
    principals = source.sample(PRINCIPALS, source.randint(0, 4))
    if kind in ("bound", "member of bound"):
        asked = source.sample(PRINCIPALS, source.randint(0, len(PRINCIPALS)))
        narrowed = source.random() < 0.6
        return Caller(
            kind,
            tenant_id,
            [name for name in principals if name in asked] if narrowed else principals,
            array_literal([*asked, "*"]) if narrowed else "",
            source.choice(["", tenant_id]),
            bound_to=principals,
        )
    if kind in ("server", "owner"):
        return Caller(kind, tenant_id, principals, "user:nobody,*", "nowhere")
    return Caller(kind, tenant_id, principals, array_literal(principals), tenant_id)
