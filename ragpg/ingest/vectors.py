"""Vectors for inputs: from the cache of the database where it has them, else from the model, in full batches."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from ragpg.db import calls
from ragpg.db.flow import Flow, blocking, run
from ragpg.embedding import Embedder, input_hash, model_key
from ragpg.ingest.progress import Meter
from ragpg.ingest.values import batched
from ragpg.types import IngestReport

# What is embedded between two visits to the cache: enough to fill a remote model's batches, little enough to lose when
# the run is cut off.
_SLICE = 1024


class Vectors:
    """Gets vectors, each input once, and keeps count.

    Parameters
    ----------
    embedder
        The model.
    report
        Where texts sent to the model are counted.
    meter
        Told of each batch.
    """

    def __init__(self, embedder: Embedder, report: IngestReport, meter: Meter) -> None:
        self._embedder = embedder
        self._report = report
        self._meter = meter

    def of(self, inputs: Sequence[str]) -> Flow[list[str]]:
        """Vector literals of the inputs, in their order.

        Raises
        ------
        EmbeddingError
            Where the model fails. What it did before is in the cache.
        """
        prefix = self._embedder.document_prefix
        hashes = [input_hash(prefix + text) for text in inputs]
        texts = dict(zip(hashes, inputs, strict=True))
        found: dict[bytes, str] = {}
        if texts:
            # A remote model's key may cost a request: its dimensions are asked for once.
            key = yield from blocking(lambda: model_key(self._embedder))
            for part in batched(list(texts), _SLICE):
                found |= yield from run(calls.cached_embeddings(key, part))
            missing = [digest for digest in texts if digest not in found]
            self._meter.chunks(len(missing))
            for part in batched(missing, _SLICE):
                found |= yield from self._embed(key, part, [texts[digest] for digest in part])
            self._report.reused += len(inputs) - len(missing)
        return [found[digest] for digest in hashes]

    def _embed(self, key: str, hashes: Sequence[bytes], texts: Sequence[str]) -> Flow[dict[bytes, str]]:
        embed = functools.partial(self._embedder.embed_documents, texts, on_progress=self._meter.embedded)
        vectors = yield from blocking(embed)
        literals = [calls.vector_literal(vector) for vector in vectors]
        self._report.embedded += len(literals)
        yield from run(calls.cache_embeddings(key, hashes, literals))
        return dict(zip(hashes, literals, strict=True))
