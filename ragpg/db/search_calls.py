"""The SQL search functions as :class:`~ragpg.db.flow.Call`; they share one set of arguments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from ragpg.db import rows
from ragpg.db.flow import Call
from ragpg.types import Fusion, Idf, SearchHits, SearchMode


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchArguments:
    """What can be asked.

    ``embedding`` is a vector literal; ``filter`` and ``chunk_filter`` are jsonpath, bound as untyped text.
    """

    collection: str
    query: str
    embedding: str | None = None
    k: int = 10
    mode: SearchMode = "hybrid"
    principals: Sequence[str] | None = None
    tenant_id: str | None = None
    filter: str | None = None
    chunk_filter: str | None = None
    candidate_k: int = 50
    rrf_k: int = 60
    vector_weight: float = 1.0
    keyword_weight: float = 1.0
    fusion: Fusion = "rrf"
    feedback: int = 0
    expand: str | None = None
    index_version: int | None = None
    idf: Idf = "corpus"

    def parameters(self) -> dict[str, Any]:
        """Name to value; a statement takes those it names."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        if self.principals is not None:
            values["principals"] = list(self.principals)
        return values


def search_hybrid(arguments: SearchArguments) -> Call[SearchHits]:
    """``ragpg.search_hybrid``."""
    return Call(
        """
        select * from ragpg.search_hybrid(
            p_collection => %(collection)s, p_query => %(query)s, p_embedding => %(embedding)s,
            p_k => %(k)s::int,
            p_principals => %(principals)s::text[], p_tenant_id => %(tenant_id)s, p_filter => %(filter)s,
            p_chunk_filter => %(chunk_filter)s, p_candidate_k => %(candidate_k)s::int,
            p_rrf_k => %(rrf_k)s::int,
            p_vector_weight => %(vector_weight)s::float8, p_keyword_weight => %(keyword_weight)s::float8,
            p_fusion => %(fusion)s, p_feedback => %(feedback)s::int, p_expand => %(expand)s,
            p_index_version => %(index_version)s::bigint, p_idf => %(idf)s)
        """,
        arguments.parameters(),
        rows.search_hits,
    )


def search_keyword(arguments: SearchArguments) -> Call[SearchHits]:
    """``ragpg.search_keyword``."""
    return Call(
        """
        select * from ragpg.search_keyword(
            p_collection => %(collection)s, p_query => %(query)s, p_k => %(k)s::int,
            p_principals => %(principals)s::text[], p_tenant_id => %(tenant_id)s, p_filter => %(filter)s,
            p_chunk_filter => %(chunk_filter)s, p_expand => %(expand)s,
            p_index_version => %(index_version)s::bigint, p_idf => %(idf)s)
        """,
        arguments.parameters(),
        rows.search_hits,
    )


def search_vector(arguments: SearchArguments) -> Call[SearchHits]:
    """``ragpg.search_vector``; the query's quoted phrases and exclusions filter."""
    return Call(
        """
        select * from ragpg.search_vector(
            p_collection => %(collection)s, p_embedding => %(embedding)s, p_k => %(k)s::int,
            p_principals => %(principals)s::text[], p_tenant_id => %(tenant_id)s, p_filter => %(filter)s,
            p_chunk_filter => %(chunk_filter)s, p_expand => %(expand)s,
            p_index_version => %(index_version)s::bigint,
            p_query => %(query)s)
        """,
        arguments.parameters(),
        rows.search_hits,
    )


def explain_search(arguments: SearchArguments) -> Call[dict[str, Any]]:
    """``ragpg.explain_search``: how the search of these arguments runs, and what it gives up."""
    return Call(
        """
        select ragpg.explain_search(
            p_collection => %(collection)s, p_query => %(query)s, p_embedding => %(embedding)s,
            p_k => %(k)s::int,
            p_principals => %(principals)s::text[], p_tenant_id => %(tenant_id)s, p_filter => %(filter)s,
            p_chunk_filter => %(chunk_filter)s, p_candidate_k => %(candidate_k)s::int,
            p_rrf_k => %(rrf_k)s::int,
            p_vector_weight => %(vector_weight)s::float8, p_keyword_weight => %(keyword_weight)s::float8,
            p_fusion => %(fusion)s, p_feedback => %(feedback)s::int,
            p_index_version => %(index_version)s::bigint,
            p_mode => %(mode)s, p_idf => %(idf)s)
        """,
        arguments.parameters(),
        rows.scalar,
    )


def find_document(arguments: SearchArguments, external_id: str) -> Call[dict[str, Any]]:
    """``ragpg.find_document``: why a document is not in the result of these arguments."""
    return Call(
        """
        select ragpg.find_document(
            p_collection => %(collection)s, p_external_id => %(external_id)s, p_query => %(query)s,
            p_embedding => %(embedding)s, p_k => %(k)s::int,
            p_principals => %(principals)s::text[], p_tenant_id => %(tenant_id)s, p_filter => %(filter)s,
            p_chunk_filter => %(chunk_filter)s, p_candidate_k => %(candidate_k)s::int,
            p_rrf_k => %(rrf_k)s::int,
            p_vector_weight => %(vector_weight)s::float8, p_keyword_weight => %(keyword_weight)s::float8,
            p_fusion => %(fusion)s, p_feedback => %(feedback)s::int, p_expand => %(expand)s,
            p_index_version => %(index_version)s::bigint,
            p_mode => %(mode)s, p_idf => %(idf)s)
        """,
        arguments.parameters() | {"external_id": external_id},
        rows.scalar,
    )
