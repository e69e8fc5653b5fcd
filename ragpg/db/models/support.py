"""What keeps searches and ingestion going: the cache of vectors, term statistics, bound roles, jobs, source tables, the log."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pgvector.sqlalchemy import HALFVEC
from sqlalchemy import (
    ForeignKey,
    Identity,
    Index,
    PrimaryKeyConstraint,
)
from sqlalchemy.orm import Mapped, mapped_column

from .base import EMPTY_ARRAY, EMPTY_OBJECT, NOW, REGROLE, Base, integer


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
    last_used_at: Mapped[datetime] = mapped_column(server_default=NOW, comment="When it was last stored.")


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


class RolePrincipal(Base):
    """What a role is bound to; written by ``grant_access`` and ``revoke_access`` only."""

    __tablename__ = "role_principal"
    __table_args__ = (
        PrimaryKeyConstraint("role", name="pk_role_principal"),
        {"comment": "What a role is bound to; written by grant_access and revoke_access only."},
    )

    role: Mapped[str] = mapped_column(
        REGROLE, comment="The role; as regrole it follows a renamed role, and a dump holds the name."
    )
    tenant_id: Mapped[str] = mapped_column(comment="The one tenant it may search.")
    principals: Mapped[list[str]] = mapped_column(comment="The principals its sessions have at the most.")
    created_at: Mapped[datetime] = mapped_column(server_default=NOW, comment="When the role was bound.")


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
        server_default=EMPTY_OBJECT, comment="Parameters of the work."
    )
    attempts: Mapped[int] = integer("How often it was started.", "0")
    run_after: Mapped[datetime] = mapped_column(server_default=NOW, comment="Not to be started before.")
    lease_until: Mapped[datetime | None] = mapped_column(comment="A worker has it until then.")
    last_error: Mapped[str | None] = mapped_column(comment="Why the last attempt failed.")
    created_at: Mapped[datetime] = mapped_column(server_default=NOW, comment="When it was queued.")


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
    created_at: Mapped[datetime] = mapped_column(server_default=NOW, comment="When it was attached.")


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
        server_default=EMPTY_OBJECT, comment="Milliseconds by part."
    )
    degraded: Mapped[list[str]] = mapped_column(
        server_default=EMPTY_ARRAY, comment="What was given up, and why."
    )
    feedback: Mapped[dict[str, Any] | None] = mapped_column(comment="What the user said about the answer.")
    created_at: Mapped[datetime] = mapped_column(server_default=NOW, comment="When the search ran.")
