"""A corpus that can be made in any size: pseudo-words by Zipf's law, and vectors in clusters.

Words repeat within a chunk as in real text (a word that occurred is likely to occur again), so that term frequencies matter. The
vectors are a mixture of Gaussians in a few dimensions, projected into many: an HNSW index behaves on them as on real embeddings.
What a caller may see is chosen by document, independently of the vectors (``rank``) or by region of their space (``place``).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .source import Batch, Document, Vectors, normalised

FRACTIONS = (0.001, 0.005, 0.02, 0.1, 0.4, 0.9)
CHUNKS_PER_DOCUMENT = 4
# Documents get ranks and places up to this, so that a range filter reads the same in every corpus.
SCALE = 1_000_000

_BATCH = 2_500
_VOCABULARY = 50_000
# share of the words that repeat one of the chunk: with it term frequencies are those of scifact, cranfield and mtrag_un
_REPEATED = 0.18
_MEAN_LENGTH = 100
_CLUSTERS = 500
_LATENT = 24
_SPREAD = 0.6
_SPREAD_IN_DOCUMENT = 0.33
_NOISE = 0.03
_SEED = 20261201


def tag(kind: str, fraction: float) -> str:
    """The principal, and the metadata tag, of a share of the documents: ``independent 0.1``, in percent."""
    return f"{kind} {fraction * 100:g}"


class Synthetic:
    """A corpus of ``chunks`` chunks.

    Parameters
    ----------
    chunks
        How many, rounded down to whole documents.
    dimensions
        Length of the vectors.
    """

    language = "simple"
    plain_words = True

    def __init__(self, chunks: int, dimensions: int = 384) -> None:
        self.chunks = chunks // CHUNKS_PER_DOCUMENT * CHUNKS_PER_DOCUMENT
        self.dimensions = dimensions
        self._documents = self.chunks // CHUNKS_PER_DOCUMENT
        random = np.random.default_rng(_SEED)
        weights = 1 / np.arange(1, _VOCABULARY + 1)
        self._probability = weights / weights.sum()
        self._expected = 1 - (1 - self._probability) ** (_MEAN_LENGTH * (1 - _REPEATED))
        self._words = _vocabulary(random)
        self._projection = random.normal(size=(_LATENT, dimensions)) / np.sqrt(dimensions)
        centres = random.normal(size=(_CLUSTERS, _LATENT))
        cluster = random.integers(0, _CLUSTERS, self._documents)
        offset = np.sqrt(_SPREAD**2 - _SPREAD_IN_DOCUMENT**2) * random.normal(size=(self._documents, _LATENT))
        self._latent = np.repeat(centres[cluster] + offset, CHUNKS_PER_DOCUMENT, axis=0)
        self._latent += _SPREAD_IN_DOCUMENT * random.normal(size=self._latent.shape)
        # clusters by distance from the first, and within one its middle first: a share is a region of the space
        from_first = np.linalg.norm(centres - centres[0], axis=1)[cluster]
        order = np.lexsort((np.linalg.norm(offset, axis=1), from_first))
        self._place = _positions(order)
        self._rank = _positions(random.permutation(self._documents))

    @property
    def key(self) -> dict[str, Any]:
        return {
            "source": "synthetic",
            "chunks": self.chunks,
            "dimensions": self.dimensions,
            "repeated_words": _REPEATED,
        }

    def batches(self) -> Iterator[Batch]:
        for number, start in enumerate(range(0, self._documents, _BATCH)):
            documents = range(start, min(start + _BATCH, self._documents))
            random = np.random.default_rng((_SEED, number))
            rows = slice(documents.start * CHUNKS_PER_DOCUMENT, documents.stop * CHUNKS_PER_DOCUMENT)
            texts = self._texts(random, rows.stop - rows.start)
            yield Batch(
                [
                    self._document(document, texts[place * CHUNKS_PER_DOCUMENT :][:CHUNKS_PER_DOCUMENT])
                    for place, document in enumerate(documents)
                ],
                self._embed(self._latent[rows], random),
            )

    def questions(self, count: int = 40) -> dict[str, list[str]]:
        """Questions of words that occur in a given share of the chunks, so that every size has the same."""
        random = np.random.default_rng(_SEED + 1)
        many = np.geomspace(0.3, 0.0005, 30)
        kinds: dict[str, tuple[float, ...]] = {
            "5 terms": (0.2, 0.05, 0.02, 0.005, 0.001),
            "5 terms, one in a quarter": (0.25, 0.1, 0.03, 0.005, 0.001),
            "30 terms": tuple(many),
            "1 rare term": (0.001,),
            "1 common term": (0.2,),
            "2 common terms": (0.25, 0.15),
        }
        return {
            kind: [" ".join(self._word_in(random, share) for share in shares) for _ in range(count)]
            for kind, shares in kinds.items()
        }

    def query_vectors(self, count: int) -> Vectors:
        """Vectors near those of random chunks, whoever may see them."""
        random = np.random.default_rng(_SEED + 2)
        near = self._latent[random.integers(0, self.chunks, count)]
        return self._embed(near + 0.2 * random.normal(size=near.shape), random)

    def _word_in(self, random: np.random.Generator, share: float) -> str:
        """A word expected in about that share of the chunks."""
        nearest = int(np.argmin(np.abs(self._expected - share)))
        around = max(2, nearest // 8)
        return self._words[max(0, nearest + int(random.integers(-around, around + 1)))]

    def _texts(self, random: np.random.Generator, count: int) -> list[str]:
        lengths = np.clip(random.normal(_MEAN_LENGTH, 20, count), 40, 180).astype(int)
        width = int(lengths.max())
        chosen = random.choice(_VOCABULARY, size=(count, width), p=self._probability)
        repeated = random.random((count, width)) < _REPEATED
        earlier = (random.random((count, width)) * np.arange(width)).astype(int)
        every = np.arange(count)
        for column in range(1, width):
            again = repeated[:, column]
            chosen[again, column] = chosen[every[again], earlier[again, column]]
        return [
            " ".join([self._words[word] for word in row[:length]])
            for row, length in zip(chosen.tolist(), lengths.tolist(), strict=True)
        ]

    def _document(self, number: int, chunks: list[str]) -> Document:
        rank, place = int(self._rank[number]), int(self._place[number])
        tags = [
            tag(kind, fraction)
            for kind, position in (("independent", rank), ("clustered", place))
            for fraction in FRACTIONS
            if position < fraction * SCALE
        ]
        return Document(
            external_id=f"document {number}",
            chunks=chunks,
            acl=["everyone", *tags],
            metadata={"rank": rank, "place": place, "tags": tags},
        )

    def _embed(self, latent: NDArray[Any], random: np.random.Generator) -> Vectors:
        noise = _NOISE * random.normal(size=(len(latent), self.dimensions))
        return normalised((latent @ self._projection + noise).astype(np.float32))


def _vocabulary(random: np.random.Generator) -> list[str]:
    """Distinct pseudo-words of three syllables, in lower case."""
    syllables = [consonant + vowel for consonant in "bdfghjklmnprstvwxzqc" for vowel in "aeiou"]
    chosen = random.choice(len(syllables) ** 3, _VOCABULARY, replace=False)
    return [
        syllables[number // 10_000] + syllables[number // 100 % 100] + syllables[number % 100]
        for number in chosen.tolist()
    ]


def _positions(order: NDArray[Any]) -> NDArray[Any]:
    """Where each item stands in the order, from 0 to under SCALE."""
    positions = np.empty(len(order), dtype=np.int64)
    positions[order] = np.arange(len(order)) * SCALE // len(order)
    return positions
