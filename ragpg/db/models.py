"""SQLAlchemy models of every table in schema ``ragpg``, to join with an application's own models.

The models are for reading and joining. Rows are written by the SQL functions
(``ragpg.upsert_document`` and its like), which keep chunks, statistics and hashes consistent; so every relationship is ``viewonly``.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from pgvector.sqlalchemy import HALFVEC
from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Identity,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, BYTEA, JSONB, TIMESTAMP, TSVECTOR
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

SCHEMA = "ragpg"

_NOW = text("now()")
_EMPTY_OBJECT = text("'{}'::jsonb")
_EMPTY_ARRAY = text("'{}'::text[]")


class Base(DeclarativeBase):
    """Declarative base of the models, with its own metadata so that a host application's stays untouched."""

    metadata = MetaData(schema=SCHEMA)
    type_annotation_map = {  # noqa: RUF012
        int: BigInteger,
        str: Text,
        float: Double,
        bytes: BYTEA,
        datetime: TIMESTAMP(timezone=True),
        dict[str, Any]: JSONB,
        list[Any]: JSONB,
        list[str]: ARRAY(Text),
    }


def _integer(comment: str, default: str | None = None) -> Any:
    """A plain 32-bit ``integer`` column."""
    return mapped_column(Integer, server_default=text(default) if default else None, comment=comment)


class Collection(Base):
    """A named set of documents that share a language, a chunking and an embedding model."""

    __tablename__ = "collection"
    __table_args__ = (
        PrimaryKeyConstraint("id", name="pk_collection"),
        UniqueConstraint("name", name="uq_collection_name"),
        {"comment": "A named set of documents that share a language, a chunking and an embedding model."},
    )

    id: Mapped[int] = mapped_column(Identity(always=True), comment="Surrogate key.")
    name: Mapped[str] = mapped_column(comment="The name callers use; unique.")
    language: Mapped[str] = mapped_column(
        server_default=text("'english'"),
        comment="Text search configuration of documents that name none (text: pg_upgrade refuses regconfig).",
    )
    chunking: Mapped[dict[str, Any]] = mapped_column(
        server_default=_EMPTY_OBJECT, comment="Chunking strategy and parameters of new index versions."
    )
    default_acl: Mapped[list[str]] = mapped_column(
        server_default=text("'{public}'::text[]"), comment="ACL of new documents that bring none."
    )
    bm25_k1: Mapped[float] = mapped_column(
        server_default=text("1.2"), comment="BM25 term frequency saturation."
    )
    bm25_b: Mapped[float] = mapped_column(
        server_default=text("0.75"), comment="BM25 length normalisation, 0 to 1."
    )
    active_index_version_id: Mapped[int | None] = mapped_column(
        comment="The index version that searches use; changed by activate_index_version."
    )
    created_at: Mapped[datetime] = mapped_column(
        server_default=_NOW, comment="When the collection was created."
    )

    documents: Mapped[list[Document]] = relationship(back_populates="collection", viewonly=True)
    index_versions: Mapped[list[IndexVersion]] = relationship(back_populates="collection", viewonly=True)


class Document(Base):
    """A document: its text, who may read it, and what describes it."""

    __tablename__ = "document"
    __table_args__ = (
        PrimaryKeyConstraint("id", name="pk_document"),
        Index("ix_document_collection_id", "collection_id", "tenant_id", "external_id"),
        Index("ix_document_language", "collection_id", "language"),
        Index("ix_document_acl", "acl", postgresql_using="gin"),
        Index(
            "ix_document_metadata",
            "metadata",
            postgresql_using="gin",
            postgresql_ops={"metadata": "jsonb_path_ops"},
        ),
        Index("ix_document_unindexed", "collection_id", postgresql_where=text("indexed_at is null")),
        {"comment": "A document: its text, who may read it, and what describes it."},
    )

    id: Mapped[UUID] = mapped_column(
        comment="UUIDv8 of collection name, tenant_id and external_id; a client can compute it too."
    )
    collection_id: Mapped[int] = mapped_column(
        ForeignKey("ragpg.collection.id", name="fk_document_collection", ondelete="CASCADE"),
        comment="The collection it belongs to.",
    )
    tenant_id: Mapped[str] = mapped_column(
        server_default=text("''"),
        comment="Hard isolation: a search sees one tenant. '' is the default tenant.",
    )
    external_id: Mapped[str] = mapped_column(
        comment="The caller's own key of the document, unique in collection and tenant."
    )
    title: Mapped[str | None] = mapped_column(comment="Title, shown with hits.")
    uri: Mapped[str | None] = mapped_column(comment="Where the document can be opened.")
    media_type: Mapped[str | None] = mapped_column(comment="Media type of the source, e.g. text/markdown.")
    language: Mapped[str] = mapped_column(
        comment="Text search configuration that its chunks were analysed with."
    )
    metadata_: Mapped[dict[str, Any]] = mapped_column(
        "metadata", server_default=_EMPTY_OBJECT, comment="Free attributes for jsonpath filters (p_filter)."
    )
    acl: Mapped[list[str]] = mapped_column(
        comment="Principals that may read it (user:…, group:…, public) with all its chunks."
    )
    content: Mapped[str] = mapped_column(comment="The parsed text that all offsets point into.")
    content_hash: Mapped[bytes] = mapped_column(comment="SHA-256 of the UTF-8 content.")
    version: Mapped[int] = _integer("Counts changes of the content, from 1.", "1")
    created_at: Mapped[datetime] = mapped_column(server_default=_NOW, comment="When it was first written.")
    updated_at: Mapped[datetime] = mapped_column(
        server_default=_NOW, comment="When content or attributes last changed."
    )
    indexed_at: Mapped[datetime | None] = mapped_column(
        comment="When all its chunks had what the search needs; null while vectors are pending."
    )
    expires_at: Mapped[datetime | None] = mapped_column(comment="From then on no search returns it.")

    collection: Mapped[Collection] = relationship(back_populates="documents", viewonly=True)
    chunks: Mapped[list[Chunk]] = relationship(back_populates="document", viewonly=True)


class IndexVersion(Base):
    """One way to chunk and embed a collection; several live side by side."""

    __tablename__ = "index_version"
    __table_args__ = (
        PrimaryKeyConstraint("id", name="pk_index_version"),
        CheckConstraint("status in ('building', 'active', 'retired')", name="ck_index_version_status"),
        Index("ix_index_version_collection_id", "collection_id"),
        {"comment": "One way to chunk and embed a collection; several live side by side."},
    )

    id: Mapped[int] = mapped_column(
        Identity(always=True), comment="Surrogate key; names the partitions chunk_v<id>."
    )
    collection_id: Mapped[int] = mapped_column(
        ForeignKey("ragpg.collection.id", name="fk_index_version_collection", ondelete="CASCADE"),
        comment="The collection it indexes.",
    )
    chunking: Mapped[dict[str, Any]] = mapped_column(
        comment="Chunking strategy and parameters of this version."
    )
    embedding_provider: Mapped[str | None] = mapped_column(
        comment="Embedding provider; null: keyword search only."
    )
    embedding_model: Mapped[str | None] = mapped_column(comment="Embedding model; null: keyword search only.")
    dimensions: Mapped[int | None] = _integer("Length of the vectors; null: keyword search only.")
    query_prefix: Mapped[str] = mapped_column(
        server_default=text("''"), comment="Put before a query when it is embedded."
    )
    document_prefix: Mapped[str] = mapped_column(
        server_default=text("''"), comment="Put before a chunk when it is embedded."
    )
    status: Mapped[str] = mapped_column(
        server_default=text("'building'"), comment="building, active or retired."
    )
    created_at: Mapped[datetime] = mapped_column(server_default=_NOW, comment="When the version was created.")
    activated_at: Mapped[datetime | None] = mapped_column(comment="When it was last made the active one.")
    chunk_count: Mapped[int | None] = mapped_column(
        comment="Statistics: number of chunks at the last refresh."
    )
    average_length: Mapped[float | None] = mapped_column(
        comment="Statistics: average number of lexemes of a chunk at the last refresh."
    )
    statistics_k1: Mapped[float | None] = mapped_column(
        comment="Statistics: the k1 that max_impact was computed with."
    )
    statistics_b: Mapped[float | None] = mapped_column(
        comment="Statistics: the b that max_impact was computed with."
    )
    statistics_at: Mapped[datetime | None] = mapped_column(
        comment="Statistics: when they were last refreshed."
    )
    statistics_horizon: Mapped[datetime | None] = mapped_column(
        comment="Statistics: chunks written from then on may be missing from them."
    )

    collection: Mapped[Collection] = relationship(back_populates="index_versions", viewonly=True)


class Chunk(Base):
    """A piece of a document as one index version cut it."""

    __tablename__ = "chunk"
    __table_args__ = (
        PrimaryKeyConstraint("index_version_id", "document_id", "id", name="pk_chunk"),
        CheckConstraint("kind in ('text', 'table', 'code')", name="ck_chunk_kind"),
        Index("ix_chunk_document_id", "document_id"),
        {
            "comment": "A piece of a document as one index version cut it; one partition per index version.",
            "postgresql_partition_by": "list (index_version_id)",
        },
    )

    index_version_id: Mapped[int] = mapped_column(
        ForeignKey("ragpg.index_version.id", name="fk_chunk_index_version"),
        comment="The index version that cut it; partition key.",
    )
    document_id: Mapped[UUID] = mapped_column(
        ForeignKey("ragpg.document.id", name="fk_chunk_document", ondelete="CASCADE"),
        comment="The document it is a piece of.",
    )
    id: Mapped[UUID] = mapped_column(
        comment="UUIDv8 of document, content hash and repetition: an unchanged chunk keeps its id."
    )
    ordinal: Mapped[int] = _integer("Position in the document, from 0.")
    content: Mapped[str] = mapped_column(comment="Its text: document.content from char_start to char_end.")
    heading: Mapped[str] = mapped_column(
        server_default=text("''"), comment="Path of headings above it; embedded and indexed with the content."
    )
    section_path: Mapped[list[str]] = mapped_column(
        server_default=_EMPTY_ARRAY, comment="The headings as an array."
    )
    kind: Mapped[str] = mapped_column(server_default=text("'text'"), comment="text, table or code.")
    char_start: Mapped[int] = _integer("First character in document.content, from 0.")
    char_end: Mapped[int] = _integer("The character after the last one.")
    parent_start: Mapped[int | None] = _integer(
        "First character of the parent (section) in document.content."
    )
    parent_end: Mapped[int | None] = _integer("The character after the parent's last one.")
    page_start: Mapped[int | None] = _integer("First page, from 1, where the format has pages.")
    page_end: Mapped[int | None] = _integer("Last page, where the format has pages.")
    token_count: Mapped[int | None] = _integer(
        "Number of tokens as the chunker counted them, heading included."
    )
    metadata_: Mapped[dict[str, Any]] = mapped_column(
        "metadata",
        server_default=_EMPTY_OBJECT,
        comment="Free attributes for jsonpath filters (p_chunk_filter).",
    )
    content_tsv: Mapped[Any] = mapped_column(
        TSVECTOR, nullable=False, comment="Heading and content, analysed."
    )
    lexeme_count: Mapped[int] = _integer("Length for BM25: number of lexeme positions.")
    written_at: Mapped[datetime] = mapped_column(
        server_default=_NOW,
        comment="When the row was last written; newer than the statistics horizon: not in them.",
    )

    document: Mapped[Document] = relationship(back_populates="chunks", viewonly=True)
    embedding: Mapped[Embedding | None] = relationship(back_populates="chunk", viewonly=True)


class Embedding(Base):
    """The vector of a chunk."""

    __tablename__ = "embedding"
    __table_args__ = (
        PrimaryKeyConstraint("index_version_id", "document_id", "chunk_id", name="pk_embedding"),
        ForeignKeyConstraint(
            ["index_version_id", "document_id", "chunk_id"],
            ["ragpg.chunk.index_version_id", "ragpg.chunk.document_id", "ragpg.chunk.id"],
            name="fk_embedding_chunk",
            ondelete="CASCADE",
        ),
        {
            "comment": "The vector of a chunk; one partition, and one HNSW index, per index version.",
            "postgresql_partition_by": "list (index_version_id)",
        },
    )

    index_version_id: Mapped[int] = mapped_column(comment="The chunk's index version; partition key.")
    document_id: Mapped[UUID] = mapped_column(comment="The chunk's document.")
    chunk_id: Mapped[UUID] = mapped_column(comment="The chunk.")
    embedding: Mapped[Any] = mapped_column(
        HALFVEC, nullable=False, comment="The vector, in half precision, of the index version's dimensions."
    )

    chunk: Mapped[Chunk] = relationship(back_populates="embedding", viewonly=True)


class EmbeddingCache(Base):
    """Vectors by model and exact input, so that no text is embedded twice."""

    __tablename__ = "embedding_cache"
    __table_args__ = (
        PrimaryKeyConstraint("model_key", "input_hash", name="pk_embedding_cache"),
        {"comment": "Vectors by model and exact input, so that no text is embedded twice."},
    )

    model_key: Mapped[str] = mapped_column(comment="provider:model:dimensions.")
    input_hash: Mapped[bytes] = mapped_column(comment="SHA-256 of the UTF-8 input, prefix included.")
    embedding: Mapped[Any] = mapped_column(HALFVEC, nullable=False, comment="The vector, in half precision.")
    last_used_at: Mapped[datetime] = mapped_column(
        server_default=_NOW, comment="When it was last stored."
    )


class LexemeStat(Base):
    """What BM25 needs to know of a lexeme, refreshed like ANALYZE."""

    __tablename__ = "lexeme_stat"
    __table_args__ = (
        PrimaryKeyConstraint("index_version_id", "lexeme", name="pk_lexeme_stat"),
        {"comment": "What BM25 needs to know of a lexeme, refreshed like ANALYZE."},
    )

    index_version_id: Mapped[int] = mapped_column(
        ForeignKey("ragpg.index_version.id", name="fk_lexeme_stat_index_version", ondelete="CASCADE"),
        comment="The index version counted.",
    )
    lexeme: Mapped[str] = mapped_column(comment="The lexeme as it stands in content_tsv.")
    document_frequency: Mapped[int] = mapped_column(comment="Number of chunks that hold it.")
    max_impact: Mapped[float] = mapped_column(
        comment="Largest BM25 term weight (without idf) in any chunk: an upper bound."
    )


class Job(Base):
    """Work to do later, taken by a worker under a lease."""

    __tablename__ = "job"
    __table_args__ = (
        PrimaryKeyConstraint("id", name="pk_job"),
        {"comment": "Work to do later, taken by a worker under a lease."},
    )

    id: Mapped[int] = mapped_column(Identity(always=True), comment="Surrogate key.")
    kind: Mapped[str] = mapped_column(comment="What to do.")
    key: Mapped[str] = mapped_column(comment="What to do it to.")
    payload: Mapped[dict[str, Any]] = mapped_column(
        server_default=_EMPTY_OBJECT, comment="Parameters of the work."
    )
    attempts: Mapped[int] = _integer("How often it was started.", "0")
    run_after: Mapped[datetime] = mapped_column(server_default=_NOW, comment="Not to be started before.")
    lease_until: Mapped[datetime | None] = mapped_column(comment="A worker has it until then.")
    last_error: Mapped[str | None] = mapped_column(comment="Why the last attempt failed.")
    created_at: Mapped[datetime] = mapped_column(server_default=_NOW, comment="When it was queued.")


class SourceTable(Base):
    """An application's own table that is kept searchable."""

    __tablename__ = "source_table"
    __table_args__ = (
        PrimaryKeyConstraint("id", name="pk_source_table"),
        Index("ix_source_table_collection_id", "collection_id"),
        {"comment": "An application's own table that is kept searchable."},
    )

    id: Mapped[int] = mapped_column(Identity(always=True), comment="Surrogate key.")
    collection_id: Mapped[int] = mapped_column(
        ForeignKey("ragpg.collection.id", name="fk_source_table_collection", ondelete="CASCADE"),
        comment="The collection its rows become documents of.",
    )
    relation: Mapped[str] = mapped_column(comment="Qualified, quoted name of the table.")
    key_columns: Mapped[list[str]] = mapped_column(comment="Columns that make external_id.")
    expressions: Mapped[dict[str, Any]] = mapped_column(
        comment="SQL expressions for content, title, acl and so on."
    )
    created_at: Mapped[datetime] = mapped_column(server_default=_NOW, comment="When it was attached.")


class SearchLog(Base):
    """Searches, where logging was switched on."""

    __tablename__ = "search_log"
    __table_args__ = (
        PrimaryKeyConstraint("id", name="pk_search_log"),
        Index("ix_search_log_collection_id", "collection_id"),
        {"comment": "Searches, where logging was switched on."},
    )

    id: Mapped[int] = mapped_column(Identity(always=True), comment="Surrogate key.")
    collection_id: Mapped[int] = mapped_column(
        ForeignKey("ragpg.collection.id", name="fk_search_log_collection", ondelete="CASCADE"),
        comment="The collection searched.",
    )
    index_version_id: Mapped[int | None] = mapped_column(
        comment="The index version searched; no foreign key, so that the log outlives a dropped version."
    )
    query: Mapped[str] = mapped_column(comment="The query's text.")
    principals_hash: Mapped[bytes | None] = mapped_column(comment="Hash of the caller's principals.")
    hits: Mapped[list[Any]] = mapped_column(comment="What was returned, with the ranks of both legs.")
    latencies: Mapped[dict[str, Any]] = mapped_column(
        server_default=_EMPTY_OBJECT, comment="Milliseconds by part."
    )
    degraded: Mapped[list[str]] = mapped_column(
        server_default=_EMPTY_ARRAY, comment="What was given up, and why."
    )
    feedback: Mapped[dict[str, Any] | None] = mapped_column(comment="What the user said about the answer.")
    created_at: Mapped[datetime] = mapped_column(server_default=_NOW, comment="When the search ran.")
