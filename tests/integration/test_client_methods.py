"""Every method of both clients, on a real database."""

import inspect
from collections.abc import AsyncIterator, Callable
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from ragpg import AsyncClient, Client
from ragpg.embedding import make_embedder
from ragpg.errors import (
    CollectionExists,
    CollectionNotFound,
    DocumentNotFound,
    EmbedderMismatch,
    IndexVersionNotFound,
    InvalidArgument,
    InvalidFilter,
    InvalidQuery,
    ParseError,
)


class Awaitable:
    """Either client behind one interface: ``await rag.search(…)``."""

    def __init__(self, client: Client | AsyncClient) -> None:
        self.client = client

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self.client, name)

        async def call(*args: Any, **kwargs: Any) -> Any:
            result = method(*args, **kwargs)
            return await result if inspect.isawaitable(result) else result

        return call


@pytest.fixture(params=["sync", "async"])
async def rag(request: pytest.FixtureRequest, database: str) -> AsyncIterator[Any]:
    if request.param == "sync":
        with Client(database, chat_model="none") as client:
            yield Awaitable(client)
    else:
        async with AsyncClient(database, chat_model="none") as client:
            yield Awaitable(client)


@pytest.fixture
async def docs(rag: Any) -> Any:
    await rag.create_collection("docs", embedder="hash")
    await rag.upsert_document(
        "docs",
        external_id="faq",
        title="Refunds",
        content="Refunds take ten days.",
        acl=["public"],
        metadata={"year": 2026},
    )
    await rag.upsert_document(
        "docs",
        external_id="pay",
        content="Salaries are paid in ten days.",
        acl=["group:hr"],
        metadata={"year": 2020},
    )
    return rag


async def test_collections(rag: Any) -> None:
    assert await rag.collections() == []
    assert (
        await rag.create_collection(
            "docs", embedder="hash:32", language="german", chunking={"max_tokens": 99}
        )
        > 0
    )
    await rag.create_collection("words", embedder="none")
    stats = await rag.stats("docs")
    assert (stats.embedding_provider, stats.dimensions, stats.language) == ("hash", 32, "german")
    assert (stats.chunking["strategy"], stats.chunking["max_tokens"]) == ("structure", 99)
    assert (stats.documents, stats.chunks, stats.pending) == (0, 0, 0)
    assert sorted(each.name for each in await rag.collections()) == ["docs", "words"]
    with pytest.raises(CollectionExists):
        await rag.create_collection("docs", embedder="hash")
    await rag.create_collection("closed", embedder="hash", default_acl=["group:hr"])
    await rag.upsert_document("closed", external_id="a", content="Refunds.")
    assert await rag.search("closed", "refunds") == []
    assert len(await rag.search("closed", "refunds", principals=["group:hr"])) == 1
    await rag.create_collection("nobodys", embedder="hash", default_acl=[])
    await rag.upsert_document("nobodys", external_id="a", content="Refunds.")
    assert await rag.search("nobodys", "refunds", principals=["group:hr"]) == []
    for name in ("closed", "nobodys"):
        await rag.drop_collection(name)
    await rag.drop_collection("docs")
    with pytest.raises(CollectionNotFound):
        await rag.stats("docs")
    with pytest.raises(CollectionNotFound):
        await rag.drop_collection("docs")
    with pytest.raises(CollectionNotFound):
        await rag.search("docs", "refunds")


async def test_search_in_every_mode(docs: Any) -> None:
    for mode in ("hybrid", "keyword", "vector"):
        hits = await docs.search("docs", "refunds", mode=mode)
        assert hits[0].external_id == "faq"
        assert {hit.external_id for hit in hits} == {"faq"}
        assert hits.degraded == []
        assert hits[0].metadata == {"year": 2026}
    seen = await docs.search("docs", "ten days", principals=["group:hr"])
    assert {hit.external_id for hit in seen} == {"faq", "pay"}
    assert (await docs.search("docs", "ten days", principals=["group:hr"], k=1))[1:] == []


async def test_search_with_filters(docs: Any) -> None:
    async def found(filter: Any) -> set[str]:
        hits = await docs.search("docs", "ten days", principals=["group:hr"], filter=filter)
        return {hit.external_id for hit in hits}

    assert await found({"year": {"$gte": 2024}}) == {"faq"}
    assert await found("$.year < 2024") == {"pay"}
    assert await found({"year": {"$in": []}}) == set()
    assert await found({"year": {"$nin": []}}) == {"faq", "pay"}
    assert await found({"$not": {"year": 2026}}) == {"pay"}
    unreadable = ('$.a like_regex "("', '$.a like_regex "a" flag "x"', r'$.a == "\u0000"', r'$.a == "\ud800"')
    for bad in ("$.year >=", "$.year", {"year": {"$near": 1}}, *unreadable):
        with pytest.raises(InvalidFilter):
            await found(bad)


async def test_bad_questions(docs: Any) -> None:
    for k in (0, -1, 2**31, 10**30):
        with pytest.raises(InvalidArgument):
            await docs.search("docs", "refunds", k=k)
    with pytest.raises(InvalidQuery):
        await docs.search("docs", " ")
    with pytest.raises(InvalidArgument, match="principals"):
        await docs.search("docs", "refunds", principals="group:hr")
    with pytest.raises(IndexVersionNotFound):
        await docs.search("docs", "refunds", index_version=99)
    assert await docs.search("docs", "unheard", mode="keyword") == []
    assert (await docs.search("docs", "unheard", mode="keyword")).degraded == ["keyword_empty"]


@pytest.mark.parametrize(
    "arguments",
    [
        {"query": None},
        {"query": 5},
        {"query": b"refunds"},
        {"k": 1.5},
        {"k": True},
        {"k": "3"},
        {"k": None},
        {"candidate_k": "50"},
        {"rrf_k": 1.5},
        {"feedback": True},
        {"index_version": "1"},
        {"vector_weight": "1"},
        {"keyword_weight": None},
        {"tenant_id": 5},
        {"expand": 1},
    ],
)
async def test_search_names_an_argument_of_another_type(docs: Any, arguments: dict[str, Any]) -> None:
    (name,) = arguments
    with pytest.raises(InvalidArgument, match=rf"^{name}\b"):
        await docs.search("docs", **{"query": "refunds", **arguments})
    with pytest.raises(InvalidArgument):
        await docs.ask("docs", None)


@pytest.mark.parametrize(
    "arguments",
    [
        {"content": b"x"},
        {"content": None},
        {"external_id": 5},
        {"external_id": None},
        {"external_id": "a\0b"},
        {"external_id": "a\ud800"},
        {"title": 5},
        {"title": "a\0b"},
        {"title": "a\ud800"},
        {"uri": 5},
        {"language": 5},
        {"media_type": 5},
        {"tenant_id": 5},
        {"expires_at": "2027-01-01"},
        {"expires_at": datetime(2027, 1, 1)},
        {"acl": [""]},
        {"acl": ["*"]},
        {"metadata": ["x"]},
    ],
)
async def test_what_can_not_be_stored_is_refused_by_its_name(docs: Any, arguments: dict[str, Any]) -> None:
    (name,) = arguments
    with pytest.raises(InvalidArgument, match=rf"^{name}\b"):
        await docs.upsert_document(
            "docs", **{"external_id": "new", "content": "# Text\n\nMore.", **arguments}
        )
    assert (await docs.stats("docs")).documents == 2


async def test_a_file_in_memory_is_bytes_of_a_format_that_is_read(docs: Any) -> None:
    with pytest.raises(InvalidArgument, match="data is bytes"):
        await docs.ingest_bytes("docs", "text", external_id="new")
    with pytest.raises(InvalidArgument, match="external_id"):
        await docs.ingest_bytes("docs", b"text", external_id=None)
    report = await docs.ingest_bytes("docs", b"text", external_id="new", media_type="application/zip")
    assert "text/markdown" in report.failures[0].error
    with pytest.raises(ParseError, match="text/markdown"):
        await docs.upsert_document("docs", external_id="new", content="x", media_type="application/zip")
    with pytest.raises(InvalidArgument, match="chunking is a mapping"):
        await docs.create_collection("new", embedder="hash", chunking="recursive")
    with pytest.raises(InvalidArgument, match="default_acl"):
        await docs.create_collection("new", embedder="hash", default_acl=["*"])


async def test_what_is_removed_from_a_text_is_reported(docs: Any) -> None:
    result = await docs.upsert_document("docs", external_id="new", content="Ze\0bra\ud800s run.")
    assert result.warnings == ("removed 1 NUL character", "removed 1 lone surrogate")
    result = await docs.upsert_document("docs", external_id="new", content="Ze\0bra\ud800s run.")
    assert (result.status, len(result.warnings)) == ("unchanged", 2)
    assert (await docs.upsert_document("docs", external_id="new", content="Zebras run.")).warnings == ()


async def test_a_question_of_ten_thousand_words(docs: Any) -> None:
    hits = await docs.search("docs", "refunds " + "word " * 10_000)
    assert hits[0].external_id == "faq"


async def test_explain(docs: Any) -> None:
    explained = await docs.explain("docs", "refunds", mode="keyword")
    assert explained["mode"] == "keyword"
    assert explained["degraded"] == []
    assert "timings_ms" in explained


async def test_idf_counts_what_the_principals_may_see(docs: Any) -> None:
    await docs.upsert_document("docs", external_id="hidden", content="Ten refunds.", acl=["group:board"])
    frequencies = [
        (await docs.explain("docs", "refunds", idf=idf))["terms"][0]["document_frequency"]
        for idf in ("corpus", "visible")
    ]
    assert frequencies == [2, 1]
    corpus, visible = [(await docs.search("docs", "refunds", idf=idf))[0] for idf in ("corpus", "visible")]
    assert corpus.keyword_score != visible.keyword_score
    assert (await docs.ask("docs", "How long do refunds take?", idf="visible")).answered
    with pytest.raises(InvalidArgument, match="corpus or visible"):
        await docs.search("docs", "refunds", idf="mine")


async def test_find(docs: Any) -> None:
    found = await docs.find("docs", "faq", "how long do refunds take")
    assert (found["found"], found["rank"], found["causes"]) == (True, 1, [])
    assert found["vector"]["rank"] == 1
    found = await docs.find(
        "docs",
        "pay",
        '"paid in ten days" -salaries',
        k=1,
        principals=["user:ana"],
        filter={"year": {"$gt": 2024}},
    )
    assert found["found"] is False
    assert [(cause["cause"], cause.get("by")) for cause in found["causes"]] == [
        ("hidden", None),
        ("filtered", "p_filter"),
        ("filtered", "exclusion"),
    ]
    found = await docs.find(
        "docs", "pay", "days", mode="keyword", principals=["group:hr"], expand="document", k=2
    )
    assert found["rank"] == 1
    assert "vector" not in found
    assert (await docs.find("docs", "nowhere", "days"))["causes"][0]["cause"] == "no_such_document"
    for arguments in ((7, "days"), ("faq", " ")):
        with pytest.raises((InvalidArgument, InvalidQuery)):
            await docs.find("docs", *arguments)


async def test_ask(docs: Any) -> None:
    answer = await docs.ask("docs", "How long do refunds take?")
    assert answer.answered
    assert answer.extractive
    assert "ten days" in answer.text
    assert {citation.external_id for citation in answer.citations} == {"faq"}
    assert not (await docs.ask("docs", "How long do refunds take?", filter={"year": 1999})).answered


async def test_upsert_document(docs: Any) -> None:
    document = {
        "external_id": "new",
        "title": "VPN",
        "content": "Old certificate",
        "uri": "https://x.example/vpn",
        "metadata": {"a": 1},
        "acl": ["public"],
        "tenant_id": "acme",
        "expires_at": datetime.now(UTC) + timedelta(days=1),
    }
    result = await docs.upsert_document("docs", **document)
    assert (result.status, result.chunks_written, result.embeddings_written) == ("created", 1, 1)
    assert (await docs.upsert_document("docs", **document)).status == "unchanged"
    document["metadata"] = {"a": 2}
    assert (await docs.upsert_document("docs", **document)).status == "attributes"
    document["content"] = "New certificate"
    changed = await docs.upsert_document("docs", **document)
    assert (changed.status, changed.chunks_written, changed.chunks_deleted) == ("updated", 1, 1)
    assert changed.document_id == result.document_id
    (hit,) = await docs.search("docs", "certificate", tenant_id="acme")
    assert (hit.content, hit.title, hit.uri, hit.metadata) == (
        "New certificate",
        "VPN",
        "https://x.example/vpn",
        {"a": 2},
    )
    assert await docs.search("docs", "certificate", mode="keyword") == []
    document["expires_at"] = datetime.now(UTC) - timedelta(days=1)
    await docs.upsert_document("docs", **document)
    assert await docs.search("docs", "certificate", tenant_id="acme") == []


async def test_upsert_refuses_what_is_no_document(docs: Any) -> None:
    for changes in (
        {"content": ""},
        {"content": " \n"},
        {"external_id": ""},
        {"language": "klingon"},
        {"metadata": {"a": float("nan")}},
        {"expires_at": datetime(2027, 1, 1)},
        {"acl": "public"},
        {"external_id": "a\0b"},
    ):
        with pytest.raises(InvalidArgument):
            await docs.upsert_document("docs", **{"external_id": "x", "content": "text", **changes})
    assert (await docs.stats("docs")).documents == 2


async def test_what_can_not_be_stored_is_taken_out_of_the_text(docs: Any) -> None:
    await docs.upsert_document("docs", external_id="odd", content="certi\0ficate \ud800 é \U0001f600")
    (hit,) = await docs.search("docs", "certificate", k=1)
    assert hit.content == "certificate  é \U0001f600"


async def test_delete_and_permissions(docs: Any) -> None:
    await docs.set_acl("docs", "pay", ["public", "group:hr"])
    assert len(await docs.search("docs", "salaries", mode="keyword")) == 1
    await docs.set_acl("docs", "pay", ["group:hr"])
    assert await docs.search("docs", "salaries", mode="keyword") == []
    with pytest.raises(DocumentNotFound):
        await docs.set_acl("docs", "gone", ["public"])
    with pytest.raises(DocumentNotFound):
        await docs.set_acl("docs", "pay", ["public"], tenant_id="other")
    assert await docs.delete_document("docs", "pay") is True
    assert await docs.delete_document("docs", "pay") is False
    assert await docs.delete_document("docs", "faq", tenant_id="other") is False
    assert (await docs.stats("docs")).documents == 1


async def test_an_acl_of_none_hides_nothing(docs: Any) -> None:
    with pytest.raises(InvalidArgument, match="acl is None"):
        await docs.set_acl("docs", "faq", None)
    assert len(await docs.search("docs", "refunds", mode="keyword")) == 1
    await docs.set_acl("docs", "faq", [])
    assert await docs.search("docs", "refunds", mode="keyword") == []


async def test_paths_may_come_in_a_list(docs: Any, folder: Path) -> None:
    report = await docs.ingest("docs", [str(folder / "hr"), folder / "it"], folder / "refunds.md")
    assert (report.created, report.failures) == (3, [])
    for nothing in ([], [[]]):
        with pytest.raises(InvalidArgument, match="at least one"):
            await docs.ingest("docs", *nothing)
    for wrong in (b"docs", [None], 7):
        with pytest.raises(InvalidArgument, match="a path is"):
            await docs.ingest("docs", wrong)


async def test_weights_are_as_precise_as_python_s(docs: Any) -> None:
    # A number that only a double can hold.
    weights = {"vector_weight": 1.0, "keyword_weight": 1e-50}
    assert (await docs.search("docs", "refunds", **weights))[0].external_id == "faq"
    assert (await docs.explain("docs", "refunds", **weights))["degraded"] == []


async def test_ingest_and_ingest_bytes(docs: Any, folder: Path) -> None:
    seen: list[Any] = []
    report = await docs.ingest("docs", folder, acl=["public"], on_progress=seen.append)
    assert (report.created, report.failures, report.embedded) == (3, [], 3)
    assert (seen[-1].files_done, seen[-1].files_total, seen[-1].chunks_embedded) == (3, 3, 3)
    again = await docs.ingest("docs", folder, acl=["public"])
    assert (again.unchanged, again.embedded, again.chunks_written) == (3, 0, 0)
    report = await docs.ingest_bytes(
        "docs",
        b"# Parking\n\nPark behind the house.",
        external_id="parking.md",
        acl=["public"],
        metadata={"a": 1},
    )
    assert (report.created, report.embedded, report.failures) == (1, 1, [])
    (hit,) = await docs.search("docs", "parking", mode="keyword")
    assert (hit.title, hit.metadata) == ("Parking", {"a": 1})
    with pytest.raises(InvalidArgument, match="at least one"):
        await docs.ingest("docs")
    failed = await docs.ingest_bytes("docs", b"", external_id="empty.md")
    assert "empty" in failed.failures[0].error


async def test_refresh_statistics(docs: Any) -> None:
    before = (await docs.stats("docs")).statistics_at
    await docs.refresh_statistics("docs")
    after = (await docs.stats("docs")).statistics_at
    assert after is not None
    assert after != before


async def test_another_embedder_is_refused(database: str, docs: Any) -> None:
    async with AsyncClient(database, embedder="hash:32") as other:
        for search in (other.search("docs", "refunds"), other.search("docs", "refunds", mode="vector")):
            with pytest.raises(EmbedderMismatch):
                await search
        assert len(await other.search("docs", "refunds", mode="keyword")) == 1
        with pytest.raises(EmbedderMismatch):
            await other.upsert_document("docs", external_id="x", content="text")


async def test_keyword_only_collections(rag: Any) -> None:
    await rag.create_collection("words", embedder="none")
    result = await rag.upsert_document("words", external_id="a", content="Refunds take ten days.")
    assert (result.chunks_written, result.embeddings_written) == (1, 0)
    assert len(await rag.search("words", "refunds")) == 1
    with pytest.raises(EmbedderMismatch):
        await rag.search("words", "refunds", mode="vector")
    stats = await rag.stats("words")
    assert (stats.embedding_provider, stats.pending) == (None, 0)


async def test_both_clients_and_sql_find_the_same(database: str) -> None:
    with Client(database, embedder="hash") as rag:
        rag.create_collection("docs")
        for number in range(30):
            rag.upsert_document(
                "docs",
                external_id=f"d{number}",
                content=f"Refunds number {number} take {number % 7} days, and word{number % 5} too.",
            )
        sync_hits = rag.search("docs", "refunds word3 days", k=7)
    async with AsyncClient(database) as async_rag:
        async_hits = await async_rag.search("docs", "refunds word3 days", k=7)
    vector = make_embedder("hash").embed_query("refunds word3 days")
    with psycopg.connect(database) as connection:
        rows = connection.execute(
            "select external_id, score, keyword_rank, vector_rank from ragpg.search_hybrid('docs', %s, %s, 7)",
            ("refunds word3 days", str(vector)),
        ).fetchall()
    assert len(sync_hits) == 7
    assert [asdict(hit) for hit in sync_hits] == [asdict(hit) for hit in async_hits]
    assert [(hit.external_id, hit.score, hit.keyword_rank, hit.vector_rank) for hit in sync_hits] == rows


async def test_a_switched_version_is_followed_and_models_are_never_mixed(database: str) -> None:
    with Client(database) as rag, psycopg.connect(database, autocommit=True) as connection:
        rag.create_collection("docs", embedder="hash:64")
        rag.upsert_document("docs", external_id="a", content="Refunds take ten days.")
        assert len(rag.search("docs", "refunds", mode="vector")) == 1
        (old,) = connection.execute(
            "select active_index_version from ragpg.collection_stats('docs')"
        ).fetchone() or (0,)
        (new,) = connection.execute(
            "select ragpg.create_index_version('docs', p_embedding_provider => 'hash', p_embedding_model => 'words',"
            " p_embedding_dimensions => 32)"
        ).fetchone() or (0,)
        connection.execute(
            "select ragpg.upsert_document('docs', 'a', 'Refunds take ten days.', p_index_version => %s)",
            (new,),
        )
        connection.execute("select ragpg.activate_index_version('docs', %s)", (new,))
        # Believing the old version for a few seconds is allowed, searching the new one with its vector is not.
        assert len(rag.search("docs", "refunds", mode="vector")) == 1
        connection.execute("select ragpg.drop_index_version('docs', %s)", (old,))
        assert rag.search("docs", "refunds", mode="vector") == []
        assert (
            rag.upsert_document("docs", external_id="a", content="Refunds take ten days.").embeddings_written
            == 1
        )
        (hit,) = rag.search("docs", "refunds", mode="vector")
        assert hit.external_id == "a"
