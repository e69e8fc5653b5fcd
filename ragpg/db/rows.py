"""Rows of the SQL functions as typed values. Pure: a row is a dict from column name to value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from ragpg.types import CollectionStats, SearchHit, SearchHits, UpsertResult, embedding_input

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class IndexVersion:
    """What the database remembers of an index version: its chunking and its embedder."""

    collection_id: int
    index_version_id: int
    language: str
    chunking: Mapping[str, Any]
    embedding_provider: str | None
    embedding_model: str | None
    dimensions: int | None
    query_prefix: str
    document_prefix: str
    is_active: bool = True


@dataclass(frozen=True, slots=True)
class DocumentState:
    """A stored document without its text: enough to decide whether a file has changed."""

    external_id: str
    document_id: UUID
    content_hash: bytes
    title: str | None
    uri: str | None
    media_type: str | None
    language: str
    metadata: Mapping[str, Any]
    acl: Sequence[str]
    expires_at: datetime | None
    chunk_count: int
    pending: int


@dataclass(frozen=True, slots=True)
class ChunkState:
    """A stored chunk without its text: enough to decide whether its vector can stay."""

    chunk_id: UUID
    content_hash: bytes
    heading: str
    has_embedding: bool


@dataclass(frozen=True, slots=True)
class PendingChunk:
    """A stored chunk that waits for its vector."""

    document_id: UUID
    chunk_id: UUID
    heading: str
    content: str

    @property
    def embedding_input(self) -> str:
        """What is embedded: the heading, a blank line, the content."""
        return embedding_input(self.heading, self.content)


def search_hits(rows: Sequence[Row]) -> SearchHits:
    """Rows of ``ragpg.search_hit`` as hits; ``degraded`` joins what the rows say, each word once."""
    words = dict.fromkeys(word for row in rows for word in row["degraded"] or ())
    return SearchHits((_search_hit(row) for row in rows), words)


def _search_hit(row: Row) -> SearchHit:
    return SearchHit(
        chunk_id=row["chunk_id"],
        document_id=row["document_id"],
        external_id=row["external_id"],
        title=row["title"],
        uri=row["uri"],
        content=row["content"],
        heading=row["heading"],
        section_path=tuple(row["section_path"] or ()),
        page_start=row["page_start"],
        page_end=row["page_end"],
        char_start=row["char_start"],
        char_end=row["char_end"],
        metadata=row["metadata"],
        score=row["score"],
        vector_rank=row["vector_rank"],
        vector_distance=row["vector_distance"],
        keyword_rank=row["keyword_rank"],
        keyword_score=row["keyword_score"],
    )


def index_version(rows: Sequence[Row]) -> IndexVersion:
    """The row of ``ragpg._index_version``."""
    return IndexVersion(**rows[0])


def upsert_result(rows: Sequence[Row]) -> UpsertResult:
    """The row of ``ragpg.upsert_document``."""
    return UpsertResult(**rows[0])


def document_states(rows: Sequence[Row]) -> dict[str, DocumentState]:
    """Rows of ``ragpg._document_states`` by external id."""
    return {row["external_id"]: DocumentState(**row) for row in rows}


def chunk_states(rows: Sequence[Row]) -> dict[UUID, ChunkState]:
    """Rows of ``ragpg._chunk_states`` by chunk id."""
    return {row["chunk_id"]: ChunkState(**row) for row in rows}


def pending_chunks(rows: Sequence[Row]) -> list[PendingChunk]:
    """Rows of ``ragpg._pending_chunks``."""
    return [PendingChunk(**row) for row in rows]


def cached_embeddings(rows: Sequence[Row]) -> dict[bytes, str]:
    """Rows of ``ragpg._cached_embeddings`` as vector literals by input hash."""
    return {bytes(row["input_hash"]): row["embedding"] for row in rows}


def collection_stats(rows: Sequence[Row]) -> list[CollectionStats]:
    """Rows of ``ragpg.collection_stats``."""
    return [CollectionStats(**row) for row in rows]


def scalar(rows: Sequence[Row]) -> Any:
    """The only value of the only row."""
    (value,) = rows[0].values()
    return value


def column(rows: Sequence[Row]) -> list[Any]:
    """The only value of every row."""
    return [value for row in rows for value in row.values()]


def nothing(_rows: Sequence[Row]) -> None:
    """The answer of a function that returns void."""
