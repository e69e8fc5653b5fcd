"""SQLAlchemy models of every table in schema ``ragpg``, to join with an application's own models.

The models are for reading and joining. Rows are written by the SQL functions
(``ragpg.upsert_document`` and its like), which keep chunks, statistics and hashes consistent; so every relationship is ``viewonly``.
"""

from .base import SCHEMA, Base
from .documents import Chunk, Collection, Document, Embedding, IndexVersion
from .support import EmbeddingCache, Job, LexemeStat, RolePrincipal, SearchLog, SourceTable

__all__ = [
    "SCHEMA",
    "Base",
    "Chunk",
    "Collection",
    "Document",
    "Embedding",
    "EmbeddingCache",
    "IndexVersion",
    "Job",
    "LexemeStat",
    "RolePrincipal",
    "SearchLog",
    "SourceTable",
]
