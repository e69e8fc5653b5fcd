"""The SQL functions as Python functions: each returns a :class:`~ragpg.db.flow.Call` and does no I/O.

The four search functions are in :mod:`ragpg.db.search_calls`. A keyword argument has the SQL parameter's
name without ``p_``. Vectors travel as untyped text literals, so that neither pgvector's schema nor a type
registration on the connection is needed.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from ragpg.db import rows
from ragpg.db.flow import Call
from ragpg.errors import InvalidArgument
from ragpg.types import Chunk, CollectionStats, UpsertResult


def vector_literal(vector: Sequence[float]) -> str:
    """Write a vector as pgvector reads it.

    Parameters
    ----------
    vector
        Finite numbers.

    Returns
    -------
    str
        ``[0.1,0.2]``.

    Raises
    ------
    InvalidArgument
        Where the vector is empty or holds NaN or an infinity.
    """
    numbers = [float(number) for number in vector]
    if not numbers or not all(map(math.isfinite, numbers)):
        raise InvalidArgument("a vector needs at least one number, and every number finite")
    return f"[{','.join(map(repr, numbers))}]"


def _vector_array(vectors: Sequence[str | None]) -> str:
    return "{" + ",".join("NULL" if vector is None else f'"{vector}"' for vector in vectors) + "}"


def _json(value: Any, name: str) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InvalidArgument(f"{name} can't be stored as JSON: {error}") from error
    if "\\u0000" in text:
        raise InvalidArgument(f"{name} holds a NUL character, which PostgreSQL can't store")
    return text


def create_collection(
    name: str,
    *,
    language: str,
    chunking: Mapping[str, Any],
    default_acl: Sequence[str],
    embedding_provider: str | None,
    embedding_model: str | None,
    embedding_dimensions: int | None,
    query_prefix: str,
    document_prefix: str,
) -> Call[int]:
    """``ragpg.create_collection``: the new collection's id."""
    return Call(
        """
        select ragpg.create_collection(
            p_name => %(name)s, p_language => %(language)s, p_chunking => %(chunking)s::jsonb,
            p_default_acl => %(default_acl)s::text[], p_embedding_provider => %(embedding_provider)s,
            p_embedding_model => %(embedding_model)s, p_embedding_dimensions => %(embedding_dimensions)s::int,
            p_query_prefix => %(query_prefix)s, p_document_prefix => %(document_prefix)s)
        """,
        {
            "name": name,
            "language": language,
            "chunking": _json(dict(chunking), "chunking"),
            "default_acl": list(default_acl),
            "embedding_provider": embedding_provider,
            "embedding_model": embedding_model,
            "embedding_dimensions": embedding_dimensions,
            "query_prefix": query_prefix,
            "document_prefix": document_prefix,
        },
        rows.scalar,
        repeatable=False,
    )


def drop_collection(name: str) -> Call[None]:
    """``ragpg.drop_collection``."""
    return Call(
        "select ragpg.drop_collection(p_name => %(name)s)", {"name": name}, rows.nothing, repeatable=False
    )


def upsert_document(
    collection: str,
    external_id: str,
    content: str,
    *,
    title: str | None,
    uri: str | None,
    media_type: str | None,
    language: str | None,
    metadata: Mapping[str, Any],
    acl: Sequence[str] | None,
    tenant_id: str | None,
    expires_at: datetime | None,
    chunks: Sequence[Chunk],
    embeddings: Sequence[str | None] | None,
    index_version: int,
) -> Call[UpsertResult]:
    """``ragpg.upsert_document`` with chunks.

    ``embeddings`` are vector literals in the order of the chunks; ``None`` keeps the vector that is stored.
    """
    return Call(
        """
        select * from ragpg.upsert_document(
            p_collection => %(collection)s, p_external_id => %(external_id)s, p_content => %(content)s,
            p_title => %(title)s,
            p_uri => %(uri)s, p_media_type => %(media_type)s, p_language => %(language)s,
            p_metadata => %(metadata)s::jsonb,
            p_acl => %(acl)s::text[], p_tenant_id => %(tenant_id)s,
            p_expires_at => %(expires_at)s::timestamptz,
            p_chunks => %(chunks)s::jsonb, p_embeddings => %(embeddings)s,
            p_index_version => %(index_version)s::bigint)
        """,
        {
            "collection": collection,
            "external_id": external_id,
            "content": content,
            "title": title,
            "uri": uri,
            "media_type": media_type,
            "language": language,
            "metadata": _json(dict(metadata), "metadata"),
            "acl": None if acl is None else list(acl),
            "tenant_id": tenant_id,
            "expires_at": expires_at,
            "chunks": _json([_chunk(chunk) for chunk in chunks], "chunks"),
            "embeddings": None if embeddings is None else _vector_array(embeddings),
            "index_version": index_version,
        },
        rows.upsert_result,
    )


def _chunk(chunk: Chunk) -> dict[str, Any]:
    return {
        "char_start": chunk.char_start,
        "char_end": chunk.char_end,
        "heading": chunk.heading,
        "section_path": list(chunk.section_path),
        "kind": chunk.kind,
        "parent_start": chunk.parent_start,
        "parent_end": chunk.parent_end,
        "page_start": chunk.page_start,
        "page_end": chunk.page_end,
        "token_count": chunk.token_count,
        "metadata": dict(chunk.metadata),
    }


def delete_document(collection: str, external_id: str, *, tenant_id: str | None) -> Call[bool]:
    """``ragpg.delete_document``: whether there was one."""
    return Call(
        """
        select ragpg.delete_document(
            p_collection => %(collection)s, p_external_id => %(external_id)s, p_tenant_id => %(tenant_id)s)
        """,
        {"collection": collection, "external_id": external_id, "tenant_id": tenant_id},
        rows.scalar,
        repeatable=False,
    )


def set_acl(collection: str, external_id: str, acl: Sequence[str], *, tenant_id: str | None) -> Call[bool]:
    """``ragpg.set_acl``."""
    return Call(
        """
        select ragpg.set_acl(
            p_collection => %(collection)s, p_external_id => %(external_id)s, p_acl => %(acl)s::text[],
            p_tenant_id => %(tenant_id)s)
        """,
        {"collection": collection, "external_id": external_id, "acl": list(acl), "tenant_id": tenant_id},
        rows.scalar,
    )


def collection_stats(collection: str | None = None) -> Call[list[CollectionStats]]:
    """``ragpg.collection_stats`` of one collection, or of all."""
    return Call(
        "select * from ragpg.collection_stats(p_collection => %(collection)s)",
        {"collection": collection},
        rows.collection_stats,
    )


def refresh_statistics(collection: str) -> Call[None]:
    """``ragpg.refresh_statistics``."""
    return Call(
        "select ragpg.refresh_statistics(p_collection => %(collection)s)",
        {"collection": collection},
        rows.nothing,
    )


def index_version(collection: str, index_version: int | None = None) -> Call[rows.IndexVersion]:
    """``ragpg._index_version``: the active one, or the one asked for."""
    return Call(
        """
        select * from ragpg._index_version(
            p_collection => %(collection)s, p_index_version => %(index_version)s::bigint)
        """,
        {"collection": collection, "index_version": index_version},
        rows.index_version,
    )


def document_states(
    collection: str, external_ids: Sequence[str], *, tenant_id: str | None, index_version: int
) -> Call[dict[str, rows.DocumentState]]:
    """``ragpg._document_states``: those of the documents that are stored, by external id."""
    return Call(
        """
        select * from ragpg._document_states(
            p_collection => %(collection)s, p_external_ids => %(external_ids)s::text[],
            p_tenant_id => %(tenant_id)s,
            p_index_version => %(index_version)s::bigint)
        """,
        {
            "collection": collection,
            "external_ids": list(external_ids),
            "tenant_id": tenant_id,
            "index_version": index_version,
        },
        rows.document_states,
    )


def chunk_states(
    collection: str, document_id: UUID, *, index_version: int
) -> Call[dict[UUID, rows.ChunkState]]:
    """``ragpg._chunk_states``: a document's stored chunks by id."""
    return Call(
        """
        select * from ragpg._chunk_states(
            p_collection => %(collection)s, p_document_id => %(document_id)s,
            p_index_version => %(index_version)s::bigint)
        """,
        {"collection": collection, "document_id": document_id, "index_version": index_version},
        rows.chunk_states,
    )


def cached_embeddings(model_key: str, input_hashes: Sequence[bytes]) -> Call[dict[bytes, str]]:
    """``ragpg._cached_embeddings``: the vectors that are there, as literals by input hash."""
    return Call(
        """
        select input_hash, embedding::text from ragpg._cached_embeddings(
            p_model_key => %(model_key)s, p_input_hashes => %(input_hashes)s::bytea[])
        """,
        {"model_key": model_key, "input_hashes": list(input_hashes)},
        rows.cached_embeddings,
    )


def cache_embeddings(model_key: str, input_hashes: Sequence[bytes], embeddings: Sequence[str]) -> Call[None]:
    """``ragpg._cache_embeddings``."""
    return Call(
        """
        select ragpg._cache_embeddings(
            p_model_key => %(model_key)s, p_input_hashes => %(input_hashes)s::bytea[],
            p_embeddings => %(embeddings)s)
        """,
        {"model_key": model_key, "input_hashes": list(input_hashes), "embeddings": _vector_array(embeddings)},
        rows.nothing,
    )


def pending_chunks(collection: str, *, limit: int, index_version: int) -> Call[list[rows.PendingChunk]]:
    """``ragpg._pending_chunks``: chunks without a vector."""
    return Call(
        """
        select * from ragpg._pending_chunks(
            p_collection => %(collection)s, p_limit => %(limit)s::int,
            p_index_version => %(index_version)s::bigint)
        """,
        {"collection": collection, "limit": limit, "index_version": index_version},
        rows.pending_chunks,
    )


def set_embeddings(
    collection: str,
    document_ids: Sequence[UUID],
    chunk_ids: Sequence[UUID],
    embeddings: Sequence[str],
    *,
    index_version: int,
) -> Call[int]:
    """``ragpg._set_embeddings``: how many chunks were there to take their vector."""
    return Call(
        """
        select ragpg._set_embeddings(
            p_collection => %(collection)s, p_document_ids => %(document_ids)s::uuid[],
            p_chunk_ids => %(chunk_ids)s::uuid[], p_embeddings => %(embeddings)s,
            p_index_version => %(index_version)s::bigint)
        """,
        {
            "collection": collection,
            "document_ids": list(document_ids),
            "chunk_ids": list(chunk_ids),
            "embeddings": _vector_array(embeddings),
            "index_version": index_version,
        },
        rows.scalar,
    )


def external_ids(collection: str, *, prefix_uri: str, tenant_id: str | None) -> Call[list[str]]:
    """``ragpg._external_ids``: documents of the tenant whose URI begins with the prefix."""
    return Call(
        """
        select * from ragpg._external_ids(
            p_collection => %(collection)s, p_prefix_uri => %(prefix_uri)s, p_tenant_id => %(tenant_id)s)
        """,
        {"collection": collection, "prefix_uri": prefix_uri, "tenant_id": tenant_id},
        rows.column,
    )
