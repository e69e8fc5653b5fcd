"""Random collections of documents with permissions, and twins of their databases in which hidden documents are gone or others."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import psycopg

from tests.sql.helpers import Row, call, create, upsert

TENANTS = ("", "acme", "globex")
PRINCIPALS = ("user:ana", "user:bo", "group:hr", "group:eng", "group:board", 'o\'neill, "{x}" \\ ä')
LANGUAGES = ("english",) * 6 + ("german", "french", "simple")
DIMENSIONS = 4
# invented words that no stemmer changes, so that what a page may hold can be told without one
WORDS = (
    "alkor",
    "bentro",
    "cuvat",
    "drumpo",
    "elvik",
    "fonto",
    "gralt",
    "hupko",
    "jalvo",
    "kembo",
    "lurto",
    "mipto",
)
# words that the stemmers of several languages cut differently
INFLECTED = (
    "running",
    "houses",
    "libraries",
    "Häuser",
    "haus",
    "Katzen",
    "katz",
    "mangeons",
    "mang",
    "continuellement",
    "maladies",
    "the",
    "und",
    "les",
)
CODES = ("ERR-1042", "foo_bar", "C++", "a/b.c", "ana@example.org", "3.11", "東京都", "東京の夜")


@dataclass
class Document:
    """What was written, in the words of the test."""

    tenant_id: str
    external_id: str
    acl: list[str]
    expired: bool
    metadata: Row
    language: str
    marker: str
    pieces: list[str]
    chunk_metadata: list[Row]
    embeddings: list[list[float] | None]
    parents: list[tuple[int, int]]

    @property
    def content(self) -> str:
        """The document's text."""
        return "\n\n".join(self.pieces)

    @property
    def spans(self) -> list[tuple[int, int]]:
        """Where the chunks begin and end."""
        spans: list[tuple[int, int]] = []
        start = 0
        for piece in self.pieces:
            spans.append((start, start + len(piece)))
            start += len(piece) + 2
        return spans

    def is_visible(self, tenant_id: str, principals: Sequence[str]) -> bool:
        """The rule, written a second time."""
        return (
            self.tenant_id == tenant_id
            and not self.expired
            and any(name in (*principals, "public") for name in self.acl)
        )

    def write(self, connection: psycopg.Connection[Any]) -> None:
        """Store the document, as it is now."""
        upsert(
            connection,
            self.external_id,
            self.pieces,
            self.embeddings,
            headings=[f"{self.marker} heading {place}" for place in range(len(self.pieces))],
            chunk_metadata=self.chunk_metadata,
            parents=self.parents,
            title=f"{self.marker} title",
            uri=f"file:///{self.marker}",
            language=self.language,
            metadata=json.dumps(self.metadata),
            acl=self.acl,
            tenant_id=self.tenant_id,
            expires_at="2020-01-01" if self.expired else None,
        )


@dataclass
class World:
    """All documents of one collection, ``c``."""

    documents: list[Document] = field(default_factory=list[Document])

    def by_key(self) -> dict[tuple[str, str], Document]:
        """The documents by tenant and external id."""
        return {(document.tenant_id, document.external_id): document for document in self.documents}


def metadata(source: random.Random) -> Row:
    """Values that filters stumble over: of another type, nought, absent."""
    made: Row = {"year": source.choice([2022, 2023, 2024, 2025, "2025", "soon", None, [2024]])}
    if source.random() < 0.8:
        made["n"] = source.choice([0, 0, 1, 4, 20, "x", 10**300])
    if source.random() < 0.7:
        made["tag"] = source.choice(["red", "green", "r[e", 7])
    if source.random() < 0.5:
        made["list"] = source.choices([1, 2, 3], k=source.randint(0, 6))
    if source.random() < 0.3:
        made["secret"] = source.choice([True, "when", "2024-05-05"])
    return made


def piece(source: random.Random, marker: str, place: int) -> str:
    """Text of a chunk; the document's marker stands in each."""
    words = source.choices(
        WORDS, weights=[1 / (rank + 1) for rank in range(len(WORDS))], k=source.randint(2, 9)
    )
    words += source.choices(INFLECTED, k=source.randint(0, 3))
    words += source.choices(CODES, k=source.randint(0, 2))
    source.shuffle(words)
    return " ".join([marker, f"part{place}", *words])


def vector_of(source: random.Random) -> list[float]:
    """A vector that half precision holds exactly, so that ties are ties."""
    while not any(values := [source.randint(-8, 8) / 4 for _ in range(DIMENSIONS)]):
        pass
    return values


def fill(source: random.Random, document: Document, chunks: int | None = None) -> None:
    """Give a document new chunks."""
    count = chunks or source.choice([1, 1, 2, 3, 5])
    document.pieces = [piece(source, document.marker, place) for place in range(count)]
    document.chunk_metadata = [metadata(source) for _ in range(count)]
    pending = source.random() < 0.1
    document.embeddings = [
        None if pending and source.random() < 0.5 else vector_of(source) for _ in range(count)
    ]
    # the first chunks share one parent, the others have their own
    shared = source.randint(0, count)
    spans = document.spans
    document.parents = [
        (0, spans[shared - 1][1]) if place < shared else span for place, span in enumerate(spans)
    ]


def make_document(source: random.Random, number: int) -> Document:
    """Make a random document; external ids come several times, in different tenants."""
    document = Document(
        tenant_id=source.choices(TENANTS, weights=(3, 2, 1))[0],
        external_id=f"d{number}",
        acl=source.choice([["public"], source.sample(PRINCIPALS, source.randint(0, 4))]),
        expired=source.random() < 0.12,
        metadata=metadata(source),
        language=source.choice(LANGUAGES),
        marker=f"mark{number}x{source.randrange(10**6)}",
        pieces=[],
        chunk_metadata=[],
        embeddings=[],
        parents=[],
    )
    fill(source, document)
    return document


def make_world(source: random.Random) -> World:
    """Make a collection of random size."""
    documents: dict[tuple[str, str], Document] = {}
    for _ in range(source.choice([25, 50, 100])):
        document = make_document(source, source.randrange(40))
        documents[document.tenant_id, document.external_id] = document
    return World(list(documents.values()))


def make_large_world(source: random.Random) -> World:
    """Make a collection that is too large to be counted live, with callers who may see too much of it to compare everything."""
    documents = [make_document(source, number) for number in range(1500)]
    for document in documents:
        if source.random() < 0.8:
            document.tenant_id = TENANTS[0]
        fill(source, document, chunks=16)
    return World(documents)


def write_world(connection: psycopg.Connection[Any], world: World) -> None:
    """Make the collection and store the documents."""
    create(connection, dimensions=DIMENSIONS)
    for document in world.documents:
        document.write(connection)


def hide(
    source: random.Random,
    connection: psycopg.Connection[Any],
    world: World,
    tenant_id: str,
    principals: Sequence[str],
) -> None:
    """Delete what is hidden from a caller, or replace it by something else that is hidden as well, or add to it."""
    manner = source.choice(["absent", "replaced", "mixed", "more"])
    for document in world.documents:
        if document.is_visible(tenant_id, principals):
            continue
        if manner == "absent" or (manner == "mixed" and source.random() < 0.5):
            call(
                connection,
                "delete_document",
                p_collection="c",
                p_external_id=document.external_id,
                p_tenant_id=document.tenant_id,
            )
        elif manner != "more":
            other = make_document(source, 0)
            other.tenant_id, other.external_id = document.tenant_id, document.external_id
            other.acl, other.expired = document.acl, document.expired
            other.write(connection)
    if manner == "more":
        for number in range(source.randint(1, 25)):
            extra = make_document(source, 100_000 + number)
            if not extra.is_visible(tenant_id, principals):
                extra.write(connection)
    if source.random() < 0.5:
        call(connection, "refresh_statistics", p_collection="c")
    if source.random() < 0.5:
        connection.execute("analyze ragpg.document, ragpg.chunk, ragpg.embedding")
