"""That the database computes the same ids is tested in tests/integration."""

import hashlib
from uuid import UUID

from ragpg.ingest.ids import chunk_ids, content_hash, document_id


def test_a_document_id_is_a_uuid_of_version_8_over_its_names() -> None:
    digest = bytearray(hashlib.sha256(b"docs\0acme\0a/b.md").digest()[:16])
    found = document_id("docs", "acme", "a/b.md")
    assert found.version == 8
    assert found.variant == "specified in RFC 4122"
    digest[6] = 0x80 | digest[6] & 0x0F
    digest[8] = 0x80 | digest[8] & 0x3F
    assert found == UUID(bytes=bytes(digest))
    assert document_id("docs", "", "a") != document_id("docs", "a", "")


def test_chunk_ids_stay_when_another_chunk_changes() -> None:
    document = document_id("docs", "", "a")
    before = chunk_ids(document, ["one", "two", "three"])
    after = chunk_ids(document, ["zero", "one", "three"])
    assert after[1:] == [before[0], before[2]]
    assert after[0] not in before


def test_repeated_chunks_have_ids_of_their_own() -> None:
    document = document_id("docs", "", "a")
    same = chunk_ids(document, ["x", "x", "y", "x"])
    assert len(set(same)) == 4
    assert chunk_ids(document, ["x"]) == same[:1]
    assert chunk_ids(document_id("docs", "", "b"), ["x"]) != same[:1]


def test_the_content_hash_is_that_of_the_utf8_text() -> None:
    assert content_hash("é") == hashlib.sha256(b"\xc3\xa9").digest()
