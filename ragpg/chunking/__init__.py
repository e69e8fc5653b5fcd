"""Cuts parsed documents into chunks that fit an embedding model, each an exact slice of the document."""

from ragpg.chunking.chunker import Chunker, make_chunker
from ragpg.chunking.spec import DEFAULT_CHUNKING, normalise_spec
from ragpg.text import TokenCounter, token_counter

__all__ = [
    "DEFAULT_CHUNKING",
    "Chunker",
    "TokenCounter",
    "make_chunker",
    "normalise_spec",
    "token_counter",
]
