"""What every embedder has in common: the protocol, the names vectors are kept under, and the checks on what goes in and out."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

from ragpg.errors import DimensionMismatch, EmbeddingError

Progress = Callable[[int], None]


@runtime_checkable
class Embedder(Protocol):
    """Turns text into vectors. Synchronous and thread-safe; making one does no I/O.

    Documents and queries are embedded by different methods, because asymmetric models want a different prefix before
    each. An input over ``max_tokens`` is cut at the limit, and one warning per call is logged with the number of
    such inputs; :meth:`fits` tells beforehand.
    """

    @property
    def provider(self) -> str:
        """``local``, ``openai``, ``hash``: who computes the vectors."""
        ...

    @property
    def model(self) -> str:
        """The model's name, as the provider spells it."""
        ...

    @property
    def dimensions(self) -> int:
        """Length of the vectors. A remote model that nobody described is asked once, at the first use."""
        ...

    @property
    def max_tokens(self) -> int:
        """Longest input in the model's own tokens, special tokens included."""
        ...

    @property
    def query_prefix(self) -> str:
        """Put before every query."""
        ...

    @property
    def document_prefix(self) -> str:
        """Put before every document."""
        ...

    def embed_documents(
        self, texts: Sequence[str], *, on_progress: Progress | None = None
    ) -> list[list[float]]:
        """Embed texts to be searched.

        Parameters
        ----------
        texts
            The texts, without the prefix.
        on_progress
            Called with the number of texts that were just finished, possibly from another thread.

        Returns
        -------
        list of list of float
            One vector per text, in the same order.
        """
        ...

    def embed_query(self, text: str) -> list[float]:
        """Embed a question.

        Parameters
        ----------
        text
            The question, without the prefix.

        Returns
        -------
        list of float
            Its vector.
        """
        ...

    def count_tokens(self, text: str) -> int | None:
        """Count the model's tokens in a text, special tokens included; ``None`` where the tokenizer is not known."""
        ...

    def fits(self, text: str) -> bool:
        """Tell whether the text, with the longer of the two prefixes, is embedded whole. ``True`` where nobody can know."""
        ...


def model_key(embedder: Embedder) -> str:
    """Name the space that an embedder's vectors live in; the key of the embedding cache.

    Parameters
    ----------
    embedder
        The embedder.

    Returns
    -------
    str
        ``provider:model:dimensions``.
    """
    return f"{embedder.provider}:{embedder.model}:{embedder.dimensions}"


def input_hash(text: str) -> bytes:
    """Hash an exact input, prefix included; the embedding cache's other key.

    Parameters
    ----------
    text
        What the model is given: ``embedder.document_prefix + text``, or ``embedder.query_prefix + text``.

    Returns
    -------
    bytes
        SHA-256 of its UTF-8 bytes.
    """
    return hashlib.sha256(text.encode()).digest()


def prepare(texts: Sequence[str], prefix: str) -> list[str]:
    """Put the prefix before each text, and refuse what no model can embed.

    Parameters
    ----------
    texts
        The texts.
    prefix
        Put before each of them.

    Returns
    -------
    list of str
        The inputs.

    Raises
    ------
    EmbeddingError
        Where a text is blank or holds a lone surrogate. The message has its index.
    """
    for index, text in enumerate(texts):
        if not text.strip():
            raise EmbeddingError(f"input {index} is blank: there is nothing to embed")
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise EmbeddingError(
                f"input {index} holds a lone surrogate at character {error.start}, which is not text: remove it"
            ) from error
    return [prefix + text for text in texts]


def check_vectors(vectors: Sequence[Sequence[float]], dimensions: int, *, who: str) -> None:
    """Refuse vectors that are not what the model promised.

    Parameters
    ----------
    vectors
        The vectors.
    dimensions
        The length each must have.
    who
        The model and where it runs, for the message.

    Raises
    ------
    DimensionMismatch
        Where a vector has another length.
    EmbeddingError
        Where a vector holds NaN or infinity.
    """
    for index, vector in enumerate(vectors):
        if len(vector) != dimensions:
            raise DimensionMismatch(
                f"{who} returned a vector of {len(vector)} dimensions where {dimensions} were expected: "
                f"name the length with @N, as in openai:MODEL@{len(vector)}, and make the collection with it"
            )
        if not all(map(math.isfinite, vector)):
            raise EmbeddingError(f"{who} returned a vector with NaN or infinity for input {index}")
