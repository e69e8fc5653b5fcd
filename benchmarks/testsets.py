"""Public test collections in BEIR form, and vectors that are made once and kept."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np

from ragpg.embedding import Embedder, model_key


@dataclass(frozen=True)
class TestSet:
    """Documents and judged queries."""

    name: str
    documents: dict[str, str]
    queries: dict[str, str]
    qrels: list[Any]


def read_set(folder: Path, name: str) -> TestSet:
    documents = {
        row["_id"]: f"{row.get('title', '')}\n\n{row['text']}".strip()
        for row in _lines(folder / name / "corpus.jsonl")
    }
    qrels = list(_qrels(folder / name / "qrels.tsv"))
    judged = {qrel.query_id for qrel in qrels}
    return TestSet(
        name=name,
        documents={key: text for key, text in documents.items() if text},
        queries={
            row["_id"]: row["text"] for row in _lines(folder / name / "queries.jsonl") if row["_id"] in judged
        },
        qrels=qrels,
    )


def document_vectors(embedder: Embedder, texts: Sequence[str], cache: Path) -> list[list[float]]:
    return _kept(cache, model_key(embedder), "document", texts, lambda: embedder.embed_documents(texts))


def query_vectors(embedder: Embedder, texts: Sequence[str], cache: Path) -> list[list[float]]:
    return _kept(
        cache, model_key(embedder), "query", texts, lambda: [embedder.embed_query(text) for text in texts]
    )


def _kept(cache: Path, key: str, role: str, texts: Sequence[str], make: Any) -> list[list[float]]:
    digest = hashlib.sha256("\0".join([key, role, *texts]).encode("utf-8", "surrogatepass")).hexdigest()
    file = cache / f"{digest[:24]}.npy"
    if not file.exists():
        cache.mkdir(parents=True, exist_ok=True)
        with file.with_suffix(".part").open("wb") as part:
            np.save(part, np.asarray(make(), dtype=np.float32))
        file.with_suffix(".part").rename(file)
    return np.load(file).tolist()


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def _qrels(path: Path) -> Iterator[Any]:
    with path.open(encoding="utf-8") as file:
        next(file)
        for line in file:
            query, document, score = line.split()
            yield ir_measures.Qrel(query, document, int(score))
