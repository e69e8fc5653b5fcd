"""Embeddings from OpenAI, or from any endpoint that speaks its API (vLLM, Ollama, LiteLLM, llama.cpp …)."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from ragpg.embedding.base import Progress, check_vectors, prepare
from ragpg.embedding.packing import InputCounter, byte_weights, pack
from ragpg.errors import ConfigError, EmbeddingError
from ragpg.remote import BadAnswer, CircuitBreaker, Endpoint, RetryPolicy

if TYPE_CHECKING:
    from openai import OpenAI

_log = logging.getLogger(__name__)

#: Native dimensions of OpenAI's models.
KNOWN_DIMENSIONS = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
}
_FIXED_DIMENSIONS = frozenset({"text-embedding-ada-002"})
# Somebody waits for a query's answer.
_QUERY_ATTEMPTS = 3
_QUERY_SECONDS = 20.0


class OpenAIEmbedder:
    """A remote model behind ``/v1/embeddings``, asked through the ``openai`` package.

    Inputs are packed into requests by tokens, a few requests run at a time, and failures that may pass are retried as
    :class:`ragpg.embedding.RetryPolicy` says. Vectors come back in the order of the inputs.

    An input over the limit of an OpenAI model is cut there, and one warning per call is logged. The limit of any other
    model is the endpoint's business: this class does not know its tokenizer.

    Parameters
    ----------
    model
        The model's name.
    dimensions
        Length of the vectors. OpenAI's models have a known one, and a smaller number asks them to shorten. Another
        model is asked for this number only where its own length differs; without a number, the length is found
        out with one request at the first use.
    query_prefix, document_prefix
        Put before queries and documents; asymmetric models such as nomic-embed-text or E5 need them.
    base_url
        The endpoint, up to and with ``/v1``; by default ``OPENAI_BASE_URL``, else OpenAI's own.
    api_key
        By default ``OPENAI_API_KEY``. An endpoint given by a base URL may need none.
    timeout
        Seconds one request may take.
    max_concurrency
        Requests at the same time, over all threads that use this object.
    retry
        When to try again.
    breaker
        When to stop trying.

    Raises
    ------
    ConfigError
        Where the model can't have this number of dimensions, or the base URL is malformed.
    """

    provider = "openai"

    def __init__(
        self,
        model: str,
        *,
        dimensions: int | None = None,
        query_prefix: str = "",
        document_prefix: str = "",
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float = 60.0,
        max_concurrency: int = 4,
        retry: RetryPolicy | None = None,
        breaker: CircuitBreaker | None = None,
    ) -> None:
        _check_dimensions(model, dimensions)
        self.model = model
        self.max_tokens = 8191
        self.query_prefix = query_prefix
        self.document_prefix = document_prefix
        native = KNOWN_DIMENSIONS.get(model)
        self._dimensions = dimensions if dimensions is not None else native
        self._parameter = dimensions if native is not None and dimensions != native else None
        self._may_shorten = native is None and dimensions is not None
        self._counter = InputCounter() if native is not None else None
        self._max_concurrency = max_concurrency
        self._lock = threading.Lock()
        self._retry = retry or RetryPolicy()
        self._query_retry = replace(
            self._retry,
            max_attempts=min(self._retry.max_attempts, _QUERY_ATTEMPTS),
            max_elapsed=min(self._retry.max_elapsed, _QUERY_SECONDS),
        )
        self._endpoint = Endpoint(
            model,
            base_url=base_url,
            api_key=api_key,
            timeout=timeout,
            breaker=breaker or CircuitBreaker(),
            error=EmbeddingError,
            api="an embeddings API",
            without_key="choose the embedder local",
            max_concurrency=max_concurrency,
        )

    @property
    def dimensions(self) -> int:
        """Length of the vectors; an undescribed model is asked at the first use, which can raise ``EmbeddingError``."""
        if self._dimensions is None:
            with self._lock:
                if self._dimensions is None:
                    probe = self._send(["dimensions"], None, self._query_retry)
                    self._dimensions = len(probe[0])
        return self._dimensions

    def embed_documents(
        self, texts: Sequence[str], *, on_progress: Progress | None = None
    ) -> list[list[float]]:
        """Embed texts; see :meth:`ragpg.embedding.Embedder.embed_documents`.

        Raises
        ------
        EmbeddingError
            Where a text can't be embedded, or the endpoint fails after the retries.
        DimensionMismatch
            Where the endpoint returns vectors of another length.
        ConfigError
            Where there is no key and no base URL.
        """
        inputs = self._within_limit(prepare(texts, self.document_prefix))
        weights = self._counter.weights(inputs) if self._counter is not None else byte_weights(inputs)
        requests = pack(weights)
        stop = threading.Event()

        def run(request: range) -> list[list[float]]:
            vectors = self._request(inputs[request.start : request.stop], self._retry, stop)
            if on_progress is not None and not stop.is_set():
                on_progress(len(vectors))
            return vectors

        if len(requests) < 2:
            return [vector for request in requests for vector in run(request)]
        pool = ThreadPoolExecutor(min(self._max_concurrency, len(requests)), "ragpg-embed")
        try:
            futures = [pool.submit(run, request) for request in requests]
            finished, _ = wait(futures, return_when=FIRST_EXCEPTION)
            for future in finished:
                future.result()
            return [vector for future in futures for vector in future.result()]
        finally:
            # After a failure nothing more is sent, and nobody waits for answers that are under way.
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)

    def embed_query(self, text: str) -> list[float]:
        """Embed a question; see :meth:`ragpg.embedding.Embedder.embed_query`. Gives up after 3 attempts or 20 seconds.

        Raises
        ------
        EmbeddingError
            Where the text can't be embedded, or the endpoint fails after the retries.
        DimensionMismatch
            Where the endpoint returns a vector of another length.
        ConfigError
            Where there is no key and no base URL.
        """
        inputs = self._within_limit(prepare([text], self.query_prefix))
        return self._request(inputs, self._query_retry, threading.Event())[0]

    def count_tokens(self, text: str) -> int | None:
        """Count the tokens of a text for OpenAI's own models; ``None`` for all others."""
        return None if self._counter is None else self._counter.count(text)

    def fits(self, text: str) -> bool:
        """Tell whether the text with the longer prefix is within the limit; ``True`` where the tokenizer is not known."""
        if self._counter is None:
            return True
        prefix = max(self.query_prefix, self.document_prefix, key=len)
        return self._counter.cut(prefix + text, self.max_tokens) is None

    def close(self) -> None:
        """Close the connections to the endpoint; the next use opens new ones."""
        self._endpoint.close()

    def _within_limit(self, inputs: list[str]) -> list[str]:
        if self._counter is None:
            return inputs
        cuts = [self._counter.cut(text, self.max_tokens) for text in inputs]
        cut = [index for index, shorter in enumerate(cuts) if shorter is not None]
        if cut:
            _log.warning(
                "%d of %d inputs were cut at %d tokens (the first is input %d): what follows is not in their vectors",
                len(cut),
                len(inputs),
                self.max_tokens,
                cut[0],
            )
        return [text if shorter is None else shorter for text, shorter in zip(inputs, cuts, strict=True)]

    def _request(self, inputs: list[str], retry: RetryPolicy, stop: threading.Event) -> list[list[float]]:
        sent = self._parameter
        vectors = self._send(inputs, sent, retry, stop)
        if self._may_shorten and sent is None and len(vectors[0]) != self._dimensions:
            # The model's own length is another one, so it is asked to shorten. It was not asked at once, because
            # endpoints refuse the parameter, even with their own length, for models that can't.
            vectors = self._send(inputs, self._dimensions, retry, stop)
            check_vectors(vectors, self.dimensions, who=self._endpoint.who)
            self._parameter = self._dimensions
        if self._dimensions is None:
            self._dimensions = len(vectors[0])
        check_vectors(vectors, self._dimensions, who=self._endpoint.who)
        return vectors

    def _send(
        self,
        inputs: Sequence[str],
        dimensions: int | None,
        retry: RetryPolicy,
        stop: threading.Event | None = None,
    ) -> list[list[float]]:
        def send(client: OpenAI, seconds: float) -> list[list[float]]:
            from openai import omit

            answer = client.embeddings.create(
                model=self.model,
                input=list(inputs),
                dimensions=omit if dimensions is None else dimensions,
                timeout=seconds,
            )
            return _vectors(answer, len(inputs))

        return self._endpoint.call(send, retry, stop)


def _check_dimensions(model: str, dimensions: int | None) -> None:
    native = KNOWN_DIMENSIONS.get(model)
    if dimensions is None:
        return
    if dimensions < 1:
        raise ConfigError(f"{model}: the number of dimensions must be at least 1, not {dimensions}")
    if native is None:
        return
    if dimensions > native or (model in _FIXED_DIMENSIONS and dimensions != native):
        shorter = "and can't be shortened" if model in _FIXED_DIMENSIONS else "or fewer"
        raise ConfigError(f"{model} has {native} dimensions {shorter}, so {dimensions} can't be had")


def _vectors(answer: Any, count: int) -> list[list[float]]:
    """Take the vectors out of an answer, in the order of the inputs."""
    data = cast("list[Any] | None", getattr(answer, "data", None)) or []
    by_index: dict[Any, list[float]] = {}
    try:
        for item in data:
            by_index[item.index] = [float(value) for value in item.embedding]
    except (AttributeError, TypeError, ValueError) as error:
        raise BadAnswer(f"the answer is not one of an embeddings API ({error})") from error
    if not all(by_index.values()):
        raise BadAnswer("an empty vector came back")
    if len(data) != count or by_index.keys() != set(range(count)):
        raise BadAnswer(f"{len(data)} vectors came back for {count} inputs, or with wrong indexes")
    return [by_index[index] for index in range(count)]
