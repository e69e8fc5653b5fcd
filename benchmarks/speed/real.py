"""A corpus of real text in BEIR's form, one chunk a document; its vectors are made of its words, without a model."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from .source import Batch, Document, Vectors, normalised

_BATCH = 2_000
_WORD = re.compile(r"\w+")


class Real:
    """The documents and queries of a folder with ``corpus.jsonl`` and ``queries.jsonl``.

    Parameters
    ----------
    folder
        Where the two files are.
    """

    language = "english"
    dimensions = 384
    plain_words = False

    def __init__(self, folder: Path) -> None:
        self._name = folder.name
        self._texts = {
            row["_id"]: text
            for row in _read(folder / "corpus.jsonl")
            if _WORD.search(text := f"{row.get('title', '')}\n\n{row['text']}".strip())
        }
        self._queries = [row["text"] for row in _read(folder / "queries.jsonl") if _WORD.search(row["text"])]

    @property
    def key(self) -> dict[str, Any]:
        return {"source": self._name, "chunks": len(self._texts), "dimensions": self.dimensions}

    def batches(self) -> Iterator[Batch]:
        rows = list(self._texts.items())
        for start in range(0, len(rows), _BATCH):
            documents = [
                Document(key, [text], ["everyone"], {}) for key, text in rows[start : start + _BATCH]
            ]
            yield Batch(documents, self._embed([document.chunks[0] for document in documents]))

    def questions(self) -> dict[str, list[str]]:
        return {"its own questions": self._queries}

    def query_vectors(self, count: int) -> Vectors:
        return self._embed([self._queries[place % len(self._queries)] for place in range(count)])

    def _embed(self, texts: list[str]) -> Vectors:
        return normalised(
            np.array([sum(map(_direction, _WORD.findall(text.lower()))) for text in texts], dtype=np.float32)
        )


@cache
def _direction(word: str) -> Vectors:
    """A random direction, always the same for a word; long words weigh more than short ones."""
    seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
    return len(word) * np.random.default_rng(seed).normal(size=Real.dimensions).astype(np.float32)


def _read(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)
