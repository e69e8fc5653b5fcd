"""Hand-made hits and the scripted chat server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from uuid import NAMESPACE_URL, uuid5

import pytest

from ragpg.types import SearchHit
from tests.unit.answering.chat_server import ChatServer

MakeHit = Callable[..., SearchHit]


@pytest.fixture
def make_hit() -> MakeHit:
    def make(
        content: str,
        *,
        document: str = "doc.md",
        heading: str = "",
        title: str | None = None,
        char_start: int = 0,
        section_path: tuple[str, ...] = (),
        chunk: str | None = None,
    ) -> SearchHit:
        return SearchHit(
            chunk_id=uuid5(NAMESPACE_URL, f"{document}#{chunk or content}"),
            document_id=uuid5(NAMESPACE_URL, document),
            external_id=document,
            title=title,
            uri=None,
            content=content,
            heading=heading,
            section_path=section_path,
            page_start=None,
            page_end=None,
            char_start=char_start,
            char_end=char_start + len(content),
            metadata={},
            score=0.03,
            vector_rank=1,
            vector_distance=0.2,
            keyword_rank=1,
            keyword_score=3.0,
        )

    return make


@pytest.fixture
def server() -> Iterator[ChatServer]:
    chat = ChatServer()
    yield chat
    chat.close()


@pytest.fixture(autouse=True)
def _no_openai_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
