"""The values that travel between the layers: parsed documents, chunks, hits, answers. Plain data, no I/O."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

BlockKind = Literal["heading", "paragraph", "list", "table", "code", "page_break"]
ChunkKind = Literal["text", "table", "code"]
SearchMode = Literal["hybrid", "keyword", "vector"]
Fusion = Literal["rrf", "score"]
Idf = Literal["corpus", "visible"]


@dataclass(frozen=True, slots=True)
class Block:
    """One structural piece of a parsed document: ``content[char_start:char_end]`` is its text.

    Offsets count Python characters (code points) in ``ParsedDocument.content``. ``level`` is 1 to 6 for a heading, 0 otherwise.
    ``page`` counts from 1 where the format has pages. A ``page_break`` is empty (``char_start == char_end``), and its
    ``page`` is the one it begins.
    """

    kind: BlockKind
    char_start: int
    char_end: int
    level: int = 0
    page: int | None = None
    code_language: str | None = None


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """A file as text: what the parsers return and the chunkers take.

    ``blocks`` are in order and do not overlap. ``warnings`` name what was lost or repaired (a page without text, removed NUL bytes).
    """

    content: str
    blocks: tuple[Block, ...] = ()
    title: str | None = None
    media_type: str = "text/plain"
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    warnings: tuple[str, ...] = ()


def embedding_input(heading: str, content: str) -> str:
    """What a model sees of a chunk: the heading, a blank line, the content; the content alone where there is no heading."""
    return f"{heading}\n\n{content}" if heading else content


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a document: ``content == document.content[char_start:char_end]``, always, exactly.

    ``heading`` is the heading path joined with `` › `` (with a split table's header row under it), embedded and indexed
    with the content. ``parent_start``/``parent_end`` is the range of the section (or other parent) that holds the chunk.
    ``page_start``/``page_end`` count from 1.
    """

    ordinal: int
    content: str
    char_start: int
    char_end: int
    token_count: int
    heading: str = ""
    section_path: tuple[str, ...] = ()
    kind: ChunkKind = "text"
    parent_start: int | None = None
    parent_end: int | None = None
    page_start: int | None = None
    page_end: int | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def embedding_input(self) -> str:
        """What is embedded: the heading, a blank line, the content."""
        return embedding_input(self.heading, self.content)


@dataclass(frozen=True, slots=True)
class SearchHit:
    """One row of ``ragpg.search_hit``. ``rank`` counts from 1, a higher ``score`` and a lower ``distance`` are better."""

    chunk_id: UUID
    document_id: UUID
    external_id: str
    title: str | None
    uri: str | None
    content: str
    heading: str
    section_path: tuple[str, ...]
    page_start: int | None
    page_end: int | None
    char_start: int
    char_end: int
    metadata: Mapping[str, Any]
    score: float
    vector_rank: int | None
    vector_distance: float | None
    keyword_rank: int | None
    keyword_score: float | None


class SearchHits(list[SearchHit]):
    """The hits in rank order, and why the answer is less than it could be (``degraded``, empty when nothing was given up)."""

    def __init__(self, hits: Iterable[SearchHit] = (), degraded: Iterable[str] = ()) -> None:
        super().__init__(hits)
        self.degraded: list[str] = list(degraded)


@dataclass(frozen=True, slots=True)
class Citation:
    """A source that an answer cites as ``[number]``."""

    number: int
    chunk_id: UUID
    document_id: UUID
    external_id: str
    title: str | None
    uri: str | None
    heading: str
    page_start: int | None
    page_end: int | None
    char_start: int
    char_end: int
    quote: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What ``ask`` returns. ``extractive`` is true where no language model was used; ``answered`` is false for "I don't know"."""

    text: str
    citations: tuple[Citation, ...]
    context: tuple[SearchHit, ...]
    degraded: tuple[str, ...]
    extractive: bool
    answered: bool
    model: str | None = None
    usage: Mapping[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True, slots=True)
class UpsertResult:
    """What ``upsert_document`` did: ``status`` is created, updated (text), attributes (title, ACL, metadata …) or unchanged.

    ``warnings`` say what was removed from the text to store it.
    """

    document_id: UUID
    status: Literal["created", "updated", "attributes", "unchanged"]
    chunks_written: int
    chunks_deleted: int
    embeddings_written: int
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FileFailure:
    """A file that could not be ingested, and why."""

    path: str
    error: str


@dataclass(slots=True)
class IngestReport:
    """What an ingest run did. ``embedded`` counts texts sent to the model, ``reused`` chunks that needed no new vector."""

    created: int = 0
    updated: int = 0
    attributes: int = 0
    unchanged: int = 0
    deleted: int = 0
    chunks_written: int = 0
    embedded: int = 0
    reused: int = 0
    failures: list[FileFailure] = field(default_factory=list[FileFailure])
    warnings: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, slots=True)
class CollectionStats:
    """One collection in numbers, from ``ragpg.collection_stats``."""

    name: str
    language: str
    chunking: Mapping[str, Any]
    embedding_provider: str | None
    embedding_model: str | None
    dimensions: int | None
    active_index_version: int
    documents: int
    chunks: int
    embeddings: int
    pending: int
    indexed_at: datetime | None
    statistics_at: datetime | None
