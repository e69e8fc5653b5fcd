"""The first schema: tables, then the types, functions, policies and grants of ``sql/frozen/0001``.

Revision: 0001
Follows: nothing
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from pgvector.sqlalchemy import HALFVEC
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, TIMESTAMP, TSVECTOR

from ragpg.db.models.base import REGROLE
from ragpg.db.sql_loader import load_sql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

TEXT_ARRAY = ARRAY(sa.Text())
TIMESTAMPTZ = TIMESTAMP(timezone=True)
NOW = sa.text("now()")
EMPTY_OBJECT = sa.text("'{}'::jsonb")
EMPTY_ARRAY = sa.text("'{}'::text[]")
TABLES = (
    "collection",
    "document",
    "index_version",
    "chunk",
    "embedding",
    "embedding_cache",
    "lexeme_stat",
    "role_principal",
    "job",
    "source_table",
    "search_log",
)


def upgrade() -> None:
    collections_and_documents()
    index_versions()
    caches_and_statistics()
    bound_roles()
    queues_and_logs()
    describe_version_table()
    for table in TABLES:
        op.execute(f"alter table ragpg.{table} enable row level security")
    for statements in load_sql(revision):
        op.execute(statements)


def downgrade() -> None:
    raise NotImplementedError(
        "this is the first revision: `ragpg uninstall` removes the schema with its documents"
    )


def collections_and_documents() -> None:
    op.create_table(
        "collection",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False, comment="Surrogate key."),
        sa.Column("name", sa.Text(), nullable=False, comment="The name callers use; unique."),
        sa.Column(
            "language",
            sa.Text(),
            server_default=sa.text("'english'"),
            nullable=False,
            comment="Text search configuration of documents that name none (text: pg_upgrade refuses regconfig).",
        ),
        sa.Column(
            "chunking",
            JSONB,
            server_default=EMPTY_OBJECT,
            nullable=False,
            comment="Chunking strategy and parameters of new index versions.",
        ),
        sa.Column(
            "default_acl",
            TEXT_ARRAY,
            server_default=sa.text("'{public}'::text[]"),
            nullable=False,
            comment="ACL of new documents that bring none.",
        ),
        sa.Column(
            "bm25_k1",
            sa.Double(),
            server_default=sa.text("1.2"),
            nullable=False,
            comment="BM25 term frequency saturation.",
        ),
        sa.Column(
            "bm25_b",
            sa.Double(),
            server_default=sa.text("0.75"),
            nullable=False,
            comment="BM25 length normalisation, 0 to 1.",
        ),
        sa.Column(
            "active_index_version_id",
            sa.BigInteger(),
            comment="The index version that searches use; changed by activate_index_version.",
        ),
        sa.Column(
            "created_at",
            TIMESTAMPTZ,
            server_default=NOW,
            nullable=False,
            comment="When the collection was created.",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_collection"),
        sa.UniqueConstraint("name", name="uq_collection_name"),
        schema="ragpg",
        comment="A named set of documents that share a language, a chunking and an embedding model.",
    )
    op.create_table(
        "document",
        sa.Column(
            "id",
            sa.Uuid(),
            nullable=False,
            comment="UUIDv8 of collection name, tenant_id and external_id; a client can compute it too.",
        ),
        sa.Column("collection_id", sa.BigInteger(), nullable=False, comment="The collection it belongs to."),
        sa.Column(
            "tenant_id",
            sa.Text(),
            server_default=sa.text("''"),
            nullable=False,
            comment="Hard isolation: a search sees one tenant. '' is the default tenant.",
        ),
        sa.Column(
            "external_id",
            sa.Text(),
            nullable=False,
            comment="The caller's own key of the document, unique in collection and tenant.",
        ),
        sa.Column("title", sa.Text(), comment="Title, shown with hits."),
        sa.Column("uri", sa.Text(), comment="Where the document can be opened."),
        sa.Column("media_type", sa.Text(), comment="Media type of the source, e.g. text/markdown."),
        sa.Column(
            "language",
            sa.Text(),
            nullable=False,
            comment="Text search configuration that its chunks were analysed with.",
        ),
        sa.Column(
            "metadata",
            JSONB,
            server_default=EMPTY_OBJECT,
            nullable=False,
            comment="Free attributes for jsonpath filters (p_filter).",
        ),
        sa.Column(
            "acl",
            TEXT_ARRAY,
            nullable=False,
            comment="Principals that may read it (user:…, group:…, public) with all its chunks.",
        ),
        sa.Column(
            "content", sa.Text(), nullable=False, comment="The parsed text that all offsets point into."
        ),
        sa.Column("content_hash", sa.LargeBinary(), nullable=False, comment="SHA-256 of the UTF-8 content."),
        sa.Column(
            "version",
            sa.Integer(),
            server_default=sa.text("1"),
            nullable=False,
            comment="Counts changes of the content, from 1.",
        ),
        sa.Column(
            "created_at",
            TIMESTAMPTZ,
            server_default=NOW,
            nullable=False,
            comment="When it was first written.",
        ),
        sa.Column(
            "updated_at",
            TIMESTAMPTZ,
            server_default=NOW,
            nullable=False,
            comment="When content or attributes last changed.",
        ),
        sa.Column(
            "indexed_at",
            TIMESTAMPTZ,
            comment="When all its chunks had what the search needs; null while vectors are pending.",
        ),
        sa.Column("expires_at", TIMESTAMPTZ, comment="From then on no search returns it."),
        sa.ForeignKeyConstraint(
            ["collection_id"], ["ragpg.collection.id"], name="fk_document_collection", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_document"),
        schema="ragpg",
        comment="A document: its text, who may read it, and what describes it.",
    )
    op.create_index("ix_document_acl", "document", ["acl"], schema="ragpg", postgresql_using="gin")
    op.create_index(
        "ix_document_collection_id", "document", ["collection_id", "tenant_id", "external_id"], schema="ragpg"
    )
    op.create_index("ix_document_language", "document", ["collection_id", "language"], schema="ragpg")
    op.create_index(
        "ix_document_metadata",
        "document",
        ["metadata"],
        schema="ragpg",
        postgresql_using="gin",
        postgresql_ops={"metadata": "jsonb_path_ops"},
    )
    op.create_index(
        "ix_document_unindexed",
        "document",
        ["collection_id"],
        schema="ragpg",
        postgresql_where=sa.text("indexed_at is null"),
    )


def index_versions() -> None:
    op.create_table(
        "index_version",
        sa.Column(
            "id",
            sa.BigInteger(),
            sa.Identity(always=True),
            nullable=False,
            comment="Surrogate key; names the partitions chunk_v<id>.",
        ),
        sa.Column("collection_id", sa.BigInteger(), nullable=False, comment="The collection it indexes."),
        sa.Column(
            "chunking", JSONB, nullable=False, comment="Chunking strategy and parameters of this version."
        ),
        sa.Column("embedding_provider", sa.Text(), comment="Embedding provider; null: keyword search only."),
        sa.Column("embedding_model", sa.Text(), comment="Embedding model; null: keyword search only."),
        sa.Column("dimensions", sa.Integer(), comment="Length of the vectors; null: keyword search only."),
        sa.Column(
            "query_prefix",
            sa.Text(),
            server_default=sa.text("''"),
            nullable=False,
            comment="Put before a query when it is embedded.",
        ),
        sa.Column(
            "document_prefix",
            sa.Text(),
            server_default=sa.text("''"),
            nullable=False,
            comment="Put before a chunk when it is embedded.",
        ),
        sa.Column(
            "status",
            sa.Text(),
            server_default=sa.text("'building'"),
            nullable=False,
            comment="building, active or retired.",
        ),
        sa.Column(
            "created_at",
            TIMESTAMPTZ,
            server_default=NOW,
            nullable=False,
            comment="When the version was created.",
        ),
        sa.Column("activated_at", TIMESTAMPTZ, comment="When it was last made the active one."),
        sa.Column(
            "chunk_count", sa.BigInteger(), comment="Statistics: number of chunks at the last refresh."
        ),
        sa.Column(
            "average_length",
            sa.Double(),
            comment="Statistics: average number of lexemes of a chunk at the last refresh.",
        ),
        sa.Column(
            "document_count",
            sa.BigInteger(),
            comment="Statistics: number of documents with chunks at the last refresh.",
        ),
        sa.Column(
            "document_bytes",
            sa.BigInteger(),
            comment="Statistics: length of their text at the last refresh, in bytes of UTF-8.",
        ),
        sa.Column(
            "statistics_k1", sa.Double(), comment="Statistics: the k1 that max_impact was computed with."
        ),
        sa.Column(
            "statistics_b", sa.Double(), comment="Statistics: the b that max_impact was computed with."
        ),
        sa.Column("statistics_at", TIMESTAMPTZ, comment="Statistics: when they were last refreshed."),
        sa.Column(
            "statistics_horizon",
            TIMESTAMPTZ,
            comment="Statistics: chunks written from then on may be missing from them.",
        ),
        sa.CheckConstraint("status in ('building', 'active', 'retired')", name="ck_index_version_status"),
        sa.ForeignKeyConstraint(
            ["collection_id"], ["ragpg.collection.id"], name="fk_index_version_collection", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_index_version"),
        schema="ragpg",
        comment="One way to chunk and embed a collection; several live side by side.",
    )
    op.create_index("ix_index_version_collection_id", "index_version", ["collection_id"], schema="ragpg")
    op.create_table(
        "chunk",
        sa.Column(
            "index_version_id",
            sa.BigInteger(),
            nullable=False,
            comment="The index version that cut it; partition key.",
        ),
        sa.Column("document_id", sa.Uuid(), nullable=False, comment="The document it is a piece of."),
        sa.Column(
            "id",
            sa.Uuid(),
            nullable=False,
            comment="UUIDv8 of document, content hash and repetition: an unchanged chunk keeps its id.",
        ),
        sa.Column("ordinal", sa.Integer(), nullable=False, comment="Position in the document, from 0."),
        sa.Column(
            "content",
            sa.Text(),
            nullable=False,
            comment="Its text: document.content from char_start to char_end.",
        ),
        sa.Column(
            "heading",
            sa.Text(),
            server_default=sa.text("''"),
            nullable=False,
            comment="Path of headings above it; embedded and indexed with the content.",
        ),
        sa.Column(
            "section_path",
            TEXT_ARRAY,
            server_default=EMPTY_ARRAY,
            nullable=False,
            comment="The headings as an array.",
        ),
        sa.Column(
            "kind",
            sa.Text(),
            server_default=sa.text("'text'"),
            nullable=False,
            comment="text, table or code.",
        ),
        sa.Column(
            "char_start", sa.Integer(), nullable=False, comment="First character in document.content, from 0."
        ),
        sa.Column("char_end", sa.Integer(), nullable=False, comment="The character after the last one."),
        sa.Column(
            "parent_start",
            sa.Integer(),
            comment="First character of the parent (section) in document.content.",
        ),
        sa.Column("parent_end", sa.Integer(), comment="The character after the parent's last one."),
        sa.Column("page_start", sa.Integer(), comment="First page, from 1, where the format has pages."),
        sa.Column("page_end", sa.Integer(), comment="Last page, where the format has pages."),
        sa.Column(
            "token_count",
            sa.Integer(),
            comment="Number of tokens as the chunker counted them, heading included.",
        ),
        sa.Column(
            "metadata",
            JSONB,
            server_default=EMPTY_OBJECT,
            nullable=False,
            comment="Free attributes for jsonpath filters (p_chunk_filter).",
        ),
        sa.Column("content_tsv", TSVECTOR(), nullable=False, comment="Heading and content, analysed."),
        sa.Column(
            "lexeme_count",
            sa.Integer(),
            nullable=False,
            comment="Length for BM25: number of lexeme positions.",
        ),
        sa.Column(
            "written_at",
            TIMESTAMPTZ,
            server_default=NOW,
            nullable=False,
            comment="When the row was last written; newer than the statistics horizon: not in them.",
        ),
        sa.CheckConstraint("kind in ('text', 'table', 'code')", name="ck_chunk_kind"),
        sa.ForeignKeyConstraint(
            ["document_id"], ["ragpg.document.id"], name="fk_chunk_document", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["index_version_id"], ["ragpg.index_version.id"], name="fk_chunk_index_version"
        ),
        sa.PrimaryKeyConstraint("index_version_id", "document_id", "id", name="pk_chunk"),
        schema="ragpg",
        comment="A piece of a document as one index version cut it; one partition per index version.",
        postgresql_partition_by="list (index_version_id)",
    )
    op.create_index("ix_chunk_document_id", "chunk", ["document_id"], schema="ragpg")
    # Inline, not in TOAST, keyword searches are three to four times faster; partitions inherit it.
    op.execute("alter table ragpg.chunk alter column content_tsv set storage main")
    op.create_table(
        "embedding",
        sa.Column(
            "index_version_id",
            sa.BigInteger(),
            nullable=False,
            comment="The chunk's index version; partition key.",
        ),
        sa.Column("document_id", sa.Uuid(), nullable=False, comment="The chunk's document."),
        sa.Column("chunk_id", sa.Uuid(), nullable=False, comment="The chunk."),
        sa.Column(
            "embedding",
            HALFVEC(),
            nullable=False,
            comment="The vector, in half precision, of the index version's dimensions.",
        ),
        sa.ForeignKeyConstraint(
            ["index_version_id", "document_id", "chunk_id"],
            ["ragpg.chunk.index_version_id", "ragpg.chunk.document_id", "ragpg.chunk.id"],
            name="fk_embedding_chunk",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("index_version_id", "document_id", "chunk_id", name="pk_embedding"),
        schema="ragpg",
        comment="The vector of a chunk; one partition, and one HNSW index, per index version.",
        postgresql_partition_by="list (index_version_id)",
    )


def caches_and_statistics() -> None:
    op.create_table(
        "embedding_cache",
        sa.Column("model_key", sa.Text(), nullable=False, comment="provider:model:dimensions."),
        sa.Column(
            "input_hash",
            sa.LargeBinary(),
            nullable=False,
            comment="SHA-256 of the UTF-8 input, prefix included.",
        ),
        sa.Column("embedding", HALFVEC(), nullable=False, comment="The vector, in half precision."),
        sa.Column(
            "last_used_at",
            TIMESTAMPTZ,
            server_default=NOW,
            nullable=False,
            comment="When it was last stored.",
        ),
        sa.PrimaryKeyConstraint("model_key", "input_hash", name="pk_embedding_cache"),
        schema="ragpg",
        comment="Vectors by model and exact input, so that no text is embedded twice.",
    )
    op.create_table(
        "lexeme_stat",
        sa.Column("index_version_id", sa.BigInteger(), nullable=False, comment="The index version counted."),
        sa.Column("lexeme", sa.Text(), nullable=False, comment="The lexeme as it stands in content_tsv."),
        sa.Column(
            "document_frequency", sa.BigInteger(), nullable=False, comment="Number of chunks that hold it."
        ),
        sa.Column(
            "max_impact",
            sa.Double(),
            nullable=False,
            comment="Largest BM25 term weight (without idf) in any chunk: an upper bound.",
        ),
        sa.ForeignKeyConstraint(
            ["index_version_id"],
            ["ragpg.index_version.id"],
            name="fk_lexeme_stat_index_version",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("index_version_id", "lexeme", name="pk_lexeme_stat"),
        schema="ragpg",
        comment="What BM25 needs to know of a lexeme, refreshed like ANALYZE.",
    )


def bound_roles() -> None:
    op.create_table(
        "role_principal",
        sa.Column(
            "role",
            REGROLE(),
            nullable=False,
            comment="The role; as regrole it follows a renamed role, and a dump holds the name.",
        ),
        sa.Column("tenant_id", sa.Text(), nullable=False, comment="The one tenant it may search."),
        sa.Column(
            "principals",
            TEXT_ARRAY,
            nullable=False,
            comment="The principals its sessions have at the most.",
        ),
        sa.Column(
            "created_at", TIMESTAMPTZ, server_default=NOW, nullable=False, comment="When the role was bound."
        ),
        sa.PrimaryKeyConstraint("role", name="pk_role_principal"),
        schema="ragpg",
        comment="What a role is bound to; written by grant_access and revoke_access only.",
    )


def queues_and_logs() -> None:
    op.create_table(
        "job",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False, comment="Surrogate key."),
        sa.Column("kind", sa.Text(), nullable=False, comment="What to do."),
        sa.Column("key", sa.Text(), nullable=False, comment="What to do it to."),
        sa.Column(
            "payload", JSONB, server_default=EMPTY_OBJECT, nullable=False, comment="Parameters of the work."
        ),
        sa.Column(
            "attempts",
            sa.Integer(),
            server_default=sa.text("0"),
            nullable=False,
            comment="How often it was started.",
        ),
        sa.Column(
            "run_after", TIMESTAMPTZ, server_default=NOW, nullable=False, comment="Not to be started before."
        ),
        sa.Column("lease_until", TIMESTAMPTZ, comment="A worker has it until then."),
        sa.Column("last_error", sa.Text(), comment="Why the last attempt failed."),
        sa.Column(
            "created_at", TIMESTAMPTZ, server_default=NOW, nullable=False, comment="When it was queued."
        ),
        sa.PrimaryKeyConstraint("id", name="pk_job"),
        schema="ragpg",
        comment="Work to do later, taken by a worker under a lease.",
    )
    op.create_table(
        "source_table",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False, comment="Surrogate key."),
        sa.Column(
            "collection_id",
            sa.BigInteger(),
            nullable=False,
            comment="The collection its rows become documents of.",
        ),
        sa.Column("relation", sa.Text(), nullable=False, comment="Qualified, quoted name of the table."),
        sa.Column("key_columns", TEXT_ARRAY, nullable=False, comment="Columns that make external_id."),
        sa.Column(
            "expressions", JSONB, nullable=False, comment="SQL expressions for content, title, acl and so on."
        ),
        sa.Column(
            "created_at", TIMESTAMPTZ, server_default=NOW, nullable=False, comment="When it was attached."
        ),
        sa.ForeignKeyConstraint(
            ["collection_id"], ["ragpg.collection.id"], name="fk_source_table_collection", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_source_table"),
        schema="ragpg",
        comment="An application's own table that is kept searchable.",
    )
    op.create_index("ix_source_table_collection_id", "source_table", ["collection_id"], schema="ragpg")
    op.create_table(
        "search_log",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False, comment="Surrogate key."),
        sa.Column("collection_id", sa.BigInteger(), nullable=False, comment="The collection searched."),
        sa.Column(
            "index_version_id",
            sa.BigInteger(),
            comment="The index version searched; no foreign key, so that the log outlives a dropped version.",
        ),
        sa.Column("query", sa.Text(), nullable=False, comment="The query's text."),
        sa.Column("principals_hash", sa.LargeBinary(), comment="Hash of the caller's principals."),
        sa.Column("hits", JSONB, nullable=False, comment="What was returned, with the ranks of both legs."),
        sa.Column(
            "latencies", JSONB, server_default=EMPTY_OBJECT, nullable=False, comment="Milliseconds by part."
        ),
        sa.Column(
            "degraded",
            TEXT_ARRAY,
            server_default=EMPTY_ARRAY,
            nullable=False,
            comment="What was given up, and why.",
        ),
        sa.Column("feedback", JSONB, comment="What the user said about the answer."),
        sa.Column(
            "created_at", TIMESTAMPTZ, server_default=NOW, nullable=False, comment="When the search ran."
        ),
        sa.ForeignKeyConstraint(
            ["collection_id"], ["ragpg.collection.id"], name="fk_search_log_collection", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_search_log"),
        schema="ragpg",
        comment="Searches, where logging was switched on.",
    )
    op.create_index("ix_search_log_collection_id", "search_log", ["collection_id"], schema="ragpg")


def describe_version_table() -> None:
    op.execute(
        "comment on table ragpg.alembic_version is 'The revision this schema is at; `ragpg migrate` changes it.'"
    )
    op.execute("comment on column ragpg.alembic_version.version_num is 'The revision.'")
    op.execute("alter table ragpg.alembic_version enable row level security")
