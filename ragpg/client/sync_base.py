# Generated from async_base.py by tools/unasync.py: edit that file and run the tool again.
"""The part of the sync client that is one SQL function a method: collections, deletion, permissions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self, TypeVar

from psycopg import Connection
from psycopg_pool import ConnectionPool

from ragpg.client import flows
from ragpg.client.chat import ChatModel
from ragpg.client.sync_database import Database
from ragpg.client.sync_runtime import run_blocking
from ragpg.config import Settings
from ragpg.db import calls
from ragpg.db.flow import Call, run
from ragpg.embedding import Embedder
from ragpg.errors import CollectionNotFound
from ragpg.retrieval.memory import VERSION_LIFETIME, EmbedderMemory
from ragpg.retrieval.search import Searcher
from ragpg.types import CollectionStats

T = TypeVar("T")


class Base:
    """Connections, collections and permissions; see :class:`Client`."""

    def __init__(
        self,
        url: str | None = None,
        *,
        pool: ConnectionPool[Any] | None = None,
        connection: Connection[Any] | None = None,
        embedder: str | Embedder | None = None,
        chat_model: str | None = None,
        settings: Settings | None = None,
    ) -> None:
        self._settings = settings or Settings.from_env()
        if url is None and pool is None and connection is None:
            # An empty string leaves everything to libpq: PGHOST, PGDATABASE, PGSERVICE, its defaults.
            url = self._settings.database_url or ""
        self._database = Database(url, pool=pool, connection=connection)
        shared = self._database.handed_connection
        # In the caller's transaction a search for a dropped version can't be repeated, so nothing old is believed.
        self._memory = EmbedderMemory(
            embedder, settings=self._settings, lifetime=0.0 if shared else VERSION_LIFETIME
        )
        self._searcher = Searcher(self._memory, shared_transaction=shared)
        self._chat = ChatModel(chat_model or self._settings.chat_model, self._settings)

    def __enter__(self) -> Self:
        """Return the client itself; nothing is opened yet."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the client."""
        self.close()

    def close(self) -> None:
        """Close the connections that the client opened itself, to the database and to models. Twice does no harm."""
        self._database.close()
        run_blocking(self._memory.close)
        run_blocking(self._chat.close)

    def create_collection(
        self,
        name: str,
        *,
        embedder: str | Embedder | None = None,
        chunking: Mapping[str, Any] | None = None,
        language: str = "english",
        default_acl: Sequence[str] | None = None,
    ) -> int:
        """Create a collection. It remembers its embedder, chunking and language.

        Parameters
        ----------
        name
            The collection's name.
        embedder
            ``local``, ``openai:MODEL``, ``hash``, an instance, or ``none`` for keyword search only. By default the
            client's, else ``RAGPG_EMBEDDER``, else OpenAI's where ``OPENAI_API_KEY`` is set, else ``local``.
        chunking
            How documents are cut, such as ``{"strategy": "structure", "max_tokens": 256}``.
        language
            A text search configuration of PostgreSQL.
        default_acl
            Who may read a document that names no ACL; ``["public"]`` by default.

        Returns
        -------
        int
            The collection's id.

        Raises
        ------
        CollectionExists
            Where there is one of this name.
        InvalidArgument
            Where the name, the language or the ACL can't be used.
        ChunkingError
            Where the chunking is unknown, or its chunks would not fit the embedder.
        ConfigError
            Where there is no such embedder, or its settings are malformed.
        EmbeddingError
            Where a remote model has to be asked for its dimensions, and fails.
        AccessDenied
            Where the database role may not write.
        """
        return self._database.drive(
            flows.create_collection(
                self._memory,
                name,
                embedder=embedder,
                chunking=chunking,
                language=language,
                default_acl=default_acl,
            )
        )

    def drop_collection(self, name: str) -> None:
        """Drop a collection with everything in it.

        Raises
        ------
        AccessDenied
            Where the database role may not.
        CollectionNotFound
            Where there is none of this name.
        """
        self._memory.forget(name)
        self._call(calls.drop_collection(name))

    def collections(self) -> list[CollectionStats]:
        """Every collection in numbers."""
        return self._call(calls.collection_stats())

    def stats(self, collection: str) -> CollectionStats:
        """One collection in numbers: documents, chunks, vectors, what is pending, when statistics were taken.

        Raises
        ------
        AccessDenied
            Where the database role may only search.
        CollectionNotFound
            Where there is none of this name.
        """
        found = self._call(calls.collection_stats(collection))
        if not found:
            raise CollectionNotFound(f"no collection {collection!r}")
        return found[0]

    def refresh_statistics(self, collection: str) -> None:
        """Refresh the term statistics that keyword scores rest on, as ANALYZE does for the planner.

        Raises
        ------
        CollectionNotFound
            Where there is none of this name.
        AccessDenied
            Where the database role may not write.
        """
        self._call(calls.refresh_statistics(collection))

    def delete_document(self, collection: str, external_id: str, *, tenant_id: str | None = None) -> bool:
        """Delete a document with its chunks and vectors.

        Returns
        -------
        bool
            Whether there was one.

        Raises
        ------
        CollectionNotFound
            Where there is none of this name.
        AccessDenied
            Where the database role may not write.
        """
        return self._call(calls.delete_document(collection, external_id, tenant_id=tenant_id))

    def set_acl(
        self, collection: str, external_id: str, acl: Sequence[str], *, tenant_id: str | None = None
    ) -> None:
        """Say who may read a document. It holds for every chunk at once.

        Raises
        ------
        DocumentNotFound
            Where the collection has no such document in this tenant.
        CollectionNotFound
            Where there is none of this name.
        InvalidArgument
            Where the ACL is ``None`` or no list of principals.
        AccessDenied
            Where the database role may not write.
        """
        checked = flows.readers(acl, "acl")
        self._call(calls.set_acl(collection, external_id, checked, tenant_id=tenant_id))

    def _call(self, call: Call[T]) -> T:
        return self._database.drive(run(call))
