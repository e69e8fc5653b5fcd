"""What has to be done for a document, decided from what is stored of it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from ragpg.db.rows import ChunkState, DocumentState, IndexVersion
from ragpg.errors import DatabaseError, InvalidArgument, RagpgError
from ragpg.ingest.attributes import Attributes
from ragpg.ingest.ids import chunk_ids, content_hash
from ragpg.types import Chunk, CollectionStats, IngestReport, ParsedDocument

# data exception, integrity constraint, program limit: the next document may do better
_FAULTS_OF_THE_DATA = ("22", "23", "54")
_REFRESH_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class Item:
    """A document that was read. ``shown`` is its name for people."""

    external_id: str
    shown: str
    document: ParsedDocument
    attributes: Attributes

    @property
    def content_hash(self) -> bytes:
        """SHA-256 of the text, as the database keeps it."""
        return content_hash(self.document.content)


@dataclass(frozen=True, slots=True)
class Work:
    """A document to write: its chunks, and which of them need a vector."""

    item: Item
    chunks: Sequence[Chunk]
    missing: Sequence[int]

    @property
    def inputs(self) -> list[str]:
        """What is to be embedded."""
        return [self.chunks[place].embedding_input for place in self.missing]

    def embeddings(self, vectors: Sequence[str]) -> list[str | None]:
        """Vectors of the inputs in the places of their chunks; ``None`` keeps what is stored."""
        result: list[str | None] = [None] * len(self.chunks)
        for place, vector in zip(self.missing, vectors, strict=True):
            result[place] = vector
        return result


def is_current(item: Item, state: DocumentState | None, version: IndexVersion) -> bool:
    """Whether nothing has to be done: same text, same attributes, and chunked for this index version.

    Chunks that still wait for a vector do not count: they are embedded without reading the file.
    """
    return (
        state is not None
        and state.content_hash == item.content_hash
        and state.chunk_count > 0
        and item.attributes.stored_in(state, version.language)
    )


def missing_vectors(
    document: UUID | None, chunks: Sequence[Chunk], stored: Mapping[UUID, ChunkState]
) -> list[int]:
    """The chunks that need a vector.

    Parameters
    ----------
    document
        The document's id, ``None`` where it is new.
    chunks
        Its chunks now.
    stored
        Its chunks in the database.

    Returns
    -------
    list[int]
        Positions in ``chunks``. A stored vector stays where the text and the heading are the same.
    """
    if document is None or not stored:
        return list(range(len(chunks)))
    ids = chunk_ids(document, [chunk.content for chunk in chunks])

    def kept(place: int) -> bool:
        state = stored.get(ids[place])
        return state is not None and state.has_embedding and state.heading == chunks[place].heading

    return [place for place in range(len(chunks)) if not kept(place)]


def is_fault_of_document(error: RagpgError) -> bool:
    """Whether the database refused this document, so that the others may go on."""
    state = _sqlstate(error) or ""
    return isinstance(error, InvalidArgument) or (
        isinstance(error, DatabaseError) and state.startswith(_FAULTS_OF_THE_DATA)
    )


def came_from_database(error: RagpgError) -> bool:
    """Whether the database raised it, which aborts the transaction it was in."""
    return _sqlstate(error) is not None


def needs_statistics(report: IngestReport, stats: CollectionStats) -> bool:
    """Whether the run changed so much that the term statistics should follow: a tenth, or the first fill."""
    if stats.chunks == 0:
        return False
    return (
        stats.statistics_at is None
        or report.chunks_written > _REFRESH_SHARE * stats.chunks
        or report.deleted > _REFRESH_SHARE * stats.documents
    )


def _sqlstate(error: RagpgError) -> str | None:
    return getattr(error.__cause__, "sqlstate", None)
