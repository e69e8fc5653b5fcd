from typing import Any

import pytest

from ragpg.config import Settings
from ragpg.db.rows import IndexVersion
from ragpg.db.search_calls import SearchArguments
from ragpg.embedding import make_embedder
from ragpg.embedding.hash import HashEmbedder
from ragpg.errors import (
    AccessDenied,
    DatabaseError,
    EmbedderMismatch,
    EmbeddingError,
    IndexVersionNotFound,
    InvalidArgument,
    InvalidQuery,
)
from ragpg.retrieval.memory import EmbedderMemory
from ragpg.retrieval.search import Searcher
from ragpg.types import SearchHits

VERSION = IndexVersion(1, 7, "english", {}, "hash", "words", 8, "", "")
HITS = ["hit"]


class Remote(HashEmbedder):
    """Stands in for a model that costs a request."""

    provider = "remote"
    error: Exception | None = None
    queries = 0

    def embed_query(self, text: str) -> list[float]:
        self.queries += 1
        if self.error is not None:
            raise self.error
        return super().embed_query(text)


def arguments(**changes: Any) -> SearchArguments:
    return SearchArguments(**{"collection": "docs", "query": "refunds", **changes})


@pytest.fixture
def remote(drive: Any) -> Remote:
    drive.answers["_index_version"] = IndexVersion(1, 7, "english", {}, "remote", "words", 8, "", "")
    drive.answers["_cached_embeddings"] = {}
    drive.answers["_cache_embeddings"] = None
    drive.answers["search_hybrid"] = lambda _: SearchHits(HITS)  # type: ignore[arg-type]
    drive.answers["search_vector"] = lambda _: SearchHits(HITS)  # type: ignore[arg-type]
    return Remote(8)


def searcher(given: Any = None, *, shared_transaction: bool = False) -> Searcher:
    return Searcher(EmbedderMemory(given, settings=Settings()), shared_transaction=shared_transaction)


def test_a_keyword_search_is_one_statement(drive: Any) -> None:
    drive.answers["search_keyword"] = SearchHits(HITS, ["term_cap"])  # type: ignore[arg-type]
    hits = drive(searcher().search(arguments(mode="keyword")))
    assert (list(hits), hits.degraded) == (HITS, ["term_cap"])
    assert drive.names == ["search_keyword"]


def test_a_vector_goes_with_the_version_it_was_made_for(drive: Any) -> None:
    drive.answers["_index_version"] = VERSION
    drive.answers["search_hybrid"] = lambda _: SearchHits(HITS)  # type: ignore[arg-type]
    search = searcher()
    drive(search.search(arguments()))
    drive(search.search(arguments()))
    assert drive.names == ["_index_version", "search_hybrid", "search_hybrid"]
    sent = drive.calls[1][1]
    assert sent["index_version"] == 7
    assert sent["embedding"].startswith("[")


def test_a_version_that_was_dropped_meanwhile_is_looked_up_again(drive: Any) -> None:
    drive.answers["_index_version"] = VERSION
    answers = iter([IndexVersionNotFound("gone"), SearchHits(HITS)])  # type: ignore[arg-type]
    drive.answers["search_hybrid"] = lambda _: next(answers)
    assert list(drive(searcher().search(arguments()))) == HITS
    assert drive.names == ["_index_version", "search_hybrid"] * 2


@pytest.mark.parametrize(("shared", "version"), [(True, None), (False, 7)])
def test_a_missing_version_is_an_error_where_it_was_asked_for_or_the_transaction_is_lost(
    drive: Any, shared: bool, version: int | None
) -> None:
    drive.answers["_index_version"] = VERSION
    drive.answers["search_hybrid"] = IndexVersionNotFound("gone")
    with pytest.raises(IndexVersionNotFound):
        drive(searcher(shared_transaction=shared).search(arguments(index_version=version)))


def test_no_rows_ask_why(drive: Any) -> None:
    drive.answers["search_keyword"] = SearchHits()
    drive.answers["explain_search"] = {"degraded": ["keyword_empty"]}
    assert drive(searcher().search(arguments(mode="keyword"))).degraded == ["keyword_empty"]


def test_hybrid_goes_on_without_the_querys_vector_and_says_so(
    drive: Any, remote: Remote, caplog: pytest.LogCaptureFixture
) -> None:
    remote.error = EmbeddingError("down")
    hits = drive(searcher(remote).search(arguments()))
    assert hits.degraded == ["no_query_embedding"]
    assert drive.calls[-1][1]["embedding"] is None
    assert "down" in caplog.text


def test_vector_mode_needs_the_querys_vector(drive: Any, remote: Remote) -> None:
    remote.error = EmbeddingError("down")
    with pytest.raises(EmbeddingError):
        drive(searcher(remote).search(arguments(mode="vector")))


def test_vector_mode_needs_a_collection_with_vectors(drive: Any) -> None:
    drive.answers["_index_version"] = IndexVersion(1, 7, "english", {}, None, None, None, "", "")
    with pytest.raises(EmbedderMismatch, match="docs"):
        drive(searcher().search(arguments(mode="vector")))


def test_a_query_that_was_cut_is_named(drive: Any, remote: Remote, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "fits", lambda text: False)
    assert drive(searcher(remote).search(arguments())).degraded == ["query_truncated"]


def test_a_remote_models_vector_is_kept_in_the_cache(drive: Any, remote: Remote) -> None:
    drive(searcher(remote).search(arguments()))
    assert drive.names == ["_index_version", "_cached_embeddings", "_cache_embeddings", "search_hybrid"]
    stored = drive.calls[2][1]
    drive.answers["_cached_embeddings"] = {stored["input_hashes"][0]: "[9]"}
    drive(searcher(remote).search(arguments()))
    assert remote.queries == 1
    assert drive.calls[-1][1]["embedding"] == "[9]"


def test_a_cache_that_may_not_be_used_is_left_alone(drive: Any, remote: Remote) -> None:
    drive.answers["_cached_embeddings"] = AccessDenied("reader")
    search = searcher(remote)
    drive(search.search(arguments()))
    drive(search.search(arguments()))
    assert drive.names.count("_cached_embeddings") == 1
    assert "_cache_embeddings" not in drive.names


def test_a_cache_that_can_not_be_written_costs_nothing(drive: Any, remote: Remote) -> None:
    drive.answers["_cache_embeddings"] = DatabaseError("read-only standby")
    assert list(drive(searcher(remote).search(arguments()))) == HITS


def test_in_the_callers_transaction_nothing_is_tried_that_could_abort_it(drive: Any, remote: Remote) -> None:
    drive(searcher(remote, shared_transaction=True).search(arguments()))
    assert drive.names == ["_index_version", "search_hybrid"]


def test_explain_says_what_the_client_gave_up(drive: Any, remote: Remote) -> None:
    remote.error = EmbeddingError("down")
    drive.answers["explain_search"] = {"degraded": ["query_embedding_from_feedback"], "mode": "hybrid"}
    explained = drive(searcher(remote).explain(arguments()))
    assert explained["degraded"] == ["no_query_embedding", "query_embedding_from_feedback"]


def test_find_sends_the_search_and_the_document(drive: Any, remote: Remote) -> None:
    drive.answers["find_document"] = {"degraded": ["stale_embeddings"], "found": True}
    found = drive(searcher(remote).find(arguments(k=3, mode="vector", idf="visible"), "faq"))
    assert found == {"degraded": ["stale_embeddings"], "found": True}
    sent = drive.calls[-1][1]
    assert (sent["external_id"], sent["k"], sent["mode"], sent["idf"]) == ("faq", 3, "vector", "visible")
    assert sent["embedding"].startswith("[")


def test_find_says_what_the_client_gave_up(drive: Any, remote: Remote) -> None:
    remote.error = EmbeddingError("down")
    drive.answers["find_document"] = {"degraded": ["stale_embeddings"], "found": True}
    found = drive(searcher(remote).find(arguments(), "faq"))
    assert found["degraded"] == ["no_query_embedding", "stale_embeddings"]


@pytest.mark.parametrize("query", ["", "  ", "\0"])
def test_an_empty_query_is_refused(drive: Any, query: str) -> None:
    with pytest.raises(InvalidQuery):
        drive(searcher().search(arguments(query=query)))


def test_an_unknown_mode_is_refused(drive: Any) -> None:
    with pytest.raises(InvalidArgument, match="semantic"):
        drive(searcher().search(arguments(mode="semantic")))


def test_what_can_not_be_stored_is_taken_out_of_the_query(drive: Any) -> None:
    drive.answers["search_keyword"] = SearchHits(HITS)  # type: ignore[arg-type]
    drive(searcher().search(arguments(query="re\0fund\ud800s", mode="keyword")))
    assert drive.calls[0][1]["query"] == "refunds"


def test_hash_is_not_taken_for_remote(drive: Any) -> None:
    drive.answers["_index_version"] = VERSION
    drive.answers["search_vector"] = SearchHits(HITS)  # type: ignore[arg-type]
    drive(searcher(make_embedder("hash:8")).search(arguments(mode="vector")))
    assert drive.names == ["_index_version", "search_vector"]
