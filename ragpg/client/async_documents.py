"""The part of the async client that stores documents.

The parsers are imported by the methods that need them, so that a process that searches starts fast.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from os import PathLike
from typing import Any

from ragpg.client import flows
from ragpg.client.async_base import AsyncBase
from ragpg.ingest import IngestProgress
from ragpg.types import IngestReport, UpsertResult


class AsyncDocuments(AsyncBase):
    """Ingestion; see :class:`AsyncClient`."""

    async def ingest(
        self,
        collection: str,
        *paths: str | PathLike[str] | Sequence[str | PathLike[str]],
        language: str | None = None,
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
        language
            A text search configuration for files that name none, or ``auto``: the one that fits the text. By default ``auto``
            where ``ragpg[languages]`` is installed and the text is new, except in a collection of language
            ``simple`` or of a configuration of your own; else what is stored, else the collection's.
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

        Raises
        ------
        CollectionNotFound
            Where there is none of this name.
        InvalidArgument
            Where no path is given, one does not exist, or an argument can't be stored.
        MissingExtra
            Where ``language`` is ``auto`` without ``ragpg[languages]``.
        EmbedderMismatch
            Where the client insists on another embedder than the collection's.
        AccessDenied
            Where the database role may not write.
        DatabaseUnavailable, DatabaseError
            Where the database goes away or gives up; a note says how many documents were written before.
        """
        from ragpg.ingest.entry import ingest_paths

        return await self._database.drive(
            ingest_paths(
                self._memory,
                collection,
                flows.path_list(paths),
                defaults=flows.defaults(acl, metadata, tenant_id, language=language),
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
        language: str | None = None,
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
        language
            A text search configuration, or ``auto``; by default what the file says, else as :meth:`ingest` does.
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

        Raises
        ------
        CollectionNotFound
            Where there is none of this name.
        InvalidArgument
            Where an argument can't be stored.
        MissingExtra
            Where ``language`` is ``auto`` without ``ragpg[languages]``.
        EmbedderMismatch
            Where the client insists on another embedder than the collection's.
        AccessDenied
            Where the database role may not write.
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
                arguments=flows.defaults(acl, metadata, tenant_id, title=title, language=language),
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
            A text search configuration, or ``auto``; by default as :meth:`ingest` does.
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

        Raises
        ------
        CollectionNotFound
            Where there is none of this name.
        InvalidArgument
            Where the content is empty, or an argument can't be stored.
        ParseError
            Where the content can't be read as its media type says.
        MissingExtra
            Where ``language`` is ``auto`` without ``ragpg[languages]``, or the media type needs another extra.
        EmbeddingError
            Where the model fails; nothing is written then.
        EmbedderMismatch
            Where the client insists on another embedder than the collection's.
        AccessDenied
            Where the database role may not write.
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
