"""Remote models, end to end: local HTTP servers stand in for them."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragpg import AsyncClient, Client, Settings
from ragpg.answering import OpenAIGenerator
from ragpg.errors import EmbeddingError
from tests.unit.answering.chat_server import ChatServer, completion
from tests.unit.embedding.embeddings_server import FakeServer, error


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeServer]:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    fake = FakeServer()
    yield fake
    fake.close()


@pytest.fixture
def settings(server: FakeServer) -> Settings:
    return Settings(openai_base_url=server.url, request_timeout=5.0)


@pytest.fixture
def rag(database: str, settings: Settings, folder: Path) -> Iterator[Client]:
    with Client(database, settings=settings) as client:
        client.create_collection("docs", embedder="openai:nested@8")
        assert client.ingest("docs", folder).embedded == 3
        yield client


def test_three_files_are_one_request(rag: Client, server: FakeServer) -> None:
    assert [len(request["input"]) for request in server.requests] == [3]
    assert rag.stats("docs").embedding_model == "nested"


def test_a_question_is_embedded_once_for_everyone(
    rag: Client, server: FakeServer, database: str, settings: Settings
) -> None:
    server.requests.clear()
    first = rag.search("docs", "how long do refunds take")
    with Client(database, settings=settings) as other:
        second = other.search("docs", "how long do refunds take")
    assert [hit.chunk_id for hit in first] == [hit.chunk_id for hit in second]
    assert len(server.requests) == 1


def test_hybrid_goes_on_without_the_model_and_says_so(rag: Client, server: FakeServer) -> None:
    server.always = error(401, "no such key")
    hits = rag.search("docs", "refunds take")
    assert hits[0].external_id == "refunds.md"
    assert "no_query_embedding" in hits.degraded
    with pytest.raises(EmbeddingError):
        rag.search("docs", "refunds take", mode="vector")


async def test_a_slow_model_does_not_stop_the_loop(
    rag: Client, server: FakeServer, database: str, settings: Settings
) -> None:
    server.delay = 0.3
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.01)
            ticks += 1

    async with AsyncClient(database, settings=settings) as client:
        ticking = asyncio.create_task(tick())
        await client.search("docs", "a slow question")
        ticking.cancel()
    assert ticks > 5


def test_one_generator_answers_within_the_budget_and_is_closed_with_the_client(
    rag: Client, database: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat, made, closed = ChatServer(), [], []

    class Watched(OpenAIGenerator):
        def __init__(self, *args: Any, **options: Any) -> None:
            made.append(self)
            super().__init__(*args, **options)

        def close(self) -> None:
            closed.append(self)
            super().close()

    monkeypatch.setattr("ragpg.answering.OpenAIGenerator", Watched)
    chat.replies = [completion("Ten working days [1].")]
    settings = Settings(openai_base_url=chat.url, request_timeout=5.0)
    rag.create_collection("words", embedder="none")
    rag.ingest("words", folder)
    try:
        with Client(database, settings=settings, chat_model="some-model") as client:
            wide = client.ask("words", "Who has days?")
            narrow = client.ask("words", "Who has days?", max_context_tokens=30)
            assert closed == []
    finally:
        chat.close()
    assert (wide.text, len(wide.context)) == ("Ten working days [1].", 2)
    assert "context_truncated" not in wide.degraded
    assert len(narrow.context) == 1
    assert "context_truncated" in narrow.degraded
    assert len(made) == 1
    assert closed == made
