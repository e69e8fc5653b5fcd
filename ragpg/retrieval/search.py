"""A search, from the question to the hits: embed the query, run the SQL function, say what was given up."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

from ragpg.db import calls, search_calls
from ragpg.db.arguments import check_numbers, check_texts, check_type, check_whole_numbers
from ragpg.db.flow import Call, Flow, blocking, run
from ragpg.db.search_calls import SearchArguments
from ragpg.embedding import Embedder, input_hash, model_key
from ragpg.errors import (
    AccessDenied,
    DatabaseError,
    EmbedderMismatch,
    EmbeddingError,
    IndexVersionNotFound,
    InvalidArgument,
    InvalidFilter,
    InvalidQuery,
    RagpgError,
)
from ragpg.retrieval.memory import EmbedderMemory
from ragpg.types import SearchHits

T = TypeVar("T")

_LOG = logging.getLogger("ragpg.retrieval")
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
# What costs no request is not worth a look into the cache.
_LOCAL_PROVIDERS = {"local", "hash"}
# a regular expression, or an escape in a string: only a filter has them
_FILTER_ERRORS = {"2201B", "22P05"}
_FILTER_WORDS = ("jsonpath", "XQuery")


class Searcher:
    """Runs searches with the embedders of one client.

    Parameters
    ----------
    memory
        The client's embedders.
    shared_transaction
        Statements run inside the caller's transaction, which an error aborts: then nothing is tried that may fail.
    """

    def __init__(self, memory: EmbedderMemory, *, shared_transaction: bool) -> None:
        self.memory = memory
        self._shared_transaction = shared_transaction
        self._cache_usable = not shared_transaction

    def search(self, arguments: SearchArguments) -> Flow[SearchHits]:
        """Search.

        Raises
        ------
        EmbeddingError
            In vector mode, where the query can't be embedded. In hybrid mode the search goes on without, and says
            ``no_query_embedding``.
        """
        arguments = _checked(arguments)
        try:
            return (yield from self._search(arguments))
        except IndexVersionNotFound:
            if self._shared_transaction or arguments.index_version is not None:
                raise
            self.memory.forget(arguments.collection)
            return (yield from self._search(arguments))

    def explain(self, arguments: SearchArguments) -> Flow[dict[str, Any]]:
        """Explain how a search runs, and what it gives up."""
        arguments, given_up = yield from self._with_embedding(_checked(arguments))
        explained = yield from _run(search_calls.explain_search(arguments))
        explained["degraded"] = _joined(given_up, _words(explained))
        return explained

    def find(self, arguments: SearchArguments, external_id: str) -> Flow[dict[str, Any]]:
        """Find out why a document is not in the result of a search, or where in it it is."""
        check_type("external_id", external_id, str, "a text")
        check_texts(external_id=external_id)
        arguments, given_up = yield from self._with_embedding(_checked(arguments))
        found = yield from _run(search_calls.find_document(arguments, external_id))
        found["degraded"] = _joined(given_up, _words(found))
        return found

    def _search(self, arguments: SearchArguments) -> Flow[SearchHits]:
        arguments, given_up = yield from self._with_embedding(arguments)
        match arguments.mode:
            case "keyword":
                hits = yield from _run(search_calls.search_keyword(arguments))
            case "vector":
                hits = yield from _run(search_calls.search_vector(arguments))
            case "hybrid":
                hits = yield from _run(search_calls.search_hybrid(arguments))
        words = hits.degraded
        if not hits:
            # Without a row there is nothing that could carry the words.
            explained = yield from _run(search_calls.explain_search(arguments))
            words = _words(explained)
        hits.degraded = _joined(given_up, words)
        return hits

    def _with_embedding(self, arguments: SearchArguments) -> Flow[tuple[SearchArguments, list[str]]]:
        if arguments.mode == "keyword":
            return arguments, []
        version = yield from self.memory.version(arguments.collection, arguments.index_version)
        embedder = yield from self.memory.embedder(version)
        if embedder is None:
            if arguments.mode == "vector":
                raise EmbedderMismatch(
                    f"collection {arguments.collection!r} has no embedder, so there are no vectors to search"
                )
            return arguments, []
        arguments = replace(arguments, index_version=version.index_version_id)
        try:
            literal = yield from self._embed(embedder, arguments.query)
        except EmbeddingError as error:
            if arguments.mode == "vector":
                raise
            _LOG.warning("searching without the query's vector: %s", error)
            return arguments, ["no_query_embedding"]
        whole = yield from blocking(lambda: embedder.fits(arguments.query))
        return replace(arguments, embedding=literal), [] if whole else ["query_truncated"]

    def _embed(self, embedder: Embedder, query: str) -> Flow[str]:
        cached = self._cache_usable and embedder.provider not in _LOCAL_PROVIDERS
        # a key of its own: what a document was embedded from can't be guessed at with queries
        key = f"{model_key(embedder)}:query"
        digest = input_hash(embedder.query_prefix + query)
        if cached:
            found = yield from self._try_cache(calls.cached_embeddings(key, [digest]), {})
            if digest in found:
                return found[digest]
        vector = yield from blocking(lambda: embedder.embed_query(query))
        literal = calls.vector_literal(vector)
        if cached and self._cache_usable:
            yield from self._try_cache(calls.cache_embeddings(key, [digest], [literal]), None)
        return literal

    def _try_cache(self, call: Any, otherwise: Any) -> Flow[Any]:
        """Use the cache where that works: a reader may not, and a standby can't write."""
        try:
            return (yield from run(call))
        except RagpgError as error:
            if isinstance(error, AccessDenied):
                self._cache_usable = False
            _LOG.debug("the embedding cache is not usable: %s", error)
            return otherwise


def _run(call: Call[T]) -> Flow[T]:
    try:
        return (yield from run(call))
    except (DatabaseError, InvalidArgument) as error:
        # jsonpath is parsed before the function that could name the mistake is called.
        state = getattr(error.__cause__, "sqlstate", None)
        if state in _FILTER_ERRORS or (state and any(word in str(error) for word in _FILTER_WORDS)):
            raise InvalidFilter(
                f"the filter is no jsonpath predicate, such as $.year >= 2024: {error}"
            ) from error
        raise


def _checked(arguments: SearchArguments) -> SearchArguments:
    if arguments.mode not in ("hybrid", "keyword", "vector"):
        raise InvalidArgument(f"mode is hybrid, keyword or vector, not {arguments.mode!r}")
    check_type("query", arguments.query, str, "a text")
    check_texts(
        collection=arguments.collection,
        tenant_id=arguments.tenant_id,
        fusion=arguments.fusion,
        expand=arguments.expand,
        idf=arguments.idf,
    )
    check_whole_numbers(
        k=arguments.k,
        candidate_k=arguments.candidate_k,
        rrf_k=arguments.rrf_k,
        feedback=arguments.feedback,
        index_version=0 if arguments.index_version is None else arguments.index_version,
    )
    check_numbers(vector_weight=arguments.vector_weight, keyword_weight=arguments.keyword_weight)
    query = _UNSTORABLE.sub("", arguments.query)
    if not query or query.isspace():
        raise InvalidQuery("the query is empty")
    return replace(arguments, query=query)


def _words(explained: Mapping[str, Any]) -> list[str]:
    return list(explained.get("degraded") or ())


def _joined(first: list[str], second: list[str]) -> list[str]:
    return list(dict.fromkeys([*first, *second]))
