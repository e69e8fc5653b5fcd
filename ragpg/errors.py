"""Every error ragpg raises on purpose.

One base class, one class per kind of mistake, and one SQLSTATE for each kind that the SQL functions raise. A driver's error is kept as
``__cause__``; the message says what to do next.
"""

from __future__ import annotations

from typing import ClassVar


class RagpgError(Exception):
    """Base of every error that ragpg raises on purpose.

    ``code`` is the SQLSTATE that the SQL functions raise for the same mistake, or ``None`` where only Python can make it.
    """

    code: ClassVar[str | None] = None
    by_code: ClassVar[dict[str, type[RagpgError]]] = {}

    def __init_subclass__(cls, code: str | None = None) -> None:
        """Register the subclass under its SQLSTATE, if it has one."""
        super().__init_subclass__()
        cls.code = code
        if code is not None:
            RagpgError.by_code[code] = cls


class CollectionNotFound(RagpgError, code="RG001"):
    """No collection has this name."""


class CollectionExists(RagpgError, code="RG002"):
    """A collection of this name is there already."""


class DocumentNotFound(RagpgError, code="RG003"):
    """The collection has no document with this external id in this tenant."""


class IndexVersionNotFound(RagpgError, code="RG004"):
    """The collection has no index version with this id."""


class DimensionMismatch(RagpgError, code="RG005"):
    """A vector's length is not the index version's number of dimensions."""


class AccessDenied(RagpgError, code="RG006"):
    """The caller's role may not do this."""


class InvalidArgument(RagpgError, code="RG007"):
    """An argument is outside what the function accepts."""


class InvalidQuery(RagpgError, code="RG008"):
    """The query holds nothing to search for."""


class InvalidFilter(RagpgError, code="RG009"):
    """The filter is not a jsonpath predicate, or not a dict that compiles to one."""


class EmbedderMismatch(RagpgError, code="RG010"):
    """The embedder is not the one whose vectors the index version holds."""


class IndexVersionInUse(RagpgError, code="RG011"):
    """The index version is active, so it can't be dropped; or it isn't ready to be activated."""


class UnsupportedServer(RagpgError, code="RG012"):
    """PostgreSQL or pgvector is missing or older than the floor."""


class ConfigError(RagpgError):
    """A setting is missing or malformed."""


class DatabaseUnavailable(RagpgError):
    """The database can't be reached, or the connection was lost."""


class SchemaNotInstalled(RagpgError):
    """The database has no ragpg schema, or an older one: run ``ragpg migrate``."""


class DatabaseError(RagpgError):
    """Any other error of the database (disk full, cancelled, …); the driver's error is the cause."""


class MissingExtra(RagpgError):
    """An optional package is not installed; the message names the extra that brings it."""


class ParseError(RagpgError):
    """A file can't be turned into text: broken, encrypted, empty, binary, of an unknown format."""


class ChunkingError(RagpgError):
    """The chunking parameters are unknown or contradict each other."""


class EmbeddingError(RagpgError):
    """The embedding provider failed, after the retries that made sense."""


class GenerationError(RagpgError):
    """The language model failed, after the retries that made sense."""
