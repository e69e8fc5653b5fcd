"""Text to vectors: ``local`` (no network), ``openai`` (any compatible endpoint), ``hash`` (tests only)."""

from ragpg.embedding.base import Embedder, input_hash, model_key
from ragpg.embedding.factory import embedder_for, make_embedder
from ragpg.remote import CircuitBreaker, RetryPolicy

__all__ = [
    "CircuitBreaker",
    "Embedder",
    "RetryPolicy",
    "embedder_for",
    "input_hash",
    "make_embedder",
    "model_key",
]
