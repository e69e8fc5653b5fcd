import random
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest

import ragpg
from ragpg import Client, Settings
from ragpg.client.chat import ChatModel
from ragpg.client.flows import defaults, fitting_chunking, principal_list
from ragpg.client.retry import retry_delay
from ragpg.db import calls
from ragpg.db.errors_map import translate
from ragpg.embedding import make_embedder
from ragpg.errors import ChunkingError, ConfigError, DatabaseUnavailable, InvalidArgument, RagpgError


def test_importing_the_package_loads_no_driver_and_is_quick() -> None:
    code = (
        "import sys, ragpg\n"
        "heavy = {'psycopg', 'openai', 'yaml', 'sqlalchemy', 'tiktoken', 'numpy'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    # The best of several: the machine may be busy.
    assert min(import_seconds("ragpg") for _ in range(3)) < 0.3


def import_seconds(module: str) -> float:
    """How long an import takes, in a process of its own, without the interpreter's start."""
    command = [sys.executable, "-X", "importtime", "-c", f"import {module}"]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stderr.splitlines()
    (line,) = (line for line in lines if line.rpartition("|")[2].strip() == module)
    return int(line.split("|")[1]) / 1e6


def test_a_process_that_searches_does_not_load_what_ingest_and_answers_need() -> None:
    code = (
        "import sys, ragpg.client\n"
        "heavy = {'openai', 'yaml', 'sqlalchemy', 'tiktoken', 'numpy', 'markdown_it'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("name", ragpg.__all__)
def test_every_export_is_there(name: str) -> None:
    assert getattr(ragpg, name).__name__ == name
    assert name in dir(ragpg)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="Clint"):
        ragpg.Clint  # noqa: B018


def test_the_constructor_does_no_io_and_takes_one_way_to_the_database() -> None:
    Client("postgresql://nobody@203.0.113.1/none").close()
    with pytest.raises(ConfigError, match="one of"):
        Client("postgresql://x", connection=object())  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="one of"):
        Client(pool=object(), connection=object())  # type: ignore[arg-type]


def test_a_closed_client_stays_closed() -> None:
    client = Client("postgresql://nobody@203.0.113.1/none")
    client.close()
    client.close()
    with pytest.raises(ConfigError, match="closed"):
        client.collections()


@pytest.mark.parametrize("handed", ["pool", "connection"])
def test_a_closed_client_leaves_what_it_was_handed_alone(handed: str) -> None:
    # Neither is a pool nor a connection: any use fails with another error.
    client = Client(**{handed: object()})  # type: ignore[arg-type]
    client.close()
    with pytest.raises(ConfigError, match="closed"):
        client.collections()
    with pytest.raises(ConfigError, match="closed"):
        client.ask("docs", "How long?")


def test_closing_waits_for_the_pool_that_is_being_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    pools: list[Any] = []
    begun, go_on = threading.Event(), threading.Event()

    class Pool:
        closed = False

        def __init__(self, *_: Any, **__: Any) -> None:
            pools.append(self)

        def open(self) -> None:
            begun.set()
            go_on.wait(5)

        def close(self) -> None:
            self.closed = True

        def connection(self) -> Any:
            raise psycopg.OperationalError("no server behind it")

    class Connection:
        @staticmethod
        def connect(url: str) -> Any:
            return Pool()

    monkeypatch.setattr("ragpg.client.sync_database.ConnectionPool", Pool)
    monkeypatch.setattr("ragpg.client.sync_database.Connection", Connection)
    client = Client("postgresql://nobody@203.0.113.1/none")
    with ThreadPoolExecutor(2) as threads:
        running = threads.submit(client.collections)
        assert begun.wait(5)
        closing = threads.submit(client.close)
        with pytest.raises(TimeoutError):
            closing.result(0.1)
        go_on.set()
        closing.result(5)
        with pytest.raises(DatabaseUnavailable):
            running.result(5)
    assert pools[-1].closed


def test_a_clients_generator_is_made_once_and_closed_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[Any] = []
    monkeypatch.setattr("ragpg.answering.OpenAIGenerator.close", lambda self: closed.append(self))
    chat = ChatModel("some-model", Settings(openai_base_url="http://127.0.0.1:1/v1"))
    with ThreadPoolExecutor(4) as threads:
        first, *others = threads.map(lambda _: chat.generator(), range(4))
    assert first is not None
    assert all(other is first for other in others)
    chat.close()
    chat.close()
    assert closed == [first]
    assert ChatModel("none", Settings()).generator() is None
    assert ChatModel(None, Settings()).generator() is None


def test_an_unreachable_database_is_named_at_once() -> None:
    begun = time.monotonic()
    with (
        Client("postgresql://nobody@127.0.0.1:1/none") as client,
        pytest.raises(DatabaseUnavailable, match=r"127\.0\.0\.1"),
    ):
        client.collections()
    assert time.monotonic() - begun < 5


def test_the_url_may_come_from_the_settings() -> None:
    settings = Settings(database_url="postgresql://nobody@127.0.0.1:1/from_settings")
    with Client(settings=settings) as client, pytest.raises(DatabaseUnavailable):
        client.collections()


@pytest.mark.parametrize("principals", ["group:hr", [1], [None]])
def test_principals_are_a_list_of_strings(principals: Any) -> None:
    with pytest.raises(InvalidArgument, match="acl is a list"):
        principal_list(principals, "acl")


def test_metadata_that_is_no_json_is_refused() -> None:
    with pytest.raises(InvalidArgument, match=r"metadata\.a"):
        defaults(None, {"a": object()}, None)
    assert defaults(["x"], {"a": (1, 2)}, "t").metadata == {"a": [1, 2]}


def test_chunks_are_counted_as_their_embedder_counts() -> None:
    local = make_embedder("local")
    assert fitting_chunking({}, local)["tokenizer"] == "local"
    assert fitting_chunking({}, local)["max_tokens"] == 256
    assert fitting_chunking({}, make_embedder("hash"))["tokenizer"] == "cl100k_base"
    assert fitting_chunking({"max_tokens": 64}, None)["max_tokens"] == 64


def test_chunks_that_the_embedder_would_cut_are_refused() -> None:
    local = make_embedder("local", document_prefix="passage of a handbook: ")
    assert fitting_chunking({}, local)["max_tokens"] < 256
    with pytest.raises(ChunkingError, match="don't fit"):
        fitting_chunking({"max_tokens": 256}, local)
    with pytest.raises(ChunkingError, match="tokenizer"):
        fitting_chunking({"tokenizer": "cl100k_base"}, local)


def failed(sqlstate: str | None) -> RagpgError:
    driver = psycopg.OperationalError("gone") if sqlstate is None else psycopg.errors.lookup(sqlstate)("x")
    error = translate(driver)
    error.__cause__ = driver
    return error


@pytest.mark.parametrize(
    ("sqlstate", "reconnect", "attempt", "again"),
    [
        ("40001", False, 1, True),
        ("40P01", True, 7, True),
        ("40P01", True, 8, False),
        ("57P01", True, 1, True),
        ("57P01", True, 3, False),
        ("57P01", False, 1, False),
        (None, True, 2, True),
        ("53100", True, 1, False),
        ("RG001", True, 1, False),
    ],
)
def test_what_is_tried_again(sqlstate: str | None, reconnect: bool, attempt: int, again: bool) -> None:
    error = RagpgError("x") if sqlstate == "RG001" else failed(sqlstate)
    random.seed(1)
    assert (retry_delay(error, attempt, reconnect=reconnect) is not None) is again


def test_vectors_are_written_as_pgvector_reads_them() -> None:
    assert calls.vector_literal([1, -0.5, 1e-7]) == "[1.0,-0.5,1e-07]"
    for bad in ([], [float("nan")], [float("inf")]):
        with pytest.raises(InvalidArgument, match="finite"):
            calls.vector_literal(bad)


@pytest.mark.parametrize("text", ["a\0b", "\ud800"])
def test_text_that_postgres_can_not_hold_is_refused_by_the_parameters_name(text: str) -> None:
    with pytest.raises(InvalidArgument, match="external_id"):
        calls.delete_document("docs", text, tenant_id=None)
    with pytest.raises(InvalidArgument, match="acl"):
        calls.set_acl("docs", "a", [text], tenant_id=None)
