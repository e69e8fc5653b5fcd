"""Deterministic vectors without a model, for tests only: equal words give equal features, meaning plays no part."""

from __future__ import annotations

import hashlib
import math
import re
import sys
from collections.abc import Sequence

from ragpg.embedding.base import Progress, prepare
from ragpg.errors import ConfigError

_WORD = re.compile(r"\w+")
# Above this pgvector can't index a halfvec.
_MOST_DIMENSIONS = 4000


class HashEmbedder:
    """Feature hashing of words: every word adds 1 or -1 to one of the dimensions, then the vector is normalised.

    For tests only. Two texts are near when they share words, and for no other reason.

    Parameters
    ----------
    dimensions
        Length of the vectors.
    query_prefix, document_prefix
        Put before queries and documents; they count as words.

    Raises
    ------
    ConfigError
        Where ``dimensions`` is not from 1 to 4,000.
    """

    provider = "hash"
    model = "words"
    max_tokens = sys.maxsize

    def __init__(self, dimensions: int = 64, *, query_prefix: str = "", document_prefix: str = "") -> None:
        if not 1 <= dimensions <= _MOST_DIMENSIONS:
            raise ConfigError(f"the hash embedder takes 1 to {_MOST_DIMENSIONS} dimensions, not {dimensions}")
        self.dimensions = dimensions
        self.query_prefix = query_prefix
        self.document_prefix = document_prefix

    def embed_documents(
        self, texts: Sequence[str], *, on_progress: Progress | None = None
    ) -> list[list[float]]:
        """Hash each text; see :meth:`ragpg.embedding.Embedder.embed_documents`."""
        vectors: list[list[float]] = []
        for text in prepare(texts, self.document_prefix):
            vectors.append(self._vector(text))
            if on_progress is not None:
                on_progress(1)
        return vectors

    def embed_query(self, text: str) -> list[float]:
        """Hash a question; see :meth:`ragpg.embedding.Embedder.embed_query`."""
        return self._vector(prepare([text], self.query_prefix)[0])

    def count_tokens(self, text: str) -> int | None:
        """Count the words."""
        return len(_WORD.findall(text))

    def fits(self, text: str) -> bool:
        """Tell that any text fits."""
        return True

    def _vector(self, text: str) -> list[float]:
        folded = text.casefold()
        # A text without words, or whose words cancel out, is one feature, so that no vector is zero.
        vector = self._features(_WORD.findall(folded))
        if not any(vector):
            vector = self._features([folded])
        length = math.sqrt(sum(value * value for value in vector))
        return [value / length for value in vector]

    def _features(self, words: Sequence[str]) -> list[float]:
        vector = [0.0] * self.dimensions
        for word in words:
            number = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest())
            vector[(number >> 1) % self.dimensions] += 1.0 if number & 1 else -1.0
        return vector
