"""ragpg: a Postgres-native backend for retrieval-augmented generation."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ragpg.client import AsyncClient, Client
    from ragpg.config import Settings
    from ragpg.errors import RagpgError
    from ragpg.ingest import IngestProgress
    from ragpg.types import (
        Answer,
        Citation,
        CollectionStats,
        FileFailure,
        IngestReport,
        SearchHit,
        SearchHits,
        UpsertResult,
    )

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "AsyncClient",
    "Citation",
    "Client",
    "CollectionStats",
    "FileFailure",
    "IngestProgress",
    "IngestReport",
    "RagpgError",
    "SearchHit",
    "SearchHits",
    "Settings",
    "UpsertResult",
]

# The drivers and the parsers are imported when a client is first asked for, so that importing the package costs nothing.
_HOMES = {
    "AsyncClient": "ragpg.client",
    "Client": "ragpg.client",
    "IngestProgress": "ragpg.ingest",
    "RagpgError": "ragpg.errors",
    "Settings": "ragpg.config",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES.get(name, "ragpg.types")), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
