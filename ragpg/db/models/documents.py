"""Collections, their documents, and what searches read: index versions, chunks, vectors."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from pgvector.sqlalchemy import HALFVEC
from sqlalchemy import (
    CheckConstraint,
    ForeignKey,
    ForeignKeyConstraint,
    Identity,
    Index,
    PrimaryKeyConstraint,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects.postgresql import TSVECTOR
from sqlalchemy.orm import Mapped, mapped_column, relationship

from .base import EMPTY_ARRAY, EMPTY_OBJECT, NOW, Base, integer


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
        server_default=EMPTY_OBJECT, comment="Chunking strategy and parameters of new index versions."
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
        server_default=NOW, comment="When the collection was created."
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
        "metadata", server_default=EMPTY_OBJECT, comment="Free attributes for jsonpath filters (p_filter)."
    )
    acl: Mapped[list[str]] = mapped_column(
        comment="Principals that may read it (user:…, group:…, public) with all its chunks."
    )
    content: Mapped[str] = mapped_column(comment="The parsed text that all offsets point into.")
    content_hash: Mapped[bytes] = mapped_column(comment="SHA-256 of the UTF-8 content.")
    version: Mapped[int] = integer("Counts changes of the content, from 1.", "1")
    created_at: Mapped[datetime] = mapped_column(server_default=NOW, comment="When it was first written.")
    updated_at: Mapped[datetime] = mapped_column(
        server_default=NOW, comment="When content or attributes last changed."
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
    dimensions: Mapped[int | None] = integer("Length of the vectors; null: keyword search only.")
    query_prefix: Mapped[str] = mapped_column(
        server_default=text("''"), comment="Put before a query when it is embedded."
    )
    document_prefix: Mapped[str] = mapped_column(
        server_default=text("''"), comment="Put before a chunk when it is embedded."
    )
    status: Mapped[str] = mapped_column(
        server_default=text("'building'"), comment="building, active or retired."
    )
    created_at: Mapped[datetime] = mapped_column(server_default=NOW, comment="When the version was created.")
    activated_at: Mapped[datetime | None] = mapped_column(comment="When it was last made the active one.")
    chunk_count: Mapped[int | None] = mapped_column(
        comment="Statistics: number of chunks at the last refresh."
    )
    average_length: Mapped[float | None] = mapped_column(
        comment="Statistics: average number of lexemes of a chunk at the last refresh."
    )
    document_count: Mapped[int | None] = mapped_column(
        comment="Statistics: number of documents with chunks at the last refresh."
    )
    document_bytes: Mapped[int | None] = mapped_column(
        comment="Statistics: length of their text at the last refresh, in bytes of UTF-8."
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
    ordinal: Mapped[int] = integer("Position in the document, from 0.")
    content: Mapped[str] = mapped_column(comment="Its text: document.content from char_start to char_end.")
    heading: Mapped[str] = mapped_column(
        server_default=text("''"), comment="Path of headings above it; embedded and indexed with the content."
    )
    section_path: Mapped[list[str]] = mapped_column(
        server_default=EMPTY_ARRAY, comment="The headings as an array."
    )
    kind: Mapped[str] = mapped_column(server_default=text("'text'"), comment="text, table or code.")
    char_start: Mapped[int] = integer("First character in document.content, from 0.")
    char_end: Mapped[int] = integer("The character after the last one.")
    parent_start: Mapped[int | None] = integer("First character of the parent (section) in document.content.")
    parent_end: Mapped[int | None] = integer("The character after the parent's last one.")
    page_start: Mapped[int | None] = integer("First page, from 1, where the format has pages.")
    page_end: Mapped[int | None] = integer("Last page, where the format has pages.")
    token_count: Mapped[int | None] = integer(
        "Number of tokens as the chunker counted them, heading included."
    )
    metadata_: Mapped[dict[str, Any]] = mapped_column(
        "metadata",
        server_default=EMPTY_OBJECT,
        comment="Free attributes for jsonpath filters (p_chunk_filter).",
    )
    content_tsv: Mapped[Any] = mapped_column(
        TSVECTOR, nullable=False, comment="Heading and content, analysed."
    )
    lexeme_count: Mapped[int] = integer("Length for BM25: number of lexeme positions.")
    written_at: Mapped[datetime] = mapped_column(
        server_default=NOW,
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
