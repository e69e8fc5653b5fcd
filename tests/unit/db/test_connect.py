import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from ragpg import AsyncClient, Client
from ragpg.db.connect import connection_string
from ragpg.db.migrate import current_revision, engine_for
from ragpg.errors import ConfigError


@pytest.fixture(autouse=True)
def no_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PGCONNECT_TIMEOUT", raising=False)


@pytest.mark.parametrize(
    "url", ["", "postgresql://ana@db/app", "postgres:///app", "host=db", "postgresql+psycopg://ana@db/app"]
)
def test_connecting_gives_up_after_ten_seconds(url: str) -> None:
    assert conninfo_to_dict(connection_string(url))["connect_timeout"] == "10"


def test_the_url_and_the_environment_may_say_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    url = "postgresql://db/app?connect_timeout=3"
    assert connection_string(url) == url
    monkeypatch.setenv("PGCONNECT_TIMEOUT", "4")
    assert connection_string("postgresql://db/app") == "postgresql://db/app"


def test_migrating_connects_with_the_time_out_too(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def connect(conninfo: str) -> psycopg.Connection:
        asked.append(conninfo)
        raise psycopg.OperationalError("not this time")

    monkeypatch.setattr(psycopg, "connect", connect)
    with pytest.raises(Exception, match="not this time"):
        current_revision("postgresql+psycopg://ana@db/app")
    assert conninfo_to_dict(asked[0]) == {
        "host": "db", "user": "ana", "dbname": "app", "connect_timeout": "10"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("foo://bar:secret@db", "starts with foo://"),
        ("secret", "is neither"),
        ("secret word://db", "is neither"),
        ("postgresql://ana:secret%zz@db/app", "%XX"),
        ("postgresql://db/app?secret=1", "%XX"),
        ("secret=1", "%XX"),
    ],
)
@pytest.mark.parametrize("use", [Client, AsyncClient, engine_for, current_revision])
def test_a_malformed_url_is_explained_and_no_secret_is_shown(url: str, says: str, use: type) -> None:
    with pytest.raises(ConfigError, match=says) as caught:
        use(url)
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
