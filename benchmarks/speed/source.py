"""What a corpus is to the benchmark: documents cut into chunks, with a vector each, in batches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
SEPARATOR = "\n\n"


@dataclass(frozen=True)
class Document:
    external_id: str
    chunks: list[str]
    acl: list[str]
    metadata: dict[str, Any]


@dataclass(frozen=True)
class Batch:
    """Some documents, and the vectors of all their chunks in order."""

    documents: list[Document]
    vectors: Vectors


class Source(Protocol):
    """A corpus and the questions put to it; the same every time it is made."""

    language: str
    dimensions: int
    # lower-case words and nothing else: of them ragpg's analysis makes what to_tsvector does, at a fifth of the time
    plain_words: bool

    @property
    def key(self) -> dict[str, Any]:
        """What the corpus was made from: another key is another corpus."""
        ...

    def batches(self) -> Iterator[Batch]: ...

    def questions(self) -> dict[str, list[str]]:
        """Questions by kind."""
        ...

    def query_vectors(self, count: int) -> Vectors: ...


def normalised(vectors: Vectors) -> Vectors:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def literal(vector: Vectors) -> str:
    """A vector as pgvector reads it."""
    return "[" + ",".join(f"{value:.6g}" for value in vector) + "]"
