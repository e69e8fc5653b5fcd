"""A collection of any size in seconds: random words and vectors, written by COPY, with exact answers to compare with.

Two groups of callers: ``group:broad`` reads nearly everything, ``group:narrow`` a small share. Who may read what is independent
of the vectors and of the words.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import psycopg

from tests.sql.reference import bm25, rrf

COLLECTION = "planted"
CHUNKS_PER_DOCUMENT = 5
BROAD, NARROW = "group:broad", "group:narrow"

_VOCABULARY = 3000
_SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]
_COPY_HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_COPY_TRAILER = b"\xff\xff"


def word(number: int) -> str:
    """The word of a number: letters only, so that every analysis leaves it whole."""
    first, rest = number % len(_SYLLABLES), number // len(_SYLLABLES)
    return f"x{_SYLLABLES[rest]}{_SYLLABLES[first]}x"


@dataclass(repr=False)
class Corpus:
    """What was planted, kept for the oracle.

    Attributes
    ----------
    ids
        The chunks' ids.
    words
        Each chunk's words, by number.
    vectors
        Each chunk's vector in the precision in which it is stored, of length 1.
    visible
        For a principal, which chunks it may read.
    """

    ids: list[str]
    words: list[npt.NDArray[np.int64]]
    vectors: npt.NDArray[np.float32]
    visible: dict[str, npt.NDArray[np.bool_]]
    _source: np.random.Generator
    _frequencies: Counter[int] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        for words in self.words:
            self._frequencies.update(set(words.tolist()))
        self._average = float(np.mean([len(words) for words in self.words]))

    def query_words(self, count: int = 4) -> list[int]:
        """Words for a query, common and rare ones as in the chunks, and one that even few chunks are sure to hold."""
        return [int(self._source.integers(3)), *_zipf(self._source, count - 1).tolist()]

    def query_vector(self) -> npt.NDArray[np.float32]:
        """A vector to search for."""
        return _directions(self._source, 1, self.vectors.shape[1])[0]

    def nearest(self, vector: npt.NDArray[np.float32], principal: str, k: int) -> list[str]:
        """The ids of the ``k`` nearest visible chunks, by comparing all of them."""
        rows = np.flatnonzero(self.visible[principal])
        query = vector.astype(np.float16).astype(np.float32)
        distances = 1 - self.vectors[rows] @ (query / np.linalg.norm(query))
        best = np.lexsort((rows, distances))[:k]
        return [self.ids[row] for row in rows[best]]

    def keyword_scores(self, query: Sequence[int], principal: str) -> dict[str, float]:
        """The BM25 score of every visible chunk that holds a word of the query."""
        frequencies = {str(term): self._frequencies[term] for term in query}
        counts = Counter(map(str, query))
        scores: dict[str, float] = {}
        for row in np.flatnonzero(self.visible[principal]):
            words = self.words[row]
            held = Counter({str(term): int((words == term).sum()) for term in set(query)})
            score = bm25(
                counts,
                held,
                len(words),
                chunks=len(self.ids),
                average_length=self._average,
                document_frequencies=frequencies,
            )
            if score > 0:
                scores[self.ids[row]] = score
        return scores

    def matching(self, query: Sequence[int], principal: str, k: int) -> list[str]:
        """The ids of the ``k`` best visible chunks by BM25, ties by id."""
        scores = self.keyword_scores(query, principal)
        return sorted(scores, key=lambda key: (-round(scores[key], 9), key))[:k]

    def fused(
        self,
        query: Sequence[int],
        vector: npt.NDArray[np.float32],
        principal: str,
        k: int,
        candidates: int = 50,
    ) -> list[str]:
        """The ids of the ``k`` best by reciprocal rank fusion of both, ties by id."""
        legs = [self.matching(query, principal, candidates), self.nearest(vector, principal, candidates)]
        ranks = [{key: place for place, key in enumerate(leg, 1)} for leg in legs]
        scores = {key: rrf([leg.get(key) for leg in ranks], [1, 1]) for key in {*legs[0], *legs[1]}}
        return sorted(scores, key=lambda key: (-round(scores[key], 12), key))[:k]


def plant(
    connection: psycopg.Connection[Any], chunks: int, dimensions: int, *, narrow: float, seed: int = 1
) -> Corpus:
    """Make the collection, with its HNSW index, its statistics and those of the planner.

    Parameters
    ----------
    connection
        The owner's, in autocommit.
    chunks
        How many, a multiple of :data:`CHUNKS_PER_DOCUMENT`.
    dimensions
        Of the vectors.
    narrow
        The share of the documents that ``group:narrow`` reads.
    seed
        Of everything random.
    """
    source = np.random.default_rng(seed)
    documents = chunks // CHUNKS_PER_DOCUMENT
    is_narrow = np.zeros(documents, dtype=bool)
    is_narrow[source.choice(documents, max(1, round(documents * narrow)), replace=False)] = True
    is_broad = source.random(documents) < 0.9
    document_ids = np.frombuffer(source.bytes(16 * documents), dtype="V16")
    chunk_ids = np.frombuffer(source.bytes(16 * chunks), dtype="V16")
    lengths = source.integers(8, 26, chunks)
    words = np.split(_zipf(source, int(lengths.sum())), np.cumsum(lengths)[:-1])
    vectors = _directions(source, chunks, dimensions).astype(np.float16)

    row = connection.execute(
        "select ragpg.create_collection(%s, 'simple', p_embedding_provider => 'planted', p_embedding_model => 'planted',"
        " p_embedding_dimensions => %s)",
        (COLLECTION, dimensions),
    ).fetchone()
    assert row is not None
    (version,) = connection.execute("select max(id) from ragpg.index_version").fetchone() or (0,)
    texts = [" ".join(map(word, numbers)) for numbers in words]
    with connection.transaction():
        _write_documents(connection, row[0], document_ids, texts, is_narrow, is_broad)
        _write_chunks(connection, version, document_ids, chunk_ids, texts)
        _write_embeddings(connection, version, document_ids, chunk_ids, vectors)
    connection.execute("select ragpg.refresh_statistics(%s)", (COLLECTION,))
    connection.execute("vacuum (analyze) ragpg.document, ragpg.chunk, ragpg.embedding")
    stored = vectors.astype(np.float32)
    return Corpus(
        ids=[_text(key) for key in chunk_ids],
        words=words,
        vectors=stored / np.linalg.norm(stored, axis=1, keepdims=True),
        visible={
            BROAD: np.repeat(is_broad, CHUNKS_PER_DOCUMENT),
            NARROW: np.repeat(is_narrow, CHUNKS_PER_DOCUMENT),
        },
        _source=source,
    )


def _write_documents(
    connection: psycopg.Connection[Any],
    collection: int,
    ids: npt.NDArray[np.void],
    texts: list[str],
    is_narrow: npt.NDArray[np.bool_],
    is_broad: npt.NDArray[np.bool_],
) -> None:
    columns = "id, collection_id, external_id, language, acl, content, content_hash, indexed_at"
    with (
        connection.cursor() as cursor,
        cursor.copy(f"copy ragpg.document ({columns}) from stdin") as copy,
    ):
        for number, key in enumerate(ids):
            acl = [name for name, holds in ((NARROW, is_narrow[number]), (BROAD, is_broad[number])) if holds]
            content = "\n\n".join(texts[number * CHUNKS_PER_DOCUMENT :][:CHUNKS_PER_DOCUMENT])
            copy.write_row(
                (_text(key), collection, f"d{number}", "simple", acl, content, b"\0" * 32, "2024-01-01Z")
            )


def _write_chunks(
    connection: psycopg.Connection[Any],
    version: int,
    document_ids: npt.NDArray[np.void],
    ids: npt.NDArray[np.void],
    texts: list[str],
) -> None:
    connection.execute(
        "create temporary table piece (document_id uuid, id uuid, ordinal int, content text, char_start int) on commit drop"
    )
    start = 0
    with connection.cursor() as cursor, cursor.copy("copy piece from stdin") as copy:
        for number, text in enumerate(texts):
            document, ordinal = divmod(number, CHUNKS_PER_DOCUMENT)
            start = 0 if ordinal == 0 else start
            copy.write_row((_text(document_ids[document]), _text(ids[number]), ordinal, text, start))
            start += len(text) + 2
    connection.execute(
        "insert into ragpg.chunk (index_version_id, document_id, id, ordinal, content, char_start, char_end, content_tsv, lexeme_count)"
        " select %s, document_id, id, ordinal, content, char_start, char_start + length(content), analysed,"
        "   ragpg._lexeme_count(analysed)"
        " from piece cross join lateral ragpg._analyze('simple', content) as analysed",
        (version,),
    )


def _write_embeddings(
    connection: psycopg.Connection[Any],
    version: int,
    document_ids: npt.NDArray[np.void],
    ids: npt.NDArray[np.void],
    vectors: npt.NDArray[np.float16],
) -> None:
    """Write the vectors in COPY's binary form: as text, parsing them takes longer than all the rest."""
    dimensions = vectors.shape[1]
    rows = np.empty(
        len(ids),
        dtype=[
            ("fields", ">i2"),
            ("version_size", ">i4"),
            ("version", ">i8"),
            ("document_size", ">i4"),
            ("document", "V16"),
            ("chunk_size", ">i4"),
            ("chunk", "V16"),
            ("vector_size", ">i4"),
            ("dimensions", ">i2"),
            ("unused", ">i2"),
            ("vector", ">f2", (dimensions,)),
        ],
    )
    values: dict[str, Any] = {
        "fields": 4,
        "version_size": 8,
        "version": version,
        "document_size": 16,
        "document": np.repeat(document_ids, CHUNKS_PER_DOCUMENT),
        "chunk_size": 16,
        "chunk": ids,
        "vector_size": 4 + 2 * dimensions,
        "dimensions": dimensions,
        "unused": 0,
        "vector": vectors,
    }
    for name, value in values.items():
        rows[name] = value
    # An index is built faster over rows that are there than row by row.
    index = connection.execute(
        "select format('%%I.%%I', schemaname, indexname), indexdef from pg_indexes where tablename = %s and indexdef ~ ' hnsw '",
        (f"embedding_v{version}",),
    ).fetchone()
    assert index is not None
    connection.execute(f"drop index {index[0]}")
    with (
        connection.cursor() as cursor,
        cursor.copy("copy ragpg.embedding from stdin (format binary)") as copy,
    ):
        copy.write(_COPY_HEADER)
        for part in range(0, len(rows), 4096):
            copy.write(rows[part : part + 4096].tobytes())
        copy.write(_COPY_TRAILER)
    connection.execute(index[1])


def _text(key: np.void) -> str:
    return str(uuid.UUID(bytes=key.tobytes()))


def _zipf(source: np.random.Generator, count: int) -> npt.NDArray[np.int64]:
    weights = 1 / np.arange(1, _VOCABULARY + 1)
    return source.choice(_VOCABULARY, count, p=weights / weights.sum())


def _directions(source: np.random.Generator, count: int, dimensions: int) -> npt.NDArray[np.float32]:
    values = source.standard_normal((count, dimensions), dtype=np.float32)
    return values / np.linalg.norm(values, axis=1, keepdims=True)
