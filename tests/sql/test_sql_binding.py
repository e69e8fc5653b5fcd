"""Roles that are bound to their principals: what a session sets can narrow them, and nothing can raise them."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import sql

from ragpg.db.embedded import OWNER
from tests.sql.helpers import Row, call, create, ids, upsert

if TYPE_CHECKING:
    from tests.conftest import PgServer

Connection = psycopg.Connection[Any]
# made before each test and dropped after it
ROLES = (
    "bound_ana",
    "bound_hr",
    "bound_globex",
    "bound_member",
    "bound_apart",
    "free_reader",
    "free_server",
    "free_writer",
)
DOCUMENTS: dict[str, tuple[str, list[str]]] = {
    "open": ("", ["public"]),
    "ana": ("", ["user:ana"]),
    "hr": ("", ["group:hr"]),
    "board": ("", ["group:board"]),
    "globex open": ("globex", ["public"]),
    "globex hr": ("globex", ["group:hr"]),
    "globex eng": ("globex", ["group:eng"]),
}


class Site:
    """A database with documents, its owner's connection, and connections of other roles."""

    def __init__(self, server: PgServer, name: str, owner: Connection) -> None:
        self.server = server
        self.name = name
        self.owner = owner

    def connect(self, role: str) -> Connection:
        return psycopg.connect(self.server.url(self.name, role), autocommit=True)

    def grant(self, role: str, level: str = "reader", **binding: Any) -> None:
        call(
            self.owner,
            "grant_access",
            p_role=role,
            p_level=level,
            **{f"p_{name}": value for name, value in binding.items()},
        )

    def member(self, role: str, of: str, *, inherits: bool = True) -> None:
        self.server.run(f"alter role {role} {'inherit' if inherits else 'noinherit'}")
        self.server.run(f"grant {of} to {role}")


@pytest.fixture(scope="module")
def filled(pg_server: PgServer, template: str) -> Iterator[str]:
    name = pg_server.create_database(template=template)
    with psycopg.connect(pg_server.url(name), autocommit=True) as owner:
        create(owner)
        for external_id, (tenant, acl) in DOCUMENTS.items():
            upsert(owner, external_id, [f"alpha {external_id}"], [[1, 0, 0]], acl=acl, tenant_id=tenant)
    yield name
    pg_server.drop_database(name)


@pytest.fixture
def site(pg_server: PgServer, filled: str) -> Iterator[Site]:
    for role in ROLES:
        pg_server.run(f"create role {role} login")
    with psycopg.connect(pg_server.url(filled), autocommit=True) as owner:
        yield Site(pg_server, filled, owner)
        owner.execute("delete from ragpg.role_principal")
    for role in ROLES:
        pg_server.run(f"drop owned by {role}", filled)
        pg_server.run(f"drop role {role}")


def configure(connection: Connection, principals: str = "", tenant: str = "") -> None:
    connection.execute(
        "select set_config('ragpg.principals', %s, false), set_config('ragpg.tenant_id', %s, false)",
        (principals, tenant),
    )


def sees(connection: Connection) -> set[str]:
    """What the caller sees: the same in each search function and in each table."""
    found = set(ids(call(connection, "search_keyword", p_collection="c", p_query="alpha")))
    hybrid = {"p_collection": "c", "p_query": "alpha", "p_embedding": "[1,0,0]"}
    assert set(ids(call(connection, "search_hybrid", **hybrid))) == found
    assert set(ids(call(connection, "search_vector", p_collection="c", p_embedding="[1,0,0]"))) == found
    explained = call(connection, "explain_search", **hybrid)[0]["explain_search"]
    assert explained["visible_chunks"] == len(found)
    assert in_tables(connection) == found
    return found


def in_tables(connection: Connection) -> set[str]:
    found = {row[0] for row in connection.execute("select external_id from ragpg.document")}
    for table in ("chunk", "embedding"):
        count = sql.SQL("select count(*) from ragpg.{}").format(sql.Identifier(table))
        assert connection.execute(count).fetchone() == (len(found),)
    return found


@pytest.mark.parametrize(
    ("principals", "expected"),
    [
        ("", {"open", "ana", "hr"}),
        ("user:ana", {"open", "ana"}),
        ("{group:hr}", {"open", "hr"}),
        ("group:board,user:ana", {"open", "ana"}),
        ("group:board", {"open"}),
        ("*", {"open"}),
        ("{*}", {"open"}),
        ("{}", {"open"}),
        (",", {"open"}),
        ("public", {"open"}),
        ("user:ana,group:hr,group:board,*", {"open", "ana", "hr"}),
    ],
)
def test_a_setting_narrows_and_never_widens(site: Site, principals: str, expected: set[str]) -> None:
    site.grant("bound_ana", principals=["user:ana", "group:hr"])
    with site.connect("bound_ana") as ana:
        configure(ana, principals)
        assert sees(ana) == expected


def test_a_bound_role_stays_in_its_tenant(site: Site) -> None:
    site.grant("bound_globex", principals=["group:hr"], tenant_id="globex")
    with site.connect("bound_globex") as reader:
        for tenant in ("", "globex"):
            configure(reader, tenant=tenant)
            assert sees(reader) == {"globex open", "globex hr"}
        configure(reader, "group:hr,group:eng", "acme")
        assert in_tables(reader) == set()
        search: Row = {"p_collection": "c", "p_query": "alpha"}
        for tenant_argument in ({}, {"p_tenant_id": "globex"}, {"p_tenant_id": "acme"}, {"p_tenant_id": ""}):
            with pytest.raises(psycopg.Error) as refused:
                call(reader, "search_keyword", **search, **tenant_argument)
            assert refused.value.sqlstate == "RG006"
        configure(reader)
        with pytest.raises(psycopg.Error) as refused:
            call(reader, "search_keyword", **search, p_tenant_id="")
        assert refused.value.sqlstate == "RG006"
        assert set(ids(call(reader, "search_keyword", **search, p_tenant_id="globex"))) == {
            "globex open",
            "globex hr",
        }


def test_without_a_tenant_it_is_the_default_one(site: Site) -> None:
    site.grant("bound_hr", principals=["group:hr"])
    with site.connect("bound_hr") as reader:
        assert sees(reader) == {"open", "hr"}
        configure(reader, tenant="globex")
        assert in_tables(reader) == set()


def test_it_may_not_pass_principals(site: Site) -> None:
    site.grant("bound_ana", principals=["user:ana"])
    with site.connect("bound_ana") as ana:
        for principals in (["user:ana"], ["group:board"], ["*"], []):
            with pytest.raises(psycopg.Error) as refused:
                call(ana, "search_keyword", p_collection="c", p_query="alpha", p_principals=principals)
            assert refused.value.sqlstate == "RG006"


def test_members_inherit_what_their_groups_are_bound_to(site: Site) -> None:
    site.grant("bound_ana", principals=["user:ana"])
    site.grant("bound_hr", principals=["group:hr"])
    site.member("bound_member", "bound_ana")
    site.member("bound_member", "bound_hr")
    with site.connect("bound_member") as member:
        assert sees(member) == {"open", "ana", "hr"}
        configure(member, "group:hr,group:board")
        assert sees(member) == {"open", "hr"}
        configure(member)
        member.execute("set role bound_hr")
        assert sees(member) == {"open", "hr"}


def test_a_role_that_inherits_nothing_is_who_it_sets(site: Site) -> None:
    site.grant("bound_hr", principals=["group:hr"])
    site.member("bound_apart", "bound_hr", inherits=False)
    with site.connect("bound_apart") as apart:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            in_tables(apart)
        apart.execute("set role bound_hr")
        configure(apart, "group:board,group:hr")
        assert sees(apart) == {"open", "hr"}


def test_principals_of_one_tenant_are_nobody_in_another(site: Site) -> None:
    """group:eng of globex must not open what group:eng may read elsewhere, nor group:hr the other way."""
    site.grant("bound_hr", principals=["group:hr"])
    site.grant("bound_globex", principals=["group:eng"], tenant_id="globex")
    site.member("bound_member", "bound_hr")
    site.member("bound_member", "bound_globex")
    with site.connect("bound_member") as member:
        assert sees(member) == {"open", "hr"}, "the default tenant is one of its two"
        configure(member, "group:hr,group:eng", "globex")
        assert sees(member) == {"globex open", "globex eng"}


def test_several_tenants_and_none_named(site: Site) -> None:
    site.grant("bound_hr", principals=["group:hr"], tenant_id="acme")
    site.grant("bound_globex", principals=["group:eng"], tenant_id="globex")
    site.member("bound_member", "bound_hr")
    site.member("bound_member", "bound_globex")
    with site.connect("bound_member") as member:
        assert in_tables(member) == set()
        with pytest.raises(psycopg.Error) as refused:
            call(member, "search_keyword", p_collection="c", p_query="alpha")
        assert refused.value.sqlstate == "RG006"


def test_a_member_of_a_role_that_is_not_bound_is_free(site: Site) -> None:
    """Rights add up, as everywhere in Postgres."""
    site.grant("bound_hr", principals=["group:hr"])
    site.grant("free_reader")
    site.member("bound_member", "bound_hr")
    site.member("bound_member", "free_reader")
    with site.connect("bound_member") as member:
        configure(member, "group:board")
        assert sees(member) == {"open", "board"}


def test_binding_again_replaces(site: Site) -> None:
    site.grant("bound_ana", principals=["user:ana", "group:hr"])
    site.grant("bound_ana", principals=["group:eng"], tenant_id="globex")
    with site.connect("bound_ana") as ana:
        assert sees(ana) == {"globex open", "globex eng"}
        site.grant("bound_ana", principals=[])
        assert sees(ana) == {"open"}


def test_a_free_reader_becomes_bound_at_once(site: Site) -> None:
    site.grant("free_reader")
    with site.connect("free_reader") as reader:
        configure(reader, "group:board")
        assert sees(reader) == {"open", "board"}
        site.grant("free_reader", principals=["group:hr"])
        assert sees(reader) == {"open"}


def test_granting_again_without_principals_leaves_the_binding(site: Site) -> None:
    """As a script does after each upgrade."""
    site.grant("bound_ana", principals=["user:ana"])
    site.grant("bound_ana")
    with site.connect("bound_ana") as ana:
        configure(ana, "user:ana,group:board")
        assert sees(ana) == {"open", "ana"}


def test_a_lost_binding_leaves_nothing(site: Site) -> None:
    site.grant("bound_ana", principals=["user:ana"])
    site.owner.execute("delete from ragpg.role_principal")
    with site.connect("bound_ana") as ana:
        configure(ana, "user:ana")
        assert in_tables(ana) == set()
        with pytest.raises(psycopg.Error) as refused:
            call(ana, "search_keyword", p_collection="c", p_query="alpha")
        assert refused.value.sqlstate == "RG006"


def test_a_binding_follows_a_renamed_role_and_not_a_new_one(site: Site) -> None:
    site.grant("bound_ana", principals=["user:ana"])
    site.server.run("alter role bound_ana rename to bound_anna")
    site.server.run("create role bound_ana login")
    site.grant("bound_ana")
    with site.connect("bound_anna") as anna:
        assert sees(anna) == {"open", "ana"}
    with site.connect("bound_ana") as other:
        configure(other, "group:board")
        assert sees(other) == {"open", "board"}
    site.server.run("drop owned by bound_ana", site.name)
    site.server.run("drop role bound_ana")
    site.server.run("alter role bound_anna rename to bound_ana")


def test_a_binding_is_dumped_and_restored(site: Site) -> None:
    site.grant("bound_ana", principals=["user:ana"])
    server = site.server
    name = server.create_database(vector_schema="public")
    try:
        dump = subprocess.run(
            [server.programs / "pg_dump", "--schema=ragpg", f"--dbname={server.url(site.name)}"],
            capture_output=True,
            check=True,
        ).stdout
        subprocess.run(
            [server.programs / "psql", "-qX", "-v", "ON_ERROR_STOP=1", f"--dbname={server.url(name)}"],
            input=dump,
            capture_output=True,
            check=True,
        )
        with psycopg.connect(server.url(name, "bound_ana"), autocommit=True) as ana:
            configure(ana, "user:ana,group:board")
            assert sees(ana) == {"open", "ana"}
    finally:
        server.drop_database(name)


def test_what_a_dropped_role_was_bound_to_goes(site: Site) -> None:
    site.grant("bound_ana", principals=["user:ana"])
    site.server.run("drop owned by bound_ana", site.name)
    site.server.run("drop role bound_ana")
    site.server.run("create role bound_ana login")
    site.grant("bound_ana", principals=[])
    assert site.owner.execute("select role::text, principals from ragpg.role_principal").fetchall() == [
        ("bound_ana", [])
    ]


@pytest.mark.parametrize("level", ["trusted_reader", "writer"])
def test_the_other_levels_are_not_bound(site: Site, level: str) -> None:
    def refuses(role: str, level: str, **binding: Any) -> None:
        with pytest.raises(psycopg.Error) as refused:
            site.grant(role, level, **binding)
        assert refused.value.sqlstate == "RG007"

    refuses("bound_ana", level, principals=["user:ana"])
    site.grant("bound_ana", principals=["user:ana"])
    refuses("bound_ana", level)
    site.grant("free_server", level)
    refuses("free_server", "reader", principals=["user:ana"])
    site.member("bound_member", "free_server")
    refuses("bound_member", "reader", principals=["user:ana"])
    with site.connect("bound_ana") as ana:
        assert sees(ana) == {"open", "ana"}


@pytest.mark.parametrize(
    "binding",
    [
        {"principals": ["*"]},
        {"principals": ["user:ana", None]},
        {"principals": [" "]},
        {"principals": [["user:ana"], ["group:hr"]]},
        {"tenant_id": "globex"},
    ],
)
def test_bindings_to_nothing_sensible_are_refused(site: Site, binding: Row) -> None:
    with pytest.raises(psycopg.Error) as refused:
        site.grant("bound_ana", **binding)
    assert refused.value.sqlstate == "RG007"


@pytest.mark.parametrize("role", ["postgres", OWNER])
def test_the_owner_and_superusers_are_not_bound(site: Site, role: str) -> None:
    with pytest.raises(psycopg.Error) as refused:
        site.grant(role, principals=["user:ana"])
    assert refused.value.sqlstate == "RG007"


def test_a_role_that_bypasses_row_level_security_is_not_bound(site: Site) -> None:
    site.server.run("alter role bound_ana bypassrls")
    with pytest.raises(psycopg.Error) as refused:
        site.grant("bound_ana", principals=["user:ana"])
    assert refused.value.sqlstate == "RG007"


@pytest.mark.parametrize("level", ["reader", "trusted_reader", "writer", "bound"])
def test_access_is_revoked_whole(site: Site, level: str) -> None:
    if level == "bound":
        site.grant("bound_ana", principals=["user:ana"])
    else:
        site.grant("bound_ana", level)
    call(site.owner, "revoke_access", p_role="bound_ana")
    left = site.owner.execute(
        """
        select 'right' from pg_proc, aclexplode(proacl) as item
        where pronamespace = 'ragpg'::regnamespace and item.grantee = 'bound_ana'::regrole
        union all
        select 'right' from pg_class, aclexplode(relacl) as item
        where relnamespace = 'ragpg'::regnamespace and item.grantee = 'bound_ana'::regrole
        union all
        select 'right' from pg_namespace, aclexplode(nspacl) as item
        where nspname = 'ragpg' and item.grantee = 'bound_ana'::regrole
        union all
        select 'binding' from ragpg.role_principal
        """
    ).fetchall()
    assert left == []
    site.grant("bound_ana", "writer")


@pytest.mark.parametrize("role", ["nobody_there", 'x"; drop schema ragpg', OWNER, None])
def test_there_is_nothing_to_revoke(site: Site, role: str | None) -> None:
    with pytest.raises(psycopg.Error) as refused:
        call(site.owner, "revoke_access", p_role=role)
    assert refused.value.sqlstate == "RG007"


def test_only_the_owner_binds_and_reads_bindings(site: Site) -> None:
    site.grant("bound_ana", principals=["user:ana"])
    site.grant("free_server", "trusted_reader")
    site.grant("free_writer", "writer")
    for role in ("bound_ana", "free_server", "free_writer"):
        with site.connect(role) as connection:
            for statement in (
                "select ragpg.grant_access('bound_ana', 'reader', '{group:board}')",
                "select ragpg.revoke_access('bound_ana')",
                "select ragpg._bind_role('bound_ana', '{group:board}', '')",
                "select * from ragpg._bindings()",
                "select * from ragpg.role_principal",
                "insert into ragpg.role_principal values ('bound_ana', '', '{group:board}')",
                "update ragpg.role_principal set principals = '{group:board}'",
            ):
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    connection.execute(statement)


@pytest.mark.parametrize("role", ["bound_ana", "free_reader", "free_server"])
def test_a_malformed_setting_is_named(site: Site, role: str) -> None:
    site.grant("bound_ana", principals=["user:ana"])
    site.grant("free_reader")
    site.grant("free_server", "trusted_reader")
    with site.connect(role) as reader:
        configure(reader, "{user:ana")
        for statement in (
            "select * from ragpg.search_keyword('c', 'alpha')",
            "select count(*) from ragpg.document",
        ):
            with pytest.raises(psycopg.Error, match=r"ragpg\.principals") as refused:
                reader.execute(statement)
            assert refused.value.sqlstate == "RG007"
