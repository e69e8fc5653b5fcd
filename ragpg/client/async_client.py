"""The async client, written by hand. The sync one is generated from it.

What only some methods need (parsers, prompts) is imported by them, so that a process that searches starts fast.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from os import PathLike
from typing import Any

from ragpg.client import flows
from ragpg.client.async_base import AsyncBase
from ragpg.db.search_calls import SearchArguments
from ragpg.ingest import IngestProgress
from ragpg.retrieval.filters import compile_filter
from ragpg.types import Answer, Fusion, IngestReport, SearchHits, SearchMode, UpsertResult


class AsyncClient(AsyncBase):
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
    >>> async with AsyncClient("postgresql://localhost/app") as rag:  # doctest: +SKIP
    ...     await rag.create_collection("handbook", embedder="local")
    ...     await rag.ingest("handbook", "docs/", acl=["group:hr"])
    ...     hits = await rag.search("handbook", "how long do refunds take", principals=["group:hr"])
    """

    async def ingest(
        self,
        collection: str,
        *paths: str | PathLike[str] | Sequence[str | PathLike[str]],
        acl: Sequence[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
        tenant_id: str | None = None,
        sync: bool = False,
        on_progress: Callable[[IngestProgress], None] | None = None,
    ) -> IngestReport:
        """Ingest files and folders: parse, chunk, embed, store. What has not changed is skipped.

        A document's external id is its path relative to the folder that was named; with several paths, relative to the
        deepest folder that holds them all. ``.ragpg.yaml`` files and front matter say who may read a file;
        the arguments are the default for files that say nothing. One bad file is reported and does not stop the others.
        Each document is stored in one short transaction; after a failure the next run completes.

        Parameters
        ----------
        collection
            The collection's name.
        *paths
            Files, folders, glob patterns, or lists of them.
        acl
            Who may read files that say nothing; by default the collection's ``default_acl``.
        metadata
            Metadata for every document; a file's own wins key by key.
        tenant_id
            The tenant of files that name none.
        sync
            Also delete the documents whose files under the named folders are gone.
        on_progress
            Called after each file and each batch of vectors, possibly from another thread.

        Returns
        -------
        IngestReport
            What was done, and which files failed.
        """
        from ragpg.ingest.entry import ingest_paths

        return await self._database.drive(
            ingest_paths(
                self._memory,
                collection,
                flows.path_list(paths),
                defaults=flows.defaults(acl, metadata, tenant_id),
                sync=sync,
                on_progress=on_progress,
                shared_transaction=self._database.handed_connection,
            )
        )

    async def ingest_bytes(
        self,
        collection: str,
        data: bytes,
        *,
        external_id: str,
        media_type: str | None = None,
        title: str | None = None,
        uri: str | None = None,
        acl: Sequence[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
        tenant_id: str | None = None,
    ) -> IngestReport:
        """Ingest one file that is in memory.

        The arguments win over the file's front matter, and front matter can't name the tenant: the bytes may come from
        a user.

        Parameters
        ----------
        collection
            The collection's name.
        data
            The file.
        external_id
            The document's id. Its suffix tells the format where ``media_type`` doesn't.
        media_type
            Such as ``text/markdown``.
        title
            The document's title; by default what the file says.
        uri
            Where the document is found.
        acl
            Who may read it; by default what the file says, else the collection's ``default_acl``.
        metadata
            Metadata; wins over the file's key by key.
        tenant_id
            The tenant.

        Returns
        -------
        IngestReport
            What was done; a file that can't be read is a failure in it.
        """
        from ragpg.ingest.entry import ingest_one

        return await self._database.drive(
            ingest_one(
                self._memory,
                collection,
                data,
                external_id=external_id,
                media_type=media_type,
                uri=uri,
                arguments=flows.defaults(acl, metadata, tenant_id, title=title),
                shared_transaction=self._database.handed_connection,
            )
        )

    async def upsert_document(
        self,
        collection: str,
        *,
        external_id: str,
        content: str,
        title: str | None = None,
        uri: str | None = None,
        media_type: str | None = None,
        language: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        acl: Sequence[str] | None = None,
        tenant_id: str | None = None,
        expires_at: datetime | None = None,
    ) -> UpsertResult:
        """Store one document from its text. Unchanged chunks keep their vectors.

        Parameters
        ----------
        collection
            The collection's name.
        external_id
            The document's id.
        content
            Its text: plain, unless ``media_type`` says ``text/markdown`` or ``text/html``.
        title, uri, media_type, metadata
            What is stored with it and comes back with each hit.
        language
            A text search configuration; by default the collection's.
        acl
            Who may read it. By default the collection's ``default_acl`` for a new document, unchanged for an old one.
        tenant_id
            The tenant.
        expires_at
            When searches stop finding it; with a time zone.

        Returns
        -------
        UpsertResult
            What was done.
        """
        from ragpg.ingest.entry import upsert_text

        return await self._database.drive(
            upsert_text(
                self._memory,
                collection,
                content,
                external_id=external_id,
                media_type=media_type,
                uri=uri,
                expires_at=expires_at,
                arguments=flows.defaults(acl, metadata, tenant_id, title=title, language=language),
            )
        )

    async def search(
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

        Returns
        -------
        SearchHits
            The hits in rank order; ``degraded`` says why they are less than they could be.
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
        )
        return await self._database.drive(self._searcher.search(arguments))

    async def explain(
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
    ) -> dict[str, Any]:
        """Explain how :meth:`search` with these arguments runs: plans, counts, timings, what is given up.

        Returns
        -------
        dict[str, Any]
            What ``ragpg.explain_search`` reports.
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
        )
        return await self._database.drive(self._searcher.explain(arguments))

    async def ask(
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

        Returns
        -------
        Answer
            The text, its citations, and whether it is an answer at all.
        """
        arguments = SearchArguments(
            collection=collection,
            query=question,
            k=k,
            principals=flows.principal_list(principals, "principals"),
            tenant_id=tenant_id,
            filter=compile_filter(filter),
            expand=expand,
        )
        return await self._database.drive(
            flows.ask(self._searcher, arguments, chat=self._chat, max_context_tokens=max_context_tokens)
        )
