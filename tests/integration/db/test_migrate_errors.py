import psycopg
import pytest

from ragpg.db.migrate import uninstall
from ragpg.errors import AccessDenied
from tests.conftest import PgServer


def test_the_drivers_error_is_the_cause(database: str, pg_server: PgServer) -> None:
    name = str(psycopg.conninfo.conninfo_to_dict(database)["dbname"])
    pg_server.run("alter schema ragpg owner to postgres", name)
    with pytest.raises(AccessDenied) as caught:
        uninstall(database)
    assert getattr(caught.value.__cause__, "sqlstate", None) == "42501"
    assert "run this as the owner of schema ragpg" in str(caught.value)
    assert "grant_access" not in str(caught.value)
