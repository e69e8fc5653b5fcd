"""The language a document is stored with: named, else by its text, else the collection's."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from ragpg import Client
from ragpg.errors import InvalidArgument, MissingExtra
from tests.integration.conftest import CountingEmbedder

TEXTS = {
    "en.md": "# Insurance\n\nThe insurance pays for every damage that is reported within two weeks of the accident.\n",
    "de.md": "# Schaden\n\nDie Versicherung zahlt, wenn der Schaden innerhalb von zwei Wochen gemeldet wird.\n",
    "fr.md": "# Remboursement\n\nL'assureur rembourse les dépenses si le dommage est signalé dans les deux semaines.\n",
    "zh.md": "# 损坏\n\n损坏必须在两周内报告，否则保险公司不予赔偿。\n",
    "short.txt": "Schadenakte 4711\n",
}
EXPECTED = {
    "en.md": "english",
    "de.md": "german",
    "fr.md": "french",
    "zh.md": "simple",
    "short.txt": "english",
}

Query = Callable[..., list[tuple[Any, ...]]]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    folder = tmp_path / "files"
    folder.mkdir()
    for name, text in TEXTS.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def no_detector(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragpg.ingest.languages.detector_installed", lambda: False)


def languages(query: Query) -> dict[str, str]:
    return dict(query("select external_id, language from ragpg.document"))


def test_each_file_gets_the_language_of_its_text(rag: Client, files: Path, query: Query) -> None:
    assert rag.ingest("docs", files).failures == []
    assert languages(query) == EXPECTED


def test_one_query_meets_documents_of_several_languages(rag: Client, files: Path) -> None:
    rag.ingest("docs", files)

    def found(text: str) -> list[str]:
        return [hit.external_id for hit in rag.search("docs", text, mode="keyword")]

    # Other forms of the words than those in the texts, which only each language's own stemmer brings together.
    assert found("Versicherungen") == ["de.md"]
    assert found("reporting accidents") == ["en.md"]
    assert found("rembourser la dépense")[0] == "fr.md"
    assert found("保险公司") == ["zh.md"]
    assert set(found("Versicherungen accidents rembourser 保险公司")) == {"de.md", "en.md", "fr.md", "zh.md"}


def test_a_second_run_changes_nothing_whatever_detector_is_there(
    rag: Client,
    files: Path,
    query: Query,
    row_state: Callable[[], list[tuple[Any, ...]]],
    embedder: CountingEmbedder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rag.ingest("docs", files)
    before, embedded = row_state(), len(embedder.texts)
    assert rag.ingest("docs", files).unchanged == len(TEXTS)
    monkeypatch.setattr("ragpg.ingest.languages.detect_language", lambda text: "it")
    assert rag.ingest("docs", files).unchanged == len(TEXTS)
    monkeypatch.setattr("ragpg.ingest.languages.detector_installed", lambda: False)
    assert rag.ingest("docs", files).unchanged == len(TEXTS)
    assert row_state() == before
    assert len(embedder.texts) == embedded


def test_a_text_that_changes_its_language(rag: Client, files: Path, query: Query) -> None:
    rag.ingest("docs", files)
    (files / "de.md").write_text(TEXTS["fr.md"], encoding="utf-8")
    assert rag.ingest("docs", files).updated == 1
    assert languages(query)["de.md"] == "french"


@pytest.mark.usefixtures("no_detector")
def test_without_the_detector_a_document_keeps_its_language(
    rag: Client, files: Path, query: Query, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragpg.ingest.languages.detector_installed", lambda: True)
    rag.ingest("docs", files / "de.md")
    monkeypatch.setattr("ragpg.ingest.languages.detector_installed", lambda: False)
    (files / "de.md").write_text(TEXTS["de.md"] + "\nNicht danach.\n", encoding="utf-8")
    report = rag.ingest("docs", files)
    assert (report.updated, report.created, report.failures) == (1, len(TEXTS) - 1, [])
    assert languages(query) == {**dict.fromkeys(TEXTS, "english"), "de.md": "german"}


@pytest.mark.usefixtures("no_detector")
def test_auto_without_the_detector_is_refused(rag: Client, files: Path, query: Query) -> None:
    with pytest.raises(MissingExtra, match=r"ragpg\[languages\]"):
        rag.ingest("docs", files, language="auto")
    with pytest.raises(MissingExtra):
        rag.ingest_bytes("docs", b"Text.", external_id="a.txt", language="auto")
    with pytest.raises(MissingExtra):
        rag.upsert_document("docs", external_id="a", content="Text.", language="auto")
    assert languages(query) == {}
    (files / "de.md").write_text("---\nlanguage: auto\n---\n" + TEXTS["de.md"], encoding="utf-8")
    (failure,) = rag.ingest("docs", files).failures
    assert failure.path == str(files / "de.md")
    assert "ragpg[languages]" in failure.error


def test_what_is_named_wins(rag: Client, files: Path, query: Query) -> None:
    (files / "fr.md").write_text("---\nlanguage: spanish\n---\n" + TEXTS["fr.md"], encoding="utf-8")
    (files / ".ragpg.yaml").write_text("files: {zh.md: {language: auto}, short.txt: {language: german}}\n")
    rag.ingest("docs", files, language="italian")
    assert languages(query) == {
        "en.md": "italian",
        "de.md": "italian",
        "fr.md": "spanish",
        "zh.md": "simple",
        "short.txt": "german",
    }


def test_auto_looks_at_unchanged_texts_again(rag: Client, files: Path, query: Query) -> None:
    rag.ingest("docs", files, language="italian")
    assert rag.ingest("docs", files).unchanged == len(TEXTS)
    report = rag.ingest("docs", files, language="auto")
    assert (report.attributes, report.embedded) == (len(TEXTS), 0)
    assert languages(query) == EXPECTED


def test_simple_and_a_configuration_of_ones_own_are_for_all(
    rag: Client, database: str, files: Path, query: Query
) -> None:
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("create text search configuration public.house (copy = pg_catalog.english)")
    for language in ("simple", "public.house"):
        rag.create_collection("chosen", embedder="none", language=language)
        rag.ingest("chosen", files)
        assert set(languages(query).values()) == {language}
        rag.ingest("chosen", files, language="auto")
        assert languages(query) == {**EXPECTED, "short.txt": language}
        rag.drop_collection("chosen")


def test_one_text_and_one_file_in_memory(rag: Client, query: Query) -> None:
    for name, language in (("de.md", None), ("fr.md", "auto"), ("en.md", "simple")):
        rag.upsert_document("docs", external_id=name, content=TEXTS[name], language=language)
    rag.ingest_bytes("docs", TEXTS["zh.md"].encode(), external_id="zh.md")
    rag.ingest_bytes("docs", TEXTS["de.md"].encode(), external_id="named.md", language="dutch")
    assert languages(query) == {
        "de.md": "german",
        "fr.md": "french",
        "en.md": "simple",
        "zh.md": "simple",
        "named.md": "dutch",
    }
    again = rag.upsert_document("docs", external_id="de.md", content=TEXTS["de.md"])
    assert again.status == "unchanged"


def test_an_unknown_language_is_refused_before_anything_is_embedded(
    rag: Client, files: Path, query: Query, embedder: CountingEmbedder
) -> None:
    with pytest.raises(InvalidArgument, match="klingon"):
        rag.ingest("docs", files, language="klingon")
    with pytest.raises(InvalidArgument, match="klingon"):
        rag.ingest_bytes("docs", b"Text.", external_id="a.txt", language="klingon")
    with pytest.raises(InvalidArgument, match="klingon"):
        rag.upsert_document("docs", external_id="a", content="Text.", language="klingon")
    assert embedder.texts == []
    (files / "de.md").write_text("---\nlanguage: klingon\n---\nNuqneH Versicherung.\n", encoding="utf-8")
    (failure,) = rag.ingest("docs", files).failures
    assert failure.path == str(files / "de.md")
    assert "klingon" in failure.error
    assert not any("Versicherung" in text for text in embedder.texts)
    assert set(languages(query)) == set(TEXTS) - {"de.md"}
