# Generated from async_client.py by tools/unasync.py: edit that file and run the tool again.
"""The sync client."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragpg.client import flows
from ragpg.client.sync_documents import Documents
from ragpg.db.search_calls import SearchArguments
from ragpg.retrieval.filters import compile_filter
from ragpg.types import Answer, Fusion, Idf, SearchHits, SearchMode


class Client(Documents):
    """A collection of documents in Postgres, searched and answered from.

    The constructor does no I/O. Of the three ways to reach the database exactly one is used: ``url`` (a pool is opened
    on first use and closed with the client), ``pool`` (stays open), or ``connection``: its transaction is the
    caller's, and it is never committed, rolled back or closed here.

    Parameters
    ----------
    url
        A ``postgresql://`` URL or libpq string. Where nothing is given: ``RAGPG_DATABASE_URL``, else libpq's own
        variables and defaults. PgBouncer in transaction mode is fine.
    pool
        A pool of psycopg_pool.
    connection
        A connection of psycopg.
    embedder
        Insist on this embedder: a collection of another one is then an ``EmbedderMismatch``. By default each
        collection's own is used, as the database remembers it.
    chat_model
        The model that writes answers; ``none`` for extractive ones. By default ``RAGPG_CHAT_MODEL``.
    settings
        Instead of those read from the environment.

    Examples
    --------
    >>> with Client("postgresql://localhost/app") as rag:  # doctest: +SKIP
    ...     rag.create_collection("handbook", embedder="local")
    ...     rag.ingest("handbook", "docs/", acl=["group:hr"])
    ...     hits = rag.search("handbook", "how long do refunds take", principals=["group:hr"])
    """

    def search(
        self,
        collection: str,
        query: str,
        *,
        k: int = 10,
        mode: SearchMode = "hybrid",
        principals: Sequence[str] | None = None,
        tenant_id: str | None = None,
        filter: Mapping[str, Any] | str | None = None,
        chunk_filter: Mapping[str, Any] | str | None = None,
        candidate_k: int = 50,
        rrf_k: int = 60,
        vector_weight: float = 1.0,
        keyword_weight: float = 1.0,
        fusion: Fusion = "rrf",
        feedback: int = 0,
        expand: str | None = None,
        index_version: int | None = None,
        idf: Idf = "corpus",
    ) -> SearchHits:
        """Search a collection for what the principals may see.

        Parameters
        ----------
        collection
            The collection's name.
        query
            A question or keywords; ``"quoted phrases"`` must occur, ``-words`` must not.
        k
            How many hits.
        mode
            ``hybrid``, ``keyword`` or ``vector``.
        principals
            Who is asking; by default the session's setting ``ragpg.principals``, else only ``public``.
        tenant_id
            The tenant; by default the session's setting ``ragpg.tenant_id``.
        filter, chunk_filter
            A condition on the document's or the chunk's metadata: a dict, or jsonpath.
        candidate_k, rrf_k, vector_weight, keyword_weight, fusion, feedback
            How the legs are fused; the names of ``ragpg.search_hybrid``.
        expand
            ``parent``, ``neighbors:n`` or ``document``: return more text around each hit.
        index_version
            Search this index version instead of the active one.
        idf
            What the frequencies of words count: ``corpus``, every chunk; ``visible``, only those that the principals
            may see, so that scores tell nothing of others.

        Returns
        -------
        SearchHits
            The hits in rank order; ``degraded`` says why they are less than they could be.

        Raises
        ------
        CollectionNotFound, IndexVersionNotFound
            Where there is none.
        InvalidQuery
            Where the query is empty, or holds nothing to search for.
        InvalidFilter
            Where a filter is no condition.
        InvalidArgument
            Where another argument is out of range.
        EmbeddingError
            In vector mode, where the query can't be embedded. Hybrid mode goes on without.
        EmbedderMismatch
            Where the client insists on another embedder, or vector mode meets a collection without one.
        AccessDenied
            Where the database role may not search, or not as these principals.
        """
        arguments = SearchArguments(
            collection=collection,
            query=query,
            k=k,
            mode=mode,
            principals=flows.principal_list(principals, "principals"),
            tenant_id=tenant_id,
            filter=compile_filter(filter),
            chunk_filter=compile_filter(chunk_filter),
            candidate_k=candidate_k,
            rrf_k=rrf_k,
            vector_weight=vector_weight,
            keyword_weight=keyword_weight,
            fusion=fusion,
            feedback=feedback,
            expand=expand,
            index_version=index_version,
            idf=idf,
        )
        return self._database.drive(self._searcher.search(arguments))

    def explain(
        self,
        collection: str,
        query: str,
        *,
        k: int = 10,
        mode: SearchMode = "hybrid",
        principals: Sequence[str] | None = None,
        tenant_id: str | None = None,
        filter: Mapping[str, Any] | str | None = None,
        chunk_filter: Mapping[str, Any] | str | None = None,
        candidate_k: int = 50,
        rrf_k: int = 60,
        vector_weight: float = 1.0,
        keyword_weight: float = 1.0,
        fusion: Fusion = "rrf",
        feedback: int = 0,
        index_version: int | None = None,
        idf: Idf = "corpus",
    ) -> dict[str, Any]:
        """Explain how :meth:`search` with these arguments runs: plans, counts, timings, what is given up.

        Returns
        -------
        dict[str, Any]
            What ``ragpg.explain_search`` reports.

        Raises
        ------
        RagpgError
            As :meth:`search` does.
        """
        arguments = SearchArguments(
            collection=collection,
            query=query,
            k=k,
            mode=mode,
            principals=flows.principal_list(principals, "principals"),
            tenant_id=tenant_id,
            filter=compile_filter(filter),
            chunk_filter=compile_filter(chunk_filter),
            candidate_k=candidate_k,
            rrf_k=rrf_k,
            vector_weight=vector_weight,
            keyword_weight=keyword_weight,
            fusion=fusion,
            feedback=feedback,
            index_version=index_version,
            idf=idf,
        )
        return self._database.drive(self._searcher.explain(arguments))

    def find(
        self,
        collection: str,
        external_id: str,
        query: str,
        *,
        k: int = 10,
        mode: SearchMode = "hybrid",
        principals: Sequence[str] | None = None,
        tenant_id: str | None = None,
        filter: Mapping[str, Any] | str | None = None,
        chunk_filter: Mapping[str, Any] | str | None = None,
        candidate_k: int = 50,
        rrf_k: int = 60,
        vector_weight: float = 1.0,
        keyword_weight: float = 1.0,
        fusion: Fusion = "rrf",
        feedback: int = 0,
        expand: str | None = None,
        index_version: int | None = None,
        idf: Idf = "corpus",
    ) -> dict[str, Any]:
        """Find out why a document is not in the result of :meth:`search` with these arguments.

        Only the owner of schema ``ragpg`` may ask. It takes longer than the search.

        Parameters
        ----------
        collection
            The collection's name.
        external_id
            The document that is missed.
        query
            The question of the search, and so on: the other arguments are those of :meth:`search`.

        Returns
        -------
        dict[str, Any]
            What ``ragpg.find_document`` reports: ``found`` and ``rank``, else all ``causes``, each with its evidence.

        Raises
        ------
        AccessDenied
            Where the database role is not the owner's.
        RagpgError
            As :meth:`search` does.
        """
        arguments = SearchArguments(
            collection=collection,
            query=query,
            k=k,
            mode=mode,
            principals=flows.principal_list(principals, "principals"),
            tenant_id=tenant_id,
            filter=compile_filter(filter),
            chunk_filter=compile_filter(chunk_filter),
            candidate_k=candidate_k,
            rrf_k=rrf_k,
            vector_weight=vector_weight,
            keyword_weight=keyword_weight,
            fusion=fusion,
            feedback=feedback,
            expand=expand,
            index_version=index_version,
            idf=idf,
        )
        return self._database.drive(self._searcher.find(arguments, external_id))

    def ask(
        self,
        collection: str,
        question: str,
        *,
        k: int = 8,
        principals: Sequence[str] | None = None,
        tenant_id: str | None = None,
        filter: Mapping[str, Any] | str | None = None,
        expand: str | None = "parent",
        max_context_tokens: int = 3000,
        idf: Idf = "corpus",
    ) -> Answer:
        """Answer a question from what the principals may see, with citations.

        With a chat model the answer is written by it from the hits alone. Without one it is extractive: the
        sentences of the hits that fit the question best.

        Parameters
        ----------
        collection
            The collection's name.
        question
            The question.
        k
            How many hits to answer from.
        principals, tenant_id, filter
            As for :meth:`search`.
        expand
            Answer from the sections around the hits; ``None`` for the hits alone.
        max_context_tokens
            Upper limit for the sources in the chat model's prompt. Extractive answers use every hit.
        idf
            As for :meth:`search`.

        Returns
        -------
        Answer
            The text, its citations, and whether it is an answer at all.

        Raises
        ------
        InvalidQuery, InvalidFilter, InvalidArgument, CollectionNotFound, EmbedderMismatch, AccessDenied
            As :meth:`search` does.
        GenerationError
            Where the chat model fails.
        ConfigError
            Where the chat model has neither a key nor an endpoint.
        """
        arguments = SearchArguments(
            collection=collection,
            query=question,
            k=k,
            principals=flows.principal_list(principals, "principals"),
            tenant_id=tenant_id,
            filter=compile_filter(filter),
            expand=expand,
            idf=idf,
        )
        return self._database.drive(
            flows.ask(self._searcher, arguments, chat=self._chat, max_context_tokens=max_context_tokens)
        )
