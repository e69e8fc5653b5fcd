"""The ids of documents and chunks: UUIDv8 (RFC 9562) over SHA-256, computed by the database in the same way."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from uuid import UUID


def content_hash(content: str) -> bytes:
    """SHA-256 of the text in UTF-8."""
    return hashlib.sha256(content.encode()).digest()


def document_id(collection: str, tenant_id: str, external_id: str) -> UUID:
    """The id of a document: the same for the same collection name, tenant and external id.

    Parameters
    ----------
    collection, tenant_id, external_id
        What names the document. ``tenant_id`` is ``""`` for the default tenant.

    Returns
    -------
    UUID
        The document's id.
    """
    key = "\0".join((collection, tenant_id, external_id)).encode()
    return _uuid8(hashlib.sha256(key).digest())


def chunk_ids(document: UUID, contents: Iterable[str]) -> list[UUID]:
    """The ids of a document's chunks: the same for the same text, so that an edit elsewhere changes none.

    Parameters
    ----------
    document
        The document's id.
    contents
        The chunks' texts, in order. A repeated text is told apart by how often it came before.

    Returns
    -------
    list[UUID]
        One id for each chunk.
    """
    seen: Counter[bytes] = Counter()
    ids: list[UUID] = []
    for content in contents:
        digest = content_hash(content)
        occurrence = seen[digest].to_bytes(4, "big")
        ids.append(_uuid8(hashlib.sha256(document.bytes + digest + occurrence).digest()))
        seen[digest] += 1
    return ids


def _uuid8(digest: bytes) -> UUID:
    value = bytearray(digest[:16])
    value[6] = value[6] & 0x0F | 0x80
    value[8] = value[8] & 0x3F | 0x80
    return UUID(bytes=bytes(value))
