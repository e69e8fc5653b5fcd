from typing import Any
from uuid import uuid4

import psycopg
import pytest

from ragpg.db.errors_map import translate
from ragpg.db.rows import ChunkState, DocumentState, IndexVersion
from ragpg.errors import CollectionNotFound, InvalidArgument
from ragpg.ingest.attributes import Attributes
from ragpg.ingest.ids import chunk_ids, content_hash, document_id
from ragpg.ingest.plan import Item, Work, is_current, is_fault_of_document, missing_vectors, needs_statistics
from ragpg.types import Chunk, CollectionStats, IngestReport, ParsedDocument

VERSION = IndexVersion(1, 1, "english", {}, "hash", "words", 64, "", "")
DOCUMENT = document_id("docs", "", "a")


def chunk(content: str, ordinal: int = 0, heading: str = "") -> Chunk:
    return Chunk(ordinal, content, 0, len(content), 1, heading)


def state(content: str = "text", chunk_count: int = 1, pending: int = 0, **changes: Any) -> DocumentState:
    values = {"title": None, "uri": None, "media_type": None, "metadata": {}, "acl": ["public"], **changes}
    return DocumentState(
        external_id="a",
        document_id=uuid4(),
        content_hash=content_hash(content),
        language="english",
        expires_at=None,
        chunk_count=chunk_count,
        pending=pending,
        **values,
    )


def item(content: str = "text") -> Item:
    return Item("a", "a", ParsedDocument(content), Attributes())


def test_current_is_what_has_the_text_the_attributes_and_chunks() -> None:
    assert is_current(item(), state(), VERSION)
    assert is_current(item(), state(pending=1), VERSION)
    assert not is_current(item(), None, VERSION)
    assert not is_current(item("changed"), state(), VERSION)
    assert not is_current(item(), state(title="T"), VERSION)
    assert not is_current(item(), state(chunk_count=0), VERSION)


def test_vectors_stay_where_text_and_heading_are_the_same() -> None:
    contents = ["one", "two", "one", "three"]
    stored = {
        id: ChunkState(id, b"", heading, has)
        for id, heading, has in zip(
            chunk_ids(DOCUMENT, contents), ["H", "H", "H", "H"], [True, True, True, False], strict=True
        )
    }
    chunks = [chunk("new", 0, "H"), chunk("one", 1, "H"), chunk("two", 2, "Other"), chunk("one", 3, "H")]
    assert missing_vectors(DOCUMENT, chunks, stored) == [0, 2]
    assert missing_vectors(DOCUMENT, [chunk("three", 0, "H")], stored) == [0]
    assert missing_vectors(None, chunks, {}) == [0, 1, 2, 3]


def test_work_puts_vectors_where_they_belong() -> None:
    work = Work(item(), [chunk("a"), chunk("b", heading="H"), chunk("c")], [1])
    assert work.inputs == ["H\n\nb"]
    assert work.embeddings(["[1]"]) == [None, "[1]", None]


@pytest.mark.parametrize(
    ("sqlstate", "of_document"),
    [("54000", True), ("22P05", True), ("23514", True), ("53100", False), ("08006", False), ("42501", False)],
)
def test_only_faults_of_the_data_are_the_documents(sqlstate: str, of_document: bool) -> None:
    driver = psycopg.errors.lookup(sqlstate)("x")
    error = translate(driver)
    error.__cause__ = driver
    assert is_fault_of_document(error) is of_document


def test_an_invalid_argument_is_the_documents_fault_a_missing_collection_is_not() -> None:
    assert is_fault_of_document(InvalidArgument("x"))
    assert not is_fault_of_document(CollectionNotFound("x"))


@pytest.mark.parametrize(
    ("written", "deleted", "chunks", "taken", "expected"),
    [
        (1, 0, 100, None, True),
        (10, 0, 100, "yes", False),
        (11, 0, 100, "yes", True),
        (0, 3, 100, "yes", True),
        (0, 1, 100, "yes", False),
        (0, 5, 0, None, False),
    ],
)
def test_statistics_follow_a_large_change(
    written: int, deleted: int, chunks: int, taken: Any, expected: bool
) -> None:
    stats = CollectionStats(
        "docs", "english", {}, None, None, None, 1, 20, chunks, 0, 0, None, statistics_at=taken
    )
    assert needs_statistics(IngestReport(chunks_written=written, deleted=deleted), stats) is expected
