from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from ragpg import Client
from ragpg.embedding.hash import HashEmbedder
from ragpg.errors import EmbeddingError
from tests.proofs.synthetic import Corpus, plant

if TYPE_CHECKING:
    from tests.conftest import PgServer

# Whatever is written or locked shows in one of these.
ROW_STATE = "select '{0}', ctid::text, xmin::text, xmax::text from ragpg.{0}"
TABLES = ("collection", "document", "index_version", "chunk", "embedding", "embedding_cache", "lexeme_stat")


class CountingEmbedder(HashEmbedder):
    """The hash embedder, counting what it is given; ``refuse`` says which texts it fails on."""

    def __init__(self) -> None:
        super().__init__(64)
        self.texts: list[str] = []
        self.batches: list[int] = []
        self.refuse: Callable[[str], bool] = lambda text: False
        self._lock = threading.Lock()

    def embed_documents(self, texts: Sequence[str], **options: Any) -> list[list[float]]:
        with self._lock:
            self.texts += texts
            self.batches.append(len(texts))
        if any(self.refuse(text) for text in texts):
            raise EmbeddingError("the model is down")
        return super().embed_documents(texts, **options)


@pytest.fixture
def embedder() -> CountingEmbedder:
    return CountingEmbedder()


@pytest.fixture
def rag(database: str, embedder: CountingEmbedder) -> Iterator[Client]:
    """A client with an empty collection ``docs``."""
    with Client(database, embedder=embedder, chat_model="none") as client:
        client.create_collection("docs", chunking={"max_tokens": 64})
        yield client


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with three documents."""
    path = tmp_path / "handbook"
    for name, text in {
        "refunds.md": "# Refunds\n\nRefunds take ten working days.\n",
        "hr/leave.md": "# Leave\n\nEveryone has thirty days of leave.\n",
        "it/vpn.txt": "The VPN answers ERR-1042 when the certificate is too old.\n",
    }.items():
        file = path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return path


@pytest.fixture
def query(database: str) -> Iterator[Callable[..., list[tuple[Any, ...]]]]:
    """Run a statement on a connection of its own."""
    with psycopg.connect(database, autocommit=True) as connection:
        yield lambda statement, *values: connection.execute(statement, values).fetchall()


@pytest.fixture
def row_state(query: Callable[..., list[tuple[Any, ...]]]) -> Callable[[], list[tuple[Any, ...]]]:
    """The place and the transactions of every row: equal before and after, where nothing was written."""
    statement = " union all ".join(ROW_STATE.format(table) for table in TABLES)
    return lambda: sorted(query(statement))


@pytest.fixture(scope="session")
def planted(pg_server: PgServer, template: str) -> Iterator[tuple[str, Corpus]]:
    """The name of a database with a collection so large that a broad caller is served by HNSW; read it only."""
    name = pg_server.create_database(template=template)
    with psycopg.connect(pg_server.url(name), autocommit=True) as connection:
        corpus = plant(connection, 16_000, 8, narrow=0.01)
    yield name, corpus
    pg_server.drop_database(name)


@pytest.fixture
def planted_reader(pg_server: PgServer, planted: tuple[str, Corpus]) -> Iterator[str]:
    """A role of level ``reader`` in that database."""
    role = "reader_of_planted"
    pg_server.run(f"create role {role} login")
    with psycopg.connect(pg_server.url(planted[0]), autocommit=True) as owner:
        owner.execute("select ragpg.grant_access(%s, 'reader')", (role,))
    yield role
    pg_server.run(f"drop owned by {role}", planted[0])
    pg_server.run(f"drop role {role}")
