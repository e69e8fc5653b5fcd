"""What an ingest run computes and writes: only what changed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ragpg import Client
from ragpg.ingest.ids import chunk_ids, document_id
from tests.integration.conftest import CountingEmbedder

Query = Callable[..., list[tuple[Any, ...]]]
RowState = Callable[[], list[tuple[Any, ...]]]


def long_document(paragraphs: int) -> list[str]:
    words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa"]
    return [
        f"Paragraph {number} " + " ".join(f"{word}{number}" for word in words) + "."
        for number in range(paragraphs)
    ]


def write(folder: Path, paragraphs: list[str]) -> None:
    (folder / "long.md").write_text("# Long\n\n" + "\n\n".join(paragraphs) + "\n")


def test_the_same_folder_again_computes_and_writes_nothing(
    rag: Client, folder: Path, embedder: CountingEmbedder, row_state: RowState
) -> None:
    first = rag.ingest("docs", folder, metadata={"team": "hr"}, acl=["group:hr"])
    assert (first.created, first.embedded, first.chunks_written) == (3, 3, 3)
    embedder.texts.clear()
    before = row_state()
    again = rag.ingest("docs", folder, metadata={"team": "hr"}, acl=["group:hr"], sync=True)
    assert (again.unchanged, again.created, again.chunks_written, again.deleted) == (3, 0, 0, 0)
    assert (again.embedded, again.reused, embedder.texts) == (0, 3, [])
    assert row_state() == before


def test_one_changed_paragraph_of_200_chunks_costs_at_most_3_embeddings(
    rag: Client, folder: Path, embedder: CountingEmbedder, query: Query
) -> None:
    paragraphs = long_document(400)
    write(folder, paragraphs)
    first = rag.ingest("docs", folder / "long.md")
    chunks = first.chunks_written
    assert chunks >= 200
    ids = query("select id from ragpg.chunk order by ordinal")
    embedder.texts.clear()
    paragraphs[100] = paragraphs[100].replace("alpha100", "zanzibar")
    write(folder, paragraphs)
    again = rag.ingest("docs", folder / "long.md")
    assert again.updated == 1
    assert 1 <= len(embedder.texts) <= 3
    assert again.embedded == len(embedder.texts)
    assert again.reused == chunks - again.embedded
    kept = set(ids) & set(query("select id from ragpg.chunk"))
    assert len(kept) >= chunks - 3
    assert rag.stats("docs").pending == 0
    (hit,) = rag.search("docs", "zanzibar", mode="keyword")
    assert "Paragraph 100" in hit.content
    assert not any("alpha100" in hit.content for hit in rag.search("docs", "alpha100", mode="keyword", k=500))


def test_an_inserted_paragraph_moves_the_others_without_embedding_them(
    rag: Client, folder: Path, embedder: CountingEmbedder
) -> None:
    paragraphs = long_document(60)
    write(folder, paragraphs)
    rag.ingest("docs", folder / "long.md")
    embedder.texts.clear()
    write(
        folder,
        ["A new beginning of thirteen words that stands before all of the others here now.", *paragraphs],
    )
    rag.ingest("docs", folder / "long.md")
    assert 1 <= len(embedder.texts) <= 3


def test_a_text_that_comes_back_is_taken_from_the_cache(
    rag: Client, folder: Path, embedder: CountingEmbedder
) -> None:
    file = folder / "it" / "vpn.txt"
    text = file.read_text()
    rag.ingest("docs", folder)
    file.write_text("Something else for a while.\n")
    rag.ingest("docs", folder)
    embedder.texts.clear()
    file.write_text(text)
    report = rag.ingest("docs", folder)
    assert (report.updated, report.embedded, report.reused, embedder.texts) == (1, 0, 3, [])
    assert rag.stats("docs").pending == 0


def test_a_changed_attribute_rewrites_no_chunk_and_no_vector(
    rag: Client, folder: Path, embedder: CountingEmbedder, query: Query
) -> None:
    rag.ingest("docs", folder, acl=["public"])
    embedder.texts.clear()
    before = query(
        "select ctid::text, xmin::text from ragpg.chunk union all select ctid::text, xmin::text from ragpg.embedding"
    )
    report = rag.ingest("docs", folder, acl=["group:hr"])
    assert (report.attributes, report.chunks_written, embedder.texts) == (3, 0, [])
    after = query(
        "select ctid::text, xmin::text from ragpg.chunk union all select ctid::text, xmin::text from ragpg.embedding"
    )
    assert sorted(after) == sorted(before)
    assert rag.search("docs", "leave") == []


def test_a_changed_title_embeds_anew_because_it_heads_every_chunk(
    rag: Client, folder: Path, embedder: CountingEmbedder
) -> None:
    rag.ingest("docs", folder / "hr" / "leave.md")
    embedder.texts.clear()
    (folder / "hr" / "leave.md").write_text(
        "---\ntitle: Holidays\n---\n# Leave\n\nEveryone has thirty days of leave.\n"
    )
    report = rag.ingest("docs", folder / "hr" / "leave.md")
    assert len(embedder.texts) == 1
    assert embedder.texts[0].startswith("Holidays")
    assert report.failures == []
    assert rag.search("docs", "holidays", mode="keyword")[0].title == "Holidays"
    assert rag.stats("docs").pending == 0


def test_vectors_are_computed_in_full_batches_across_documents(
    rag: Client, tmp_path: Path, embedder: CountingEmbedder
) -> None:
    for number in range(100):
        (tmp_path / f"{number:03}.txt").write_text(f"Document {number} is short.\n")
    rag.ingest("docs", tmp_path)
    assert sum(embedder.batches) == 100
    assert max(embedder.batches) == 100


def test_the_same_text_in_many_files_is_embedded_once(
    rag: Client, tmp_path: Path, embedder: CountingEmbedder
) -> None:
    for number in range(5):
        (tmp_path / f"{number}.txt").write_text("All the same.\n")
    report = rag.ingest("docs", tmp_path)
    assert (report.created, report.embedded, report.reused, len(embedder.texts)) == (5, 1, 4, 1)
    assert rag.stats("docs").embeddings == 5


def test_what_sql_wrote_without_vectors_is_embedded_by_the_next_run(
    rag: Client, folder: Path, query: Query
) -> None:
    query("select * from ragpg.upsert_document('docs', 'by-sql', E'First paragraph.\\n\\nSecond paragraph.')")
    assert rag.stats("docs").pending == 1
    report = rag.ingest("docs", folder)
    assert report.embedded == 4
    stats = rag.stats("docs")
    assert (stats.pending, stats.embeddings) == (0, 4)
    assert rag.search("docs", "second paragraph", mode="vector", k=1)[0].external_id == "by-sql"


def test_ids_are_the_databases(rag: Client, folder: Path, query: Query) -> None:
    (folder / "twice.md").write_text("# A\n\nSame words.\n\n# B\n\nSame words.\n\n# C\n\nOther wörds.\n")
    rag.ingest("docs", folder, tenant_id="acme")
    documents = query("select external_id, tenant_id, id from ragpg.document")
    assert len(documents) == 4
    for external_id, tenant_id, found in documents:
        assert found == document_id("docs", tenant_id, external_id)
        chunks = query("select content, id from ragpg.chunk where document_id = %s order by ordinal", found)
        assert [id for _, id in chunks] == chunk_ids(found, [content for content, _ in chunks])


def test_statistics_follow_the_first_fill_and_large_changes_only(rag: Client, tmp_path: Path) -> None:
    for number in range(40):
        (tmp_path / f"{number:02}.txt").write_text(f"Document {number}.\n")
    rag.ingest("docs", tmp_path)
    first = rag.stats("docs").statistics_at
    assert first is not None
    (tmp_path / "00.txt").write_text("One changed.\n")
    rag.ingest("docs", tmp_path)
    assert rag.stats("docs").statistics_at == first
    for number in range(10):
        (tmp_path / f"{number:02}.txt").write_text(f"Changed {number}.\n")
    rag.ingest("docs", tmp_path)
    assert rag.stats("docs").statistics_at != first


@pytest.mark.parametrize(
    "spec", [{"strategy": "recursive", "max_tokens": 32}, {"strategy": "fixed", "max_tokens": 16}]
)
def test_chunks_are_slices_of_what_is_stored(
    rag: Client, folder: Path, query: Query, spec: dict[str, Any]
) -> None:
    (folder / "odd.txt").write_text("Zażółć 𝒳 gęślą 日本語の文です。 " * 30)
    rag.create_collection("cut", chunking=spec)
    rag.ingest("cut", folder)
    rows = query(
        "select d.content, c.char_start, c.char_end, c.content from ragpg.chunk c join ragpg.document d on d.id = c.document_id"
    )
    assert len(rows) > 5
    assert all(whole[start:end] == content for whole, start, end, content in rows)


def test_going_back_to_an_older_version_never_finds_text_that_was_removed(
    rag: Client, folder: Path, query: Query
) -> None:
    def found(words: str, version: int) -> list[str]:
        return [hit.external_id for hit in rag.search("docs", words, mode="keyword", index_version=version)]

    (folder / "refunds.md").write_text("# Refunds\n\nThe old password is zanzibar.\n")
    assert rag.ingest("docs", folder).created == 3
    old = rag.stats("docs").active_index_version
    assert old is not None
    ((new,),) = query("select ragpg.create_index_version('docs')")
    query(
        "select ragpg.upsert_document('docs', external_id, content, p_uri => uri, p_title => title, "
        "p_media_type => media_type, p_index_version => %s) from ragpg.document",
        new,
    )
    query("select ragpg.activate_index_version('docs', %s)", new)
    assert (found("zanzibar", old), found("zanzibar", new)) == (["refunds.md"], ["refunds.md"])
    (folder / "refunds.md").write_text("# Refunds\n\nThe new password is timbuktu.\n")
    changed = rag.ingest("docs", folder)
    assert (changed.updated, changed.failures) == (1, [])
    assert found("timbuktu", new) == ["refunds.md"]

    query("select ragpg.activate_index_version('docs', %s)", old)
    assert (found("zanzibar", old), found("timbuktu", old)) == ([], [])
    assert found("VPN", old) == ["it/vpn.txt"]
    again = rag.ingest("docs", folder)
    assert (again.chunks_written, again.unchanged, again.failures) == (1, 2, [])
    assert (found("zanzibar", old), found("timbuktu", old)) == ([], ["refunds.md"])
    assert rag.stats("docs").pending == 0
